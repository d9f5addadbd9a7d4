//! Memory that graphs, streams, pools and modules hold.

use std::ptr;

use super::{super::program::variable_image, worker::*, *};

fn pool_properties() -> hipMemPoolProps {
    hipMemPoolProps {
        allocType: hipMemAllocationTypePinned,
        handleTypes: hipMemHandleTypeNone,
        location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 },
        win32SecurityAttributes: ptr::null_mut(),
        maxSize: 0,
        reserved: [0; 56],
    }
}

/// The memory of a graph is its own while a launch runs, whoever else allocates.
pub fn allocates_in_a_graph(w: &mut Worker<'_>) {
    let ([a, b, _], word, other) = (w.device, w.word(), w.word());
    let template = Template::new();
    let allocate = |after: &[hipGraphNode_t]| {
        let mut node = hipGraphNode_t::NULL;
        let mut params = hipMemAllocNodeParams {
            poolProps: pool_properties(),
            accessDescs: ptr::null(),
            accessDescCount: 0,
            bytesize: BYTES,
            dptr: ptr::null_mut(),
        };
        ok!(hipGraphAddMemAllocNode(&mut node, template.0, after.as_ptr(), after.len(), &mut params));
        (node, params.dptr)
    };
    let free = |after: hipGraphNode_t, address: *mut c_void| {
        let mut node = hipGraphNode_t::NULL;
        ok!(hipGraphAddMemFreeNode(&mut node, template.0, &after, 1, address));
        node
    };
    let (first, memory) = allocate(&[]);
    let filled = template.fill(&[first], memory, word);
    let copied = template.copy(&[filled], a, memory);
    let freed = free(copied, memory);
    // May lie where the first one was.
    let (second, memory) = allocate(&[freed]);
    let filled = template.fill(&[second], memory, other);
    let copied = template.copy(&[filled], b, memory);
    free(copied, memory);
    let exec = template.into_exec();
    for _ in 0..2 {
        let stream = w.stream();
        ok!(hipGraphLaunch(exec, stream));
        w.expect_words(a, word, stream);
        w.expect_words(b, other, stream);
    }
    if w.below(4) == 0 {
        ok!(hipDeviceGraphMemTrim(0));
    }
    ok!(hipGraphExecDestroy(exec));
}

/// Allocations that a capture records are nodes.
pub fn captures_an_allocation(w: &mut Worker<'_>) {
    let ([a, ..], [origin, ..], word) = (w.device, w.streams, w.word());
    let (mut memory, mut graph) = (ptr::null_mut(), hipGraph_t::NULL);
    ok!(
        hipStreamBeginCapture(origin, hipStreamCaptureModeThreadLocal),
        hipMallocAsync(&mut memory, BYTES, origin)
    );
    fill_async(memory, word, origin);
    copy_async(a, memory, origin);
    ok!(hipFreeAsync(memory, origin), hipStreamEndCapture(origin, &mut graph));
    let template = Template(graph);
    assert_eq!(template.nodes(), 4);
    let (exec, stream) = (template.into_exec(), w.stream());
    ok!(hipGraphLaunch(exec, stream), hipGraphExecDestroy(exec));
    w.expect_words(a, word, stream);
}

/// Memory of the device's pool goes from stream to stream, and back to whoever allocates next.
pub fn allocates_in_stream_order(w: &mut Worker<'_>) {
    let ([a, ..], word, event) = (w.device, w.word(), new_event());
    let ([first, ..], second, mut memory) = (w.streams, w.one_of(&w.world.streams), ptr::null_mut());
    ok!(hipMallocAsync(&mut memory, BYTES, first));
    fill_async(memory, word, first);
    ok!(hipEventRecord(event, first), hipStreamWaitEvent(second, event, 0));
    copy_async(a, memory, second);
    ok!(hipFreeAsync(memory, second), hipEventDestroy(event));
    w.expect_words(a, word, second);
    if w.below(4) == 0 {
        let mut pool = hipMemPool_t::NULL;
        ok!(hipDeviceGetDefaultMemPool(&mut pool, 0), hipMemPoolTrimTo(pool, 0));
    }
}

/// A pool that is destroyed is gone when its last allocation is.
pub fn destroys_a_pool_in_use(w: &mut Worker<'_>) {
    let ([a, ..], [stream, ..], word) = (w.device, w.streams, w.word());
    let (mut pool, mut memory) = (hipMemPool_t::NULL, ptr::null_mut());
    ok!(
        hipMemPoolCreate(&mut pool, &pool_properties()),
        hipMallocFromPoolAsync(&mut memory, BYTES, pool, stream),
    );
    fill_async(memory, word, stream);
    ok!(hipMemPoolDestroy(pool));
    fails!(hipErrorInvalidValue, hipMallocFromPoolAsync(&mut ptr::null_mut(), BYTES, pool, stream));
    copy_async(a, memory, stream);
    ok!(hipFreeAsync(memory, stream));
    w.expect_words(a, word, stream);
}

/// Code and variables of a module that others load, too, are its own.
pub fn runs_a_module_of_its_own(w: &mut Worker<'_>) {
    let (stream, mut module, mut function) = (w.stream(), hipModule_t::NULL, hipFunction_t::NULL);
    let (mut address, mut bytes) = (ptr::null_mut(), 0);
    ok!(
        hipModuleLoadData(&mut module, variable_image().as_ptr().cast()),
        hipModuleGetFunction(&mut function, module, c"increment".as_ptr()),
        hipModuleGetGlobal(&mut address, &mut bytes, module, c"counters".as_ptr()),
    );
    let null = ptr::null_mut();
    let launches = 1 + w.below(3) as i32;
    for _ in 0..launches {
        ok!(hipModuleLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, stream, null, null));
    }
    let mut counters = [0i32; 4];
    assert_eq!(bytes, size_of_val(&counters));
    ok!(
        hipMemcpyAsync(counters.as_mut_ptr().cast(), address, bytes, hipMemcpyDeviceToHost, stream),
        hipStreamSynchronize(stream),
        hipModuleUnload(module),
    );
    assert_eq!(counters, [1, 2, 3, 4].map(|n| n + 10 * launches));
}
