//! What a wave comes behind.

use std::{cmp::Ordering, ops::Range, sync::Arc};

/// Up to which of its accesses another wave is before this one. Accesses of a wave are numbered from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// Those to memory that all of the device sees: complete, and written back where caches need that.
    pub(super) device: u32,
    /// Those to memory that its workgroup sees, which shares a cache.
    pub(super) group: u32,
    /// Those to LDS.
    pub(super) local: u32,
}

impl Times {
    fn max(self, other: Self) -> Self {
        Self {
            device: self.device.max(other.device),
            group: self.group.max(other.group),
            local: self.local.max(other.local),
        }
    }
}

/// A vector clock: times of waves, by their numbers in the dispatch; a wave that is not there is at its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<(u32, Times)>);

impl Clock {
    /// Whether it comes behind nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The times of a wave.
    pub(super) fn of(&self, wave: u32) -> Times {
        match self.0.binary_search_by_key(&wave, |(wave, _)| *wave) {
            Ok(place) => self.0[place].1,
            Err(_) => Times::default(),
        }
    }

    /// Comes behind so much of a wave, at least.
    pub(super) fn raise(&mut self, wave: u32, times: Times) {
        match self.0.binary_search_by_key(&wave, |(wave, _)| *wave) {
            Ok(place) => self.0[place].1 = self.0[place].1.max(times),
            Err(place) => self.0.insert(place, (wave, times)),
        }
    }

    /// Comes behind all that `other` comes behind, too.
    pub(super) fn join(&mut self, other: &Self) {
        if other.0.is_empty() {
            return;
        }
        let (mut left, mut right) = (self.0.iter().copied().peekable(), other.0.iter().copied().peekable());
        let mut joined = Vec::with_capacity(self.0.len().max(other.0.len()));
        loop {
            let next = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => left.next(),
                (None, Some(_)) => right.next(),
                (Some((one, _)), Some((another, _))) => match one.cmp(another) {
                    Ordering::Less => left.next(),
                    Ordering::Greater => right.next(),
                    Ordering::Equal => left
                        .next()
                        .zip(right.next())
                        .map(|((wave, one), (_, another))| (wave, one.max(another))),
                },
            };
            joined.extend(next);
        }
        self.0 = joined;
    }

    /// Comes behind what `other` comes behind of some waves.
    pub(super) fn join_of(&mut self, other: &Self, waves: &Range<u32>) {
        let first = other.0.partition_point(|(wave, _)| *wave < waves.start);
        for (wave, times) in other.0[first..].iter().take_while(|(wave, _)| *wave < waves.end) {
            self.raise(*wave, *times);
        }
    }

    /// All of the device sees now what the workgroup of these waves saw.
    pub(super) fn promote(&mut self, group: &Range<u32>) {
        let first = self.0.partition_point(|(wave, _)| *wave < group.start);
        for (_, times) in self.0[first..].iter_mut().take_while(|(wave, _)| *wave < group.end) {
            times.device = times.device.max(times.group);
        }
    }
}

/// Joins `other` to a clock that others may share.
pub(super) fn join(clock: &mut Arc<Clock>, other: &Arc<Clock>) {
    if clock.0.is_empty() {
        clock.clone_from(other);
    } else if !Arc::ptr_eq(clock, other) && !other.0.is_empty() {
        Arc::make_mut(clock).join(other);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clock(entries: &[(u8, u32)]) -> Clock {
        let mut clock = Clock::default();
        for &(wave, time) in entries {
            clock.raise(wave.into(), Times { device: time, group: time + 1, local: time / 2 });
        }
        clock
    }

    proptest! {
        #[test]
        fn a_joined_clock_is_behind_what_both_are_behind(
            one in proptest::collection::vec((0u8..20, 1u32..50), 0..12),
            other in proptest::collection::vec((0u8..20, 1u32..50), 0..12),
        ) {
            let (left, right) = (clock(&one), clock(&other));
            let mut joined = left.clone();
            joined.join(&right);
            for wave in 0..20 {
                prop_assert_eq!(joined.of(wave), left.of(wave).max(right.of(wave)));
            }
        }
    }

    #[test]
    fn a_release_shows_the_device_what_the_workgroup_saw() {
        let mut clock = clock(&[(1, 4), (2, 6), (5, 8)]);
        clock.promote(&(2..5));
        let devices: Vec<_> = [1, 2, 5].map(|wave| clock.of(wave).device).into();
        assert_eq!(devices, [4, 7, 8]);
    }
}
