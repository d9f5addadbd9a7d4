//! Asynchronous handlers: callbacks that one thread runs when a signal meets its condition.

use std::{
    ffi::c_void,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use parking_lot::Mutex;

use super::{Demand, HANDLERS, Watch, Watcher};

/// A callback of the program's: the value that met the demand, and the program's argument.
pub(crate) type Handler = unsafe extern "C" fn(value: i64, arg: *mut c_void) -> bool;

struct Registration {
    demand: Demand,
    _watch: Watch,
    handler: Handler,
    arg: *mut c_void,
}

// SAFETY: `arg` is handed back to the program's callback and never dereferenced here; the program
// registered it to be used on another thread.
unsafe impl Send for Registration {}

/// The registrations and the thread that serves them.
pub(crate) struct Handlers {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Something to be done on the handler thread.
pub(crate) type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Shared {
    arrived: Mutex<Vec<Registration>>,
    tasks: Mutex<Vec<Task>>,
    stop: AtomicBool,
}

impl Handlers {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("aqlipse-events".into()).spawn(move || serve(&its))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Calls `handler` whenever `demand` is met, until it returns false.
    pub(crate) fn register(&self, demand: Demand, handler: Handler, arg: *mut c_void) {
        let watch = demand.signal.watch(Watcher::Service);
        self.shared.arrived.lock().push(Registration { demand, _watch: watch, handler, arg });
        HANDLERS.notify();
    }

    /// Does `task` on the handler thread, where the program's callbacks may call anything.
    pub(crate) fn post(&self, task: Task) {
        self.shared.tasks.lock().push(task);
        HANDLERS.notify();
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        HANDLERS.notify();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic there was a callback's that unwound; it has been reported.
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Shared) {
    let mut registrations: Vec<Registration> = Vec::new();
    while !shared.stop.load(Ordering::SeqCst) {
        registrations.append(&mut shared.arrived.lock());
        let tasks = std::mem::take(&mut *shared.tasks.lock());
        let mut called = !tasks.is_empty();
        tasks.into_iter().for_each(|task| task());
        let mut index = 0;
        while index < registrations.len() && !shared.stop.load(Ordering::SeqCst) {
            let registration = &registrations[index];
            let keep = if !registration.demand.signal.is_alive() {
                false
            } else if let Some(value) = registration.demand.met() {
                called = true;
                // SAFETY: the program passed this function to be called with this argument
                // (hsa_amd_signal_async_handler).
                unsafe { (registration.handler)(value, registration.arg) }
            } else {
                true
            };
            if keep {
                index += 1;
            } else {
                registrations.swap_remove(index);
            }
        }
        if called {
            continue;
        }
        HANDLERS.wait(None, || {
            shared.stop.load(Ordering::SeqCst)
                || !shared.arrived.lock().is_empty()
                || !shared.tasks.lock().is_empty()
                || registrations.iter().any(|r| r.demand.met().is_some() || !r.demand.signal.is_alive())
        });
    }
}
