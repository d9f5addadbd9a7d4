//! What a workgroup sees of memory.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::{
    Caches, Origin, Scope,
    cache::Stored,
    line::{self, Bytes, LINE, Lines, Mask},
};
use crate::{memory::Map, os::hidden};

/// Lines that a workgroup holds: many times those of a compute unit's cache, so that what it evicts of a small kernel is
/// no matter of luck.
const CAPACITY: usize = 4096;

struct Held {
    bytes: Bytes,
    /// The bytes that are known.
    valid: Mask,
    /// The bytes that the workgroup stored and did not release.
    dirty: Mask,
}

struct State {
    epoch: u64,
    lines: Lines<Held>,
    /// Lines with something dirty.
    dirty: Vec<u64>,
    /// What the workgroup had let out when it last acquired, which is newer than the epoch.
    seen: Lines<Stored>,
}

/// What the units that a workgroup runs on see of memory alike, through the cache that they share (RDNA: of a shader array).
struct Shared {
    epoch: u64,
    /// What the workgroup has let out since.
    passed: Lines<Stored>,
}

/// The view of one workgroup, or of those of its waves that share a compute unit's cache.
pub struct View {
    map: Arc<Map>,
    /// Its queue and dispatch.
    place: (u64, u64),
    state: Mutex<State>,
    /// On RDNA.
    shared: Option<Arc<Mutex<Shared>>>,
}

/// How far a load or store reaches past caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// To the cache of the compute unit.
    #[default]
    Unit,
    /// To what the workgroup shares.
    Workgroup,
    /// To what the device shares.
    Device,
}

/// The pieces of `length` bytes from `address` on by the lines that they are in: line, place in it, where in the whole.
fn pieces(address: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let (line, place) = line::split(address.wrapping_add(done as u64));
        let start = done;
        done = length.min(done + LINE as usize - place);
        Some((line, place, start..done))
    })
}

