//! The queues that a device publishes to by itself: where kernels launch resident graphs, and where those run that no
//! indirect buffer can hold.
//!
//! The host publishes nothing here. It keeps its claims where no device sees them ([`hsa::ring`]), and device code keeps
//! its own in the words of a lock; a queue with both kinds of producers would need both for every packet.

use std::sync::{Arc, Weak};

use hsa::packet::Packet;

use super::{
    Device, LANES, RESIDENT, RESIDENT_LAUNCHES,
    fence::{Fence, Keep, PooledSignal},
    lock,
    slabs::Block,
};
use crate::{
    error::{Error, Result},
    module::{KernelCode, Module},
};

/// The code objects that `cargo xtask kernels` builds, most specific targets first.
const OBJECTS: [&[u8]; 4] = [
    include_bytes!("../../kernels/launcher.gfx90a.co"),
    include_bytes!("../../kernels/launcher.gfx942.co"),
    include_bytes!("../../kernels/launcher.gfx9-4-generic.co"),
    include_bytes!("../../kernels/launcher.gfx9-generic.co"),
];

/// Bytes of a lock: a cache line, which nothing else shares.
const LOCK: usize = 64;

/// Device memory of resident graphs comes in pieces of at least this many bytes.
pub(super) const SLAB: usize = 256 * 1024;

/// The queue to which kernels publish, of one fault epoch. It belongs to the device, which destroys it after a fault; here
/// are its addresses.
pub(crate) struct Launches {
    epoch: u64,
    queue: hsa::DeviceProducer,
    /// Of whoever publishes to it.
    lock: Block,
}

impl Launches {
    /// Its fault epoch.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }
}

/// The queues that the launcher publishes graphs to, of one fault epoch.
pub(crate) struct Queues {
    launches: Arc<Launches>,
    lanes: Vec<hsa::DeviceProducer>,
    lock: Block,
}

impl Queues {
    /// Where kernels publish the launcher. Its epoch is that of all of them.
    pub(crate) fn launches(&self) -> &Arc<Launches> {
        &self.launches
    }

    /// The queue for a lane of a graph.
    pub(crate) fn lane(&self, number: usize) -> &hsa::DeviceProducer {
        &self.lanes[number]
    }

    /// The lock of whoever publishes to the lanes.
    pub(crate) fn lock(&self) -> u64 {
        self.lock.address()
    }
}

/// What kernels launch a graph with: `aqlipseDeviceGraph` of `capi/include/aqlipse/device_graph.h`.
pub(crate) struct Handle(Block);

impl Handle {
    const WANTED: usize = 8;
    const PRESENT: usize = 16;
    const LOCK: usize = 24;
    const BEFORE: usize = 72;
    const PACKET: usize = 128;
    /// Bytes of one.
    pub(crate) const BYTES: usize = 192;

