//! Agents: the processors of a system, and what they say about themselves.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use hsa_sys::*;

use crate::error::{Error, check};
use crate::info::Answer;
use crate::runtime::{Runtime, collect};

/// What kind of processor an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentKind {
    /// The host.
    Cpu,
    /// A device that runs kernels.
    Gpu,
    /// Any other accelerator: `hsa_device_type_t`.
    Other(u32),
}

/// One processor; clones are cheap and mean the same one.
///
/// Name, kind and node are read once; everything else is asked of the runtime at each call, and is an
/// [`Error::Call`] with `HSA_STATUS_ERROR_INVALID_ARGUMENT` where the runtime does not know the attribute.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    runtime: Arc<Runtime>,
    raw: hsa_agent_t,
    kind: AgentKind,
    name: String,
    node: u32,
}

impl Runtime {
    /// All agents, in the runtime's order.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn agents(self: &Arc<Self>) -> Result<Vec<Agent>, Error> {
        let mut handles: Vec<hsa_agent_t> = Vec::new();
        // SAFETY: `collect` expects the vector that it is given, and is called only during this call.
        let status = unsafe {
            (self.api().hsa_iterate_agents)(Some(collect::<hsa_agent_t>), (&raw mut handles).cast())
        };
        check("hsa_iterate_agents", status)?;
        handles.into_iter().map(|handle| Agent::new(Arc::clone(self), handle)).collect()
    }
}

