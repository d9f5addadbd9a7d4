//! Kernels that are launched together: the blocks of one grid, or grids on several devices.
//!
//! A cooperative kernel runs on its device's queue for such kernels, behind a marker on the stream; the stream goes on
//! when it is over. Mostly the kernel is published at once, with a packet in front of it that waits for the marker. While
//! other kernels are expected on that queue (see [`Expected`]), or the stream waits for what packets may bring about that are
//! published later, the stream's worker publishes it at the marker.

#[cfg(test)]
mod model;

use std::sync::{Arc, atomic::Ordering};

use loader::ValueKind;
use parking_lot::Mutex;

use super::{
    Event, Stream, StreamKind,
    host::Job,
    rules::{check_default_launch, refuse_uncapturable},
    submit::Submission,
};
use crate::{
    check,
    cooperative::{Expected, GridInfo, INFO_BYTES, Placed},
    device::{
        System,
        fence::{Keep, PooledSignal},
        timeline,
    },
    error::{Error, Result},
    hostcall::fifo::{Drain, Fifo},
    module::Dispatch,
    module::Function,
};
use aqlipse_graph::Kernel;

#[cfg(doc)]
use crate::error::CaptureError;

/// How kernels that are launched together order themselves with the other work of their streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// Whether each kernel waits for what is on all the streams, not only on its own.
    pub before: bool,
    /// Whether what follows on each stream waits for all kernels, not only for its own.
    pub after: bool,
    /// Whether the grids may wait for each other, and for themselves.
    pub cooperative: bool,
}

/// Launches that name several devices follow each other in one order on all of them, or two could wait for each other.
static SEVERAL: Mutex<()> = Mutex::new(());

/// Held while kernels enter their streams and are published. Streams share queues: a kernel that has entered behind another is
/// behind it there, and must not come before it on the queue for cooperative kernels, or each would wait for the other.
static ENTERING: Mutex<()> = Mutex::new(());

/// A kernel on its way.
struct Part<'s> {
    stream: &'s Stream,
    dispatch: Dispatch,
    kernarg: u64,
    init_kernarg: u64,
    /// Falls when the work before the kernel is over, and when the kernel is.
    entry: Arc<PooledSignal>,
    done: Arc<PooledSignal>,
    /// Whether the stream may be waiting for packets that are published later.
    is_held: bool,
    /// For the timeline, if events are recorded.
    traced: Option<timeline::Launch>,
}

impl Stream {
    /// Launches a kernel whose blocks may wait for each other.
    pub(super) fn launch_cooperative(&self, mut dispatch: Dispatch) -> Result<()> {
        let info = GridInfo { blocks: dispatch.resident_blocks(), ..GridInfo::default() };
        let (address, keep) = match self.device().lone_grid_info(&dispatch.code) {
            Some(number) => (number, None),
            None => {
                let block = self.device().0.staging.take(INFO_BYTES)?;
                block.write(0, &info.bytes());
                (block.address(), Some(Keep::Block(block)))
            }
        };
        dispatch.set_hidden(&ValueKind::HiddenMultigridSyncArg, address);
        if !dispatch.code.prints() {
            return self.launch_alone(dispatch, keep).map(drop);
        }
        // A buffer of its own: it is read when the stream has gone on already.
        let fifo = Fifo::new(self.device())?;
        dispatch.print_to(&fifo);
        self.start_worker()?;
        let read = self.submission()?.edge()?;
        let done = self.launch_alone(dispatch, keep)?;
        let drain = Drain(fifo);
        let mut submission = match self.submission() {
            Ok(submission) => submission,
            Err(error) => {
                // The kernel prints all the same, to what is here.
                self.device().keep_behind(&done, Keep::Other(Arc::new(drain)));
                return Err(error);
            }
        };
        submission.wait_signal(read.clone());
        submission.push_job(Job::new(vec![done], move || drop(drain), Some(read)))?;
        submission.finish()
    }

    /// Launches a kernel on this device alone; returns the signal that falls when it is over.
    fn launch_alone(&self, dispatch: Dispatch, keep: Option<Keep>) -> Result<Arc<PooledSignal>> {
        let _entering = ENTERING.lock();
        let expected = self.device().expect_cooperative();
        let (part, expected) = self.enter(dispatch, keep, Some(expected))?;
        if expected.is_some() {
            publish(&part, &[part.entry.handle()])?;
        }
        Ok(part.done)
    }

