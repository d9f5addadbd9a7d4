use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{counters, variable_image};

unsafe extern "C" {
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    fn hipModuleGetGlobal(
        address: *mut hipDeviceptr_t,
        bytes: *mut usize,
        module: hipModule_t,
        name: *const std::ffi::c_char,
    ) -> hipError_t;
    fn hipGetSymbolAddress(address: *mut *mut c_void, symbol: *const c_void) -> hipError_t;
    fn hipGetSymbolSize(bytes: *mut usize, symbol: *const c_void) -> hipError_t;
    fn hipMemcpyToSymbol(
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpyToSymbolAsync(
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyFromSymbol(
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpyFromSymbolAsync(
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
    fn hipMemcpyToSymbol_spt(
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipMemcpyFromSymbol_spt(
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphCreate(graph: *mut hipGraph_t, flags: u32) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphAddMemcpyNodeToSymbol(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphAddMemcpyNodeFromSymbol(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphMemcpyNodeSetParamsToSymbol(
        node: hipGraphNode_t,
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphMemcpyNodeSetParamsFromSymbol(
        node: hipGraphNode_t,
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphExecMemcpyNodeSetParamsToSymbol(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        symbol: *const c_void,
        src: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        dst: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;
    fn hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> hipError_t;
    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
}

const NULL: hipStream_t = hipStream_t::NULL;
const TO: hipMemcpyKind = hipMemcpyHostToDevice;
const FROM: hipMemcpyKind = hipMemcpyDeviceToHost;

/// Both tests write the one variable: they take turns.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

// proves: hipModuleGetGlobal
#[test]
fn a_modules_variable_is_device_memory_until_it_is_unloaded() {
    let (mut module, mut address, mut bytes) = (hipModule_t::NULL, ptr::null_mut(), 0);
    ok!(
        hipModuleLoadData(&mut module, variable_image().as_ptr().cast()),
        hipModuleGetGlobal(&mut address, &mut bytes, module, c"counters".as_ptr()),
    );
    assert_eq!(bytes, 16);
    let mut values = [0u32; 4];
    ok!(
        hipMemset(address, 0, 4),
        hipMemcpy(values.as_mut_ptr().cast(), address, bytes, hipMemcpyDeviceToHost)
    );
    assert_eq!(values, [0, 2, 3, 4]);
    let beyond = values.as_mut_ptr().cast();
    fails!(hipErrorInvalidValue, hipMemcpy(beyond, address, bytes + 1, hipMemcpyDeviceToHost));
    ok!(hipModuleUnload(module));
    fails!(hipErrorInvalidValue, hipMemset(address, 0, 4));
}

// proves: hipMemcpyToSymbol, hipMemcpyToSymbolAsync, hipMemcpyFromSymbol, hipMemcpyFromSymbolAsync
// proves: hipMemcpyToSymbol_spt, hipMemcpyFromSymbol_spt, hipGetSymbolAddress, hipGetSymbolSize
#[test]
fn a_variable_is_copied_to_and_from_by_its_shadow() {
    let _turn = TURN.lock();
    let (symbol, mut back, mut address, mut size) = (counters(), [0u32; 4], ptr::null_mut(), 0);
    let out: *mut c_void = back.as_mut_ptr().cast();
    let new = [50u32, 60, 70, 80];
    let src: *const c_void = new.as_ptr().cast();
    ok!(
        hipGetSymbolAddress(&mut address, symbol),
        hipGetSymbolSize(&mut size, symbol),
        hipMemcpyToSymbol(symbol, src, 16, 0, TO),
        hipMemcpyToSymbolAsync(symbol, src, 4, 12, TO, NULL),
        hipMemcpyFromSymbol(out, symbol, 8, 8, FROM),
    );
    assert_eq!((size, address.is_null(), back), (16, false, [70, 50, 0, 0]));
    ok!(
        hipMemcpyToSymbol_spt(symbol, src, 4, 4, TO),
        hipMemcpyFromSymbol_spt(out, symbol, 8, 0, FROM),
        hipMemcpyFromSymbolAsync(out.wrapping_byte_add(8), symbol, 4, 8, FROM, NULL),
        hipStreamSynchronize(NULL),
    );
    assert_eq!(back, [50, 50, 70, 0]);
    for asked in [symbol, src] {
        fails!(hipErrorInvalidValue, hipGetSymbolAddress(ptr::null_mut(), asked));
        fails!(hipErrorInvalidValue, hipGetSymbolSize(ptr::null_mut(), asked));
    }
    fails!(hipErrorInvalidSymbol, hipGetSymbolSize(&mut size, src));
    fails!(hipErrorInvalidValue, hipMemcpyToSymbol(symbol, src, 16, 1, TO));
    fails!(hipErrorInvalidSymbol, hipMemcpyToSymbol(ptr::null(), src, 4, 0, TO));
    fails!(hipErrorInvalidSymbol, hipMemcpyToSymbol(src, src, 4, 0, TO));
    fails!(hipErrorInvalidMemcpyDirection, hipMemcpyToSymbol(symbol, src, 4, 0, FROM));
    fails!(hipErrorInvalidMemcpyDirection, hipMemcpyFromSymbolAsync(out, symbol, 4, 0, TO, NULL));
}

// proves: hipGraphAddMemcpyNodeToSymbol, hipGraphAddMemcpyNodeFromSymbol, hipGraphMemcpyNodeSetParamsToSymbol
// proves: hipGraphMemcpyNodeSetParamsFromSymbol, hipGraphExecMemcpyNodeSetParamsToSymbol
// proves: hipGraphExecMemcpyNodeSetParamsFromSymbol
#[test]
fn nodes_copy_to_and_from_variables() {
    let _turn = TURN.lock();
    let (symbol, new, mut back) = (counters(), [5u32, 6, 7, 8], [0u32; 4]);
    let (src, out): (*const c_void, *mut c_void) = (new.as_ptr().cast(), back.as_mut_ptr().cast());
    let (mut graph, mut exec) = (hipGraph_t::NULL, hipGraphExec_t::NULL);
    let mut nodes = [hipGraphNode_t::NULL; 2];
    ok!(
        hipGraphCreate(&mut graph, 0),
        hipGraphAddMemcpyNodeToSymbol(&mut nodes[0], graph, ptr::null(), 0, symbol, src, 4, 0, TO),
        hipGraphAddMemcpyNodeFromSymbol(&mut nodes[1], graph, nodes.as_ptr(), 1, out, symbol, 4, 0, FROM),
        hipGraphMemcpyNodeSetParamsToSymbol(nodes[0], symbol, src, 16, 0, TO),
        hipGraphMemcpyNodeSetParamsFromSymbol(nodes[1], out, symbol, 16, 0, FROM),
        hipGraphInstantiateWithFlags(&mut exec, graph, 0),
        hipGraphLaunch(exec, NULL),
        hipStreamSynchronize(NULL),
    );
    assert_eq!(back, new);
    ok!(
        hipGraphExecMemcpyNodeSetParamsToSymbol(exec, nodes[0], symbol, src.wrapping_byte_add(4), 4, 12, TO),
        hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, nodes[1], out, symbol, 4, 12, FROM),
        hipGraphLaunch(exec, NULL),
        hipStreamSynchronize(NULL),
    );
    assert_eq!(back, [6, 6, 7, 8]);
    let to = |symbol, src, bytes, offset, kind| {
        // SAFETY: the call checks its operands.
        unsafe { hipGraphExecMemcpyNodeSetParamsToSymbol(exec, nodes[0], symbol, src, bytes, offset, kind) }
    };
    let shadow = symbol.cast_const();
    fails!(hipErrorInvalidSymbol, to(ptr::null(), src, 4, 0, TO));
    fails!(hipErrorInvalidValue, to(shadow, ptr::null(), 4, 0, TO));
    fails!(hipErrorInvalidValue, to(shadow, src, 0, 0, TO));
    fails!(hipErrorInvalidValue, to(shadow, src, 4, 13, TO));
    fails!(hipErrorInvalidValue, to(shadow, shadow, 4, 0, TO));
    fails!(hipErrorInvalidValue, to(shadow, src, 4, 0, hipMemcpyDefault));
    for kind in [FROM, hipMemcpyKind(-1i32 as _), hipMemcpyDeviceToDevice] {
        fails!(hipErrorInvalidValue, to(shadow, src, 4, 0, kind));
    }
    // From memory that no device knows.
    fails!(
        hipErrorInvalidValue,
        hipGraphMemcpyNodeSetParamsToSymbol(nodes[0], shadow, src, 4, 0, hipMemcpyDeviceToDevice)
    );
    ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph));
}
