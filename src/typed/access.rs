//! What work reads and writes, and which earlier work it must therefore wait for.
//!
//! Memory is cut into pieces at the ends of every range that work was given so far. Each piece knows which work wrote it last
//! and which has read it since. A reader waits for the writer. A writer waits for the readers, or for the writer if there
//! are none.

use std::collections::BTreeMap;

use smallvec::SmallVec;

/// A range of memory that work reads, or reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// First byte.
    start: u64,
    /// Byte behind the last.
    end: u64,
    writes: bool,
}

impl Touch {
    /// `bytes` bytes from `address` on, which work may write.
    pub fn writing(address: u64, bytes: u64) -> Self {
        Self { start: address, end: address.saturating_add(bytes), writes: true }
    }

    /// `bytes` bytes from `address` on, which work only reads.
    pub fn reading(address: u64, bytes: u64) -> Self {
        Self { writes: false, ..Self::writing(address, bytes) }
    }

    /// The same range, only read.
    pub fn read_only(self) -> Self {
        Self { writes: false, ..self }
    }
}

/// The work that touched a piece of memory last.
#[derive(Clone, Debug)]
struct Piece<W> {
    end: u64,
    writer: Option<W>,
    /// The work that has read it since.
    readers: SmallVec<[W; 2]>,
}

/// The work that touched each memory last, in the order of [`Accesses::follow`].
#[derive(Debug)]
pub(super) struct Accesses<W> {
    /// By first byte; pieces do not overlap.
    pieces: BTreeMap<u64, Piece<W>>,
}

impl<W> Default for Accesses<W> {
    fn default() -> Self {
        Self { pieces: BTreeMap::new() }
    }
}

impl<W: Copy + PartialEq> Accesses<W> {
    /// The work that `touches` must wait for, each once, not more than once per piece of memory that they touch.
    pub(super) fn before(&mut self, touches: &[Touch]) -> Vec<W> {
        let mut before = Vec::new();
        for touch in touches {
            self.cut(*touch);
            for piece in self.pieces.range(touch.start..touch.end).map(|(_, piece)| piece) {
                let waits_for = if touch.writes && !piece.readers.is_empty() {
                    &piece.readers[..]
                } else {
                    piece.writer.as_slice()
                };
                for earlier in waits_for {
                    if !before.contains(earlier) {
                        before.push(*earlier);
                    }
                }
            }
        }
        before
    }

    /// Notes that `work` touches memory, behind everything noted before.
    pub(super) fn follow(&mut self, work: W, touches: &[Touch]) {
        // What it writes it may read too: writes come last, so that no work waits for it as a reader.
        for touch in touches.iter().filter(|t| !t.writes).chain(touches.iter().filter(|t| t.writes)) {
            self.cut(*touch);
            for (_, piece) in self.pieces.range_mut(touch.start..touch.end) {
                if touch.writes {
                    piece.writer = Some(work);
                    piece.readers.clear();
                } else {
                    piece.readers.push(work);
                }
            }
        }
    }

    /// Makes pieces end where `touch` begins and ends, and fills the gaps between them.
    fn cut(&mut self, touch: Touch) {
        if touch.start >= touch.end {
            return;
        }
        self.cut_at(touch.start);
        self.cut_at(touch.end);
        let mut gaps = Vec::new();
        let mut at = touch.start;
        for (&start, piece) in self.pieces.range(touch.start..touch.end) {
            if at < start {
                gaps.push((at, start));
            }
            at = piece.end;
        }
        if at < touch.end {
            gaps.push((at, touch.end));
        }
        for (start, end) in gaps {
            self.pieces.insert(start, Piece { end, writer: None, readers: SmallVec::new() });
        }
    }

    fn cut_at(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        if piece.end > at {
            let behind = piece.clone();
            piece.end = at;
            self.pieces.insert(at, behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order(work: &[Vec<Touch>]) -> Vec<Vec<usize>> {
        let mut accesses = Accesses::default();
        let order = work.iter().enumerate().map(|(n, touches)| {
            let before = accesses.before(touches);
            accesses.follow(n, touches);
            before
        });
        order.collect()
    }

    #[test]
    fn readers_run_together_behind_the_writer_and_before_the_next() {
        let (write, read) = (Touch::writing(64, 64), Touch::reading(64, 64));
        let order = order(&[vec![write], vec![read], vec![read], vec![write]]);
        assert_eq!(order, [vec![], vec![0], vec![0], vec![1, 2]]);
    }

    #[test]
    fn work_on_separate_halves_is_independent_and_both_precede_the_whole() {
        let order = order(&[
            vec![Touch::writing(0, 100)],
            vec![Touch::writing(0, 50)],
            vec![Touch::writing(50, 50)],
            vec![Touch::reading(0, 100)],
        ]);
        assert_eq!(order, [vec![], vec![0], vec![0], vec![1, 2]]);
    }

    #[test]
    fn work_that_reads_what_it_writes_does_not_wait_for_itself() {
        let both = vec![Touch::reading(0, 8), Touch::writing(0, 8)];
        assert_eq!(order(&[both.clone(), both]), [vec![], vec![0]]);
    }

    #[test]
    fn no_bytes_are_nobodys() {
        let none = vec![Touch::writing(8, 0)];
        assert!(order(&[none.clone(), none]).iter().all(Vec::is_empty));
        let last = Touch::writing(u64::MAX - 8, 64);
        assert_eq!(order(&[vec![last], vec![last]]), [vec![], vec![0]]);
    }

    fn touches() -> impl Strategy<Value = Vec<Touch>> {
        let touch = (0u64..24, 0u64..9, any::<bool>());
        let touch = touch.prop_map(|(start, bytes, writes)| Touch { start, end: start + bytes, writes });
        prop::collection::vec(touch, 1..4)
    }

    proptest! {
        /// Against the definition: two pieces of work are ordered if they touch a byte that one of them writes, and
        /// directly ordered only then.
        #[test]
        fn exactly_what_conflicts_is_ordered(work in prop::collection::vec(touches(), 1..16)) {
            let conflict = |a: &[Touch], b: &[Touch]| {
                let meet = |x: &Touch, y: &Touch| {
                    x.start.max(y.start) < x.end.min(y.end) && (x.writes || y.writes)
                };
                a.iter().any(|x| b.iter().any(|y| meet(x, y)))
            };
            let order = order(&work);
            let mut before = vec![vec![false; work.len()]; work.len()];
            for late in 0..work.len() {
                for &early in &order[late] {
                    prop_assert!(early < late && conflict(&work[early], &work[late]), "{early} before {late}");
                    let through = before[early].clone();
                    before[late].iter_mut().zip(through).for_each(|(known, through)| *known |= through);
                    before[late][early] = true;
                }
                for early in 0..late {
                    let ordered = before[late][early];
                    prop_assert!(ordered || !conflict(&work[early], &work[late]), "{early} before {late}");
                }
            }
        }
    }
}
