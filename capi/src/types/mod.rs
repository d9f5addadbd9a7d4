//! The C types of the public header: what crosses the boundary, laid out as clients compiled it.
//!
//! Names are the header's, so that a reader can look them up. Structures carry each field's offset and fail to
//! compile when it is not met. Handles are plain addresses: whether one is alive is for a table to say, and no
//! handle is ever followed.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
// ABI: fields and enumerators are documented by the header that they are named after.
#![allow(missing_docs)]

use std::ffi::{c_int, c_void};

use crate::shown::shown;

/// Declares `#[repr(C)]` structures as `offset name: type` and checks size, alignment and every offset.
macro_rules! c_struct {
    ($(#[$meta:meta])* $name:ident: $size:literal, $align:literal { $($offset:literal $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name { $(pub $field: $ty,)* }
        const _: () = {
            assert!(size_of::<$name>() == $size && align_of::<$name>() == $align);
            $(assert!(std::mem::offset_of!($name, $field) == $offset);)*
        };
    };
}

/// Declares a `#[repr(C)]` union and checks its size and alignment.
macro_rules! c_union {
    ($(#[$meta:meta])* $name:ident: $size:literal, $align:literal { $($field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub union $name { $(pub $field: $ty,)* }
        const _: () = assert!(size_of::<$name>() == $size && align_of::<$name>() == $align);
    };
}

/// Declares a C enumeration as a newtype of its integer with one constant per enumerator.
macro_rules! c_enum {
    ($(#[$meta:meta])* $name:ident { $($value:ident = $number:literal,)* }) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub std::ffi::c_uint);
        $(pub const $value: $name = $name($number);)*
        impl $crate::shown::Shown for $name {
            const SHOW: $crate::shown::Show = $crate::shown::Show::Name(&[$(($number, stringify!($value))),*]);
        }
    };
}

/// Declares handle types: addresses that clients hold and hand back.
macro_rules! handles {
    ($($(#[$meta:meta])* $name:ident,)*) => { $(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub usize);

        impl $name {
            /// The null handle.
            pub const NULL: Self = Self(0);
        }

        const _: () = assert!(size_of::<$name>() == size_of::<*mut c_void>());

        shown! { Address: $name; }
    )* };
}

mod attribute;
mod batch;
mod conditional;
mod device;
mod enums;
mod execution;
mod external;
mod flags;
mod graph;
mod launch;
mod memory;
mod texture;

pub use self::{
    attribute::*, batch::*, conditional::*, device::*, enums::*, execution::*, external::*, flags::*,
    graph::*, launch::*, memory::*, texture::*,
};

c_struct! {
    /// A grid or block in three dimensions.
    dim3: 12, 4 {
        0 x: u32,
        4 y: u32,
        8 z: u32,
    }
}

shown! {
    Three(4): dim3;
    Three(8): hipExtent;
    Nothing: hipGraphConditionalHandle, hipIpcEventHandle_t, hipIpcMemHandle_t, hipMemLocation, hipPitchedPtr;
}

handles! {
    /// A stream; 0, 1 and 2 are the default, the legacy and the per-thread stream.
    hipStream_t,
    /// An event.
    hipEvent_t,
    /// A graph template.
    hipGraph_t,
    /// A node of a graph template.
    hipGraphNode_t,
    /// An executable graph.
    hipGraphExec_t,
    /// An object whose lifetime graphs share.
    hipUserObject_t,
    /// A module.
    hipModule_t,
    /// A kernel of a module.
    hipFunction_t,
    /// A library: a module that belongs to no context.
    hipLibrary_t,
    /// A kernel of a library.
    hipKernel_t,
    /// A linker in the middle of its work.
    hipLinkState_t,
    /// A program that is compiled at run time.
    hiprtcProgram,
    /// A linker in the middle of its work, by its other name.
    hiprtcLinkState,
    /// A context.
    hipCtx_t,
    /// An execution context.
    hipExecutionCtx_t,
    /// What an execution context is made of.
    hipDevResourceDesc_t,
    /// A memory pool.
    hipMemPool_t,
    /// Physical memory.
    hipMemGenericAllocationHandle_t,
    /// An array.
    hipArray_t,
    /// A mipmapped array.
    hipMipmappedArray_t,
    /// A texture object.
    hipTextureObject_t,
    /// A surface object.
    hipSurfaceObject_t,
    /// Memory of another API.
    hipExternalMemory_t,
    /// A semaphore of another API.
    hipExternalSemaphore_t,
    /// A resource of a graphics API.
    hipGraphicsResource_t,
}

/// The stream that a null handle means unless a client asks for per-thread default streams.
pub const hipStreamLegacy: hipStream_t = hipStream_t(1);
/// The calling thread's own default stream.
pub const hipStreamPerThread: hipStream_t = hipStream_t(2);

/// A device's ordinal, or one of [`hipCpuDeviceId`] and [`hipInvalidDeviceId`].
pub type hipDevice_t = c_int;
/// An address in device memory.
pub type hipDeviceptr_t = *mut c_void;

/// A host function as a graph node or a stream calls it.
pub type hipHostFn_t = Option<unsafe extern "C" fn(user_data: *mut c_void)>;
/// A callback at a point of a stream.
pub type hipStreamCallback_t = Option<
    unsafe extern "C" fn(stream: hipStream_t, status: crate::error::hipError_t, user_data: *mut c_void),
>;
/// What tells how much dynamic LDS a block of `block_size` threads needs, in bytes.
pub type hipOccupancyB2DSize = Option<unsafe extern "C" fn(block_size: c_int) -> usize>;
