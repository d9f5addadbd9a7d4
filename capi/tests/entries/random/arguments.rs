//! How each kind of argument is made up, and what becomes of what a call stored.

use std::{
    ffi::c_void,
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    world::{BUFFER, Caller, Doomed, Kind},
    *,
};

/// One argument of a call: a C value, and what must live until the call returns.
pub trait Argument: Sized {
    type C;

    fn make(caller: &mut Caller<'_>) -> Self;

    /// What is passed.
    fn c(&mut self) -> Self::C;

    /// Takes in what the call has stored; `succeeded` says whether it did.
    fn done(self, _caller: &mut Caller<'_>, _succeeded: bool) {}
}

/// Numbers: in range mostly.
macro_rules! numbers {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = |$caller:ident| $value:expr;)*) => { $(
        $(#[$meta])*
        pub struct $name($ty);

        impl Argument for $name {
            type C = $ty;

            fn make($caller: &mut Caller<'_>) -> Self {
                Self($value)
            }

            fn c(&mut self) -> $ty {
                self.0
            }
        }
    )* };
}

numbers! {
    /// A few bits that may be flags.
    Flags: u32 = |caller| {
        let rare = caller.random() as u32;
        caller.one_of(&[0, 0, 0, 1, 2, 3, 4, 8, 16, rare])
    };
    Flags64: u64 = |caller| {
        let rare = caller.random();
        caller.one_of(&[0, 0, 0, 1, 2, 4, 8, rare])
    };
    /// A length that every buffer of the world has behind every place in it.
    Bytes: usize = |caller| {
        let some = caller.below(4096);
        caller.one_of(&[0, 1, 4, 1024, 4096, some])
    };
    /// A length that an allocation may be refused for.
    Length: usize = |caller| {
        let some = caller.below(1 << 20);
        caller.one_of(&[0, 1, 4096, some, some, usize::MAX, 1 << 60])
    };
    Byte: i32 = |caller| caller.random() as i32;
    Priority: i32 = |caller| caller.one_of(&[-1, 0, 0, 1, -100, 100]);
    Direction: hipMemcpyKind = |caller| {
        let known = [hipMemcpyDefault, hipMemcpyDeviceToDevice, hipMemcpyHostToDevice, hipMemcpyDeviceToHost];
        let rare = hipMemcpyKind(caller.below(9) as u32);
        if caller.once_in(8) { rare } else { caller.one_of(&known) }
    };
    CaptureMode: hipStreamCaptureMode = |caller| hipStreamCaptureMode(caller.one_of(&[0, 1, 1, 2, 2, 2, 2, 2, 3]));
    /// Device memory that stays.
    Device: *mut c_void = |caller| {
        let offset = caller.one_of(&[0, 0, 64, 4096]);
        let memory = caller.world.device;
        if caller.once_in(32) { ptr::null_mut() } else { caller.one_of(&memory).wrapping_byte_add(offset) }
    };
    /// Pinned memory, or device memory, that stays: where no kind could make a call follow garbage on the host.
    Place: *mut c_void = |caller| {
        let (host, device) = (caller.world.host, caller.world.device);
        match caller.below(32) {
            0 => ptr::null_mut(),
            1..12 => caller.one_of(&host),
            _ => caller.one_of(&device),
        }
    };
    /// Memory of `hipMalloc`, or what was that.
    AnyMemory: *mut c_void = |caller| caller.handle(Kind::Memory) as *mut c_void;
    /// Memory that a stream or a graph allocated, or what was that.
    AsyncMemory: *mut c_void = |caller| caller.handle(Kind::AsyncMemory) as *mut c_void;
    Kernel: hipFunction_t = |caller| {
        let kernels = caller.world.kernels;
        match caller.below(32) {
            0 => hipFunction_t(caller.handle(Kind::Exec)),
            1..4 => hipFunction_t(caller.handle(Kind::Function)),
            _ => caller.one_of(&kernels),
        }
    };
    NoExtra: *mut *mut c_void = |_caller| ptr::null_mut();
    HostFunction: hipHostFn_t = |caller| if caller.once_in(32) { None } else { Some(count) };
    Callback: hipStreamCallback_t = |caller| if caller.once_in(32) { None } else { Some(called) };
    Counter: *mut c_void = |_caller| (&raw const CALLED).cast_mut().cast();
}

/// Host functions count themselves here.
static CALLED: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn count(user: *mut c_void) {
    assert!(ptr::eq(user.cast(), &raw const CALLED));
    CALLED.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn called(_stream: hipStream_t, _status: hipError_t, user: *mut c_void) {
    // SAFETY: the argument that every callback is given.
    unsafe { count(user) }
}

/// Handles.
macro_rules! known {
    ($($kind:ident: $ty:ident;)*) => { $(
        pub struct $kind(usize);

        impl Argument for $kind {
            type C = $ty;

            fn make(caller: &mut Caller<'_>) -> Self {
                Self(caller.handle(Kind::$kind))
            }

            fn c(&mut self) -> $ty {
                $ty(self.0)
            }
        }
    )* };
}

/// Places for new handles.
macro_rules! fresh {
    ($($new:ident: $ty:ident, $kind:ident;)*) => { $(
        pub struct $new(Option<$ty>);

        impl Argument for $new {
            type C = *mut $ty;

            fn make(caller: &mut Caller<'_>) -> Self {
                Self((!caller.once_in(64)).then_some($ty::NULL))
            }

            fn c(&mut self) -> *mut $ty {
                self.0.as_mut().map_or(ptr::null_mut(), ptr::from_mut)
            }

            fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
                if let Some(handle) = self.0.filter(|_| succeeded) {
                    caller.made(Kind::$kind, handle.0);
                }
            }
        }
    )* };
}

/// Handles that a call destroys.
macro_rules! doomed {
    ($($doomed:ident: $ty:ident, $kind:ident;)*) => { $(
        pub struct $doomed(Doomed);

        impl Argument for $doomed {
            type C = $ty;

            fn make(caller: &mut Caller<'_>) -> Self {
                Self(caller.doomed(Kind::$kind))
            }

            fn c(&mut self) -> $ty {
                $ty(self.0.handle)
            }

            fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
                caller.spared_or_destroyed(Kind::$kind, self.0, succeeded);
            }
        }
    )* };
}

