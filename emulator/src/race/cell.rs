//! The accesses of a dword that can still matter.

use std::ops::Range;

use smallvec::SmallVec;

use super::How;

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
    pub(super) value: u32,
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

    /// The event, of these bytes of a dword.
    pub(super) fn of(self, (mask, value): (u8, u32)) -> Self {
        Self { value, access: Access { mask, ..self.access }, ..self }
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

/// The shadow of 4 bytes, or of a row (ADR 57).
const _: () = assert!(size_of::<Cell>() == 32);

impl Cell {
    fn events(&self) -> &[Event] {
        match self {
            Self::Untouched => &[],
            Self::One(event) => std::slice::from_ref(event),
            Self::Several(events) => events,
        }
    }

    pub(super) fn events_mut(&mut self) -> &mut [Event] {
        match self {
            Self::Untouched => &mut [],
            Self::One(event) => std::slice::from_mut(event),
            Self::Several(events) => events,
        }
    }

    /// Notes an access, and tells `found` of those that it conflicts with and that nothing orders before it, and of others of its
    /// wave: the other access, the bytes of the dword, and what it is to this.
    pub(super) fn touch(
        &mut self,
        event: Event,
        toucher: &Toucher<'_, impl Fn(&Event) -> bool>,
        mut found: impl FnMut(&Event, u8, Meeting),
    ) {
        for other in self.events() {
            let common = other.access.mask & event.access.mask;
            if common == 0 {
                continue;
            }
            let apart = toucher.apart(other);
            if other.wave == event.wave {
                let is_store = other.time == event.time && event.access.how == How::Write;
                if is_store && event.differs(other) {
                    found(other, common, Meeting::SameInstruction);
                } else if event.access.compares && other.access.how == How::Read {
                    found(other, common, Meeting::LoopLoad);
                }
            } else if event.conflicts(other, apart) && !(toucher.is_before)(other) {
                found(other, common, Meeting::Conflict);
            } else if toucher.wants_same && event.stores_the_same(other, apart) && !(toucher.is_before)(other)
            {
                found(other, common, Meeting::SameValue);
            }
        }
        self.remember(event, toucher);
    }

    /// Whether nothing is to be told of an access that is noted, and it leaves no second store; not of an atomic.
    pub(super) fn is_quiet(&self, event: &Event, toucher: &Toucher<'_, impl Fn(&Event) -> bool>) -> bool {
        let stores = event.access.how == How::Write;
        event.access.how != How::Atomic
            && self.events().iter().all(|other| {
                let both_store = stores && other.access.how == How::Write;
                let is_ordered = match other.wave == event.wave {
                    true => !both_store || other.time != event.time,
                    false => {
                        !both_store && !event.conflicts(other, toucher.apart(other))
                            || (toucher.is_before)(other)
                    }
                };
                is_ordered && (!both_store || other.is_covered_by(event))
            })
    }

    /// Notes an access, in place of those that do not matter any more.
    pub(super) fn remember(&mut self, event: Event, toucher: &Toucher<'_, impl Fn(&Event) -> bool>) {
        let is_over = |other: &Event| {
            other.is_covered_by(&event) && (other.wave == event.wave || (toucher.is_before)(other))
        };
        match self {
            Self::Untouched => *self = Self::One(event),
            Self::One(other) if is_over(other) => *self = Self::One(event),
            Self::One(other) => *self = Self::Several(Box::new(SmallVec::from_iter([*other, event]))),
            Self::Several(events) => {
                events.retain(|other| !is_over(other));
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

    /// The stores that can still be read.
    pub(super) fn stores(&self) -> impl Iterator<Item = &Event> {
        self.events().iter().filter(|event| event.access.how == How::Write)
    }
}

/// A wave that touches something, as far as what others have touched is compared with that.
pub(super) struct Toucher<'a, F> {
    /// The waves of its workgroup.
    pub(super) group: &'a Range<u32>,
    /// Whether stores of the same value are to be told.
    pub(super) wants_same: bool,
    /// Whether an access is before what the wave does now.
    pub(super) is_before: F,
}

impl<F: Fn(&Event) -> bool> Toucher<'_, F> {
    /// How far the wave of an access is away.
    fn apart(&self, other: &Event) -> Reach {
        if self.group.contains(&other.wave) { Reach::Group } else { Reach::Device }
    }
}
