use loader::{CodeObject, Error, Limits, Place, RelocatedValue};

use crate::samples;

const BASE: u64 = 0x7f12_3456_7000;

fn word(image: &[u8], offset: u64) -> u64 {
    u64::from_le_bytes(*image[offset as usize..].first_chunk().unwrap())
}

fn nothing(_: &str) -> Option<u64> {
    None
}

#[test]
fn the_image_has_the_file_s_bytes_zeros_and_relocated_words() {
    for (name, file) in samples::code_objects() {
        let object = CodeObject::parse(&file).unwrap();
        let plan = object.load_plan(&Limits::default()).unwrap();
        let image = plan.image(BASE, nothing).unwrap();
        assert_eq!(image.len() as u64, plan.size());
        assert_eq!(plan.align(), 4096, "{name}");

        let mut expected = vec![0; image.len()];
        for segment in plan.segments() {
            let start = segment.offset as usize;
            expected[start..start + segment.file.len()].copy_from_slice(&file[segment.file.clone()]);
        }
        for relocation in plan.relocations() {
            let RelocatedValue::Image(offset) = relocation.value else { panic!("{relocation:?}") };
            let at = relocation.offset as usize;
            expected[at..at + 8].copy_from_slice(&(BASE + offset).to_le_bytes());
        }
        assert!(image == expected, "{name}");

        // Memory that held something else ends up the same.
        let mut dirty = vec![0xa5; image.len()];
        plan.write(&mut dirty, BASE, nothing).unwrap();
        assert!(dirty == image, "{name}");
    }
}

#[test]
fn pointers_in_variables_point_to_their_targets() {
    let file = samples::read("gfx942_v6.co");
    let object = CodeObject::parse(&file).unwrap();
    let image = object.load_plan(&Limits::default()).unwrap().image(BASE, nothing).unwrap();
    let pointer = object.variable("counter_pointer").unwrap();
    assert_eq!(word(&image, pointer.offset), BASE + object.variable("counter").unwrap().offset);
    let table = object.variable("operations").unwrap();
    for entry in 0..2 {
        let function = word(&image, table.offset + 8 * entry) - BASE;
        let code = object.segments().iter().find(|segment| segment.range().contains(&function)).unwrap();
        assert!(code.protection.execute);
    }
    let scale = object.variable("scale").unwrap();
    assert_eq!(f64::from_bits(word(&image, scale.offset)), 2.5);
}

#[test]
fn segments_are_read_only_code_and_data() {
    let file = samples::read("gfx90a_v5.co");
    let object = CodeObject::parse(&file).unwrap();
    let protections: Vec<_> = object.segments().iter().map(|s| s.protection.to_string()).collect();
    assert_eq!(protections, ["R", "RX", "RW", "RW"]);
}

#[test]
fn a_base_must_keep_the_alignment_and_not_wrap() {
    let file = samples::read("gfx90a_v5.co");
    let object = CodeObject::parse(&file).unwrap();
    let plan = object.load_plan(&Limits::default()).unwrap();
    for base in [1, 0x7f00_0000_0100, u64::MAX, !0xfff] {
        assert_eq!(plan.image(base, nothing).unwrap_err(), Error::BadBase { base, align: 4096 });
    }
    let short = plan.write(&mut vec![0; plan.size() as usize - 1], BASE, nothing);
    assert_eq!(short, Err(Error::ImageLength { expected: plan.size(), actual: plan.size() - 1 }));
}

#[test]
fn an_image_beyond_the_limit_is_refused_without_allocating_it() {
    let mut file = samples::read("gfx90a_v5.co");
    let object = CodeObject::parse(&file).unwrap();
    let bytes = object.load_plan(&Limits::default()).unwrap().size();
    let limits = Limits::default().image_bytes(bytes - 1);
    assert_eq!(object.load_plan(&limits).unwrap_err(), Error::ImageTooLarge { bytes, limit: bytes - 1 });
    assert!(object.load_plan(&limits.image_bytes(bytes)).is_ok());

    // The last loadable segment (program header 4) claims 2^62 bytes of zeros.
    file[64 + 4 * 56 + 40..][..8].copy_from_slice(&(1u64 << 62).to_le_bytes());
    let object = CodeObject::parse(&file).unwrap();
    let error = object.load_plan(&Limits::default()).unwrap_err();
    assert!(matches!(error, Error::ImageTooLarge { bytes, limit } if bytes > 1 << 62 && limit == 2 << 30));
}

