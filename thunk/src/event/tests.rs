use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{Events, MAX_EVENTS};
use crate::abi::{
    HSA_EVENTTIMEOUT_INFINITE, HSA_EVENTTYPE, HSA_EVENTTYPE_MEMORY, HSA_EVENTTYPE_SIGNAL,
    HSAKMT_STATUS_INVALID_HANDLE, HSAKMT_STATUS_INVALID_PARAMETER, HSAKMT_STATUS_OUT_OF_RESOURCES,
    HSAKMT_STATUS_WAIT_FAILURE, HSAKMT_STATUS_WAIT_TIMEOUT, HsaEvent, HsaMemoryAccessFault,
};
use crate::entry::Result;

const FOR_EVER: u32 = HSA_EVENTTIMEOUT_INFINITE;

fn events() -> Arc<Events> {
    Arc::new(Events::new().unwrap())
}

fn automatic(events: &Events) -> u64 {
    events.create(HSA_EVENTTYPE_SIGNAL, false, false).unwrap()
}

/// Starts a wait and returns when it is registered with all its events.
fn waiting(events: &Arc<Events>, handles: &[u64], all: bool) -> thread::JoinHandle<Result> {
    let before = waiters(events, handles[0]);
    let (others, list) = (Arc::clone(events), handles.to_vec());
    let thread = thread::spawn(move || others.wait(&list, all, FOR_EVER, None));
    while waiters(events, handles[0]) == before {
        thread::yield_now();
    }
    thread
}

fn waiters(events: &Events, handle: u64) -> usize {
    events.table.lock().of(handle).unwrap().waits.len()
}

fn structure(handle: u64) -> HsaEvent {
    // SAFETY: the event of this handle has not been destroyed.
    unsafe { (handle as *const HsaEvent).read_unaligned() }
}

#[test]
fn setting_an_event_that_resets_itself_wakes_everybody_who_waits() {
    let events = events();
    let event = automatic(&events);
    let threads = [(); 3].map(|()| waiting(&events, &[event], false));
    events.set(event).unwrap();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Ok(()));
    }
    // Nothing is left for threads that come later.
    assert_eq!(events.wait(&[event], false, 0, None), Err(HSAKMT_STATUS_WAIT_TIMEOUT));
}

/// A thread that was about to wait is not left behind by one that waits for the same event and comes first.
#[test]
fn a_setting_that_found_no_thread_waiting_reaches_a_second_thread() {
    let events = events();
    let event = automatic(&events);
    let poll = |events: &Arc<Events>| {
        let events = Arc::clone(events);
        thread::spawn(move || events.wait(&[event], false, 0, None)).join().unwrap()
    };
    events.set(event).unwrap();
    assert_eq!(events.wait(&[event], false, 0, None), Ok(()));
    assert_eq!(events.wait(&[event], false, 0, None), Err(HSAKMT_STATUS_WAIT_TIMEOUT), "it was taken");
    assert_eq!(poll(&events), Ok(()));
    assert_eq!(poll(&events), Err(HSAKMT_STATUS_WAIT_TIMEOUT), "only one more is told");
}

#[test]
fn an_event_that_resets_itself_stays_set_until_one_wait_takes_it() {
    let events = events();
    let event = automatic(&events);
    events.set(event).unwrap();
    assert_eq!(events.is_set(event), Ok(true));
    assert_eq!(events.wait(&[event], false, FOR_EVER, None), Ok(()));
    assert_eq!(events.wait(&[event], false, 0, None), Err(HSAKMT_STATUS_WAIT_TIMEOUT));
}

#[test]
fn an_event_reset_by_hand_stays_set_for_every_wait() {
    let events = events();
    let event = events.create(HSA_EVENTTYPE_SIGNAL, true, true).unwrap();
    for _ in 0..2 {
        assert_eq!(events.wait(&[event], false, FOR_EVER, None), Ok(()));
    }
    events.reset(event).unwrap();
    assert_eq!(events.wait(&[event], false, 0, None), Err(HSAKMT_STATUS_WAIT_TIMEOUT));
}

#[test]
fn waiting_for_all_adds_up_settings_that_come_one_after_another() {
    let events = events();
    let pair = [automatic(&events), automatic(&events)];
    let thread = waiting(&events, &pair, true);
    events.set(pair[1]).unwrap();
    thread::sleep(Duration::from_millis(5));
    assert!(!thread.is_finished());
    events.set(pair[0]).unwrap();
    assert_eq!(thread.join().unwrap(), Ok(()));
}

#[test]
fn a_wait_that_runs_out_consumes_nothing() {
    let events = events();
    let pair = [automatic(&events), automatic(&events)];
    events.set(pair[0]).unwrap();
    let start = Instant::now();
    assert_eq!(events.wait(&pair, true, 20, None), Err(HSAKMT_STATUS_WAIT_TIMEOUT));
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert_eq!(events.wait(&pair, false, 0, None), Ok(()));
}

