//! Memory by handle and by file descriptor, as another process would get at it.

use std::{ffi::c_int, ptr::null_mut};

use emulator::Target;
use hsa_sys::*;

use super::session::{Session, ok};

const PAGE: usize = 4096;
const MISSING: &str = "the emulator has the virtual-memory functions";

fn allocate(session: &Session, pool: hsa_amd_memory_pool_t, size: usize) -> *mut std::ffi::c_void {
    let mut block = null_mut();
    // SAFETY: an output pointer of ours.
    ok(unsafe { (session.hsa.hsa_amd_memory_pool_allocate)(pool, size, 0, &mut block) });
    block
}

#[test]
fn an_attached_allocation_is_the_same_memory_at_another_address() {
    let session = Session::devices(&[Target::Gfx90a, Target::Gfx90a]);
    let hsa = session.hsa;
    let block = allocate(&session, session.pools(session.gpu(1))[0], 1000);
    let mut handle = hsa_amd_ipc_memory_t { handle: [0; 8] };
    let mut attached = null_mut();
    // SAFETY: pointers of ours; memory is touched while it is mapped.
    unsafe {
        let create = hsa.hsa_amd_ipc_memory_create;
        let refused = HSA_STATUS_ERROR_INVALID_ARGUMENT;
        assert_eq!(create(block, 2000, &mut handle), refused, "not the full length");
        assert_eq!(create(block.wrapping_byte_add(16), 984, &mut handle), refused, "not the first byte");
        assert_eq!(create(block, 1000, null_mut()), refused);
        ok(create(block, 1000, &mut handle));
        let attach = hsa.hsa_amd_ipc_memory_attach;
        assert_eq!(attach(&handle, 500, 0, std::ptr::null(), &mut attached), refused);
        assert_eq!(
            attach(&hsa_amd_ipc_memory_t { handle: [7; 8] }, 1000, 0, std::ptr::null(), &mut attached),
            refused
        );
        ok(attach(&handle, 1000, 0, std::ptr::null(), &mut attached));
        assert_ne!(attached, block);
        block.cast::<u64>().write(42);
        assert_eq!(attached.cast::<u64>().read(), 42);
        assert_eq!((hsa.hsa_amd_memory_pool_free)(attached), HSA_STATUS_ERROR_INVALID_ALLOCATION);
        assert_eq!((hsa.hsa_amd_ipc_memory_detach)(block), refused);
        ok((hsa.hsa_amd_memory_pool_free)(block));
        assert_eq!(attached.cast::<u64>().read(), 42, "the attachment keeps the memory");
        assert_eq!(attach(&handle, 1000, 0, std::ptr::null(), &mut block.clone()), refused, "it is gone");
        ok((hsa.hsa_amd_ipc_memory_detach)(attached));
        assert_eq!((hsa.hsa_amd_ipc_memory_detach)(attached), refused);
    }
}

#[test]
fn memory_of_the_host_has_no_handle() {
    let session = Session::new();
    let block = allocate(&session, session.pools(session.cpu())[0], PAGE);
    let mut handle = hsa_amd_ipc_memory_t { handle: [0; 8] };
    // SAFETY: pointers of ours.
    unsafe {
        let status = (session.hsa.hsa_amd_ipc_memory_create)(block, PAGE, &mut handle);
        assert_eq!(status, HSA_STATUS_ERROR_INVALID_ARGUMENT);
        ok((session.hsa.hsa_amd_memory_pool_free)(block));
    }
}

#[test]
fn an_imported_descriptor_is_the_same_physical_memory() {
    let session = Session::devices(&[Target::Gfx90a, Target::Gfx90a]);
    let hsa = session.hsa;
    let pool = session.pools(session.gpu(1))[0];
    let (mut handle, mut imported) =
        (hsa_amd_vmem_alloc_handle_t { handle: 0 }, hsa_amd_vmem_alloc_handle_t { handle: 0 });
    let (mut base, mut descriptor, mut offset): (_, c_int, u64) = (null_mut(), -1, 0);
    // SAFETY: output pointers of ours; mapped memory is touched only while it is mapped.
    unsafe {
        let export = hsa.hsa_amd_vmem_export_shareable_handle.expect(MISSING);
        let import = hsa.hsa_amd_vmem_import_shareable_handle.expect(MISSING);
        assert_eq!(export(&mut descriptor, handle, 0), HSA_STATUS_ERROR_INVALID_ALLOCATION);
        assert_eq!(import(-1, &mut imported), HSA_STATUS_ERROR_INVALID_ALLOCATION);
        ok(hsa.hsa_amd_vmem_handle_create.expect(MISSING)(
            pool,
            2 * PAGE,
            MEMORY_TYPE_PINNED,
            0,
            &mut handle,
        ));
        ok(export(&mut descriptor, handle, 0));
        ok(import(descriptor, &mut imported));
        ok(hsa.hsa_amd_portable_close_dmabuf.expect(MISSING)(descriptor));
        let (mut of, mut kind) = (hsa_amd_memory_pool_t { handle: 0 }, MEMORY_TYPE_NONE);
        ok(hsa.hsa_amd_vmem_get_alloc_properties_from_handle.expect(MISSING)(imported, &mut of, &mut kind));
        assert_eq!((of.handle, kind), (pool.handle, MEMORY_TYPE_PINNED));

        ok(hsa.hsa_amd_vmem_address_reserve.expect(MISSING)(&mut base, 4 * PAGE, 0, 0));
        let map = hsa.hsa_amd_vmem_map.expect(MISSING);
        let other = base.wrapping_byte_add(2 * PAGE);
        ok(map(base, 2 * PAGE, 0, handle, 0));
        ok(map(other, 2 * PAGE, 0, imported, 0));
        base.cast::<u64>().write(9);
        assert_eq!(other.cast::<u64>().read(), 9);

        let dmabuf = hsa.hsa_amd_portable_export_dmabuf.expect(MISSING);
        ok(dmabuf(other.wrapping_byte_add(PAGE), PAGE, &mut descriptor, &mut offset));
        assert_eq!(offset, PAGE as u64);
        ok(hsa.hsa_amd_portable_close_dmabuf.expect(MISSING)(descriptor));
        let beyond = dmabuf(base, 3 * PAGE, &mut descriptor, &mut offset);
        assert_eq!(beyond, HSA_STATUS_ERROR_INVALID_ALLOCATION, "two allocations");
        assert_eq!(hsa.hsa_amd_portable_close_dmabuf.expect(MISSING)(-1), HSA_STATUS_ERROR_RESOURCE_FREE);

        for (address, handle) in [(base, handle), (other, imported)] {
            ok(hsa.hsa_amd_vmem_unmap.expect(MISSING)(address, 2 * PAGE));
            ok(hsa.hsa_amd_vmem_handle_release.expect(MISSING)(handle));
        }
        ok(hsa.hsa_amd_vmem_address_free.expect(MISSING)(base, 4 * PAGE));
    }
}
