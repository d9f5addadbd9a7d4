//! The accesses of each dword that can still matter.

use std::{collections::HashMap, ops::Range, sync::Arc};

use smallvec::SmallVec;

use super::{
    How,
    clock::{Clock, Times, join},
};

/// Bytes that a lane touches in one dword.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// The address or offset of the first.
    pub(crate) at: u64,
    /// How many: 1 to 4, up to the end of the dword.
    pub(crate) bytes: u32,
    /// What they become, if they are stored, from the lowest bits on.
    pub(crate) value: u32,
}

impl Span {
    /// A bit for each byte of the dword.
    fn mask(&self) -> u8 {
        // CAST: 4 bits.
        (((1u32 << self.bytes) - 1) << (self.at & 3)) as u8
    }
}

/// The waves for which an access may be an atomic of the language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// None.
    #[default]
    Nobody,
    /// Those of its workgroup.
    Group,
    /// Those of the device.
    Device,
}

impl Reach {
    /// All of the device, or none.
    pub(crate) fn device(is_reached: bool) -> Self {
        if is_reached { Self::Device } else { Self::Nobody }
    }
}

/// What lanes of an instruction do to the bytes that they touch.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub(crate) how: How,
    pub(crate) pc: u64,
    /// For whom it may be an atomic load or store of the language: a load that passes by the cache of its compute unit, or what
    /// such a load may read.
    pub(crate) coherent: Reach,
    /// Whose atomics it may meet as an atomic store.
    pub(crate) meets_atomics: Reach,
    /// For whom it is an atomic store for certain.
    pub(crate) atomic_store: Reach,
    /// Whether it is an atomic that compares.
    pub(crate) compares: bool,
    /// Whether what it stores is loaded by the same instruction, so that it is not known here.
    pub(crate) is_unknown: bool,
    /// A bit for each byte of the dword; here, where it costs an event no room.
    mask: u8,
}

impl Access {
    /// An access of which nothing else is known.
    pub(crate) fn new(how: How, pc: u64) -> Self {
        let (coherent, meets_atomics, atomic_store, compares, is_unknown) = Default::default();
        Self { how, pc, coherent, meets_atomics, atomic_store, compares, is_unknown, mask: 0 }
    }

    /// The access, of LDS, which has no cache.
    pub(crate) fn in_lds(self) -> Self {
        Self { compares: self.compares, ..Self::new(self.how, self.pc) }
    }
}

/// An access, at a time of its wave.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) wave: u32,
    /// Its number among the wave's accesses.
    pub(super) time: u32,
    /// What the device saw of its wave when it was issued.
    pub(super) released: u32,
    /// The bytes of the dword that were stored.
    value: u32,
    pub(super) access: Access,
}

/// All bits of the bytes of a mask.
fn bits(mask: u8) -> u32 {
    (0..4).filter(|n| mask >> n & 1 == 1).fold(0, |bits, n| bits | 0xff << (8 * n))
}

impl Event {
    pub(super) fn new(wave: u32, time: u32, released: u32, access: Access) -> Self {
        Self { wave, time, released, value: 0, access }
    }

    /// The event, of other bytes.
    fn of(self, span: &Span) -> Self {
        let access = Access { mask: span.mask(), ..self.access };
        Self { value: span.value << (8 * (span.at & 3)), access, ..self }
    }

    /// Whether two accesses need an order, of waves that are `apart` so far.
    fn conflicts(&self, other: &Self, apart: Reach) -> bool {
        let (a, b) = (&self.access, &other.access);
        let is_coherent = |access: &Access| access.coherent >= apart;
        match (a.how, b.how) {
            (How::Read, How::Read) | (How::Atomic, How::Atomic) => false,
            (How::Write, How::Write) => !self.stores_atomically(other, apart) && self.differs(other),
            (How::Read, How::Atomic) => !is_coherent(a),
            (How::Atomic, How::Read) => !is_coherent(b),
            (How::Read, How::Write) | (How::Write, How::Read) => !(is_coherent(a) && is_coherent(b)),
            (How::Write, How::Atomic) => a.meets_atomics < apart,
            (How::Atomic, How::Write) => b.meets_atomics < apart,
        }
    }

    /// Whether both are atomic stores.
    fn stores_atomically(&self, other: &Self, apart: Reach) -> bool {
        self.access.atomic_store.min(other.access.atomic_store) >= apart
    }

    /// Whether both store the same, and not both by atomics.
    fn stores_the_same(&self, other: &Self, apart: Reach) -> bool {
        let both = self.access.how == How::Write && other.access.how == How::Write;
        both && !self.stores_atomically(other, apart) && !self.differs(other)
    }

    /// Whether two stores leave different values.
    fn differs(&self, other: &Self) -> bool {
        let is_unknown = self.access.is_unknown || other.access.is_unknown;
        is_unknown || (self.value ^ other.value) & bits(self.access.mask & other.access.mask) != 0
    }

    /// Whether what conflicts with `self` conflicts with `later` too, which comes behind.
    fn is_covered_by(&self, later: &Self) -> bool {
        let (a, b) = (&self.access, &later.access);
        let is_as_strict = a.how == b.how
            && a.coherent >= b.coherent
            && a.meets_atomics >= b.meets_atomics
            && a.atomic_store >= b.atomic_store;
        a.mask & !b.mask == 0 && (b.how == How::Write && a.how != How::Write || is_as_strict)
    }
}

