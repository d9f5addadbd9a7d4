//! The properties of a device in one struct, whose layout changed in HIP 6.0.

use std::ffi::{c_char, c_int};

use aqlipse::Device;

use super::query::{TEXTURE_ALIGNMENT, identity, int, largest_blocks_per_unit, shareable_handles};
use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidValue},
    types::*,
};

/// Bytes of C text in an array of fixed size, NUL behind them.
fn text<const N: usize>(text: &str) -> [c_char; N] {
    let mut out = [0; N];
    for (c, byte) in out[..N - 1].iter_mut().zip(text.bytes()) {
        // CAST: bytes, whatever the signedness of C's char.
        *c = byte as c_char;
    }
    out
}

/// Bits of [`hipDeviceArch_t`] that are clear: funnel shifts, `__syncthreads_count` and its like, surfaces, and launches
/// by kernels; the 13 others are set.
// HIP: 5.2.3 (tests/conformance/device_properties.cpp).
const ARCH: hipDeviceArch_t = hipDeviceArch_t { bits: 0x1_ffff & !(1 << 11 | 1 << 13 | 1 << 14 | 1 << 16) };

/// Fills the fields that both layouts have; what no field says is 0.
macro_rules! fill {
    ($out:ident, $p:ident) => {
        $out.name = text(&$p.name);
        $out.totalGlobalMem = $p.total_memory as usize;
        $out.sharedMemPerBlock = $p.lds_per_block as usize;
        $out.regsPerBlock = int($p.registers_per_block);
        $out.warpSize = int($p.wavefront);
        $out.memPitch = c_int::MAX as usize;
        $out.maxThreadsPerBlock = int($p.max_threads_per_block);
        $out.maxThreadsDim = $p.max_block.map(int);
        $out.maxGridSize = $p.max_grid.map(int);
        $out.clockRate = int($p.clock_khz);
        $out.clockInstructionRate = int($p.clock_khz);
        $out.memoryClockRate = int($p.memory_clock_khz);
        $out.memoryBusWidth = int($p.memory_bus_bits);
        $out.totalConstMem = $p.total_memory.min(c_int::MAX as u64) as usize;
        $out.major = int($p.capability.0);
        $out.minor = int($p.capability.1);
        $out.arch = ARCH;
        $out.gcnArchName = text(&$p.arch);
        $out.textureAlignment = TEXTURE_ALIGNMENT;
        $out.texturePitchAlignment = TEXTURE_ALIGNMENT;
        $out.multiProcessorCount = int($p.multiprocessors);
        $out.maxThreadsPerMultiProcessor = int($p.max_threads_per_unit);
        $out.maxSharedMemoryPerMultiProcessor = $p.lds_per_block as usize;
        $out.l2CacheSize = int($p.l2_bytes);
        $out.pciBusID = int($p.pci.1);
        $out.pciDeviceID = int($p.pci.2);
        $out.pciDomainID = int($p.pci.0);
        $out.canMapHostMemory = 1;
        $out.concurrentKernels = 1;
        $out.managedMemory = 1;
        $out.concurrentManagedAccess = $p.managed.moves.into();
        $out.directManagedMemAccessFromHost = $p.managed.host_reaches_device.into();
        $out.pageableMemoryAccess = $p.managed.pageable.into();
        $out.pageableMemoryAccessUsesHostPageTables = $p.managed.host_page_tables.into();
        $out.cooperativeLaunch = c_int::from($p.cooperative);
        $out.cooperativeMultiDeviceLaunch = c_int::from($p.cooperative);
        $out.cooperativeMultiDeviceUnmatchedFunc = c_int::from($p.cooperative);
        $out.cooperativeMultiDeviceUnmatchedGridDim = c_int::from($p.cooperative);
        $out.cooperativeMultiDeviceUnmatchedBlockDim = c_int::from($p.cooperative);
        $out.cooperativeMultiDeviceUnmatchedSharedMem = c_int::from($p.cooperative);
        $out.isLargeBar = c_int::from($p.large_bar);
        $out.asicRevision = int($p.asic_revision);
    };
}

fn since_6(device: &Device) -> hipDeviceProp_tR0600 {
    let p = device.properties();
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut out: hipDeviceProp_tR0600 = unsafe { std::mem::zeroed() };
    fill!(out, p);
    out.uuid = identity(p);
    out.unifiedAddressing = 1;
    out.sharedMemPerMultiprocessor = p.lds_per_block as usize;
    out.regsPerMultiprocessor = int(p.registers_per_block);
    out.memoryPoolsSupported = 1;
    out.memoryPoolSupportedHandleTypes = shareable_handles(device).0;
    out.streamPrioritiesSupported = 1;
    out.hostRegisterSupported = 1;
    out.deviceOverlap = 1;
    out.globalL1CacheSupported = 1;
    out.localL1CacheSupported = 1;
    out.hostNativeAtomicSupported = p.host_atomics.into();
    out.surfaceAlignment = TEXTURE_ALIGNMENT;
    out.sharedMemPerBlockOptin = p.lds_per_block as usize;
    out.maxBlocksPerMultiProcessor = int(largest_blocks_per_unit(p));
    out
}

fn before_6(device: &Device) -> hipDeviceProp_tR0000 {
    let p = device.properties();
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut out: hipDeviceProp_tR0000 = unsafe { std::mem::zeroed() };
    fill!(out, p);
    out.gcnArch = gcn_number(&p.arch);
    out
}

/// The number of a processor, a hexadecimal digit of which counts in its place: 910 for gfx90a, 942 for gfx942.
fn gcn_number(arch: &str) -> c_int {
    let processor = arch.split(':').next().unwrap_or_default();
    let digits = processor.strip_prefix("gfx").unwrap_or_default().chars().map(|c| c.to_digit(16));
    // CAST: an overlong name wraps, and no processor has one.
    digits.flatten().fold(0, |number: c_int, digit| number.wrapping_mul(10).wrapping_add(digit as c_int))
}

unsafe fn store<P: Copy>(out: *mut P, device: c_int, layout: fn(&Device) -> P) -> Result<(), hipError_t> {
    if out.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let device = current::device_at(device)?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(out, layout(&device)) }
}

entry! {
    /// Stores a device's properties in the layout since HIP 6.0.
    fn hipGetDevicePropertiesR0600(properties: *mut hipDeviceProp_tR0600, device: c_int) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { store(properties, device, since_6) }
    }
}

entry! {
    /// Stores a device's properties in the layout before HIP 6.0.
    fn hipGetDeviceProperties, hipGetDevicePropertiesR0000(properties: *mut hipDeviceProp_tR0000, device: c_int) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { store(properties, device, before_6) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processors_number_has_its_stepping_in_decimal() {
        assert_eq!(gcn_number("gfx90a:sramecc+:xnack-"), 910);
        assert_eq!(gcn_number("gfx942"), 942);
        assert_eq!(gcn_number("gfx1100"), 1100);
        assert_eq!(gcn_number(""), 0);
    }
}
