//! AMD Radeon 780M: figures of the data sheet of its processors with DDR5-5600, of which the driver sets 4 GiB aside.
//! What that does not say, such as versions of firmware, is as on gfx1100.

use super::Card;
use crate::isa::Target;

pub(super) const RADEON_780M: Card = Card {
    target: Target::Gfx1103,
    name: "gfx1103",
    product: "AMD Radeon 780M (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx1103",
    chip_id: 0x15bf,
    pci_class: 0x03_0000,
    asic_revision: 1,
    family_id: 148,
    is_apu: true,
    wavefront: 32,
    compute_units: 4,
    simds_per_unit: 2,
    waves_per_unit: 32,
    shader_engines: 1,
    arrays_per_engine: 2,
    dies: 1,
    copy_engines: 1,
    link_copy_engines: 0,
    copy_count_bits: 30,
    first_engine_for_uploads: false,
    cacheline: 64,
    caches: [32 << 10, 2 << 20, 0, 0],
    engine_clock: 2700,
    memory_clock: 2800,
    memory_width: 128,
    local_memory: 4 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 202,
    copy_firmware: 20,
};
