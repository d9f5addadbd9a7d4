use std::{
    ffi::{CStr, CString, c_char, c_uint},
    fs, ptr,
};

use capi::{
    error::{hipError_t, hipErrorFileNotFound, hipErrorInvalidImage, hipErrorInvalidValue, hipSuccess},
    types::*,
};

use super::*;
use crate::program::{self, doubles, image, managed_image};

type Options = *mut c_void;

unsafe extern "C" {
    fn hipModuleLoadDataEx(
        module: *mut hipModule_t,
        image: *const c_void,
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
    ) -> hipError_t;
    fn hipModuleLoad(module: *mut hipModule_t, path: *const c_char) -> hipError_t;
    fn hipLibraryLoadData(
        library: *mut hipLibrary_t,
        image: *const c_void,
        compiler_options: Options,
        compiler_values: *mut *mut c_void,
        compiler_count: c_uint,
        options: Options,
        values: *mut *mut c_void,
        count: c_uint,
    ) -> hipError_t;
    fn hipLibraryLoadFromFile(
        library: *mut hipLibrary_t,
        path: *const c_char,
        compiler_options: Options,
        compiler_values: *mut *mut c_void,
        compiler_count: c_uint,
        options: Options,
        values: *mut *mut c_void,
        count: c_uint,
    ) -> hipError_t;
    fn hipLibraryUnload(library: hipLibrary_t) -> hipError_t;
    fn hipLibraryGetKernel(
        kernel: *mut hipKernel_t,
        library: hipLibrary_t,
        name: *const c_char,
    ) -> hipError_t;
    fn hipLibraryGetKernelCount(count: *mut c_uint, library: hipLibrary_t) -> hipError_t;
    fn hipLibraryEnumerateKernels(
        kernels: *mut hipKernel_t,
        room: c_uint,
        library: hipLibrary_t,
    ) -> hipError_t;
    fn hipLibraryGetGlobal(
        address: *mut *mut c_void,
        bytes: *mut usize,
        library: hipLibrary_t,
        name: *const c_char,
    ) -> hipError_t;
    fn hipLibraryGetManaged(
        address: *mut *mut c_void,
        bytes: *mut usize,
        library: hipLibrary_t,
        name: *const c_char,
    ) -> hipError_t;
    fn hipKernelGetAttribute(
        value: *mut c_int,
        attribute: hipFunction_attribute,
        kernel: hipKernel_t,
        device: hipDevice_t,
    ) -> hipError_t;
    fn hipKernelSetAttribute(
        attribute: hipFunction_attribute,
        value: c_int,
        kernel: hipKernel_t,
        device: hipDevice_t,
    ) -> hipError_t;
    fn hipKernelGetFunction(function: *mut hipFunction_t, kernel: hipKernel_t) -> hipError_t;
    fn hipKernelGetLibrary(library: *mut hipLibrary_t, kernel: hipKernel_t) -> hipError_t;
    fn hipKernelGetName(name: *mut *const c_char, kernel: hipKernel_t) -> hipError_t;
    fn hipKernelGetParamInfo(
        kernel: hipKernel_t,
        index: usize,
        offset: *mut usize,
        bytes: *mut usize,
    ) -> hipError_t;
    fn hipFuncGetAttributes(out: *mut hipFuncAttributes, function: *const c_void) -> hipError_t;
    fn hipModuleLoadFatBinary(module: *mut hipModule_t, fat_binary: *const c_void) -> hipError_t;
    fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const c_char,
    ) -> hipError_t;
    fn hipModuleGetFunctionCount(count: *mut c_uint, module: hipModule_t) -> hipError_t;
    fn hipModuleGetGlobal(
        address: *mut hipDeviceptr_t,
        bytes: *mut usize,
        module: hipModule_t,
        name: *const c_char,
    ) -> hipError_t;
    fn hipModuleLaunchKernel(
        function: hipFunction_t,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: hipStream_t,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> hipError_t;
    fn hipDeviceSynchronize() -> hipError_t;
    fn hipGetFuncBySymbol(function: *mut hipFunction_t, symbol: *const c_void) -> hipError_t;
    fn __hipRegisterManagedVar(
        handle: *mut *mut c_void,
        pointer: *mut *mut c_void,
        initial: *mut c_void,
        name: *const c_char,
        bytes: usize,
        alignment: c_uint,
    );
    fn __hipUnregisterFatBinary(handle: *mut *mut c_void);
}

