//! How few bytes a plan can do with.

use std::collections::VecDeque;

use super::bits::Bits;

/// Most buffers in a partial order for which the heaviest set is looked for: that takes some ten milliseconds.
pub const MOST: usize = 1024;

/// A heavy set of buffers of which none is before another: the heaviest of those that are alive together if they begin in a
/// row that respects the order.
pub fn alive_in_turn(weights: &[u64], before: &[Bits]) -> (u64, Vec<u32>) {
    let n = weights.len();
    let mut order: Vec<usize> = (0..n).collect();
    // What is before a buffer is before those that follow it as well, and so are fewer.
    order.sort_by_cached_key(|&i| before[i].count());
    let mut alive = Bits::new(n);
    let (mut best, mut peak) = (0, Bits::new(n));
    for i in order {
        alive.subtract(&before[i]);
        alive.insert(i);
        let weight = alive.iter().map(|i| weights[i]).sum();
        if weight > best {
            (best, peak) = (weight, alive.clone());
        }
    }
    // CAST: as many as have sets of bits.
    (best, peak.iter().filter(|&i| weights[i] > 0).map(|i| i as u32).collect())
}

/// The heaviest set of buffers of which none follows another, and its weight.
///
/// By Dilworth's theorem for weights: as much as the chains weigh that cover each buffer as often as it has units, if
/// there are as few chains as can be. A chain that goes on from `a` to `b` saves a unit: a flow from what ends to what
/// begins, as large as can be. Where it is stuck, the cut names the buffers.
pub fn antichain(weights: &[u64], follows: &[Bits]) -> (u64, Vec<u32>) {
    let mut flow = Flow::new(weights, follows);
    let saved = flow.run();
    // Not cut off: what ends there can still reach something, and nothing reaches what begins there.
    let n = weights.len();
    let members =
        (0..n).filter(|&i| flow.level[i] != UNSEEN && flow.level[n + i] == UNSEEN && weights[i] > 0);
    // CAST: as many as have sets of bits.
    (weights.iter().sum::<u64>() - saved, members.map(|i| i as u32).collect())
}

/// The same flow: from which buffers each one takes how much. The rest adds up to the weight of [`antichain`].
pub fn gifts(weights: &[u64], follows: &[Bits]) -> Vec<Vec<(u32, u64)>> {
    let mut flow = Flow::new(weights, follows);
    flow.run();
    flow.taken.iter_mut().for_each(|taken| taken.retain(|&(_, amount)| amount > 0));
    flow.taken
}

const UNSEEN: u32 = u32::MAX;

/// A flow from ends of buffers (`0..n`) to beginnings (`n..2n`) along the order, by Dinic's method. An edge of the order
/// carries any amount; an end and a beginning carry as much as the buffer weighs.
struct Flow<'a> {
    follows: &'a [Bits],
    /// What ends can still send, and beginnings still take.
    left: Vec<u64>,
    /// What each beginning takes, by end.
    taken: Vec<Vec<(u32, u64)>>,
    level: Vec<u32>,
    /// The beginnings of each second level that may lead on: level 1 is the first of them.
    open: Vec<Bits>,
}

impl<'a> Flow<'a> {
    fn new(weights: &[u64], follows: &'a [Bits]) -> Self {
        let n = weights.len();
        let (left, level) = ([weights, weights].concat(), vec![UNSEEN; 2 * n]);
        Self { follows, left, taken: vec![Vec::new(); n], level, open: Vec::new() }
    }

    fn run(&mut self) -> u64 {
        let mut sum = 0;
        while self.find_levels() {
            sum += self.block();
        }
        sum
    }

    /// Distances from the ends that have something left; whether a beginning that has something left is reached.
    fn find_levels(&mut self) -> bool {
        let n = self.follows.len();
        self.level.fill(UNSEEN);
        self.open.clear();
        let mut queue: VecDeque<usize> = (0..n).filter(|&i| self.left[i] > 0).collect();
        queue.iter().for_each(|&i| self.level[i] = 0);
        let mut unseen = Bits::new(n);
        (0..n).for_each(|i| unseen.insert(i));
        let mut last = UNSEEN;
        while let Some(at) = queue.pop_front() {
            let next = self.level[at] + 1;
            // Behind the nearest goal there are only ways that are longer.
            if next > last {
                break;
            }
            if at < n {
                let (level, left, open) = (&mut self.level, &self.left, &mut self.open);
                if open.len() <= next as usize / 2 {
                    open.push(Bits::new(n));
                }
                unseen.take_within(&self.follows[at], |i| {
                    level[n + i] = next;
                    open[next as usize / 2].insert(i);
                    if left[n + i] > 0 {
                        last = next;
                    }
                    queue.push_back(n + i);
                });
                continue;
            }
            for &(end, amount) in &self.taken[at - n] {
                if amount > 0 && self.level[end as usize] == UNSEEN {
                    self.level[end as usize] = next;
                    queue.push_back(end as usize);
                }
            }
        }
        last != UNSEEN
    }

    /// Sends what can be sent along shortest ways.
    fn block(&mut self) -> u64 {
        let n = self.follows.len();
        let mut next = vec![0usize; n];
        let mut sum = 0;
        for start in 0..n {
            if self.level[start] != 0 {
                continue;
            }
            // Its own stack: a way may be as long as there are buffers.
            let mut path = vec![start];
            while let Some(&at) = path.last().filter(|_| self.left[start] > 0) {
                if at >= n && self.left[at] > 0 {
                    sum += self.send(&path);
                    path.truncate(1);
                    continue;
                }
                let step = match at < n {
                    true => self
                        .open
                        .get(self.level[at] as usize / 2)
                        .and_then(|open| open.first_common(&self.follows[at]).map(|i| n + i)),
                    false => loop {
                        let Some(&(end, amount)) = self.taken[at - n].get(next[at - n]) else { break None };
                        // The levels rise by one, so no buffer is met twice.
                        if amount > 0 && self.level[end as usize] == self.level[at] + 1 {
                            break Some(end as usize);
                        }
                        next[at - n] += 1;
                    },
                };
                match step {
                    Some(to) => path.push(to),
                    None => {
                        path.pop();
                        match path.last() {
                            // A beginning that leads nowhere is closed for all.
                            Some(_) if at >= n => self.open[self.level[at] as usize / 2].remove(at - n),
                            Some(&before) => next[before - n] += 1,
                            None => {}
                        }
                    }
                }
            }
        }
        sum
    }

    /// Sends as much as all of a way can carry, from an end to a beginning, over what others send.
    fn send(&mut self, path: &[usize]) -> u64 {
        let n = self.follows.len();
        let (first, last) = (path[0], path[path.len() - 1]);
        let mut amount = self.left[first].min(self.left[last]);
        for pair in path.windows(2).filter(|pair| pair[0] >= n) {
            let carried = self.taken[pair[0] - n].iter().find(|taken| taken.0 as usize == pair[1]);
            amount = amount.min(carried.map_or(0, |taken| taken.1));
        }
        for pair in path.windows(2) {
            let (end, begin, more) =
                if pair[0] < n { (pair[0], pair[1], true) } else { (pair[1], pair[0], false) };
            let list = &mut self.taken[begin - n];
            match list.iter_mut().find(|taken| taken.0 as usize == end) {
                Some(taken) if more => taken.1 += amount,
                Some(taken) => taken.1 -= amount,
                None => list.push((end as u32, amount)),
            }
        }
        self.left[first] -= amount;
        self.left[last] -= amount;
        amount
    }
}
