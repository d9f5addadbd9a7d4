//! Packets that branch and loop, well-formed and not.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicU32, Ordering},
};

use emulator::{Config, Target};
use hsa_sys::*;

use super::session::{BARRIER_BIT, NONE, Queue, SECOND, Session, barrier, dispatch};
use crate::harness::{Level, code_object};

const AND: hsa_packet_type_t = HSA_PACKET_TYPE_BARRIER_AND;
const NONZERO: u32 = HSA_AMD_AQL_COND_OP_BOOL_TRUE.0;
const LESS: u32 = AQLIPSE_AQL_COND_OP_LESS.0;

/// Packets in memory that the device reads.
struct Buffer {
    packets: &'static mut [[u64; 8]],
}

impl Buffer {
    fn new(session: &Session, packets: &[[u64; 8]]) -> Self {
        let words = session.array::<[u64; 8]>(packets.len());
        words.copy_from_slice(packets);
        Self { packets: words }
    }

    fn address(&self) -> u64 {
        self.packets.as_ptr() as u64
    }
}

/// The words of a branch; runs are offset and size.
struct Branch {
    format: hsa_amd_packet_type_t,
    operation: u32,
    signal: hsa_signal_t,
    value: u64,
    runs: [(u32, u32); 2],
    base: u64,
    len: u32,
    completion: hsa_signal_t,
}

impl Branch {
    fn on(signal: hsa_signal_t, operation: u32, buffer: &Buffer, runs: [(u32, u32); 2]) -> Self {
        Self {
            format: HSA_AMD_PACKET_TYPE_AQL_COND_BRANCH,
            operation,
            signal,
            value: 0,
            runs,
            base: buffer.address(),
            len: buffer.packets.len() as u32,
            completion: NONE,
        }
    }

    fn always(buffer: &Buffer, run: (u32, u32)) -> Self {
        let format = HSA_AMD_PACKET_TYPE_AQL_INDIRECT_BUFFER;
        Self { format, ..Self::on(NONE, 0, buffer, [run, (0, 0)]) }
    }

    fn packet(&self) -> [u64; 8] {
        let run = |(start, len): (u32, u32)| u64::from(start) | u64::from(len) << 32;
        [
            u64::from(BARRIER_BIT) | u64::from(self.format.0) << 16 | u64::from(self.operation) << 32,
            self.signal.handle,
            self.value,
            run(self.runs[0]),
            run(self.runs[1]),
            self.base,
            u64::from(self.len) << 32,
            self.completion.handle,
        ]
    }
}

fn loop_back(signal: hsa_signal_t) -> [u64; 8] {
    let header = u64::from(BARRIER_BIT) | u64::from(HSA_AMD_PACKET_TYPE_AQL_LOOP_BACK.0) << 16;
    [header, signal.handle, 0, 0, 0, 0, 0, 0]
}

/// A packet that only completes.
fn mark(signal: hsa_signal_t) -> [u64; 8] {
    barrier(AND, 0, &[], signal)
}

/// Publishes packets, and one behind them; returns when that is complete.
fn run(session: &Session, queue: &Queue<'_>, packets: &[[u64; 8]]) {
    let done = session.signal(1);
    queue.submit(&[packets, &[barrier(AND, BARRIER_BIT, &[], done)]].concat());
    assert!(session.finished(done));
}

#[test]
fn a_branch_takes_one_run_or_none() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let (condition, [yes, no, whole]) = (session.signal(0), [0; 3].map(|_| session.signal(100)));
    let buffer = Buffer::new(&session, &[mark(no), mark(yes), mark(yes)]);
    for (value, len, expected) in
        [(5, 1, [98, 100]), (0, 1, [98, 99]), (-1, 1, [96, 99]), (0, 0, [96, 99]), (1, 0, [94, 99])]
    {
        session.store(condition, value);
        let branch = Branch::on(condition, NONZERO, &buffer, [(1, 2), (0, len)]);
        run(&session, &queue, &[Branch { completion: whole, ..branch }.packet()]);
        assert_eq!([session.load(yes), session.load(no)], expected, "value {value}");
    }
    assert_eq!(session.load(whole), 95, "a branch completes once, whatever it took");
    queue.destroy();
}

#[test]
fn values_are_compared_unsigned() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let (condition, [less, not]) = (session.signal(0), [0; 2].map(|_| session.signal(100)));
    let buffer = Buffer::new(&session, &[mark(less), mark(not)]);
    for (value, bound, expected) in
        [(2, 3, [99, 100]), (3, 3, [99, 99]), (-1, 3, [99, 98]), (5, u64::MAX, [98, 98])]
    {
        session.store(condition, value);
        let branch = Branch::on(condition, LESS, &buffer, [(0, 1), (1, 1)]);
        run(&session, &queue, &[Branch { value: bound, ..branch }.packet()]);
        assert_eq!([session.load(less), session.load(not)], expected, "{value} < {bound}");
    }
    queue.destroy();
}

