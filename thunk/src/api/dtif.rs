//! What ROCr takes from `libdtif.so` besides the thunk's functions: an introduction, doorbells that are calls, and
//! the part of libdrm that it uses.

use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};

use crate::{
    abi::{
        HSAKMT_STATUS_ERROR, HSAKMT_STATUS_INVALID_HANDLE, HSAKMT_STATUS_INVALID_PARAMETER,
        HSAKMT_STATUS_NO_MEMORY, HSAKMT_STATUS_NOT_SUPPORTED, Out,
        newer::{
            self, BUFFER_HANDLE_DMA_BUF, BUFFER_HANDLE_KMS, BufferHandle, COMMAND_GEM_MMAP, DeviceHandle,
            PAGE_READABLE, PAGE_WRITEABLE, VA_OP_MAP, VA_OP_UNMAP, amdgpu_bo_import_result, amdgpu_gpu_info,
        },
    },
    entry::{Result, caught, entry},
    memory::buffers::Part,
    queue,
    session::{self, Session},
};

/// The version of the kernel's graphics driver that libdrm would find.
const GRAPHICS_DRIVER: (u32, u32) = (3, 57);
/// Cards have MHz and Hz, libdrm kHz.
const KILOHERTZ: u64 = 1000;

entry! {
    /// Whether the thunk itself simulates devices by AMD's models: no.
    fn hsaKmtModelEnabled(enabled: Out<u8>) {
        enabled.write(0)
    }

    /// Rings a queue's doorbell for all that has been claimed.
    fn hsaKmtQueueRingDoorbell(queue: u64) {
        let session = session::current()?;
        session.driver.ring(queue).map_err(|error| queue::status(&error))
    }

    /// Tells the node that stands for the default device.
    fn hsaKmtGetDefaultHostGpu(node: Out<u32>) {
        node.write(session::current()?.topology.nodes().of(0))
    }

    /// Gives libdrm's handle of a device.
    fn hsaKmtGetAMDGPUDeviceHandle(node: u32, handle: Out<DeviceHandle>) {
        let session = session::current()?;
        let (device, _) = session.topology.device(node)?.ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        let address = session.memory.buffers.address_of(device).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        handle.write(std::ptr::with_exposed_provenance_mut(address as usize))
    }
}

/// ROCr introduces itself, and wants something that is not null.
///
/// # Safety
/// `who` is null or a C string.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn DtifCreate(who: *const c_char) -> *mut c_void {
    caught("DtifCreate", std::ptr::null_mut(), move || {
        newer::speak();
        // SAFETY: the caller's string, if it is one.
        let who = if who.is_null() { c"nobody" } else { unsafe { CStr::from_ptr(who) } };
        tracing::info!("taken as libdtif.so by {}", who.to_string_lossy());
        // It is never dereferenced.
        std::ptr::without_provenance_mut(1)
    })
}

/// ROCr takes its leave; devices go with `hsaKmtCloseKFD`.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn DtifDestroy() {}

/// Opens a device by a file descriptor of its render node: there is no file behind emulated devices.
///
/// # Safety
/// Pointers must be null or point to room for the results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdgpu_device_initialize(
    _descriptor: c_int,
    major: Out<u32>,
    minor: Out<u32>,
    device: Out<DeviceHandle>,
) -> c_int {
    caught("amdgpu_device_initialize", -libc::EINVAL, move || {
        // Only one device can be meant where the descriptor cannot tell them apart.
        let address = session::current().ok().and_then(|session| session.memory.buffers.address_of(0));
        let Some(address) = address.filter(|_| !device.is_null()) else { return -libc::EINVAL };
        major.write_if_wanted(GRAPHICS_DRIVER.0);
        minor.write_if_wanted(GRAPHICS_DRIVER.1);
        device.write_if_wanted(std::ptr::with_exposed_provenance_mut(address as usize));
        0
    })
}

/// Closes a device.
#[unsafe(no_mangle)]
pub extern "C" fn amdgpu_device_deinitialize(_device: DeviceHandle) -> c_int {
    0
}

/// Tells what a device is; ROCr reads the frequency of its clock here.
///
/// # Safety
/// `information` must be null or point to room for the structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdgpu_query_gpu_info(
    device: DeviceHandle,
    information: Out<amdgpu_gpu_info>,
) -> c_int {
    caught("amdgpu_query_gpu_info", -libc::EINVAL, move || {
        let Ok(session) = session::current() else { return -libc::EINVAL };
        let index = session.memory.buffers.device_at(device.addr() as u64);
        let figures = index.and_then(|index| session.topology.devices().get(index as usize));
        let Some(figures) = figures else { return -libc::EINVAL };
        let card = figures.card;
        let written = information.write(amdgpu_gpu_info {
            asic_id: card.chip_id,
            chip_rev: card.asic_revision,
            chip_external_rev: card.asic_revision,
            family_id: card.family_id,
            ids_flags: 0,
            max_engine_clk: u64::from(card.engine_clock) * KILOHERTZ,
            max_memory_clk: u64::from(card.memory_clock) * KILOHERTZ,
            num_shader_engines: card.shader_engines,
            num_shader_arrays_per_engine: 1,
            unknown: [0; 6],
            // CAST: 100,000 kHz.
            gpu_counter_freq: (card.timestamp_frequency / KILOHERTZ) as u32,
            unknown_too: [0; 62],
            cu_active_number: figures.compute_units,
            unknown_as_well: [0; 18],
            vram_bit_width: card.memory_width,
            unknown_still: [0; 3],
        });
        if written.is_ok() { 0 } else { -libc::EINVAL }
    })
}

