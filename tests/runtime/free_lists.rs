//! What streams keep of what they free: nobody else's as long as it waits, everybody's when it is wanted.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use aqlipse::{
    Error, Meter, Stream,
    graph::{HostFn, Memset},
    memory,
};
use fastrand::Rng;

use super::{
    pools::{ARENA, PAGE, free, retaining, take},
    *,
};

fn fill(stream: &Stream, address: u64, bytes: usize) -> Result<(), Error> {
    let width = bytes as u64;
    stream.memset(Memset { dst: address, pitch: width, value: 1, element_size: 1, width, height: 1 })
}

#[test]
fn freed_memory_is_no_allocation_until_the_stream_has_it_again() {
    let (pool, stream) = (retaining(0), stream());
    for _ in 0..3 {
        let address = take(&pool, &stream, PAGE);
        assert_eq!(memory::find(address + 1).unwrap().map(|region| region.address), Some(address));
        assert_eq!(memory::pool_of(address).unwrap().as_ref(), Some(&pool));
        assert_eq!(pool.used().current, PAGE as u64);
        fill(&stream, address, PAGE).unwrap();
        free(&stream, address);
        assert!(memory::find(address).unwrap().is_none() && memory::origin_at(address).unwrap().is_none());
        assert_eq!(memory::pool_of(address).unwrap(), None);
        assert!(matches!(stream.free_async(address), Err(Error::InvalidValue(_))));
        assert!(matches!(memory::free(address), Err(Error::InvalidValue(_))));
        assert!(matches!(fill(&stream, address, PAGE), Err(Error::InvalidValue(_))));
        assert_eq!(pool.used(), Meter { current: 0, high: PAGE as u64 });
    }
}

#[test]
fn what_is_freed_by_another_call_or_stream_is_freed_once() {
    let (pool, first, second) = (retaining(0), stream(), stream());
    // The first stream remembers what it has allocated: that is not what counts.
    for _ in 0..3 {
        let (one, two, three) =
            (take(&pool, &first, PAGE), take(&pool, &first, PAGE), take(&pool, &first, PAGE));
        memory::free(one).unwrap();
        free(&second, two);
        free(&first, three);
        for address in [one, two, three] {
            assert!(matches!(first.free_async(address), Err(Error::InvalidValue(_))));
            assert!(matches!(second.free_async(address), Err(Error::InvalidValue(_))));
        }
        assert_eq!(pool.used().current, 0);
    }
    assert_eq!(pool.reserved().current, ARENA as u64);
}

#[test]
fn a_stream_that_goes_leaves_what_it_freed_to_others_behind_its_work() {
    let (pool, second) = (retaining(ARENA), stream());
    let first = stream();
    let address = take(&pool, &first, ARENA);
    let gate = Gate::on(&first);
    fill(&first, address, PAGE).unwrap();
    free(&first, address);
    drop(first);
    assert_eq!(take(&pool, &second, ARENA), address);
    fill(&second, address, PAGE).unwrap();
    thread::sleep(Duration::from_millis(50));
    assert_eq!(second.is_idle(), Ok(false), "what follows waits for the free");
    gate.open();
    second.synchronize().unwrap();
    free(&second, address);
    drop(second);
    // Nobody is left who could have it, and nothing in flight.
    pool.trim(0);
    assert_eq!(pool.reserved().current, 0);
}

