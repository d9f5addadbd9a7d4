//! Batches, semaphores, attributes, launches by configuration, contexts, code, user objects.

use std::ffi::{c_char, c_int};

use super::*;
use crate::{lock, program};

handles! {
    Context: hipExecutionCtx_t, NewContext, DoomedContext;
    Module: hipModule_t, NewModule, DoomedModule;
    Library: hipLibrary_t, NewLibrary, DoomedLibrary;
}

known! {
    UserObject: hipUserObject_t;
    Descriptor: hipDevResourceDesc_t;
    LibraryKernel: hipKernel_t;
}

fresh! {
    NewUserObject: hipUserObject_t, UserObject;
    NewDescriptor: hipDevResourceDesc_t, Descriptor;
    NewFunction: hipFunction_t, Function;
    NewLibraryKernel: hipKernel_t, LibraryKernel;
    NewSemaphore: hipExternalSemaphore_t, Semaphore;
}

doomed! {
    DoomedSemaphore: hipExternalSemaphore_t, Semaphore;
}

numbers! {
    Enabled: u32 = |caller| caller.one_of(&[0, 1, 1, 2]);
    EventFlags: u32 = |caller| caller.one_of(&[0, 1, 2, 6, 6, 4, 99]);
    ObjectFlags: u32 = |caller| if caller.once_in(16) { 0 } else { 1 };
    References: u32 = |caller| caller.one_of(&[1, 1, 1, 2, 0, u32::MAX]);
    RetainFlags: u32 = |caller| caller.one_of(&[0, 0, 1, 2]);
    Attribute: hipLaunchAttributeID = |caller| hipLaunchAttributeID(caller.one_of(&[1, 2, 3, 8, 8, 9, 10, 99]));
    /// The host function of a registered kernel.
    HostKernel: *const c_void = |caller| match caller.below(16) {
        0 => ptr::null(),
        1..8 => program::doubles(),
        _ => program::threes(),
    };
    LaunchFlags: c_int = |caller| caller.one_of(&[0, 0, 0, 1]);
    Grid: dim3 = |caller| dim3 { x: Blocks::make(caller).c(), y: One::make(caller).c(), z: 1 };
    Block: dim3 = |caller| dim3 { x: Threads::make(caller).c(), y: 1, z: 1 };
    Shared: usize = |caller| SharedBytes::make(caller).c() as usize;
    Image: *const c_void = |caller| {
        if caller.once_in(8) { ptr::null() } else { program::image().as_ptr().cast() }
    };
    KernelName: *const c_char =
        |caller| caller.one_of(&[c"kernelA", c"kernelB", c"empty", c"nobody", c""]).as_ptr();
    NoText: *mut *mut c_void = |_caller| ptr::null_mut();
    NoOptions: *mut hipJitOption = |_caller| ptr::null_mut();
    NoLibraryOptions: *mut hipLibraryOption = |_caller| ptr::null_mut();
    NoneOfThem: u32 = |_caller| 0;
    ResourceType: hipDevResourceType = |caller| hipDevResourceType(caller.one_of(&[1, 1, 1, 0, 1000, 99]));
    /// A word that waits find as they want it, and that nothing changes.
    Zero: *mut c_void = |caller| if caller.once_in(32) { ptr::null_mut() } else { caller.world.zeros.address() };
    /// What a word of zeros has reached.
    Reached: u32 = |_caller| 0;
    ReachedLong: u64 = |_caller| 0;
    /// At least, or equal: what zeros are to zero.
    WaitFlags: u32 = |caller| caller.one_of(&[0, 0, 0, 1]);
    Mask: u32 = |caller| caller.random() as u32;
    MaskLong: u64 = |caller| caller.random();
    EventHandle: hipIpcEventHandle_t = |caller| *lock(&caller.world.event);
    DeviceContext: hipCtx_t = |caller| if caller.once_in(16) { hipCtx_t::NULL } else { caller.world.context };
    Least: u32 = |caller| caller.one_of(&[1, 2, 2, 0, 99]);
    Masks: u32 = |caller| caller.one_of(&[1, 1, 1, 0]);
}

fn attribute(caller: &mut Caller<'_>) -> hipLaunchAttributeValue {
    let mut value = hipLaunchAttributeValue { pad: [0; 64] };
    value.priority = caller.one_of(&[0, 0, 1, -1, 2, 99]);
    value
}

fn memory_operation(caller: &mut Caller<'_>) -> hipStreamBatchMemOpParams {
    let zero = Zero::make(caller).c();
    let written = Device::make(caller).c();
    let number = hipStreamBatchMemOpType(caller.one_of(&[1, 2, 4, 5, 6, 3, 99]));
    let waits = [hipStreamMemOpWaitValue32, hipStreamMemOpWaitValue64].contains(&number);
    let parameters = hipStreamMemOpValueParams {
        operation: number,
        address: if waits { zero } else { written },
        // A wait ends at once: zeros have reached zero.
        value: if waits { 0 } else { caller.random() },
        flags: if waits { WaitFlags::make(caller).c() } else { 0 },
        alias: ptr::null_mut(),
    };
    hipStreamBatchMemOpParams { writeValue: parameters }
}

