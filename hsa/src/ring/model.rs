//! Loom explores every interleaving of two producers and the packet processor.

use loom::sync::Arc;
use loom::thread;

use super::fake::{FakeQueue, Stores, packet};
use super::{Port, QueueFull, Ring};
use crate::packet::Packet;

fn publish<P: Port>(ring: &Ring<P>, packets: &[Packet]) {
    loop {
        match ring.claim(packets.len() as u32) {
            Ok(claim) => {
                // SAFETY: nothing executes the packets of a fake queue.
                unsafe { claim.publish(packets, |_, _| ()) }.expect("the packets are valid");
                return;
            }
            Err(QueueFull { .. }) => thread::yield_now(),
        }
    }
}

/// Retires `count` packets and returns their payloads.
fn consume(ring: &Ring<FakeQueue>, count: usize) -> Vec<u64> {
    let mut payloads = Vec::new();
    while payloads.len() < count {
        match ring.port().step() {
            Some((payload, _)) => payloads.push(payload),
            None => thread::yield_now(),
        }
    }
    payloads
}

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Publishes a packet from each of two threads, and sees to it that both come out; returns the ring.
fn two_producers(stores: Stores) -> Arc<Ring<FakeQueue>> {
    let ring = Arc::new(Ring::new(FakeQueue::new(2, stores)).unwrap());
    let producers = [10, 20].map(|payload| {
        let ring = Arc::clone(&ring);
        thread::spawn(move || publish(&ring, &[packet(payload)]))
    });
    let mut payloads = consume(&ring, 2);
    for producer in producers {
        producer.join().unwrap();
    }
    payloads.sort_unstable();
    assert_eq!(payloads, [10, 20]);
    ring
}

#[test]
fn two_producers_lose_no_packet_and_no_doorbell() {
    explore(3, || assert_eq!(two_producers(Stores::Ordered).port().doorbell(), Some(1)));
}

#[test]
fn slots_are_reused_only_after_they_retired() {
    explore(3, || {
        let ring = Arc::new(Ring::new(FakeQueue::new(2, Stores::Ordered)).unwrap());
        publish(&ring, &[packet(1), packet(2)]);
        let producers = [10, 20].map(|payload| {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                // One attempt: the full ring refuses it until the consumer has stepped.
                let claim = ring.claim(1).ok()?;
                // SAFETY: nothing executes the packets of a fake queue.
                unsafe { claim.publish(&[packet(payload)], |_, _| ()) }.expect("the packet is valid");
                Some(payload)
            })
        });
        assert_eq!(consume(&ring, 2), [1, 2]);
        let mut published: Vec<u64> =
            producers.into_iter().filter_map(|producer| producer.join().unwrap()).collect();
        let mut retired = consume(&ring, published.len());
        retired.sort_unstable();
        published.sort_unstable();
        assert_eq!(retired, published);
        assert!(ring.port().step().is_none());
    });
}

#[test]
fn dropped_claim_lets_the_next_one_through() {
    explore(3, || {
        let ring = Arc::new(Ring::new(FakeQueue::new(2, Stores::Ordered)).unwrap());
        let quitter = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || drop(ring.claim(1).expect("there is room for both")))
        };
        let producer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || publish(&ring, &[packet(7)]))
        };
        let mut payloads = consume(&ring, 2);
        quitter.join().unwrap();
        producer.join().unwrap();
        payloads.sort_unstable();
        assert_eq!(payloads, [0, 7]);
    });
}

#[test]
fn processor_that_polls_headers_finds_whole_claims() {
    explore(3, || {
        let ring = Arc::new(Ring::new(FakeQueue::new(2, Stores::Ordered)).unwrap());
        let producer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || publish(&ring, &[packet(7), packet(8)]))
        };
        // The first header turns valid last: a processor that sees it has the whole claim, doorbell or not.
        if let Some((payload, _)) = ring.port().poll() {
            assert_eq!(payload, 7);
            assert_eq!(ring.port().poll().map(|(payload, _)| payload), Some(8));
        }
        producer.join().unwrap();
    });
}

#[test]
fn doorbell_keeps_up_with_a_processor_that_looks_ahead() {
    explore(3, || {
        let ring = Arc::new(Ring::new(FakeQueue::new(1, Stores::Ordered)).unwrap());
        let producers = [10, 20].map(|payload| {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let claim = ring.claim(1).ok()?;
                // SAFETY: nothing executes the packets of a fake queue.
                Some(unsafe { claim.publish(&[packet(payload)], |_, _| ()) }.expect("the packet is valid"))
            })
        });
        // The packet may retire, and its slot be claimed again, before it is announced.
        let _ = ring.port().poll();
        let ends = producers.map(|producer| producer.join().unwrap());
        let last = ends.into_iter().flatten().max().expect("an empty ring has room") - 1;
        assert_eq!(ring.port().doorbell(), Some(last));
    });
}

