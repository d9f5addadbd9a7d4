//! What the installed compiler and LLVM's own reader say, beside what the loader says.

use std::collections::BTreeMap;

use loader::bundle::{Bundle, Format, bundles};
use loader::{CodeObject, Limits, Place, RelocatedValue, SymbolKind};

use crate::samples::{self, Scratch, installed, run};

const TOOLS: [&str; 4] = ["clang++-22", "clang-22", "ld.lld-22", "clang-offload-bundler-22"];
const READER: [&str; 1] = ["llvm-readelf-22"];
const OPTIONS: [&str; 6] = ["-x", "hip", "-nogpulib", "-nogpuinc", "-fuse-cuid=none", "-O2"];

/// What must be equal in a committed code object and one that another version of the compiler built.
fn summary(file: &[u8]) -> String {
    let object = CodeObject::parse(file).unwrap();
    let mut lines = vec![format!("{:?} {}", object.version(), object.target())];
    lines.extend(object.variables().map(|v| format!("{} {} {}", v.name, v.size, v.writable)));
    for kernel in object.kernels() {
        let kernel = kernel.unwrap();
        let args = kernel.metadata.args.iter().filter(|arg| !arg.value_kind.is_hidden());
        let args: Vec<_> = args.map(|arg| (arg.offset, arg.size, arg.value_kind.name())).collect();
        lines.push(format!("{} {} {args:?}", kernel.name, kernel.descriptor.group_segment_fixed_size));
    }
    lines.sort();
    lines.join("\n")
}

#[test]
fn samples_are_what_build_txt_makes() {
    if !installed(&TOOLS) {
        return;
    }
    let scratch = Scratch::new("samples");
    for recipe in samples::recipes() {
        run(scratch.path(), &recipe.command);
        let (built, committed) = (scratch.read(&recipe.file), samples::read(&recipe.file));
        if recipe.file.ends_with(".co") {
            assert_eq!(summary(&built), summary(&committed), "{}", recipe.file);
            continue;
        }
        let parse = |bytes| Bundle::parse(bytes, &Limits::default()).unwrap();
        let (built, committed) = (parse(&built), parse(&committed));
        assert_eq!(built.entries().len(), committed.entries().len());
        for (built, committed) in built.entries().iter().zip(committed.entries()) {
            assert_eq!((&built.id, built.identity), (&committed.id, committed.identity));
        }
    }
}

/// The words of the lines of `text` that `keep` keeps.
fn rows(text: &str, keep: impl Fn(&[&str]) -> bool) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).filter(|row: &Vec<_>| keep(row)).collect()
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

#[test]
fn readelf_lists_the_same_symbols() {
    if !installed(&READER) {
        return;
    }
    for (name, file) in samples::code_objects() {
        let text = run(&samples::folder(), &["llvm-readelf-22", "-W", "--dyn-syms", &name]);
        let table = rows(&text, |row| row.len() == 8 && row[0].ends_with(':') && row[0] != "Num:");
        let object = CodeObject::parse(&file).unwrap();
        let symbols: Vec<_> = object.symbols().collect();
        assert_eq!(symbols.len(), table.len(), "{name}");
        for (symbol, row) in symbols.iter().zip(table) {
            // The samples' images start at address 0.
            assert_eq!(symbol.name, row[7]);
            assert_eq!((symbol.place, symbol.size), (Place::Image(hex(row[1])), row[2].parse().unwrap()));
            let kind = match row[3] {
                "OBJECT" if row[7].ends_with(".kd") => SymbolKind::KernelDescriptor,
                "OBJECT" => SymbolKind::Variable,
                "FUNC" => SymbolKind::Function,
                _ => SymbolKind::Other,
            };
            assert_eq!(symbol.kind, kind);
        }
    }
}

