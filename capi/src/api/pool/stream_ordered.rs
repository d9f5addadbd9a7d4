//! Stream-ordered memory pools: creation, attributes, access, the current one, allocation.

use std::ffi::{c_int, c_void};

use aqlipse::{
    Device, Error, Stream,
    memory::{self, PoolLimit, PoolOptions, Reuse, Right, StreamPool},
};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    caller, current,
    error::{
        hipError_t, hipErrorContextIsDestroyed, hipErrorInvalidDevice, hipErrorInvalidHandle,
        hipErrorInvalidValue, hipErrorNotSupported,
    },
    handle::{Kind, Table},
    object, soname,
    types::*,
};

pub(super) static POOLS: Table<StreamPool> = Table::new(Kind::MemoryPool);

/// The pool behind a handle.
pub(super) fn pool(handle: hipMemPool_t) -> Result<StreamPool, hipError_t> {
    POOLS.get(handle.0).ok_or(hipErrorInvalidValue)
}

/// Held by a thread that gives or takes a handle, or makes the pool of one current: no pool gets two handles, and none
/// is current that has lost its own.
fn naming() -> MutexGuard<'static, ()> {
    static NAMING: Mutex<()> = Mutex::new(());
    NAMING.lock()
}

/// The handle of a pool, the same for each call; none for one that was destroyed.
fn handle_of(pool: &StreamPool) -> Result<Option<hipMemPool_t>, hipError_t> {
    let known = POOLS.find(|other| other == pool);
    let handle = match known {
        // A default pool gets its handle when a caller asks for it.
        None if pool == pool.device().default_pool() => Some(POOLS.insert(pool.clone())?),
        known => known,
    };
    Ok(handle.map(hipMemPool_t))
}

/// The handle of a device's default pool.
fn default_of(device: &Device) -> Result<hipMemPool_t, hipError_t> {
    let _naming = naming();
    Ok(handle_of(device.default_pool())?.unwrap_or(hipMemPool_t::NULL))
}

/// The handle of a device's current pool.
fn current_of(device: &Device) -> Result<hipMemPool_t, hipError_t> {
    let _naming = naming();
    Ok(handle_of(&device.pool())?.unwrap_or(hipMemPool_t::NULL))
}

/// Makes the pool of a handle a device's current one.
fn make_current(device: &Device, handle: hipMemPool_t) -> Result<(), hipError_t> {
    pool(handle)?;
    let _naming = naming();
    Ok(device.set_pool(&pool(handle)?)?)
}

/// The handle of the pool that an address was allocated from; null for one that was destroyed.
///
/// # Errors
/// `hipErrorNotSupported` for memory of no pool.
// HIP: measured on 5.2.3 (tests/conformance/pointer_attribute.cpp).
pub(crate) fn pool_of(address: u64) -> Result<hipMemPool_t, hipError_t> {
    let pool = memory::pool_of(address)?.ok_or(hipErrorNotSupported)?;
    let _naming = naming();
    Ok(handle_of(&pool)?.unwrap_or(hipMemPool_t::NULL))
}

/// The device at a location.
///
/// # Errors
/// `hipErrorInvalidValue` for a place that is no device, or no device that there is.
pub(crate) fn device_at(location: hipMemLocation) -> Result<Device, hipError_t> {
    device_or(location, hipErrorInvalidValue)
}

/// As [`device_at`], with a code for a device that there is not.
fn device_or(location: hipMemLocation, none: hipError_t) -> Result<Device, hipError_t> {
    match location.r#type {
        hipMemLocationTypeDevice => current::device_at(location.id).map_err(|code| match code {
            hipErrorInvalidDevice => none,
            code => code,
        }),
        _ => Err(hipErrorInvalidValue),
    }
}

/// Which device may do what, as access descriptors say it.
///
/// # Errors
/// `hipErrorInvalidValue` for more of them than devices, for rights that are none, and as [`device_at`];
/// `no_device` for a device that there is not.
pub(crate) unsafe fn rights(
    descriptors: *const hipMemAccessDesc,
    count: usize,
    no_device: hipError_t,
) -> Result<Vec<(Device, Right)>, hipError_t> {
    if count > current::devices()?.len() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's array, null or readable.
    let descriptors = unsafe { caller::read_slice(descriptors, count) }?;
    let right = |flags| match flags {
        hipMemAccessFlagsProtNone => Ok(Right::None),
        hipMemAccessFlagsProtRead => Ok(Right::Read),
        hipMemAccessFlagsProtReadWrite => Ok(Right::ReadWrite),
        _ => Err(hipErrorInvalidValue),
    };
    let each = descriptors.into_iter();
    each.map(|desc| Ok((device_or(desc.location, no_device)?, right(desc.flags)?))).collect()
}

