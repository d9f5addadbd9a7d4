//! The emulated devices below the function table, as a kernel driver shows them: memory maps, user-mode queues at
//! addresses that the client chose, doorbells that are plain memory, interrupts.
//!
//! A user-mode driver stands on this, AMD's ROCr among them; our own runtime does not need it. Addresses are those
//! of the process, for host and devices alike.
//!
//! ```
//! use std::sync::Arc;
//! use emulator::{Config, driver::{Driver, Interrupts, Loss, QueueFault}};
//!
//! struct Log;
//! impl Interrupts for Log {
//!     fn event(&self, device: u32, event: u32) {
//!         println!("device {device} raised event {event}");
//!     }
//!     fn queue_error(&self, queue: u64, _device: u32, fault: &QueueFault) {
//!         println!("queue {queue} stopped: {}", fault.report);
//!     }
//!     fn lost(&self, device: u32, loss: Loss) {
//!         println!("device {device} is lost: {loss:?}");
//!     }
//! }
//!
//! let driver = Driver::open(&Config::default(), Arc::new(Log))?;
//! assert_eq!(driver.devices()[0].card.name, "gfx90a");
//! # Ok::<(), std::io::Error>(())
//! ```

mod copy_queue;
mod doorbells;
mod queue;

#[cfg(test)]
mod tests;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;

pub use crate::{
    fault::{Loss, QueueFault},
    processor::Interrupts,
    svm::{Attributes, Change, Place, Reach, Svm, SvmError, flag as svm_flag, pages},
    vmem::store::{Bytes, Store},
};
pub use copy_queue::{CopyEngine, CopyQueueDescriptor, CreatedCopyQueue};
pub use queue::{Created, QueueDescriptor, QueueError};

use crate::{
    config::Config,
    device::{self, Card, Counters, Device},
    memory::{Allocation, Grain},
    os,
    processor::{Client, Processor},
    queue::Backing,
    sdma::Engine,
    wave::code::Code,
    workers::Workers,
};
use doorbells::Doorbells;
use queue::Queues;

/// What a device may do with a range of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Stores are allowed.
    pub writable: bool,
    /// Instructions may be fetched. What has been fetched stays until a packet invalidates the instruction caches.
    pub executable: bool,
    /// Whose memory it is.
    pub home: Home,
}

/// Whose memory a range is; kernels' reads of the host's are counted where it has two sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// A device's, or the driver's own.
    Device,
    /// Allocated from a socket of the host.
    Socket(u32),
    /// Pages of the program's own, wherever they lie: near.
    Program,
}

/// What a device is.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// The card's.
    pub card: &'static Card,
    /// Compute units that it offers.
    pub compute_units: u32,
    /// Bytes of local memory that it offers.
    pub local_memory: u64,
    /// Whether the host can be given access to it (large BAR).
    pub large_bar: bool,
}

impl Figures {
    /// The devices of a configuration, which are not started.
    pub fn of(config: &Config) -> Vec<Self> {
        let numbered = config.devices.iter().zip(0..);
        numbered.map(|(target, index)| Self::from(&Device::new(index, *target, config))).collect()
    }
}

impl From<&Device> for Figures {
    fn from(device: &Device) -> Self {
        Self {
            card: device.card,
            compute_units: device.compute_units,
            local_memory: device.local_memory,
            large_bar: device.hardware.reaches_devices(),
        }
    }
}

/// Open devices; dropping it stops them.
///
/// Fields are dropped in this order: threads that touch memory end before the memory goes.
pub struct Driver {
    processors: Vec<Processor>,
    /// The copy engines of each device.
    engines: Vec<Vec<Engine>>,
    queues: Mutex<Queues>,
    doorbells: Doorbells,
    devices: Arc<[Arc<Device>]>,
    svm: Arc<Svm>,
    /// Bytes of host memory that devices may reach.
    locked: AtomicU64,
}

