use std::{ffi::c_uint, ptr};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipMallocArray(
        array: *mut hipArray_t,
        desc: *const hipChannelFormatDesc,
        width: usize,
        height: usize,
        flags: c_uint,
    ) -> hipError_t;
    fn hipMalloc3DArray(
        array: *mut hipArray_t,
        desc: *const hipChannelFormatDesc,
        extent: hipExtent,
        flags: c_uint,
    ) -> hipError_t;
    fn hipArrayCreate(array: *mut hipArray_t, desc: *const HIP_ARRAY_DESCRIPTOR) -> hipError_t;
    fn hipArray3DCreate(array: *mut hipArray_t, desc: *const HIP_ARRAY3D_DESCRIPTOR) -> hipError_t;
    fn hipFreeArray(array: hipArray_t) -> hipError_t;
    fn hipArrayDestroy(array: hipArray_t) -> hipError_t;
    fn hipArrayGetInfo(
        desc: *mut hipChannelFormatDesc,
        extent: *mut hipExtent,
        flags: *mut c_uint,
        array: hipArray_t,
    ) -> hipError_t;
    fn hipArrayGetDescriptor(desc: *mut HIP_ARRAY_DESCRIPTOR, array: hipArray_t) -> hipError_t;
    fn hipArray3DGetDescriptor(desc: *mut HIP_ARRAY3D_DESCRIPTOR, array: hipArray_t) -> hipError_t;
    fn hipGetChannelDesc(desc: *mut hipChannelFormatDesc, array: hipArray_t) -> hipError_t;
    fn hipMallocMipmappedArray(
        array: *mut hipMipmappedArray_t,
        desc: *const hipChannelFormatDesc,
        extent: hipExtent,
        levels: c_uint,
        flags: c_uint,
    ) -> hipError_t;
    fn hipMipmappedArrayGetMemoryRequirements(
        requirements: *mut hipArrayMemoryRequirements,
        mipmapped: hipMipmappedArray_t,
        device: c_int,
    ) -> hipError_t;
    fn hipMipmappedArrayCreate(
        array: *mut hipMipmappedArray_t,
        desc: *mut HIP_ARRAY3D_DESCRIPTOR,
        levels: c_uint,
    ) -> hipError_t;
    fn hipFreeMipmappedArray(array: hipMipmappedArray_t) -> hipError_t;
    fn hipMipmappedArrayDestroy(array: hipMipmappedArray_t) -> hipError_t;
    fn hipGetMipmappedArrayLevel(
        level: *mut hipArray_t,
        array: hipMipmappedArray_t,
        number: c_uint,
    ) -> hipError_t;
    fn hipMipmappedArrayGetLevel(
        level: *mut hipArray_t,
        array: hipMipmappedArray_t,
        number: c_uint,
    ) -> hipError_t;
    fn hipMemcpy2DToArray(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpy2DToArray_spt(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpy2DToArrayAsync(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy2DToArrayAsync_spt(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy2DFromArray(
        dst: *mut c_void,
        pitch: usize,
        src: hipArray_t,
        offset: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpy2DFromArray_spt(
        dst: *mut c_void,
        pitch: usize,
        src: hipArray_t,
        offset: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpy2DFromArrayAsync(
        dst: *mut c_void,
        pitch: usize,
        src: hipArray_t,
        offset: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy2DFromArrayAsync_spt(
        dst: *mut c_void,
        pitch: usize,
        src: hipArray_t,
        offset: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpy2DArrayToArray(
        dst: hipArray_t,
        dst_offset: usize,
        dst_row: usize,
        src: hipArray_t,
        src_offset: usize,
        src_row: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpyToArray(
        dst: hipArray_t,
        offset: usize,
        row: usize,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpyFromArray(
        dst: *mut c_void,
        src: hipArray_t,
        offset: usize,
        row: usize,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpyFromArray_spt(
        dst: *mut c_void,
        src: hipArray_t,
        offset: usize,
        row: usize,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpyAtoH(dst: *mut c_void, src: hipArray_t, offset: usize, bytes: usize) -> hipError_t;
    fn hipMemcpyAtoHAsync(
        dst: *mut c_void,
        src: hipArray_t,
        offset: usize,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyHtoA(dst: hipArray_t, offset: usize, src: *const c_void, bytes: usize) -> hipError_t;
    fn hipMemcpyHtoAAsync(
        dst: hipArray_t,
        offset: usize,
        src: *const c_void,
        bytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyAtoD(dst: hipDeviceptr_t, src: hipArray_t, offset: usize, bytes: usize) -> hipError_t;
    fn hipMemcpyDtoA(dst: hipArray_t, offset: usize, src: hipDeviceptr_t, bytes: usize) -> hipError_t;
    fn hipMemcpyAtoA(
        dst: hipArray_t,
        dst_offset: usize,
        src: hipArray_t,
        src_offset: usize,
        bytes: usize,
    ) -> hipError_t;
    fn hipMemcpy3D(params: *const hipMemcpy3DParms) -> hipError_t;
    fn hipMemcpyParam2D(params: *const hip_Memcpy2D) -> hipError_t;
    fn hipDrvMemcpy3D(params: *const HIP_MEMCPY3D) -> hipError_t;
    fn hipDeviceReset() -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddMemcpyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemcpy3DParms,
    ) -> hipError_t;
    fn hipGraphMemcpyNodeGetParams(node: hipGraphNode_t, params: *mut hipMemcpy3DParms) -> hipError_t;
    fn hipGraphMemcpyNodeSetParams(node: hipGraphNode_t, params: *const hipMemcpy3DParms) -> hipError_t;
    fn hipGraphExecMemcpyNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *mut hipMemcpy3DParms,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
}

fn desc(bits: [c_int; 4], f: hipChannelFormatKind) -> hipChannelFormatDesc {
    let [x, y, z, w] = bits;
    hipChannelFormatDesc { x, y, z, w, f }
}

const FLOAT: hipChannelFormatDesc =
    hipChannelFormatDesc { x: 32, y: 0, z: 0, w: 0, f: hipChannelFormatKindFloat };

fn extent(width: usize, height: usize, depth: usize) -> hipExtent {
    hipExtent { width, height, depth }
}

/// An array of words, 8 of them in each of 4 rows.
fn plane() -> hipArray_t {
    let mut array = hipArray_t::NULL;
    ok!(hipMallocArray(&mut array, &FLOAT, 8, 4, 0));
    array
}

/// An array of words, 8 of them in each of 4 rows of each of 3 slices.
fn cube() -> hipArray_t {
    let mut array = hipArray_t::NULL;
    ok!(hipMalloc3DArray(&mut array, &FLOAT, extent(8, 4, 3), 0));
    array
}

fn words(count: u32) -> Vec<u32> {
    (0..count).map(|n| n * 3 + 1).collect()
}

fn contents(array: hipArray_t, count: usize) -> Vec<u32> {
    let mut out = vec![0u32; count];
    ok!(hipMemcpyAtoH(out.as_mut_ptr().cast(), array, 0, count * 4));
    out
}

fn pitched(words: &mut [u32], per_row: usize, rows: usize) -> hipPitchedPtr {
    hipPitchedPtr { ptr: words.as_mut_ptr().cast(), pitch: per_row * 4, xsize: per_row * 4, ysize: rows }
}

fn no_copy() -> hipMemcpy3DParms {
    let none = hipPitchedPtr { ptr: ptr::null_mut(), pitch: 0, xsize: 0, ysize: 0 };
    let corner = hipPos { x: 0, y: 0, z: 0 };
    hipMemcpy3DParms {
        srcArray: hipArray_t::NULL,
        srcPos: corner,
        srcPtr: none,
        dstArray: hipArray_t::NULL,
        dstPos: corner,
        dstPtr: none,
        extent: extent(0, 0, 0),
        kind: hipMemcpyDefault,
    }
}

// proves: hipMallocArray, hipMalloc3DArray, hipArrayGetInfo, hipArrayGetDescriptor, hipArray3DGetDescriptor
// proves: hipGetChannelDesc, hipFreeArray
#[test]
fn an_array_says_how_it_was_made() {
    let mut array = hipArray_t::NULL;
    let halves = desc([16, 16, 0, 0], hipChannelFormatKindFloat);
    ok!(hipMalloc3DArray(&mut array, &halves, extent(8, 4, 3), hipArrayLayered));
    let mut found = desc([7; 4], hipChannelFormatKindNone);
    let (mut size, mut flags) = (extent(9, 9, 9), 77);
    ok!(hipArrayGetInfo(&mut found, &mut size, &mut flags, array));
    assert_eq!((found.x, found.y, found.z, found.w, found.f), (16, 16, 0, 0, hipChannelFormatKindFloat));
    assert_eq!((size.width, size.height, size.depth, flags), (8, 4, 3, hipArrayLayered));
    ok!(hipArrayGetInfo(ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), array));

    let blank = HIP_ARRAY3D_DESCRIPTOR {
        Width: 0,
        Height: 0,
        Depth: 0,
        Format: hipArray_Format(0),
        NumChannels: 0,
        Flags: 0,
    };
    let mut driver = blank;
    ok!(hipArray3DGetDescriptor(&mut driver, array));
    assert_eq!((driver.Width, driver.Height, driver.Depth), (8, 4, 3));
    assert_eq!((driver.Format, driver.NumChannels, driver.Flags), (HIP_AD_FORMAT_HALF, 2, hipArrayLayered));
    let mut flat = HIP_ARRAY_DESCRIPTOR { Width: 0, Height: 0, Format: hipArray_Format(0), NumChannels: 0 };
    fails!(hipErrorInvalidValue, hipArrayGetDescriptor(&mut flat, array));
    fails!(hipErrorInvalidValue, hipArray3DGetDescriptor(ptr::null_mut(), array));
    ok!(hipFreeArray(array));

    let array = plane();
    ok!(hipArrayGetDescriptor(&mut flat, array), hipArray3DGetDescriptor(&mut driver, array));
    assert_eq!((flat.Width, flat.Height, flat.Format, flat.NumChannels), (8, 4, HIP_AD_FORMAT_FLOAT, 1));
    assert_eq!(driver.Depth, 0, "a plane has no depth");
    ok!(hipGetChannelDesc(&mut found, array));
    assert_eq!((found.x, found.y, found.f), (32, 0, hipChannelFormatKindFloat));
    fails!(hipErrorInvalidValue, hipGetChannelDesc(ptr::null_mut(), array));
    ok!(hipFreeArray(array));
}

// proves: hipArrayCreate, hipArray3DCreate, hipArrayDestroy
#[test]
fn what_headers_of_hip_5_show_of_an_array_is_behind_the_handle() {
    let mut array = hipArray_t::NULL;
    let flat =
        HIP_ARRAY_DESCRIPTOR { Width: 5, Height: 0, Format: HIP_AD_FORMAT_SIGNED_INT16, NumChannels: 4 };
    ok!(hipArrayCreate(&mut array, &flat));
    // SAFETY: the handle of an array is the address of this structure, which clients of HIP 5 read.
    let seen = unsafe { *(array.0 as *const hipArray) };
    assert_eq!((seen.width, seen.height, seen.depth), (5, 0, 0));
    assert_eq!((seen.Format, seen.NumChannels, seen.isDrv), (HIP_AD_FORMAT_SIGNED_INT16, 4, false));
    assert_eq!((seen.desc.x, seen.desc.w, seen.desc.f), (16, 16, hipChannelFormatKindSigned));
    ok!(hipArrayDestroy(array));

    let full = HIP_ARRAY3D_DESCRIPTOR {
        Width: 5,
        Height: 4,
        Depth: 3,
        Format: HIP_AD_FORMAT_UNSIGNED_INT8,
        NumChannels: 1,
        Flags: 0,
    };
    ok!(hipArray3DCreate(&mut array, &full));
    // SAFETY: as above.
    let seen = unsafe { *(array.0 as *const hipArray) };
    assert_eq!((seen.width, seen.height, seen.depth), (5, 4, 3));
    ok!(hipArrayDestroy(array));
    for wrong in [
        HIP_ARRAY3D_DESCRIPTOR { Width: 0, ..full },
        HIP_ARRAY3D_DESCRIPTOR { Height: 0, ..full },
        HIP_ARRAY3D_DESCRIPTOR { Format: hipArray_Format(5), ..full },
        HIP_ARRAY3D_DESCRIPTOR { NumChannels: 3, ..full },
        HIP_ARRAY3D_DESCRIPTOR { Width: usize::MAX, ..full },
        HIP_ARRAY3D_DESCRIPTOR { Flags: 0x40, ..full },
    ] {
        fails!(hipErrorInvalidValue, hipArray3DCreate(&mut array, &wrong));
    }
    for flag in [hipArrayCubemap, hipArrayTextureGather] {
        let wrong = HIP_ARRAY3D_DESCRIPTOR { Flags: flag, ..full };
        fails!(hipErrorInvalidValue, hipArray3DCreate(&mut array, &wrong));
    }
    for (flag, depth) in [(hipArraySurfaceLoadStore, full.Depth), (hipArrayTextureGather, 0)] {
        let surface = HIP_ARRAY3D_DESCRIPTOR { Flags: flag, Depth: depth, ..full };
        ok!(hipArray3DCreate(&mut array, &surface), hipArrayDestroy(array));
    }
    fails!(hipErrorInvalidValue, hipArrayCreate(ptr::null_mut(), &flat));
    fails!(hipErrorInvalidValue, hipArrayCreate(&mut array, ptr::null()));
}

#[test]
fn stale_and_foreign_handles_of_arrays_are_refused_everywhere() {
    let stale = plane();
    ok!(hipFreeArray(stale));
    let mut host = words(64);
    let data: *mut c_void = host.as_mut_ptr().cast();
    for bad in [hipArray_t::NULL, stale, hipArray_t(8), hipArray_t(usize::MAX), hipArray_t(data.addr())] {
        fails!(hipErrorInvalidValue, hipFreeArray(bad));
        fails!(hipErrorInvalidValue, hipArrayDestroy(bad));
        fails!(
            hipErrorInvalidHandle,
            hipArrayGetInfo(ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), bad)
        );
        let mut found = FLOAT;
        fails!(hipErrorInvalidHandle, hipGetChannelDesc(&mut found, bad));
        fails!(hipErrorInvalidHandle, hipMemcpy2DToArray(bad, 0, 0, data, 32, 32, 4, hipMemcpyHostToDevice));
        fails!(
            hipErrorInvalidHandle,
            hipMemcpy2DFromArray(data, 32, bad, 0, 0, 32, 4, hipMemcpyDeviceToHost)
        );
        fails!(hipErrorInvalidValue, hipMemcpyToArray(bad, 0, 0, data, 4, hipMemcpyHostToDevice));
        fails!(hipErrorInvalidValue, hipMemcpyFromArray(data, bad, 0, 0, 4, hipMemcpyDeviceToHost));
        fails!(hipErrorInvalidValue, hipMemcpyAtoH(data, bad, 0, 4));
        fails!(hipErrorInvalidValue, hipMemcpyHtoA(bad, 0, data, 4));
        fails!(hipErrorInvalidValue, hipMemcpyAtoA(bad, 0, bad, 0, 4));
        let mut copy = no_copy();
        copy.extent = extent(8, 4, 1);
        copy.srcPtr = pitched(&mut host, 8, 4);
        copy.dstArray = bad;
        fails!(hipErrorInvalidValue, hipMemcpy3D(&copy));
    }
}

#[test]
fn a_reset_of_the_device_ends_its_arrays() {
    let array = plane();
    ok!(hipDeviceReset());
    let mut host = words(8);
    fails!(hipErrorInvalidValue, hipMemcpyAtoH(host.as_mut_ptr().cast(), array, 0, 4));
    fails!(hipErrorInvalidHandle, hipArrayGetInfo(ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), array));
    fails!(hipErrorInvalidValue, hipFreeArray(array));
}

// proves: hipMemcpy2DToArray, hipMemcpy2DFromArray, hipMemcpy2DToArrayAsync, hipMemcpy2DFromArrayAsync
// proves: hipMemcpy2DToArray_spt, hipMemcpy2DFromArray_spt, hipMemcpy2DToArrayAsync_spt
// proves: hipMemcpy2DFromArrayAsync_spt
#[test]
fn rows_go_to_their_place_in_an_array_and_back() {
    let (array, stream) = (plane(), new_stream());
    let per_thread = hipStream_t::NULL;
    let (input, mut model) = (words(40), vec![0u32; 32]);
    let zero = [0u32; 32];
    let from = input.as_ptr().cast();
    for way in 0..4 {
        ok!(hipMemcpyHtoA(array, 0, zero.as_ptr().cast(), 128));
        model.fill(0);
        // Three words of two rows, from rows of ten words, to word 2 of row 1.
        let kind = if way == 0 { hipMemcpyDefault } else { hipMemcpyHostToDevice };
        match way {
            0 => {
                ok!(hipMemcpy2DToArray(array, 8, 1, from, 40, 12, 2, kind));
            }
            1 => {
                ok!(
                    hipMemcpy2DToArrayAsync(array, 8, 1, from, 40, 12, 2, kind, stream),
                    hipStreamSynchronize(stream)
                );
            }
            2 => {
                ok!(hipMemcpy2DToArray_spt(array, 8, 1, from, 40, 12, 2, kind));
            }
            _ => {
                ok!(
                    hipMemcpy2DToArrayAsync_spt(array, 8, 1, from, 40, 12, 2, kind, per_thread),
                    hipStreamSynchronize(hipStreamPerThread),
                );
            }
        }
        for row in 0..2 {
            model[(row + 1) * 8 + 2..][..3].copy_from_slice(&input[row * 10..][..3]);
        }
        assert_eq!(contents(array, 32), model, "way {way}");

        let mut out = vec![9u32; 15];
        let to: *mut c_void = out.as_mut_ptr().cast();
        let kind = hipMemcpyDeviceToHost;
        match way {
            0 => {
                ok!(hipMemcpy2DFromArray(to, 20, array, 4, 1, 16, 3, kind));
            }
            1 => {
                ok!(
                    hipMemcpy2DFromArrayAsync(to, 20, array, 4, 1, 16, 3, kind, stream),
                    hipStreamSynchronize(stream)
                );
            }
            2 => {
                ok!(hipMemcpy2DFromArray_spt(to, 20, array, 4, 1, 16, 3, kind));
            }
            _ => {
                ok!(
                    hipMemcpy2DFromArrayAsync_spt(to, 20, array, 4, 1, 16, 3, kind, per_thread),
                    hipStreamSynchronize(hipStreamPerThread),
                );
            }
        }
        for row in 0..3 {
            assert_eq!(out[row * 5..][..4], model[(row + 1) * 8 + 1..][..4], "way {way}, row {row}");
            assert_eq!(out[row * 5 + 4], 9, "what is between the rows stays");
        }
    }
    ok!(hipFreeArray(array), hipStreamDestroy(stream));
}

#[test]
fn rows_that_leave_an_array_or_their_pitch_are_refused() {
    let array = plane();
    let mut host = words(64);
    let data: *mut c_void = host.as_mut_ptr().cast();
    let to = |offset, row, pitch, width, height, kind| {
        // SAFETY: the memory is large enough for what fits the array.
        unsafe { hipMemcpy2DToArray(array, offset, row, data, pitch, width, height, kind) }
    };
    use capi::error::*;
    for (code, offset, row, pitch, width, height, kind) in [
        (hipErrorInvalidValue, 0, 0, 36, 36, 4, hipMemcpyHostToDevice),
        (hipErrorInvalidValue, 4, 0, 32, 32, 4, hipMemcpyHostToDevice),
        (hipErrorInvalidValue, 0, 1, 32, 32, 4, hipMemcpyHostToDevice),
        (hipErrorInvalidValue, usize::MAX, 0, 32, 4, 1, hipMemcpyHostToDevice),
        (hipErrorInvalidValue, 0, usize::MAX, 32, 4, 1, hipMemcpyHostToDevice),
        (hipErrorInvalidPitchValue, 0, 0, 16, 32, 4, hipMemcpyHostToDevice),
        (hipErrorInvalidPitchValue, 0, 0, 0, 32, 4, hipMemcpyHostToDevice),
        (hipErrorInvalidValue, 0, 0, 32, 32, 4, hipMemcpyDeviceToHost),
        (hipErrorInvalidValue, 0, 0, 32, 32, 4, hipMemcpyHostToHost),
        (hipErrorInvalidMemcpyDirection, 0, 0, 32, 32, 4, hipMemcpyKind(9)),
        (hipSuccess, 0, 0, 32, 0, 4, hipMemcpyHostToDevice),
        (hipSuccess, 0, 0, 32, 4, 0, hipMemcpyHostToDevice),
    ] {
        assert_eq!(
            to(offset, row, pitch, width, height, kind),
            code,
            "{offset} {row} {pitch} {width} {height}"
        );
    }
    fails!(
        hipErrorInvalidValue,
        hipMemcpy2DToArray(array, 0, 0, ptr::null(), 32, 32, 4, hipMemcpyHostToDevice)
    );
    fails!(hipErrorInvalidValue, hipMemcpy2DFromArray(data, 32, array, 0, 0, 32, 4, hipMemcpyHostToDevice));
    ok!(hipFreeArray(array));
}

// proves: hipMemcpyToArray, hipMemcpyFromArray, hipMemcpyFromArray_spt
#[test]
fn a_run_of_bytes_goes_on_in_the_next_row() {
    let array = plane();
    let (input, mut out) = (words(32), [0u32; 7]);
    let data = input.as_ptr().cast();
    ok!(
        hipMemcpyToArray(array, 0, 0, data, 128, hipMemcpyHostToDevice),
        hipMemcpyToArray(array, 28, 1, data, 8, hipMemcpyHostToDevice),
        hipMemcpyFromArray(out.as_mut_ptr().cast(), array, 24, 1, 16, hipMemcpyDeviceToHost),
    );
    assert_eq!(out[..4], [input[14], input[0], input[1], input[17]]);
    ok!(hipMemcpyFromArray_spt(out.as_mut_ptr().cast(), array, 4, 3, 28, hipMemcpyDeviceToHost));
    assert_eq!(out, input[25..32]);
    fails!(hipErrorInvalidValue, hipMemcpyToArray(array, 4, 0, data, 128, hipMemcpyHostToDevice));
    fails!(hipErrorInvalidValue, hipMemcpyToArray(array, 0, 4, data, 4, hipMemcpyHostToDevice));
    fails!(hipErrorInvalidValue, hipMemcpyToArray(array, 0, 0, ptr::null(), 4, hipMemcpyHostToDevice));
    fails!(hipErrorInvalidValue, hipMemcpyFromArray(ptr::null_mut(), array, 0, 0, 4, hipMemcpyDeviceToHost));
    fails!(hipErrorInvalidMemcpyDirection, hipMemcpyToArray(array, 0, 0, data, 4, hipMemcpyKind(9)));
    ok!(hipFreeArray(array));
}

// proves: hipMemcpyAtoH, hipMemcpyHtoA, hipMemcpyAtoHAsync, hipMemcpyHtoAAsync, hipMemcpyAtoD, hipMemcpyDtoA
// proves: hipMemcpyAtoA, hipMemcpy2DArrayToArray
#[test]
fn the_drivers_copies_take_every_kind_of_memory() {
    let (a, b, stream) = (plane(), plane(), new_stream());
    let input = words(32);
    let device = Memory::of(&[0u32; 32]);
    let mut out = [0u32; 32];
    ok!(
        hipMemcpyHtoAAsync(a, 0, input.as_ptr().cast(), 128, stream),
        hipStreamSynchronize(stream),
        hipMemcpyAtoD(device.pointer(), a, 16, 64),
    );
    assert_eq!(device.read()[..16], input[4..20]);
    ok!(
        hipMemcpyHtoA(b, 0, [0u32; 32].as_ptr().cast(), 128),
        hipMemcpyDtoA(b, 4, device.pointer(), 8),
        hipMemcpyAtoA(b, 32, a, 4, 12),
        hipMemcpyAtoHAsync(out.as_mut_ptr().cast(), b, 0, 128, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!(out[..12], [0, input[4], input[5], 0, 0, 0, 0, 0, input[1], input[2], input[3], 0]);
    ok!(hipMemcpy2DArrayToArray(b, 24, 2, a, 0, 1, 8, 2, hipMemcpyDeviceToDevice));
    let found = contents(b, 32);
    assert_eq!([found[22], found[23], found[30], found[31]], [input[8], input[9], input[16], input[17]]);

    let data: *mut c_void = out.as_mut_ptr().cast();
    fails!(hipErrorInvalidValue, hipMemcpyAtoH(data, a, 4, 128));
    fails!(hipErrorInvalidValue, hipMemcpyAtoH(ptr::null_mut(), a, 0, 4));
    fails!(hipErrorInvalidValue, hipMemcpyHtoA(a, 0, ptr::null(), 4));
    fails!(hipErrorInvalidValue, hipMemcpyHtoA(a, usize::MAX, data, 4));
    fails!(hipErrorInvalidValue, hipMemcpyAtoD(device.pointer(), a, 0, 6));
    fails!(hipErrorInvalidValue, hipMemcpyAtoA(b, 0, a, 2, 4));
    fails!(hipErrorInvalidValue, hipMemcpy2DArrayToArray(b, 28, 0, a, 0, 0, 8, 1, hipMemcpyDeviceToDevice));
    fails!(hipErrorInvalidMemcpyDirection, hipMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 8, 1, hipMemcpyKind(9)));
    ok!(hipMemcpyAtoH(data, a, 0, 0), hipMemcpyHtoA(a, 0, data, 0));

    let mut bytes = hipArray_t::NULL;
    let one = desc([8, 0, 0, 0], hipChannelFormatKindUnsigned);
    ok!(hipMallocArray(&mut bytes, &one, 32, 0, 0));
    fails!(hipErrorInvalidValue, hipMemcpyAtoA(bytes, 0, a, 0, 4));
    ok!(hipFreeArray(bytes), hipFreeArray(a), hipFreeArray(b), hipStreamDestroy(stream));
}

#[test]
fn box_copies_count_elements_where_an_array_takes_part() {
    let array = cube();
    let mut input = words(8 * 4 * 3);
    let mut copy = no_copy();
    copy.srcPtr = pitched(&mut input, 8, 4);
    copy.dstArray = array;
    copy.extent = extent(8, 4, 3);
    copy.kind = hipMemcpyHostToDevice;
    ok!(hipMemcpy3D(&copy));
    assert_eq!(contents(array, 96), input);

    // The pitched end counts bytes, the array elements.
    let mut out = vec![0u32; 60];
    let mut back = no_copy();
    (back.srcArray, back.srcPos) = (array, hipPos { x: 2, y: 1, z: 1 });
    (back.dstPtr, back.dstPos) = (pitched(&mut out, 6, 5), hipPos { x: 4, y: 2, z: 0 });
    back.extent = extent(5, 3, 2);
    ok!(hipMemcpy3D(&back));
    for (z, y, x) in (0..2).flat_map(|z| (0..5).flat_map(move |y| (0..6).map(move |x| (z, y, x)))) {
        let inside = y >= 2 && x >= 1;
        let expected = if inside { input[((z + 1) * 4 + (y - 2) + 1) * 8 + (x - 1) + 2] } else { 0 };
        assert_eq!(out[(z * 5 + y) * 6 + x], expected, "{z} {y} {x}");
    }

    for wrong in [
        hipMemcpy3DParms { extent: extent(9, 4, 3), ..copy },
        hipMemcpy3DParms { extent: extent(8, 5, 3), ..copy },
        hipMemcpy3DParms { extent: extent(8, 4, 4), ..copy },
        hipMemcpy3DParms { extent: extent(usize::MAX / 2, 1, 1), ..copy },
        hipMemcpy3DParms { dstPos: hipPos { x: usize::MAX, y: 0, z: 0 }, ..copy },
        hipMemcpy3DParms { srcPtr: pitched(&mut input, 4, 4), ..copy },
        hipMemcpy3DParms { srcPtr: pitched(&mut input, 8, 2), ..copy },
        hipMemcpy3DParms { srcArray: array, ..copy },
        hipMemcpy3DParms { srcPtr: no_copy().srcPtr, ..copy },
    ] {
        fails!(hipErrorInvalidValue, hipMemcpy3D(&wrong));
    }
    fails!(hipErrorInvalidMemcpyDirection, hipMemcpy3D(&hipMemcpy3DParms { kind: hipMemcpyKind(9), ..copy }));
    ok!(hipMemcpy3D(&hipMemcpy3DParms { extent: extent(0, 4, 3), ..copy }));
    ok!(hipFreeArray(array));
}

#[test]
fn the_drivers_box_copies_take_arrays_too() {
    let (flat, deep) = (plane(), cube());
    let input = words(96);
    // SAFETY: all fields are plain data, for which zeros are values.
    let (mut rows, mut slices): (hip_Memcpy2D, HIP_MEMCPY3D) = unsafe { std::mem::zeroed() };
    rows.srcMemoryType = hipMemoryTypeHost;
    rows.srcHost = input.as_ptr().cast();
    rows.srcPitch = 32;
    rows.dstMemoryType = hipMemoryTypeArray;
    (rows.dstArray, rows.dstXInBytes, rows.dstY) = (flat, 4, 1);
    (rows.WidthInBytes, rows.Height) = (28, 3);
    ok!(hipMemcpyHtoA(flat, 0, [0u32; 32].as_ptr().cast(), 128), hipMemcpyParam2D(&rows));
    let found = contents(flat, 32);
    assert_eq!((found[8], &found[9..16], &found[25..32]), (0, &input[..7], &input[16..23]));
    for (width, height) in [(32, 3), (28, 4)] {
        fails!(
            hipErrorInvalidValue,
            hipMemcpyParam2D(&hip_Memcpy2D { WidthInBytes: width, Height: height, ..rows })
        );
    }
    fails!(hipErrorInvalidValue, hipMemcpyParam2D(&hip_Memcpy2D { dstArray: hipArray_t::NULL, ..rows }));

    slices.srcMemoryType = hipMemoryTypeArray;
    slices.srcArray = flat;
    slices.dstMemoryType = hipMemoryTypeArray;
    (slices.dstArray, slices.dstZ) = (deep, 2);
    (slices.WidthInBytes, slices.Height, slices.Depth) = (32, 4, 1);
    ok!(hipDrvMemcpy3D(&slices));
    assert_eq!(contents(deep, 96)[64..], found);
    fails!(hipErrorInvalidValue, hipDrvMemcpy3D(&HIP_MEMCPY3D { dstZ: 3, ..slices }));
    ok!(hipFreeArray(flat), hipFreeArray(deep));
}

#[test]
fn copy_nodes_name_their_arrays_and_take_others() {
    let (first, second, stream) = (cube(), cube(), new_stream());
    let zero = [0u32; 96];
    let mut input = words(96);
    ok!(
        hipMemcpyHtoA(first, 0, zero.as_ptr().cast(), 384),
        hipMemcpyHtoA(second, 0, zero.as_ptr().cast(), 384),
    );
    let (mut graph, mut node, mut exec) = (hipGraph_t::NULL, hipGraphNode_t::NULL, hipGraphExec_t::NULL);
    let mut copy = no_copy();
    copy.srcPtr = pitched(&mut input, 8, 4);
    (copy.dstArray, copy.dstPos) = (first, hipPos { x: 1, y: 2, z: 1 });
    copy.extent = extent(3, 2, 2);
    copy.kind = hipMemcpyHostToDevice;
    ok!(
        hipGraphCreate(&mut graph, 0),
        hipGraphAddMemcpyNode(&mut node, graph, ptr::null(), 0, &copy),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    let found = contents(first, 96);
    assert_eq!(found[(4 + 2) * 8 + 1..][..3], input[..3]);
    assert_eq!(found[(8 + 3) * 8 + 1..][..3], input[(4 + 1) * 8..][..3]);

    let mut params = no_copy();
    ok!(hipGraphMemcpyNodeGetParams(node, &mut params));
    assert_eq!((params.dstArray, params.srcArray), (first, hipArray_t::NULL));
    assert_eq!((params.dstPos.x, params.dstPos.y, params.dstPos.z), (1, 2, 1));
    assert_eq!((params.extent.width, params.extent.height, params.extent.depth), (3, 2, 2));
    assert_eq!((params.srcPtr.ptr, params.srcPtr.pitch), (input.as_mut_ptr().cast(), 32));
    assert!(params.dstPtr.ptr.is_null());
    // What was asked for can be given back.
    ok!(hipGraphMemcpyNodeSetParams(node, &params));

    copy.dstArray = second;
    ok!(
        hipGraphExecMemcpyNodeSetParams(exec, node, &mut copy),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!(contents(second, 96), found);
    copy.extent.depth = 3;
    fails!(hipErrorInvalidValue, hipGraphMemcpyNodeSetParams(node, &copy));
    fails!(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams(exec, node, &mut copy));
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
    ok!(hipFreeArray(first), hipFreeArray(second), hipStreamDestroy(stream));
}

#[test]
fn copies_of_arrays_are_captured() {
    let (array, stream) = (plane(), new_stream());
    let (input, mut out) = (words(32), [0u32; 32]);
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    ok!(
        hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed),
        hipMemcpy2DToArrayAsync(array, 0, 0, input.as_ptr().cast(), 32, 32, 4, hipMemcpyHostToDevice, stream),
        hipMemcpyAtoHAsync(out.as_mut_ptr().cast(), array, 0, 128, stream),
        hipStreamEndCapture(stream, &mut graph),
    );
    assert_eq!(out, [0; 32]);
    ok!(
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, stream),
        hipStreamSynchronize(stream),
    );
    assert_eq!(out[..], input[..]);
    // An allocation could not be undone by dropping the capture.
    let mut refused = hipArray_t::NULL;
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    fails!(hipErrorStreamCaptureUnsupported, hipMallocArray(&mut refused, &FLOAT, 8, 4, 0));
    fails!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &mut graph));
    ok!(hipGraphExecDestroy(exec), hipFreeArray(array), hipStreamDestroy(stream));
}

// proves: hipMallocMipmappedArray, hipFreeMipmappedArray, hipGetMipmappedArrayLevel, hipMipmappedArrayCreate
// proves: hipMipmappedArrayDestroy, hipMipmappedArrayGetLevel
#[test]
fn levels_of_a_mipmapped_array_are_arrays_that_end_with_it() {
    let mut mipmapped = hipMipmappedArray_t::NULL;
    let (mut level, mut again) = (hipArray_t::NULL, hipArray_t::NULL);
    ok!(
        hipMallocMipmappedArray(&mut mipmapped, &FLOAT, extent(8, 4, 0), 3, 0),
        hipGetMipmappedArrayLevel(&mut level, mipmapped, 1),
        hipMipmappedArrayGetLevel(&mut again, mipmapped, 1),
    );
    assert_eq!(level, again);
    let mut size = extent(0, 0, 0);
    ok!(hipArrayGetInfo(ptr::null_mut(), &mut size, ptr::null_mut(), level));
    assert_eq!((size.width, size.height, size.depth), (4, 2, 0));
    let input = words(8);
    ok!(hipMemcpyHtoA(level, 0, input.as_ptr().cast(), 32));
    assert_eq!(contents(level, 8), input);
    fails!(hipErrorInvalidValue, hipFreeArray(level));
    fails!(hipErrorInvalidValue, hipGetMipmappedArrayLevel(&mut level, mipmapped, 3));
    fails!(hipErrorInvalidValue, hipGetMipmappedArrayLevel(ptr::null_mut(), mipmapped, 0));
    ok!(hipFreeMipmappedArray(mipmapped));
    fails!(hipErrorInvalidValue, hipMemcpyHtoA(again, 0, input.as_ptr().cast(), 32));
    fails!(hipErrorInvalidValue, hipFreeMipmappedArray(mipmapped));
    fails!(hipErrorInvalidValue, hipGetMipmappedArrayLevel(&mut level, mipmapped, 0));
    for levels in [0, 5, c_uint::MAX] {
        fails!(
            hipErrorInvalidValue,
            hipMallocMipmappedArray(&mut mipmapped, &FLOAT, extent(8, 4, 0), levels, 0)
        );
    }

    let mut driver = HIP_ARRAY3D_DESCRIPTOR {
        Width: 4,
        Height: 4,
        Depth: 4,
        Format: HIP_AD_FORMAT_FLOAT,
        NumChannels: 2,
        Flags: 0,
    };
    fails!(hipErrorInvalidValue, hipMipmappedArrayCreate(&mut mipmapped, &mut driver, 4));
    ok!(
        hipMipmappedArrayCreate(&mut mipmapped, &mut driver, 3),
        hipMipmappedArrayGetLevel(&mut level, mipmapped, 2),
        hipArrayGetInfo(ptr::null_mut(), &mut size, ptr::null_mut(), level),
    );
    assert_eq!((size.width, size.height, size.depth), (1, 1, 1));
    fails!(hipErrorInvalidValue, hipMipmappedArrayGetLevel(&mut level, mipmapped, 3));
    ok!(hipMipmappedArrayDestroy(mipmapped));
    fails!(hipErrorInvalidValue, hipMipmappedArrayDestroy(mipmapped));
}

// proves: hipMipmappedArrayGetMemoryRequirements
#[test]
fn a_mipmapped_array_requires_the_bytes_of_all_its_levels() {
    let mut mipmapped = hipMipmappedArray_t::NULL;
    ok!(hipMallocMipmappedArray(&mut mipmapped, &FLOAT, extent(8, 4, 0), 3, 0));
    let mut found = hipArrayMemoryRequirements { alignment: 0, size: 0 };
    ok!(hipMipmappedArrayGetMemoryRequirements(&mut found, mipmapped, 0));
    // 8 by 4, 4 by 2 and 2 by 1 floats.
    assert_eq!(found.size, 4 * (32 + 8 + 2));
    assert!(found.alignment.is_power_of_two(), "{}", found.alignment);
    fails!(hipErrorInvalidValue, hipMipmappedArrayGetMemoryRequirements(ptr::null_mut(), mipmapped, 0));
    fails!(hipErrorInvalidValue, hipMipmappedArrayGetMemoryRequirements(&mut found, mipmapped, 99));
    ok!(hipFreeMipmappedArray(mipmapped));
    fails!(hipErrorInvalidValue, hipMipmappedArrayGetMemoryRequirements(&mut found, mipmapped, 0));
}