/// A right as access descriptors encode it.
pub(crate) fn access_flags(right: Right) -> hipMemAccessFlags {
    match right {
        Right::None => hipMemAccessFlagsProtNone,
        Right::Read => hipMemAccessFlagsProtRead,
        Right::ReadWrite => hipMemAccessFlagsProtReadWrite,
    }
}

/// The code for access that cannot be given: a link that is missing is nothing that the functions document.
pub(crate) fn access_error(error: Error) -> hipError_t {
    match error {
        Error::PeerAccessUnsupported => hipErrorInvalidValue,
        error => error.into(),
    }
}

/// The code for a pool that cannot be.
fn no_pool(of: PoolLimit) -> hipError_t {
    of.refusal().into()
}

/// The most bytes that a pool may have; 0 for any number.
// ABI: before HIP 6 the word is a reserved one, in which a caller may have left anything.
pub(crate) fn max_bytes(props: &hipMemPoolProps) -> u64 {
    if soname::major() <= 5 { 0 } else { props.maxSize as u64 }
}

entry! {
    /// Creates a memory pool.
    fn hipMemPoolCreate(handle: *mut hipMemPool_t, props: *const hipMemPoolProps) -> hipError_t {
        if handle.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointer, null or readable.
        let props = unsafe { caller::read(props) }?;
        let kinds = hipMemHandleTypePosixFileDescriptor.0 | hipMemHandleTypeWin32.0 | hipMemHandleTypeWin32Kmt.0;
        if props.handleTypes.0 & !kinds != 0 {
            return Err(hipErrorInvalidValue);
        }
        match props.allocType {
            hipMemAllocationTypePinned => {}
            hipMemAllocationTypeManaged => return Err(no_pool(PoolLimit::Managed)),
            _ => return Err(hipErrorInvalidValue),
        }
        if matches!(props.location.r#type, hipMemLocationTypeHost | hipMemLocationTypeHostNuma) {
            return Err(no_pool(PoolLimit::Host));
        }
        let device = device_at(props.location)?;
        let options = PoolOptions {
            max_bytes: max_bytes(&props),
            handle_types: props.handleTypes.0,
            is_shareable: props.handleTypes == hipMemHandleTypePosixFileDescriptor,
        };
        let made = hipMemPool_t(POOLS.give(StreamPool::new(&device, options)?)?);
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, made) }
    }
}

entry! {
    /// Destroys a memory pool; its memory goes when the last allocation is freed.
    fn hipMemPoolDestroy(handle: hipMemPool_t) -> hipError_t {
        let pool = pool(handle)?;
        let _naming = naming();
        pool.device().retire_pool(&pool)?;
        POOLS.remove(handle.0).map(drop).ok_or(hipErrorInvalidValue)
    }
}

entry! {
    /// Gives unused memory of a pool back to the device, while so many bytes stay reserved.
    fn hipMemPoolTrimTo(handle: hipMemPool_t, keep: usize) -> hipError_t {
        pool(handle)?.trim(keep as u64);
        Ok(())
    }
}

/// The way to use memory again that an attribute allows.
fn reuse(attribute: hipMemPoolAttr) -> Option<Reuse> {
    match attribute {
        hipMemPoolReuseFollowEventDependencies => Some(Reuse::FollowEventDependencies),
        hipMemPoolReuseAllowOpportunistic => Some(Reuse::Opportunistic),
        hipMemPoolReuseAllowInternalDependencies => Some(Reuse::InternalDependencies),
        _ => None,
    }
}

