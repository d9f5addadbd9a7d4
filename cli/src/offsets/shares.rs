//! Which search goes on for how long: what helps gets more time, and nothing is given up.

/// What a win of all that can be won weighs beside the weights that are given.
const REWARD: f64 = 40.0;
/// What is left of what is known once there is another best plan: what helped before helps less now.
const MEMORY: f64 = 0.7;
/// In how much time most of it is forgotten without one.
const HORIZON: f64 = 80.0;

/// Shares of the time, in proportion to a weight and to what was won.
pub(super) struct Shares(Vec<Share>);

struct Share {
    weight: f64,
    won: f64,
    spent: f64,
}

impl Shares {
    pub fn new(weights: impl Iterator<Item = f64>) -> Self {
        Self(weights.map(|weight| Share { weight, won: 0.0, spent: 0.0 }).collect())
    }

    /// The search that is the furthest behind its share: the first of equals.
    ///
    /// # Panics
    /// If there is no share.
    pub fn next(&self) -> usize {
        let due = |i: &usize| self.0[*i].spent / (self.0[*i].weight + self.0[*i].won);
        // PANIC: there is a share.
        (0..self.0.len()).min_by(|a, b| due(a).total_cmp(&due(b))).expect("a share")
    }

    /// Notes how much time a search took, in steps for each buffer, and which part (0 to 1) of what could be won was
    /// won by it.
    pub fn spent(&mut self, i: usize, time: f64, won: f64) {
        self.0[i].spent += time;
        let kept = (-time / HORIZON).exp();
        self.0.iter_mut().for_each(|share| share.won *= kept);
        self.0[i].won += REWARD * won;
        if won > 0.0 {
            for share in &mut self.0 {
                share.won *= MEMORY;
                share.spent *= MEMORY;
            }
        }
    }
}

/// Lengths of tries that suit whatever length is needed, within a factor that grows slowly: 1, 1, 2, 1, 1, 2, 4, 1, ...
/// from the first try on (Luby, Sinclair and Zuckerman, 1993).
pub(super) fn luby(mut turn: u64) -> u64 {
    loop {
        let top = 1 << turn.max(1).ilog2();
        if turn + 1 == 2 * top || turn == 0 {
            return top;
        }
        turn -= top - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_grow_by_luby() {
        let lengths: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(lengths, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    #[test]
    fn time_goes_by_weights_and_to_what_wins() {
        let mut shares = Shares::new([1.0, 3.0].into_iter());
        let mut run = |wins: Option<usize>| {
            let mut turns = [0; 2];
            for _ in 0..400 {
                let turn = shares.next();
                turns[turn] += 1;
                shares.spent(turn, 1.0, if wins == Some(turn) { 0.1 } else { 0.0 });
            }
            turns
        };
        assert_eq!(run(None), [100, 300]);
        let [first, second] = run(Some(0));
        assert!(first > 2 * second && second > 0, "{first} and {second}");
    }
}
