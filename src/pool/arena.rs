//! Arenas: chunks of a device's memory that executable graphs take turns with.
//!
//! An executable whose launches allocate is the *tenant* of an arena: its buffers show chunks of it, by the numbers that
//! its placement says. Tenants that are launched in order have the same chunks, so an arena has as many as the largest of
//! them needs. One stream at a time uses an arena. A launch on another one, while a launch that uses the arena is in
//! flight, moves its executable to another arena; or follows that launch, if its executable is in flight itself or there
//! is no memory for more.
//!
//! A launch *claims* the arena from when it looks at it until it is published, so that whoever looks next knows its
//! fence. No claim is waited for with another one in hand on the same device, and devices are claimed in rising order.

#![forbid(unsafe_code)]

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::{
    placement::Placement,
    show,
    space::{CLASSES, Classes, Counts},
};
use crate::{
    device::{Device, fence::PooledSignal},
    error::{Error, Result},
};

/// The arenas of one device.
#[derive(Default)]
pub(crate) struct Arenas {
    state: Mutex<State>,
    /// Somebody has ended a claim.
    unclaimed: Condvar,
    memory: OnceLock<Option<(hsa::VirtualMemory, Classes)>>,
}

#[derive(Default)]
struct State {
    /// The highest number of a tenant or an arena so far.
    last: u64,
    arenas: Vec<Arena>,
    tenants: HashMap<u64, Tenant>,
}

struct Arena {
    number: u64,
    chunks: [Vec<hsa::PhysicalMemory>; CLASSES],
    /// A launch is being published that uses it.
    claimed: bool,
    /// Who has used it last: the stream, by number, and what fires when that is over.
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

    /// Bytes that it lacks of `need`.
    fn lacks(&self, need: &Counts, classes: &Classes) -> u64 {
        let missing = |class: usize| need[class].saturating_sub(self.chunks[class].len() as u32);
        classes.bytes(&std::array::from_fn(missing))
    }
}

/// An executable graph that has buffers in an arena, or had before a trim.
struct Tenant {
    placement: Arc<Placement>,
    arena: Option<u64>,
    /// It was launched since it came, or since it was trimmed.
    counted: bool,
    /// Fires when its latest launch is over.
    last: Option<Arc<PooledSignal>>,
}

impl Tenant {
    /// Whether no launch uses its buffers.
    fn is_idle(&self) -> bool {
        self.last.as_ref().is_none_or(|signal| signal.is_quiet())
    }
}

/// An executable graph's right to be a tenant.
pub(super) struct Tenure {
    device: Device,
    number: u64,
    placement: Arc<Placement>,
}

impl Drop for Tenure {
    fn drop(&mut self) {
        self.arenas().leave(&self.device, self.number);
    }
}

impl Tenure {
    /// Settles an executable that is yet to be launched: afterwards its memory exists. What shows chunks at the addresses
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
        let arenas = device.0.graph_memory.arenas();
        let settled = with_room(device, || arenas.settle(device, &placement, predecessor));
        Ok(Self { device: device.clone(), number: settled?, placement })
    }

    /// Bytes of the chunks that it needs.
    pub(super) fn bytes(&self) -> u64 {
        self.placement.reserved
    }

    /// Whether they are there: a trim takes them.
    pub(super) fn is_mapped(&self) -> bool {
        self.arenas().state().tenants.get(&self.number).is_some_and(|tenant| tenant.arena.is_some())
    }

    /// Begins a launch on a stream; what comes back is the end of another launch, which this one must follow.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if memory that was trimmed is not there any more.
    pub(super) fn claim(&self, stream: u64) -> Result<Option<Arc<PooledSignal>>> {
        with_room(&self.device, || self.arenas().claim(&self.device, self.number, stream))
    }

    /// Ends what [`Tenure::claim`] began: with the stream and the end of the launch, if it was published.
    pub(super) fn end_claim(&self, published: Option<(u64, &Arc<PooledSignal>)>) {
        self.arenas().end_claim(self.number, published);
    }

    fn arenas(&self) -> &Arenas {
        self.device.0.graph_memory.arenas()
    }
}

