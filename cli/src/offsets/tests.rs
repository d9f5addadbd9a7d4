use proptest::prelude::*;

use super::*;
use aqlipse_graph::Csr;

const LONG: Duration = Duration::from_secs(20);

fn buffer(bytes: u64) -> Buffer {
    Buffer { bytes, align: 1 }
}

/// Buffers share bytes only if they do not live together, and lie where they may.
fn check(problem: &Problem, plan: &Plan) {
    for (i, (&a, buffer)) in plan.offsets.iter().zip(problem.buffers()).enumerate() {
        assert_eq!(a % buffer.align, 0);
        assert!(a + buffer.bytes <= plan.height);
        for (j, (&b, other)) in plan.offsets.iter().zip(problem.buffers()).enumerate().skip(i + 1) {
            let apart = a + buffer.bytes <= b || b + other.bytes <= a;
            assert!(apart || !problem.conflict(i, j), "{i} and {j}");
        }
    }
    assert!(plan.lower_bound <= plan.height && problem.lower_bound().bytes() <= plan.lower_bound);
    assert!(problem.admits(&plan.offsets, plan.height));
}

/// The least height of all: that of the best of all orders, each buffer as low as it fits.
fn least(problem: &Problem) -> u64 {
    fn permute(order: &mut Vec<u32>, from: usize, visit: &mut impl FnMut(&[u32])) {
        if from == order.len() {
            return visit(order);
        }
        for i in from..order.len() {
            order.swap(from, i);
            permute(order, from + 1, visit);
            order.swap(from, i);
        }
    }
    let mut best = u64::MAX;
    let mut order = (0..problem.len() as u32).collect();
    permute(&mut order, 0, &mut |order| {
        best = best.min(greedy::height(problem, &greedy::first_fit(problem, order, Instant::now() + LONG)));
    });
    best
}

/// The heaviest set of buffers of which none is over before another begins.
fn heaviest_antichain(problem: &Problem) -> u64 {
    let n = problem.len();
    let alive =
        |set: &u32| (0..n).all(|a| (0..a).all(|b| set >> a & set >> b & 1 == 0 || problem.conflict(a, b)));
    let bytes = |set: u32| (0..n).filter(|&i| set >> i & 1 == 1).map(|i| problem.buffers[i].bytes).sum();
    (0..1u32 << n).filter(alive).map(bytes).max().unwrap()
}

fn intervals(most: usize) -> impl Strategy<Value = Problem> {
    prop::collection::vec((1u64..40, 0u32..3, 0u64..12, 1u64..9), 1..=most).prop_map(|rows| {
        let buffers: Vec<_> = rows.iter().map(|row| Buffer { bytes: row.0, align: 1 << row.1 }).collect();
        let lives: Vec<_> = rows.iter().map(|row| row.2..row.2 + row.3).collect();
        Problem::of_intervals(&buffers, &lives).unwrap()
    })
}

/// Buffers in a random order that is none of intervals: of two, one is before the other if it is so in all of some
/// permutations.
fn orders(most: usize) -> impl Strategy<Value = Problem> {
    let row = (1u64..40, any::<u16>(), any::<u16>(), any::<u16>());
    prop::collection::vec(row, 1..=most).prop_map(|rows| {
        let buffers: Vec<_> = rows.iter().map(|row| buffer(row.0)).collect();
        Problem::of_order(&buffers, |a, b| {
            let (a, b) = (rows[a], rows[b]);
            a.1 < b.1 && a.2 < b.2 && a.3 < b.3
        })
        .unwrap()
    })
}

