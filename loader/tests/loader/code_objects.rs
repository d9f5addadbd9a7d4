use loader::{Access, AddressSpace, CodeObject, Error, Place, SymbolKind, ValueKind, Version};

use crate::samples;

#[test]
fn version_and_target_are_those_that_the_sample_was_built_for() {
    for (name, version, target) in [
        ("gfx90a_v4.co", Version::V4, "gfx90a"),
        ("gfx90a_v5.co", Version::V5, "gfx90a"),
        ("gfx90a_xnack_v6.co", Version::V6, "gfx90a:xnack+"),
        ("gfx942_v5.co", Version::V5, "gfx942"),
        ("gfx942_v6.co", Version::V6, "gfx942:sramecc+:xnack-"),
        ("gfx9-generic_v6.co", Version::V6, "gfx9-generic"),
        ("gfx9-4-generic_v6.co", Version::V6, "gfx9-4-generic"),
        ("opencl_gfx90a_v5.co", Version::V5, "gfx90a"),
    ] {
        let file = samples::read(name);
        let object = CodeObject::parse(&file).unwrap();
        assert_eq!((object.version(), object.target().to_string()), (version, target.to_owned()), "{name}");
        assert_eq!(object.identity().generic_version, u8::from(target.contains("generic")), "{name}");
    }
}

#[test]
fn kernels_are_listed_from_the_symbols_and_described_by_the_metadata() {
    for (name, file) in samples::code_objects() {
        let object = CodeObject::parse(&file).unwrap();
        let mut names: Vec<_> = object.kernel_names().collect();
        names.sort_unstable();
        let opencl = name.starts_with("opencl");
        assert_eq!(
            names,
            if opencl { vec!["blend"] } else { vec!["call_table", "scale_pair", "spill", "sum"] }
        );

        let kernels: Vec<_> = object.kernels().collect::<Result<_, _>>().unwrap();
        assert_eq!(kernels.len(), object.metadata().unwrap().kernels.len());
        for kernel in kernels {
            let (descriptor, metadata) = (kernel.descriptor, kernel.metadata);
            assert_eq!(&*metadata.name, kernel.name);
            assert_eq!(*metadata.symbol, format!("{}.kd", kernel.name));
            assert_eq!(descriptor.group_segment_fixed_size, metadata.group_segment_fixed_size);
            assert_eq!(descriptor.private_segment_fixed_size, metadata.private_segment_fixed_size);
            assert_eq!(descriptor.kernarg_size, metadata.kernarg_segment_size);
            if object.version() >= Version::V5 {
                assert_eq!(descriptor.uses_dynamic_stack(), metadata.uses_dynamic_stack);
            }
            assert!(descriptor.allocated_vgprs(object.target().processor) >= metadata.vgpr_count);
            assert_eq!(metadata.wavefront_size, 64);
            assert!(
                descriptor.sgpr_kernarg_segment_ptr() && descriptor.ieee_mode() && descriptor.dx10_clamp()
            );
            assert!(kernel.descriptor_offset % 64 == 0 && kernel.entry_offset % 256 == 0);

            // The function symbol says the same as the descriptor's entry offset.
            let function = object.symbol(kernel.name).unwrap();
            assert_eq!(function.kind, SymbolKind::Function);
            assert_eq!(function.place, Place::Image(kernel.entry_offset));

            let ends = metadata.args.iter().map(|arg| arg.offset + arg.size);
            assert!(ends.clone().max().unwrap() <= metadata.kernarg_segment_size);
            assert!(metadata.args.windows(2).all(|pair| pair[0].offset + pair[0].size <= pair[1].offset));
        }
    }
}

#[test]
fn explicit_arguments_have_the_layout_of_the_source() {
    for (name, file) in samples::code_objects() {
        if name.starts_with("opencl") {
            continue;
        }
        let object = CodeObject::parse(&file).unwrap();
        let kernel = object.kernel("scale_pair").unwrap();
        let (explicit, hidden): (Vec<_>, Vec<_>) =
            kernel.metadata.args.iter().partition(|arg| !arg.value_kind.is_hidden());
        let layout: Vec<_> = explicit.iter().map(|arg| (arg.offset, arg.size)).collect();
        assert_eq!(layout, [(0, 8), (8, 16), (24, 4), (28, 1)], "{name}");
        assert_eq!(explicit[0].value_kind, ValueKind::GlobalBuffer);
        assert_eq!(explicit[0].address_space, Some(AddressSpace::Global));
        assert!(explicit[1..].iter().all(|arg| arg.value_kind == ValueKind::ByValue));
        assert!(
            hidden.iter().all(|arg| arg.offset >= 32),
            "hidden arguments start at the next multiple of 8"
        );
    }
}

