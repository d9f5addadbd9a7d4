//! Pools, physical memory and addresses, registered and managed memory, arrays, copies in rows and boxes.

use std::{
    ffi::{c_char, c_ushort},
    os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd},
};

use super::{super::world::physical, *};
use crate::{lock, program};

handles! {
    Pool: hipMemPool_t, NewPool, DoomedPool;
    Array: hipArray_t, NewArray, DoomedArray;
    Mipmap: hipMipmappedArray_t, NewMipmap, DoomedMipmap;
    Physical: hipMemGenericAllocationHandle_t, NewPhysical, DoomedPhysical;
    ExternalMemory: hipExternalMemory_t, NewExternalMemory, DoomedExternalMemory;
}

allocations! {
    NewRange, DoomedRange: Range;
    NewHostMemory, DoomedHostMemory: HostMemory;
}

/// A place for the handle of something that others own: it is not destroyed, but used.
macro_rules! borrowed {
    ($($name:ident: $ty:ident, $kind:ident;)*) => { $(
        pub struct $name($ty);

        impl Argument for $name {
            type C = *mut $ty;

            fn make(_caller: &mut Caller<'_>) -> Self {
                Self($ty::NULL)
            }

            fn c(&mut self) -> *mut $ty {
                &mut self.0
            }

            fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
                if succeeded {
                    caller.found(Kind::$kind, self.0.0);
                }
            }
        }
    )* };
}

borrowed! {
    FoundPool: hipMemPool_t, Pool;
    FoundLevel: hipArray_t, Array;
}

numbers! {
    /// The device that there is, or one that there is not.
    Ordinal: std::ffi::c_int = |caller| caller.one_of(&[0, 0, 0, 0, 0, -1, 1, 99]);
    PoolAttribute: hipMemPoolAttr = |caller| hipMemPoolAttr(caller.below(10) as u32);
    GraphMemoryAttribute: hipGraphMemAttributeType = |caller| hipGraphMemAttributeType(caller.below(5) as u32);
    PointerAttribute: hipPointer_attribute = |caller| hipPointer_attribute(caller.below(25) as u32);
    /// Kinds whose value is an ordinal or a flag.
    RangeAttribute: hipMemRangeAttribute = |caller| hipMemRangeAttribute(caller.one_of(&[1, 2, 3, 4, 4, 100, 9]));
    Advice: hipMemoryAdvise = |caller| hipMemoryAdvise(caller.one_of(&[1, 2, 3, 4, 5, 6, 100, 101, 9]));
    Location: hipMemLocation = |caller| location(caller);
    PinnedType: hipMemAllocationType = |caller| hipMemAllocationType(caller.one_of(&[1, 1, 1, 1, 0, 2]));
    /// Bytes of a range, or what is none.
    GranuleBytes: usize = |caller| {
        let granule = caller.world.granule;
        caller.one_of(&[granule, granule, granule, granule, granule, 0, 1, granule + 1, 1 << 60])
    };
    GranuleBytesOnly: usize = |caller| caller.world.granule;
    GranularityOption: hipMemAllocationGranularity_flags =
        |caller| hipMemAllocationGranularity_flags(caller.one_of(&[0, 1, 1, 9]));
    NoAddress: *mut c_void = |_caller| ptr::null_mut();
    NoFlags64: u64 = |caller| if caller.once_in(32) { 1 } else { 0 };
    ElementBytes: u32 = |caller| caller.one_of(&[4, 8, 16, 4, 3]);
    /// Bytes of an attribute of a range.
    Four: usize = |caller| caller.one_of(&[4, 4, 4, 8, 0]);
    One64: usize = |caller| caller.one_of(&[1, 1, 1, 0]);
    FewWords: u32 = |caller| Few::make(caller).c() as u32;
    /// No more than a granule, for memory that is there for a moment.
    Rest: usize = |caller| caller.one_of(&[0, 0, 0, 0, 0, 8, usize::MAX]);
    DescriptorKind: hipMemAllocationHandleType =
        |caller| hipMemAllocationHandleType(caller.one_of(&[1, 1, 1, 1, 0, 2]));
    /// Addresses of [`Kind::Range`].
    Range: *mut c_void = |caller| caller.handle(Kind::Range) as *mut c_void;
    HostMemory: *mut c_void = |caller| caller.handle(Kind::HostMemory) as *mut c_void;
    /// Memory of the caller's that may be pinned.
    Pages: *mut c_void = |caller| {
        let pages = caller.world.pages.as_ptr().cast_mut().cast();
        if caller.once_in(32) { ptr::null_mut() } else { pages }
    };
    PagesBytes: usize = |caller| caller.one_of(&[BUFFER, BUFFER, BUFFER, 4096, 0]);
    /// What is exported just now; by the time of the call it may be something else, or nothing.
    Exported: *mut c_void = |caller| {
        let exported = lock(&caller.world.exported).as_ref().map_or(-1, AsRawFd::as_raw_fd);
        exported as isize as *mut c_void
    };
    /// A variable of 16 bytes.
    Symbol: *const c_void = |caller| {
        if caller.once_in(16) { ptr::null() } else { program::counters().cast_const() }
    };
    SymbolBytes: usize = |caller| caller.one_of(&[0, 4, 8, 16, 17]);
    SymbolOffset: usize = |caller| caller.one_of(&[0, 0, 0, 4, 8, usize::MAX]);
    Short: c_ushort = |caller| caller.random() as c_ushort;
    Char: u8 = |caller| caller.random() as u8;
    Word: u32 = |caller| caller.random() as u32;
    Long: u64 = |caller| caller.random();
    Pitch: usize = |caller| caller.one_of(&[256, 256, 1024, 1024, 0, 1]);
    Width: usize = |caller| caller.one_of(&[4, 16, 64, 64, 0, 256, 1 << 40]);
    Height: usize = |caller| caller.one_of(&[1, 1, 4, 16, 0, 1 << 30]);
    /// A place in an array of 64 by 16 bytes.
    Offset: usize = |caller| caller.one_of(&[0, 0, 0, 8, 63, 64]);
    Row: usize = |caller| caller.one_of(&[0, 0, 0, 1, 15, 16]);
    LevelNumber: u32 = |caller| caller.one_of(&[0, 0, 1, 2, 99]);
    Levels: u32 = |caller| caller.one_of(&[1, 2, 3, 0, 99]);
    Extent: hipExtent = |caller| extent(caller);
    Rows: hipPitchedPtr = |caller| hipPitchedPtr {
        ptr: Device::make(caller).c(),
        pitch: Pitch::make(caller).c(),
        xsize: 256,
        ysize: 16,
    };
}

