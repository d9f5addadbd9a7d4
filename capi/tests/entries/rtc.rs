//! Programs that are compiled and linked at run time, and run.

use std::{
    env,
    ffi::{CStr, CString, c_char, c_uint},
    path::Path,
    ptr, thread,
};

use capi::{error::hipError_t, types::*};

use super::*;

type Texts = *const *const c_char;

unsafe extern "C" {
    fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> u32;
    fn hiprtcCreateProgram(
        program: *mut hiprtcProgram,
        source: *const c_char,
        name: *const c_char,
        count: c_int,
        headers: Texts,
        names: Texts,
    ) -> u32;
    fn hiprtcDestroyProgram(program: *mut hiprtcProgram) -> u32;
    fn hiprtcAddNameExpression(program: hiprtcProgram, expression: *const c_char) -> u32;
    fn hiprtcGetLoweredName(
        program: hiprtcProgram,
        expression: *const c_char,
        lowered: *mut *const c_char,
    ) -> u32;
    fn hiprtcCompileProgram(program: hiprtcProgram, count: c_int, options: Texts) -> u32;
    fn hiprtcGetCodeSize(program: hiprtcProgram, bytes: *mut usize) -> u32;
    fn hiprtcGetCode(program: hiprtcProgram, out: *mut c_char) -> u32;
    fn hiprtcGetBitcodeSize(program: hiprtcProgram, bytes: *mut usize) -> u32;
    fn hiprtcGetBitcode(program: hiprtcProgram, out: *mut c_char) -> u32;
    fn hiprtcGetProgramLogSize(program: hiprtcProgram, bytes: *mut usize) -> u32;
    fn hiprtcGetProgramLog(program: hiprtcProgram, out: *mut c_char) -> u32;
    fn hiprtcLinkCreate(
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
        linker: *mut hiprtcLinkState,
    ) -> u32;
    fn hiprtcLinkAddFile(
        linker: hiprtcLinkState,
        kind: hipJitInputType,
        path: *const c_char,
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
    ) -> u32;
    fn hiprtcLinkAddData(
        linker: hiprtcLinkState,
        kind: hipJitInputType,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
    ) -> u32;
    fn hiprtcLinkComplete(linker: hiprtcLinkState, code: *mut *mut c_void, size: *mut usize) -> u32;
    fn hiprtcLinkDestroy(linker: hiprtcLinkState) -> u32;
    fn hipLinkCreate(
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
        linker: *mut hipLinkState_t,
    ) -> hipError_t;
    fn hipLinkAddFile(
        linker: hipLinkState_t,
        kind: hipJitInputType,
        path: *const c_char,
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
    ) -> hipError_t;
    fn hipLinkAddData(
        linker: hipLinkState_t,
        kind: hipJitInputType,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
    ) -> hipError_t;
    fn hipLinkComplete(linker: hipLinkState_t, code: *mut *mut c_void, size: *mut usize) -> hipError_t;
    fn hipLinkDestroy(linker: hipLinkState_t) -> hipError_t;
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const c_char,
    ) -> hipError_t;
    fn hipModuleGetGlobal(
        address: *mut *mut c_void,
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
        shared: c_uint,
        stream: hipStream_t,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> hipError_t;
    fn hipDeviceSynchronize() -> hipError_t;
}

/// Whether clang-22, its linker and the device libraries are here; says what is missing.
fn found() -> bool {
    let wanted = [
        ("/usr/bin/clang-22", "clang-22"),
        ("/usr/lib/llvm-22/bin/lld", "lld-22"),
        ("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc", "rocm-device-libs"),
    ];
    let missing: Vec<_> =
        wanted.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, name)| *name).collect();
    let required = env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|value| !value.is_empty());
    assert!(missing.is_empty() || !required, "missing packages: {missing:?}");
    if !missing.is_empty() {
        eprintln!("skipped: missing packages: {}", missing.join(" "));
    }
    missing.is_empty()
}