/// Returns the sample with its last relocation replaced by one of type `kind` to `symbol`.
fn with_relocation(kind: u32, symbol: &str, place: impl Fn(&mut [u8])) -> (Vec<u8>, u64) {
    let mut file = samples::read("gfx90a_v5.co");
    let object = CodeObject::parse(&file).unwrap();
    let offset = object.load_plan(&Limits::default()).unwrap().relocations().last().unwrap().offset;
    let index = 1 + object.symbols().position(|s| s.name == symbol).unwrap();
    let Place::Image(value) = object.symbol(symbol).unwrap().place else { panic!("{symbol} is defined") };
    // The sample's image starts at address 0, so offsets are addresses.
    let entry = [offset.to_le_bytes(), 13u64.to_le_bytes()].concat();
    let entry = file.windows(16).position(|window| window == entry).unwrap();
    file[entry + 8..entry + 12].copy_from_slice(&kind.to_le_bytes());
    file[entry + 12..entry + 16].copy_from_slice(&(index as u32).to_le_bytes());
    file[entry + 16..entry + 24].copy_from_slice(&(-8i64).to_le_bytes());
    // st_info, st_other, st_shndx, st_value
    let symbol = file.chunks(8).position(|chunk| chunk == value.to_le_bytes()).unwrap() * 8 - 8;
    place(&mut file[symbol..symbol + 24]);
    (file, offset)
}

#[test]
fn abs64_adds_the_addend_to_a_defined_symbol() {
    let (file, offset) = with_relocation(3, "buffer", |_| ());
    let object = CodeObject::parse(&file).unwrap();
    let image = object.load_plan(&Limits::default()).unwrap().image(BASE, nothing).unwrap();
    assert_eq!(word(&image, offset), BASE + object.variable("buffer").unwrap().offset - 8);
}

#[test]
fn an_undefined_symbol_is_resolved_by_the_caller_or_named() {
    let (file, offset) = with_relocation(3, "buffer", |symbol| symbol[6..8].fill(0));
    let object = CodeObject::parse(&file).unwrap();
    let plan = object.load_plan(&Limits::default()).unwrap();
    let resolve = |name: &str| (name == "buffer").then_some(0x5000);
    assert_eq!(word(&plan.image(BASE, resolve).unwrap(), offset), 0x4ff8);
    let unresolved = Error::Unresolved { name: "buffer".to_owned(), offset };
    assert_eq!(plan.image(BASE, nothing).unwrap_err(), unresolved);
}

#[test]
fn a_weak_undefined_symbol_is_zero() {
    let (file, offset) = with_relocation(3, "buffer", |symbol| {
        symbol[4] = 0x21; // STB_WEAK, STT_OBJECT
        symbol[6..8].fill(0);
    });
    let object = CodeObject::parse(&file).unwrap();
    let image = object.load_plan(&Limits::default()).unwrap().image(BASE, nothing).unwrap();
    assert_eq!(word(&image, offset) as i64, -8);
}

#[test]
fn an_absolute_symbol_does_not_move() {
    let (file, offset) = with_relocation(3, "buffer", |symbol| symbol[6..8].copy_from_slice(&[0xf1, 0xff]));
    let object = CodeObject::parse(&file).unwrap();
    let plan = object.load_plan(&Limits::default()).unwrap();
    let image = plan.image(BASE, nothing).unwrap();
    assert_eq!(RelocatedValue::Absolute(word(&image, offset)), plan.relocations().last().unwrap().value);
    assert!(word(&image, offset) < BASE);
}

#[test]
fn other_relocations_are_errors_by_name() {
    for (kind, name) in [(4, "R_AMDGPU_REL32"), (10, "R_AMDGPU_REL32_LO"), (12, "unknown"), (77, "unknown")] {
        let (file, offset) = with_relocation(kind, "buffer", |_| ());
        let object = CodeObject::parse(&file).unwrap();
        let error = object.load_plan(&Limits::default()).unwrap_err();
        assert_eq!(error, Error::UnsupportedRelocation { kind, name, offset });
    }
}