impl Driver {
    /// Starts the devices of `config`.
    ///
    /// # Errors
    /// The operating system's; `InvalidInput` for a configuration that [`Config::check`] refuses.
    pub fn open(config: &Config, interrupts: Arc<dyn Interrupts>) -> std::io::Result<Self> {
        config.check().map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidInput, error))?;
        if config.hardware.discrete {
            os::hidden::begin()?;
        }
        let numbered = config.devices.iter().zip(0..);
        let devices: Arc<[_]> =
            numbered.map(|(target, index)| Arc::new(Device::new(index, *target, config))).collect();
        let workers = Workers::start(config.seed.is_some())?;
        let start = |device: &Arc<Device>| {
            let client = Client::Driver(Arc::clone(&interrupts));
            Processor::start(Arc::clone(device), Arc::clone(&workers), client, config.seed)
        };
        let doorbells = Doorbells::map()?;
        for device in devices.iter() {
            // The kernel driver maps a process's doorbells to its devices as well: kernels may publish packets.
            device.map.insert(doorbells.allocation());
        }
        let processors = devices.iter().map(start).collect::<Result<_, _>>()?;
        let engines = devices.iter().map(|device| Engine::all(device, &interrupts)).collect();
        let (queues, locked) = (Mutex::default(), AtomicU64::new(0));
        let svm = Svm::new(Arc::clone(&devices), false, Box::new(move |address| interrupts.owns(address)));
        Ok(Self { processors, engines, queues, doorbells, devices, svm, locked })
    }

    /// The devices, by index.
    pub fn devices(&self) -> Vec<Figures> {
        self.devices.iter().map(|device| Figures::from(&**device)).collect()
    }

    /// Address of a device's registers that flush what the host has stored to its memory, and to its registers: a page
    /// that begins with a word for each. `None` if there is no room for it.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn flush_registers(&self, device: u32) -> Option<u64> {
        let [memory, _] = self.device(device).flush_registers()?;
        Some(memory.expose_provenance() as u64)
    }

    fn device(&self, index: u32) -> &Device {
        // PANIC: an index that `devices` does not have is a bug of the client.
        &self.devices[index as usize]
    }

    /// Lets a device reach `size` bytes from `start` on. Ranges that it reaches must not overlap.
    ///
    /// `backing` keeps the memory mapped while a wave or a packet may still touch it.
    ///
    /// # Safety
    /// The memory stays readable (and writable, if `access` says so) until `backing` is dropped; if there is none,
    /// until the range is hidden and no packet that may touch it runs any more.
    ///
    /// # Panics
    /// If there is no such device.
    pub unsafe fn show(
        &self,
        device: u32,
        start: u64,
        size: u64,
        access: Access,
        backing: Option<Arc<dyn Send + Sync>>,
    ) {
        let device = self.device(device);
        let end = start.saturating_add(size);
        if access.executable {
            // SAFETY: the caller's promise.
            let code = unsafe { Code::mutable(start, end, device.card.target, backing.clone()) };
            device.code.insert(Arc::new(code));
        }
        let writable = access.writable;
        let socket = match access.home {
            Home::Device => None,
            Home::Socket(socket) => Some(socket),
            Home::Program => Some(device.hardware.socket_of(device.index)),
        };
        device.show(Allocation { start, end, writable, grain: Grain::Fine, socket, backing });
    }

    /// Takes a range back from a device; says whether one began at `start`. Waves that run may touch it until they
    /// end.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn hide(&self, device: u32, start: u64) -> bool {
        let device = self.device(device);
        device.code.remove(start);
        device.map.remove(start).is_some()
    }

    /// Whether a device reaches all of `start..end`, to store if `write`.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn reaches(&self, device: u32, start: u64, end: u64, write: bool) -> bool {
        self.device(device).map.reaches(start, end, write)
    }

    /// Charges `bytes` of local memory to a device, if it has as many.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn take_local(&self, device: u32, bytes: u64) -> bool {
        self.device(device).take(bytes)
    }

    /// Gives back what [`Driver::take_local`] took.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn give_back_local(&self, device: u32, bytes: u64) {
        self.device(device).give_back(bytes);
    }

    /// Charges `bytes` of host memory that devices may reach to the process, if it may lock as many more.
    pub fn lock_host(&self, bytes: u64) -> bool {
        let limit = self.devices[0].hardware.locked_memory().unwrap_or(u64::MAX);
        device::take(&self.locked, bytes, limit)
    }

    /// Gives back what [`Driver::lock_host`] took.
    pub fn unlock_host(&self, bytes: u64) {
        self.locked.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes of local memory that a device has left.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn available_local(&self, device: u32) -> u64 {
        self.device(device).available()
    }

    /// A device's clock, in ticks of its `timestamp_frequency`.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn ticks(&self, device: u32) -> u64 {
        self.device(device).ticks()
    }

    /// The clock of the system, nanoseconds: `CLOCK_BOOTTIME`, of which the devices' are fractions.
    pub fn nanoseconds() -> u64 {
        os::now()
    }

    /// Pages of the program's own that devices reach by attributes; `None` where the hardware has no such thing.
    pub fn svm(&self) -> Option<&Svm> {
        (!self.devices[0].hardware.no_svm).then_some(&*self.svm)
    }

    /// Has devices retry accesses to pages that are not mapped, or not; `false` while there are queues.
    pub fn set_xnack(&self, on: bool) -> bool {
        let queues = self.queues.lock();
        let is_idle = queues.is_empty();
        if is_idle {
            self.svm.set_retries(on);
        }
        is_idle
    }

    /// What a device has done so far.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn counters(&self, device: u32) -> Counters {
        self.device(device).tally.read()
    }

    /// What keeps `start..start + size` mapped, if the device reaches it for writing.
    fn backing_of(&self, device: u32, start: u64, size: u64) -> Option<Vec<Backing>> {
        let map = self.device(device).map.snapshot();
        let end = start.checked_add(size)?;
        let mut backings = Vec::new();
        let mut at = start;
        while at < end {
            let range = map.find(at).filter(|range| range.writable)?;
            backings.extend(range.backing.clone());
            at = range.end;
        }
        Some(backings)
    }
}
