//! The buffer that kernels call the host through: its layout, and the two stacks of packets in it.
//!
//! A wave takes a packet off the free stack, writes its request there, pushes the packet on the ready stack, adds 1 to
//! the doorbell and waits until the packet's ready bit is clear; then it reads the answer and gives the packet back.
//! The device library (`__ockl_hostcall_internal`) does all of that and decides the layout. It never looks whether
//! the free stack is empty, so there must be a packet for every wave that can be resident.
//!
//! Everything that a device can write is untrusted: indices are masked, and a list is followed only as long as there
//! are packets.

use std::{
    any::Any,
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

/// What the kernel argument points to.
#[repr(C)]
struct Head {
    headers: u64,
    payloads: u64,
    doorbell: u64,
    /// Packet numbers with a tag above them, so that a stack's top never returns unchanged; 0 is the bottom.
    free: AtomicU64,
    ready: AtomicU64,
    /// Which bits of such a number are the packet's index.
    mask: u64,
}

/// What a packet is for; the waves' lanes have their arguments in the payload of the same index.
#[repr(C)]
struct Header {
    next: AtomicU64,
    /// The lanes that call.
    active: AtomicU64,
    service: AtomicU32,
    /// Bit 0: the request waits for its answer.
    control: AtomicU32,
}

/// Words of a lane's arguments and of its answer.
const WORDS: usize = 8;

/// The arguments of 64 lanes: those of a wave of 32 are the first of them.
#[repr(C)]
struct Payload([[AtomicU64; WORDS]; 64]);

const _: () = {
    assert!(size_of::<Head>() == 48 && std::mem::offset_of!(Head, free) == 24);
    assert!(size_of::<Header>() == 24 && std::mem::offset_of!(Header, service) == 16);
    assert!(size_of::<Payload>() == 4096);
};

/// Where the headers begin.
const HEADERS: usize = 64;

/// A hostcall buffer in memory that host and device share.
pub(super) struct Buffer {
    base: NonNull<u8>,
    packets: u32,
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: everything behind `base` is atomics, or written only before the device knows of the buffer.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Bytes that a buffer of `packets` packets needs.
    pub(super) fn bytes(packets: u32) -> usize {
        Self::payloads(packets) + packets as usize * size_of::<Payload>()
    }

    fn payloads(packets: u32) -> usize {
        (HEADERS + packets as usize * size_of::<Header>()).next_multiple_of(64)
    }

    /// Makes a buffer of `packets` packets, a power of two, in memory at `base` that `owner` keeps. Kernels add 1 to
    /// the signal `doorbell`.
    ///
    /// # Safety
    /// `base` is a multiple of 64, and [`Buffer::bytes`] bytes there are readable and writable as long as `owner`
    /// lives, for this buffer and for devices that are given its address alone.
    pub(super) unsafe fn new(
        base: NonNull<u8>,
        packets: u32,
        doorbell: u64,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        debug_assert!(packets.is_power_of_two());
        let buffer = Self { base, packets, _owner: owner };
        let address = base.as_ptr() as u64;
        let head = Head {
            headers: address + HEADERS as u64,
            payloads: address + Self::payloads(packets) as u64,
            doorbell,
            free: AtomicU64::new(0),
            ready: AtomicU64::new(0),
            mask: u64::from(packets) - 1,
        };
        // SAFETY: the caller's promise; no other thread or device knows the buffer yet.
        unsafe { base.cast::<Head>().write(head) };
        buffer.reset();
        buffer
    }

    /// What kernels get.
    pub(super) fn address(&self) -> u64 {
        self.base.as_ptr() as u64
    }

    /// Puts all packets on the free stack. No wave uses the buffer meanwhile.
    pub(super) fn reset(&self) {
        let tag = u64::from(self.packets);
        for index in 0..self.packets {
            let header = self.header(index);
            header.next.store(if index == 0 { 0 } else { tag + u64::from(index) - 1 }, Ordering::Relaxed);
            header.control.store(0, Ordering::Relaxed);
        }
        self.head().ready.store(0, Ordering::Relaxed);
        // ORDER: Release. The packets are ready before they can be taken.
        self.head().free.store(tag + u64::from(self.packets) - 1, Ordering::Release);
    }

    /// Takes the packets that wait for an answer, the one that has waited longest first.
    pub(super) fn take_ready(&self) -> Vec<u32> {
        // ORDER: Acquire. What the waves wrote before they pushed their packets is visible.
        let mut top = self.head().ready.swap(0, Ordering::Acquire);
        let mut taken = Vec::new();
        while top != 0 && taken.len() < self.packets as usize {
            // CAST: fewer packets than 2^32.
            let index = (top & u64::from(self.packets - 1)) as u32;
            taken.push(index);
            top = self.header(index).next.load(Ordering::Relaxed);
        }
        taken.reverse();
        taken
    }

    /// The packet with this index.
    pub(super) fn packet(&self, index: u32) -> Packet<'_> {
        let index = index & (self.packets - 1);
        // SAFETY: the index is in bounds, and payloads consist of atomics only.
        let payload = unsafe {
            self.base.add(Self::payloads(self.packets)).cast::<Payload>().add(index as usize).as_ref()
        };
        Packet { header: self.header(index), payload }
    }

    fn head(&self) -> &Head {
        // SAFETY: written in `new`; what devices write are the two atomics.
        unsafe { self.base.cast::<Head>().as_ref() }
    }

    fn header(&self, index: u32) -> &Header {
        let index = index & (self.packets - 1);
        // SAFETY: the index is in bounds, and headers consist of atomics only.
        unsafe { self.base.add(HEADERS).cast::<Header>().add(index as usize).as_ref() }
    }
}

