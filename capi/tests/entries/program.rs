//! What clang's constructor would register: the demo's kernels under host functions.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    ptr,
    sync::OnceLock,
};

use capi::{
    error::{hipError_t, hipSuccess},
    types::*,
};

unsafe extern "C" {
    fn hipDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) -> hipError_t;
    fn __hipRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void;
    fn __hipRegisterVar(
        handle: *mut *mut c_void,
        host: *mut c_void,
        host_name: *mut c_char,
        name: *const c_char,
        external: c_int,
        bytes: usize,
        constant: c_int,
        global: c_int,
    );
    fn __hipRegisterFunction(
        handle: *mut *mut c_void,
        host: *const c_void,
        device: *mut c_char,
        name: *const c_char,
        limit: c_uint,
        thread: *mut c_void,
        block_index: *mut c_void,
        block: *mut dim3,
        grid: *mut dim3,
        warp: *mut c_int,
    );
}

#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    image: *const u8,
    unused: *const c_void,
}

/// Threads of each block of the demo's kernels, which take one element each.
pub const BLOCK: u32 = 1024;

/// The code objects with a name.
macro_rules! objects {
    ($name:literal) => {
        [
            include_bytes!(concat!("../../../kernels/", $name, ".gfx90a.co")),
            include_bytes!(concat!("../../../kernels/", $name, ".gfx9-4-generic.co")),
            include_bytes!(concat!("../../../kernels/", $name, ".gfx10-3-generic.co")),
            include_bytes!(concat!("../../../kernels/", $name, ".gfx11-generic.co")),
            include_bytes!(concat!("../../../kernels/", $name, ".gfx12-generic.co")),
        ]
    };
}

/// The code object itself.
pub fn image() -> &'static [u8] {
    of_the_device(objects!("demo"))
}

/// A code object with a variable of four integers, 1 to 4 when it is loaded.
pub fn variable_image() -> &'static [u8] {
    of_the_device(objects!("variable"))
}

/// A code object with a managed variable of four integers, 5 to 8 when it is loaded, and two kernels.
pub fn managed_image() -> &'static [u8] {
    of_the_device(objects!("managed"))
}

/// A code object with kernels that print: to a buffer, and by calls of the host.
pub fn printing_image() -> &'static [u8] {
    of_the_device(objects!("printing"))
}

/// A code object with kernels that say where they run, and how many dies the device has: of GFX9.
pub fn units_image() -> (&'static [u8], u32) {
    let gfx90a: &[u8] = include_bytes!("../../../kernels/units.gfx90a.co");
    let image =
        of_the_device([gfx90a, include_bytes!("../../../kernels/units.gfx9-4-generic.co"), &[], &[], &[]]);
    (image, if std::ptr::eq(image, gfx90a) { 1 } else { 8 })
}

/// The code object for the first device of those for gfx90a and for the generic targets: `AQLIPSE_EMULATE` may ask for another
/// than gfx90a.
fn of_the_device([gfx90a, gfx9_4, gfx10_3, gfx11, gfx12]: [&'static [u8]; 5]) -> &'static [u8] {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: two integers that the function may write.
    let status = unsafe { hipDeviceComputeCapability(&mut major, &mut minor, 0) };
    assert_eq!(status, hipSuccess);
    match major {
        9 if minor >= 4 => gfx9_4,
        9 => gfx90a,
        10 => gfx10_3,
        11 => gfx11,
        _ => gfx12,
    }
}

/// A byte whose address stands for the variable.
static COUNTERS: u8 = 0;

/// The host shadow of the variable.
pub fn counters() -> *mut c_void {
    static DONE: OnceLock<()> = OnceLock::new();
    let host = (&raw const COUNTERS).cast_mut().cast();
    DONE.get_or_init(|| {
        let handle = register_image(variable_image());
        // SAFETY: the handle is alive and the name a constant; nothing else is looked at.
        unsafe { __hipRegisterVar(handle, host, ptr::null_mut(), c"counters".as_ptr(), 0, 16, 0, 0) };
    });
    host
}

/// Registers an image as clang's constructor does.
pub fn register_image(image: &'static [u8]) -> *mut *mut c_void {
    let wrapper = Wrapper { magic: 0x4849_5046, version: 1, image: image.as_ptr(), unused: ptr::null() };
    let wrapper = crate::forever(wrapper);
    // SAFETY: a wrapper as compilers write it, around an image that stays.
    unsafe { __hipRegisterFatBinary(ptr::from_mut(wrapper).cast_const().cast()) }
}

/// A byte whose address stands for the kernel that doubles doubles.
static DOUBLES: u8 = 0;
/// A byte whose address stands for the kernel that writes threes.
static THREES: u8 = 0;

/// Registers a kernel of an image under a host function.
pub fn register_kernel(handle: *mut *mut c_void, host: &'static u8, name: &'static CStr) {
    let null = ptr::null_mut::<c_void>();
    // SAFETY: the handle is alive and the name a constant; nothing else is looked at.
    unsafe {
        __hipRegisterFunction(
            handle,
            ptr::from_ref(host).cast(),
            null.cast(),
            name.as_ptr(),
            0,
            null,
            null,
            null.cast(),
            null.cast(),
            null.cast(),
        );
    }
}

fn register() {
    static DONE: OnceLock<usize> = OnceLock::new();
    DONE.get_or_init(|| {
        let handle = register_image(image());
        let add = |host, name| register_kernel(handle, host, name);
        add(&DOUBLES, c"kernelA");
        add(&THREES, c"kernelB");
        handle as usize
    });
}

/// The host function of the kernel that doubles doubles.
pub fn doubles() -> *const c_void {
    register();
    (&raw const DOUBLES).cast()
}

/// The host function of the kernel that writes threes into integers.
pub fn threes() -> *const c_void {
    register();
    (&raw const THREES).cast()
}

/// A grid or block of one dimension.
pub fn line(x: u32) -> dim3 {
    dim3 { x, y: 1, z: 1 }
}
