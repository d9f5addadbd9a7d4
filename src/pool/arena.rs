//! Arenas: chunks of a device's memory that executable graphs take turns with.
//!
//! An executable whose launches allocate has a *binding* to an arena: its buffers map chunks of it. Bindings that are
//! launched in order have the same chunks, so an arena has what the largest of them needs, and little more; which chunks
//! serve whom is decided by a [`Layout`](aqlipse_graph::memory::layout::Layout). One stream at a time uses an arena. A launch on another one, while a launch that uses the arena is in
//! flight, moves its executable to another arena; or follows that launch, if its executable is in flight itself or there
//! is no memory for more.
//!
//! A launch *claims* the arena from when it looks at it until it is published, so that the next launch that looks knows its
//! fence. No claim is waited for with another one in hand on the same device, and devices are claimed in rising order.
//!
//! What is claimed is one lock's, which is not held while the HSA runtime is asked for anything; memory is made, mapped and
//! unmapped by one [`Mapper`] at a time. So a launch whose memory is there never waits for the mapping of another.

#![forbid(unsafe_code)]

mod mapper;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use aqlipse_graph::memory::sizes::Sizes;
use parking_lot::{Condvar, Mutex, MutexGuard};

use self::mapper::{Chunks, Mapper};
use super::{mapping::Calls, space::Placement};
use crate::{
    device::{Device, fence::PooledSignal},
    error::{Error, Result},
};

/// The arenas of one device.
#[derive(Default)]
pub(crate) struct Arenas {
    /// Locked to change what is mapped, and before `state`.
    chunks: Mutex<Chunks>,
    /// Of bindings, only a [`Mapper`] changes the arena.
    state: Mutex<State>,
    /// A claim has ended.
    unclaimed: Condvar,
    memory: OnceLock<Option<(hsa::VirtualMemory, Sizes)>>,
    pub(super) calls: Calls,
}

#[derive(Default)]
struct State {
    /// The highest number of a binding or an arena so far.
    last: u64,
    arenas: Vec<Arena>,
    bindings: HashMap<u64, Binding>,
    /// Bindings whose executables are gone, and whose buffers are not unmapped yet.
    gone: Vec<u64>,
}

struct Arena {
    number: u64,
    /// A launch is being published that uses it.
    claimed: bool,
    /// What has used it last: the stream, by number, and the signal that fires when that is over.
    user: Option<(u64, Arc<PooledSignal>)>,
    /// What the device's footprint has of it: bytes used and reserved.
    counted: (u64, u64),
}

impl Arena {
    /// Whether a launch on `stream` follows its latest use anyway.
    fn is_open_to(&self, stream: u64) -> bool {
        !self.claimed && (self.is_of(stream) || self.is_idle())
    }

    fn is_of(&self, stream: u64) -> bool {
        self.user.as_ref().is_some_and(|(user, _)| *user == stream)
    }

    fn is_idle(&self) -> bool {
        self.user.as_ref().is_none_or(|(_, signal)| signal.is_over())
    }
}

/// An executable graph that has buffers in an arena, or had before a trim.
struct Binding {
    placement: Arc<Placement>,
    arena: Option<u64>,
    /// It was launched since it came, or since it was trimmed.
    counted: bool,
    /// Fires when its latest launch is over.
    last: Option<Arc<PooledSignal>>,
}

impl Binding {
    fn new(placement: &Arc<Placement>) -> Self {
        Self { placement: placement.clone(), arena: None, counted: false, last: None }
    }

    /// Whether no launch uses its buffers.
    fn is_idle(&self) -> bool {
        self.last.as_ref().is_none_or(|signal| signal.is_quiet())
    }
}

/// A binding that has left an arena, and whose buffers still map chunks of it.
struct UnboundBinding {
    number: u64,
    arena: u64,
    placement: Arc<Placement>,
}

/// What a launch finds that looks at its arena.
enum Attempt {
    /// It is claimed; with the end of its latest use, if that is not over.
    Claimed(Option<Arc<PooledSignal>>),
    /// The launch has to use it, and another launch has claimed it.
    Busy,
    /// There is none, or others use it.
    Elsewhere,
}

