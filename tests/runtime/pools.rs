//! Stream-ordered memory pools: who gets freed memory again and when, what the attributes say, how much is kept.

use std::{collections::HashMap, thread, time::Duration};

use aqlipse::{
    Error, Event, Meter, Stream, StreamKind,
    graph::{Memcpy, Memset},
    memory::{self, PoolOptions, Reuse, Right, StreamPool},
};
use proptest::prelude::*;

use super::*;

pub(super) const PAGE: usize = 4096;
pub(super) const ARENA: usize = 2 << 20;

/// A pool that gives nothing back to the device by itself.
pub(super) fn retaining(max_bytes: usize) -> StreamPool {
    let options = PoolOptions { max_bytes: max_bytes as u64, ..PoolOptions::default() };
    let pool = StreamPool::new(&device(), options).unwrap();
    pool.set_release_threshold(u64::MAX);
    pool
}

pub(super) fn take(pool: &StreamPool, stream: &Stream, bytes: usize) -> u64 {
    stream.allocate_from_pool(pool, bytes).unwrap()
}

pub(super) fn free(stream: &Stream, address: u64) {
    stream.free_async(address).unwrap();
}

fn fill(stream: &Stream, address: u64, byte: u8, bytes: usize) {
    let (pitch, width) = (bytes as u64, bytes as u64);
    stream
        .memset(Memset { dst: address, pitch, value: byte.into(), element_size: 1, width, height: 1 })
        .unwrap();
}

/// A copy of device memory, when `stream` gets there.
fn read(stream: &Stream, address: u64, bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; bytes];
    let copy = Memcpy::linear(bytes.as_mut_ptr() as u64, address, bytes.len() as u64);
    // SAFETY: the target is ours until the copy is over, the source a live allocation.
    unsafe { stream.memcpy_and_wait(copy) }.unwrap();
    bytes
}

/// Memory that `stream` has filled and freed behind a gate: who uses it too early finds its own bytes overwritten.
fn freed_behind_a_gate(pool: &StreamPool, stream: &Stream, bytes: usize) -> (u64, Gate) {
    let address = take(pool, stream, bytes);
    let gate = Gate::on(stream);
    fill(stream, address, 0xee, bytes.min(PAGE));
    free(stream, address);
    (address, gate)
}

#[test]
fn the_stream_that_freed_memory_has_it_again_at_once() {
    let (pool, stream) = (retaining(0), stream());
    let (address, gate) = freed_behind_a_gate(&pool, &stream, PAGE);
    for bytes in [PAGE, PAGE - 1, PAGE / 2 + 1] {
        assert_eq!(take(&pool, &stream, bytes), address, "{bytes} bytes");
        free(&stream, address);
    }
    gate.open();
    stream.synchronize().unwrap();
}

#[test]
fn another_stream_has_memory_again_only_when_the_free_is_over() {
    let (pool, first, second) = (retaining(0), stream(), stream());
    let (address, gate) = freed_behind_a_gate(&pool, &first, PAGE);
    let elsewhere = take(&pool, &second, PAGE);
    assert_ne!(elsewhere, address);
    gate.open();
    first.synchronize().unwrap();
    pool.set_reuse(Reuse::Opportunistic, false);
    let third = take(&pool, &second, PAGE);
    assert_ne!(third, address, "it was forbidden");
    pool.set_reuse(Reuse::Opportunistic, true);
    assert_eq!(take(&pool, &second, PAGE), address);
    for address in [address, elsewhere, third] {
        free(&second, address);
    }
}

#[test]
fn an_event_hands_freed_memory_on_to_the_stream_that_waits_for_it() {
    for allowed in [false, true] {
        let (pool, first, second, third) = (retaining(0), stream(), stream(), stream());
        pool.set_reuse(Reuse::FollowEventDependencies, allowed);
        let (early, late) = (Event::new(false), Event::new(false));
        let address = take(&pool, &first, PAGE);
        let gate = Gate::on(&first);
        first.record_event(&early).unwrap();
        fill(&first, address, 0xee, PAGE);
        free(&first, address);
        first.record_event(&late).unwrap();

        second.wait(&early).unwrap();
        let elsewhere = take(&pool, &second, PAGE);
        assert_ne!(elsewhere, address, "the event lies before the free");
        second.wait(&late).unwrap();
        // And on, by an event of the stream that has waited.
        let relay = Event::new(false);
        second.record_event(&relay).unwrap();
        third.wait(&relay).unwrap();
        let got = take(&pool, &third, PAGE);
        assert_eq!(got == address, allowed);
        // Who has it now runs behind who had it.
        fill(&third, got, 7, PAGE);
        thread::sleep(Duration::from_millis(50));
        gate.open();
        first.synchronize().unwrap();
        assert_eq!(read(&third, got, PAGE), vec![7; PAGE]);
        free(&third, got);
        free(&second, elsewhere);
    }
}