/// Runs the body of a function of libdrm's, which returns 0 or a negative number of `errno.h`.
fn libdrm(name: &'static str, body: impl FnOnce(&Session) -> Result) -> c_int {
    let status = match caught(name, Err(HSAKMT_STATUS_ERROR), || body(&*session::current()?)) {
        Ok(()) => 0,
        Err(HSAKMT_STATUS_NO_MEMORY) => -libc::ENOMEM,
        Err(HSAKMT_STATUS_NOT_SUPPORTED) => -libc::ENOSYS,
        Err(_) => -libc::EINVAL,
    };
    tracing::trace!("{name}: {status}");
    status
}

/// Exports functions of libdrm's; a body gets the session and returns [`Result`].
macro_rules! libdrm {
    ($($(#[$meta:meta])* fn $name:ident($session:ident; $($arg:ident: $ty:ty),* $(,)?) $body:block)*) => { $(
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers must be null or point to what `amdgpu.h` documents for this function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            libdrm(stringify!($name), move |$session| $body)
        }
    )* };
}

/// The number of a buffer, which clients have as a pointer that is never dereferenced.
fn number(buffer: BufferHandle) -> Result<u32> {
    u32::try_from(buffer.addr()).map_err(|_| HSAKMT_STATUS_INVALID_HANDLE)
}

libdrm! {
    /// Imports a buffer by a file descriptor.
    fn amdgpu_bo_import(
        session;
        device: DeviceHandle,
        kind: u32,
        descriptor: u32,
        result: Out<amdgpu_bo_import_result>,
    ) {
        let result = result.check()?;
        let device = session.memory.buffers.device_at(device.addr() as u64);
        let device = device.ok_or(HSAKMT_STATUS_INVALID_HANDLE)?;
        if kind != BUFFER_HANDLE_DMA_BUF {
            return Err(HSAKMT_STATUS_NOT_SUPPORTED);
        }
        // CAST: a descriptor, as libdrm's interface passes it.
        let imported = session.memory.import_buffer(device, descriptor as i32)?;
        let buf_handle = std::ptr::without_provenance_mut(imported.id as usize);
        result.write(amdgpu_bo_import_result { buf_handle, alloc_size: imported.size })
    }

    /// Makes a name of a buffer for commands of this process.
    fn amdgpu_bo_export(session; buffer: BufferHandle, kind: u32, handle: Out<u32>) {
        let id = number(buffer)?;
        if !session.memory.buffers.exists(id) {
            return Err(HSAKMT_STATUS_INVALID_HANDLE);
        }
        match kind {
            BUFFER_HANDLE_KMS => handle.write(id),
            _ => Err(HSAKMT_STATUS_NOT_SUPPORTED),
        }
    }

    /// Frees a buffer.
    fn amdgpu_bo_free(session; buffer: BufferHandle) {
        session.memory.free_buffer(number(buffer)?)
    }

    /// Maps a buffer to the host.
    fn amdgpu_bo_cpu_map(session; buffer: BufferHandle, address: Out<u64>) {
        let address = address.check()?;
        address.write(session.memory.map_buffer_to_host(number(buffer)?)?)
    }

    /// Unmaps a buffer from the host.
    fn amdgpu_bo_cpu_unmap(session; buffer: BufferHandle) {
        session.memory.unmap_buffer_from_host(number(buffer)?)
    }

    /// Maps a part of a buffer to its device, or takes it back.
    fn amdgpu_bo_va_op(
        session;
        buffer: BufferHandle,
        offset: u64,
        size: u64,
        address: u64,
        flags: u64,
        operation: u32,
    ) {
        let id = number(buffer)?;
        match operation {
            VA_OP_MAP => {
                // libdrm's own gives every right, whatever the flags; ROCr relies on it where it passes none. A caller that
                // asks to read and not to write gets that here, so that a store shows.
                let writable = flags & (PAGE_READABLE | PAGE_WRITEABLE) != PAGE_READABLE;
                session.memory.map_buffer(id, Part { offset, size, address }, writable)
            }
            VA_OP_UNMAP => session.memory.unmap_buffer(id, address, size),
            _ => Err(HSAKMT_STATUS_NOT_SUPPORTED),
        }
    }

    /// Tells where in the device's file the host finds a buffer; no other command is known.
    fn drmCommandWriteRead(session; descriptor: c_int, command: c_ulong, data: Out<u64>, size: c_ulong) {
        if command != COMMAND_GEM_MMAP || size != size_of::<u64>() as c_ulong {
            return Err(HSAKMT_STATUS_NOT_SUPPORTED);
        }
        // The union holds the buffer's name in its lower half, then the answer. CAST: the lower half.
        let id = data.read()? as u32;
        let place = session.memory.buffers.place_of(id, descriptor);
        data.write(place.ok_or(HSAKMT_STATUS_INVALID_HANDLE)?)
    }
}
