//! Making, mapping and unmapping the chunks of arenas: what asks the HSA runtime, and takes its time.
//!
//! The state is locked for moments between what the HSA runtime is asked for. What launches do meanwhile: claim arenas,
//! end claims, and nothing else; a tenant without an arena has them wait for the mapper.

use std::{
    collections::HashMap,
    sync::{Arc, MutexGuard},
};

use aqlipse_graph::memory::placement::{CLASSES, Classes, Counts};

use super::{Arena, Arenas, Attempt, Departed, State, Tenant};
use crate::{
    device::{Device, fence::PooledSignal},
    error::{Error, Result},
    pool::{
        show,
        space::{Placement, Space, spaces_of},
    },
};

/// The chunks of arenas, by their numbers.
pub(super) type Chunks = HashMap<u64, [Vec<hsa::PhysicalMemory>; CLASSES]>;

/// The right to change what is mapped, which one thread has at a time.
pub(super) struct Mapper<'a> {
    pub(super) arenas: &'a Arenas,
    pub(super) device: &'a Device,
    pub(super) memory: &'a hsa::VirtualMemory,
    pub(super) classes: &'a Classes,
    pub(super) chunks: MutexGuard<'a, Chunks>,
}

impl Mapper<'_> {
    /// Finds another arena for a launch on `stream` of a tenant, and claims it: one that the launch need not wait for, a
    /// new one, or one that it has to follow; what comes back is what it follows. `None` if one must be waited for that
    /// others have claimed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn claim(&mut self, number: u64, stream: u64) -> Result<Option<Option<Arc<PooledSignal>>>> {
        let arenas = self.arenas;
        // Since it was looked at, somebody may have left it, or it may have been trimmed.
        let (need, is_idle, mut open) = {
            let mut state = arenas.state();
            if let Attempt::Claimed(latest) = state.try_claim(self.device, self.classes, number, stream)? {
                return Ok(Some(latest));
            }
            let tenant = &state.tenants[&number];
            let (current, need, is_idle) = (tenant.arena, tenant.placement.need, tenant.is_idle());
            let open = state.arenas.iter().filter(|a| Some(a.number) != current && a.is_open_to(stream));
            let open: Vec<_> = open.map(|arena| (!arena.is_of(stream), arena.number)).collect();
            (need, is_idle, open)
        };
        let mut refused = Error::OutOfMemory { bytes: usize::MAX };
        if is_idle {
            open.sort_by_key(|&(others, arena)| (others, self.lacks(arena, &need)));
            for target in open.into_iter().map(|(_, arena)| Some(arena)).chain([None]) {
                match self.bind(number, target) {
                    // A launch of another tenant may have come first meanwhile; not in an arena of its own.
                    Ok(()) => match arenas.state().try_claim(self.device, self.classes, number, stream)? {
                        Attempt::Claimed(_) => return Ok(Some(None)),
                        Attempt::Busy | Attempt::Elsewhere => {}
                    },
                    Err(error) => refused = error,
                }
            }
        }
        // There is no memory for an arena more, or its buffers are in use where they are.
        let there = arenas.state().arena_of(number);
        let busy: Vec<u64> = match there {
            Some(arena) => vec![arena],
            None => arenas.state().arenas.iter().map(|arena| arena.number).collect(),
        };
        let mut any_claimed = false;
        for target in busy {
            if arenas.state().is_claimed(target) {
                any_claimed = true;
                continue;
            }
            if there == Some(target) || self.bind(number, Some(target)).is_ok() {
                let mut state = arenas.state();
                if !state.is_claimed(target) {
                    state.count(self.device, self.classes, number);
                    return Ok(Some(state.claim(target)));
                }
                any_claimed = true;
            }
        }
        if any_claimed { Ok(None) } else { Err(refused) }
    }

    /// The arena that lacks least of `need`.
    pub(super) fn nearest(&self, need: &Counts) -> Option<u64> {
        let state = self.arenas.state();
        let numbers = state.arenas.iter().map(|arena| arena.number);
        numbers.min_by_key(|&arena| self.lacks(arena, need))
    }

    /// Bytes that an arena lacks of `need`.
    fn lacks(&self, arena: u64, need: &Counts) -> u64 {
        let there = |class: usize| self.chunks.get(&arena).map_or(0, |chunks| chunks[class].len());
        // CAST: chunks have numbers of 32 bits.
        let missing = |class: usize| need[class].saturating_sub(there(class) as u32);
        self.classes.bytes(&std::array::from_fn(missing))
    }

    /// Has the tenant's buffers show chunks of `target`, or of a new arena, and of no other. If there is no memory it
    /// stays where it is; if memory cannot be mapped it is nowhere. No launch of the tenant is in flight or about to be
    /// published but by the caller.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn bind(&mut self, tenant: u64, target: Option<u64>) -> Result<()> {
        let (placement, target) = {
            let mut state = self.arenas.state();
            let placement = state.tenants[&tenant].placement.clone();
            (placement, target.unwrap_or_else(|| state.open_arena()))
        };
        let grown = self.grow(target, &placement.need);
        let shown = grown.and_then(|()| {
            let counted = self.arenas.state().tenants[&tenant].counted;
            self.unbind(tenant);
            self.show(target, &placement, |_| true)?;
            if let Some(tenant) = self.arenas.state().tenants.get_mut(&tenant) {
                (tenant.arena, tenant.counted) = (Some(target), counted);
            }
            Ok(())
        });
        self.settle_down(target);
        shown
    }

    /// Has a new tenant take the place of `old` in an arena, while a launch of that is in flight: what its buffers show
    /// they go on to show.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing has changed then.
    pub(super) fn succeed(
        &mut self,
        old: u64,
        arena: u64,
        number: u64,
        placement: &Arc<Placement>,
    ) -> Result<()> {
        let shown = self.arenas.state().tenants.get(&old).map(|old| spaces_of(&old.placement));
        let shown = shown.unwrap_or_default();
        let done = self
            .grow(arena, &placement.need)
            .and_then(|()| self.show(arena, placement, |space| !shown.contains(&space)));
        if done.is_ok() {
            let mut state = self.arenas.state();
            let mut tenant = Tenant { arena: Some(arena), ..Tenant::new(placement) };
            if let Some(old) = state.tenants.get_mut(&old) {
                old.arena = None;
                (tenant.counted, tenant.last) = (old.counted, old.last.clone());
            }
            state.tenants.insert(number, tenant);
        }
        self.settle_down(arena);
        done
    }

    /// Ends what the tenant's buffers show, which no launch may use.
    pub(super) fn unbind(&mut self, tenant: u64) {
        let departed = self.arenas.state().depart(tenant);
        self.end(departed.into_iter().collect());
    }

    /// Ends what the tenant's buffers show, and that it is one.
    pub(super) fn remove(&mut self, tenant: u64) -> Option<Tenant> {
        self.unbind(tenant);
        self.arenas.state().tenants.remove(&tenant)
    }

    /// Ends what the buffers of tenants show that have departed.
    pub(super) fn end(&mut self, departed: Vec<Departed>) {
        for Departed { placement, .. } in &departed {
            placement.buffers.iter().for_each(|(space, _)| space.hide());
        }
        // Behind all of them: chunks may go that several show.
        departed.iter().for_each(|departed| self.settle_down(departed.arena));
    }

    /// Makes chunks until an arena has as many as are needed.
    fn grow(&mut self, arena: u64, need: &Counts) -> Result<()> {
        let arena = self.chunks.entry(arena).or_default();
        for ((chunks, &need), size) in arena.iter_mut().zip(need).zip(self.classes.0) {
            while chunks.len() < need as usize {
                chunks.push(show::chunk(self.device, self.memory, size)?);
            }
        }
        Ok(())
    }

    /// Shows an arena's chunks to those buffers of a placement that `wanted` names.
    fn show(&self, arena: u64, placement: &Placement, wanted: impl Fn(*const Space) -> bool) -> Result<()> {
        let Some(arena) = self.chunks.get(&arena) else { return Ok(()) };
        let wanted = || placement.buffers.iter().filter(|(space, _)| wanted(Arc::as_ptr(space)));
        for (n, (space, numbers)) in wanted().enumerate() {
            let chunks = arena.iter().zip(numbers).flat_map(|(chunks, ranges)| {
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
    fn settle_down(&mut self, arena: u64) {
        let need = {
            let mut state = self.arenas.state();
            state.recount(self.device, self.classes, arena);
            let need = state.need(arena);
            if need == [0; CLASSES] {
                state.arenas.retain(|each| each.number != arena);
            }
            need
        };
        if need == [0; CLASSES] {
            self.chunks.remove(&arena);
        } else if let Some(chunks) = self.chunks.get_mut(&arena) {
            chunks.iter_mut().zip(need).for_each(|(chunks, need)| chunks.truncate(need as usize));
        }
    }
}

impl State {
    /// A new arena, which has nothing yet.
    fn open_arena(&mut self) -> u64 {
        let number = self.next();
        self.arenas.push(Arena { number, claimed: false, user: None, counted: (0, 0) });
        number
    }

    fn is_claimed(&self, arena: u64) -> bool {
        self.arena(arena).is_some_and(|arena| arena.claimed)
    }
}
