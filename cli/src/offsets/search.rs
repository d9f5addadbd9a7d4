//! The search for a plan of at most some height.
//!
//! The buffers that are not placed yet each have a floor: the lowest offset that what is placed leaves them. At the
//! lowest floor of all, in the tightest clique there, either a buffer lies or none does; so one buffer is tried at its
//! floor, and if that fails it is known to lie higher: on top of one that is not placed yet. A clique whose floor and
//! bytes exceed the height ends the branch. Parts of the problem that have no more to do with each other are searched
//! on their own.
//!
//! Searches are short and start over: what has ended branches is remembered as the weight of cliques, and which is
//! tried first changes from one to the next.

use aqlipse_graph::antichain::bits::Bits;

use super::{
    few::{self, Few},
    levels::Levels,
    order::{Cliques, Order},
    problem::Problem,
    race::Race,
    random::Random,
};

/// Problems with more buffers are not searched. It bounds the depth of the recursion too.
pub(super) const MOST: usize = Few::MOST;

/// Steps between two looks at the others and at the clock.
const STRIDE: u64 = 64;

/// What a search has found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A plan that is no higher than was asked for.
    Found(Vec<u64>),
    /// There is none.
    Impossible,
    /// It was given up.
    Open,
}

pub(super) struct Search<'a> {
    race: &'a Race<'a>,
    problem: &'a Problem,
    height: u64,
    // In places of fixed size, which a number of a buffer cannot leave.
    floors: [u64; Few::MOST],
    bytes: [u64; Few::MOST],
    /// The buffers that are not placed.
    left: Few,
    /// The buffers that each is alive with.
    meets: Vec<Few>,
    /// The buffers of each clique.
    members: Vec<Few>,
    /// Bytes of each clique that are not placed.
    rest: Vec<u64>,
    rank: Vec<u32>,
    /// How much trouble each clique has made.
    trouble: Vec<f64>,
    /// The cliques with those first that had made the most trouble when the search began.
    suspects: Vec<u32>,
    /// Floors before they were raised.
    trail: Vec<(u32, u64)>,
    /// Cliques of buffers whose floors have risen, and the highest of those floors.
    touched: Bits,
    highest: u64,
    levels: Levels,
    steps: u64,
    limit: u64,
    given_up: bool,
    /// Bytes times cliques of each; of what is placed, and the most so far.
    areas: Vec<f64>,
    placed: f64,
    most_placed: f64,
    random: Random,
}

impl<'a> Search<'a> {
    pub fn new(race: &'a Race<'a>, seed: u64) -> Self {
        let problem = race.problem;
        let (n, cliques) = (problem.len(), problem.cliques.len());
        let mut bytes = [0; Few::MOST];
        bytes.iter_mut().zip(&problem.buffers).for_each(|(bytes, buffer)| *bytes = buffer.bytes);
        let area = |i: usize| bytes[i] as f64 * problem.cliques_of[i].len() as f64;
        let areas = (0..n).map(area).collect();
        Self {
            race,
            problem,
            height: 0,
            floors: [0; Few::MOST],
            bytes,
            left: Few::default(),
            meets: problem.conflicts.iter().map(|others| Few::of(others)).collect(),
            members: problem.cliques.iter().map(|clique| Few::of(clique)).collect(),
            rest: vec![0; cliques],
            rank: vec![0; n],
            trouble: vec![1.0; cliques],
            // CAST: about as many as there are buffers.
            suspects: (0..cliques as u32).collect(),
            trail: Vec::new(),
            touched: Bits::new(cliques),
            highest: 0,
            levels: Levels::default(),
            steps: 0,
            limit: 0,
            given_up: false,
            areas,
            placed: 0.0,
            most_placed: 0.0,
            random: Random::new(seed),
        }
    }

