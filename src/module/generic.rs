//! Generic code objects for HSA runtimes from before there were any.
//!
//! Code for a generic target runs on each processor that the target stands for (LLVM AMDGPUUsage, "Generic Processors"). A
//! file says in two places which target it is for: in its ELF header, and in its metadata. ROCr from before 6.3 knows no
//! generic target, but takes the same code under the processor's own name.

use loader::{CodeObject, TargetId};

/// `EI_ABIVERSION`: where the ELF header has the version of code objects, and the number of version 5, the last one without
/// generic targets.
const ABI_VERSION: (usize, u8) = (8, 3);
/// Where the ELF header has `e_flags`: the processor, features, and a generic target's version.
const FLAGS: usize = 48;
/// The key of the target in the metadata: a string of 13 bytes in MessagePack.
const TARGET: &[u8] = b"\xadamdhsa.target";
/// What LLVM writes behind the target: a string of 14 bytes, and an array of two numbers.
const VERSION: &[u8] = b"\xaeamdhsa.version\x92";

/// The file of a generic code object with the name of the processor of `device`, which it runs on; `None` if `object` is
/// for no generic target, or has metadata that LLVM does not write.
pub(super) fn for_processor(object: &CodeObject<'_>, device: &TargetId) -> Option<Vec<u8>> {
    let identity = object.identity();
    let (generic, processor) = (identity.target.processor, device.processor);
    if !generic.is_generic() {
        return None;
    }
    let mut bytes = object.bytes().to_vec();
    *bytes.get_mut(ABI_VERSION.0)? = ABI_VERSION.1;
    // A field is 0 where the processor lacks the feature, and 1 where the code runs with either setting.
    let [_, mut features, ..] = identity.e_flags.to_le_bytes();
    for (is_there, shift) in [(processor.has_xnack(), 0), (processor.has_sramecc(), 2)] {
        if is_there && features >> shift & 3 == 0 {
            features |= 1 << shift;
        }
    }
    bytes.get_mut(FLAGS..FLAGS + 4)?.copy_from_slice(&[processor.mach(), features, 0, 0]);
    rename(&mut bytes, generic.name(), processor.name())?;
    Some(bytes)
}

/// Names another processor in the metadata, whose length stays: the numbers behind the name get so much wider as it gets shorter.
fn rename(bytes: &mut [u8], from: &str, to: &str) -> Option<()> {
    let key = bytes.windows(TARGET.len()).position(|window| window == TARGET)?;
    let start = key + TARGET.len();
    let (header, length) = match bytes.get(start..)? {
        [byte @ 0xa0..=0xbf, ..] => (1, usize::from(byte & 0x1f)),
        [0xd9, length, ..] => (2, usize::from(*length)),
        _ => return None,
    };
    let name = std::str::from_utf8(bytes.get(start + header..start + header + length)?).ok()?;
    let name = name.strip_suffix(from)?.to_owned() + to;
    let end = start + header + length;
    let [numbers @ .., major, minor] = bytes.get(end..end + VERSION.len() + 2)? else { return None };
    if numbers != VERSION || *major > 0x7f || *minor > 0x7f {
        return None;
    }
    let (major, minor, end) = (*major, *minor, end + VERSION.len() + 2);
    let fits = |(first, second): (usize, usize)| {
        // CAST: a name has fewer than 256 bytes: `from`, which is longer, had a length of one byte.
        let name = [&[0xd9, name.len() as u8], name.as_bytes()].concat();
        let new = [&name, VERSION, &number(major, first), &number(minor, second)].concat();
        (new.len() == end - start).then_some(new)
    };
    let widths = || [1, 2, 3, 5, 9].into_iter();
    let new = widths().flat_map(|first| widths().map(move |second| (first, second))).find_map(fits)?;
    bytes.get_mut(start..end)?.copy_from_slice(&new);
    Some(())
}

/// A number below 128 in `width` bytes of MessagePack: 1, 2, 3, 5 or 9.
fn number(value: u8, width: usize) -> Vec<u8> {
    let tag = match width {
        1 => return vec![value],
        2 => 0xcc,
        3 => 0xcd,
        5 => 0xce,
        _ => 0xcf,
    };
    [&[tag], vec![0; width - 2].as_slice(), &[value]].concat()
}

#[cfg(test)]
mod tests {
    use loader::{Feature, Processor, Version};

    use super::*;