entry! {
    /// Sets an attribute of a memory pool: an `int` for ways to use memory again, 64 bits for bytes.
    fn hipMemPoolSetAttribute(handle: hipMemPool_t, attribute: hipMemPoolAttr, value: *mut c_void) -> hipError_t {
        let pool = pool(handle)?;
        if let Some(reuse) = reuse(attribute) {
            // SAFETY: the caller's pointer, null or readable for the type of the attribute.
            pool.set_reuse(reuse, unsafe { caller::read(value.cast::<c_int>()) }? != 0);
            return Ok(());
        }
        // Others cannot be set, so that nothing may lie at the pointer.
        if !matches!(
            attribute,
            hipMemPoolAttrReleaseThreshold | hipMemPoolAttrReservedMemHigh | hipMemPoolAttrUsedMemHigh
        ) {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: as above.
        match (attribute, unsafe { caller::read(value.cast::<u64>()) }?) {
            (hipMemPoolAttrReleaseThreshold, bytes) => pool.set_release_threshold(bytes),
            (hipMemPoolAttrReservedMemHigh, 0) => pool.reset_reserved_high(),
            (hipMemPoolAttrUsedMemHigh, 0) => pool.reset_used_high(),
            _ => return Err(hipErrorInvalidValue),
        }
        Ok(())
    }
}

entry! {
    /// Stores an attribute of a memory pool: an `int` for ways to use memory again, 64 bits for bytes.
    fn hipMemPoolGetAttribute(handle: hipMemPool_t, attribute: hipMemPoolAttr, value: *mut c_void) -> hipError_t {
        let pool = pool(handle)?;
        if let Some(reuse) = reuse(attribute) {
            // SAFETY: the caller's pointer, null or writable for the type of the attribute.
            return unsafe { caller::write(value.cast::<c_int>(), pool.reuses(reuse).into()) };
        }
        let bytes = match attribute {
            hipMemPoolAttrReleaseThreshold => pool.release_threshold(),
            hipMemPoolAttrReservedMemCurrent => pool.reserved().current,
            hipMemPoolAttrReservedMemHigh => pool.reserved().high,
            hipMemPoolAttrUsedMemCurrent => pool.used().current,
            hipMemPoolAttrUsedMemHigh => pool.used().high,
            _ => return Err(hipErrorInvalidValue),
        };
        // SAFETY: as above.
        unsafe { caller::write(value.cast::<u64>(), bytes) }
    }
}

entry! {
    /// Says which devices may access a pool's memory.
    fn hipMemPoolSetAccess(handle: hipMemPool_t, descriptors: *const hipMemAccessDesc, count: usize) -> hipError_t {
        let pool = pool(handle)?;
        // SAFETY: the caller's array.
        let rights = unsafe { rights(descriptors, count, hipErrorInvalidDevice) }?;
        pool.set_rights(&rights).map_err(access_error)
    }
}

entry! {
    /// Stores what a device may do with a pool's memory.
    fn hipMemPoolGetAccess(
        flags: *mut hipMemAccessFlags,
        handle: hipMemPool_t,
        location: *mut hipMemLocation,
    ) -> hipError_t {
        let pool = pool(handle)?;
        // SAFETY: the caller's pointer, null or readable.
        let device = device_or(unsafe { caller::read(location) }?, hipErrorInvalidDevice)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(flags, access_flags(pool.right_of(&device))) }
    }
}

entry! {
    /// Stores the pool that a device always has.
    fn hipDeviceGetDefaultMemPool(handle: *mut hipMemPool_t, device: c_int) -> hipError_t {
        if handle.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let found = default_of(&current::device_at(device)?)?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(handle, found) }
    }
}

entry! {
    /// Stores the pool that a device's streams allocate from.
    // HIP: a device that does not exist is an invalid value here, measured on 5.2.3
    // (tests/conformance/pool_current.cpp).
    fn hipDeviceGetMemPool(handle: *mut hipMemPool_t, device: c_int) -> hipError_t {
        let location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: device };
        let found = current_of(&device_at(location)?)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(handle, found) }
    }
}

entry! {
    /// Sets the pool that a device's streams allocate from.
    // HIP: as for `hipDeviceGetMemPool`.
    fn hipDeviceSetMemPool(device: c_int, handle: hipMemPool_t) -> hipError_t {
        let location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: device };
        make_current(&device_at(location)?, handle)
    }
}