fn copy_attributes(caller: &mut Caller<'_>) -> hipMemcpyAttributes {
    // SAFETY: a plain C structure, of which zeros are one.
    let zeros: hipMemcpyAttributes = unsafe { std::mem::zeroed() };
    hipMemcpyAttributes {
        srcAccessOrder: hipMemcpySrcAccessOrder(caller.one_of(&[1, 1, 1, 2, 3, 0])),
        ..zeros
    }
}

fn batch_end(caller: &mut Caller<'_>) -> hipMemcpy3DOperand {
    // SAFETY: a plain C structure, of which zeros are one.
    let mut end: hipMemcpy3DOperand = unsafe { std::mem::zeroed() };
    if caller.once_in(4) {
        end.r#type = hipMemcpyOperandTypeArray;
        end.op.array = hipMemcpy3DArray {
            array: hipArray_t(caller.handle(Kind::Array)),
            offset: hipOffset3D { x: caller.one_of(&[0, 0, 8]), y: 0, z: 0 },
        };
    } else {
        end.r#type = hipMemcpy3DOperandType(caller.one_of(&[1, 1, 1, 1, 9]));
        end.op.ptr.ptr = Place::make(caller).c();
        end.op.ptr.rowLength = caller.one_of(&[0, 256, 256]);
    }
    end
}

fn batch_copy(caller: &mut Caller<'_>) -> hipMemcpy3DBatchOp {
    hipMemcpy3DBatchOp {
        src: batch_end(caller),
        dst: batch_end(caller),
        extent: hipExtent {
            width: caller.one_of(&[16, 64, 0]),
            height: caller.one_of(&[1, 4, 0]),
            depth: caller.one_of(&[1, 1, 0]),
        },
        srcAccessOrder: hipMemcpySrcAccessOrder(caller.one_of(&[1, 1, 1, 2, 3, 0])),
        flags: 0,
    }
}

parameters! {
    AttributeValue: hipLaunchAttributeValue = |caller| attribute(caller);
    Instantiation: hipGraphInstantiateParams = |caller| hipGraphInstantiateParams {
        errNode_out: hipGraphNode_t::NULL,
        flags: caller.one_of(&[0, 0, 1, 2, 8, 99]),
        result_out: hipGraphInstantiateResult(0),
        uploadStream: hipStream_t(caller.handle(Kind::Stream)),
    };
    /// Compute units of the device, or none.
    Units: hipDevResource = |caller| {
        let units = caller.world.units;
        caller.one_of(&units)
    };
    UnitMask: u32 = |caller| caller.one_of(&[1, 3, 7, 0, u32::MAX]);
    Groups: u32 = |caller| caller.one_of(&[0, 1, 1]);
    MemoryOperations: [hipStreamBatchMemOpParams; 4] =
        |caller| std::array::from_fn(|_| memory_operation(caller));
    BoxCopies: [hipMemcpy3DBatchOp; 4] = |caller| std::array::from_fn(|_| batch_copy(caller));
    Signals: [hipExternalSemaphoreSignalParams; 4] = |caller| {
        // SAFETY: a plain C structure, of which zeros are one.
        let mut signals: [hipExternalSemaphoreSignalParams; 4] = unsafe { std::mem::zeroed() };
        signals.iter_mut().for_each(|signal| signal.params.fence = caller.below(9) as u64);
        signals
    };
    /// What a timeline has reached from the start.
    Waits: [hipExternalSemaphoreWaitParams; 4] = |_caller| {
        // SAFETY: as above.
        unsafe { std::mem::zeroed() }
    };
    Semaphores: [hipExternalSemaphore_t; 4] =
        |caller| std::array::from_fn(|_| hipExternalSemaphore_t(caller.handle(Kind::Semaphore)));
    Ends: [*mut c_void; 4] = |caller| std::array::from_fn(|_| Place::make(caller).c());
    Sizes: [usize; 4] = |caller| std::array::from_fn(|_| Bytes::make(caller).c());
    Ranges: [*mut c_void; 4] = |caller| std::array::from_fn(|_| AnyMemory::make(caller).c());
    Locations: [hipMemLocation; 1] = |caller| [Location::make(caller).c()];
    CopyAttributes: [hipMemcpyAttributes; 1] = |caller| [copy_attributes(caller)];
    FirstCopies: [usize; 1] = |caller| [caller.one_of(&[0, 0, 0, 0, 1])];
}

