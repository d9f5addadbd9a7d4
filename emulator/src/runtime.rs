//! What lives between the first `hsa_init` and the last `hsa_shut_down`.

use std::sync::Arc;

use hsa_sys::{
    HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_NOT_INITIALIZED, HSA_STATUS_ERROR_OUT_OF_RESOURCES,
    HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, hsa_agent_t, hsa_status_t,
};
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::{
    agent::Agent,
    config::{self, Config, ConfigError},
    copy::Copier,
    device::{Counters, Device},
    executable::Executables,
    fault,
    hardware::Hardware,
    heap::Heap,
    memory::{Allocation, Grain},
    os::hidden,
    processor::{Client, Processor},
    queue,
    signal::{self, Handlers},
    svm::Svm,
    vmem::VirtualMemory,
    workers::Workers,
};

/// Everything that the functions of the table act on.
///
/// Fields are dropped in this order: threads that touch memory end before the memory goes.
pub(crate) struct Runtime {
    pub(crate) processors: Vec<Processor>,
    /// For what no copy engine does.
    pub(crate) copier: Copier,
    /// The copy engines of each device.
    pub(crate) engines: Vec<Vec<Copier>>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) executables: Executables,
    pub(crate) svm: Arc<Svm>,
    pub(crate) vmem: VirtualMemory,
    pub(crate) heap: Heap,
    pub(crate) devices: Arc<[Arc<Device>]>,
}

impl Runtime {
    fn start(config: &Config) -> std::io::Result<Self> {
        if config.hardware.discrete || config.observes_host() {
            hidden::begin()?;
        }
        let devices: Arc<[Arc<Device>]> = config
            .devices
            .iter()
            .zip(0..)
            .map(|(target, index)| Arc::new(Device::new(index, *target, config)))
            .collect();
        for device in devices.iter() {
            // Signals, doorbells and queue control blocks: one range each, for all there will be.
            for (start, end) in [signal::device_range(), queue::device_range()].into_iter().flatten() {
                device.map.insert(Allocation {
                    start,
                    end,
                    writable: true,
                    grain: Grain::Fine,
                    socket: None,
                    backing: None,
                });
            }
        }
        let handlers = Arc::new(Handlers::start()?);
        let workers = Workers::start(config.seed.is_some())?;
        let processors = devices
            .iter()
            .map(|device| {
                let client = Client::Table(Arc::clone(&handlers));
                Processor::start(Arc::clone(device), Arc::clone(&workers), client, config.seed)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            heap: Heap::new(Arc::clone(&devices)),
            svm: Svm::new(
                Arc::clone(&devices),
                config.xnack && !config.hardware.no_svm,
                Box::new(is_the_runtimes),
            ),
            vmem: VirtualMemory::new(Arc::clone(&devices)),
            executables: Executables::new(Arc::clone(&devices)),
            processors,
            copier: Copier::of_shaders(),
            engines: devices.iter().map(|device| Copier::engines(device)).collect(),
            handlers,
            devices,
        })
    }

    /// The agent that a handle names, if it names one.
    pub(crate) fn agent(&self, agent: hsa_agent_t) -> Option<Agent> {
        Agent::of_handle(agent, self.hardware().sockets(), self.devices.len())
    }

    /// What hardware does that the emulator spares programs otherwise.
    pub(crate) fn hardware(&self) -> &Hardware {
        // PANIC: a configuration without devices is refused.
        &self.devices[0].hardware
    }

    /// Shared virtual memory, if the hardware has it.
    pub(crate) fn svm_of_hardware(&self) -> Option<&Arc<Svm>> {
        (!self.hardware().no_svm).then_some(&self.svm)
    }

    /// All agents: the sockets of the host, then the GPUs.
    pub(crate) fn agents(&self) -> impl Iterator<Item = Agent> {
        let gpus = self.devices.iter().map(|device| Agent::Gpu(device.index));
        (0..self.hardware().sockets()).map(Agent::Host).chain(gpus)
    }

    /// The GPU that a handle names, if it names one.
    pub(crate) fn gpu(&self, agent: hsa_agent_t) -> Option<&Arc<Device>> {
        self.devices.get(self.agent(agent)?.gpu()? as usize)
    }

