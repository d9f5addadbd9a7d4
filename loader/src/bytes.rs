use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes that are borrowed, or shared with an owner that keeps them alive.
///
/// A bundle and its code objects point into the same memory: nothing is copied when a code object is taken
/// out of a mapped file, of the program's own image, or of a decompressed bundle.
#[derive(Clone)]
pub struct Bytes<'a>(Source<'a>);

#[derive(Clone)]
enum Source<'a> {
    Borrowed(&'a [u8]),
    Shared { owner: Arc<dyn AsRef<[u8]> + Send + Sync>, range: Range<usize> },
}

impl<'a> Bytes<'a> {
    /// Takes an owner of bytes (`Vec<u8>`, a memory map, ...) that lives until the last part of it is
    /// dropped.
    pub fn shared(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Bytes<'static> {
        let range = 0..owner.as_ref().len();
        Bytes(Source::Shared { owner: Arc::new(owner), range })
    }

    /// Returns a part of these bytes without copying, or `None` when `range` is not inside.
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        let inner = self.get(range.clone())?;
        Some(Self(match &self.0 {
            Source::Borrowed(bytes) => Source::Borrowed(bytes.get(range)?),
            Source::Shared { owner, range: outer } => {
                let start = outer.start + range.start;
                Source::Shared { owner: Arc::clone(owner), range: start..start + inner.len() }
            }
        }))
    }
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Source::Borrowed(bytes) => bytes,
            // An owner may answer with fewer bytes than before (`AsRef` promises nothing): then there are
            // none.
            Source::Shared { owner, range } => (**owner).as_ref().get(range.clone()).unwrap_or_default(),
        }
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.len())
    }
}

impl<'a> From<&'a [u8]> for Bytes<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self(Source::Borrowed(bytes))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Bytes<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self(Source::Borrowed(bytes))
    }
}

impl<'a> From<&'a Vec<u8>> for Bytes<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self(Source::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Bytes<'static> {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::shared(bytes)
    }
}

impl From<Arc<[u8]>> for Bytes<'static> {
    fn from(bytes: Arc<[u8]>) -> Self {
        Bytes::shared(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_of_a_slice_counts_from_the_outer_one() {
        for bytes in [Bytes::from(&[0, 1, 2, 3, 4, 5, 6, 7]), Bytes::from(vec![0, 1, 2, 3, 4, 5, 6, 7])] {
            let inner = bytes.slice(2..7).unwrap().slice(1..3).unwrap();
            assert_eq!(*inner, [3, 4]);
        }
    }

    #[test]
    fn a_slice_cannot_leave_the_part_it_was_taken_from() {
        let part = Bytes::from(vec![0; 8]).slice(2..4).unwrap();
        assert!(part.slice(0..3).is_none());
        assert!(part.slice(3..3).is_none());
    }

    #[test]
    fn shared_bytes_outlive_the_whole_they_came_from() {
        let part = Bytes::from(vec![7; 100]).slice(10..12).unwrap();
        assert_eq!(*part, [7, 7]);
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges)]
    fn a_reversed_range_is_no_slice() {
        assert!(Bytes::from(vec![0; 8]).slice(4..2).is_none());
    }
}