/// A pointer to an array.
pub trait ToArray {
    type Element;

    fn first(self) -> *mut Self::Element;
}

impl<T, const N: usize> ToArray for *mut [T; N] {
    type Element = T;

    fn first(self) -> *mut T {
        self.cast()
    }
}

/// An array as C passes it: by its first element. How many are meant is [`Few`].
pub struct First<A>(A);

impl<A: Argument<C: ToArray>> Argument for First<A> {
    type C = *mut <A::C as ToArray>::Element;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(A::make(caller))
    }

    fn c(&mut self) -> Self::C {
        self.0.c().first()
    }
}

/// Parameters that point to other arguments, which live as long.
macro_rules! pointing {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = |$caller:ident, $inner:ident: ($($part:ty),*)| $value:expr;)*) => { $(
        $(#[$meta])*
        pub struct $name(
            Option<Box<$ty>>,
            #[allow(dead_code, reason = "pointed to")] Box<($($part,)*)>,
        );

        impl Argument for $name {
            type C = *mut $ty;

            fn make($caller: &mut Caller<'_>) -> Self {
                let mut $inner = Box::new(($(<$part>::make($caller),)*));
                let value = $value;
                Self((!$caller.once_in(32)).then(|| Box::new(value)), $inner)
            }

            fn c(&mut self) -> *mut $ty {
                self.0.as_mut().map_or(ptr::null_mut(), |parameters| &raw mut **parameters)
            }
        }
    )* };
}

pointing! {
    BatchOperations: hipBatchMemOpNodeParams = |caller, inner: (First<MemoryOperations>)| hipBatchMemOpNodeParams {
        ctx: hipCtx_t::NULL,
        count: Few::make(caller).c() as u32,
        paramArray: inner.0.c(),
        flags: Rarely::make(caller).c(),
    };
    BatchCopies: hipExtMemcpyBatchNodeParams =
        |caller, inner: (First<Ends>, First<Ends>, First<Sizes>, First<CopyAttributes>, First<FirstCopies>)|
        hipExtMemcpyBatchNodeParams {
            dsts: inner.0.c(),
            srcs: inner.1.c(),
            sizes: inner.2.c(),
            count: Few::make(caller).c(),
            attrs: inner.3.c(),
            attrsIdxs: inner.4.c(),
            numAttrs: caller.one_of(&[1, 1, 1, 0]),
        };
    SignalParameters: hipExternalSemaphoreSignalNodeParams =
        |caller, inner: (First<Semaphores>, First<Signals>)| hipExternalSemaphoreSignalNodeParams {
            extSemArray: inner.0.c(),
            paramsArray: inner.1.c(),
            numExtSems: Few::make(caller).c() as u32,
        };
    WaitParameters: hipExternalSemaphoreWaitNodeParams =
        |caller, inner: (First<Semaphores>, First<Waits>)| hipExternalSemaphoreWaitNodeParams {
            extSemArray: inner.0.c(),
            paramsArray: inner.1.c(),
            numExtSems: Few::make(caller).c() as u32,
        };
    Configuration: hipLaunchConfig_t = |caller, inner: (AttributeOfLaunch)| hipLaunchConfig_t {
        gridDim: Grid::make(caller).c(),
        blockDim: Block::make(caller).c(),
        dynamicSmemBytes: Shared::make(caller).c(),
        stream: hipStream_t(caller.handle(Kind::Stream)),
        attrs: inner.0.c(),
        numAttrs: caller.one_of(&[0, 0, 0, 1]),
    };
    DriverConfiguration: HIP_LAUNCH_CONFIG = |caller, inner: (AttributeOfLaunch)| HIP_LAUNCH_CONFIG {
        gridDimX: Blocks::make(caller).c(),
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: Threads::make(caller).c(),
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: SharedBytes::make(caller).c(),
        hStream: hipStream_t(caller.handle(Kind::Stream)),
        attrs: inner.0.c(),
        numAttrs: caller.one_of(&[0, 0, 0, 1]),
    };
}

parameters! {
    AttributeOfLaunch: hipLaunchAttribute =
        |caller| hipLaunchAttribute { id: Attribute::make(caller).c(), value: attribute(caller) };
}

/// A place for the handle of an event for other processes, which is the one that is opened later.
pub struct NewEventHandle(Box<hipIpcEventHandle_t>);

impl Argument for NewEventHandle {
    type C = *mut hipIpcEventHandle_t;

    fn make(_caller: &mut Caller<'_>) -> Self {
        Self(Box::new(hipIpcEventHandle_t { reserved: [0; 64] }))
    }

    fn c(&mut self) -> *mut hipIpcEventHandle_t {
        &raw mut *self.0
    }

    fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
        if succeeded {
            *lock(&caller.world.event) = *self.0;
        }
    }
}
