//! Which device does a node's work: a kernel's own; of a copy or a fill, the one that its operands ask for.

#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::{
    device::{Device, System},
    error::Result,
    graph::Node,
    memory::{self, Region, peer},
};

/// No device: an operand in memory of the host, or none at all.
const HOST: u16 = u16::MAX;

/// Where a unit works, by ordinals of devices. It stays so for the life of an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DevicePlacement {
    pub(super) device: u16,
    /// The devices in whose memory the destination and the source lie.
    operands: [u16; 2],
}

impl DevicePlacement {
    /// The placement of what has no operands that matter.
    pub(super) fn on(device: &Device) -> Self {
        Self { device: ordinal(device.ordinal()), operands: [HOST; 2] }
    }

    /// Where the work of a node is done that was placed on `placed`.
    ///
    /// Memory decides for copies and fills. What lies on one device is that device's to copy: another would drag each
    /// byte over the link and back, if it may access it at all. Between two devices it is the one on which the node was
    /// placed, else the source's (writes cross a link without waiting for an answer), else the destination's, whichever
    /// may access both ends. If none may, the host does it, and the node stays where it was placed.
    ///
    /// # Errors
    /// [`Error::NotInitialized`](crate::Error::NotInitialized).
    pub(super) fn of(placed: &Device, node: &Node) -> Result<Self> {
        let regions = match node {
            Node::Memcpy(copy) => {
                let end =
                    |span: Option<(u64, u64)>| span.map_or(Ok(None), |(address, _)| memory::find(address));
                [end(copy.destination_span())?, end(copy.source_span())?]
            }
            Node::Memset(set) => [memory::find(set.dst)?, None],
            _ => return Ok(Self::on(placed)),
        };
        let owner = |region: &Option<Arc<Region>>| {
            region
                .as_ref()
                .filter(|region| region.origin.is_device())
                .map_or(HOST, |region| ordinal(region.device))
        };
        let operands = [owner(&regions[0]), owner(&regions[1])];
        let placed_on = ordinal(placed.ordinal());
        let candidates = match operands {
            [HOST, HOST] => [placed_on; 3],
            [HOST, owner] | [owner, HOST] => [owner, placed_on, placed_on],
            [dst, src] if dst == src => [dst, placed_on, placed_on],
            [dst, src] if placed_on == dst || placed_on == src => [placed_on, src, dst],
            [dst, src] => [src, dst, placed_on],
        };
        // Nearly always the node lies where its memory does.
        if operands.iter().all(|operand| [HOST, placed_on].contains(operand)) {
            return Ok(Self { device: placed_on, operands });
        }
        let devices = System::get()?.devices();
        let may = |candidate: &u16| {
            devices
                .get(usize::from(*candidate))
                .is_some_and(|device| regions.iter().flatten().all(|region| peer::reaches(device, region)))
        };
        Ok(Self { device: candidates.into_iter().find(may).unwrap_or(placed_on), operands })
    }

    /// Whether a node that works in `new` may take the place of one that works here: on the same device, and with no
    /// operand moved from one device's memory to another's.
    pub(super) fn admits(self, new: Self) -> bool {
        let stays = |(old, new): (u16, u16)| old == new || old == HOST || new == HOST;
        self.device == new.device && self.operands.into_iter().zip(new.operands).all(stays)
    }
}

fn ordinal(device: usize) -> u16 {
    // CAST: no machine has 2^16 devices.
    device as u16
}
