//! Sets of small numbers, a bit each.

/// A set of numbers below a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// The empty set, of numbers below `limit`.
    pub fn new(limit: usize) -> Self {
        Self(vec![0; limit.div_ceil(64)])
    }

    /// Adds a number.
    pub fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    /// Removes a number.
    pub fn remove(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }

    /// Removes a number; whether it was there.
    pub fn take(&mut self, i: usize) -> bool {
        let there = self.contains(i);
        self.remove(i);
        there
    }

    /// Whether a number is in it.
    pub fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 != 0
    }

    /// The least number that is in both.
    pub fn first_common(&self, other: &Self) -> Option<usize> {
        let both = |(n, (word, other)): (usize, (&u64, &u64))| {
            let both = word & other;
            (both != 0).then(|| n * 64 + both.trailing_zeros() as usize)
        };
        self.0.iter().zip(&other.0).enumerate().find_map(both)
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Adds what is in `other`.
    pub fn unite(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// Removes what is in `other`.
    pub fn subtract(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= !other);
    }

    /// Whether both are the same once `i` is added to this and `j` to the other.
    pub fn same_but(&self, other: &Self, i: usize, j: usize) -> bool {
        let added = |i: usize, n: usize| if i / 64 == n { 1u64 << (i % 64) } else { 0 };
        self.0.iter().zip(&other.0).enumerate().all(|(n, (a, b))| a | added(i, n) == b | added(j, n))
    }

    /// Keeps what is in `other` as well.
    pub fn intersect(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// In rising order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(n, &word)| {
            let next = |&rest: &u64| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
            std::iter::successors((word != 0).then_some(word), next)
                .map(move |rest| n * 64 + rest.trailing_zeros() as usize)
        })
    }

    /// Takes what is in both `reach` and `self` out of `self`; the numbers taken, a word at a time.
    pub fn take_within(&mut self, reach: &Self, mut taken: impl FnMut(usize)) {
        for (n, (word, reach)) in self.0.iter_mut().zip(&reach.0).enumerate() {
            let mut both = *word & reach;
            *word &= !both;
            while both != 0 {
                taken(n * 64 + both.trailing_zeros() as usize);
                both &= both - 1;
            }
        }
    }
}
