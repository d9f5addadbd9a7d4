//! A plan that is made lower by moving its buffers.
//!
//! What lies above the height that is wanted is taken out, and put back one by one below it: where those in the way weigh
//! least. They are taken out in turn, and weigh more from then on, so what is hard to place ends up where it can stay and
//! the others around it. This comes within some percent of what is possible in a short time; a search that knows what
//! does not fit gets further when there is no slack.

use aqlipse_graph::antichain::bits::Bits;

use super::{race::Race, random::Random};

/// Bits of a key that name a buffer; the others are its place.
const NAME: u32 = super::problem::Problem::MOST.ilog2();

/// A buffer weighs its bytes times its life to this power.
const WEIGHT: f64 = 0.8;
/// Moves for which one that was just placed weighs more, and by how much.
const GUARDED: u64 = 3;
const GUARD: f64 = 2.0;
/// How far costs of places are blurred.
const NOISE: f64 = 0.1;
/// What costs next to nothing, for places where no buffer is.
const FREE: f64 = 1e-6;
/// Each part so large of the way to the bound is gone at once.
const PART: u64 = 20;
/// Moves between two looks at the clock.
const STRIDE: u64 = 64;

pub(super) struct Repair<'a> {
    race: &'a Race<'a>,
    height: u64,
    offsets: Vec<u64>,
    /// The buffers that are not placed.
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
    /// Keys of those that are alive with the one that moves: as many of the first as are told, and room for all.
    near_starts: Vec<u64>,
    near_ends: Vec<u64>,
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
            near_starts: vec![0; n],
            near_ends: vec![0; n],
        }
    }

    /// Goes on for so many moves, below the best plan whenever there is another; which parts of the way to the bound it
    /// won.
    pub fn run(&mut self, moves: u64) -> f64 {
        let mut won = 0.0;
        for turn in 0..moves {
            if turn % STRIDE == 0 && self.race.is_over() {
                break;
            }
            let (best, bound) = (self.race.height(), self.race.lower_bound());
            if best <= bound {
                break;
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
                won += self.race.offer(&self.offsets);
            }
        }
        won
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
        let gone = self.out.len();
        for &other in self.starts.iter().take_while(|&&other| other >> NAME < end) {
            let j = name(other);
            if (other >> NAME) + problem.buffers[j].bytes > start && meets.contains(j) {
                // CAST: a problem numbers its buffers so.
                self.out.push(j as u32);
            }
        }
        for &j in &self.out[gone..] {
            let j = j as usize;
            self.weights[j] += self.growth[j];
            remove(&mut self.starts, key(self.offsets[j], j));
            remove(&mut self.ends, key(self.offsets[j] + problem.buffers[j].bytes, j));
        }
        insert(&mut self.starts, key(start, i));
        insert(&mut self.ends, key(end, i));
        self.offsets[i] = start;
        self.guarded[i] = self.moves + GUARDED;
    }

    /// The cheapest place for a buffer: on top of another or below another, or at an end.
    fn place(&mut self, i: usize, meets: &Bits) -> u64 {
        let buffer = self.race.problem.buffers[i];
        let last = (self.height - buffer.bytes) & !(buffer.align - 1);
        let starts = near(&self.starts, meets, &mut self.near_starts);
        let ends = near(&self.ends, meets, &mut self.near_ends);
        let (weights, guarded, moves) = (&self.weights, &self.guarded, self.moves);
        let weight = |i: usize| weights[i] * if guarded[i] > moves { GUARD } else { 1.0 };
        let tops = ends.iter().map(|&end| (end >> NAME).next_multiple_of(buffer.align));
        let below = starts.iter().filter_map(|&start| (start >> NAME).checked_sub(buffer.bytes));
        let below = below.map(|place| place & !(buffer.align - 1));
        let row = Row { starts, ends, weight, bytes: buffer.bytes };
        let rising = [0].into_iter().chain(tops).take_while(|&place| place <= last);
        let upper = row.cheapest(rising, f64::MAX, &mut self.random);
        let rising = below.take_while(|&place| place <= last).chain([last]);
        let lower = row.cheapest(rising, upper.0, &mut self.random);
        if lower.0 < upper.0 { lower.1 } else { upper.1 }
    }
}

/// The keys of those that `meets` names, in the order in which they come; `room` is for as many as there are.
fn near<'a>(keys: &[u64], meets: &Bits, room: &'a mut [u64]) -> &'a [u64] {
    let mut count = 0;
    for &key in keys {
        // Each is written down, to be written over unless it counts: nothing tells which will.
        room[count] = key;
        count += usize::from(meets.contains(name(key)));
    }
    &room[..count]
}

/// The buffers in the way of one, by where they start and by where they end, and what they weigh.
struct Row<'a, W: Fn(usize) -> f64> {
    starts: &'a [u64],
    ends: &'a [u64],
    weight: W,
    bytes: u64,
}

impl<W: Fn(usize) -> f64> Row<'_, W> {
    /// What the cheapest of some places costs, if that is less than `most`, and the place. Places rise: so do those that
    /// start below the end of one, and those that end below its start.
    fn cheapest(&self, places: impl Iterator<Item = u64>, most: f64, random: &mut Random) -> (f64, u64) {
        let (mut start, mut end) = (0, 0);
        let (mut best, mut cost) = ((most, 0), 0.0);
        for place in places {
            while let Some(&other) =
                self.starts.get(start).filter(|&&other| other >> NAME < place + self.bytes)
            {
                cost += (self.weight)(name(other));
                start += 1;
            }
            while let Some(&other) = self.ends.get(end).filter(|&&other| other >> NAME <= place) {
                cost -= (self.weight)(name(other));
                end += 1;
            }
            // Blurring makes nothing cheaper.
            if cost + FREE < best.0 {
                let blurred = (cost + FREE) * (1.0 + NOISE * random.part());
                if blurred < best.0 {
                    best = (blurred, place);
                }
            }
        }
        best
    }
}
