//! Nodes of an executable that do not run for a while: they keep their place in the order, and nothing else of them
//! happens.
//!
//! A disabled dispatch's packet is a barrier-AND packet without dependencies, with the header fields of the dispatch:
//! barrier bit, acquire and release fence, and the completion signal that a launch fills in. Whatever is ordered by the
//! node is ordered as before. A disabled host step does nothing; its signals fire as before.

#![forbid(unsafe_code)]

use std::sync::Arc;

use hsa::packet::{BarrierAnd, Fences, Packet};

use super::{Exec, State, units::Unit};
use crate::{
    dispatch::Dispatch,
    error::{Error, Result},
    graph::NodeId,
};

impl Exec {
    /// Lets the node that was made from `node` run in later launches, or keeps it from running: it is like an empty
    /// node then. Its parameters stay, and can be changed meanwhile; launches in flight are not affected.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the executable has no such node, or it is no kernel, copy or fill.
    pub fn set_enabled(&self, node: NodeId, enabled: bool) -> Result<()> {
        let flat = self.switchable(node)?;
        self.state().set_enabled(flat, enabled)
    }

    /// Whether the node that was made from `node` runs in later launches.
    ///
    /// # Errors
    /// As [`Exec::set_enabled`].
    pub fn is_enabled(&self, node: NodeId) -> Result<bool> {
        let flat = self.switchable(node)?;
        let state = self.state();
        Ok(!state.is_disabled(state.main[flat as usize]))
    }

    /// The flat index of a node that can be disabled.
    fn switchable(&self, node: NodeId) -> Result<u32> {
        let flat = self.0.flat.find(node).ok_or(Error::InvalidValue("not a node of the executable graph"))?;
        if self.0.fixed[flat as usize].as_ref().is_some_and(|fixed| fixed.kind().can_be_disabled()) {
            Ok(flat)
        } else {
            Err(Error::InvalidValue("only kernel, copy and fill nodes can be disabled"))
        }
    }
}

impl State {
    /// Whether a unit is kept from running.
    pub(super) fn is_disabled(&self, unit: u32) -> bool {
        self.disabled.contains(&unit)
    }

    fn set_enabled(&mut self, flat: u32, enabled: bool) -> Result<()> {
        let main = self.main[flat as usize];
        // Nothing is pinned for a copy that is not done: its host memory may be gone.
        let pin = main.checked_sub(1).filter(|&before| matches!(self.units[before as usize], Unit::Pin(_)));
        if enabled != self.is_disabled(main) {
            return Ok(());
        }
        let (arguments, offset) = self.arguments_of(main);
        let address = arguments.address() + offset as u64;
        if let (Unit::Dispatch(dispatch), Some((lane, at))) =
            (&self.units[main as usize], self.image.places[main as usize])
        {
            // A launch that is publishing holds the state's lock; the image is ours.
            let image = Arc::get_mut(&mut self.image).ok_or(Error::IllegalState("the image is in use"))?;
            let packet = &mut image.lanes[lane as usize].packets[at as usize];
            *packet = packet_in_place_of(packet, dispatch, address, enabled)?;
        }
        for unit in [Some(main), pin].into_iter().flatten() {
            if enabled {
                self.disabled.remove(&unit);
            } else {
                self.disabled.insert(unit);
            }
        }
        Ok(())
    }
}

/// The packet of a dispatch with its arguments at `kernarg`, or of its place alone if it is not enabled, with the
/// header fields of the packet that stands there.
pub(super) fn packet_in_place_of(
    old: &Packet,
    dispatch: &Dispatch,
    kernarg: u64,
    enabled: bool,
) -> Result<Packet> {
    let fences: Fences = old.header().map_err(hsa::Error::from)?.fences;
    if enabled {
        dispatch.packet(fences, kernarg)
    } else {
        Ok(BarrierAnd { fences, ..BarrierAnd::default() }.packet())
    }
}