/// All three.
macro_rules! handles {
    ($($kind:ident: $ty:ident, $new:ident, $doomed:ident;)*) => {
        known! { $($kind: $ty;)* }
        fresh! { $($new: $ty, $kind;)* }
        doomed! { $($doomed: $ty, $kind;)* }
    };
}

handles! {
    Stream: hipStream_t, NewStream, DoomedStream;
    Event: hipEvent_t, NewEvent, DoomedEvent;
    Graph: hipGraph_t, NewGraph, DoomedGraph;
    Node: hipGraphNode_t, NewNode, DoomedNode;
    Exec: hipGraphExec_t, NewExec, DoomedExec;
}

macro_rules! allocations {
    ($($new:ident, $doomed:ident: $kind:ident;)*) => { $(
        pub struct $new(*mut c_void);

        impl Argument for $new {
            type C = *mut *mut c_void;

            fn make(_caller: &mut Caller<'_>) -> Self {
                Self(ptr::null_mut())
            }

            fn c(&mut self) -> *mut *mut c_void {
                &mut self.0
            }

            fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
                if succeeded {
                    caller.made(Kind::$kind, self.0 as usize);
                }
            }
        }

        pub struct $doomed(Doomed);

        impl Argument for $doomed {
            type C = *mut c_void;

            fn make(caller: &mut Caller<'_>) -> Self {
                Self(caller.doomed(Kind::$kind))
            }

            fn c(&mut self) -> *mut c_void {
                self.0.handle as *mut c_void
            }

            fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
                caller.spared_or_destroyed(Kind::$kind, self.0, succeeded);
            }
        }
    )* };
}

allocations! {
    NewMemory, DoomedMemory: Memory;
    NewAsyncMemory, DoomedAsyncMemory: AsyncMemory;
}

/// Room for something that a call stores, which nobody looks at.
pub struct Room<T>(Option<Box<T>>);

impl<T> Argument for Room<T> {
    type C = *mut T;

    fn make(caller: &mut Caller<'_>) -> Self {
        // SAFETY: plain C values, of which zeros are one.
        Self((!caller.once_in(32)).then(|| Box::new(unsafe { std::mem::zeroed() })))
    }

    fn c(&mut self) -> *mut T {
        self.0.as_mut().map_or(ptr::null_mut(), |room| &raw mut **room)
    }
}

