//! What is to be placed: buffers, and which of them are alive at the same time.

use std::ops::Range;

use aqlipse_graph::{
    Csr,
    antichain::{bits::Bits, bound},
};

use super::{
    buffer::{self, Buffer, ProblemError},
    cliques,
    few::Few,
    lives::{Life, Relations},
};
/// A number of bytes without which no plan can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The heaviest set of buffers that are alive together.
    Exact(u64),
    /// A heavy one: too many buffers are ordered partially to look for the heaviest.
    AtLeast(u64),
}

impl Bound {
    /// The bytes of the set.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Exact(bytes) | Self::AtLeast(bytes) => bytes,
        }
    }
}

/// Buffers, and which of them must not share bytes.
///
/// Two buffers may share bytes only if one of them is over before the other begins, in every order in which the device
/// may run the graph. Making a problem finds its lower bound, which takes milliseconds for some hundreds of buffers in a
/// partial order, and memory for each pair of buffers that are alive together.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(super) buffers: Vec<Buffer>,
    /// The buffers that are alive together with one, in rising order.
    pub(super) conflicts: Vec<Vec<u32>>,
    /// The same, a bit each.
    pub(super) conflict_bits: Vec<Bits>,
    /// Sets of buffers that are all alive together, none a part of another; each buffer is in at least one. There are
    /// none of problems that are too large to be searched.
    pub(super) cliques: Vec<Vec<u32>>,
    /// The cliques of each buffer.
    pub(super) cliques_of: Vec<Vec<u32>>,
    /// The same, a bit each.
    pub(super) clique_bits: Vec<Bits>,
    /// Those that a buffer could change places with in any plan.
    pub(super) twins: Vec<Vec<u32>>,
    bound: Bound,
    /// The buffers whose sizes add up to the bound.
    peak: Vec<u32>,
}

impl Problem {
    /// More buffers are refused.
    pub const MOST: usize = buffer::MOST;

