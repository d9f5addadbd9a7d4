//! The HSA runtime of this process and its devices, started once.

use std::{
    io::Write as _,
    sync::{Arc, OnceLock},
    time::Duration,
};

use hsa::AgentKind;
use parking_lot::Mutex;

use super::{
    Backend, Device, DeviceInner, Properties, Rings, advice,
    arguments::Arguments,
    backend::DEVICE_VARIABLE,
    checked,
    fault::Faults,
    fence::SignalPool,
    holders,
    hosts::Hosts,
    properties::Sharing,
    rings::Placement,
    slabs::{Reach, Slabs},
    watchdog,
};
use crate::error::{Error, Result};

/// The environment variable that has allocations fail, for tests: `n`, `n-`, `%n` or `0`, see
/// [`Refusals`](hsa::fault_injection::Refusals).
pub const FAULT_INJECTION_VARIABLE: &str = "AQLIPSE_FAIL_ALLOCATION";

/// The runtime: one per process.
pub struct System {
    runtime: Arc<hsa::Runtime>,
    backend: Backend,
    hosts: Hosts,
    timestamp_hz: u64,
    devices: OnceLock<Vec<Device>>,
    /// Where the environment wants rings.
    rings: Rings,
    /// Where the environment wants kernel arguments of executables.
    arguments: Arguments,
    /// How long a queue may stand still before it is reported.
    watchdog: Option<Duration>,
    /// Whether what kernels touch is noted and compared.
    is_checked: bool,
    gpus: Vec<hsa::Agent>,
    /// Pages of the process that devices reach and the driver moves, where it can.
    shared_memory: Option<hsa::SharedMemory>,
}

static SYSTEM: OnceLock<Result<System>> = OnceLock::new();