/// Nodes as dependencies; the argument behind it is always [`Few`].
pub struct Nodes(Vec<hipGraphNode_t>);

impl Argument for Nodes {
    type C = *const hipGraphNode_t;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self((0..4).map(|_| hipGraphNode_t(caller.handle(Kind::Node))).collect())
    }

    fn c(&mut self) -> *const hipGraphNode_t {
        self.0.as_ptr()
    }
}

/// As [`Nodes`], for calls that take the array as one that they could write.
pub struct NodesMut(Nodes);

impl Argument for NodesMut {
    type C = *mut hipGraphNode_t;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(Nodes::make(caller))
    }

    fn c(&mut self) -> *mut hipGraphNode_t {
        self.0.0.as_mut_ptr()
    }
}

numbers! {
    /// How many nodes of [`Nodes`] are meant.
    Few: usize = |caller| caller.one_of(&[0, 0, 0, 1, 1, 2, 3, 4]);
}

/// Room for eight nodes.
pub struct RoomForNodes(Option<[hipGraphNode_t; 8]>);

impl Argument for RoomForNodes {
    type C = *mut hipGraphNode_t;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self((!caller.once_in(3)).then_some([hipGraphNode_t::NULL; 8]))
    }

    fn c(&mut self) -> *mut hipGraphNode_t {
        self.0.as_mut().map_or(ptr::null_mut(), |nodes| nodes.as_mut_ptr())
    }

    fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
        if let Some(nodes) = self.0.filter(|_| succeeded) {
            let node = caller.one_of(&nodes);
            caller.made(Kind::Node, node.0);
        }
    }
}

/// How many nodes there is room for, and then how many there are.
pub struct NodeCount(usize);

impl Argument for NodeCount {
    type C = *mut usize;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(caller.below(9))
    }

    fn c(&mut self) -> *mut usize {
        &mut self.0
    }
}

/// Arguments of the kernels: one address or two.
struct KernelArguments {
    values: [*mut c_void; 2],
    pointers: [*mut c_void; 2],
}

impl KernelArguments {
    fn make(caller: &mut Caller<'_>) -> Box<Self> {
        let memory = caller.world.device;
        // Once in a while memory that may be gone: a fault, which others hear of.
        let first = if caller.once_in(400) && !caller.world.is_tame {
            caller.handle(Kind::AsyncMemory) as *mut c_void
        } else {
            caller.one_of(&memory)
        };
        let values = [first, caller.one_of(&memory)];
        let mut boxed = Box::new(Self { values, pointers: [ptr::null_mut(); 2] });
        let pointers = boxed.values.each_mut().map(|value| ptr::from_mut(value).cast());
        boxed.pointers = pointers;
        boxed
    }
}

/// The array of pointers to a kernel's arguments.
pub struct KernelParameters(Box<KernelArguments>);

impl Argument for KernelParameters {
    type C = *mut *mut c_void;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(KernelArguments::make(caller))
    }

    fn c(&mut self) -> *mut *mut c_void {
        self.0.pointers.as_mut_ptr()
    }
}

numbers! {
    Blocks: u32 = |caller| if caller.once_in(32) { 0 } else { caller.one_of(&[1, 2, 4]) };
    One: u32 = |caller| if caller.once_in(64) { 0 } else { 1 };
    Threads: u32 = |caller| if caller.once_in(32) { 1025 } else { caller.one_of(&[1024, 256, 64]) };
    SharedBytes: u32 = |caller| if caller.once_in(32) { 1 << 20 } else { caller.one_of(&[0, 0, 1024]) };
}

/// Boxed parameters that a call is given a pointer to.
macro_rules! parameters {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = |$caller:ident| $value:expr;)*) => { $(
        $(#[$meta])*
        pub struct $name(Option<Box<$ty>>);

        impl Argument for $name {
            type C = *mut $ty;

            fn make($caller: &mut Caller<'_>) -> Self {
                Self((!$caller.once_in(32)).then(|| Box::new($value)))
            }

            fn c(&mut self) -> *mut $ty {
                self.0.as_mut().map_or(ptr::null_mut(), |parameters| &raw mut **parameters)
            }
        }
    )* };
}

