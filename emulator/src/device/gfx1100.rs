//! AMD Radeon RX 7900 XTX (figures of its data sheet and of published outputs of `rocminfo`).

use super::Card;
use crate::isa::Target;

pub(super) const RX_7900_XTX: Card = Card {
    target: Target::Gfx1100,
    name: "gfx1100",
    product: "AMD Radeon RX 7900 XTX (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx1100",
    chip_id: 0x744c,
    pci_class: 0x03_0000,
    asic_revision: 0,
    family_id: 145,
    is_apu: false,
    wavefront: 32,
    compute_units: 4,
    simds_per_unit: 2,
    waves_per_unit: 32,
    shader_engines: 6,
    arrays_per_engine: 2,
    dies: 1,
    copy_engines: 2,
    link_copy_engines: 0,
    copy_count_bits: 30,
    first_engine_for_uploads: false,
    cacheline: 64,
    caches: [32 << 10, 6 << 20, 96 << 20, 0],
    engine_clock: 2526,
    memory_clock: 1249,
    memory_width: 384,
    local_memory: 24 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 202,
    copy_firmware: 20,
};
