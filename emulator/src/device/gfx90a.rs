//! AMD Instinct MI210 (figures of its data sheet and of published outputs of `rocminfo`).

use super::Card;
use crate::isa::Target;

pub(super) const MI210: Card = Card {
    target: Target::Gfx90a,
    name: "gfx90a",
    product: "AMD Instinct MI210 (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
    chip_id: 0x740f,
    pci_class: 0x03_8000,
    asic_revision: 1,
    family_id: 141,
    is_apu: false,
    wavefront: 64,
    compute_units: 4,
    simds_per_unit: 4,
    waves_per_unit: 32,
    shader_engines: 8,
    arrays_per_engine: 1,
    dies: 1,
    copy_engines: 2,
    link_copy_engines: 3,
    copy_count_bits: 30,
    first_engine_for_uploads: true,
    cacheline: 64,
    caches: [16 << 10, 8 << 20, 0, 0],
    engine_clock: 1700,
    memory_clock: 1600,
    memory_width: 4096,
    local_memory: 64 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 78,
    copy_firmware: 8,
};