fn memset(caller: &mut Caller<'_>) -> hipMemsetParams {
    hipMemsetParams {
        dst: Device::make(caller).c(),
        elementSize: caller.one_of(&[1, 2, 4, 1, 2, 4, 3, 8]),
        height: caller.one_of(&[1, 1, 1, 1, 1, 2, 0, usize::MAX]),
        pitch: caller.one_of(&[1024, 1024, 4096, 0]),
        value: caller.random() as u32,
        width: caller.one_of(&[1, 16, 16, 200, 200, 0, 1 << 40]),
    }
}

fn host(caller: &mut Caller<'_>) -> hipHostNodeParams {
    hipHostNodeParams { r#fn: HostFunction::make(caller).c(), userData: Counter::make(caller).c() }
}

fn box_copy(caller: &mut Caller<'_>) -> hipMemcpy3DParms {
    let mut end = |xsize| hipPitchedPtr { ptr: Place::make(caller).c(), pitch: 256, xsize, ysize: 16 };
    let (src, dst) = (end(256), end(256));
    // SAFETY: a plain C structure, of which zeros are one.
    let zeros: hipMemcpy3DParms = unsafe { std::mem::zeroed() };
    hipMemcpy3DParms {
        srcPtr: src,
        dstPtr: dst,
        extent: hipExtent {
            width: caller.one_of(&[4, 100, 256, 256, 257, 0]),
            height: caller.one_of(&[1, 1, 16, 16, 0]),
            depth: caller.one_of(&[1, 1, 4, 4, 0]),
        },
        kind: Direction::make(caller).c(),
        ..zeros
    }
}

fn allocation(caller: &mut Caller<'_>) -> hipMemAllocNodeParams {
    // SAFETY: as above.
    let mut parameters: hipMemAllocNodeParams = unsafe { std::mem::zeroed() };
    parameters.bytesize = Length::make(caller).c();
    parameters.poolProps.allocType = hipMemAllocationTypePinned;
    parameters.poolProps.location.r#type = hipMemLocationTypeDevice;
    parameters.poolProps.location.id = caller.one_of(&[0, 0, 0, 0, -1, 99]);
    parameters
}

parameters! {
    MemsetParameters: hipMemsetParams = |caller| memset(caller);
    HostParameters: hipHostNodeParams = |caller| host(caller);
    BoxParameters: hipMemcpy3DParms = |caller| box_copy(caller);
}

/// Parameters of an allocation node; the address that the call stores is remembered.
pub struct AllocationParameters(hipMemAllocNodeParams);

impl Argument for AllocationParameters {
    type C = *mut hipMemAllocNodeParams;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(allocation(caller))
    }

    fn c(&mut self) -> *mut hipMemAllocNodeParams {
        &mut self.0
    }

    fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
        if succeeded {
            caller.made(Kind::AsyncMemory, self.0.dptr as usize);
        }
    }
}

fn kernel(caller: &mut Caller<'_>, arguments: &mut KernelArguments) -> hipKernelNodeParams {
    hipKernelNodeParams {
        blockDim: dim3 { x: Threads::make(caller).c(), y: One::make(caller).c(), z: 1 },
        extra: ptr::null_mut(),
        func: Kernel::make(caller).c().0 as *mut c_void,
        gridDim: dim3 { x: Blocks::make(caller).c(), y: One::make(caller).c(), z: 1 },
        kernelParams: arguments.pointers.as_mut_ptr(),
        sharedMemBytes: SharedBytes::make(caller).c(),
    }
}

/// Parameters of a kernel node.
pub struct KernelNodeParameters(
    hipKernelNodeParams,
    #[allow(dead_code, reason = "pointed to")] Box<KernelArguments>,
);

impl Argument for KernelNodeParameters {
    type C = *mut hipKernelNodeParams;

    fn make(caller: &mut Caller<'_>) -> Self {
        let mut arguments = KernelArguments::make(caller);
        Self(kernel(caller, &mut arguments), arguments)
    }

    fn c(&mut self) -> *mut hipKernelNodeParams {
        &mut self.0
    }
}

/// Parameters of a node of any kind.
pub struct NodeParameters(
    Box<hipGraphNodeParams>,
    #[allow(dead_code, reason = "pointed to")] Box<KernelArguments>,
);

impl Argument for NodeParameters {
    type C = *mut hipGraphNodeParams;

