use proptest::prelude::*;

use super::*;

const MIB: u64 = 1 << 20;

fn sizes() -> Sizes {
    Sizes::of(4096)
}

/// Slots of buffers that have each its own.
fn slots(bytes: &[u64]) -> Arc<[Slot]> {
    let slot = |&bytes: &u64| Slot { bytes, most: sizes().reach(sizes().room(bytes)) };
    bytes.iter().map(slot).collect()
}

fn idle(_: u64) -> bool {
    false
}

fn busy(_: u64) -> bool {
    true
}

/// An arena with users that need some buffers each, bound one after the other.
fn bound(users: &[&[u64]], is_busy: fn(u64) -> bool) -> Layout {
    let empty = Layout::new(sizes());
    (0..).zip(users).fold(empty, |layout, (user, &bytes)| layout.bind(user, &slots(bytes), is_busy))
}

fn count(layout: &Layout, user: u64) -> usize {
    layout.of(user).count()
}

#[test]
fn a_gibibyte_is_one_chunk() {
    let layout = bound(&[&[1024 * MIB]], idle);
    assert_eq!((layout.bytes(), count(&layout, 0)), (1024 * MIB, 1));
    assert_eq!(layout.of_buffer(0, &[0], 1024 * MIB).len(), 1);
    assert_eq!(count(&bound(&[&[600 * MIB]], idle), 0), 4);
}

#[test]
fn a_larger_chunk_serves_and_so_do_several_smaller_ones_even_in_use() {
    for is_busy in [idle, busy] {
        let layout = bound(&[&[1024 * MIB], &[600 * MIB]], is_busy);
        assert_eq!((layout.bytes(), count(&layout, 1)), (1024 * MIB, 1));
        let layout = bound(&[&[600 * MIB], &[1024 * MIB]], is_busy);
        assert_eq!((layout.bytes(), count(&layout, 0), count(&layout, 1)), (1024 * MIB, 4, 8));
    }
}

#[test]
fn a_large_chunk_is_cut_where_several_buffers_need_parts_of_it_unless_it_is_in_use() {
    let many = [10 * MIB; 100];
    let layout = bound(&[&[1024 * MIB], &many], idle);
    assert_eq!((layout.bytes(), count(&layout, 1)), (1024 * MIB, 200));
    // A chunk in use serves one of the buffers.
    let layout = bound(&[&[1024 * MIB], &many], busy);
    assert_eq!((layout.bytes(), count(&layout, 0)), ((1024 + 990) * MIB, 1));
}

#[test]
fn small_buffers_leave_large_chunks_whole() {
    let layout = bound(&[&[1024 * MIB], &[8192, 4096]], idle);
    assert_eq!((layout.bytes(), count(&layout, 0)), (1024 * MIB + 12288, 1));
    // Nor is a large one made of small ones.
    let layout = bound(&[&[65536; 256], &[1024 * MIB]], idle);
    assert_eq!((layout.bytes(), count(&layout, 1)), (1040 * MIB, 1));
}

#[test]
fn an_arena_shrinks_when_its_largest_user_is_gone() {
    let mut layout = bound(&[&[64 * MIB], &[33 * MIB + (64 << 10)], &[60 * MIB]], idle);
    assert_eq!(layout.bytes(), 64 * MIB);
    layout.remove(0);
    assert!(layout.smaller(idle).is_none(), "almost as much is needed");
    layout.remove(2);
    assert!(layout.smaller(busy).is_none());
    let layout = layout.smaller(idle).unwrap();
    assert_eq!((layout.bytes(), count(&layout, 1)), (33 * MIB + (64 << 10), 3));
    assert!(layout.smaller(idle).is_none());
}

#[test]
fn a_successor_keeps_what_is_in_use() {
    let layout = bound(&[&[4 * MIB, 2 * MIB]], busy);
    let before: Vec<_> = layout.of(0).collect();
    let mut layout = layout.succeed(0, 1, &slots(&[4 * MIB, 2 * MIB, 3 * MIB]), busy);
    layout.remove(0);
    let after: Vec<_> = layout.of(1).collect();
    assert_eq!((&after[..2], layout.bytes()), (&before[..], 9 * MIB));
}

