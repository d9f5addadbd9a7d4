//! Attributes of streams.

use std::ffi::c_int;

use aqlipse::{Stream, SyncDomain, WaitPolicy};

use crate::{
    api::launch::kernel::{access_policy, window_of},
    caller,
    error::{hipError_t, hipErrorInvalidResourceHandle, hipErrorInvalidValue},
    object,
    types::*,
};

/// The stream behind a handle.
///
/// # Errors
/// `hipErrorInvalidResourceHandle`, as the header has it for these calls.
fn stream(handle: hipStream_t) -> Result<Stream, hipError_t> {
    object::stream(handle).map_err(|_| hipErrorInvalidResourceHandle)
}

fn wait_policy(policy: hipSynchronizationPolicy) -> Result<WaitPolicy, hipError_t> {
    Ok(match policy {
        hipSyncPolicyAuto => WaitPolicy::Auto,
        hipSyncPolicySpin => WaitPolicy::Spin,
        hipSyncPolicyYield => WaitPolicy::Yield,
        hipSyncPolicyBlockingSync => WaitPolicy::Block,
        _ => return Err(hipErrorInvalidValue),
    })
}

/// The only domain: each of both kinds of kernels is in it.
const ONE_DOMAIN: hipLaunchMemSyncDomainMap = hipLaunchMemSyncDomainMap { default_: 0, remote: 0 };

entry! {
    /// Sets an attribute of a stream, for the work that follows.
    fn hipStreamSetAttribute(
        stream_: hipStream_t,
        attribute: hipLaunchAttributeID,
        value: *const hipLaunchAttributeValue,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let stream = stream(stream_)?;
        // ABI: a client of libamdhip64.so.6 has 32 bytes there, so only the member that the attribute names is read.
        match attribute {
            hipLaunchAttributeSynchronizationPolicy => {
                // SAFETY: the caller's pointer, which is not null and readable for the member.
                let policy = wait_policy(unsafe { caller::read(value.cast()) }?)?;
                stream.set_attributes(|attributes| attributes.wait = policy);
            }
            hipLaunchAttributePriority => {
                // SAFETY: as above.
                let priority: c_int = unsafe { caller::read(value.cast()) }?;
                if !(super::work::GREATEST_PRIORITY..=super::work::LEAST_PRIORITY).contains(&priority) {
                    return Err(hipErrorInvalidValue);
                }
                stream.set_priority(priority)?;
            }
            hipLaunchAttributeAccessPolicyWindow => {
                // SAFETY: as above.
                let policy = access_policy(&unsafe { caller::read(value.cast()) }?)?;
                stream.set_attributes(|attributes| attributes.access_policy = policy);
            }
            hipLaunchAttributeMemSyncDomain => {
                // SAFETY: as above.
                let domain = match unsafe { caller::read(value.cast()) }? {
                    hipLaunchMemSyncDomainDefault => SyncDomain::Default,
                    hipLaunchMemSyncDomainRemote => SyncDomain::Remote,
                    _ => return Err(hipErrorInvalidValue),
                };
                stream.set_attributes(|attributes| attributes.domain = domain);
            }
            hipLaunchAttributeMemSyncDomainMap => {
                // SAFETY: as above.
                let map: hipLaunchMemSyncDomainMap = unsafe { caller::read(value.cast()) }?;
                if (map.default_, map.remote) != (ONE_DOMAIN.default_, ONE_DOMAIN.remote) {
                    return Err(hipErrorInvalidValue);
                }
            }
            _ => return Err(hipErrorInvalidValue),
        }
        Ok(())
    }
}

entry! {
    /// Stores an attribute of a stream.
    fn hipStreamGetAttribute(
        stream_: hipStream_t,
        attribute: hipLaunchAttributeID,
        value: *mut hipLaunchAttributeValue,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let stream = stream(stream_)?;
        let attributes = stream.attributes();
        // ABI: a client of libamdhip64.so.6 has 32 bytes there, so only the member that the attribute names is written.
        // SAFETY: the caller's pointer, which is not null and writable for that member.
        unsafe {
            match attribute {
                hipLaunchAttributeSynchronizationPolicy => {
                    let policy = match attributes.wait {
                        WaitPolicy::Auto => hipSyncPolicyAuto,
                        WaitPolicy::Spin => hipSyncPolicySpin,
                        WaitPolicy::Yield => hipSyncPolicyYield,
                        WaitPolicy::Block => hipSyncPolicyBlockingSync,
                    };
                    caller::write(value.cast(), policy)
                }
                hipLaunchAttributePriority => caller::write(value.cast::<c_int>(), stream.priority()),
                hipLaunchAttributeAccessPolicyWindow => {
                    caller::write(value.cast(), window_of(&attributes.access_policy))
                }
                hipLaunchAttributeMemSyncDomain => {
                    let domain = match attributes.domain {
                        SyncDomain::Default => hipLaunchMemSyncDomainDefault,
                        SyncDomain::Remote => hipLaunchMemSyncDomainRemote,
                    };
                    caller::write(value.cast(), domain)
                }
                hipLaunchAttributeMemSyncDomainMap => caller::write(value.cast(), ONE_DOMAIN),
                _ => Err(hipErrorInvalidValue),
            }
        }
    }
}

entry! {
    /// Gives a stream the attributes of another one of the same device.
    fn hipStreamCopyAttributes(destination: hipStream_t, source: hipStream_t) -> hipError_t {
        let known = |handle| object::stream(handle).map_err(|_| hipErrorInvalidValue);
        let (destination, source) = (known(destination)?, known(source)?);
        if destination.device() != source.device() {
            return Err(hipErrorInvalidValue);
        }
        Ok(destination.copy_attributes(&source)?)
    }
}
