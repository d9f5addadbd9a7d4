//! What accesses show to the waves that read there: what their own waves were behind.

use std::{collections::HashMap, sync::Arc};

use super::clock::{Clock, Times, join};

/// Clocks of a wave that are remembered.
const CLOCKS: usize = 256;
/// Atomics at a place that are told apart: of earlier ones, a wave that has read the place comes behind all.
const RELEASES: usize = 4096;

/// What an atomic has shown of its wave.
#[derive(Clone, Copy)]
struct Release {
    /// Counts atomics.
    number: u32,
    wave: u32,
    time: u32,
    times: Times,
}

/// Where a wave has read what may show it what others were behind.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// Atomics at a place.
    Atomics(u64),
    /// Stores of a wave.
    Stores(u32),
}

/// Up to which of them: the number of an atomic, or the time of a store and what was released then.
pub(super) type Upto = (u32, u32);

/// What a wave has read and not asked for.
pub(super) type Heard = HashMap<Source, Upto>;

/// Adds what was read, of which the latest counts; says whether that is more than before.
pub(super) fn add(heard: &mut Heard, source: Source, upto: Upto) -> bool {
    let known = heard.entry(source).or_default();
    let is_more = *known < upto;
    *known = upto.max(*known);
    is_more
}

/// What a wave is behind: a clock, and what it has read in memory and not asked for.
#[derive(Clone, Default)]
pub(super) struct Behind {
    pub(super) clock: Arc<Clock>,
    pub(super) heard: Heard,
}

impl Behind {
    fn join(&mut self, other: &Self) {
        join(&mut self.clock, &other.clock);
        for (source, upto) in &other.heard {
            add(&mut self.heard, *source, *upto);
        }
    }
}

/// What the atomics at a place have shown.
#[derive(Default)]
struct Place {
    /// All that waves have asked for.
    shown: Behind,
    /// What came behind that.
    recent: Vec<Release>,
}

/// What accesses have shown of waves.
#[derive(Default)]
pub(super) struct Shown {
    places: HashMap<u64, Place>,
    /// What each wave was behind, from a time of its on.
    waves: HashMap<u32, Vec<(u32, Behind)>>,
    /// How many atomics there were.
    atomics: u32,
}

impl Shown {
    /// Up to which atomics a wave has read that reads at a place now, if there were any.
    pub(super) fn atomics_at(&self, at: u64) -> Option<Upto> {
        self.places.contains_key(&at).then_some((self.atomics, 0))
    }

    /// What a wave is behind, from this time of its on, where others may read that from what it stores.
    pub(super) fn publish(&mut self, wave: u32, time: u32, behind: Behind) {
        let known = self.waves.entry(wave).or_default();
        if known.len() == CLOCKS {
            known.drain(..CLOCKS / 2);
        }
        known.push((time, behind));
    }

    /// What a wave was behind at a time of its.
    fn behind(&self, wave: u32, time: u32) -> Option<&Behind> {
        let known = self.waves.get(&wave)?;
        let place = known.partition_point(|(since, _)| *since <= time);
        place.checked_sub(1).map(|place| &known[place].1)
    }

    /// An atomic at a place shows so much of a wave.
    pub(super) fn release(&mut self, at: u64, wave: u32, time: u32, times: Times) {
        self.atomics += 1;
        let release = Release { number: self.atomics, wave, time, times };
        let place = self.places.entry(at).or_default();
        match place.recent.last_mut() {
            Some(last) if last.wave == wave => *last = release,
            _ => place.recent.push(release),
        }
        if place.recent.len() == RELEASES {
            self.fold(at, RELEASES / 2);
        }
    }

    /// Adds the first so many atomics at a place to what all that read it come behind.
    fn fold(&mut self, at: u64, count: usize) {
        // Not in its place while others are looked up.
        let Some(mut place) = self.places.remove(&at) else { return };
        for release in &place.recent[..count] {
            if let Some(known) = self.behind(release.wave, release.time) {
                place.shown.join(known);
            }
        }
        for release in place.recent.drain(..count) {
            Arc::make_mut(&mut place.shown.clock).raise(release.wave, release.times);
        }
        self.places.insert(at, place);
    }

    /// Comes behind what was shown; `times` says how much of a wave a store shows: its number there, and what was released.
    pub(super) fn acquire(
        &mut self,
        source: Source,
        upto: Upto,
        behind: &mut Behind,
        times: fn(Upto) -> Times,
    ) {
        match source {
            Source::Atomics(at) => {
                let Some(place) = self.places.get(&at) else { return };
                self.fold(at, place.recent.partition_point(|release| release.number <= upto.0));
                behind.join(&self.places[&at].shown);
            }
            Source::Stores(wave) => {
                if let Some(known) = self.behind(wave, upto.0) {
                    behind.join(known);
                }
                Arc::make_mut(&mut behind.clock).raise(wave, times(upto));
            }
        }
    }
}
