//! What keeps the order of each edge in a plan: a barrier bit, a signal, or what orders other edges.

#![forbid(unsafe_code)]

use std::collections::HashMap;

use aqlipse_graph::image::{Image, Source};
use hsa::packet::{Kind, SignalPlace};
use serde::Serialize;

/// What keeps the order of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kept {
    /// The barrier bit of the second packet, which no packet between the two has.
    Bit,
    /// The order of the queue, by a barrier bit that is there for an earlier packet; of a copy engine; or of the host's worker.
    Lane,
    /// A signal that the first sets and the second waits for.
    Signal,
    /// What orders other edges, or what the packets of its nodes are besides.
    Others,
}

/// Where a unit stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Packet { lane: u32, packet: u32 },
    Engine { lane: usize },
    Host,
}

/// The signals of one launch, by unit.
pub(super) struct Order<'i> {
    image: &'i Image,
    /// The places of units that are no packets.
    others: HashMap<u32, Place>,
    /// What the unit sets.
    sets: HashMap<u32, u32>,
    /// What the unit waits for.
    waits: HashMap<u32, Vec<u32>>,
    /// By lane, how many packets up to each have the barrier bit.
    bits: Vec<Vec<u32>>,
}

impl<'i> Order<'i> {
    pub(super) fn of(image: &'i Image) -> Self {
        let bits = image.lanes.iter().map(|lane| {
            let count = |bits: &mut u32, packet: &hsa::packet::Packet| {
                *bits += u32::from(packet.barrier());
                Some(*bits)
            };
            lane.packets.iter().scan(0, count).collect()
        });
        let bits = bits.collect();
        let mut order =
            Self { image, bits, others: HashMap::new(), sets: HashMap::new(), waits: HashMap::new() };
        for (unit, place) in (0..).zip(&image.places) {
            if let Some((lane, packet)) = *place {
                order.packet(unit, lane, packet);
            }
        }
        for (lane, steps) in image.lanes.iter().map(|lane| &lane.engine).enumerate() {
            for step in steps {
                order.add(step.unit, Place::Engine { lane }, Some(step.done), &step.after);
            }
        }
        for step in &image.host {
            order.add(step.unit, Place::Host, step.done, &step.after);
        }
        order
    }

    fn add(&mut self, unit: u32, place: Place, sets: Option<u32>, waits: &[u32]) {
        self.others.insert(unit, place);
        self.sets.extend(sets.map(|signal| (unit, signal)));
        self.waits.insert(unit, waits.to_vec());
    }

    /// Notes what a packet sets, and what the barrier-AND packets before it wait for.
    fn packet(&mut self, unit: u32, lane: u32, packet: u32) {
        let lane = &self.image.lanes[lane as usize];
        for patch in lane.patches_of(packet) {
            if let (SignalPlace::Completion, Source::Launch(signal)) = (patch.field, patch.source) {
                self.sets.insert(unit, signal);
            }
        }
        let before = lane.packets[..packet as usize].iter().rev();
        let waiting = before.take_while(|packet| packet.kind() == Some(Kind::BarrierAnd)).count();
        let waits = lane.patches_among(packet as usize - waiting..packet as usize).iter();
        let waits = waits.filter_map(|patch| match (patch.field, patch.source) {
            (SignalPlace::Dependency(_), Source::Launch(signal)) => Some(signal),
            _ => None,
        });
        self.waits.insert(unit, waits.collect());
    }

    fn place(&self, unit: u32) -> Option<Place> {
        self.others.get(&unit).copied().or_else(|| {
            let (lane, packet) = self.image.places[unit as usize]?;
            Some(Place::Packet { lane, packet })
        })
    }

    /// What keeps the order of two units.
    pub(super) fn keeps(&self, first: u32, second: u32) -> Kept {
        let waits_for = |signal| self.waits.get(&second).is_some_and(|waits| waits.contains(signal));
        if self.sets.get(&first).is_some_and(waits_for) {
            return Kept::Signal;
        }
        match (self.place(first), self.place(second)) {
            (
                Some(Place::Packet { lane, packet: first }),
                Some(Place::Packet { lane: other, packet: second }),
            ) if lane == other && first < second => {
                let bits = |packet: u32| self.bits[lane as usize][packet as usize];
                match bits(second) - bits(first) {
                    0 => Kept::Others,
                    1 if self.image.lanes[lane as usize].packets[second as usize].barrier() => Kept::Bit,
                    _ => Kept::Lane,
                }
            }
            (Some(one @ (Place::Engine { .. } | Place::Host)), Some(other)) if one == other => Kept::Lane,
            _ => Kept::Others,
        }
    }
}