#[test]
fn readelf_shows_the_same_header_and_segments() {
    if !installed(&READER) {
        return;
    }
    for (name, file) in samples::code_objects() {
        let object = CodeObject::parse(&file).unwrap();
        let text = run(&samples::folder(), &["llvm-readelf-22", "-W", "-h", "-l", &name]);
        let flags = text.lines().find_map(|line| line.trim().strip_prefix("Flags:")).unwrap();
        let mut flags = flags.split(',').map(str::trim);
        assert_eq!(u64::from(object.identity().e_flags), hex(flags.next().unwrap()));
        assert_eq!(object.target().processor.name(), flags.next().unwrap());

        let loads = rows(&text, |row| row.first() == Some(&"LOAD"));
        assert_eq!(object.segments().len(), loads.len());
        for (segment, row) in object.segments().iter().zip(loads) {
            let protection = row[6..row.len() - 1].concat().replace('E', "X");
            assert_eq!(segment.protection.to_string(), protection);
            assert_eq!((segment.offset, segment.size), (hex(row[2]), hex(row[5])));
            let file = segment.file.start as u64..segment.file.end as u64;
            assert_eq!(file, hex(row[1])..hex(row[1]) + hex(row[4]));
        }
    }
}

#[test]
fn readelf_lists_the_same_relocations() {
    if !installed(&READER) {
        return;
    }
    for (name, file) in samples::code_objects() {
        let text = run(&samples::folder(), &["llvm-readelf-22", "-W", "-r", &name]);
        let table = rows(&text, |row| row.get(2) == Some(&"R_AMDGPU_RELATIVE64"));
        let object = CodeObject::parse(&file).unwrap();
        let plan = object.load_plan(&Limits::default()).unwrap();
        let ours: Vec<_> = plan.relocations().iter().map(|r| (r.offset, r.value)).collect();
        let theirs: Vec<_> = table.iter().map(|r| (hex(r[0]), RelocatedValue::Image(hex(r[3])))).collect();
        assert_eq!(ours, theirs, "{name}");
        assert_eq!(theirs.len(), if name.starts_with("opencl") { 0 } else { 3 });
    }
}

/// The numbers and texts of each kernel in the metadata that readelf prints as YAML.
fn kernels_of_yaml(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut kernels = Vec::new();
    for line in text.lines() {
        let item = line.starts_with("  - ");
        if item {
            kernels.push(BTreeMap::new());
        }
        // Keys of a kernel are indented by four, those of its arguments by more.
        if (item || line.starts_with("    ."))
            && let Some((key, value)) = line[4..].split_once(':')
            && let Some(kernel) = kernels.last_mut()
        {
            kernel.insert(key.to_owned(), value.trim().to_owned());
        }
    }
    kernels
}

#[test]
fn readelf_prints_the_same_metadata() {
    if !installed(&READER) {
        return;
    }
    for (name, file) in samples::code_objects() {
        let text = run(&samples::folder(), &["llvm-readelf-22", "-W", "-n", &name]);
        let object = CodeObject::parse(&file).unwrap();
        let metadata = object.metadata().unwrap();
        let theirs = kernels_of_yaml(
            &text[text.find("amdhsa.kernels:").unwrap()..text.find("amdhsa.target:").unwrap()],
        );
        assert_eq!(theirs.len(), metadata.kernels.len(), "{name}");
        for (kernel, theirs) in metadata.kernels.iter().zip(theirs) {
            assert_eq!((&*kernel.name, &*kernel.symbol), (&*theirs[".name"], &*theirs[".symbol"]));
            for (key, value) in [
                (".kernarg_segment_size", kernel.kernarg_segment_size),
                (".kernarg_segment_align", kernel.kernarg_segment_align),
                (".group_segment_fixed_size", kernel.group_segment_fixed_size),
                (".private_segment_fixed_size", kernel.private_segment_fixed_size),
                (".wavefront_size", kernel.wavefront_size),
                (".max_flat_workgroup_size", kernel.max_flat_workgroup_size),
                (".sgpr_count", kernel.sgpr_count),
                (".vgpr_count", kernel.vgpr_count),
                (".sgpr_spill_count", kernel.sgpr_spill_count),
                (".vgpr_spill_count", kernel.vgpr_spill_count),
            ] {
                assert_eq!(theirs[key], value.to_string(), "{name} {} {key}", kernel.name);
            }
        }
        let kinds: Vec<_> = rows(&text, |row| row[..].contains(&".value_kind:"));
        let kinds: Vec<_> = kinds.iter().map(|row| *row.last().unwrap()).collect();
        let ours = metadata.kernels.iter().flat_map(|k| &k.args).map(|arg| arg.value_kind.name());
        assert_eq!(ours.collect::<Vec<_>>(), kinds, "{name}");
    }
}

