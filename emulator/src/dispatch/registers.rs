//! The registers that a wave starts with (LLVM AMDGPUUsage, "Initial Kernel Execution State").

use loader::KernelDescriptor;

use super::Launch;
use crate::{
    isa::{Generation, Target},
    wave::{Mode, Wave, scratch_resource},
};

/// User SGPRs that the hardware can fill.
const MAX_USER: usize = 32;

/// STATUS.IN_TG: the workgroup has more than one wave.
const IN_GROUP: u32 = 1 << 11;

/// GPR_ALLOC of a kernel's waves, by the layout that AMD's kernel driver reads when it saves a wave of these
/// targets. On GFX9: VGPRs in eights less one from bit 6 on, the first accumulation register in fours less one from
/// bit 12 on, SGPRs in sixteens less one from bit 24 on. On RDNA: units of VGPRs less one, from bit 8 on or, since GFX11,
/// from bit 12 on. All bases are 0.
fn allocation(kernel: &KernelDescriptor, target: Target) -> u32 {
    let vgprs = kernel.granulated_vgprs() - 1;
    match target.generation() {
        Generation::Gfx9 => {
            vgprs << 6 | (kernel.accum_offset() / 4 - 1) << 12 | (kernel.granulated_sgprs() / 2) << 24
        }
        Generation::Gfx10 => vgprs << 8,
        Generation::Gfx11 | Generation::Gfx12 => vgprs << 12,
    }
}

/// Registers of trap handlers in which waves of GFX12 find where they are (LLVM AMDGPUUsage, "Initial Kernel Execution
/// State").
const TTMP7: usize = 115;
const TTMP8: usize = 116;
const TTMP9: usize = 117;

/// The scalar registers of a dispatch's waves, as far as they are the same, and where the others go.
pub(super) struct Registers {
    entry: u64,
    mode: Mode,
    user: [u32; MAX_USER],
    /// User registers, padding included.
    users: usize,
    /// Where the scratch buffer's resource goes.
    private_segment_buffer: Option<usize>,
    /// Where the scratch base goes.
    flat_scratch: Option<usize>,
    workgroup_id: [bool; 3],
    workgroup_info: bool,
    /// A register that counts bytes into the queue's scratch follows; our base is the wave's own, so it is 0.
    wave_offset: bool,
    /// How generations differ.
    generation: Generation,
    /// Dimensions of the work-item id, 1 to 3.
    dimensions: u32,
    /// Waves of a whole workgroup.
    waves: u32,
    /// GPR_ALLOC: the sizes of the register allocations.
    allocation: u32,
}

impl Registers {
    /// Kernel arguments are never preloaded into registers: kernels that ask for it begin with code that loads
    /// them, and the field has another meaning in kernel objects of the older layout.
    pub(super) fn new(
        kernel: &KernelDescriptor,
        launch: &Launch,
        target: Target,
        entry: u64,
        waves: u32,
    ) -> Self {
        let mut user = [0; MAX_USER];
        let mut next = 0;
        let mut place = |words: &[u32]| {
            let at = next;
            // At most 4 + 5 * 2 + 1 registers.
            user[at..at + words.len()].copy_from_slice(words);
            next += words.len();
            at
        };
        let pair = |value: u64| [value as u32, (value >> 32) as u32];
        // The order is the architecture's.
        let private_segment_buffer = kernel.sgpr_private_segment_buffer().then(|| place(&[0; 4]));
        if kernel.sgpr_dispatch_ptr() {
            place(&pair(launch.packet));
        }
        if kernel.sgpr_queue_ptr() {
            place(&pair(launch.queue));
        }
        if kernel.sgpr_kernarg_segment_ptr() {
            place(&pair(launch.kernarg));
        }
        if kernel.sgpr_dispatch_id() {
            place(&pair(launch.dispatch_id));
        }
        // Later targets set FLAT_SCRATCH up themselves.
        let computes_scratch = matches!(target, Target::Gfx90a | Target::Gfx1030);
        let flat_scratch = kernel.sgpr_flat_scratch_init().then(|| place(&[0; 2]));
        if kernel.sgpr_private_segment_size() {
            place(&[launch.private_bytes]);
        }
        let mode = kernel.float_mode()
            | u32::from(kernel.dx10_clamp()) << 8
            | u32::from(kernel.ieee_mode()) << 9
            | kernel.exceptions() << 12
            | u32::from(kernel.fp16_overflow_clamps()) << 23;
        Self {
            entry,
            mode: Mode::of(target, mode),
            user,
            users: (kernel.user_sgpr_count() as usize).max(next),
            private_segment_buffer,
            flat_scratch,
            workgroup_id: kernel.enable_workgroup_ids(),
            workgroup_info: kernel.enable_workgroup_info(),
            wave_offset: computes_scratch && kernel.enable_private_segment(),
            generation: target.generation(),
            dimensions: kernel.workitem_id_dimensions(),
            waves,
            allocation: allocation(kernel, target),
        }
    }