    /// Looks for a plan of at most this height, for `limit` steps.
    pub fn run(&mut self, height: u64, order: Order, limit: u64) -> Outcome {
        self.reset(height);
        if self.rest.iter().any(|&rest| rest > height) {
            return Outcome::Impossible;
        }
        self.trouble.iter_mut().for_each(|trouble| *trouble = 1.0 + (*trouble - 1.0) * 0.95);
        self.suspects.sort_by(|&a, &b| self.trouble[b as usize].total_cmp(&self.trouble[a as usize]));
        let cliques = Cliques { trouble: &self.trouble, bytes: &self.rest, height };
        order.ranks(self.race, cliques, &mut self.random, &mut self.rank);
        (self.steps, self.limit, self.given_up) = (0, limit, false);
        let found = few::parts(&self.meets, self.left).into_iter().all(|part| self.place_all(part));
        match (found, self.given_up) {
            (true, _) => Outcome::Found(self.floors[..self.problem.len()].to_vec()),
            (false, true) => Outcome::Open,
            (false, false) => Outcome::Impossible,
        }
    }

    /// How many steps the last search took.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How far the last search got: the most that was placed at a time, bytes times life, as a part (0 to 1) of all.
    pub fn reach(&self) -> f64 {
        self.most_placed / self.areas.iter().sum::<f64>()
    }

    /// Begins anew: nothing is placed.
    fn reset(&mut self, height: u64) {
        self.height = height;
        self.floors.fill(0);
        self.left = Few::default();
        let real = (0..self.problem.len()).filter(|&i| self.problem.buffers[i].bytes > 0);
        real.for_each(|i| self.left.insert(i));
        self.trail.clear();
        (self.placed, self.most_placed) = (0.0, 0.0);
        for (rest, clique) in self.rest.iter_mut().zip(&self.problem.cliques) {
            *rest = clique.iter().map(|&i| self.problem.buffers[i as usize].bytes).sum();
        }
    }

    /// Places the buffers of a part, none of which is placed.
    fn place_all(&mut self, part: Few) -> bool {
        let start = self.trail.len();
        loop {
            self.steps += 1;
            self.given_up |= self.steps > self.limit || self.steps.is_multiple_of(STRIDE) && self.is_vain();
            if self.given_up {
                self.undo(start);
                return false;
            }
            let Some(next) = self.next(&part) else { return true };
            let before = self.trail.len();
            if self.place(next) {
                let mut rest = part;
                rest.remove(next);
                let placed = match few::holds_together(&self.meets, &rest, next) {
                    true => self.place_all(rest),
                    false => few::parts(&self.meets, rest).into_iter().all(|part| self.place_all(part)),
                };
                if placed {
                    return true;
                }
                rest.without(&self.left).each(|i| self.lift(i));
            }
            self.lift(next);
            self.undo(before);
            if self.given_up || !self.place_higher(next) {
                self.undo(start);
                return false;
            }
        }
    }

    /// Whether what it looks for is not needed.
    fn is_vain(&self) -> bool {
        self.race.is_over() || self.race.height() <= self.height
    }