/// A request of one wave.
pub(super) struct Packet<'b> {
    header: &'b Header,
    payload: &'b Payload,
}

impl Packet<'_> {
    /// Number of the service that is asked for.
    pub(super) fn service(&self) -> u32 {
        self.header.service.load(Ordering::Relaxed)
    }

    /// The lanes that ask, in order.
    pub(super) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.header.active.load(Ordering::Relaxed);
        (0..64).filter(move |lane| active >> lane & 1 == 1)
    }

    /// The arguments of a lane, read once.
    pub(super) fn arguments(&self, lane: usize) -> [u64; WORDS] {
        std::array::from_fn(|word| self.payload.0[lane & 63][word].load(Ordering::Relaxed))
    }

    /// Writes a lane's answer.
    pub(super) fn answer(&self, lane: usize, words: [u64; 2]) {
        for (slot, word) in self.payload.0[lane & 63].iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    /// Lets the wave go on.
    pub(super) fn finish(&self) {
        // ORDER: Release. The wave that sees the bit clear reads the answers.
        self.header.control.fetch_and(!1, Ordering::Release);
    }
}

#[cfg(test)]
pub(super) mod fake {
    //! A wave's side of the protocol, as the device library plays it.

    use super::*;

    /// A buffer in ordinary memory.
    pub(crate) fn buffer(packets: u32) -> Buffer {
        let memory = vec![[0u64; 8]; Buffer::bytes(packets).div_ceil(64) + 1];
        let base = memory.as_ptr() as usize;
        // SAFETY: inside the vector, which has a line to spare, and which nothing else uses.
        let base = unsafe { memory.as_ptr().cast::<u8>().cast_mut().add(base.next_multiple_of(64) - base) };
        // SAFETY: as above; moving the vector does not move what it holds.
        unsafe { Buffer::new(NonNull::new(base).unwrap(), packets, 0x1234, Box::new(memory)) }
    }

    impl Buffer {
        /// Takes a packet for a wave.
        pub(crate) fn pop(&self) -> u64 {
            let head = self.head();
            let top = head.free.load(Ordering::Acquire);
            let next = self.header((top & head.mask) as u32).next.load(Ordering::Relaxed);
            head.free.store(next, Ordering::Release);
            top
        }

        /// Asks for `service`; `arguments` are the calling lanes'.
        pub(crate) fn call(&self, service: u32, arguments: &[(usize, [u64; WORDS])]) -> u64 {
            let packet = self.pop();
            let header = self.header((packet & self.head().mask) as u32);
            let active = arguments.iter().fold(0, |mask, (lane, _)| mask | 1 << lane);
            header.active.store(active, Ordering::Relaxed);
            header.service.store(service, Ordering::Relaxed);
            header.control.store(1, Ordering::Relaxed);
            let payload = self.packet((packet & self.head().mask) as u32).payload;
            for (lane, words) in arguments {
                for (slot, word) in payload.0[*lane].iter().zip(words) {
                    slot.store(*word, Ordering::Relaxed);
                }
            }
            header.next.store(self.head().ready.load(Ordering::Relaxed), Ordering::Relaxed);
            self.head().ready.store(packet, Ordering::Release);
            packet
        }