fn location(caller: &mut Caller<'_>) -> hipMemLocation {
    hipMemLocation {
        r#type: hipMemLocationType(caller.one_of(&[1, 1, 1, 1, 1, 2, 0, 9])),
        id: Ordinal::make(caller).c(),
    }
}

fn extent(caller: &mut Caller<'_>) -> hipExtent {
    hipExtent {
        width: caller.one_of(&[64, 64, 64, 16, 0, 1 << 50]),
        height: caller.one_of(&[16, 16, 16, 0, 1]),
        depth: caller.one_of(&[0, 1, 1, 4]),
    }
}

fn right(caller: &mut Caller<'_>) -> hipMemAccessDesc {
    let flags = hipMemAccessFlags(caller.one_of(&[3, 3, 3, 0, 1, 9]));
    hipMemAccessDesc { location: location(caller), flags }
}

fn channel(caller: &mut Caller<'_>) -> hipChannelFormatDesc {
    let f = hipChannelFormatKind(caller.one_of(&[1, 1, 1, 1, 0, 2, 9]));
    hipChannelFormatDesc { x: caller.one_of(&[8, 8, 8, 32, 7]), y: 0, z: 0, w: 0, f }
}

/// An end of a driver-style copy: what it is, and where.
fn end(caller: &mut Caller<'_>) -> (hipMemoryType, *mut c_void, hipArray_t) {
    let (host, device) = (caller.world.host, caller.world.device);
    match caller.below(16) {
        0..6 => (hipMemoryTypeDevice, caller.one_of(&device), hipArray_t::NULL),
        6..10 => (hipMemoryTypeHost, caller.one_of(&host), hipArray_t::NULL),
        10..13 => (hipMemoryTypeArray, ptr::null_mut(), hipArray_t(caller.handle(Kind::Array))),
        13 | 14 => (hipMemoryTypeUnified, caller.one_of(&device), hipArray_t::NULL),
        _ => (hipMemoryType(99), ptr::null_mut(), hipArray_t::NULL),
    }
}

