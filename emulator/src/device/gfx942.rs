//! AMD Instinct MI300X (figures of its data sheet and of published outputs of `rocminfo`).

use super::Card;
use crate::isa::Target;

pub(super) const MI300X: Card = Card {
    target: Target::Gfx942,
    name: "gfx942",
    product: "AMD Instinct MI300X (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
    chip_id: 0x74a1,
    pci_class: 0x12_0000,
    asic_revision: 1,
    family_id: 141,
    is_apu: false,
    wavefront: 64,
    compute_units: 4,
    simds_per_unit: 4,
    waves_per_unit: 32,
    shader_engines: 32,
    arrays_per_engine: 1,
    dies: 8,
    copy_engines: 2,
    link_copy_engines: 14,
    copy_count_bits: 22,
    first_engine_for_uploads: false,
    cacheline: 128,
    caches: [32 << 10, 4 << 20, 256 << 20, 0],
    engine_clock: 2100,
    memory_clock: 1300,
    memory_width: 8192,
    local_memory: 192 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 177,
    copy_firmware: 22,
};