    const OBJECTS: [&[u8]; 5] = [
        include_bytes!("../../kernels/blit.gfx9-generic.co"),
        include_bytes!("../../kernels/blit.gfx9-4-generic.co"),
        include_bytes!("../../kernels/blit.gfx10-3-generic.co"),
        include_bytes!("../../kernels/blit.gfx11-generic.co"),
        include_bytes!("../../kernels/blit.gfx12-generic.co"),
    ];

    #[test]
    fn each_processor_of_a_generic_target_gets_an_object_in_its_name() {
        let mut renamed = 0;
        for object in OBJECTS {
            let object = CodeObject::parse(object).unwrap();
            let generic = object.target().processor;
            let members = Processor::all().filter(|p| p.generic().is_some_and(|(g, _)| g == generic));
            for device in members.map(TargetId::new) {
                let bytes = for_processor(&object, &device).unwrap_or_else(|| panic!("{generic} {device}"));
                assert_eq!(bytes.len(), object.bytes().len());
                let own = CodeObject::parse(bytes.as_slice()).unwrap();
                assert_eq!((own.version(), own.target()), (Version::V5, device));
                let metadata = own.metadata().unwrap();
                assert_eq!(metadata.target.as_deref(), Some(&*format!("amdgcn-amd-amdhsa--{device}")));
                assert_eq!(metadata.version, object.metadata().unwrap().version);
                assert_eq!(metadata.kernels, object.metadata().unwrap().kernels);
                renamed += 1;
            }
        }
        assert!(renamed >= 24, "{renamed}");
    }

    /// What LLVM itself says of an object for gfx942 whose code is the same.
    #[test]
    fn flags_are_those_of_the_compiler() {
        let device = TargetId::new(Processor::from_name("gfx942").unwrap());
        let generic = CodeObject::parse(include_bytes!("../../kernels/demo.gfx9-4-generic.co")).unwrap();
        let compiled = CodeObject::parse(include_bytes!("../../kernels/demo.gfx942.co")).unwrap();
        let bytes = for_processor(&generic, &device).unwrap();
        let renamed = CodeObject::parse(bytes.as_slice()).unwrap();
        assert_eq!(renamed.identity(), compiled.identity());
        assert_eq!(for_processor(&compiled, &device), None);
    }

    #[test]
    fn a_feature_that_only_the_processor_has_may_have_either_setting() {
        let object = CodeObject::parse(OBJECTS[0]).unwrap();
        let of = |name| {
            let device = TargetId::new(Processor::from_name(name).unwrap());
            let bytes = for_processor(&object, &device).unwrap();
            CodeObject::parse(bytes.as_slice()).unwrap().identity().e_flags
        };
        assert_eq!(object.target().xnack, Feature::Any);
        assert_eq!((of("gfx900"), of("gfx906")), (0x12c, 0x52f));
    }

    #[test]
    fn what_llvm_does_not_write_is_left_alone() {
        let object = CodeObject::parse(OBJECTS[3]).unwrap();
        let mut bytes = object.bytes().to_vec();
        assert_eq!(rename(&mut bytes, "gfx12-generic", "gfx1200"), None, "another target");
        let at = bytes.windows(TARGET.len()).position(|window| window == TARGET).unwrap();
        bytes[at + 1] = b'b';
        assert_eq!(rename(&mut bytes, "gfx11-generic", "gfx1100"), None, "no target");
        assert_eq!(rename(&mut bytes[..at + 20], "gfx11-generic", "gfx1100"), None, "cut off");
    }

    /// The part of a name between its dots is the target: `blit.gfx11-generic.co`.
    #[test]
    fn committed_device_code_is_for_the_target_in_its_name() {
        let mut seen = 0;
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap();
            let [_, target, "co"] = *name.split('.').collect::<Vec<_>>() else { continue };
            let object = CodeObject::parse(std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(object.target().processor.name(), target, "{name}");
            let is_rdna = ["gfx10", "gfx11", "gfx12"].iter().any(|family| target.starts_with(family));
            let lanes = if is_rdna { 32 } else { 64 };
            for kernel in object.kernels() {
                let kernel = kernel.unwrap();
                assert_eq!(kernel.metadata.wavefront_size, lanes, "{name}: {}", kernel.name);
                assert_eq!(
                    kernel.descriptor.lanes(object.target().processor),
                    lanes,
                    "{name}: {}",
                    kernel.name
                );
            }
            seen += 1;
        }
        assert!(seen > 40, "{seen}");
    }
}