impl System {
    /// The runtime, started on first use.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] with what every back end that was tried said; the answer stays the same.
    pub(crate) fn started() -> Result<&'static System> {
        let system = SYSTEM.get_or_init(System::start).as_ref().map_err(Clone::clone)?;
        if system.devices.get().is_none() {
            let devices = system.make_devices()?;
            // Another thread may have been quicker; its devices count.
            let _ = system.devices.set(devices);
        }
        Ok(system)
    }

    /// The runtime, if it was [asked for](System::get) and is there.
    pub(crate) fn running() -> Option<&'static Self> {
        SYSTEM.get()?.as_ref().ok().filter(|system| system.devices.get().is_some())
    }

    fn start() -> Result<System> {
        let wanted = std::env::var(DEVICE_VARIABLE).unwrap_or_default();
        match wanted.as_str() {
            "rocr" => Self::start_on(Backend::Rocr),
            "emulated" => Self::start_on(Backend::Emulated),
            "" | "auto" => Self::start_on(Backend::Rocr).or_else(|e| {
                match advice::fallback(&e, advice::Driver::find()) {
                    // A closed stderr is no reason to fail.
                    Some(line) => drop(writeln!(std::io::stderr(), "{line}")),
                    None => tracing::info!("no AMD GPU ({e}); using the emulated one"),
                }
                Self::start_on(Backend::Emulated)
            }),
            other => Err(Error::NotInitialized(format!(
                "{DEVICE_VARIABLE}={other}: expected auto, rocr or emulated"
            ))),
        }
    }

    fn start_on(backend: Backend) -> Result<System> {
        let (rings, watchdog) = (Rings::from_env()?, watchdog::limit_from_env()?);
        let arguments = Arguments::from_env()?;
        let is_checked = checked::wanted(backend)?;
        let failed = |e: &dyn std::fmt::Display| Error::NotInitialized(format!("{backend:?}: {e}"));
        let api = match backend {
            Backend::Rocr => hsa_sys::load().map_err(|e| failed(&advice::unloadable(&e)))?,
            Backend::Emulated => emulator::api(),
        };
        let api = match refusals_from_env()? {
            Some(refusals) => {
                hsa::fault_injection::refuse(refusals);
                hsa::fault_injection::interpose(api)
            }
            None => api,
        };
        let runtime = hsa::Runtime::new(api).map_err(|e| failed(&advice::not_started(backend, &e)))?;
        let agents = runtime.agents()?;
        let gpus: Vec<_> = agents.iter().filter(|a| a.kind() == AgentKind::Gpu).cloned().collect();
        if gpus.is_empty() {
            return Err(failed(&advice::no_gpu(backend)));
        }
        let hosts = Hosts::among(&agents)?;
        let timestamp_hz = runtime.timestamp_frequency();
        runtime.on_event(Box::new(record_event))?;
        let shared_memory = runtime.shared_memory();
        Ok(System {
            runtime,
            backend,
            hosts,
            timestamp_hz,
            devices: OnceLock::new(),
            rings,
            arguments,
            watchdog,
            is_checked,
            gpus,
            shared_memory,
        })
    }

    fn make_devices(&'static self) -> Result<Vec<Device>> {
        let make = |(ordinal, agent)| Device::new(self, ordinal, agent);
        self.gpus.iter().enumerate().map(make).collect()
    }

    /// What the devices are.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The devices in the order of their ordinals.
    pub fn devices(&self) -> &[Device] {
        self.devices.get().map_or(&[], Vec::as_slice)
    }

    /// Ticks of the system clock in a second.
    pub fn timestamp_hz(&self) -> u64 {
        self.timestamp_hz
    }

    /// How long a queue may stand still before it is reported, if that is asked for.
    pub(crate) fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }

    /// Whether what kernels touch is noted and compared.
    pub(crate) fn is_checked(&self) -> bool {
        self.is_checked
    }

    pub(crate) fn runtime(&self) -> &Arc<hsa::Runtime> {
        &self.runtime
    }

    /// Pages of the process that devices reach and the driver moves, where it can.
    pub(crate) fn shared_memory(&self) -> Option<&hsa::SharedMemory> {
        self.shared_memory.as_ref()
    }

    /// Memory of the host for what is no device's in particular.
    pub(crate) fn host_pool(&self) -> &hsa::Pool {
        &self.hosts.first().memory
    }

    /// The host, as the HSA runtime knows it.
    pub(crate) fn host_agent(&self) -> &hsa::Agent {
        &self.hosts.first().agent
    }

    pub(crate) fn gpu_agents(&self) -> Vec<hsa::Agent> {
        self.gpus.clone()
    }

    /// The GPUs that memory of another process is mapped for, if `device` asks for it: all, where they can be named.
    pub(crate) fn importing_agents(&self, device: &Device) -> Vec<hsa::Agent> {
        let for_one = || imports_for_one(self.runtime.version().ok(), self.runtime.extensions().ok());
        match self.backend == Backend::Rocr && for_one() {
            true => vec![device.0.agent.clone()],
            false => self.gpu_agents(),
        }
    }
}

/// Whether memory of another process must be mapped for one agent, by the versions that ROCr says it has.
///
/// ROCr takes the list of agents of `hsa_amd_ipc_memory_attach` for a list of what they point to: with a second agent it
/// crashes, and with none it refuses. It does so since it has several drivers, which the releases before runtime 1.15
/// (ROCm 6.4) do not have. One that was built without AMD's profiler calls itself 1.1 (its `core/runtime/runtime.cpp`), so
/// that its extensions count, too: they were 1.6 in the last releases before.
fn imports_for_one(version: Option<(u16, u16)>, extensions: Option<(u16, u16)>) -> bool {
    let is_new = version.is_some_and(|version| version >= (1, 15));
    // ROCr 5.2.3 does not know that it has any.
    is_new || extensions.is_some_and(|extensions| extensions > (1, 6))
}

