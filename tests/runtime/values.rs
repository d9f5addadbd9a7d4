//! Words in memory that streams write and wait for.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use aqlipse::{
    Condition, Error, Exec, Options, Word, capture,
    graph::NodeKind,
    memory::{self, Origin, Region},
};

use super::{Gate, affine, buffer, device, stream};

/// Eight bytes that host and device share.
pub struct Shared(Arc<Region>);

impl Shared {
    pub fn new(value: u64) -> Self {
        let shared = Self(memory::allocate_host(&device(), 8, Origin::Host, 0).unwrap());
        shared.word().store(value, SeqCst);
        shared
    }

    pub fn address(&self) -> u64 {
        self.0.address
    }

    pub fn word(&self) -> &AtomicU64 {
        // SAFETY: eight aligned bytes of host memory that live as long as the region, which only atomics touch.
        unsafe { AtomicU64::from_ptr(self.address() as usize as *mut u64) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        memory::free_host(self.address()).expect("allocated above");
    }
}

#[test]
fn a_write_comes_behind_the_work_before_it_and_touches_no_other_byte() {
    let (stream, shared) = (stream(), Shared::new(u64::MAX));
    let gate = Gate::on(&stream);
    stream.write_value(shared.address(), Word::U32(0x1234_5678)).unwrap();
    thread::sleep(Duration::from_millis(20));
    assert_eq!(shared.word().load(SeqCst), u64::MAX);
    gate.open();
    stream.synchronize().unwrap();
    assert_eq!(shared.word().load(SeqCst), 0xffff_ffff_1234_5678);
    stream.write_value(shared.address(), Word::U64(0x1122_3344_5566_7788)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(shared.word().load(SeqCst), 0x1122_3344_5566_7788);
}

#[test]
fn a_wait_holds_its_stream_until_the_condition_is_met() {
    use Condition::{And, AtLeast, Equal, Nor};
    const ALL: u64 = u64::MAX;
    // What does not meet the condition, the condition, the mask, and what does meet it.
    let cases = [
        (99, AtLeast, Word::U64(100), ALL, 100),
        (99, AtLeast, Word::U64(100), ALL, ALL),
        (0x110, AtLeast, Word::U64(0x20), 0xff, 0x20),
        (8, Equal, Word::U64(7), ALL, 7),
        (0x4431, Equal, Word::U64(0x30), 0xff, 0x4430),
        (0x0ff, And, Word::U64(0x100), ALL, 0x700),
        (0x100, And, Word::U64(0x101), 0xff, 1),
        (0xff, Nor, Word::U64(0x0f), 0xff, 0x4f),
        (ALL << 8, Nor, Word::U64(0xff), ALL, 0),
        (6, Equal, Word::U32(5), ALL, 0x5_0000_0005),
        (ALL, Nor, Word::U32(0), ALL, 0xffff_ffff_0000_0000),
    ];
    for (n, (before, condition, value, mask, after)) in cases.into_iter().enumerate() {
        let (stream, shared) = (stream(), Shared::new(before));
        stream.wait_value(shared.address(), condition, value, mask).unwrap();
        thread::sleep(Duration::from_millis(10));
        assert_eq!(stream.is_idle(), Ok(false), "case {n}");
        shared.word().store(after, SeqCst);
        stream.synchronize().unwrap();
    }
}

#[test]
fn one_stream_lets_another_go_on() {
    let (waiting, writing, shared) = (stream(), stream(), Shared::new(0));
    let data = buffer(&[1u32; 64]);
    waiting.wait_value(shared.address(), Condition::Equal, Word::U64(5), u64::MAX).unwrap();
    waiting.run(&affine(&data, 3, 0)).unwrap();
    writing.run(&affine(&data, 1, 4)).unwrap();
    writing.write_value(shared.address(), Word::U64(5)).unwrap();
    waiting.synchronize().unwrap();
    assert_eq!(data.read(&waiting).unwrap(), [15; 64]);
}

#[test]
fn words_lie_aligned_in_memory_that_the_device_reaches() {
    let (stream, shared, pageable) = (stream(), Shared::new(0), 0u64);
    let unreachable =
        [0, shared.address() + 1, shared.address() + 4, shared.address() + 8, (&raw const pageable) as u64];
    for address in unreachable {
        let wait = stream.wait_value(address, Condition::Equal, Word::U64(0), u64::MAX);
        assert!(matches!(wait, Err(Error::InvalidValue(_))), "{address:#x}: {wait:?}");
        let write = stream.write_value(address, Word::U64(0));
        assert!(matches!(write, Err(Error::InvalidValue(_))), "{address:#x}: {write:?}");
    }
    stream.write_value(shared.address() + 4, Word::U32(1)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(shared.word().load(SeqCst), 1 << 32);
}

#[test]
fn captured_words_are_written_and_waited_for_at_the_launch() {
    let (first, second, stream) = (Shared::new(0), Shared::new(0), stream());
    capture::begin(&stream, capture::Mode::Global, None).unwrap();
    stream.wait_value(first.address(), Condition::Equal, Word::U64(5), 0xf).unwrap();
    stream.write_value(second.address(), Word::U64(7)).unwrap();
    let template = capture::end(&stream).unwrap();
    let exec = {
        let template = template.lock();
        assert!(template.graph().nodes().all(|(_, node)| node.kind() == NodeKind::BatchMemOp));
        Exec::new(&template, Options::default()).unwrap()
    };
    for round in 1..3 {
        first.word().store(0, SeqCst);
        second.word().store(0, SeqCst);
        exec.launch(&stream).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert_eq!((stream.is_idle(), second.word().load(SeqCst)), (Ok(false), 0), "round {round}");
        first.word().store(0xf5, SeqCst);
        stream.synchronize().unwrap();
        assert_eq!(second.word().load(SeqCst), 7, "round {round}");
    }
}

#[test]
fn a_word_that_cannot_be_waited_for_spoils_no_capture() {
    let (shared, stream) = (Shared::new(0), stream());
    capture::begin(&stream, capture::Mode::Relaxed, None).unwrap();
    assert!(stream.write_value(shared.address() + 1, Word::U64(1)).is_err());
    let template = capture::end(&stream).unwrap();
    assert_eq!(template.lock().graph().nodes().count(), 0);
}
