//! Copy engines behind the function table.

use std::{ffi::c_void, ptr::null};

use emulator::Target;
use hsa_sys::*;

use super::session::{Session, ok};

const BYTES: usize = 1 << 16;
const GATE_CLOSED: u64 = 20_000_000;
const MISSING: &str = "the emulator has the functions of copy engines";

/// A copy that a test asks for.
struct Ask {
    to: (*mut c_void, hsa_agent_t),
    from: (*mut c_void, hsa_agent_t),
    after: Option<hsa_signal_t>,
    engine: u32,
    force: bool,
}

impl Session {
    /// Copies and fills by engines of a device so far, and their bytes.
    fn engine_copies(&self, gpu: usize) -> (u64, u64) {
        let counters = emulator::counters(gpu).expect("a device");
        (counters.engine_copies, counters.engine_bytes)
    }

    fn copy_on_engine(&self, ask: &Ask, done: hsa_signal_t) -> hsa_status_t {
        let copy = self.hsa.hsa_amd_memory_async_copy_on_engine.expect(MISSING);
        let after = ask.after.as_slice();
        let dependencies = if after.is_empty() { null() } else { after.as_ptr() };
        let (count, engine) = (after.len() as u32, hsa_amd_sdma_engine_id_t(ask.engine));
        let ((to, to_agent), (from, from_agent)) = (ask.to, ask.from);
        // SAFETY: memory of the runtime's, which stays.
        unsafe { copy(to, to_agent, from, from_agent, BYTES, count, dependencies, done, engine, ask.force) }
    }

    /// The engines that are free for copies from the second agent to the first.
    fn free_engines(&self, to: hsa_agent_t, from: hsa_agent_t) -> Result<u32, hsa_status_t> {
        let mut mask = 0;
        // SAFETY: an output pointer of ours.
        match unsafe { (self.hsa.hsa_amd_memory_copy_engine_status.expect(MISSING))(to, from, &mut mask) } {
            HSA_STATUS_SUCCESS => Ok(mask),
            status => Err(status),
        }
    }

    fn local(&self, gpu: usize) -> *mut c_void {
        self.try_allocate(self.pools(self.gpu(gpu))[0], BYTES).expect("small")
    }
}

/// The bytes of an allocation.
fn bytes(start: *const c_void) -> &'static [u8] {
    // SAFETY: an allocation of so many bytes that no test frees; nothing writes to it when this is called.
    unsafe { std::slice::from_raw_parts(start.cast(), BYTES) }
}

#[test]
fn engines_copy_both_ways_and_are_counted() {
    let session = Session::new();
    let (cpu, gpu) = (session.cpu(), session.gpu(0));
    let local = session.local(0);
    let source = session.array::<u8>(BYTES);
    source.iter_mut().zip(0..).for_each(|(byte, value)| *byte = value as u32 as u8);
    let back = session.array::<u8>(BYTES);
    for (ask, copies) in [
        (
            Ask {
                to: (local, gpu),
                from: (source.as_mut_ptr().cast(), cpu),
                after: None,
                engine: 1,
                force: false,
            },
            1,
        ),
        (
            Ask {
                to: (back.as_mut_ptr().cast(), cpu),
                from: (local, gpu),
                after: None,
                engine: 2,
                force: false,
            },
            2,
        ),
        // By shaders, unless the program insists.
        (Ask { to: (local, gpu), from: (local, gpu), after: None, engine: 2, force: false }, 2),
        (Ask { to: (local, gpu), from: (local, gpu), after: None, engine: 2, force: true }, 3),
    ] {
        let done = session.signal(1);
        let before = emulator::os::now();
        ok(session.copy_on_engine(&ask, done));
        assert!(session.finished(done));
        let after = emulator::os::now();
        assert_eq!(session.engine_copies(0), (copies, copies * BYTES as u64));
        let mut time = hsa_amd_profiling_async_copy_time_t::default();
        // SAFETY: an output pointer of ours.
        unsafe {
            ok((session.hsa.hsa_amd_profiling_async_copy_enable)(true));
            ok((session.hsa.hsa_amd_profiling_get_async_copy_time)(done, &mut time));
        }
        // The device's clock ticks every 10 ns.
        let is_within = before <= time.start + 10 && time.start <= time.end && time.end <= after;
        assert!(is_within, "{before} {time:?} {after}");
    }
    assert_eq!(bytes(back.as_ptr().cast()), source);
}