#[test]
fn staged_packets_are_announced_with_those_behind_them() {
    explore(2, || {
        let ring = Arc::new(Ring::new(FakeQueue::new(4, Stores::Ordered)).unwrap());
        let stager = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let claims = [1, 2].map(|_| ring.claim(1).expect("there is room for all"));
                let [first, second] = claims;
                // SAFETY: nothing executes the packets of a fake queue.
                unsafe {
                    first.stage_image(&[packet(1)], |_| ());
                    second.publish_image(&[packet(2)], |_| ());
                }
            })
        };
        let producer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || publish(&ring, &[packet(3)]))
        };
        let mut payloads = consume(&ring, 3);
        stager.join().unwrap();
        producer.join().unwrap();
        payloads.sort_unstable();
        assert_eq!(payloads, [1, 2, 3]);
        assert_eq!(ring.port().doorbell(), Some(2));
    });
}

#[test]
fn two_producers_lose_nothing_on_a_ring_that_is_weakly_ordered() {
    explore(2, || {
        let ring = two_producers(Stores::Weak);
        assert!(ring.port().step().is_none());
    });
}

/// Publishes two packets by way of an image while a processor looks ahead of the doorbell and then obeys it.
fn look_ahead<P: Port + Send + Sync + 'static>(ring: Ring<P>, queue: fn(&P) -> &FakeQueue) {
    let ring = Arc::new(ring);
    let producer = {
        let ring = Arc::clone(&ring);
        thread::spawn(move || {
            // SAFETY: nothing executes the packets of a fake queue.
            let copied = unsafe {
                ring.submit_image(&[packet(7), packet(8)], |slots| {
                    (1..8).for_each(|double| slots.set(1, double, 9))
                })
            };
            assert_eq!(copied, 2);
        })
    };
    let mut expected = [7, 9].into_iter();
    let mut check = |payload| assert_eq!(Some(payload), expected.next(), "the body of a valid packet");
    // Headers turn valid in any order; each that is valid has its body.
    if let Some((payload, _)) = queue(ring.port()).poll() {
        check(payload);
    }
    // What the doorbell covers is valid.
    if let Some((payload, _)) = queue(ring.port()).step() {
        check(payload);
    }
    producer.join().unwrap();
    while let Some((payload, _)) = queue(ring.port()).step() {
        check(payload);
    }
    assert_eq!(expected.next(), None);
}

#[test]
fn processor_that_polls_a_ring_that_is_weakly_ordered_finds_whole_packets() {
    explore(3, || look_ahead(Ring::new(FakeQueue::new(2, Stores::Weak)).unwrap(), |port| port));
}

/// A queue some of whose fences are left out.
struct Careless {
    queue: FakeQueue,
    /// Drains that happen, by their number.
    drains: fn(u64) -> bool,
    /// Drains so far; one thread publishes.
    count: std::sync::atomic::AtomicU64,
}

impl Careless {
    fn ring(drains: fn(u64) -> bool) -> Ring<Self> {
        let queue = FakeQueue::new(2, Stores::Weak);
        Ring::new(Self { queue, drains, count: std::sync::atomic::AtomicU64::new(0) }).unwrap()
    }
}

impl Port for Careless {
    fn size(&self) -> u32 {
        self.queue.size()
    }

    fn read_index(&self) -> u64 {
        self.queue.read_index()
    }

    fn write_index(&self) -> u64 {
        self.queue.write_index()
    }

    fn exchange_write_index(&self, expected: u64, new: u64) -> u64 {
        self.queue.exchange_write_index(expected, new)
    }

    unsafe fn write_body(&self, index: u64, packet: &Packet) {
        // SAFETY: the caller's promise.
        unsafe { self.queue.write_body(index, packet) };
    }

    unsafe fn write_double(&self, index: u64, double: usize, value: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.queue.write_double(index, double, value) };
    }

    unsafe fn store_header(&self, index: u64, word: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.queue.store_header(index, word) };
    }

    fn ring_doorbell(&self, last: u64) {
        self.queue.ring_doorbell(last);
    }

    fn is_weakly_ordered(&self) -> bool {
        true
    }

    fn drain(&self) {
        if (self.drains)(self.count.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            self.queue.drain();
        }
    }
}

#[test]
#[should_panic(expected = "the body of a valid packet")]
fn without_a_fence_before_the_headers_a_packet_is_seen_without_its_body() {
    explore(3, || look_ahead(Careless::ring(|number| number != 0), |port| &port.queue));
}

#[test]
#[should_panic(expected = "is not valid")]
fn without_a_fence_before_the_doorbell_it_covers_what_is_not_valid() {
    explore(3, || look_ahead(Careless::ring(|number| number == 0), |port| &port.queue));
}

#[test]
fn with_all_fences_the_same_queue_is_sound() {
    explore(3, || look_ahead(Careless::ring(|_| true), |port| &port.queue));
}
