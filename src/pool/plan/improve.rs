//! A better plan: rounds of short searches and of moves, on as many threads as there are processors.

use std::{
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use super::{
    race::Race,
    repair::Repair,
    search::{self, Outcome, Rank, Search},
};

/// By what buffers are tried first, round by round.
const RANKS: [Rank; 10] = [
    Rank::Breadth,
    Rank::Trouble,
    Rank::Known,
    Rank::Breadth,
    Rank::Crowd,
    Rank::Trouble,
    Rank::Known,
    Rank::Breadth,
    Rank::Area,
    Rank::Known,
];
/// The same for the search that goes for the least: what gets to the end the most often.
const NEAR: [Rank; 4] = [Rank::Breadth, Rank::Trouble, Rank::Breadth, Rank::Known];
/// What searches go for: parts of the way from the bound to the best plan. The far ones fail quickly or not at all; from
/// the near ones comes what the next is measured by. Every second thread stays nearer.
const REACHES: [[f64; 4]; 2] = [[0.0, 0.3, 0.6, 0.9], [0.0, 0.6, 0.75, 0.9]];
const SEARCHES: usize = REACHES[0].len();
/// In the first rounds ranks are as they are. How far they are blurred then, and how far the best plan is from the first.
const PLAIN: usize = 2;
const NOISE: f64 = 0.05;
const KNOWN_NOISE: f64 = 0.3;
/// Steps of the first searches for each buffer: enough to get to the end without much looking back. Later ones are
/// longer.
const STEPS: f64 = 2.0;
const GROWTH: f64 = 1.15;
const GROWS: usize = 4;
/// Moves for each step of a search of the same round: at first, and at least. They become fewer each time that they do
/// not help, and as many as before when they do.
const MOVES: f64 = 4.0;
const FEWEST_MOVES: f64 = 0.5;
const FEWER: f64 = 0.7;

/// For how long nobody is called to help: a thread costs some ten microseconds.
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
            // Those that are there do without it.
            if crate::thread::start_within(scope, "aqlipse plan", work).is_err() {
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
    searches: Vec<Search<'a>>,
    repair: Repair<'a>,
    number: usize,
    steps: f64,
    moves: f64,
    turn: usize,
}

impl<'a> Worker<'a> {
    /// Each has its own number, and with it its own chance and its own row of ranks.
    pub fn new(race: &'a Race<'a>, number: usize) -> Self {
        // CAST: few.
        let seed = |i: usize| (number * (SEARCHES + 1) + i) as u64;
        let searches = match race.problem.len() <= search::MOST {
            true => (0..SEARCHES).map(|i| Search::new(race, seed(i))).collect(),
            false => Vec::new(),
        };
        let (repair, steps) = (Repair::new(race, seed(SEARCHES)), STEPS * race.problem.len() as f64);
        Self { race, searches, repair, number, steps, moves: MOVES, turn: 0 }
    }

    /// Takes turns until the race is over, or it `goes_on` no longer.
    pub fn run(&mut self, goes_on: impl Fn() -> bool) {
        while !self.race.is_over() && goes_on() {
            let turns = self.searches.len() + 1;
            let (round, turn) = (self.turn / turns, self.turn % turns);
            self.turn += 1;
            if turn < self.searches.len() {
                self.search(round, turn);
                continue;
            }
            let before = self.race.height();
            // CAST: a number of moves.
            self.repair.run((self.moves * self.steps) as u64);
            self.moves = match self.race.height() < before {
                true => MOVES,
                false => (self.moves * FEWER).max(FEWEST_MOVES),
            };
            if round.is_multiple_of(GROWS) {
                self.steps *= GROWTH;
            }
        }
    }

    fn search(&mut self, round: usize, turn: usize) {
        let (race, search) = (self.race, &mut self.searches[turn]);
        let rank = match turn + 1 == SEARCHES {
            true => NEAR[(round + self.number) % NEAR.len()],
            false => RANKS[(round + 3 * self.number) % RANKS.len()],
        };
        let noise = match rank {
            Rank::Known => KNOWN_NOISE,
            _ if round < PLAIN && self.number == 0 => 0.0,
            _ => NOISE,
        };
        let (best, bound) = (race.height(), race.lower_bound());
        if best <= bound {
            return;
        }
        let reach = REACHES[self.number % REACHES.len()][turn];
        // CAST: a part of the difference, and a number of steps.
        let height = (bound + ((best - bound) as f64 * reach) as u64).min(best - 1);
        match search.run(height, rank, noise, self.steps as u64) {
            Outcome::Found(offsets) => race.offer(&offsets),
            Outcome::Impossible => race.rule_out(height),
            Outcome::Open => {}
        }
    }
}
