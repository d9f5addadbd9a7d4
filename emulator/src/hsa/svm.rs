//! Shared virtual memory: attributes of the program's own pages, and their prefetch.

use std::{ffi::c_void, sync::Arc};

use hsa_sys::*;

use super::{copy, entry, present};
use crate::{
    agent::Agent,
    copy::{Copy, Work},
    runtime::{self, Runtime},
    svm::{Attributes, Change, Place, Reach, Svm, SvmError, flag, pages},
};

/// Most pages that move at once, as a power of two: ROCr cuts to 1 GiB.
const COARSEST: u64 = 18;
/// `KFD_IOCTL_SVM_FLAG_*` that attributes of the table switch.
const HIVE_LOCAL: u32 = 1 << 2;
const EXECUTABLE: u32 = 1 << 4;
const READ_MOSTLY: u32 = 1 << 5;

fn svm(runtime: &Runtime) -> Result<&Arc<Svm>, hsa_status_t> {
    runtime.svm_of_hardware().ok_or(HSA_STATUS_ERROR)
}

fn range(start: *mut c_void, size: usize) -> Result<(u64, u64), hsa_status_t> {
    pages(start as u64, size as u64).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)
}

/// ROCr tells no more of what the kernel driver refuses.
fn refused(_: SvmError) -> hsa_status_t {
    HSA_STATUS_ERROR
}

fn agent(runtime: &Runtime, handle: u64) -> Result<Agent, hsa_status_t> {
    runtime.agent(hsa_agent_t { handle }).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)
}

fn place(agent: Agent) -> Place {
    agent.gpu().map_or(Place::Host, Place::Device)
}

fn handle(place: Option<Place>) -> u64 {
    match place {
        None => 0,
        Some(Place::Host) => Agent::Host(0).handle().handle,
        Some(Place::Device(device)) => Agent::Gpu(device).handle().handle,
    }
}

/// The attribute that a number names; one that names none is no attribute of the header's.
fn known(attribute: u64) -> hsa_amd_svm_attribute_t {
    hsa_amd_svm_attribute_t(u32::try_from(attribute).unwrap_or(u32::MAX))
}

/// The memory model that a value names.
fn model(value: u64) -> hsa_amd_svm_model_t {
    hsa_amd_svm_model_t(u32::try_from(value).unwrap_or(u32::MAX))
}

/// The flag that an attribute of type bool stands for.
fn switch(attribute: hsa_amd_svm_attribute_t) -> Option<u32> {
    Some(match attribute {
        HSA_AMD_SVM_ATTRIB_READ_ONLY => flag::READ_ONLY,
        HSA_AMD_SVM_ATTRIB_HIVE_LOCAL => HIVE_LOCAL,
        HSA_AMD_SVM_ATTRIB_READ_MOSTLY => READ_MOSTLY,
        HSA_AMD_SVM_ATTRIB_GPU_EXEC => EXECUTABLE,
        _ => return None,
    })
}

fn reach(attribute: hsa_amd_svm_attribute_t) -> Option<Reach> {
    Some(match attribute {
        HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE => Reach::OnDemand,
        HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE => Reach::InPlace,
        HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS => Reach::None,
        _ => return None,
    })
}