    /// Puts a marker on the stream, and lets what follows wait until `done` falls. If `expected` is given, and others are
    /// expected as well or the stream is held, the stream's worker publishes the kernel; otherwise it comes back, and the
    /// caller does.
    fn enter(
        &self,
        dispatch: Dispatch,
        keep: Option<Keep>,
        expected: Option<Expected>,
    ) -> Result<(Part<'_>, Option<Expected>)> {
        let traced = timeline::Launch::next(self.id(), None);
        let _launching = traced.map(|launch| launch.begin());
        let mut submission = self.submission()?;
        // Packets wait for both, and seldom the stream's worker: whether it does is known when they are published.
        let is_held = submission.is_held();
        let is_alone = expected.as_ref().is_none_or(|expected| expected.is_alone() && !is_held);
        let entry = if is_alone { submission.edge() } else { submission.signal(1) }?;
        let done = if dispatch.code.prints() { submission.signal(1) } else { submission.edge() }?;
        let kernarg = submission.place(&dispatch.kernargs)?;
        // Kernels on several devices may wait for each other.
        if expected.is_some() {
            let kernel = (dispatch.code.name(), dispatch.code.is_own());
            check::submitted(self.id(), kernarg, kernel, Vec::new);
        }
        let init_kernarg = submission.place(&Placed::init_arguments(&dispatch))?;
        submission.keep(Keep::Other(Arc::new(dispatch.code.clone())));
        keep.into_iter().for_each(|keep| submission.keep(keep));
        submission.mark(&entry);
        submission.wait_signal(done.clone());
        // The wait may have been published already when something fails.
        let give_up = |_: &Error| done.store(0, Ordering::Release);
        submission.flush().inspect_err(give_up)?;
        let part = Part {
            stream: self,
            dispatch,
            kernarg,
            init_kernarg,
            entry,
            done: done.clone(),
            is_held,
            traced,
        };
        let expected = match expected {
            Some(expected) if is_held || !expected.is_alone() => {
                submission.push_job(part.job(expected)).inspect_err(give_up)?;
                None
            }
            other => other,
        };
        submission.finish().inspect_err(give_up)?;
        Ok((part, expected))
    }
}

impl Part<'_> {
    fn traced(&self) -> Option<(timeline::Launch, Option<&'static str>)> {
        self.traced.map(|launch| (launch, None))
    }

    /// Publishes the kernel when the stream comes to it.
    fn job(&self, expected: Expected) -> Job {
        let (device, dispatch, done) =
            (self.stream.device().clone(), self.dispatch.clone(), self.done.clone());
        let (kernarg, init_kernarg, traced) = (self.kernarg, self.init_kernarg, self.traced());
        let publish = move || {
            let placed = Placed { dispatch: &dispatch, kernarg, init_kernarg };
            if let Err(error) = device.publish_cooperative(&placed, &[], &done, traced) {
                // No caller can be told otherwise, and what follows must not run without it.
                device.0.faults.record(error, done.epoch());
            }
            drop(expected);
        };
        Job::new(vec![self.entry.clone()], publish, None)
    }
}

/// Publishes a part behind the entries given. If that fails, its stream goes on without it.
fn publish(part: &Part<'_>, after: &[hsa_sys::hsa_signal_t]) -> Result<()> {
    let placed = Placed { dispatch: &part.dispatch, kernarg: part.kernarg, init_kernarg: part.init_kernarg };
    let published = part.stream.device().publish_cooperative(&placed, after, &part.done, part.traced());
    if published.is_err() {
        part.done.store(0, Ordering::Release);
    }
    published
}

/// Launches kernels on streams of different devices, together.
///
/// # Errors
/// [`Error::InvalidValue`] for no kernel, or two on one device; [`CaptureError::Unsupported`] on a capturing stream; what
/// a launch of each would be refused for.
pub fn launch_together(kernels: Vec<(Stream, Kernel<Function>)>, how: Together) -> Result<()> {
    let ordinal = |(stream, _): &(Stream, _)| stream.device().ordinal();
    let mut devices: Vec<_> = kernels.iter().map(ordinal).collect();
    devices.sort_unstable();
    if devices.is_empty() || devices.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Error::InvalidValue("kernels that are launched together need a device each"));
    }
    for (stream, _) in &kernels {
        refuse_uncapturable(stream, "launching on several devices")?;
        if stream.kind() == StreamKind::Legacy {
            check_default_launch(stream.device(), "launching on several devices")?;
        }
    }
    let _order = SEVERAL.lock();
    if how.cooperative { launch_cooperative(&kernels, how) } else { launch_apart(kernels, how) }
}

/// Launches kernels that do not know of each other.
fn launch_apart(kernels: Vec<(Stream, Kernel<Function>)>, how: Together) -> Result<()> {
    for (stream, kernel) in &kernels {
        // What one is refused for must not leave the others launched.
        crate::module::check_kernel(stream.device(), kernel)?;
    }
    let streams: Vec<Stream> = kernels.iter().map(|(stream, _)| stream.clone()).collect();
    if how.before {
        join(&streams)?;
    }
    for (stream, kernel) in kernels {
        stream.launch(kernel)?;
    }
    if how.after { join(&streams) } else { Ok(()) }
}

/// Lets each stream wait for what is on all of them.
fn join(streams: &[Stream]) -> Result<()> {
    let mut events = Vec::new();
    for stream in streams {
        let event = Event::new(false);
        stream.record_event(&event)?;
        events.push(event);
    }
    for (n, stream) in streams.iter().enumerate() {
        for (_, event) in events.iter().enumerate().filter(|(other, _)| *other != n) {
            stream.wait(event)?;
        }
    }
    Ok(())
}