#[test]
fn the_default_stream_hands_freed_memory_on() {
    let (pool, default) = (retaining(0), device().default_stream().clone());
    let (first, second) =
        (Stream::new(&device(), StreamKind::Blocking, 0), Stream::new(&device(), StreamKind::Blocking, 0));
    let unordered = stream();
    let (address, gate) = freed_behind_a_gate(&pool, &first, PAGE);
    let elsewhere = take(&pool, &unordered, PAGE);
    assert_ne!(elsewhere, address);
    // Behind all blocking streams.
    assert_eq!(take(&pool, &default, PAGE), address);
    fill(&default, address, 1, PAGE);
    free(&default, address);
    // And these behind it.
    assert_eq!(take(&pool, &second, PAGE), address);
    fill(&second, address, 2, PAGE);
    thread::sleep(Duration::from_millis(50));
    gate.open();
    device().synchronize().unwrap();
    assert_eq!(read(&second, address, PAGE), vec![2; PAGE]);
    free(&second, address);
    free(&unordered, elsewhere);
    device().synchronize().unwrap();
}

#[test]
fn a_full_pool_makes_the_stream_wait_for_a_free() {
    let (pool, first, second) = (retaining(ARENA), stream(), stream());
    let (address, gate) = freed_behind_a_gate(&pool, &first, ARENA);
    assert_eq!(take(&pool, &second, ARENA), address, "the caller does not wait");
    fill(&second, address, 3, PAGE);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(second.is_idle(), Ok(false), "the stream does");
    gate.open();
    first.synchronize().unwrap();
    assert_eq!(read(&second, address, PAGE), vec![3; PAGE]);
    free(&second, address);
}

#[test]
fn a_full_pool_makes_the_caller_wait_where_streams_must_not() {
    let (pool, first, second) = (retaining(ARENA), stream(), stream());
    pool.set_reuse(Reuse::InternalDependencies, false);
    let (address, gate) = freed_behind_a_gate(&pool, &first, ARENA);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(30));
            gate.open();
        });
        let address = take(&pool, &second, ARENA);
        assert_eq!(first.is_idle(), Ok(true), "the free is over");
        free(&second, address);
    });
    let _ = address;
}

#[test]
fn a_pool_refuses_more_than_its_limit_and_goes_on() {
    let (pool, stream) = (retaining(2 * ARENA), stream());
    let held = take(&pool, &stream, ARENA + 1);
    let refused = stream.allocate_from_pool(&pool, ARENA);
    assert_eq!(refused, Err(Error::OutOfMemory { bytes: ARENA }));
    assert_eq!(stream.allocate_from_pool(&pool, usize::MAX), Err(Error::OutOfMemory { bytes: usize::MAX }));
    let small = take(&pool, &stream, PAGE);
    assert!(pool.reserved().high <= 2 * ARENA as u64);
    free(&stream, held);
    let all = take(&pool, &stream, ARENA);
    free(&stream, all);
    free(&stream, small);
}

#[test]
fn what_other_pools_retain_is_given_up_before_memory_runs_out() {
    let device = device();
    let stream = stream();
    let (first, second) = (retaining(0), retaining(0));
    let most = device.properties().total_memory as usize / 8 * 5;
    let address = take(&first, &stream, most);
    assert!(matches!(stream.allocate_from_pool(&second, most), Err(Error::OutOfMemory { .. })));
    assert_eq!(second.used(), Meter::default());
    free(&stream, address);
    assert!(first.reserved().current >= most as u64, "retained");
    let address = take(&second, &stream, most);
    assert_eq!(first.reserved().current, 0);
    free(&stream, address);
    second.trim(0);
}