/// Does `work`, and once more without what pools retain, which is nobody's, if there is no memory.
pub(super) fn with_room<T>(device: &Device, mut work: impl FnMut() -> Result<T>) -> Result<T> {
    work().or_else(|_| {
        device.0.pools.trim();
        work()
    })
}

/// An executable of the same graph that is gone, while a launch of it is in flight.
pub(super) struct Predecessor {
    number: u64,
    pub(super) placement: Arc<Placement>,
}

impl Arenas {
    /// The functions to map memory, and the sizes of chunks; `None` if the HSA runtime has no such functions.
    pub(super) fn mapping(&self, device: &Device) -> Option<(&hsa::VirtualMemory, &Classes)> {
        let found = self.memory.get_or_init(|| {
            let pool = &device.0.local;
            let classes = Classes::of(pool.properties().granule);
            Some((device.0.system.runtime().vmem()?, classes))
        });
        found.as_ref().map(|(memory, classes)| (memory, classes))
    }

    /// As [`Arenas::mapping`], where there is memory that was mapped.
    ///
    /// # Errors
    /// [`Error::NotSupported`].
    pub(super) fn memory(&self, device: &Device) -> Result<(&hsa::VirtualMemory, &Classes)> {
        self.mapping(device).ok_or(Error::NotSupported("virtual memory management"))
    }

    /// Who has buffers at the addresses of the tenant `number` and is in flight.
    pub(super) fn predecessor(&self, number: u64) -> Option<Predecessor> {
        let state = self.state();
        let tenant =
            state.tenants.get(&number).filter(|tenant| !tenant.is_idle() && tenant.arena.is_some())?;
        Some(Predecessor { number, placement: tenant.placement.clone() })
    }

    fn settle(
        &self,
        device: &Device,
        placement: &Arc<Placement>,
        predecessor: Option<&Predecessor>,
    ) -> Result<u64> {
        let mapping = self.memory(device)?;
        let mut state = self.state();
        let number = state.next();
        let mut tenant = Tenant { placement: placement.clone(), arena: None, counted: false, last: None };
        // A predecessor that has gone meanwhile shows nothing any more.
        let before = predecessor.and_then(|before| state.tenants.get_mut(&before.number));
        if let Some(before) = before
            && let Some(arena) = before.arena.take()
        {
            let shown = before.placement.spaces();
            let old = predecessor.map(|before| before.number);
            tenant =
                Tenant { arena: Some(arena), counted: before.counted, last: before.last.clone(), ..tenant };
            if let Err(error) = state
                .grow(device, mapping, arena, &placement.need)
                .and_then(|()| state.show(arena, placement, |space| !shown.contains(&space)))
            {
                if let Some(before) = old.and_then(|old| state.tenants.get_mut(&old)) {
                    before.arena = Some(arena);
                }
                state.settle_down(device, arena);
                return Err(error);
            }
            state.tenants.insert(number, tenant);
            state.settle_down(device, arena);
        } else {
            for (space, _) in &placement.buffers {
                state.unbind(device, space.tenant());
            }
            state.tenants.insert(number, tenant);
            let best = state.arenas.iter().min_by_key(|arena| arena.lacks(&placement.need, mapping.1));
            let best = best.map(|arena| arena.number);
            if let Err(error) = state.bind(device, mapping, number, best) {
                state.tenants.remove(&number);
                return Err(error);
            }
        }
        placement.buffers.iter().for_each(|(space, _)| space.set_tenant(number));
        Ok(number)
    }

