use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::threes;

unsafe extern "C" {
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipMallocHost(address: *mut *mut c_void, bytes: usize) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipFreeHost(address: *mut c_void) -> hipError_t;
    fn hipHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) -> hipError_t;
    fn hipHostUnregister(address: *mut c_void) -> hipError_t;
    fn hipHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: c_uint) -> hipError_t;
    fn hipHostGetFlags(flags: *mut c_uint, pointer: *mut c_void) -> hipError_t;
    fn hipPointerGetAttributes(attributes: *mut hipPointerAttribute_t, pointer: *const c_void) -> hipError_t;
    fn hipMemGetAddressRange(
        base: *mut hipDeviceptr_t,
        bytes: *mut usize,
        pointer: hipDeviceptr_t,
    ) -> hipError_t;
    fn hipLaunchKernel(
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddMemcpyNode1D(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
}

const WORDS: usize = 1024;
const BYTES: usize = WORDS * 4;

/// Has a kernel write a three into each word that the device finds there.
fn write_threes(address: *mut c_void) {
    let mut address = address;
    let mut arguments = [(&raw mut address).cast::<c_void>()];
    let one = program::line(1);
    ok!(
        hipLaunchKernel(
            threes(),
            one,
            program::line(program::BLOCK),
            arguments.as_mut_ptr(),
            0,
            hipStream_t::NULL
        ),
        hipStreamSynchronize(hipStream_t::NULL),
    );
}

fn attributes(pointer: *const c_void) -> hipPointerAttribute_t {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut attributes = unsafe { std::mem::zeroed() };
    ok!(hipPointerGetAttributes(&mut attributes, pointer));
    attributes
}

// proves: hipHostMalloc, hipHostAlloc, hipMallocHost, hipHostFree, hipFreeHost, hipHostGetDevicePointer
#[test]
fn pinned_memory_is_the_hosts_and_the_devices_with_all_flags() {
    let flags = [
        hipHostMallocDefault,
        hipHostMallocPortable,
        hipHostMallocMapped,
        hipHostMallocWriteCombined,
        hipHostMallocNumaUser,
        hipHostMallocCoherent,
        hipHostMallocNonCoherent,
        hipHostMallocNumaUser | hipHostMallocNonCoherent,
        hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined,
    ];
    for flags in flags {
        let (mut host, mut device, mut found) = (ptr::null_mut(), ptr::null_mut(), 7);
        ok!(hipHostMalloc(&mut host, BYTES, flags), hipHostGetDevicePointer(&mut device, host, 0));
        write_threes(device);
        // SAFETY: pinned memory of so many words.
        let words = unsafe { std::slice::from_raw_parts(host.cast::<i32>(), WORDS) };
        assert!(words.iter().all(|&word| word == 3), "flags {flags:#x}");
        ok!(hipHostGetFlags(&mut found, host), hipHostFree(host));
        assert_eq!(found, flags);
        fails!(hipErrorInvalidValue, hipHostFree(host));
    }
    let (mut host, mut device) = (ptr::null_mut(), ptr::null_mut());
    ok!(hipHostAlloc(&mut host, BYTES, 0), hipFreeHost(host), hipMallocHost(&mut host, BYTES));
    let inside = host.wrapping_byte_add(100);
    ok!(hipHostGetDevicePointer(&mut device, inside, 0));
    assert_eq!(device, inside, "one address for both");
    ok!(hipFreeHost(host), hipHostFree(ptr::null_mut()), hipFreeHost(ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipHostGetDevicePointer(&mut device, host, 0));
    let both = hipHostMallocCoherent | hipHostMallocNonCoherent;
    fails!(hipErrorInvalidValue, hipHostMalloc(&mut host, BYTES, both));
    for bad in [0x8, both] {
        fails!(hipErrorInvalidValue, hipHostAlloc(&mut host, BYTES, bad));
    }
    let mut found = 0;
    ok!(hipHostMalloc(&mut host, BYTES, 0x108), hipHostGetFlags(&mut found, host), hipHostFree(host));
    assert_eq!(found, 0x108, "flags that are none are remembered");
    fails!(hipErrorInvalidValue, hipHostMalloc(ptr::null_mut(), BYTES, 0));
    fails!(hipErrorInvalidValue, hipHostAlloc(ptr::null_mut(), BYTES, 0));
    fails!(hipErrorInvalidValue, hipMallocHost(ptr::null_mut(), BYTES));
    fails!(hipErrorOutOfMemory, hipHostMalloc(&mut host, usize::MAX / 4, 0));
}

// proves: hipHostRegister, hipHostUnregister
#[test]
fn registered_memory_is_within_reach_of_kernels_and_graphs() {
    let mut own = vec![0i32; WORDS];
    let address = own.as_mut_ptr().cast::<c_void>();
    let (mut device, mut flags) = (ptr::null_mut(), 7);
    ok!(
        hipHostRegister(address, BYTES, hipHostRegisterPortable | hipHostRegisterMapped),
        hipHostGetDevicePointer(&mut device, address, 0),
    );
    fails!(hipErrorInvalidValue, hipHostGetFlags(&mut flags, address));
    assert_eq!(attributes(address).allocationFlags, hipHostRegisterPortable | hipHostRegisterMapped);
    let inside = address.wrapping_byte_add(64);
    fails!(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(inside, 64, 0));
    write_threes(device);
    assert!(own.iter().all(|&word| word == 3));

    // A graph copies from it and back into its other half.
    let memory = Memory::of(&[0i32; WORDS / 2]);
    own[..WORDS / 2].fill(8);
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    let mut nodes = [hipGraphNode_t::NULL; 2];
    let (there, back) = (hipMemcpyHostToDevice, hipMemcpyDeviceToHost);
    let (half, other) = (BYTES / 2, address.wrapping_byte_add(BYTES / 2));
    ok!(
        hipGraphCreate(&mut graph, 0),
        hipGraphAddMemcpyNode1D(&mut nodes[0], graph, ptr::null(), 0, memory.pointer(), address, half, there),
        hipGraphAddMemcpyNode1D(&mut nodes[1], graph, &nodes[0], 1, other, memory.pointer(), half, back),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, hipStream_t::NULL),
        hipStreamSynchronize(hipStream_t::NULL),
    );
    assert!(own[WORDS / 2..].iter().all(|&word| word == 8));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipHostUnregister(address));
    fails!(hipErrorHostMemoryNotRegistered, hipHostUnregister(address));
    fails!(hipErrorInvalidValue, hipHostUnregister(ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipHostGetDevicePointer(&mut device, address, 0));
    fails!(hipErrorInvalidValue, hipHostRegister(ptr::null_mut(), BYTES, 0));
    fails!(hipErrorInvalidValue, hipHostRegister(address, 0, 0));
    fails!(hipErrorInvalidValue, hipHostRegister(address, BYTES, 0x100));
    fails!(hipErrorInvalidValue, hipHostRegister(address, usize::MAX, 0));
    assert_eq!(own[0], 8, "the memory stays its owner's");
}

// proves: hipPointerGetAttributes, hipMemGetAddressRange
#[test]
fn a_pointer_tells_where_it_points_to() {
    let memory = Memory::of(&[0u8; 1000]);
    let inside = memory.pointer().wrapping_byte_add(10);
    let found = attributes(inside);
    assert_eq!((found.r#type, found.device), (hipMemoryTypeDevice, 0));
    assert_eq!((found.devicePointer, found.hostPointer), (inside, ptr::null_mut()));
    let (mut base, mut bytes, mut host) = (ptr::null_mut(), 0, ptr::null_mut());
    ok!(hipMemGetAddressRange(&mut base, &mut bytes, inside));
    assert_eq!((base, bytes), (memory.pointer(), 1000));
    ok!(hipHostMalloc(&mut host, 64, hipHostMallocPortable));
    let found = attributes(host);
    assert_eq!((found.r#type, found.allocationFlags), (hipMemoryTypeHost, hipHostMallocPortable));
    assert_eq!((found.hostPointer, found.devicePointer), (host, host));
    ok!(hipHostFree(host));
    let own = [0u8; 8];
    let own = own.as_ptr().cast_mut().cast::<c_void>();
    fails!(hipErrorNotFound, hipMemGetAddressRange(&mut base, &mut bytes, own));
    fails!(hipErrorNotFound, hipMemGetAddressRange(&mut base, &mut bytes, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipPointerGetAttributes(ptr::null_mut(), inside));
    // Either of both may be unwanted.
    ok!(hipMemGetAddressRange(ptr::null_mut(), &mut bytes, inside));
    ok!(hipMemGetAddressRange(&mut base, ptr::null_mut(), inside));
}
