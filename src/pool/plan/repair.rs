//! A plan that is made lower by moving its buffers.
//!
//! What lies above the height that is wanted is taken out, and put back one by one below it: where those in the way weigh
//! least. They are taken out in turn, and weigh more from then on, so what is hard to place ends up where it can stay and
//! the others around it. This comes within some percent of what is possible in a short time; a search that knows what
//! does not fit gets further when there is no slack.

use super::{bits::Bits, race::Race, random::Random};

/// Bits of a key that name a buffer; the others are its place.
const NAME: u32 = super::problem::Problem::MOST.ilog2();

/// A buffer weighs its bytes times its life to this power.
const WEIGHT: f64 = 0.8;
/// Moves for which one that was just placed weighs more, and by how much.
const GUARDED: u64 = 3;
const GUARD: f64 = 2.0;
/// How far costs of places are blurred.
const NOISE: f64 = 0.1;
/// What costs next to nothing, for places where nobody is.
const FREE: f64 = 1e-6;
/// Each part so large of the way to the bound is gone at once.
const PART: u64 = 20;
/// Moves between two looks at the clock.
const STRIDE: u64 = 64;

pub(super) struct Repair<'a> {
    race: &'a Race<'a>,
    height: u64,
    offsets: Vec<u64>,
    /// Who is not placed.
    out: Vec<u32>,
    /// Keys of those that are placed, by where they start and by where they end.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// What each weighs, and how much more each time that it is taken out.
    weights: Vec<f64>,
    growth: Vec<f64>,
    /// The move up to which each is guarded.
    guarded: Vec<u64>,
    moves: u64,
    random: Random,
    /// Starts and ends of those that are alive with the one that moves, and what they weigh.
    near_starts: Vec<(u64, f64)>,
    near_ends: Vec<(u64, f64)>,
}

fn key(place: u64, i: usize) -> u64 {
    place << NAME | i as u64
}

fn name(key: u64) -> usize {
    // CAST: as many bits as a name has.
    (key & ((1 << NAME) - 1)) as usize
}

fn insert(keys: &mut Vec<u64>, key: u64) {
    keys.insert(keys.partition_point(|&other| other < key), key);
}

fn remove(keys: &mut Vec<u64>, key: u64) {
    keys.remove(keys.partition_point(|&other| other < key));
}

impl<'a> Repair<'a> {
    pub fn new(race: &'a Race<'a>, seed: u64) -> Self {
        let problem = race.problem;
        let n = problem.len();
        let life = |i: usize| problem.cliques_of.get(i).map_or(problem.conflicts[i].len(), Vec::len).max(1);
        let area = |i: usize| (problem.buffers[i].bytes as f64 * life(i) as f64).powf(WEIGHT);
        let most = (0..n).map(area).fold(1.0, f64::max);
        let weights: Vec<f64> = (0..n).map(|i| area(i) / most).collect();
        Self {
            race,
            height: 0,
            offsets: vec![0; n],
            out: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            growth: weights.clone(),
            weights,
            guarded: vec![0; n],
            moves: 0,
            random: Random::new(seed),
            near_starts: Vec::new(),
            near_ends: Vec::new(),
        }
    }

    /// Goes on for so many moves, below the best plan whenever there is another.
    pub fn run(&mut self, moves: u64) {
        for turn in 0..moves {
            if turn % STRIDE == 0 && self.race.is_over() {
                return;
            }
            let (best, bound) = (self.race.height(), self.race.lower_bound());
            if best <= bound {
                return;
            }
            let wanted = best - (best - bound).div_ceil(PART);
            if self.height != wanted {
                self.begin(wanted);
            }
            if let Some(at) = self.heaviest() {
                let i = self.out.swap_remove(at) as usize;
                self.move_in(i);
            }
            if self.out.is_empty() {
                self.race.offer(&self.offsets);
            }
        }
    }

