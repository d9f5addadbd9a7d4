//! The search for a plan of at most some height.
//!
//! The buffers that are not placed yet each have a floor: the lowest offset that what is placed leaves them. At the
//! lowest floor of all, in the tightest clique there, somebody lies or nobody does; so one buffer is tried at its floor,
//! and if that fails it is known to lie higher: on top of somebody who is not placed yet. A clique whose floor and bytes
//! exceed the height ends the branch. Parts of the problem that have no more to do with each other are searched on their
//! own.
//!
//! Searches are short and start over: what has ended branches is remembered as the weight of cliques, and who is tried
//! first changes from one to the next.

use std::time::Instant;

use super::{bits::Bits, problem::Problem};

/// Problems with more buffers are not searched. It bounds the depth of the recursion too.
pub(super) const MOST: usize = 512;

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

/// By what buffers are tried first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rank {
    /// The fullest clique.
    Crowd,
    /// The clique that has ended the most branches.
    Trouble,
    /// The longest life.
    Breadth,
    /// Bytes times trouble.
    Area,
    /// The lowest in a plan that is known: see [`Search::follow`].
    Known,
}

pub(super) struct Search<'a> {
    problem: &'a Problem,
    height: u64,
    floors: Vec<u64>,
    placed: Vec<bool>,
    /// Bytes of each clique that are not placed.
    rest: Vec<u64>,
    rank: Vec<u32>,
    /// How much trouble each clique has made.
    trouble: Vec<f64>,
    /// The offsets of a plan that is known.
    known: Vec<u64>,
    /// The cliques with those first that had made the most trouble when the search began.
    suspects: Vec<u32>,
    /// Floors before they were raised.
    trail: Vec<(u32, u64)>,
    /// Cliques of buffers whose floors have risen, and the highest of those floors.
    touched: Bits,
    highest: u64,
    levels: Vec<(u64, u64, u32)>,
    steps: u64,
    limit: u64,
    deadline: Instant,
    given_up: bool,
    random: u64,
}

