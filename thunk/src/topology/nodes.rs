//! Which node is whose.

use emulator::Agent;

/// The first of the host's nodes.
pub const HOST_NODE: u32 = 0;

/// Nodes by number: the sockets of the host come first, then the devices.
#[derive(Clone, Copy, Debug)]
pub struct Nodes {
    sockets: u32,
    devices: u32,
}

impl Nodes {
    /// So many of each.
    pub fn new(sockets: u32, devices: u32) -> Self {
        Self { sockets, devices }
    }

    /// How many nodes there are.
    pub fn count(self) -> u32 {
        self.sockets + self.devices
    }

    /// How many of them are devices.
    pub fn devices(self) -> u32 {
        self.devices
    }

    /// The node of device `device`.
    pub fn of(self, device: u32) -> u32 {
        self.sockets + device
    }

    /// The device of a node, if it is not the host's.
    pub fn device(self, node: u32) -> Option<u32> {
        node.checked_sub(self.sockets)
    }

    /// The agent of a node, whether or not it exists.
    pub fn agent(self, node: u32) -> Agent {
        self.device(node).map_or(Agent::Host(node), Agent::Gpu)
    }
}
