//! Shared virtual memory: pages of the process's own that agents reach, by attributes of ranges (`hsa_ext_amd.h`).

use std::fmt;
use std::sync::Arc;

use hsa_sys::*;

use crate::agent::{Agent, count};
use crate::error::{Error, check};
use crate::runtime::Runtime;

/// What is said about pages.
#[derive(Clone, Copy, Debug)]
pub enum Attribute<'a> {
    /// Whether processors see stores of each other while kernels run.
    FineGrained(bool),
    /// Whether they are mostly read.
    ReadMostly(bool),
    /// Where they should lie.
    PreferredLocation(Option<&'a Agent>),
    /// The agent reaches them; a fault may move them to it.
    Accessible(&'a Agent),
    /// The agent reaches them where they lie.
    AccessibleInPlace(&'a Agent),
    /// The agent does not reach them.
    NoAccess(&'a Agent),
}

impl Attribute<'_> {
    fn pair(self) -> hsa_amd_svm_attribute_pair_t {
        let agent = |agent: &Agent| agent.raw().handle;
        let (name, value) = match self {
            Self::FineGrained(true) => {
                (HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED.0.into())
            }
            Self::FineGrained(false) => {
                (HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED.0.into())
            }
            Self::ReadMostly(on) => (HSA_AMD_SVM_ATTRIB_READ_MOSTLY, on.into()),
            Self::PreferredLocation(place) => (HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, place.map_or(0, agent)),
            Self::Accessible(one) => (HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, agent(one)),
            Self::AccessibleInPlace(one) => (HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, agent(one)),
            Self::NoAccess(one) => (HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, agent(one)),
        };
        hsa_amd_svm_attribute_pair_t { attribute: name.0.into(), value }
    }
}

type Set = unsafe extern "C" fn(
    *mut std::ffi::c_void,
    usize,
    *mut hsa_amd_svm_attribute_pair_t,
    usize,
) -> hsa_status_t;
type Prefetch = unsafe extern "C" fn(
    *mut std::ffi::c_void,
    usize,
    hsa_agent_t,
    u32,
    *const hsa_signal_t,
    hsa_signal_t,
) -> hsa_status_t;

/// The functions of a runtime whose driver has shared virtual memory.
#[derive(Clone)]
pub struct SharedMemory {
    runtime: Arc<Runtime>,
    set: Set,
    prefetch: Prefetch,
    by_default: bool,
}

impl Runtime {
    /// Shared virtual memory, if the library has it and the driver supports it for all GPUs.
    pub fn shared_memory(self: &Arc<Self>) -> Option<SharedMemory> {
        let (set, prefetch) =
            (self.api().hsa_amd_svm_attributes_set?, self.api().hsa_amd_svm_prefetch_async?);
        let says = |attribute| self.info(attribute).is_ok_and(|answer| answer.bool());
        let by_default = says(HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT);
        says(HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED).then(|| SharedMemory {
            runtime: Arc::clone(self),
            set,
            prefetch,
            by_default,
        })
    }
}

impl SharedMemory {
    /// Whether all GPUs reach all memory of the process, with faults that are retried (XNACK).
    pub fn is_accessible_by_default(&self) -> bool {
        self.by_default
    }

    /// Gives the pages of `len` bytes at `address` attributes, each kind at most once, and at most one access for an agent.
    ///
    /// # Errors
    /// [`Error::Call`]: `HSA_STATUS_ERROR` if a page is not mapped.
    pub fn set(&self, address: u64, len: usize, attributes: &[Attribute<'_>]) -> Result<(), Error> {
        let mut pairs: Vec<_> = attributes.iter().map(|attribute| attribute.pair()).collect();
        let start = std::ptr::without_provenance_mut(address as usize);
        // SAFETY: the array has the length given. The pages are named, not touched.
        let status = unsafe { (self.set)(start, len, pairs.as_mut_ptr(), pairs.len()) };
        check("hsa_amd_svm_attributes_set", status)
    }

    /// Moves the pages of `len` bytes at `address` to an agent, as far as the driver can, after all `deps` have become 0, and
    /// decrements `completion` afterwards.
    ///
    /// # Errors
    /// [`Error::Call`]; `completion` stays as it is then.
    ///
    /// # Safety
    /// The signals live until `completion` has changed.
    pub unsafe fn prefetch(
        &self,
        (address, len): (u64, usize),
        agent: &Agent,
        deps: &[hsa_signal_t],
        completion: hsa_signal_t,
    ) -> Result<(), Error> {
        let start = std::ptr::without_provenance_mut(address as usize);
        // SAFETY: the array has the length given; the signals are the caller's promise. The pages are named, not touched.
        let status =
            unsafe { (self.prefetch)(start, len, agent.raw(), count(deps.len()), deps.as_ptr(), completion) };
        check("hsa_amd_svm_prefetch_async", status)
    }
}

impl fmt::Debug for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runtime, by_default, .. } = self;
        f.debug_struct("SharedMemory").field("runtime", runtime).field("by_default", by_default).finish()
    }
}
