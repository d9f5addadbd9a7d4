//! Queues: rings whose packets an agent processes.

mod create;
mod producer;
mod stream;

use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hsa_sys::*;

use crate::agent::{Agent, count};
use crate::ask::ask_for;
use crate::error::{Error, check};
use crate::ledger::{Entry, Resource};
use crate::packet::Packet;
use crate::ring::{Claim, Port, QueueFull, Ring, Slots};
use crate::runtime::Runtime;
use crate::token::{Token, Tokens};

pub use producer::DeviceProducer;
pub use stream::RingStores;
use stream::Stream;
pub(crate) use stream::store_fence;

/// The producers of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Producers {
    /// Any number of threads.
    #[default]
    Multi,
    /// One thread at a time.
    Single,
    /// Any number of threads, and cooperative dispatches are allowed (AMD).
    Cooperative,
}

/// Share of the device that a queue gets when several have work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Priority {
    /// Behind the other queues.
    Low,
    /// The usual share.
    #[default]
    Normal,
    /// Before the other queues.
    High,
}

/// Where a queue's packets lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RingMemory {
    /// In memory of the host, which the device reads over the bus.
    #[default]
    System,
    /// In memory of the device, which the host writes over the bus and never reads.
    Device,
}

/// What a queue is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// The producers.
    pub producers: Producers,
    /// Private memory a work-item that dispatches are expected to need, in bytes, or `None` to let the
    /// runtime find out.
    pub private_segment: Option<u32>,
    /// Group memory a workgroup that dispatches are expected to need, in bytes, or `None`.
    ///
    /// A queue whose ring is in device memory takes no such hint.
    pub group_segment: Option<u32>,
    /// Where its ring lies.
    ///
    /// An HSA runtime may have been told to put all rings into device memory (ROCr, by `HSA_ALLOCATE_QUEUE_DEV_MEM=1`
    /// in the environment), and does so then: [`Queue::ring_memory`] says what came of it.
    pub ring: RingMemory,
    /// How packets are stored to a ring in device memory.
    pub stores: RingStores,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            producers: Producers::Multi,
            private_segment: None,
            group_segment: None,
            ring: RingMemory::System,
            stores: RingStores::NonTemporal,
        }
    }
}

/// Told once, on a thread of the HSA runtime, why a queue has stopped.
pub type QueueErrorHandler = Box<dyn Fn(hsa_status_t) + Send + Sync>;

/// The status of a queue that runs.
const RUNNING: u32 = HSA_STATUS_SUCCESS.0;

/// Whether a queue runs, and what is called when it stops.
struct Health {
    status: AtomicU32,
    handler: QueueErrorHandler,
}

impl Health {
    /// Records the first reason.
    fn stop(&self, status: hsa_status_t) {
        // ORDER: release, so that a thread that sees the queue stopped sees what was done before.
        let _ = self.status.compare_exchange(RUNNING, status.0, Ordering::Release, Ordering::Relaxed);
    }

    fn check(&self) -> Result<(), Error> {
        match self.status.load(Ordering::Acquire) {
            RUNNING => Ok(()),
            status => Err(Error::QueueStopped { status: hsa_status_t(status) }),
        }
    }
}

static HEALTH: Tokens<Health> = Tokens::new();

/// The function that the HSA runtime calls when a queue stops.
///
/// # Safety
/// None of its own: `data` is a token, and `source` is not used.
unsafe extern "C" fn on_queue_error(status: hsa_status_t, _source: *mut hsa_queue_t, data: *mut c_void) {
    let Some(health) = HEALTH.find(data) else { return };
    // Success would read as a queue that runs.
    let status = if status == HSA_STATUS_SUCCESS { HSA_STATUS_ERROR } else { status };
    health.stop(status);
    // A panic must not cross into C; the panic hook has printed it already.
    let _ = catch_unwind(AssertUnwindSafe(|| (health.handler)(status)));
}

