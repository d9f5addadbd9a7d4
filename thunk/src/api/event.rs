//! Events.

use crate::{
    abi::{
        HSA_EVENTTYPE, HSAKMT_STATUS_INVALID_HANDLE, HSAKMT_STATUS_INVALID_PARAMETER,
        HSAKMT_STATUS_WAIT_TIMEOUT, HsaEvent, HsaEventDescriptor, In, Out,
    },
    entry::{Result, entry},
    event::MAX_EVENTS,
    session,
};

/// The structure of an event, as a handle: looked up, never followed.
type Handle = Out<HsaEvent>;

/// Reads a list of events, and refuses an empty or absurd one.
fn handles(events: In<u64>, count: u32) -> Result<Vec<u64>> {
    if count == 0 || count > MAX_EVENTS {
        return Err(HSAKMT_STATUS_INVALID_PARAMETER);
    }
    events.read_all(count as usize).map_err(|_| HSAKMT_STATUS_INVALID_HANDLE)
}

/// Reads the ages that a caller has seen, waits, and tells it the new ones.
fn wait(handles: &[u64], all: bool, milliseconds: u32, ages: Option<Out<u64>>) -> Result {
    let session = session::current()?;
    let Some(place) = ages.filter(|ages| !ages.is_null()) else {
        return session.events.wait(handles, all, milliseconds, None);
    };
    let mut ages = place.read_all(handles.len())?;
    let result = session.events.wait(handles, all, milliseconds, Some(&mut ages));
    // CAST: at most MAX_EVENTS.
    place.write_all(ages.len() as u32, &ages)?;
    result
}

entry! {
    /// Makes an event.
    fn hsaKmtCreateEvent(
        descriptor: In<HsaEventDescriptor>,
        manual_reset: u8,
        is_signaled: u8,
        event: Out<u64>,
    ) {
        let session = session::current()?;
        let (descriptor, event) = (descriptor.read()?, event.check()?);
        let kind = HSA_EVENTTYPE(descriptor.EventType);
        event.write(session.events.create(kind, manual_reset != 0, is_signaled != 0)?)
    }

    /// Ends an event.
    fn hsaKmtDestroyEvent(event: Handle) {
        session::current()?.events.destroy(event.address())
    }

    /// Sets an event.
    fn hsaKmtSetEvent(event: Handle) {
        session::current()?.events.set(event.address())
    }

    /// Clears an event.
    fn hsaKmtResetEvent(event: Handle) {
        session::current()?.events.reset(event.address())
    }

    /// Whether an event is set: success, or a timeout.
    fn hsaKmtQueryEventState(event: Handle) {
        let set = session::current()?.events.is_set(event.address())?;
        if set { Ok(()) } else { Err(HSAKMT_STATUS_WAIT_TIMEOUT) }
    }

    /// Sleeps until an event is set.
    fn hsaKmtWaitOnEvent(event: Handle, milliseconds: u32) {
        wait(&[event.address()], false, milliseconds, None)
    }

    /// Sleeps until one event, or all, have been set.
    fn hsaKmtWaitOnMultipleEvents(events: In<u64>, count: u32, all: u8, milliseconds: u32) {
        wait(&handles(events, count)?, all != 0, milliseconds, None)
    }

    /// As `hsaKmtWaitOnEvent`; an event older than the age given counts as set.
    fn hsaKmtWaitOnEvent_Ext(event: Handle, milliseconds: u32, age: Out<u64>) {
        wait(&[event.address()], false, milliseconds, Some(age))
    }

    /// As `hsaKmtWaitOnMultipleEvents`; an event older than its age given counts as set.
    fn hsaKmtWaitOnMultipleEvents_Ext(events: In<u64>, count: u32, all: u8, milliseconds: u32, ages: Out<u64>) {
        wait(&handles(events, count)?, all != 0, milliseconds, Some(ages))
    }
}