/// Launches kernels whose grids may wait for each other.
fn launch_cooperative(kernels: &[(Stream, Kernel<Function>)], how: Together) -> Result<()> {
    let mut dispatches = Vec::new();
    for (stream, kernel) in kernels {
        let code = kernel.function.code(stream.device())?;
        if code.prints() {
            return Err(Error::NotSupported("a kernel that prints to a buffer, on several devices"));
        }
        dispatches.push(code.dispatch(kernel)?);
        code.check_cooperative(stream.device().properties(), kernel)?;
    }
    let memory = meet(&mut dispatches)?;
    let _entering = ENTERING.lock();
    let mut parts: Vec<Part<'_>> = Vec::new();
    for ((stream, _), dispatch) in kernels.iter().zip(dispatches) {
        match stream.enter(dispatch, Some(Keep::Other(memory.clone())), None) {
            Ok((part, _)) => parts.push(part),
            Err(error) => {
                give_up(&parts);
                return Err(error);
            }
        }
    }
    if let Err(error) = tie(&parts, how) {
        give_up(&parts);
        return Err(error);
    }
    let entries: Vec<_> = parts.iter().map(|part| part.entry.handle()).collect();
    for (n, part) in parts.iter().enumerate() {
        let after = if how.before { &entries[..] } else { &entries[n..=n] };
        if let Err(error) = publish(part, after) {
            // The kernels that run already would wait for this one for ever.
            for part in &parts[..n] {
                part.stream.device().0.faults.record(error.clone(), part.done.epoch());
            }
            give_up(&parts[n..]);
            return Err(error);
        }
    }
    Ok(())
}

/// Gives the grids a place to meet, and tells them of each other.
fn meet(dispatches: &mut [Dispatch]) -> Result<Arc<hsa::Allocation>> {
    let system = System::get()?;
    for device in system.devices() {
        device.require_host_atomics("grids of several devices over a link without atomic operations")?;
    }
    let bytes = (dispatches.len() + 1) * INFO_BYTES;
    let memory = system.host_pool().allocate(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    let memory = memory.held_by(crate::memory_report::KERNARGS);
    memory.allow_access(&system.gpu_agents())?;
    let all = dispatches.iter().map(Dispatch::resident_threads).sum();
    let grids = dispatches.len() as u32;
    let mut before = 0;
    let mut image = vec![0; INFO_BYTES];
    for (grid, dispatch) in (0u32..).zip(dispatches) {
        let info = GridInfo {
            meeting: memory.address(),
            grid,
            grids,
            threads: (before, all),
            blocks: dispatch.resident_blocks(),
        };
        let address = memory.address() + image.len() as u64;
        dispatch.set_hidden(&ValueKind::HiddenMultigridSyncArg, address);
        image.extend(info.bytes());
        before += dispatch.resident_threads();
    }
    // SAFETY: fresh host memory of this length, which no device knows of yet.
    unsafe { std::ptr::copy_nonoverlapping(image.as_ptr(), memory.as_ptr(), image.len()) };
    Ok(Arc::new(memory))
}

/// Lets what follows on each stream wait for all kernels, and a fault on one device take the others' parts.
fn tie(parts: &[Part<'_>], how: Together) -> Result<()> {
    for part in parts {
        let faults = part.stream.device().0.faults.clone();
        let mut submission = part.stream.submission()?;
        let tie = |submission: &mut Submission<'_>| {
            for other in parts.iter().filter(|other| !std::ptr::eq(*other, part)) {
                other.done.takes_along(&faults, part.done.epoch());
                tie_to(submission, &other.entry, &other.done, how);
            }
            Ok(())
        };
        match parts.iter().any(|part| part.is_held) {
            true => submission.hold(tie),
            false => tie(&mut submission),
        }?;
        submission.finish()?;
    }
    Ok(())
}

/// What a stream can have of a signal that packets of another stream fire.
trait Tie<S> {
    /// Keeps it until the stream is behind its own kernel.
    fn keep(&mut self, signal: &S);

    /// Has what follows wait until it has fallen.
    fn wait(&mut self, signal: &S);
}

impl Tie<Arc<PooledSignal>> for Submission<'_> {
    fn keep(&mut self, signal: &Arc<PooledSignal>) {
        Submission::keep(self, Keep::Signal(signal.clone()));
    }

    fn wait(&mut self, signal: &Arc<PooledSignal>) {
        self.wait_signal(signal.clone());
    }
}

/// Ties a stream whose kernel is launched with others to one of those: to what falls before it, and when it is over.
fn tie_to<S>(stream: &mut impl Tie<S>, entry: &S, done: &S, how: Together) {
    if how.before {
        // The device's queue for such kernels waits for it, and may come to that when the other is done with it.
        stream.keep(entry);
    }
    if how.after {
        stream.wait(done);
    }
}

/// Lets streams go on whose kernels will not run.
fn give_up(parts: &[Part<'_>]) {
    for part in parts {
        part.done.store(0, Ordering::Release);
    }
}
