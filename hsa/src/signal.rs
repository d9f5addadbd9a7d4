//! Signals: 64-bit values that the host and agents wait for (HSA Runtime 1.2, 2.4).

use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hsa_sys::*;

use crate::agent::{Agent, count, handles};
use crate::ask::ask_for;
use crate::condition::Condition;
use crate::error::{Error, check};
use crate::ledger::{Entry, Resource};
use crate::runtime::Runtime;

/// What a waiting host thread does meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitState {
    /// Sleep: the wait is expected to be long.
    Blocked,
    /// Spin: the wait is expected to be short.
    Active,
}

impl WaitState {
    const fn code(self) -> hsa_wait_state_t {
        match self {
            Self::Blocked => HSA_WAIT_STATE_BLOCKED,
            Self::Active => HSA_WAIT_STATE_ACTIVE,
        }
    }
}

/// The processors that wait for a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waiters {
    /// Host threads too, which an interrupt can wake.
    HostAndDevice,
    /// Agents only, as a rule: no interrupt is raised, and a host thread that waits spins. Cheaper to
    /// decrement.
    DeviceOnly,
}

/// When a dispatch ran, in ticks of the system clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DispatchTime {
    /// First instruction.
    pub start: u64,
    /// Completion.
    pub end: u64,
}

/// A signal, destroyed when it is dropped.
///
/// Orderings: HSA's acquire and release are sequentially consistent, so `SeqCst` costs no more than `AcqRel`.
/// Where an operation has no such half (a load cannot release) that half is ignored.
pub struct Signal {
    runtime: Arc<Runtime>,
    raw: hsa_signal_t,
    entry: Entry,
}