#[test]
fn hidden_arguments_follow_the_code_object_version() {
    let offset_of = |file: &str, kind: ValueKind| {
        let file = samples::read(file);
        let object = CodeObject::parse(&file).unwrap();
        let kernel = object.kernel("call_table").unwrap();
        kernel.metadata.args.iter().find(|arg| arg.value_kind == kind).map(|arg| arg.offset)
    };
    // Explicit arguments end at 12; hidden ones start at 16.
    assert_eq!(offset_of("gfx90a_v4.co", ValueKind::HiddenGlobalOffsetX), Some(16));
    assert_eq!(offset_of("gfx90a_v5.co", ValueKind::HiddenBlockCountX), Some(16));
    assert_eq!(offset_of("gfx942_v6.co", ValueKind::HiddenGlobalOffsetX), Some(16 + 40));
    assert_eq!(offset_of("gfx90a_v5.co", ValueKind::HiddenQueuePtr), Some(16 + 200));
}

#[test]
fn group_and_private_memory_and_launch_bounds_are_reported() {
    let file = samples::read("gfx90a_v5.co");
    let object = CodeObject::parse(&file).unwrap();
    let sum = object.kernel("sum").unwrap();
    assert_eq!(sum.descriptor.group_segment_fixed_size, 1024);
    assert_eq!(sum.metadata.max_flat_workgroup_size, 256);
    assert!(sum.descriptor.enable_workgroup_ids()[0]);
    assert!(!sum.descriptor.enable_private_segment());
    let spill = object.kernel("spill").unwrap();
    assert!(spill.descriptor.private_segment_fixed_size >= 400 && spill.descriptor.enable_private_segment());
    assert_eq!(object.descriptor("spill").unwrap(), spill.descriptor);
}

#[test]
fn opencl_metadata_gives_names_access_and_workgroup_size() {
    let file = samples::read("opencl_gfx90a_v5.co");
    let object = CodeObject::parse(&file).unwrap();
    let metadata = object.kernel("blend").unwrap().metadata;
    assert_eq!(metadata.reqd_workgroup_size, Some([8, 4, 2]));
    assert_eq!((metadata.language.as_deref(), metadata.language_version), (Some("OpenCL C"), Some((2, 0))));
    let names: Vec<_> = metadata.args.iter().filter_map(|arg| arg.name.as_deref()).collect();
    assert_eq!(names, ["source", "weights", "tile", "destination"]);
    assert_eq!(metadata.args[0].actual_access, Some(Access::ReadOnly));
    assert_eq!(metadata.args[1].address_space, Some(AddressSpace::Constant));
    assert_eq!(metadata.args[2].value_kind, ValueKind::DynamicSharedPointer);
    assert_eq!(metadata.args[2].pointee_align, Some(4));
}

#[test]
fn variables_have_size_and_protection() {
    for (name, file) in samples::code_objects() {
        let object = CodeObject::parse(&file).unwrap();
        let mut variables: Vec<_> = object.variables().map(|v| (v.name, v.size, v.writable)).collect();
        variables.sort_unstable();
        let expected: &[_] = if name.starts_with("opencl") {
            &[]
        } else {
            &[
                ("__hip_cuid_", 1, true),
                ("buffer", 4096, true),
                ("coefficients", 16, false),
                ("counter", 4, true),
                ("counter_pointer", 8, true),
                ("operations", 16, true),
                ("scale", 8, true),
            ]
        };
        assert_eq!(variables, expected, "{name}");
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let file = samples::read("gfx942_v6.co");
    let object = CodeObject::parse(&file).unwrap();
    for name in ["", "summ", "sum.kd", "counter"] {
        assert_eq!(object.kernel(name).unwrap_err(), Error::NoKernel { name: name.to_owned() });
        assert_eq!(object.descriptor(name).unwrap_err(), Error::NoKernel { name: name.to_owned() });
    }
    for name in ["", "sum", "sum.kd", "counter2"] {
        assert_eq!(object.variable(name), None);
    }
    assert_eq!(object.symbol(""), None);
}

#[test]
fn a_shared_code_object_outlives_its_bundle() {
    let object: CodeObject<'static> = {
        let compressed = samples::read("three_targets_v3.ccob");
        let bundle = loader::bundle::Bundle::parse(compressed, &Default::default()).unwrap();
        let entry = bundle.select(&"gfx90a:xnack-".parse().unwrap()).unwrap();
        CodeObject::parse(entry.bytes.clone()).unwrap()
    };
    assert_eq!(object.kernel_names().len(), 4);
    fn shared_between_threads(_: &(impl Send + Sync)) {}
    shared_between_threads(&object);
}