impl Device {
    fn new(system: &'static System, ordinal: usize, agent: &hsa::Agent) -> Result<Device> {
        let pools = agent.pools()?;
        let local = pools.iter().find(|p| p.properties().is_coarse_grained() && p.properties().alloc_allowed);
        let local = local.ok_or(Error::NoDevice)?.clone();
        let fine = |is_fine: fn(&hsa::PoolProperties) -> bool| {
            pools.iter().find(|pool| is_fine(pool.properties()) && pool.properties().alloc_allowed)
        };
        let fully_fine = fine(hsa::PoolProperties::is_fine_grained);
        let fine_grained = fully_fine.or_else(|| fine(hsa::PoolProperties::is_fine_grained_for_the_system));
        let (fully_fine, fine_grained) = (fully_fine.is_some(), fine_grained.cloned());
        // Whether the host reaches all of the device's memory, or would have to go through copies.
        let host = system.hosts.near(agent)?.clone();
        let reaches =
            |pool: &hsa::Pool| pool.access(&host.agent).is_ok_and(|access| access != hsa::PoolAccess::Never);
        let large_bar = reaches(&local);
        let group = pools.iter().find(|p| p.properties().segment == hsa_sys::HSA_AMD_SEGMENT_GROUP);
        let lds = group.ok_or(Error::NoDevice)?.properties().size;
        let local_bytes = local.properties().size;
        let mut properties = Properties::of(agent, local_bytes, lds, large_bar)?;
        properties.fine_grained = fully_fine;
        if let Some(shared) = system.shared_memory() {
            properties.managed = Sharing {
                moves: true,
                pageable: shared.is_accessible_by_default(),
                host_page_tables: shared.is_accessible_by_default()
                    && agent.iommu_version().is_ok_and(|version| version == 1),
                host_reaches_device: agent.svm_direct_host_access().unwrap_or(false),
            };
        }
        // A device whose own memory the host's is has no link to it.
        properties.host_atomics = host.memory.link(agent)?.is_none_or(|link| link.atomics);
        let isa = agent.isa_names()?.into_iter().next().ok_or(Error::NoDevice)?;
        let target = isa.parse().map_err(|e: loader::Error| Error::NotInitialized(format!("{isa}: {e}")))?;
        let faults = Arc::new(Faults::default());
        let signals = |waiters| SignalPool::new(system.runtime.clone(), faults.clone(), waiters);
        // One arena serves all the devices of a graph.
        let kernargs =
            Slabs::new(host.kernargs.clone(), system.gpu_agents(), super::KERNARG_SLAB, holders::KERNARGS);
        let kernargs = Arc::new(kernargs.retaining(super::KERNARGS_RETAINED));
        // A copy between two devices may go through it.
        let staging =
            Slabs::new(host.memory.clone(), system.gpu_agents(), super::STAGING_SLAB, holders::STAGING);
        // The host writes arguments between launches, and no fence of a kernel's makes a device look again for what its
        // caches hold of its coarse-grained memory.
        let arguments = match fine_grained.as_ref().filter(|_| system.arguments == Arguments::Device) {
            None => kernargs.clone(),
            Some(pool) => {
                let (reach, access) = match reaches(pool) {
                    true => (Reach::Window, vec![host.agent.clone(), agent.clone()]),
                    false => (Reach::Copies, Vec::new()),
                };
                let slabs = Slabs::new(pool.clone(), access, super::KERNARG_SLAB, holders::KERNARGS);
                let slabs = slabs.retaining(super::KERNARGS_RETAINED);
                Arc::new(slabs.on_device(reach, kernargs.clone()))
            }
        };
        let inner = DeviceInner {
            ordinal,
            system,
            agent: agent.clone(),
            host: host.memory.clone(),
            coarse_host: host.coarse_grained.clone(),
            local: local.clone(),
            fine_grained,
            properties,
            target,
            signals: signals(hsa::Waiters::HostAndDevice),
            edges: signals(hsa::Waiters::DeviceOnly),
            faults,
            kernargs,
            arguments,
            staging: Arc::new(staging),
            packets: Arc::new(Slabs::new(local.clone(), Vec::new(), super::PACKETS_SLAB, holders::PACKETS)),
            lanes: Mutex::default(),
            restrictions: Mutex::default(),
            own_lanes: Default::default(),
            next_lane: Default::default(),
            placement: Placement::new(system.rings),
            wait: Default::default(),
            participations: Mutex::default(),
            costs: Default::default(),
            services: Default::default(),
            streams: Default::default(),
        };
        Ok(Device(Arc::new(inner)))
    }
}

/// What [`FAULT_INJECTION_VARIABLE`] says, if anything.
fn refusals_from_env() -> Result<Option<hsa::fault_injection::Refusals>> {
    let Some(wanted) = std::env::var_os(FAULT_INJECTION_VARIABLE).filter(|wanted| !wanted.is_empty()) else {
        return Ok(None);
    };
    let refusals = wanted.to_str().unwrap_or_default().parse();
    let wrong = |e| Error::NotInitialized(format!("{FAULT_INJECTION_VARIABLE}={}: {e}", wanted.display()));
    refusals.map(Some).map_err(wrong)
}

