//! Ranges of shared virtual memory: attributes, where pages lie, and which devices have them mapped.

use crate::{
    heap::GpuSet,
    os::{PAGE, Piece},
};

/// Bits of a range's flags, as the kernel driver numbers them (`KFD_IOCTL_SVM_FLAG_*`, `kfd_ioctl.h`).
pub mod flag {
    /// The host has access.
    pub const HOST_ACCESS: u32 = 1 << 0;
    /// Fine-grained.
    pub const COHERENT: u32 = 1 << 1;
    /// Devices only read.
    pub const READ_ONLY: u32 = 1 << 3;
    /// All that there are.
    pub const ALL: u32 = 0xff;
}

/// Where pages may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The host's memory.
    Host,
    /// A device's, by index.
    Device(u32),
}

impl Place {
    /// The device, if it is one.
    pub fn device(self) -> Option<u32> {
        match self {
            Self::Host => None,
            Self::Device(device) => Some(device),
        }
    }
}

/// How a device reaches pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Not at all.
    None,
    /// With a fault that may move them.
    OnDemand,
    /// Where they lie.
    InPlace,
}

/// A change of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Where pages should lie.
    Prefer(Option<Place>),
    /// How a device reaches them.
    Reach(u32, Reach),
    /// Which flags are set, then which are cleared.
    Flags(u32, u32),
    /// Logarithm of the number of pages that move at once.
    Granularity(u32),
}

/// Pages that move at once, as a power of two, unless the program says something else: 2 MiB.
const GRANULARITY: u32 = 9;
/// More than that many bits of address nothing has.
const MOST: u32 = 35;

/// What is said about pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Where they should lie.
    pub preferred: Option<Place>,
    /// Where they were last prefetched to.
    pub prefetched: Option<Place>,
    /// Devices that reach them on demand.
    pub on_demand: GpuSet,
    /// Devices that reach them where they lie.
    pub in_place: GpuSet,
    /// [`flag`]s that are set.
    pub flags: u32,
    /// [`flag`]s that are clear: of several ranges a flag may be neither.
    pub clear: u32,
    /// Logarithm of the number of pages that move at once.
    pub granularity: u32,
}

impl Attributes {
    /// Those of memory without attributes, which `on_demand` reach.
    pub(super) fn initial(on_demand: GpuSet) -> Self {
        let flags = flag::HOST_ACCESS | flag::COHERENT;
        Self {
            preferred: None,
            prefetched: None,
            on_demand,
            in_place: 0,
            flags,
            clear: flag::ALL & !flags,
            granularity: GRANULARITY,
        }
    }

    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Prefer(place) => self.preferred = place,
            Change::Reach(device, reach) => {
                let bit = 1 << device;
                self.on_demand &= !bit;
                self.in_place &= !bit;
                match reach {
                    Reach::None => {}
                    Reach::OnDemand => self.on_demand |= bit,
                    Reach::InPlace => self.in_place |= bit,
                }
            }
            Change::Flags(set, clear) => {
                self.flags = (self.flags | set) & !clear & flag::ALL;
                self.clear = flag::ALL & !self.flags;
            }
            Change::Granularity(pages) => self.granularity = pages.min(MOST),
        }
    }

    /// Leaves what others have, too.
    pub(super) fn intersect(&mut self, other: &Self) {
        self.preferred = self.preferred.filter(|place| other.preferred == Some(*place));
        self.prefetched = self.prefetched.filter(|place| other.prefetched == Some(*place));
        self.on_demand &= other.on_demand;
        self.in_place &= other.in_place;
        self.flags &= other.flags;
        self.clear &= other.clear;
        self.granularity = self.granularity.min(other.granularity);
    }

    /// How a device reaches the pages.
    pub fn reach(&self, device: u32) -> Reach {
        match (self.on_demand >> device & 1, self.in_place >> device & 1) {
            (1, _) => Reach::OnDemand,
            (_, 1) => Reach::InPlace,
            _ => Reach::None,
        }
    }

    /// The pages that move with one.
    pub(super) fn granule(&self, page: u64) -> (u64, u64) {
        let bytes = (PAGE as u64) << self.granularity;
        let start = page / bytes * bytes;
        (start, start.saturating_add(bytes))
    }
}

/// Pages that have everything in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) end: u64,
    pub(super) attributes: Attributes,
    /// The device that they lie on.
    pub(super) home: Option<u32>,
    /// The devices that have them mapped.
    pub(super) mapped: GpuSet,
    /// Whether the process may store there.
    writable: bool,
    /// Whether they can lie on a device: pages of files cannot.
    pub(super) moves: bool,
    /// Whether all of them had memory when they came to their home.
    pub(super) filled: bool,
}

