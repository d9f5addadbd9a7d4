//! Queues: limits, priorities, masks, errors, barriers across them, times of dispatches.

use std::{
    sync::{Arc, atomic::Ordering, mpsc},
    time::{Duration, Instant},
};

use hsa::{
    Condition, Error, Executable, Packet, PoolProperties, Priority, Producers, Queue, QueueOptions,
    RingMemory, RingStores, Signal, Symbol, WaitState, Waiters,
    packet::{BarrierAnd, BarrierOr, BarrierValue, Fences, KernelDispatch, NO_SIGNAL},
};
use hsa_sys::{HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, hsa_signal_t};

use super::{LONG, machine};

fn queue(size: u32) -> Result<Queue, Error> {
    let wrong = Box::new(|status| panic!("the queue has stopped: {status:?}"));
    Queue::create(&machine().gpu, size, QueueOptions::default(), wrong)
}

/// A queue of the least size.
pub(super) fn small() -> Queue {
    queue(machine().gpu.queue_min_size().expect("a limit")).expect("a queue")
}

fn signal(value: i64) -> Signal {
    Signal::create(&machine().runtime, value, &[], Waiters::HostAndDevice).expect("a signal")
}

fn reaches_zero(signal: &Signal, within: Duration) -> bool {
    signal.wait(Condition::Equal, 0, Some(within), WaitState::Blocked) == 0
}

/// Submits packets whose signals outlive them.
fn submit(queue: &Queue, packets: &[Packet]) -> Result<u64, Error> {
    // SAFETY: the tests wait for what they submit, or destroy the queue first.
    unsafe { queue.submit(packets, |_, _| ()) }
}

fn after(deps: &[&Signal], completion: &Signal) -> BarrierAnd {
    let mut barrier =
        BarrierAnd { fences: Fences::SYSTEM, completion: completion.handle(), ..BarrierAnd::default() };
    barrier.deps.iter_mut().zip(deps).for_each(|(dep, signal)| *dep = signal.handle());
    barrier
}

#[test]
fn rings_have_every_size_between_the_limits_that_is_a_power_of_two() {
    let gpu = &machine().gpu;
    let (least, most) = (gpu.queue_min_size().expect("a limit"), gpu.queue_max_size().expect("a limit"));
    assert!(least.is_power_of_two() && most.is_power_of_two() && least <= most, "{least} to {most}");
    for size in [least, most] {
        let (queue, done) = (queue(size).expect("a limit is allowed"), signal(1));
        assert_eq!(queue.size(), size);
        submit(&queue, &[after(&[], &done).packet()]).expect("it runs");
        assert!(reaches_zero(&done, LONG), "{size}");
    }
    for size in [0, 3, least + 1, most - 1, most.saturating_mul(2)] {
        let refused = queue(size).expect_err("not a size");
        assert!(refused.status().is_some(), "{size}: {refused}");
    }
}

#[test]
fn packets_go_round_a_ring_many_times_in_order() {
    const PACKETS: i64 = 1000;
    let (queue, done) = (small(), signal(PACKETS));
    for n in 0..PACKETS {
        submit(&queue, &[after(&[], &done).packet()]).expect("it runs");
        if n == 0 {
            assert!(done.wait(Condition::Less, PACKETS, Some(LONG), WaitState::Blocked) < PACKETS);
        }
    }
    assert!(reaches_zero(&done, LONG));
    // CAST: positive.
    assert_eq!(queue.write_index(), PACKETS as u64);
}

