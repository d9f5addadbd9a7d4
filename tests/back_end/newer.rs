//! What newer HSA runtimes add: queries of queues and of mapped memory, memory as file descriptors.
//!
//! ROCr 5.2.3 has none of it. The emulated device has all, and so has ROCr since the 6 line.

use std::{
    collections::BTreeSet,
    os::fd::{AsFd, AsRawFd, IntoRawFd},
};

use hsa::{Access, Queue, QueueOptions, Reservation, VirtualMemory};
use hsa_sys::{
    HSA_ACCESS_PERMISSION_NONE, HSA_ACCESS_PERMISSION_RO, HSA_ACCESS_PERMISSION_RW, HSA_AMD_QUEUE_INFO_AGENT,
    HSA_AMD_QUEUE_INFO_DOORBELL_ID, HSA_STATUS_ERROR_INVALID_AGENT, HSA_STATUS_ERROR_INVALID_ARGUMENT,
    HSA_STATUS_SUCCESS, hsa_access_permission_t, hsa_agent_t, hsa_amd_vmem_alloc_handle_t,
    hsa_queue_info_attribute_t,
};

use super::{machine, queues::small};
use crate::toolchain::is_emulated;

/// A function that an older ROCr lacks, and no other back end.
fn newer<F>(function: Option<F>) -> Option<F> {
    assert!(function.is_some() || !is_emulated(), "the emulated device has it");
    function
}

/// A word that the device fills with the same four bytes: runtime 1.18 fills mapped memory with the lowest one.
const WORD: u32 = 0x7373_7373;

/// Fills the first word at an address.
fn write(address: u64) {
    // SAFETY: callers map memory there, which no other code uses.
    unsafe { machine().runtime.fill(address, WORD, 1).expect("a fill") };
}

/// The first word at an address.
fn read(address: u64) -> u32 {
    let seen = machine().shared(4096);
    // SAFETY: callers map memory there, which no other code uses; the copy is over when the host reads.
    unsafe {
        machine().runtime.copy(seen.address(), address, 4).expect("a copy");
        seen.as_ptr().cast::<u32>().read_volatile()
    }
}

/// Addresses for two granules, and how many bytes one is.
fn addresses(vmem: &VirtualMemory) -> (Reservation, usize) {
    // CAST: a page, large or small.
    let granule = machine().local().properties().granule as usize;
    (vmem.reserve(2 * granule, 0, 0).expect("addresses"), granule)
}