    /// Takes what is too high out of the best plan.
    fn begin(&mut self, height: u64) {
        self.height = height;
        self.race.copy_best(&mut self.offsets);
        self.starts.clear();
        self.ends.clear();
        self.out.clear();
        for (i, (buffer, &start)) in self.race.problem.buffers.iter().zip(&self.offsets).enumerate() {
            let end = start + buffer.bytes;
            if buffer.bytes == 0 {
                continue;
            }
            if end > height {
                // CAST: a problem numbers its buffers so.
                self.out.push(i as u32);
            } else {
                self.starts.push(key(start, i));
                self.ends.push(key(end, i));
            }
        }
        self.starts.sort_unstable();
        self.ends.sort_unstable();
    }

    fn heaviest(&self) -> Option<usize> {
        let weight = |&at: &usize| self.weights[self.out[at] as usize];
        (0..self.out.len()).max_by(|a, b| weight(a).total_cmp(&weight(b)))
    }

    /// Places a buffer where those in its way weigh least, and takes them out.
    fn move_in(&mut self, i: usize) {
        self.moves += 1;
        let problem = self.race.problem;
        let (bytes, meets) = (problem.buffers[i].bytes, &problem.conflict_bits[i]);
        let start = self.place(i, meets);
        let end = start + bytes;
        let Self { offsets, out, ends, weights, growth, .. } = self;
        self.starts.retain(|&other| {
            let j = name(other);
            let top = offsets[j] + problem.buffers[j].bytes;
            let stays = offsets[j] >= end || top <= start || !meets.contains(j);
            if !stays {
                out.push(j as u32);
                weights[j] += growth[j];
                remove(ends, key(top, j));
            }
            stays
        });
        insert(&mut self.starts, key(start, i));
        insert(&mut self.ends, key(end, i));
        self.offsets[i] = start;
        self.guarded[i] = self.moves + GUARDED;
    }

    /// The cheapest place for a buffer: on top of another or below another, or at an end.
    fn place(&mut self, i: usize, meets: &Bits) -> u64 {
        let buffer = self.race.problem.buffers[i];
        let last = (self.height - buffer.bytes) & !(buffer.align - 1);
        let near = |keys: &[u64], near: &mut Vec<(u64, f64)>| {
            near.clear();
            near.extend(keys.iter().filter(|&&key| meets.contains(name(key))).map(|&key| {
                let guard = if self.guarded[name(key)] > self.moves { GUARD } else { 1.0 };
                (key >> NAME, self.weights[name(key)] * guard)
            }));
        };
        near(&self.starts, &mut self.near_starts);
        near(&self.ends, &mut self.near_ends);
        let (starts, ends, random) = (&self.near_starts, &self.near_ends, &mut self.random);
        let tops = ends.iter().map(|&(end, _)| end.next_multiple_of(buffer.align));
        let below = starts.iter().filter_map(|&(start, _)| start.checked_sub(buffer.bytes));
        let below = below.map(|place| place & !(buffer.align - 1));
        let rising = [0].into_iter().chain(tops).take_while(|&place| place <= last);
        let upper = cheapest(starts, ends, buffer.bytes, rising, random);
        let rising = below.take_while(|&place| place <= last).chain([last]);
        let lower = cheapest(starts, ends, buffer.bytes, rising, random);
        if lower.0 < upper.0 { lower.1 } else { upper.1 }
    }
}

/// What the cheapest of some places costs, and the place. Places rise: so do those that start below the end of one, and
/// those that end below its start.
fn cheapest(
    starts: &[(u64, f64)],
    ends: &[(u64, f64)],
    bytes: u64,
    places: impl Iterator<Item = u64>,
    random: &mut Random,
) -> (f64, u64) {
    let (mut starts, mut ends) = (starts.iter().peekable(), ends.iter().peekable());
    let (mut best, mut cost) = ((f64::MAX, 0), 0.0);
    for place in places {
        while let Some((_, weight)) = starts.next_if(|other| other.0 < place + bytes) {
            cost += weight;
        }
        while let Some((_, weight)) = ends.next_if(|other| other.0 <= place) {
            cost -= weight;
        }
        let blurred = (cost + FREE) * (1.0 + NOISE * random.part());
        if blurred < best.0 {
            best = (blurred, place);
        }
    }
    best
}
