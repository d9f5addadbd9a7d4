//! The devices that take part in one launch, and the queues it is published to.

#![forbid(unsafe_code)]

use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use crate::{
    device::{
        Device, Fence, LANES, LaneKind, fault::Faults, fence::PooledSignal, lane::Lane, own_lanes::OwnLane,
    },
    error::Result,
    stream::Stream,
};
use aqlipse_graph::image::Image;

/// Fault epochs of an executable's devices, by number.
pub(super) type Epochs = SmallVec<[u64; 2]>;

/// The devices that take part in a launch, the executable's and that of the stream, and its queues.
pub(super) struct LaunchQueues<'e> {
    devices: &'e [Device],
    epochs: Epochs,
    /// The stream's device and epoch if it is not the one on which the launch begins and ends.
    foreign_stream: Option<(Device, u64)>,
    /// By lane of the image. The first is the stream's own, unless the stream is of another device.
    lanes: SmallVec<[Arc<Lane>; LANES]>,
    numbers: SmallVec<[u16; 4]>,
    /// Those of them that no other launch has.
    own: Vec<OwnLane>,
}

/// Which lanes a launch has beside that of its stream.
#[derive(Clone, Copy)]
pub(super) enum Beside<'f> {
    /// Those that it shares.
    Shared,
    /// Lanes of its own, behind the end of the executable's latest launch: something in the launch, or what is on its stream,
    /// waits for packets that may be published later.
    Own(Option<&'f Fence>),
}

/// The queues that a launch has found, for the next one: asking the device takes a lock that all streams share. Not held:
/// after a fault they must go when the device gives them up.
#[derive(Default)]
pub(super) struct QueueCache {
    /// Of the stream, the ordinal of its device and the number of its lane there: they decide about all the others.
    stream: (usize, usize),
    /// By lane of the image.
    lanes: Vec<Weak<Lane>>,
}

impl QueueCache {
    /// The lane of the image with this number, if it is known and as good as when it was found.
    fn lane(&self, number: usize) -> Option<Arc<Lane>> {
        self.lanes.get(number)?.upgrade().filter(|lane| lane.is_current())
    }

    fn found(&mut self, number: usize, lane: &Arc<Lane>) {
        if self.lanes.len() <= number {
            self.lanes.resize(number + 1, Weak::new());
        }
        self.lanes[number] = Arc::downgrade(lane);
    }
}

impl<'e> LaunchQueues<'e> {
    /// Finds the queues for a launch on `stream`, whose packets go to `own`. Where nodes decide about it, lanes have
    /// `priorities`, by lane of the image. `known` are those of an earlier launch that shared its lanes.
    ///
    /// Two shared lanes of an image may share a queue: their packets find slots in an order in which none waits for a later one.
    ///
    /// # Errors
    /// The fault that has just taken one of the devices.
    pub(super) fn new(
        devices: &'e [Device],
        image: &Image,
        stream: &Stream,
        own: &Arc<Lane>,
        priorities: &[i32],
        known: &mut QueueCache,
        beside: Beside<'_>,
    ) -> Result<Self> {
        let asking = (stream.device().ordinal(), stream.lane_number());
        if matches!(beside, Beside::Shared) && known.stream != asking {
            *known = QueueCache { stream: asking, lanes: std::mem::take(&mut known.lanes) };
            known.lanes.clear();
        }
        let home = stream.device() == &devices[0];
        let mut epochs: Epochs = devices.iter().map(|device| device.0.faults.epoch()).collect();
        if home {
            epochs[0] = own.epoch();
        }
        let mut lanes: SmallVec<[Arc<Lane>; LANES]> = SmallVec::new();
        let mut own_lanes = Vec::new();
        let mut taken: SmallVec<[usize; 2]> = SmallVec::from_elem(0, devices.len());
        for (at, lane) in image.lanes.iter().enumerate() {
            let number = usize::from(lane.device);
            let device = &devices[number];
            // Packets in place of an engine's copies are rare: they go to a queue that there is.
            let by_engine = !lane.engine.is_empty();
            if home && (lanes.is_empty() || by_engine && number == 0) {
                lanes.push(own.clone());
                taken[0] += usize::from(!by_engine);
                continue;
            }
            let nth = if by_engine { 0 } else { taken[number] };
            taken[number] += usize::from(!by_engine);
            let like = || {
                let beside = base(stream, device).beside(nth);
                priorities.get(at).map_or(beside, |&priority| beside.of_priority(priority))
            };
            let lane = match beside {
                Beside::Own(behind) => {
                    let fresh = device.own_lane(like(), behind);
                    let lane = device.lane(fresh.kind())?;
                    own_lanes.push(fresh);
                    lane
                }
                Beside::Shared => match known.lane(at) {
                    Some(lane) => lane,
                    None => {
                        let lane = device.lane(like())?;
                        known.found(at, &lane);
                        lane
                    }
                },
            };
            if lane.epoch() != epochs[number] {
                // A fault has just taken the device's other queues.
                return Err(device.check().err().unwrap_or_else(|| device.0.faults.error()));
            }
            lanes.push(lane);
        }
        let foreign_stream = (!home).then(|| (stream.device().clone(), own.epoch()));
        let numbers = image.lanes.iter().map(|lane| lane.device).collect();
        Ok(Self { devices, epochs, foreign_stream, lanes, numbers, own: own_lanes })
    }