#[test]
fn a_queue_tells_its_agent_and_a_doorbell_of_its_own() {
    let machine = machine();
    let Some(get_info) = newer(machine.runtime.api().hsa_amd_queue_get_info) else { return };
    let ordinary = || {
        let options = QueueOptions::default();
        Queue::create(&machine.gpu, 256, options, Box::new(|_| ())).expect("a queue")
    };
    let queues = [small(), ordinary(), ordinary()];
    let mut doorbells = BTreeSet::new();
    for queue in &queues {
        let (mut agent, mut doorbell) = (hsa_agent_t::default(), 0u64);
        let unknown = hsa_queue_info_attribute_t(77);
        // SAFETY: the queue exists, and each answer has its room.
        unsafe {
            let agent = (&raw mut agent).cast();
            assert_eq!(get_info(queue.raw(), HSA_AMD_QUEUE_INFO_AGENT, agent), HSA_STATUS_SUCCESS);
            let doorbell = (&raw mut doorbell).cast();
            assert_eq!(get_info(queue.raw(), HSA_AMD_QUEUE_INFO_DOORBELL_ID, doorbell), HSA_STATUS_SUCCESS);
            assert_eq!(get_info(queue.raw(), unknown, doorbell), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        assert_eq!(agent, machine.gpu.raw());
        doorbells.insert(doorbell);
    }
    assert_eq!(doorbells.len(), queues.len(), "{doorbells:x?}");
}

#[test]
fn mapped_memory_tells_what_the_device_may_do_with_it() {
    let machine = machine();
    let Some(get_access) = newer(machine.runtime.api().hsa_amd_vmem_get_access) else { return };
    let Some(vmem) = machine.runtime.vmem() else { return };
    let (addresses, granule) = addresses(&vmem);
    let memory = vmem.create(&machine.local(), granule).expect("memory");
    let access = |offset: usize| {
        // CAST: addresses of a 64-bit process.
        let start = std::ptr::without_provenance_mut((addresses.address() as usize) + offset);
        let mut permission = hsa_access_permission_t(77);
        // SAFETY: the address is looked up, and the answer has its room.
        let status = unsafe { get_access(start, &raw mut permission, machine.gpu.raw()) };
        (status == HSA_STATUS_SUCCESS).then_some(permission)
    };
    assert_eq!(access(0), None, "nothing is mapped");
    addresses.map(0, &memory, granule).expect("nothing is there");
    assert_eq!(access(0), Some(HSA_ACCESS_PERMISSION_NONE));
    for (wanted, permission) in
        [(Access::Read, HSA_ACCESS_PERMISSION_RO), (Access::ReadWrite, HSA_ACCESS_PERMISSION_RW)]
    {
        addresses.set_access(0, granule, std::slice::from_ref(&machine.gpu), wanted).expect("access");
        assert_eq!([access(0), access(granule - 1)], [Some(permission); 2]);
    }
    // SAFETY: nothing uses it.
    unsafe { addresses.unmap(0).expect("it is mapped") };
    assert_eq!(access(0), None, "nothing is mapped any more");
}

#[test]
fn a_handle_that_is_retained_by_its_address_outlives_the_one_that_was_released() {
    let machine = machine();
    let api = machine.runtime.api();
    let Some(retain) = newer(api.hsa_amd_vmem_retain_alloc_handle) else { return };
    let (Some(vmem), Some(release)) = (machine.runtime.vmem(), api.hsa_amd_vmem_handle_release) else {
        return;
    };
    let (addresses, granule) = addresses(&vmem);
    let memory = vmem.create(&machine.local(), granule).expect("memory");
    assert_eq!(memory.pool(), Some(machine.local().raw()));
    addresses.map(0, &memory, granule).expect("nothing is there");
    let both = [machine.gpu.clone(), machine.cpu.clone()];
    addresses.set_access(0, granule, &both, Access::ReadWrite).expect("access");
    write(addresses.address());
    let mut handle = hsa_amd_vmem_alloc_handle_t::default();
    // CAST: addresses of a 64-bit process.
    let start = std::ptr::without_provenance_mut(addresses.address() as usize);
    // SAFETY: the address is looked up, and the answer has its room.
    assert_eq!(unsafe { retain(&raw mut handle, start) }, HSA_STATUS_SUCCESS);
    assert_eq!(handle, memory.raw());
    drop(memory);
    assert_eq!(read(addresses.address()), WORD);
    // SAFETY: nothing uses it; the handle is the test's, once.
    unsafe {
        addresses.unmap(0).expect("it is mapped");
        assert_eq!(release(handle), HSA_STATUS_SUCCESS);
        assert_ne!(release(handle), HSA_STATUS_SUCCESS, "it is gone");
    }
}

#[test]
fn a_handle_comes_back_from_a_descriptor_with_its_memory() {
    let machine = machine();
    let Some(vmem) = machine.runtime.vmem() else { return };
    assert!(vmem.can_share());
    let (addresses, granule) = addresses(&vmem);
    let both = [machine.gpu.clone(), machine.cpu.clone()];
    let memory = vmem.create_pinned(&machine.local(), granule).expect("memory");
    addresses.map(0, &memory, granule).expect("nothing is there");
    addresses.set_access(0, granule, &both, Access::ReadWrite).expect("access");
    write(addresses.address());
    let descriptor = memory.export().expect("a descriptor");
    // SAFETY: nothing uses it.
    unsafe { addresses.unmap(0).expect("it is mapped") };
    let imported = vmem.import(descriptor.as_fd(), granule).expect("it is memory of a device");
    drop((descriptor, memory));
    addresses.map(granule, &imported, granule).expect("nothing is there");
    addresses.set_access(granule, granule, &both, Access::ReadWrite).expect("access");
    assert_eq!(read(addresses.address() + granule as u64), WORD);
}

#[test]
fn a_range_of_an_allocation_leaves_as_a_descriptor_that_the_runtime_closes() {
    let machine = machine();
    let Some(close) = newer(machine.runtime.api().hsa_amd_portable_close_dmabuf) else { return };
    const RANGE: u64 = 16 << 10;
    let memory = machine.local().allocate(64 << 10).expect("memory");
    if is_emulated() {
        // Its descriptor would give away the allocations that share a file with this one.
        let refused = machine.runtime.export_range(memory.address(), RANGE as usize).expect_err("shared");
        assert_eq!(refused.status(), Some(HSA_STATUS_ERROR_INVALID_AGENT));
        return;
    }
    let export = |address| machine.runtime.export_range(address, RANGE as usize).expect("a descriptor");
    let (first, at_start) = export(memory.address());
    let (second, inside) = export(memory.address() + RANGE);
    assert_eq!(inside, at_start + RANGE);
    assert_ne!(first.as_raw_fd(), second.as_raw_fd());
    for descriptor in [first, second].map(IntoRawFd::into_raw_fd) {
        // SAFETY: the descriptor is the test's, and nothing else refers to it; F_GETFD looks it up.
        unsafe {
            assert_eq!(close(descriptor), HSA_STATUS_SUCCESS);
            assert_eq!(libc::fcntl(descriptor, libc::F_GETFD), -1, "it is closed");
        }
    }
}