#[test]
fn a_synchronisation_gives_back_what_exceeds_the_threshold() {
    let stream = stream();
    let pool = StreamPool::new(&device(), PoolOptions::default()).unwrap();
    for (threshold, kept) in [(0, 0), (ARENA, ARENA), (u64::MAX as usize, 3 * ARENA)] {
        pool.set_release_threshold(threshold as u64);
        let blocks = [0; 3].map(|_| take(&pool, &stream, ARENA));
        assert_eq!(pool.reserved().current, 3 * ARENA as u64);
        blocks.iter().for_each(|&address| free(&stream, address));
        assert_eq!(pool.reserved().current, 3 * ARENA as u64, "only a synchronisation gives back");
        stream.synchronize().unwrap();
        assert_eq!(pool.reserved().current, kept as u64, "with a threshold of {threshold}");
    }
    let gate = Gate::on(&stream);
    let address = take(&pool, &stream, ARENA);
    free(&stream, address);
    pool.trim(0);
    assert_eq!(pool.reserved().current, ARENA as u64, "the free of this one is not over");
    gate.open();
    stream.synchronize().unwrap();
    pool.trim(0);
    assert_eq!((pool.reserved().current, pool.reserved().high), (0, 3 * ARENA as u64));
    pool.reset_reserved_high();
    assert_eq!(pool.reserved(), Meter::default());
}

#[test]
fn a_trim_keeps_as_many_bytes_as_it_is_told() {
    let (pool, stream) = (retaining(0), stream());
    let blocks = [0; 4].map(|_| take(&pool, &stream, ARENA));
    blocks[1..].iter().for_each(|&address| free(&stream, address));
    stream.synchronize().unwrap();
    pool.trim(3 * ARENA as u64 + 1);
    assert_eq!(pool.reserved().current, 4 * ARENA as u64);
    pool.trim(3 * ARENA as u64);
    assert_eq!(pool.reserved().current, 3 * ARENA as u64);
    pool.trim(0);
    assert_eq!(pool.reserved().current, ARENA as u64, "one block is in use");
    assert_eq!(pool.used().current, ARENA as u64);
    free(&stream, blocks[0]);
}

#[test]
fn memory_outlives_the_pool_that_it_came_from() {
    let stream = stream();
    let before = device().memory_info().0;
    let pool = retaining(0);
    let address = take(&pool, &stream, 8 * ARENA);
    drop(pool);
    fill(&stream, address, 9, PAGE);
    assert_eq!(read(&stream, address, PAGE), vec![9; PAGE]);
    let gate = Gate::on(&stream);
    fill(&stream, address, 8, 8 * ARENA);
    free(&stream, address);
    // The pool is gone, but the stream is not there yet: the fill must find its memory.
    assert!(before - device().memory_info().0 >= 8 * ARENA as u64);
    gate.open();
    stream.synchronize().unwrap();
    stream
        .memset(Memset { dst: address, pitch: 1, value: 0, element_size: 1, width: 1, height: 1 })
        .unwrap_err();
    assert!(before - device().memory_info().0 < ARENA as u64);
}

#[test]
fn memory_is_freed_on_any_stream_but_only_once() {
    let (pool, first, second) = (retaining(0), stream(), stream());
    let address = take(&pool, &first, PAGE);
    free(&second, address);
    assert!(matches!(first.free_async(address), Err(Error::InvalidValue(_))));
    assert!(matches!(memory::free(address), Err(Error::InvalidValue(_))));
    let address = take(&pool, &first, PAGE);
    assert!(matches!(first.free_async(address + 256), Err(Error::InvalidValue(_))));
    // Without waiting: nobody may use it any more.
    let gate = Gate::on(&second);
    memory::free(address).unwrap();
    assert!(matches!(first.free_async(address), Err(Error::InvalidValue(_))));
    assert_eq!(pool.used().current, 0);
    gate.open();
}

#[test]
fn a_device_has_a_default_pool_and_a_current_one() {
    let (device, stream) = (device(), stream());
    let default = device.default_pool().clone();
    assert_eq!(device.pool(), default);
    assert!(device.retire_pool(&default).is_err());
    let pool = retaining(0);
    device.set_pool(&pool).unwrap();
    assert_eq!(device.pool(), pool);
    let address = stream.allocate_async(PAGE).unwrap();
    assert_eq!(memory::pool_of(address + 5), Ok(Some(pool.clone())));
    assert_eq!((pool.used().current, default.used().current), (PAGE as u64, 0));
    device.retire_pool(&pool).unwrap();
    assert_eq!(device.pool(), default);
    free(&stream, address);
}

/// Has `device` add 5 to the word at `address`.
fn poke(device: &Device, stream: &Stream, address: u64) -> Result<(), Error> {
    let launch = kernels().affine.launch(device, [1; 3], [1; 3], 0, &[&address, &1u32, &1u32, &5u32]);
    stream.run(&launch.unwrap()).unwrap();
    stream.synchronize()
}