impl Signal {
    /// Creates a signal; no `consumers` means that every agent may wait for it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn create(
        runtime: &Arc<Runtime>,
        initial: i64,
        consumers: &[Agent],
        waiters: Waiters,
    ) -> Result<Self, Error> {
        let api = runtime.api();
        let consumers = handles(consumers);
        let mut raw = hsa_signal_t::default();
        let (function, status) = match waiters {
            Waiters::HostAndDevice => {
                // SAFETY: the array has the length given, and `raw` room for the handle.
                let status = unsafe {
                    (api.hsa_signal_create)(initial, count(consumers.len()), consumers.as_ptr(), &raw mut raw)
                };
                ("hsa_signal_create", status)
            }
            Waiters::DeviceOnly => {
                // SAFETY: as above.
                let status = unsafe {
                    (api.hsa_amd_signal_create)(
                        initial,
                        count(consumers.len()),
                        consumers.as_ptr(),
                        u64::from(HSA_AMD_SIGNAL_AMD_GPU_ONLY.0),
                        &raw mut raw,
                    )
                };
                ("hsa_amd_signal_create", status)
            }
        };
        check(function, status)?;
        let entry = Entry::new(runtime.ledger(), Resource::Signal, 0, 0);
        Ok(Self { runtime: Arc::clone(runtime), raw, entry })
    }

    /// The same, entered in the accounts under the name of its holder ([`Runtime::holdings`]).
    pub fn held_by(mut self, holder: &'static str) -> Self {
        self.entry.name(holder);
        self
    }

    /// The signal's handle, for packets.
    pub fn handle(&self) -> hsa_signal_t {
        self.raw
    }

    /// Has the signal brought here, to be stored to soon: an agent has stored to it last.
    #[inline]
    pub fn ask_for(&self) {
        // The handle is the address of an `amd_signal_t`, whose line has the value (AMD's `amd_hsa_signal.h`).
        ask_for(std::ptr::without_provenance(self.raw.handle as usize));
    }

    /// The value.
    pub fn load(&self, order: Ordering) -> i64 {
        let api = self.runtime.api();
        let load = if acquires(order) { api.hsa_signal_load_scacquire } else { api.hsa_signal_load_relaxed };
        // SAFETY: the signal exists as long as `self`.
        unsafe { load(self.raw) }
    }

    /// Stores a value and wakes the threads that wait for it.
    pub fn store(&self, value: i64, order: Ordering) {
        let api = self.runtime.api();
        let store =
            if releases(order) { api.hsa_signal_store_screlease } else { api.hsa_signal_store_relaxed };
        // SAFETY: the signal exists as long as `self`.
        unsafe { store(self.raw, value) }
    }

    /// Stores a value that no thread waits for, as when a signal is re-armed.
    pub fn silent_store(&self, value: i64, order: Ordering) {
        let api = self.runtime.api();
        let store = if releases(order) {
            api.hsa_signal_silent_store_screlease
        } else {
            api.hsa_signal_silent_store_relaxed
        };
        // SAFETY: the signal exists as long as `self`.
        unsafe { store(self.raw, value) }
    }

    /// Stores a value and returns the one before.
    pub fn exchange(&self, value: i64, order: Ordering) -> i64 {
        let api = self.runtime.api();
        let exchange = match (acquires(order), releases(order)) {
            (false, false) => api.hsa_signal_exchange_relaxed,
            (true, false) => api.hsa_signal_exchange_scacquire,
            (false, true) => api.hsa_signal_exchange_screlease,
            (true, true) => api.hsa_signal_exchange_scacq_screl,
        };
        // SAFETY: the signal exists as long as `self`.
        unsafe { exchange(self.raw, value) }
    }

    /// Stores `new` if the value is `expected`.
    ///
    /// # Errors
    /// The value, if it is another.
    pub fn compare_exchange(&self, expected: i64, new: i64, order: Ordering) -> Result<i64, i64> {
        let api = self.runtime.api();
        let cas = match (acquires(order), releases(order)) {
            (false, false) => api.hsa_signal_cas_relaxed,
            (true, false) => api.hsa_signal_cas_scacquire,
            (false, true) => api.hsa_signal_cas_screlease,
            (true, true) => api.hsa_signal_cas_scacq_screl,
        };
        // SAFETY: the signal exists as long as `self`.
        let seen = unsafe { cas(self.raw, expected, new) };
        if seen == expected { Ok(seen) } else { Err(seen) }
    }

    /// Adds to the value.
    pub fn add(&self, value: i64, order: Ordering) {
        let api = self.runtime.api();
        let add = match (acquires(order), releases(order)) {
            (false, false) => api.hsa_signal_add_relaxed,
            (true, false) => api.hsa_signal_add_scacquire,
            (false, true) => api.hsa_signal_add_screlease,
            (true, true) => api.hsa_signal_add_scacq_screl,
        };
        // SAFETY: the signal exists as long as `self`.
        unsafe { add(self.raw, value) }
    }

    /// Subtracts from the value.
    pub fn subtract(&self, value: i64, order: Ordering) {
        let api = self.runtime.api();
        let subtract = match (acquires(order), releases(order)) {
            (false, false) => api.hsa_signal_subtract_relaxed,
            (true, false) => api.hsa_signal_subtract_scacquire,
            (false, true) => api.hsa_signal_subtract_screlease,
            (true, true) => api.hsa_signal_subtract_scacq_screl,
        };
        // SAFETY: the signal exists as long as `self`.
        unsafe { subtract(self.raw, value) }
    }

    /// Waits, with acquire, until the value stands in `condition` to `operand` or `timeout` has passed, and
    /// returns the value last seen.
    ///
    /// The caller compares that value: after a timeout it does not meet the condition.
    pub fn wait(
        &self,
        condition: Condition,
        operand: i64,
        timeout: Option<Duration>,
        state: WaitState,
    ) -> i64 {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let ticks = left.map_or(u64::MAX, |left| self.runtime.duration_to_ticks(left));
            // SAFETY: the signal exists as long as `self`.
            let value = unsafe {
                (self.runtime.api().hsa_signal_wait_scacquire)(
                    self.raw,
                    condition.code(),
                    operand,
                    ticks,
                    state.code(),
                )
            };
            // The timeout is a hint: the function may return before it has passed and without the condition.
            if condition.holds(value, operand) || left.is_some_and(|left| left.is_zero()) {
                return value;
            }
        }
    }

    /// Calls `handler` once, on a thread of the HSA runtime, when the value stands in `condition` to
    /// `operand`.
    ///
    /// The signal lives at least until then.
    ///
    /// # Errors
    /// [`Error::Call`]; the handler is dropped.
    pub fn on_value(
        self: &Arc<Self>,
        condition: Condition,
        operand: i64,
        handler: impl FnOnce(i64) + Send + 'static,
    ) -> Result<(), Error> {
        let once = Box::new(Once { handler: Box::new(handler), signal: Arc::clone(self) });
        let data = Box::into_raw(once);
        // SAFETY: `data` belongs to the registration, which calls `run_once` with it exactly once.
        let status = unsafe {
            (self.runtime.api().hsa_amd_signal_async_handler)(
                self.raw,
                condition.code(),
                operand,
                Some(run_once),
                data.cast(),
            )
        };
        if let Err(error) = check("hsa_amd_signal_async_handler", status) {
            // SAFETY: the registration was refused, so the box is still ours.
            drop(unsafe { Box::from_raw(data) });
            return Err(error);
        }
        Ok(())
    }

    /// When the dispatch that this signal completed ran on `agent`.
    ///
    /// # Errors
    /// [`Error::Call`] unless the queue has profiling enabled and the dispatch has completed.
    pub fn dispatch_time(&self, agent: &Agent) -> Result<DispatchTime, Error> {
        let mut time = hsa_amd_profiling_dispatch_time_t::default();
        // SAFETY: the signal exists as long as `self`, and `time` has room for the answer.
        let status = unsafe {
            (self.runtime.api().hsa_amd_profiling_get_dispatch_time)(agent.raw(), self.raw, &raw mut time)
        };
        check("hsa_amd_profiling_get_dispatch_time", status)?;
        Ok(DispatchTime { start: time.start, end: time.end })
    }

    /// When the asynchronous copy ran that this signal completed.
    ///
    /// # Errors
    /// [`Error::Call`] unless [`Runtime::profile_copies`] was called before the copy, and the copy has completed.
    pub fn copy_time(&self) -> Result<DispatchTime, Error> {
        let mut time = hsa_amd_profiling_async_copy_time_t::default();
        // SAFETY: the signal exists as long as `self`, and `time` has room for the answer.
        let status =
            unsafe { (self.runtime.api().hsa_amd_profiling_get_async_copy_time)(self.raw, &raw mut time) };
        check("hsa_amd_profiling_get_async_copy_time", status)?;
        Ok(DispatchTime { start: time.start, end: time.end })
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        // SAFETY: the signal is ours, and the owner that drops it vouches that no packet still refers to it. A failure
        // leaves nothing to do but leak.
        let _ = unsafe { (self.runtime.api().hsa_signal_destroy)(self.raw) };
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signal({:#x} = {})", self.raw.handle, self.load(Ordering::Relaxed))
    }
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// A handler and the signal that it waits for.
struct Once {
    handler: Box<dyn FnOnce(i64) + Send>,
    signal: Arc<Signal>,
}

/// The function that the HSA runtime calls for [`Signal::on_value`].
///
/// # Safety
/// `data` came from `Box::into_raw` of a [`Once`] and is passed here once.
unsafe extern "C" fn run_once(value: hsa_signal_value_t, data: *mut c_void) -> bool {
    // SAFETY: the caller's promise.
    let once = unsafe { Box::from_raw(data.cast::<Once>()) };
    let Once { handler, signal } = *once;
    // A panic must not cross into C; the panic hook has printed it already.
    let _ = catch_unwind(AssertUnwindSafe(|| handler(value)));
    if let Some(signal) = Arc::into_inner(signal) {
        // The last reference may be the runtime's last too, and shutting down waits for this very thread.
        let _ = std::thread::Builder::new().spawn(move || drop(signal));
    }
    // ABI: false ends the registration.
    false
}
