//! A client that builds queues, packets and machine code in its own memory.

mod copies;

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU16, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hsa_sys::{
    AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, HSA_PACKET_HEADER_BARRIER, HSA_PACKET_TYPE_BARRIER_AND,
    HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_PACKET_TYPE_VENDOR_SPECIFIC, HSA_STATUS_ERROR_EXCEPTION,
    HSA_STATUS_ERROR_INVALID_SIGNAL, HSA_STATUS_ERROR_MEMORY_FAULT, amd_queue_t, amd_signal_t, hsa_status_t,
};
use parking_lot::Mutex;

use super::{Access, Created, Driver, Home, Interrupts, Loss, QueueDescriptor, QueueError, QueueFault};
use crate::{config::Config, os::Mapping};

/// Stores the dword behind a pointer, both from the arguments, where the pointer says (llvm-mc, gfx90a).
const STORE: [u32; 10] = [
    0xc00a_0100,
    0x0000_0000, // s_load_dwordx4 s[4:7], s[0:1], 0x0
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0x7e00_0204, // v_mov_b32 v0, s4
    0x7e02_0205, // v_mov_b32 v1, s5
    0x7e04_0206, // v_mov_b32 v2, s6
    0xdc70_0000,
    0x0000_0200, // flat_store_dword v[0:1], v2
    0xbf8c_0070, // s_waitcnt vmcnt(0) lgkmcnt(0)
    0xbf81_0000, // s_endpgm
];
/// The dword of [`STORE`] that loads the value, and `v_mov_b32 v2, 7` in its place.
const VALUE: (usize, u32) = (5, 0x7e04_0287);

#[derive(Default)]
struct Heard {
    events: Mutex<Vec<u32>>,
    faults: Mutex<Vec<(u64, hsa_status_t)>>,
    losses: Mutex<Vec<(u32, Loss)>>,
}

impl Interrupts for Heard {
    fn event(&self, _device: u32, event: u32) {
        self.events.lock().push(event);
    }

    fn queue_error(&self, queue: u64, _device: u32, fault: &QueueFault) {
        self.faults.lock().push((queue, fault.status));
    }

    fn lost(&self, device: u32, loss: Loss) {
        self.losses.lock().push((device, loss));
    }
}

/// What a test has: one page each for control block, ring, signals, data, and code.
struct Client {
    driver: Driver,
    heard: Arc<Heard>,
    memory: Arc<Mapping>,
}

const PAGE: u64 = 4096;
const CONTROL: u64 = 0;
const RING: u64 = PAGE;
const SIGNALS: u64 = 2 * PAGE;
const DATA: u64 = 3 * PAGE;
const CODE: u64 = 4 * PAGE;
const PACKETS: u32 = 64;

impl Client {
    fn new() -> Self {
        Self::with(&Config::default())
    }

    fn with(config: &Config) -> Self {
        let heard = Arc::new(Heard::default());
        let driver = Driver::open(config, Arc::clone(&heard) as _).unwrap();
        // Behind the last page is one that the device does not reach.
        let memory = Arc::new(Mapping::anonymous(6 * PAGE as usize).unwrap());
        let client = Self { driver, heard, memory };
        client.show(0, CODE, false);
        client.show(CODE, PAGE, true);
        for (index, word) in STORE.into_iter().enumerate() {
            client.set_word(CODE + 256 + 4 * index as u64, word);
        }
        // A kernel descriptor: entry at 256, two user SGPRs, the kernarg pointer in them.
        client.set_word(CODE + 16, 256);
        client.set_word(CODE + 48, 0xc0 << 12);
        client.set_word(CODE + 52, 2 << 1);
        client.set_word(CODE + 56, 1 << 3);
        client
    }

    fn show(&self, offset: u64, size: u64, executable: bool) {
        let access = Access { writable: true, executable, home: Home::Device };
        let size = if size == 0 { CODE } else { size };
        // SAFETY: the mapping stays as long as its reference here does.
        unsafe { self.driver.show(0, self.at(offset), size, access, Some(Arc::clone(&self.memory) as _)) };
    }

    fn at(&self, offset: u64) -> u64 {
        self.memory.address() + offset
    }

    fn word(&self, offset: u64) -> &AtomicU64 {
        // SAFETY: inside the mapping, and every test's offset is a multiple of 8.
        unsafe { AtomicU64::from_ptr(self.at(offset) as *mut u64) }
    }

    fn set_word(&self, offset: u64, word: u32) {
        // SAFETY: inside the mapping and aligned.
        unsafe { (self.at(offset) as *mut u32).write_volatile(word) };
    }

