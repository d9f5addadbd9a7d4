//! AMD Radeon RX 9070 XT (figures of its data sheet and of published outputs of `rocminfo`).

use super::Card;
use crate::isa::Target;

pub(super) const RX_9070_XT: Card = Card {
    target: Target::Gfx1201,
    name: "gfx1201",
    product: "AMD Radeon RX 9070 XT (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx1201",
    chip_id: 0x7550,
    pci_class: 0x03_0000,
    asic_revision: 1,
    family_id: 152,
    is_apu: false,
    wavefront: 32,
    compute_units: 4,
    simds_per_unit: 2,
    waves_per_unit: 32,
    shader_engines: 4,
    arrays_per_engine: 2,
    dies: 1,
    copy_engines: 2,
    link_copy_engines: 0,
    copy_count_bits: 30,
    first_engine_for_uploads: false,
    cacheline: 256,
    caches: [32 << 10, 8 << 20, 64 << 20, 0],
    engine_clock: 2570,
    memory_clock: 1250,
    memory_width: 256,
    local_memory: 16 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 358,
    copy_firmware: 662,
};
