//! What a device holds of memory, and what its queues see of that.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    Grain, Scope,
    line::{Bytes, LINE, Lines, Mask},
};
use crate::{memory::Snapshot, os::hidden};

/// Lines that the cache holds: 8 MiB, as the L2 of an MI210.
const CAPACITY: usize = 128 * 1024;
/// Old lines that are kept for queues that have not acquired since.
const PAST: usize = 128 * 1024;
/// Lines that ended workgroups of one queue may leave unreleased.
const LEFT: usize = 64 * 1024;

struct Line {
    bytes: Bytes,
    /// What memory does not have yet.
    dirty: Mask,
}

/// Bytes of a line that were stored and not released.
#[derive(Clone)]
pub(super) struct Stored {
    pub(super) bytes: Bytes,
    pub(super) mask: Mask,
}

/// A line as it was up to an epoch.
struct Old {
    epoch: u64,
    bytes: Bytes,
}

#[derive(Default)]
struct Queue {
    /// When it last acquired.
    epoch: u64,
    /// By dispatch, in the order of their launches.
    left: BTreeMap<u64, Lines<Stored>>,
}

/// A device's cache.
///
/// Time is counted in epochs, which acquires divide: a view that was acquired in an epoch sees of each line what it held
/// when the epoch began. The first change of a line in an epoch therefore puts what it held before with those of the
/// past.
#[derive(Default)]
pub(super) struct Cache {
    epoch: u64,
    /// Whether a line has changed in this epoch.
    changed: bool,
    lines: Lines<Line>,
    /// The lines with something dirty.
    dirty: BTreeSet<u64>,
    past: Lines<VecDeque<Old>>,
    /// The entries of the past, oldest first.
    order: VecDeque<(u64, u64)>,
    queues: Lines<Queue>,
    /// How many dispatches there were.
    dispatches: u64,
    /// Whether stores leave a compute unit sooner or later though nothing releases them.
    drains: bool,
}

/// How the bytes of `mask` in a line are kept coherent; `None` if the device does not reach them (any more).
fn grain(memory: &Snapshot, line: u64, mask: Mask) -> Option<Grain> {
    memory.find(line * LINE + u64::from(mask.trailing_zeros())).map(|range| range.grain)
}

impl Cache {
    /// An empty cache. If `drains`, a store that is not released is sooner or later visible to loads past the loader's
    /// own caches, and to loads of memory that is not cached: it may be an atomic one.
    pub(super) fn new(drains: bool) -> Self {
        Self { drains, ..Self::default() }
    }

    /// The epoch in which a queue last acquired: this one, if it has done nothing yet.
    pub(super) fn epoch_of(&mut self, queue: u64) -> u64 {
        let epoch = self.epoch;
        self.queues.entry(queue).or_insert_with(|| Queue { epoch, ..Queue::default() }).epoch
    }

    /// The number of a dispatch that begins.
    pub(super) fn next_dispatch(&mut self) -> u64 {
        self.dispatches += 1;
        self.dispatches
    }

    /// Begins an epoch, in which everything is seen that has been released.
    pub(super) fn acquire(&mut self, memory: &Snapshot, scope: Scope) -> u64 {
        if scope == Scope::System {
            self.refresh(memory);
        }
        if self.changed {
            self.changed = false;
            self.epoch += 1;
        }
        self.epoch
    }

