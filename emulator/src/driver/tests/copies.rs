//! Queues of copy engines, with packets as ROCr writes them.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use hsa_sys::{HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, HSA_STATUS_ERROR_MEMORY_FAULT};

use super::{CODE, Client, DATA, LINGER, PAGE, RING, failing};
use crate::{
    config::Config,
    driver::{CopyEngine, CopyQueueDescriptor, CreatedCopyQueue, Loss, QueueError},
};

/// A queue, and where its ring lies in the client's memory.
struct Copies<'a> {
    client: &'a Client,
    queue: CreatedCopyQueue,
    ring: u64,
    bytes: u64,
    written: u64,
}

fn pair(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

fn linear(destination: u64, source: u64, bytes: u32) -> [u32; 7] {
    let ([to, to_high], [from, from_high]) = (pair(destination), pair(source));
    [1, bytes - 1, 0, from, from_high, to, to_high]
}

/// Waits until the dword at an address equals `value`.
fn poll(address: u64, value: u32) -> [u32; 6] {
    let [low, high] = pair(address);
    [8 | 3 << 28 | 1 << 31, low, high, value, !0, 0xfff << 16 | 4]
}

fn fence(address: u64, value: u32) -> [u32; 4] {
    let [low, high] = pair(address);
    [5, low, high, value]
}

fn descriptor(client: &Client, engine: CopyEngine) -> CopyQueueDescriptor {
    CopyQueueDescriptor { ring: client.at(RING), bytes: PAGE, engine }
}

impl<'a> Copies<'a> {
    /// A queue whose ring is the page of the client's ring.
    fn new(client: &'a Client) -> Self {
        Self::at(client, RING, PAGE, CopyEngine::Host)
    }

    fn at(client: &'a Client, ring: u64, bytes: u64, engine: CopyEngine) -> Self {
        let descriptor = CopyQueueDescriptor { ring: client.at(ring), bytes, engine };
        let queue = client.driver.create_copy_queue(0, &descriptor).unwrap();
        Self { client, queue, ring, bytes, written: 0 }
    }

    fn pointer(address: u64) -> &'static AtomicU64 {
        // SAFETY: the driver's words, which outlive the test's queue.
        unsafe { AtomicU64::from_ptr(address as *mut u64) }
    }

    /// Writes packets behind those that are there, and does not ring.
    fn write(&mut self, words: &[u32]) {
        for word in words {
            self.client.set_word(self.ring + self.written % self.bytes, *word);
            self.written += 4;
        }
        Self::pointer(self.queue.write_pointer).store(self.written, Ordering::Release);
    }

    fn ring(&self) {
        Self::pointer(self.queue.doorbell).store(self.written, Ordering::Release);
    }

    fn executed(&self) -> u64 {
        Self::pointer(self.queue.read_pointer).load(Ordering::Acquire)
    }

    /// Writes packets, rings, and waits until they are executed.
    fn run(&mut self, words: &[u32]) {
        self.write(words);
        self.ring();
        self.client.until("the packets", || self.executed() == self.written);
    }
}

impl Client {
    fn byte(&self, offset: u64) -> u8 {
        // SAFETY: inside the mapping.
        unsafe { (self.at(offset) as *const u8).read_volatile() }
    }

    fn set_byte(&self, offset: u64, value: u8) {
        // SAFETY: inside the mapping.
        unsafe { (self.at(offset) as *mut u8).write_volatile(value) };
    }

    fn bytes(&self, offset: u64, count: u64) -> Vec<u8> {
        (offset..offset + count).map(|at| self.byte(at)).collect()
    }

    /// Fills the first half of the data page with numbers.
    fn number_data(&self) {
        (0..PAGE / 2).for_each(|at| self.set_byte(DATA + at, at as u8));
    }

    fn faults(&self) -> Vec<(u64, hsa_sys::hsa_status_t)> {
        self.heard.faults.lock().clone()
    }
}

#[test]
fn a_linear_copy_moves_bytes_at_any_alignment_and_is_counted() {
    let client = Client::new();
    client.number_data();
    let mut copies = Copies::new(&client);
    copies.run(&linear(client.at(DATA + PAGE / 2 + 1), client.at(DATA + 3), 1001));
    let expected: Vec<u8> = (3..1004u32).map(|at| at as u8).collect();
    assert_eq!(client.bytes(DATA + PAGE / 2 + 1, 1001), expected);
    assert_eq!((client.byte(DATA + PAGE / 2), client.byte(DATA + PAGE / 2 + 1002)), (0, 0));
    let counters = client.driver.counters(0);
    assert_eq!((counters.engine_copies, counters.engine_bytes), (1, 1001));
}

