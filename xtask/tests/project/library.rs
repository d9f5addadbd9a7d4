//! The shared library: its symbols, their versions, its names, and a client in C.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use object::{
    Endianness,
    elf::{self, FileHeader64},
    read::elf::{FileHeader, Sym},
};
use xtask::{
    dist::{self, LIBRARY, LINKS, RTC_LIBRARY, RTC_LINKS, RTC_SONAME, SONAME},
    link, output, packages, stubs, surface,
};

/// The directory of the library: `AQLIPSE_DIST`, or built now.
fn lib() -> &'static Path {
    static LIB: OnceLock<PathBuf> = OnceLock::new();
    LIB.get_or_init(|| {
        let dist = env::var_os("AQLIPSE_DIST").map(PathBuf::from);
        dist.unwrap_or_else(|| dist::build(link::Profile::Release).unwrap()).join("lib")
    })
}

#[test]
fn exports_are_the_table_each_at_its_node() {
    let exports = xtask::exports().unwrap();
    check_exports(RTC_LIBRARY, &stubs::rtc_exports(&exports));
    check_exports(LIBRARY, &exports);
}

fn check_exports(library: &str, exports: &[surface::Export]) {
    let data = fs::read(lib().join(library)).unwrap();
    let data = data.as_slice();
    let header = FileHeader64::<Endianness>::parse(data).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, data).unwrap();
    let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM).unwrap();
    let versions = sections.versions(endian, data).unwrap().expect("version definitions");

    let mut found = BTreeMap::new();
    for (index, symbol) in symbols.enumerate().filter(|(_, symbol)| !symbol.is_undefined(endian)) {
        let name = str::from_utf8(symbols.symbol_name(endian, symbol).unwrap()).unwrap();
        // The linker defines each node as an absolute symbol of its own name.
        if name.is_empty() || surface::NODES.contains(&name) {
            continue;
        }
        let version_index = versions.version_index(endian, index);
        assert!(!version_index.is_hidden(), "{name} is not the default version");
        let version = versions.version(version_index.into()).unwrap().map(|version| version.name());
        found.insert(name.to_owned(), String::from_utf8(version.unwrap_or_default().to_owned()).unwrap());
    }
    let expected: BTreeMap<_, _> =
        exports.iter().map(|export| (export.symbol.clone(), export.node.clone())).collect();
    let names = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<BTreeSet<_>>();
    let (have, want) = (names(&found), names(&expected));
    assert_eq!(
        have.difference(&want).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "exported but not in the table"
    );
    assert_eq!(
        want.difference(&have).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "in the table but not exported"
    );
    assert_eq!(found, expected);
}

#[test]
fn version_nodes_form_one_chain() {
    check_chain(LIBRARY, SONAME, &surface::NODES);
    check_chain(RTC_LIBRARY, RTC_SONAME, &stubs::nodes_of(&stubs::rtc_exports(&xtask::exports().unwrap())));
}

fn check_chain(library: &str, soname: &str, nodes: &[&str]) {
    let data = fs::read(lib().join(library)).unwrap();
    let data = data.as_slice();
    let header = FileHeader64::<Endianness>::parse(data).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, data).unwrap();
    let (mut definitions, link) = sections.gnu_verdef(endian, data).unwrap().expect("version definitions");
    let strings = sections.strings(endian, data, link).unwrap();

    let mut chain = Vec::new();
    while let Some((_, mut names)) = definitions.next().unwrap() {
        let mut own_and_parents = Vec::new();
        while let Some(name) = names.next().unwrap() {
            own_and_parents.push(String::from_utf8(name.name(endian, strings).unwrap().to_owned()).unwrap());
        }
        chain.push(own_and_parents);
    }
    // The first definition is the file's own.
    let mut expected = vec![vec![soname.to_owned()], vec![nodes[0].to_owned()]];
    expected.extend(nodes.windows(2).map(|pair| vec![pair[1].to_owned(), pair[0].to_owned()]));
    assert_eq!(chain, expected);
}

#[test]
fn every_name_is_a_link_to_the_one_file() {
    for (names, library) in [(&LINKS[..], LIBRARY), (&RTC_LINKS, RTC_LIBRARY)] {
        for name in names {
            assert_eq!(fs::read_link(lib().join(name)).unwrap(), Path::new(library));
        }
    }
}

// proves: hipGetErrorName, hipGetErrorString, hipDrvGetErrorName, hipDrvGetErrorString
// proves: hipGetLastError, hipPeekAtLastError, hipExtGetLastError
// proves: hipRuntimeGetVersion, hipDriverGetVersion, hipCreateChannelDesc, hiprtcGetErrorString
// proves: amd_dbgapi_get_build_name, amd_dbgapi_get_git_hash, amd_dbgapi_get_build_id, __hipGetPCH
#[test]
fn a_c_client_of_the_public_headers_runs() {
    if !Path::new("/usr/include/hip/hip_runtime_api.h").exists() && !packages::required() {
        eprintln!("skipped: libamdhip64-dev is missing");
        return;
    }
    let program =
        compile("client.c", "client", &["-D__HIP_PLATFORM_AMD__", "-I/usr/include", "-L"], &["-lamdhip64"]);
    let mut client = Command::new(&program);
    let result = client.env("LD_LIBRARY_PATH", lib()).env("AQLIPSE_LOG", "warn").output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    assert!(result.status.success(), "{stdout}{stderr}");
    // The client calls a refusal twice.
    let said: Vec<_> = stderr.lines().filter(|line| line.contains("not implemented")).collect();
    assert_eq!(said, ["aqlipse: warning: hipInitDevice is not implemented"]);
}

