use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipMallocPitch(
        address: *mut *mut c_void,
        pitch: *mut usize,
        width: usize,
        height: usize,
    ) -> hipError_t;
    fn hipMemAllocPitch(
        address: *mut *mut c_void,
        pitch: *mut usize,
        width: usize,
        height: usize,
        element: c_uint,
    ) -> hipError_t;
    fn hipMalloc3D(pointer: *mut hipPitchedPtr, extent: hipExtent) -> hipError_t;
    fn hipMemcpy2D(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpy2DAsync(
        dst: *mut c_void,
        dst_pitch: usize,
        src: *const c_void,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy3D(params: *const hipMemcpy3DParms) -> hipError_t;
    fn hipMemset3D(dst: hipPitchedPtr, value: c_int, extent: hipExtent) -> hipError_t;
    fn hipMemsetD2D16(dst: *mut c_void, pitch: usize, value: u16, width: usize, height: usize) -> hipError_t;
    fn hipMemcpyParam2D(params: *const hip_Memcpy2D) -> hipError_t;
    fn hipMemcpyParam2DAsync(params: *const hip_Memcpy2D, stream: hipStream_t) -> hipError_t;
    fn hipDrvMemcpy2DUnaligned(params: *const hip_Memcpy2D) -> hipError_t;
    fn hipDrvMemcpy3D(params: *const HIP_MEMCPY3D) -> hipError_t;
    fn hipDrvMemcpy3DAsync(params: *const HIP_MEMCPY3D, stream: hipStream_t) -> hipError_t;
    fn hipMemcpyPeer(
        dst: *mut c_void,
        dst_device: c_int,
        src: *const c_void,
        src_device: c_int,
        bytes: usize,
    ) -> hipError_t;
}

// proves: hipMallocPitch, hipMemAllocPitch, hipMemcpy2D, hipMemcpy2DAsync, hipMemsetD2D16
#[test]
fn rows_are_copied_without_their_padding() {
    let (mut address, mut pitch) = (ptr::null_mut(), 0);
    ok!(hipMallocPitch(&mut address, &mut pitch, 10, 3));
    assert_eq!(pitch, 256);
    let (source, mut back) = (b"0123456789abcdefghijABCDEFGHIJ", [0u8; 36]);
    ok!(
        hipMemset(address, 0, 3 * pitch),
        hipMemcpy2D(address, pitch, source.as_ptr().cast(), 10, 10, 3, hipMemcpyHostToDevice),
        hipMemsetD2D16(address, pitch, 0x2b2b, 1, 2),
        hipMemcpy2D(back.as_mut_ptr().cast(), 12, address, pitch, 12, 3, hipMemcpyDeviceToHost),
    );
    assert_eq!(&back, b"++23456789\0\0++cdefghij\0\0ABCDEFGHIJ\0\0");
    let copy = |dst, width, kind| {
        // SAFETY: the rows lie in the source and the allocation, or the call must refuse.
        unsafe { hipMemcpy2DAsync(dst, pitch, source.as_ptr().cast(), 10, width, 3, kind, hipStream_t::NULL) }
    };
    ok!(copy(address, 10, hipMemcpyDefault), copy(address, 0, hipMemcpyDefault));
    fails!(hipErrorInvalidPitchValue, copy(address, 11, hipMemcpyHostToDevice));
    fails!(hipErrorInvalidMemcpyDirection, copy(address, 10, hipMemcpyKind(9)));
    fails!(hipErrorInvalidValue, copy(ptr::null_mut(), 10, hipMemcpyHostToDevice));
    ok!(hipFree(address), hipMallocPitch(&mut address, &mut pitch, 0, 3));
    assert!(address.is_null());
    fails!(hipErrorInvalidValue, hipMallocPitch(ptr::null_mut(), &mut pitch, 1, 1));
    fails!(hipErrorInvalidValue, hipMallocPitch(&mut address, &mut pitch, usize::MAX, 2));
    fails!(hipErrorOutOfMemory, hipMallocPitch(&mut address, &mut pitch, 1 << 40, 1 << 40));
    fails!(hipErrorInvalidValue, hipMemAllocPitch(&mut address, &mut pitch, 0, 2, 4));
    fails!(hipErrorInvalidValue, hipMemAllocPitch(&mut address, &mut pitch, 16, 0, 4));
    fails!(hipErrorInvalidValue, hipMemAllocPitch(&mut address, &mut pitch, 16, 2, 5));
    ok!(hipMemAllocPitch(&mut address, &mut pitch, 129, 2, 4), hipFree(address));
    assert_eq!(pitch, 256);
}

fn extent(width: usize, height: usize, depth: usize) -> hipExtent {
    hipExtent { width, height, depth }
}

// proves: hipMalloc3D, hipMemset3D, hipMemcpy3D
#[test]
fn a_box_is_filled_and_nothing_around_it() {
    let mut cube = hipPitchedPtr { ptr: ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };
    ok!(hipMalloc3D(&mut cube, extent(4, 3, 2)));
    assert_eq!((cube.pitch, cube.xsize, cube.ysize), (256, 4, 3));
    let mut back = [0u8; 24];
    let zero = hipPos { x: 0, y: 0, z: 0 };
    let params = hipMemcpy3DParms {
        srcArray: hipArray_t::NULL,
        srcPos: zero,
        srcPtr: cube,
        dstArray: hipArray_t::NULL,
        dstPos: zero,
        dstPtr: hipPitchedPtr { ptr: back.as_mut_ptr().cast(), pitch: 4, xsize: 4, ysize: 3 },
        extent: extent(4, 3, 2),
        kind: hipMemcpyDeviceToHost,
    };
    ok!(
        hipMemset3D(cube, 1, extent(4, 3, 2)),
        // Fewer rows than a slice has: each slice is filled on its own.
        hipMemset3D(cube, 2, extent(2, 2, 2)),
        hipMemcpy3D(&params),
    );
    assert_eq!(back, [2, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1]);
    ok!(hipMemset3D(cube, 3, extent(0, 3, 2)));
    fails!(hipErrorInvalidValue, hipMemset3D(cube, 3, extent(257, 1, 1)));
    fails!(hipErrorInvalidValue, hipMemset3D(cube, 3, extent(4, 2, 3)));
    fails!(hipErrorInvalidValue, hipMemcpy3D(ptr::null()));
    let wide = hipMemcpy3DParms { dstPtr: hipPitchedPtr { pitch: 3, ..params.dstPtr }, ..params };
    fails!(hipErrorInvalidPitchValue, hipMemcpy3D(&wide));
    let low = hipMemcpy3DParms {
        dstPtr: hipPitchedPtr { ysize: 2, ..params.dstPtr },
        extent: extent(4, 3, 1),
        ..params
    };
    fails!(hipErrorInvalidValue, hipMemcpy3D(&low));
    fails!(
        hipErrorInvalidMemcpyDirection,
        hipMemcpy3D(&hipMemcpy3DParms { kind: hipMemcpyKind(9), ..params })
    );
    ok!(hipMemcpy3D(&params), hipFree(cube.ptr));
    assert_eq!(back[..4], [2, 2, 1, 1], "what was refused has written nothing");
}

// proves: hipMemcpyParam2D, hipMemcpyParam2DAsync, hipDrvMemcpy2DUnaligned, hipDrvMemcpy3D, hipDrvMemcpy3DAsync
#[test]
fn the_drivers_copies_start_where_they_are_told() {
    let memory = Memory::of(&[0u8; 64]);
    let (source, null) = (*b"0123456789abcdef", ptr::null_mut::<c_void>());
    // The second and third byte of the second row go to the last two of the first.
    let rectangle = hip_Memcpy2D {
        srcXInBytes: 1,
        srcY: 1,
        srcMemoryType: hipMemoryTypeHost,
        srcHost: source.as_ptr().cast(),
        srcDevice: null,
        srcArray: hipArray_t::NULL,
        srcPitch: 4,
        dstXInBytes: 2,
        dstY: 0,
        dstMemoryType: hipMemoryTypeDevice,
        dstHost: null,
        dstDevice: memory.pointer(),
        dstArray: hipArray_t::NULL,
        dstPitch: 4,
        WidthInBytes: 2,
        Height: 2,
    };
    ok!(hipMemcpyParam2D(&rectangle));
    assert_eq!(&memory.read()[..9], b"\0\x0056\0\x009a\0");
    let lower = hip_Memcpy2D { dstY: 2, Height: 1, ..rectangle };
    ok!(hipMemcpyParam2DAsync(&lower, hipStream_t::NULL));
    let left = hip_Memcpy2D { dstXInBytes: 0, ..lower };
    ok!(hipDrvMemcpy2DUnaligned(&left));
    assert_eq!(&memory.read()[8..12], b"5656");
    let cube = HIP_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 1,
        srcLOD: 0,
        srcMemoryType: hipMemoryTypeHost,
        srcHost: source.as_ptr().cast(),
        srcDevice: null,
        srcArray: hipArray_t::NULL,
        srcPitch: 2,
        srcHeight: 2,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 3,
        dstLOD: 0,
        dstMemoryType: hipMemoryTypeDevice,
        dstHost: null,
        dstDevice: memory.pointer(),
        dstArray: hipArray_t::NULL,
        dstPitch: 4,
        dstHeight: 2,
        WidthInBytes: 2,
        Height: 2,
        Depth: 2,
    };
    ok!(hipDrvMemcpy3D(&cube));
    assert_eq!(&memory.read()[24..40], b"45\0\x0067\0\x0089\0\0ab\0\0");
    let next = HIP_MEMCPY3D { srcZ: 3, dstZ: 5, Depth: 1, ..cube };
    ok!(hipDrvMemcpy3DAsync(&next, hipStream_t::NULL));
    assert_eq!(&memory.read()[40..48], b"cd\0\0ef\0\0");

    let wide = hip_Memcpy2D { WidthInBytes: 4, ..rectangle };
    fails!(hipErrorInvalidValue, hipMemcpyParam2D(&wide));
    let array = hip_Memcpy2D { srcMemoryType: hipMemoryTypeArray, ..rectangle };
    fails!(hipErrorInvalidValue, hipMemcpyParam2D(&array));
    fails!(hipErrorInvalidValue, hipMemcpyParam2D(ptr::null()));
    fails!(hipErrorInvalidValue, hipDrvMemcpy3D(ptr::null()));
    let nothing = HIP_MEMCPY3D { Depth: 0, dstDevice: null, ..cube };
    ok!(hipDrvMemcpy3D(&nothing));
}

// proves: hipMemcpyPeer
#[test]
fn a_device_copies_to_itself_as_a_peer() {
    let (from, to) = (Memory::of(&[5u32; 8]), Memory::of(&[0u32; 8]));
    ok!(hipMemcpyPeer(to.pointer(), 0, from.pointer(), 0, 32));
    assert_eq!(to.read(), [5; 8]);
    fails!(hipErrorInvalidDevice, hipMemcpyPeer(to.pointer(), 0, from.pointer(), 99, 32));
    fails!(hipErrorInvalidValue, hipMemcpyPeer(to.pointer(), 0, ptr::null(), 0, 32));
}