/// The memory, indices and doorbell of a queue of the HSA runtime.
///
/// Base, size and doorbell are copied at creation: the runtime's structure is never trusted again.
pub struct HsaPort {
    api: &'static Api,
    queue: NonNull<hsa_queue_t>,
    base: NonNull<[u32; 16]>,
    size: u32,
    doorbell: hsa_signal_t,
    /// The way to a ring in device memory.
    stream: Option<Stream>,
}

// SAFETY: the queue functions and the doorbell signal may be used from any thread, and the ring's slots are
// written by the producer that has claimed them.
unsafe impl Send for HsaPort {}
// SAFETY: as above.
unsafe impl Sync for HsaPort {}

impl HsaPort {
    fn slot(&self, index: u64) -> *mut u32 {
        // CAST: masked to less than the ring's size.
        let slot = (index & u64::from(self.size - 1)) as usize;
        // SAFETY: the base has `size` packets behind it, and `slot` is less.
        unsafe { self.base.add(slot) }.as_ptr().cast()
    }

    /// The one or two stretches of the ring that so many slots from `index` on lie in, each with its number of slots.
    #[inline]
    fn stretches(&self, index: u64, slots: usize) -> [(*mut u32, usize); 2] {
        // CAST: masked to less than the ring's size.
        let slot = (index & u64::from(self.size - 1)) as usize;
        let front = slots.min(self.size as usize - slot);
        [(self.slot(index), front), (self.slot(0), slots - front)]
    }
}

impl Port for HsaPort {
    fn size(&self) -> u32 {
        self.size
    }

    #[inline]
    fn ask_for_slot(&self, index: u64) {
        // Where the ring is the device's, that would be a read across the bus.
        if self.stream.is_none() {
            ask_for(self.slot(index).cast());
        }
    }

    fn read_index(&self) -> u64 {
        // SAFETY: the queue exists as long as `self`.
        unsafe { (self.api.hsa_queue_load_read_index_scacquire)(self.queue.as_ptr()) }
    }

    fn write_index(&self) -> u64 {
        // SAFETY: the queue exists as long as `self`.
        unsafe { (self.api.hsa_queue_load_write_index_relaxed)(self.queue.as_ptr()) }
    }

    fn exchange_write_index(&self, expected: u64, new: u64) -> u64 {
        // SAFETY: the queue exists as long as `self`.
        unsafe { (self.api.hsa_queue_cas_write_index_relaxed)(self.queue.as_ptr(), expected, new) }
    }

    unsafe fn write_body(&self, index: u64, packet: &Packet) {
        let slot = self.slot(index);
        if let Some(stream) = &self.stream {
            // SAFETY: one slot and one packet.
            return unsafe { stream.store_bodies(slot, std::slice::from_ref(packet)) };
        }
        // SAFETY: the slot is aligned to 64 bytes and lives as long as the queue; the packet processor may be
        // polling this word, so it is only ever accessed as an atomic.
        let header = unsafe { AtomicU32::from_ptr(slot) };
        header.store(Packet::INVALID.header_word(), Ordering::Relaxed);
        let words = packet.words();
        let body: *mut u32 = slot.wrapping_add(1);
        // In pieces that never straddle two 16-byte halves of the source: it was stored a moment ago in such
        // halves, and a load across two of them would wait until both have reached the cache.
        // SAFETY: the slot has 15 words behind the first. The caller has claimed it, and the packet processor
        // reads no body whose header is invalid.
        unsafe {
            body.write(words[1]);
            body.add(1).cast::<[u32; 2]>().write([words[2], words[3]]);
            for quarter in 1..4 {
                let at = 4 * quarter;
                slot.add(at).cast::<[u32; 4]>().write([
                    words[at],
                    words[at + 1],
                    words[at + 2],
                    words[at + 3],
                ]);
            }
        }
    }

    unsafe fn write_bodies(&self, index: u64, packets: &[Packet]) {
        let [(front, n), (start, _)] = self.stretches(index, packets.len());
        let (before, wrapped) = packets.split_at(n);
        for (place, packets) in [(front, before), (start, wrapped)] {
            // SAFETY: the packets end before the stretch does. The caller has claimed the slots.
            unsafe {
                match &self.stream {
                    None => stream::ordinary(place, packets),
                    Some(stream) => stream.store_bodies(place, packets),
                }
            }
        }
    }

