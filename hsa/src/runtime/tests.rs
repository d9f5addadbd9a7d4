//! Runtime, agents, pools, signals and events on the fake table.

use std::sync::atomic::Ordering;
use std::sync::mpsc;

use parking_lot::Mutex;

use super::*;
use crate::agent::{Agent, AgentKind};
use crate::condition::Condition;
use crate::event::SystemEvent;
use crate::fake;
use crate::signal::{Signal, WaitState, Waiters};

fn runtime() -> Arc<Runtime> {
    Runtime::new(fake::api()).unwrap()
}

fn gpu() -> Agent {
    runtime().agents().unwrap().remove(1)
}

fn signal(initial: i64) -> Signal {
    Signal::create(&runtime(), initial, &[], Waiters::HostAndDevice).unwrap()
}

#[test]
fn every_object_keeps_the_runtime_alive() {
    // Tests may share a process, so only the difference that one runtime makes counts.
    let runtime = runtime();
    let weak = Arc::downgrade(&runtime);
    let agent = runtime.agents().unwrap().remove(0);
    let pool = agent.pools().unwrap().remove(0);
    let allocation = pool.allocate(64).unwrap();
    drop((runtime, agent, pool));
    assert!(weak.upgrade().is_some());
    assert!(fake::REFERENCES.load(Ordering::Relaxed) > 0);
    drop(allocation);
    assert!(weak.upgrade().is_none());
}

#[test]
fn clock_converts_both_ways() {
    let runtime = runtime();
    assert_eq!(runtime.version(), Ok((1, 2)));
    assert_eq!(runtime.extensions(), Ok((1, 6)));
    assert_eq!(runtime.timestamp(), Ok(12_345));
    assert_eq!(runtime.timestamp_frequency(), 100_000_000);
    assert_eq!(runtime.ticks_to_duration(150), Duration::from_nanos(1500));
    assert_eq!(runtime.duration_to_ticks(Duration::from_nanos(1501)), 151);
    assert_eq!(runtime.duration_to_ticks(Duration::MAX), u64::MAX);
    assert_eq!(runtime.ticks_to_duration(u64::MAX), Duration::from_nanos(u64::MAX));
}

#[test]
fn agents_say_what_they_are() {
    let agents = runtime().agents().unwrap();
    assert_eq!(agents.len(), 2);
    assert_eq!((agents[0].kind(), agents[0].name(), agents[0].node()), (AgentKind::Cpu, "a processor", 0));
    let gpu = &agents[1];
    assert_eq!((gpu.kind(), gpu.name(), gpu.node()), (AgentKind::Gpu, "gfx90a", 1));
    assert_eq!(gpu.wavefront_size(), Ok(64));
    assert_eq!(gpu.compute_units(), Ok(4));
    assert_eq!(gpu.cooperative_queues(), Ok(true));
    assert_eq!(gpu.workgroup_max_dim(), Ok([1024, 1023, 1022]));
    assert_eq!(gpu.grid_max_dim(), Ok([u32::MAX, 7, 8]));
    assert_eq!(gpu.isa_names(), Ok(vec![fake::ISA.clone()]));
    assert_eq!(gpu, &gpu.clone());
    assert_ne!(gpu, &agents[0]);
}

#[test]
fn unknown_attribute_is_an_error_that_names_the_function() {
    let error = gpu().chip_id().unwrap_err();
    assert_eq!(error.to_string(), "hsa_agent_get_info: HSA_STATUS_ERROR_INVALID_ARGUMENT");
}

#[test]
fn pools_say_what_they_are() {
    let pools = gpu().pools().unwrap();
    let kernarg = pools[0].properties();
    assert!(kernarg.is_kernarg() && kernarg.is_fine_grained() && !kernarg.is_coarse_grained());
    assert!(kernarg.alloc_allowed && kernarg.accessible_by_all);
    assert_eq!((kernarg.size, kernarg.granule, kernarg.alignment), (65_536, 4096, 4096));
    let group = pools[1].properties();
    assert_eq!(group.segment, hsa_sys::HSA_AMD_SEGMENT_GROUP);
    assert!(!group.alloc_allowed && !group.is_kernarg());
}

#[test]
fn allocation_is_freed_unless_it_is_given_away() {
    let pool = gpu().pools().unwrap().remove(0);
    let allocation = pool.allocate(100).unwrap();
    let address = allocation.address();
    assert_eq!(allocation.len(), 100);
    assert!(fake::allocation_exists(address));
    // SAFETY: the allocation has 100 bytes.
    unsafe { allocation.as_ptr().add(99).write_volatile(7) };
    assert_eq!(allocation.into_raw(), address);
    assert!(fake::allocation_exists(address));
    // SAFETY: `into_raw` of the same runtime gave the address away.
    drop(unsafe { crate::Allocation::from_raw(Arc::clone(pool.runtime()), address, 100) });
    assert!(!fake::allocation_exists(address));
    assert_eq!(pool.allocate(0).unwrap_err().status(), Some(hsa_sys::HSA_STATUS_ERROR_INVALID_ARGUMENT));
}