impl<'a> Search<'a> {
    pub fn new(problem: &'a Problem, deadline: Instant) -> Self {
        let (n, cliques) = (problem.len(), problem.cliques.len());
        Self {
            problem,
            height: 0,
            floors: vec![0; n],
            placed: vec![false; n],
            rest: vec![0; cliques],
            rank: vec![0; n],
            trouble: vec![1.0; cliques],
            known: vec![0; n],
            suspects: (0..cliques as u32).collect(),
            trail: Vec::new(),
            touched: Bits::new(cliques),
            highest: 0,
            levels: Vec::new(),
            steps: 0,
            limit: 0,
            deadline,
            given_up: false,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Notes a plan for [`Rank::Known`].
    pub fn follow(&mut self, offsets: &[u64]) {
        self.known.copy_from_slice(offsets);
    }

    /// Looks for a plan of at most this height, for `limit` steps. `noise` (0 to 1) blurs the ranks.
    pub fn run(&mut self, height: u64, rank: Rank, noise: f64, limit: u64) -> Outcome {
        self.reset(height);
        if self.rest.iter().any(|&rest| rest > height) {
            return Outcome::Impossible;
        }
        self.trouble.iter_mut().for_each(|trouble| *trouble = 1.0 + (*trouble - 1.0) * 0.95);
        self.suspects.sort_by(|&a, &b| self.trouble[b as usize].total_cmp(&self.trouble[a as usize]));
        self.order(rank, noise);
        (self.steps, self.limit, self.given_up) = (0, limit, false);
        let mut all = Bits::new(self.problem.len());
        (0..self.problem.len()).filter(|&i| self.problem.buffers[i].bytes > 0).for_each(|i| all.insert(i));
        let found = self.parts(&all).iter().all(|part| self.place_all(part));
        match (found, self.given_up) {
            (true, _) => Outcome::Found(self.floors.clone()),
            (false, true) => Outcome::Open,
            (false, false) => Outcome::Impossible,
        }
    }

    /// Places everything as a search for this height does that never looks back, however high it gets.
    pub fn dive(&mut self, height: u64, rank: Rank, noise: f64) -> Vec<u64> {
        self.reset(height);
        self.order(rank, noise);
        let all: Vec<u32> = (0..self.problem.len() as u32).collect();
        let mut left: Vec<u32> =
            all.into_iter().filter(|&i| self.problem.buffers[i as usize].bytes > 0).collect();
        while let Some(i) = self.next(&left) {
            self.put(i);
            left.retain(|&j| j as usize != i);
        }
        self.floors.clone()
    }

    /// Begins anew: nothing is placed.
    fn reset(&mut self, height: u64) {
        self.height = height;
        self.floors.fill(0);
        self.placed.fill(false);
        self.trail.clear();
        for (rest, clique) in self.rest.iter_mut().zip(&self.problem.cliques) {
            *rest = clique.iter().map(|&i| self.problem.buffers[i as usize].bytes).sum();
        }
    }

    fn order(&mut self, rank: Rank, noise: f64) {
        let (problem, height) = (self.problem, self.height.max(1) as f64);
        let full: Vec<f64> = problem
            .cliques
            .iter()
            .map(|clique| {
                clique.iter().map(|&i| problem.buffers[i as usize].bytes as f64).sum::<f64>() / height
            })
            .collect();
        let mut keys = Vec::with_capacity(problem.len());
        for i in 0..problem.len() {
            let cliques = || problem.cliques_of[i].iter().map(|&t| t as usize);
            let breadth = cliques().count() as f64 / problem.cliques.len().max(1) as f64;
            let bytes = problem.buffers[i].bytes as f64 / height;
            let (area, crowd) = (breadth * bytes, cliques().map(|t| full[t]).fold(0.0, f64::max));
            let key = match rank {
                Rank::Crowd => crowd * 1e3 + breadth * 10.0 + area,
                Rank::Trouble => {
                    cliques().map(|t| self.trouble[t]).fold(0.0, f64::max) * 1e3 + breadth * 10.0 + area
                }
                Rank::Breadth => breadth * 1e3 + crowd * 10.0 + area,
                Rank::Known => 2.0 - self.known[i] as f64 / height,
                Rank::Area => cliques().map(|t| self.trouble[t]).sum::<f64>() * bytes,
            };
            keys.push((key * (1.0 + noise * self.uniform()), i));
        }
        keys.sort_by(|a, b| b.0.total_cmp(&a.0));
        keys.iter().enumerate().for_each(|(rank, &(_, i))| self.rank[i] = rank as u32);
    }

    /// A number from 0 to 1, by xorshift: a plan depends on the problem and on the time, on nothing else.
    fn uniform(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Places the buffers of a part, none of which is placed.
    fn place_all(&mut self, part: &[u32]) -> bool {
        let start = self.trail.len();
        loop {
            self.steps += 1;
            if self.steps > self.limit || (self.steps.is_multiple_of(64) && Instant::now() > self.deadline) {
                self.given_up = true;
            }
            if self.given_up {
                self.undo(start);
                return false;
            }
            let Some(next) = self.next(part) else { return true };
            let before = self.trail.len();
            if self.place(next) {
                let mut rest = Bits::new(self.problem.len());
                part.iter().filter(|&&i| i as usize != next).for_each(|&i| rest.insert(i as usize));
                let parts = self.parts(&rest);
                if parts.iter().all(|part| self.place_all(part)) {
                    return true;
                }
                parts.iter().flatten().for_each(|&i| self.lift(i as usize));
            }
            self.lift(next);
            self.undo(before);
            if self.given_up || !self.place_higher(next) {
                self.undo(start);
                return false;
            }
        }
    }

    /// Whom to try next: at the lowest floor, in the tightest clique there, by rank.
    fn next(&mut self, part: &[u32]) -> Option<usize> {
        let floor = part.iter().map(|&i| self.floors[i as usize]).min()?;
        self.touched.clear();
        for &i in part.iter().filter(|&&i| self.floors[i as usize] == floor) {
            self.touched.unite(&self.problem.clique_bits[i as usize]);
        }
        // What a clique can waste is the less the more of it is left.
        let urgency = |&t: &usize| (self.rest[t], self.trouble[t]);
        let t = self.touched.iter().max_by(|a, b| {
            let (a, b) = (urgency(a), urgency(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })?;
        let clique = self.problem.cliques[t].iter().map(|&i| i as usize);
        clique.filter(|&i| !self.placed[i] && self.floors[i] == floor).min_by_key(|&i| self.rank[i])
    }

    /// Places a buffer at its floor; whether the others may still fit.
    fn place(&mut self, i: usize) -> bool {
        self.put(i) && self.fits()
    }

    /// Places a buffer at its floor, and raises the others'; whether each of them still fits.
    fn put(&mut self, i: usize) -> bool {
        let problem = self.problem;
        let bytes = problem.buffers[i].bytes;
        self.placed[i] = true;
        problem.cliques_of[i].iter().for_each(|&t| self.rest[t as usize] -= bytes);
        let top = self.floors[i] + bytes;
        self.begin();
        let mut fit = true;
        for &j in &problem.conflicts[i] {
            fit &= self.placed[j as usize] || self.raise(j as usize, top);
        }
        fit
    }

    /// Makes a buffer one that is not placed again.
    fn lift(&mut self, i: usize) {
        if std::mem::take(&mut self.placed[i]) {
            let bytes = self.problem.buffers[i].bytes;
            self.problem.cliques_of[i].iter().for_each(|&t| self.rest[t as usize] += bytes);
        }
    }

    /// Notes that a buffer does not lie at its floor, so on top of one that is not placed; whether that may be. Its twins
    /// do not lie there either: they could change places with it.
    fn place_higher(&mut self, i: usize) -> bool {
        let problem = self.problem;
        let floor = self.floors[i];
        let top_of = |j: &u32| {
            (!self.placed[*j as usize]).then(|| self.floors[*j as usize] + problem.buffers[*j as usize].bytes)
        };
        let Some(top) = problem.conflicts[i].iter().filter_map(top_of).min() else { return false };
        self.begin();
        let mut fit = self.raise(i, top);
        for &twin in &problem.twins[i] {
            if !self.placed[twin as usize] && self.floors[twin as usize] == floor {
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
                // What lies no higher than what all of a clique leaves is in nobody's way.
                if !self.touched.take(t) || self.highest + self.rest[t] <= self.height {
                    continue;
                }
                let before = self.trail.len();
                if !self.clique_fits(t) {
                    self.trouble[t] += 1.0;
                    return false;
                }
                raised |= self.trail.len() > before;
            }
        }
        true
    }

    /// Whether what lies above each floor in a clique fits below the height. Whoever cannot be the lowest of a clique,
    /// since all of it would not fit above, lies on top of somebody who can.
    fn clique_fits(&mut self, t: usize) -> bool {
        let problem = self.problem;
        let Some(most) = self.height.checked_sub(self.rest[t]) else { return false };
        let (mut lowest_top, mut least) = (u64::MAX, u64::MAX);
        self.levels.clear();
        for &i in problem.cliques[t].iter().filter(|&&i| !self.placed[i as usize]) {
            let (floor, bytes) = (self.floors[i as usize], problem.buffers[i as usize].bytes);
            match floor <= most {
                true => lowest_top = lowest_top.min(floor + bytes),
                false => {
                    least = least.min(floor);
                    self.levels.push((floor, bytes, i));
                }
            }
        }
        if self.levels.is_empty() {
            return true;
        }
        if lowest_top == u64::MAX {
            return false;
        }
        let mut levels = std::mem::take(&mut self.levels);
        let mut fit = true;
        if least < lowest_top {
            for (floor, _, i) in &mut levels {
                fit &= self.raise(*i as usize, lowest_top);
                *floor = self.floors[*i as usize];
            }
        }
        levels.sort_unstable_by_key(|&(floor, ..)| std::cmp::Reverse(floor));
        let mut sum = 0;
        fit = fit
            && levels.iter().all(|&(floor, bytes, _)| {
                sum += bytes;
                floor + sum <= self.height
            });
        self.levels = levels;
        fit
    }

    /// The parts of a set of buffers that no conflict connects, the smallest first.
    fn parts(&self, set: &Bits) -> Vec<Vec<u32>> {
        let (mut left, mut parts) = (set.clone(), Vec::new());
        while let Some(first) = left.first() {
            left.remove(first);
            let mut part = vec![first as u32];
            let mut seen = 0;
            while let Some(&i) = part.get(seen) {
                seen += 1;
                left.take_within(&self.problem.conflict_bits[i as usize], |j| part.push(j as u32));
            }
            parts.push(part);
        }
        parts.sort_by_key(Vec::len);
        parts
    }
}
