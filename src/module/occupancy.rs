//! How many blocks of a kernel a multiprocessor holds at once.
//!
//! On GFX9 that is a compute unit. On RDNA it is a work-group processor, which is two compute units: in WGP mode a block has
//! what both have together, in CU mode it has one of them.

use super::{Function, KernelCode};
use crate::{
    device::Properties,
    error::{Error, Result},
};
use aqlipse_graph as graph;

/// SIMDs of a multiprocessor.
const SIMDS: u32 = 4;
/// Scalar registers of a SIMD of GFX9 (`AMDGPUUsage`, "Register Identifier"; each wavefront has a share).
const SGPRS: u32 = 800;

/// What a wavefront and a block of a kernel take of a multiprocessor.
#[derive(Clone, Copy, Debug)]
struct Demand {
    /// Lanes that the kernel was compiled for.
    wavefront: u32,
    /// Whether all waves of a block run on one compute unit of RDNA.
    one_unit: bool,
    vgprs: u32,
    sgprs: u32,
    lds: u32,
}

/// The part of a multiprocessor that its blocks share.
struct Part {
    /// Such parts of a multiprocessor.
    count: u32,
    simds: u32,
    /// Blocks of more than one wavefront need a barrier each.
    barriers: u32,
    lds: u32,
    /// LDS is given out in runs of this many bytes.
    lds_granule: u32,
    /// Vector registers are given out to a wavefront in runs of this many.
    vgpr_granule: u32,
    /// Scalar registers of a SIMD, where wavefronts share them.
    sgprs: u32,
}

impl Demand {
    fn part(&self, device: &Properties) -> Part {
        let lds = device.lds_per_block;
        if device.capability.0 < 10 {
            let (lds_granule, vgpr_granule) = (512, 8);
            return Part {
                count: 1,
                simds: SIMDS,
                barriers: 16,
                lds,
                lds_granule,
                vgpr_granule,
                sgprs: SGPRS,
            };
        }
        // As LLVM counts. Where a SIMD has half as many registers again, so has a run of them; a register of twice the lanes
        // takes twice the room.
        let more = device.registers_per_unit > SIMDS * 32 * 1024;
        let vgpr_granule = if more { 24 } else { 16 } * 32 / self.wavefront;
        let count = if self.one_unit { 2 } else { 1 };
        Part {
            count,
            simds: SIMDS / count,
            barriers: 32 / count,
            // A block takes at most half of what a work-group processor has.
            lds: 2 * lds / count,
            lds_granule: 1024,
            vgpr_granule,
            sgprs: u32::MAX,
        }
    }

    /// Blocks of `block` threads that a multiprocessor of a device holds.
    fn blocks(&self, device: &Properties, block: u32) -> u32 {
        let part = self.part(device);
        let waves = block.div_ceil(self.wavefront).max(1);
        let by_slots = device.max_threads_per_unit / device.wavefront.max(1) / SIMDS;
        let registers = device.registers_per_unit / self.wavefront / SIMDS;
        let by_vgprs = registers / self.vgprs.max(1).next_multiple_of(part.vgpr_granule);
        let by_sgprs = part.sgprs / self.sgprs.max(1);
        let by_waves = by_slots.min(by_vgprs).min(by_sgprs) * part.simds / waves;
        let by_barriers = if waves > 1 { part.barriers } else { u32::MAX };
        let lds = self.lds.checked_next_multiple_of(part.lds_granule).unwrap_or(u32::MAX);
        let by_lds =
            if self.lds > device.lds_per_block { 0 } else { part.lds.checked_div(lds).unwrap_or(u32::MAX) };
        by_waves.min(by_barriers).min(by_lds) * part.count
    }

    /// Multiprocessors that so many blocks fill, one after the other.
    fn units(&self, device: &Properties, blocks: u32, block: u32) -> u32 {
        blocks.div_ceil(self.blocks(device, block).max(1)).clamp(1, device.multiprocessors.max(1))
    }
}

impl KernelCode {
    fn demand(&self, dynamic_lds: u32) -> Demand {
        Demand {
            wavefront: self.0.wavefront,
            one_unit: self.0.one_unit,
            vgprs: self.0.vgprs,
            sgprs: self.0.sgprs,
            lds: self.0.group_bytes.saturating_add(dynamic_lds),
        }
    }

