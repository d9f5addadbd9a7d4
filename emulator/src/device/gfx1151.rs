//! AMD Radeon 8060S: figures of published outputs of `rocminfo`, and of the data sheet of its processors with
//! LPDDR5X-8000, of which the driver sets 96 GiB aside. Versions of firmware are as on gfx1100.

use super::Card;
use crate::isa::Target;

pub(super) const RADEON_8060S: Card = Card {
    target: Target::Gfx1151,
    name: "gfx1151",
    product: "AMD Radeon 8060S (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx1151",
    chip_id: 0x1586,
    pci_class: 0x03_8000,
    asic_revision: 0,
    family_id: 150,
    is_apu: true,
    wavefront: 32,
    compute_units: 4,
    simds_per_unit: 2,
    waves_per_unit: 32,
    shader_engines: 2,
    arrays_per_engine: 2,
    dies: 1,
    copy_engines: 1,
    link_copy_engines: 0,
    copy_count_bits: 30,
    first_engine_for_uploads: false,
    cacheline: 128,
    caches: [32 << 10, 2 << 20, 32 << 20, 0],
    engine_clock: 2900,
    memory_clock: 4000,
    memory_width: 256,
    local_memory: 96 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 202,
    copy_firmware: 20,
};
