//! Making, mapping and unmapping the chunks of arenas: what asks the HSA runtime, and takes its time.
//!
//! The state is locked for moments between what the HSA runtime is asked for. What launches do meanwhile: claim arenas,
//! end claims, and nothing else; a binding without an arena has them wait for the mapper.

use std::{collections::HashMap, sync::Arc};

use aqlipse_graph::memory::placement::{CLASSES, Classes, Counts};
use parking_lot::MutexGuard;

use super::{Arena, Arenas, Attempt, Binding, State, UnboundBinding};
use crate::{
    device::{Device, fence::PooledSignal},
    error::{Error, Result},
    pool::{
        mapping,
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
    /// Finds another arena for a launch on `stream` of a binding, and claims it: one that the launch need not wait for, a
    /// new one, or one that it has to follow; what comes back is what it follows. `None` if one must be waited for that
    /// others have claimed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn claim(&mut self, number: u64, stream: u64) -> Result<Option<Option<Arc<PooledSignal>>>> {
        let arenas = self.arenas;
        // Since it was looked at, a launch may have left it, or it may have been trimmed.
        let (need, is_idle, mut open) = {
            let mut state = arenas.state();
            if let Attempt::Claimed(latest) = state.try_claim(self.device, self.classes, number, stream)? {
                return Ok(Some(latest));
            }
            let binding = &state.bindings[&number];
            let (current, need, is_idle) = (binding.arena, binding.placement.need, binding.is_idle());
            let open = state.arenas.iter().filter(|a| Some(a.number) != current && a.is_open_to(stream));
            let open: Vec<_> = open.map(|arena| (!arena.is_of(stream), arena.number)).collect();
            (need, is_idle, open)
        };
        let mut refused = Error::OutOfMemory { bytes: usize::MAX };
        if is_idle {
            open.sort_by_key(|&(others, arena)| (others, self.lacks(arena, &need)));
            for target in open.into_iter().map(|(_, arena)| Some(arena)).chain([None]) {
                match self.bind(number, target) {
                    // A launch of another binding may have come first meanwhile; not in an arena of its own.
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

    /// Has the binding's buffers map chunks of `target`, or of a new arena, and of no other. If there is no memory it
    /// stays where it is; if memory cannot be mapped it is nowhere. No launch of the binding is in flight or about to be
    /// published but by the caller.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn bind(&mut self, binding: u64, target: Option<u64>) -> Result<()> {
        let (placement, target) = {
            let mut state = self.arenas.state();
            let placement = state.bindings[&binding].placement.clone();
            (placement, target.unwrap_or_else(|| state.open_arena()))
        };
        let grown = self.grow(target, &placement.need);
        let mapped = grown.and_then(|()| {
            let counted = self.arenas.state().bindings[&binding].counted;
            self.unbind(binding);
            self.map(target, &placement, |_| true)?;
            if let Some(binding) = self.arenas.state().bindings.get_mut(&binding) {
                (binding.arena, binding.counted) = (Some(target), counted);
            }
            Ok(())
        });
        self.settle_down(target);
        mapped
    }

    /// Has a new binding take the place of `old` in an arena, while a launch of that is in flight: what its buffers map
    /// they go on to map.
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
        let mapped = self.arenas.state().bindings.get(&old).map(|old| spaces_of(&old.placement));
        let mapped = mapped.unwrap_or_default();
        let done = self
            .grow(arena, &placement.need)
            .and_then(|()| self.map(arena, placement, |space| !mapped.contains(&space)));
        if done.is_ok() {
            let mut state = self.arenas.state();
            let mut binding = Binding { arena: Some(arena), ..Binding::new(placement) };
            if let Some(old) = state.bindings.get_mut(&old) {
                old.arena = None;
                (binding.counted, binding.last) = (old.counted, old.last.clone());
            }
            state.bindings.insert(number, binding);
        }
        self.settle_down(arena);
        done
    }

    /// Unmaps the binding's buffers, which no launch may use.
    pub(super) fn unbind(&mut self, binding: u64) {
        let unbound = self.arenas.state().depart(binding);
        self.end(unbound.into_iter().collect());
    }

    /// Unmaps the binding's buffers, and ends the binding.
    pub(super) fn remove(&mut self, binding: u64) -> Option<Binding> {
        self.unbind(binding);
        self.arenas.state().bindings.remove(&binding)
    }

    /// Unmaps the buffers of bindings that have ended.
    pub(super) fn end(&mut self, unbound: Vec<UnboundBinding>) {
        for UnboundBinding { placement, .. } in &unbound {
            placement.buffers.iter().for_each(|(space, _)| space.unmap());
        }
        // Behind all of them: chunks may go that several map.
        unbound.iter().for_each(|unbound| self.settle_down(unbound.arena));
    }

    /// Makes chunks until an arena has as many as are needed.
    fn grow(&mut self, arena: u64, need: &Counts) -> Result<()> {
        let arena = self.chunks.entry(arena).or_default();
        for ((chunks, &need), size) in arena.iter_mut().zip(need).zip(self.classes.0) {
            while chunks.len() < need as usize {
                chunks.push(mapping::chunk(self.device, self.memory, size)?);
            }
        }
        Ok(())
    }

    /// Shows an arena's chunks to those buffers of a placement that `wanted` names.
    fn map(&self, arena: u64, placement: &Placement, wanted: impl Fn(*const Space) -> bool) -> Result<()> {
        let Some(arena) = self.chunks.get(&arena) else { return Ok(()) };
        let wanted = || placement.buffers.iter().filter(|(space, _)| wanted(Arc::as_ptr(space)));
        for (n, (space, numbers)) in wanted().enumerate() {
            let chunks = arena.iter().zip(numbers).flat_map(|(chunks, ranges)| {
                ranges.iter().flat_map(|range| &chunks[range.start as usize..range.end as usize])
            });
            if let Err(error) = space.map(chunks) {
                wanted().take(n).for_each(|(space, _)| space.unmap());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Lets go of the chunks of an arena that no binding needs, and of the arena without bindings.
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