#[test]
fn a_ring_is_in_device_memory_if_the_runtime_can_put_it_there() {
    let machine = machine();
    assert_eq!(small().ring_memory(), RingMemory::System);
    for stores in [RingStores::NonTemporal, RingStores::Ordinary] {
        let options = QueueOptions { ring: RingMemory::Device, stores, ..QueueOptions::default() };
        let queue = match Queue::create(&machine.gpu, 64, options, Box::new(|_| ())) {
            Ok(queue) => queue,
            // Without a large BAR the host could not write packets there.
            Err(Error::Call { .. }) if machine.local().access(&machine.cpu) == Ok(hsa::PoolAccess::Never) => {
                continue;
            }
            Err(error) => {
                assert_eq!(error, Error::Unsupported { function: "hsa_amd_queue_create" });
                assert!(machine.runtime.api().hsa_amd_queue_create.is_none());
                continue;
            }
        };
        assert_eq!((queue.ring_memory(), queue.size()), (RingMemory::Device, 64));
        for packets in (1..=64).chain([64; 8]) {
            // CAST: at most 64.
            let (all, last) = (signal(packets as i64 - 1), signal(1));
            let image = vec![after(&[], &all).packet(); packets];
            let mut left = packets;
            while left > 0 {
                // SAFETY: the signals outlive the packets, which are waited for.
                let copied = unsafe {
                    queue.submit_image(&image[packets - left..], |slots| {
                        if slots.packets().contains(&(left - 1)) {
                            slots.set(left - 1, 7, last.handle().handle);
                        }
                    })
                };
                left -= copied.expect("the queue runs");
            }
            assert!(reaches_zero(&all, LONG) && reaches_zero(&last, LONG), "{packets} packets, {stores:?}");
        }
    }
}

#[test]
fn queues_of_every_kind_and_priority_run() {
    for producers in [Producers::Multi, Producers::Single, Producers::Cooperative] {
        let options = QueueOptions { producers, ..QueueOptions::default() };
        let queue = Queue::create(&machine().gpu, 256, options, Box::new(|_| ())).expect("a queue");
        for priority in [Priority::Low, Priority::High, Priority::Normal] {
            let done = signal(1);
            queue.set_priority(priority).expect("a priority");
            submit(&queue, &[after(&[], &done).packet()]).expect("it runs");
            assert!(reaches_zero(&done, LONG), "{producers:?} {priority:?}");
        }
    }
}

#[test]
fn a_queue_runs_on_the_compute_units_of_its_mask() {
    let machine = machine();
    let units = machine.gpu.compute_units().expect("a number");
    let (queue, dispatch) = (small(), Affine::new());
    let all: Vec<u32> =
        (0..units.div_ceil(32)).map(|word| u32::MAX >> 32u32.saturating_sub(units - 32 * word)).collect();
    assert_eq!(queue.set_cu_mask(&all), Ok(false), "{all:x?} of {units}");
    let mut one = vec![0; all.len()];
    one[0] = 1;
    // Some drivers keep a pair of units together, and say that the mask is not what was asked for.
    queue.set_cu_mask(&one).expect("a mask");
    let done = signal(1);
    submit(&queue, &[dispatch.packet(done.handle())]).expect("it runs");
    assert!(reaches_zero(&done, LONG));
    dispatch.expect(1);
}

#[test]
fn a_malformed_packet_stops_its_queue_and_no_other() {
    let (said, heard) = mpsc::channel();
    let handler = Box::new(move |status| said.send(status).unwrap_or_default());
    let gpu = &machine().gpu;
    let stopped = Queue::create(gpu, 256, QueueOptions::default(), handler).expect("a queue");
    let (other, done, never) = (small(), signal(1), signal(1));
    let mut words = *Packet::NO_OPERATION.words();
    // Types end at 5 (HSA Runtime 1.2, 2.9.1).
    words[0] = words[0] & !0xff | 9;
    submit(&stopped, &[Packet::from_words(words), after(&[], &never).packet()])
        .expect("nobody has looked yet");
    assert_eq!(heard.recv_timeout(LONG), Ok(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT));
    assert_eq!(stopped.fault(), Some(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT));
    let refused = submit(&stopped, &[Packet::NO_OPERATION]);
    assert_eq!(refused, Err(Error::QueueStopped { status: HSA_STATUS_ERROR_INVALID_PACKET_FORMAT }));
    submit(&other, &[after(&[], &done).packet()]).expect("it runs");
    assert!(reaches_zero(&done, LONG), "the other queue runs");
    assert_eq!(never.load(Ordering::Acquire), 1, "what is behind the malformed packet never runs");
    drop(stopped);
    assert!(heard.recv_timeout(LONG).is_err(), "it is told once");
}

