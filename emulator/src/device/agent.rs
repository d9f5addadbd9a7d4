//! A device as the runtime holds it: a card, what is configured of it, and its allocation map.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use super::{Card, Tally, card};
use crate::{
    config::Config,
    hardware::Hardware,
    isa::Target,
    memory::{Allocation, Map},
    os::{self, Mapping, hidden},
    wave::code::Registry,
};

/// A loaded code object, asked for names when something goes wrong.
pub trait Image: Send + Sync {
    /// The name of the kernel whose descriptor is at `address`.
    fn kernel(&self, address: u64) -> Option<String>;
    /// The function that contains `address`, and the distance from its start.
    fn function(&self, address: u64) -> Option<(String, u64)>;
}

/// Loaded code objects by base address, with one past their last byte.
type Images = BTreeMap<u64, (u64, Arc<dyn Image>)>;

/// One emulated GPU. In cache lines of its own: its packet processor counts in them.
#[repr(align(128))]
pub struct Device {
    /// Position among the GPUs.
    pub index: u32,
    /// Its figures.
    pub card: &'static Card,
    /// Compute units that it offers.
    pub compute_units: u32,
    /// Bytes of local memory that it offers.
    pub local_memory: u64,
    /// What it may touch.
    pub map: Arc<Map>,
    /// What it may execute.
    pub code: Arc<Registry>,
    /// Whether dispatches complete without executing.
    pub null_kernels: bool,
    /// Whether code is for devices that retry accesses that fault.
    pub xnack: bool,
    /// What hardware does that the emulator spares programs otherwise.
    pub hardware: Hardware,
    /// Whether an observer is told what dispatches touch.
    pub observed: bool,
    /// See [`Config::observed_races`](crate::Config::observed_races).
    pub observed_races: bool,
    /// See [`Config::observed_same_values`](crate::Config::observed_same_values).
    pub observed_same_values: bool,
    /// See [`Config::observed_bounds`](crate::Config::observed_bounds).
    pub observed_bounds: bool,
    /// See [`Config::observed_host`](crate::Config::observed_host).
    pub observed_host: bool,
    /// And where lanes and waves do not come together.
    pub observed_sync: bool,
    /// How long a deadlock lasts before it is told.
    pub patience: Duration,
    /// Whether it is told as well what depends on bytes that nothing has written.
    pub observed_uninit: bool,
    /// What its packet processor and its copy engines have done.
    pub tally: Tally,
    /// The registers of its host data path, once they are asked for.
    data_path: OnceLock<Option<Mapping>>,
    /// How often it has lost its queues.
    pub losses: AtomicU32,
    images: Mutex<Images>,
    /// Bytes of local memory in use.
    used: AtomicU64,
}

impl Device {
    /// The device at `index` of a configuration.
    pub fn new(index: u32, target: Target, config: &Config) -> Self {
        let card = card(target);
        // A program that takes all memory it is told of should meet an error code, not the host's
        // out-of-memory killer.
        let local_memory = config.local_memory.unwrap_or(card.local_memory.min(os::physical_memory()));
        let map = if config.strict_coherence { Map::cached(target) } else { Map::default() };
        Self {
            index,
            card,
            compute_units: config.compute_units.unwrap_or(card.compute_units),
            local_memory: local_memory / os::PAGE as u64 * os::PAGE as u64,
            map: Arc::new(map.watched(config.hardware.two_sockets || config.observed)),
            code: Arc::default(),
            null_kernels: config.null_kernels,
            xnack: config.xnack && !config.hardware.no_svm,
            hardware: config.hardware.clone(),
            observed: config.observed,
            observed_races: config.observed_races,
            observed_same_values: config.observed_same_values,
            observed_bounds: config.observed_bounds,
            observed_host: config.observes_host(),
            observed_sync: config.observed_sync,
            patience: config.patience,
            observed_uninit: config.observed_uninit,
            tally: Tally::default(),
            data_path: OnceLock::new(),
            losses: AtomicU32::new(0),
            images: Mutex::default(),
            used: AtomicU64::new(0),
        }
    }

    /// The two registers by which the host flushes what it has stored to the device's memory and its registers
    /// (`HSA_AMD_AGENT_INFO_HDP_FLUSH`), behind which nothing is on its way; `None` if there is no room for them.
    pub fn flush_registers(&self) -> Option<[*mut u32; 2]> {
        let make = || {
            let page = Mapping::of_devices(os::PAGE, os::PAGE)?;
            if self.hardware.discrete {
                hidden::bar::registers(page.address(), os::PAGE as u64, self.index)?;
            }
            std::io::Result::Ok(page)
        };
        let page = self.data_path.get_or_init(|| make().ok()).as_ref()?;
        let first = page.pointer().cast::<u32>();
        Some([first, first.wrapping_add(1)])
    }

    /// Bytes of local memory not in use.
    pub fn available(&self) -> u64 {
        self.local_memory.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Takes `bytes` of local memory if there are as many.
    pub fn take(&self, bytes: u64) -> bool {
        take(&self.used, bytes, self.local_memory)
    }

    /// Gives back what [`Device::take`] took.
    pub fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Lets the device reach a range, which takes a call of the kernel driver on hardware.
    pub fn show(&self, allocation: Allocation) {
        self.tally.mappings.add_shared(1);
        self.map.insert(allocation);
    }

    fn images(&self) -> MutexGuard<'_, Images> {
        self.images.lock()
    }

    /// Registers a code object that occupies `size` bytes from `base`.
    pub fn add_image(&self, base: u64, size: u64, image: Arc<dyn Image>) {
        self.images().insert(base, (base + size, image));
    }

    /// Forgets the code object at `base`.
    pub fn remove_image(&self, base: u64) {
        self.images().remove(&base);
    }

    /// The code object that contains `address`.
    pub fn image(&self, address: u64) -> Option<Arc<dyn Image>> {
        let images = self.images();
        let (_, (end, image)) = images.range(..=address).next_back()?;
        (address < *end).then(|| Arc::clone(image))
    }

    /// The device's clock now, in ticks of its `timestamp_frequency`.
    pub fn ticks(&self) -> u64 {
        // CAST: fits for centuries.
        (u128::from(os::now()) * u128::from(self.card.timestamp_frequency) / 1_000_000_000) as u64
    }

    /// Converts ticks of the device's clock to nanoseconds of the system's.
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        // CAST: the inverse of `ticks`; garbage from the program wraps.
        (u128::from(ticks) * 1_000_000_000 / u128::from(self.card.timestamp_frequency)) as u64
    }
}

/// Adds `bytes` to `used` unless that would exceed `limit`.
pub fn take(used: &AtomicU64, bytes: u64, limit: u64) -> bool {
    let add = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= limit);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
}
