//! Execution contexts: a device, or some of its compute units, with the streams that run there.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;

use super::{Event, Stream, StreamKind};
use crate::{
    device::{Device, Fence, Units},
    error::{CaptureError, Error, Result},
};

/// Some of a device's compute units, or all of them, and the streams that were created there.
#[derive(Clone)]
pub struct ExecutionContext(Arc<Inner>);

struct Inner {
    id: u64,
    device: Device,
    /// `None` for all units, and all streams of the device.
    units: Option<Units>,
    /// Events that all work waits for, of streams that are yet to be created too.
    awaited: Mutex<Vec<Event>>,
}

/// Numbers of contexts. 0 stands for none: a stream that was created without one.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl ExecutionContext {
    /// The context of a whole device: all of its streams belong there.
    pub fn of_device(device: &Device) -> Self {
        Self::make(device, None)
    }

    /// A context of some compute units: those of `mask`, a bit each.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for no unit at all, or for one that the device does not have.
    pub fn on_units(device: &Device, mask: &[u32]) -> Result<Self> {
        let units = Units::of(mask, device.properties());
        let given = mask.iter().copied().chain(std::iter::repeat(0));
        let exact = units.words().iter().copied().zip(given).all(|(had, given)| had == given);
        if !exact || mask.iter().skip(units.words().len()).any(|&word| word != 0) {
            return Err(Error::InvalidValue("no compute unit, or one that the device does not have"));
        }
        Ok(Self::make(device, Some(units)))
    }

    fn make(device: &Device, units: Option<Units>) -> Self {
        let awaited = Mutex::default();
        Self(Arc::new(Inner { id: next_id(), device: device.clone(), units, awaited }))
    }

    /// Unique over the process.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// The device it is a part of.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Its compute units, a bit each, as few words as the device's units need.
    pub fn units(&self) -> Vec<u32> {
        let all = || Units::all(self.0.device.properties().compute_units);
        self.0.units.clone().unwrap_or_else(all).words().to_vec()
    }

    /// A new stream whose kernels run on its units.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub fn stream(&self, kind: StreamKind, priority: i32) -> Result<Stream> {
        let Inner { device, units, id, .. } = &*self.0;
        let stream = match units {
            Some(units) => {
                let lane = device.assign_lane_on(units.clone());
                Stream::make_in(device, kind, priority, lane, *id)
            }
            None => Stream::make_in(device, kind, priority, device.assign_lane(priority), *id),
        };
        let awaited = self.0.awaited.lock().clone();
        awaited.iter().try_for_each(|event| stream.wait(event))?;
        Ok(stream)
    }

    /// Its living streams.
    fn streams(&self) -> Vec<Stream> {
        let mut streams = self.0.device.streams();
        if self.0.units.is_some() {
            streams.retain(|stream| stream.0.context == self.0.id);
        }
        streams
    }

    /// What is in flight of its streams, those included whose last copy is gone: fences, each with its lane.
    fn in_flight(&self) -> Result<Vec<(Fence, u64)>> {
        let is_ours = |context| self.0.units.is_none() || context == self.0.id;
        let (streams, detached) = self.0.device.shared_by_streams().work();
        let detached = detached.into_iter().filter(|detached| is_ours(detached.context));
        let mut all: Vec<_> = detached.map(|detached| (detached.fence, detached.lane)).collect();
        for stream in streams.iter().filter(|stream| is_ours(stream.context)) {
            all.push(stream.own_fence_and_activity()?.0);
        }
        Ok(all)
    }

    /// As [`ExecutionContext::streams`], none of which captures.
    fn idle_of_captures(&self) -> Result<Vec<Stream>> {
        let streams = self.streams();
        match streams.iter().any(Stream::is_capturing) {
            true => Err(Error::Capture(CaptureError::Unsupported)),
            false => Ok(streams),
        }
    }

    /// Marks in `event` what is on all of its streams now.
    ///
    /// # Errors
    /// [`CaptureError::Unsupported`] while one of them captures; a fault of earlier work.
    pub fn record_event(&self, event: &Event) -> Result<()> {
        self.idle_of_captures()?;
        let in_flight = self.in_flight()?;
        // A stream that no caller knows is behind all of them. It is of the context as well, whose other calls wait
        // for the event therefore.
        let device = &self.0.device;
        let end = Stream::make_in(device, StreamKind::NonBlocking, 0, device.assign_lane(0), self.0.id);
        let mut submission = end.submission()?;
        for (fence, lane) in in_flight {
            submission.wait(&fence, lane)?;
        }
        submission.finish()?;
        end.record_event_now(event)
    }

    /// Holds everything that follows on its streams back until `event` has been reached. For the context of a whole
    /// device these are the streams that it has now.
    ///
    /// # Errors
    /// As [`ExecutionContext::record_event`].
    pub fn wait(&self, event: &Event) -> Result<()> {
        let streams = self.idle_of_captures()?;
        {
            let mut awaited = self.0.awaited.lock();
            awaited.retain(|event| event.fence().is_some_and(|(fence, _)| !fence.is_over()));
            awaited.push(event.clone());
        }
        streams.iter().try_for_each(|stream| stream.wait(event))
    }

    /// Waits until everything on its streams has completed.
    ///
    /// # Errors
    /// As [`ExecutionContext::record_event`].
    pub fn synchronize(&self) -> Result<()> {
        let streams = self.idle_of_captures()?;
        let in_flight = self.in_flight()?;
        streams.iter().try_for_each(Stream::synchronize)?;
        self.0.device.outlast(in_flight.iter().map(|(fence, _)| fence))?;
        self.0.device.check()
    }

    /// Ends the context: its streams take no more work, and still complete what they have.
    pub fn destroy(&self) {
        for stream in self.streams() {
            stream.0.detached.store(true, Ordering::Relaxed);
        }
    }
}

