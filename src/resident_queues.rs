//! The queues that a device publishes to by itself: where kernels launch resident graphs, and where those run that no
//! indirect buffer can hold.
//!
//! The host publishes nothing here. It keeps its claims where no device sees them ([`hsa::ring`]), and device code keeps
//! its own in the words of a lock; a queue with both kinds of producers would need both for every packet.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use hsa::packet::Packet;

use crate::{
    device::{Device, LANES, LaneKind, fence::PooledSignal, slabs::Block},
    error::{Error, Result},
    module::{KernelCode, Module},
};

/// The code objects that `cargo xtask kernels` builds, most specific targets first.
const OBJECTS: [&[u8]; 6] = [
    include_bytes!("../kernels/launcher.gfx90a.co"),
    include_bytes!("../kernels/launcher.gfx9-4-generic.co"),
    include_bytes!("../kernels/launcher.gfx9-generic.co"),
    include_bytes!("../kernels/launcher.gfx10-3-generic.co"),
    include_bytes!("../kernels/launcher.gfx11-generic.co"),
    include_bytes!("../kernels/launcher.gfx12-generic.co"),
];

/// Bytes of a lock: a cache line, which nothing else shares.
const LOCK: usize = 64;

/// The queue to which kernels publish, of one fault epoch. It belongs to the device, which destroys it after a fault; here
/// are its addresses.
pub(crate) struct Launches {
    epoch: u64,
    queue: hsa::DeviceProducer,
    /// Of the device code that publishes to it.
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

    /// The lock of the device code that publishes to the lanes.
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
pub(crate) struct Residence {
    launches: Option<Arc<Launches>>,
    queues: Option<Arc<Queues>>,
    kernels: Option<Kernels>,
    /// Graphs that kernels may launch, with their signals: 0 while no launch is in flight. By the handles' addresses: what
    /// a handle stands for now counts, whatever it stood for before a fault.
    launchable: HashMap<u64, (Weak<PooledSignal>, Weak<Handle>)>,
}

impl Residence {
    /// Withdraws the handles of graphs whose queues a fault has taken, before others follow.
    pub(crate) fn withdraw_lost(&mut self) {
        self.launchable.retain(|_, (end, handle)| {
            let is_lost = end.upgrade().is_none_or(|end| !end.is_current());
            if is_lost && let Some(handle) = handle.upgrade() {
                handle.withdraw();
            }
            !is_lost
        });
    }

    /// The ends of what kernels may have launched.
    pub(crate) fn launched_by_kernels(&self) -> Vec<Arc<PooledSignal>> {
        self.launchable.values().filter_map(|(end, _)| end.upgrade()).collect()
    }
}

/// Puts `fresh` in place of what is of an older epoch; returns what is there then.
fn newer<T>(place: &mut Option<Arc<T>>, fresh: Arc<T>, epoch: impl Fn(&T) -> u64) -> Arc<T> {
    if place.as_ref().is_none_or(|known| epoch(known) < epoch(&fresh)) {
        *place = Some(fresh.clone());
    }
    place.clone().unwrap_or(fresh)
}

impl Device {
    /// The queue to which kernels publish, created on first use and again after a fault.
    ///
    /// # Errors
    /// The fault that has just taken the device; [`Error::NotSupported`] where device code cannot ring a doorbell.
    pub(crate) fn resident_launches(&self) -> Result<Arc<Launches>> {
        let epoch = self.0.faults.epoch();
        if let Some(launches) =
            self.context().residence.lock().launches.as_ref().filter(|known| known.epoch == epoch)
        {
            return Ok(launches.clone());
        }
        // With nothing locked, for a queue is created; if another thread is faster, its lock counts.
        let (queue, epoch) = self.device_producer(LaneKind::ResidentLaunches)?;
        let fresh = Arc::new(Launches { epoch, queue, lock: self.open_lock()? });
        Ok(newer(&mut self.context().residence.lock().launches, fresh, |launches| launches.epoch))
    }

