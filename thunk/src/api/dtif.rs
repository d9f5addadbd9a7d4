//! What ROCr takes from `libdtif.so` besides the thunk's functions: an introduction, doorbells that are calls, and
//! the part of libdrm that it uses.

use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};

use crate::{
    abi::{
        HSAKMT_STATUS_INVALID_PARAMETER, Out,
        newer::{self, DeviceHandle, amdgpu_gpu_info},
    },
    entry::{caught, entry},
    queue, session,
    topology::{device_of, node_of},
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
        session::current()?;
        node.write(node_of(0))
    }

    /// Gives libdrm's handle of a device: its node, which is never dereferenced.
    fn hsaKmtGetAMDGPUDeviceHandle(node: u32, handle: Out<DeviceHandle>) {
        let session = session::current()?;
        session.topology.device(node)?.ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        handle.write(node as usize as DeviceHandle)
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
        if session::current().is_err() || device.is_null() {
            return -libc::EINVAL;
        }
        major.write_if_wanted(GRAPHICS_DRIVER.0);
        minor.write_if_wanted(GRAPHICS_DRIVER.1);
        // Only one device can be meant where the descriptor cannot tell them apart.
        device.write_if_wanted(node_of(0) as usize as DeviceHandle);
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
        // A null handle can only be the one device that `amdgpu_device_initialize` opens.
        let node = u32::try_from(device as usize).unwrap_or(u32::MAX);
        let index = device_of(node).unwrap_or(0) as usize;
        let Some(figures) = session.topology.devices().get(index) else { return -libc::EINVAL };
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

/// Exports functions of libdrm that answer `-ENOSYS`: ROCr's virtual memory functions need them and say so.
macro_rules! missing {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),*);)*) => { $(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub extern "C" fn $name($(_: $ty),*) -> c_int {
            -libc::ENOSYS
        }
    )* };
}

missing! {
    /// Maps a buffer to the host.
    fn amdgpu_bo_cpu_map(buffer: *mut c_void, address: *mut *mut c_void);
    /// Unmaps a buffer from the host.
    fn amdgpu_bo_cpu_unmap(buffer: *mut c_void);
    /// Frees a buffer.
    fn amdgpu_bo_free(buffer: *mut c_void);
    /// Makes a handle of a buffer.
    fn amdgpu_bo_export(buffer: *mut c_void, kind: u32, handle: *mut u32);
    /// Opens a handle of a buffer.
    fn amdgpu_bo_import(device: DeviceHandle, kind: u32, handle: u32, result: *mut c_void);
    /// Maps a buffer to a device.
    fn amdgpu_bo_va_op(buffer: *mut c_void, offset: u64, size: u64, address: u64, flags: u64, operation: u32);
    /// Sends a command to the graphics driver.
    fn drmCommandWriteRead(descriptor: c_int, command: c_ulong, data: *mut c_void, size: c_ulong);
}