#[test]
fn virtual_memory_is_absent_without_its_functions() {
    assert!(runtime().vmem().is_none());
}

#[test]
fn signal_operations_change_the_value() {
    let signal = signal(5);
    assert_eq!(signal.load(Ordering::Acquire), 5);
    signal.add(3, Ordering::Relaxed);
    signal.subtract(1, Ordering::Release);
    assert_eq!(signal.exchange(9, Ordering::AcqRel), 7);
    assert_eq!(signal.compare_exchange(9, 10, Ordering::SeqCst), Ok(9));
    assert_eq!(signal.compare_exchange(9, 11, Ordering::SeqCst), Err(10));
    signal.silent_store(1, Ordering::Relaxed);
    signal.store(-1, Ordering::Release);
    assert_eq!(signal.load(Ordering::Relaxed), -1);
}

#[test]
fn wait_outlasts_spurious_returns() {
    let signal = signal(1);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| signal.wait(Condition::Less, 1, None, WaitState::Blocked));
        std::thread::sleep(Duration::from_millis(5));
        assert!(!waiter.is_finished());
        signal.store(0, Ordering::Release);
        assert_eq!(waiter.join().unwrap(), 0);
    });
}

#[test]
fn wait_ends_with_its_timeout() {
    let signal = signal(1);
    let start = std::time::Instant::now();
    let timeout = Duration::from_millis(5);
    assert_eq!(signal.wait(Condition::Equal, 0, Some(timeout), WaitState::Active), 1);
    assert!(start.elapsed() >= timeout);
    assert_eq!(signal.wait(Condition::Equal, 0, Some(Duration::ZERO), WaitState::Active), 1);
}

#[test]
fn conditions_hold_where_the_specification_says() {
    use Condition::*;
    for (condition, holds) in [
        (Equal, [false, true, false]),
        (NotEqual, [true, false, true]),
        (Less, [true, false, false]),
        (GreaterOrEqual, [false, true, true]),
    ] {
        assert_eq!([-1, 0, 1].map(|value| condition.holds(value, 0)), holds);
        assert_eq!(Condition::from_code(condition.code().0), Some(condition));
    }
    assert_eq!(Condition::from_code(4), None);
}

#[test]
fn handler_runs_once_and_keeps_the_signal_alive() {
    let (sender, receiver) = mpsc::channel();
    let signal = Arc::new(signal(2));
    signal.on_value(Condition::Less, 2, move |value| sender.send(value).unwrap()).unwrap();
    let value = Arc::downgrade(&signal);
    signal.store(1, Ordering::Release);
    drop(signal);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(1));
    assert!(receiver.recv().is_err(), "the handler is gone after one call");
    while value.upgrade().is_some() {
        std::thread::yield_now();
    }
}

#[test]
fn system_events_reach_every_handler_until_the_runtime_is_gone() {
    use hsa_sys::*;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let runtime = runtime();
    for name in ["a", "b"] {
        let seen = Arc::clone(&seen);
        // Both see every event; one handles faults.
        let handler = move |event| {
            seen.lock().push((name, event));
            name == "a" && matches!(event, SystemEvent::MemoryFault { .. })
        };
        runtime.on_event(Box::new(handler)).unwrap();
    }
    runtime.on_event(Box::new(|_| panic!("this handler's panic stays here"))).unwrap();
    let agent = hsa_agent_t { handle: fake::GPU };
    let memory_fault = hsa_amd_gpu_memory_fault_info_t {
        agent,
        virtual_address: 0xdead_0000,
        fault_reason_mask: HSA_AMD_MEMORY_FAULT_READ_ONLY.0,
    };
    let fault = hsa_amd_event_t {
        event_type: HSA_AMD_GPU_MEMORY_FAULT_EVENT,
        info: hsa_amd_event_info_t { memory_fault },
    };
    assert_eq!(fake::deliver(&fault), HSA_STATUS_SUCCESS);
    let event = SystemEvent::MemoryFault { agent, address: 0xdead_0000, reasons: 2 };
    assert_eq!(*seen.lock(), [("a", event), ("b", event)]);
    let unknown = hsa_amd_event_t { event_type: hsa_amd_event_type_t(9), ..fault };
    assert_ne!(fake::deliver(&unknown), HSA_STATUS_SUCCESS, "no handler has handled it");
    assert_eq!(seen.lock().last(), Some(&("b", SystemEvent::Unknown { kind: 9 })));

    let other = Runtime::new(fake::api()).unwrap();
    assert!(other.on_event(Box::new(|_| false)).is_err(), "the HSA runtime takes one handler");
    drop(runtime);
    assert_ne!(fake::deliver(&fault), HSA_STATUS_SUCCESS, "no handler is left");
    assert_eq!(seen.lock().len(), 4);
}

#[test]
fn status_is_described_by_the_runtime_or_by_its_name() {
    assert_eq!(runtime().describe(hsa_sys::HSA_STATUS_ERROR), "something failed");
    assert_eq!(runtime().describe(hsa_sys::HSA_STATUS_ERROR_FATAL), "HSA_STATUS_ERROR_FATAL");
}
