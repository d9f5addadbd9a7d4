//! Loom explores every interleaving of two producers and the packet processor.

use loom::sync::Arc;
use loom::thread;

use super::fake::{FakeQueue, packet};
use super::{QueueFull, Ring};
use crate::packet::Packet;

fn publish(ring: &Ring<FakeQueue>, packets: &[Packet]) {
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

#[test]
fn two_producers_lose_no_packet_and_no_doorbell() {
    explore(3, || {
        let ring = Arc::new(Ring::new(FakeQueue::new(2)).unwrap());
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
        assert_eq!(ring.port().doorbell(), Some(1));
    });
}

#[test]
fn slots_are_reused_only_after_they_retired() {
    explore(3, || {
        let ring = Arc::new(Ring::new(FakeQueue::new(2)).unwrap());
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
        let ring = Arc::new(Ring::new(FakeQueue::new(2)).unwrap());
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
        let ring = Arc::new(Ring::new(FakeQueue::new(2)).unwrap());
        let producer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || publish(&ring, &[packet(7), packet(8)]))
        };
        // The first header turns valid last: whoever sees it has the whole claim, doorbell or not.
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
        let ring = Arc::new(Ring::new(FakeQueue::new(1)).unwrap());
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
        let last = ends.into_iter().flatten().max().expect("an empty ring refuses nobody") - 1;
        assert_eq!(ring.port().doorbell(), Some(last));
    });
}

#[test]
fn staged_packets_are_announced_with_those_behind_them() {
    explore(2, || {
        let ring = Arc::new(Ring::new(FakeQueue::new(4)).unwrap());
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
