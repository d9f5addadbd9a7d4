//! Signals, their waits and handlers, profiling times, and system events.
//!
//! Every atomic operation is sequentially consistent, whatever its name asks for at least: the wake-up
//! protocol needs it, and on x86 the difference is nothing for all but plain stores.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicI64, Ordering::SeqCst},
};

use hsa_sys::*;

use super::{entry, list, present, store, unsupported};
use crate::{
    fault,
    hardware::EVENTS,
    runtime::{self, Runtime},
    signal::{self, Condition, Demand, Signal},
};

fn create(
    make: impl FnOnce(&Runtime) -> Option<Signal>,
    consumers: (u32, *const hsa_agent_t),
    signal: *mut hsa_signal_t,
) -> Result<(), hsa_status_t> {
    let runtime = runtime::get()?;
    present(signal)?;
    // SAFETY: the program's input array.
    let agents = unsafe { list(consumers.1, consumers.0 as usize) }?;
    for (index, agent) in agents.iter().enumerate() {
        if runtime.agent(*agent).is_none() || agents[..index].contains(agent) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
    }
    let made = make(&runtime).ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
    // SAFETY: the program's output pointer.
    unsafe { store(signal, hsa_signal_t { handle: made.handle() }) }
}

/// A signal that interrupts the host, while the process has events.
fn for_hosts(runtime: &Runtime, value: i64) -> Option<Signal> {
    match runtime.hardware().few_events {
        true => Signal::create_within(EVENTS, value),
        false => Signal::create(value),
    }
}

fn find(signal: hsa_signal_t) -> Result<Signal, hsa_status_t> {
    Signal::find(signal.handle).ok_or(HSA_STATUS_ERROR_INVALID_SIGNAL)
}

