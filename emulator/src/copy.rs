//! Copies that the function table is asked for: threads that wait for dependencies, copy, and complete a signal.
//!
//! Each copy engine of a device is a thread that does its copies in order, as the engine's ring would. What ROCr gives to
//! shaders or to the host is done by one more thread, in any order.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};

use parking_lot::Mutex;

use crate::{
    device::Device,
    heap::Backing,
    os::hidden,
    signal::{self, Signal, Watch, Watcher},
    svm::{Place, Svm},
    uninit,
};

/// Copies a range as `memmove` does.
///
/// # Safety
/// Both ranges are mapped, the destination writable, for the whole call.
pub(crate) unsafe fn copy(destination: u64, source: u64, size: usize) {
    uninit::shadow().copy(destination, source, size as u64);
    // SAFETY: the caller's. Raw pointers, because devices may look at both ranges meanwhile.
    unsafe { std::ptr::copy(hidden::at(source).cast_const(), hidden::at(destination), size) };
}

/// Where the rows of a box lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Address of the first byte of the box.
    pub(crate) start: u64,
    /// Bytes from a row to the next.
    pub(crate) pitch: u64,
    /// Bytes from a slice to the next.
    pub(crate) slice: u64,
}

impl Window {
    fn row(&self, y: u64, z: u64) -> u64 {
        // What wraps is an address that no device reaches.
        self.start.wrapping_add(y.wrapping_mul(self.pitch)).wrapping_add(z.wrapping_mul(self.slice))
    }
}

/// A box to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) destination: Window,
    pub(crate) source: Window,
    /// Bytes of a row.
    pub(crate) width: u64,
    pub(crate) height: u64,
    pub(crate) depth: u64,
}

impl Rect {
    /// Destination and source of each row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, u64)> {
        let Self { destination, source, height, depth, .. } = *self;
        (0..depth).flat_map(move |z| (0..height).map(move |y| (destination.row(y, z), source.row(y, z))))
    }

    /// How much is copied.
    pub(crate) fn bytes(&self) -> u64 {
        self.width * self.height * self.depth
    }

    /// Copies all rows.
    ///
    /// # Safety
    /// All rows are mapped, those of the destination writable, for the whole call.
    pub(crate) unsafe fn copy(&self) {
        for (destination, source) in self.rows() {
            // SAFETY: the caller's.
            unsafe { copy(destination, source, self.width as usize) };
        }
    }
}

/// What is copied.
pub(crate) enum Work {
    Linear {
        destination: u64,
        source: u64,
        size: usize,
    },
    Rect(Rect),
    /// Pages that move to where they will be used.
    Prefetch {
        svm: Arc<Svm>,
        pages: (u64, u64),
        to: Place,
    },
}

impl Work {
    fn bytes(&self) -> u64 {
        match self {
            Self::Linear { size, .. } => *size as u64,
            Self::Rect(rect) => rect.bytes(),
            Self::Prefetch { .. } => 0,
        }
    }
}

/// A copy that was asked for.
pub(crate) struct Copy {
    pub(crate) work: Work,
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
    /// Copies that were asked for and are not done.
    outstanding: AtomicUsize,
    /// Whether this is an engine, which copies in order and counts what it does.
    engine: bool,
}

impl Shared {
    /// The copy that is next, if it can be done.
    fn next(&self, pending: &[Pending]) -> Option<usize> {
        let candidates = if self.engine { &pending[..pending.len().min(1)] } else { pending };
        candidates.iter().position(Pending::is_ready)
    }
}

