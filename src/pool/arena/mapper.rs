//! Making, mapping and unmapping the chunks of arenas: what asks the HSA runtime, and takes its time.
//!
//! The state is locked for moments between what the HSA runtime is asked for. What launches do meanwhile: claim arenas,
//! end claims, and nothing else; a binding without an arena has them wait for the mapper.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

use aqlipse_graph::memory::{layout::Layout, sizes::Sizes};
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
pub(super) type Chunks = HashMap<u64, ArenaChunks>;

/// The chunks of one arena. Its users are the bindings that have it for their arena.
pub(super) struct ArenaChunks {
    layout: Layout,
    /// By number: those of the layout.
    memory: HashMap<u64, hsa::PhysicalMemory>,
}

/// The right to change what is mapped, which one thread has at a time.
pub(super) struct Mapper<'a> {
    pub(super) arenas: &'a Arenas,
    pub(super) device: &'a Device,
    pub(super) memory: &'a hsa::VirtualMemory,
    pub(super) sizes: &'a Sizes,
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
        let (placement, is_idle, mut open) = {
            let mut state = arenas.state();
            if let Attempt::Claimed(latest) = state.try_claim(self.device, number, stream)? {
                return Ok(Some(latest));
            }
            let binding = &state.bindings[&number];
            let (current, is_idle) = (binding.arena, binding.is_idle());
            let open = state.arenas.iter().filter(|a| Some(a.number) != current && a.is_open_to(stream));
            let open: Vec<_> = open.map(|arena| (!arena.is_of(stream), arena.number)).collect();
            (binding.placement.clone(), is_idle, open)
        };
        let mut refused = Error::OutOfMemory { bytes: usize::MAX };
        if is_idle {
            open.sort_by_cached_key(|&(others, arena)| (others, self.lacks(arena, &placement)));
            for target in open.into_iter().map(|(_, arena)| Some(arena)).chain([None]) {
                match self.bind(number, target) {
                    // A launch of another binding may have come first meanwhile; not in an arena of its own.
                    Ok(()) => match arenas.state().try_claim(self.device, number, stream)? {
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
                    state.count(self.device, number);
                    return Ok(Some(state.claim(target)));
                }
                any_claimed = true;
            }
        }
        if any_claimed { Ok(None) } else { Err(refused) }
    }

    /// The arena that lacks least of what a placement needs.
    pub(super) fn nearest(&self, placement: &Placement) -> Option<u64> {
        let arenas: Vec<u64> = self.arenas.state().arenas.iter().map(|arena| arena.number).collect();
        arenas.into_iter().min_by_key(|&arena| self.lacks(arena, placement))
    }

    /// Bytes that an arena lacks of what a placement needs.
    fn lacks(&self, arena: u64, placement: &Placement) -> u64 {
        let Some(arena) = self.chunks.get(&arena) else { return placement.reserved };
        let idle: HashSet<u64> = self.arenas.state().idle().into_iter().collect();
        // No binding has this number.
        let bound = arena.layout.bind(0, &placement.slots, |user| !idle.contains(&user));
        bound.bytes().saturating_sub(arena.layout.bytes())
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
        let changed =
            self.change(target, |layout, is_busy| Some(layout.bind(binding, &placement.slots, is_busy)));
        let mapped = changed.and_then(|()| {
            let counted = self.arenas.state().bindings[&binding].counted;
            self.unbind(binding);
            self.map(target, binding, &placement, |_| true).inspect_err(|_| self.forget(target, binding))?;
            self.arrive(target, binding, counted);
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
        let changed = self
            .change(arena, |layout, is_busy| Some(layout.succeed(old, number, &placement.slots, is_busy)));
        let done = changed.and_then(|()| {
            self.map(arena, number, placement, |space| !mapped.contains(&space))
                .inspect_err(|_| self.forget(arena, number))
        });
        if done.is_ok() {
            let mut state = self.arenas.state();
            let mut binding = Binding::new(placement);
            if let Some(old) = state.bindings.get_mut(&old) {
                old.arena = None;
                (binding.counted, binding.last) = (old.counted, old.last.clone());
            }
            let counted = binding.counted;
            state.bindings.insert(number, binding);
            drop(state);
            self.forget(arena, old);
            self.arrive(arena, number, counted);
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
        for UnboundBinding { number, arena, placement } in &unbound {
            placement.buffers.iter().for_each(|(space, _)| space.unmap());
            self.forget(*arena, *number);
        }
        // Behind all of them: chunks may go that several map.
        unbound.iter().for_each(|unbound| self.settle_down(unbound.arena));
    }

    /// Gives an arena the layout that `choose` makes of its own, if any, and the chunks for it. Bindings that have other
    /// chunks there map them; `choose` is told which must keep theirs. If there is no memory all is as it was, unless what
    /// was given back is not there any more: then bindings are without memory, as behind a trim.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn change(
        &mut self,
        arena: u64,
        choose: impl Fn(&Layout, &dyn Fn(u64) -> bool) -> Option<Layout>,
    ) -> Result<()> {
        let sizes = *self.sizes;
        let fresh = || ArenaChunks { layout: Layout::new(sizes), memory: HashMap::new() };
        let before = self.chunks.entry(arena).or_insert_with(fresh).layout.clone();
        let idle: HashSet<u64> = self.arenas.state().idle().into_iter().collect();
        let Some(next) = choose(&before, &|user| !idle.contains(&user)) else { return Ok(()) };
        let changed: Vec<u64> = before.changed(&next).collect();
        let Some(aside) = self.arenas.state().set_aside(&changed) else {
            // A launch has come first.
            let Some(next) = choose(&before, &|_| true) else { return Ok(()) };
            return self.make(arena, next).inspect_err(|_| drop(self.make(arena, before)));
        };
        aside.iter().flat_map(|(_, placement, _)| &placement.buffers).for_each(|(space, _)| space.unmap());
        let made = self.make(arena, next).inspect_err(|_| {
            if self.make(arena, before).is_err() {
                changed.iter().for_each(|&binding| self.forget(arena, binding));
            }
        });
        for (binding, placement, counted) in aside {
            let is_there = self.chunks[&arena].layout.of(binding).next().is_some();
            if is_there && self.map(arena, binding, &placement, |_| true).is_ok() {
                self.arrive(arena, binding, counted);
            } else {
                self.forget(arena, binding);
            }
        }
        made
    }

    /// Gives an arena a layout, with the chunks for it: those that it has stay.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: some chunks are missing then.
    fn make(&mut self, arena: u64, layout: Layout) -> Result<()> {
        let Some(chunks) = self.chunks.get_mut(&arena) else { return Ok(()) };
        chunks.layout = layout;
        chunks.memory.retain(|number, _| chunks.layout.chunks().contains_key(number));
        for (&number, &bytes) in chunks.layout.chunks() {
            if let Entry::Vacant(missing) = chunks.memory.entry(number) {
                missing.insert(mapping::chunk(self.device, self.memory, bytes)?);
            }
        }
        Ok(())
    }

    /// Maps an arena's chunks to those buffers of a binding that `wanted` names.
    fn map(
        &self,
        arena: u64,
        binding: u64,
        placement: &Placement,
        wanted: impl Fn(*const Space) -> bool,
    ) -> Result<()> {
        let Some(ArenaChunks { layout, memory }) = self.chunks.get(&arena) else { return Ok(()) };
        let wanted = || placement.buffers.iter().filter(|(space, _)| wanted(Arc::as_ptr(space)));
        for (n, (space, slots)) in wanted().enumerate() {
            let chunks = layout.of_buffer(binding, slots, space.bytes());
            let mapped = space.map(&self.arenas.calls, chunks.iter().map(|chunk| &memory[chunk]));
            if let Err(error) = mapped {
                wanted().take(n).for_each(|(space, _)| space.unmap());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Notes that a binding's buffers map what an arena's layout says.
    fn arrive(&self, arena: u64, binding: u64, counted: bool) {
        if let Some(binding) = self.arenas.state().bindings.get_mut(&binding) {
            (binding.arena, binding.counted) = (Some(arena), counted);
        }
    }

    /// Takes a binding out of an arena's layout: its buffers map nothing.
    fn forget(&mut self, arena: u64, binding: u64) {
        if let Some(chunks) = self.chunks.get_mut(&arena) {
            chunks.layout.remove(binding);
        }
    }

    /// Lets go of the chunks of an arena that no binding has, of the arena without bindings, and of what is much more than
    /// they need.
    fn settle_down(&mut self, arena: u64) {
        // If there is no memory the arena stays as large as it is.
        let _ = self.change(arena, |layout, is_busy| layout.smaller(is_busy));
        let Some(chunks) = self.chunks.get_mut(&arena) else { return };
        chunks.memory.retain(|number, _| chunks.layout.chunks().contains_key(number));
        let is_empty = chunks.layout.is_empty();
        if is_empty {
            self.chunks.remove(&arena);
        }
        let mut state = self.arenas.state();
        state.recount(self.device, arena);
        if is_empty {
            state.arenas.retain(|each| each.number != arena);
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

    /// Takes bindings out of their arenas for the time that their buffers are unmapped; each with its placement, and whether
    /// it counts. `None` if a launch of one is in flight or about to be published.
    fn set_aside(&mut self, bindings: &[u64]) -> Option<Vec<(u64, Arc<Placement>, bool)>> {
        let idle = self.idle();
        if !bindings.iter().all(|binding| idle.contains(binding)) {
            return None;
        }
        let aside = bindings.iter().filter_map(|number| {
            let binding = self.bindings.get_mut(number)?;
            binding.arena = None;
            Some((*number, binding.placement.clone(), std::mem::take(&mut binding.counted)))
        });
        Some(aside.collect())
    }

    fn is_claimed(&self, arena: u64) -> bool {
        self.arena(arena).is_some_and(|arena| arena.claimed)
    }
}