#[test]
fn a_sub_window_copy_moves_a_box() {
    let client = Client::new();
    client.number_data();
    let mut copies = Copies::new(&client);
    // Elements of 2 bytes; 3 x 2 x 2 of them from (1, 1, 0) of rows of 8 and slices of 32, to rows of 4 and slices of 16.
    let ([from, from_high], [to, to_high]) = (pair(client.at(DATA)), pair(client.at(DATA + PAGE / 2)));
    let packet = [
        1 | 4 << 8 | 1 << 29,
        from,
        from_high,
        1 | 1 << 16,
        7 << 13,
        31,
        to,
        to_high,
        0,
        3 << 13,
        15,
        2 | 1 << 16,
        1,
    ];
    copies.run(&packet);
    let mut expected = vec![0; 64];
    for (z, y, x) in (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..6).map(move |x| (z, y, x)))) {
        expected[32 * z + 8 * y + x] = (64 * z + 16 * (y + 1) + 2 + x) as u8;
    }
    assert_eq!(client.bytes(DATA + PAGE / 2, 64), expected);
    assert_eq!(client.driver.counters(0).engine_bytes, 24);
}

#[test]
fn a_fill_and_a_write_store_dwords() {
    let client = Client::new();
    let mut copies = Copies::new(&client);
    let [to, high] = pair(client.at(DATA + 8));
    copies.run(&[11 | 2 << 30, to, high, 0x0102_0304, 8]);
    assert_eq!(client.bytes(DATA + 4, 20), [0, 0, 0, 0, 4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 0, 0]);
    copies.run(&[2, to, high, 1, 7, 8]);
    assert_eq!(client.word(DATA + 8).load(Ordering::Relaxed), 8 << 32 | 7);
    let counters = client.driver.counters(0);
    assert_eq!((counters.engine_copies, counters.engine_bytes), (1, 12));
}

#[test]
fn a_signal_completes_as_rocr_asks_for_it() {
    let client = Client::new();
    let mut copies = Copies::new(&client);
    let signal = client.signal(0, 2);
    let ([value, high], [stamp, stamp_high]) = (pair(signal + 8), pair(client.at(DATA + 32)));
    let before = client.driver.ticks(0);
    copies.write(&[13 | 2 << 8, stamp, stamp_high]);
    // The flush of the host data path.
    copies.write(&[8, 0, 0x8000_0000, 0, 0, 0]);
    copies.write(&[10 | 47 << 25, value, high, !0, !0, 0, 0, 0]);
    copies.write(&fence(client.at(DATA), 77));
    copies.run(&[6, 77]);
    client.until("the interrupt", || *client.heard.events.lock() == [77]);
    assert_eq!(client.value(0).load(Ordering::Acquire), 1);
    assert_eq!(client.word(DATA).load(Ordering::Acquire), 77);
    let stamp = client.word(DATA + 32).load(Ordering::Acquire);
    assert!((before..=client.driver.ticks(0)).contains(&stamp), "{before} {stamp}");
    // 32 bits: nothing is carried.
    client.word(DATA).store(0xffff_ffff, Ordering::Release);
    let [low, high] = pair(client.at(DATA));
    copies.run(&[10 | 15 << 25, low, high, 2, 0, 0, 0, 0]);
    assert_eq!(client.word(DATA).load(Ordering::Acquire), 1);
}