#[test]
fn an_engine_copies_in_order_and_engines_do_not_wait_for_each_other() {
    let session = Session::new();
    let (cpu, gpu) = (session.cpu(), session.gpu(0));
    let (first, second) = (session.local(0), session.local(0));
    let host = session.array::<u8>(BYTES);
    let gate = session.signal(1);
    let host = host.as_mut_ptr().cast::<c_void>();
    let ask = |local: *mut c_void, after, engine| Ask {
        to: (host, cpu),
        from: (local, gpu),
        after,
        engine,
        force: false,
    };
    let [held, behind, beside] = [1, 1, 1].map(|value| session.signal(value));
    assert_eq!(session.free_engines(cpu, gpu), Ok(0b11110), "the first one takes uploads only");
    ok(session.copy_on_engine(&ask(first, Some(gate), 2), held));
    ok(session.copy_on_engine(&ask(second, None, 2), behind));
    assert_eq!(session.free_engines(cpu, gpu), Ok(0b11100));
    ok(session.copy_on_engine(&ask(second, None, 4), beside));
    assert!(session.finished(beside));
    assert!(!session.finished_within(behind, GATE_CLOSED), "an engine copies in order");
    session.store(gate, 0);
    assert!(session.finished(held) && session.finished(behind));
    assert_eq!(session.free_engines(cpu, gpu), Ok(0b11110));
    assert_eq!(session.free_engines(gpu, cpu), Ok(0b11111));
}