#[test]
fn an_inactive_queue_takes_nothing() {
    let queue = small();
    queue.inactivate().expect("it was active");
    submit(&queue, &[Packet::NO_OPERATION]).expect_err("it is inactive");
}

#[test]
fn barriers_order_the_packets_of_two_queues() {
    let (one, two) = (small(), small());
    let (gate, first, second, third) = (signal(1), signal(1), signal(1), signal(1));
    // Against the order in which they can run.
    submit(&two, &[after(&[&first], &second).packet()]).expect("it runs");
    submit(&one, &[after(&[&gate], &first).packet(), after(&[&second, &first], &third).packet()])
        .expect("it runs");
    assert!(!reaches_zero(&third, Duration::from_millis(30)));
    assert_eq!([&first, &second, &third].map(|signal| signal.load(Ordering::Acquire)), [1; 3]);
    gate.store(0, Ordering::Release);
    assert!(reaches_zero(&third, LONG));
    assert_eq!([&first, &second].map(|signal| signal.load(Ordering::Acquire)), [0; 2]);
}

#[test]
fn a_barrier_for_any_passes_with_the_first() {
    for at in 0..5 {
        let (queue, done) = (small(), signal(1));
        let gates: [_; 5] = std::array::from_fn(|_| signal(1));
        let deps = gates.each_ref().map(Signal::handle);
        let barrier = BarrierOr { fences: Fences::SYSTEM, deps, completion: done.handle() };
        submit(&queue, &[barrier.packet()]).expect("it runs");
        assert!(!reaches_zero(&done, Duration::from_millis(10)), "{at}");
        gates[at].store(0, Ordering::Release);
        assert!(reaches_zero(&done, LONG), "{at}");
    }
}

#[test]
fn a_barrier_for_a_value_compares_what_the_mask_leaves() {
    for (condition, value, passes) in [
        (Condition::Equal, 0x20, 0x125),
        (Condition::NotEqual, 0, 0x125),
        (Condition::GreaterOrEqual, 0x20, 0x13f),
        (Condition::Less, 0, i64::MIN),
    ] {
        let (queue, gate, done) = (small(), signal(0x105), signal(1));
        let mask = if passes < 0 { -1 } else { 0xf0 };
        let completion = done.handle();
        let (fences, signal) = (Fences::SYSTEM, gate.handle());
        let barrier = BarrierValue { fences, signal, value, mask, condition, completion };
        submit(&queue, &[barrier.packet()]).expect("it runs");
        assert!(!reaches_zero(&done, Duration::from_millis(10)), "{condition:?}");
        gate.store(passes, Ordering::Release);
        assert!(reaches_zero(&done, LONG), "{condition:?}");
    }
}

#[test]
fn times_of_dispatches_are_in_order_and_inside_the_hosts() {
    let machine = machine();
    let (queue, dispatch) = (small(), Affine::new());
    queue.set_profiling(true).expect("times can be had");
    let signals = [signal(1), signal(1), signal(1)];
    let before = machine.runtime.timestamp().expect("a clock");
    let started = Instant::now();
    submit(&queue, &signals.each_ref().map(|signal| dispatch.packet(signal.handle()))).expect("it runs");
    for signal in &signals {
        assert!(reaches_zero(signal, LONG));
    }
    let after = machine.runtime.timestamp().expect("a clock");
    let took = started.elapsed();
    dispatch.expect(3);
    // One clock, and in the unit that the runtime says.
    let ticks = machine.runtime.ticks_to_duration(after - before);
    // Devices have a clock of their own, which ROCr translates into the host's between two readings of both.
    let translation = Duration::from_micros(100);
    let near = |earlier: u64, later: u64| {
        earlier <= later || machine.runtime.ticks_to_duration(earlier - later) <= translation
    };
    let mut last = None;
    for signal in &signals {
        let time = signal.dispatch_time(&machine.gpu).expect("the queue records times");
        let in_order = last.is_none_or(|last| last <= time.start) && time.start <= time.end;
        assert!(
            in_order && near(before, time.start) && near(time.end, after),
            "{before} {last:?} {time:?} {after}"
        );
        last = Some(time.end);
    }
    assert!(ticks >= took / 2 && ticks <= took * 2 + Duration::from_millis(50), "{ticks:?} {took:?}");
}