#[test]
fn a_poll_holds_its_queue_up_and_no_other_of_the_engine() {
    let client = Client::new();
    client.number_data();
    let mut first = Copies::new(&client);
    first.write(&poll(client.at(DATA + 64 + PAGE / 2), 5));
    first.write(&linear(client.at(DATA + PAGE / 2), client.at(DATA + 1), 8));
    first.ring();
    // The same engine, with its ring in the page of code.
    let mut second = Copies::at(&client, CODE, PAGE, CopyEngine::Number(first.queue.engine));
    assert_eq!(second.queue.engine, first.queue.engine);
    second.run(&fence(client.at(DATA + PAGE / 2 + 128), 9));
    assert_eq!(client.byte(DATA + PAGE / 2 + 128), 9);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!((first.executed(), client.byte(DATA + PAGE / 2)), (0, 0));
    client.set_word(DATA + 64 + PAGE / 2, 5);
    client.until("the first queue", || first.executed() == first.written);
    assert_eq!(client.bytes(DATA + PAGE / 2, 8), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn an_engine_copies_beside_kernels() {
    let client = Client::new();
    for (index, word) in LINGER.into_iter().enumerate() {
        client.set_word(CODE + 256 + 4 * index as u64, word);
    }
    let queue = client.queue();
    client.publish(0, client.kernel(client.at(DATA), 0, client.signal(0, 1)));
    client.ring(queue, 0);
    // The kernel runs until the engine stores the word that it looks at.
    let mut copies = Copies::at(&client, CODE + PAGE / 2, 1024, CopyEngine::Host);
    copies.run(&linear(client.at(DATA + 64), client.at(CODE), 64));
    assert_eq!(client.value(0).load(Ordering::Acquire), 1);
    copies.run(&fence(client.at(DATA), 1));
    client.until("the kernel", || client.value(0).load(Ordering::Acquire) == 0);
}

#[test]
fn packets_wait_for_the_doorbell_and_wrap_round_the_ring() {
    let client = Client::new();
    let mut copies = Copies::new(&client);
    copies.write(&fence(client.at(DATA), 1));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(copies.executed(), 0, "nobody rang");
    copies.run(&[]);
    assert_eq!(client.byte(DATA), 1);
    // A packet across the end of the ring: a burst of NOPs goes before it.
    let room = (PAGE - copies.written) / 4;
    let mut nops = vec![0; room as usize - 2];
    nops[0] = (room as u32 - 3) << 16;
    copies.run(&nops);
    copies.run(&fence(client.at(DATA), 2));
    assert_eq!(client.byte(DATA), 2);
    assert_eq!(copies.executed(), PAGE + 8);
    // For clients that do not store to doorbells.
    copies.write(&fence(client.at(DATA), 3));
    client.driver.ring(copies.queue.id).unwrap();
    client.until("the ring", || client.byte(DATA) == 3);
}

#[test]
fn an_address_that_the_device_does_not_reach_is_a_memory_fault() {
    for packet in [
        &linear(0x1000, 0x2000, 4)[..],
        &[11 | 2 << 30, 0x1000, 0, 1, 0],
        &[2, 0x1000, 0, 0, 1],
        &fence(0x1000, 1),
        &poll(0x1000, 1),
        &[10 | 47 << 25, 0x1000, 0, 1, 0, 0, 0, 0],
        &[13 | 2 << 8, 0x1000, 0],
        &[1 | 4 << 8, 0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0, 0],
    ] {
        let client = Client::new();
        let mut copies = Copies::new(&client);
        copies.write(packet);
        copies.write(&fence(client.at(DATA), 1));
        copies.ring();
        client.until("the fault", || !client.faults().is_empty());
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(client.faults(), [(copies.queue.id, HSA_STATUS_ERROR_MEMORY_FAULT)]);
        assert_eq!((copies.executed(), client.byte(DATA)), (0, 0), "the queue has stopped");
        client.driver.destroy_queue(copies.queue.id).unwrap();
    }
}

#[test]
fn a_copy_that_ends_outside_of_memory_stores_nothing() {
    let client = Client::new();
    client.number_data();
    let mut copies = Copies::new(&client);
    // The mapping ends with the page of code.
    copies.write(&linear(client.at(CODE + PAGE - 8), client.at(DATA + 1), 9));
    copies.ring();
    client.until("the fault", || !client.faults().is_empty());
    assert_eq!(client.bytes(CODE + PAGE - 8, 8), [0; 8]);
    assert_eq!(client.driver.counters(0).engine_copies, 0);
}

#[test]
fn a_packet_that_no_engine_knows_stops_the_queue() {
    let client = Client::new();
    let mut copies = Copies::new(&client);
    copies.write(&[0xfe]);
    copies.ring();
    client.until("the refusal", || !client.faults().is_empty());
    assert_eq!(client.faults(), [(copies.queue.id, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT)]);
    // A doorbell beyond the ring.
    client.driver.destroy_queue(copies.queue.id).unwrap();
    let mut copies = Copies::new(&client);
    copies.written = 2 * PAGE;
    copies.ring();
    client.until("the second refusal", || client.faults().len() == 2);
}

#[test]
fn a_suspended_copy_queue_executes_nothing_until_it_is_resumed() {
    let client = Client::new();
    let mut copies = Copies::new(&client);
    client.driver.suspend_queue(copies.queue.id, true).unwrap();
    copies.write(&fence(client.at(DATA), 1));
    copies.ring();
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(client.byte(DATA), 0);
    client.driver.suspend_queue(copies.queue.id, false).unwrap();
    client.until("the fence", || client.byte(DATA) == 1);
}

#[test]
fn a_destroyed_copy_queue_is_not_touched() {
    let client = Client::new();
    let mut copies = Copies::new(&client);
    copies.write(&poll(client.at(DATA), 1));
    copies.write(&fence(client.at(DATA + 8), 1));
    copies.ring();
    std::thread::sleep(Duration::from_millis(1));
    client.driver.destroy_queue(copies.queue.id).unwrap();
    client.set_word(DATA, 1);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(client.byte(DATA + 8), 0);
    assert_eq!(client.driver.destroy_queue(copies.queue.id), Err(QueueError::NotFound));
    // The next one begins at 0 again.
    let mut copies = Copies::new(&client);
    copies.run(&fence(client.at(DATA + 8), 2));
    assert_eq!((copies.executed(), client.byte(DATA + 8)), (16, 2));
}

#[test]
fn queues_spread_over_the_engines_of_their_kind() {
    let client = Client::new();
    let create = |engine| client.driver.create_copy_queue(0, &descriptor(&client, engine));
    let engine = |kind| create(kind).map(|queue| queue.engine);
    let host: Vec<_> = (0..4).map(|_| engine(CopyEngine::Host).unwrap()).collect();
    assert_eq!(host, [0, 1, 0, 1]);
    let links: Vec<_> = (0..4).map(|_| engine(CopyEngine::Link).unwrap()).collect();
    assert_eq!(links, [2, 3, 4, 2]);
    let named: Vec<_> = (0..7).map(|_| engine(CopyEngine::Number(3))).collect();
    assert_eq!(named, [Ok(3); 7]);
    assert_eq!(engine(CopyEngine::Number(3)), Err(QueueError::TooMany));
    assert_eq!(engine(CopyEngine::Number(5)), Err(QueueError::NoEngine));
    let good = descriptor(&client, CopyEngine::Host);
    let create = |queue: CopyQueueDescriptor| client.driver.create_copy_queue(0, &queue);
    assert_eq!(create(CopyQueueDescriptor { ring: 0x1000, ..good }), Err(QueueError::Unreachable));
    assert_eq!(create(CopyQueueDescriptor { bytes: 1 << 20, ..good }), Err(QueueError::Unreachable));
    assert_eq!(create(CopyQueueDescriptor { bytes: PAGE - 256, ..good }), Err(QueueError::Malformed));
    assert_eq!(create(CopyQueueDescriptor { ring: good.ring + 64, ..good }), Err(QueueError::Malformed));
}

#[test]
fn the_device_of_the_engine_counts() {
    let client = Client::with(&Config { devices: vec![crate::Target::Gfx90a; 2], ..Config::default() });
    let mut copies = Copies::new(&client);
    copies.run(&linear(client.at(DATA + PAGE / 2), client.at(DATA + 1), 4));
    assert_eq!([0, 1].map(|device| client.driver.counters(device).engine_copies), [1, 0]);
}

#[test]
fn a_lost_device_loses_its_copy_queues() {
    let client = failing("reset@1");
    let mut copies = Copies::new(&client);
    copies.run(&[0]);
    // The ring of packets takes the page of data: its first packet is what the device is lost at.
    let lost = {
        let queue = crate::driver::QueueDescriptor { ring: client.at(DATA), ..client.descriptor() };
        (0..64).for_each(|index| client.word(DATA + 64 * index).store(1, Ordering::Relaxed));
        client.driver.create_queue(0, &queue).unwrap()
    };
    let packet = client.kernel(client.at(CODE), 1, 0);
    for (index, word) in packet.into_iter().enumerate().rev() {
        client.word(DATA + 8 * index as u64).store(word, Ordering::Release);
    }
    let write_index = std::mem::offset_of!(hsa_sys::amd_queue_t, write_dispatch_id) as u64;
    client.word(write_index).store(1, Ordering::Release);
    client.ring(lost, 0);
    client.until("the loss", || *client.heard.losses.lock() == [(0, Loss::Hang)]);
    copies.write(&[0]);
    copies.ring();
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(copies.executed(), 4);
    assert!(client.faults().is_empty(), "the device has reported it");
    client.driver.destroy_queue(copies.queue.id).unwrap();
    client.driver.create_copy_queue(0, &descriptor(&client, CopyEngine::Host)).unwrap();
}