/// Pointers to texts, which live as long as this.
struct Strings {
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

fn strings(texts: &[&str]) -> Strings {
    let texts: Vec<_> = texts.iter().map(|text| CString::new(*text).unwrap()).collect();
    let pointers = texts.iter().map(|text| text.as_ptr()).collect();
    Strings { _texts: texts, pointers }
}

/// A program of the C interface.
struct Rtc(hiprtcProgram);

impl Rtc {
    fn new(source: &str, headers: &[(&str, &str)]) -> Self {
        let mut program = hiprtcProgram::NULL;
        let (source, name) = (CString::new(source).unwrap(), c"test.hip");
        let texts = strings(&headers.iter().map(|(_, text)| *text).collect::<Vec<_>>());
        let names = strings(&headers.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        let count = headers.len() as c_int;
        // SAFETY: strings and arrays of as many.
        let code = unsafe {
            hiprtcCreateProgram(
                &mut program,
                source.as_ptr(),
                name.as_ptr(),
                count,
                texts.pointers.as_ptr(),
                names.pointers.as_ptr(),
            )
        };
        assert_eq!(code, 0);
        Self(program)
    }

    fn compile(&self, options: &[&str]) -> u32 {
        let options = strings(options);
        // SAFETY: an array of strings.
        unsafe { hiprtcCompileProgram(self.0, options.pointers.len() as c_int, options.pointers.as_ptr()) }
    }

    fn compiled(self, options: &[&str]) -> Self {
        assert_eq!(self.compile(options), 0, "{}", self.log());
        self
    }

    fn name(&self, expression: &str) -> u32 {
        let expression = CString::new(expression).unwrap();
        // SAFETY: a string.
        unsafe { hiprtcAddNameExpression(self.0, expression.as_ptr()) }
    }

    fn lowered(&self, expression: &str) -> Result<CString, u32> {
        let (expression, mut name) = (CString::new(expression).unwrap(), ptr::null());
        // SAFETY: a string and a pointer that the function may write.
        match unsafe { hiprtcGetLoweredName(self.0, expression.as_ptr(), &mut name) } {
            // SAFETY: a string of the program, which lives.
            0 => Ok(unsafe { CStr::from_ptr(name) }.to_owned()),
            code => Err(code),
        }
    }

    fn log(&self) -> String {
        let mut bytes = 0;
        // SAFETY: a buffer as large as the function says.
        unsafe {
            assert_eq!(hiprtcGetProgramLogSize(self.0, &mut bytes), 0);
            let mut log = vec![0_u8; bytes];
            assert!(bytes == 0 || hiprtcGetProgramLog(self.0, log.as_mut_ptr().cast()) == 0);
            CStr::from_bytes_with_nul(&log).map_or(String::new(), |log| log.to_str().unwrap().into())
        }
    }

    fn code(&self) -> Vec<u8> {
        let mut bytes = 0;
        // SAFETY: a buffer as large as the function says.
        unsafe {
            assert_eq!(hiprtcGetCodeSize(self.0, &mut bytes), 0);
            let mut code = vec![0_u8; bytes];
            assert_eq!(hiprtcGetCode(self.0, code.as_mut_ptr().cast()), 0);
            code
        }
    }

    fn bitcode(&self) -> Vec<u8> {
        let mut bytes = 0;
        // SAFETY: a buffer as large as the function says.
        unsafe {
            assert_eq!(hiprtcGetBitcodeSize(self.0, &mut bytes), 0);
            let mut code = vec![0_u8; bytes];
            assert_eq!(hiprtcGetBitcode(self.0, code.as_mut_ptr().cast()), 0);
            code
        }
    }
}

impl Drop for Rtc {
    fn drop(&mut self) {
        // SAFETY: a program that lives.
        assert_eq!(unsafe { hiprtcDestroyProgram(&mut self.0) }, 0);
        assert_eq!(self.0, hiprtcProgram::NULL);
    }
}

/// A module that was loaded.
struct Loaded(hipModule_t);

impl Loaded {
    fn new(code: &[u8]) -> Self {
        let mut module = hipModule_t::NULL;
        ok!(hipModuleLoadData(&mut module, code.as_ptr().cast()));
        Self(module)
    }