const NULL: *mut c_void = ptr::null_mut();

fn load(image: &[u8]) -> hipLibrary_t {
    let mut library = hipLibrary_t::NULL;
    let none = ptr::null_mut();
    ok!(hipLibraryLoadData(&mut library, image.as_ptr().cast(), NULL, none, 0, NULL, none, 0));
    library
}

fn kernel_of(library: hipLibrary_t, name: &CStr) -> hipKernel_t {
    let mut kernel = hipKernel_t::NULL;
    ok!(hipLibraryGetKernel(&mut kernel, library, name.as_ptr()));
    kernel
}

/// Launches one block of four threads with an integer as the only argument.
fn launch(function: hipFunction_t, mut value: i32) {
    let mut arguments = [(&raw mut value).cast::<c_void>()];
    let stream = hipStream_t::NULL;
    ok!(
        hipModuleLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, stream, arguments.as_mut_ptr(), ptr::null_mut()),
        hipDeviceSynchronize(),
    );
}

// proves: hipLibraryLoadData, hipLibraryLoadFromFile, hipLibraryUnload
#[test]
fn a_library_comes_from_memory_or_a_file_and_goes_once() {
    let (mut library, none) = (hipLibrary_t::NULL, ptr::null_mut());
    let path = std::env::temp_dir().join(format!("aqlipse-library-{}.co", std::process::id()));
    fs::write(&path, image()).unwrap();
    let name = CString::new(path.to_str().unwrap()).unwrap();
    ok!(hipLibraryLoadFromFile(&mut library, name.as_ptr(), NULL, none, 0, NULL, none, 0));
    fs::remove_file(&path).unwrap();
    // It was read: the file may be gone.
    kernel_of(library, c"kernelA");
    ok!(hipLibraryUnload(library));
    fails!(hipErrorInvalidValue, hipLibraryUnload(library));
    fails!(hipErrorInvalidValue, hipLibraryUnload(hipLibrary_t::NULL));
    fails!(hipErrorInvalidValue, hipLibraryUnload(hipLibrary_t(0x5eed)));

    let absent = name.as_ptr();
    fails!(hipErrorFileNotFound, hipLibraryLoadFromFile(&mut library, absent, NULL, none, 0, NULL, none, 0));
    fails!(
        hipErrorInvalidValue,
        hipLibraryLoadFromFile(&mut library, ptr::null(), NULL, none, 0, NULL, none, 0)
    );
    let data = image().as_ptr().cast();
    fails!(hipErrorInvalidValue, hipLibraryLoadData(ptr::null_mut(), data, NULL, none, 0, NULL, none, 0));
    fails!(hipErrorInvalidValue, hipLibraryLoadData(&mut library, ptr::null(), NULL, none, 0, NULL, none, 0));
    let garbage = [7u8; 64];
    let garbage = garbage.as_ptr().cast();
    fails!(hipErrorInvalidImage, hipLibraryLoadData(&mut library, garbage, NULL, none, 0, NULL, none, 0));
}

