//! Nodes of an executable that do not run for a while: they keep their place in the order, and nothing else of them
//! happens.
//!
//! A disabled dispatch's packet is a barrier-AND packet without dependencies, with the header fields of the dispatch:
//! barrier bit, acquire and release fence, and the completion signal that a launch fills in. Whatever is ordered by the
//! node is ordered as before. A disabled host step does nothing; its signals fire as before.

#![forbid(unsafe_code)]

use super::{
    Exec, State,
    shape::NOT_SWITCHABLE,
    unit::{Unit, packet_in_place_of, pin_of},
};
use crate::{error::Result, graph::NodeId};

impl Exec {
    /// Lets the node that was made from `node` run in later launches, or keeps it from running: it is like an empty
    /// node then. Its parameters stay, and can be changed meanwhile; launches in flight are not affected.
    ///
    /// # Errors
    /// [`Error::InvalidValue`](crate::Error::InvalidValue) if the executable has no such node, or it is no kernel,
    /// copy or fill.
    pub fn set_enabled(&self, node: NodeId, enabled: bool) -> Result<()> {
        if let Some(flat) = self.switchable(node)? {
            return self.state().set_enabled(flat, enabled);
        }
        self.enable_in_body(node, enabled)
    }

    /// Whether the node that was made from `node` runs in later launches.
    ///
    /// # Errors
    /// As [`Exec::set_enabled`].
    pub fn is_enabled(&self, node: NodeId) -> Result<bool> {
        match self.switchable(node)? {
            Some(flat) => {
                let state = self.state();
                Ok(!state.is_disabled(state.main[flat as usize]))
            }
            None => self.is_enabled_in_body(node),
        }
    }

    /// The flat index of a node that can be disabled; nothing for one that may lie in a body of a conditional node.
    fn switchable(&self, node: NodeId) -> Result<Option<u32>> {
        let Some(flat) = self.0.flat.find(node) else { return Ok(None) };
        let fixed = self.0.shape.fixed(&self.0.flat, flat);
        fixed.map_or(Err(NOT_SWITCHABLE), |fixed| fixed.check_switchable())?;
        Ok(Some(flat))
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
        let pin = pin_of(&self.units, main);
        if enabled != self.is_disabled(main) {
            return Ok(());
        }
        let (arguments, offset) = self.arguments_of(main);
        let address = arguments.address() + offset as u64;
        if let (Unit::Dispatch(dispatch), Some((lane, at))) =
            (&self.units[main as usize], self.image.places[main as usize])
        {
            // A launch that is publishing holds the state's lock; the image is ours.
            let old = &self.image.lanes[lane as usize].packets[at as usize];
            let new = packet_in_place_of(old, enabled, |fences| dispatch.packet(fences, address))?;
            self.replace_packet(lane, at, new);
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