/// What is told of an access before, of the same bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meeting {
    /// They conflict.
    Conflict,
    /// They store the same value.
    SameValue,
    /// They are of one instruction and store different values.
    SameInstruction,
    /// It is the load that an atomic of the same wave begins a loop with, which compares.
    LoopLoad,
}

/// Accesses of different waves that a dword remembers, of each kind, where nothing orders them.
const REMEMBERED: usize = 4;

/// The accesses of a dword.
#[derive(Clone, Default)]
pub(super) enum Cell {
    #[default]
    Untouched,
    One(Event),
    Several(Box<SmallVec<[Event; 4]>>),
}

/// The shadow of 4 bytes (ADR 57).
const _: () = assert!(size_of::<Cell>() == 32);

impl Cell {
    fn events(&self) -> &[Event] {
        match self {
            Self::Untouched => &[],
            Self::One(event) => std::slice::from_ref(event),
            Self::Several(events) => events,
        }
    }

    /// Notes an access, and tells `found` of those that it conflicts with and that `is_before` does not say to be before it, and
    /// of others of its wave: the other access, the bytes of the dword, and what it is to this. If it `wants_same`, also of stores of
    /// the same value. `group` are the waves of its workgroup.
    pub(super) fn touch(
        &mut self,
        event: Event,
        span: &Span,
        wants_same: bool,
        group: &Range<u32>,
        is_before: &mut impl FnMut(&Event) -> bool,
        mut found: impl FnMut(&Event, u8, Meeting),
    ) {
        let event = event.of(span);
        if let Self::Untouched = self {
            *self = Self::One(event);
            return;
        }
        for other in self.events() {
            let common = other.access.mask & event.access.mask;
            if common == 0 {
                continue;
            }
            let apart = if group.contains(&other.wave) { Reach::Group } else { Reach::Device };
            if other.wave == event.wave {
                let is_store = other.time == event.time && event.access.how == How::Write;
                if is_store && event.differs(other) {
                    found(other, common, Meeting::SameInstruction);
                } else if event.access.compares && other.access.how == How::Read {
                    found(other, common, Meeting::LoopLoad);
                }
            } else if event.conflicts(other, apart) && !is_before(other) {
                found(other, common, Meeting::Conflict);
            } else if wants_same && event.stores_the_same(other, apart) && !is_before(other) {
                found(other, common, Meeting::SameValue);
            }
        }
        match self {
            Self::One(other)
                if other.is_covered_by(&event) && (other.wave == event.wave || is_before(other)) =>
            {
                *self = Self::One(event);
            }
            Self::Untouched | Self::One(_) => {
                let events = self.events().iter().copied().chain([event]).collect();
                *self = Self::Several(Box::new(events));
            }
            Self::Several(events) => {
                events.retain(|other| {
                    !(other.is_covered_by(&event) && (other.wave == event.wave || is_before(other)))
                });
                let alike = |other: &&Event| other.access.how == event.access.how;
                if events.iter().filter(alike).count() >= REMEMBERED {
                    // PANIC: there are several.
                    let latest = events.iter().rposition(|other| alike(&other)).expect("one that is alike");
                    events.remove(latest);
                }
                events.push(event);
            }
        }
    }

    /// The stores to any of some bytes that can still be read.
    fn stores(&self, mask: u8) -> impl Iterator<Item = &Event> {
        let is_one = move |event: &&Event| event.access.how == How::Write && event.access.mask & mask != 0;
        self.events().iter().filter(is_one)
    }
}

/// Bytes of a page of cells.
const PAGE: u64 = 4096;
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

/// Cells and atomics of memory, or of the LDS of a workgroup.
#[derive(Default)]
pub(super) struct Memory {
    pages: HashMap<u64, Box<[Cell; PAGE as usize / 4]>>,
    places: HashMap<u64, Place>,
    /// What each wave was behind, from a time of its on.
    waves: HashMap<u32, Vec<(u32, Behind)>>,
    /// How many atomics there were.
    atomics: u32,
}

impl Memory {
    /// The cells of the page of an address.
    pub(super) fn page(&mut self, at: u64) -> &mut [Cell; PAGE as usize / 4] {
        self.pages.entry(at / PAGE).or_insert_with(|| {
            let cells = vec![Cell::Untouched; PAGE as usize / 4].into_boxed_slice();
            // PANIC: the slice has just been made with this length.
            cells.try_into().unwrap_or_else(|_| unreachable!())
        })
    }

    /// Whether two addresses are in one page.
    pub(super) fn is_of_one_page(one: u64, other: u64) -> bool {
        one / PAGE == other / PAGE
    }

    /// The cell of an address in its page.
    pub(super) fn place(at: u64) -> usize {
        (at % PAGE) as usize / 4
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

    /// What a wave has read at a place, if others may have shown something there.
    pub(super) fn read(&self, wave: u32, at: u64, bytes: u8, mut heard: impl FnMut(Source, Upto)) {
        if self.places.contains_key(&at) {
            heard(Source::Atomics(at), (self.atomics, 0));
        }
        for at in (at & !3..at.saturating_add(bytes.into())).step_by(4) {
            let Some(page) = self.pages.get(&(at / PAGE)) else { continue };
            let stores = page[Self::place(at)].stores(0xf).filter(|store| store.wave != wave);
            stores.for_each(|store| heard(Source::Stores(store.wave), (store.time, store.released)));
        }
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