    /// The queues that the launcher publishes to, and the one to which kernels publish it, as above.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn resident_queues(&self) -> Result<Arc<Queues>> {
        let launches = self.resident_launches()?;
        let of_these = |known: &&Arc<Queues>| Arc::ptr_eq(&known.launches, &launches);
        if let Some(queues) = self.context().residence.lock().queues.as_ref().filter(of_these) {
            return Ok(queues.clone());
        }
        let mut lanes = Vec::with_capacity(LANES);
        for index in 0..LANES {
            let (lane, epoch) = self.device_producer(LaneKind::Resident { index })?;
            if epoch != launches.epoch {
                // A fault has just taken the others.
                return Err(self.0.faults.error());
            }
            lanes.push(lane);
        }
        let fresh = Arc::new(Queues { launches, lanes, lock: self.open_lock()? });
        Ok(newer(&mut self.context().residence.lock().queues, fresh, |queues| queues.launches.epoch))
    }

    /// Where device code finds a queue, and its fault epoch.
    fn device_producer(&self, lane: LaneKind) -> Result<(hsa::DeviceProducer, u64)> {
        let unsupported = Error::NotSupported("graphs that a device launches, with legacy doorbells");
        let lane = self.lane(lane)?;
        lane.device_producer().map(|producer| (producer, lane.epoch())).ok_or(unsupported)
    }

    /// A lock for device code that is free. What waits at locks of queues that a fault has taken, is stopped with
    /// the queues.
    fn open_lock(&self) -> Result<Block> {
        let lock = self.0.kernargs.take(LOCK)?;
        lock.write(0, &[0; LOCK]);
        Ok(lock)
    }

    /// The kernels of resident graphs' own, loaded on first use.
    pub(crate) fn resident_kernels(&self) -> Result<Kernels> {
        let mut residence = self.context().residence.lock();
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
        let mut residence = self.context().residence.lock();
        if residence.launchable.len().is_power_of_two() {
            residence.launchable.retain(|_, (signal, _)| signal.strong_count() > 0);
        }
        residence.launchable.insert(handle.address(), (Arc::downgrade(end), Arc::downgrade(handle)));
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;
    use crate::{Backend, Stream, StreamKind, device::fence::Keep, module::Dispatch};

    /// Device code that waits for a word to be 0, and stores 1 then.
    fn wait_for(word: &Block, device: &Device, stream: &Stream) -> Result<()> {
        // A graph without packets (`kernels/launcher.cpp`), whose end and lock are in the block.
        let graph = device.0.kernargs.take(40)?;
        let words = [word.address(), word.address() + 8, 0, 0, 0];
        graph.write(0, &words.map(u64::to_le_bytes).concat());
        let code = device.resident_kernels()?.launch;
        let kernargs = [graph.address().to_le_bytes(), [0; 8]].concat();
        let group_bytes = code.group_bytes();
        let mut submission = stream.submission()?;
        submission.keep(Keep::Block(graph));
        submission.dispatch(&Dispatch {
            token: 0,
            code,
            grid: [64, 1, 1],
            workgroup: [64, 1, 1],
            group_bytes,
            kernargs: kernargs.into(),
        })?;
        submission.finish()
    }

    #[test]
    fn nothing_runs_behind_a_fault_on_a_queue_that_somebody_still_holds() {
        let device = Device::get(0).unwrap();
        if device.backend() == Backend::Rocr {
            return; // There a fault takes a device for good.
        }
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        let word = device.0.kernargs.take(16).unwrap();
        word.write(0, &[1u64.to_le_bytes(), [0; 8]].concat());
        let load = || {
            let mut bytes = [0; 8];
            word.read(&mut bytes);
            u64::from_le_bytes(bytes)
        };
        wait_for(&word, &device, &stream).unwrap();
        let held = device.lane(stream.lane_number()).unwrap();
        thread::sleep(Duration::from_millis(5));
        device.0.faults.record(Error::LaunchFailure("test".into()), held.epoch());
        let fresh = device.lane(stream.lane_number()).unwrap();
        assert!(fresh.epoch() > held.epoch(), "a queue for what follows");
        word.store(0, 0);
        thread::sleep(Duration::from_millis(20));
        assert_eq!(load(), 0, "the kernel would have seen the word and changed it");
        assert!(device.check().is_err());
        stream.synchronize().unwrap();
    }
}