impl Range {
    fn new(end: u64, attributes: Attributes, piece: &Piece) -> Self {
        let moves = piece.inode == 0 && !piece.shared;
        Self { end, attributes, home: None, mapped: 0, writable: piece.writable, moves, filled: false }
    }

    /// What [`Range::is_nothing`], whatever is said by default.
    pub(super) fn nothing(end: u64) -> Self {
        let attributes = Attributes { granularity: u32::MAX, ..Attributes::initial(0) };
        Self { end, attributes, home: None, mapped: 0, writable: false, moves: false, filled: false }
    }

    /// Whether nothing is known of the pages.
    pub(super) fn is_nothing(&self, initial: &Attributes) -> bool {
        self.attributes.granularity == u32::MAX
            || self.home.is_none() && self.mapped == 0 && self.attributes == *initial
    }

    /// Whether it and one that adjoins are the same but for their bounds.
    pub(super) fn joins(&self, next: &Self) -> bool {
        Self { end: next.end, ..self.clone() } == *next
    }

    /// Whether a device of `set` may touch the pages.
    pub(super) fn reaches(&self, set: GpuSet) -> bool {
        (self.attributes.on_demand | self.attributes.in_place) & set != 0
    }

    pub(super) fn is_writable(&self) -> bool {
        self.writable && self.attributes.flags & flag::READ_ONLY == 0
    }

    pub(super) fn granule(&self, page: u64) -> (u64, u64) {
        self.attributes.granule(page)
    }

    /// Nothing lies anywhere any more, and no device has it mapped.
    pub(super) fn give_up(&mut self) {
        (self.home, self.mapped, self.filled) = (None, 0, false);
    }

    /// The devices that have the pages mapped all the time.
    fn always(&self, retries: bool) -> GpuSet {
        let on_demand = if retries { 0 } else { self.attributes.on_demand };
        self.attributes.in_place | on_demand
    }

    /// Whether the pages may lie on a device: if no other has them mapped all the time.
    pub(super) fn may_lie_on(&self, device: u32, retries: bool) -> bool {
        self.always(retries) & !(1 << device) == 0
    }

    /// Where a device that faults finds the pages.
    pub(super) fn destination(&self, device: u32) -> Option<u32> {
        let mine = self.may_lie_on(device, true);
        match self.attributes.preferred {
            Some(Place::Host) => None,
            Some(Place::Device(preferred)) if preferred == device => Some(device).filter(|_| mine),
            // Another device's memory is out of reach.
            _ if self.attributes.reach(device) == Reach::OnDemand => Some(device).filter(|_| mine),
            _ => self.home.filter(|home| *home == device),
        }
    }

    /// Maps the pages for those that always have them so, and for no device that does not reach them where they lie.
    pub(super) fn settle(&mut self, retries: bool) {
        let there = self.home.map_or(GpuSet::MAX, |device| 1 << device);
        let reach = self.attributes.on_demand | self.attributes.in_place;
        self.mapped = (self.mapped | self.always(retries)) & reach & there;
    }
}

/// The same ranges, with borders at `start` and `end`.
pub(super) fn cut(ranges: &[(u64, Range)], start: u64, end: u64) -> Vec<(u64, Range)> {
    let mut pieces = Vec::with_capacity(ranges.len() + 2);
    for (first, range) in ranges {
        let borders = [start, end].into_iter().filter(|border| (first + 1..range.end).contains(border));
        let mut at = *first;
        for border in borders.chain([range.end]) {
            pieces.push((at, Range { end: border, ..range.clone() }));
            at = border;
        }
    }
    pieces
}

/// Fills the gaps between `start` and `end` with new ranges of what is mapped there.
pub(super) fn fill(
    ranges: &mut Vec<(u64, Range)>,
    start: u64,
    end: u64,
    known: &[Piece],
    initial: &Attributes,
) {
    let mut gaps = Vec::new();
    let mut at = start;
    for (first, range) in ranges.iter().filter(|(first, range)| range.end > start && *first < end) {
        if *first > at {
            gaps.push((at, *first));
        }
        at = range.end;
    }
    if at < end {
        gaps.push((at, end));
    }
    for (first, last) in gaps {
        for piece in known {
            let (from, to) = (piece.start.max(first), piece.end.min(last));
            if from < to {
                ranges.push((from, Range::new(to, initial.clone(), piece)));
            }
        }
    }
    ranges.sort_by_key(|(first, _)| *first);
}