    /// Where every wave begins.
    pub(super) fn entry(&self) -> u64 {
        self.entry
    }

    /// Fills in a wave: number `number` of the workgroup at `position`, which has `extent` work-items.
    pub(super) fn fill(&self, wave: &mut Wave, position: [u32; 3], extent: [u32; 3], number: u32) {
        wave.pc = self.entry;
        wave.mode = self.mode;
        wave.allocation = self.allocation;
        wave.status = if self.waves > 1 { IN_GROUP } else { 0 };
        let (scratch, lanes) = (wave.scratch, wave.lanes());
        let sgpr = &mut wave.sgpr;
        sgpr[..MAX_USER].copy_from_slice(&self.user);
        if let Some(at) = self.private_segment_buffer {
            sgpr[at..at + 4].copy_from_slice(&scratch_resource(scratch, lanes, self.generation));
        }
        if let Some(at) = self.flat_scratch {
            sgpr[at] = scratch as u32;
            sgpr[at + 1] = (scratch >> 32) as u32;
        }
        let mut next = self.users;
        if self.generation == Generation::Gfx12 {
            sgpr[TTMP7] = position[1] | position[2] << 16;
            sgpr[TTMP8] = number << 25;
            sgpr[TTMP9] = position[0];
        } else {
            for (id, enabled) in position.into_iter().zip(self.workgroup_id) {
                if enabled {
                    sgpr[next] = id;
                    next += 1;
                }
            }
        }
        if self.workgroup_info {
            sgpr[next] = u32::from(number == 0) << 31 | self.waves;
            next += 1;
        }
        if self.wave_offset {
            sgpr[next] = 0;
        }
        let [x, y, z] = extent;
        // CAST: 32 or 64.
        let first = number * lanes as u32;
        let live = (x * y * z - first).min(lanes as u32);
        wave.exec = u64::MAX >> (64 - live);
        if self.generation == Generation::Gfx10 {
            // A register each, of those that the kernel asks for.
            for (dimension, row) in wave.vgpr.iter_mut().enumerate().take(self.dimensions as usize) {
                for (lane, id) in row.0.iter_mut().enumerate().take(lanes) {
                    let flat = first + lane as u32;
                    *id = [flat % x, flat / x % y, flat / (x * y)][dimension];
                }
            }
            return;
        }
        let ids = &mut wave.vgpr[0].0[..lanes];
        // Ids are packed 10:10:10; those beyond the dimensions that the kernel asks for are 0.
        let (keep_y, keep_z) = (u32::from(self.dimensions > 1), u32::from(self.dimensions > 2));
        if y == 1 && z == 1 {
            for (lane, id) in ids.iter_mut().enumerate() {
                *id = first + lane as u32;
            }
        } else {
            for (lane, id) in ids.iter_mut().enumerate() {
                let flat = first + lane as u32;
                let ids = [flat % x, flat / x % y * keep_y, flat / (x * y) * keep_z];
                *id = ids[0] | ids[1] << 10 | ids[2] << 20;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::wave::{Apertures, Deaf, Surroundings};

    /// A kernel that asks for its arguments, all workgroup ids, a stack, and ids of work-items in three dimensions.
    const KERNEL: KernelDescriptor = KernelDescriptor {
        group_segment_fixed_size: 0,
        private_segment_fixed_size: 16,
        kernarg_size: 8,
        entry_byte_offset: 0,
        rsrc3: 0,
        rsrc1: 0xc0 << 12,
        rsrc2: 1 | 2 << 1 | 7 << 7 | 2 << 11,
        properties: 1 << 3,
        kernarg_preload: 0,
    };

    const LAUNCH: Launch = Launch {
        workgroup: [8, 3, 2],
        grid: [80, 60, 40],
        private_bytes: 16,
        group_bytes: 0,
        kernel_object: 0,
        kernarg: 0x7_1234_5678,
        packet: 0,
        queue: 0,
        dispatch_id: 0,
    };

    /// A wave of so many lanes whose registers all hold 0xee.
    fn wave(target: Target, lanes: u32) -> Wave {
        let surroundings =
            Surroundings { map: Arc::default(), apertures: Apertures::default(), host: Arc::new(Deaf) };
        let mut wave = Wave::new(target, surroundings);
        wave.set_lanes(lanes);
        wave.scratch = 0x5_0000_0100;
        wave.sgpr[..128].fill(0xee);
        wave.vgpr[..3].iter_mut().for_each(|row| row.0.fill(0xee));
        wave
    }

    /// The second wave of 32 lanes of a workgroup with 8 * 3 * 2 work-items.
    fn second(kernel: &KernelDescriptor, target: Target) -> Wave {
        let mut wave = wave(target, 32);
        Registers::new(kernel, &LAUNCH, target, 0x1000, 2).fill(&mut wave, [9, 8, 7], [8, 3, 2], 1);
        assert_eq!((wave.pc, wave.exec), (0x1000, 0xffff), "{target:?}");
        assert_eq!(wave.sgpr[..2], [0x1234_5678, 7], "{target:?}");
        wave
    }

    #[test]
    fn workgroup_ids_stand_behind_the_user_registers_or_in_those_of_trap_handlers() {
        for target in Target::ALL {
            let wave = second(&KERNEL, target);
            if target.generation() == Generation::Gfx12 {
                assert_eq!(wave.sgpr[TTMP7..=TTMP9], [7 << 16 | 8, 1 << 25, 9], "{target:?}");
                assert_eq!(wave.sgpr[2], 0, "{target:?}");
            } else {
                assert_eq!(wave.sgpr[2..5], [9, 8, 7], "{target:?}");
                // Of private memory there is no register any more.
                assert_eq!(wave.sgpr[5], 0, "{target:?}");
            }
        }
    }

    #[test]
    fn work_item_ids_have_a_register_each_on_gfx10() {
        for target in Target::ALL {
            let wave = second(&KERNEL, target);
            for lane in 0..16 {
                let flat = 32 + lane as u32;
                let [x, y, z] = [flat % 8, flat / 8 % 3, flat / 24];
                if target == Target::Gfx1030 {
                    assert_eq!([0, 1, 2].map(|n| wave.vgpr[n].0[lane]), [x, y, z], "lane {lane}");
                } else {
                    assert_eq!(wave.vgpr[0].0[lane], x | y << 10 | z << 20, "{target:?} lane {lane}");
                    assert_eq!(wave.vgpr[1].0[lane], 0xee, "{target:?} lane {lane}");
                }
            }
        }
        let flat = second(&KernelDescriptor { rsrc2: KERNEL.rsrc2 & !(3 << 11), ..KERNEL }, Target::Gfx1030);
        assert_eq!((flat.vgpr[0].0[0], flat.vgpr[1].0[0]), (0, 0xee));
    }

    #[test]
    fn a_scratch_buffer_of_32_lanes_has_rows_of_32_dwords() {
        let kernel = KernelDescriptor { rsrc2: KERNEL.rsrc2 & !(31 << 1) | 6 << 1, properties: 1, ..KERNEL };
        for (lanes, stride) in [(32, 2), (64, 3)] {
            let mut wave = wave(Target::Gfx1030, lanes);
            Registers::new(&kernel, &LAUNCH, Target::Gfx1030, 0, 1).fill(&mut wave, [0; 3], [1; 3], 0);
            assert_eq!(wave.sgpr[..2], [0x100, 0x8000_0005]);
            assert_eq!(wave.sgpr[3] >> 21 & 3, stride, "{lanes} lanes");
        }
    }

    #[test]
    fn gfx12_clamps_nans_to_0_and_has_no_ieee_mode() {
        for (bits, clamps, ieee) in [(0, false, false), (1 << 21, true, false), (1 << 23, false, true)] {
            for target in Target::ALL {
                let wave = second(&KernelDescriptor { rsrc1: KERNEL.rsrc1 | bits, ..KERNEL }, target);
                let is_gfx12 = target.generation() == Generation::Gfx12;
                let want = if is_gfx12 { (true, false) } else { (clamps, ieee) };
                assert_eq!((wave.mode.dx10_clamp(), wave.mode.ieee()), want, "{target:?}");
                let shown = u32::from(clamps && !is_gfx12) << 8 | u32::from(ieee && !is_gfx12) << 9;
                assert_eq!(wave.mode.read(target), 0xc0 | shown, "{target:?}");
            }
        }
    }
}