/// The device whose pools a location and a kind of memory stand for.
///
/// # Errors
/// `hipErrorNotSupported` for pools of host memory and of managed memory, `hipErrorInvalidValue` for what is no pool.
unsafe fn pools_at(
    location: *const hipMemLocation,
    kind: hipMemAllocationType,
) -> Result<Device, hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let location = unsafe { caller::read(location) }?;
    let on_host = matches!(location.r#type, hipMemLocationTypeHost | hipMemLocationTypeHostNuma);
    match kind {
        hipMemAllocationTypePinned if on_host => Err(no_pool(PoolLimit::Host)),
        hipMemAllocationTypePinned => device_at(location),
        hipMemAllocationTypeManaged if on_host || location.r#type == hipMemLocationTypeInvalid => {
            Err(no_pool(PoolLimit::Managed))
        }
        hipMemAllocationTypeManaged => {
            device_at(location)?;
            Err(no_pool(PoolLimit::Managed))
        }
        _ => Err(hipErrorInvalidValue),
    }
}

entry! {
    /// Stores the pool that a location always has.
    fn hipMemGetDefaultMemPool(
        handle: *mut hipMemPool_t,
        location: *mut hipMemLocation,
        kind: hipMemAllocationType,
    ) -> hipError_t {
        // SAFETY: the caller's pointer.
        let found = default_of(&unsafe { pools_at(location, kind) }?)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(handle, found) }
    }
}

entry! {
    /// Stores the pool that is current at a location.
    fn hipMemGetMemPool(
        handle: *mut hipMemPool_t,
        location: *mut hipMemLocation,
        kind: hipMemAllocationType,
    ) -> hipError_t {
        // SAFETY: the caller's pointer.
        let found = current_of(&unsafe { pools_at(location, kind) }?)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { caller::write(handle, found) }
    }
}

entry! {
    /// Sets the pool that is current at a location.
    fn hipMemSetMemPool(
        location: *mut hipMemLocation,
        kind: hipMemAllocationType,
        handle: hipMemPool_t,
    ) -> hipError_t {
        // SAFETY: the caller's pointer.
        let device = unsafe { pools_at(location, kind) }?;
        make_current(&device, handle)
    }
}

/// Lets `work` work on a stream of a call that allocates or frees.
///
/// # Errors
/// `hipErrorInvalidHandle` for no stream.
fn with_stream<T>(
    handle: hipStream_t,
    work: impl FnOnce(&Stream) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    let mut found = false;
    let outcome = object::with_stream(handle, |stream| {
        found = true;
        work(stream)
    });
    match outcome {
        Err(hipErrorContextIsDestroyed) if !found => Err(hipErrorInvalidHandle),
        outcome => outcome,
    }
}

/// Stores the address of `bytes` bytes for later work of a stream, of a pool or of the stream's current one; null for no
/// bytes.
// HIP: 5.2.3 refuses no bytes, the runtime of October 2024 takes them (tests/conformance/pool_async.cpp).
unsafe fn allocate(
    address: *mut *mut c_void,
    bytes: usize,
    pool: Option<&StreamPool>,
    stream: hipStream_t,
) -> Result<(), hipError_t> {
    if address.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let start = with_stream(stream, |stream| {
        Ok(match pool {
            _ if bytes == 0 => Ok(0),
            Some(pool) => stream.allocate_from_pool(pool, bytes),
            None => stream.allocate_async(bytes),
        }?)
    })?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(address, start as usize as *mut c_void) }
}

entry! {
    /// Allocates memory for later work of a stream.
    fn hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { allocate(address, bytes, None, stream) }
    }
}

entry! {
    /// Allocates memory of a pool, of any device's, for later work of a stream.
    fn hipMallocFromPoolAsync(
        address: *mut *mut c_void,
        bytes: usize,
        handle: hipMemPool_t,
        stream: hipStream_t,
    ) -> hipError_t {
        // SAFETY: the caller's pointer.
        unsafe { allocate(address, bytes, Some(&*POOLS.look(handle.0).ok_or(hipErrorInvalidValue)?), stream) }
    }
}

entry! {
    /// Frees memory when a stream gets there.
    fn hipFreeAsync(address: *mut c_void, stream: hipStream_t) -> hipError_t {
        // HIP: null is refused, by 5.2.3 and by the runtime of October 2024 (tests/conformance/pool_async.cpp).
        if address.is_null() {
            return Err(hipErrorInvalidValue);
        }
        with_stream(stream, |stream| Ok(stream.free_async(address as u64)?))
    }
}