    /// Runs a kernel with blocks of threads on memory of numbers, and returns what they are then.
    fn run<T: Copy + Default>(&self, kernel: &CStr, grid: u32, block: u32, values: &[T]) -> Vec<T> {
        let memory = Memory::of(values);
        let (mut function, mut address) = (hipFunction_t::NULL, memory.pointer());
        let mut params = [(&raw mut address).cast::<c_void>()];
        ok!(
            hipModuleGetFunction(&mut function, self.0, kernel.as_ptr()),
            hipModuleLaunchKernel(
                function,
                grid,
                1,
                1,
                block,
                1,
                1,
                0,
                hipStream_t::NULL,
                params.as_mut_ptr(),
                ptr::null_mut()
            ),
            hipDeviceSynchronize(),
        );
        memory.read()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        ok!(hipModuleUnload(self.0));
    }
}

/// Every built-in that this uses is there without an include.
const BUILT_INS: &str = r#"
typedef long long int64_t;
typedef unsigned int uint32_t;
extern "C" __global__ void __launch_bounds__(128) built_ins(int* out) {
  __shared__ int shared[128];
  const int thread = threadIdx.x, n = blockIdx.x * blockDim.x + thread;
  shared[thread] = n;
  __syncthreads();
  int other = shared[blockDim.x - 1 - thread];
  int sum = n;
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);
  sum = __shfl(sum, 0);
  unsigned long long odd = __ballot(n & 1);
  int4 v = make_int4(n, other, sum, __popcll(odd)) + 1;
  if (thread < 4) atomicAdd(&out[256 + thread], thread + 1);
  out[n] = v.x * 0 + v.y - 1 + (sum == (n / 64 * 64 * 64 + 63 * 32)) * 1000 + (v.w == 33) * 10000 + (int)gridDim.x * 100000;
}
extern "C" __global__ void numbers(float* x) {
  int n = threadIdx.x;
  __half h = __float2half(x[n]);
  h = h * h + __half(1.0f);
  double d = sqrt((double)n);
  x[n] = __half2float(h) + (float)(d * d) + fabsf(-1.0f) + floorf(powf(2.0f, 3.0f) + 0.5f) + min(n, 2) + __int_as_float(__float_as_int(0.5f));
}
"#;

// proves: hiprtcCreateProgram, hiprtcCompileProgram, hiprtcGetCodeSize, hiprtcGetCode, hiprtcDestroyProgram
#[test]
fn a_kernel_without_includes_is_compiled_for_the_device_and_runs() {
    if !found() {
        return;
    }
    let program = Rtc::new(BUILT_INS, &[]).compiled(&[]);
    let module = Loaded::new(&program.code());
    let found = module.run(c"built_ins", 2, 128, &[0_i32; 260]);
    let mirrored = (0..256).map(|n| n / 128 * 128 + 127 - n % 128 + 211_000);
    assert_eq!(found, mirrored.chain([2, 4, 6, 8]).collect::<Vec<_>>());

    let inputs: Vec<_> = (0..64).map(|n| n as f32).collect();
    let found = module.run(c"numbers", 1, 64, &inputs);
    for (n, value) in found.into_iter().enumerate() {
        let expected = (n * n + 1) as f32 + n as f32 + 1.0 + 8.0 + n.min(2) as f32 + 0.5;
        // The half rounds to 11 bits, the root of a double to 53.
        assert!((value - expected).abs() <= expected / 1024.0, "{n}: {value}, not {expected}");
    }
}

// proves: hiprtcAddNameExpression, hiprtcGetLoweredName
#[test]
fn templates_and_variables_are_reached_by_name_expressions() {
    if !found() {
        return;
    }
    let source = "namespace A { __device__ int scale = 3; __constant__ int offsets[2] = {5, 7}; }\n\
         template <class T, int N> __global__ void f(T* x) { x[threadIdx.x] = x[threadIdx.x] * A::scale + A::offsets[N]; }";
    let program = Rtc::new(source, &[]);
    for expression in ["f<float, 0>", "&f<int, 1>", "&A::scale"] {
        assert_eq!(program.name(expression), 0);
    }
    assert_eq!(program.lowered("f<float, 0>"), Err(9), "before the compilation");
    let program = program.compiled(&["-std=c++14"]);
    assert_eq!(program.name("f<char, 0>"), 8, "after the compilation");
    assert_eq!(program.lowered("f<char, 0>"), Err(10));

    let module = Loaded::new(&program.code());
    let (mut address, mut bytes) = (ptr::null_mut(), 0);
    let scale = program.lowered("&A::scale").unwrap();
    let four = 4_i32;
    ok!(
        hipModuleGetGlobal(&mut address, &mut bytes, module.0, scale.as_ptr()),
        hipMemcpy(address, (&raw const four).cast(), 4, hipMemcpyHostToDevice),
    );
    assert_eq!(bytes, 4);
    let floats = program.lowered("f<float, 0>").unwrap();
    assert_eq!(module.run(&floats, 1, 2, &[1.0_f32, 1.5]), [9.0, 11.0]);
    let integers = program.lowered("&f<int, 1>").unwrap();
    assert_eq!(module.run(&integers, 1, 2, &[1_i32, -2]), [11, -1]);
}

#[test]
fn headers_are_found_by_their_names() {
    if !found() {
        return;
    }
    let headers = [
        ("a/one.h", "#include \"two.h\"\n"),
        ("a/two.h", "#define TWO 2\n"),
        ("three.h", "#define THREE 3\n"),
    ];
    let source = "#include \"a/one.h\"\n#include <three.h>\nextern \"C\" __global__ void f(int* x) { *x = TWO * THREE * FOUR; }";
    let program = Rtc::new(source, &headers).compiled(&["-D", "FOUR=4"]);
    assert_eq!(Loaded::new(&program.code()).run(c"f", 1, 1, &[0_i32]), [24]);
}

// proves: hiprtcGetProgramLogSize, hiprtcGetProgramLog
#[test]
fn a_log_names_file_and_line() {
    if !found() {
        return;
    }
    let program = Rtc::new("\n__global__ void f(int* x) {\n  *x = nothing;\n}\n", &[]);
    assert_eq!(program.log(), "");
    assert_eq!(program.compile(&[]), 6);
    assert!(
        program.log().contains("test.hip:3:8: error: use of undeclared identifier 'nothing'"),
        "{}",
        program.log()
    );
    assert_eq!(program.compile(&["--offload-arch=sm_70"]), 5);
    assert!(program.log().contains("sm_70"), "{}", program.log());
    let mut bytes = 0;
    // SAFETY: an integer that the function may write.
    assert_eq!(unsafe { hiprtcGetCodeSize(program.0, &mut bytes) }, 4);

    let program = Rtc::new("#warning careful\n", &[]).compiled(&[]);
    assert!(program.log().contains("test.hip:1:2: warning: careful"), "{}", program.log());
}

// proves: hiprtcVersion
#[test]
fn programs_that_are_none_and_pointers_that_lead_nowhere_are_refused() {
    let (mut major, mut minor) = (0, 0);
    let mut program = hiprtcProgram::NULL;
    let source = c"__global__ void f() {}".as_ptr();
    let none = ptr::null::<*const c_char>();
    let names = [c"../x.h".as_ptr(), ptr::null()];
    let mut bytes = 0_usize;
    let mut byte: c_char = 0;
    // SAFETY: what is wrong must be found without being followed; the rest is valid.
    unsafe {
        assert_eq!((hiprtcVersion(&mut major, &mut minor), major, minor), (0, 9, 0));
        assert_eq!(hiprtcVersion(ptr::null_mut(), &mut minor), 3);
        assert_eq!(hiprtcCreateProgram(ptr::null_mut(), source, source, 0, none, none), 4);
        assert_eq!(hiprtcCreateProgram(&mut program, ptr::null(), source, 0, none, none), 3);
        assert_eq!(hiprtcCreateProgram(&mut program, source, source, -1, none, none), 3);
        assert_eq!(hiprtcCreateProgram(&mut program, source, source, 1, none, none), 3);
        let pair = names.as_ptr();
        assert_eq!(
            hiprtcCreateProgram(&mut program, source, source, 1, pair, pair),
            3,
            "it leads out of its folder"
        );
        assert_eq!(hiprtcCreateProgram(&mut program, source, source, 2, pair, pair), 3);
        assert_eq!(program, hiprtcProgram::NULL);
        assert_eq!(hiprtcCreateProgram(&mut program, source, ptr::null(), 0, none, none), 0);
        let gone = program;
        assert_eq!(hiprtcAddNameExpression(program, ptr::null()), 3);
        assert_eq!(hiprtcGetLoweredName(program, source, ptr::null_mut()), 3);
        assert_eq!(hiprtcCompileProgram(program, 1, none), 3);
        assert_eq!(hiprtcCompileProgram(program, -1, none), 3);
        for size in [hiprtcGetCodeSize, hiprtcGetBitcodeSize, hiprtcGetProgramLogSize] {
            assert_eq!(size(program, ptr::null_mut()), 3);
        }
        assert_eq!(
            (hiprtcGetCodeSize(program, &mut bytes), hiprtcGetBitcodeSize(program, &mut bytes)),
            (4, 4)
        );
        assert_eq!((hiprtcGetCode(program, &mut byte), hiprtcGetBitcode(program, &mut byte)), (4, 4));
        assert_eq!((hiprtcGetProgramLogSize(program, &mut bytes), bytes), (0, 0));
        assert_eq!(hiprtcDestroyProgram(&mut program), 0);
        assert_eq!(hiprtcDestroyProgram(ptr::null_mut()), 3);
        for wrong in [hiprtcProgram::NULL, gone, hiprtcProgram(0xdead_beef)] {
            let mut handle = wrong;
            assert_eq!(hiprtcDestroyProgram(&mut handle), 4);
            assert_eq!(hiprtcCompileProgram(wrong, 0, none), 4);
            assert_eq!(hiprtcAddNameExpression(wrong, source), 4);
            assert_eq!(hiprtcGetCodeSize(wrong, &mut bytes), 4);
            assert_eq!(hiprtcGetProgramLog(wrong, &mut byte), 4);
        }
    }
}

/// Bitcode of two programs, of which one needs the other.
fn parts() -> [Vec<u8>; 2] {
    let uses = "extern __device__ float twice(float);\nextern \"C\" __global__ void use(float* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }";
    let defines = "__device__ float twice(float x) { return 2 * floorf(x); }";
    [uses, defines].map(|source| Rtc::new(source, &[]).compiled(&["-fgpu-rdc"]).bitcode())
}

fn check_linked(code: *mut c_void, size: usize) {
    // SAFETY: the linker's bytes, which live as long as it does.
    let code = unsafe { std::slice::from_raw_parts(code.cast::<u8>(), size) };
    assert_eq!(Loaded::new(code).run(c"use", 1, 2, &[1.5_f32, 4.0]), [2.0, 8.0]);
}

// proves: hiprtcGetBitcode, hiprtcGetBitcodeSize
// proves: hiprtcLinkCreate, hiprtcLinkAddData, hiprtcLinkAddFile, hiprtcLinkComplete, hiprtcLinkDestroy
#[test]
fn bitcode_of_two_programs_is_linked_and_runs() {
    if !found() {
        return;
    }
    let [uses, defines] = parts();
    let file = env::temp_dir().join(format!("aqlipse-test-{}.bc", std::process::id()));
    std::fs::write(&file, &defines).unwrap();
    let path = CString::new(file.to_str().unwrap()).unwrap();
    let (none, values) = (ptr::null_mut(), ptr::null_mut());
    let mut linker = hiprtcLinkState::NULL;
    let (mut code, mut size) = (ptr::null_mut(), 0);
    let data = uses.as_ptr().cast_mut().cast();
    // SAFETY: bytes, strings and pointers as the functions document.
    unsafe {
        assert_eq!(hiprtcLinkCreate(0, none, values, &mut linker), 0);
        let kind = hipJitInputLLVMBitcode;
        assert_eq!(hiprtcLinkAddData(linker, kind, data, uses.len(), c"uses".as_ptr(), 0, none, values), 0);
        assert_eq!(hiprtcLinkAddFile(linker, kind, path.as_ptr(), 0, none, values), 0);
        assert_eq!(hiprtcLinkComplete(linker, &mut code, &mut size), 0);
        check_linked(code, size);
        assert_eq!(hiprtcLinkDestroy(linker), 0);
        assert_eq!(hiprtcLinkDestroy(linker), 3);
    }
    std::fs::remove_file(file).unwrap();
}

// proves: hipLinkCreate, hipLinkAddData, hipLinkAddFile, hipLinkComplete, hipLinkDestroy
#[test]
fn a_linker_answers_in_the_logs_of_its_caller() {
    if !found() {
        return;
    }
    let [uses, defines] = parts();
    let mut log = [1_u8; 4096];
    let mut options =
        [hipJitOptionErrorLogBuffer, hipJitOptionErrorLogBufferSizeBytes, hipJitOptionOptimizationLevel];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), 4096 as *mut c_void, 2 as *mut c_void];
    let mut linker = hipLinkState_t::NULL;
    let (mut code, mut size) = (ptr::null_mut(), 0);
    let kind = hipJitInputLLVMBitcode;
    let add = |linker, bytes: &[u8]| {
        let data = bytes.as_ptr().cast_mut().cast();
        // SAFETY: bytes that live.
        unsafe {
            hipLinkAddData(linker, kind, data, bytes.len(), ptr::null(), 0, ptr::null_mut(), ptr::null_mut())
        }
    };
    ok!(hipLinkCreate(3, options.as_mut_ptr(), values.as_mut_ptr(), &mut linker), add(linker, &uses));
    fails!(hipErrorInvalidConfiguration, hipLinkComplete(linker, &mut code, &mut size));
    let text = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert!(text.contains("twice"), "{text}");
    assert_eq!(values[1] as usize, text.len());
    let file = env::temp_dir().join(format!("aqlipse-test-{}-defines.bc", std::process::id()));
    std::fs::write(&file, &defines).unwrap();
    let path = CString::new(file.to_str().unwrap()).unwrap();
    ok!(
        hipLinkAddFile(linker, kind, path.as_ptr(), 0, ptr::null_mut(), ptr::null_mut()),
        hipLinkComplete(linker, &mut code, &mut size),
    );
    check_linked(code, size);
    ok!(hipLinkDestroy(linker));
    std::fs::remove_file(file).unwrap();
}

