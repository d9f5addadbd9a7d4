//! Stores to a ring that lies in the memory of a device.
//!
//! The host reaches that memory through a window of PCIe which it maps as write-combining: stores gather in a few
//! buffers of a line each, which the processor empties when it likes and in any order (Intel SDM, volume 3, 12.3.1; AMD
//! APM, volume 2, 7.4.2). Non-temporal stores behave so wherever they go, and fill such a buffer at once; a line that
//! is stored whole crosses the bus as one packet. What is loaded from there crosses it twice, which takes a microsecond
//! or so, and nothing here loads.
//!
//! The device may hold what arrives in its host data path, until that is flushed.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::packet::Packet;

/// How packets are stored to a ring in device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RingStores {
    /// Past the caches, as much of a line at once as the processor can; ordinary ones where it cannot.
    #[default]
    NonTemporal,
    /// As any other data, for comparisons.
    Ordinary,
}

/// Stores the bodies of packets to consecutive slots, with headers that read INVALID.
///
/// # Safety
/// The first argument points to as many slots as there are packets, which the caller has claimed. The processor has the
/// instructions that the function uses.
type StoreBodies = unsafe fn(*mut u32, &[Packet]);

/// The way to a ring in device memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    stores: RingStores,
    bodies: StoreBodies,
    /// Flushes the device's host data path when it is stored to; none where the host's stores do not take it.
    flush: Option<NonNull<u32>>,
}

impl Stream {
    /// The way for this processor, to a device whose host data path `flush` flushes.
    pub(super) fn new(stores: RingStores, flush: Option<NonNull<u32>>) -> Self {
        let bodies = match stores {
            RingStores::NonTemporal => non_temporal(),
            RingStores::Ordinary => ordinary,
        };
        Self { stores, bodies, flush }
    }

    /// How packets are stored.
    pub(super) fn stores(&self) -> RingStores {
        self.stores
    }

    /// Stores the bodies of `packets` to slots from `place` on, with headers that read INVALID.
    ///
    /// # Safety
    /// `place` points to as many slots, which the caller has claimed and not announced.
    #[inline]
    pub(super) unsafe fn store_bodies(&self, place: *mut u32, packets: &[Packet]) {
        // SAFETY: the caller's promise; the function was chosen for this processor.
        unsafe { (self.bodies)(place, packets) };
    }

    /// Makes what this thread has stored visible to the device before whatever it stores next.
    pub(super) fn drain(&self) {
        store_fence();
        if let Some(register) = self.flush {
            // ORDER: release, for the compiler. The processor keeps the order behind the fence: the page is uncached. What is
            // flushed came the same way before.
            // SAFETY: a register of the device that the HSA runtime has mapped for this; any value flushes.
            unsafe { AtomicU32::from_ptr(register.as_ptr()) }.store(1, Ordering::Release);
        }
    }
}

