use std::sync::atomic::AtomicBool as StdBool;
use std::thread;

use fastrand::Rng;

use super::fake::{FakeQueue, Stores, packet};
use super::*;
use crate::packet::{Fences, Header};

/// Declares tests of rules that hold for every ring: those whose stores are ordered, and those whose are not.
macro_rules! on_every_ring {
    ($( $(#[doc = $doc:literal])* fn $name:ident($stores:ident) $body:block )*) => { $(
        mod $name {
            use super::*;

            $(#[doc = $doc])*
            fn rule($stores: Stores) $body

            #[test]
            fn ordered() {
                rule(Stores::Ordered);
            }

            #[test]
            fn weakly_ordered() {
                rule(Stores::Weak);
            }
        }
    )* };
}

fn ring(stores: Stores, size: u32) -> Ring<FakeQueue> {
    Ring::new(FakeQueue::new(size, stores)).unwrap()
}

fn drain(ring: &Ring<FakeQueue>) -> Vec<u64> {
    std::iter::from_fn(|| ring.port().step()).map(|(payload, _)| payload).collect()
}

fn rings(ring: &Ring<FakeQueue>) -> u64 {
    ring.port().rings.load(Ordering::Relaxed)
}

fn submit(ring: &Ring<FakeQueue>, payloads: std::ops::Range<u64>) -> Result<u64, Error> {
    let packets: Vec<_> = payloads.map(packet).collect();
    // SAFETY: nothing executes the packets of a fake queue.
    unsafe { ring.submit(&packets, |_, _| (), || Ok(())) }
}

#[test]
#[should_panic(expected = "an image as long as the claim")]
fn an_image_that_is_not_as_long_as_its_claim_is_refused() {
    let ring = ring(Stores::Ordered, 8);
    let claim = ring.claim(3).unwrap();
    // SAFETY: nothing executes the packets of a fake queue.
    unsafe { claim.publish_image(&[packet(1)], |_| ()) };
}

#[test]
fn size_must_be_a_power_of_two() {
    assert_eq!(Ring::new(FakeQueue::new(12, Stores::Ordered)).err(), Some(Error::RingSize { size: 12 }));
    assert_eq!(Ring::new(FakeQueue::new(0, Stores::Ordered)).err(), Some(Error::RingSize { size: 0 }));
}

on_every_ring! {
    fn claim_says_how_many_slots_are_free(stores) {
        let ring = ring(stores, 8);
        assert_eq!(submit(&ring, 0..6), Ok(6));
        assert_eq!(ring.claim(3).err(), Some(QueueFull { free: 2 }));
        assert_eq!(ring.port().step().map(|(payload, _)| payload), Some(0));
        assert_eq!(ring.claim(9).err(), Some(QueueFull { free: 3 }));
        let claim = ring.claim(3).unwrap();
        assert_eq!((claim.first(), claim.len()), (6, 3));
        drop(claim);
        assert_eq!(ring.claim(1).err(), Some(QueueFull { free: 0 }));
    }

    fn batch_is_announced_once_with_its_last_index(stores) {
        let ring = ring(stores, 128);
        assert_eq!(submit(&ring, 0..100), Ok(100));
        assert_eq!(ring.port().doorbell(), Some(99));
        assert_eq!(rings(&ring), 1);
        assert_eq!(drain(&ring), (0..100).collect::<Vec<_>>());
    }

    fn slots_are_reused_in_order_lap_after_lap(stores) {
        let ring = ring(stores, 8);
        let mut next = 0;
        for round in 0..100 {
            let n = 1 + round % 8;
            submit(&ring, next..next + n).unwrap();
            assert_eq!(drain(&ring), (next..next + n).collect::<Vec<_>>());
            next += n;
        }
        assert_eq!(rings(&ring), 100);
    }

    fn empty_batch_changes_nothing(stores) {
        let ring = ring(stores, 4);
        assert_eq!(submit(&ring, 0..0), Ok(0));
        drop(ring.claim(0).unwrap());
        assert_eq!(ring.port().doorbell(), None);
        assert_eq!(submit(&ring, 0..1), Ok(1));
        assert_eq!(drain(&ring), [0]);
    }

    fn empty_claim_leaves_its_neighbour_alone(stores) {
        let ring = ring(stores, 4);
        let empty = ring.claim(0).unwrap();
        let early = ring.claim(1).unwrap();
        let late = ring.claim(1).unwrap();
        assert_eq!(empty.first(), early.first());
        // SAFETY: nothing executes the packets of a fake queue.
        unsafe { late.publish(&[packet(2)], |_, _| ()) }.unwrap();
        drop(empty);
        assert_eq!(ring.port().doorbell(), None);
        // SAFETY: as above.
        unsafe { early.publish(&[packet(1)], |_, _| ()) }.unwrap();
        assert_eq!(drain(&ring), [1, 2]);
    }

    fn doorbell_waits_for_the_gap_and_then_covers_all(stores) {
        let ring = ring(stores, 8);
        let early = ring.claim(2).unwrap();
        let late = ring.claim(3).unwrap();
        // SAFETY: nothing executes the packets of a fake queue.
        unsafe { late.publish(&[packet(2), packet(3), packet(4)], |_, _| ()) }.unwrap();
        assert_eq!(ring.port().doorbell(), None, "packets 0 and 1 are not valid");
        // SAFETY: as above.
        unsafe { early.publish(&[packet(0), packet(1)], |_, _| ()) }.unwrap();
        assert_eq!(ring.port().doorbell(), Some(4));
        assert_eq!(rings(&ring), 1);
        assert_eq!(drain(&ring), [0, 1, 2, 3, 4]);
    }

    fn patch_sees_every_packet_once_and_changes_the_copy_only(stores) {
        let ring = ring(stores, 256);
        let packets: Vec<_> = (0..200).map(packet).collect();
        let mut seen = vec![0; 200];
        // SAFETY: nothing executes the packets of a fake queue.
        let end = unsafe {
            ring.submit(
                &packets,
                |index, packet| {
                    seen[index] += 1;
                    if index == 130 {
                        packet.set_fences(Fences::SYSTEM).unwrap();
                    }
                },
                || Ok(()),
            )
        };
        assert_eq!(end, Ok(200));
        assert!(seen.iter().all(|calls| *calls == 1));
        let headers: Vec<Header> = std::iter::from_fn(|| ring.port().step()).map(|(_, header)| header).collect();
        assert!(headers.iter().enumerate().all(|(index, header)| header.fences.barrier == (index == 130)));
        assert!(!packets[130].barrier());
    }

    fn dropped_claim_becomes_no_operations(stores) {
        let ring = ring(stores, 4);
        drop(ring.claim(3).unwrap());
        assert_eq!(ring.port().doorbell(), Some(2));
        assert_eq!(drain(&ring), [0, 0, 0]);
    }

    fn panic_in_a_patch_leaves_no_hole(stores) {
        let ring = ring(stores, 4);
        let packets = [packet(1), packet(2)];
        let submission = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // SAFETY: nothing executes the packets of a fake queue.
            unsafe { ring.submit(&packets, |index, _| assert_ne!(index, 1), || Ok(())) }
        }));
        assert!(submission.is_err());
        assert_eq!(submit(&ring, 5..6), Ok(3));
        assert_eq!(drain(&ring), [0, 0, 5]);
    }

    fn invalid_packets_and_wrong_counts_are_refused_without_a_hole(stores) {
        let ring = ring(stores, 4);
        // SAFETY: nothing executes the packets of a fake queue.
        let refused = unsafe { ring.submit(&[packet(1), Packet::INVALID], |_, _| (), || Ok(())) };
        assert_eq!(refused, Err(Error::Packet(PacketError::Invalid { index: 1 })));
        // SAFETY: as above.
        let refused = unsafe { ring.claim(2).unwrap().publish(&[packet(1)], |_, _| ()) };
        assert_eq!(refused, Err(Error::ClaimMismatch { claimed: 2, given: 1 }));
        assert_eq!(drain(&ring), [0, 0, 0, 0]);
    }

    fn submit_some_takes_what_fits(stores) {
        let ring = ring(stores, 8);
        let packets: Vec<_> = (0..20).map(packet).collect();
        // SAFETY: nothing executes the packets of a fake queue.
        let some = |from: usize| unsafe { ring.submit_some(&packets[from..], |_, _| ()) };
        assert_eq!(some(0), Ok(8));
        assert_eq!(some(8), Ok(0));
        ring.port().step();
        assert_eq!(some(8), Ok(1));
        assert_eq!(drain(&ring), (1..9).collect::<Vec<_>>());
        assert_eq!(some(18), Ok(2));
    }

    fn an_image_arrives_as_it_is_but_for_what_is_filled_in(stores) {
        let ring = ring(stores, 256);
        submit(&ring, 0..100).unwrap();
        drain(&ring);
        let image: Vec<_> = (0..200).map(packet).collect();
        let mut seen = vec![0; 200];
        // SAFETY: nothing executes the packets of a fake queue.
        let copied = unsafe {
            ring.submit_image(&image, |slots| {
                slots.packets().for_each(|at| seen[at] += 1);
                for at in [0, 63, 64, 155, 156, 199] {
                    if slots.packets().contains(&at) {
                        (1..8).for_each(|double| slots.set(at, double, 1000 + at as u64));
                    }
                }
            })
        };
        assert_eq!((copied, rings(&ring)), (200, 2));
        assert!(seen.iter().all(|calls| *calls == 1));
        let expected = |at: u64| if [0, 63, 64, 155, 156, 199].contains(&at) { 1000 + at } else { at };
        assert_eq!(drain(&ring), (0..200).map(expected).collect::<Vec<_>>(), "across the end of the ring");
    }

    fn as_much_of_an_image_is_copied_as_there_is_room_for(stores) {
        let ring = ring(stores, 8);
        let image: Vec<_> = (0..20).map(packet).collect();
        // SAFETY: nothing executes the packets of a fake queue.
        let some = |from: usize| unsafe { ring.submit_image(&image[from..], |_| ()) };
        assert_eq!((some(0), some(8)), (8, 0));
        ring.port().step();
        assert_eq!((some(8), some(9)), (1, 0));
        assert_eq!(drain(&ring), (1..9).collect::<Vec<_>>());
        assert_eq!((some(18), some(20)), (2, 0));
    }

    fn claims_of_one_producer_are_announced_together(stores) {
        let ring = ring(stores, 16);
        let [first, others, second] = [3, 2, 4].map(|n| ring.claim(n).unwrap());
        let image: Vec<_> = (10..20).map(packet).collect();
        // SAFETY: nothing executes the packets of a fake queue.
        unsafe { first.stage_image(&image[..3], |slots| (1..8).for_each(|double| slots.set(1, double, 7))) };
        assert_eq!(rings(&ring), 0, "no producer has rung yet");
        // SAFETY: as above.
        unsafe { second.publish_image(&image[3..7], |_| ()) };
        assert_eq!((rings(&ring), drain(&ring)), (1, vec![10, 7, 12]), "the rest is behind another's claim");
        // SAFETY: as above.
        unsafe { others.publish_image(&image[8..], |_| ()) };
        assert_eq!((rings(&ring), drain(&ring)), (2, vec![18, 19, 13, 14, 15, 16]));
    }

    fn as_much_is_claimed_as_there_is_room_for(stores) {
        let ring = ring(stores, 8);
        let held = ring.claim_some(5).unwrap();
        let rest = ring.claim_some(usize::MAX).unwrap();
        assert_eq!((held.len(), rest.len(), rest.first()), (5, 3, 5));
        assert!(ring.claim_some(1).is_none());
        drop((held, rest));
        drain(&ring);
        assert_eq!(ring.claim_some(usize::MAX).unwrap().len(), 8);
    }

    fn a_panic_while_an_image_is_filled_in_leaves_no_hole(stores) {
        let ring = ring(stores, 128);
        let image: Vec<_> = (1..101).map(packet).collect();
        let filled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // SAFETY: nothing executes the packets of a fake queue.
            unsafe { ring.submit_image(&image, |slots| assert_ne!(slots.packets().start, 0)) }
        }));
        assert!(filled.is_err());
        assert_eq!(submit(&ring, 5..6), Ok(101));
        let payloads = drain(&ring);
        assert_eq!((payloads[..100].iter().sum::<u64>(), payloads[100]), (0, 5));
    }

    fn full_queue_that_has_stopped_is_an_error(stores) {
        let ring = ring(stores, 4);
        submit(&ring, 0..4).unwrap();
        let stopped = Error::QueueStopped { status: hsa_sys::HSA_STATUS_ERROR_INVALID_QUEUE };
        let mut polls = 0;
        let waited = ring.claim_wait(1, || {
            polls += 1;
            if polls > 200 { Err(stopped.clone()) } else { Ok(()) }
        });
        assert_eq!(waited.err(), Some(stopped));
        assert_eq!(ring.claim_wait(5, || Ok(())).err(), Some(Error::ClaimTooLarge { packets: 5, size: 4 }));
    }

    fn batch_longer_than_the_ring_is_announced_in_chunks(stores) {
        let ring = ring(stores, 8);
        let done = StdBool::new(false);
        thread::scope(|scope| {
            let consumer = scope.spawn(|| {
                let mut payloads = Vec::new();
                while payloads.len() < 1001 {
                    match ring.port().step() {
                        Some((payload, _)) => payloads.push(payload),
                        None => thread::yield_now(),
                    }
                }
                done.store(true, Ordering::Release);
                payloads
            });
            assert_eq!(submit(&ring, 0..1001), Ok(1001));
            assert_eq!(consumer.join().unwrap(), (0..1001).collect::<Vec<_>>());
        });
        assert!(done.load(Ordering::Acquire));
        assert_eq!(rings(&ring), 1001_u64.div_ceil(4));
    }

    /// Four producers, batches of 1 to 40 packets, rings smaller and larger than the batches, a processor that
    /// obeys the doorbell and one that looks ahead of it.
    fn many_producers_keep_their_order_and_lose_nothing(stores) {
        const PRODUCERS: u64 = 4;
        const PACKETS: u64 = 6_000;
        for (size, looks_ahead) in [(4, false), (64, false), (4, true), (64, true)] {
            let ring = ring(stores, size);
            thread::scope(|scope| {
                for producer in 0..PRODUCERS {
                    let ring = &ring;
                    scope.spawn(move || {
                        let mut next = 0;
                        let mut random = Rng::with_seed(producer);
                        while next < PACKETS {
                            let n = random.u64(1..=40).min(PACKETS - next);
                            submit(ring, producer << 32 | next..producer << 32 | (next + n)).unwrap();
                            next += n;
                        }
                    });
                }
                let mut next = [0; PRODUCERS as usize];
                let mut retired = 0;
                while retired < PRODUCERS * PACKETS {
                    let packet = if looks_ahead { ring.port().poll() } else { ring.port().step() };
                    let Some((payload, _)) = packet else {
                        thread::yield_now();
                        continue;
                    };
                    let expected = &mut next[(payload >> 32) as usize];
                    assert_eq!(payload & 0xffff_ffff, *expected, "producer {}", payload >> 32);
                    *expected += 1;
                    retired += 1;
                }
            });
            assert_eq!(ring.port().doorbell(), Some(PRODUCERS * PACKETS - 1));
            assert_eq!(ring.port().step(), None);
        }
    }
}

#[test]
#[should_panic(expected = "no such word now")]
fn nothing_is_filled_in_but_bodies_whose_turn_it_is() {
    let ring = ring(Stores::Ordered, 128);
    let image: Vec<_> = (0..100).map(packet).collect();
    // SAFETY: nothing executes the packets of a fake queue.
    unsafe { ring.submit_image(&image, |slots| slots.set(0, 1, 7)) };
}

#[test]
fn an_image_takes_two_fences_however_long_it_is() {
    let ring = ring(Stores::Weak, 1024);
    for len in [1, 64, 65, 1000] {
        let image: Vec<_> = (0..len).map(packet).collect();
        let before = ring.port().drains.load(Ordering::Relaxed);
        // SAFETY: nothing executes the packets of a fake queue.
        let copied = unsafe { ring.submit_image(&image, |_| ()) };
        assert_eq!((copied as u64, ring.port().drains.load(Ordering::Relaxed) - before), (len, 2));
        assert_eq!(drain(&ring).len() as u64, len);
    }
}
