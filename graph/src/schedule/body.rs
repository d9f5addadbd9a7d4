//! The order of a conditional node's body: one lane, level by level, with a barrier bit where a level begins.
//!
//! A body is packets on one queue, calls on the host between them, and conditional nodes. Nothing else of a plan is
//! needed: no signals, for a call on the host and a nested node come behind everything before them.

use std::collections::HashMap;

use hsa::packet::{Fences, Scope};

use crate::template::Csr;

use super::{Class, levels};

/// A packet of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketStep {
    /// The unit that the packet runs.
    pub unit: u32,
    /// When it starts and what it makes visible.
    pub fences: Fences,
}

/// What a body does next. When a step begins, what it depends on is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// These packets of the order.
    Packets {
        /// The first.
        start: u32,
        /// The one behind the last.
        end: u32,
    },
    /// The body that a conditional node chooses.
    Conditional {
        /// The number of the conditional node.
        site: u32,
        /// Whether it is behind everything before.
        barrier: bool,
    },
    /// A unit that is no packet, behind everything before.
    Host {
        /// The unit.
        unit: u32,
    },
}

/// Where a unit stands in its level: what waits for everything before comes last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Packet,
    Conditional,
    Host,
}

/// Orders the units of a body, which are numbered topologically; `sites` are the numbers of conditional nodes, by unit.
/// Packets go to the end of `packets`. Numbers of units there and in steps begin with `base`.
pub fn order(
    preds: &Csr,
    classes: &[Class],
    sites: &HashMap<u32, u32>,
    base: u32,
    packets: &mut Vec<PacketStep>,
) -> Vec<Step> {
    let place = |unit: u32| match classes[unit as usize] {
        _ if sites.contains_key(&unit) => Some(Place::Conditional),
        Class::Join => None,
        // The bodies' copies are kernels.
        Class::Packet | Class::Engine(_) => Some(Place::Packet),
        Class::Host => Some(Place::Host),
    };
    let ranks = levels::ranks(preds, |unit| place(unit).is_none());
    let placed = (0u32..).zip(ranks).filter_map(|(unit, (_, level))| Some((level, place(unit)?, unit)));
    let mut placed: Vec<_> = placed.collect();
    placed.sort_unstable();

    let mut steps = Vec::new();
    // Packets of an earlier step or level may still run.
    let mut pending = false;
    let mut last_level = 0;
    for (level, place, number) in placed {
        let begins = std::mem::replace(&mut last_level, level) != level;
        let barrier = begins && pending;
        match place {
            Place::Packet => {
                let acquire = match (barrier, pending) {
                    (true, _) => Scope::Agent,
                    // The first behind the host, or behind a launch's earlier work.
                    (false, false) => Scope::System,
                    (false, true) => Scope::None,
                };
                // CAST: a body has fewer than 2^32 units.
                let at = packets.len() as u32;
                let fences = Fences { barrier, acquire, release: Scope::Agent };
                packets.push(PacketStep { unit: base + number, fences });
                match steps.last_mut() {
                    Some(Step::Packets { end, .. }) => *end = at + 1,
                    _ => steps.push(Step::Packets { start: at, end: at + 1 }),
                }
                pending = true;
            }
            Place::Conditional => {
                steps.push(Step::Conditional { site: sites[&number], barrier });
                pending = false;
            }
            Place::Host => {
                steps.push(Step::Host { unit: base + number });
                pending = false;
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum What {
        Packet,
        Host,
        Join,
        Conditional,
    }

    /// The classes of units that are what `kinds` say, and the conditional nodes among them.
    fn units(kinds: &[What]) -> (Vec<Class>, HashMap<u32, u32>) {
        let class = |what: &What| match what {
            What::Packet => Class::Packet,
            What::Host => Class::Host,
            What::Join | What::Conditional => Class::Join,
        };
        let sites = (0u32..).zip(kinds).filter(|(_, what)| **what == What::Conditional).map(|(n, _)| (n, n));
        (kinds.iter().map(class).collect(), sites.collect())
    }

    /// Which units are known to be complete when each begins, by what packets and steps promise.
    fn known(steps: &[Step], order: &[PacketStep], count: usize) -> Vec<Option<Vec<u32>>> {
        let mut known = vec![None; count];
        let (mut complete, mut running): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for step in steps {
            match *step {
                Step::Packets { start, end } => {
                    for packet in &order[start as usize..end as usize] {
                        if packet.fences.barrier {
                            complete.append(&mut running);
                        }
                        known[packet.unit as usize] = Some(complete.clone());
                        running.push(packet.unit);
                    }
                }
                Step::Conditional { site, barrier } => {
                    if barrier {
                        complete.append(&mut running);
                    }
                    known[site as usize] = Some(complete.clone());
                    complete.append(&mut running);
                    complete.push(site);
                }
                Step::Host { unit } => {
                    complete.append(&mut running);
                    known[unit as usize] = Some(complete.clone());
                    complete.push(unit);
                }
            }
        }
        known
    }

    fn kinds() -> impl Strategy<Value = Vec<(What, Vec<prop::sample::Index>)>> {
        let what = prop_oneof![
            4 => Just(What::Packet), 1 => Just(What::Host), 1 => Just(What::Join), 1 => Just(What::Conditional)
        ];
        prop::collection::vec((what, prop::collection::vec(any::<prop::sample::Index>(), 0..4)), 0..40)
    }

    proptest! {
        #[test]
        fn every_unit_begins_behind_what_it_depends_on(graph in kinds()) {
            let kinds: Vec<What> = graph.iter().map(|(what, _)| *what).collect();
            let mut preds = Csr::default();
            for (n, (_, picks)) in graph.iter().enumerate() {
                let mut row: Vec<u32> = picks.iter().filter(|_| n > 0).map(|p| p.index(n) as u32).collect();
                row.sort_unstable();
                row.dedup();
                preds.push_row(row);
            }
            let (classes, sites) = units(&kinds);
            let mut packets = Vec::new();
            let steps = order(&preds, &classes, &sites, 0, &mut packets);
            let known = known(&steps, &packets, kinds.len());
            for (n, what) in (0u32..).zip(&kinds) {
                prop_assert_eq!(known[n as usize].is_some(), *what != What::Join);
                let Some(known) = &known[n as usize] else { continue };
                // A join is complete when what it depends on is.
                let mut open: Vec<u32> = preds.row(n).to_vec();
                while let Some(pred) = open.pop() {
                    if kinds[pred as usize] == What::Join {
                        open.extend(preds.row(pred));
                    } else {
                        prop_assert!(known.contains(&pred), "{} begins before {}", n, pred);
                    }
                }
            }
        }
    }

    #[test]
    fn independent_packets_share_a_level() {
        let (classes, sites) = units(&[What::Packet, What::Packet, What::Packet]);
        let mut preds = Csr::default();
        preds.push_row([]);
        preds.push_row([]);
        preds.push_row([0, 1]);
        let mut packets = Vec::new();
        let steps = order(&preds, &classes, &sites, 10, &mut packets);
        assert_eq!(steps, [Step::Packets { start: 0, end: 3 }]);
        assert_eq!(
            packets.iter().map(|p| (p.unit, p.fences.barrier)).collect::<Vec<_>>(),
            [(10, false), (11, false), (12, true)]
        );
    }
}
