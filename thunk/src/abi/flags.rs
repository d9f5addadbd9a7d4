//! Bit fields of the interface, as the numbers that they add up to.

/// A bit field: the C structure, the member, and its bits' mask.
pub struct Bits {
    /// The structure or union, as the header names it.
    pub structure: &'static str,
    /// The member, as an expression on a value of it.
    pub member: &'static str,
    /// The whole, as an expression on a value of it.
    pub whole: &'static str,
    /// Which bits of the whole are the member's.
    pub mask: u64,
}

macro_rules! bits {
    ($(
        $(#[$meta:meta])*
        $structure:literal.$whole:literal {
            $($(#[$field_meta:meta])* $name:ident = $member:literal: $low:literal, $width:literal;)*
        }
    )*) => {
        $($(
            $(#[$field_meta])*
            pub const $name: u32 = (u32::MAX >> (32 - $width)) << $low;
        )*)*

        /// Every bit field, for the comparison with the header.
        pub const BIT_FIELDS: &[Bits] = &[$($(
            Bits { structure: $structure, member: $member, whole: $whole, mask: $name as u64 },
        )*)*];
    };
}

bits! {
    "HSA_CAPABILITY"."Value" {
        /// Ring sizes are powers of two.
        CAPABILITY_QUEUE_SIZE_POWER_OF_TWO = "ui32.QueueSizePowerOfTwo": 3, 1;
        /// 2: a doorbell is 64 bits wide and takes packet indices.
        CAPABILITY_DOORBELL_TYPE = "ui32.DoorbellType": 12, 2;
        /// Memory has error correction.
        CAPABILITY_MEM_EDC_SUPPORT = "ui32.Mem_EDCSupport": 20, 1;
        /// Revision of the chip.
        CAPABILITY_ASIC_REVISION = "ui32.ASICRevision": 22, 4;
        /// Caches and registers have error correction: part of the name of the instruction set.
        CAPABILITY_SRAM_EDC_SUPPORT = "ui32.SRAM_EDCSupport": 26, 1;
        /// Pages of the client's own can be shared with it.
        CAPABILITY_SVM_API_SUPPORTED = "ui32.SVMAPISupported": 27, 1;
    }
    "HSA_ENGINE_ID"."Value" {
        /// Firmware of the packet processor.
        ENGINE_ID_UCODE = "ui32.uCode": 0, 10;
        /// gfxA.b.c: A.
        ENGINE_ID_MAJOR = "ui32.Major": 10, 6;
        /// gfxA.b.c: b.
        ENGINE_ID_MINOR = "ui32.Minor": 16, 8;
        /// gfxA.b.c: c.
        ENGINE_ID_STEPPING = "ui32.Stepping": 24, 8;
    }
    "HSA_ENGINE_VERSION"."Value" {
        /// Firmware of the copy engines.
        ENGINE_VERSION_SDMA = "uCodeSDMA": 0, 10;
    }
    "HsaCacheType"."Value" {
        /// Holds data.
        CACHE_TYPE_DATA = "ui32.Data": 0, 1;
        /// Holds instructions.
        CACHE_TYPE_INSTRUCTION = "ui32.Instruction": 1, 1;
        /// Belongs to a CPU.
        CACHE_TYPE_CPU = "ui32.CPU": 2, 1;
        /// Belongs to a compute unit.
        CACHE_TYPE_HSACU = "ui32.HSACU": 3, 1;
    }
    "HSA_LINKPROPERTY"."LinkProperty" {
        /// The other flags count.
        LINK_OVERRIDE = "ui32.Override": 0, 1;
        /// It carries no atomic operations of 32 bits.
        LINK_NO_ATOMICS_32 = "ui32.NoAtomics32bit": 2, 1;
        /// It carries none of 64 bits.
        LINK_NO_ATOMICS_64 = "ui32.NoAtomics64bit": 3, 1;
    }
    "HsaMemFlags"."Value" {
        /// The device only reads.
        MEM_READ_ONLY = "ui32.ReadOnly": 3, 1;
        /// The host may touch it.
        MEM_HOST_ACCESS = "ui32.HostAccess": 6, 1;
        /// Global data share.
        MEM_GDS = "ui32.GDSMemory": 8, 1;
        /// A reservation that private memory of waves is carved from.
        MEM_SCRATCH = "ui32.Scratch": 9, 1;
        /// Holds code.
        MEM_EXECUTE_ACCESS = "ui32.ExecuteAccess": 12, 1;
        /// Holds a ring.
        MEM_AQL_QUEUE_MEMORY = "ui32.AQLQueueMemory": 14, 1;
        /// At the address given, or not at all.
        MEM_FIXED_ADDRESS = "ui32.FixedAddress": 15, 1;
    }
    "HsaMemMapFlags"."Value" {
        /// The device only reads while it is mapped so.
        MAP_READ_ONLY = "ui32.ReadOnly": 3, 1;
    }
}

/// The value of a bit field of `mask` that reads as `value`, cut to its width.
pub const fn field(mask: u32, value: u32) -> u32 {
    (value << mask.trailing_zeros()) & mask
}

/// What a bit field of `mask` reads as in `whole`.
pub const fn value(mask: u32, whole: u32) -> u32 {
    (whole & mask) >> mask.trailing_zeros()
}

/// Bits of `HsaAccessAttributeFailure`, which C knows only as members.
pub mod failure {
    /// The page is not there.
    pub const NOT_PRESENT: u32 = 1 << 0;
    /// A store to memory that is only for reading.
    pub const READ_ONLY: u32 = 1 << 1;
    /// Code fetched from memory that holds none.
    pub const NO_EXECUTE: u32 = 1 << 2;
    /// The address is not known.
    pub const IMPRECISE: u32 = 1 << 5;
    /// Error type 1: registers or caches are damaged.
    pub const SRAM_ECC: u32 = 1 << 6;
    /// Error type 3: the device hung.
    pub const HANG: u32 = 3 << 6;
}
