//! What kernels ask of the host while they run: `printf`, `assert`'s message, calls of host functions, memory for the
//! device's `malloc`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`buffer`] | the hostcall buffer: packets that waves fill in and the host answers |
//! | [`services`] | what the answers are |
//! | [`memory`] | the memory behind the device's `malloc` |
//! | [`format`] | `printf`'s conversions |
//! | [`output`] | standard output and error |
//! | [`fifo`] | the other way to print: a buffer that is read when the kernel is over |
//!
//! A device gets its buffer, and the thread that serves it, when the first kernel whose metadata asks for one is
//! launched. The protocol is that of the device library that compilers link into kernels.

mod buffer;
pub(crate) mod fifo;
mod format;
mod memory;
mod output;
mod services;

use std::{
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

pub(crate) use self::memory::HeapLimit;
use self::{buffer::Buffer, memory::DeviceMemory, output::Standard, services::Services};
use crate::{
    callback,
    device::{Device, fault::Faults, once::Once},
    error::{Error, Result},
    memory_report, thread,
};

/// Bytes of the device library's heap structure; the library of ROCm 5.2 takes 100,872 of them.
const HEAP_BYTES: usize = 256 * 1024;

/// Bytes that kernels may have allocated at most until a caller sets another limit.
const HEAP_LIMIT: u64 = 4 << 30;

/// Fewest packets of a buffer, one for each wave of the largest workgroup, and most.
const PACKETS: [u32; 2] = [16, 1 << 20];

/// The services of one device, each made when a kernel first needs it.
pub(crate) struct Hostcall {
    limit: Arc<HeapLimit>,
    calls: Once<Calls>,
    heap: Once<hsa::Allocation>,
    printf_bytes: AtomicUsize,
}

/// The buffer and the thread that serves it.
struct Calls {
    shared: Arc<Shared>,
}

struct Shared {
    buffer: Buffer,
    doorbell: hsa::Signal,
    services: Mutex<Services>,
    faults: Arc<Faults>,
}

impl Shared {
    fn services(&self) -> MutexGuard<'_, Services> {
        self.services.lock()
    }

    /// Answers everything that waits.
    fn serve(&self) {
        let epoch = self.faults.epoch();
        // Held to the end, so that a reset of the buffer does not come between.
        let mut services = self.services();
        let packets: Vec<_> =
            self.buffer.take_ready().into_iter().map(|index| self.buffer.packet(index)).collect();
        for packet in &packets {
            if let Err(error) = services.serve(packet) {
                tracing::error!("a kernel's request was refused: {error}");
                self.faults.record(Error::LaunchFailure(format!("a kernel's request: {error}")), epoch);
            }
        }
        // Output is complete before the waves that wrote it, and with them the kernel, can end.
        services.flush();
        packets.iter().for_each(|packet| packet.finish());
    }

    /// Serves for as long as the process lives.
    fn listen(&self) {
        let mut seen = 0;
        loop {
            seen = self.doorbell.wait(hsa::Condition::NotEqual, seen, None, hsa::WaitState::Blocked);
            // What kernels call must not wait for kernels.
            callback::inside(|| self.serve());
        }
    }
}

impl Hostcall {
    pub(crate) fn new(device_bytes: u64) -> Self {
        Self {
            limit: Arc::new(HeapLimit::new(HEAP_LIMIT.min(device_bytes / 2))),
            calls: Once::default(),
            heap: Once::default(),
            printf_bytes: AtomicUsize::new(fifo::DEFAULT_BYTES),
        }
    }

    /// What kernels may have allocated at most.
    pub(crate) fn heap_limit(&self) -> &HeapLimit {
        &self.limit
    }

    /// Bytes of the buffers that kernels print to which do not call the host.
    pub(crate) fn printf_bytes(&self) -> usize {
        self.printf_bytes.load(Ordering::Relaxed)
    }

