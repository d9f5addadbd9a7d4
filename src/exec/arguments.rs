//! Other arguments for kernels that stay what they are: what most updates give, one node or a whole graph at a time.
//!
//! The packets stay, and so does everything that is derived from them. Bytes are written where the kernels find them: in
//! place if no launch is in flight, else in a copy that later launches use. More than that is left to the functions that
//! can do everything ([`Exec::set_node`], [`Exec::update`]).

#![forbid(unsafe_code)]

use std::{mem, sync::Arc};

use super::{Exec, Inner, State, unit::Unit};
use crate::{
    device::fence::Keep,
    error::Result,
    graph::{Graph, Kernel, Node, NodeId},
    module::Dispatch,
    module::{Function, KernelCode},
    template::Template,
};

/// A kernel launch without its arguments, as a caller describes it.
#[derive(Clone, Copy, Debug)]
pub struct SameLaunch {
    /// The word by which the kernel is known; see [`Module::kernel_with_token`](crate::Module::kernel_with_token).
    pub token: usize,
    /// Ordinal of the device that it is for.
    pub device: usize,
    /// Size of the grid, in blocks.
    pub grid: [u32; 3],
    /// Size of a block, in threads.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

impl Dispatch {
    /// Whether a launch of its kernel has this shape.
    fn has_shape(&self, grid: [u32; 3], block: [u32; 3], lacking: [u32; 3], shared_bytes: u32) -> bool {
        let shared = self.code.group_bytes().checked_add(shared_bytes) == Some(self.group_bytes);
        let sizes = (0..3).all(|i| {
            let items = u64::from(grid[i]) * u64::from(block[i]);
            block[i] == u32::from(self.workgroup[i])
                && items == u64::from(self.grid[i]) + u64::from(lacking[i])
        });
        shared && sizes
    }

    /// Whether it is what a kernel node asks for, but for the arguments.
    fn differs_in_arguments(&self, kernel: &Kernel<Function>, code: &KernelCode) -> bool {
        let attributes = &kernel.attributes;
        self.code.is(code)
            && !attributes.is_cooperative()
            && kernel.kernargs.len() >= code.argument_bytes()
            && self.has_shape(kernel.grid, kernel.block, attributes.lacking, kernel.shared_bytes)
    }
}

impl Exec {
    /// Gives a kernel node other arguments: `write` gets their bytes, with the old ones in them, and changes either all
    /// or none. Says whether it did: not if more than the arguments would change, if a launch is in flight, or if the
    /// template has been edited since; [`Exec::set_node`] can do all that.
    ///
    /// # Errors
    /// That of `write`.
    pub fn set_arguments<E>(
        &self,
        node: NodeId,
        launch: &SameLaunch,
        write: impl FnOnce(&KernelCode, &mut [u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let SameLaunch { token, device, grid, block, shared_bytes } = *launch;
        if token == 0 || !self.0.edition.is_current() {
            return Ok(false);
        }
        let Some(flat) = self.0.flat.find(node) else { return Ok(false) };
        let mut state = self.state();
        let state = &mut *state;
        let main = state.main[flat as usize];
        let elsewhere = usize::from(self.0.placements[main as usize].device) != device;
        if elsewhere || !state.moved.is_empty() || !state.alive.is_empty() || state.in_flight() {
            return Ok(false);
        }
        let Unit::Dispatch(dispatch) = &mut state.units[main as usize] else { return Ok(false) };
        if dispatch.token != token || !dispatch.has_shape(grid, block, [0; 3], shared_bytes) {
            return Ok(false);
        }
        let arguments = &mut dispatch.kernargs[..dispatch.code.argument_bytes()];
        write(&dispatch.code, arguments)?;
        let place = state.offsets[main as usize];
        state.arena.write(place, arguments);
        state.wrote_arena(place);
        state.parameters.set_arguments(flat);
        Ok(true)
    }

    /// As [`Exec::update`], if nothing but arguments of kernels differs, which it says.
    pub(super) fn take_arguments(&self, template: &Template) -> bool {
        let graph = template.graph();
        if !self.0.takes_arguments_of(graph) || !template.alive().is_empty() {
            return false;
        }
        // What the executable had may be the caller's: it is dropped behind the lock.
        let _had;
        let mut state = self.state();
        let state = &mut *state;
        let plain = state.moved.is_empty() && state.disabled.is_empty() && state.alive.is_empty();
        if !plain || !state.taken_over.is_empty() || !state.held.is_empty() {
            return false;
        }
        if !(0u32..).zip(graph.nodes()).all(|(flat, (_, node))| self.same_but_arguments(state, flat, node)) {
            return false;
        }
        if state.in_flight() {
            let Ok(arena) = state.arena.another() else { return false };
            let had = mem::replace(&mut state.arena, Arc::new(arena));
            let launched = mem::replace(&mut state.arena_since, state.launches) < state.launches;
            if launched {
                state.keep_for_launch(Keep::Other(had));
                _had = None;
            } else {
                _had = Some(had);
            }
            state.unpublished.clear();
            state.give_arguments(graph, true);
        } else {
            state.give_arguments(graph, false);
        }
        // It has one block, as there is one device.
        state.wrote_arena(0);
        state.parameters.take_over_all(template.shared_graph());
        true
    }

    /// Whether what a flat node does differs from `node` in nothing but arguments.
    fn same_but_arguments(&self, state: &State, flat: u32, node: &Node) -> bool {
        let (Node::Kernel(kernel), Unit::Dispatch(dispatch)) =
            (node, &state.units[state.main[flat as usize] as usize])
        else {
            return false;
        };
        let code = kernel.function.code(&self.0.device);
        code.is_ok_and(|code| dispatch.differs_in_arguments(kernel, code))
    }
}

impl Inner {
    /// Whether the graph is of the executable's shape, and neither has anything but nodes, each a flat one, on the one
    /// device that there is.
    fn takes_arguments_of(&self, graph: &Graph) -> bool {
        let one_device = self.devices.len() == 1 && graph.is_at_home(self.device.ordinal() as u32);
        one_device
            && !self.options.node_priority
            && self.bodies.is_empty()
            && graph.conditions().is_empty()
            && graph.references().resources().len() == 0
            && self.shape.is_laid_out_like(graph.topology())
            && self.flat.is_laid_out_like(graph.topology())
    }
}

impl State {
    /// Writes the arguments of all nodes, which are kernels in the order of the flat nodes; into an `empty` arena
    /// everything that belongs to them.
    fn give_arguments(&mut self, graph: &Graph, empty: bool) {
        for (flat, (_, node)) in graph.nodes().enumerate() {
            let main = self.main[flat];
            let (Node::Kernel(kernel), Unit::Dispatch(dispatch)) = (node, &mut self.units[main as usize])
            else {
                continue;
            };
            let bytes = dispatch.code.argument_bytes();
            dispatch.kernargs[..bytes].copy_from_slice(&kernel.kernargs[..bytes]);
            let offset = self.offsets[main as usize];
            if !empty {
                self.arena.write(offset, &dispatch.kernargs[..bytes]);
                continue;
            }
            self.arena.write(offset, &dispatch.kernargs);
            if let Some((lane, packet)) = self.image.places[main as usize] {
                let mut new = self.image.lanes[lane as usize].packets[packet as usize];
                let set = new.set_kernarg_address(self.arena.address(offset));
                debug_assert!(set.is_ok(), "no node is disabled: its packet is a dispatch");
                self.replace_packet(lane, packet, new);
            }
        }
    }
}
