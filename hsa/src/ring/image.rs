//! Packets that are copied as they are, but for what a launch fills in.
//!
//! A launch copies thousands of packets of which it changes one or two. So the copy knows nothing of changes. Bodies go
//! in runs, and the launch changes single words before a run's headers turn valid: in the ring, or in copies of packets
//! where slots are to be stored once.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::{Claim, Port, RUN, Ring};
use crate::packet::Packet;

/// Slots of a ring whose headers are not stored yet, to be changed before they are.
pub struct Slots<'a, P> {
    port: &'a P,
    /// Index, in the ring, of the image's first packet.
    first: u64,
    packets: Range<u32>,
    /// Where slots are to be stored once and whole, what is changed of them before.
    copies: Option<(&'a [Packet], &'a mut Copies)>,
}

impl<P: Port> Slots<'_, P> {
    /// The packets of the image whose turn it is.
    pub fn packets(&self) -> Range<usize> {
        // CAST: u32 fits usize on the 64-bit hosts that ROCm has.
        self.packets.start as usize..self.packets.end as usize
    }

    /// Replaces two words of a packet, those from word `2 * double` on.
    ///
    /// # Panics
    /// If it is not the packet's turn, or the words are not 2 to 15: the first two are the header's.
    pub fn set(&mut self, packet: usize, double: usize, value: u64) {
        assert!(self.packets().contains(&packet) && (1..8).contains(&double), "no such word now");
        match &mut self.copies {
            // SAFETY: the claim's slot, whose header is not stored yet.
            None => unsafe { self.port.write_double(self.first + packet as u64, double, value) },
            Some((run, copies)) => copies.set(run, packet - self.packets.start as usize, double, value),
        }
    }
}

/// Those packets of a run that differ from the image.
struct Copies {
    packets: [MaybeUninit<Packet>; RUN as usize],
    /// A bit for each packet that is there.
    present: u64,
}

const _: () = assert!(RUN <= u64::BITS);

impl Copies {
    const fn new() -> Self {
        Self { packets: [MaybeUninit::uninit(); RUN as usize], present: 0 }
    }

    /// Replaces two words of packet `at` of `run`.
    fn set(&mut self, run: &[Packet], at: usize, double: usize, value: u64) {
        let packet = self.get(at).unwrap_or(&run[at]);
        let mut words = *packet.words();
        // CAST: the two halves.
        (words[2 * double], words[2 * double + 1]) = (value as u32, (value >> 32) as u32);
        self.packets[at].write(Packet::from_words(words));
        self.present |= 1 << at;
    }

    fn get(&self, at: usize) -> Option<&Packet> {
        // SAFETY: its bit says that it was written.
        (self.present >> at & 1 != 0).then(|| unsafe { self.packets[at].assume_init_ref() })
    }
}

impl<P: Port> Ring<P> {
    /// Copies as many packets from the front of an image as there is room for, without waiting, and returns how many.
    ///
    /// `fill` is called for each run of packets, the last one first, with their headers not in the ring yet: it may
    /// replace words of their bodies.
    ///
    /// # Safety
    /// As for [`Claim::publish`]; and none of the packets has the type INVALID: the packet processor would wait there
    /// for ever.
    pub unsafe fn submit_image(&self, image: &[Packet], fill: impl FnMut(&mut Slots<'_, P>)) -> usize {
        let Some(claim) = self.claim_some(image.len()) else { return 0 };
        let n = claim.len as usize;
        // SAFETY: the caller's promise covers every packet of the image.
        unsafe { claim.publish_image(&image[..n], fill) };
        n
    }

    /// Claims slots for as many of `n` packets as there is room for; none if there is none at all.
    pub fn claim_some(&self, n: usize) -> Option<Claim<'_, P>> {
        let mut n = u32::try_from(n).unwrap_or(u32::MAX).min(self.size);
        loop {
            match self.claim(n) {
                Ok(claim) => return Some(claim),
                Err(full) if full.free == 0 => return None,
                Err(full) => n = n.min(full.free),
            }
        }
    }
}