        /// Whether the host has answered.
        pub(crate) fn is_answered(&self, packet: u64) -> bool {
            self.header((packet & self.head().mask) as u32).control.load(Ordering::Acquire) & 1 == 0
        }

        /// A lane's answer; gives the packet back when it was the last lane's.
        pub(crate) fn answer_of(&self, packet: u64, lane: usize) -> [u64; 2] {
            let words = self.packet((packet & self.head().mask) as u32).arguments(lane);
            [words[0], words[1]]
        }

        /// Gives a packet back with another tag.
        pub(crate) fn push(&self, packet: u64) {
            let head = self.head();
            let packet = packet + head.mask + 1;
            self.header((packet & head.mask) as u32)
                .next
                .store(head.free.load(Ordering::Relaxed), Ordering::Relaxed);
            head.free.store(packet, Ordering::Release);
        }

        /// Overwrites a packet's link, as a faulty kernel could.
        pub(crate) fn corrupt(&self, packet: u64, next: u64) {
            self.header((packet & self.head().mask) as u32).next.store(next, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_served_in_the_order_in_which_they_came() {
        let buffer = fake::buffer(4);
        let calls: Vec<u64> = (0..3).map(|n| buffer.call(n, &[(n as usize, [0; 8])])).collect();
        let taken = buffer.take_ready();
        let services: Vec<u32> = taken.iter().map(|&index| buffer.packet(index).service()).collect();
        assert_eq!(services, [0, 1, 2]);
        assert_eq!(buffer.packet(taken[2]).lanes().collect::<Vec<_>>(), [2]);
        assert!(buffer.take_ready().is_empty() && !buffer.is_answered(calls[0]));
        buffer.packet(taken[0]).finish();
        assert!(buffer.is_answered(calls[0]) && !buffer.is_answered(calls[1]));
    }

    #[test]
    fn waves_of_32_lanes_use_half_of_a_payload() {
        let buffer = fake::buffer(2);
        let lanes =
            |number: u64| (0..32).map(|lane| (lane, [number + lane as u64; WORDS])).collect::<Vec<_>>();
        let calls = [100, 200].map(|number| buffer.call(7, &lanes(number)));
        for (number, index) in [100, 200].into_iter().zip(buffer.take_ready()) {
            let packet = buffer.packet(index);
            assert_eq!(packet.lanes().collect::<Vec<_>>(), (0..32).collect::<Vec<_>>());
            for (lane, words) in lanes(number) {
                assert_eq!(packet.arguments(lane), words);
                packet.answer(lane, [words[0] + 1000, 0]);
            }
            packet.finish();
        }
        for (number, call) in [100, 200].into_iter().zip(calls) {
            assert!(buffer.is_answered(call));
            assert!((0..32).all(|lane| buffer.answer_of(call, lane) == [number + lane as u64 + 1000, 0]));
        }
    }

    #[test]
    fn every_packet_can_be_taken_and_none_is_number_0() {
        let buffer = fake::buffer(8);
        let mut taken: Vec<u64> = (0..8).map(|_| buffer.pop()).collect();
        assert!(taken.iter().all(|&packet| packet != 0));
        taken.iter_mut().for_each(|packet| *packet &= 7);
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6, 7]);
        buffer.reset();
        let first = buffer.pop();
        buffer.push(first);
        assert_eq!(buffer.pop() & 7, first & 7);
    }

    #[test]
    fn a_list_that_bites_its_tail_ends() {
        let buffer = fake::buffer(4);
        let packet = buffer.call(0, &[]);
        buffer.corrupt(packet, packet);
        assert_eq!(buffer.take_ready().len(), 4);
        let packet = buffer.call(0, &[]);
        buffer.corrupt(packet, u64::MAX);
        assert!(buffer.take_ready().len() <= 4);
    }
}