#[test]
fn a_file_without_sections_has_no_symbols_but_loads() {
    let mut file = samples::read("gfx90a_v5.co");
    file[40..48].fill(0); // e_shoff
    file[60..64].fill(0); // e_shnum, e_shstrndx
    let object = CodeObject::parse(&file).unwrap();
    assert_eq!((object.kernel_names().len(), object.symbols().count()), (0, 0));
    assert_eq!(object.metadata().unwrap().kernels.len(), 4);
}

#[test]
fn a_bad_entry_is_an_error_of_that_kernel_alone() {
    let mut file = samples::read("gfx90a_v5.co");
    let descriptor = CodeObject::parse(&file).unwrap().kernel("sum").unwrap().descriptor_offset;
    let at = descriptor as usize + 16; // the read-only segment starts at file offset 0
    for (entry, what) in [(0i64, "not code"), (i64::MIN, "outside"), (0x100_0000, "far outside")] {
        file[at..at + 8].copy_from_slice(&entry.to_le_bytes());
        let object = CodeObject::parse(&file).unwrap();
        assert!(
            matches!(object.kernel("sum"), Err(Error::KernelEntry { name, .. }) if name == "sum"),
            "{what}"
        );
        assert!(object.kernel("spill").is_ok());
    }
}

#[test]
fn a_version_6_object_of_one_target_reads_as_version_5() {
    for (sample, becomes) in [
        ("gfx942_v6.co", true),
        ("gfx90a_xnack_v6.co", true),
        ("gfx9-generic_v6.co", false),
        ("gfx942_v5.co", false),
    ] {
        let bytes = samples::read(sample);
        let object = CodeObject::parse(bytes.as_slice()).unwrap();
        let older = object.as_version_5();
        assert_eq!(older.is_some(), becomes, "{sample}");
        let Some(older) = older else { continue };
        let older = CodeObject::parse(older).unwrap();
        assert_eq!((older.version(), older.target()), (Version::V5, object.target()), "{sample}");
        for name in object.kernel_names() {
            assert_eq!(
                older.kernel(name).unwrap().descriptor,
                object.kernel(name).unwrap().descriptor,
                "{name}"
            );
        }
    }
}

#[test]
fn a_stripped_object_shows_its_dynamic_symbols_as_static_ones() {
    let mut file = samples::read("gfx90a_v5.co");
    let shown = CodeObject::parse(file.as_slice()).unwrap().with_static_symbols();
    let shown = shown.expect("the sample is stripped");
    let word = |file: &[u8], at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    // e_shoff and e_shnum; the type is the second word of a header of 64 bytes.
    let (headers, count) = (word(&file, 0x28) as usize, usize::from(file[0x3c]));
    let types: Vec<_> = (0..count).map(|section| headers + 64 * section + 4).collect();
    let dynamic = types.iter().copied().find(|at| word(&file, *at) == 11).unwrap();
    assert_eq!(word(&shown, dynamic), 2);
    let changed = file.iter().zip(&shown).filter(|(old, new)| old != new).count();
    assert_eq!((shown.len(), changed), (file.len(), 1));
    // The last section is the one of the sections' names, the one before is a comment.
    file[types[count - 2]] = 2;
    let full = CodeObject::parse(file.as_slice()).unwrap().with_static_symbols();
    assert!(full.is_none(), "it has static symbols");
}
