//! Small blocks of device-visible memory (kernel arguments, staging) carved from large slabs.
//!
//! Slabs may be in a device's own memory. What the host stores there is on its way for a while; a block that was written
//! is [published](Block::publish) before a device reads it.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use crate::{
    device::heap::Heap,
    error::{Error, Result},
};

/// Blocks come in multiples of a cache line, so that two of them never share one.
const LINE: u64 = 64;

/// How the host writes to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// As to any memory of its own.
    Memory,
    /// Through a window of PCIe (large BAR), by stores that arrive some time.
    Window,
    /// By copies that the device makes.
    Copies,
}

/// Slabs of one memory pool, and the blocks that are free in them.
pub(crate) struct Slabs {
    pool: hsa::Pool,
    access: Vec<hsa::Agent>,
    slab_bytes: usize,
    /// Bytes that stay while they are not in use.
    retained: u64,
    reach: Reach,
    /// Where blocks come from for which the pool has no memory.
    otherwise: Option<Arc<Slabs>>,
    /// The holder's name in the accounts.
    holder: &'static str,
    slabs: Mutex<Vec<Slab>>,
}

struct Slab {
    memory: hsa::Allocation,
    heap: Heap,
}

impl Slabs {
    /// Blocks of `pool`, readable and writable by the host and by `access`.
    pub(crate) fn new(
        pool: hsa::Pool,
        access: Vec<hsa::Agent>,
        slab_bytes: usize,
        holder: &'static str,
    ) -> Self {
        Self {
            pool,
            access,
            slab_bytes,
            retained: slab_bytes as u64,
            reach: Reach::Memory,
            otherwise: None,
            holder,
            slabs: Mutex::default(),
        }
    }

    /// The same slabs, of a device's memory, to which the host writes so; blocks for which there is no room there come from
    /// `otherwise`.
    pub(crate) fn on_device(self, reach: Reach, otherwise: Arc<Slabs>) -> Self {
        Self { reach, otherwise: Some(otherwise), ..self }
    }

    /// The same slabs, of which so many bytes stay while they are not in use, if that is more than one slab.
    pub(crate) fn retaining(self, bytes: u64) -> Self {
        Self { retained: bytes.max(self.slab_bytes as u64), ..self }
    }

    /// A block of at least `bytes` bytes, 64-byte aligned.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Result<Block> {
        let size = (bytes.max(1) as u64).next_multiple_of(LINE);
        let mut slabs = self.slabs.lock();
        for slab in slabs.iter_mut() {
            if let Some(offset) = slab.heap.take(size, LINE) {
                let address = slab.memory.address() + offset;
                return Ok(Block::new(address, size, self.clone()));
            }
        }
        let memory = match (self.allocate(self.slab_bytes.max(size as usize)), &self.otherwise) {
            (Err(_), Some(otherwise)) => return otherwise.take(bytes),
            (memory, _) => memory.map_err(|_| Error::OutOfMemory { bytes })?,
        };
        let mut heap = Heap::new(memory.len() as u64);
        // PANIC: the slab is at least `size` bytes and empty.
        let offset = heap.take(size, LINE).expect("a fresh slab holds the block it was made for");
        let address = memory.address() + offset;
        slabs.push(Slab { memory, heap });
        Ok(Block::new(address, size, self.clone()))
    }

    fn allocate(&self, bytes: usize) -> Result<hsa::Allocation, hsa::Error> {
        let memory = self.pool.allocate(bytes)?.held_by(self.holder);
        if !self.access.is_empty() {
            memory.allow_access(&self.access)?;
        }
        Ok(memory)
    }

    /// Bytes of all slabs, and of the blocks in use.
    pub(crate) fn footprint(&self) -> (u64, u64) {
        let slabs = self.slabs.lock();
        slabs.iter().fold((0, 0), |(all, used), s| (all + s.heap.capacity(), used + s.heap.used()))
    }

    fn give(&self, address: u64, size: u64) {
        let mut slabs = self.slabs.lock();
        let found = slabs.iter().position(|s| {
            let start = s.memory.address();
            (start..start + s.heap.capacity()).contains(&address)
        });
        let Some(i) = found else { return };
        let start = slabs[i].memory.address();
        slabs[i].heap.give(address - start, size);
        if !slabs[i].heap.is_empty() {
            return;
        }
        // As much stays empty as is in use, so that launches that give and take in turn allocate nothing; and a little
        // always.
        let used: u64 = slabs.iter().filter(|s| !s.heap.is_empty()).map(|s| s.heap.capacity()).sum();
        let limit = used.max(self.retained);
        let mut empty = 0;
        // The small ones stay before the large.
        slabs.sort_by_key(|s| s.heap.capacity());
        let stays = |s: &Slab| {
            if !s.heap.is_empty() {
                return true;
            }
            empty += s.heap.capacity();
            empty <= limit
        };
        let gone: Vec<Slab> = retain(&mut slabs, stays);
        drop(slabs);
        // Without the lock, which launches take.
        drop(gone);
    }
}

