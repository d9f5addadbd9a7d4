//! Finding a device: by its address on the PCI bus, by what it must have.

use std::ffi::{c_char, c_int};

use aqlipse::{Device, Properties};

use crate::{
    caller, current,
    error::{hipError_t, hipErrorInvalidDevice, hipErrorInvalidValue},
    types::{hipDeviceProp_tR0000, hipDeviceProp_tR0600},
};

/// Room for `dddd:bb:dd.f` and a NUL, which callers must give at least.
const PCI_TEXT_BYTES: usize = 13;

entry! {
    /// Stores a device's address on the PCI bus as text: domain, bus, device and function in hexadecimal.
    fn hipDeviceGetPCIBusId(text: *mut c_char, bytes: c_int, device: c_int) -> hipError_t {
        let room = usize::try_from(bytes).ok().filter(|&room| room >= PCI_TEXT_BYTES);
        if text.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (domain, bus, slot, function) = current::device_at(device)?.properties().pci;
        let address = format!("{domain:04x}:{bus:02x}:{slot:02x}.{function:x}");
        // SAFETY: the caller's buffer.
        unsafe { caller::write_text(&address, text, room.ok_or(hipErrorInvalidValue)?) }
    }
}

/// Reads an address on the PCI bus; domain and function may be left out, and are 0 then.
fn pci_address(text: &str) -> Option<(u32, u32, u32, u32)> {
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok();
    let (rest, function) = match text.split_once('.') {
        Some((rest, function)) => (rest, number(function)?),
        None => (text, 0),
    };
    match rest.split(':').collect::<Vec<_>>()[..] {
        [domain, bus, slot] => Some((number(domain)?, number(bus)?, number(slot)?, function)),
        [bus, slot] => Some((0, number(bus)?, number(slot)?, function)),
        _ => None,
    }
}

entry! {
    /// Stores the device with an address on the PCI bus.
    fn hipDeviceGetByPCIBusId(device: *mut c_int, address: *const c_char) -> hipError_t {
        if device.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's string, null or terminated.
        let text = unsafe { caller::text(address) }?.to_str().map_err(|_| hipErrorInvalidValue)?;
        let address = pci_address(text).ok_or(hipErrorInvalidValue)?;
        let found = current::devices()?.iter().find(|device| device.properties().pci == address);
        // HIP: 5.2.3, hipErrorInvalidValue (tests/conformance/device_identity.cpp).
        let ordinal = found.ok_or(hipErrorInvalidValue)?.ordinal();
        // SAFETY: the caller's pointer, which is not null. CAST: ordinals are small.
        unsafe { caller::write(device, ordinal as c_int) }
    }
}

/// What a device should have at least; 0 where the caller does not mind.
struct Wanted {
    memory: u64,
    capability: (c_int, c_int),
    compute_units: c_int,
    clock_khz: c_int,
    lds: u64,
    threads: c_int,
}

impl Wanted {
    /// How many of the wishes a device meets.
    fn met(&self, has: &Properties) -> usize {
        let at_least = |wanted: c_int, has: u32| i64::from(wanted) <= i64::from(has);
        let (major, minor) = has.capability;
        let newer =
            (i64::from(self.capability.0), i64::from(self.capability.1)) <= (major.into(), minor.into());
        [
            self.memory <= has.total_memory,
            newer,
            at_least(self.compute_units, has.multiprocessors),
            at_least(self.clock_khz, has.clock_khz),
            self.lds <= u64::from(has.lds_per_block),
            at_least(self.threads, has.max_threads_per_block),
        ]
        .into_iter()
        .filter(|&met| met)
        .count()
    }

    /// The first of the devices that meet most wishes.
    fn choose<'d>(&self, devices: &'d [Device]) -> Option<&'d Device> {
        // Of equal ones `max_by_key` takes the last.
        devices.iter().rev().max_by_key(|device| self.met(device.properties()))
    }
}

unsafe fn choose(device: *mut c_int, wanted: &Wanted) -> Result<(), hipError_t> {
    let found = wanted.choose(current::devices()?).ok_or(hipErrorInvalidDevice)?;
    // SAFETY: the caller's pointer, null or writable. CAST: ordinals are small.
    unsafe { caller::write(device, found.ordinal() as c_int) }
}

entry! {
    /// Stores the device that is nearest to the properties asked for, in the layout since HIP 6.0.
    fn hipChooseDeviceR0600(device: *mut c_int, properties: *const hipDeviceProp_tR0600) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable.
        let p = unsafe { caller::read(properties) }?;
        let wanted = Wanted {
            memory: p.totalGlobalMem as u64,
            capability: (p.major, p.minor),
            compute_units: p.multiProcessorCount,
            clock_khz: p.clockRate,
            lds: p.sharedMemPerBlock as u64,
            threads: p.maxThreadsPerBlock,
        };
        // SAFETY: the caller's pointer.
        unsafe { choose(device, &wanted) }
    }
}

unsafe fn choose_before_6(
    device: *mut c_int,
    properties: *const hipDeviceProp_tR0000,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let p = unsafe { caller::read(properties) }?;
    let wanted = Wanted {
        memory: p.totalGlobalMem as u64,
        capability: (p.major, p.minor),
        compute_units: p.multiProcessorCount,
        clock_khz: p.clockRate,
        lds: p.sharedMemPerBlock as u64,
        threads: p.maxThreadsPerBlock,
    };
    // SAFETY: the caller's pointer.
    unsafe { choose(device, &wanted) }
}

entry! {
    /// Stores the device that is nearest to the properties asked for, in the layout before HIP 6.0.
    fn hipChooseDevice, hipChooseDeviceR0000(device: *mut c_int, properties: *const hipDeviceProp_tR0000) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { choose_before_6(device, properties) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pci_addresses_are_read_with_and_without_domain_and_function() {
        assert_eq!(pci_address("0001:c3:1f.2"), Some((1, 0xc3, 0x1f, 2)));
        assert_eq!(pci_address("c3:00"), Some((0, 0xc3, 0, 0)));
        for bad in ["", "c3", "1:2:3:4", "x:0", "0:0.", "-1:0"] {
            assert_eq!(pci_address(bad), None, "{bad}");
        }
    }
}
