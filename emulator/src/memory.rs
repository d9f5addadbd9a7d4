//! Device memory is host memory with an allocation map: what lies outside the map faults.
//!
//! Each device has one [`Map`]; a range enters it when the program gives the device access. Snapshots
//! share structure: an insertion copies one chunk and the list of chunks if a snapshot is out, and
//! nothing if none is, so that a program with 100,000 allocations pays microseconds for one more.

use std::sync::{Arc, OnceLock, Weak};

use parking_lot::RwLock;

pub(crate) mod coherence;

use crate::{isa::Target, os};
use coherence::Caches;
pub use coherence::Grain;

#[cfg(test)]
mod tests;

/// Ranges per chunk before it is split.
const CHUNK: usize = 256;

/// A range of addresses that the device may touch.
pub struct Allocation {
    /// First address.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Whether the device may store to it.
    pub writable: bool,
    /// How it is kept coherent, which matters where there are caches.
    pub grain: Grain,
    /// The socket whose memory it is, if it is a pool's or a program's of the host.
    pub socket: Option<u32>,
    /// Keeps the backing alive while a wave may still use it.
    pub backing: Option<Arc<dyn Send + Sync>>,
}

/// What pages of the program's own are to devices: they come and go, and a device's touch may bring them.
pub(crate) trait Pager: Send + Sync {
    /// Lets a device reach `start..end`, to store if `write`, because it touches the range; `false` if it may not.
    fn fault(&self, device: u32, start: u64, end: u64, write: bool) -> bool;

    /// Whether the process still has all pages of a range that a device reaches. What it has not is forgotten.
    fn is_there(&self, start: u64, end: u64) -> bool;
}

/// An allocation with its bounds beside the pointer, so that a search stays in one array.
#[derive(Clone)]
struct Entry {
    start: u64,
    end: u64,
    allocation: Arc<Allocation>,
}

/// The allocations at one moment, sorted by address; a wave holds one while it runs.
#[derive(Default, Clone)]
pub struct Snapshot {
    /// Start of the first range of each chunk.
    firsts: Vec<u64>,
    /// Never empty inside.
    chunks: Vec<Arc<Vec<Entry>>>,
    /// The ranges of a [`Pager`] that the device reaches; those above may lie over them.
    pages: Option<Arc<Snapshot>>,
}

impl Snapshot {
    /// The allocation that contains `address`.
    #[inline]
    pub fn find(&self, address: u64) -> Option<&Allocation> {
        match self.at_or_below(address) {
            Some(entry) if address < entry.end => Some(&entry.allocation),
            _ => self.pages.as_ref()?.find(address),
        }
    }

    /// Whether `address` is a pager's to map, and of no other allocation.
    pub(crate) fn is_paged(&self, address: u64) -> bool {
        self.pages.is_some() && self.at_or_below(address).is_none_or(|entry| address >= entry.end)
    }

    /// The allocation closest to `address`, for error messages.
    pub fn nearest(&self, address: u64) -> Option<&Allocation> {
        let below = self.at_or_below(address);
        let above = self.above(address);
        match (below, above) {
            (Some(b), Some(a)) if a.start - address < address.saturating_sub(b.end) => Some(&a.allocation),
            (Some(b), _) => Some(&b.allocation),
            (None, a) => a.map(|e| &*e.allocation),
        }
    }

    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|c| c.len()).sum()
    }

    /// Whether the device may touch nothing.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Whether one range or several adjoining ones cover `start..end`, for writing if `write`.
    pub fn covers(&self, start: u64, end: u64, write: bool) -> bool {
        self.first_gap(start, end, write).is_none()
    }

    /// The first address of `start..end` that the device may not read, or write if `write`.
    pub fn first_gap(&self, start: u64, end: u64, write: bool) -> Option<u64> {
        let mut at = start;
        while at < end {
            match self.find(at) {
                Some(range) if range.writable || !write => at = range.end,
                _ => return Some(at),
            }
        }
        None
    }

    /// The pager's ranges.
    fn paged(&mut self) -> &mut Self {
        Arc::make_mut(self.pages.get_or_insert_default())
    }

    #[inline]
    fn at_or_below(&self, address: u64) -> Option<&Entry> {
        let chunk = self.firsts.partition_point(|first| *first <= address).checked_sub(1)?;
        let entries = self.chunks.get(chunk)?;
        entries.get(entries.partition_point(|e| e.start <= address).checked_sub(1)?)
    }

    fn above(&self, address: u64) -> Option<&Entry> {
        let chunk = self.firsts.partition_point(|first| *first <= address);
        chunk
            .checked_sub(1)
            .and_then(|c| {
                let entries = self.chunks.get(c)?;
                entries.get(entries.partition_point(|e| e.start <= address))
            })
            .or_else(|| self.chunks.get(chunk).and_then(|c| c.first()))
    }

    fn insert(&mut self, entry: Entry) {
        let Some(chunk) = self.firsts.partition_point(|first| *first <= entry.start).checked_sub(1) else {
            // Below every range: a new first chunk unless the present one has room.
            match self.chunks.first_mut() {
                Some(first) if first.len() < CHUNK => {
                    self.firsts[0] = entry.start;
                    Arc::make_mut(first).insert(0, entry);
                }
                _ => {
                    self.firsts.insert(0, entry.start);
                    self.chunks.insert(0, Arc::new(vec![entry]));
                }
            }
            return;
        };
        let entries = Arc::make_mut(&mut self.chunks[chunk]);
        entries.insert(entries.partition_point(|e| e.start <= entry.start), entry);
        if entries.len() > CHUNK {
            // Addresses mostly descend or ascend: half-full chunks keep later insertions cheap.
            let tail = entries.split_off(entries.len() / 2);
            self.firsts.insert(chunk + 1, tail[0].start);
            self.chunks.insert(chunk + 1, Arc::new(tail));
        }
    }

    fn remove(&mut self, start: u64) -> Option<Arc<Allocation>> {
        let chunk = self.firsts.partition_point(|first| *first <= start).checked_sub(1)?;
        let at = self.chunks[chunk].binary_search_by_key(&start, |e| e.start).ok()?;
        let entries = Arc::make_mut(&mut self.chunks[chunk]);
        let removed = entries.remove(at).allocation;
        match entries.first() {
            Some(first) => self.firsts[chunk] = first.start,
            None => {
                self.firsts.remove(chunk);
                self.chunks.remove(chunk);
            }
        }
        Some(removed)
    }
}

