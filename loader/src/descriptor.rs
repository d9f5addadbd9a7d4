use crate::Processor;

/// Mode of floating-point rounding in a kernel's first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    NearestEven,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
}

/// What happens to denormal floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denormals {
    /// Denormal operands are kept, not read as zero.
    pub keep_sources: bool,
    /// Denormal results are kept, not replaced by zero.
    pub keep_results: bool,
}

/// A kernel descriptor: what the packet processor reads to start a wavefront.
///
/// 64 bytes at a multiple of 64, under the symbol `<kernel>.kd` (LLVM AMDGPUUsage, "Kernel Descriptor").
/// Register words keep the names `COMPUTE_PGM_RSRC1` to `3`. What an accessor reads means something else, or nothing, on
/// generations that its comment leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// Bytes of group memory (LDS) that the code allocates statically.
    pub group_segment_fixed_size: u32,
    /// Bytes of private memory (scratch) per work-item, without dynamic stack.
    pub private_segment_fixed_size: u32,
    /// Bytes of kernel arguments, hidden ones included; old compilers write 0.
    pub kernarg_size: u32,
    /// Bytes from the descriptor to the first instruction.
    pub entry_byte_offset: i64,
    /// `COMPUTE_PGM_RSRC3`.
    pub rsrc3: u32,
    /// `COMPUTE_PGM_RSRC1`.
    pub rsrc1: u32,
    /// `COMPUTE_PGM_RSRC2`.
    pub rsrc2: u32,
    /// `kernel_code_properties`.
    pub properties: u16,
    /// `kernarg_preload`.
    pub kernarg_preload: u16,
}

/// Extracts `width` bits from bit `shift` on.
const fn field(word: u32, shift: u32, width: u32) -> u32 {
    (word >> shift) & ((1 << width) - 1)
}

const fn bit(word: u32, shift: u32) -> bool {
    field(word, shift, 1) != 0
}

fn rounding(code: u32) -> Rounding {
    match code & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Up,
        2 => Rounding::Down,
        _ => Rounding::Zero,
    }
}

fn denormals(code: u32) -> Denormals {
    // 0 flushes both, 1 the result, 2 the sources, 3 none.
    Denormals { keep_sources: code & 1 != 0, keep_results: code & 2 != 0 }
}

impl KernelDescriptor {
    /// Bytes of a descriptor, and its alignment.
    pub const BYTES: usize = 64;

