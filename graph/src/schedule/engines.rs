//! Which copies are for copy engines: those that are large enough and that kernels may run beside.
//!
//! A kernel that copies across a bus takes compute units from the kernels beside it, and holds its queue up. An engine does
//! neither, but costs more to start. Where nothing can run beside the copy, there is nothing to gain from an engine.

use super::{Class, CostTable};
use crate::template::Csr;

/// Edges that are looked at in all to find out what can run beside copies: what is left by then is for kernels.
const SEARCHED: usize = 1 << 22;

/// A packet that copies what an engine could copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineCopy {
    /// The unit.
    pub unit: u32,
    /// The number of the engine, of the unit's device.
    pub engine: u8,
    /// Bytes.
    pub bytes: u64,
}

/// What copies are chosen among.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The units that each is behind.
    pub preds: &'a Csr,
    /// The units that are behind each.
    pub succs: &'a Csr,
    /// How each is executed if no engine copies.
    pub classes: &'a [Class],
    /// The number of each unit's device; empty if there is one.
    pub devices: &'a [u16],
}

/// How units are executed if engines do what they are better at.
pub fn choose(around: &Around<'_>, copies: &[EngineCopy], table: &CostTable) -> Vec<Class> {
    let mut classes = around.classes.to_vec();
    let mut beside = Beside::new(around, copies);
    for copy in copies {
        // What an engine copies is told by size first: that costs nothing.
        if table.prefers_engine(copy.bytes, true)
            && table.prefers_engine(copy.bytes, beside.any_kernel(around, copy.unit))
        {
            classes[copy.unit as usize] = Class::Engine(copy.engine);
        }
    }
    classes
}

/// A search for kernels that may run beside a unit.
struct Beside {
    /// By unit: whether it is a packet that is no copy for an engine.
    kernels: Vec<bool>,
    /// By device: how many of them there are.
    counts: Vec<usize>,
    /// By unit: the latest search that has seen it.
    seen: Vec<u32>,
    search: u32,
    /// Edges that may still be looked at.
    left: usize,
}

impl Beside {
    fn new(around: &Around<'_>, copies: &[EngineCopy]) -> Self {
        let mut kernels: Vec<bool> = around.classes.iter().map(|class| *class == Class::Packet).collect();
        copies.iter().for_each(|copy| kernels[copy.unit as usize] = false);
        let devices = around.devices.iter().max().map_or(1, |top| usize::from(*top) + 1);
        let mut counts = vec![0; devices];
        for (unit, _) in kernels.iter().enumerate().filter(|(_, kernel)| **kernel) {
            counts[around.device(unit)] += 1;
        }
        Self { seen: vec![0; kernels.len()], kernels, counts, search: 0, left: SEARCHED }
    }

    /// Whether a kernel of the same device is neither before nor behind a unit.
    fn any_kernel(&mut self, around: &Around<'_>, unit: u32) -> bool {
        let device = around.device(unit as usize);
        let mut ordered = 0;
        for edges in [around.preds, around.succs] {
            self.search += 1;
            let mut open = vec![unit];
            while let Some(at) = open.pop() {
                let next = edges.row(at);
                let Some(left) = self.left.checked_sub(next.len()) else { return false };
                self.left = left;
                for &next in next {
                    if std::mem::replace(&mut self.seen[next as usize], self.search) != self.search {
                        let here = around.device(next as usize) == device;
                        ordered += usize::from(here && self.kernels[next as usize]);
                        open.push(next);
                    }
                }
            }
        }
        ordered < self.counts[device]
    }
}

impl Around<'_> {
    fn device(&self, unit: usize) -> usize {
        self.devices.get(unit).map_or(0, |device| usize::from(*device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: u64 = 1 << 20;

    /// The classes of packets of which the first copies so many bytes.
    fn chosen(edges: &[(u32, u32)], count: usize, bytes: u64, devices: &[u16]) -> Vec<Class> {
        let preds = Csr::from_pairs(count, edges.iter().map(|&(from, to)| (to, from)));
        let (succs, classes) = (preds.transposed(), vec![Class::Packet; count]);
        let around = Around { preds: &preds, succs: &succs, classes: &classes, devices };
        choose(&around, &[EngineCopy { unit: 0, engine: 1, bytes }], &CostTable::default())
    }

    #[test]
    fn a_copy_beside_a_kernel_is_for_an_engine() {
        assert_eq!(chosen(&[], 2, LARGE, &[]), [Class::Engine(1), Class::Packet]);
        let fork = [(0, 1), (0, 2), (1, 2)];
        assert_eq!(chosen(&fork, 4, LARGE, &[])[0], Class::Engine(1), "the fourth is beside it");
        assert_eq!(chosen(&fork, 3, LARGE, &[])[0], Class::Packet, "both others are behind it");
    }

    #[test]
    fn a_copy_without_a_kernel_beside_it_stays_a_kernel() {
        assert_eq!(chosen(&[], 1, LARGE, &[]), [Class::Packet]);
        assert_eq!(chosen(&[(0, 1), (1, 2)], 3, LARGE, &[])[0], Class::Packet);
        assert_eq!(chosen(&[], 2, LARGE, &[0, 1])[0], Class::Packet, "the kernel is another device's");
        assert_eq!(chosen(&[], 3, LARGE, &[1, 0, 1])[0], Class::Engine(1));
    }

    #[test]
    fn two_copies_alone_stay_kernels() {
        let (preds, classes) = (Csr::from_pairs(2, std::iter::empty()), [Class::Packet; 2]);
        let succs = preds.transposed();
        let around = Around { preds: &preds, succs: &succs, classes: &classes, devices: &[] };
        let copies = [0, 1].map(|unit| EngineCopy { unit, engine: 0, bytes: LARGE });
        assert_eq!(choose(&around, &copies, &CostTable::default()), classes);
    }

    #[test]
    fn what_is_too_small_for_an_engine_stays_a_kernel() {
        let least = u64::from(CostTable::default().engine_min_bytes);
        assert_eq!(chosen(&[], 2, least - 1, &[])[0], Class::Packet);
        assert_eq!(chosen(&[], 2, least, &[])[0], Class::Engine(1));
    }
}
