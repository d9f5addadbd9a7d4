//! A better plan: short searches and moves that share the time by what helps, on as many threads as there are
//! processors.

use std::{
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use super::{
    order::Order,
    race::Race,
    random::Random,
    rank::Rank,
    repair::Repair,
    search::{self, Outcome, Search},
    shares::{Shares, luby},
};

/// By what searches go.
#[derive(Clone, Copy)]
enum Kind {
    /// Long lives.
    Long,
    /// Many bytes, and what made trouble.
    Large,
    /// Mixtures of long lives and many bytes.
    Mixed,
    /// Both about evenly.
    Even,
    /// The best plan.
    Known,
}

/// What shares the time: by what searches go, the part of the way from the bound to the best plan that they go for
/// first, and their weight. What goes for the bound succeeds rarely, but then proves the optimum, and stays there; the
/// others go nearer with each try that fails.
const ARMS: [(Kind, f64, f64); 7] = [
    (Kind::Long, 0.0, 1.0),
    (Kind::Large, 0.0, 1.0),
    (Kind::Mixed, 0.0, 1.5),
    (Kind::Long, 0.5, 1.0),
    (Kind::Mixed, 0.5, 3.0),
    (Kind::Even, 0.5, 5.0),
    (Kind::Known, 0.5, 1.0),
];
const MOVES_WEIGHT: f64 = 5.0;
/// How near searches come to the best plan, and which part of what is left they go on at a time.
const NEAREST: f64 = 0.9;
const NEARER: f64 = 0.2;
/// How far the best plan is blurred.
const KNOWN_NOISE: f64 = 0.3;
/// How many tries go on from the mixture that got the furthest, and what is left of how far it got after each try.
const NEAR: f64 = 0.65;
const FORGET: f64 = 0.99;
/// Steps of the shortest searches for each buffer: enough to get to the end without much looking back. And moves in a
/// row; each counts as a step.
const STEPS: f64 = 2.0;
const MOVES: f64 = 4.0;

/// For how long no other thread is called to help: a thread costs some ten microseconds.
const ALONE: Duration = Duration::from_millis(2);
/// More threads would find little that these do not.
const MOST_THREADS: usize = 4;

/// Goes on until the best plan is proven, or the time is over.
pub(super) fn improve(race: &Race) {
    let start = Instant::now();
    let mut own = Worker::new(race, 0);
    own.run(|| start.elapsed() < ALONE);
    if race.is_over() {
        return;
    }
    thread::scope(|scope| {
        for number in 1..thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS) {
            let work = move || Worker::new(race, number).run(|| true);
            // A search by fewer threads finds less.
            if thread::Builder::new().name("aqlipse plan".into()).spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        own.run(|| true);
    });
}

/// One of those that search.
pub(super) struct Worker<'a> {
    race: &'a Race<'a>,
    /// Each goes on with what it learned: what they learn of each other's height would mislead them. There are none
    /// for problems that are too large.
    arms: Vec<Arm<'a>>,
    repair: Repair<'a>,
    shares: Shares,
}

/// Searches that go for the same part of the way.
struct Arm<'a> {
    search: Search<'a>,
    kind: Kind,
    /// The mixture that got the furthest, and how far.
    rank: Rank,
    far: f64,
    /// Which part of the way it goes for first when there is another best plan; how high that was; and which part is next.
    first: f64,
    best: u64,
    reach: f64,
    tries: u64,
    random: Random,
}

impl<'a> Worker<'a> {
    /// Each has its own number, and with it its own chance.
    pub fn new(race: &'a Race<'a>, number: usize) -> Self {
        // CAST: few.
        let seed = |i: usize| (number * (ARMS.len() + 1) + i) as u64;
        let arm = |(i, &(kind, first, _)): (usize, &(Kind, f64, f64))| {
            let (search, random) = (Search::new(race, seed(i)), Random::new(seed(i)));
            Arm { search, kind, rank: Rank::LONG, far: 0.0, first, best: 0, reach: first, tries: 0, random }
        };
        let arms: Vec<_> = match race.problem.len() <= search::MOST {
            true => ARMS.iter().enumerate().map(arm).collect(),
            false => Vec::new(),
        };
        let weights = ARMS.iter().map(|arm| arm.2).take(arms.len()).chain([MOVES_WEIGHT]);
        Self { race, shares: Shares::new(weights), arms, repair: Repair::new(race, seed(ARMS.len())) }
    }

    /// Takes turns until the race is over, or it `goes_on` no longer.
    pub fn run(&mut self, goes_on: impl Fn() -> bool) {
        while !self.race.is_over() && goes_on() {
            let turn = self.shares.next();
            let (steps, won) = match self.arms.get_mut(turn) {
                Some(arm) => arm.search(self.race),
                None => {
                    // CAST: a number of moves.
                    let moves = (MOVES * self.race.problem.len() as f64) as u64;
                    (moves, self.repair.run(moves))
                }
            };
            self.shares.spent(turn, steps as f64 / self.race.problem.len() as f64, won);
        }
    }
}

impl Arm<'_> {
    /// Searches once; how many steps that took, and which part of the way to the bound it won.
    fn search(&mut self, race: &Race) -> (u64, f64) {
        let (best, bound) = (race.height(), race.lower_bound());
        if best <= bound {
            return (0, 0.0);
        }
        if best != self.best {
            // How far others got says little of a height that is another.
            (self.best, self.reach, self.far) = (best, self.first, 0.0);
        }
        // CAST: a part of the difference, and a number of steps.
        let height = (bound + ((best - bound) as f64 * self.reach) as u64).min(best - 1);
        if self.first > 0.0 {
            self.reach += (NEAREST - self.reach) * NEARER;
        }
        self.tries += 1;
        let rank = match self.random.part() < NEAR {
            true => self.rank.near(&mut self.random),
            false => Rank::any(&mut self.random),
        };
        let order = match self.kind {
            Kind::Long => Order::Long,
            Kind::Large => Order::Large,
            Kind::Mixed => Order::By(rank),
            Kind::Even => Order::By(Rank::even(&mut self.random)),
            Kind::Known => Order::Known(KNOWN_NOISE),
        };
        let limit = STEPS * race.problem.len() as f64 * luby(self.tries) as f64;
        let outcome = self.search.run(height, order, limit as u64);
        let far = self.search.reach();
        self.far *= FORGET;
        if far >= self.far {
            (self.rank, self.far) = (rank, far);
        }
        let won = match outcome {
            Outcome::Found(offsets) => race.offer(&offsets),
            Outcome::Impossible => {
                race.rule_out(height);
                0.0
            }
            Outcome::Open => 0.0,
        };
        (self.search.steps(), won)
    }
}