/// What something other than a wave touches of a device's memory: kept mapped as long as this lives.
pub(crate) struct Held<'a> {
    map: &'a Map,
    /// The newest one is the last.
    snapshots: Vec<Arc<Snapshot>>,
}

impl<'a> Held<'a> {
    pub(crate) fn new(map: &'a Map) -> Self {
        Self { map, snapshots: vec![map.snapshot()] }
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        // PANIC: there is one from the beginning.
        self.snapshots.last().unwrap_or_else(|| unreachable!())
    }

    /// As [`Snapshot::first_gap`], once the pager has been asked for what is missing.
    pub(crate) fn first_gap(&mut self, start: u64, end: u64, write: bool) -> Option<u64> {
        let gap = self.snapshot().first_gap(start, end, write)?;
        if !self.map.fault(gap, end, write) {
            return Some(gap);
        }
        self.snapshots.push(self.map.snapshot());
        self.snapshot().first_gap(start, end, write)
    }
}

/// The live map. In cache lines of its own: the packet processor locks it for each packet.
#[derive(Default)]
#[repr(align(128))]
pub struct Map {
    current: RwLock<Arc<Snapshot>>,
    /// Between the device and its memory; `None`: it sees memory as the host does.
    caches: Option<Box<Caches>>,
    /// Whether waves tell where they read.
    is_watched: bool,
    /// What maps pages of the program's own, and the device's number to it.
    pager: OnceLock<(Weak<dyn Pager>, u32)>,
}

impl Map {
    /// An empty map of a device with caches.
    pub fn cached(target: Target) -> Self {
        Self { caches: Some(Box::new(Caches::new(target))), ..Self::default() }
    }

    /// The same map, of a device whose waves tell where they read, if `on`.
    pub(crate) fn watched(self, on: bool) -> Self {
        Self { is_watched: on, ..self }
    }

    /// Whether waves tell [`Host::read`](crate::wave::Host::read) where they read.
    pub fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// The device's caches, if it has any.
    pub fn caches(&self) -> Option<&Caches> {
        self.caches.as_deref()
    }

    /// The allocations as of now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().clone()
    }

    /// Adds a range; later snapshots contain it. Ranges must not overlap: the caller owns the addresses.
    pub fn insert(&self, allocation: Allocation) {
        self.change(|map| {
            let (start, end) = (allocation.start, allocation.end);
            map.insert(Entry { start, end, allocation: Arc::new(allocation) });
        });
    }

    /// Removes the range that starts at `start` and gives it back.
    pub fn remove(&self, start: u64) -> Option<Arc<Allocation>> {
        let removed = self.change(|map| map.remove(start));
        if let (Some(caches), Some(range)) = (&self.caches, &removed) {
            caches.forget(range.start, range.end, range.backing.is_some());
        }
        removed
    }

    /// From now on touches of what the map does not hold go to `pager`, which calls the device `device`.
    pub(crate) fn page_by(&self, pager: Weak<dyn Pager>, device: u32) {
        // A map has one pager.
        let _ = self.pager.set((pager, device));
    }

    /// Changes the pager's ranges: takes those away that start at `gone`, adds `come`. No reader sees what is between.
    pub(crate) fn repage(&self, gone: &[u64], come: Vec<Allocation>) {
        let removed: Vec<_> = self.change(|map| {
            let pages = map.paged();
            let removed = gone.iter().filter_map(|start| pages.remove(*start)).collect();
            for allocation in come {
                let (start, end) = (allocation.start, allocation.end);
                pages.insert(Entry { start, end, allocation: Arc::new(allocation) });
            }
            if pages.is_empty() {
                map.pages = None;
            }
            removed
        });
        if let Some(caches) = &self.caches {
            for range in removed {
                caches.forget(range.start, range.end, os::is_mapped(range.start, range.end));
            }
        }
    }

    /// Whether the device reaches `start..end`, to store if `write`, once its pager has been asked for what is missing.
    pub(crate) fn reaches(&self, start: u64, end: u64, write: bool) -> bool {
        Held::new(self).first_gap(start, end, write).is_none()
    }

    /// Has the pager bring pages that the device touches; `false` if there is none, or the device may not.
    #[cold]
    pub(crate) fn fault(&self, start: u64, end: u64, write: bool) -> bool {
        let Some((pager, device)) = self.pager.get() else { return false };
        pager.upgrade().is_some_and(|pager| pager.fault(*device, start, end, write))
    }

    /// Whether the process still has the pages of a range of the pager's.
    pub(crate) fn has_pages(&self, start: u64, end: u64) -> bool {
        let pager = self.pager.get().and_then(|(pager, _)| pager.upgrade());
        pager.is_some_and(|pager| pager.is_there(start, end))
    }

    fn change<T>(&self, f: impl FnOnce(&mut Snapshot) -> T) -> T {
        let mut current = self.current.write();
        f(Arc::make_mut(&mut current))
    }
}