/// An executable graph's binding, which ends with it.
pub(super) struct ArenaBinding {
    device: Device,
    number: u64,
    placement: Arc<Placement>,
}

impl Drop for ArenaBinding {
    fn drop(&mut self) {
        self.arenas().leave(&self.device, self.number);
    }
}

impl ArenaBinding {
    /// Settles an executable that is yet to be launched: afterwards its memory exists. What maps chunks at the addresses
    /// of `placement` for an executable that is gone, and in flight no more, ends.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn new(
        device: &Device,
        placement: Placement,
        predecessor: Option<&Predecessor>,
    ) -> Result<Self> {
        let placement = Arc::new(placement);
        let arenas = device.context().graph_memory.arenas();
        let settled = with_room(device, || arenas.settle(device, &placement, predecessor));
        Ok(Self { device: device.clone(), number: settled?, placement })
    }

    /// Bytes of the chunks that it needs.
    pub(super) fn bytes(&self) -> u64 {
        self.placement.reserved
    }

    /// Whether they are there: a trim takes them.
    pub(super) fn is_mapped(&self) -> bool {
        self.arenas().state().bindings.get(&self.number).is_some_and(|binding| binding.arena.is_some())
    }

    /// Begins a launch on a stream; what comes back is the end of another launch, which this one must follow.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if memory that was trimmed is not there any more.
    pub(super) fn claim(&self, stream: u64) -> Result<Option<Arc<PooledSignal>>> {
        with_room(&self.device, || self.arenas().claim(&self.device, self.number, stream))
    }

    /// Ends what [`ArenaBinding::claim`] began: with the stream and the end of the launch, if it was published.
    pub(super) fn end_claim(&self, published: Option<(u64, &Arc<PooledSignal>)>) {
        self.arenas().end_claim(self.number, published);
    }

    fn arenas(&self) -> &Arenas {
        self.device.context().graph_memory.arenas()
    }
}

/// Does `work`, and once more without the unused memory that pools retain, if there is no memory.
pub(super) fn with_room<T>(device: &Device, mut work: impl FnMut() -> Result<T>) -> Result<T> {
    work().or_else(|_| {
        device.context().pools.trim();
        work()
    })
}

/// An executable of the same graph that is gone, while a launch of it is in flight.
pub(super) struct Predecessor {
    number: u64,
    pub(super) placement: Arc<Placement>,
}

impl Arenas {
    /// The functions to map memory, and the sizes that chunks have; `None` if the HSA runtime has no such functions.
    pub(super) fn mapping(&self, device: &Device) -> Option<(&hsa::VirtualMemory, &Sizes)> {
        let found = self.memory.get_or_init(|| {
            let pool = &device.0.local;
            let sizes = Sizes::of(pool.properties().granule);
            Some((device.0.system.runtime().vmem()?, sizes))
        });
        found.as_ref().map(|(memory, sizes)| (memory, sizes))
    }

    /// As [`Arenas::mapping`], where there is memory that was mapped.
    ///
    /// # Errors
    /// [`Error::NotSupported`].
    pub(super) fn memory(&self, device: &Device) -> Result<(&hsa::VirtualMemory, &Sizes)> {
        self.mapping(device).ok_or(Error::NotSupported("virtual memory management"))
    }

    /// The binding in flight that has buffers at the addresses of the binding `number`.
    pub(super) fn predecessor(&self, number: u64) -> Option<Predecessor> {
        let state = self.state();
        let binding =
            state.bindings.get(&number).filter(|binding| !binding.is_idle() && binding.arena.is_some())?;
        Some(Predecessor { number, placement: binding.placement.clone() })
    }

    fn settle(
        &self,
        device: &Device,
        placement: &Arc<Placement>,
        predecessor: Option<&Predecessor>,
    ) -> Result<u64> {
        self.with_mapper(device, |mapper| self.settle_with(mapper, placement, predecessor))
    }

