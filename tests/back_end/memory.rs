//! Pools, pinned memory, lookup of addresses, copies, virtual memory.

use std::sync::atomic::Ordering;

use aqlipse::{Device, typed::DeviceBuffer};
use hsa::{Access, Condition, PoolAccess, PoolProperties, Signal, WaitState, Waiters};
use hsa_sys::{
    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_SEGMENT_GROUP,
    HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED, HSA_EXT_POINTER_TYPE_HSA, HSA_EXT_POINTER_TYPE_LOCKED,
    HSA_STATUS_ERROR_INVALID_ARGUMENT,
};

use super::{LONG, machine};
use crate::toolchain::is_emulated;

const PAGE: usize = 4096;

#[test]
fn global_pools_have_one_grain() {
    let machine = machine();
    for agent in [&machine.cpu, &machine.gpu] {
        let pools = machine.pools(agent);
        assert!(!pools.is_empty(), "{agent:?}");
        for properties in pools.iter().map(hsa::Pool::properties) {
            assert_eq!(properties.segment, HSA_AMD_SEGMENT_GLOBAL, "{properties:?}");
            let grains = [
                properties.is_coarse_grained(),
                properties.is_fine_grained(),
                properties.is_fine_grained_for_the_system(),
            ];
            assert_eq!(grains.into_iter().filter(|is| *is).count(), 1, "{properties:?}");
            assert!(properties.granule.is_power_of_two(), "{properties:?}");
            assert!(properties.alignment.is_power_of_two(), "{properties:?}");
            // No bound: ROCr 5.2.3 lets a host pool give more than it has.
            assert!(properties.size > 0 && properties.alloc_max_size > 0, "{properties:?}");
        }
    }
}

#[test]
fn the_host_has_fine_memory_and_memory_for_kernel_arguments() {
    let machine = machine();
    let kernarg = machine.host(PoolProperties::is_kernarg);
    // The runtime writes arguments and reads them back without a fence between.
    assert!(kernarg.properties().is_fine_grained());
    for pool in [kernarg, machine.host(|pool| pool.is_fine_grained() && !pool.is_kernarg())] {
        assert_ne!(pool.access(&machine.gpu), Ok(PoolAccess::Never), "{pool:?}");
    }
}

#[test]
fn the_device_has_local_memory_and_group_memory_that_nobody_allocates() {
    let machine = machine();
    assert!(!machine.local().properties().is_kernarg());
    let pools = machine.gpu.pools().expect("pools");
    let group = pools.iter().find(|pool| pool.properties().segment == HSA_AMD_SEGMENT_GROUP);
    let group = group.expect("group memory").properties();
    assert!(!group.alloc_allowed && group.size >= 64 << 10, "{group:?}");
}

#[test]
fn every_pool_gives_aligned_memory_that_both_sides_can_use() {
    let machine = machine();
    let staging = machine.shared(PAGE);
    for pool in machine.pools(&machine.cpu).into_iter().chain(machine.pools(&machine.gpu)) {
        let memory = pool.allocate(PAGE + 4).expect("memory");
        assert_eq!(memory.address() % pool.properties().alignment, 0, "{pool:?}");
        memory.allow_access(std::slice::from_ref(&machine.gpu)).expect("access");
        // SAFETY: the words exist, and nobody else has their addresses.
        unsafe {
            machine.runtime.fill(memory.address(), 0x0102_0304, PAGE / 4).expect("a fill");
            machine.runtime.copy(staging.address(), memory.address(), PAGE).expect("a copy");
        }
        // SAFETY: the host's own memory, which no device writes now.
        let copied = unsafe { std::slice::from_raw_parts(staging.as_ptr(), PAGE) };
        assert!(copied.chunks(4).all(|word| word == 0x0102_0304u32.to_ne_bytes()), "{pool:?}");
        if pool.access(&machine.cpu) == Ok(PoolAccess::ByDefault) {
            // SAFETY: the host reaches the memory, which no device writes now.
            assert_eq!(unsafe { memory.as_ptr().cast::<u32>().read_volatile() }, 0x0102_0304, "{pool:?}");
        }
    }
}

#[test]
fn no_bytes_and_too_many_are_refused() {
    let machine = machine();
    for pool in machine.pools(&machine.cpu).into_iter().chain(machine.pools(&machine.gpu)) {
        let nothing = pool.allocate(0).expect_err("no bytes");
        assert_eq!(nothing.status(), Some(HSA_STATUS_ERROR_INVALID_ARGUMENT), "{pool:?}");
        // CAST: less than the address space.
        let most = pool.properties().alloc_max_size as usize;
        pool.allocate(most + (1 << 30)).expect_err("more than there is");
    }
}