#[test]
fn who_wants_freed_memory_does_not_wait_for_work_behind_the_free() {
    let (pool, first, second) = (retaining(0), stream(), stream());
    let elsewhere = take(&pool, &second, PAGE);
    let address = take(&pool, &first, PAGE);
    fill(&first, address, PAGE).unwrap();
    free(&first, address);
    let gate = Gate::on(&first);
    let deadline = Instant::now() + Duration::from_secs(20);
    // The device takes its time to get to the free.
    let mut others = Vec::new();
    loop {
        let got = take(&pool, &second, PAGE);
        if got == address {
            break;
        }
        assert!(Instant::now() < deadline, "the free is over, and only later work is not");
        others.push(got);
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(first.is_idle(), Ok(false));
    gate.open();
    others.into_iter().chain([elsewhere, address]).for_each(|address| free(&second, address));
    assert_eq!(pool.used().current, 0);
}

#[test]
fn a_pool_that_nobody_holds_gives_back_what_streams_keep() {
    let stream = stream();
    let before = device().memory_info().0;
    let pool = retaining(0);
    let (kept, live) = (take(&pool, &stream, 8 * ARENA), take(&pool, &stream, 8 * ARENA));
    free(&stream, kept);
    stream.synchronize().unwrap();
    assert!(before - device().memory_info().0 >= 16 * ARENA as u64, "it retains that");
    drop(pool);
    free(&stream, live);
    stream.synchronize().unwrap();
    assert!(before - device().memory_info().0 < ARENA as u64);
}

#[test]
fn the_current_pool_is_the_one_whose_memory_is_had_again() {
    let (device, stream, pool) = (device(), stream(), retaining(0));
    let allocate = || stream.allocate_async(PAGE).unwrap();
    let of_default = allocate();
    free(&stream, of_default);
    device.set_pool(&pool).unwrap();
    let of_other = allocate();
    assert_eq!(memory::pool_of(of_other).unwrap().as_ref(), Some(&pool));
    free(&stream, of_other);
    assert_eq!(allocate(), of_other);
    device.retire_pool(&pool).unwrap();
    assert_eq!(allocate(), of_default);
    free(&stream, of_default);
    free(&stream, of_other);
    drop(pool);
    assert_eq!(device.default_pool().used().current, 0);
}

#[test]
fn a_reset_frees_what_lives_and_forgets_what_streams_keep() {
    let (device, stream, pool) = (device(), stream(), retaining(0));
    let (live, kept) = (take(&pool, &stream, PAGE), take(&pool, &stream, PAGE));
    free(&stream, kept);
    memory::free_all(&device).unwrap();
    assert_eq!(pool.used().current, 0);
    for address in [live, kept] {
        assert!(matches!(stream.free_async(address), Err(Error::InvalidValue(_))));
    }
    let again = take(&pool, &stream, PAGE);
    free(&stream, again);
    stream.synchronize().unwrap();
    pool.trim(0);
    assert_eq!(pool.reserved().current, 0);
}

/// Ranges that threads have at this moment.
#[derive(Default)]
struct Live(Mutex<BTreeMap<u64, u64>>);

impl Live {
    fn add(&self, address: u64, bytes: usize) {
        let mut live = self.0.lock().unwrap();
        let end = address + bytes as u64;
        let before = live.range(..end).next_back();
        let overlap = before.filter(|&(_, &before)| before > address);
        assert!(overlap.is_none(), "{address:#x}..{end:#x} overlaps {overlap:#x?}");
        live.insert(address, end);
    }

    fn remove(&self, address: u64) {
        assert!(self.0.lock().unwrap().remove(&address).is_some());
    }
}

#[test]
fn threads_that_free_each_others_memory_never_have_the_same() {
    const THREADS: usize = 8;
    const SIZES: [usize; 4] = [256, 600, PAGE, 3 * ARENA / 4];
    let (pool, live, over) = (retaining(0), Live::default(), AtomicBool::new(false));
    let streams: Vec<Stream> = (0..THREADS).map(|_| stream()).collect();
    let handed: Vec<Mutex<Vec<u64>>> = (0..THREADS).map(|_| Mutex::default()).collect();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|n| {
                let (pool, live, streams, handed) = (&pool, &live, &streams, &handed);
                scope.spawn(move || {
                    let mut random = Rng::with_seed(n as u64);
                    let mut own = Vec::new();
                    for _ in 0..3000 {
                        let bytes = SIZES[random.usize(..SIZES.len())];
                        let address = take(pool, &streams[n], bytes);
                        live.add(address, bytes);
                        own.push(address);
                        if random.usize(..4) == 0 {
                            handed[random.usize(..THREADS)]
                                .lock()
                                .unwrap()
                                .push(own.swap_remove(random.usize(..own.len())));
                        }
                        own.append(&mut handed[n].lock().unwrap());
                        while own.len() > random.usize(..6) {
                            let address = own.swap_remove(random.usize(..own.len()));
                            // Before it is free, or another thread would have it already.
                            live.remove(address);
                            match random.usize(..16) {
                                0 => memory::free(address).unwrap(),
                                1 => free(&streams[random.usize(..THREADS)], address),
                                _ => free(&streams[n], address),
                            }
                        }
                    }
                    own
                })
            })
            .collect();
        // Meanwhile somebody gives back what he can.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                pool.trim(0);
                thread::yield_now();
            }
        });
        let left: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        // Before a failure is one of this thread, too: it would wait for the other.
        over.store(true, Ordering::Relaxed);
        for address in left.into_iter().flat_map(Result::unwrap) {
            live.remove(address);
            memory::free(address).unwrap();
        }
    });
    handed
        .into_iter()
        .flat_map(|handed| handed.into_inner().unwrap())
        .for_each(|address| memory::free(address).unwrap());
    assert_eq!(pool.used().current, 0);
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    pool.trim(0);
    assert_eq!(pool.reserved().current, 0);
}

#[test]
fn a_free_does_not_wait_for_the_host() {
    let (pool, stream) = (retaining(0), stream());
    let address = take(&pool, &stream, PAGE);
    let gate = Gate::on(&stream);
    stream.host(HostFn::new(|| {})).unwrap();
    for _ in 0..100 {
        free(&stream, address);
        assert_eq!(take(&pool, &stream, PAGE), address);
    }
    free(&stream, address);
    gate.open();
    stream.synchronize().unwrap();
}