#[test]
fn what_the_driver_bundles_is_selected_by_target() {
    if !installed(&TOOLS) {
        return;
    }
    let scratch = Scratch::new("driver");
    let targets = ["gfx90a:xnack-", "gfx90a:xnack+", "gfx942", "gfx9-4-generic", "gfx9-generic"];
    for (extra, format) in [("-O2", Format::Plain), ("--offload-compress", Format::Compressed)] {
        let archs = targets.iter().map(|target| format!("--offload-arch={target}"));
        let mut command = vec!["clang++-22".to_owned()];
        command.extend(OPTIONS.map(str::to_owned));
        command.extend(archs);
        let device_only =
            ["--offload-device-only", "--gpu-bundle-output", extra, "kernels.cpp", "-o", "out.hipfb"];
        command.extend(device_only.map(str::to_owned));
        run(scratch.path(), &command);

        let file = scratch.read("out.hipfb");
        let bundle = Bundle::parse(&file, &Limits::default()).unwrap();
        assert_eq!((bundle.format(), bundle.extent()), (format, file.len()));
        for (device, expected) in [
            ("gfx90a:sramecc+:xnack-", "gfx90a:xnack-"),
            ("gfx90a:sramecc+:xnack+", "gfx90a:xnack+"),
            ("gfx942:sramecc+:xnack-", "gfx942"),
            ("gfx950:sramecc+:xnack-", "gfx9-4-generic"),
            ("gfx906:sramecc+:xnack-", "gfx9-generic"),
        ] {
            let entry = bundle.select(&device.parse().unwrap()).unwrap();
            let object = CodeObject::parse(entry.bytes.clone()).unwrap();
            assert_eq!(object.target().to_string(), expected);
            assert_eq!(entry.id.parse(), Ok(object.target()), "{}", entry.id);
            assert_eq!(object.kernels().filter(Result::is_ok).count(), 4);
        }
        assert!(bundle.select(&"gfx908:sramecc+:xnack-".parse().unwrap()).is_err());
    }
}

#[test]
fn the_fat_binary_section_of_a_host_object_is_read() {
    if !installed(&TOOLS) || !installed(&["llvm-objcopy-22"]) {
        return;
    }
    let scratch = Scratch::new("host");
    // What the host side of a kernel needs from HIP's headers.
    let source = "typedef int hipError_t; typedef struct Stream *hipStream_t;
        struct dim3 { unsigned x, y, z; };
        extern \"C\" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, long, hipStream_t);
        #include \"kernels.cpp\"";
    std::fs::write(scratch.path().join("host.cpp"), source).unwrap();
    for driver in ["--offload-new-driver", "--no-offload-new-driver"] {
        let mut command = vec!["clang++-22", "--offload-host-device", "-c", driver, "-o", "host.o"];
        command.extend(OPTIONS);
        command.extend(["--offload-arch=gfx90a", "--offload-arch=gfx942", "host.cpp"]);
        run(scratch.path(), &command);
        run(
            scratch.path(),
            &["llvm-objcopy-22", "-O", "binary", "--only-section=.hip_fatbin", "host.o", "fat.bin"],
        );
        let file = scratch.read("fat.bin");
        let found: Vec<_> = bundles(&file, Limits::default()).collect::<Result<_, _>>().unwrap();
        assert_eq!(found.len(), 1, "{driver}");
        let entry = found[0].select(&"gfx942:sramecc+:xnack-".parse().unwrap()).unwrap();
        assert_eq!(CodeObject::parse(entry.bytes.clone()).unwrap().kernel_names().len(), 4);
    }
}
