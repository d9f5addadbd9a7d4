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
}

/// The view of one workgroup, whose waves share it as they share their compute unit's cache.
pub struct View {
    map: Arc<Map>,
    /// Its queue and dispatch.
    place: (u64, u64),
    state: Mutex<State>,
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
    /// The view of a workgroup that begins.
    pub(crate) fn new(map: Arc<Map>, origin: Origin) -> Self {
        let state = State { epoch: origin.epoch, lines: Lines::default(), dirty: Vec::new() };
        Self { map, place: (origin.queue, origin.dispatch), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn caches(&self) -> Option<&Caches> {
        self.map.caches()
    }

    /// Loads what the workgroup sees, from beyond its compute unit if `bypass`; `false` if the device does not reach
    /// all of it any more.
    pub(crate) fn load(&self, address: u64, to: &mut [u8], bypass: bool) -> bool {
        let mut state = self.state();
        pieces(address, to.len()).all(|(line, place, part)| {
            let wanted = line::mask(place, part.len());
            let held = state.lines.get(&line).filter(|held| !bypass && held.valid & wanted == wanted);
            if let Some(held) = held {
                held.bytes.get(place, &mut to[part]);
                return true;
            }
            if bypass {
                self.flush_line(&mut state, line);
            }
            let Some(held) = self.fill(&mut state, line, wanted, bypass) else { return false };
            held.bytes.get(place, &mut to[part]);
            true
        })
    }

    /// Completes a line with what the device has of it.
    fn fill<'a>(&self, state: &'a mut State, line: u64, wanted: Mask, bypass: bool) -> Option<&'a Held> {
        self.make_room(state);
        let bytes = {
            let mut cache = self.caches()?.lock();
            let memory = self.map.snapshot();
            match bypass {
                true => cache.current(&memory, line, wanted, true)?,
                false => cache.load(&memory, line, wanted, state.epoch)?,
            }
        };
        let held = state.lines.entry(line).or_insert(Held { bytes: Bytes::ZERO, valid: 0, dirty: 0 });
        let keep = if bypass { held.dirty } else { held.valid };
        held.bytes.merge(&bytes, !keep);
        held.valid = Mask::MAX;
        Some(held)
    }

    /// Stores what the workgroup alone sees for now, or the device if `through`.
    pub(crate) fn store(&self, address: u64, from: &[u8], through: bool) {
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
            if through {
                self.flush_line(state, line);
            }
        }
    }

    /// Lets `operate` work on memory where the device's atomics do.
    pub(crate) fn atomic<T>(&self, address: u64, bytes: usize, operate: impl FnOnce(*mut u8) -> T) -> T {
        let (line, place) = line::split(address);
        let mask = line::mask(place, bytes);
        let mut state = self.state();
        self.flush_line(&mut state, line);
        self.make_room(&mut state);
        let mut operate = Some(operate);
        let mut run = |at: *mut u8| operate.take().map(|operate| operate(at));
        let done = self.caches().and_then(|caches| {
            let mut cache = caches.lock();
            cache.atomic(&self.map.snapshot(), line, mask, |base| run(base.wrapping_add(place)))
        });
        let result = match done {
            Some((result, bytes)) => {
                state.lines.insert(line, Held { bytes, valid: Mask::MAX, dirty: 0 });
                result
            }
            // Freed meanwhile: the wave keeps it mapped.
            None => run(hidden::at(address)),
        };
        // PANIC: `run` is called once, in one of the two places.
        result.unwrap_or_else(|| unreachable!())
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
        let mut state = self.state();
        if let Some(caches) = self.caches() {
            let mut cache = caches.lock();
            state.epoch = cache.acquire(&self.map.snapshot(), scope);
        }
        state.lines.retain(|_, held| {
            held.valid = held.dirty;
            held.dirty != 0
        });
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
    }

    fn flush_line(&self, state: &mut State, line: u64) {
        let Some(held) = state.lines.get_mut(&line).filter(|held| held.dirty != 0) else { return };
        let stored = Stored { bytes: held.bytes, mask: std::mem::take(&mut held.dirty) };
        state.dirty.retain(|dirty| *dirty != line);
        if let Some(caches) = self.caches() {
            let mut cache = caches.lock();
            cache.store(&self.map.snapshot(), line, &stored);
        }
    }

    /// Gives everything up when there is no room for another line. What was read again later would be older than what
    /// the workgroup has seen, had it not acquired.
    fn make_room(&self, state: &mut State) {
        if state.lines.len() < CAPACITY {
            return;
        }
        self.flush(state);
        state.lines.clear();
        if let Some(caches) = self.caches() {
            let mut cache = caches.lock();
            state.epoch = cache.acquire(&self.map.snapshot(), Scope::Agent);
        }
    }
}