    /// Sets [`Hostcall::printf_bytes`] for buffers that are made from now on.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a size that is no buffer's.
    pub(crate) fn set_printf_bytes(&self, bytes: usize) -> Result<()> {
        if !fifo::SIZES.contains(&bytes) {
            return Err(Error::InvalidValue("not a size of a printf buffer"));
        }
        self.printf_bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// The address of the hostcall buffer, for kernel arguments.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and what the HSA runtime refuses.
    pub(crate) fn buffer(&self, device: &Device) -> Result<u64> {
        let calls = self.calls.get_or_make(|| Calls::start(device, self.limit.clone()))?;
        Ok(calls.shared.buffer.address())
    }

    /// The address of the device library's heap structure, for kernel arguments.
    ///
    /// # Errors
    /// As [`Hostcall::buffer`].
    pub(crate) fn heap(&self, device: &Device) -> Result<u64> {
        let heap = self.heap.get_or_make(|| {
            device.refuse_if_lost()?;
            let out_of_memory = |_| Error::OutOfMemory { bytes: HEAP_BYTES };
            let memory = device.0.local.allocate(HEAP_BYTES).map_err(out_of_memory)?;
            let memory = memory.held_by(memory_report::HOSTCALLS);
            // SAFETY: fresh memory of that many bytes.
            unsafe { device.0.system.runtime().fill(memory.address(), 0, HEAP_BYTES / 4) }?;
            Ok(memory)
        });
        heap.map(hsa::Allocation::address)
    }

    /// Takes back the packets of waves that a fault has ended. No kernel runs.
    pub(crate) fn reset(&self) {
        // A host function that a kernel calls runs in the middle of that kernel's request.
        if !callback::is_inside()
            && let Some(calls) = self.calls.get()
        {
            let mut services = calls.shared.services();
            services.forget();
            calls.shared.buffer.reset();
        }
    }
}

impl Device {
    /// Bytes that kernels may have allocated at once.
    pub fn heap_limit(&self) -> u64 {
        self.context().hostcall.heap_limit().get()
    }

    /// Sets how many bytes kernels may have allocated at once; what they have, they keep.
    pub fn set_heap_limit(&self, bytes: u64) {
        self.context().hostcall.heap_limit().set(bytes);
    }

    /// Bytes of the buffer that the kernels of a stream, or of a graph, print to which do not call the host.
    pub fn printf_bytes(&self) -> usize {
        self.context().hostcall.printf_bytes()
    }

    /// Sets the size of such buffers, for streams and graphs that have none yet.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for less than a message and more than 32 bits can count.
    pub fn set_printf_bytes(&self, bytes: usize) -> Result<()> {
        self.context().hostcall.set_printf_bytes(bytes)
    }
}

impl Calls {
    fn start(device: &Device, limit: Arc<HeapLimit>) -> Result<Self> {
        device.require_host_atomics("calls of kernels to the host over a link without atomic operations")?;
        let system = device.0.system;
        let properties = device.properties();
        let waves =
            properties.max_threads_per_unit / properties.wavefront.max(1) * properties.multiprocessors;
        let packets = waves.clamp(PACKETS[0], PACKETS[1]).next_power_of_two();
        let bytes = Buffer::bytes(packets);
        let memory = device.0.host.allocate(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        let memory = memory.held_by(memory_report::HOSTCALLS);
        memory.allow_access(std::slice::from_ref(&device.0.agent))?;
        let doorbell = hsa::Signal::create(system.runtime(), 0, &[], hsa::Waiters::HostAndDevice)?;
        let doorbell = doorbell.held_by(memory_report::HOSTCALLS);
        let base = NonNull::new(memory.as_ptr()).ok_or(Error::OutOfMemory { bytes })?;
        // SAFETY: pools give pages; the memory has that many bytes, is not in use, and moves into the buffer.
        let buffer = unsafe { Buffer::new(base, packets, doorbell.handle().handle, Box::new(memory)) };
        let memory = DeviceMemory::new(device.0.local.clone(), limit);
        let services = Services::new(Box::<Standard>::default(), Box::new(memory));
        let faults = device.0.faults.clone();
        let shared = Arc::new(Shared { buffer, doorbell, services: Mutex::new(services), faults });
        let its = shared.clone();
        thread::start("aqlipse-calls", move || its.listen())?;
        Ok(Self { shared })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stream, StreamKind};

    #[test]
    fn packets_of_lost_waves_come_back_before_the_next_waves_run() {
        let device = Device::get(0).unwrap();
        let hostcall = &device.context().hostcall;
        hostcall.buffer(&device).unwrap();
        let buffer = &hostcall.calls.get().unwrap().shared.buffer;
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        stream.synchronize().unwrap();
        let first = buffer.pop();
        assert_ne!(buffer.pop(), first);
        let faults = &device.0.faults;
        faults.record(Error::LaunchFailure("on purpose".into()), faults.epoch());
        // Whatever needs a queue first, before a call has reported the fault.
        device.drain().unwrap();
        assert!(device.0.faults.is_pending());
        assert_eq!(buffer.pop(), first);
        // A wave has it now: the report takes nothing away.
        assert!(stream.synchronize().is_err());
        assert_ne!(buffer.pop(), first);
    }
}
