//! How packets get into a queue that several threads share (HSA Runtime 1.2, 2.8 and 2.9).
//!
//! 1. **Claim** slots: add to the write index, only if there is room.
//! 2. **Write** the bodies, while the headers read INVALID.
//! 3. **Store the headers** last to first, with release.
//! 4. **Announce**: ring the doorbell once, with the index of the last packet.
//!
//! Where stores to the ring are weakly ordered, as they are to memory of a device, releasing a header orders nothing.
//! There fences stand between bodies and headers, and between headers and the announcement ([`Port::drain`]). Headers
//! turn valid in any order then: each packet is whole, but a claim is only when it has been announced.
//!
//! The specification lets the doorbell of a multi-producer queue take any value. We promise more, because a
//! packet processor that takes the doorbell for a limit stalls when it moves back: *the doorbell only ever
//! grows, and every packet up to its value is valid*. A producer that finishes ahead of an earlier claim
//! leaves its announcement to the producer that closes the gap; no producer waits for another.

mod backoff;
#[cfg(test)]
mod fake;
mod image;
#[cfg(all(loom, test))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::error::Error;
pub use crate::error::QueueFull;
use crate::packet::{Packet, PacketError};
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use backoff::Backoff;
pub use image::Slots;

/// The memory, indices and doorbell of one queue, as its producers see them.
///
/// Indices are packet indices: they count from the queue's creation and never wrap in practice; a slot is an
/// index modulo the size.
pub trait Port {
    /// Slots of the ring, a power of two.
    fn size(&self) -> u32;

    /// Index of the first packet that the processor has not retired, with acquire.
    fn read_index(&self) -> u64;

    /// Index of the next slot to claim, relaxed.
    fn write_index(&self) -> u64;

    /// Replaces the write index by `new` if it is `expected`, and returns what it was.
    fn exchange_write_index(&self, expected: u64, new: u64) -> u64;

    /// Stores INVALID in the slot's header and then everything of `packet` but its first word.
    ///
    /// # Safety
    /// The caller has claimed `index` and not announced it, and no other thread writes this slot.
    unsafe fn write_body(&self, index: u64, packet: &Packet);

    /// Stores the slot's first word (header and setup) in one piece, with release.
    ///
    /// # Safety
    /// As for [`Port::write_body`], which has been called for this packet.
    unsafe fn store_header(&self, index: u64, word: u32);

    /// As [`Port::write_body`] for consecutive slots.
    ///
    /// # Safety
    /// As for [`Port::write_body`], for each of the slots.
    unsafe fn write_bodies(&self, index: u64, packets: &[Packet]) {
        for (index, packet) in (index..).zip(packets) {
            // SAFETY: the caller's promise.
            unsafe { self.write_body(index, packet) };
        }
    }

    /// As [`Port::store_header`] for consecutive slots, the last one first.
    ///
    /// # Safety
    /// As for [`Port::store_header`], for each of the slots.
    unsafe fn store_headers(&self, index: u64, packets: &[Packet]) {
        for (n, packet) in packets.iter().enumerate().rev() {
            // SAFETY: the caller's promise.
            unsafe { self.store_header(index + n as u64, packet.header_word()) };
        }
    }

    /// Replaces two words of a body, those from word `2 * double` on; `double` is 1 to 7.
    ///
    /// # Safety
    /// As for [`Port::store_header`], which has not been called for this packet.
    unsafe fn write_double(&self, index: u64, double: usize, value: u64);

    /// Has the slot at `index` brought here, to be stored to soon: the packet processor has stored to it last.
    #[inline]
    fn ask_for_slot(&self, _index: u64) {}

    /// Tells the packet processor that all packets up to `last` are valid, with release.
    fn ring_doorbell(&self, last: u64);

    /// Whether stores to slots become visible in any order, whatever their own ordering says, until [`Port::drain`].
    /// Slots are best stored once then, whole.
    #[inline]
    fn is_weakly_ordered(&self) -> bool {
        false
    }

    /// Makes what this thread has stored to slots visible before whatever it stores from now on, to slots or elsewhere.
    /// Does nothing where stores are ordered as they say.
    #[inline]
    fn drain(&self) {}
}

