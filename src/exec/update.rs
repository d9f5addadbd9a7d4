//! Giving a whole executable the parameters of another template of the same shape: all of them, or none.
//!
//! Everything is linear in the number of nodes. What can be refused is found out first, beside the executable. Then taking
//! it over cannot fail.

#![forbid(unsafe_code)]

use std::{collections::HashMap, mem, sync::Arc};

use super::{
    Exec,
    arena::Arena,
    conditional::Change,
    node_work,
    shape::{Pair, Reason, Refusal, moved_to},
    unit::{self, Unit, packet_in_place_of},
    units,
};
use crate::{
    device::{Device, fence::Keep},
    error::Error,
    graph::{Node, NodeId},
    template::Template,
    user_object::due::{Call, release_behind},
};

/// Keeps the refusal for a caller that asks why the latest call failed.
fn explain(refusal: &Refusal) {
    crate::error::explain(refusal);
}

impl Exec {
    /// Gives every node the parameters of its counterpart in `template`, which has the same nodes and edges in the
    /// same order. Launches in flight keep theirs.
    ///
    /// # Errors
    /// A [`Refusal`], after which the executable is as it was.
    pub fn update(&self, template: &Template) -> Result<(), Refusal> {
        if self.take_arguments(template) {
            return Ok(());
        }
        self.take_over(0, template).inspect_err(explain)
    }

    /// Gives every node of the graph nested in `node` the parameters of its counterpart in `template`.
    ///
    /// # Errors
    /// As [`Exec::update`]; [`Error::InvalidValue`] if the executable has no such node.
    pub fn update_child(&self, node: NodeId, template: &Template) -> Result<(), Refusal> {
        let unknown = Error::InvalidValue("not a child graph of the executable graph");
        let place = self.0.shape.child(node).ok_or(Refusal::new(unknown))?;
        self.take_over(place, template).inspect_err(explain)
    }

    /// Whether the executable was made from a graph with this node, at any depth.
    pub fn has_node(&self, node: NodeId) -> bool {
        self.0.shape.has(node)
    }

    fn take_over(&self, place: usize, template: &Template) -> Result<(), Refusal> {
        let failed = |error: Error| Refusal::new(error);
        template.graph().check_conditions().map_err(|error| failed(error.into()))?;
        let (mut changes, mut copies, mut given) = (Vec::new(), Vec::new(), Vec::new());
        let mut in_bodies: HashMap<u32, Vec<Change<'_>>> = HashMap::new();
        let paired = self.0.shape.pair(place, template.graph(), self.0.options.node_priority)?;
        for Pair { mine, named, node, placed } in paired.nodes {
            if matches!(node, Node::Empty | Node::MemAlloc(_) | Node::MemFree(_)) {
                continue;
            }
            let (flat, inside) = match (self.0.flat.find(mine), self.0.bodies.get(&mine.graph())) {
                (Some(flat), _) => (flat, None),
                (None, Some(&around)) => (around, Some(mine)),
                (None, None) => continue,
            };
            if inside.is_some() || matches!(node, Node::Conditional(_)) {
                let change = Change { node: inside, named, parameters: node, placed };
                in_bodies.entry(flat).or_default().push(change);
            } else {
                let placement = self.placement(flat);
                let (pin, mut unit) = moved_to(placement, named, node, placed)?;
                unit.print_to(self.0.fifos.of(placement)).map_err(|error| Refusal::at(named, error))?;
                let copy = Device::get(usize::from(placement.device))
                    .and_then(|device| node_work::engine_copy(&device, node))
                    .map_err(|error| Refusal::at(named, error))?;
                copies.push((flat, copy));
                changes.push((flat, named, pin, unit));
            }
            given.push(mine);
        }

        // What the executable had may be the caller's: it is dropped behind the lock.
        let _had;
        // What is not held any more goes behind the state.
        let _call = Call::begin();
        let mut state = self.state();
        let state = &mut *state;
        let mut units = state.units.clone();
        let changed: Vec<u32> = changes.iter().map(|(flat, ..)| *flat).collect();
        for (flat, named, pin, unit) in changes {
            let main = state.main[flat as usize] as usize;
            unit::replace(&mut units, main, pin, unit)
                .map_err(|detail| Refusal::at(named, Reason::Parameters).because(detail))?;
        }
        let mut conditionals = state.conditionals.clone();
        for (flat, changes) in in_bodies {
            let unit = &mut units[state.main[flat as usize] as usize];
            if let Unit::Conditional { number, .. } = *unit {
                *unit = conditionals.change(number, &changes)?;
            }
        }
        // Launches begin with these.
        for (unit, reset) in units.iter_mut().zip(conditionals.resets().map_err(failed)?) {
            *unit = reset;
        }
        let numbers = units::numbers(&self.0.devices, &self.0.placements);
        let (bytes, on_host) = (unit::kernarg_bytes(&units), self.0.options.arguments_on_host);
        let (arena, offsets) =
            Arena::place(&self.0.devices, &numbers, &units, bytes, on_host).map_err(failed)?;
        let in_flight = state.in_flight();
        // A launch that is publishing holds the state's lock; the image is ours.
        let image = &state.image;
        let mut packets = Vec::new();
        for (number, ((unit, place), offset)) in (0u32..).zip(units.iter().zip(&image.places).zip(&offsets)) {
            if let &Some((lane, packet)) = place {
                let old = &image.lanes[lane as usize].packets[packet as usize];
                let address = arena.address(*offset);
                let enabled = !state.disabled.contains(&number);
                let new = packet_in_place_of(old, enabled, |fences| unit.packet(fences, address));
                packets.push((lane, packet, new.map_err(failed)?));
            }
        }

        // From here on nothing fails.
        for (lane, packet, new) in packets {
            state.replace_packet(lane, packet, new);
        }
        for (flat, copy) in copies {
            state.replace_copy(state.main[flat as usize], copy);
        }
        let alive = match place {
            0 => mem::take(&mut state.taken_over).into_values().flatten().collect(),
            _ => state.taken_over.remove(&place).unwrap_or_default(),
        };
        let had = (
            mem::replace(&mut state.units, units),
            mem::replace(&mut state.conditionals, conditionals),
            mem::replace(&mut state.arena, Arc::new(arena)),
            mem::take(&mut state.moved).into_values().map(|moved| moved.block).collect::<Vec<_>>(),
            alive,
        );
        state.offsets = offsets;
        // The arena that is there now has been published.
        state.unpublished.clear();
        let held = state.held.replace(paired.graphs);
        state.parameters.take_over(place, template.shared_graph(), &given);
        changed.into_iter().for_each(|flat| state.parameters.forget_arguments(flat));
        state.taken_over.insert(place, template.alive().to_vec());
        // Only what a launch has seen must be kept: any number of updates between two launches leave nothing behind.
        let launched = mem::replace(&mut state.arena_since, state.launches) < state.launches;
        if in_flight && launched {
            state.keep_for_launch(Keep::Other(Arc::new(had)));
            _had = None;
        } else {
            _had = Some(had);
        }
        // A user object that was retained by the executable before it was launched may be needed by that launch.
        release_behind(state.last.as_ref().map(|(fence, _)| fence), held);
        Ok(())
    }
}
