//! The nodes of packets, for reports of queues that do not move.

#![forbid(unsafe_code)]

use super::Inner;
use crate::stream::watchdog::NamesNodes;

impl NamesNodes for Inner {
    fn node_at(&self, arguments: u64) -> Option<String> {
        // Whoever has the state may wait for what is reported.
        let state = self.state.try_lock()?;
        let image = &state.image;
        let unit = image.places.iter().position(|place| {
            let packet = place.map(|(lane, packet)| &image.lanes[lane as usize].packets[packet as usize]);
            packet.is_some_and(|packet| packet.kernarg_address() == Some(arguments))
        })?;
        let flat = state.main.iter().position(|&main| main as usize == unit)?;
        let node = self.flat.nodes()[flat].origin.index();
        Some(format!("node {node} of executable {}", self.account.number()))
    }
}