    fn descriptor(&self) -> QueueDescriptor {
        QueueDescriptor {
            ring: self.at(RING),
            packets: PACKETS,
            read_index: self.at(CONTROL) + std::mem::offset_of!(amd_queue_t, read_dispatch_id) as u64,
            write_index: self.at(CONTROL) + std::mem::offset_of!(amd_queue_t, write_dispatch_id) as u64,
            amd_queue: self.at(CONTROL),
            priority: 1,
        }
    }

    fn queue(&self) -> Created {
        for index in 0..u64::from(PACKETS) {
            self.word(RING + 64 * index).store(1, Ordering::Relaxed);
        }
        self.driver.create_queue(0, &self.descriptor()).unwrap()
    }

    /// Makes the signal number `number` with a value.
    fn signal(&self, number: u64, value: i64) -> u64 {
        let offset = SIGNALS + 64 * number;
        self.word(offset + 8).store(value as u64, Ordering::Relaxed);
        self.at(offset)
    }

    fn value(&self, number: u64) -> &AtomicI64 {
        // SAFETY: as in `word`.
        unsafe { AtomicI64::from_ptr(self.at(SIGNALS + 64 * number + 8) as *mut i64) }
    }

    /// Publishes a packet without ringing.
    fn publish(&self, index: u64, packet: [u64; 8]) {
        let slot = RING + 64 * (index % u64::from(PACKETS));
        for (at, word) in packet.into_iter().enumerate().skip(1) {
            self.word(slot + 8 * at as u64).store(word, Ordering::Relaxed);
        }
        self.set_word(slot + 4, (packet[0] >> 32) as u32);
        let write_index = std::mem::offset_of!(amd_queue_t, write_dispatch_id) as u64;
        self.word(CONTROL + write_index).store(index + 1, Ordering::Relaxed);
        // SAFETY: inside the mapping and aligned.
        let header = unsafe { AtomicU16::from_ptr((self.at(slot) + 2) as *mut u16) };
        header.store((packet[0] >> 16) as u16, Ordering::Relaxed);
        // SAFETY: as above.
        let header = unsafe { AtomicU16::from_ptr(self.at(slot) as *mut u16) };
        header.store(packet[0] as u16, Ordering::Release);
    }

    fn ring(&self, queue: Created, index: u64) {
        // SAFETY: the driver's doorbell.
        unsafe { AtomicU64::from_ptr(queue.doorbell as *mut u64) }.store(index, Ordering::Release);
    }

    /// A dispatch of [`STORE`] that stores `value` to the first word of the data.
    fn kernel(&self, target: u64, value: u32, completion: u64) -> [u64; 8] {
        let arguments = DATA + PAGE / 2;
        self.word(arguments).store(target, Ordering::Relaxed);
        self.word(arguments + 8).store(value.into(), Ordering::Relaxed);
        let header = u64::from(HSA_PACKET_TYPE_KERNEL_DISPATCH.0) | 1 << 16 | 1 << 32 | 1 << 48;
        [header, 1 | 1 << 32, 1 | 1 << 32, 0, self.at(CODE), self.at(arguments), 0, completion]
    }

    fn until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !condition() {
            assert!(Instant::now() < deadline, "{what} does not happen");
            std::thread::yield_now();
        }
    }
}

fn barrier(dependency: u64, completion: u64) -> [u64; 8] {
    [u64::from(HSA_PACKET_TYPE_BARRIER_AND.0), dependency, 0, 0, 0, 0, 0, completion]
}

#[test]
fn a_kernel_in_the_clients_memory_runs_and_completes_its_signal() {
    let client = Client::new();
    let queue = client.queue();
    let done = client.signal(0, 1);
    client.publish(0, client.kernel(client.at(DATA), 42, done));
    client.ring(queue, 0);
    client.until("completion", || client.value(0).load(Ordering::Acquire) == 0);
    assert_eq!(client.word(DATA).load(Ordering::Relaxed) as u32, 42);
    let counters = client.driver.counters(0);
    assert_eq!((counters.kernels, counters.completion_signals, counters.interrupts), (1, 1, 0));
    assert_eq!(counters.doorbells, 1);
}