    unsafe fn store_headers(&self, index: u64, packets: &[Packet]) {
        let [(front, n), (start, _)] = self.stretches(index, packets.len());
        let (before, wrapped) = packets.split_at(n);
        for (place, packets) in [(start, wrapped), (front, before)] {
            let mut place = place.wrapping_add(16 * packets.len());
            for packet in packets.iter().rev() {
                place = place.wrapping_sub(16);
                // SAFETY: as in `write_body`. ORDER: Release; see `store_header`.
                unsafe { AtomicU32::from_ptr(place) }.store(packet.header_word(), Ordering::Release);
            }
        }
    }

    unsafe fn write_double(&self, index: u64, double: usize, value: u64) {
        // SAFETY: the slot has eight double words, aligned to them. The caller has claimed it, and the packet processor
        // reads no body whose header is invalid.
        unsafe { self.slot(index).cast::<u64>().add(double).write(value) };
    }

    unsafe fn store_header(&self, index: u64, word: u32) {
        // SAFETY: as in `write_body`.
        let header = unsafe { AtomicU32::from_ptr(self.slot(index)) };
        // ORDER: Release. The body must be visible before its header turns valid; pairs with the acquire in
        // the packet processor's fetch.
        header.store(word, Ordering::Release);
    }

    fn ring_doorbell(&self, last: u64) {
        // CAST: the doorbell is a signal, and signal values are signed; indices stay far below 2^63.
        // SAFETY: the doorbell exists as long as the queue.
        unsafe { (self.api.hsa_signal_store_screlease)(self.doorbell, last as i64) };
    }

    #[inline]
    fn is_weakly_ordered(&self) -> bool {
        self.stream.is_some()
    }

    #[inline]
    fn drain(&self) {
        if let Some(stream) = &self.stream {
            stream.drain();
        }
    }
}

impl fmt::Debug for HsaPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HsaPort").field("base", &self.base).field("size", &self.size).finish_non_exhaustive()
    }
}

/// A queue of an agent, destroyed when it is dropped; threads share it by reference.
pub struct Queue {
    ring: Ring<HsaPort>,
    health: Arc<Health>,
    token: Token,
    runtime: Arc<Runtime>,
    id: u64,
    _entry: Entry,
}

impl Queue {
    /// Creates a queue of `size` packets, a power of two within the agent's limits.
    ///
    /// `on_error` is called when a packet is malformed, a kernel traps, or the device fails; the queue
    /// accepts nothing afterwards.
    ///
    /// # Errors
    /// [`Error::Call`]: `HSA_STATUS_ERROR_OUT_OF_RESOURCES` if the device has no queue left,
    /// `HSA_STATUS_ERROR_INVALID_ARGUMENT` for a bad size, `HSA_STATUS_ERROR_INVALID_QUEUE_CREATION` if the ring is to be
    /// in device memory and the host does not reach that. [`Error::Unsupported`] if it is, and the runtime cannot put
    /// it there.
    pub fn create(
        agent: &Agent,
        size: u32,
        options: QueueOptions,
        on_error: QueueErrorHandler,
    ) -> Result<Self, Error> {
        let runtime = Arc::clone(agent.runtime());
        let api = runtime.api();
        let health = Arc::new(Health { status: AtomicU32::new(RUNNING), handler: on_error });
        let token = HEALTH.issue(&health);
        let port = create::port(agent, size, options, token).inspect_err(|_| HEALTH.withdraw(token))?;
        let raw = port.queue.as_ptr();
        // SAFETY: `HsaPort::new` found the queue to exist.
        let id = unsafe { (*raw).id };
        let ring = Ring::new(port).inspect_err(|_| {
            HEALTH.withdraw(token);
            // SAFETY: the queue was just created, and nothing else knows it.
            let _ = unsafe { (api.hsa_queue_destroy)(raw) };
        })?;
        let bytes = u64::from(size) * PACKET_BYTES as u64;
        let entry = Entry::new(runtime.ledger(), Resource::Queue, agent.raw().handle, bytes);
        Ok(Self { ring, health, token, runtime, id, _entry: entry })
    }