proptest! {
    #[test]
    fn plans_are_valid(problem in prop_oneof![intervals(40), orders(40)]) {
        check(&problem, &plan(&problem, Duration::from_millis(2)));
    }

    #[test]
    fn moves_keep_plans_valid(problem in prop_oneof![intervals(40), orders(40)], seed in 0u64..9) {
        let deadline = Instant::now() + LONG;
        let race = Race::new(&problem, quick(&problem, deadline), deadline);
        repair::Repair::new(&race, seed).run(2_000);
        check(&problem, &race.end());
    }

    #[test]
    fn small_problems_are_solved(problem in prop_oneof![intervals(6), orders(6)]) {
        let plan = plan(&problem, LONG);
        check(&problem, &plan);
        assert!(plan.is_optimal());
        if problem.buffers.iter().all(|buffer| buffer.align == 1) {
            assert_eq!(plan.height, least(&problem));
        }
    }

    #[test]
    fn the_bound_is_the_heaviest_set_that_lives_together(problem in prop_oneof![intervals(9), orders(9)]) {
        assert_eq!(problem.lower_bound(), Bound::Exact(heaviest_antichain(&problem)));
        let peak: Vec<usize> = problem.peak().collect();
        assert_eq!(peak.iter().map(|&i| problem.buffers[i].bytes).sum::<u64>(), problem.lower_bound().bytes());
        assert!(peak.iter().all(|&a| peak.iter().all(|&b| a == b || problem.conflict(a, b))));
    }
}

#[test]
fn nothing_takes_nothing() {
    let none = Problem::of_intervals(&[], &[]).unwrap();
    assert_eq!(plan(&none, LONG), Plan { offsets: vec![], height: 0, lower_bound: 0 });
    let empty = Problem::of_intervals(&[buffer(0), buffer(5)], &[0..9, 3..4]).unwrap();
    let plan = plan(&empty, LONG);
    assert_eq!((plan.height, plan.is_optimal()), (5, true));
}

#[test]
fn a_chain_of_buffers_needs_two_of_them() {
    // Each lives as long as the next is made from it.
    let lives: Vec<_> = (0..200).map(|i| i..i + 2).collect();
    let plan = plan(&Problem::of_intervals(&[buffer(7); 200], &lives).unwrap(), LONG);
    assert_eq!((plan.height, plan.is_optimal()), (14, true));
}

#[test]
fn ten_thousand_buffers_get_a_plan_that_holds() {
    // As in a network: most live for a few steps, some for long. There is no time for any of an order, or for a part.
    let n = 10_000;
    let buffers: Vec<_> = (0..n).map(|i| Buffer { bytes: 256 * (1 + i * 7919 % 61), align: 256 }).collect();
    let life = |i: u64| i..i + if i.is_multiple_of(50) { 3000 } else { 2 + i % 7 };
    let lives: Vec<_> = (0..n).map(life).collect();
    let problem = Problem::of_intervals(&buffers, &lives).unwrap();
    for budget in [Duration::ZERO, Duration::from_millis(20)] {
        let plan = plan(&problem, budget);
        assert!(problem.admits(&plan.offsets, plan.height));
        let bound = problem.lower_bound().bytes();
        assert!(plan.height < bound + bound / 2, "{} above {bound}", plan.height);
    }
}

/// A rectangle that is cut in two again and again, at places that the seed gives; nothing is wasted.
fn filled(seed: u64, buffers: usize) -> Problem {
    let (side, mut random) = (256u64, random::Random::new(seed));
    let mut parts = vec![(0..side, 0..side)];
    let mut first = 0;
    while parts.len() < buffers && first < parts.len() {
        let (time, place) = parts[first].clone();
        let cut = |range: &std::ops::Range<u64>, random: &mut random::Random| {
            range.start + 1 + ((range.end - range.start - 1) as f64 * random.part()) as u64
        };
        let (wide, high) = (time.end - time.start, place.end - place.start);
        if wide.max(high) < 4 {
            first += 1;
        } else if wide > high {
            let at = cut(&time, &mut random);
            parts[first] = (time.start..at, place.clone());
            parts.push((at..time.end, place));
        } else {
            let at = cut(&place, &mut random);
            parts[first] = (time.clone(), place.start..at);
            parts.push((time, at..place.end));
        }
        first = (first + 1) % parts.len();
    }
    let buffers: Vec<_> = parts.iter().map(|(_, place)| buffer(place.end - place.start)).collect();
    let lives: Vec<_> = parts.into_iter().map(|(time, _)| time).collect();
    Problem::of_intervals(&buffers, &lives).unwrap()
}

#[test]
fn what_fills_a_rectangle_is_put_together_again() {
    for seed in 0..4 {
        let problem = filled(seed, 60);
        let plan = plan(&problem, LONG);
        check(&problem, &plan);
        assert_eq!((plan.height, plan.is_optimal()), (256, true));
    }
}