/// Headers that are held back while the bodies of a run of packets are written.
const RUN: u32 = 64;

/// The producers' side of one queue.
#[derive(Debug)]
pub struct Ring<P> {
    port: P,
    size: u32,
    /// For the slot where a claim starts, the index where it ends, once its headers are stored.
    ///
    /// Entries of earlier laps need no clearing: a claim has at most `size` slots, so whatever was left in
    /// the entry of `index` is at most `index`, and reads as "not there yet".
    ends: Box<[AtomicU64]>,
    /// Every packet below this index has been announced. Written only while `ringing` is held.
    announced: AtomicU64,
    /// Held by the one producer that is ringing the doorbell.
    ringing: AtomicBool,
    /// Slots of packets below this index may be claimed again: what the read index allowed when a producer last needed
    /// to look at it. The packet processor writes the read index for every packet, so a launch that has room does not
    /// load it.
    reusable: AtomicU64,
}

impl<P: Port> Ring<P> {
    /// Takes over the producers' side of a queue.
    ///
    /// # Errors
    /// [`Error::RingSize`] if the queue's size is no power of two.
    pub fn new(port: P) -> Result<Self, Error> {
        let size = port.size();
        if !size.is_power_of_two() {
            return Err(Error::RingSize { size });
        }
        let start = port.write_index();
        let ends = (0..size).map(|_| AtomicU64::new(start)).collect();
        Ok(Self {
            port,
            size,
            ends,
            announced: AtomicU64::new(start),
            ringing: AtomicBool::new(false),
            reusable: AtomicU64::new(start),
        })
    }

    /// Slots of the ring.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// What the ring stands on.
    pub fn port(&self) -> &P {
        &self.port
    }

    /// Has the slot brought here that is claimed next: while a launch sees to other things it is under way.
    #[inline]
    pub fn ask_for_next_slot(&self) {
        self.port.ask_for_slot(self.port.write_index());
    }

