//! Pools, locked memory, pointer information, copies, and virtual memory.

use std::{ffi::c_void, ptr::null_mut};

use emulator::{Config, Target};
use hsa_sys::*;

use super::session::{Session, ok};

fn pointer_info(session: &Session, pointer: *const c_void) -> hsa_amd_pointer_info_t {
    // SAFETY: zeros are a valid value of the structure.
    let mut info: hsa_amd_pointer_info_t = unsafe { std::mem::zeroed() };
    info.size = size_of::<hsa_amd_pointer_info_t>() as u32;
    // SAFETY: an output structure of ours.
    ok(unsafe { (session.hsa.hsa_amd_pointer_info)(pointer, &mut info, None, null_mut(), null_mut()) });
    info
}

#[test]
fn memory_runs_out_with_an_error_and_comes_back() {
    let session = Session::with(Config { local_memory: Some(16 << 20), ..Config::default() });
    let local = session.pools(session.gpu(0))[0];
    let first = session.try_allocate(local, 12 << 20).expect("fits");
    assert_eq!(session.try_allocate(local, 8 << 20), Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    assert_eq!(session.try_allocate(local, usize::MAX), Err(HSA_STATUS_ERROR_INVALID_ALLOCATION));
    assert_eq!(session.try_allocate(local, 0), Err(HSA_STATUS_ERROR_INVALID_ARGUMENT));
    let group = *session.pools(session.gpu(0)).last().expect("the workgroups' memory");
    assert_eq!(session.try_allocate(group, 64), Err(HSA_STATUS_ERROR_INVALID_ALLOCATION));
    // SAFETY: allocated above and not used afterwards.
    ok(unsafe { (session.hsa.hsa_amd_memory_pool_free)(first) });
    assert!(session.try_allocate(local, 8 << 20).is_ok());
}

#[test]
fn pointer_info_knows_pool_memory_locked_memory_and_strangers() {
    let session = Session::new();
    let pointer = session.try_allocate(session.pools(session.gpu(0))[0], 4096).expect("small");
    let inside = pointer.wrapping_byte_add(100);
    // SAFETY: a pointer that the runtime knows, and a word that it does not look at.
    ok(unsafe { (session.hsa.hsa_amd_pointer_info_set_userdata)(pointer, 0x55 as *mut c_void) });
    let info = pointer_info(&session, inside);
    assert_eq!(info.type_, HSA_EXT_POINTER_TYPE_HSA);
    assert_eq!((info.agentBaseAddress, info.sizeInBytes, info.userData as usize), (pointer, 4096, 0x55));
    assert_eq!(info.agentOwner, session.gpu(0));
    assert_eq!(info.global_flags, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED.0);

    let mut host = vec![0u8; 1000];
    let start: *mut c_void = host.as_mut_ptr().cast();
    assert_eq!(pointer_info(&session, start).type_, HSA_EXT_POINTER_TYPE_UNKNOWN);
    let mut agent_pointer = null_mut();
    // SAFETY: `host` outlives the lock.
    unsafe {
        ok((session.hsa.hsa_amd_memory_lock)(start, 1000, null_mut(), 0, &mut agent_pointer));
        assert_eq!(agent_pointer, start);
        let info = pointer_info(&session, start.wrapping_byte_add(999));
        assert_eq!(
            (info.type_, info.hostBaseAddress, info.sizeInBytes),
            (HSA_EXT_POINTER_TYPE_LOCKED, start, 1000)
        );
        assert_eq!(info.agentOwner, session.cpu());
        ok((session.hsa.hsa_amd_memory_unlock)(start));
        assert_eq!((session.hsa.hsa_amd_memory_unlock)(start), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    assert_eq!(pointer_info(&session, start).type_, HSA_EXT_POINTER_TYPE_UNKNOWN);
}

#[test]
fn an_asynchronous_copy_waits_for_its_dependencies() {
    let session = Session::new();
    let local = session.try_allocate(session.pools(session.gpu(0))[0], 1 << 20).expect("small");
    let source = session.array::<u32>(1 << 18);
    source.iter_mut().zip(0..).for_each(|(word, value)| *word = value);
    let (gate, done) = (session.signal(1), session.signal(1));
    // SAFETY: both ranges outlive the copy.
    unsafe {
        ok((session.hsa.hsa_amd_memory_fill)(local, 0xabcd_1234, 1 << 18));
        assert_eq!(local.cast::<u32>().add(77_777).read(), 0xabcd_1234);
        ok((session.hsa.hsa_amd_memory_async_copy)(
            local,
            session.gpu(0),
            source.as_ptr().cast(),
            session.cpu(),
            1 << 20,
            1,
            &gate,
            done,
        ));
        assert!(!session.finished_within(done, 20_000_000));
        assert_eq!(local.cast::<u32>().add(5).read(), 0xabcd_1234);
        session.store(gate, 0);
        assert!(session.finished(done));
        assert_eq!(std::slice::from_raw_parts(local.cast::<u32>(), 1 << 18), source);
        let status = (session.hsa.hsa_amd_memory_async_copy)(
            0x10_0000 as *mut c_void,
            session.gpu(0),
            source.as_ptr().cast(),
            session.cpu(),
            4,
            0,
            std::ptr::null(),
            done,
        );
        assert_eq!(status, HSA_STATUS_ERROR_INVALID_ARGUMENT, "a GPU cannot be given unknown memory");
    }
}

#[test]
fn one_handle_shows_at_two_addresses() {
    let session = Session::devices(&[Target::Gfx90a, Target::Gfx90a]);
    let hsa = session.hsa;
    let pool = session.pools(session.gpu(0))[0];
    let mut handle = hsa_amd_vmem_alloc_handle_t { handle: 0 };
    let mut base = null_mut();
    let page = 4096usize;
    let missing = "the emulator has the virtual-memory functions";
    // SAFETY: output pointers of ours; mapped memory is touched only while it is mapped.
    unsafe {
        ok(hsa.hsa_amd_vmem_address_reserve_align.expect(missing)(&mut base, 16 * page, 0, 1 << 21, 0));
        assert_eq!(base as usize % (1 << 21), 0);
        ok(hsa.hsa_amd_vmem_handle_create.expect(missing)(pool, 2 * page, MEMORY_TYPE_NONE, 0, &mut handle));
        let (first, second) = (base, base.wrapping_byte_add(8 * page));
        let map = hsa.hsa_amd_vmem_map.expect(missing);
        ok(map(first, 2 * page, 0, handle, 0));
        assert_eq!(map(first, page, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT, "mapped already");
        ok(map(second, page, page, handle, 0));
        assert_eq!(
            map(second.wrapping_byte_add(page), 2 * page, page, handle, 0),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        let access = [
            hsa_amd_memory_access_desc_t {
                permissions: HSA_ACCESS_PERMISSION_RW,
                agent_handle: session.gpu(0),
            },
            hsa_amd_memory_access_desc_t {
                permissions: HSA_ACCESS_PERMISSION_RO,
                agent_handle: session.gpu(1),
            },
        ];
        let set_access = hsa.hsa_amd_vmem_set_access.expect(missing);
        ok(set_access(first, 2 * page, access.as_ptr(), 2));
        let mut permission = HSA_ACCESS_PERMISSION_NONE;
        let get_access = hsa.hsa_amd_vmem_get_access.expect(missing);
        ok(get_access(first, &mut permission, session.gpu(1)));
        assert_eq!(permission, HSA_ACCESS_PERMISSION_RO);
        ok(get_access(second, &mut permission, session.gpu(0)));
        assert_eq!(permission, HSA_ACCESS_PERMISSION_NONE);

        second.cast::<u64>().write(99);
        assert_eq!(first.wrapping_byte_add(page).cast::<u64>().read(), 99, "the same physical page");
        assert_eq!(pointer_info(&session, second).type_, HSA_EXT_POINTER_TYPE_HSA_VMEM);
        assert_eq!(
            pointer_info(&session, base.wrapping_byte_add(4 * page)).type_,
            HSA_EXT_POINTER_TYPE_RESERVED_ADDR
        );

        let free = hsa.hsa_amd_vmem_address_free.expect(missing);
        assert_eq!(free(base, 16 * page), HSA_STATUS_ERROR_RESOURCE_FREE);
        ok(hsa.hsa_amd_vmem_handle_release.expect(missing)(handle));
        let unmap = hsa.hsa_amd_vmem_unmap.expect(missing);
        ok(unmap(second, page));
        assert_eq!(unmap(second, page), HSA_STATUS_ERROR_INVALID_ALLOCATION);
        assert_eq!(first.wrapping_byte_add(page).cast::<u64>().read(), 99, "mappings keep the memory");
        ok(unmap(first, 2 * page));
        ok(free(base, 16 * page));
    }
}