#[test]
fn moves_alone_lower_a_plan_and_keep_it_valid() {
    let mut lowered = 0;
    for seed in 0..4 {
        let problem = filled(seed, 200);
        let deadline = Instant::now() + LONG;
        let first = quick(&problem, deadline);
        let race = Race::new(&problem, first.clone(), deadline);
        repair::Repair::new(&race, seed).run(20_000);
        let plan = race.end();
        check(&problem, &plan);
        lowered += usize::from(plan.height < first.height);
    }
    assert!(lowered >= 3, "{lowered} of 4");
}

#[test]
fn threads_that_race_make_one_plan() {
    let problem = filled(5, 300);
    let deadline = Instant::now() + Duration::from_millis(50);
    let race = Race::new(&problem, quick(&problem, deadline), deadline);
    std::thread::scope(|scope| {
        for number in 0..3 {
            let race = &race;
            scope.spawn(move || improve::Worker::new(race, number).run(|| true));
        }
    });
    check(&problem, &race.end());
}

#[test]
fn as_many_steps_make_the_same_plan() {
    let problem = filled(7, 200);
    let run = || {
        let deadline = Instant::now() + LONG;
        let race = Race::new(&problem, quick(&problem, deadline), deadline);
        let height = race.height() - 1;
        let outcome = search::Search::new(&race, 3).run(height, order::Order::Long, 2_000);
        repair::Repair::new(&race, 3).run(5_000);
        (outcome, race.end())
    };
    assert_eq!(run(), run());
}

#[test]
fn heights_beside_which_no_name_fits_get_a_quick_plan() {
    let buffers = [1 << 50, 1 << 51, 1 << 50].map(buffer);
    let problem = Problem::of_intervals(&buffers, &[0..2, 1..3, 2..4]).unwrap();
    check(&problem, &plan(&problem, LONG));
}

#[test]
fn large_orders_have_a_bound_that_says_that_it_is_none_of_the_best() {
    let n = aqlipse_graph::antichain::bound::MOST + 1;
    let problem = Problem::of_order(&vec![buffer(3); n], |a, b| a / 4 < b / 4).unwrap();
    assert_eq!(problem.lower_bound(), Bound::AtLeast(12));
    assert_eq!(plan(&problem, LONG).height, 12);
}

#[test]
fn a_graph_orders_what_it_frees_before_what_it_allocates_behind() {
    // 0 allocates a, 1 frees it, 2 (behind 1) allocates b, 3 (beside them) allocates c, which is never freed.
    let dependencies = Csr::from_pairs(4, [(1, 0), (2, 1), (3, 0)].into_iter());
    let lives =
        [Life { alloc: 0, free: Some(1) }, Life { alloc: 2, free: None }, Life { alloc: 3, free: None }];
    let problem = Problem::of_graph(&[buffer(8); 3], &lives, &dependencies).unwrap();
    assert_eq!([problem.conflict(0, 1), problem.conflict(0, 2), problem.conflict(1, 2)], [false, true, true]);
    assert_eq!(problem.lower_bound(), Bound::Exact(16));
}

#[test]
fn malformed_problems_are_refused() {
    let odd = Buffer { bytes: 1, align: 3 };
    let error = |buffers: &[Buffer]| Problem::of_order(buffers, |_, _| false).unwrap_err();
    assert_eq!(error(&[buffer(1), odd]), ProblemError::Align { buffer: 1, align: 3 });
    assert_eq!(error(&[buffer(1), buffer(u64::MAX)]), ProblemError::TooLarge { buffer: 1 });
    assert_eq!(error(&[buffer(1 << 61); 3]), ProblemError::TooLarge { buffer: 1 });
    let many = vec![buffer(1); Problem::MOST + 1];
    assert_eq!(error(&many), ProblemError::TooMany { buffers: Problem::MOST + 1 });
    let short = Problem::of_intervals(&[buffer(1)], &[]).unwrap_err();
    assert_eq!(short, ProblemError::Lives { buffers: 1, lives: 0 });

    let circle = Csr::from_pairs(3, [(1, 2), (2, 1)].into_iter());
    let of = |alloc| Problem::of_graph(&[buffer(1)], &[Life { alloc, free: None }], &circle).unwrap_err();
    assert_eq!(of(0), ProblemError::Cycle { node: 1 });
    assert_eq!(of(3), ProblemError::NoNode { node: 3, nodes: 3 });
}
