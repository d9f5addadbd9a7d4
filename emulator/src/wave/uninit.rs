//! A wave that is watched for what it does with bytes that nothing has written: each instruction is looked at before it is
//! executed.

mod access;
mod compute;
#[cfg(test)]
mod tests;

use super::{Exec, Wave, accesses};
use crate::{
    isa::{Family, Inst, flag},
    uninit::Uninit,
};

/// The instruction that is looked at.
struct Step<'a> {
    inst: &'a Inst,
    /// Executes it.
    exec: Exec,
    pc: u64,
}

impl Wave {
    /// Looks at an instruction that is about to be executed, if the wave is watched.
    #[cold]
    pub(super) fn follow_unwritten(&mut self, inst: &Inst, exec: Exec) {
        let Some(mut uninit) = self.uninit.take() else { return };
        let step = Step { inst, exec, pc: self.pc_of(inst) };
        look(&mut uninit, self, &step);
        self.uninit = Some(uninit);
    }
}

fn look(uninit: &mut Uninit, wave: &mut Wave, step: &Step<'_>) {
    use Family::{
        Ds, Flat, Global, LdsDirect, Mtbuf, Mubuf, Scratch, Smem, Sop1, Sop2, Sopc, Sopk, Sopp, Vop1, Vop2,
        Vop3, Vop3p, Vopc, Vopd,
    };
    let row = step.inst.row;
    match row.family {
        Sopp if !row.shape.has(flag::BRANCH) => {}
        Sop1 | Sop2 | Sopc | Sopk | Sopp => compute::scalar(uninit, wave, step),
        Vop1 | Vop2 | Vop3 | Vop3p | Vopc | Vopd => compute::vector(uninit, wave, step),
        Ds if accesses::is_permutation(step.inst) => compute::vector(uninit, wave, step),
        Ds | LdsDirect => access::local(uninit, wave, step),
        Flat | Global | Scratch => access::flat(uninit, wave, step),
        Mubuf | Mtbuf => access::buffer(uninit, wave, step),
        Smem => access::scalar(uninit, wave, step),
    }
}