#[test]
fn when_all_engines_are_busy_there_is_none() {
    let session = Session::new();
    let (cpu, gpu) = (session.cpu(), session.gpu(0));
    let host = session.array::<u8>(BYTES).as_mut_ptr().cast::<c_void>();
    let (local, gate) = (session.local(0), session.signal(1));
    let done = session.signal(5);
    for engine in 0..5 {
        let ask =
            Ask { to: (local, gpu), from: (host, cpu), after: Some(gate), engine: 1 << engine, force: false };
        ok(session.copy_on_engine(&ask, done));
    }
    assert_eq!(session.free_engines(gpu, cpu), Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    session.store(gate, 0);
    assert!(session.finished(done));
    assert_eq!(session.free_engines(gpu, cpu), Ok(0b11111));
}

#[test]
fn requests_without_sense_are_refused() {
    let session = Session::devices(&[Target::Gfx90a, Target::Gfx90a]);
    let (cpu, gpu) = (session.cpu(), session.gpu(0));
    let host = session.array::<u8>(BYTES).as_mut_ptr().cast::<c_void>();
    let (local, foreign, done) = (session.local(0), session.local(1), session.signal(1));
    let ask = |to, from, engine| Ask { to, from, after: None, engine, force: false };
    for engine in [0, 3, 1 << 5, 1 << 31] {
        let asked = ask((local, gpu), (host, cpu), engine);
        assert_eq!(session.copy_on_engine(&asked, done), HSA_STATUS_ERROR_INVALID_ARGUMENT, "{engine:#x}");
    }
    let down_on_the_first = ask((host, cpu), (local, gpu), 1);
    assert_eq!(session.copy_on_engine(&down_on_the_first, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    let unreachable = ask((foreign, session.gpu(1)), (local, gpu), 2);
    assert_eq!(session.copy_on_engine(&unreachable, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    let mut own = vec![0u8; BYTES];
    let not_locked = ask((local, gpu), (own.as_mut_ptr().cast(), cpu), 1);
    assert_eq!(session.copy_on_engine(&not_locked, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    let without_device = ask((host, cpu), (host, cpu), 1);
    assert_eq!(session.copy_on_engine(&without_device, done), HSA_STATUS_ERROR_INVALID_AGENT);
    let no_signal = hsa_signal_t { handle: 0 };
    let sound = ask((local, gpu), (host, cpu), 1);
    assert_eq!(session.copy_on_engine(&sound, no_signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
    for agent in [cpu, gpu, hsa_agent_t { handle: 7 }] {
        assert_eq!(session.free_engines(agent, agent), Err(HSA_STATUS_ERROR_INVALID_AGENT));
    }
    assert_eq!(session.engine_copies(0), (0, 0));
    assert_eq!(session.load(done), 1);
}

#[test]
fn peers_copy_by_an_engine_of_the_source() {
    let session = Session::devices(&[Target::Gfx90a, Target::Gfx90a]);
    let (from, to) = (session.local(0), session.local(1));
    session.allow(to);
    // SAFETY: a small allocation.
    ok(unsafe { (session.hsa.hsa_amd_memory_fill)(from, 0x0403_0201, BYTES / 4) });
    let mut preferred = 0;
    let (target, source, done) = (session.gpu(1), session.gpu(0), session.signal(1));
    // SAFETY: an output pointer of ours; memory that stays.
    unsafe {
        let prefer = session.hsa.hsa_amd_memory_get_preferred_copy_engine.expect(MISSING);
        ok(prefer(target, source, &mut preferred));
        ok((session.hsa.hsa_amd_memory_async_copy)(to, target, from, source, BYTES, 0, null(), done));
    }
    assert!(session.finished(done));
    assert_eq!(bytes(to), bytes(from));
    assert_eq!(preferred, 2);
    assert_eq!([0, 1].map(|gpu| session.engine_copies(gpu).0), [1, 0]);
}

/// A copy of a box between rows of 64 bytes in slices of 512, 5 x 3 x 2 bytes large.
fn copy_box(
    session: &Session,
    to: *mut c_void,
    from: *mut c_void,
    change: impl FnOnce(&mut hsa_pitched_ptr_t, &mut hsa_dim3_t),
    direction: hsa_amd_copy_direction_t,
    done: hsa_signal_t,
) -> hsa_status_t {
    let pitched = |base| hsa_pitched_ptr_t { base, pitch: 64, slice: 512 };
    let (mut to, from) = (pitched(to), pitched(from));
    let (there, here) = (hsa_dim3_t { x: 1, y: 2, z: 3 }, hsa_dim3_t { x: 7, y: 1, z: 0 });
    let mut range = hsa_dim3_t { x: 5, y: 3, z: 2 };
    change(&mut to, &mut range);
    let gpu = session.gpu(0);
    // SAFETY: structures of ours; memory that stays.
    unsafe {
        (session.hsa.hsa_amd_memory_async_copy_rect)(
            &to,
            &there,
            &from,
            &here,
            &range,
            gpu,
            direction,
            0,
            null(),
            done,
        )
    }
}

#[test]
fn a_box_is_copied_by_an_engine() {
    let session = Session::new();
    let source = session.array::<u8>(BYTES);
    source.iter_mut().zip(0..).for_each(|(byte, value)| *byte = (value as u32 % 251) as u8);
    let (local, done) = (session.local(0), session.signal(1));
    let from = source.as_mut_ptr().cast();
    ok(copy_box(&session, local, from, |_, _| {}, hsaHostToDevice, done));
    assert!(session.finished(done));
    let mut expected = vec![0u8; BYTES];
    for (z, y, x) in (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..5).map(move |x| (z, y, x)))) {
        expected[512 * (3 + z) + 64 * (2 + y) + 1 + x] = source[512 * z + 64 * (1 + y) + 7 + x];
    }
    assert_eq!(bytes(local), expected);
    assert_eq!(session.engine_copies(0), (1, 30));
}

#[test]
fn boxes_without_sense_are_refused() {
    let session = Session::new();
    let from = session.array::<u8>(BYTES).as_mut_ptr().cast();
    let (local, done) = (session.local(0), session.signal(1));
    let refused = |change: fn(&mut hsa_pitched_ptr_t, &mut hsa_dim3_t), direction| {
        copy_box(&session, local, from, change, direction, done)
    };
    let changes: [fn(&mut hsa_pitched_ptr_t, &mut hsa_dim3_t); 7] = [
        |to, _| to.base = to.base.wrapping_byte_add(2),
        |to, _| to.pitch = 66,
        |to, _| to.slice = 510,
        |_, range| range.x = 64,
        |_, range| range.y = 7,
        |to, _| to.slice = 0,
        // Behind the end of the allocation.
        |to, _| to.base = to.base.wrapping_byte_add(BYTES - 512),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        assert_eq!(refused(change, hsaHostToDevice), HSA_STATUS_ERROR_INVALID_ARGUMENT, "change {index}");
    }
    for direction in [hsaHostToHost, hsa_amd_copy_direction_t(4)] {
        assert_eq!(refused(|_, _| {}, direction), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    assert_eq!(session.load(done), 1);
}
