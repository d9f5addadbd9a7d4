//! What a resident graph cannot have.

#![forbid(unsafe_code)]

use super::RESIDENT_ON_ONE_DEVICE;
use crate::{
    error::Error,
    exec::{
        failure::Failure,
        unit::{Unit, pin_of},
        units::Units,
    },
    graph::{FlatGraph, Node},
    template::Template,
};

/// Refuses nodes that need the host, or that could hold up the queues which all resident graphs share.
pub(in crate::exec) fn check_nodes(
    template: &Template,
    flat: &FlatGraph,
    work: &[Option<&Node>],
) -> Result<(), Failure> {
    if template.has_memory_nodes() {
        return Err(Error::NotSupported("memory nodes in a resident graph").into());
    }
    let refused = |node: &Node| match node {
        Node::Kernel(kernel) if kernel.attributes.is_cooperative() => {
            Some("a cooperative kernel in a resident graph")
        }
        Node::Kernel(_) | Node::Memcpy(_) | Node::Memset(_) | Node::Empty | Node::Child(_) => None,
        _ => Some("a node in a resident graph that is no kernel, copy, fill or child graph"),
    };
    let found = (0u32..).zip(work).find_map(|(at, node)| Some((at, refused((*node)?)?)));
    match found {
        Some((at, why)) => Err(Failure::of_node(flat.path(at).first().copied(), Error::NotSupported(why))),
        None => Ok(()),
    }
}

/// Refuses what comes down to work of the host or of other devices.
pub(in crate::exec) fn check_units(flat: &FlatGraph, units: &Units) -> Result<(), Failure> {
    if units.devices.len() > 1 {
        return Err(Error::NotSupported(RESIDENT_ON_ONE_DEVICE).into());
    }
    for (at, &main) in (0u32..).zip(&units.main) {
        let why = match &units.units[main as usize] {
            Unit::Dispatch(_) if pin_of(&units.units, main).is_some() => {
                "a copy of pageable memory in a resident graph"
            }
            Unit::Dispatch(_) | Unit::Join => continue,
            Unit::Relay(_) => "a copy or fill of another device's memory in a resident graph",
            _ => "a copy by the host in a resident graph",
        };
        let node = flat.path(at).first().copied();
        return Err(Failure::of_node(node, Error::NotSupported(why)));
    }
    if units.fifos.bytes() > 0 {
        return Err(
            Error::NotSupported("a kernel in a resident graph that prints without calling the host").into()
        );
    }
    Ok(())
}
