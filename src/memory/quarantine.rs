//! Memory that was freed and is kept from further use for a while, where programs are checked: what still uses it is found and
//! meets nobody else's.

#![forbid(unsafe_code)]

use std::collections::VecDeque;

/// Bytes that are kept at most.
const MOST: u64 = 64 << 20;

/// Freed memory, with its bytes, the oldest first.
pub(crate) struct Quarantine<T> {
    kept: VecDeque<(u64, T)>,
    bytes: u64,
}

impl<T> Default for Quarantine<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Quarantine<T> {
    pub(crate) const fn new() -> Self {
        Self { kept: VecDeque::new(), bytes: 0 }
    }

    /// Takes freed memory in; what there is no room for any more comes out.
    pub(crate) fn keep(&mut self, bytes: u64, freed: T) -> Vec<T> {
        self.kept.push_back((bytes, freed));
        self.bytes += bytes;
        let mut out = Vec::new();
        while self.bytes > MOST
            && let Some((bytes, oldest)) = self.kept.pop_front()
        {
            self.bytes -= bytes;
            out.push(oldest);
        }
        out
    }

    /// Lets all go: the memory is needed.
    pub(crate) fn empty(&mut self) -> impl Iterator<Item = T> {
        self.bytes = 0;
        std::mem::take(&mut self.kept).into_iter().map(|(_, freed)| freed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_and_what_is_too_large_at_once() {
        let mut quarantine = Quarantine::default();
        assert!(quarantine.keep(MOST / 2, 1).is_empty() && quarantine.keep(MOST / 2, 2).is_empty());
        assert_eq!(quarantine.keep(1, 3), [1]);
        assert_eq!(quarantine.keep(MOST + 1, 4), [2, 3, 4]);
        assert!(quarantine.keep(7, 5).is_empty());
        assert_eq!(quarantine.empty().collect::<Vec<_>>(), [5]);
        assert_eq!(quarantine.bytes, 0);
    }
}