    /// Where the ring lies.
    pub fn ring_memory(&self) -> RingMemory {
        match self.ring.port().stream {
            None => RingMemory::System,
            Some(_) => RingMemory::Device,
        }
    }

    /// How packets are stored, if the ring is in device memory.
    pub fn ring_stores(&self) -> RingStores {
        self.ring.port().stream.map_or(RingStores::Ordinary, |stream| stream.stores())
    }

    /// The queue in the function table.
    pub fn raw(&self) -> *mut hsa_queue_t {
        self.ring.port().queue.as_ptr()
    }

    /// Number of the queue, unique in the process.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Packets that the ring holds.
    pub fn size(&self) -> u32 {
        self.ring.size()
    }

    /// Index of the first packet that has not retired, with acquire.
    pub fn read_index(&self) -> u64 {
        self.ring.port().read_index()
    }

    /// Index of the next packet to be claimed.
    pub fn write_index(&self) -> u64 {
        self.ring.port().write_index()
    }

    /// What lies in the slot of packet `index`: the packet, without its type once it was launched, or what was written
    /// over it. To be shown to people: nothing keeps the slot from changing meanwhile.
    pub fn peek(&self, index: u64) -> Packet {
        let slot = self.ring.port().slot(index).cast::<[u32; 16]>();
        // SAFETY: the slot is inside the ring, which lives as long as `self`. Whoever writes there, each word that is read
        // was written by someone.
        Packet::from_words(unsafe { slot.read_volatile() })
    }

    /// Why the queue has stopped, if it has.
    pub fn fault(&self) -> Option<hsa_status_t> {
        self.health.check().err().and_then(|error| error.status())
    }

    /// Whether the queue has stopped.
    pub fn is_faulted(&self) -> bool {
        self.health.check().is_err()
    }