/// A thread that copies. It starts with the first copy.
pub(crate) struct Copier {
    name: String,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Copier {
    fn new(name: String, engine: bool) -> Self {
        Self { name, shared: Arc::new(Shared { engine, ..Shared::default() }), thread: Mutex::default() }
    }

    /// The thread for what no engine does.
    pub(crate) fn of_shaders() -> Self {
        Self::new("aqlipse-copy".into(), false)
    }

    /// The copy engines of a device: those that face the host, then those that face other devices.
    pub(crate) fn engines(device: &Device) -> Vec<Self> {
        let numbers = 0..device.card.copy_engines + device.card.link_copy_engines;
        numbers.map(|number| Self::new(format!("aqlipse-dma{}.{number}", device.index), true)).collect()
    }

    /// Whether it has nothing to do.
    pub(crate) fn is_free(&self) -> bool {
        self.shared.outstanding.load(Ordering::SeqCst) == 0
    }

    /// Does `copy` once all `dependencies` are 0.
    ///
    /// # Errors
    /// The operating system's, for the first copy.
    ///
    /// # Safety
    /// What is copied stays mapped, the destination writable, until the completion signal is decremented.
    pub(crate) unsafe fn submit(&self, copy: Copy, dependencies: &[Signal]) -> io::Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let its = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().name(self.name.clone());
            *thread = Some(builder.spawn(move || serve(&its))?);
        }
        drop(thread);
        let dependencies = dependencies.iter().map(|s| s.watch(Watcher::Service)).collect();
        self.shared.outstanding.fetch_add(1, Ordering::SeqCst);
        self.shared.arrived.lock().push(Pending { copy, dependencies });
        signal::copy_event().notify();
        Ok(())
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        signal::copy_event().notify();
        if let Some(thread) = self.thread.get_mut().take() {
            // A panic there has been reported by the panic hook; the copies are lost either way.
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Shared) {
    let mut pending: Vec<Pending> = Vec::new();
    while !shared.stop.load(Ordering::SeqCst) {
        pending.append(&mut shared.arrived.lock());
        match shared.next(&pending) {
            Some(index) => perform(shared, &pending.remove(index).copy),
            None => signal::copy_event().wait(None, || {
                shared.stop.load(Ordering::SeqCst)
                    || !shared.arrived.lock().is_empty()
                    || shared.next(&pending).is_some()
            }),
        }
    }
}

fn perform(shared: &Shared, request: &Copy) {
    let ticks = || request.device.as_ref().map_or(0, |d| d.ticks());
    let start = ticks();
    let mut done = Ok(());
    match request.work {
        // SAFETY: `Copier::submit`'s caller keeps what is copied mapped until the signal below.
        Work::Linear { destination, source, size } => unsafe { copy(destination, source, size) },
        // SAFETY: as above.
        Work::Rect(ref rect) => unsafe { rect.copy() },
        Work::Prefetch { ref svm, pages: (start, end), to } => done = svm.prefetch(start, end, to),
    }
    if let Some(device) = request.device.as_ref().filter(|_| shared.engine) {
        device.tally.engine_copies.add_shared(1);
        device.tally.engine_bytes.add_shared(request.work.bytes());
    }
    // A program that sees the completion finds the copier free.
    shared.outstanding.fetch_sub(1, Ordering::SeqCst);
    if let Some(completion) = request.completion.filter(|completion| completion.is_alive()) {
        completion.set_times(start, ticks());
        match done {
            Ok(()) => completion.complete(),
            // The header's word for an error.
            Err(_) => completion.store(-1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rect, Window};

    #[test]
    fn a_box_is_copied_row_by_row() {
        let source: Vec<u8> = (0..64).collect();
        let mut destination = vec![0u8; 64];
        let window = |start: u64, pitch, slice| Window { start, pitch, slice };
        let rect = Rect {
            destination: window(destination.as_mut_ptr() as u64 + 1, 4, 12),
            source: window(source.as_ptr() as u64 + 9, 8, 32),
            width: 2,
            height: 3,
            depth: 2,
        };
        assert_eq!((rect.bytes(), rect.rows().count()), (12, 6));
        // SAFETY: both vectors have 64 bytes, and no row ends behind them.
        unsafe { rect.copy() };
        let mut expected = vec![0u8; 64];
        for (z, y, x) in (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..2).map(move |x| (z, y, x)))) {
            expected[1 + 12 * z + 4 * y + x] = (9 + 32 * z + 8 * y + x) as u8;
        }
        assert_eq!(destination, expected);
    }
}