#[test]
fn a_packet_waits_for_its_doorbell() {
    let client = Client::new();
    let queue = client.queue();
    for index in 0..2 {
        client.publish(index, barrier(0, client.signal(index, 1)));
    }
    client.ring(queue, 1);
    client.until("the second", || client.value(1).load(Ordering::Acquire) == 0);
    client.publish(2, barrier(0, client.signal(2, 1)));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(client.value(2).load(Ordering::Acquire), 1, "nobody rang for the third");
    client.ring(queue, 2);
    client.until("the third", || client.value(2).load(Ordering::Acquire) == 0);
    // A thread that rings late names an earlier packet: nothing is lost and nothing repeated.
    client.ring(queue, 0);
    client.publish(3, barrier(0, client.signal(3, 1)));
    client.ring(queue, 3);
    client.until("the fourth", || client.value(3).load(Ordering::Acquire) == 0);
    assert_eq!(client.driver.counters(0).barrier_and, 4);
}

#[test]
fn a_ring_that_takes_the_place_of_a_later_one_is_for_both_packets() {
    let client = Client::new();
    let queue = client.queue();
    for index in 0..2 {
        client.publish(index, barrier(0, client.signal(index, 1)));
    }
    // The thread of the second packet was quicker, and the packet processor has not looked in between.
    client.ring(queue, 0);
    client.until("the second", || client.value(1).load(Ordering::Acquire) == 0);
}

#[test]
fn a_barrier_waits_for_what_the_host_stores() {
    let client = Client::new();
    let queue = client.queue();
    let (gate, done) = (client.signal(0, 1), client.signal(1, 1));
    client.publish(0, barrier(gate, done));
    client.ring(queue, 0);
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(client.value(1).load(Ordering::Acquire), 1);
    client.value(0).store(0, Ordering::Release);
    client.until("the barrier", || client.value(1).load(Ordering::Acquire) == 0);
}

#[test]
fn a_signal_with_a_mailbox_interrupts_the_host() {
    let client = Client::new();
    let queue = client.queue();
    let done = client.signal(0, 1);
    client.word(SIGNALS + 16).store(client.at(DATA + 64), Ordering::Relaxed);
    client.word(SIGNALS + 24).store(9, Ordering::Relaxed);
    client.publish(0, barrier(0, done));
    client.ring(queue, 0);
    client.until("the interrupt", || *client.heard.events.lock() == [9]);
    assert_eq!(client.value(0).load(Ordering::Acquire), 0, "the value changes before the interrupt");
    assert_eq!(client.word(DATA + 64).load(Ordering::Relaxed), 9, "the mailbox");
}

#[test]
fn a_profiled_queue_stores_times_in_the_devices_ticks() {
    let client = Client::new();
    let properties = std::mem::offset_of!(amd_queue_t, queue_properties) as u64;
    client.set_word(CONTROL + properties, AMD_QUEUE_PROPERTIES_ENABLE_PROFILING);
    let queue = client.queue();
    let before = client.driver.ticks(0);
    client.publish(0, client.kernel(client.at(DATA), 1, client.signal(0, 1)));
    client.ring(queue, 0);
    client.until("completion", || client.value(0).load(Ordering::Acquire) == 0);
    let time = |field| client.word(SIGNALS + field).load(Ordering::Relaxed);
    let start = time(std::mem::offset_of!(amd_signal_t, start_ts) as u64);
    let end = time(std::mem::offset_of!(amd_signal_t, end_ts) as u64);
    assert!(before <= start && start <= end && end <= client.driver.ticks(0));
}

#[test]
fn instructions_are_fetched_again_after_an_invalidation() {
    let client = Client::new();
    let queue = client.queue();
    let run = |index, packet| {
        client.publish(index, packet);
        client.ring(queue, index);
        client.until("completion", || client.value(index).load(Ordering::Acquire) == 0);
        client.word(DATA).load(Ordering::Relaxed) as u32
    };
    let store = |index| run(index, client.kernel(client.at(DATA), 42, client.signal(index, 1)));
    assert_eq!(store(0), 42);
    client.set_word(CODE + 256 + 4 * VALUE.0 as u64, VALUE.1);
    assert_eq!(store(1), 42, "an instruction cache keeps what it has");
    // ACQUIRE_MEM of the instruction caches, behind a jump.
    for (index, word) in [0xc005_5800, 1 << 29, !0, 0xff, 0, 0, 4].into_iter().enumerate() {
        client.set_word(DATA + 1024 + 4 * index as u64, word);
    }
    let header = u64::from(HSA_PACKET_TYPE_VENDOR_SPECIFIC.0) | 1 << 16 | 0xc002_3f00 << 32;
    let size = 7 | 1 << 23;
    run(2, [header, client.at(DATA + 1024), size, 0, 0, 0, 0, client.signal(2, 1)]);
    assert_eq!(store(3), 7);
    assert_eq!(client.driver.counters(0).pm4, 1);
}