#[test]
fn access_is_granted_at_the_start_of_an_allocation_only() {
    let machine = machine();
    let memory = machine.local().allocate(PAGE).expect("memory");
    let both = [machine.cpu.clone(), machine.gpu.clone()];
    // Without a large BAR the host has none to be granted, which ROCr does not say here.
    if machine.local().access(&machine.cpu) != Ok(PoolAccess::Never) {
        memory.allow_access(&both).expect("access");
    }
    let foreign = Box::new([0u8; PAGE]);
    machine.runtime.allow_access(foreign.as_ptr().addr() as u64, &both).expect_err("not an allocation");
}

#[test]
fn an_address_leads_to_its_allocation() {
    let machine = machine();
    for pool in machine.pools(&machine.cpu).into_iter().chain(machine.pools(&machine.gpu)) {
        let memory = pool.allocate(3 * PAGE).expect("memory");
        let find = |address| machine.runtime.pointer_info(address).expect("an answer");
        machine.runtime.set_user_data(memory.address(), 77).expect("it starts there");
        for offset in [0, 1, PAGE as u64, 3 * PAGE as u64 - 1] {
            let info = find(memory.address() + offset).expect("it is inside");
            assert_eq!(info.kind, HSA_EXT_POINTER_TYPE_HSA, "{pool:?} {offset}");
            assert_eq!((info.agent_base, info.user_data), (memory.address(), 77), "{pool:?} {offset}");
            assert!(info.len >= 3 * PAGE, "{pool:?} {offset}");
            // Runtime 1.18 tells coarse from fine only.
            let fine = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED.0;
            let flags = pool.properties().flags;
            let coarser = pool.properties().is_fine_grained_for_the_system() && info.flags == fine;
            assert!(info.flags == flags || coarser, "{pool:?} {offset} {:#x}", info.flags);
        }
        let address = memory.address();
        drop(memory);
        assert_ne!(find(address).map(|info| info.user_data), Some(77), "{pool:?}: it is freed");
    }
}

#[test]
fn memory_of_others_is_unknown() {
    let machine = machine();
    let foreign = Box::new([0u8; PAGE]);
    for address in [8, foreign.as_ptr().addr() as u64] {
        assert_eq!(machine.runtime.pointer_info(address), Ok(None), "{address:#x}");
        machine.runtime.set_user_data(address, 1).expect_err("nothing to leave it at");
    }
}

#[test]
fn pinned_memory_has_an_address_for_the_device() {
    let machine = machine();
    let pool = machine.host(PoolProperties::is_fine_grained);
    for pool in [None, Some(&pool)] {
        // Neither its start nor its end is that of a page.
        let mut host = vec![1u8; 5 * PAGE + 100];
        let start = host[60..].as_mut_ptr();
        // SAFETY: `host` lives longer than what is pinned.
        let pinned =
            unsafe { machine.runtime.lock(start, 4 * PAGE, std::slice::from_ref(&machine.gpu), pool) };
        let pinned = pinned.expect("host memory can be pinned");
        let info = machine.runtime.pointer_info(pinned.agent_address() + 5).expect("an answer");
        let info = info.expect("it is known");
        assert_eq!(info.kind, HSA_EXT_POINTER_TYPE_LOCKED);
        assert_eq!((info.agent_base, info.host_base), (pinned.agent_address(), start.addr() as u64));
        assert!(info.len >= 4 * PAGE);
        let memory = machine.local().allocate(4 * PAGE).expect("memory");
        // SAFETY: both ranges exist, and nobody else has their addresses.
        unsafe {
            machine.runtime.fill(memory.address(), 0x0707_0707, PAGE).expect("a fill");
            let done = Signal::create(&machine.runtime, 1, &[], Waiters::HostAndDevice).expect("a signal");
            let (to, from) = ((pinned.agent_address(), &machine.gpu), (memory.address(), &machine.gpu));
            machine.runtime.copy_async(to, from, 4 * PAGE, &[], &done).expect("a copy");
            assert_eq!(done.wait(Condition::Equal, 0, Some(LONG), WaitState::Blocked), 0);
        }
        drop(pinned);
        assert!(host[60..60 + 4 * PAGE].iter().all(|byte| *byte == 7));
        assert!(host[..60].iter().chain(&host[60 + 4 * PAGE..]).all(|byte| *byte == 1), "beside it");
    }
}