    /// The buffer to try next: at the lowest floor, in the tightest clique there, by rank.
    fn next(&mut self, part: &Few) -> Option<usize> {
        let (mut floor, mut lowest) = (u64::MAX, Few::default());
        part.each(|i| {
            if self.floors[i] < floor {
                (floor, lowest) = (self.floors[i], Few::default());
            }
            if self.floors[i] == floor {
                lowest.insert(i);
            }
        });
        self.touched.clear();
        lowest.each(|i| self.touched.unite(&self.problem.clique_bits[i]));
        // What a clique can waste is the less the more of it is left.
        let urgency = |&t: &usize| (self.rest[t], self.trouble[t]);
        let t = self.touched.iter().max_by(|a, b| {
            let (a, b) = (urgency(a), urgency(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })?;
        let mut first: Option<usize> = None;
        self.members[t].and(&lowest).each(|i| {
            if first.is_none_or(|first| self.rank[i] < self.rank[first]) {
                first = Some(i);
            }
        });
        first
    }

    /// Places a buffer at its floor; whether the others may still fit.
    fn place(&mut self, i: usize) -> bool {
        self.put(i) && self.fits()
    }

    /// Places a buffer at its floor, and raises the others'; whether each of them still fits.
    fn put(&mut self, i: usize) -> bool {
        let problem = self.problem;
        let bytes = problem.buffers[i].bytes;
        self.left.remove(i);
        self.placed += self.areas[i];
        self.most_placed = self.most_placed.max(self.placed);
        problem.cliques_of[i].iter().for_each(|&t| self.rest[t as usize] -= bytes);
        let top = self.floors[i] + bytes;
        self.begin();
        let mut fit = true;
        self.meets[i].and(&self.left).each(|j| fit &= self.raise(j, top));
        fit
    }

    /// Makes a buffer that was placed one that is not.
    fn lift(&mut self, i: usize) {
        self.left.insert(i);
        self.placed -= self.areas[i];
        let bytes = self.problem.buffers[i].bytes;
        self.problem.cliques_of[i].iter().for_each(|&t| self.rest[t as usize] += bytes);
    }

    /// Notes that a buffer does not lie at its floor, so on top of one that is not placed; whether that may be. Its twins
    /// do not lie there either: they could change places with it.
    fn place_higher(&mut self, i: usize) -> bool {
        let problem = self.problem;
        let (floor, mut top) = (self.floors[i], u64::MAX);
        self.meets[i].and(&self.left).each(|j| top = top.min(self.floors[j] + problem.buffers[j].bytes));
        if top == u64::MAX {
            return false;
        }
        self.begin();
        let mut fit = self.raise(i, top);
        for &twin in &problem.twins[i] {
            if self.left.contains(twin as usize) && self.floors[twin as usize] == floor {
                fit &= self.raise(twin as usize, top);
            }
        }
        fit && self.fits()
    }

    fn begin(&mut self) {
        self.touched.clear();
        self.highest = 0;
    }

    /// Raises a floor; whether the buffer still fits.
    fn raise(&mut self, i: usize, to: u64) -> bool {
        let buffer = self.problem.buffers[i];
        if self.floors[i] < to {
            self.trail.push((i as u32, self.floors[i]));
            self.floors[i] = to.next_multiple_of(buffer.align);
            self.highest = self.highest.max(self.floors[i]);
            self.touched.unite(&self.problem.clique_bits[i]);
        }
        self.floors[i] + buffer.bytes <= self.height
    }

    fn undo(&mut self, to: usize) {
        for (i, floor) in self.trail.drain(to..).rev() {
            self.floors[i as usize] = floor;
        }
    }

    /// Whether the cliques that were touched may still fit.
    fn fits(&mut self) -> bool {
        let mut raised = true;
        while std::mem::take(&mut raised) {
            for at in 0..self.suspects.len() {
                let t = self.suspects[at] as usize;
                // What lies no higher than what all of a clique leaves is in no buffer's way.
                if !self.touched.take(t) || self.highest + self.rest[t] <= self.height {
                    continue;
                }
                let before = self.trail.len();
                if !self.clique_fits(t) {
                    self.trouble[t] += 1.0;
                    // What ends one branch mostly ends the next.
                    self.suspects[..=at].rotate_right(1);
                    return false;
                }
                raised |= self.trail.len() > before;
            }
        }
        true
    }

    /// Whether what lies above each floor in a clique fits below the height. A buffer that cannot be the lowest of a
    /// clique, since all of it would not fit above, lies on top of one that can.
    fn clique_fits(&mut self, t: usize) -> bool {
        let Some(most) = self.height.checked_sub(self.rest[t]) else { return false };
        let clique = self.members[t].and(&self.left);
        let (mut lowest_top, mut least, mut sum, mut highest) = (u64::MAX, u64::MAX, 0, 0);
        // Without branches, since nothing tells which way they would go.
        clique.each(|i| {
            let (floor, bytes) = (self.floors[i], self.bytes[i]);
            let high = u64::from(floor > most).wrapping_neg();
            lowest_top = lowest_top.min((floor + bytes) | high);
            least = least.min(floor | !high);
            sum += bytes & high;
            highest = highest.max(floor);
        });
        if sum == 0 {
            return true;
        }
        if lowest_top == u64::MAX {
            return false;
        }
        if least < lowest_top {
            highest = 0;
            let mut fit = true;
            clique.each(|i| {
                if self.floors[i] > most {
                    fit &= self.raise(i, lowest_top);
                    highest = highest.max(self.floors[i]);
                }
            });
            if !fit {
                return false;
            }
        }
        highest + sum <= self.height || {
            self.levels.begin(most, self.height);
            clique.each(|i| {
                if self.floors[i] > most {
                    self.levels.add(self.floors[i], self.bytes[i]);
                }
            });
            self.levels.fit()
        }
    }
}