/// What a list of attributes changes.
fn changes(runtime: &Runtime, list: &[hsa_amd_svm_attribute_pair_t]) -> Result<Vec<Change>, hsa_status_t> {
    let (mut seen, mut agents, mut host) = (Vec::new(), Vec::new(), None);
    let mut changes = Vec::with_capacity(list.len());
    for &hsa_amd_svm_attribute_pair_t { attribute, value } in list {
        let name = known(attribute);
        if let Some(reach) = reach(name) {
            let agent = agent(runtime, value)?;
            if agents.contains(&agent) {
                return Err(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
            }
            agents.push(agent);
            match agent {
                Agent::Gpu(device) => changes.push(Change::Reach(device, reach)),
                // One CPU agent that is given access counts.
                Agent::Host(_) => host = Some(host.unwrap_or(false) || reach != Reach::None),
            }
            continue;
        }
        let flags = |on: bool, flag: u32| if on { Change::Flags(flag, 0) } else { Change::Flags(0, flag) };
        let change = match name {
            HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG => match model(value) {
                HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED => flags(true, flag::COHERENT),
                HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED => flags(false, flag::COHERENT),
                _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            },
            // CAST: at most 18.
            HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY => Change::Granularity(value.min(COARSEST) as u32),
            HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION if value == 0 => Change::Prefer(None),
            HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION => Change::Prefer(Some(place(agent(runtime, value)?))),
            _ => flags(value != 0, switch(name).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?),
        };
        if seen.contains(&name) {
            return Err(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
        }
        seen.push(name);
        changes.push(change);
    }
    changes.extend(host.map(|on| match on {
        true => Change::Flags(flag::HOST_ACCESS, 0),
        false => Change::Flags(0, flag::HOST_ACCESS),
    }));
    Ok(changes)
}

/// What a pair of a query says.
fn answer(
    runtime: &Runtime,
    common: &Attributes,
    pair: hsa_amd_svm_attribute_pair_t,
) -> Result<hsa_amd_svm_attribute_pair_t, hsa_status_t> {
    let name = known(pair.attribute);
    let value = match name {
        HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG => u64::from(
            match (common.flags & flag::COHERENT != 0, common.clear & flag::COHERENT != 0) {
                (true, _) => HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED,
                (_, true) => HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED,
                _ => HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE,
            }
            .0,
        ),
        HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY => common.granularity.into(),
        HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION => handle(common.preferred),
        HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION => handle(common.prefetched),
        HSA_AMD_SVM_ATTRIB_ACCESS_QUERY => {
            let reach = match agent(runtime, pair.value)? {
                Agent::Gpu(device) => common.reach(device),
                Agent::Host(_) if common.flags & flag::HOST_ACCESS != 0 => Reach::OnDemand,
                Agent::Host(_) => Reach::None,
            };
            let name = match reach {
                Reach::OnDemand => HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE,
                Reach::InPlace => HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE,
                Reach::None => HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS,
            };
            return Ok(hsa_amd_svm_attribute_pair_t { attribute: name.0.into(), value: pair.value });
        }
        _ => {
            let flag = switch(name).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
            (common.flags & flag != 0).into()
        }
    };
    Ok(hsa_amd_svm_attribute_pair_t { value, ..pair })
}

entry! {
    fn hsa_amd_svm_attributes_set(
        ptr: *mut c_void,
        size: usize,
        attribute_list: *mut hsa_amd_svm_attribute_pair_t,
        attribute_count: usize,
    ) {
        let runtime = runtime::get()?;
        let svm = svm(&runtime)?;
        // SAFETY: the program's input array.
        let list = unsafe { super::list(attribute_list.cast_const(), attribute_count) }?;
        let changes = changes(&runtime, list)?;
        let (start, end) = range(ptr, size)?;
        svm.set(start, end, &changes).map_err(refused)
    }

    fn hsa_amd_svm_attributes_get(
        ptr: *mut c_void,
        size: usize,
        attribute_list: *mut hsa_amd_svm_attribute_pair_t,
        attribute_count: usize,
    ) {
        let runtime = runtime::get()?;
        let svm = svm(&runtime)?;
        let (start, end) = range(ptr, size)?;
        if attribute_count > 0 {
            present(attribute_list)?;
        }
        let common = svm.get(start, end);
        // SAFETY: the program's array.
        let pairs = unsafe { super::list(attribute_list.cast_const(), attribute_count) }?;
        let answers: Result<Vec<_>, _> = pairs.iter().map(|pair| answer(&runtime, &common, *pair)).collect();
        for (at, answer) in answers?.into_iter().enumerate() {
            // SAFETY: as above; each place was just read.
            unsafe { attribute_list.add(at).write(answer) };
        }
        Ok(())
    }

    fn hsa_amd_svm_prefetch_async(
        ptr: *mut c_void,
        size: usize,
        agent: hsa_agent_t,
        num_dep_signals: u32,
        dep_signals: *const hsa_signal_t,
        completion_signal: hsa_signal_t,
    ) {
        let runtime = runtime::get()?;
        let svm = svm(&runtime)?;
        let to = place(self::agent(&runtime, agent.handle)?);
        // SAFETY: the program's input array.
        let dependencies = unsafe { copy::awaited(num_dep_signals, dep_signals) }?;
        let completion = copy::completed(completion_signal)?;
        let (start, end) = range(ptr, size)?;
        svm.announce(start, end, to).map_err(refused)?;
        let work = Work::Prefetch { svm: Arc::clone(svm), pages: (start, end), to };
        let request = Copy { work, completion, _backing: Vec::new(), device: None };
        // SAFETY: nothing is copied.
        let submitted = unsafe { runtime.copier.submit(request, &dependencies) };
        submitted.map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)
    }
}
