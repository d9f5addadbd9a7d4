//! The instruction tables of RDNA, a file per encoding family.
//!
//! A row reads
//!
//! ```text
//! [RDNA 2, RDNA 3, RDNA 3.5, RDNA 4], "mnemonic", Dst + Sdst = [Src0, Src1, Src2], FLAGS, exec;
//! ```
//!
//! where the first column holds opcodes, `_` where a generation lacks the instruction or knows it by another name. The
//! other columns are those of [the tables of GFX9](super).

use super::super::row::{ABSENT, Family, Row, Targets};

macro_rules! opcode {
    (_) => {
        super::ABSENT
    };
    ($opcode:literal) => {
        $opcode
    };
}

macro_rules! rows {
    ($table:ident, $family:ident, $(
        [$rdna2:tt, $rdna3:tt, $rdna35:tt, $rdna4:tt], $name:literal,
        $dst:ident $(+ $sdst:ident)? = [$($src:ident),*], $flags:expr, $exec:expr;
    )*) => {
        #[doc = concat!("The ", stringify!($table), " rows.")]
        pub static $table: &[super::Row] = &[$(super::row(
            super::Family::$family,
            [opcode!($rdna2), opcode!($rdna3), opcode!($rdna35), opcode!($rdna4)],
            $name,
            super::super::Shape {
                dst: super::super::Ty::$dst,
                sdst: super::super::last(&[super::super::Ty::No $(, super::super::Ty::$sdst)?]),
                src: super::super::three(&[$(super::super::Ty::$src),*]),
                flags: $flags,
            },
        )),*];
    };
}

pub mod ds;
pub mod flat;
pub mod mubuf;
pub mod smem;
pub mod sop;
pub mod vop1;
pub mod vop2;
pub mod vop3;
pub mod vop3p;
pub mod vopc;
pub mod vopd;

/// Every table, in the order of [`Family`].
pub static TABLES: [(Family, &[Row]); 19] = [
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
    (Family::Vopd, vopd::VOPD),
    (Family::LdsDirect, ds::LDS_DIRECT),
];

const fn row(family: Family, rdna: [u16; 4], name: &'static str, shape: super::Shape) -> Row {
    let targets =
        [Targets::GFX10, Targets(Targets::GFX11.0 & !Targets::GFX115.0), Targets::GFX115, Targets::GFX12];
    let (mut bits, mut opcode, mut n) = (0, ABSENT, 0);
    while n < rdna.len() {
        if rdna[n] != ABSENT {
            bits |= targets[n].0;
            opcode = rdna[n];
        }
        n += 1;
    }
    Row { family, opcode, rdna, name, targets: Targets(bits), shape }
}
