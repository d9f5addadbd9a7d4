//! The packet processor of a device: one thread that serves all its queues (HSA Runtime 1.2, 2.9).
//!
//! Packets of a queue are launched in order; what has been launched may run concurrently unless a
//! barrier bit says otherwise. Doorbells are hints that wake the thread: it launches whatever is valid
//! below the write index. When nothing can be done it spins for some microseconds, then sleeps.

pub(crate) mod branch;
mod engine;
mod header;
mod interrupts;
mod lane;
mod packet;
mod pm4;
mod random;
mod refusal;
mod seeded;
mod signals;
mod turns;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
};

use parking_lot::{Mutex, MutexGuard};

use crate::{
    device::{Device, MAX_QUEUES},
    queue::Queue,
    signal::{self, Handlers},
    workers::Workers,
};
use engine::Engine;
pub(crate) use engine::{LONG_NAP, NAP, SPIN};
pub use interrupts::Interrupts;

/// What a packet processor serves.
#[derive(Clone)]
pub(crate) enum Client {
    /// The function table: signals lie in the table's slab, faults go to the program's callbacks.
    Table(Arc<Handlers>),
    /// A client of the driver: signals lie in its memory, faults and interrupts go to it.
    Driver(Arc<dyn Interrupts>),
}

/// What other threads ask of the packet processor.
enum Request {
    /// Serve a queue.
    Attach(Arc<Queue>),
    /// Serve it no more; answer when nothing of it runs any longer.
    Detach(u64, Sender<()>),
    /// Answer once the queue states of this moment are respected.
    Quiesce(Sender<()>),
    /// Abort what runs of a queue that is stopped; answer when nothing of it runs any longer.
    Abort(u64, Sender<()>),
}

/// In cache lines of its own, as [`Queue`] is.
#[derive(Default)]
#[repr(align(128))]
struct Shared {
    requests: Mutex<Vec<Request>>,
    stop: AtomicBool,
}

impl Shared {
    fn requests(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock()
    }
}

/// A running packet processor.
pub(crate) struct Processor {
    shared: Arc<Shared>,
    device: u32,
    queues: Mutex<u32>,
    thread: Option<JoinHandle<()>>,
}

impl Processor {
    /// Starts the thread of `device`.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn start(
        device: Arc<Device>,
        workers: Arc<Workers>,
        client: Client,
        seed: Option<u64>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let index = device.index;
        let engine = Engine::new(device, workers, client, seed, Arc::clone(&shared))?;
        let name = format!("aqlipse-cp{index}");
        let thread = std::thread::Builder::new().name(name).spawn(move || engine.serve())?;
        Ok(Self { shared, device: index, queues: Mutex::new(0), thread: Some(thread) })
    }

    fn ask(&self, request: Request) {
        self.shared.requests().push(request);
        self.wake();
    }

    fn ask_and_wait(&self, request: impl FnOnce(Sender<()>) -> Request) {
        let (sender, receiver): (_, Receiver<()>) = channel();
        self.ask(request(sender));
        // An error means that the thread is gone, and with it all access to the queue.
        let _ = receiver.recv();
    }

    /// Serves `queue` from now on; `false` if the device has no queue left.
    pub(crate) fn attach(&self, queue: &Arc<Queue>) -> bool {
        let mut queues = self.queues.lock();
        if *queues >= MAX_QUEUES {
            return false;
        }
        *queues += 1;
        self.ask(Request::Attach(Arc::clone(queue)));
        true
    }

    /// Drops what is pending in `queue` and returns when neither its ring nor anything on its behalf
    /// is touched any more.
    pub(crate) fn detach(&self, queue: &Queue) {
        self.ask_and_wait(|answer| Request::Detach(queue.id, answer));
        *self.queues.lock() -= 1;
    }

    /// Wakes the thread: a queue may be served again.
    pub(crate) fn wake(&self) {
        signal::wake_processor(self.device);
    }

    /// Aborts what runs of `queue`, which is stopped, and returns when nothing of it does any more.
    pub(crate) fn abort(&self, queue: &Queue) {
        self.ask_and_wait(|answer| Request::Abort(queue.id, answer));
    }

    /// Returns when the packet processor has seen that `queue` is stopped.
    pub(crate) fn quiesce(&self, _queue: &Queue) {
        self.ask_and_wait(Request::Quiesce);
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}