#[test]
fn linkers_refuse_what_they_cannot_link() {
    let (none, values) = (ptr::null_mut::<hipJitOption>(), ptr::null_mut::<*mut c_void>());
    let mut linker = hipLinkState_t::NULL;
    let (mut code, mut size) = (ptr::null_mut(), 0_usize);
    let text = c".version 7.0";
    let data: *mut c_void = text.as_ptr().cast_mut().cast();
    fails!(hipErrorInvalidValue, hipLinkCreate(0, none, values, ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipLinkCreate(1, none, values, &mut linker));
    let mut level = [9 as *mut c_void];
    let mut option = [hipJitOptionOptimizationLevel];
    fails!(hipErrorInvalidValue, hipLinkCreate(1, option.as_mut_ptr(), level.as_mut_ptr(), &mut linker));
    ok!(hipLinkCreate(0, none, values, &mut linker));
    for kind in [
        hipJitInputPtx,
        hipJitInputCubin,
        hipJitInputNvvm,
        hipJitInputFatBinary,
        hipJitInputSpirv,
        hipJitInputType(77),
    ] {
        fails!(hipErrorInvalidValue, hipLinkAddData(linker, kind, data, 12, ptr::null(), 0, none, values));
    }
    for kind in [hipJitInputObject, hipJitInputLibrary, hipJitInputLLVMBitcode, hipJitInputLLVMBundledBitcode]
    {
        fails!(
            hipErrorInvalidConfiguration,
            hipLinkAddData(linker, kind, data, 12, ptr::null(), 0, none, values)
        );
    }
    fails!(
        hipErrorInvalidValue,
        hipLinkAddData(linker, hipJitInputObject, ptr::null_mut(), 12, ptr::null(), 0, none, values)
    );
    fails!(hipErrorInvalidValue, hipLinkAddFile(linker, hipJitInputObject, ptr::null(), 0, none, values));
    fails!(
        hipErrorInvalidConfiguration,
        hipLinkAddFile(linker, hipJitInputObject, c"/no/such/file".as_ptr(), 0, none, values)
    );
    fails!(hipErrorInvalidValue, hipLinkComplete(linker, ptr::null_mut(), &mut size));
    fails!(hipErrorInvalidConfiguration, hipLinkComplete(linker, &mut code, &mut size));
    ok!(hipLinkDestroy(linker));
    for wrong in [hipLinkState_t::NULL, linker, hipLinkState_t(0xdead_beef)] {
        fails!(hipErrorInvalidValue, hipLinkDestroy(wrong));
        fails!(hipErrorInvalidValue, hipLinkComplete(wrong, &mut code, &mut size));
        fails!(
            hipErrorInvalidValue,
            hipLinkAddData(wrong, hipJitInputObject, data, 12, ptr::null(), 0, none, values)
        );
    }
}

#[test]
fn threads_compile_at_once() {
    if !found() {
        return;
    }
    thread::scope(|scope| {
        for n in 0..4 {
            scope.spawn(move || {
                let source = format!("extern \"C\" __global__ void f(int* x) {{ *x += {n}; }}");
                let program = Rtc::new(&source, &[]).compiled(&[]);
                assert_eq!(Loaded::new(&program.code()).run(c"f", 1, 1, &[10_i32]), [10 + n]);
            });
        }
    });
}