/// One event behind two threads that each sleep until a value of their own changes: no wakeup may get lost however
/// the settings fall.
#[test]
fn threads_that_share_an_event_never_sleep_through_their_own_change() {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    const ROUNDS: u32 = 2000;
    let events = events();
    let event = automatic(&events);
    let values = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let threads = [0, 1].map(|mine| {
        let (events, values) = (Arc::clone(&events), Arc::clone(&values));
        thread::spawn(move || {
            for round in 1..=ROUNDS {
                while values[mine].load(SeqCst) < round {
                    // Long enough to be a failure, short enough not to hang.
                    events.wait(&[event], false, 20_000, None).expect("a wakeup got lost");
                }
            }
        })
    });
    for _ in 0..ROUNDS {
        for value in values.iter() {
            value.fetch_add(1, SeqCst);
            events.set(event).unwrap();
        }
    }
    // A thread that consumed the other's setting looks at its own value; the last settings reach both.
    while !threads.iter().all(|thread| thread.is_finished()) {
        events.set(event).unwrap();
        thread::yield_now();
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn destroying_an_event_ends_waits_on_it() {
    let events = events();
    let event = automatic(&events);
    let thread = waiting(&events, &[event], false);
    events.destroy(event).unwrap();
    assert_eq!(thread.join().unwrap(), Err(HSAKMT_STATUS_WAIT_FAILURE));
    assert_eq!(events.set(event), Err(HSAKMT_STATUS_INVALID_HANDLE));
    assert_eq!(events.destroy(event), Err(HSAKMT_STATUS_INVALID_HANDLE));
}

#[test]
fn handles_that_are_no_events_are_refused() {
    let events = events();
    let event = automatic(&events);
    for handle in [0, 8, event + 1] {
        assert_eq!(events.set(handle), Err(HSAKMT_STATUS_INVALID_HANDLE));
        assert_eq!(events.wait(&[event, handle], false, 0, None), Err(HSAKMT_STATUS_INVALID_HANDLE));
    }
    assert_eq!(waiters(&events, event), 0);
    let kind = HSA_EVENTTYPE(HSA_EVENTTYPE_MEMORY.0 + 1);
    assert_eq!(events.create(kind, false, false), Err(HSAKMT_STATUS_INVALID_PARAMETER));
}

#[test]
fn interrupts_name_events_by_number_and_by_mail() {
    let events = events();
    let event = automatic(&events);
    let known = structure(event);
    let (id, mailbox) = (known.EventId, known.EventData.HWData2);
    events.interrupt(id);
    assert_eq!(events.wait(&[event], false, 0, None), Ok(()));

    // Device code stores the whole number to the mailbox and sends its low bits.
    events.message(id);
    assert_eq!(events.wait(&[event], false, 0, None), Err(HSAKMT_STATUS_WAIT_TIMEOUT));
    // SAFETY: the mailbox is memory of the table's.
    unsafe { (mailbox as *mut u64).write(id.into()) };
    events.message(id & 0xff);
    assert_eq!(events.wait(&[event], false, 0, None), Ok(()));
    events.message(id & 0xff);
    assert_eq!(events.wait(&[event], false, 0, None), Err(HSAKMT_STATUS_WAIT_TIMEOUT));
    // Numbers of no event.
    events.interrupt(0);
    events.interrupt(u32::MAX);
}

#[test]
fn a_fault_is_in_the_structure_when_the_wait_returns() {
    let events = events();
    let event = events.create(HSA_EVENTTYPE_MEMORY, false, false).unwrap();
    assert_eq!({ structure(event).EventData.HWData2 }, 0);
    let fault = |address| HsaMemoryAccessFault { NodeId: 1, VirtualAddress: address, Failure: 1, Flags: 1 };
    assert_eq!(events.report_fault(&fault(0x1000)), 1);
    // Later faults follow from the first.
    assert_eq!(events.report_fault(&fault(0x2000)), 1);
    assert_eq!(events.wait(&[event], false, 0, None), Ok(()));
    let data = structure(event).EventData.EventData;
    assert_eq!((data.NodeId, data.VirtualAddress), (1, 0x1000));
}

#[test]
fn an_age_that_is_old_counts_as_set() {
    let events = events();
    let event = automatic(&events);
    let mut ages = [1];
    assert_eq!(events.wait(&[event], false, 0, Some(&mut ages)), Err(HSAKMT_STATUS_WAIT_TIMEOUT));
    events.set(event).unwrap();
    assert_eq!(events.wait(&[event], false, 0, None), Ok(()));
    assert_eq!(events.wait(&[event], false, 0, Some(&mut ages)), Ok(()));
    assert_eq!(events.wait(&[event], false, 0, Some(&mut ages)), Err(HSAKMT_STATUS_WAIT_TIMEOUT));
}

#[test]
fn identifiers_run_out_and_come_back() {
    let events = events();
    let all: Vec<_> = (1..MAX_EVENTS).map(|_| automatic(&events)).collect();
    assert_eq!(events.create(HSA_EVENTTYPE_SIGNAL, false, false), Err(HSAKMT_STATUS_OUT_OF_RESOURCES));
    events.destroy(all[7]).unwrap();
    let id = events.id(automatic(&events)).unwrap();
    assert!((1..MAX_EVENTS).contains(&id));
}
