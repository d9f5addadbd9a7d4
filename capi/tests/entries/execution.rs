use std::{
    ffi::c_uint,
    mem, ptr,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

use capi::{error::hipError_t, types::*};

use super::*;

unsafe extern "C" {
    fn hipDeviceGetDevResource(
        device: hipDevice_t,
        resource: *mut hipDevResource,
        kind: hipDevResourceType,
    ) -> hipError_t;
    fn hipDevSmResourceSplitByCount(
        result: *mut hipDevResource,
        groups: *mut c_uint,
        input: *const hipDevResource,
        remainder: *mut hipDevResource,
        flags: c_uint,
        least: c_uint,
    ) -> hipError_t;
    fn hipDevSmResourceSplit(
        result: *mut hipDevResource,
        groups: c_uint,
        input: *const hipDevResource,
        remainder: *mut hipDevResource,
        flags: c_uint,
        params: *mut hipDevSmResourceGroupParams,
    ) -> hipError_t;
    fn hipDevResourceGenerateDesc(
        descriptor: *mut hipDevResourceDesc_t,
        resources: *mut hipDevResource,
        count: c_uint,
    ) -> hipError_t;
    fn hipGreenCtxCreate(
        context: *mut hipExecutionCtx_t,
        descriptor: hipDevResourceDesc_t,
        device: hipDevice_t,
        flags: c_uint,
    ) -> hipError_t;
    fn hipExecutionCtxDestroy(context: hipExecutionCtx_t) -> hipError_t;
    fn hipDeviceGetExecutionCtx(context: *mut hipExecutionCtx_t, device: hipDevice_t) -> hipError_t;
    fn hipExecutionCtxStreamCreate(
        stream: *mut hipStream_t,
        context: hipExecutionCtx_t,
        flags: c_uint,
        priority: c_int,
    ) -> hipError_t;
    fn hipExecutionCtxGetDevResource(
        context: hipExecutionCtx_t,
        resource: *mut hipDevResource,
        kind: hipDevResourceType,
    ) -> hipError_t;
    fn hipExecutionCtxGetDevice(device: *mut hipDevice_t, context: hipExecutionCtx_t) -> hipError_t;
    fn hipExecutionCtxGetId(context: hipExecutionCtx_t, id: *mut u64) -> hipError_t;
    fn hipStreamGetDevResource(
        stream: hipStream_t,
        resource: *mut hipDevResource,
        kind: hipDevResourceType,
    ) -> hipError_t;
    fn hipExecutionCtxRecordEvent(context: hipExecutionCtx_t, event: hipEvent_t) -> hipError_t;
    fn hipExecutionCtxSynchronize(context: hipExecutionCtx_t) -> hipError_t;
    fn hipExecutionCtxWaitEvent(context: hipExecutionCtx_t, event: hipEvent_t) -> hipError_t;
    fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
    fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
    fn hipEventQuery(event: hipEvent_t) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t;
    fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
    fn hipStreamGetPriority(stream: hipStream_t, priority: *mut c_int) -> hipError_t;
    fn hipExtStreamGetCUMask(stream: hipStream_t, words: u32, mask: *mut u32) -> hipError_t;
    fn hipMemsetAsync(dst: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) -> hipError_t;
    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
}

const SM: hipDevResourceType = hipDevResourceTypeSm;

fn empty() -> hipDevResource {
    // SAFETY: all fields are plain data, for which zeros are values.
    unsafe { mem::zeroed() }
}

fn count(resource: &hipDevResource) -> u32 {
    // SAFETY: any bits are a value of this member.
    unsafe { resource.resource.sm.smCount }
}

fn whole() -> hipDevResource {
    let mut resource = empty();
    ok!(hipDeviceGetDevResource(0, &mut resource, SM));
    resource
}

/// A context of the first `units` units.
fn context(units: u32) -> hipExecutionCtx_t {
    let (mut part, mut groups, mut descriptor, mut context) =
        (empty(), 1, hipDevResourceDesc_t::NULL, hipExecutionCtx_t::NULL);
    ok!(
        hipDevSmResourceSplitByCount(&mut part, &mut groups, &whole(), ptr::null_mut(), 0, units),
        hipDevResourceGenerateDesc(&mut descriptor, &mut part, 1),
        hipGreenCtxCreate(&mut context, descriptor, 0, 0),
    );
    context
}

// proves: hipDeviceGetDevResource, hipDevSmResourceSplitByCount
#[test]
fn units_are_split_into_groups_and_a_rest() {
    let all = whole();
    let units = count(&all);
    assert!(units >= 4);
    let (mut groups, mut parts, mut rest) = (0, [empty(); 3], empty());
    let size = units / 4;
    ok!(hipDevSmResourceSplitByCount(ptr::null_mut(), &mut groups, &all, ptr::null_mut(), 0, size));
    assert_eq!(groups, units / size, "how many there can be");
    groups = 3;
    ok!(hipDevSmResourceSplitByCount(parts.as_mut_ptr(), &mut groups, &all, &mut rest, 0, size));
    assert_eq!((groups, parts.map(|part| count(&part))), (3, [size; 3]));
    assert_eq!(count(&rest), units - 3 * size);
    // No unit is in two of them.
    let bits = |r: &hipDevResource| r._internal_padding[1..].to_vec();
    let mut seen = vec![0; RESOURCE_WORDS - 1];
    for resource in parts.iter().chain([&rest]) {
        for (seen, bits) in seen.iter_mut().zip(bits(resource)) {
            assert_eq!(*seen & bits, 0);
            *seen |= bits;
        }
    }
    assert_eq!(seen, bits(&all));
    // A part can be split again; what is left of all is of no type.
    groups = 1;
    ok!(hipDevSmResourceSplitByCount(&mut parts[1], &mut groups, &parts[0], &mut rest, 0, size));
    assert_eq!((count(&parts[1]), rest.r#type), (size, hipDevResourceTypeInvalid));

    let split = |input: *const hipDevResource, flags, least| {
        let (mut out, mut groups) = (empty(), 1);
        // SAFETY: room for one group, and an input that may be null.
        unsafe { hipDevSmResourceSplitByCount(&mut out, &mut groups, input, ptr::null_mut(), flags, least) }
    };
    fails!(hipErrorInvalidValue, split(&all, 0, units + 1));
    fails!(hipErrorInvalidValue, split(&all, 4, 1));
    fails!(hipErrorInvalidValue, split(ptr::null(), 0, 1));
    fails!(hipErrorInvalidResourceType, split(&rest, 0, 1));
    let mut tampered = all;
    tampered._internal_padding[RESOURCE_WORDS - 1] = 1;
    fails!(hipErrorInvalidValue, split(&tampered, 0, 1));
    tampered = all;
    tampered._internal_padding[0] = 99;
    fails!(hipErrorInvalidDevice, split(&tampered, 0, 1));
    fails!(
        hipErrorInvalidValue,
        hipDevSmResourceSplitByCount(&mut rest, ptr::null_mut(), &all, ptr::null_mut(), 0, 1)
    );
    fails!(hipErrorInvalidResourceType, hipDeviceGetDevResource(0, &mut rest, hipDevResourceTypeWorkqueue));
    fails!(hipErrorInvalidValue, hipDeviceGetDevResource(0, ptr::null_mut(), SM));
    fails!(hipErrorInvalidDevice, hipDeviceGetDevResource(99, &mut rest, SM));
}

// proves: hipDevSmResourceSplit
#[test]
fn groups_have_the_sizes_that_were_asked_for() {
    let all = whole();
    let units = count(&all);
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut params: [hipDevSmResourceGroupParams; 3] = unsafe { mem::zeroed() };
    let (mut parts, mut rest) = ([empty(); 3], empty());
    params[0].smCount = 1;
    params[1].smCount = 2;
    params[1].coscheduledSmCount = 2;
    params[1].flags = hipDevSmResourceGroupBackfill.0;
    ok!(hipDevSmResourceSplit(parts.as_mut_ptr(), 3, &all, &mut rest, 0, params.as_mut_ptr()));
    assert_eq!(parts.map(|part| count(&part)), [1, 2, units - 3], "the last takes what is left");
    assert_eq!(rest.r#type, hipDevResourceTypeInvalid);
    ok!(hipDevSmResourceSplit(parts.as_mut_ptr(), 2, &all, &mut rest, 0, params.as_mut_ptr()));
    assert_eq!(count(&rest), units - 3);
    let mut split = |change: fn(&mut hipDevSmResourceGroupParams), flags| {
        let mut one = [params[0]];
        change(&mut one[0]);
        // SAFETY: one group, and room for it.
        unsafe { hipDevSmResourceSplit(&mut parts[0], 1, &all, ptr::null_mut(), flags, one.as_mut_ptr()) }
    };
    fails!(hipErrorInvalidResourceConfiguration, split(|group| group.smCount = 1 << 20, 0));
    fails!(hipErrorInvalidResourceConfiguration, split(|group| group.coscheduledSmCount = 2, 0));
    fails!(hipErrorInvalidValue, split(|group| group.flags = 2, 0));
    fails!(hipErrorInvalidValue, split(|group| group.reserved[11] = 1, 0));
    fails!(hipErrorInvalidValue, split(|_| (), 1));
    let none = ptr::null_mut();
    fails!(hipErrorInvalidValue, hipDevSmResourceSplit(none, 1, &all, none, 0, params.as_mut_ptr()));
    fails!(hipErrorInvalidValue, hipDevSmResourceSplit(&mut rest, 0, &all, none, 0, params.as_mut_ptr()));
    fails!(hipErrorInvalidValue, hipDevSmResourceSplit(&mut rest, 1, &all, none, 0, ptr::null_mut()));
}

// proves: hipDevResourceGenerateDesc, hipGreenCtxCreate, hipExecutionCtxDestroy, hipDeviceGetExecutionCtx
// proves: hipExecutionCtxGetDevResource, hipExecutionCtxGetDevice, hipExecutionCtxGetId
#[test]
fn a_context_has_the_units_of_its_descriptor() {
    let (mut parts, mut groups, mut rest) = ([empty(); 2], 2, empty());
    let (mut descriptor, mut same, mut context) =
        (hipDevResourceDesc_t::NULL, hipDevResourceDesc_t::NULL, hipExecutionCtx_t::NULL);
    ok!(
        hipDevSmResourceSplitByCount(parts.as_mut_ptr(), &mut groups, &whole(), &mut rest, 0, 1),
        hipDevResourceGenerateDesc(&mut descriptor, parts.as_mut_ptr(), 2),
        hipDevResourceGenerateDesc(&mut same, parts.as_mut_ptr(), 2),
        hipGreenCtxCreate(&mut context, descriptor, 0, 0),
    );
    assert_eq!(descriptor, same);
    let (mut found, mut device, mut id, mut default, mut default_id) =
        (empty(), -1, 0, hipExecutionCtx_t::NULL, 0);
    ok!(
        hipExecutionCtxGetDevResource(context, &mut found, SM),
        hipExecutionCtxGetDevice(&mut device, context),
        hipExecutionCtxGetId(context, &mut id),
        hipDeviceGetExecutionCtx(&mut default, 0),
        hipExecutionCtxGetId(default, &mut default_id),
    );
    assert_eq!((count(&found), device), (2, 0));
    assert_ne!(id, default_id);
    ok!(hipExecutionCtxGetDevResource(default, &mut found, SM));
    assert_eq!(count(&found), count(&whole()));

    fails!(hipErrorInvalidValue, hipExecutionCtxDestroy(default));
    ok!(hipExecutionCtxDestroy(context));
    fails!(hipErrorInvalidValue, hipExecutionCtxDestroy(context));
    fails!(hipErrorInvalidValue, hipExecutionCtxGetDevice(&mut device, context));
    fails!(hipErrorInvalidValue, hipExecutionCtxGetId(context, &mut id));
    fails!(hipErrorInvalidValue, hipExecutionCtxGetDevResource(context, &mut found, SM));
    fails!(
        hipErrorInvalidResourceType,
        hipExecutionCtxGetDevResource(default, &mut found, hipDevResourceTypeInvalid)
    );
    fails!(hipErrorInvalidValue, hipExecutionCtxGetId(default, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipDeviceGetExecutionCtx(ptr::null_mut(), 0));
    fails!(hipErrorInvalidDevice, hipDeviceGetExecutionCtx(&mut context, 99));
    fails!(hipErrorInvalidValue, hipGreenCtxCreate(&mut context, descriptor, 0, 1));
    fails!(hipErrorInvalidValue, hipGreenCtxCreate(&mut context, hipDevResourceDesc_t(0x5eed), 0, 0));
    fails!(hipErrorInvalidDevice, hipGreenCtxCreate(&mut context, descriptor, 99, 0));
    fails!(hipErrorInvalidValue, hipGreenCtxCreate(ptr::null_mut(), descriptor, 0, 0));
    fails!(hipErrorInvalidValue, hipDevResourceGenerateDesc(&mut descriptor, parts.as_mut_ptr(), 0));
    fails!(hipErrorInvalidValue, hipDevResourceGenerateDesc(&mut descriptor, ptr::null_mut(), 1));
    fails!(hipErrorInvalidValue, hipDevResourceGenerateDesc(ptr::null_mut(), parts.as_mut_ptr(), 1));
    fails!(hipErrorInvalidResourceType, hipDevResourceGenerateDesc(&mut descriptor, &mut empty(), 1));
}

// proves: hipExecutionCtxStreamCreate, hipStreamGetDevResource
#[test]
fn streams_of_a_context_run_on_its_units_until_it_ends() {
    let (context, mut stream, mut found) = (context(2), hipStream_t::NULL, empty());
    ok!(
        hipExecutionCtxStreamCreate(&mut stream, context, hipStreamNonBlocking, -1),
        hipStreamGetDevResource(stream, &mut found, SM),
    );
    assert_eq!(count(&found), 2);
    let (mut mask, mut priority) = ([0u32; 32], 0);
    ok!(hipExtStreamGetCUMask(stream, 32, mask.as_mut_ptr()), hipStreamGetPriority(stream, &mut priority));
    assert_eq!((mask.iter().map(|word| word.count_ones()).sum::<u32>(), priority), (2, -1));
    let given: std::collections::BTreeSet<u32> =
        (0..1024).filter(|unit| mask[unit / 32] >> (unit % 32) & 1 != 0).map(|unit| unit as u32).collect();
    assert_eq!(crate::units::of_kernels_on(stream), given);
    let memory = Memory::of(&[0u8; 64]);
    ok!(hipMemsetAsync(memory.pointer(), 5, 64, stream), hipStreamSynchronize(stream));
    assert_eq!(memory.read(), [5; 64]);
    ok!(hipStreamGetDevResource(hipStream_t::NULL, &mut found, SM));
    assert_eq!(count(&found), count(&whole()));

    fails!(hipErrorInvalidValue, hipExecutionCtxStreamCreate(&mut stream, context, 2, 0));
    fails!(hipErrorInvalidValue, hipExecutionCtxStreamCreate(ptr::null_mut(), context, 0, 0));
    fails!(hipErrorInvalidValue, hipExecutionCtxStreamCreate(&mut stream, hipExecutionCtx_t::NULL, 0, 0));
    fails!(hipErrorInvalidHandle, hipStreamGetDevResource(hipStream_t(0x5eed), &mut found, SM));
    fails!(hipErrorInvalidValue, hipStreamGetDevResource(stream, ptr::null_mut(), SM));
    fails!(
        hipErrorInvalidResourceType,
        hipStreamGetDevResource(stream, &mut found, hipDevResourceTypeInvalid)
    );
    ok!(hipExecutionCtxDestroy(context));
    fails!(hipErrorStreamDetached, hipMemsetAsync(memory.pointer(), 6, 64, stream));
    fails!(hipErrorStreamDetached, hipStreamQuery(stream));
    ok!(hipStreamDestroy(stream));
    assert_eq!(memory.read(), [5; 64]);
}

/// Waits for the test's permission, then counts.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    passed: AtomicU32,
}

unsafe extern "C" fn pass(data: *mut c_void) {
    // SAFETY: the test gave a gate, which outlives the stream's work.
    let gate = unsafe { &*data.cast::<Gate>() };
    while !gate.open.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    gate.passed.fetch_add(1, Ordering::Release);
}

// proves: hipExecutionCtxRecordEvent, hipExecutionCtxSynchronize, hipExecutionCtxWaitEvent
#[test]
fn a_context_is_recorded_waited_for_and_held_back_as_a_whole() {
    let (context, gate, mut event, mut held) =
        (context(1), Gate::default(), hipEvent_t::NULL, hipEvent_t::NULL);
    let (elsewhere, mut streams, mut late) = (new_stream(), [hipStream_t::NULL; 2], hipStream_t::NULL);
    let data = (&raw const gate).cast_mut().cast();
    // Before anything is held back: the default stream waits for all.
    let memory = [0; 3].map(|_| Memory::of(&[0u8; 4]));
    ok!(hipEventCreate(&mut event), hipEventCreate(&mut held));
    for stream in &mut streams {
        ok!(hipExecutionCtxStreamCreate(stream, context, hipStreamNonBlocking, 0));
    }
    ok!(
        hipLaunchHostFunc(elsewhere, Some(pass), data),
        hipEventRecord(held, elsewhere),
        hipExecutionCtxWaitEvent(context, held),
        // It is there for the streams that come later too.
        hipExecutionCtxStreamCreate(&mut late, context, hipStreamNonBlocking, 0),
    );
    for (stream, memory) in [streams[0], streams[1], late].into_iter().zip(&memory) {
        ok!(hipMemsetAsync(memory.pointer(), 7, 4, stream));
    }
    ok!(hipExecutionCtxRecordEvent(context, event));
    fails!(hipErrorNotReady, hipEventQuery(event));
    for stream in [streams[0], streams[1], late] {
        fails!(hipErrorNotReady, hipStreamQuery(stream));
    }
    gate.open.store(true, Ordering::Release);
    ok!(hipExecutionCtxSynchronize(context), hipEventQuery(event));
    assert_eq!(gate.passed.load(Ordering::Acquire), 1);
    for memory in &memory {
        assert_eq!(memory.read(), [7; 4]);
    }

    let mut graph = hipGraph_t::NULL;
    ok!(hipStreamBeginCapture(streams[0], hipStreamCaptureModeThreadLocal));
    fails!(hipErrorStreamCaptureUnsupported, hipExecutionCtxRecordEvent(context, event));
    fails!(hipErrorStreamCaptureUnsupported, hipExecutionCtxWaitEvent(context, event));
    fails!(hipErrorStreamCaptureUnsupported, hipExecutionCtxSynchronize(context));
    ok!(hipStreamEndCapture(streams[0], &mut graph), hipGraphDestroy(graph));
    let nobody = hipExecutionCtx_t(0x5eed);
    fails!(hipErrorInvalidValue, hipExecutionCtxRecordEvent(nobody, event));
    fails!(hipErrorInvalidValue, hipExecutionCtxWaitEvent(nobody, event));
    fails!(hipErrorInvalidHandle, hipExecutionCtxSynchronize(nobody));
    fails!(hipErrorInvalidHandle, hipExecutionCtxRecordEvent(context, hipEvent_t(0x5eed)));
    fails!(hipErrorInvalidHandle, hipExecutionCtxWaitEvent(context, hipEvent_t::NULL));
    ok!(hipExecutionCtxDestroy(context), hipEventDestroy(event), hipEventDestroy(held));
    for stream in [streams[0], streams[1], late, elsewhere] {
        ok!(hipStreamDestroy(stream));
    }
}
