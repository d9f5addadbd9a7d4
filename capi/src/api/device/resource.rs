//! The compute units of a device as resources that can be split.
//!
//! A resource is the caller's to keep and to copy, so it carries what it stands for: the device, and a bit for each unit.
//! Both are checked when it comes back.

use std::ffi::c_uint;

use aqlipse::Device;

use crate::{
    caller, current,
    error::{
        hipError_t, hipErrorInvalidDevice, hipErrorInvalidResourceConfiguration, hipErrorInvalidResourceType,
        hipErrorInvalidValue,
    },
    object,
    types::*,
};

/// Some compute units of a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Units {
    pub(crate) device: Device,
    /// A bit for each unit.
    pub(crate) mask: Vec<u32>,
}

/// Units that cannot be parted: with GFX10 two share a work-group processor.
fn granule(device: &Device) -> u32 {
    if device.properties().capability.0 >= 10 { 2 } else { 1 }
}

impl Units {
    fn count(&self) -> u32 {
        self.mask.iter().map(|word| word.count_ones()).sum()
    }

    /// Takes the first `count` units out.
    fn take(&mut self, count: u32) -> Self {
        let mut taken = vec![0; self.mask.len()];
        for _ in 0..count {
            let Some(word) = self.mask.iter().position(|&word| word != 0) else { break };
            let lowest = self.mask[word] & self.mask[word].wrapping_neg();
            self.mask[word] ^= lowest;
            taken[word] |= lowest;
        }
        Self { device: self.device.clone(), mask: taken }
    }

    /// The resource that stands for the units; one of no type if there are none.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` if the device has more units than a resource has room for.
    pub(crate) fn resource(&self) -> Result<hipDevResource, hipError_t> {
        // SAFETY: all fields are plain data, for which zeros are values.
        let mut resource: hipDevResource = unsafe { std::mem::zeroed() };
        let count = self.count();
        if count == 0 {
            return Ok(resource);
        }
        resource.r#type = hipDevResourceTypeSm;
        let [device, mask @ ..] = &mut resource._internal_padding;
        // CAST: ordinals are small.
        *device = self.device.ordinal() as u32;
        mask.get_mut(..self.mask.len()).ok_or(hipErrorInvalidValue)?.copy_from_slice(&self.mask);
        let granule = granule(&self.device);
        resource.resource.sm = hipDevSmResource {
            smCount: count,
            minSmPartitionSize: granule,
            smCoscheduledAlignment: granule,
            flags: 0,
        };
        Ok(resource)
    }

    /// The units that a resource stands for.
    ///
    /// # Errors
    /// `hipErrorInvalidResourceType` if it stands for something else, `hipErrorInvalidDevice`, `hipErrorInvalidValue` if
    /// it was tampered with.
    pub(crate) fn of(resource: &hipDevResource) -> Result<Self, hipError_t> {
        if resource.r#type != hipDevResourceTypeSm {
            return Err(hipErrorInvalidResourceType);
        }
        let [device, mask @ ..] = &resource._internal_padding;
        let device = i32::try_from(*device).map_err(|_| hipErrorInvalidDevice)?;
        let device = current::device_at(device)?;
        let words = device.properties().compute_units.div_ceil(u32::BITS) as usize;
        let given = mask.get(..words).ok_or(hipErrorInvalidValue)?.to_vec();
        let units = Self { device, mask: given };
        // SAFETY: any bits are a value of this member, which the type names.
        let count = unsafe { resource.resource.sm.smCount };
        let all = whole(&units.device);
        let beyond = units.mask.iter().zip(&all.mask).any(|(unit, all)| unit & !all != 0);
        if beyond || mask[words..].iter().any(|&word| word != 0) || units.count() != count || count == 0 {
            return Err(hipErrorInvalidValue);
        }
        Ok(units)
    }
}

/// All units of a device.
pub(crate) fn whole(device: &Device) -> Units {
    Units { device: device.clone(), mask: aqlipse::ExecutionContext::of_device(device).units() }
}

/// Stores the compute units, if that is the type of resource that is asked for.
///
/// # Errors
/// `hipErrorInvalidResourceType` for queues, which are shared by all work of a device.
///
/// # Safety
/// `out` is null or writable.
pub(crate) unsafe fn store(
    out: *mut hipDevResource,
    kind: hipDevResourceType,
    units: &Units,
) -> Result<(), hipError_t> {
    if out.is_null() {
        return Err(hipErrorInvalidValue);
    }
    if kind != hipDevResourceTypeSm {
        return Err(hipErrorInvalidResourceType);
    }
    // SAFETY: the caller's promise.
    unsafe { caller::write(out, units.resource()?) }
}