#[test]
fn devices_that_were_let_in_reach_a_pool() {
    in_child(
        "runtime::pools::devices_that_were_let_in_reach_a_pool",
        &[("AQLIPSE_EMULATE", "2xgfx90a")],
        || {
            let (near, far) = (device(), Device::get(1).unwrap());
            let (home, away) = (stream(), Stream::new(&far, StreamKind::NonBlocking, 0));
            let pool = retaining(0);
            let inside = take(&pool, &home, PAGE);
            assert_eq!((pool.right_of(&near), pool.right_of(&far)), (Right::ReadWrite, Right::None));
            pool.set_rights(&[(far.clone(), Right::ReadWrite)]).unwrap();
            assert_eq!(pool.right_of(&far), Right::ReadWrite);
            // Memory that there was and memory that comes later.
            let later = take(&pool, &home, 2 * ARENA);
            for address in [inside, later] {
                fill(&home, address, 0, 4);
                home.synchronize().unwrap();
                poke(&far, &away, address).unwrap();
                assert_eq!(read(&home, address, 4), [5, 0, 0, 0]);
            }
            assert!(matches!(pool.set_rights(&[(near.clone(), Right::None)]), Err(Error::InvalidValue(_))));
            assert!(matches!(pool.set_rights(&[(far.clone(), Right::Read)]), Err(Error::NotSupported(_))));
            assert!(matches!(far.set_pool(&pool), Err(Error::InvalidValue(_))));
            // A copy by a device without access goes another way.
            pool.set_rights(&[(far.clone(), Right::None)]).unwrap();
            assert_eq!(read(&away, inside, 4), [5, 0, 0, 0]);
            // Of another device than the stream's.
            let address = away.allocate_from_pool(&pool, PAGE).unwrap();
            assert_eq!(memory::find(address).unwrap().unwrap().device, 0);
            for address in [inside, later, address] {
                free(&away, address);
            }
            away.synchronize().unwrap();
        },
    );
}

#[test]
fn devices_without_access_fault_on_a_pool() {
    // A memory fault takes the device on ROCr, and the process has use for it afterwards.
    let emulated = [("AQLIPSE_EMULATE", "2xgfx90a"), ("AQLIPSE_DEVICE", "emulated")];
    in_child("runtime::pools::devices_without_access_fault_on_a_pool", &emulated, || {
        let (home, far, pool) = (stream(), Device::get(1).unwrap(), retaining(0));
        let away = Stream::new(&far, StreamKind::NonBlocking, 0);
        let address = take(&pool, &home, PAGE);
        fill(&home, address, 0, PAGE);
        home.synchronize().unwrap();
        for _ in 0..2 {
            assert!(matches!(poke(&far, &away, address), Err(Error::IllegalAddress(_))));
            pool.set_rights(&[(far.clone(), Right::ReadWrite)]).unwrap();
            poke(&far, &away, address).unwrap();
            pool.set_rights(&[(far.clone(), Right::ReadWrite), (far.clone(), Right::None)]).unwrap();
        }
        assert_eq!(read(&home, address, 4), [10, 0, 0, 0]);
        free(&home, address);
    });
}

#[test]
fn threads_share_a_pool_without_sharing_memory() {
    let pool = retaining(0);
    thread::scope(|scope| {
        for n in 0..8u8 {
            let pool = &pool;
            scope.spawn(move || {
                let stream = stream();
                for round in 0..60usize {
                    let bytes = 64 + (round * 977 + usize::from(n) * 131) % 20_000;
                    let (first, second) = (take(pool, &stream, bytes), take(pool, &stream, bytes / 2));
                    fill(&stream, first, n, bytes);
                    fill(&stream, second, !n, bytes / 2);
                    if round % 6 == 0 {
                        assert_eq!(read(&stream, first, bytes), vec![n; bytes]);
                    }
                    free(&stream, first);
                    match round % 2 {
                        0 => free(&stream, second),
                        _ => {
                            stream.synchronize().unwrap();
                            memory::free(second).unwrap();
                        }
                    }
                }
                stream.synchronize().unwrap();
            });
        }
    });
    assert_eq!(pool.used().current, 0);
    pool.trim(0);
    assert_eq!(pool.reserved().current, 0);
}

#[derive(Clone, Debug)]
enum Step {
    Allocate { stream: usize, bytes: usize },
    Free { stream: usize, which: prop::sample::Index },
    FreeNow { which: prop::sample::Index },
    Follow { from: usize, to: usize },
    Synchronize { stream: usize },
    Trim { keep: u64 },
    Forbid { reuse: usize, allowed: bool },
    ResetHigh,
}