impl View {
    /// The views of a workgroup that begins on `units` compute units; `is_layered` if another cache is between these and
    /// the device's.
    pub(crate) fn several(
        map: &Arc<Map>,
        origin: Origin,
        units: usize,
        is_layered: bool,
    ) -> Box<[Arc<Self>]> {
        let shared = is_layered
            .then(|| Arc::new(Mutex::new(Shared { epoch: origin.epoch, passed: Lines::default() })));
        let view = || {
            let (lines, seen) = (Lines::default(), Lines::default());
            let state = State { epoch: origin.epoch, lines, dirty: Vec::new(), seen };
            let (map, place) = (Arc::clone(map), (origin.queue, origin.dispatch));
            Arc::new(Self { map, place, state: Mutex::new(state), shared: shared.clone() })
        };
        std::iter::repeat_with(view).take(units).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn caches(&self) -> Option<&Caches> {
        self.map.caches()
    }

    /// Loads what the workgroup sees, from as far as `reach` says; `false` if the device does not reach all of it any
    /// more.
    pub(crate) fn load(&self, address: u64, to: &mut [u8], reach: Reach) -> bool {
        let mut state = self.state();
        pieces(address, to.len()).all(|(line, place, part)| {
            let wanted = line::mask(place, part.len());
            let is_held = |held: &&Held| reach == Reach::Unit && held.valid & wanted == wanted;
            if let Some(held) = state.lines.get(&line).filter(is_held) {
                held.bytes.get(place, &mut to[part]);
                return true;
            }
            if reach != Reach::Unit {
                self.flush_line(&mut state, line);
            }
            let Some(held) = self.fill(&mut state, line, wanted, reach) else { return false };
            held.bytes.get(place, &mut to[part]);
            true
        })
    }

    /// Completes a line with what is beyond.
    fn fill<'a>(&self, state: &'a mut State, line: u64, wanted: Mask, reach: Reach) -> Option<&'a Held> {
        self.make_room(state);
        let shared = self.shared.as_ref().filter(|_| reach == Reach::Workgroup).map(|shared| shared.lock());
        let (epoch, passed) = match &shared {
            Some(shared) => (shared.epoch, shared.passed.get(&line)),
            None => (state.epoch, state.seen.get(&line)),
        };
        let bytes = {
            let mut cache = self.caches()?.lock();
            let memory = self.map.snapshot();
            match reach {
                Reach::Device => cache.current(&memory, line, wanted, true)?,
                Reach::Unit | Reach::Workgroup => {
                    let mut bytes = cache.load(&memory, line, wanted, epoch)?;
                    passed.into_iter().for_each(|passed| bytes.merge(&passed.bytes, passed.mask));
                    bytes
                }
            }
        };
        drop(shared);
        if reach == Reach::Device {
            // No cache on the way keeps what is older.
            self.pass(line, &Stored { bytes, mask: Mask::MAX });
        }
        let held = state.lines.entry(line).or_insert(Held { bytes: Bytes::ZERO, valid: 0, dirty: 0 });
        let keep = if reach == Reach::Unit { held.valid } else { held.dirty };
        held.bytes.merge(&bytes, !keep);
        held.valid = Mask::MAX;
        Some(held)
    }

    /// Stores what the waves alone see for now, or all that the device has if it reaches beyond the unit.
    pub(crate) fn store(&self, address: u64, from: &[u8], reach: Reach) {
        let mut state = self.state();
        for (line, place, part) in pieces(address, from.len()) {
            self.make_room(&mut state);
            let mask = line::mask(place, part.len());
            let state = &mut *state;
            let held = state.lines.entry(line).or_insert(Held { bytes: Bytes::ZERO, valid: 0, dirty: 0 });
            held.bytes.put(place, &from[part]);
            if held.dirty == 0 {
                state.dirty.push(line);
            }
            held.valid |= mask;
            held.dirty |= mask;
            if reach != Reach::Unit {
                self.flush_line(state, line);
            }
        }
    }

    /// Lets `operate` work on memory where the device's atomics do. It is called once.
    pub(crate) fn atomic(&self, address: u64, bytes: usize, operate: &mut dyn FnMut(*mut u8)) {
        let (line, place) = line::split(address);
        let mask = line::mask(place, bytes);
        let mut state = self.state();
        self.flush_line(&mut state, line);
        self.make_room(&mut state);
        let done = self.caches().and_then(|caches| {
            let mut cache = caches.lock();
            cache.atomic(&self.map.snapshot(), line, mask, &mut |base| operate(base.wrapping_add(place)))
        });
        match done {
            Some(bytes) => {
                state.lines.insert(line, Held { bytes, valid: Mask::MAX, dirty: 0 });
                self.pass(line, &Stored { bytes, mask: Mask::MAX });
            }
            // Freed meanwhile: the wave keeps it mapped.
            None => operate(hidden::at(address)),
        }
    }

    /// Lets the device see what the workgroup has stored; at system scope the host and all devices see what the device
    /// has.
    pub(crate) fn release(&self, scope: Scope) {
        self.flush(&mut self.state());
        if scope == Scope::System
            && let Some(caches) = self.caches()
        {
            let mut cache = caches.lock();
            cache.write_back(&self.map.snapshot());
        }
    }

    /// Lets the workgroup see what has been released so far.
    pub(crate) fn acquire(&self, scope: Scope) {
        self.renew(scope, &mut self.state());
    }

    fn renew(&self, scope: Scope, state: &mut State) {
        self.acquire_shared(scope);
        match &self.shared {
            Some(shared) => state.epoch = shared.lock().epoch,
            None => self.acquire_epoch(scope, &mut state.epoch),
        }
        state.forget();
    }

    /// Lets loads past the caches of the units, and waves that invalidate these, see what has been released so far.
    pub(crate) fn acquire_shared(&self, scope: Scope) {
        if let Some(shared) = &self.shared {
            let shared = &mut *shared.lock();
            self.acquire_epoch(scope, &mut shared.epoch);
            shared.passed.clear();
        }
    }

    fn acquire_epoch(&self, scope: Scope, epoch: &mut u64) {
        if let Some(caches) = self.caches() {
            let mut cache = caches.lock();
            *epoch = cache.acquire(&self.map.snapshot(), scope);
        }
    }

    /// Lets the waves see what the workgroup shares: what it has let out itself.
    pub(crate) fn acquire_from_workgroup(&self) {
        let Some(shared) = &self.shared else { return };
        let state = &mut *self.state();
        let shared = shared.lock();
        state.epoch = shared.epoch;
        state.forget();
        state.seen.clone_from(&shared.passed);
    }

    /// What leaves the unit, and is where the device has it, stays in what the workgroup shares.
    fn pass(&self, line: u64, stored: &Stored) {
        let Some(shared) = &self.shared else { return };
        let shared = &mut *shared.lock();
        if shared.passed.len() >= CAPACITY {
            self.acquire_epoch(Scope::Agent, &mut shared.epoch);
            shared.passed.clear();
        }
        let passed = shared.passed.entry(line).or_insert(Stored { bytes: Bytes::ZERO, mask: 0 });
        passed.bytes.merge(&stored.bytes, stored.mask);
        passed.mask |= stored.mask;
    }

    /// The workgroup has ended: what it has not released is its dispatch's.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        let stored = Self::take(&mut state);
        if let Some(caches) = self.caches().filter(|_| !stored.is_empty()) {
            let mut cache = caches.lock();
            cache.leave_stored(&self.map.snapshot(), self.place, stored);
        }
        state.lines.clear();
    }

    /// What is dirty, which it is no more.
    fn take(state: &mut State) -> Vec<(u64, Stored)> {
        let State { lines, dirty, .. } = state;
        dirty
            .drain(..)
            .filter_map(|line| {
                let held = lines.get_mut(&line)?;
                let mask = std::mem::take(&mut held.dirty);
                (mask != 0).then_some((line, Stored { bytes: held.bytes, mask }))
            })
            .collect()
    }

    fn flush(&self, state: &mut State) {
        let stored = Self::take(state);
        if let Some(caches) = self.caches().filter(|_| !stored.is_empty()) {
            let mut cache = caches.lock();
            let memory = self.map.snapshot();
            stored.iter().for_each(|(line, stored)| cache.store(&memory, *line, stored));
        }
        stored.iter().for_each(|(line, stored)| self.pass(*line, stored));
    }

    fn flush_line(&self, state: &mut State, line: u64) {
        let Some(held) = state.lines.get_mut(&line).filter(|held| held.dirty != 0) else { return };
        let stored = Stored { bytes: held.bytes, mask: std::mem::take(&mut held.dirty) };
        state.dirty.retain(|dirty| *dirty != line);
        if let Some(caches) = self.caches() {
            let mut cache = caches.lock();
            cache.store(&self.map.snapshot(), line, &stored);
        }
        self.pass(line, &stored);
    }

    /// Gives everything up when there is no room for another line. What was read again later would be older than what
    /// the workgroup has seen, had it not acquired.
    fn make_room(&self, state: &mut State) {
        if state.lines.len() < CAPACITY {
            return;
        }
        self.flush(state);
        self.renew(Scope::Agent, state);
    }
}

impl State {
    /// Drops all that is not the waves' own.
    fn forget(&mut self) {
        self.seen.clear();
        self.lines.retain(|_, held| {
            held.valid = held.dirty;
            held.dirty != 0
        });
    }
}
