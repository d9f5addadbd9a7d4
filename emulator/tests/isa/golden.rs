//! The tables hold exactly the opcodes that LLVM knows.

use std::collections::{BTreeMap, BTreeSet};

use emulator::isa::{Family, Target, flag, table};

const GFX90A: &str = include_str!("../data/isa/gfx90a.tsv");
const GFX942: &str = include_str!("../data/isa/gfx942.tsv");
const GFX950: &str = include_str!("../data/isa/gfx950.tsv");
const GFX1030: &str = include_str!("../data/isa/gfx1030.tsv");
const GFX1100: &str = include_str!("../data/isa/gfx1100.tsv");
const GFX1150: &str = include_str!("../data/isa/gfx1150.tsv");
const GFX1200: &str = include_str!("../data/isa/gfx1200.tsv");

/// Instructions beyond the golden list, which was taken with the GDS bit clear.
const GDS_ONLY: [(u16, &str); 6] = [
    (152, "ds_gws_sema_release_all"),
    (153, "ds_gws_init"),
    (154, "ds_gws_sema_v"),
    (155, "ds_gws_sema_br"),
    (156, "ds_gws_sema_p"),
    (157, "ds_gws_barrier"),
];

/// Opcodes of the VOP3 encoding at which the short families' instructions begin: on GFX9, and on RDNA.
const PROMOTED: [[(Family, u16); 3]; 2] = [
    [(Family::Vopc, 0), (Family::Vop2, 0x100), (Family::Vop1, 0x140)],
    [(Family::Vopc, 0), (Family::Vop2, 0x100), (Family::Vop1, 0x180)],
];

type Opcodes = BTreeMap<String, BTreeSet<(u16, String)>>;

fn golden(target: Target) -> Opcodes {
    let text = match target {
        Target::Gfx90a => GFX90A,
        Target::Gfx942 => GFX942,
        Target::Gfx950 => GFX950,
        Target::Gfx1030 => GFX1030,
        Target::Gfx1150 | Target::Gfx1151 => GFX1150,
        Target::Gfx1200 | Target::Gfx1201 => GFX1200,
        _ => GFX1100,
    };
    let mut opcodes = Opcodes::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let mut field = || fields.next().expect("three fields a line");
        let (family, opcode, name) = (field(), field(), field());
        let opcode = opcode.parse().expect("opcodes are numbers");
        let name =
            ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| name.strip_suffix(s)).unwrap_or(name);
        if family != "MIMG" {
            opcodes.entry(family.to_owned()).or_default().insert((opcode, name.to_owned()));
        }
    }
    opcodes
}

fn tables(target: Target) -> Opcodes {
    let mut opcodes = Opcodes::new();
    for (family, rows) in table::of(target) {
        let promoted = PROMOTED[usize::from(target.is_rdna())].iter().find(|(f, _)| f == family);
        for row in rows.iter().filter(|row| row.targets.has(target)) {
            let name = format!("{family:?}").to_uppercase();
            if *family == Family::Ds && !target.is_rdna() && GDS_ONLY.contains(&(row.opcode, row.name)) {
                continue;
            }
            let opcode = row.opcode_on(target);
            opcodes.entry(name).or_default().insert((opcode, row.name.to_owned()));
            if let Some((_, base)) = promoted.filter(|_| !row.shape.has(flag::NO_E64)) {
                opcodes.entry("VOP3".to_owned()).or_default().insert((base + opcode, row.name.to_owned()));
            }
        }
    }
    opcodes
}

fn check(target: Target) {
    let (golden, tables) = (golden(target), tables(target));
    assert_eq!(golden.keys().collect::<Vec<_>>(), tables.keys().collect::<Vec<_>>());
    for (family, opcodes) in &golden {
        assert_eq!(opcodes, &tables[family], "{target:?} {family}");
    }
}

#[test]
fn gfx90a_has_every_opcode_that_llvm_knows_and_no_other() {
    check(Target::Gfx90a);
}

#[test]
fn gfx942_has_every_opcode_that_llvm_knows_and_no_other() {
    check(Target::Gfx942);
}

#[test]
fn the_number_of_opcodes_per_family_is_the_published_one() {
    let count = |target: Target, family: &str| {
        let opcodes = tables(target).remove(family).unwrap_or_default();
        opcodes.into_iter().map(|(opcode, _)| opcode).collect::<BTreeSet<_>>().len()
    };
    let counts = [
        ("SOP2", 53, 53),
        ("SOPK", 21, 21),
        ("SOP1", 54, 54),
        ("SOPC", 20, 20),
        ("SOPP", 31, 31),
        ("SMEM", 84, 84),
        ("VOP2", 62, 61),
        ("VOP1", 79, 84),
        ("VOPC", 198, 198),
        ("VOP3", 436, 443),
        ("VOP3P", 62, 81),
        ("DS", 118, 122),
        ("FLAT", 51, 54),
        ("GLOBAL", 53, 59),
        ("SCRATCH", 22, 27),
        ("MUBUF", 76, 73),
        ("MTBUF", 16, 16),
    ];
    for (family, gfx90a, gfx942) in counts {
        assert_eq!(
            (count(Target::Gfx90a, family), count(Target::Gfx942, family)),
            (gfx90a, gfx942),
            "{family}"
        );
    }
}

#[test]
fn the_table_list_is_ordered_as_the_families_are() {
    for (i, (family, rows)) in table::TABLES.iter().enumerate() {
        assert_eq!(*family as usize, i);
        assert!(rows.iter().all(|row| row.family == *family), "{family:?}");
        assert!(rows.is_sorted_by_key(|row| row.opcode), "{family:?}");
    }
}

#[test]
fn rdna_has_every_opcode_that_llvm_knows_and_no_other() {
    Target::ALL.into_iter().filter(|target| target.is_rdna()).for_each(check);
}

#[test]
fn the_table_list_of_rdna_is_ordered_as_the_families_are() {
    for (i, (family, rows)) in table::of(Target::Gfx1100).iter().enumerate() {
        assert_eq!(*family as usize, i);
        assert!(rows.iter().all(|row| row.family == *family), "{family:?}");
    }
}

#[test]
fn gfx950_has_every_opcode_that_llvm_knows_and_no_other() {
    check(Target::Gfx950);
}