impl Stream {
    /// Whether the context that it was created in is gone.
    pub fn is_detached(&self) -> bool {
        self.0.detached.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_context_has_units_that_the_device_has() {
        let device = Device::get(0).unwrap();
        let all = ExecutionContext::of_device(&device).units();
        let part = ExecutionContext::on_units(&device, &[0b110]).unwrap();
        assert_eq!(part.units()[0], 0b110);
        assert_eq!(part.units().len(), all.len());
        let mut beyond = all.clone();
        beyond.push(1);
        for mask in [&[][..], &[0, 0], &beyond] {
            assert!(matches!(ExecutionContext::on_units(&device, mask), Err(Error::InvalidValue(_))));
        }
        assert_ne!(part.id(), ExecutionContext::of_device(&device).id());
    }

    #[test]
    fn an_event_of_a_context_is_behind_all_of_its_streams() {
        let device = Device::get(0).unwrap();
        let part = ExecutionContext::on_units(&device, &[1]).unwrap();
        let streams = [0, 0].map(|priority| part.stream(StreamKind::NonBlocking, priority).unwrap());
        let gate = Arc::new(std::sync::Barrier::new(2));
        let other = gate.clone();
        let hold = move || {
            other.wait();
        };
        streams[1].host(aqlipse_graph::HostFn::new(hold)).unwrap();
        let event = Event::new(false);
        part.record_event(&event).unwrap();
        assert_eq!(event.is_complete(), Ok(false));
        gate.wait();
        part.synchronize().unwrap();
        assert_eq!(event.is_complete(), Ok(true));
        part.destroy();
        assert!(streams.iter().all(Stream::is_detached));
    }

    #[test]
    fn a_context_is_behind_streams_that_nobody_holds() {
        let part = ExecutionContext::on_units(&Device::get(0).unwrap(), &[1]).unwrap();
        let stream = part.stream(StreamKind::NonBlocking, 0).unwrap();
        let gate = Arc::new(std::sync::Barrier::new(2));
        let ran = Arc::new(AtomicBool::new(false));
        let (other, done) = (gate.clone(), ran.clone());
        let hold = move || {
            other.wait();
            done.store(true, Ordering::Relaxed);
        };
        stream.host(aqlipse_graph::HostFn::new(hold)).unwrap();
        drop(stream);
        let event = Event::new(false);
        part.record_event(&event).unwrap();
        assert_eq!(event.is_complete(), Ok(false));
        gate.wait();
        part.synchronize().unwrap();
        assert!(ran.load(Ordering::Relaxed));
        assert_eq!(event.is_complete(), Ok(true));
    }
}
