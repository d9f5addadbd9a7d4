//! Code objects of real libraries and compilers.
//!
//! | code | from |
//! |---|---|
//! | `kernels/`, `loader/tests/samples` | the repository |
//! | `kernels/triton` | the repository, made by Triton |
//! | rocRAND | Debian's librocrand1: a bundle in the library |
//! | ROCr's copies and fills | Debian's libhsa-runtime64-1: bare code between other constants |
//! | ROCr's image copies | Debian's libhsa-runtime64-1: code objects |
//!
//! | module | what it checks |
//! |---|---|
//! | [`decoding`] | all of the code decodes, and reads as llvm-objdump prints it |
//! | [`blits`] | ROCr's copies and fills copy and fill |

mod blits;
mod decoding;

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use emulator::isa::{Target, decode_all};
use loader::{CodeObject, Limits, bundle};

const ROCRAND: &str = "/usr/lib/x86_64-linux-gnu/librocrand.so.1";
const ROCR: &str = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1";

/// Whether a library of Debian's `package` is there; the caller skips its test otherwise.
fn installed(library: &str, package: &str) -> bool {
    let found = Path::new(library).exists();
    if !found {
        let required = std::env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|v| v == "1");
        assert!(!required, "{library} (Debian package {package}) is missing");
        eprintln!("skipped: {library} (Debian package {package}) is missing");
    }
    found
}

/// The repository's code objects, each with the device that it runs on: gfx9-generic is for none of ours.
fn committed() -> Vec<(PathBuf, Target)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    let triton =
        ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"].map(|card| format!("kernels/triton/{card}"));
    for folder in ["kernels", "loader/tests/samples"].into_iter().chain(triton.iter().map(String::as_str)) {
        for entry in root.join(folder).read_dir().expect("the folder is part of the repository") {
            let path = entry.expect("a folder entry").path();
            if path.extension().is_none_or(|extension| extension != "co") {
                continue;
            }
            let object = fs::read(&path).expect("the file is part of the repository");
            let identity = CodeObject::parse(&object[..]).expect("it is a code object").identity();
            match identity.target.processor.name() {
                "gfx9-generic" => {}
                "gfx9-4-generic" => found.push((path, Target::Gfx942)),
                "gfx10-3-generic" => found.push((path, Target::Gfx1030)),
                "gfx11-generic" => found.push((path, Target::Gfx1100)),
                "gfx12-generic" => found.push((path, Target::Gfx1200)),
                name => found.extend(Target::from_name(name).map(|target| (path, target))),
            }
        }
    }
    found
}

/// The bundle's code objects for a card: for gfx90a one for each setting of XNACK.
fn rocrand(card: &str) -> Vec<Vec<u8>> {
    let library = fs::read(ROCRAND).expect("it was found before");
    let magic = b"__CLANG_OFFLOAD_BUNDLE__";
    let start = library.windows(magic.len()).position(|window| window == magic).expect("device code");
    let bundle = bundle::Bundle::parse(&library[start..], &Limits::default()).expect("clang made it");
    let objects = bundle
        .entries()
        .iter()
        .filter(|entry| entry.identity.is_some_and(|identity| identity.target.processor.name() == card));
    objects.map(|entry| entry.bytes.to_vec()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "code is made of words");
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Where AMDGPU code objects stand in ROCr's library, and those of them that are for gfx90a.
fn rocr_objects(library: &[u8]) -> (Vec<Range<usize>>, Vec<&[u8]>) {
    let (mut places, mut objects) = (Vec::new(), Vec::new());
    for start in (4..library.len() - 64).step_by(4).filter(|&at| library[at..].starts_with(b"\x7fELF")) {
        // ELF: e_machine of AMD GPUs is 224. Code objects older than version 3 stand there too; no loader takes them.
        let Ok(object) = bundle::Bundle::parse(&library[start..], &Limits::default()) else { continue };
        let place = start..start + object.extent();
        let identity = object.entries()[0].identity.expect("the loader took it for a code object");
        if identity.target.processor.name() == "gfx90a" {
            objects.push(&library[place.clone()]);
        }
        places.push(place);
    }
    (places, objects)
}

/// ROCr's kernels for GFX9 that fill memory, copy memory of any alignment, and copy aligned memory: bare code, which the
/// library gives a header when it starts. `None` without the library.
///
/// Each follows another kernel, and padding; those for other architectures do not decode.
fn blits() -> Option<[Vec<u32>; 3]> {
    if !installed(ROCR, "libhsa-runtime64-1") {
        return None;
    }
    const END: [u8; 4] = 0xbf81_0000u32.to_le_bytes();
    const LONGEST: usize = 256;
    let library = fs::read(ROCR).expect("it was found before");
    let (objects, _) = rocr_objects(&library);
    let (chunks, _) = library.as_chunks::<4>();
    let outside = |at: &usize| !objects.iter().any(|object| object.contains(&(4 * at)));
    let ends: Vec<usize> = (0..chunks.len()).filter(|&at| chunks[at] == END).filter(outside).collect();
    let code = ends.array_windows().filter(|[before, end]| end - before < LONGEST).map(|&[before, end]| {
        let padding = chunks[before + 1..end].iter().take_while(|&&chunk| chunk == [0; 4]).count();
        words(chunks[before + 1 + padding..=end].as_flattened())
    });
    // Kernels of ancient code objects have a header in front of them, which happens to decode: these have none and
    // start with `s_load_dwordx4 s[4:7], s[0:1], 0x0`.
    let bare = code.filter(|code| code.starts_with(&[0xc00a_0100, 0]));
    let blits: Vec<_> =
        bare.filter(|code| decode_all(Target::Gfx90a, code).all(|(_, inst)| inst.is_ok())).collect();
    Some(blits.try_into().expect("the library has three for GFX9"))
}