#[test]
fn a_store_outside_of_what_is_shown_stops_the_queue() {
    let client = Client::new();
    let queue = client.queue();
    client.publish(0, client.kernel(0x1000, 1, client.signal(0, 1)));
    client.ring(queue, 0);
    client.until("the fault", || !client.heard.faults.lock().is_empty());
    assert_eq!(*client.heard.faults.lock(), [(queue.id, HSA_STATUS_ERROR_MEMORY_FAULT)]);
    assert_eq!(client.value(0).load(Ordering::Acquire), 1);
}

#[test]
fn code_that_is_not_shown_as_executable_does_not_run() {
    let client = Client::new();
    assert!(client.driver.hide(0, client.at(CODE)));
    client.show(CODE, PAGE, false);
    let queue = client.queue();
    client.publish(0, client.kernel(client.at(DATA), 1, 0));
    client.ring(queue, 0);
    client.until("the refusal", || !client.heard.faults.lock().is_empty());
    assert_eq!(client.word(DATA).load(Ordering::Relaxed), 0);
}

#[test]
fn a_signal_outside_of_memory_stops_the_queue() {
    for signal in [0x40, u64::MAX - 63] {
        let client = Client::new();
        let queue = client.queue();
        client.publish(0, barrier(signal, 0));
        client.ring(queue, 0);
        client.until("the refusal", || !client.heard.faults.lock().is_empty());
        assert_eq!(*client.heard.faults.lock(), [(queue.id, HSA_STATUS_ERROR_INVALID_SIGNAL)]);
    }
}

#[test]
fn a_suspended_queue_launches_nothing_until_it_is_resumed() {
    let client = Client::new();
    let queue = client.queue();
    client.driver.suspend_queue(queue.id, true).unwrap();
    client.publish(0, barrier(0, client.signal(0, 1)));
    client.ring(queue, 0);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(client.value(0).load(Ordering::Acquire), 1);
    client.driver.suspend_queue(queue.id, false).unwrap();
    client.until("completion", || client.value(0).load(Ordering::Acquire) == 0);
}

#[test]
fn a_destroyed_queue_is_not_touched_and_its_number_is_given_again() {
    let client = Client::new();
    let first = client.queue();
    client.publish(0, barrier(client.signal(0, 1), client.signal(1, 1)));
    client.ring(first, 0);
    client.driver.destroy_queue(first.id).unwrap();
    client.value(0).store(0, Ordering::Release);
    assert_eq!(client.driver.destroy_queue(first.id), Err(QueueError::NotFound));
    assert_eq!(client.driver.ring(first.id), Err(QueueError::NotFound));
    assert_eq!(client.driver.ring(0), Err(QueueError::NotFound));
    assert_eq!(client.value(1).load(Ordering::Acquire), 1);
    assert_eq!(client.queue().id, first.id);
}

#[test]
fn a_queue_over_memory_that_is_not_shown_is_refused() {
    let client = Client::new();
    let good = client.descriptor();
    let create = |queue: QueueDescriptor| client.driver.create_queue(0, &queue);
    assert_eq!(create(QueueDescriptor { ring: 0x1000, ..good }), Err(QueueError::Unreachable));
    assert_eq!(create(QueueDescriptor { read_index: 0x1000, ..good }), Err(QueueError::Unreachable));
    assert_eq!(create(QueueDescriptor { packets: 1 << 20, ..good }), Err(QueueError::Unreachable));
    assert_eq!(create(QueueDescriptor { packets: 48, ..good }), Err(QueueError::Malformed));
    assert_eq!(create(QueueDescriptor { ring: good.ring + 8, ..good }), Err(QueueError::Malformed));
}

#[test]
fn null_kernels_complete_without_executing() {
    let client = Client::with(&Config { null_kernels: true, ..Config::default() });
    let queue = client.queue();
    client.publish(0, client.kernel(client.at(DATA), 42, client.signal(0, 1)));
    client.driver.ring(queue.id).unwrap();
    client.until("completion", || client.value(0).load(Ordering::Acquire) == 0);
    assert_eq!(client.word(DATA).load(Ordering::Relaxed), 0);
    assert_eq!(client.driver.counters(0).kernels, 1);
}