/// What must hold of every layout.
fn check(layout: &Layout) {
    let mut used = BTreeSet::new();
    for user in layout.users.values() {
        let mut mine = BTreeSet::new();
        for (slot, chunks) in user.slots.iter().zip(&user.chunks) {
            let bytes: u64 = chunks.iter().map(|chunk| layout.chunks[chunk]).sum();
            assert!(bytes >= slot.bytes, "it has its bytes");
            assert!(chunks.iter().all(|chunk| mine.insert(*chunk)), "no two slots have a chunk");
            assert!(chunks.iter().all(|chunk| layout.chunks[chunk] <= slot.most), "there is room for each");
        }
        used.extend(mine);
    }
    assert!(layout.chunks.keys().eq(used.iter()), "each chunk has a user");
    assert!(layout.chunks.values().all(|bytes| bytes.is_power_of_two() && (4096..=1 << 30).contains(bytes)));
    for (&number, user) in &layout.users {
        for (slot, of) in (0..).zip(user.slots.iter()) {
            let mapped: u64 =
                layout.of_buffer(number, &[slot], of.bytes).iter().map(|it| layout.chunks[it]).sum();
            assert!((of.bytes..=sizes().room(of.bytes)).contains(&mapped));
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Bind(Vec<u64>),
    Remove(prop::sample::Index),
    Use(prop::sample::Index),
    Rest,
}

fn steps(bytes: impl Strategy<Value = u64> + 'static) -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop::collection::vec(bytes, 1..12);
    let step = prop_oneof![
        4 => bytes.prop_map(Step::Bind),
        2 => any::<prop::sample::Index>().prop_map(Step::Remove),
        2 => any::<prop::sample::Index>().prop_map(Step::Use),
        1 => Just(Step::Rest),
    ];
    prop::collection::vec(step, 1..24)
}

/// Does some steps, and calls `see` behind each with the bytes before, and what the new user needs.
fn run(steps: &[Step], mut see: impl FnMut(&Layout, &BTreeSet<u64>, Option<(u64, u64)>)) {
    let (mut layout, mut busy) = (Layout::new(sizes()), BTreeSet::<u64>::new());
    for (number, step) in (0u64..).zip(steps) {
        let users: Vec<u64> = layout.users.keys().copied().collect();
        let (before, mut bound) = (layout.clone(), None);
        match step {
            Step::Bind(bytes) => {
                layout = layout.bind(number, &slots(bytes), |user| busy.contains(&user));
                bound = Some((before.bytes(), bytes.iter().sum()));
            }
            Step::Remove(user) if !users.is_empty() => {
                let user = *user.get(&users);
                busy.remove(&user);
                layout.remove(user);
                if let Some(smaller) = layout.smaller(|user| busy.contains(&user)) {
                    layout = smaller;
                }
            }
            Step::Use(user) if !users.is_empty() => drop(busy.insert(*user.get(&users))),
            Step::Rest => busy.clear(),
            _ => {}
        }
        check(&layout);
        assert!(before.changed(&layout).all(|user| !busy.contains(&user)), "what is busy stays");
        see(&layout, &busy, bound);
    }
}

proptest! {
    #[test]
    fn an_arena_is_as_large_as_what_its_largest_user_needs(
        steps in steps(prop_oneof![1u64..8, 1u64..600].prop_map(|units| units * 2 * MIB)),
    ) {
        // What was bound beside a launch in flight stays larger until an executable is gone.
        let mut idle_since = true;
        run(&steps, |layout, busy, bound| {
            idle_since &= busy.is_empty();
            if idle_since {
                let need = layout.need();
                assert!(layout.bytes() <= need + need / 2 + 2 * MIB, "{} for {need}", layout.bytes());
                if let Some((before, asked)) = bound {
                    assert!(layout.bytes() <= before.max(asked).max(need + 2 * MIB));
                }
            }
        });
    }

    #[test]
    fn a_binding_makes_no_more_than_it_asks_for(
        steps in steps((1u64..400_000).prop_map(|pages| pages * 4096)),
    ) {
        run(&steps, |layout, _, bound| {
            if let Some((before, asked)) = bound {
                assert!(layout.bytes() <= before + asked);
            }
        });
    }

    #[test]
    fn the_first_user_of_an_arena_has_few_chunks(bytes in prop::collection::vec(1u64..400_000, 1..12)) {
        let bytes: Vec<u64> = bytes.into_iter().map(|pages| pages * 4096).collect();
        let layout = bound(&[&bytes], idle);
        prop_assert_eq!(layout.bytes(), bytes.iter().sum::<u64>());
        for (slot, &bytes) in (0u32..).zip(&bytes) {
            let most = bytes.div_ceil(1 << 30) + (bytes % (1 << 30)).count_ones() as u64;
            prop_assert!(layout.of_buffer(0, &[slot], bytes).len() as u64 <= most);
        }
    }
}