    /// Blocks of `block` threads with `dynamic_lds` bytes of LDS asked for at launch that a multiprocessor holds at
    /// once; 0 if it cannot hold one. That the kernel was compiled for smaller blocks does not count.
    // HIP: 5.2.3 and AMD's runtime of October 2024 (tests/conformance/occupancy_blocks.hip).
    pub fn blocks_per_unit(&self, device: &Properties, block: u32, dynamic_lds: u32) -> u32 {
        let fits = block <= device.max_threads_per_block;
        if fits { self.demand(dynamic_lds).blocks(device, block) } else { 0 }
    }

    /// Multiprocessors that `blocks` blocks of `block` threads with `lds` bytes of LDS each fill: at least 1, at most all of
    /// the device. Blocks are spread over more units than that, but what they leave to other kernels is as much.
    pub(crate) fn units_filled(&self, device: &Properties, blocks: u32, block: u32, lds: u32) -> u32 {
        Demand { lds, ..self.demand(0) }.units(device, blocks, block)
    }

    /// Bytes of LDS that each of `blocks` blocks of `block` threads can ask for at launch for a multiprocessor to hold all
    /// of them at once; `None` if it cannot hold so many, whatever they ask for.
    pub fn available_dynamic_lds(&self, device: &Properties, blocks: u32, block: u32) -> Option<u32> {
        if blocks == 0 || block > self.0.max_block || self.blocks_per_unit(device, block, 0) < blocks {
            return None;
        }
        let part = self.demand(0).part(device);
        let share = part.lds / blocks.div_ceil(part.count) / part.lds_granule * part.lds_granule;
        share.min(device.lds_per_block).checked_sub(self.0.group_bytes)
    }

    /// Refuses a launch whose blocks cannot all be resident, or on a device without cooperative launches.
    ///
    /// # Errors
    /// [`Error::CooperativeLaunchTooLarge`], [`Error::NotSupported`].
    pub(crate) fn check_cooperative(
        &self,
        device: &Properties,
        launch: &graph::Kernel<Function>,
    ) -> Result<()> {
        if !device.cooperative {
            return Err(Error::NotSupported("cooperative launches on this device"));
        }
        let blocks = launch.grid.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
        let block = launch.block.iter().copied().fold(1, u32::saturating_mul);
        let per_unit = self.blocks_per_unit(device, block, launch.shared_bytes);
        let resident = u64::from(per_unit) * u64::from(device.cooperative_units);
        if blocks > resident {
            return Err(Error::CooperativeLaunchTooLarge { blocks, resident });
        }
        Ok(())
    }