    /// Decodes the 64 bytes; reserved ones are ignored.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        fn at<const N: usize>(bytes: &[u8; KernelDescriptor::BYTES], offset: usize) -> [u8; N] {
            // PANIC: every caller's offset + N is a constant not above 64.
            *bytes[offset..].first_chunk().expect("the field is inside the descriptor")
        }
        let word = |offset| u32::from_le_bytes(at(bytes, offset));
        Self {
            group_segment_fixed_size: word(0),
            private_segment_fixed_size: word(4),
            kernarg_size: word(8),
            entry_byte_offset: i64::from_le_bytes(at(bytes, 16)),
            rsrc3: word(44),
            rsrc1: word(48),
            rsrc2: word(52),
            properties: u16::from_le_bytes(at(bytes, 56)),
            kernarg_preload: u16::from_le_bytes(at(bytes, 58)),
        }
    }

    /// Vector registers that a wavefront asks for on `processor`, accumulation registers included.
    ///
    /// They are counted in eights where both kinds share one file and for wavefronts of 32 lanes, else in fours.
    pub fn allocated_vgprs(&self, processor: Processor) -> u32 {
        self.granulated_vgprs() * self.vgpr_unit(processor)
    }

    /// How many units of vector registers a wavefront asks for.
    pub fn granulated_vgprs(&self) -> u32 {
        field(self.rsrc1, 0, 6) + 1
    }

    fn vgpr_unit(&self, processor: Processor) -> u32 {
        if processor.has_unified_registers() || self.lanes(processor) == 32 { 8 } else { 4 }
    }

    /// Lanes of a wavefront: 32 where the kernel asks for that and `processor` has both kinds, else 64.
    pub fn lanes(&self, processor: Processor) -> u32 {
        if processor.has_narrow_wavefronts() && bit(self.properties.into(), 10) { 32 } else { 64 }
    }

    /// Granulated count of scalar registers, as encoded; GFX10 and later give every wavefront all.
    pub fn granulated_sgprs(&self) -> u32 {
        field(self.rsrc1, 6, 4)
    }

    /// Initial rounding of 32-bit floats.
    pub fn round_32(&self) -> Rounding {
        rounding(field(self.rsrc1, 12, 2))
    }

    /// Initial rounding of 16- and 64-bit floats.
    pub fn round_16_64(&self) -> Rounding {
        rounding(field(self.rsrc1, 14, 2))
    }

    /// Initial denormal mode of 32-bit floats.
    pub fn denormals_32(&self) -> Denormals {
        denormals(field(self.rsrc1, 16, 2))
    }

    /// Initial denormal mode of 16- and 64-bit floats.
    pub fn denormals_16_64(&self) -> Denormals {
        denormals(field(self.rsrc1, 18, 2))
    }

    /// The 8 bits that start the `MODE` register: rounding in bits 0-3, denormals in bits 4-7.
    pub fn float_mode(&self) -> u32 {
        field(self.rsrc1, 12, 8)
    }

    /// Whether clamping turns NaN into zero (GFX11 and earlier; later it always does).
    pub fn dx10_clamp(&self) -> bool {
        bit(self.rsrc1, 21)
    }

    /// Whether minimum and maximum quiet signalling NaNs as IEEE 754-2008 wants (GFX11 and earlier).
    pub fn ieee_mode(&self) -> bool {
        bit(self.rsrc1, 23)
    }

    /// Whether half-precision overflow clamps to the largest finite number.
    pub fn fp16_overflow_clamps(&self) -> bool {
        bit(self.rsrc1, 26)
    }

    /// Whether the two compute units of a workgroup processor share a workgroup's wavefronts (GFX10 and later).
    pub fn wgp_mode(&self) -> bool {
        bit(self.rsrc1, 29)
    }

    /// Whether loads, and stores among themselves, return in order (GFX10 and later).
    pub fn mem_ordered(&self) -> bool {
        bit(self.rsrc1, 30)
    }

    /// Whether the oldest wavefront goes first (GFX10 and later).
    pub fn forward_progress(&self) -> bool {
        bit(self.rsrc1, 31)
    }

    /// Whether the kernel uses private memory: its wavefronts get scratch and what they need to address it.
    pub fn enable_private_segment(&self) -> bool {
        bit(self.rsrc2, 0)
    }

    /// Scalar registers that the packet processor fills before the workgroup ids.
    pub fn user_sgpr_count(&self) -> u32 {
        field(self.rsrc2, 1, 5)
    }

    /// Whether scalar registers receive the workgroup id in x, y and z.
    pub fn enable_workgroup_ids(&self) -> [bool; 3] {
        [bit(self.rsrc2, 7), bit(self.rsrc2, 8), bit(self.rsrc2, 9)]
    }

    /// Whether a scalar register receives the workgroup info.
    pub fn enable_workgroup_info(&self) -> bool {
        bit(self.rsrc2, 10)
    }

    /// Dimensions of the work-item id that vector registers receive, 1 to 3.
    pub fn workitem_id_dimensions(&self) -> u32 {
        // 3 is undefined; as 3 dimensions it hides nothing from the code.
        (field(self.rsrc2, 11, 2) + 1).min(3)
    }

    /// Floating-point and integer exceptions that trap, as the 7 bits of the register.
    pub fn exceptions(&self) -> u32 {
        field(self.rsrc2, 24, 7)
    }

    /// First accumulation register in the unified file (gfx90a and later CDNA).
    pub fn accum_offset(&self) -> u32 {
        (field(self.rsrc3, 0, 6) + 1) * 4
    }

    /// Whether the wavefronts of one workgroup may run on different compute units (gfx90a and later CDNA).
    pub fn tg_split(&self) -> bool {
        bit(self.rsrc3, 16)
    }

    /// Whether 4 scalar registers receive the descriptor of the private segment buffer.
    pub fn sgpr_private_segment_buffer(&self) -> bool {
        bit(self.properties.into(), 0)
    }

    /// Whether 2 scalar registers receive the address of the dispatch packet.
    pub fn sgpr_dispatch_ptr(&self) -> bool {
        bit(self.properties.into(), 1)
    }

    /// Whether 2 scalar registers receive the address of the queue.
    pub fn sgpr_queue_ptr(&self) -> bool {
        bit(self.properties.into(), 2)
    }

    /// Whether 2 scalar registers receive the address of the kernel arguments.
    pub fn sgpr_kernarg_segment_ptr(&self) -> bool {
        bit(self.properties.into(), 3)
    }

    /// Whether 2 scalar registers receive the dispatch id.
    pub fn sgpr_dispatch_id(&self) -> bool {
        bit(self.properties.into(), 4)
    }

    /// Whether 2 scalar registers receive what FLAT_SCRATCH is computed from.
    pub fn sgpr_flat_scratch_init(&self) -> bool {
        bit(self.properties.into(), 5)
    }

    /// Whether 1 scalar register receives the bytes of private memory per work-item.
    pub fn sgpr_private_segment_size(&self) -> bool {
        bit(self.properties.into(), 6)
    }

    /// Whether the stack may grow beyond [`private_segment_fixed_size`](Self::private_segment_fixed_size).
    pub fn uses_dynamic_stack(&self) -> bool {
        bit(self.properties.into(), 11)
    }

    /// Kernel-argument dwords that scalar registers receive, and the dword offset of the first.
    pub fn preloaded_kernargs(&self) -> (u32, u32) {
        let word = self.kernarg_preload.into();
        (field(word, 0, 7), field(word, 7, 9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_specification_puts_them() {
        let mut bytes = [0u8; 64];
        bytes[0..4].copy_from_slice(&0x1000u32.to_le_bytes());
        bytes[4..8].copy_from_slice(&48u32.to_le_bytes());
        bytes[8..12].copy_from_slice(&280u32.to_le_bytes());
        bytes[16..24].copy_from_slice(&(-0x200i64).to_le_bytes());
        bytes[44..48].copy_from_slice(&(7u32 | 1 << 16).to_le_bytes());
        bytes[48..52].copy_from_slice(
            &(5u32 | 8 << 6 | 2 << 12 | 3 << 14 | 1 << 16 | 3 << 18 | 1 << 23).to_le_bytes(),
        );
        bytes[52..56]
            .copy_from_slice(&(1u32 | 14 << 1 | 1 << 7 | 1 << 9 | 1 << 11 | 0x55 << 24).to_le_bytes());
        bytes[56..58].copy_from_slice(&(1u16 | 1 << 3 | 1 << 11).to_le_bytes());
        bytes[58..60].copy_from_slice(&(4u16 | 2 << 7).to_le_bytes());
        let d = KernelDescriptor::from_bytes(&bytes);

        assert_eq!(
            (d.group_segment_fixed_size, d.private_segment_fixed_size, d.kernarg_size),
            (0x1000, 48, 280)
        );
        assert_eq!(d.entry_byte_offset, -0x200);
        assert_eq!((d.accum_offset(), d.tg_split()), (32, true));
        assert_eq!(d.allocated_vgprs(Processor::from_name("gfx90a").unwrap()), 48);
        assert_eq!(d.allocated_vgprs(Processor::from_name("gfx906").unwrap()), 24);
        assert_eq!(d.granulated_sgprs(), 8);
        assert_eq!((d.round_32(), d.round_16_64()), (Rounding::Down, Rounding::Zero));
        assert_eq!(d.denormals_32(), Denormals { keep_sources: true, keep_results: false });
        assert_eq!(d.denormals_16_64(), Denormals { keep_sources: true, keep_results: true });
        assert_eq!(d.float_mode(), 0b1101_1110);
        assert!(d.ieee_mode() && !d.dx10_clamp() && !d.fp16_overflow_clamps());
        assert_eq!((d.enable_private_segment(), d.user_sgpr_count()), (true, 14));
        assert_eq!((d.enable_workgroup_ids(), d.enable_workgroup_info()), ([true, false, true], false));
        assert_eq!((d.workitem_id_dimensions(), d.exceptions()), (2, 0x55));
        assert!(d.sgpr_private_segment_buffer() && d.sgpr_kernarg_segment_ptr() && d.uses_dynamic_stack());
        assert!(!d.sgpr_dispatch_ptr() && !d.sgpr_queue_ptr() && !d.sgpr_dispatch_id());
        assert!(!d.sgpr_flat_scratch_init() && !d.sgpr_private_segment_size());
        assert_eq!(d.preloaded_kernargs(), (4, 2));
        assert!(!d.wgp_mode() && !d.mem_ordered() && !d.forward_progress());
    }

    #[test]
    fn wavefronts_of_rdna_have_the_lanes_that_the_kernel_asks_for() {
        let descriptor = |properties: u16| {
            let mut bytes = [0u8; 64];
            bytes[48..52].copy_from_slice(&(5u32 | 7 << 29).to_le_bytes());
            bytes[56..58].copy_from_slice(&properties.to_le_bytes());
            KernelDescriptor::from_bytes(&bytes)
        };
        let (wide, narrow) = (descriptor(0), descriptor(1 << 10));
        for (name, lanes, vgprs) in
            [("gfx90a", 64, 48), ("gfx1030", 32, 48), ("gfx1201", 32, 48), ("gfx11-generic", 32, 48)]
        {
            let processor = Processor::from_name(name).unwrap();
            assert_eq!(
                (narrow.lanes(processor), narrow.allocated_vgprs(processor)),
                (lanes, vgprs),
                "{name}"
            );
            assert_eq!(wide.lanes(processor), 64, "{name}");
        }
        assert_eq!(wide.allocated_vgprs(Processor::from_name("gfx1100").unwrap()), 24);
        assert!(wide.wgp_mode() && wide.mem_ordered() && wide.forward_progress());
    }
}