// proves: hipModuleLoad, hipLibraryLoadFromFile
#[test]
fn a_file_may_shrink_once_it_is_loaded() {
    let (mut library, mut module, none) = (hipLibrary_t::NULL, hipModule_t::NULL, ptr::null_mut());
    let path = std::env::temp_dir().join(format!("aqlipse-shrinks-{}.co", std::process::id()));
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let mut load = |name: &CStr| {
        let from_file = hipLibraryLoadFromFile;
        // SAFETY: room for handles, and strings that end.
        unsafe {
            let status = hipModuleLoad(&mut module, name.as_ptr());
            assert_eq!(from_file(&mut library, name.as_ptr(), NULL, none, 0, NULL, none, 0), status);
            status
        }
    };
    fs::write(&path, image()).unwrap();
    assert_eq!(load(&name), hipSuccess);
    for left in [100, 0] {
        fs::File::options().write(true).open(&path).unwrap().set_len(left).unwrap();
        let expected = if left == 0 { hipErrorInvalidValue } else { hipErrorInvalidImage };
        assert_eq!(load(&name), expected, "{left} bytes");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(load(&name), hipErrorFileNotFound);
    assert_eq!(load(c"/"), hipErrorFileNotFound, "a directory");
    assert_eq!(load(c"/dev/null"), hipErrorInvalidValue);
    kernel_of(library, c"kernelA");
    ok!(hipModuleUnload(module), hipLibraryUnload(library));
}

// proves: hipLibraryGetKernel, hipLibraryGetKernelCount, hipLibraryEnumerateKernels, hipKernelGetLibrary
// proves: hipKernelGetName
#[test]
fn a_library_tells_its_kernels_and_they_their_library() {
    let (library, mut count) = (load(image()), 0);
    ok!(hipLibraryGetKernelCount(&mut count, library));
    let mut kernels = vec![hipKernel_t::NULL; count as usize + 1];
    ok!(hipLibraryEnumerateKernels(kernels.as_mut_ptr(), count + 1, library));
    assert_eq!(kernels.pop(), Some(hipKernel_t::NULL), "there are no more than so many");
    let mut names = Vec::new();
    for &kernel in &kernels {
        let (mut owner, mut name) = (hipLibrary_t::NULL, ptr::null());
        ok!(hipKernelGetLibrary(&mut owner, kernel), hipKernelGetName(&mut name, kernel));
        assert_eq!(owner, library);
        // SAFETY: a text that stays for good.
        let name = unsafe { CStr::from_ptr(name) };
        assert_eq!(kernel_of(library, name), kernel, "one handle for each kernel");
        names.push(name);
    }
    assert!(names.contains(&c"kernelA") && names.contains(&c"kernelB"));
    let mut one = [hipKernel_t::NULL; 2];
    ok!(hipLibraryEnumerateKernels(one.as_mut_ptr(), 1, library));
    assert_eq!(one, [kernels[0], hipKernel_t::NULL]);

    // The same image again is another library.
    let twin = load(image());
    assert_ne!(kernel_of(twin, c"kernelA"), kernel_of(library, c"kernelA"));
    ok!(hipLibraryUnload(library));
    let (mut owner, mut name, mut found) = (hipLibrary_t::NULL, ptr::null(), hipKernel_t::NULL);
    fails!(hipErrorInvalidValue, hipKernelGetLibrary(&mut owner, kernels[0]));
    fails!(hipErrorInvalidValue, hipKernelGetName(&mut name, kernels[0]));
    fails!(hipErrorInvalidValue, hipLibraryGetKernel(&mut found, library, c"kernelA".as_ptr()));
    fails!(hipErrorInvalidValue, hipLibraryGetKernelCount(&mut count, library));
    fails!(hipErrorInvalidValue, hipLibraryEnumerateKernels(one.as_mut_ptr(), 1, library));
    fails!(hipErrorInvalidValue, hipLibraryGetKernel(ptr::null_mut(), twin, c"kernelA".as_ptr()));
    fails!(hipErrorInvalidValue, hipLibraryGetKernel(&mut found, twin, ptr::null()));
    fails!(hipErrorNotFound, hipLibraryGetKernel(&mut found, twin, c"no such kernel".as_ptr()));
    fails!(hipErrorInvalidValue, hipLibraryGetKernelCount(ptr::null_mut(), twin));
    fails!(hipErrorInvalidValue, hipLibraryEnumerateKernels(ptr::null_mut(), 1, twin));
    fails!(hipErrorInvalidValue, hipKernelGetName(ptr::null_mut(), kernel_of(twin, c"kernelA")));
    ok!(hipLibraryUnload(twin));
}

// proves: hipKernelGetFunction, hipKernelGetParamInfo
#[test]
fn a_librarys_kernel_is_launched_as_a_function() {
    let library = load(managed_image());
    let store = kernel_of(library, c"store");
    let (mut function, target) = (hipFunction_t::NULL, Memory::of(&[0i32]));
    ok!(hipKernelGetFunction(&mut function, store));
    let (mut address, mut what, mut more) = (target.pointer(), 40i8, 2i16);
    let mut arguments: [*mut c_void; 3] =
        [(&raw mut address).cast(), (&raw mut what).cast(), (&raw mut more).cast()];
    let stream = hipStream_t::NULL;
    ok!(hipModuleLaunchKernel(
        function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        stream,
        arguments.as_mut_ptr(),
        ptr::null_mut()
    ));
    assert_eq!(target.read(), [42]);

    let (mut offset, mut bytes) = (0, 0);
    for (index, expected) in [(0, (0, 8)), (1, (8, 1)), (2, (10, 2))] {
        ok!(hipKernelGetParamInfo(store, index, &mut offset, &mut bytes));
        assert_eq!((offset, bytes), expected, "argument {index}");
    }
    ok!(hipKernelGetParamInfo(store, 1, &mut offset, ptr::null_mut()));
    assert_eq!(offset, 8);
    fails!(hipErrorInvalidValue, hipKernelGetParamInfo(store, 3, &mut offset, &mut bytes));
    fails!(hipErrorInvalidValue, hipKernelGetParamInfo(store, 0, ptr::null_mut(), &mut bytes));
    fails!(hipErrorInvalidValue, hipKernelGetParamInfo(hipKernel_t::NULL, 0, &mut offset, &mut bytes));
    fails!(hipErrorInvalidValue, hipKernelGetFunction(ptr::null_mut(), store));
    fails!(hipErrorInvalidValue, hipKernelGetFunction(&mut function, hipKernel_t(0x5eed)));
    ok!(hipLibraryUnload(library));
    fails!(hipErrorInvalidValue, hipKernelGetFunction(&mut function, store));
}

// proves: hipKernelGetAttribute, hipKernelSetAttribute
#[test]
fn a_librarys_kernel_has_the_attributes_of_the_same_host_function() {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut all: hipFuncAttributes = unsafe { std::mem::zeroed() };
    ok!(hipFuncGetAttributes(&mut all, doubles()));
    let (library, mut value) = (load(image()), 0);
    let kernel = kernel_of(library, c"kernelA");
    for (attribute, expected) in [
        (HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, all.maxThreadsPerBlock),
        (HIP_FUNC_ATTRIBUTE_NUM_REGS, all.numRegs),
        (HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, all.sharedSizeBytes as c_int),
        (HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, all.maxDynamicSharedSizeBytes),
    ] {
        ok!(hipKernelGetAttribute(&mut value, attribute, kernel, 0));
        assert_eq!(value, expected);
    }
    let size = HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    ok!(hipKernelSetAttribute(size, 1024, kernel, 0));
    fails!(hipErrorInvalidValue, hipKernelSetAttribute(size, 1 << 20, kernel, 0));
    fails!(hipErrorInvalidValue, hipKernelSetAttribute(HIP_FUNC_ATTRIBUTE_NUM_REGS, 8, kernel, 0));
    fails!(hipErrorInvalidDevice, hipKernelSetAttribute(size, 1024, kernel, 99));
    fails!(hipErrorInvalidHandle, hipKernelSetAttribute(size, 1024, hipKernel_t::NULL, 0));
    fails!(hipErrorInvalidDevice, hipKernelGetAttribute(&mut value, size, kernel, -1));
    fails!(hipErrorInvalidHandle, hipKernelGetAttribute(&mut value, size, hipKernel_t(0x5eed), 0));
    fails!(hipErrorInvalidValue, hipKernelGetAttribute(ptr::null_mut(), size, kernel, 0));
    fails!(hipErrorInvalidValue, hipKernelGetAttribute(&mut value, hipFunction_attribute(99), kernel, 0));
    ok!(hipLibraryUnload(library));
}

// proves: hipLibraryGetGlobal, hipLibraryGetManaged
#[test]
fn a_managed_variable_is_one_place_for_host_and_device() {
    let library = load(managed_image());
    let (mut address, mut bytes) = (NULL, 0);
    ok!(hipLibraryGetManaged(&mut address, &mut bytes, library, c"shared".as_ptr()));
    assert_eq!(bytes, 16);
    let shared = address.cast::<[i32; 4]>();
    // SAFETY: managed memory, which the host reaches; nothing runs.
    assert_eq!(unsafe { shared.read() }, [5, 6, 7, 8], "the initial value");
    // SAFETY: as above.
    unsafe { shared.write([10, 20, 30, 40]) };
    let (mut function, mut again) = (hipFunction_t::NULL, NULL);
    ok!(hipKernelGetFunction(&mut function, kernel_of(library, c"advance")));
    launch(function, 1);
    // SAFETY: as above, behind a synchronisation.
    assert_eq!(unsafe { shared.read() }, [11, 21, 31, 41], "what the kernel saw and wrote");
    ok!(hipLibraryGetGlobal(&mut again, ptr::null_mut(), library, c"shared".as_ptr()));
    assert_eq!(again, address, "by its other name");

    // The memory is the library's.
    fails!(hipErrorInvalidValue, hipFree(address));

    let initial = c"shared.managed".as_ptr();
    ok!(hipLibraryGetGlobal(&mut again, &mut bytes, library, initial));
    assert_ne!(again, address, "an ordinary variable");
    fails!(hipErrorNotFound, hipLibraryGetManaged(&mut again, &mut bytes, library, initial));
    fails!(hipErrorNotFound, hipLibraryGetGlobal(&mut again, &mut bytes, library, c"nothing".as_ptr()));
    let none = ptr::null_mut();
    fails!(hipErrorInvalidValue, hipLibraryGetGlobal(none, ptr::null_mut(), library, initial));
    fails!(hipErrorInvalidValue, hipLibraryGetManaged(none, ptr::null_mut(), library, initial));
    fails!(hipErrorInvalidValue, hipLibraryGetGlobal(&mut again, &mut bytes, library, ptr::null()));
    ok!(hipLibraryUnload(library));
    let name = c"shared".as_ptr();
    fails!(hipErrorInvalidResourceHandle, hipLibraryGetGlobal(&mut again, &mut bytes, library, name));
    fails!(hipErrorInvalidResourceHandle, hipLibraryGetManaged(&mut again, &mut bytes, library, name));
}

// proves: hipModuleGetFunctionCount, hipModuleLoadFatBinary
#[test]
fn a_module_counts_its_kernels_and_comes_from_a_fat_binary_too() {
    #[repr(C)]
    struct Wrapper(u32, u32, *const u8, *const c_void);
    let (mut module, mut wrapped, mut count) = (hipModule_t::NULL, hipModule_t::NULL, 0);
    ok!(hipModuleLoadFatBinary(&mut module, managed_image().as_ptr().cast()));
    let wrapper = Wrapper(0x4849_5046, 1, managed_image().as_ptr(), ptr::null());
    ok!(hipModuleLoadFatBinary(&mut wrapped, (&raw const wrapper).cast()));
    for module in [module, wrapped] {
        ok!(hipModuleGetFunctionCount(&mut count, module));
        assert_eq!(count, 2);
    }
    // Two loads, two variables: each module has its own.
    let (mut first, mut second, mut bytes) = (NULL, NULL, 0);
    ok!(
        hipModuleGetGlobal(&mut first, &mut bytes, module, c"shared".as_ptr()),
        hipModuleGetGlobal(&mut second, &mut bytes, wrapped, c"shared".as_ptr()),
    );
    assert_ne!(first, second);
    let mut function = hipFunction_t::NULL;
    ok!(hipModuleGetFunction(&mut function, wrapped, c"advance".as_ptr()));
    launch(function, 100);
    // SAFETY: managed memory, which the host reaches; nothing runs.
    let values = unsafe { (first.cast::<[i32; 4]>().read(), second.cast::<[i32; 4]>().read()) };
    assert_eq!(values, ([5, 6, 7, 8], [105, 106, 107, 108]));

    fails!(hipErrorInvalidValue, hipModuleGetFunctionCount(ptr::null_mut(), module));
    ok!(hipModuleUnload(module), hipModuleUnload(wrapped));
    fails!(hipErrorInvalidResourceHandle, hipModuleGetFunctionCount(&mut count, module));
    fails!(hipErrorInvalidValue, hipModuleLoadFatBinary(&mut module, ptr::null()));
    fails!(hipErrorInvalidValue, hipModuleLoadFatBinary(ptr::null_mut(), image().as_ptr().cast()));
    let garbage = [7u32; 16];
    fails!(hipErrorInvalidImage, hipModuleLoadFatBinary(&mut module, garbage.as_ptr().cast()));
}

/// A byte whose address stands for the kernel that changes the managed variable.
static ADVANCES: u8 = 0;

// proves: __hipRegisterManagedVar
#[test]
fn a_registered_managed_variable_is_the_hosts_before_anything_is_loaded() {
    let handle = program::register_image(managed_image());
    program::register_kernel(handle, &ADVANCES, c"advance");
    let (mut pointer, mut initial) = (NULL, [1i32, 2, 3, 4]);
    let name = c"shared".as_ptr();
    // SAFETY: a living handle, a pointer, an initial value of as many bytes, a constant name.
    unsafe { __hipRegisterManagedVar(handle, &mut pointer, initial.as_mut_ptr().cast(), name, 16, 4) };
    initial.fill(0);
    let shared = pointer.cast::<[i32; 4]>();
    // SAFETY: managed memory, which the host reaches; nothing runs.
    unsafe {
        assert_eq!(shared.read(), [1, 2, 3, 4], "the host's initial value, and a copy of it");
        (*shared)[3] = 40;
    }
    let mut function = hipFunction_t::NULL;
    ok!(hipGetFuncBySymbol(&mut function, (&raw const ADVANCES).cast()));
    launch(function, 5);
    // SAFETY: as above, behind a synchronisation.
    assert_eq!(unsafe { shared.read() }, [6, 7, 8, 45]);

    // What cannot be registered is left alone.
    let mut untouched = NULL;
    let first = (&raw mut initial).cast();
    // SAFETY: a handle that is none, and null.
    unsafe {
        __hipRegisterManagedVar(ptr::null_mut(), &mut untouched, first, name, 16, 4);
        __hipRegisterManagedVar(handle, &mut untouched, NULL, name, 16, 4);
        __hipRegisterManagedVar(handle, ptr::null_mut(), first, name, 16, 4);
        __hipRegisterManagedVar(handle, &mut untouched, first, ptr::null(), 16, 4);
        __hipUnregisterFatBinary(handle);
    }
    assert_eq!(untouched, NULL);
}

// proves: hipModuleLoadDataEx
#[test]
fn a_loader_answers_in_the_logs_that_it_is_given() {
    let mut module = hipModule_t::NULL;
    let mut options = [
        hipJitOptionErrorLogBufferSizeBytes,
        hipJitOptionMaxRegisters,
        hipJitOptionErrorLogBuffer,
        hipJitOption(4711),
        hipJitOptionInfoLogBuffer,
        hipJitOptionInfoLogBufferSizeBytes,
    ];
    let (mut error, mut info) = ([b'#'; 64], [b'#'; 4]);
    let mut load = |image: &[u8], room: usize| {
        (error, info) = ([b'#'; 64], [b'#'; 4]);
        let mut values = [room, 32, error.as_mut_ptr() as usize, 1, info.as_mut_ptr() as usize, info.len()];
        let (image, values_at) = (image.as_ptr().cast(), values.as_mut_ptr().cast());
        // SAFETY: the logs have the sizes that stand beside them.
        let code = unsafe { hipModuleLoadDataEx(&mut module, image, 6, options.as_mut_ptr(), values_at) };
        (code, error, info, values[0], values[5])
    };
    let (code, error, info, length, told) = load(image(), 64);
    assert_eq!((code, error[0], error[1], length), (hipSuccess, 0, b'#', 0), "no error");
    assert_eq!((info, told), ([0, b'#', b'#', b'#'], 0), "nothing to tell");
    let (code, error, _, length, _) = load(&[b'x'; 4096], 64);
    let text = std::str::from_utf8(&error[..length]).unwrap();
    assert_eq!((code, error[length]), (hipErrorInvalidImage, 0));
    assert!(text.starts_with("invalid device image: "), "{text}");
    let (_, cut, _, length, _) = load(&[b'x'; 4096], 8);
    assert_eq!((&cut[..9], length), (&b"invalid\0#"[..], 7), "what does not fit is left out");
    let (code, untouched, ..) = load(image(), 0);
    assert_eq!((code, untouched), (hipSuccess, [b'#'; 64]), "a log without room");
    // Options without values, and none.
    let nothing = ptr::null_mut;
    let image = image().as_ptr().cast();
    ok!(hipModuleUnload(module), hipModuleLoadDataEx(&mut module, image, 6, options.as_mut_ptr(), nothing()));
    ok!(hipModuleUnload(module), hipModuleLoadDataEx(&mut module, image, 6, ptr::null_mut(), nothing()));
    ok!(hipModuleUnload(module));
    fails!(hipErrorNotFound, hipModuleUnload(module));
}
