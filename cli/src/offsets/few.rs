//! Sets of the buffers of a problem that is searched, in a place of fixed size: a search copies them at every step.

/// A set of numbers below [`Few::MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Few([u64; WORDS]);

const WORDS: usize = 8;

impl Few {
    pub const MOST: usize = 64 * WORDS;

    /// The set of these.
    ///
    /// # Panics
    /// If one is too large, here and below.
    pub fn of(numbers: &[u32]) -> Self {
        let mut few = Self::default();
        numbers.iter().for_each(|&i| few.insert(i as usize));
        few
    }

    pub fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    pub fn remove(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }

    pub fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 != 0
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The least.
    pub fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    /// What is in both.
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|n| self.0[n] & other.0[n]))
    }

    /// What is in one of them.
    pub fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|n| self.0[n] | other.0[n]))
    }

    /// What is not in the other.
    pub fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|n| self.0[n] & !other.0[n]))
    }

    /// In rising order.
    #[inline(always)]
    pub fn each(&self, mut visit: impl FnMut(usize)) {
        for (n, &word) in self.0.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                visit(n * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }
}

/// The parts of a set that nothing connects, the smallest first. `meets` says with which others each is connected.
pub(super) fn parts(meets: &[Few], set: Few) -> Vec<Few> {
    let (mut left, mut parts) = (set, Vec::new());
    while let Some(first) = left.first() {
        let (mut part, mut open) = (Few::default(), Few::default());
        left.remove(first);
        open.insert(first);
        while let Some(i) = open.first() {
            open.remove(i);
            part.insert(i);
            let reached = meets[i].and(&left);
            left = left.without(&reached);
            open = open.or(&reached);
        }
        parts.push(part);
    }
    parts.sort_by_key(Few::len);
    parts
}

/// Whether a set is still connected once `i` has left it: whether those that `i` met reach each other. Mostly the first of
/// them meets the others.
pub(super) fn holds_together(meets: &[Few], set: &Few, i: usize) -> bool {
    let mut goals = meets[i].and(set);
    let Some(first) = goals.first() else { return true };
    goals.remove(first);
    let (mut open, mut unseen) = (Few::default(), *set);
    open.insert(first);
    unseen.remove(first);
    while !goals.is_empty() {
        let Some(at) = open.and(&meets[i]).first().or_else(|| open.first()) else { return false };
        open.remove(at);
        let reached = meets[at].and(&unseen);
        goals = goals.without(&reached);
        unseen = unseen.without(&reached);
        open = open.or(&reached);
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_holds_together_if_it_has_one_part(
            edges in prop::collection::vec((0usize..40, 0usize..40), 0..60),
            i in 0usize..40,
        ) {
            let mut meets = vec![Few::default(); 40];
            for (a, b) in edges.into_iter().filter(|(a, b)| a != b) {
                meets[a].insert(b);
                meets[b].insert(a);
            }
            let all = Few::of(&(0..40).collect::<Vec<_>>());
            for part in parts(&meets, all).iter().filter(|part| part.contains(i)) {
                let mut rest = *part;
                rest.remove(i);
                prop_assert_eq!(holds_together(&meets, &rest, i), parts(&meets, rest).len() < 2);
            }
            let counted: usize = parts(&meets, all).iter().map(Few::len).sum();
            prop_assert_eq!(counted, 40);
        }
    }
}