/// Declares a method a line for attributes that are plain numbers.
macro_rules! attributes {
    ($( $(#[$meta:meta])* $method:ident: $type:ident = $attribute:expr;)*) => { $(
        $(#[$meta])*
        ///
        /// # Errors
        /// [`Error::Call`].
        pub fn $method(&self) -> Result<$type, Error> {
            Ok(self.info($attribute)?.$type())
        }
    )* };
}

impl Agent {
    pub(crate) fn new(runtime: Arc<Runtime>, raw: hsa_agent_t) -> Result<Self, Error> {
        let ask = |attribute| ask(&runtime, raw, attribute);
        let kind = match hsa_device_type_t(ask(HSA_AGENT_INFO_DEVICE)?.u32()) {
            HSA_DEVICE_TYPE_CPU => AgentKind::Cpu,
            HSA_DEVICE_TYPE_GPU => AgentKind::Gpu,
            other => AgentKind::Other(other.0),
        };
        let name = ask(HSA_AGENT_INFO_NAME)?.text();
        let node = ask(HSA_AGENT_INFO_NODE)?.u32();
        Ok(Self(Arc::new(Inner { runtime, raw, kind, name, node })))
    }

    /// The runtime that the agent belongs to.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.0.runtime
    }

    /// The agent's handle in the function table.
    pub fn raw(&self) -> hsa_agent_t {
        self.0.raw
    }

    /// CPU or GPU.
    pub fn kind(&self) -> AgentKind {
        self.0.kind
    }

    /// Name such as `gfx90a`, or the processor's brand for a CPU.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// NUMA node.
    pub fn node(&self) -> u32 {
        self.0.node
    }

    /// The name of its vendor.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn vendor(&self) -> Result<String, Error> {
        Ok(self.info(HSA_AGENT_INFO_VENDOR_NAME)?.text())
    }

    /// Name under which it is sold.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn product_name(&self) -> Result<String, Error> {
        Ok(self.info(HSA_AMD_AGENT_INFO_PRODUCT_NAME)?.text())
    }

    /// Identifier such as `GPU-` and 16 hexadecimal digits; `GPU-XX` where the device has none.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn uuid(&self) -> Result<String, Error> {
        Ok(self.info(HSA_AMD_AGENT_INFO_UUID)?.text())
    }

    /// Target identifiers that its code objects may have, most specific first:
    /// `amdgcn-amd-amdhsa--gfx90a:xnack-`.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn isa_names(&self) -> Result<Vec<String>, Error> {
        let api = self.0.runtime.api();
        let mut isas: Vec<hsa_isa_t> = Vec::new();
        // SAFETY: `collect` expects the vector that it is given, and is called only during this call.
        let status = unsafe {
            (api.hsa_agent_iterate_isas)(self.0.raw, Some(collect::<hsa_isa_t>), (&raw mut isas).cast())
        };
        check("hsa_agent_iterate_isas", status)?;
        let ask = |isa, attribute, bytes| {
            Answer::ask_for(bytes, "hsa_isa_get_info_alt", |value| {
                // SAFETY: `value` has room for `bytes` bytes and for any fixed-size attribute.
                unsafe { (api.hsa_isa_get_info_alt)(isa, attribute, value) }
            })
        };
        isas.into_iter()
            .map(|isa| {
                let length = ask(isa, HSA_ISA_INFO_NAME_LENGTH, 4)?.u32();
                // CAST: u32 fits usize; one more byte ends the text.
                Ok(ask(isa, HSA_ISA_INFO_NAME, length as usize + 1)?.text())
            })
            .collect()
    }

    attributes! {
        /// Lanes of a wavefront.
        wavefront_size: u32 = HSA_AGENT_INFO_WAVEFRONT_SIZE;
        /// Most work-items of a workgroup.
        workgroup_max_size: u32 = HSA_AGENT_INFO_WORKGROUP_MAX_SIZE;
        /// Most work-items of a grid.
        grid_max_size: u32 = HSA_AGENT_INFO_GRID_MAX_SIZE;
        /// Queues that may exist at a time.
        queues_max: u32 = HSA_AGENT_INFO_QUEUES_MAX;
        /// Fewest packets of a queue.
        queue_min_size: u32 = HSA_AGENT_INFO_QUEUE_MIN_SIZE;
        /// Most packets of a queue.
        queue_max_size: u32 = HSA_AGENT_INFO_QUEUE_MAX_SIZE;
        /// PCI device identifier.
        chip_id: u32 = HSA_AMD_AGENT_INFO_CHIP_ID;
        /// Bytes of a cache line.
        cacheline_size: u32 = HSA_AMD_AGENT_INFO_CACHELINE_SIZE;
        /// Compute units.
        compute_units: u32 = HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT;
        /// Compute units that a cooperative dispatch can use.
        cooperative_compute_units: u32 = HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT;
        /// Whether cooperative queues can be created.
        cooperative_queues: bool = HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES;
        /// Highest core clock in MHz.
        max_clock_mhz: u32 = HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY;
        /// Highest memory clock in MHz.
        memory_max_clock_mhz: u32 = HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY;
        /// Width of the memory interface in bits.
        memory_width_bits: u32 = HSA_AMD_AGENT_INFO_MEMORY_WIDTH;
        /// Wavefronts that a compute unit holds.
        max_waves_per_compute_unit: u32 = HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU;
        /// SIMD units of a compute unit.
        simds_per_compute_unit: u32 = HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU;
        /// Shader engines.
        shader_engines: u32 = HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES;
        /// Revision of the chip.
        asic_revision: u32 = HSA_AMD_AGENT_INFO_ASIC_REVISION;
        /// PCI domain.
        pci_domain: u32 = HSA_AMD_AGENT_INFO_DOMAIN;
        /// PCI bus in bits 8 to 15, device in 3 to 7, function in 0 to 2.
        bdfid: u32 = HSA_AMD_AGENT_INFO_BDFID;
        /// Node number of the kernel driver.
        driver_node: u32 = HSA_AMD_AGENT_INFO_DRIVER_NODE_ID;
        /// Free device memory in bytes; ROCr 5.2.3 does not know it.
        memory_available: u64 = HSA_AMD_AGENT_INFO_MEMORY_AVAIL;
        /// Engines that copy between the host and the device, beside its compute units.
        copy_engines: u32 = HSA_AMD_AGENT_INFO_NUM_SDMA_ENG;
        /// Accelerator dies; ROCr 5.2.3 does not know it.
        xcc_count: u32 = HSA_AMD_AGENT_INFO_NUM_XCC;
        /// How deep runs of packets may nest that its packet processor branches to; only packet processors that
        /// branch know it.
        branch_depth: u32 = AQLIPSE_AGENT_INFO_BRANCH_DEPTH;
        /// 1 if the device uses the host's page tables by an IOMMU of version 2, else 0.
        iommu_version: u32 = HSA_AMD_AGENT_INFO_IOMMU_SUPPORT;
        /// Whether the host reaches shared virtual memory that lies on the device.
        svm_direct_host_access: bool = HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS;
    }

    /// Most work-items of a workgroup in x, y and z.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn workgroup_max_dim(&self) -> Result<[u16; 3], Error> {
        Ok(self.info(HSA_AGENT_INFO_WORKGROUP_MAX_DIM)?.u16s())
    }

    /// Most work-items of a grid in x, y and z.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn grid_max_dim(&self) -> Result<[u32; 3], Error> {
        Ok(self.info(HSA_AGENT_INFO_GRID_MAX_DIM)?.u32s())
    }

    /// Bytes of the caches, level 1 to 4, 0 where there is none.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn cache_sizes(&self) -> Result<[u32; 4], Error> {
        Ok(self.info(HSA_AGENT_INFO_CACHE_SIZE)?.u32s())
    }

    /// A tick of the agent's clock on the system clock.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn tick_to_system(&self, tick: u64) -> Result<u64, Error> {
        let mut system = 0;
        // SAFETY: `system` has room for the answer.
        let status = unsafe {
            (self.0.runtime.api().hsa_amd_profiling_convert_tick_to_system_domain)(
                self.0.raw,
                tick,
                &raw mut system,
            )
        };
        check("hsa_amd_profiling_convert_tick_to_system_domain", status)?;
        Ok(system)
    }

    /// The register that flushes the device's host data path, through which the host's stores reach its memory over
    /// PCIe; `None` where there is none.
    pub(crate) fn hdp_flush(&self) -> Option<NonNull<u32>> {
        // The first of two addresses: `HDP_MEM_FLUSH_CNTL`.
        let address = self.info(HSA_AMD_AGENT_INFO_HDP_FLUSH).ok()?.u64();
        // CAST: addresses have 64 bits where ROCm runs.
        NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    fn info(&self, attribute: impl Into<hsa_agent_info_t>) -> Result<Answer, Error> {
        ask(&self.0.runtime, self.0.raw, attribute.into())
    }
}

fn ask(runtime: &Runtime, agent: hsa_agent_t, attribute: hsa_agent_info_t) -> Result<Answer, Error> {
    Answer::ask("hsa_agent_get_info", |value| {
        // SAFETY: `value` has more room than any attribute that is asked for here needs.
        unsafe { (runtime.api().hsa_agent_get_info)(agent, attribute, value) }
    })
}

/// Handles of `agents`, as the function table wants them.
pub(crate) fn handles(agents: &[Agent]) -> Vec<hsa_agent_t> {
    agents.iter().map(Agent::raw).collect()
}

/// `length` as the 32 bits that the function table counts in; no slice of agents or signals is longer.
pub(crate) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.0.raw == other.0.raw && Arc::ptr_eq(&self.0.runtime, &other.0.runtime)
    }
}

impl Eq for Agent {}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { raw, kind, name, node, .. } = &*self.0;
        f.debug_struct("Agent")
            .field("raw", &raw.handle)
            .field("kind", kind)
            .field("name", name)
            .field("node", node)
            .finish_non_exhaustive()
    }
}