    /// All GPUs, as a set.
    pub(crate) fn all_gpus(&self) -> u32 {
        (1 << self.devices.len()) - 1
    }
}

/// Whether memory at an address was allocated from the runtime.
fn is_the_runtimes(address: u64) -> bool {
    let Ok(runtime) = get() else { return false };
    let of_heap = || runtime.heap.find(address).is_some_and(|known| !known.locked);
    of_heap() || runtime.vmem.find(address).is_some() || runtime.executables.holds(address, 1)
}

struct Life {
    runtime: Arc<Runtime>,
    references: u32,
}

static LIFE: RwLock<Option<Life>> = RwLock::new(None);
/// Held while a runtime is made or taken down, which calls of the table must not wait for.
static TRANSITION: Mutex<()> = Mutex::new(());
static ERROR: Mutex<Option<ConfigError>> = Mutex::new(None);

fn transition() -> MutexGuard<'static, ()> {
    TRANSITION.lock()
}

/// The runtime.
///
/// # Errors
/// `NOT_INITIALIZED` before the first `hsa_init` and after the last `hsa_shut_down`.
pub(crate) fn get() -> Result<Arc<Runtime>, hsa_status_t> {
    let life = LIFE.read();
    life.as_ref().map(|l| Arc::clone(&l.runtime)).ok_or(HSA_STATUS_ERROR_NOT_INITIALIZED)
}

/// Whether there is a runtime.
pub(crate) fn is_initialised() -> bool {
    LIFE.read().is_some()
}

/// Why the last initialisation failed, if its configuration was the reason.
pub fn configuration_error() -> Option<ConfigError> {
    ERROR.lock().clone()
}

/// What the packet processor and the copy engines of the device at `index` have done since `hsa_init`; `None` without a runtime or such a
/// device.
pub fn counters(index: usize) -> Option<Counters> {
    Some(get().ok()?.devices.get(index)?.tally.read())
}

/// Chooses what the next `hsa_init` offers, instead of the environment.
///
/// # Errors
/// [`ConfigError::Initialised`] while the emulator runs; others for a configuration without sense.
pub fn configure(config: Config) -> Result<(), ConfigError> {
    let _transition = transition();
    if is_initialised() {
        return Err(ConfigError::Initialised);
    }
    config::choose(config)
}

/// `hsa_init`.
pub(crate) fn initialise() -> Result<(), hsa_status_t> {
    let _transition = transition();
    if let Some(life) = LIFE.write().as_mut() {
        life.references = life.references.checked_add(1).ok_or(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW)?;
        return Ok(());
    }
    let config = config::current().map_err(|error| {
        tracing::error!(%error, "the emulator's configuration is refused");
        *ERROR.lock() = Some(error);
        HSA_STATUS_ERROR_INVALID_ARGUMENT
    })?;
    *ERROR.lock() = None;
    let runtime = Runtime::start(&config).map_err(|error| {
        tracing::error!(%error, "the emulator cannot start its threads");
        HSA_STATUS_ERROR_OUT_OF_RESOURCES
    })?;
    tracing::debug!(?config, "emulator initialised");
    let life = Life { runtime: Arc::new(runtime), references: 1 };
    *LIFE.write() = Some(life);
    Ok(())
}

/// `hsa_shut_down`.
pub(crate) fn shut_down() -> Result<(), hsa_status_t> {
    let _transition = transition();
    let mut life = LIFE.write();
    let references = &mut life.as_mut().ok_or(HSA_STATUS_ERROR_NOT_INITIALIZED)?.references;
    *references -= 1;
    if *references > 0 {
        return Ok(());
    }
    let last = life.take();
    drop(life);
    // Calls that raced with this one may hold the runtime a little longer; its threads end with it.
    if let Some(last) = last {
        for queue in queue::all() {
            if queue.retire() {
                last.runtime.processors[queue.device as usize].detach(&queue);
                queue.release();
            }
        }
        drop(last);
    }
    fault::forget_handlers();
    signal::destroy_all();
    Ok(())
}