    /// Buffers that live in ranges of one clock: a chain of steps. A buffer with an empty range overlaps no other.
    ///
    /// # Errors
    /// [`ProblemError`] of malformed buffers.
    pub fn of_intervals(buffers: &[Buffer], lives: &[Range<u64>]) -> Result<Self, ProblemError> {
        check(buffers)?;
        if buffers.len() != lives.len() {
            return Err(ProblemError::Lives { buffers: buffers.len(), lives: lives.len() });
        }
        let n = buffers.len();
        let mut conflicts = vec![Bits::new(n); n];
        let mut order: Vec<usize> =
            (0..n).filter(|&i| !lives[i].is_empty() && buffers[i].bytes > 0).collect();
        order.sort_by_key(|&i| lives[i].start);
        let (mut alive, mut sets): (Vec<usize>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
        let (mut weight, mut heaviest, mut peak) = (0, 0, Vec::new());
        for (turn, &i) in order.iter().enumerate() {
            alive.retain(|&j| {
                let stays = lives[j].end > lives[i].start;
                weight -= if stays { 0 } else { buffers[j].bytes };
                stays
            });
            for &j in &alive {
                conflicts[i].insert(j);
                conflicts[j].insert(i);
            }
            alive.push(i);
            weight += buffers[i].bytes;
            // CAST: at most `MOST`, here and below.
            let set = || alive.iter().map(|&j| j as u32).collect::<Vec<u32>>();
            if weight > heaviest {
                (heaviest, peak) = (weight, set());
            }
            // What is alive when a buffer ends before the next one begins is in no larger set.
            let next = order.get(turn + 1).map_or(u64::MAX, |&next| lives[next].start);
            if n <= Few::MOST && alive.iter().any(|&j| lives[j].end <= next) {
                sets.push(set());
            }
        }
        Ok(Self::new(buffers, conflicts, sets, Bound::Exact(heaviest), peak))
    }

    /// Buffers of which `before(a, b)` says whether `a` is over when `b` begins, whatever else happens: a strict order.
    ///
    /// # Errors
    /// [`ProblemError`] of malformed buffers.
    pub fn of_order(buffers: &[Buffer], before: impl Fn(usize, usize) -> bool) -> Result<Self, ProblemError> {
        check(buffers)?;
        let n = buffers.len();
        let mut follows = vec![Bits::new(n); n];
        for (a, follows) in follows.iter_mut().enumerate() {
            (0..n).filter(|&b| a != b && before(a, b)).for_each(|b| follows.insert(b));
        }
        Ok(Self::of_relation(buffers, &follows))
    }

    /// Buffers that nodes of a graph allocate and free. `dependencies` has a row for each node: the nodes that it waits
    /// for.
    ///
    /// A buffer is over when another begins if the node that frees it comes before the node that allocates the other;
    /// one that no node frees is never over.
    ///
    /// # Errors
    /// [`ProblemError`] of malformed buffers and graphs.
    pub fn of_graph(buffers: &[Buffer], lives: &[Life], dependencies: &Csr) -> Result<Self, ProblemError> {
        check(buffers)?;
        if buffers.len() != lives.len() {
            return Err(ProblemError::Lives { buffers: buffers.len(), lives: lives.len() });
        }
        Ok(Self::of_relation(buffers, &Relations::new(lives, dependencies)?.follows))
    }

    /// Buffers of which each has those that begin when it is over.
    pub(super) fn of_relation(buffers: &[Buffer], follows: &[Bits]) -> Self {
        let n = buffers.len();
        let mut conflicts = vec![Bits::new(n); n];
        let mut before = vec![Bits::new(n); n];
        for (a, follows) in follows.iter().enumerate() {
            follows.iter().for_each(|b| before[b].insert(a));
        }
        let mut real = Bits::new(n);
        // What takes no bytes is in no buffer's way.
        (0..n).filter(|&i| buffers[i].bytes > 0).for_each(|i| real.insert(i));
        for i in real.iter() {
            conflicts[i] = real.clone();
            conflicts[i].subtract(&follows[i]);
            conflicts[i].subtract(&before[i]);
            conflicts[i].remove(i);
        }
        let weights: Vec<u64> = buffers.iter().map(|buffer| buffer.bytes).collect();
        let (bound, peak) = match n <= bound::MOST {
            true => {
                let (bytes, peak) = bound::antichain(&weights, follows);
                (Bound::Exact(bytes), peak)
            }
            false => {
                let (bytes, peak) = bound::alive_in_turn(&weights, &before);
                (Bound::AtLeast(bytes), peak)
            }
        };
        let sets = match n <= Few::MOST {
            true => cliques::grow(&peak, buffers, &conflicts),
            false => Vec::new(),
        };
        Self::new(buffers, conflicts, sets, bound, peak)
    }

    fn new(
        buffers: &[Buffer],
        conflict_bits: Vec<Bits>,
        sets: Vec<Vec<u32>>,
        bound: Bound,
        peak: Vec<u32>,
    ) -> Self {
        let n = buffers.len();
        let conflicts: Vec<Vec<u32>> =
            conflict_bits.iter().map(|bits| bits.iter().map(|i| i as u32).collect()).collect();
        let cliques = cliques::maximal(sets, buffers);
        let searched = n <= Few::MOST;
        let mut cliques_of = vec![Vec::new(); if searched { n } else { 0 }];
        let mut clique_bits = vec![Bits::new(cliques.len()); cliques_of.len()];
        for (t, clique) in cliques.iter().enumerate() {
            for &i in clique {
                cliques_of[i as usize].push(t as u32);
                clique_bits[i as usize].insert(t);
            }
        }
        let mut twins = vec![Vec::new(); cliques_of.len()];
        for (i, twins) in twins.iter_mut().enumerate() {
            let alike = |&j: &u32| {
                let j = j as usize;
                buffers[i] == buffers[j] && conflict_bits[i].same_but(&conflict_bits[j], i, j)
            };
            twins.extend(conflicts[i].iter().copied().filter(alike));
        }
        let buffers = buffers.to_vec();
        Self { buffers, conflicts, conflict_bits, cliques, cliques_of, clique_bits, twins, bound, peak }
    }

    /// No plan needs fewer bytes: a sum of buffers that are alive together.
    pub fn lower_bound(&self) -> Bound {
        self.bound
    }

    /// The buffers whose sum is [`Problem::lower_bound`].
    pub fn peak(&self) -> impl Iterator<Item = usize> {
        self.peak.iter().map(|&i| i as usize)
    }

    /// The buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// How many buffers there are.
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Whether there is nothing to place.
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Whether two buffers are alive together, and both have bytes.
    ///
    /// # Panics
    /// If there is no buffer `a` or `b`.
    pub fn conflict(&self, a: usize, b: usize) -> bool {
        self.conflict_bits[a].contains(b)
    }

    /// Whether offsets are multiples of the alignments, below a height, and buffers that are alive together apart: what
    /// makes a plan, looked at without anything that made it.
    pub fn admits(&self, offsets: &[u64], height: u64) -> bool {
        let n = self.len();
        let end = |i: usize| offsets[i].checked_add(self.buffers[i].bytes);
        let lies = |i: usize| {
            offsets[i].is_multiple_of(self.buffers[i].align) && end(i).is_some_and(|end| end <= height)
        };
        let apart = |i: usize, j: usize| {
            !self.conflict(i, j) || end(i) <= Some(offsets[j]) || end(j) <= Some(offsets[i])
        };
        offsets.len() == n && (0..n).all(lies) && (0..n).all(|i| (0..i).all(|j| apart(i, j)))
    }
}

/// Whether buffers can be placed at all.
fn check(buffers: &[Buffer]) -> Result<(), ProblemError> {
    if buffers.len() > Problem::MOST {
        return Err(ProblemError::TooMany { buffers: buffers.len() });
    }
    let mut sum = 0u64;
    for (i, buffer) in buffers.iter().enumerate() {
        if !buffer.align.is_power_of_two() {
            return Err(ProblemError::Align { buffer: i, align: buffer.align });
        }
        let more = buffer.bytes.checked_add(buffer.align).and_then(|bytes| sum.checked_add(bytes));
        sum = more.filter(|&sum| sum <= 1 << 62).ok_or(ProblemError::TooLarge { buffer: i })?;
    }
    Ok(())
}