impl<P: Port> Claim<'_, P> {
    /// Copies an image into the slots and announces them, as [`Ring::submit_image`].
    ///
    /// # Panics
    /// If the image is not as long as the claim.
    ///
    /// # Safety
    /// As for [`Ring::submit_image`].
    pub unsafe fn publish_image(self, image: &[Packet], fill: impl FnMut(&mut Slots<'_, P>)) {
        let (ring, first, len) = (self.ring, self.first, self.len);
        // SAFETY: the caller's promise.
        unsafe { self.store_image(image, fill) };
        ring.announce(first, len);
    }

    /// As [`Claim::publish_image`], but the doorbell is not rung. The thread that publishes to the queue next rings it
    /// for these packets too, and the caller must see to it that one does. For a caller that has claimed slots of a
    /// queue twice, with slots of other claims in between, and rings for all of them once.
    ///
    /// # Panics
    /// As [`Claim::publish_image`].
    ///
    /// # Safety
    /// As for [`Ring::submit_image`].
    pub unsafe fn stage_image(self, image: &[Packet], fill: impl FnMut(&mut Slots<'_, P>)) {
        let (ring, first, len) = (self.ring, self.first, self.len);
        // SAFETY: the caller's promise.
        unsafe { self.store_image(image, fill) };
        ring.note(first, len);
    }

    /// # Safety
    /// As for [`Ring::submit_image`]; the slots must be announced.
    unsafe fn store_image(mut self, image: &[Packet], mut fill: impl FnMut(&mut Slots<'_, P>)) {
        assert_eq!(image.len(), self.len as usize, "an image as long as the claim");
        debug_assert!(!image.iter().any(Packet::is_invalid));
        let (first, len, port) = (self.first, self.len, &self.ring.port);
        if port.is_weakly_ordered() {
            // SAFETY: the caller's promise.
            unsafe { self.store_image_whole(image, fill) };
        } else {
            let mut end = len;
            while end > 0 {
                let start = end.saturating_sub(RUN);
                let run = &image[start as usize..end as usize];
                // SAFETY: the slots are this claim's, and it announces them only below.
                unsafe { port.write_bodies(first + u64::from(start), run) };
                fill(&mut Slots { port, first, packets: start..end, copies: None });
                // ORDER: last to first, each with release; see `Ring::store`.
                // SAFETY: as above; the bodies were just written.
                unsafe { port.store_headers(first + u64::from(start), run) };
                end = start;
            }
        }
        self.len = 0;
    }

    /// Stores each slot whole and with a header that reads INVALID, and then all headers.
    ///
    /// Nothing is stored twice but headers, so no store depends on how two to the same line are combined; and two fences
    /// serve for the whole image.
    ///
    /// # Safety
    /// As for [`Claim::publish_image`].
    #[inline(never)]
    unsafe fn store_image_whole(&self, image: &[Packet], mut fill: impl FnMut(&mut Slots<'_, P>)) {
        let (first, port) = (self.first, &self.ring.port);
        let mut copies = Copies::new();
        let mut end = self.len;
        while end > 0 {
            let start = end.saturating_sub(RUN);
            let run = &image[start as usize..end as usize];
            copies.present = 0;
            fill(&mut Slots { port, first, packets: start..end, copies: Some((run, &mut copies)) });
            let (slot, mut done) = (first + u64::from(start), 0);
            let mut left = copies.present;
            while left != 0 {
                // CAST: less than 64.
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                if let Some(copy) = copies.get(at) {
                    // SAFETY: the slots are this claim's, and are announced by the caller.
                    unsafe {
                        port.write_bodies(slot + done as u64, &run[done..at]);
                        port.write_body(slot + at as u64, copy);
                    }
                    done = at + 1;
                }
            }
            // SAFETY: as above.
            unsafe { port.write_bodies(slot + done as u64, &run[done..]) };
            end = start;
        }
        // ORDER: every body is visible before any header turns valid.
        port.drain();
        // SAFETY: as above; the bodies were written.
        unsafe { port.store_headers(first, image) };
    }
}