    /// Claims `n` consecutive slots, or says how many are free.
    ///
    /// # Errors
    /// [`QueueFull`] while the packet processor lags behind, and always if `n` exceeds the ring's size.
    pub fn claim(&self, n: u32) -> Result<Claim<'_, P>, QueueFull> {
        let mut write = self.port.write_index();
        loop {
            // ORDER: acquire, pairs with the release below: we see what the producer that stored it had seen.
            let mut reusable = self.reusable.load(Ordering::Acquire);
            if (write + u64::from(n)).saturating_sub(reusable) > u64::from(self.size) {
                // ORDER: the read index is loaded after the write index and with acquire. The packet processor's
                // last read of a slot happens before it moves the index past it, so our overwriting comes after.
                let read = self.port.read_index();
                // ORDER: acquire, pairs with the release in `announce`: the producer that announced the slot's last
                // packet has read its entry in `ends`, which we shall overwrite. A processor that looks ahead of the
                // doorbell can retire a packet before that.
                reusable = read.min(self.announced.load(Ordering::Acquire));
                // ORDER: release, pairs with the acquire above. A thread that was overtaken stores an older index,
                // which costs the next one a look.
                self.reusable.store(reusable, Ordering::Release);
            }
            let Some(used) = write.checked_sub(reusable) else {
                // Others claimed, and the processor consumed, since we looked at the write index. Having
                // acquired the other two we cannot see a write index below both again.
                write = self.port.write_index();
                continue;
            };
            let free = u64::from(self.size).saturating_sub(used);
            if u64::from(n) > free {
                // CAST: at most `size`.
                return Err(QueueFull { free: free as u32 });
            }
            let seen = self.port.exchange_write_index(write, write + u64::from(n));
            if seen == write {
                return Ok(Claim { ring: self, first: write, len: n });
            }
            write = seen;
        }
    }

    /// Claims `n` consecutive slots, waiting until the packet processor has made room.
    ///
    /// `check` is asked before every attempt whether waiting still makes sense. A large claim has no
    /// precedence over smaller ones of other threads. A thread that waits while it holds an unpublished claim
    /// may wait for itself: nothing retires behind an unpublished slot.
    ///
    /// # Errors
    /// What `check` returns, or [`Error::ClaimTooLarge`].
    pub fn claim_wait(
        &self,
        n: u32,
        mut check: impl FnMut() -> Result<(), Error>,
    ) -> Result<Claim<'_, P>, Error> {
        if n > self.size {
            return Err(Error::ClaimTooLarge { packets: u64::from(n), size: self.size });
        }
        let mut backoff = Backoff::new();
        loop {
            check()?;
            match self.claim(n) {
                Ok(claim) => return Ok(claim),
                Err(QueueFull { .. }) => backoff.wait(),
            }
        }
    }

    /// Copies a batch into the ring, waiting for room, and returns the index behind its last packet.
    ///
    /// The batch has retired when the read index has reached that index. `patch` may change the copy of each
    /// packet and is called once a packet, in no particular order. A batch that fits the ring lies there
    /// contiguously and is announced once; a longer one is cut into halves of the ring, each announced by
    /// itself.
    ///
    /// # Errors
    /// What `check` returns, or [`PacketError::Invalid`]; packets of earlier chunks are announced by then,
    /// and an invalid packet's chunk has become no-operations.
    ///
    /// # Safety
    /// As for [`Claim::publish`].
    pub unsafe fn submit(
        &self,
        packets: &[Packet],
        mut patch: impl FnMut(usize, &mut Packet),
        mut check: impl FnMut() -> Result<(), Error>,
    ) -> Result<u64, Error> {
        // CAST: u32 fits usize on the 64-bit hosts that ROCm has.
        let size = self.size as usize;
        let chunk = if packets.len() <= size { size } else { (size / 2).max(1) };
        let mut end = self.port.write_index();
        for (number, chunk_packets) in packets.chunks(chunk).enumerate() {
            // CAST: a chunk is no longer than the ring.
            let claim = self.claim_wait(chunk_packets.len() as u32, &mut check)?;
            // SAFETY: the caller's promise covers every packet of the batch.
            end = unsafe {
                claim.publish(chunk_packets, |index, packet| patch(number * chunk + index, packet))?
            };
        }
        Ok(end)
    }

    /// Copies as many packets from the front of a batch as there is room for, without waiting.
    ///
    /// Returns how many; a caller that feeds several queues goes on with the next one.
    ///
    /// # Errors
    /// [`PacketError::Invalid`], after which the claimed slots are no-operations.
    ///
    /// # Safety
    /// As for [`Claim::publish`].
    pub unsafe fn submit_some(
        &self,
        packets: &[Packet],
        patch: impl FnMut(usize, &mut Packet),
    ) -> Result<usize, Error> {
        let mut n = u32::try_from(packets.len()).unwrap_or(u32::MAX).min(self.size);
        loop {
            match self.claim(n) {
                Ok(claim) => {
                    // SAFETY: the caller's promise covers every packet of the batch.
                    unsafe { claim.publish(&packets[..n as usize], patch)? };
                    return Ok(n as usize);
                }
                Err(QueueFull { free: 0 }) => return Ok(0),
                Err(QueueFull { free }) => n = n.min(free),
            }
        }
    }

    /// Writes `len` packets to claimed slots and stores their headers, the first one last.
    ///
    /// # Safety
    /// `first` and the following `len` indices are claimed and not announced.
    unsafe fn store(
        &self,
        first: u64,
        len: u32,
        mut packet: impl FnMut(u32) -> Result<Packet, Error>,
    ) -> Result<(), Error> {
        let mut headers = [0; RUN as usize];
        let mut end = len;
        while end > 0 {
            let start = end.saturating_sub(RUN);
            for (header, index) in headers.iter_mut().zip(start..end) {
                let packet = packet(index)?;
                *header = packet.header_word();
                // SAFETY: the caller has claimed the slot, and a claim belongs to one thread.
                unsafe { self.port.write_body(first + u64::from(index), &packet) };
            }
            self.port.drain();
            // ORDER: last to first, each with release. While the claim's first header reads INVALID the
            // processor stays in front of it, and when it turns valid everything behind is whole. In a ring that is
            // weakly ordered, only the packet itself is, by the line above.
            for (header, index) in headers.iter().zip(start..end).rev() {
                // SAFETY: as above; the body was just written.
                unsafe { self.port.store_header(first + u64::from(index), *header) };
            }
            end = start;
        }
        Ok(())
    }

    /// Rings the doorbell for all packets that are valid without a gap, or leaves that to the producer that is ringing.
    fn announce(&self, first: u64, len: u32) {
        if len == 0 {
            return;
        }
        self.note(first, len);
        // ORDER: both swaps of `ringing` are read-modify-writes with acquire and release, so they form one
        // chain: a producer that finds the flag set has its entry seen by the holder's check after the flag
        // is cleared.
        while !self.ringing.swap(true, Ordering::AcqRel) {
            let from = self.announced.load(Ordering::Relaxed);
            let mut to = from;
            loop {
                let end = self.end_of_claim_at(to).load(Ordering::Acquire);
                if end <= to {
                    break;
                }
                to = end;
            }
            if to > from {
                // ORDER: release, after the entries were read; see `claim`.
                self.announced.store(to, Ordering::Release);
                // The doorbell is written while `ringing` is held, so its values grow.
                self.port.ring_doorbell(to - 1);
            }
            self.ringing.swap(false, Ordering::AcqRel);
            if self.end_of_claim_at(to).load(Ordering::Acquire) <= to {
                return;
            }
            // A producer published behind our scan and found the flag set: ring for it.
        }
    }

    /// Notes that the packets of a claim are valid, for the producer that rings next.
    fn note(&self, first: u64, len: u32) {
        if len == 0 {
            // An empty claim shares its first index with the claim behind it, whose entry it must not touch.
            return;
        }
        self.port.drain();
        // ORDER: release, after the headers. A producer that reads the entry and rings has our packets before
        // the doorbell.
        self.end_of_claim_at(first).store(first + u64::from(len), Ordering::Release);
    }

    fn end_of_claim_at(&self, index: u64) -> &AtomicU64 {
        // CAST: masked to less than the size.
        &self.ends[(index & u64::from(self.size - 1)) as usize]
    }
}

