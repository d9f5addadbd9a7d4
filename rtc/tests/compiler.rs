//! What the compiler of the machine makes of programs and links.
//!
//! What the results compute is tested in `capi`, on devices.

use std::{env, fs, os::unix::fs::PermissionsExt, path::Path, process::Command, sync::Mutex};

use hiprtc::{Error, Input, Linker, Program};

/// Tests change variables that others read.
static ENVIRONMENT: Mutex<()> = Mutex::new(());

/// Whether clang-22 and device libraries are here; says what is missing.
fn found() -> bool {
    let wanted = [
        ("/usr/bin/clang-22", "clang-22"),
        ("/usr/lib/llvm-22/bin/clang-offload-bundler", "clang-tools-22"),
        ("/usr/lib/llvm-22/bin/lld", "lld-22"),
        ("/usr/lib/llvm-22/bin/llvm-ar", "llvm-22"),
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

/// Runs a copy of this program for one test, with variables: they belong to a process.
fn elsewhere(test: &str, variables: &[(&str, &str)]) -> String {
    let _alone = ENVIRONMENT.lock().unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    text
}

fn program(source: &str) -> Program {
    Program::new(source.as_bytes(), "test.hip", Vec::new()).unwrap()
}

fn compiled(source: &str, expressions: &[&str], options: &[&str]) -> Program {
    let mut program = program(source);
    expressions.iter().for_each(|expression| program.add_name_expression(expression).unwrap());
    program.compile(options, || None).unwrap_or_else(|error| panic!("{error}"));
    program
}

fn lowered(program: &Program, expression: &str) -> String {
    program.lowered_name(expression).unwrap().to_str().unwrap().into()
}

const EXPRESSIONS: &str = "
template <class T> __global__ void f(T* x) { *x = T(1); }
template <int N, class T> __global__ void g(T* x) { *x = T(N); }
__global__ void over(int* x) { *x = 1; }
__global__ void over(float* x) { *x = 2; }
namespace A { namespace B { __global__ void h() {} __device__ int v; } __constant__ float c; }
namespace { template <class T> __global__ void hidden(T* x) { *x = 1; } }
extern \"C\" __global__ void plain() {}
";

/// Expressions and symbols; the last may end in what the compiler adds.
const LOWERED: [(&str, &str); 11] = [
    ("f<int>", "_Z1fIiEvPT_"),
    ("&f<float>", "_Z1fIfEvPT_"),
    (" f< double > ", "_Z1fIdEvPT_"),
    ("g<3, float>", "_Z1gILi3EfEvPT0_"),
    ("(void (*)(int*))over", "_Z4overPi"),
    ("(void (*)(float*))over", "_Z4overPf"),
    ("A::B::h", "_ZN1A1B1hEv"),
    ("&A::B::v", "_ZN1A1B1vE"),
    ("A::c", "_ZN1A1cE"),
    ("plain", "plain"),
    ("hidden<int>", "_ZN12_GLOBAL__N_16hiddenIiEEvPT_"),
];

#[test]
fn name_expressions_become_symbols() {
    if !found() {
        return;
    }
    let expressions = LOWERED.map(|(expression, _)| expression);
    for options in
        [&["--offload-arch=gfx942"][..], &["--offload-arch=gfx90a", "-O0"], &["-arch=gfx90a", "-fgpu-rdc"]]
    {
        let program = compiled(EXPRESSIONS, &expressions, options);
        for (expression, symbol) in LOWERED {
            assert!(
                lowered(&program, expression).starts_with(symbol),
                "{expression}: {}",
                lowered(&program, expression)
            );
        }
        assert!(matches!(program.lowered_name("f<char>"), Err(Error::UnknownName(_))));
    }
}

#[test]
fn expressions_come_before_and_names_after_the_compilation() {
    if !found() {
        return;
    }
    let mut program = program("__global__ void f() {}");
    assert!(matches!(program.lowered_name("f"), Err(Error::NotCompiled)));
    assert!(program.code().is_err() && program.bitcode().is_err());
    program.add_name_expression("f").unwrap();
    program.compile(&["--offload-arch=gfx90a"], || None).unwrap();
    assert!(matches!(program.add_name_expression("f"), Err(Error::Compiled)));
    assert!(program.code().unwrap().starts_with(b"\x7fELF") && program.bitcode().is_err());
}

#[test]
fn an_expression_that_names_nothing_is_in_the_log() {
    if !found() {
        return;
    }
    let mut program = program("__global__ void f() {}");
    program.add_name_expression("no_such<int>").unwrap();
    assert!(matches!(program.compile(&["--offload-arch=gfx90a"], || None), Err(Error::Compilation(_))));
    assert!(
        program.log().contains("name expression 0:1:") && program.log().contains("no_such"),
        "{}",
        program.log()
    );
}

#[test]
fn errors_and_warnings_have_file_and_line() {
    if !found() {
        return;
    }
    let headers = vec![(
        "inner/part.h".to_owned(),
        b"\n#warning careful\ninline __device__ int one() { return 1; }\n".to_vec(),
    )];
    let mut program = Program::new(
        b"#include \"inner/part.h\"\n#include <inner/part.h>\n__global__ void f() {\n  oops();\n}",
        "dir/my prog.cu",
        headers.clone(),
    )
    .unwrap();
    assert!(program.compile(&["--offload-arch=gfx90a"], || None).is_err());
    let log = program.log().to_owned();
    assert!(
        log.contains("dir/my prog.cu:4:3: error:") && log.contains("inner/part.h:2:2: warning:"),
        "{log}"
    );
    assert!(!log.contains("aqlipse-rtc-") && !log.contains("program.hip"), "{log}");

    let mut program =
        Program::new(b"#include <inner/part.h>\n__global__ void f(int* x) { *x = one(); }", "", headers)
            .unwrap();
    // Twice: the second comes from the cache, if there is one.
    for _ in 0..2 {
        program.compile(&["--offload-arch=gfx90a"], || None).unwrap();
        assert!(program.log().contains("inner/part.h:2:2: warning:"), "{}", program.log());
    }
}

#[test]
fn headers_do_not_leave_their_folder() {
    for name in ["../x.h", "/tmp/x.h", "a/../../x.h", ""] {
        let headers = vec![(name.to_owned(), Vec::new())];
        assert!(matches!(Program::new(b"", "x", headers), Err(Error::Header { .. })), "{name}");
    }
}

#[test]
fn the_architecture_is_that_of_the_option_or_of_the_device() {
    if !found() {
        return;
    }
    let machine = |program: &Program| program.code().unwrap()[48] as u32;
    let mut program = program("__global__ void f() {}");
    program.compile(&[] as &[&str], || Some("gfx942".into())).unwrap();
    // EF_AMDGPU_MACH: LLVM, User Guide for AMDGPU Backend.
    assert_eq!(machine(&program), 0x4c);
    program.compile(&["--gpu-architecture=gfx90a"], || Some("gfx942".into())).unwrap();
    assert_eq!(machine(&program), 0x3f);
    assert!(matches!(program.compile(&[] as &[&str], || None), Err(Error::NoTarget)));
    assert!(program.log().contains("--offload-arch") && program.code().is_err(), "{}", program.log());
}

#[test]
fn options_reach_the_compiler() {
    if !found() {
        return;
    }
    let source = "#ifndef TWO\n#error no two\n#endif\nstatic_assert(__cplusplus == 201402L, \"\"); __global__ void f(int* x) { *x = TWO; }";
    compiled(
        source,
        &[],
        &[
            "--offload-arch=gfx90a",
            "-D",
            "TWO=2",
            "--std=c++14",
            "-nocudalib",
            "-nocudainc",
            "-flegacy-pass-manager",
            "-ffast-math",
            "-g",
        ],
    );
    let mut program = program(source);
    assert!(matches!(
        program.compile(&["--offload-arch=gfx90a", "-fno-such-option"], || None),
        Err(Error::Compilation(_))
    ));
    assert!(program.log().contains("-fno-such-option"), "{}", program.log());
    assert!(matches!(program.compile(&["-o/tmp/x"], || None), Err(Error::Option { .. })));
}

#[test]
fn headers_of_another_compiler_do_not_come_before_its_own() {
    let others = "/usr/lib/llvm-15/lib/clang/15.0.6/include";
    if !found() || !Path::new(others).exists() {
        eprintln!("skipped: missing package: clang-15");
        return;
    }
    let options = ["--offload-arch=gfx90a", "-I", others];
    let program = compiled("__global__ void f(float* x) { *x = sinf(*x); }", &[], &options);
    assert_eq!(program.log(), "");
}

#[test]
fn sources_may_have_types_of_their_own_and_headers_in_place_of_hips() {
    if !found() {
        return;
    }
    compiled(
        "typedef long long int64_t; typedef unsigned int uint32_t; typedef unsigned char uint8_t; typedef unsigned long long uint64_t;\n\
         #include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#include \"hip/hip_vector_types.h\"\n\
         __global__ void f(uint32_t* x, __half* h, float4* v) { x[threadIdx.x] = __popc(x[0]); h[0] = __float2half(v->x); }",
        &[],
        &["--offload-arch=gfx90a", "-std=c++11"],
    );
}

#[test]
fn unsigned_types_have_short_names() {
    if !found() {
        return;
    }
    compiled(
        "typedef unsigned int uint;\n\
         static_assert(sizeof(uchar) == 1 && sizeof(ushort) == 2 && sizeof(ulong) == 8 && sizeof(ullong) == 8, \"\");\n\
         __global__ void f(uchar* a, uint* b) { *b = ushort(*a) + uint(1); }",
        &[],
        &["--offload-arch=gfx90a"],
    );
}

#[test]
fn other_compilers_serve_as_well() {
    if !found() || !Path::new("/usr/bin/clang-15").exists() {
        eprintln!("skipped: missing package: clang-15");
        return;
    }
    elsewhere("clang_15_compiles", &[("AQLIPSE_CLANG", "/usr/bin/clang-15"), ("AQLIPSE_RTC_CACHE", "0")]);
}

#[test]
#[ignore = "run by other_compilers_serve_as_well"]
fn clang_15_compiles() {
    let expressions = LOWERED.map(|(expression, _)| expression);
    for options in [&["--offload-arch=gfx90a"][..], &["--offload-arch=gfx90a", "-fgpu-rdc"]] {
        let program = compiled(EXPRESSIONS, &expressions, options);
        assert_eq!(lowered(&program, "f<int>"), "_Z1fIiEvPT_");
    }
    compiled(
        "__global__ void f(double* x, __half2* h) { x[0] = pow(x[1], 2.0) + __shfl_xor(x[2], 1) + atomicAdd(x, 1.0); h[0] += h[1]; __syncthreads(); }",
        &[],
        &["--offload-arch=gfx90a"],
    );
}

/// A program that stands for a compiler.
fn script(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_compiler_that_is_missing_or_dies_is_an_error_with_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let answers = "case $1 in --version) echo clang version 22.0.0; exit;; --print-targets) echo '  amdgcn - AMD'; exit;; --print-resource-dir) echo /none; exit;; esac";
    let dies = script(folder.path(), "dies", &format!("{answers}\necho deep trouble >&2\nkill -SEGV $$"));
    let old = script(folder.path(), "old", "echo clang version 9.0.0");
    let other = script(
        folder.path(),
        "other",
        "case $1 in --version) echo clang version 22.0.0;; *) echo '  x86-64';; esac",
    );
    let temporary = folder.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let temporary = temporary.display().to_string();
    let run = |clang: &str| {
        elsewhere(
            "the_log_is_printed",
            &[("AQLIPSE_CLANG", clang), ("AQLIPSE_RTC_CACHE", "0"), ("TMPDIR", &temporary)],
        )
    };
    let log = run(&dies);
    assert!(log.contains("deep trouble") && log.contains("signal: 11"), "{log}");
    for clang in ["/no/such/clang", &old, &other] {
        let log = run(clang);
        assert!(log.contains(&format!("AQLIPSE_CLANG={clang}: no clang with the AMDGPU target")), "{log}");
    }
    let log = elsewhere(
        "the_log_is_printed",
        &[("PATH", "/no/such/folder"), ("AQLIPSE_RTC_CACHE", "0"), ("TMPDIR", &temporary)],
    );
    assert!(Path::new("/usr/lib/llvm-22").exists() || log.contains("rocm-device-libs"), "{log}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "nothing is left behind");
}

#[test]
#[ignore = "run by a_compiler_that_is_missing_or_dies_is_an_error_with_its_text"]
fn the_log_is_printed() {
    let mut program = program("__global__ void f() {}");
    let _ = program.compile(&["--offload-arch=gfx90a"], || None);
    println!("{}", program.log());
}

#[test]
fn parallel_processes_share_a_cache() {
    if !found() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache").display().to_string();
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut command = Command::new(env::current_exe().unwrap());
            command.args(["--exact", "a_program_is_compiled", "--ignored"]).env("AQLIPSE_RTC_CACHE", &cache);
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let entries: Vec<_> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    // From the cache: a compiler that only answers questions is not asked for more. Its identity is part of the key, so
    // the same one is used, and the entry must not change.
    let before = fs::read(&entries[0]).unwrap();
    elsewhere("a_program_is_compiled", &[("AQLIPSE_RTC_CACHE", &cache)]);
    assert_eq!(fs::read(&entries[0]).unwrap(), before);
    // Damaged: compiled again, and mended.
    fs::write(&entries[0], &before[..before.len() / 2]).unwrap();
    elsewhere("a_program_is_compiled", &[("AQLIPSE_RTC_CACHE", &cache)]);
    assert_eq!(fs::read(&entries[0]).unwrap(), before);
}

#[test]
#[ignore = "run by parallel_processes_share_a_cache"]
fn a_program_is_compiled() {
    let program = compiled(
        "template <class T> __global__ void f(T* x) { *x = sin(*x); }",
        &["f<float>"],
        &["--offload-arch=gfx90a"],
    );
    assert_eq!(lowered(&program, "f<float>"), "_Z1fIfEvPT_");
}

#[test]
fn the_cache_answers_without_the_compiler_until_a_header_changes() {
    if !found() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    // A compiler that counts its runs.
    let clang =
        script(folder.path(), "clang", &format!("echo >> {}\nexec /usr/bin/clang-22 \"$@\"", at("runs")));
    fs::write(at("value.h"), "#define VALUE 1").unwrap();
    let run = || {
        elsewhere(
            "a_program_with_a_header_is_compiled",
            &[("AQLIPSE_CLANG", &clang), ("AQLIPSE_RTC_CACHE", &at("cache")), ("TEST_FOLDER", &at(""))],
        );
        fs::read_to_string(at("runs")).unwrap().len()
    };
    // Three questions; controls and the program.
    assert_eq!(run(), 5);
    assert_eq!(run(), 8, "three questions");
    fs::write(at("value.h"), "#define VALUE 22").unwrap();
    assert_eq!(run(), 13, "the header is another one");
}

#[test]
#[ignore = "run by the_cache_answers_without_the_compiler_until_a_header_changes"]
fn a_program_with_a_header_is_compiled() {
    let folder = env::var("TEST_FOLDER").unwrap();
    compiled(
        "#include <value.h>\n__global__ void f(int* x) { *x = VALUE; }",
        &[],
        &["--offload-arch=gfx90a", "-I", &folder],
    );
}

const USES: &str = "extern __device__ int twice(int); __global__ void use(int* x) { *x = twice(*x); }";
const DEFINES: &str = "__device__ int twice(int x) { return 2 * x + (int)sin((double)x); }";

#[test]
fn bitcode_of_two_programs_is_linked() {
    if !found() {
        return;
    }
    let options = ["--offload-arch=gfx90a", "-fgpu-rdc"];
    let parts = [compiled(USES, &["use"], &options), compiled(DEFINES, &[], &options)];
    assert!(parts[0].code().is_err());
    let mut linker = Linker::default();
    for part in &parts {
        let bitcode = part.bitcode().unwrap();
        assert!(bitcode.starts_with(b"BC\xc0\xde"));
        linker.add(Input::Bitcode, "part", bitcode.to_vec()).unwrap();
    }
    let code = linker.complete(|| Some("gfx90a".into())).unwrap_or_else(|error| panic!("{error}"));
    assert!(code.starts_with(b"\x7fELF"));
    let symbol = lowered(&parts[0], "use");
    assert!(code.windows(symbol.len()).any(|part| part == symbol.as_bytes()));

    let mut half = Linker::default();
    half.add(Input::Bitcode, "half", parts[0].bitcode().unwrap().to_vec()).unwrap();
    assert!(matches!(half.complete(|| Some("gfx90a".into())), Err(Error::Linking(_))));
    assert!(half.log().contains("twice"), "{}", half.log());
}

#[test]
fn objects_archives_and_bundles_are_linked() {
    if !found() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("uses.hip"), USES).unwrap();
    fs::write(at("defines.hip"), "#include <math.h>\n".to_owned() + DEFINES).unwrap();
    let tool = |name: &str, arguments: &[&str]| {
        let output = Command::new(format!("/usr/lib/llvm-22/bin/{name}"))
            .args(arguments)
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{name} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let options = ["--offload-arch=gfx90a", "-fgpu-rdc"];
    for (name, source) in [("uses", USES), ("defines", DEFINES)] {
        fs::write(at(&format!("{name}.bc")), compiled(source, &[], &options).bitcode().unwrap()).unwrap();
        let (bc, object, text, bundle) =
            (format!("{name}.bc"), format!("{name}.o"), format!("{name}.ll"), format!("{name}.bundle"));
        tool("clang", &["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-c", &bc, "-o", &object]);
        tool(
            "clang",
            &[
                "--target=amdgcn-amd-amdhsa",
                "-nogpulib",
                "-Xclang",
                "-disable-llvm-passes",
                "-emit-llvm",
                "-S",
                &bc,
                "-o",
                &text,
            ],
        );
        tool(
            "clang-offload-bundler",
            &[
                "-type=bc",
                "-targets=host-x86_64-unknown-linux-gnu,hip-amdgcn-amd-amdhsa--gfx942,hip-amdgcn-amd-amdhsa--gfx90a",
                "-input=/dev/null",
                "-input=/dev/null",
                &format!("-input={bc}"),
                &format!("-output={bundle}"),
            ],
        );
    }
    for kind in ["o", "bundle"] {
        tool("llvm-ar", &["rc", &format!("{kind}.a"), &format!("uses.{kind}"), &format!("defines.{kind}")]);
    }
    let link = |inputs: &[(Input, &str)], device: &str| {
        let mut linker = Linker::default();
        for (input, file) in inputs {
            linker.add(*input, file, fs::read(at(file)).unwrap()).unwrap_or_else(|error| panic!("{error}"));
        }
        linker.complete(|| Some(device.into())).map(<[u8]>::to_vec)
    };
    for inputs in [
        &[(Input::Object, "uses.o"), (Input::Object, "defines.o")][..],
        &[(Input::Object, "uses.o"), (Input::Bitcode, "defines.ll")],
        &[(Input::Bitcode, "uses.ll"), (Input::Bitcode, "defines.bc")],
        &[(Input::BundledBitcode, "uses.bundle"), (Input::BundledBitcode, "defines.bundle")],
        &[(Input::BundledArchive, "bundle.a")],
        &[(Input::Library, "o.a")],
    ] {
        let code = link(inputs, "gfx90a").unwrap_or_else(|error| panic!("{inputs:?}: {error}"));
        assert!(
            code.starts_with(b"\x7fELF") && code.windows(9).any(|part| part == b"_Z3usePi\0"),
            "{inputs:?}"
        );
    }
    let error = link(&[(Input::BundledBitcode, "uses.bundle")], "gfx1100").unwrap_err();
    assert!(
        matches!(&error, Error::Input { .. }) && error.to_string().contains("hip-amdgcn-amd-amdhsa--gfx90a"),
        "{error}"
    );
}

#[test]
fn waves_of_rdna_have_32_lanes_unless_an_option_says_otherwise() {
    if !found() {
        return;
    }
    // The library's functions know the lanes by a constant of theirs, headers by a macro, the compiler by the architecture.
    let source = r#"
        static_assert(warpSize == LANES && __AMDGCN_WAVEFRONT_SIZE == LANES && __AMDGCN_WAVEFRONT_SIZE__ == LANES, "");
        extern "C" __device__ int __ockl_activelane_u32(void);
        __global__ void f(int* x) {
            const int sum = __shfl_xor(x[threadIdx.x], LANES / 2) + __popcll(__ballot(x[threadIdx.x]));
            x[threadIdx.x] = sum + __ockl_activelane_u32();
        }
    "#;
    for (architecture, options, lanes) in [
        ("gfx90a", &[][..], 64),
        ("gfx1030", &[], 32),
        ("gfx1100", &[], 32),
        ("gfx1100", &["-mwavefrontsize64"], 64),
        ("gfx1151", &[], 32),
        ("gfx1201", &[], 32),
        ("gfx11-generic", &["-mcode-object-version=6"], 32),
    ] {
        let (architecture, size) = (format!("--offload-arch={architecture}"), format!("-DLANES={lanes}"));
        let options = [&[architecture.as_str(), &size], options].concat();
        let compiled = compiled(source, &[], &options);
        let code = compiled.code().unwrap();
        // In the metadata: a key of 15 bytes, and a number below 128.
        let key = b"\xaf.wavefront_size";
        let at = code.windows(key.len()).position(|bytes| bytes == key).expect("the metadata of a kernel");
        assert_eq!(u32::from(code[at + key.len()]), lanes, "{options:?}");
    }
}
