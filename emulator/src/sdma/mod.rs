//! Copy engines: each serves rings of packets in the memory of clients of the driver, on a thread of its own.
//!
//! Packets of a ring are executed in order. An engine takes turns among its rings, and a ring whose packet waits for a
//! word in memory holds up no other. Doorbells are plain memory, so an engine with rings looks at them, less often
//! after longer idleness.

mod packet;
mod server;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Sender, channel},
    },
    thread::JoinHandle,
};

use parking_lot::Mutex;

use crate::{
    device::Device,
    os::Event,
    processor::Interrupts,
    queue::{Backing, State},
};
use server::Server;

/// Where a ring and its words lie.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// A multiple of 256.
    pub(crate) ring: u64,
    /// A power of two.
    pub(crate) bytes: u64,
    /// Addresses of the 64-bit words that count the bytes which were executed, claimed, and published.
    pub(crate) read_pointer: u64,
    pub(crate) write_pointer: u64,
    pub(crate) doorbell: u64,
}

/// A ring of packets that exists.
pub(crate) struct Queue {
    pub(crate) id: u64,
    pub(crate) device: u32,
    /// The engine that serves it, by its number on the device.
    pub(crate) engine: usize,
    place: Place,
    state: Mutex<State>,
    /// Losses of the device before the ring was made: a later one ends it.
    losses: u32,
    /// Keeps ring and words mapped until the queue is gone.
    _memory: Vec<Backing>,
}

impl Queue {
    /// A ring that is empty, all of which `memory` keeps mapped.
    pub(crate) fn new(
        id: u64,
        device: &Device,
        engine: usize,
        place: Place,
        memory: Vec<Backing>,
    ) -> Arc<Self> {
        let queue = Self {
            id,
            device: device.index,
            engine,
            place,
            state: Mutex::new(State::Active),
            losses: device.losses.load(Ordering::SeqCst),
            _memory: memory,
        };
        for address in [place.read_pointer, place.write_pointer, place.doorbell] {
            queue.word(address).store(0, Ordering::Relaxed);
        }
        Arc::new(queue)
    }

    fn word(&self, address: u64) -> &AtomicU64 {
        // SAFETY: aligned, and mapped while the queue exists; both sides reach it by atomics.
        unsafe { AtomicU64::from_ptr(address as *mut u64) }
    }

    /// The dword of the ring that a pointer falls into.
    fn fetch(&self, pointer: u64) -> u32 {
        let place = (self.place.ring + (pointer & (self.place.bytes - 1))) as *const u32;
        // SAFETY: inside the ring, whose size is a multiple of 4; a client that changes what it has published gets a
        // mixture of its own dwords.
        unsafe { place.read_volatile() }
    }

    /// Changes the state, unless it has come to an end.
    pub(crate) fn change(&self, state: State) {
        let mut current = self.state.lock();
        if matches!(*current, State::Active | State::Inactive) {
            *current = state;
        }
    }

    /// Marks the queue destroyed; `false` if another thread did.
    pub(crate) fn retire(&self) -> bool {
        std::mem::replace(&mut *self.state.lock(), State::Destroyed) != State::Destroyed
    }

    fn state(&self) -> State {
        *self.state.lock()
    }

    /// Rings the doorbell for all that has been claimed, on the client's behalf.
    pub(crate) fn ring(&self) {
        let claimed = self.word(self.place.write_pointer).load(Ordering::Acquire);
        self.word(self.place.doorbell).store(claimed, Ordering::Release);
    }
}

/// What other threads ask of an engine.
enum Request {
    /// Serve a queue.
    Attach(Arc<Queue>),
    /// Serve it no more, and answer.
    Detach(u64, Sender<()>),
    /// Answer once the queue states of this moment are respected.
    Quiesce(Sender<()>),
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    stop: AtomicBool,
    event: Event,
}

impl Shared {
    fn has_news(&self) -> bool {
        self.stop.load(Ordering::SeqCst) || !self.requests.lock().is_empty()
    }
}

/// A thread, once there is something to serve, and how many queues it serves.
#[derive(Default)]
struct Thread {
    handle: Option<JoinHandle<()>>,
    queues: u32,
}

/// A copy engine of a device. Its thread starts with the first queue.
pub(crate) struct Engine {
    device: Arc<Device>,
    number: usize,
    interrupts: Arc<dyn Interrupts>,
    shared: Arc<Shared>,
    thread: Mutex<Thread>,
}

impl Engine {
    /// All engines of a device: those that face the host, then those that face other devices.
    pub(crate) fn all(device: &Arc<Device>, interrupts: &Arc<dyn Interrupts>) -> Vec<Self> {
        let numbers = 0..(device.card.copy_engines + device.card.link_copy_engines) as usize;
        let engine = |number| Self {
            device: Arc::clone(device),
            number,
            interrupts: Arc::clone(interrupts),
            shared: Arc::default(),
            thread: Mutex::default(),
        };
        numbers.map(engine).collect()
    }

    /// How many queues it serves.
    pub(crate) fn queues(&self) -> u32 {
        self.thread.lock().queues
    }

    /// Serves `queue` from now on.
    ///
    /// # Errors
    /// The operating system's, for the first queue.
    pub(crate) fn attach(&self, queue: &Arc<Queue>) -> io::Result<()> {
        let mut thread = self.thread.lock();
        if thread.handle.is_none() {
            let (device, shared) = (Arc::clone(&self.device), Arc::clone(&self.shared));
            let server = Server::new(device, self.number, Arc::clone(&self.interrupts), shared);
            let name = format!("aqlipse-dma{}.{}", self.device.index, self.number);
            thread.handle = Some(std::thread::Builder::new().name(name).spawn(move || server.serve())?);
        }
        thread.queues += 1;
        self.ask(Request::Attach(Arc::clone(queue)));
        Ok(())
    }

    fn ask(&self, request: Request) {
        self.shared.requests.lock().push(request);
        self.wake();
    }

    fn ask_and_wait(&self, request: impl FnOnce(Sender<()>) -> Request) {
        let (sender, receiver) = channel();
        self.ask(request(sender));
        // An error means that the thread is gone, and with it all access to the queue.
        let _ = receiver.recv();
    }

    /// Returns when nothing of `queue` is touched any more. Packets that were not executed are dropped.
    pub(crate) fn detach(&self, queue: &Queue) {
        self.ask_and_wait(|answer| Request::Detach(queue.id, answer));
        self.thread.lock().queues -= 1;
    }

    /// Returns when the engine has seen the states of its queues.
    pub(crate) fn quiesce(&self) {
        self.ask_and_wait(Request::Quiesce);
    }

    /// Looks at the doorbells again.
    pub(crate) fn wake(&self) {
        self.shared.event.notify();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.get_mut().handle.take() {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}