    fn claim(&self, device: &Device, number: u64, stream: u64) -> Result<Option<Arc<PooledSignal>>> {
        let mapping = self.memory(device)?;
        let mut state = self.state();
        loop {
            let Some(tenant) = state.tenants.get(&number) else {
                return Err(Error::IllegalState("memory of an executable graph that is gone"));
            };
            let (current, need) = (tenant.arena, tenant.placement.need);
            if let Some(arena) = current.and_then(|current| state.arena(current))
                && arena.is_open_to(stream)
            {
                state.count(device, number);
                return Ok(state.claim(current));
            }
            let mut refused = Error::OutOfMemory { bytes: usize::MAX };
            if state.tenants[&number].is_idle() {
                let mut open: Vec<_> = state
                    .arenas
                    .iter()
                    .filter(|a| Some(a.number) != current && a.is_open_to(stream))
                    .collect();
                open.sort_by_key(|arena| (!arena.is_of(stream), arena.lacks(&need, mapping.1)));
                let open: Vec<_> = open.into_iter().map(|arena| Some(arena.number)).collect();
                for target in open.into_iter().chain([None]) {
                    match state.bind(device, mapping, number, target) {
                        Ok(()) => {
                            state.count(device, number);
                            let arena = state.tenants[&number].arena;
                            state.claim(arena);
                            return Ok(None);
                        }
                        Err(error) => refused = error,
                    }
                }
            }
            // There is no memory for an arena more, or its buffers are in use where they are.
            let mut busy: Vec<u64> = match state.tenants[&number].arena {
                Some(arena) => vec![arena],
                None => state.arenas.iter().map(|arena| arena.number).collect(),
            };
            let any_claimed = busy.iter().any(|&a| state.arena(a).is_some_and(|arena| arena.claimed));
            busy.retain(|&a| state.arena(a).is_some_and(|arena| !arena.claimed));
            for target in busy {
                let there = state.tenants[&number].arena == Some(target);
                if there || state.bind(device, mapping, number, Some(target)).is_ok() {
                    state.count(device, number);
                    return Ok(state.claim(Some(target)));
                }
            }
            if !any_claimed {
                return Err(refused);
            }
            state = self.unclaimed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn end_claim(&self, number: u64, published: Option<(u64, &Arc<PooledSignal>)>) {
        let mut state = self.state();
        let Some(tenant) = state.tenants.get_mut(&number) else { return };
        if let Some((_, signal)) = published {
            tenant.last = Some(signal.clone());
        }
        let arena = tenant.arena;
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
        let mut state = self.state();
        state.unbind(device, number);
        let gone = state.tenants.remove(&number);
        drop(state);
        drop(gone);
    }

    /// Gives back all chunks that no launch in flight uses.
    pub(super) fn trim(&self, device: &Device) {
        let mut state = self.state();
        let claimed: Vec<u64> = state.arenas.iter().filter(|a| a.claimed).map(|a| a.number).collect();
        let idle = |tenant: &Tenant| tenant.is_idle() && !tenant.arena.is_some_and(|a| claimed.contains(&a));
        let idle: Vec<u64> =
            state.tenants.iter().filter(|(_, tenant)| idle(tenant)).map(|(&number, _)| number).collect();
        for number in idle {
            state.unbind(device, number);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Claims an arena; returns the end of its latest use, if that is not over.
    fn claim(&mut self, arena: Option<u64>) -> Option<Arc<PooledSignal>> {
        let arena = self.arena_mut(arena?)?;
        arena.claimed = true;
        arena.user.as_ref().map(|(_, signal)| signal).filter(|signal| !signal.is_over()).cloned()
    }

    /// Makes a tenant part of the device's footprint: a launch uses its buffers.
    fn count(&mut self, device: &Device, tenant: u64) {
        let Some(tenant) = self.tenants.get_mut(&tenant) else { return };
        if !std::mem::replace(&mut tenant.counted, true)
            && let Some(arena) = tenant.arena
        {
            self.recount(device, arena);
        }
    }

    /// Has the tenant's buffers show chunks of `target`, or of a new arena, and of no other. If there is no memory it
    /// stays where it is; if memory cannot be mapped it is nowhere.
    fn bind(
        &mut self,
        device: &Device,
        mapping: (&hsa::VirtualMemory, &Classes),
        tenant: u64,
        target: Option<u64>,
    ) -> Result<()> {
        let placement = self.tenants[&tenant].placement.clone();
        let target = target.unwrap_or_else(|| {
            let number = self.next();
            let (chunks, counted) = (Default::default(), (0, 0));
            self.arenas.push(Arena { number, chunks, claimed: false, user: None, counted });
            number
        });
        let grown = self.grow(device, mapping, target, &placement.need);
        let shown = grown.and_then(|()| {
            let counted = self.tenants[&tenant].counted;
            self.unbind(device, tenant);
            self.show(target, &placement, |_| true)?;
            if let Some(tenant) = self.tenants.get_mut(&tenant) {
                (tenant.arena, tenant.counted) = (Some(target), counted);
            }
            Ok(())
        });
        self.settle_down(device, target);
        shown
    }

    /// Ends what the tenant's buffers show, which no launch may use.
    fn unbind(&mut self, device: &Device, tenant: u64) {
        let Some(tenant) = self.tenants.get_mut(&tenant) else { return };
        tenant.counted = false;
        if let Some(arena) = tenant.arena.take() {
            tenant.placement.buffers.iter().for_each(|(space, _)| space.hide());
            self.settle_down(device, arena);
        }
    }

    /// Makes chunks until an arena has as many as are needed.
    fn grow(
        &mut self,
        device: &Device,
        (memory, classes): (&hsa::VirtualMemory, &Classes),
        arena: u64,
        need: &Counts,
    ) -> Result<()> {
        let Some(arena) = self.arena_mut(arena) else { return Ok(()) };
        for ((chunks, &need), size) in arena.chunks.iter_mut().zip(need).zip(classes.0) {
            while chunks.len() < need as usize {
                chunks.push(show::chunk(device, memory, size)?);
            }
        }
        Ok(())
    }

    /// Shows an arena's chunks to those buffers of a placement that `wanted` names.
    fn show(
        &self,
        arena: u64,
        placement: &Placement,
        wanted: impl Fn(*const super::space::Space) -> bool,
    ) -> Result<()> {
        let Some(arena) = self.arena(arena) else { return Ok(()) };
        let wanted = || placement.buffers.iter().filter(|(space, _)| wanted(Arc::as_ptr(space)));
        for (n, (space, numbers)) in wanted().enumerate() {
            let chunks = arena.chunks.iter().zip(numbers).flat_map(|(chunks, ranges)| {
                ranges.iter().flat_map(|range| &chunks[range.start as usize..range.end as usize])
            });
            if let Err(error) = space.show(chunks) {
                wanted().take(n).for_each(|(space, _)| space.hide());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Lets go of the chunks of an arena that no tenant needs, and of the arena without tenants.
    fn settle_down(&mut self, device: &Device, arena: u64) {
        self.recount(device, arena);
        let mut need: Counts = [0; CLASSES];
        for tenant in self.tenants.values().filter(|tenant| tenant.arena == Some(arena)) {
            need = std::array::from_fn(|class| need[class].max(tenant.placement.need[class]));
        }
        if need == [0; CLASSES] {
            self.arenas.retain(|each| each.number != arena);
        } else if let Some(arena) = self.arena_mut(arena) {
            arena.chunks.iter_mut().zip(need).for_each(|(chunks, need)| chunks.truncate(need as usize));
        }
    }

    /// Counts of an arena what the tenants need that were launched.
    fn recount(&mut self, device: &Device, arena: u64) {
        let Ok((_, classes)) = device.0.graph_memory.arenas().memory(device) else { return };
        let (mut need, mut used): (Counts, u64) = ([0; CLASSES], 0);
        for tenant in self.tenants.values().filter(|tenant| tenant.arena == Some(arena) && tenant.counted) {
            need = std::array::from_fn(|class| need[class].max(tenant.placement.need[class]));
            used = used.max(tenant.placement.used);
        }
        let Some(arena) = self.arena_mut(arena) else { return };
        let now = (used, classes.bytes(&need));
        let before = std::mem::replace(&mut arena.counted, now);
        device.0.graph_memory.change(before, now);
    }
}
