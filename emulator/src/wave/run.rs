//! The interpreter's inner loop.

use std::sync::Arc;

use super::{Fault, FaultKind, Wave};
use crate::{
    code::{self, Code, PAGE_BYTES},
    coverage,
    isa::{Family, Flow, Inst, Operand},
};

/// Why a wave stopped running for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It used up its slice.
    Slice,
    /// It gives way to others.
    Yield,
    /// It waits at a barrier.
    Barrier,
    /// It ended.
    End,
    /// It faulted; [`Wave::stop`] says how.
    Stop,
}

impl Wave {
    /// Executes at most `left` instructions and takes their number from it.
    pub fn run(&mut self, code: &[Arc<Code>], left: &mut u64) -> Exit {
        loop {
            let indexed = self.mode.gpr_index();
            let exit = match (indexed, coverage::enabled()) {
                (false, false) => self.run_as::<false, false>(code, left),
                (true, false) => self.run_as::<true, false>(code, left),
                (false, true) => self.run_as::<false, true>(code, left),
                (true, true) => self.run_as::<true, true>(code, left),
            };
            // Instructions that switch VGPR indexing give way so that the other loop takes over.
            if exit != Exit::Yield || self.mode.gpr_index() == indexed {
                return exit;
            }
        }
    }

    fn run_as<const INDEXED: bool, const RECORDED: bool>(
        &mut self,
        code: &[Arc<Code>],
        left: &mut u64,
    ) -> Exit {
        let mut range: Option<&Arc<Code>> = None;
        // Beside `self.pc`, which the next instruction would otherwise have to wait for.
        let mut pc = self.pc;
        loop {
            let Some((start, page)) = range.and_then(|r| r.page(pc)) else {
                // Another code object, or none.
                range = code::find(code, pc);
                if range.is_none() {
                    self.stop = Some(Fault { kind: FaultKind::Fetch, pc });
                    return Exit::Stop;
                }
                continue;
            };
            loop {
                let offset = pc.wrapping_sub(start);
                if offset >= PAGE_BYTES {
                    break;
                }
                if *left == 0 {
                    return Exit::Slice;
                }
                *left -= 1;
                let op = &page[(offset / 4) as usize];
                pc += u64::from(op.inst.size);
                self.pc = pc;
                if RECORDED {
                    coverage::executed(op.inst.row);
                }
                let flow = if INDEXED && is_vector(op.inst.row.family) {
                    (op.exec)(self, &indexed(&op.inst, self.m0()))
                } else {
                    (op.exec)(self, &op.inst)
                };
                // Two predictable branches, not a jump table: this is the hottest line of the emulator.
                if flow == Flow::Next {
                    continue;
                }
                if flow == Flow::Jump {
                    pc = self.pc;
                    continue;
                }
                return exit(flow);
            }
        }
    }
}

#[cold]
fn exit(flow: Flow) -> Exit {
    match flow {
        Flow::Barrier => Exit::Barrier,
        Flow::End => Exit::End,
        Flow::Stop => Exit::Stop,
        // The first two never come here.
        Flow::Next | Flow::Jump | Flow::Yield => Exit::Yield,
    }
}

fn is_vector(family: Family) -> bool {
    matches!(family, Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p)
}

/// The instruction with its vector operands moved as M0 says: the index in bits 7..0, in bits 15..12 which of
/// destination, source 2, 1, 0 it concerns (MI200 ISA, 6.6).
fn indexed(inst: &Inst, m0: u32) -> Inst {
    let index = (m0 & 0xff) as u16;
    let shift = |op: Operand, role: u32| {
        let last = match op.0 {
            256..=511 => 511,
            512..=767 => 767,
            _ => return op,
        };
        if m0 >> role & 1 == 0 {
            op
        } else if op.0 + index <= last {
            Operand(op.0 + index)
        } else {
            // Out of range sources read register 0.
            Operand(last - 255)
        }
    };
    let mut inst = *inst;
    for (source, role) in inst.src.iter_mut().zip(12..) {
        *source = shift(*source, role);
    }
    inst.dst = shift(inst.dst, 15);
    inst
}
