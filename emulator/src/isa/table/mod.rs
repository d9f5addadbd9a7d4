//! The instruction tables: one row per instruction, data only, a file per encoding family.
//!
//! A row reads
//!
//! ```text
//! opcode, "mnemonic", TARGETS, Dst + Sdst = [Src0, Src1, Src2], FLAGS, exec;
//! ```
//!
//! where `+ Sdst` and trailing sources may be missing, the operands are of type [`Ty`], the flags are constants
//! of [`flag`](super::flag), and `exec` is `None` or `Some(function)`. A row stays on one line, however long.
//!
//! Each table is a macro that hands its rows to another one: to `rows`, which makes the table of all columns but the
//! last, and in `wave::semantics` to one that makes the table of the last column.

use super::row::{ABSENT, Family, Row, Shape, Target, Targets, Ty};

/// What the table files name in their rows.
mod prelude {
    pub(super) use super::super::flag::*;
}

macro_rules! rows {
    ($table:ident, $family:ident, $(
        $opcode:literal, $name:literal, $targets:ident,
        $dst:ident $(+ $sdst:ident)? = [$($src:ident),*], $flags:expr, $exec:expr;
    )*) => {
        #[doc = concat!("The ", stringify!($table), " rows, ordered by opcode.")]
        pub static $table: &[super::Row] = &[$(super::Row {
            family: super::Family::$family,
            opcode: $opcode,
            rdna: [super::ABSENT; 4],
            name: $name,
            targets: super::Targets::$targets,
            shape: super::Shape {
                dst: super::Ty::$dst,
                sdst: super::last(&[super::Ty::No $(, super::Ty::$sdst)?]),
                src: super::three(&[$(super::Ty::$src),*]),
                flags: $flags,
            },
        }),*];
    };
}

pub mod ds;
pub mod flat;
pub mod mubuf;
pub mod rdna;
pub mod smem;
pub mod sop;
pub mod vop1;
pub mod vop2;
pub mod vop3;
pub mod vop3p;
pub mod vopc;

/// Every table of GFX9, in the order of [`Family`].
pub static TABLES: [(Family, &[Row]); 17] = [
    (Family::Sop1, sop::SOP1),
    (Family::Sop2, sop::SOP2),
    (Family::Sopk, sop::SOPK),
    (Family::Sopc, sop::SOPC),
    (Family::Sopp, sop::SOPP),
    (Family::Smem, smem::SMEM),
    (Family::Vop1, vop1::VOP1),
    (Family::Vop2, vop2::VOP2),
    (Family::Vopc, vopc::VOPC),
    (Family::Vop3, vop3::VOP3),
    (Family::Vop3p, vop3p::VOP3P),
    (Family::Ds, ds::DS),
    (Family::Flat, flat::FLAT),
    (Family::Global, flat::GLOBAL),
    (Family::Scratch, flat::SCRATCH),
    (Family::Mubuf, mubuf::MUBUF),
    (Family::Mtbuf, mubuf::MTBUF),
];

/// The tables of a target, in the order of [`Family`].
pub fn of(target: Target) -> &'static [(Family, &'static [Row])] {
    if target.is_rdna() { &rdna::TABLES } else { &TABLES }
}

/// The rows of `family` on GFX9.
pub fn rows(family: Family) -> &'static [Row] {
    TABLES[family as usize].1
}

/// Position of a row in the table of its family; none for a row that is in no table.
pub(crate) fn position(row: &'static Row) -> Option<usize> {
    let rows = if row.is_rdna() { rdna::TABLES[row.family as usize].1 } else { rows(row.family) };
    let offset = (std::ptr::from_ref(row) as usize).checked_sub(rows.as_ptr() as usize)?;
    let index = offset / size_of::<Row>();
    (index < rows.len()).then_some(index)
}

const fn last(types: &[Ty]) -> Ty {
    types[types.len() - 1]
}

const fn three(types: &[Ty]) -> [Ty; 3] {
    let mut out = [Ty::No; 3];
    let mut i = 0;
    while i < types.len() {
        out[i] = types[i];
        i += 1;
    }
    out
}