/// Slots of a ring that belong to one producer until they are published.
///
/// A claim that is dropped turns into no-operations, because the packet processor waits in front of every
/// slot that was claimed.
#[derive(Debug)]
#[must_use = "a dropped claim fills its slots with packets that do nothing"]
pub struct Claim<'a, P: Port> {
    ring: &'a Ring<P>,
    first: u64,
    len: u32,
}

impl<P: Port> Claim<'_, P> {
    /// Index of the first packet.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Number of slots.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `packets`, each as changed by `patch`, into the slots, announces them, and returns the index
    /// behind the last one.
    ///
    /// `patch` is called once a packet, in no particular order.
    ///
    /// # Errors
    /// [`Error::ClaimMismatch`] or [`PacketError::Invalid`]; the slots become no-operations.
    ///
    /// # Safety
    /// Until they complete, the packets refer to code, kernel arguments and signals that exist, and what the
    /// kernels do to memory is sound.
    pub unsafe fn publish(
        mut self,
        packets: &[Packet],
        mut patch: impl FnMut(usize, &mut Packet),
    ) -> Result<u64, Error> {
        let (first, len) = (self.first, self.len);
        if packets.len() != len as usize {
            return Err(Error::ClaimMismatch { claimed: len, given: packets.len() });
        }
        let patched = |index: u32| {
            // CAST: u32 fits usize on the 64-bit hosts that ROCm has.
            let index = index as usize;
            let mut packet = packets[index];
            patch(index, &mut packet);
            if packet.is_invalid() {
                return Err(PacketError::Invalid { index }.into());
            }
            Ok(packet)
        };
        // SAFETY: the slots are this claim's, and it announces them only below.
        unsafe { self.ring.store(first, len, patched)? };
        self.len = 0;
        self.ring.announce(first, len);
        Ok(first + u64::from(len))
    }
}

impl<P: Port> Drop for Claim<'_, P> {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        // Bodies may have been stored, and are about to be stored again.
        self.ring.port.drain();
        // SAFETY: the slots are this claim's, and it has not announced them: publishing sets `len` to 0.
        let stored = unsafe { self.ring.store(self.first, self.len, |_| Ok(Packet::NO_OPERATION)) };
        debug_assert!(stored.is_ok(), "a no-operation is a valid packet");
        self.ring.announce(self.first, self.len);
    }
}
