use std::sync::LazyLock;
use std::time::Duration;

use parking_lot::Mutex;

use super::*;
use crate::fake;
use crate::packet::KernelDispatch;

fn gpu() -> Agent {
    gpu_of(fake::api())
}

fn gpu_of(api: &'static Api) -> Agent {
    let runtime = Runtime::new(api).unwrap();
    runtime.agents().unwrap().into_iter().find(|agent| agent.raw().handle == fake::GPU).unwrap()
}

fn queue(size: u32) -> Queue {
    Queue::create(&gpu(), size, QueueOptions::default(), Box::new(|_| ())).unwrap()
}

fn dispatch(object: u64) -> Packet {
    KernelDispatch { kernarg_address: 0x8000, ..KernelDispatch::new(object) }.packet().unwrap()
}

/// Submits to a queue that no packet processor serves.
fn submit(queue: &Queue, packets: &[Packet]) -> Result<u64, Error> {
    // SAFETY: the fake queue executes nothing.
    unsafe { queue.submit(packets, |_, _| ()) }
}

#[test]
fn image_reaches_the_ring_word_for_word() {
    let queue = queue(8);
    let batch: Vec<_> = (0..5).map(|index| dispatch(0x1000 + index)).collect();
    assert_eq!(submit(&queue, &batch), Ok(5));
    for (index, packet) in batch.iter().enumerate() {
        assert_eq!(&fake::slot(queue.raw(), index).0, packet.words());
    }
    assert_eq!(fake::slot(queue.raw(), 5).0[0] & 0xff, 1, "slot 5 is still invalid");
    assert_eq!(fake::doorbell(queue.raw()), 4);
    assert_eq!((queue.write_index(), queue.read_index(), queue.id()), (5, 0, 77));
}

#[test]
fn patches_reach_the_ring_across_the_wrap() {
    let queue = queue(4);
    submit(&queue, &[dispatch(1), dispatch(2), dispatch(3)]).unwrap();
    fake::retire(queue.raw(), 3);
    let batch = [dispatch(4), dispatch(5), dispatch(6)];
    // SAFETY: the fake queue executes nothing.
    let end = unsafe {
        queue.submit(&batch, |index, packet| packet.set_kernarg_address(0x100 + index as u64).unwrap())
    };
    assert_eq!(end, Ok(6));
    for (slot, object) in [(3, 4), (0, 5), (1, 6)] {
        let packet = Packet::from_words(fake::slot(queue.raw(), slot).0);
        assert_eq!(packet.kernel_object(), Some(object));
        assert_eq!(packet.kernarg_address(), Some(0x100 + object - 4));
    }
    assert_eq!(fake::doorbell(queue.raw()), 5);
}

#[test]
fn error_callback_stops_the_queue_and_frees_a_waiting_producer() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let queue = {
        let reported = Arc::clone(&reported);
        let on_error = Box::new(move |status| reported.lock().push(status));
        Queue::create(&gpu(), 2, QueueOptions::default(), on_error).unwrap()
    };
    submit(&queue, &[dispatch(1), dispatch(2)]).unwrap();
    assert_eq!(queue.fault(), None);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| submit(&queue, &[dispatch(3)]));
        std::thread::sleep(Duration::from_millis(10));
        fake::fail(queue.raw(), HSA_STATUS_ERROR_MEMORY_FAULT);
        let stopped = Error::QueueStopped { status: HSA_STATUS_ERROR_MEMORY_FAULT };
        assert_eq!(waiting.join().unwrap(), Err(stopped));
    });
    assert_eq!(*reported.lock(), [HSA_STATUS_ERROR_MEMORY_FAULT]);
    fake::fail(queue.raw(), HSA_STATUS_ERROR_EXCEPTION);
    assert_eq!(queue.fault(), Some(HSA_STATUS_ERROR_MEMORY_FAULT), "the first reason counts");
    // SAFETY: the fake queue executes nothing.
    let refused = unsafe { queue.submit_some(&[dispatch(3)], |_, _| ()) };
    assert!(matches!(refused, Err(Error::QueueStopped { .. })));
}

#[test]
fn inactivation_refuses_packets() {
    let queue = queue(2);
    queue.inactivate().unwrap();
    assert!(queue.is_faulted());
    assert_eq!(
        submit(&queue, &[dispatch(1)]),
        Err(Error::QueueStopped { status: HSA_STATUS_ERROR_INVALID_QUEUE })
    );
    assert_eq!(fake::doorbell(queue.raw()), -1);
}