    /// Gives back the lanes that no other launch has, on which all of this one is over with `fence`.
    pub(super) fn end_behind(self, fence: &Fence) {
        self.own.into_iter().for_each(|lane| lane.end_behind(fence));
    }

    /// Whether the stream is of another device than the one on which the launch begins and ends.
    pub(super) fn has_guest(&self) -> bool {
        self.foreign_stream.is_some()
    }

    pub(super) fn lanes(&self) -> &[Arc<Lane>] {
        &self.lanes
    }

    pub(super) fn epochs(&self) -> &Epochs {
        &self.epochs
    }

    /// The device on which the launch begins and ends, and its epoch.
    pub(super) fn home(&self) -> (&'e Device, u64) {
        (&self.devices[0], self.epochs[0])
    }

    /// The device of a lane of the image, and its epoch.
    pub(super) fn of_lane(&self, lane: u32) -> (&'e Device, u64) {
        let number = usize::from(self.numbers[lane as usize]);
        (&self.devices[number], self.epochs[number])
    }

    /// The device with an ordinal, which is one of the executable's, and its epoch.
    pub(super) fn of_ordinal(&self, ordinal: u16) -> (&'e Device, u64) {
        let number = self.devices.iter().position(|device| device.ordinal() == usize::from(ordinal));
        // What no device of the executable does is done by the host alone.
        let number = number.unwrap_or(0);
        (&self.devices[number], self.epochs[number])
    }

    /// A signal for packets of the launch, which a host thread waits for if `attended`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn signal(&self, attended: bool) -> Result<Arc<PooledSignal>> {
        let (device, epoch) = self.home();
        let pool = if attended { &device.0.signals } else { &device.0.edges };
        pool.take(1, epoch)
    }

    /// Whether copies of the launch may go to copy engines.
    pub(super) fn engines_serve(&self) -> bool {
        self.devices.iter().all(Device::engines_serve)
    }

    /// Lets a fault of any of the devices take the launch on all of them, until `completion` fires.
    pub(super) fn stand_together(&self, completion: &Arc<PooledSignal>) {
        if self.devices.len() == 1 && self.foreign_stream.is_none() {
            return;
        }
        let own = self.devices.iter().zip(self.epochs.iter().copied());
        let foreign_stream = self.foreign_stream.iter().map(|(device, epoch)| (device, *epoch));
        let all: Vec<(Arc<Faults>, u64)> =
            own.chain(foreign_stream).map(|(device, epoch)| (device.0.faults.clone(), epoch)).collect();
        completion.binds(&all, all.clone());
    }
}

/// The lane on `device` beside which a launch on `stream` finds its lanes: of the stream's priority.
fn base(stream: &Stream, device: &Device) -> LaneKind {
    match stream.device().place_of(stream.lane_number().into()) {
        // A restriction to some units is one of the stream's own device.
        LaneKind::Restricted { index, .. } if stream.device() != device => LaneKind::DEFAULT.beside(index),
        lane => lane,
    }
}
