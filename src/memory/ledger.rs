//! What a program has said about managed memory, byte range by byte range.
//!
//! Whether the driver heeds it or not, it is remembered for later calls.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// A processor whose memory a range may prefer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Processor {
    /// The host.
    Host,
    /// The device with this ordinal.
    Device(usize),
}

/// What has been said about a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// Whether the range is mostly read.
    pub read_mostly: bool,
    /// Where the range should lie.
    pub preferred: Option<Processor>,
    /// The processors that will access the range, in ascending order.
    pub accessed_by: Vec<Processor>,
    /// Where the range was last prefetched to.
    pub prefetched: Option<Processor>,
    /// Whether writes need to be visible only between kernels.
    pub coarse_grained: bool,
}

impl Advice {
    /// Adds `processor` to those that will access the range, or removes it.
    pub fn set_accessed_by(&mut self, processor: Processor, accesses: bool) {
        match (self.accessed_by.binary_search(&processor), accesses) {
            (Err(at), true) => self.accessed_by.insert(at, processor),
            (Ok(at), false) => drop(self.accessed_by.remove(at)),
            _ => {}
        }
    }
}

/// The advice for a region: each entry holds from its offset to the next one's.
#[derive(Debug)]
pub(crate) struct Ledger(Mutex<BTreeMap<u64, Advice>>);

impl Ledger {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(BTreeMap::from([(0, Advice::default())])))
    }

    /// Changes what is said about the bytes from `start` to `end`.
    pub(super) fn change(&self, start: u64, end: u64, mut change: impl FnMut(&mut Advice)) {
        let mut entries = self.0.lock();
        for border in [start, end] {
            // The first entry is at 0, so one is before every border.
            let before = entries.range(..=border).next_back().map(|(_, advice)| advice.clone());
            entries.entry(border).or_insert_with(|| before.unwrap_or_default());
        }
        entries.range_mut(start..end).for_each(|(_, advice)| change(advice));
    }

    /// What is said about the bytes from `start` to `end`, in order of address.
    pub(super) fn read(&self, start: u64, end: u64) -> Vec<Advice> {
        let entries = self.0.lock();
        let first = entries.range(..=start).next_back().map_or(0, |(&at, _)| at);
        entries.range(first..end).map(|(_, advice)| advice.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_for_a_part_leaves_the_rest() {
        let ledger = Ledger::new();
        ledger.change(100, 200, |advice| advice.read_mostly = true);
        ledger.change(150, 300, |advice| advice.preferred = Some(Processor::Host));
        let read = |start, end| {
            ledger.read(start, end).iter().map(|a| (a.read_mostly, a.preferred.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(read(0, 100), [(false, false)]);
        assert_eq!(read(100, 150), [(true, false)]);
        assert_eq!(read(120, 130), [(true, false)]);
        assert_eq!(read(199, 201), [(true, true), (false, true)]);
        assert_eq!(
            read(0, 1000),
            [(false, false), (true, false), (true, true), (false, true), (false, false)]
        );
    }

    #[test]
    fn accesses_are_added_once_and_removed() {
        let mut advice = Advice::default();
        for processor in [Processor::Device(1), Processor::Host, Processor::Device(1), Processor::Device(0)] {
            advice.set_accessed_by(processor, true);
        }
        assert_eq!(advice.accessed_by, [Processor::Host, Processor::Device(0), Processor::Device(1)]);
        advice.set_accessed_by(Processor::Device(0), false);
        advice.set_accessed_by(Processor::Device(0), false);
        assert_eq!(advice.accessed_by, [Processor::Host, Processor::Device(1)]);
    }
}