#[test]
fn an_indirect_buffer_runs_always_and_nests() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let inner = Buffer::new(&session, &[[0; 8]; 65]);
    let done = session.signal(1);
    // Each run of one packet enters the next, down to as deep as the device says; the last only completes.
    let mut depth = 0u32;
    // SAFETY: room for the attribute.
    let status = unsafe {
        (session.hsa.hsa_agent_get_info)(
            session.gpu(0),
            AQLIPSE_AGENT_INFO_BRANCH_DEPTH,
            (&raw mut depth).cast(),
        )
    };
    assert_eq!((status, depth), (HSA_STATUS_SUCCESS, 64));
    for n in 0..depth - 1 {
        inner.packets[n as usize] = Branch::always(&inner, (n + 1, 1)).packet();
    }
    inner.packets[depth as usize - 1] = mark(done);
    let entry = Branch::always(&inner, (0, 1)).packet();
    run(&session, &queue, &[entry]);
    assert!(session.finished(done));
    // One more is too deep.
    inner.packets[depth as usize - 1] = Branch::always(&inner, (depth, 1)).packet();
    inner.packets[depth as usize] = mark(done);
    queue.destroy();
    let report = refused(&session, &[entry]);
    assert!(report.contains("inside of 64 others"), "{report}");
}

/// Takes one off a counter, which becomes the value of a signal.
const COUNT: &str = r#"
KERNEL count(u32 *counter, volatile u64 *value) {
    if (tid == 0) {
        *counter -= 1;
        *value = *counter;
    }
}
KERNEL log(u32 *list, u32 number) {
    if (tid == 0) {
        u32 at = __hip_atomic_fetch_add(list, 1u, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
        list[at + 1] = number;
    }
}
"#;

/// A loop of `turns` turns, each of which logs twice and counts; what follows logs too.
fn looping(session: &Session, turns: u32) -> Option<Vec<u32>> {
    let object = code_object(COUNT, Target::Gfx90a, Level::O1)?;
    let (count, log) = (session.kernel(0, &object, "count"), session.kernel(0, &object, "log"));
    let queue = session.queue(0, 64);
    let condition = session.signal(1);
    let memory = session.array::<u32>(8 + 2 * turns as usize);
    memory[0] = turns;
    let list = memory[1..].as_ptr() as u64;
    let arguments = |words: &[u64]| {
        let kernarg = session.array::<u64>(2);
        kernarg.copy_from_slice(words);
        &*kernarg
    };
    let logs = |number| dispatch(BARRIER_BIT, log, 1, arguments(&[list, number]), NONE);
    let counts = dispatch(0, count, 1, arguments(&[memory.as_ptr() as u64, condition.handle + 8]), NONE);
    let body = Buffer::new(session, &[logs(1), counts, logs(2), loop_back(condition)]);
    run(session, &queue, &[Branch::on(condition, NONZERO, &body, [(0, 4), (0, 0)]).packet(), logs(3)]);
    queue.destroy();
    assert_eq!(session.load(condition), 0);
    Some(memory[2..2 + memory[1] as usize].to_vec())
}

#[test]
fn a_loop_runs_until_a_kernel_stores_zero() {
    let session = Session::new();
    for turns in [1, 2, 1000] {
        let Some(log) = looping(&session, turns) else { return };
        assert_eq!(log, [[1, 2].repeat(turns as usize), vec![3]].concat());
    }
}

#[test]
fn every_legal_order_gives_the_same_loop() {
    for seed in 0..6 {
        let session = Session::with(Config { seed: Some(seed), ..Config::default() });
        let Some(log) = looping(&session, 20) else { return };
        assert_eq!(log, [[1, 2].repeat(20), vec![3]].concat());
    }
}

#[test]
fn a_queue_that_loops_leaves_others_alone_and_can_be_destroyed() {
    let session = Session::new();
    let (looping, other) = (session.queue(0, 64), session.queue(0, 64));
    let condition = session.signal(1);
    let body = Buffer::new(&session, &[mark(NONE), loop_back(condition)]);
    looping.submit(&[Branch::on(condition, NONZERO, &body, [(0, 2), (0, 0)]).packet()]);
    run(&session, &other, &[]);
    looping.destroy();
    other.destroy();
}

static STATUS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn note(status: hsa_status_t, _: *mut hsa_queue_t, signal: *mut c_void) {
    STATUS.store(status.0, Ordering::SeqCst);
    // SAFETY: the test passed a handle.
    unsafe {
        let signal = hsa_signal_t { handle: signal as u64 };
        (emulator::api().hsa_signal_store_screlease)(signal, 0);
    }
}

/// Submits packets of which one is malformed; returns what the queue's error says.
fn refused(session: &Session, packets: &[[u64; 8]]) -> String {
    let failed = session.signal(1);
    let queue = session.queue_with(0, 64, Some(note), failed.handle as *mut c_void);
    let never = session.signal(1);
    queue.submit(&[packets, &[mark(never)]].concat());
    assert!(session.finished(failed), "the queue's error callback is called");
    assert_eq!(session.load(never), 1, "nothing runs behind an error");
    queue.destroy();
    emulator::take_fault_report().expect("a fault is recorded")
}

#[test]
fn malformed_branches_are_errors_that_say_what_is_wrong() {
    let session = Session::new();
    let condition = session.signal(1);
    let buffer = Buffer::new(&session, &[mark(NONE), loop_back(condition), mark(NONE)]);
    let good = || Branch::on(condition, NONZERO, &buffer, [(0, 1), (2, 1)]);
    let with_word = |word: usize, bits: u64| {
        let mut packet = good().packet();
        packet[word] |= bits;
        packet
    };
    let leaves = "leaves a buffer of 3 packets";
    let cases: Vec<([u64; 8], &str)> = vec![
        (Branch { runs: [(0, 4), (0, 0)], ..good() }.packet(), leaves),
        (Branch { runs: [(3, 1), (0, 0)], ..good() }.packet(), "the true target"),
        (Branch { runs: [(u32::MAX, u32::MAX), (0, 0)], ..good() }.packet(), leaves),
        (Branch { runs: [(0, 1), (1, u32::MAX)], ..good() }.packet(), "the false target"),
        (Branch { len: 1 << 20, ..good() }.packet(), "which is not the device's memory"),
        (Branch { len: u32::MAX, base: !63, ..good() }.packet(), "which is not the device's memory"),
        (
            Branch { base: buffer.address() + 8, len: 2, runs: [(0, 1), (0, 1)], ..good() }.packet(),
            "not the device's",
        ),
        (Branch { base: 0, ..good() }.packet(), "which is not the device's memory"),
        (Branch { operation: 11, ..good() }.packet(), "operation 0xb"),
        (
            Branch { signal: hsa_signal_t { handle: 64 }, ..good() }.packet(),
            "condition signal 0x40 does not exist",
        ),
        (Branch { completion: hsa_signal_t { handle: 3 }, ..good() }.packet(), "completion signal 0x3"),
        (Branch { operation: NONZERO, ..Branch::always(&buffer, (0, 1)) }.packet(), "operation 0xa"),
        (with_word(0, 1 << 40), "execution mode 0x1"),
        (with_word(0, 2 << 48), "post action 0x2"),
        (with_word(0, 3 << 56), "flags 0x3"),
        (with_word(6, 4), "branch options 0x4"),
        (loop_back(condition), "a loop-back packet outside of an indirect buffer"),
        (loop_back(NONE), "condition signal 0x0 does not exist"),
    ];
    for (packet, expected) in cases {
        let report = refused(&session, &[packet]);
        assert!(report.contains(expected), "{report:?} does not say {expected:?}");
    }
}

#[test]
fn an_invalid_packet_in_a_buffer_is_an_error_with_its_place() {
    let session = Session::new();
    let invalid = [u64::from(HSA_PACKET_TYPE_INVALID.0), 0, 0, 0, 0, 0, 0, 0];
    let buffer = Buffer::new(&session, &[mark(NONE), invalid]);
    let report = refused(&session, &[Branch::always(&buffer, (0, 2)).packet()]);
    let place = format!("packet 1 of the indirect buffer at {:#x}, under packet 0", buffer.address());
    assert!(report.contains(&place) && report.contains("an invalid packet"), "{report}");
    assert_eq!(hsa_status_t(STATUS.load(Ordering::SeqCst)), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

#[test]
fn a_branch_waits_for_its_barrier_bit() {
    let session = Session::new();
    let queue = session.queue(0, 64);
    let (gate, condition, done) = (session.signal(1), session.signal(0), session.signal(1));
    let buffer = Buffer::new(&session, &[mark(done)]);
    let branch = Branch::on(condition, NONZERO, &buffer, [(0, 1), (0, 0)]);
    queue.submit(&[barrier(AND, 0, &[gate], NONE), branch.packet()]);
    assert!(!session.finished_within(done, SECOND / 50));
    // The condition is looked at when the branch's turn comes.
    session.store(condition, 1);
    session.store(gate, 0);
    assert!(session.finished(done));
    queue.destroy();
}