#[test]
fn clients_linked_against_older_names_are_recognised() {
    for major in [4, 5, 6, 7] {
        let name = format!("libamdhip64.so.{major}");
        let directory = scratch(&format!("soname{major}"));
        // A library with the older SONAME and one symbol, to link a client as it was linked back then.
        fs::write(directory.join("stub.c"), "int hipGetLastError(void) { return 1; }\n").unwrap();
        fs::write(
            directory.join("main.c"),
            "int hipGetLastError(void);\nint main(void) { return hipGetLastError(); }\n",
        )
        .unwrap();
        let cc =
            |arguments: &[&str]| output(Command::new("cc").current_dir(&directory).args(arguments)).unwrap();
        cc(&["-shared", "-fPIC", &format!("-Wl,-soname,{name}"), "stub.c", "-o", "libstub.so"]);
        cc(&["main.c", "-o", "main", "-L.", "-lstub"]);

        let mut main = Command::new(directory.join("main"));
        let result = main.env("LD_LIBRARY_PATH", lib()).env("AQLIPSE_LOG", "info").output().unwrap();
        let stderr = String::from_utf8_lossy(&result.stderr);
        assert!(result.status.success(), "{stderr}");
        assert!(stderr.contains(&format!("loaded as {name}")), "{stderr}");
    }
}

#[test]
fn attributes_have_the_numbers_of_the_header_that_a_program_was_compiled_with() {
    let attributes = |abi: u32| {
        let name = format!("attributes{abi}");
        let link = format!("-l:hip{abi}/libamdhip64.so");
        let program = compile("attributes.c", &name, &["-L"], &[&link]);
        let mut program = Command::new(&program);
        program.env("LD_LIBRARY_PATH", lib()).env("AQLIPSE_DEVICE", "emulated");
        let found = output(program.env("AQLIPSE_EMULATE", "gfx90a")).unwrap();
        found.lines().map(String::from).collect::<Vec<_>>()
    };
    let (old, new) = (attributes(4), attributes(7));
    // HIP 4.5 and HIP 7: the largest block, registers, compute units, cache, capability, bus, textures, errors, values.
    let same = [
        (0, 56),
        (1, 26),
        (6, 31),
        (7, 74),
        (9, 87),
        (10, 71),
        (11, 5),
        (14, 63),
        (16, 19),
        (17, 57),
        (18, 23),
    ];
    let more =
        [(19, 61), (21, 67), (23, 10_002), (27, 11), (36, 58), (37, 81), (40, 3), (45, 10_010), (47, 24)];
    let last = [(50, 65), (51, 66), (52, 10_013)];
    for (before, since) in same.into_iter().chain(more).chain(last) {
        assert_eq!(old[before], new[since], "{before} is {since} now");
    }
    assert_eq!((old[0].as_str(), old[9].as_str(), old[18].as_str()), ("0 1024", "0 64", "0 9"));
    // Registers have no number for an answer, and HIP 4.5 has no further attributes: hipErrorInvalidValue.
    assert!([34, 35, 53, 56, 10_013].iter().all(|&number| old[number].starts_with("1 ")), "{:?}", &old[..60]);
    assert_eq!(attributes(5), new);
}

#[test]
fn a_program_that_opens_the_library_gets_the_version_it_names() {
    let program = compile("open.c", "open", &["-L"], &["-ldl"]);
    for (name, major) in [("libamdhip64.so.5", 5), ("libamdhip64.so.6", 6), ("libamdhip64.so", 7)] {
        let mut open = Command::new(&program);
        let result =
            open.arg(name).env("LD_LIBRARY_PATH", lib()).env("AQLIPSE_LOG", "info").output().unwrap();
        let stderr = String::from_utf8_lossy(&result.stderr);
        assert!(result.status.success(), "{stderr}");
        assert!(stderr.contains(&format!("loaded as libamdhip64.so.{major}")), "{stderr}");
    }
}

/// Compiles a C file that lies beside this one. `before` ends in the flag that takes the library's directory.
fn compile(source: &str, name: &str, before: &[&str], after: &[&str]) -> PathBuf {
    let program = scratch(name).join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project").join(source);
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-Wall", "-o"]).arg(&program).arg(source).args(before).arg(lib()).args(after);
    output(&mut cc).unwrap();
    program
}

/// A directory for what a test makes.
fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&directory).unwrap();
    directory
}
