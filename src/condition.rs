//! The values that conditional nodes look at: words that kernels store to, and that no two launches use at once.

use std::{
    mem::offset_of,
    sync::{Arc, atomic::Ordering},
};

use hsa_sys::{amd_signal_t, hsa_signal_t};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    device::{Device, Fence, fence::PooledSignal},
    error::{Error, Result},
    memory_report,
    stream::submit::Submission,
};
use aqlipse_graph::{Condition, condition::SIGNAL_TO_VALUE};

/// The signal that a launch ends with, and the lane that it ends on. Not its fence: that keeps what has conditions.
type Launch = Option<(Arc<PooledSignal>, u64)>;

const _: () = assert!(offset_of!(amd_signal_t, value) as u64 == SIGNAL_TO_VALUE);

/// What keeps a condition's value: a signal, for packet processors look at those.
struct Cell {
    signal: hsa::Signal,
    /// The latest launch that uses the value.
    last: Mutex<Launch>,
}

impl Cell {
    fn of(condition: &Condition) -> Result<&Self> {
        let foreign = Error::InvalidValue("a condition that was not made for a graph of a device");
        condition.owner().downcast_ref().ok_or(foreign)
    }
}

/// Makes a condition for graphs of `device`.
///
/// # Errors
/// What the HSA runtime refuses.
pub(crate) fn create(device: &Device, default: u64) -> Result<Condition> {
    let runtime = device.0.agent.runtime();
    // CAST: signal values are signed, conditions are not.
    let signal = hsa::Signal::create(runtime, default as i64, &[], hsa::Waiters::HostAndDevice)?
        .held_by(memory_report::CONDITIONS);
    // Kernels know nothing of signals: they store into the value's field of the block that a handle points to.
    let address = signal.handle().handle + SIGNAL_TO_VALUE;
    Ok(Condition::new(address, default, Cell { signal, last: Mutex::default() }))
}

/// The signal whose value is the condition's.
///
/// # Errors
/// [`Error::InvalidValue`] for a condition that no device knows.
pub(crate) fn signal(condition: &Condition) -> Result<hsa_signal_t> {
    Ok(Cell::of(condition)?.signal.handle())
}

/// The value now.
///
/// # Errors
/// As [`signal`].
pub(crate) fn value(condition: &Condition) -> Result<u64> {
    // CAST: signal values are signed, conditions are not.
    Ok(Cell::of(condition)?.signal.load(Ordering::Acquire) as u64)
}

/// The turn of one launch to use some conditions: no other launch that uses one of them comes between.
pub(crate) struct ConditionGuard<'c>(Vec<MutexGuard<'c, Launch>>);

impl<'c> ConditionGuard<'c> {
    /// Waits for the turn; `conditions` are different ones.
    ///
    /// # Errors
    /// As [`signal`].
    pub(crate) fn take(conditions: &'c [Condition]) -> Result<Self> {
        let mut ordered: Vec<_> = conditions.iter().collect();
        // Two launches that share several conditions must not each hold one that the other wants.
        ordered.sort_unstable_by_key(|condition| condition.address());
        let lock = |condition| Ok(Cell::of(condition)?.last.lock());
        ordered.into_iter().map(lock).collect::<Result<_>>().map(Self)
    }

    /// Holds a launch back until those that used the conditions before are over.
    ///
    /// # Errors
    /// As [`Submission::wait`].
    pub(crate) fn wait(&self, submission: &mut Submission<'_>) -> Result<()> {
        for (signal, lane) in self.0.iter().filter_map(|last| last.as_ref()) {
            // On the same queue the barrier bit of whatever follows already orders it.
            if *lane != submission.lane().id() && !signal.is_over() {
                submission.wait(&Fence::new(signal.clone(), Vec::new()), *lane)?;
            }
        }
        Ok(())
    }

    /// Ends the turn with the launch that has used it.
    pub(crate) fn end(mut self, signal: &Arc<PooledSignal>, lane: u64) {
        for last in &mut self.0 {
            **last = Some((signal.clone(), lane));
        }
    }
}