#[test]
fn late_error_callback_of_a_destroyed_queue_is_ignored() {
    let health =
        Arc::new(Health { status: AtomicU32::new(RUNNING), handler: Box::new(|_| panic!("too late")) });
    let token = HEALTH.issue(&health);
    HEALTH.withdraw(token);
    // SAFETY: the callback looks a token up and uses no other argument.
    unsafe { on_queue_error(HSA_STATUS_ERROR, std::ptr::null_mut(), token.as_data()) };
    assert_eq!(health.check(), Ok(()));
}

#[test]
fn refused_creation_names_the_function() {
    let error = Queue::create(&gpu(), 3, QueueOptions::default(), Box::new(|_| ())).unwrap_err();
    assert_eq!(
        error,
        Error::Call { function: "hsa_queue_create", status: HSA_STATUS_ERROR_INVALID_QUEUE_CREATION }
    );
}

#[test]
fn reduced_cu_mask_is_no_error() {
    let queue = queue(2);
    assert_eq!(queue.set_cu_mask(&[1]), Ok(false));
    assert_eq!(queue.set_cu_mask(&[1, 1]), Ok(true));
    assert!(queue.set_cu_mask(&[1, 1, 1]).is_err());
}

const IN_DEVICE_MEMORY: QueueOptions = QueueOptions {
    producers: Producers::Multi,
    private_segment: None,
    group_segment: None,
    ring: RingMemory::Device,
    stores: RingStores::NonTemporal,
};

#[test]
fn a_ring_in_device_memory_holds_the_packets_that_one_in_system_memory_does() {
    let all: Vec<_> = (0..100).map(|index| dispatch(0x1000 + index)).collect();
    for stores in [RingStores::NonTemporal, RingStores::Ordinary] {
        let options = QueueOptions { stores, ..IN_DEVICE_MEMORY };
        let device = Queue::create(&gpu(), 32, options, Box::new(|_| ())).unwrap();
        let system = queue(32);
        assert_eq!((device.ring_memory(), system.ring_memory()), (RingMemory::Device, RingMemory::System));
        let (mut start, mut round) = (0, 0);
        // Lengths that wrap at every slot, by all ways of submitting.
        while start + round % 32 < all.len() * 20 {
            let len = round % 32 + 1;
            let image: Vec<_> = (0..len).map(|at| all[(start + at) % all.len()]).collect();
            for queue in [&device, &system] {
                // SAFETY: the fake queue executes nothing.
                unsafe {
                    if round % 3 == 0 {
                        let change =
                            |at, packet: &mut Packet| packet.set_kernarg_address(0x100 + at as u64).unwrap();
                        queue.submit(&image, change).unwrap();
                    } else {
                        let filled = queue.submit_image(&image, |slots| {
                            for at in slots.packets().filter(|at| at % 5 == round % 5) {
                                slots.set(at, 7, 0xdead_0000_beef + at as u64);
                                slots.set(at, 2, u64::MAX - at as u64);
                            }
                        });
                        assert_eq!(filled, Ok(len));
                    }
                }
                fake::retire(queue.raw(), (start + len) as u64);
            }
            for slot in 0..32 {
                let (there, here) = (fake::slot(device.raw(), slot), fake::slot(system.raw(), slot));
                assert_eq!(there.0, here.0, "slot {slot} in round {round}, {stores:?}");
            }
            assert_eq!(fake::doorbell(device.raw()), fake::doorbell(system.raw()));
            start += len;
            round += 1;
        }
    }
}

#[test]
fn packets_in_device_memory_are_flushed_out_of_the_host_data_path() {
    let queue = Queue::create(&gpu(), 8, IN_DEVICE_MEMORY, Box::new(|_| ())).unwrap();
    fake::HDP_FLUSH.store(0, Ordering::Relaxed);
    submit(&queue, &[dispatch(1)]).unwrap();
    assert_eq!(fake::HDP_FLUSH.load(Ordering::Relaxed), 1);
}

#[test]
fn a_runtime_that_cannot_put_rings_into_device_memory_says_so() {
    static TABLE: LazyLock<Api> = LazyLock::new(|| Api { hsa_amd_queue_create: None, ..*fake::api() });
    let refused = Queue::create(&gpu_of(&TABLE), 8, IN_DEVICE_MEMORY, Box::new(|_| ())).unwrap_err();
    assert_eq!(refused, Error::Unsupported { function: "hsa_amd_queue_create" });
}

#[test]
fn sizes_that_no_descriptor_can_name_are_refused() {
    let refused = Queue::create(&gpu(), 1 << 30, IN_DEVICE_MEMORY, Box::new(|_| ())).unwrap_err();
    assert_eq!(refused.status(), Some(HSA_STATUS_ERROR_INVALID_ARGUMENT));
}