fn rectangle(caller: &mut Caller<'_>) -> hip_Memcpy2D {
    let ((src_type, src, src_array), (dst_type, dst, dst_array)) = (end(caller), end(caller));
    hip_Memcpy2D {
        srcXInBytes: Offset::make(caller).c(),
        srcY: Row::make(caller).c(),
        srcMemoryType: src_type,
        srcHost: src,
        srcDevice: src,
        srcArray: src_array,
        srcPitch: Pitch::make(caller).c(),
        dstXInBytes: Offset::make(caller).c(),
        dstY: Row::make(caller).c(),
        dstMemoryType: dst_type,
        dstHost: dst,
        dstDevice: dst,
        dstArray: dst_array,
        dstPitch: Pitch::make(caller).c(),
        // Without a pitch, rows would be this far apart: a row of the host's would begin where nothing is.
        WidthInBytes: caller.one_of(&[4, 16, 64, 64, 0, 256]),
        Height: Height::make(caller).c(),
    }
}

fn driver_box(caller: &mut Caller<'_>) -> HIP_MEMCPY3D {
    let flat = rectangle(caller);
    HIP_MEMCPY3D {
        srcXInBytes: flat.srcXInBytes,
        srcY: flat.srcY,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: flat.srcMemoryType,
        srcHost: flat.srcHost,
        srcDevice: flat.srcDevice,
        srcArray: flat.srcArray,
        srcPitch: flat.srcPitch,
        srcHeight: 16,
        dstXInBytes: flat.dstXInBytes,
        dstY: flat.dstY,
        dstZ: caller.one_of(&[0, 0, 0, 1]),
        dstLOD: 0,
        dstMemoryType: flat.dstMemoryType,
        dstHost: flat.dstHost,
        dstDevice: flat.dstDevice,
        dstArray: flat.dstArray,
        dstPitch: flat.dstPitch,
        dstHeight: 16,
        WidthInBytes: flat.WidthInBytes,
        Height: flat.Height,
        Depth: caller.one_of(&[1, 1, 2, 0]),
    }
}

parameters! {
    PoolProperties: hipMemPoolProps = |caller| hipMemPoolProps {
        allocType: PinnedType::make(caller).c(),
        handleTypes: hipMemAllocationHandleType(caller.one_of(&[0, 0, 0, 0, 1, 2])),
        location: location(caller),
        win32SecurityAttributes: ptr::null_mut(),
        maxSize: caller.one_of(&[0, 0, 0, 1 << 20]),
        reserved: [0; 56],
    };
    Rights: hipMemAccessDesc = |caller| right(caller);
    LocationIn: hipMemLocation = |caller| location(caller);
    PhysicalProperties: hipMemAllocationProp = |caller| hipMemAllocationProp {
        location: location(caller),
        r#type: PinnedType::make(caller).c(),
        ..physical()
    };
    /// A value to set: a flag, a number of bytes.
    Value: u64 = |caller| caller.one_of(&[0, 0, 1, 4096, u64::MAX]);
    ChannelDescription: hipChannelFormatDesc = |caller| channel(caller);
    ArrayDescription: HIP_ARRAY_DESCRIPTOR = |caller| HIP_ARRAY_DESCRIPTOR {
        Width: caller.one_of(&[64, 64, 64, 0, 1 << 50]),
        Height: caller.one_of(&[16, 16, 0, 1]),
        Format: hipArray_Format(caller.one_of(&[1, 1, 1, 3, 99])),
        NumChannels: caller.one_of(&[1, 1, 1, 3]),
    };
    BoxArrayDescription: HIP_ARRAY3D_DESCRIPTOR = |caller| HIP_ARRAY3D_DESCRIPTOR {
        Width: caller.one_of(&[64, 64, 64, 0, 1 << 50]),
        Height: caller.one_of(&[16, 16, 0, 1]),
        Depth: caller.one_of(&[0, 1, 4]),
        Format: hipArray_Format(caller.one_of(&[1, 1, 1, 3, 99])),
        NumChannels: caller.one_of(&[1, 1, 1, 3]),
        Flags: caller.one_of(&[0, 0, 0, 1, 64]),
    };
    Rectangle: hip_Memcpy2D = |caller| rectangle(caller);
    DriverBox: HIP_MEMCPY3D = |caller| driver_box(caller);
    PeerBox: hipMemcpy3DPeerParms = |caller| {
        let copy = box_copy(caller);
        hipMemcpy3DPeerParms {
            srcArray: copy.srcArray,
            srcPos: copy.srcPos,
            srcPtr: copy.srcPtr,
            srcDevice: Ordinal::make(caller).c(),
            dstArray: copy.dstArray,
            dstPos: copy.dstPos,
            dstPtr: copy.dstPtr,
            dstDevice: Ordinal::make(caller).c(),
            extent: copy.extent,
        }
    };
    BufferDescription: hipExternalMemoryBufferDesc = |caller| hipExternalMemoryBufferDesc {
        offset: caller.one_of(&[0, 0, 0, 4096]),
        size: caller.one_of(&[4096, 4096, 0, u64::MAX]),
        flags: 0,
        reserved: [0; 16],
    };
    MappedMipmapDescription: hipExternalMemoryMipmappedArrayDesc = |caller| hipExternalMemoryMipmappedArrayDesc {
        offset: caller.one_of(&[0, 0, 4096, u64::MAX]),
        formatDesc: channel(caller),
        extent: extent(caller),
        flags: caller.one_of(&[0, 0, 0, 1, 99]),
        numLevels: caller.one_of(&[1, 2, 3, 0, 99]),
    };
}

