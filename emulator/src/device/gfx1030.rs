//! AMD Radeon RX 6900 XT (figures of its data sheet and of published outputs of `rocminfo` on its family).

use super::Card;
use crate::isa::Target;

pub(super) const RX_6900_XT: Card = Card {
    target: Target::Gfx1030,
    name: "gfx1030",
    product: "AMD Radeon RX 6900 XT (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx1030",
    chip_id: 0x73bf,
    pci_class: 0x03_0000,
    asic_revision: 1,
    family_id: 143,
    is_apu: false,
    wavefront: 32,
    compute_units: 4,
    simds_per_unit: 2,
    waves_per_unit: 32,
    shader_engines: 4,
    arrays_per_engine: 2,
    dies: 1,
    copy_engines: 4,
    link_copy_engines: 0,
    copy_count_bits: 30,
    first_engine_for_uploads: false,
    cacheline: 64,
    caches: [16 << 10, 4 << 20, 128 << 20, 0],
    engine_clock: 2660,
    memory_clock: 1000,
    memory_width: 256,
    local_memory: 16 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 118,
    copy_firmware: 83,
};