/// Keeps the slabs that `stays` says, in their order; returns the others.
fn retain(slabs: &mut Vec<Slab>, mut stays: impl FnMut(&Slab) -> bool) -> Vec<Slab> {
    slabs.extract_if(.., |slab| !stays(slab)).collect()
}

/// A block of a slab; it returns there when dropped.
pub(crate) struct Block {
    address: u64,
    size: u64,
    /// Address of a byte that was written and has not been read back, or 0; counts behind a window.
    unread: AtomicU64,
    /// What is written by copies, and has not been copied.
    shadow: Option<Box<Mutex<Shadow>>>,
    slabs: Arc<Slabs>,
}

/// The host's side of a block that is written by copies.
struct Shadow {
    bytes: Vec<u8>,
    written: Range<usize>,
}

impl Block {
    fn new(address: u64, size: u64, slabs: Arc<Slabs>) -> Self {
        let shadow = (slabs.reach == Reach::Copies)
            .then(|| Box::new(Mutex::new(Shadow { bytes: vec![0; size as usize], written: 0..0 })));
        Self { address, size, unread: AtomicU64::new(0), shadow, slabs }
    }

    /// Whether a device finds what is written only once it is [published](Self::publish).
    #[inline]
    pub(crate) fn is_remote(&self) -> bool {
        self.slabs.reach != Reach::Memory
    }

    /// Another block of the same kind.
    pub(crate) fn another(&self, bytes: usize) -> Result<Self> {
        self.slabs.take(bytes)
    }

