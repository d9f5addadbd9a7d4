//! The semantics of each row of the instruction tables: their last column.

use super::{
    Wave,
    exec::{
        barrier, blocks, cached, ds, exchange, flat, fork, formatted, gws, mubuf, scalar_atomic, smem, sop1,
        sop2, sopc, sopk, sopp, to_lds, transposed,
    },
    valu::{
        approx, bits, carry, compare, convert, cross, divide, dot, double, float, fp8, integer,
        matrix::{
            Bf8Bf8, Bf8Fp8, Bf16, F16, F32, F64, Fp8Bf8, Fp8Fp8, I8, PairedBf16, PairedBf16Of1k, PairedF16,
            Xf32, ld_scale, mfma, mfma_f8f6f4, smfmac, wmma,
        },
        media, mix, packed, rdna,
        scale::{narrow, widen},
        select,
        small::{Brain, E2m1, E2m3, E3m2, E4m3, E5m2, Half},
        trig, uniform,
    },
};
use crate::isa::{Flow, Inst, Row, table};

/// The semantics of one instruction. [`Wave::pc`] has already advanced past it.
pub type Exec = fn(&mut Wave, &Inst) -> Flow;

macro_rules! semantics {
    ($table:ident, $family:ident, $(
        $opcode:literal, $name:literal, $targets:ident,
        $dst:ident $(+ $sdst:ident)? = [$($src:ident),*], $flags:expr, $exec:expr;
    )*) => {
        static $table: &[Option<Exec>] = &[$($exec),*];
    };
}

table::sop::sop2!(semantics);
table::sop::sopk!(semantics);
table::sop::sop1!(semantics);
table::sop::sopc!(semantics);
table::sop::sopp!(semantics);
table::smem::smem!(semantics);
table::vop1::vop1!(semantics);
table::vop2::vop2!(semantics);
table::vopc::vopc!(semantics);
table::vop3::vop3!(semantics);
table::vop3p::vop3p!(semantics);
table::ds::ds!(semantics);
table::flat::flat!(semantics);
table::flat::global!(semantics);
table::flat::scratch!(semantics);
table::mubuf::mubuf!(semantics);
table::mubuf::mtbuf!(semantics);

/// The tables, in the order of [`table::TABLES`].
static TABLES: [&[Option<Exec>]; table::TABLES.len()] = [
    SOP1, SOP2, SOPK, SOPC, SOPP, SMEM, VOP1, VOP2, VOPC, VOP3, VOP3P, DS, FLAT, GLOBAL, SCRATCH, MUBUF,
    MTBUF,
];

/// Those of RDNA.
mod of_rdna {
    use super::*;

    macro_rules! semantics {
        ($table:ident, $family:ident, $(
            [$($opcode:tt),*], $name:literal,
            $dst:ident $(+ $sdst:ident)? = [$($src:ident),*], $flags:expr, $exec:expr;
        )*) => {
            static $table: &[Option<Exec>] = &[$($exec),*];
        };
    }

    table::rdna::sop::sop2!(semantics);
    table::rdna::sop::sopk!(semantics);
    table::rdna::sop::sop1!(semantics);
    table::rdna::sop::sopc!(semantics);
    table::rdna::sop::sopp!(semantics);
    table::rdna::smem::smem!(semantics);
    table::rdna::vop1::vop1!(semantics);
    table::rdna::vop2::vop2!(semantics);
    table::rdna::vopc::vopc!(semantics);
    table::rdna::vop3::vop3!(semantics);
    table::rdna::vop3p::vop3p!(semantics);
    table::rdna::vopd::vopd!(semantics);
    table::rdna::ds::ds!(semantics);
    table::rdna::ds::lds_direct!(semantics);
    table::rdna::flat::flat!(semantics);
    table::rdna::flat::global!(semantics);
    table::rdna::flat::scratch!(semantics);
    table::rdna::mubuf::mubuf!(semantics);
    table::rdna::mubuf::mtbuf!(semantics);

    /// The tables, in the order of [`table::rdna::TABLES`].
    pub(super) static TABLES: [&[Option<Exec>]; table::rdna::TABLES.len()] = [
        SOP1, SOP2, SOPK, SOPC, SOPP, SMEM, VOP1, VOP2, VOPC, VOP3, VOP3P, DS, FLAT, GLOBAL, SCRATCH, MUBUF,
        MTBUF, VOPD, LDS_DIRECT,
    ];
}

/// The semantics of a row; `None`: it decodes and disassembles, but stops the dispatch with an error that names it.
pub fn semantics(row: &'static Row) -> Option<Exec> {
    let tables: &[&[Option<Exec>]] = if row.is_rdna() { &of_rdna::TABLES } else { &TABLES };
    tables[row.family as usize][table::position(row)?]
}