    fn settle_with(
        &self,
        mapper: &mut Mapper<'_>,
        placement: &Arc<Placement>,
        predecessor: Option<&Predecessor>,
    ) -> Result<u64> {
        let number = self.state().next();
        // A predecessor that has gone meanwhile maps nothing any more.
        let before =
            predecessor.and_then(|before| Some((before.number, self.state().arena_of(before.number)?)));
        match before {
            Some((old, arena)) => mapper.succeed(old, arena, number, placement)?,
            None => {
                placement.buffers.iter().for_each(|(space, _)| mapper.unbind(space.binding()));
                self.state().bindings.insert(number, Binding::new(placement));
                let best = mapper.nearest(placement);
                if let Err(error) = mapper.bind(number, best) {
                    self.state().bindings.remove(&number);
                    return Err(error);
                }
            }
        }
        placement.buffers.iter().for_each(|(space, _)| space.set_binding(number));
        Ok(number)
    }

    fn claim(&self, device: &Device, number: u64, stream: u64) -> Result<Option<Arc<PooledSignal>>> {
        let mut state = self.state();
        loop {
            match state.try_claim(device, number, stream)? {
                Attempt::Claimed(latest) => return Ok(latest),
                Attempt::Busy => {}
                Attempt::Elsewhere => {
                    drop(state);
                    if let Some(latest) = self.with_mapper(device, |mapper| mapper.claim(number, stream))? {
                        return Ok(latest);
                    }
                    state = self.state();
                }
            }
            // A claim that has ended meanwhile says nothing any more.
            if state.arenas.iter().any(|arena| arena.claimed) {
                self.unclaimed.wait(&mut state);
            }
        }
    }

    fn end_claim(&self, number: u64, published: Option<(u64, &Arc<PooledSignal>)>) {
        let mut state = self.state();
        let Some(binding) = state.bindings.get_mut(&number) else { return };
        if let Some((_, signal)) = published {
            binding.last = Some(signal.clone());
        }
        let arena = binding.arena;
        if let Some(arena) = arena.and_then(|arena| state.arena_mut(arena)) {
            arena.claimed = false;
            if let Some((stream, signal)) = published {
                arena.user = Some((stream, signal.clone()));
            }
        }
        drop(state);
        self.unclaimed.notify_all();
    }

    fn leave(&self, device: &Device, number: u64) {
        self.state().gone.push(number);
        self.show_out(device);
    }

    /// Ends what bindings map whose executables are gone. A thread that lets go of an executable may be about to
    /// launch another one: it does not wait for a thread that maps memory, which calls this afterwards.
    fn show_out(&self, device: &Device) {
        while !self.state().gone.is_empty() {
            let Ok((memory, sizes)) = self.memory(device) else { return };
            let Some(chunks) = self.chunks.try_lock() else { return };
            let mut mapper = Mapper { arenas: self, device, memory, sizes, chunks };
            let gone = std::mem::take(&mut self.state().gone);
            let bindings: Vec<_> = gone.into_iter().map(|number| mapper.remove(number)).collect();
            drop(mapper);
            drop(bindings);
        }
    }

    /// Gives back all chunks that no launch in flight uses.
    pub(super) fn trim(&self, device: &Device) {
        let trimmed = self.with_mapper(device, |mapper| {
            mapper.end(self.depart_idle());
            Ok(())
        });
        // Nothing is mapped where nothing can be.
        trimmed.unwrap_or_default();
    }

    /// Takes all bindings out of their arenas of which no launch is in flight or about to be published.
    fn depart_idle(&self) -> Vec<UnboundBinding> {
        let mut state = self.state();
        // With the lock held under which they were found idle: from here on a launch of theirs waits for the mapper.
        state.idle().into_iter().filter_map(|number| state.depart(number)).collect()
    }

    /// Takes the bindings out of the device's footprint of which no launch is in flight or about to be published.
    pub(super) fn discount(&self, device: &Device) {
        let mut state = self.state();
        for number in state.idle() {
            let Some(binding) = state.bindings.get_mut(&number) else { continue };
            if std::mem::take(&mut binding.counted)
                && let Some(arena) = binding.arena
            {
                state.recount(device, arena);
            }
        }
    }

