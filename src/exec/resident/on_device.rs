//! The packets of a resident graph on its device, and what launches them.

#![forbid(unsafe_code)]

use std::sync::Arc;

use aqlipse_graph::image::Image;

use super::{
    Residence, buffer,
    launch::{Arguments, Launch},
    launcher,
};
use crate::{
    device::{
        Device,
        fence::{Keep, PooledSignal},
        slabs::Block,
    },
    error::Result,
    resident_queues::{Launches, Queues},
    stream::submit::Submission,
};

/// The packets of an executable on its device.
pub(super) struct OnDevice {
    pub(super) device: Device,
    /// That of the image.
    edition: u64,
    /// Of the queues that its packets are for.
    pub(super) epoch: u64,
    /// The queues that the launcher publishes to.
    pub(super) queues: Option<Arc<Queues>>,
    /// The image's own.
    signals: Vec<Arc<PooledSignal>>,
    /// 0 while no launch is in flight. The kernel that makes it 1 launches the graph, whose end makes it 0
    /// again. Launches by the host do not need it while kernels cannot launch.
    pub(super) end: Arc<PooledSignal>,
    pub(super) launch: Launch,
    _on_device: Block,
    _arguments: Arguments,
}

impl OnDevice {
    /// Prepares the copy of an image, to be made by what is pushed to `submission`. Signals of an `older` copy are used
    /// again: launches of one executable follow each other, whatever copy they are of.
    pub(super) fn new(
        device: &Device,
        image: &Image,
        residence: Residence,
        older: Option<&Self>,
        submission: &mut Submission<'_>,
    ) -> Result<Self> {
        let epoch = submission.lane().epoch();
        let older = older.filter(|older| older.epoch == epoch);
        let (signals, end) = match older {
            Some(older) => (older.signals.clone(), older.end.clone()),
            None => {
                let fresh = |_| device.0.edges.take(0, epoch);
                ((0..image.signals).map(fresh).collect::<Result<_>>()?, fresh(0)?)
            }
        };
        let kernels = device.resident_kernels()?;
        let mut arguments = Arguments::new(device)?;
        let (queues, on_device, launch, bytes) = match residence {
            Residence::IndirectBuffer => {
                let on_device = device.0.packets.take(buffer::bytes(image))?;
                let base = on_device.address();
                let (launch, bytes) = buffer::launch(image, &kernels, &mut arguments, base, &end)?;
                (None, on_device, launch, bytes)
            }
            Residence::Launcher => {
                let queues = device.resident_queues()?;
                refuse_other_epoch(device, queues.launches(), epoch)?;
                let layout = launcher::Layout::of(image);
                let on_device = device.0.packets.take(layout.bytes)?;
                let base = on_device.address();
                let bytes = layout.write(image, &queues, &signals, &end, base);
                let launch = launcher::launch(&kernels, &mut arguments, base, &end)?;
                (Some(queues), on_device, launch, bytes)
            }
        };
        let staged = device.0.staging.take(bytes.len())?;
        staged.write(0, &bytes);
        submission.dispatch(&device.blit()?.copy(
            on_device.address(),
            staged.address(),
            bytes.len() as u64,
        ))?;
        submission.keep(Keep::Block(staged));
        if residence == Residence::IndirectBuffer {
            // The packet processor reads memory itself, and no acquire fence is its own.
            submission.release();
        }
        Ok(Self {
            device: device.clone(),
            edition: image.edition(),
            epoch,
            queues,
            signals,
            end,
            launch,
            _on_device: on_device,
            _arguments: arguments,
        })
    }

    /// Whether it is a copy of the image as it is, for queues of `epoch`.
    pub(super) fn is_current(&self, image: &Image, epoch: u64) -> bool {
        self.edition == image.edition() && self.epoch == epoch
    }

    /// Keeps something until the launch has ended that may be in flight.
    pub(super) fn keep(&self, keep: Keep) {
        self.device.keep_behind(&self.end, keep);
    }
}

/// Refuses a queue of another epoch than packets that go with it: a fault has just taken the latter's.
pub(super) fn refuse_other_epoch(device: &Device, launches: &Launches, epoch: u64) -> Result<()> {
    if launches.epoch() == epoch {
        return Ok(());
    }
    Err(device.check().err().unwrap_or_else(|| device.0.faults.error()))
}
