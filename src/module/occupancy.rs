//! How many blocks of a kernel a compute unit holds at once.

use super::{Function, KernelCode};
use crate::{
    device::Properties,
    error::{Error, Result},
};
use aqlipse_graph as graph;

/// SIMDs of a compute unit of GFX9.
const SIMDS: u32 = 4;
/// Scalar registers of a SIMD of GFX9 (`AMDGPUUsage`, "Register Identifier"; each wavefront has a share).
const SGPRS: u32 = 800;
/// Vector registers are given out in runs of this many.
const VGPR_GRANULE: u32 = 8;
/// LDS is given out in runs of this many bytes.
const LDS_GRANULE: u32 = 512;
/// Blocks of more than one wavefront need a barrier each, of which a compute unit has this many.
const BARRIERS: u32 = 16;

/// What a wavefront and a block of a kernel take of a compute unit.
#[derive(Clone, Copy, Debug)]
struct Demand {
    vgprs: u32,
    sgprs: u32,
    lds: u32,
}

impl Demand {
    /// Blocks of `block` threads that a compute unit of a device holds.
    fn blocks(&self, device: &Properties, block: u32) -> u32 {
        let waves = block.div_ceil(device.wavefront.max(1)).max(1);
        let by_threads = device.max_threads_per_unit / device.wavefront.max(1) / SIMDS;
        let registers = device.registers_per_unit / device.wavefront.max(1) / SIMDS;
        let by_vgprs = registers / self.vgprs.max(1).next_multiple_of(VGPR_GRANULE);
        let by_sgprs = SGPRS / self.sgprs.max(1);
        let by_waves = by_threads.min(by_vgprs).min(by_sgprs) * SIMDS / waves;
        let by_barriers = if waves > 1 { BARRIERS } else { u32::MAX };
        let lds = self.lds.checked_next_multiple_of(LDS_GRANULE).unwrap_or(u32::MAX);
        let by_lds = device.lds_per_block.checked_div(lds).unwrap_or(u32::MAX);
        by_waves.min(by_barriers).min(by_lds)
    }

    /// Compute units that so many blocks fill, one after the other.
    fn units(&self, device: &Properties, blocks: u32, block: u32) -> u32 {
        blocks.div_ceil(self.blocks(device, block).max(1)).clamp(1, device.compute_units.max(1))
    }
}

impl KernelCode {
    fn demand(&self, dynamic_lds: u32) -> Demand {
        Demand {
            vgprs: self.0.vgprs,
            sgprs: self.0.sgprs,
            lds: self.0.group_bytes.saturating_add(dynamic_lds),
        }
    }

    /// Blocks of `block` threads with `dynamic_lds` bytes of LDS asked for at launch that a compute unit holds at
    /// once; 0 if it cannot hold one. That the kernel was compiled for smaller blocks does not count.
    // HIP: 5.2.3 and AMD's runtime of October 2024 (tests/conformance/occupancy_blocks.hip).
    pub fn blocks_per_unit(&self, device: &Properties, block: u32, dynamic_lds: u32) -> u32 {
        let fits = block <= device.max_threads_per_block;
        if fits { self.demand(dynamic_lds).blocks(device, block) } else { 0 }
    }

    /// Compute units that `blocks` blocks of `block` threads with `lds` bytes of LDS each fill: at least 1, at most all of
    /// the device. Blocks are spread over more units than that, but what they leave to other kernels is as much.
    pub(crate) fn units_filled(&self, device: &Properties, blocks: u32, block: u32, lds: u32) -> u32 {
        Demand { lds, ..self.demand(0) }.units(device, blocks, block)
    }

    /// Bytes of LDS that each of `blocks` blocks of `block` threads can ask for at launch for a compute unit to hold all
    /// of them at once; `None` if it cannot hold so many, whatever they ask for.
    pub fn available_dynamic_lds(&self, device: &Properties, blocks: u32, block: u32) -> Option<u32> {
        if blocks == 0 || block > self.0.max_block || self.blocks_per_unit(device, block, 0) < blocks {
            return None;
        }
        let share = device.lds_per_block / blocks / LDS_GRANULE * LDS_GRANULE;
        share.checked_sub(self.0.group_bytes)
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

    /// The largest number of threads in a block, at most `limit`, of which a compute unit has registers for one (in
    /// whole wavefronts where the limit allows), and how many such blocks the unit holds. That the kernel was compiled
    /// for smaller blocks does not count.
    // HIP: 5.2.3 and AMD's runtime of October 2024 (tests/conformance/occupancy_potential.hip), but for the limit, which
    // both exceed.
    pub fn best_block(&self, device: &Properties, dynamic_lds: u32, limit: u32) -> (u32, u32) {
        let wavefront = device.wavefront.max(1);
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

    fn blocks(vgprs: u32, sgprs: u32, lds: u32, block: u32) -> u32 {
        // Both emulated devices have 8 wavefronts and 512 registers to a SIMD and 64 KiB of LDS.
        let device = Device::get(0).unwrap();
        assert!([(9, 0), (9, 4)].contains(&device.properties().capability));
        Demand { vgprs, sgprs, lds }.blocks(device.properties(), block)
    }

    #[test]
    fn blocks_fill_units_by_what_runs_out_first() {
        let device = Device::get(0).unwrap();
        let all = device.properties().compute_units;
        let units =
            |vgprs, lds, blocks| Demand { vgprs, sgprs: 32, lds }.units(device.properties(), blocks, 256);
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
}
