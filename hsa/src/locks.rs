//! When locked host memory is unlocked.
//!
//! `hsa_amd_memory_unlock` takes an address and nothing else. Where several locks begin at one address, of different
//! lengths or for different agents, it is the runtime's affair which of them goes; a kernel that still reads the longer
//! one would fault. So these go together, when the last of them may.

use std::collections::BTreeMap;

/// What tells two locks of one address apart: bytes, and the handles of agents and pool.
pub(crate) type Kind = (usize, Vec<u64>);

/// Locks of one kind at one address.
#[derive(Debug, Default)]
struct Group {
    /// Locks that are held.
    held: usize,
    /// Locks that were given back, and that still stand.
    standing: usize,
}

/// The locks of a process, by address.
#[derive(Debug, Default)]
pub(crate) struct Locks(BTreeMap<usize, BTreeMap<Kind, Group>>);

impl Locks {
    /// Takes note of a lock that is about to be made.
    pub(crate) fn taken(&mut self, start: usize, kind: Kind) {
        self.0.entry(start).or_default().entry(kind).or_default().held += 1;
    }

    /// Takes note that a lock is not needed any more, or, unless `made`, has never come to be. Returns how many locks
    /// at `start` go now.
    #[must_use]
    pub(crate) fn released(&mut self, start: usize, kind: &Kind, made: bool) -> usize {
        let Some(groups) = self.0.get_mut(&start) else { return 0 };
        let alone = groups.len() == 1;
        let Some(group) = groups.get_mut(kind) else { return 0 };
        group.held -= 1;
        if alone && group.standing == 0 {
            // All are alike: whichever goes is the right one.
            if group.held == 0 {
                self.0.remove(&start);
            }
            return usize::from(made);
        }
        group.standing += usize::from(made);
        if group.held == 0 && group.standing == 0 {
            // Never made: it is no reason for the other locks to wait for each other.
            groups.remove(kind);
        }
        if groups.values().any(|group| group.held > 0) {
            return 0;
        }
        self.0.remove(&start).into_iter().flatten().map(|(_, group)| group.standing).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(len: usize) -> Kind {
        (len, Vec::new())
    }

    #[test]
    fn equal_locks_go_one_by_one() {
        let mut locks = Locks::default();
        locks.taken(16, kind(100));
        locks.taken(16, kind(100));
        assert_eq!(locks.released(16, &kind(100), true), 1);
        assert_eq!(locks.released(16, &kind(100), true), 1);
        assert!(locks.0.is_empty());
    }

    #[test]
    fn different_locks_of_one_address_go_together() {
        let mut locks = Locks::default();
        locks.taken(16, kind(100));
        locks.taken(16, kind(200));
        assert_eq!(locks.released(16, &kind(100), true), 0);
        assert_eq!(locks.released(16, &kind(200), true), 2);
        assert!(locks.0.is_empty());
    }

    #[test]
    fn what_was_never_locked_is_not_unlocked() {
        let mut locks = Locks::default();
        locks.taken(16, kind(100));
        locks.taken(16, kind(200));
        assert_eq!(locks.released(16, &kind(100), true), 0);
        assert_eq!(locks.released(16, &kind(200), false), 1);
        locks.taken(16, kind(100));
        assert_eq!(locks.released(16, &kind(100), false), 0);
        assert!(locks.0.is_empty());
    }

    #[test]
    fn a_lock_that_was_refused_lets_equal_ones_go_one_by_one() {
        let mut locks = Locks::default();
        locks.taken(16, kind(100));
        locks.taken(16, kind(100));
        locks.taken(16, kind(200));
        assert_eq!(locks.released(16, &kind(200), false), 0);
        assert_eq!(locks.released(16, &kind(100), true), 1);
        assert_eq!(locks.released(16, &kind(100), true), 1);
        assert!(locks.0.is_empty());
    }

    proptest! {
        /// Against a runtime that unlocks whichever lock of an address it likes, here the last: what is held stands.
        #[test]
        fn what_is_held_stands(steps in prop::collection::vec((any::<bool>(), 0usize..3, 1usize..4), 1..60)) {
            let mut locks = Locks::default();
            let mut standing: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            let mut held: Vec<(usize, usize)> = Vec::new();
            for (take, start, len) in steps {
                if take {
                    locks.taken(start, kind(len));
                    standing.entry(start).or_default().push(len);
                    held.push((start, len));
                } else if !held.is_empty() {
                    let (start, len) = held.remove((start + len) % held.len());
                    for _ in 0..locks.released(start, &kind(len), true) {
                        prop_assert!(standing.get_mut(&start).unwrap().pop().is_some());
                    }
                }
                for (&start, lens) in &standing {
                    let mut left = lens.clone();
                    for &(_, len) in held.iter().filter(|lock| lock.0 == start) {
                        let at = left.iter().position(|&l| l == len);
                        prop_assert!(at.is_some(), "{len} bytes at {start} are held and not locked");
                        left.remove(at.unwrap());
                    }
                }
            }
            for (start, len) in std::mem::take(&mut held) {
                for _ in 0..locks.released(start, &kind(len), true) {
                    standing.get_mut(&start).unwrap().pop();
                }
            }
            prop_assert!(standing.values().all(Vec::is_empty), "none is held, and some stand");
            prop_assert!(locks.0.is_empty());
        }
    }
}
