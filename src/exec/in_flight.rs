//! What a launch in flight has of its own: signals and host steps, used again by a later launch when it is over.

#![forbid(unsafe_code)]

use std::{collections::VecDeque, sync::Arc};

use aqlipse_graph::image::Image;

use super::{
    launch_queues::{Epochs, LaunchQueues},
    script::Script,
};
use crate::{
    device::{Fence, fence::PooledSignal},
    error::Result,
};

/// What one launch has of its own.
#[derive(Default)]
pub(super) struct InFlightSlot {
    /// Of the queues whose packets use the signals.
    epochs: Epochs,
    /// Those that its packets and host steps wait for and fire, armed; none if there are none.
    pub(super) signals: Option<Arc<[Arc<PooledSignal>]>>,
    /// Those of its event nodes; none where there is nothing to wait for.
    pub(super) events: Vec<Option<Arc<PooledSignal>>>,
    /// What the host does.
    pub(super) script: Option<Arc<Script>>,
}

impl InFlightSlot {
    /// Its signals, by the numbers that patches call them.
    pub(super) fn signals(&self) -> &[Arc<PooledSignal>] {
        self.signals.as_deref().unwrap_or_default()
    }
}

/// The launches of one executable that may be in flight, and what is left of others.
#[derive(Default)]
pub(super) struct InFlightSlots {
    /// Oldest first.
    up: VecDeque<(Fence, InFlightSlot)>,
    /// What launches had that are over, the latest last: that is where caches know it.
    down: Vec<InFlightSlot>,
}

impl InFlightSlots {
    /// What a launch of `image` needs, with its signals armed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) for signals.
    pub(super) fn take(&mut self, image: &Image, launch_queues: &LaunchQueues<'_>) -> Result<InFlightSlot> {
        if image.needs_nothing() {
            return Ok(InFlightSlot::default());
        }
        self.land();
        while let Some(flight) = self.down.pop() {
            // After a fault, the queues for which the old signals were armed may never have let go of them.
            if flight.epochs == *launch_queues.epochs() {
                for signal in flight.signals() {
                    signal.arm();
                }
                return Ok(flight);
            }
        }
        let mut attended = vec![false; image.signals as usize];
        for &signal in image.host.iter().flat_map(|step| &step.after) {
            attended[signal as usize] = true;
        }
        let signals = attended.into_iter().map(|attended| launch_queues.signal(attended));
        let signals = signals.collect::<Result<Arc<[_]>>>()?;
        let signals = (!signals.is_empty()).then_some(signals);
        Ok(InFlightSlot { epochs: launch_queues.epochs().clone(), signals, ..InFlightSlot::default() })
    }

    /// Makes what the next launch of `image` needs, if there is none.
    ///
    /// # Errors
    /// As [`InFlightSlots::take`].
    pub(super) fn prepare(&mut self, image: &Image, launch_queues: &LaunchQueues<'_>) -> Result<()> {
        let flight = self.take(image, launch_queues)?;
        if flight.signals.is_some() {
            self.down.push(flight);
        }
        Ok(())
    }

    /// Takes back what launches had that are over.
    fn land(&mut self) {
        // Launches complete in order: if the oldest is not over, none is.
        while let Some((_, mut flight)) = self.up.pop_front_if(|(fence, _)| fence.is_over()) {
            flight.events.clear();
            self.down.push(flight);
        }
    }

    /// Notes what a launch has that ends with `fence`.
    pub(super) fn launched(&mut self, fence: &Fence, flight: InFlightSlot) {
        if flight.signals.is_some() || !flight.events.is_empty() || flight.script.is_some() {
            self.up.push_back((fence.clone(), flight));
        }
    }

    /// What the packets of launches in flight refer to.
    pub(super) fn into_signals(self) -> Vec<InFlightSlot> {
        self.up.into_iter().map(|(_, flight)| flight).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Device, Exec, Options, Stream, Template,
        graph::{HostFn, Node},
        stream::StreamKind,
    };

    #[test]
    fn an_upload_makes_what_the_first_launch_takes() {
        let device = Device::get(0).unwrap();
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        let mut template = Template::new(&device);
        let first = template.add(Node::Host(HostFn::new(|| ())), &[]).unwrap();
        template.add(Node::EventRecord(crate::Event::new(false)), &[first]).unwrap();
        let exec = Exec::new(&template, Options::default()).unwrap();
        assert!(exec.state().slots.down.is_empty());
        for _ in 0..2 {
            exec.upload(&stream).unwrap();
            assert_eq!(exec.state().slots.down.len(), 1, "once is enough");
        }
        exec.launch(&stream).unwrap();
        assert!(exec.state().slots.down.is_empty(), "the launch took it");
        stream.synchronize().unwrap();
    }
}