    /// The largest number of threads in a block, at most `limit`, of which a multiprocessor has registers for one (in
    /// whole wavefronts where the limit allows), and how many such blocks the unit holds. That the kernel was compiled
    /// for smaller blocks does not count.
    // HIP: 5.2.3 and AMD's runtime of October 2024 (tests/conformance/occupancy_potential.hip), but for the limit, which
    // both exceed.
    pub fn best_block(&self, device: &Properties, dynamic_lds: u32, limit: u32) -> (u32, u32) {
        let wavefront = self.0.wavefront;
        let largest = device.max_threads_per_block.min(limit);
        let registers = Demand { lds: 0, ..self.demand(0) };
        let sizes = (1..=largest / wavefront).rev().map(|waves| waves * wavefront);
        let size = sizes.into_iter().find(|&size| registers.blocks(device, size) > 0).unwrap_or(largest);
        (size, self.demand(dynamic_lds).blocks(device, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    /// A device of GFX9 with 8 wavefronts and 512 registers to a SIMD and 64 KiB of LDS.
    fn gfx9() -> Properties {
        let device = Device::get(0).unwrap();
        Properties {
            capability: (9, 0),
            wavefront: 64,
            multiprocessors: 104,
            max_threads_per_unit: 2048,
            registers_per_unit: 4 * 64 * 512,
            lds_per_block: 64 << 10,
            ..device.properties().clone()
        }
    }

    /// A device of RDNA, with 1024 or 1536 registers for each of 32 lanes.
    fn rdna(registers: u32) -> Properties {
        Properties { capability: (11, 0), wavefront: 32, registers_per_unit: 4 * 32 * registers, ..gfx9() }
    }

    fn demand(vgprs: u32, sgprs: u32, lds: u32) -> Demand {
        Demand { wavefront: 64, one_unit: true, vgprs, sgprs, lds }
    }

    fn blocks(vgprs: u32, sgprs: u32, lds: u32, block: u32) -> u32 {
        demand(vgprs, sgprs, lds).blocks(&gfx9(), block)
    }

    #[test]
    fn blocks_fill_units_by_what_runs_out_first() {
        let device = gfx9();
        let all = device.multiprocessors;
        let units = |vgprs, lds, blocks| demand(vgprs, 32, lds).units(&device, blocks, 256);
        // A unit holds 8 of the first kernel's blocks, 2 of the second's, 1 of the third's.
        for (vgprs, lds, per_unit) in [(32, 0, 8), (256, 0, 2), (32, 64 * 1024, 1)] {
            assert_eq!(units(vgprs, lds, 1), 1);
            assert_eq!(units(vgprs, lds, per_unit), 1);
            assert_eq!(units(vgprs, lds, per_unit + 1), 2.min(all));
            assert_eq!(units(vgprs, lds, u32::MAX), all);
        }
    }

    #[test]
    fn each_resource_can_be_the_one_that_runs_out() {
        assert_eq!(blocks(32, 32, 0, 64), 32, "wavefronts");
        assert_eq!(blocks(32, 32, 0, 256), 8, "wavefronts of larger blocks");
        assert_eq!(blocks(32, 32, 0, 128), 16, "barriers");
        assert_eq!(blocks(65, 32, 0, 64), 28, "vector registers, in steps of 8");
        assert_eq!(blocks(512, 32, 0, 256), 1, "all vector registers");
        assert_eq!(blocks(32, 101, 0, 64), 28, "scalar registers");
        assert_eq!(blocks(32, 32, 16 * 1024 + 1, 64), 3, "LDS, in steps of 512 bytes");
        assert_eq!(blocks(512, 32, 0, 1024), 0, "a block of 16 wavefronts with 4 to a unit");
    }

    /// What clang-22 writes behind "Occupancy" for kernels with these registers (gfx1102 and gfx1100): waves of a SIMD.
    #[test]
    fn registers_of_rdna_hold_as_many_waves_as_llvm_says() {
        const VGPRS: [u32; 9] = [32, 64, 72, 80, 96, 104, 128, 144, 192];
        for (registers, wavefront, expected) in [
            (1024, 32, [16, 16, 12, 12, 10, 9, 8, 7, 5]),
            (1024, 64, [16, 8, 7, 6, 5, 4, 4, 3, 2]),
            (1536, 32, [16, 16, 16, 16, 16, 12, 10, 10, 8]),
            (1536, 64, [16, 10, 10, 9, 8, 7, 5, 5, 4]),
        ] {
            let waves = VGPRS.map(|vgprs| {
                let demand = Demand { wavefront, one_unit: false, vgprs, sgprs: 106, lds: 0 };
                demand.blocks(&rdna(registers), wavefront) / SIMDS
            });
            assert_eq!(waves, expected, "{registers} registers, {wavefront} lanes");
        }
    }

    #[test]
    fn blocks_of_rdna_share_a_pair_of_units_or_one_of_it() {
        let device = rdna(1536);
        let blocks = |one_unit, lds, block| {
            Demand { wavefront: 32, one_unit, vgprs: 32, sgprs: 106, lds }.blocks(&device, block)
        };
        for one_unit in [false, true] {
            assert_eq!(blocks(one_unit, 0, 32), 64, "wavefronts");
            assert_eq!(blocks(one_unit, 0, 64), 32, "barriers");
            assert_eq!(blocks(one_unit, 0, 1024), 2, "threads");
            assert_eq!(blocks(one_unit, 64 << 10, 256), 2, "LDS");
            assert_eq!(blocks(one_unit, (64 << 10) + 1, 256), 0, "more LDS than a block can have");
        }
        // Three of 40 KiB in what a pair has together, one in each half; four of 15 wavefronts, and two in each half.
        assert_eq!((blocks(false, 40 << 10, 256), blocks(true, 40 << 10, 256)), (3, 2));
        assert_eq!((blocks(false, 0, 480), blocks(true, 0, 480)), (4, 4));
        assert_eq!(blocks(false, 2049, 32), 42, "LDS, in steps of 1 KiB");
    }

    #[test]
    fn waves_of_64_lanes_take_the_registers_of_two() {
        let device = rdna(1024);
        let blocks = |wavefront, vgprs| {
            Demand { wavefront, one_unit: false, vgprs, sgprs: 106, lds: 0 }.blocks(&device, 256)
        };
        assert_eq!((blocks(32, 128), blocks(64, 128)), (4, 4));
        assert_eq!((blocks(32, 32), blocks(64, 32)), (8, 16), "a wave of 64 lanes takes one place, too");
    }
}