    /// Performs an acquire fence for a queue.
    pub(super) fn acquire_for(&mut self, memory: &Snapshot, queue: u64, scope: Scope) {
        self.epoch_of(queue);
        if scope == Scope::None {
            return;
        }
        let epoch = self.acquire(memory, scope);
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.epoch = epoch;
        }
        self.forget_past();
    }

    /// Performs the release fence of a packet of a queue for what its own dispatch stored, and, if it has waited for all
    /// before it, for what these did.
    pub(super) fn release(
        &mut self,
        memory: &Snapshot,
        queue: u64,
        (dispatch, waited): (Option<u64>, bool),
        scope: Scope,
    ) {
        if scope == Scope::None {
            return;
        }
        if let Some(queue) = self.queues.get_mut(&queue) {
            let last = dispatch.unwrap_or(u64::MAX);
            let first = if waited { 0 } else { last };
            let left: Vec<_> = queue.left.extract_if(first..=last, |_, _| true).collect();
            for (line, stored) in left.into_iter().flat_map(|(_, lines)| lines) {
                self.store(memory, line, &stored);
            }
        }
        if scope == Scope::System {
            self.write_back(memory);
        }
    }

    /// Takes over what an ended workgroup has not released.
    pub(super) fn leave_stored(
        &mut self,
        memory: &Snapshot,
        (queue, dispatch): (u64, u64),
        stored: Vec<(u64, Stored)>,
    ) {
        self.epoch_of(queue);
        for (line, stored) in stored {
            if self.drains && grain(memory, line, stored.mask) != Some(Grain::Coarse) {
                self.store(memory, line, &stored);
                continue;
            }
            let Some(state) = self.queues.get_mut(&queue) else { continue };
            let lines = state.left.entry(dispatch).or_default();
            let left = lines.entry(line).or_insert(Stored { bytes: Bytes::ZERO, mask: 0 });
            left.bytes.merge(&stored.bytes, stored.mask);
            left.mask |= stored.mask;
        }
        let left: usize =
            self.queues.get(&queue).map_or(0, |queue| queue.left.values().map(Lines::len).sum());
        if left > LEFT {
            self.release(memory, queue, (None, true), Scope::Agent);
        }
    }

    /// What a view that was acquired in `epoch` sees of a line: the bytes of `mask` in any case, all of them if the
    /// device reaches them.
    pub(super) fn load(&mut self, memory: &Snapshot, line: u64, mask: Mask, epoch: u64) -> Option<Bytes> {
        let old = self.past.get(&line).and_then(|past| past.iter().find(|old| old.epoch >= epoch));
        match old {
            Some(old) => Some(old.bytes),
            None => self.current(memory, line, mask, false),
        }
    }

    /// What is in a line now; past the lines of fine-grained memory that are held, if `bypass`.
    pub(super) fn current(
        &mut self,
        memory: &Snapshot,
        line: u64,
        mask: Mask,
        bypass: bool,
    ) -> Option<Bytes> {
        let grain = grain(memory, line, mask)?;
        if bypass {
            self.drain(memory, line);
        }
        let held = self.lines.get(&line).filter(|_| grain == Grain::Coarse || !bypass);
        if let Some(held) = held {
            return Some(held.bytes);
        }
        // SAFETY: memory is mapped in whole pages, and stays so while the snapshot is held.
        let bytes = unsafe { Bytes::fetch(line) };
        if grain != Grain::Uncached {
            self.make_room(memory);
            self.lines.insert(line, Line { bytes, dirty: 0 });
        }
        Some(bytes)
    }

    /// Makes visible what ended workgroups stored in a line, where that comes about by itself.
    fn drain(&mut self, memory: &Snapshot, line: u64) {
        if self.drains {
            let dispatches = self.queues.values_mut().flat_map(|queue| queue.left.values_mut());
            let left: Vec<_> = dispatches.filter_map(|lines| lines.remove(&line)).collect();
            left.iter().for_each(|stored| self.store(memory, line, stored));
        }
    }

    /// Makes stored bytes visible to the device, and where memory is fine-grained to the host and all devices.
    pub(super) fn store(&mut self, memory: &Snapshot, line: u64, stored: &Stored) {
        let Some(grain) = grain(memory, line, stored.mask) else { return };
        let Some(before) = self.current(memory, line, stored.mask, false) else { return };
        self.keep(line, before);
        let held = self.lines.get_mut(&line);
        if grain == Grain::Coarse {
            let Some(held) = held else { return };
            held.bytes.merge(&stored.bytes, stored.mask);
            held.dirty |= stored.mask;
            self.dirty.insert(line);
            return;
        }
        if let Some(held) = held {
            held.bytes.merge(&stored.bytes, stored.mask);
        }
        // SAFETY: a wave was allowed to store these bytes, which are still in the device's map.
        unsafe { stored.bytes.store(line, stored.mask) };
    }

    /// Lets `operate` work on the bytes of `mask` where the device's atomics do, at the address of the line that it is
    /// given; returns what the line holds then, or `None` if it is the device's no more, and nothing was done.
    pub(super) fn atomic(
        &mut self,
        memory: &Snapshot,
        line: u64,
        mask: Mask,
        operate: &mut dyn FnMut(*mut u8),
    ) -> Option<Bytes> {
        let grain = grain(memory, line, mask)?;
        let before = self.current(memory, line, mask, true)?;
        self.keep(line, before);
        if grain == Grain::Coarse {
            let held = self.lines.get_mut(&line)?;
            operate(held.bytes.pointer());
            held.dirty |= mask;
            self.dirty.insert(line);
            return Some(held.bytes);
        }
        operate(hidden::at(line * LINE));
        self.lines.remove(&line);
        // SAFETY: as in `current`.
        Some(unsafe { Bytes::fetch(line) })
    }

    /// Puts a line with those of the past, for views that were acquired before it changes.
    fn keep(&mut self, line: u64, bytes: Bytes) {
        self.changed = true;
        let past = self.past.entry(line).or_default();
        if past.back().is_some_and(|old| old.epoch == self.epoch) {
            return;
        }
        past.push_back(Old { epoch: self.epoch, bytes });
        self.order.push_back((self.epoch, line));
        if self.order.len() > PAST {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((epoch, line)) = self.order.pop_front() else { return };
        if let Some(past) = self.past.get_mut(&line) {
            // The range may have been forgotten, and the line have another past since.
            if past.front().is_some_and(|old| old.epoch == epoch) {
                past.pop_front();
            }
            if past.is_empty() {
                self.past.remove(&line);
            }
        }
    }

    /// Forgets what no queue can see any more. A workgroup that still could sees newer lines then.
    fn forget_past(&mut self) {
        let oldest = self.queues.values().map(|queue| queue.epoch).min().unwrap_or(self.epoch);
        while self.order.front().is_some_and(|(epoch, _)| *epoch < oldest) {
            self.forget_oldest();
        }
    }

    /// Gives up what others may have changed: all that is not dirty.
    fn refresh(&mut self, memory: &Snapshot) {
        let held = std::mem::take(&mut self.lines);
        for (line, held) in held {
            self.keep(line, held.bytes);
            if held.dirty == 0 || grain(memory, line, held.dirty).is_none() {
                self.dirty.remove(&line);
                continue;
            }
            // SAFETY: as in `current`.
            let mut bytes = unsafe { Bytes::fetch(line) };
            bytes.merge(&held.bytes, held.dirty);
            self.lines.insert(line, Line { bytes, dirty: held.dirty });
        }
    }

    /// Writes to memory what it does not have.
    pub(super) fn write_back(&mut self, memory: &Snapshot) {
        for line in std::mem::take(&mut self.dirty) {
            let Some(held) = self.lines.get_mut(&line) else { continue };
            if grain(memory, line, held.dirty).is_some() {
                // SAFETY: a wave was allowed to store these bytes, which are still in the device's map.
                unsafe { held.bytes.store(line, held.dirty) };
                held.dirty = 0;
            } else {
                self.lines.remove(&line);
            }
        }
    }

    /// Gives everything up when there is no room for another line.
    fn make_room(&mut self, memory: &Snapshot) {
        if self.lines.len() >= CAPACITY {
            self.write_back(memory);
            self.lines.clear();
        }
    }

    pub(super) fn leave(&mut self, queue: u64) {
        self.queues.remove(&queue);
        self.forget_past();
    }

    pub(super) fn forget(&mut self, start: u64, end: u64, backed: bool) {
        let lines = start / LINE..end.div_ceil(LINE);
        for line in self.dirty.extract_if(lines.clone(), |_| true) {
            if let Some(held) = self.lines.get(&line).filter(|_| backed) {
                // SAFETY: a wave was allowed to store these bytes, and the caller keeps them mapped.
                unsafe { held.bytes.store(line, held.dirty) };
            }
        }
        // Few lines are held, or few are in the range.
        if lines.end - lines.start < self.lines.len() as u64 {
            for line in lines {
                self.lines.remove(&line);
                self.past.remove(&line);
            }
        } else {
            self.lines.retain(|line, _| !lines.contains(line));
            self.past.retain(|line, _| !lines.contains(line));
        }
    }
}
