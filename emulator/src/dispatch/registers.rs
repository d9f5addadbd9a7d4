//! The registers that a wave starts with (LLVM AMDGPUUsage, "Initial Kernel Execution State").

use loader::{KernelDescriptor, Processor};

use super::Launch;
use crate::{
    isa::Target,
    wave::{Mode, Wave, scratch_resource},
};

/// User SGPRs that the hardware can fill.
const MAX_USER: usize = 32;

/// STATUS.IN_TG: the workgroup has more than one wave.
const IN_GROUP: u32 = 1 << 11;

/// GPR_ALLOC of a kernel's waves, by the layout that AMD's kernel driver reads when it saves a wave of these
/// targets: VGPRs in eights less one from bit 6 on, the first accumulation register in fours less one from
/// bit 12 on, SGPRs in sixteens less one from bit 24 on. Both bases are 0.
fn allocation(kernel: &KernelDescriptor, target: Target) -> u32 {
    let vgprs =
        Processor::from_name(target.name()).map_or(0, |processor| kernel.allocated_vgprs(processor) / 8 - 1);
    vgprs << 6 | (kernel.accum_offset() / 4 - 1) << 12 | (kernel.granulated_sgprs() / 2) << 24
}

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
            mode: Mode(mode),
            user,
            users: (kernel.user_sgpr_count() as usize).max(next),
            private_segment_buffer,
            flat_scratch,
            workgroup_id: kernel.enable_workgroup_ids(),
            workgroup_info: kernel.enable_workgroup_info(),
            wave_offset: target == Target::Gfx90a && kernel.enable_private_segment(),
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
            sgpr[at..at + 4].copy_from_slice(&scratch_resource(scratch, lanes));
        }
        if let Some(at) = self.flat_scratch {
            sgpr[at] = scratch as u32;
            sgpr[at + 1] = (scratch >> 32) as u32;
        }
        let mut next = self.users;
        for (id, enabled) in position.into_iter().zip(self.workgroup_id) {
            if enabled {
                sgpr[next] = id;
                next += 1;
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
        let first = number * 64;
        let live = (x * y * z - first).min(64);
        wave.exec = u64::MAX >> (64 - live);
        let ids = &mut wave.vgpr[0].0;
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