/// As `Value`, for calls that take it as nothing in particular.
pub struct AnyValue(Value);

impl Argument for AnyValue {
    type C = *mut c_void;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(Value::make(caller))
    }

    fn c(&mut self) -> *mut c_void {
        self.0.c().cast()
    }
}

/// Room for any value that is asked for.
pub struct AnyRoom(Room<[u64; 8]>);

impl Argument for AnyRoom {
    type C = *mut c_void;

    fn make(caller: &mut Caller<'_>) -> Self {
        Self(Room::make(caller))
    }

    fn c(&mut self) -> *mut c_void {
        self.0.c().cast()
    }
}

/// A place for a file descriptor, which becomes the one that is exported.
pub struct NewExported(Box<std::ffi::c_int>);

impl Argument for NewExported {
    type C = *mut c_void;

    fn make(_caller: &mut Caller<'_>) -> Self {
        Self(Box::new(-1))
    }

    fn c(&mut self) -> *mut c_void {
        (&raw mut *self.0).cast()
    }

    fn done(self, caller: &mut Caller<'_>, succeeded: bool) {
        if succeeded && *self.0 >= 0 {
            // SAFETY: the call has opened it for us.
            *lock(&caller.world.exported) = Some(unsafe { OwnedFd::from_raw_fd(*self.0) });
        }
    }
}

/// What describes something of another process, which a descriptor names.
pub trait Description: Sized {
    fn describe(caller: &mut Caller<'_>) -> (Self, Option<OwnedFd>);
}

/// A description, and the descriptor that the call takes over if it succeeds.
pub struct Imported<T>(Box<T>, Option<OwnedFd>);

impl<T: Description> Argument for Imported<T> {
    type C = *const T;

    fn make(caller: &mut Caller<'_>) -> Self {
        let (description, descriptor) = T::describe(caller);
        Self(Box::new(description), descriptor)
    }

    fn c(&mut self) -> *const T {
        &raw const *self.0
    }

    fn done(self, _caller: &mut Caller<'_>, succeeded: bool) {
        if let Some(descriptor) = self.1.filter(|_| succeeded) {
            let _ = descriptor.into_raw_fd();
        }
    }
}

fn number(descriptor: Option<&OwnedFd>) -> hipExternalHandle {
    hipExternalHandle { fd: descriptor.map_or(-1, AsRawFd::as_raw_fd) }
}

impl Description for hipExternalSemaphoreHandleDesc {
    fn describe(caller: &mut Caller<'_>) -> (Self, Option<OwnedFd>) {
        let descriptor = caller.world.timeline.try_clone().ok();
        let description = Self {
            r#type: hipExternalSemaphoreHandleTypeTimelineSemaphoreFd,
            handle: number(descriptor.as_ref()),
            flags: 0,
            reserved: [0; 16],
        };
        (description, descriptor)
    }
}

impl Description for hipExternalMemoryHandleDesc {
    fn describe(caller: &mut Caller<'_>) -> (Self, Option<OwnedFd>) {
        let descriptor = lock(&caller.world.exported).as_ref().and_then(|exported| exported.try_clone().ok());
        let description = Self {
            r#type: hipExternalMemoryHandleTypeOpaqueFd,
            handle: number(descriptor.as_ref()),
            size: caller.world.granule as u64,
            flags: 0,
            reserved: [0; 16],
        };
        (description, descriptor)
    }
}

numbers! {
    /// What names the file that graphs are printed to.
    Path: *const c_char = |caller| if caller.once_in(16) { ptr::null() } else { caller.world.dot.as_ptr() };
}