    /// Host and device address.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.size as usize
    }

    /// Writes `bytes` at `offset`.
    ///
    /// # Panics
    /// If they do not fit: offsets come from this crate, never from a caller.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.len(), "write past the end of a block");
        if self.slabs.reach != Reach::Memory {
            return self.write_to_device(offset, bytes);
        }
        // SAFETY: the range lies inside the block, as was just checked.
        unsafe { self.write_directly(offset, bytes) };
    }

    /// Writes as a host does that reaches the memory.
    ///
    /// # Safety
    /// The range lies inside the block.
    unsafe fn write_directly(&self, offset: usize, bytes: &[u8]) {
        // SAFETY: the range lies inside the block, which this value owns, and the pool's memory is
        // host-writable. No packet that is in flight reads a block before it is written: a block is
        // written before the packet that points to it is published.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                (self.address as usize as *mut u8).add(offset),
                bytes.len(),
            );
        }
    }

    fn write_to_device(&self, offset: usize, bytes: &[u8]) {
        match &self.shadow {
            _ if bytes.is_empty() => {}
            Some(shadow) => {
                let mut shadow = shadow.lock();
                let Shadow { bytes: image, written } = &mut *shadow;
                let end = offset + bytes.len();
                image[offset..end].copy_from_slice(bytes);
                *written = match *written {
                    Range { start, end: stop } if start < stop => start.min(offset)..stop.max(end),
                    _ => offset..end,
                };
            }
            None => {
                // SAFETY: `write` has checked the range.
                unsafe { self.write_directly(offset, bytes) };
                let last = self.address + (offset + bytes.len() - 1) as u64;
                self.unread.store(last, Ordering::Relaxed);
            }
        }
    }

    /// Lets the device see what was written: what it executes from now on finds it.
    ///
    /// Behind a window of PCIe that takes a store fence, which empties the processor's write-combining buffers, and a load
    /// of what was written last: it is answered behind all stores to the device that were made before (PCI Express Base
    /// 6.0, 2.4.1: a completion does not pass posted writes).
    ///
    /// # Errors
    /// [`Error::Hsa`] if a copy fails.
    pub(crate) fn publish(&self) -> Result<()> {
        if let Some(shadow) = &self.shadow {
            let mut shadow = shadow.lock();
            let written = shadow.written.clone();
            if written.start < written.end {
                let (to, from) = (self.address + written.start as u64, &shadow.bytes[written]);
                // SAFETY: inside the block, of which the device reads nothing meanwhile: see `write`.
                unsafe { self.slabs.pool.runtime().copy(to, from.as_ptr() as u64, from.len())? };
                shadow.written = 0..0;
            }
        }
        match self.unread.swap(0, Ordering::Relaxed) {
            0 => {}
            // SAFETY: an address inside the block, which the host reaches.
            last => unsafe { hsa::read_back(last) },
        }
        Ok(())
    }

    /// Stores a word at `offset`, a multiple of 8, behind everything that was written before: for device code that looks
    /// at it by atomics.
    ///
    /// # Panics
    /// If it does not fit, or `offset` is no multiple of 8.
    pub(crate) fn store(&self, offset: usize, value: u64) {
        assert!(offset + 8 <= self.len() && offset.is_multiple_of(8), "a word beside a block");
        debug_assert_eq!(self.slabs.reach, Reach::Memory, "device code looks at it at any time");
        // SAFETY: as in `write`; blocks are aligned, and the word is reached by atomics while device code may look at
        // it.
        let word = unsafe { AtomicU64::from_ptr((self.address as usize as *mut u64).byte_add(offset)) };
        // ORDER: release, pairs with the acquire of the device code.
        word.store(value, Ordering::Release);
    }

    /// Copies the block's first `out.len()` bytes to `out`.
    ///
    /// # Panics
    /// If the block is shorter.
    pub(crate) fn read(&self, out: &mut [u8]) {
        assert!(out.len() <= self.len(), "read past the end of a block");
        debug_assert_ne!(self.slabs.reach, Reach::Copies, "the host does not reach it");
        // SAFETY: as in `write`; the caller has waited for the packet that wrote the block.
        unsafe {
            std::ptr::copy_nonoverlapping(self.address as usize as *const u8, out.as_mut_ptr(), out.len());
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.slabs.give(self.address, self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    /// The bytes that the device has, by a copy of its own.
    fn on_device(block: &Block) -> Vec<u8> {
        let mut bytes = vec![0; block.len()];
        // SAFETY: as many bytes of the block as of ours.
        unsafe { block.slabs.pool.runtime().copy(bytes.as_mut_ptr() as u64, block.address(), bytes.len()) }
            .unwrap();
        bytes
    }

    #[test]
    fn what_is_written_to_device_memory_is_there_when_it_is_published() {
        let device = Device::get(0).unwrap();
        let cpu = device.0.system.host_agent().clone();
        for reach in [Reach::Window, Reach::Copies] {
            let access = if reach == Reach::Window { vec![cpu.clone()] } else { Vec::new() };
            let pool = device.0.local.clone();
            if reach == Reach::Window && pool.access(&cpu).unwrap() == hsa::PoolAccess::Never {
                continue;
            }
            let slabs = Slabs::new(pool, access, 4096, "test");
            let slabs = Arc::new(slabs.on_device(reach, device.0.kernargs.clone()));
            let block = slabs.take(300).unwrap();
            block.write(0, &[1; 320]);
            block.publish().unwrap();
            assert_eq!(on_device(&block), [1; 320], "{reach:?}");
            block.write(7, &[2, 3]);
            block.write(100, &[4]);
            block.publish().unwrap();
            let mut expected = [1; 320];
            (expected[7], expected[8], expected[100]) = (2, 3, 4);
            assert_eq!(on_device(&block), expected, "{reach:?}");
            assert_eq!(block.another(64).unwrap().slabs.reach, reach);
        }
    }

    #[test]
    fn blocks_that_the_device_has_no_memory_for_are_the_hosts() {
        let device = Device::get(0).unwrap();
        let pools = device.0.agent.pools().unwrap();
        // Of this one nothing can be allocated.
        let group = pools.iter().find(|pool| pool.properties().segment == hsa_sys::HSA_AMD_SEGMENT_GROUP);
        let slabs = Slabs::new(group.unwrap().clone(), Vec::new(), 4096, "test");
        let slabs = Arc::new(slabs.on_device(Reach::Copies, device.0.kernargs.clone()));
        let before = device.0.kernargs.footprint().1;
        let block = slabs.take(64).unwrap();
        assert_eq!(block.slabs.reach, Reach::Memory);
        assert!(device.0.kernargs.footprint().1 > before);
    }

    fn slabs(slab_bytes: usize) -> Arc<Slabs> {
        let device = Device::get(0).unwrap();
        Arc::new(Slabs::new(device.0.system.host_pool().clone(), Vec::new(), slab_bytes, "test"))
    }

    #[test]
    fn blocks_share_no_cache_line_and_come_back() {
        let slabs = slabs(4096);
        let blocks: Vec<_> = [1, 63, 64, 65, 0].iter().map(|&bytes| slabs.take(bytes).unwrap()).collect();
        for (n, block) in blocks.iter().enumerate() {
            assert_eq!(block.address() % LINE, 0);
            block.write(0, &vec![n as u8; block.len()]);
        }
        for (n, block) in blocks.iter().enumerate() {
            let mut bytes = vec![99; block.len()];
            block.read(&mut bytes);
            assert!(bytes.iter().all(|&byte| byte == n as u8));
        }
        assert_eq!(slabs.footprint(), (4096, 6 * LINE));
        drop(blocks);
        assert_eq!(slabs.footprint(), (4096, 0));
    }

    #[test]
    fn what_stays_empty_is_no_more_than_what_is_used() {
        let slabs = slabs(4096);
        let used = slabs.take(100_000).unwrap();
        let all = slabs.footprint().0;
        // A caller that gives and takes in turn as much as is in use allocates once.
        for _ in 0..3 {
            drop(slabs.take(90_000).unwrap());
            assert!(slabs.footprint().0 > all);
        }
        drop(slabs.take(1_000_000).unwrap());
        assert!(slabs.footprint().0 < 1_000_000, "more than is in use goes back at once");
        drop(used);
        assert_eq!(slabs.footprint(), (0, 0), "a slab of a usual size was never made");
    }

    #[test]
    fn a_burst_leaves_one_slab() {
        let slabs = slabs(4096);
        let mut blocks: Vec<_> = (0..1000).map(|n| slabs.take(64 * (1 + n % 7)).unwrap()).collect();
        let burst = slabs.footprint().0;
        // In an order that leaves all slabs in use for long.
        blocks.sort_by_key(|block| block.address() % 4096);
        drop(blocks);
        assert!(burst > 10 * 4096);
        assert_eq!(slabs.footprint(), (4096, 0));
    }

    #[test]
    fn what_is_retained_stays_for_the_next_block() {
        let slabs = slabs(4096);
        let slabs = Arc::new(Arc::into_inner(slabs).expect("there is one reference").retaining(1 << 20));
        for _ in 0..3 {
            drop(slabs.take(600_000).unwrap());
            assert_eq!(slabs.footprint(), (600_000, 0), "made once");
        }
        let burst: Vec<_> = (0..3).map(|_| slabs.take(600_000).unwrap()).collect();
        drop(burst);
        assert_eq!(slabs.footprint(), (600_000, 0));
    }

    #[test]
    fn one_empty_slab_stays() {
        let slabs = slabs(4096);
        let blocks: Vec<_> = (0..4).map(|_| slabs.take(4096).unwrap()).collect();
        let large = slabs.take(100_000).unwrap();
        assert!(slabs.footprint().0 >= 4 * 4096 + 100_000);
        drop((blocks, large));
        assert_eq!(slabs.slabs.lock().len(), 1);
    }
}