    /// Does `work` with the right to change what is mapped.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the HSA runtime cannot map memory; what `work` says.
    fn with_mapper<T>(&self, device: &Device, work: impl FnOnce(&mut Mapper<'_>) -> Result<T>) -> Result<T> {
        let (memory, sizes) = self.memory(device)?;
        let chunks = self.chunks.lock();
        let done = work(&mut Mapper { arenas: self, device, memory, sizes, chunks });
        self.show_out(device);
        done
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn arena(&self, number: u64) -> Option<&Arena> {
        self.arenas.iter().find(|arena| arena.number == number)
    }

    fn arena_mut(&mut self, number: u64) -> Option<&mut Arena> {
        self.arenas.iter_mut().find(|arena| arena.number == number)
    }

    /// The bindings of which no launch is in flight or about to be published.
    fn idle(&self) -> Vec<u64> {
        let claimed: Vec<u64> = self.arenas.iter().filter(|a| a.claimed).map(|a| a.number).collect();
        let idle =
            |binding: &Binding| binding.is_idle() && !binding.arena.is_some_and(|a| claimed.contains(&a));
        self.bindings.iter().filter(|(_, binding)| idle(binding)).map(|(&number, _)| number).collect()
    }

    fn arena_of(&self, binding: u64) -> Option<u64> {
        self.bindings.get(&binding)?.arena
    }

    /// Claims an arena; returns the end of its latest use, if that is not over.
    fn claim(&mut self, arena: u64) -> Option<Arc<PooledSignal>> {
        let arena = self.arena_mut(arena)?;
        arena.claimed = true;
        arena.user.as_ref().map(|(_, signal)| signal).filter(|signal| !signal.is_over()).cloned()
    }

    /// Makes a binding part of the device's footprint: a launch uses its buffers.
    fn count(&mut self, device: &Device, binding: u64) {
        let Some(binding) = self.bindings.get_mut(&binding) else { return };
        if !std::mem::replace(&mut binding.counted, true)
            && let Some(arena) = binding.arena
        {
            self.recount(device, arena);
        }
    }

    /// Claims the arena that a binding has, if a launch of it on `stream` is to use that.
    ///
    /// # Errors
    /// [`Error::IllegalState`] for a binding that is gone.
    fn try_claim(&mut self, device: &Device, number: u64, stream: u64) -> Result<Attempt> {
        let Some(binding) = self.bindings.get(&number) else {
            return Err(Error::IllegalState("memory of an executable graph that is gone"));
        };
        let Some(arena) = binding.arena.and_then(|arena| self.arena(arena)) else {
            return Ok(Attempt::Elsewhere);
        };
        let is_idle = binding.is_idle();
        if arena.is_open_to(stream) || !is_idle && !arena.claimed {
            let arena = arena.number;
            self.count(device, number);
            return Ok(Attempt::Claimed(self.claim(arena)));
        }
        Ok(if is_idle { Attempt::Elsewhere } else { Attempt::Busy })
    }

    /// Takes a binding, of which no launch is in flight, out of its arena.
    fn depart(&mut self, number: u64) -> Option<UnboundBinding> {
        let binding = self.bindings.get_mut(&number)?;
        binding.counted = false;
        Some(UnboundBinding { number, arena: binding.arena.take()?, placement: binding.placement.clone() })
    }

    /// Counts of an arena what the largest of the bindings needs that were launched.
    fn recount(&mut self, device: &Device, arena: u64) {
        let bound = self.bindings.values().filter(|binding| binding.arena == Some(arena) && binding.counted);
        let needs = bound.map(|binding| (binding.placement.used, binding.placement.reserved));
        let now = needs.fold((0, 0), |most, need| (most.0.max(need.0), most.1.max(need.1)));
        let Some(arena) = self.arena_mut(arena) else { return };
        let before = std::mem::replace(&mut arena.counted, now);
        device.context().graph_memory.change(before, now);
    }
}
