//! Asynchronous copies: one thread that waits for dependencies, copies, and completes a signal.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use parking_lot::Mutex;

use crate::{
    device::Device,
    heap::Backing,
    os::hidden,
    signal::{self, Signal, Watch, Watcher},
};

/// Copies a range as `memmove` does.
///
/// # Safety
/// Both ranges are mapped, the destination writable, for the whole call.
pub(crate) unsafe fn copy(destination: u64, source: u64, size: usize) {
    // SAFETY: the caller's. Raw pointers, because devices may look at both ranges meanwhile.
    unsafe { std::ptr::copy(hidden::at(source).cast_const(), hidden::at(destination), size) };
}

/// A copy that was asked for.
pub(crate) struct Copy {
    pub(crate) destination: u64,
    pub(crate) source: u64,
    pub(crate) size: usize,
    pub(crate) completion: Option<Signal>,
    /// Blocks that must not vanish before the copy is done.
    pub(crate) _backing: Vec<Arc<Backing>>,
    /// The device that copies, for the times in the completion signal.
    pub(crate) device: Option<Arc<Device>>,
}

struct Pending {
    copy: Copy,
    /// Signals that must reach 0.
    dependencies: Vec<Watch>,
}

impl Pending {
    fn is_ready(&self) -> bool {
        // A dependency that was destroyed can change no more; waiting for it would wait for ever.
        self.dependencies.iter().all(|d| d.signal().load() == 0 || !d.signal().is_alive())
    }
}

#[derive(Default)]
struct Shared {
    arrived: Mutex<Vec<Pending>>,
    stop: AtomicBool,
}

/// The copy thread.
pub(crate) struct Copier {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Copier {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("aqlipse-copy".into()).spawn(move || serve(&its))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Does `copy` once all `dependencies` are 0.
    ///
    /// # Safety
    /// Both ranges stay mapped, the destination writable, until the completion signal is decremented.
    pub(crate) unsafe fn submit(&self, copy: Copy, dependencies: &[Signal]) {
        let dependencies = dependencies.iter().map(|s| s.watch(Watcher::Service)).collect();
        self.shared.arrived.lock().push(Pending { copy, dependencies });
        signal::copy_event().notify();
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        signal::copy_event().notify();
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook; the copies are lost either way.
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Shared) {
    let mut pending: Vec<Pending> = Vec::new();
    while !shared.stop.load(Ordering::SeqCst) {
        pending.append(&mut shared.arrived.lock());
        match pending.iter().position(Pending::is_ready) {
            Some(index) => {
                let Pending { copy, .. } = pending.remove(index);
                perform(&copy);
            }
            None => signal::copy_event().wait(None, || {
                shared.stop.load(Ordering::SeqCst)
                    || !shared.arrived.lock().is_empty()
                    || pending.iter().any(Pending::is_ready)
            }),
        }
    }
}

fn perform(request: &Copy) {
    let start = request.device.as_ref().map_or(0, |d| d.ticks());
    // SAFETY: `Copier::submit`'s caller keeps both ranges mapped until the signal below.
    unsafe { copy(request.destination, request.source, request.size) };
    if let Some(signal) = request.completion.filter(|s| s.is_alive()) {
        signal.set_times(start, request.device.as_ref().map_or(0, |d| d.ticks()));
        signal.complete();
    }
}