entry! {
    /// Stores the compute units of a device.
    fn hipDeviceGetDevResource(
        device: hipDevice_t,
        resource: *mut hipDevResource,
        kind: hipDevResourceType,
    ) -> hipError_t {
        let device = current::device_at(device)?;
        // SAFETY: the caller's pointer, null or writable.
        unsafe { store(resource, kind, &whole(&device)) }
    }
}

entry! {
    /// Stores the compute units that a stream's kernels run on.
    fn hipStreamGetDevResource(
        stream: hipStream_t,
        resource: *mut hipDevResource,
        kind: hipDevResourceType,
    ) -> hipError_t {
        let stream = object::stream(stream).map_err(|_| crate::error::hipErrorInvalidHandle)?;
        let units = Units { device: stream.device().clone(), mask: stream.units() };
        // SAFETY: the caller's pointer, null or writable.
        unsafe { store(resource, kind, &units) }
    }
}

/// Stores groups of units and what remains of them, all or nothing.
///
/// # Safety
/// `out` is writable for as many resources as there are groups, `remainder` null or writable.
unsafe fn store_groups(
    out: *mut hipDevResource,
    groups: &[Units],
    remainder: *mut hipDevResource,
    rest: &Units,
) -> Result<(), hipError_t> {
    let resources = groups.iter().map(Units::resource).collect::<Result<Vec<_>, _>>()?;
    let rest = rest.resource()?;
    for (n, resource) in resources.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { caller::write(out.wrapping_add(n), resource) }?;
    }
    // SAFETY: the caller's promise.
    unsafe { caller::write_if_wanted(remainder, rest) };
    Ok(())
}

entry! {
    /// Splits compute units into groups of at least so many, and stores how many groups there are; without room for the
    /// groups, how many there can be.
    ///
    /// Neither flag changes anything: all units of a device are alike, and have no clusters.
    fn hipDevSmResourceSplitByCount(
        result: *mut hipDevResource,
        groups: *mut c_uint,
        input: *const hipDevResource,
        remainder: *mut hipDevResource,
        flags: c_uint,
        least: c_uint,
    ) -> hipError_t {
        let known = hipDevSmResourceSplitIgnoreSmCoscheduling.0 | hipDevSmResourceSplitMaxPotentialClusterSize.0;
        if flags & !known != 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointers, null or readable.
        let (input, wanted) = unsafe { (caller::read(input)?, caller::read(groups)?) };
        let mut rest = Units::of(&input)?;
        let granule = granule(&rest.device);
        let size = least.max(1).checked_next_multiple_of(granule).ok_or(hipErrorInvalidValue)?;
        let possible = rest.count() / size;
        if possible == 0 {
            return Err(hipErrorInvalidValue);
        }
        if result.is_null() {
            // SAFETY: the caller's pointer, which is not null.
            return unsafe { caller::write(groups, possible) };
        }
        let made: Vec<_> = (0..possible.min(wanted)).map(|_| rest.take(size)).collect();
        // SAFETY: the caller's arrays: it has said how many groups it has room for.
        unsafe {
            store_groups(result, &made, remainder, &rest)?;
            // CAST: at most as many as were wanted.
            caller::write(groups, made.len() as c_uint)
        }
    }
}

entry! {
    /// Splits compute units into groups of the caller's sizes; a group of 0 takes what is left.
    fn hipDevSmResourceSplit(
        result: *mut hipDevResource,
        groups: c_uint,
        input: *const hipDevResource,
        remainder: *mut hipDevResource,
        flags: c_uint,
        params: *mut hipDevSmResourceGroupParams,
    ) -> hipError_t {
        if result.is_null() || groups == 0 || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: the caller's pointers, null or readable.
        let (input, params) = unsafe { (caller::read(input)?, caller::read_slice(params, groups as usize)?) };
        let mut rest = Units::of(&input)?;
        let mut made = Vec::with_capacity(params.len());
        for group in &params {
            if group.flags & !hipDevSmResourceGroupBackfill.0 != 0 || group.reserved.iter().any(|&word| word != 0) {
                return Err(hipErrorInvalidValue);
            }
            let together = group.coscheduledSmCount.max(granule(&rest.device));
            let count = if group.smCount == 0 { rest.count() / together * together } else { group.smCount };
            if count == 0 || count % together != 0 || count > rest.count() {
                return Err(hipErrorInvalidResourceConfiguration);
            }
            made.push(rest.take(count));
        }
        // SAFETY: the caller's array of as many resources as groups.
        unsafe { store_groups(result, &made, remainder, &rest) }
    }
}
