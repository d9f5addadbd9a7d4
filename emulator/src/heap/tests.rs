use std::sync::Arc;

use hsa_sys::{
    HSA_STATUS_ERROR_INVALID_ALLOCATION, HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_OUT_OF_RESOURCES,
};

use super::{Heap, Kind, Pool};
use crate::{agent::Agent, config::Config, device::Device, isa::Target};

fn heap(memory: u64) -> (Heap, Arc<[Arc<Device>]>) {
    let config = Config { local_memory: Some(memory), ..Config::default() };
    let devices: Arc<[Arc<Device>]> =
        (0..2).map(|i| Arc::new(Device::new(i, Target::Gfx90a, &config))).collect();
    (Heap::new(Arc::clone(&devices)), devices)
}

const LOCAL: Pool = Pool { owner: Agent::Gpu(0), kind: Kind::Coarse };
const FINE: Pool = Pool::HOST;

#[test]
fn local_memory_is_its_own_gpus_until_access_is_allowed() {
    let (heap, devices) = heap(1 << 20);
    let base = heap.allocate(LOCAL, 100).unwrap();
    let sees = |d: usize, address| devices[d].map.snapshot().find(address).is_some();
    assert!(sees(0, base) && !sees(1, base));
    assert!(sees(0, base + 111) && !sees(0, base + 112), "the end is the size asked for, rounded to 16");
    heap.set_access(base, 0b10, false).unwrap();
    assert!(sees(0, base) && sees(1, base));
    heap.set_access(base, 0, false).unwrap();
    assert!(sees(0, base) && !sees(1, base));
    heap.free(base).unwrap();
    assert!(!sees(0, base));
    assert_eq!(heap.free(base), Err(HSA_STATUS_ERROR_INVALID_ALLOCATION));
}

#[test]
fn bytes_before_a_block_are_in_none_where_bounds_are_observed() {
    let config = Config { observed_bounds: true, ..Config::default() };
    let devices: Arc<[Arc<Device>]> = [Arc::new(Device::new(0, Target::Gfx90a, &config))].into();
    let heap = Heap::new(Arc::clone(&devices));
    for pool in [LOCAL, FINE] {
        let base = heap.allocate(pool, 100).unwrap();
        heap.set_access(base, 1, false).unwrap();
        let map = devices[0].map.snapshot();
        assert!(map.find(base - 4096).is_some() && map.find(base - 4097).is_none());
        assert_eq!(heap.find(base).map(|known| (known.base, known.size)), Some((base, 112)));
        assert!(heap.find(base - 1).is_none());
        heap.free(base).unwrap();
        assert!(devices[0].map.snapshot().is_empty());
    }
    let base = heap.allocate(LOCAL, 100).unwrap();
    let ticket = heap.export(base, 100).unwrap();
    // SAFETY: both are the allocation's first bytes, which nothing else uses.
    unsafe {
        (base as *mut u64).write(7);
        assert_eq!((heap.attach(ticket, 100, 1).unwrap() as *const u64).read(), 7);
    }
}

#[test]
fn the_pool_runs_out_and_recovers() {
    let (heap, devices) = heap(64 << 10);
    assert_eq!(heap.allocate(LOCAL, 0), Err(HSA_STATUS_ERROR_INVALID_ARGUMENT));
    assert_eq!(heap.allocate(LOCAL, usize::MAX), Err(HSA_STATUS_ERROR_INVALID_ALLOCATION));
    assert_eq!(heap.allocate(LOCAL, (64 << 10) + 1), Err(HSA_STATUS_ERROR_INVALID_ALLOCATION));
    let first = heap.allocate(LOCAL, 60 << 10).unwrap();
    assert_eq!(heap.allocate(LOCAL, 4097), Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    assert_eq!(devices[0].available(), 4 << 10);
    heap.free(first).unwrap();
    assert_eq!(devices[0].available(), 64 << 10);
}

#[test]
fn locks_overlap_repeat_and_join() {
    let (heap, devices) = heap(1 << 20);
    let host = [0u8; 4096];
    let base = host.as_ptr() as u64;
    let range = |address| devices[0].map.snapshot().find(address).map(|a| (a.start - base, a.end - base));
    heap.lock_range(base, 100, 1, FINE).unwrap();
    heap.lock_range(base + 100, 100, 1, FINE).unwrap();
    assert_eq!(range(base + 99), Some((0, 200)), "adjoining ranges are one allocation");
    heap.lock_range(base + 50, 20, 1, FINE).unwrap();
    heap.unlock_range(base).unwrap();
    assert_eq!(range(base + 10), None);
    assert_eq!(range(base + 60), Some((50, 70)));
    assert_eq!(range(base + 150), Some((100, 200)));
    heap.lock_range(base + 100, 100, 1, FINE).unwrap();
    heap.unlock_range(base + 100).unwrap();
    assert_eq!(range(base + 150), Some((100, 200)), "locked twice, unlocked once");
    heap.unlock_range(base + 100).unwrap();
    heap.unlock_range(base + 50).unwrap();
    assert!(devices[0].map.snapshot().is_empty());
    assert_eq!(heap.unlock_range(base), Err(HSA_STATUS_ERROR_INVALID_ARGUMENT));
}

#[test]
fn memory_that_the_process_lacks_cannot_be_locked() {
    let (heap, _) = heap(1 << 20);
    assert_eq!(heap.lock_range(0x1000, 16, 1, FINE), Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
    assert_eq!(heap.lock_range(u64::MAX - 4, 16, 1, FINE), Err(HSA_STATUS_ERROR_INVALID_ARGUMENT));
    assert_eq!(heap.lock_range(0, 16, 1, FINE), Err(HSA_STATUS_ERROR_INVALID_ARGUMENT));
}

#[test]
fn interior_pointers_are_known_with_their_user_data() {
    let (heap, _) = heap(1 << 20);
    let base = heap.allocate(FINE, 8192).unwrap();
    heap.set_user_data(base + 5000, 42).unwrap();
    let known = heap.find(base + 8191).unwrap();
    assert_eq!((known.base, known.size, known.user_data, known.locked), (base, 8192, 42, false));
    assert!(heap.find(base + 8192).is_none_or(|k| k.base != base));
    let host = [0u8; 64];
    let start = host.as_ptr() as u64;
    heap.lock_range(start, 64, 1, FINE).unwrap();
    assert!(heap.find(start + 63).is_some_and(|k| k.locked && k.base == start));
    heap.free(base).unwrap();
}
