//! What a launch is about to dispatch, for who checks what nodes touch.

#![forbid(unsafe_code)]

use std::{collections::HashMap, sync::Arc};

use super::{Exec, State, unit::Unit};
use crate::{
    check::{self, Launch},
    graph::NodeKind,
};

/// A launch that was announced.
pub(super) struct Announced {
    launch: Arc<Launch>,
    /// The addresses of the arguments of its dispatches, and their nodes.
    dispatches: Vec<(u64, u32)>,
}

impl Announced {
    /// Takes back what was not published.
    pub(super) fn cancel(self) {
        check::cancel(&self.launch, &self.dispatches);
    }
}

impl Exec {
    /// Announces a launch that is about to be published, if launches are checked.
    pub(super) fn announce(&self, state: &State) -> Option<Announced> {
        let unordered = self.0.unordered.clone()?;
        let mut names = HashMap::new();
        let mut dispatches = Vec::new();
        for (flat, &main) in (0u32..).zip(&state.main) {
            let place = state.image.places.get(main as usize).copied().flatten();
            let packet =
                place.map(|(lane, packet)| &state.image.lanes[lane as usize].packets[packet as usize]);
            let arguments = packet.and_then(|packet| packet.kernarg_address());
            // A kernel without arguments has no address of its own.
            let unit = state.units.get(main as usize).filter(|unit| unit.kernarg_bytes() > 0);
            let (Some(arguments), Some(Unit::Dispatch(dispatch))) = (arguments, unit) else { continue };
            let kind = self.0.shape.fixed(&self.0.flat, flat).map(|fixed| fixed.kind());
            let what = match kind {
                Some(NodeKind::Kernel) => {
                    format!("kernel {}", aqlipse_graph::dot::readable(dispatch.code.name()))
                }
                Some(NodeKind::Memset) => "memset".into(),
                _ => "memcpy".into(),
            };
            let node = self.0.flat.nodes()[flat as usize].origin.to_string();
            names.insert(flat, (node, what));
            dispatches.push((arguments, flat));
        }
        let launch = Launch::new(self.0.account.number(), unordered, names);
        let is_idle = state.last.as_ref().is_none_or(|(fence, _)| fence.is_over());
        check::expect(&launch, &dispatches, is_idle);
        Some(Announced { launch, dispatches })
    }
}