/// What a device reports by itself arrives as an event of the system, not on a queue. Says whether it was about a device
/// of ours, and is handled.
fn record_event(event: hsa::SystemEvent) -> bool {
    use hsa::SystemEvent::{HardwareException, MemoryError, MemoryFault};
    let agent = match event {
        MemoryFault { agent, .. } | MemoryError { agent, .. } | HardwareException { agent, .. } => agent,
        // Whatever it is, answering that it is handled would leave threads waiting.
        _ => return false,
    };
    let Ok(system) = System::started() else { return false };
    let report = || fault_report(system);
    let (error, is_lost) = match event {
        MemoryFault { reasons, .. } if reasons & DAMAGED != 0 => {
            let unsaid = || "the device reports an ECC error".into();
            (Error::UncorrectableMemory(report().unwrap_or_else(unsaid)), true)
        }
        MemoryFault { reasons, .. } if reasons & hsa_sys::HSA_AMD_MEMORY_FAULT_HANG.0 != 0 => {
            (Error::LaunchFailure(report().unwrap_or_else(|| "the device hung and was reset".into())), true)
        }
        MemoryFault { address, .. } => {
            let error = Error::IllegalAddress(report().unwrap_or_else(|| format!("address {address:#x}")));
            // The kernel driver evicts all queues of the process for good, and ROCr tells of one memory fault only.
            (error, system.backend == Backend::Rocr)
        }
        MemoryError { address, reasons, .. } if reasons == hsa_sys::HSA_AMD_MEMORY_ERROR_MEMORY_IN_USE.0 => {
            (Error::LaunchFailure(format!("memory at {address:#x} was taken away while in use")), true)
        }
        MemoryError { address, reasons, .. } => {
            (Error::UncorrectableMemory(format!("at {address:#x}, reasons {reasons:#x}")), true)
        }
        HardwareException { cause, .. } if cause & hsa_sys::HSA_AMD_HW_EXCEPTION_CAUSE_ECC.0 != 0 => {
            let unsaid = || "the device was reset after an ECC error".into();
            (Error::UncorrectableMemory(report().unwrap_or_else(unsaid)), true)
        }
        _ => (Error::LaunchFailure(report().unwrap_or_else(|| "the device was reset".into())), true),
    };
    let mut is_known = false;
    for device in system.devices().iter().filter(|d| d.0.agent.raw() == agent) {
        let faults = &device.0.faults;
        is_known = true;
        if is_lost {
            faults.lose(error.clone(), system.backend == Backend::Rocr);
        } else if !faults.is_pending() {
            // The event names no queue. If one has reported a fault already, it is most likely this one.
            faults.record(error.clone(), faults.epoch());
        }
    }
    is_known
}

/// Reasons of a memory fault that say that the memory is damaged.
const DAMAGED: u32 = hsa_sys::HSA_AMD_MEMORY_FAULT_DRAMECC.0 | hsa_sys::HSA_AMD_MEMORY_FAULT_SRAMECC.0;

/// What an error callback of a queue means.
pub(super) fn queue_error(status: hsa_sys::hsa_status_t) -> Error {
    let report = System::started().ok().and_then(fault_report).unwrap_or_else(|| format!("{status:?}"));
    if status == hsa_sys::HSA_STATUS_ERROR_MEMORY_FAULT
        || status == hsa_sys::HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION
    {
        Error::IllegalAddress(report)
    } else {
        Error::LaunchFailure(report)
    }
}

/// The emulator's description of the latest fault: kernel, pc, instruction, lane, address.
fn fault_report(system: &System) -> Option<String> {
    (system.backend == Backend::Emulated).then(emulator::take_fault_report).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rocr_since_1_15_imports_for_one_agent_whatever_it_calls_itself() {
        for (version, extensions, is_for_one) in [
            ((1, 1), None, false),
            ((1, 14), Some((1, 6)), false),
            ((1, 1), Some((1, 6)), false),
            ((1, 15), Some((1, 6)), true),
            ((1, 18), Some((1, 11)), true),
            ((1, 1), Some((1, 11)), true),
        ] {
            assert_eq!(imports_for_one(Some(version), extensions), is_for_one, "{version:?} {extensions:?}");
        }
    }
}