/// As any other data.
///
/// # Safety
/// As for [`StoreBodies`].
#[inline]
pub(super) unsafe fn ordinary(mut place: *mut u32, packets: &[Packet]) {
    for packet in packets {
        // The packet processor may look at the header meanwhile, which is an atomic to all; at nothing else behind one
        // that is invalid. The packets lie in memory for long, so that their loads wait for no store.
        // SAFETY: as many slots as packets, each of 16 words and aligned to as much.
        unsafe {
            AtomicU32::from_ptr(place).store(Packet::INVALID.header_word(), Ordering::Relaxed);
            place.add(1).copy_from_nonoverlapping(packet.words().as_ptr().add(1), 15);
        }
        place = place.wrapping_add(16);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn non_temporal() -> StoreBodies {
    ordinary
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn store_fence() {
    // The strongest that the language has.
    std::sync::atomic::fence(Ordering::SeqCst);
}

#[cfg(target_arch = "x86_64")]
use x86_64::non_temporal;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::store_fence;

/// x86-64: 16 bytes at once everywhere, more where the processor has them.
///
/// Each function stores the INVALID header with the rest of its line. A packet processor that looks meanwhile finds the
/// header invalid, as it was before. To the language these stores are assembly, whose accesses it knows nothing of.
#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::*;

    use super::{Packet, StoreBodies};

    /// INVALID in the first word and zeros behind.
    fn invalid() -> __m128i {
        // CAST: the same bits.
        let word = Packet::INVALID.header_word() as i32;
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_cvtsi32_si128(word) }
    }

    pub(super) fn non_temporal() -> StoreBodies {
        if is_x86_feature_detected!("avx512f") {
            lines
        } else if is_x86_feature_detected!("avx") {
            halves
        } else {
            quarters
        }
    }

    /// Empties the write-combining buffers: what was stored before is visible before what is stored behind.
    pub(crate) fn store_fence() {
        // SAFETY: every x86-64 processor has SSE.
        unsafe { _mm_sfence() };
    }

    /// 16 bytes at once.
    ///
    /// # Safety
    /// As for [`StoreBodies`].
    pub(super) unsafe fn quarters(place: *mut u32, packets: &[Packet]) {
        for (n, packet) in packets.iter().enumerate() {
            let from: *const __m128i = packet.words().as_ptr().cast();
            // SAFETY: as many slots as packets, both aligned to 64 bytes. The producer calls `drain` before it touches
            // them again.
            unsafe {
                let to: *mut __m128i = place.cast::<__m128i>().add(4 * n);
                let first = _mm_castsi128_ps(_mm_load_si128(from));
                let first = _mm_move_ss(first, _mm_castsi128_ps(invalid()));
                _mm_stream_si128(to, _mm_castps_si128(first));
                for quarter in 1..4 {
                    _mm_stream_si128(to.add(quarter), _mm_load_si128(from.add(quarter)));
                }
            }
        }
    }

    /// 32 bytes at once.
    ///
    /// # Safety
    /// As for [`StoreBodies`].
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn halves(place: *mut u32, packets: &[Packet]) {
        let invalid = _mm256_castsi256_ps(_mm256_castsi128_si256(invalid()));
        for (n, packet) in packets.iter().enumerate() {
            let from: *const __m256i = packet.words().as_ptr().cast();
            // SAFETY: as in `quarters`.
            unsafe {
                let to: *mut __m256i = place.cast::<__m256i>().add(2 * n);
                let first = _mm256_castsi256_ps(_mm256_load_si256(from));
                let first = _mm256_castps_si256(_mm256_blend_ps::<1>(first, invalid));
                _mm256_stream_si256(to, first);
                _mm256_stream_si256(to.add(1), _mm256_load_si256(from.add(1)));
            }
        }
    }

    /// A line at once.
    ///
    /// # Safety
    /// As for [`StoreBodies`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn lines(place: *mut u32, packets: &[Packet]) {
        let invalid = _mm512_castsi128_si512(invalid());
        for (n, packet) in packets.iter().enumerate() {
            let from: *const __m512i = packet.words().as_ptr().cast();
            // SAFETY: as in `quarters`.
            unsafe {
                let line = _mm512_mask_mov_epi32(_mm512_load_si512(from), 1, invalid);
                _mm512_stream_si512(place.cast::<__m512i>().add(n), line);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Every way that this processor has.
    fn ways() -> Vec<(&'static str, StoreBodies)> {
        let mut ways: Vec<(&str, StoreBodies)> = vec![("ordinary", ordinary)];
        #[cfg(target_arch = "x86_64")]
        {
            ways.push(("16 bytes", x86_64::quarters));
            if is_x86_feature_detected!("avx") {
                ways.push(("32 bytes", x86_64::halves));
            }
            if is_x86_feature_detected!("avx512f") {
                ways.push(("64 bytes", x86_64::lines));
            }
        }
        ways
    }

    #[test]
    fn every_way_stores_whole_bodies_and_invalid_headers_and_nothing_beside_them() {
        let packets: Vec<_> = (0..5_u32)
            .map(|n| Packet::from_words(std::array::from_fn(|at| 100 * n + at as u32 + 7)))
            .collect();
        for (name, store) in ways() {
            for count in 0..packets.len() {
                let mut slots = vec![Packet::from_words([0xeeee_eeee; 16]); packets.len() + 1];
                // SAFETY: more slots than packets; the way is one of this processor's.
                unsafe { store(slots.as_mut_ptr().cast(), &packets[..count]) };
                store_fence();
                for (n, slot) in slots.iter().enumerate() {
                    let mut expected = packets.get(n).map_or([0xeeee_eeee; 16], |packet| *packet.words());
                    if n >= count {
                        expected = [0xeeee_eeee; 16];
                    } else {
                        expected[0] = Packet::INVALID.header_word();
                    }
                    assert_eq!(slot.words(), &expected, "{name}: slot {n} of {count}");
                }
            }
        }
    }

    #[test]
    fn draining_flushes_the_host_data_path() {
        let register = AtomicU32::new(0);
        Stream::new(RingStores::NonTemporal, NonNull::new(register.as_ptr())).drain();
        assert_eq!(register.load(Ordering::Relaxed), 1);
    }
}
