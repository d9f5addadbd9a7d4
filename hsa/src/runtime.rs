//! An initialised HSA runtime.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hsa_sys::*;
use parking_lot::{Mutex, MutexGuard};

use crate::error::{Error, check};
use crate::event::{EventHandler, HANDLERS, Handlers, on_system_event};
use crate::info::Answer;
use crate::ledger::{Holding, Ledger};
use crate::locks::Locks;
use crate::token::Token;

/// A reference to the runtime behind a function table; the last one shuts it down.
///
/// Every object of this crate holds one, so that nothing outlives the runtime that it came from.
pub struct Runtime {
    api: &'static Api,
    frequency: u64,
    handlers: Arc<Handlers>,
    /// What the system event handler carries, once it is registered.
    token: Mutex<Option<Token>>,
    locks: Mutex<Locks>,
    ledger: Arc<Ledger>,
}

impl Runtime {
    /// Initialises the runtime behind `api`, or takes another reference to it.
    ///
    /// # Errors
    /// [`Error::Call`] for `hsa_init`, for instance `HSA_STATUS_ERROR_OUT_OF_RESOURCES` where there is no
    /// device.
    pub fn new(api: &'static Api) -> Result<Arc<Self>, Error> {
        // SAFETY: the function has no precondition.
        check("hsa_init", unsafe { (api.hsa_init)() })?;
        let mut runtime = Self {
            api,
            frequency: 0,
            handlers: Arc::default(),
            token: Mutex::new(None),
            locks: Mutex::default(),
            ledger: Arc::default(),
        };
        runtime.frequency = runtime.info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)?.u64();
        Ok(Arc::new(runtime))
    }

    /// The function table, for what this crate does not wrap.
    pub fn api(&self) -> &'static Api {
        self.api
    }

    /// The accounts of resources by holder.
    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// What the objects of this crate hold that are alive, by kind, place and holder.
    pub fn holdings(&self) -> Vec<Holding> {
        self.ledger.holdings()
    }

    /// Host memory that is locked for agents.
    pub(crate) fn locks(&self) -> MutexGuard<'_, Locks> {
        self.locks.lock()
    }

    /// Version of the HSA specification that the runtime implements: major, minor.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn version(&self) -> Result<(u16, u16), Error> {
        let [major] = self.info(HSA_SYSTEM_INFO_VERSION_MAJOR)?.u16s();
        let [minor] = self.info(HSA_SYSTEM_INFO_VERSION_MINOR)?.u16s();
        Ok((major, minor))
    }

    /// Version of AMD's extensions (`HSA_AMD_INTERFACE_VERSION_*` of its header): major, minor.
    ///
    /// # Errors
    /// [`Error::Call`]: ROCr 5.2.3 does not know the question.
    pub fn extensions(&self) -> Result<(u16, u16), Error> {
        let [major] = self.info(HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR)?.u16s();
        let [minor] = self.info(HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR)?.u16s();
        Ok((major, minor))
    }

    /// The system clock now, in ticks; dispatch times are on the same clock.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn timestamp(&self) -> Result<u64, Error> {
        Ok(self.info(HSA_SYSTEM_INFO_TIMESTAMP)?.u64())
    }

    /// Ticks a second of the system clock.
    pub fn timestamp_frequency(&self) -> u64 {
        self.frequency
    }

    /// Length of `ticks` of the system clock.
    pub fn ticks_to_duration(&self, ticks: u64) -> Duration {
        let nanoseconds = u128::from(ticks) * 1_000_000_000 / u128::from(self.frequency.max(1));
        // CAST: saturated; 2^64 ns are 584 years.
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    /// Ticks of the system clock in `duration`, rounded up and saturated.
    pub fn duration_to_ticks(&self, duration: Duration) -> u64 {
        let ticks = (duration.as_nanos() * u128::from(self.frequency)).div_ceil(1_000_000_000);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Calls `handler` for every system event from now on, on a thread of the HSA runtime.
    ///
    /// # Errors
    /// [`Error::Call`] with `HSA_STATUS_ERROR` if other code in the process has registered a handler: the
    /// HSA runtime takes one.
    pub fn on_event(&self, handler: EventHandler) -> Result<(), Error> {
        let mut token = self.token.lock();
        if token.is_none() {
            let new = HANDLERS.issue(&self.handlers);
            // SAFETY: the handler has the type that the function wants, and its data is a token, not a
            // pointer.
            let status = unsafe {
                (self.api.hsa_amd_register_system_event_handler)(Some(on_system_event), new.as_data())
            };
            if let Err(error) = check("hsa_amd_register_system_event_handler", status) {
                HANDLERS.withdraw(new);
                return Err(error);
            }
            *token = Some(new);
        }
        self.handlers.add(handler);
        Ok(())
    }

    /// The runtime's words for a status.
    pub fn describe(&self, status: hsa_status_t) -> String {
        let mut text = std::ptr::null();
        // SAFETY: `text` has room for the pointer that the function stores.
        let known = unsafe { (self.api.hsa_status_string)(status, &raw mut text) };
        if known != HSA_STATUS_SUCCESS || text.is_null() {
            return format!("{status:?}");
        }
        // SAFETY: on success the pointer leads to a zero-terminated text that the runtime keeps.
        unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    pub(crate) fn info(&self, attribute: hsa_system_info_t) -> Result<Answer, Error> {
        Answer::ask("hsa_system_get_info", |value| {
            // SAFETY: `value` has more room than any system attribute needs.
            unsafe { (self.api.hsa_system_get_info)(attribute, value) }
        })
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(token) = self.token.get_mut().take() {
            HANDLERS.withdraw(token);
        }
        // SAFETY: this gives back the reference that `new` took. A failure leaves nothing to do.
        let _ = unsafe { (self.api.hsa_shut_down)() };
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("timestamp_frequency", &self.frequency).finish_non_exhaustive()
    }
}

/// Appends to the vector behind `data`: the callback of every iteration.
///
/// # Safety
/// `data` points to a `Vec<T>` that nothing else uses during the call.
pub(crate) unsafe extern "C" fn collect<T>(item: T, data: *mut c_void) -> hsa_status_t {
    // SAFETY: the caller's promise.
    unsafe { (*data.cast::<Vec<T>>()).push(item) };
    HSA_STATUS_SUCCESS
}

#[cfg(all(test, not(loom)))]
mod tests;