    /// Claims `n` consecutive slots if there is room.
    ///
    /// # Errors
    /// [`QueueFull`] while the packet processor lags behind. A queue that has stopped does not refuse: what
    /// is claimed is not processed.
    pub fn claim(&self, n: u32) -> Result<Claim<'_, HsaPort>, QueueFull> {
        self.ring.claim(n)
    }

    /// Claims slots for as many of `n` packets as there is room for; none if there is none at all. As for
    /// [`Queue::claim`], what is claimed must be published.
    pub fn claim_some(&self, n: usize) -> Option<Claim<'_, HsaPort>> {
        self.ring.claim_some(n)
    }

    /// Claims `n` consecutive slots, waiting for room.
    ///
    /// # Errors
    /// [`Error::QueueStopped`], [`Error::ClaimTooLarge`].
    pub fn claim_wait(&self, n: u32) -> Result<Claim<'_, HsaPort>, Error> {
        self.ring.claim_wait(n, || self.health.check())
    }

    /// Copies a batch into the ring, each packet as changed by `patch`, and rings the doorbell once.
    ///
    /// Waits for room; returns the index behind the last packet. See [`Ring::submit`].
    ///
    /// # Errors
    /// [`Error::QueueStopped`], or [`PacketError::Invalid`](crate::packet::PacketError::Invalid).
    ///
    /// # Safety
    /// As for [`Claim::publish`].
    pub unsafe fn submit(
        &self,
        packets: &[Packet],
        patch: impl FnMut(usize, &mut Packet),
    ) -> Result<u64, Error> {
        // SAFETY: the caller's promise.
        unsafe { self.ring.submit(packets, patch, || self.health.check()) }
    }

    /// Copies as many packets from the front of a batch as there is room for, and returns how many.
    ///
    /// # Errors
    /// As [`Queue::submit`].
    ///
    /// # Safety
    /// As for [`Claim::publish`].
    pub unsafe fn submit_some(
        &self,
        packets: &[Packet],
        patch: impl FnMut(usize, &mut Packet),
    ) -> Result<usize, Error> {
        self.health.check()?;
        // SAFETY: the caller's promise.
        unsafe { self.ring.submit_some(packets, patch) }
    }

    /// As [`Ring::ask_for_next_slot`].
    #[inline]
    pub fn ask_for_next_slot(&self) {
        self.ring.ask_for_next_slot();
    }

    /// Copies as many packets from the front of an image as there is room for, and returns how many. See
    /// [`Ring::submit_image`].
    ///
    /// # Errors
    /// [`Error::QueueStopped`].
    ///
    /// # Safety
    /// As for [`Ring::submit_image`].
    pub unsafe fn submit_image(
        &self,
        image: &[Packet],
        fill: impl FnMut(&mut Slots<'_, HsaPort>),
    ) -> Result<usize, Error> {
        self.health.check()?;
        // SAFETY: the caller's promise.
        Ok(unsafe { self.ring.submit_image(image, fill) })
    }

    /// Submits one packet and returns the index behind it.
    ///
    /// # Errors
    /// As [`Queue::submit`].
    ///
    /// # Safety
    /// As for [`Claim::publish`].
    pub unsafe fn submit_one(&self, packet: Packet) -> Result<u64, Error> {
        // SAFETY: the caller's promise.
        unsafe { self.submit(&[packet], |_, _| ()) }
    }

    /// Stops the queue: packets that have not started never will, and waiting producers get an error.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn inactivate(&self) -> Result<(), Error> {
        self.health.stop(HSA_STATUS_ERROR_INVALID_QUEUE);
        // SAFETY: the queue exists as long as `self`.
        check("hsa_queue_inactivate", unsafe { (self.runtime.api().hsa_queue_inactivate)(self.raw()) })
    }

    /// Sets the queue's share of the device.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn set_priority(&self, priority: Priority) -> Result<(), Error> {
        let priority = match priority {
            Priority::Low => HSA_AMD_QUEUE_PRIORITY_LOW,
            Priority::Normal => HSA_AMD_QUEUE_PRIORITY_NORMAL,
            Priority::High => HSA_AMD_QUEUE_PRIORITY_HIGH,
        };
        // SAFETY: the queue exists as long as `self`.
        let status = unsafe { (self.runtime.api().hsa_amd_queue_set_priority)(self.raw(), priority) };
        check("hsa_amd_queue_set_priority", status)
    }

    /// Restricts the queue to the compute units whose bits are set; returns whether the mask had to be cut
    /// down.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn set_cu_mask(&self, mask: &[u32]) -> Result<bool, Error> {
        // SAFETY: the queue exists as long as `self`, and the array has the number of bits given.
        let status = unsafe {
            (self.runtime.api().hsa_amd_queue_cu_set_mask)(
                self.raw(),
                count(mask.len()).saturating_mul(32),
                mask.as_ptr(),
            )
        };
        if status == HSA_STATUS_CU_MASK_REDUCED {
            return Ok(true);
        }
        check("hsa_amd_queue_cu_set_mask", status).map(|()| false)
    }

    /// Switches the recording of dispatch times on or off.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn set_profiling(&self, on: bool) -> Result<(), Error> {
        // SAFETY: the queue exists as long as `self`.
        let status =
            unsafe { (self.runtime.api().hsa_amd_profiling_set_profiler_enabled)(self.raw(), i32::from(on)) };
        check("hsa_amd_profiling_set_profiler_enabled", status)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the queue is ours, and a claim cannot outlive the borrow that it holds. Destroying a queue
        // ends its packets. A failure leaves nothing to do but leak.
        let _ = unsafe { (self.runtime.api().hsa_queue_destroy)(self.raw()) };
        HEALTH.withdraw(self.token);
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("id", &self.id)
            .field("size", &self.size())
            .field("fault", &self.fault())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