/// Runs until the dword behind a pointer, from the arguments, is not 0 (llvm-mc, gfx90a).
const LINGER: [u32; 9] = [
    0xc006_0100,
    0x0000_0000, // s_load_dwordx2 s[4:5], s[0:1], 0x0
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xc003_0182,
    0x0000_0000, // s_load_dword s6, s[4:5], 0x0 glc
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xbf06_8006, // s_cmp_eq_u32 s6, 0
    0xbf85_fffb, // s_cbranch_scc1 to the load
    0xbf81_0000, // s_endpgm
];

/// ROCr's copies reuse a packet's kernel arguments as soon as the read index has passed it.
#[test]
fn a_slot_is_free_when_its_kernel_is_done() {
    let client = Client::new();
    for (index, word) in LINGER.into_iter().enumerate() {
        client.set_word(CODE + 256 + 4 * index as u64, word);
    }
    let queue = client.queue();
    client.publish(0, client.kernel(client.at(DATA), 0, client.signal(0, 1)));
    client.publish(1, barrier(0, client.signal(1, 1)));
    client.ring(queue, 1);
    client.until("the barrier", || client.value(1).load(Ordering::Acquire) == 0);
    let read_index = client.word(CONTROL + std::mem::offset_of!(amd_queue_t, read_dispatch_id) as u64);
    assert_eq!(read_index.load(Ordering::Acquire), 0, "the kernel runs");
    client.word(DATA).store(1, Ordering::Release);
    client.until("the kernel", || client.value(0).load(Ordering::Acquire) == 0);
    assert_eq!(read_index.load(Ordering::Acquire), 2);
}

/// A client of hardware that fails.
fn failing(failures: &str) -> Client {
    Client::with(&Config { hardware: failures.parse().unwrap(), ..Config::default() })
}

#[test]
fn a_lost_device_stops_its_queues_and_reports_once_and_serves_new_ones() {
    for (failure, loss) in [("reset@2", Loss::Hang), ("memory-error@2", Loss::Memory)] {
        let client = failing(failure);
        let queue = client.queue();
        client.publish(0, client.kernel(client.at(DATA), 1, client.signal(0, 1)));
        client.publish(1, client.kernel(client.at(DATA), 2, client.signal(1, 1)));
        client.publish(2, client.kernel(client.at(DATA), 3, client.signal(2, 1)));
        client.ring(queue, 2);
        client.until("the loss", || !client.heard.losses.lock().is_empty());
        assert_eq!(*client.heard.losses.lock(), [(0, loss)]);
        assert_eq!([0, 1, 2].map(|signal| client.value(signal).load(Ordering::Acquire)), [0, 1, 1]);
        assert!(client.heard.faults.lock().is_empty(), "no queue reports it");
        client.driver.destroy_queue(queue.id).unwrap();

        // The next one begins at its first slot.
        let read_index = CONTROL + std::mem::offset_of!(amd_queue_t, read_dispatch_id) as u64;
        client.word(read_index).store(0, Ordering::Relaxed);
        let queue = client.queue();
        client.publish(0, client.kernel(client.at(DATA), 4, client.signal(3, 1)));
        client.ring(queue, 0);
        client.until("completion", || client.value(3).load(Ordering::Acquire) == 0);
        assert_eq!(client.word(DATA).load(Ordering::Relaxed) as u32, 4);
    }
}

#[test]
fn a_queue_can_stop_with_an_error_at_a_dispatch() {
    let client = failing("queue-error@1");
    let queue = client.queue();
    client.publish(0, client.kernel(client.at(DATA), 1, client.signal(0, 1)));
    client.ring(queue, 0);
    client.until("the error", || !client.heard.faults.lock().is_empty());
    assert_eq!(*client.heard.faults.lock(), [(queue.id, HSA_STATUS_ERROR_EXCEPTION)]);
}

#[test]
fn a_dispatch_that_hangs_holds_up_packets_with_the_barrier_bit() {
    let client = failing("hang@1");
    let queue = client.queue();
    client.publish(0, client.kernel(client.at(DATA), 1, client.signal(0, 1)));
    client.publish(1, barrier(0, client.signal(1, 1)));
    let mut waits = barrier(0, client.signal(2, 1));
    waits[0] |= 1 << HSA_PACKET_HEADER_BARRIER.0;
    client.publish(2, waits);
    client.ring(queue, 2);
    client.until("the packet without the bit", || client.value(1).load(Ordering::Acquire) == 0);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!([0, 2].map(|signal| client.value(signal).load(Ordering::Acquire)), [1, 1]);
    assert!(client.heard.losses.lock().is_empty() && client.heard.faults.lock().is_empty());
    client.driver.destroy_queue(queue.id).unwrap();
}