fn step() -> impl Strategy<Value = Step> {
    // Some sizes often, as streams have those again by themselves.
    let often = prop::sample::select(vec![1, 256, PAGE, ARENA]);
    let (stream, bytes) = (0..3usize, prop_oneof![3 => often, 2 => 1..5_000usize, 1 => 1..6_000_000usize]);
    let which = any::<prop::sample::Index>;
    prop_oneof![
        6 => (stream.clone(), bytes).prop_map(|(stream, bytes)| Step::Allocate { stream, bytes }),
        4 => (stream.clone(), which()).prop_map(|(stream, which)| Step::Free { stream, which }),
        1 => which().prop_map(|which| Step::FreeNow { which }),
        1 => (stream.clone(), stream.clone()).prop_map(|(from, to)| Step::Follow { from, to }),
        1 => stream.prop_map(|stream| Step::Synchronize { stream }),
        1 => (0..4_000_000u64).prop_map(|keep| Step::Trim { keep }),
        1 => (0..3usize, any::<bool>()).prop_map(|(reuse, allowed)| Step::Forbid { reuse, allowed }),
        1 => Just(Step::ResetHigh),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Each allocation is filled with a number of its own and read back before it is freed: memory that two have at
    /// once, or that one has before the stream has passed the free of the other, shows.
    #[test]
    fn live_allocations_never_overlap_and_attributes_count_them(steps in prop::collection::vec(step(), 1..60)) {
        let pool = StreamPool::new(&device(), PoolOptions::default()).unwrap();
        let streams = [stream(), stream(), stream()];
        let mut live: Vec<(u64, usize, u8, usize)> = Vec::new();
        let (mut used, mut high, mut number) = (0u64, 0u64, 0u8);
        let check = |(address, bytes, byte, owner): (u64, usize, u8, usize)| {
            let shown = bytes.min(600);
            let same = read(&streams[owner], address, shown) == vec![byte; shown];
            same && read(&streams[owner], address + (bytes - shown) as u64, shown) == vec![byte; shown]
        };
        for step in steps {
            match step {
                Step::Allocate { stream, bytes } => {
                    let address = take(&pool, &streams[stream], bytes);
                    let apart = |&(other, n, ..): &(u64, usize, u8, usize)| {
                        address + bytes as u64 <= other || other + n as u64 <= address
                    };
                    prop_assert!(live.iter().all(apart));
                    number = number.wrapping_add(1);
                    fill(&streams[stream], address, number, bytes);
                    live.push((address, bytes, number, stream));
                    used += bytes as u64;
                    high = high.max(used);
                }
                Step::Free { stream, which } if !live.is_empty() => {
                    let freed = live.swap_remove(which.index(live.len()));
                    prop_assert!(check(freed));
                    // Late and visible: who has the memory too early finds other bytes than its own.
                    streams[stream].call(|| thread::sleep(Duration::from_millis(2))).unwrap();
                    fill(&streams[stream], freed.0, 0xee, freed.1);
                    free(&streams[stream], freed.0);
                    used -= freed.1 as u64;
                }
                Step::FreeNow { which } if !live.is_empty() => {
                    let freed = live.swap_remove(which.index(live.len()));
                    prop_assert!(check(freed));
                    memory::free(freed.0).unwrap();
                    used -= freed.1 as u64;
                }
                Step::Follow { from, to } => {
                    let event = Event::new(false);
                    streams[from].record_event(&event).unwrap();
                    streams[to].wait(&event).unwrap();
                }
                Step::Synchronize { stream } => streams[stream].synchronize().unwrap(),
                Step::Trim { keep } => {
                    let before = pool.reserved().current;
                    pool.trim(keep);
                    let after = pool.reserved().current;
                    prop_assert!(after == before || after >= keep);
                }
                Step::Forbid { reuse, allowed } => {
                    let all = [Reuse::FollowEventDependencies, Reuse::Opportunistic, Reuse::InternalDependencies];
                    pool.set_reuse(all[reuse], allowed);
                }
                Step::ResetHigh => {
                    pool.reset_used_high();
                    high = used;
                }
                Step::Free { .. } | Step::FreeNow { .. } => {}
            }
            prop_assert_eq!(pool.used(), Meter { current: used, high });
            prop_assert!(pool.reserved().current >= used);
            let regions: HashMap<u64, u64> = live.iter().map(|&(address, bytes, ..)| (address, bytes as u64)).collect();
            for (address, bytes) in regions {
                prop_assert_eq!(memory::find(address).unwrap().map(|region| region.bytes), Some(bytes));
            }
        }
        for freed in live {
            prop_assert!(check(freed));
            free(&streams[freed.3], freed.0);
        }
        device().synchronize().unwrap();
        prop_assert_eq!((pool.used().current, pool.reserved().current), (0, 0));
    }
}