/// The kernel `affine` of `kernels/tests.cpp`, as `x = x + 1` on a few words of the device.
struct Affine {
    _code: hsa::FrozenExecutable,
    kernel: u64,
    words: hsa::Allocation,
    arguments: hsa::Allocation,
    group_size: u32,
    private_size: u32,
}

impl Affine {
    const WORDS: u32 = 64;

    fn new() -> Self {
        let machine = machine();
        let code: &[u8] = match machine.gpu.name() {
            "gfx942" | "gfx950" => include_bytes!("../../kernels/tests.gfx9-4-generic.co"),
            name if name.starts_with("gfx103") => include_bytes!("../../kernels/tests.gfx10-3-generic.co"),
            name if name.starts_with("gfx11") => include_bytes!("../../kernels/tests.gfx11-generic.co"),
            name if name.starts_with("gfx12") => include_bytes!("../../kernels/tests.gfx12-generic.co"),
            _ => include_bytes!("../../kernels/tests.gfx90a.co"),
        };
        let mut executable = Executable::create(&machine.runtime).expect("an executable");
        executable.load(&machine.gpu, Arc::from(code)).expect("it is of the device's target");
        let code = executable.freeze().expect("nothing is undefined");
        let symbol = code.symbol(&machine.gpu, "affine.kd").expect("symbols can be had");
        let Some(Symbol::Kernel { object, kernarg_size, group_size, private_size }) = symbol else {
            panic!("no kernel: {symbol:?}");
        };
        assert!(kernarg_size >= 20);
        // CAST: small.
        let words = machine.local().allocate(4 * Self::WORDS as usize).expect("memory");
        let arguments =
            machine.host(PoolProperties::is_kernarg).allocate(kernarg_size as usize).expect("memory");
        arguments.allow_access(std::slice::from_ref(&machine.gpu)).expect("access");
        // SAFETY: the words exist and belong to nobody else; so do the arguments, of which there are that many.
        unsafe {
            machine.runtime.fill(words.address(), 0, Self::WORDS as usize).expect("a fill");
            arguments.as_ptr().cast::<u64>().write(words.address());
            arguments.as_ptr().add(8).cast::<[u32; 3]>().write([Self::WORDS, 1, 1]);
        }
        Self { _code: code, kernel: object, words, arguments, group_size, private_size }
    }

    fn packet(&self, completion: hsa_signal_t) -> Packet {
        assert_ne!(completion, NO_SIGNAL);
        KernelDispatch {
            fences: Fences::SYSTEM,
            grid: [Self::WORDS, 1, 1],
            workgroup: [64, 1, 1],
            group_segment: self.group_size,
            private_segment: self.private_size,
            kernarg_address: self.arguments.address(),
            completion,
            ..KernelDispatch::new(self.kernel)
        }
        .packet()
        .expect("no dimension is empty")
    }

    /// Asserts that it has run `times` times.
    fn expect(&self, times: u32) {
        let machine = machine();
        // CAST: small.
        let bytes = 4 * Self::WORDS as usize;
        let seen = machine.shared(bytes);
        // SAFETY: both ranges exist, and the dispatches are over.
        let words = unsafe {
            machine.runtime.copy(seen.address(), self.words.address(), bytes).expect("a copy");
            std::slice::from_raw_parts(seen.as_ptr().cast::<u32>(), Self::WORDS as usize)
        };
        assert!(words.iter().all(|word| *word == times), "{words:?}");
    }
}