    fn make(caller: &mut Caller<'_>) -> Self {
        let mut arguments = KernelArguments::make(caller);
        let mut union = hipGraphNodeParamsUnion { reserved1: [0; 29] };
        let kind = match caller.below(8) {
            0 => {
                union.kernel = kernel(caller, &mut arguments);
                hipGraphNodeTypeKernel
            }
            1 => {
                union.memset = memset(caller);
                hipGraphNodeTypeMemset
            }
            2 => {
                union.memcpy.copyParams = box_copy(caller);
                hipGraphNodeTypeMemcpy
            }
            3 => {
                union.host = host(caller);
                hipGraphNodeTypeHost
            }
            4 => {
                union.graph.graph = hipGraph_t(caller.handle(Kind::Graph));
                hipGraphNodeTypeGraph
            }
            5 => {
                union.eventRecord.event = hipEvent_t(caller.handle(Kind::Event));
                caller.one_of(&[hipGraphNodeTypeEventRecord, hipGraphNodeTypeWaitEvent])
            }
            6 => {
                union.alloc = allocation(caller);
                hipGraphNodeTypeMemAlloc
            }
            // Kinds that look at nothing but zeros, kinds that do not exist, and those that point nowhere.
            _ => hipGraphNodeType(caller.one_of(&[hipGraphNodeTypeEmpty.0, 99, u32::MAX])),
        };
        let parameters = hipGraphNodeParams { r#type: kind, reserved0: [0; 3], params: union, reserved2: 0 };
        Self(Box::new(parameters), arguments)
    }

    fn c(&mut self) -> *mut hipGraphNodeParams {
        &raw mut *self.0
    }

    fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
        if succeeded && self.0.r#type == hipGraphNodeTypeMemAlloc {
            // SAFETY: the type says which member the parameters are.
            let address = unsafe { self.0.params.alloc.dptr };
            caller.made(Kind::AsyncMemory, address as usize);
        }
    }
}

const _: () = assert!(BUFFER >= 4 * 16 * 256 + 4096, "every copy of a box stays in its buffer");

numbers! {
    /// Data of edges that nobody passes.
    Nothing: *const hipGraphEdgeData = |_caller| ptr::null();
    NoLog: *mut std::ffi::c_char = |_caller| ptr::null_mut();
    Nil: usize = |_caller| 0;
    /// Flags where only none are allowed.
    Rarely: u32 = |caller| if caller.once_in(32) { 1 } else { 0 };
}

/// A place for a new condition, which is remembered with its graph.
pub struct NewCondition(Option<hipGraphConditionalHandle>);

const NO_CONDITION: hipGraphConditionalHandle =
    hipGraphConditionalHandle { device_ptr: 0, default_value: 0, signal_handle: 0 };

impl Argument for NewCondition {
    type C = *mut hipGraphConditionalHandle;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self((!caller.once_in(64)).then_some(NO_CONDITION))
    }

    fn c(&mut self) -> *mut hipGraphConditionalHandle {
        self.0.as_mut().map_or(ptr::null_mut(), ptr::from_mut)
    }

    fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
        if let Some(condition) = self.0.filter(|_| succeeded) {
            caller.made_condition(condition);
        }
    }
}

numbers! {
    /// A condition of the graph that the call is about, if that has any.
    Condition: hipGraphConditionalHandle = |caller| caller.condition().unwrap_or(NO_CONDITION);
    /// Not a loop: no kernel here ends one.
    Choice: hipGraphConditionalNodeType = |caller| {
        let rare = hipGraphConditionalNodeType(9);
        if caller.once_in(32) { rare } else { caller.one_of(&[hipGraphCondTypeIf, hipGraphCondTypeSwitch]) }
    };
}

/// An array of one graph.
pub struct Body(hipGraph_t);

impl Argument for Body {
    type C = *mut hipGraph_t;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(hipGraph_t(caller.handle(Kind::Graph)))
    }

    fn c(&mut self) -> *mut hipGraph_t {
        &mut self.0
    }
}

/// A thread's capture mode, exchanged.
pub struct ModeInOut(hipStreamCaptureMode);

impl Argument for ModeInOut {
    type C = *mut hipStreamCaptureMode;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(CaptureMode::make(caller).c())
    }

    fn c(&mut self) -> *mut hipStreamCaptureMode {
        &mut self.0
    }
}

mod memory;
mod work;

pub use memory::*;
pub use work::*;