#[test]
fn copies_wait_for_the_signals_that_they_are_given() {
    let machine = machine();
    let (from, to) = (machine.shared(PAGE), machine.local().allocate(PAGE).expect("memory"));
    let signal = || Signal::create(&machine.runtime, 1, &[], Waiters::HostAndDevice).expect("a signal");
    let (first, second, done) = (signal(), signal(), signal());
    let back = signal();
    // SAFETY: the ranges exist until the copies are over, and the host writes before it lets them start.
    unsafe {
        let (there, here) = ((to.address(), &machine.gpu), (from.address(), &machine.cpu));
        machine.runtime.copy_async(there, here, PAGE, &[&first, &second], &done).expect("a copy");
        first.store(0, Ordering::Release);
        let early =
            done.wait(Condition::Equal, 0, Some(std::time::Duration::from_millis(30)), WaitState::Blocked);
        assert_eq!(early, 1, "the second signal holds it");
        from.as_ptr().cast::<u32>().write_volatile(0x55);
        second.store(0, Ordering::Release);
        assert_eq!(done.wait(Condition::Equal, 0, Some(LONG), WaitState::Blocked), 0);
        from.as_ptr().cast::<u32>().write_volatile(0);
        machine.runtime.copy_async(here, there, PAGE, &[&done], &back).expect("a copy");
        assert_eq!(back.wait(Condition::Equal, 0, Some(LONG), WaitState::Blocked), 0);
        assert_eq!(from.as_ptr().cast::<u32>().read_volatile(), 0x55);
    }
}

#[test]
fn virtual_memory_is_there_if_every_function_is_and_the_driver_agrees() {
    let machine = machine();
    let api = machine.runtime.api();
    let complete = api.hsa_amd_vmem_address_reserve.is_some()
        && api.hsa_amd_vmem_address_free.is_some()
        && api.hsa_amd_vmem_handle_create.is_some()
        && api.hsa_amd_vmem_handle_release.is_some()
        && api.hsa_amd_vmem_map.is_some()
        && api.hsa_amd_vmem_unmap.is_some()
        && api.hsa_amd_vmem_set_access.is_some();
    let mut supported = false;
    // SAFETY: the answer is one byte.
    let status = unsafe {
        (api.hsa_system_get_info)(HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED, (&raw mut supported).cast())
    };
    let supported = supported && status == hsa_sys::HSA_STATUS_SUCCESS;
    assert_eq!(machine.runtime.vmem().is_some(), complete && supported);
    assert!(machine.runtime.vmem().is_some() || !is_emulated(), "the emulator has it");
}

#[test]
fn memory_can_be_mapped_unmapped_and_mapped_elsewhere() {
    let machine = machine();
    let Some(vmem) = machine.runtime.vmem() else { return };
    let pool = machine.local();
    // CAST: a page, large or small.
    let granule = pool.properties().granule as usize;
    let addresses = vmem.reserve(2 * granule, 0, 0).expect("addresses");
    let memory = vmem.create(&pool, granule).expect("memory");
    addresses.map(0, &memory, granule).expect("nothing is there");
    addresses.map(0, &memory, granule).expect_err("something is there");
    addresses.map(2 * granule, &memory, granule).expect_err("outside the reservation");
    addresses
        .set_access(0, granule, &[machine.gpu.clone(), machine.cpu.clone()], Access::ReadWrite)
        .expect("access");
    let word = |offset: usize| addresses.address() + offset as u64;
    let seen = machine.shared(PAGE);
    // SAFETY: each range is mapped when it is used, and nobody else has its address.
    unsafe {
        // Runtime 1.18 fills what is mapped with the value's lowest byte.
        machine.runtime.fill(word(0), 0x9999_9999, 1).expect("a fill");
        addresses.unmap(0).expect("it is mapped");
        addresses.unmap(0).expect_err("nothing is mapped");
        addresses.map(granule, &memory, granule).expect("nothing is there");
        let both = [machine.gpu.clone(), machine.cpu.clone()];
        addresses.set_access(granule, granule, &both, Access::ReadWrite).expect("access");
        machine.runtime.copy(seen.address(), word(granule), 4).expect("a copy");
        assert_eq!(seen.as_ptr().cast::<u32>().read_volatile(), 0x9999_9999, "the memory kept its contents");
    }
}

#[test]
fn free_memory_shrinks_by_what_is_allocated_whether_the_runtime_tells_or_not() {
    const BYTES: usize = 64 << 20;
    let machine = machine();
    match machine.gpu.memory_available() {
        Ok(free) => assert!(free <= machine.local().properties().size),
        // ROCr 5.2.3.
        Err(error) => assert_eq!(error.status(), Some(HSA_STATUS_ERROR_INVALID_ARGUMENT)),
    }
    let device = Device::get(0).expect("a device");
    let (before, all) = device.memory_info();
    let buffer = DeviceBuffer::<u8>::new(&device, BYTES).expect("memory");
    let (after, _) = device.memory_info();
    assert!(before <= all && after + BYTES as u64 <= before, "{before} {after} of {all}");
    drop(buffer);
}