entry! {
    fn hsa_signal_create(
        initial_value: i64,
        num_consumers: u32,
        consumers: *const hsa_agent_t,
        signal: *mut hsa_signal_t,
    ) {
        create(|runtime| for_hosts(runtime, initial_value), (num_consumers, consumers), signal)
    }

    fn hsa_amd_signal_create(
        initial_value: i64,
        num_consumers: u32,
        consumers: *const hsa_agent_t,
        attributes: u64,
        signal: *mut hsa_signal_t,
    ) {
        if attributes & !u64::from(HSA_AMD_SIGNAL_AMD_GPU_ONLY.0) != 0 {
            let ipc = attributes & u64::from(HSA_AMD_SIGNAL_IPC.0) != 0;
            return Err(if ipc { HSA_STATUS_ERROR_NOT_SUPPORTED } else { HSA_STATUS_ERROR_INVALID_ARGUMENT });
        }
        // Consumers that are named decide, whatever the attribute says (HSA AMD extension, `hsa_amd_signal_create`).
        let for_devices = attributes != 0 && num_consumers == 0;
        let make = |runtime: &Runtime| match for_devices {
            true => Signal::create_for_devices(initial_value),
            false => for_hosts(runtime, initial_value),
        };
        create(make, (num_consumers, consumers), signal)
    }

    fn hsa_signal_destroy(signal: hsa_signal_t) {
        runtime::get()?;
        let signal = find(signal)?;
        // A queue's own signals go with the queue.
        if !signal.is_doorbell() && signal.destroy() { Ok(()) } else { Err(HSA_STATUS_ERROR_INVALID_SIGNAL) }
    }

    fn hsa_amd_signal_async_handler(
        signal: hsa_signal_t,
        cond: hsa_signal_condition_t,
        value: i64,
        handler: hsa_amd_signal_handler,
        arg: *mut c_void,
    ) {
        let runtime = runtime::get()?;
        let handler = handler.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let condition = Condition::new(cond).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let demand = Demand { signal: find(signal)?, condition, operand: value };
        runtime.handlers.register(demand, handler, arg);
        Ok(())
    }

    fn hsa_amd_profiling_get_dispatch_time(
        agent: hsa_agent_t,
        signal: hsa_signal_t,
        time: *mut hsa_amd_profiling_dispatch_time_t,
    ) {
        let runtime = runtime::get()?;
        let device = runtime.gpu(agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        present(time)?;
        let (start, end) = find(signal)?.times();
        let (start, end) = (device.nanoseconds(start), device.nanoseconds(end));
        // SAFETY: the program's output pointer.
        unsafe { store(time, hsa_amd_profiling_dispatch_time_t { start, end }) }
    }

    fn hsa_amd_profiling_async_copy_enable(_enable: bool) {
        // The times of each copy are noted.
        runtime::get()?;
        Ok(())
    }

    fn hsa_amd_profiling_get_async_copy_time(
        signal: hsa_signal_t,
        time: *mut hsa_amd_profiling_async_copy_time_t,
    ) {
        let runtime = runtime::get()?;
        present(time)?;
        let (start, end) = find(signal)?.times();
        // PANIC: a configuration without devices is refused. The clocks of all cards count alike, so it does not matter whose
        // engine it was.
        let [start, end] = [start, end].map(|ticks| runtime.devices[0].nanoseconds(ticks));
        // SAFETY: the program's output pointer.
        unsafe { store(time, hsa_amd_profiling_async_copy_time_t { start, end }) }
    }

    fn hsa_amd_profiling_convert_tick_to_system_domain(
        agent: hsa_agent_t,
        agent_tick: u64,
        system_tick: *mut u64,
    ) {
        let runtime = runtime::get()?;
        let device = runtime.gpu(agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        // SAFETY: the program's output pointer.
        unsafe { store(system_tick, device.nanoseconds(agent_tick)) }
    }

    fn hsa_amd_register_system_event_handler(callback: hsa_amd_system_event_callback_t, data: *mut c_void) {
        runtime::get()?;
        let function = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        fault::register_handler(fault::EventHandler { function, data });
        Ok(())
    }
}

unsupported! {
    fn hsa_amd_ipc_signal_create(hsa_signal_t, *mut hsa_amd_ipc_signal_t);
    fn hsa_amd_ipc_signal_attach(*const hsa_amd_ipc_signal_t, *mut hsa_signal_t);
}

macro_rules! loads {
    ($($name:ident)*) => { $(
        pub(super) unsafe extern "C" fn $name(signal: hsa_signal_t) -> i64 {
            Signal::find(signal.handle).map_or(0, Signal::load)
        }
    )* };
}

macro_rules! stores {
    ($($name:ident => $method:ident,)*) => { $(
        pub(super) unsafe extern "C" fn $name(signal: hsa_signal_t, value: i64) {
            if let Some(signal) = Signal::find(signal.handle) {
                signal.$method(value);
            }
        }
    )* };
}

macro_rules! updates {
    ($($operation:ident: $($name:ident)*;)*) => { $($(
        pub(super) unsafe extern "C" fn $name(signal: hsa_signal_t, value: i64) {
            if let Some(signal) = Signal::find(signal.handle) {
                signal.update(|v| AtomicI64::$operation(v, value, SeqCst));
            }
        }
    )*)* };
}

macro_rules! exchanges {
    ($($name:ident)*) => { $(
        pub(super) unsafe extern "C" fn $name(signal: hsa_signal_t, value: i64) -> i64 {
            Signal::find(signal.handle).map_or(0, |s| s.update(|v| v.swap(value, SeqCst)))
        }
    )* };
}

macro_rules! compare_exchanges {
    ($($name:ident)*) => { $(
        pub(super) unsafe extern "C" fn $name(signal: hsa_signal_t, expected: i64, value: i64) -> i64 {
            let exchange = |v: &AtomicI64| match v.compare_exchange(expected, value, SeqCst, SeqCst) {
                Ok(before) | Err(before) => before,
            };
            Signal::find(signal.handle).map_or(0, |s| s.update(exchange))
        }
    )* };
}

macro_rules! waits {
    ($($name:ident)*) => { $(
        pub(super) unsafe extern "C" fn $name(
            signal: hsa_signal_t,
            condition: hsa_signal_condition_t,
            compare_value: i64,
            timeout_hint: u64,
            wait_state_hint: hsa_wait_state_t,
        ) -> i64 {
            let Some(signal) = Signal::find(signal.handle) else { return 0 };
            let Some(condition) = Condition::new(condition) else { return 0 };
            let demand = Demand { signal, condition, operand: compare_value };
            signal::wait(demand, timeout_hint, wait_state_hint == HSA_WAIT_STATE_ACTIVE)
        }
    )* };
}

loads! { hsa_signal_load_scacquire hsa_signal_load_relaxed }
stores! {
    hsa_signal_store_relaxed => store,
    hsa_signal_store_screlease => store,
    hsa_signal_silent_store_relaxed => silent_store,
    hsa_signal_silent_store_screlease => silent_store,
}
exchanges! {
    hsa_signal_exchange_scacq_screl hsa_signal_exchange_scacquire
    hsa_signal_exchange_relaxed hsa_signal_exchange_screlease
}
compare_exchanges! {
    hsa_signal_cas_scacq_screl hsa_signal_cas_scacquire hsa_signal_cas_relaxed hsa_signal_cas_screlease
}
updates! {
    fetch_add: hsa_signal_add_scacq_screl hsa_signal_add_scacquire
        hsa_signal_add_relaxed hsa_signal_add_screlease;
    fetch_sub: hsa_signal_subtract_scacq_screl hsa_signal_subtract_scacquire
        hsa_signal_subtract_relaxed hsa_signal_subtract_screlease;
    fetch_and: hsa_signal_and_scacq_screl hsa_signal_and_scacquire
        hsa_signal_and_relaxed hsa_signal_and_screlease;
    fetch_or: hsa_signal_or_scacq_screl hsa_signal_or_scacquire
        hsa_signal_or_relaxed hsa_signal_or_screlease;
    fetch_xor: hsa_signal_xor_scacq_screl hsa_signal_xor_scacquire
        hsa_signal_xor_relaxed hsa_signal_xor_screlease;
}
waits! { hsa_signal_wait_scacquire hsa_signal_wait_relaxed }

/// Returns the index of the first signal that meets its condition; `u32::MAX` after the timeout, or if
/// an argument is invalid.
pub(super) unsafe extern "C" fn hsa_amd_signal_wait_any(
    signal_count: u32,
    signals: *mut hsa_signal_t,
    conds: *mut hsa_signal_condition_t,
    values: *mut i64,
    timeout_hint: u64,
    wait_hint: hsa_wait_state_t,
    satisfying_value: *mut i64,
) -> u32 {
    let count = signal_count as usize;
    // SAFETY: the program's input arrays, of `signal_count` elements each.
    let arrays = unsafe { (list(signals, count), list(conds, count), list(values, count)) };
    let (Ok(signals), Ok(conds), Ok(values)) = arrays else { return u32::MAX };
    let demands: Option<Vec<Demand>> = signals
        .iter()
        .zip(conds)
        .zip(values)
        .map(|((signal, condition), operand)| {
            let signal = Signal::find(signal.handle)?;
            Some(Demand { signal, condition: Condition::new(*condition)?, operand: *operand })
        })
        .collect();
    let Some(demands) = demands.filter(|d| !d.is_empty()) else { return u32::MAX };
    match signal::wait_any(&demands, timeout_hint, wait_hint == HSA_WAIT_STATE_ACTIVE) {
        Some((index, value)) => {
            if !satisfying_value.is_null() {
                // SAFETY: the program's output pointer.
                unsafe { satisfying_value.write(value) };
            }
            // CAST: below `signal_count`.
            index as u32
        }
        None => u32::MAX,
    }
}