    /// A handle of nothing yet.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(device: &Device) -> Result<Self> {
        let block = device.0.kernargs.take(Self::BYTES)?;
        block.write(0, &[0; Self::BYTES]);
        Ok(Self(block))
    }

    /// What kernels know it by.
    pub(crate) fn address(&self) -> u64 {
        self.0.address()
    }

    /// The word that says which version lies on the device.
    pub(crate) fn present(&self) -> u64 {
        self.0.address() + Self::PRESENT as u64
    }

    /// Refuses launches from now on.
    pub(crate) fn withdraw(&self) {
        self.0.store(Self::WANTED, 0);
    }

    /// Admits launches as soon as `version` lies on the device and the signal value at the address `before`, if one is
    /// given, is 0: by publishing a packet to `launches` after the word at `end` was 0 and has been made 1.
    pub(crate) fn offer(
        &self,
        version: u64,
        end: u64,
        before: Option<u64>,
        launches: &Launches,
        packet: &Packet,
    ) {
        let hsa::DeviceProducer { ring, slots, write_index, read_index, doorbell } = launches.queue;
        let words = [launches.lock.address(), ring, write_index, read_index, doorbell, slots.into()];
        self.withdraw();
        self.0.write(0, &end.to_le_bytes());
        self.0.write(Self::LOCK, &words.map(u64::to_le_bytes).concat());
        self.0.write(Self::BEFORE, &before.unwrap_or(0).to_le_bytes());
        self.0.write(Self::PACKET, &packet.words().map(u32::to_le_bytes).concat());
        self.0.store(Self::WANTED, version);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// The kernels of resident graphs' own.
#[derive(Clone)]
pub(crate) struct Kernels {
    /// Publishes a graph.
    pub(crate) launch: KernelCode,
    /// Waits until no launch of a graph is in flight, and says that one is.
    pub(crate) claim: KernelCode,
}

/// What a device has for resident graphs, once there is one.
#[derive(Default)]
pub(super) struct Residence {
    launches: Option<Arc<Launches>>,
    queues: Option<Arc<Queues>>,
    kernels: Option<Kernels>,
    /// Graphs that kernels may launch, with their signals: 0 while no launch is in flight.
    launchable: Vec<(Weak<PooledSignal>, Weak<Handle>)>,
}

impl Residence {
    fn launches(&mut self, device: &Device) -> Result<Arc<Launches>> {
        let epoch = device.0.faults.epoch();
        if let Some(launches) = self.launches.as_ref().filter(|launches| launches.epoch == epoch) {
            return Ok(launches.clone());
        }
        let (queue, epoch) = device.device_producer(RESIDENT_LAUNCHES)?;
        let launches = Arc::new(Launches { epoch, queue, lock: device.open_lock()? });
        self.launches = Some(launches.clone());
        Ok(launches)
    }
}

impl Device {
    /// The queue to which kernels publish, created on first use and again after a fault.
    ///
    /// # Errors
    /// The fault that has just taken the device; [`Error::NotSupported`] where device code cannot ring a doorbell.
    pub(crate) fn resident_launches(&self) -> Result<Arc<Launches>> {
        lock(&self.0.residence).launches(self)
    }

    /// The queues that the launcher publishes to, and the one to which kernels publish it, as above.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn resident_queues(&self) -> Result<Arc<Queues>> {
        let mut residence = lock(&self.0.residence);
        let launches = residence.launches(self)?;
        if let Some(queues) = residence.queues.as_ref().filter(|q| Arc::ptr_eq(&q.launches, &launches)) {
            return Ok(queues.clone());
        }
        let mut lanes = Vec::with_capacity(LANES);
        for n in 0..LANES {
            let (lane, epoch) = self.device_producer(RESIDENT + n)?;
            if epoch != launches.epoch {
                // A fault has just taken the others.
                return Err(self.0.faults.error());
            }
            lanes.push(lane);
        }
        let queues = Arc::new(Queues { launches, lanes, lock: self.open_lock()? });
        residence.queues = Some(queues.clone());
        Ok(queues)
    }

    /// Where device code finds a queue, and its fault epoch.
    fn device_producer(&self, number: usize) -> Result<(hsa::DeviceProducer, u64)> {
        let unsupported = Error::NotSupported("graphs that a device launches, with legacy doorbells");
        let lane = self.lane(number)?;
        lane.device_producer().map(|producer| (producer, lane.epoch())).ok_or(unsupported)
    }

    /// A lock for device code that nobody has. What waits at locks of queues that a fault has taken, is destroyed with
    /// the queues.
    fn open_lock(&self) -> Result<Block> {
        let lock = self.0.kernargs.take(LOCK)?;
        lock.write(0, &[0; LOCK]);
        Ok(lock)
    }

    /// The kernels of resident graphs' own, loaded on first use.
    pub(crate) fn resident_kernels(&self) -> Result<Kernels> {
        let mut residence = lock(&self.0.residence);
        if let Some(kernels) = &residence.kernels {
            return Ok(kernels.clone());
        }
        let module = Module::first_that_fits(self, &OBJECTS)?;
        let code = |name| module.kernel(name)?.code(self).cloned();
        let kernels = Kernels { launch: code("launch_graph")?, claim: code("claim_graph")? };
        residence.kernels = Some(kernels.clone());
        Ok(kernels)
    }

    /// Notes that kernels may launch a graph with `handle`, whose launches `end` with a signal: waiting for the device
    /// includes them, and a fault withdraws the handle.
    pub(crate) fn is_launchable(&self, end: &Arc<PooledSignal>, handle: &Arc<Handle>) {
        let mut residence = lock(&self.0.residence);
        if residence.launchable.len().is_power_of_two() {
            residence.launchable.retain(|(signal, _)| signal.strong_count() > 0);
        }
        residence.launchable.push((Arc::downgrade(end), Arc::downgrade(handle)));
    }

    /// Withdraws the handles of graphs whose queues a fault has taken, before others follow.
    pub(super) fn withdraw_lost(&self) {
        for (end, handle) in &lock(&self.0.residence).launchable {
            if let (Some(end), Some(handle)) = (end.upgrade(), handle.upgrade())
                && !end.is_current()
            {
                handle.withdraw();
            }
        }
    }

    /// The ends of what kernels may have launched.
    pub(super) fn launched_by_kernels(&self) -> Vec<Fence> {
        let residence = lock(&self.0.residence);
        let launchable: Vec<_> = residence.launchable.iter().filter_map(|(end, _)| end.upgrade()).collect();
        drop(residence);
        launchable.into_iter().map(|end| Fence::new(end, Vec::new())).collect()
    }

    /// Keeps something until `signal` has fired, even if nobody waits for it.
    pub(crate) fn keep_behind(&self, signal: &Arc<PooledSignal>, keep: Keep) {
        self.forget_visits();
        lock(&self.0.visits).push_back(Fence::new(signal.clone(), vec![keep]));
    }

    /// Lets go of what launches needed that have ended.
    pub(super) fn forget_visits(&self) {
        // What a fault has taken may run on until its queues are destroyed.
        let over = |oldest: &mut Fence| {
            let settled = || oldest.is_on(self) && self.0.faults.is_settled(oldest.signal().epoch());
            oldest.has_fired() || oldest.is_over() && (!oldest.keeps_any() || settled())
        };
        // What was needed may be the caller's, whose `Drop` may come here again: it is dropped behind the lock.
        let forgotten: Vec<Fence> = {
            let mut visits = lock(&self.0.visits);
            std::iter::from_fn(|| visits.pop_front_if(over)).collect()
        };
        drop(forgotten);
    }
}
