//! The interpreter's inner loop.

use std::sync::Arc;

use super::{
    Exec, Fault, FaultKind, Wave,
    code::{self, Code, Layout, Op, PAGE_BYTES, Second},
    racing,
};
use crate::{
    convergence::Row,
    coverage,
    isa::{Family, Flow, Inst, Operand, Ty, inst::Form},
    uninit::VectorShadow,
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
    /// Executes about `left` dwords of instructions and takes their number from it: a straight run of instructions,
    /// up to a branch or the end of a page, is not broken off.
    pub fn run(&mut self, code: &[Arc<Code>], left: &mut u64) -> Exit {
        loop {
            let altered = self.mode.alters_vectors();
            let families = self.looked_at();
            // Caches hear of each wait.
            let exit = match (altered, families != 0 || self.view.is_some()) {
                (false, false) => self.run_as::<false, false>(code, left, families),
                (true, false) => self.run_as::<true, false>(code, left, families),
                (false, true) => self.run_as::<false, true>(code, left, families),
                (true, true) => self.run_as::<true, true>(code, left, families),
            };
            // Instructions that switch VGPR indexing or skipping give way so that the other loop takes over.
            if exit != Exit::Yield || self.mode.alters_vectors() == altered {
                return exit;
            }
        }
    }

    /// The families of which instructions are looked at before they are executed, a bit each.
    fn looked_at(&self) -> u32 {
        if coverage::enabled() || self.converging.is_some() || self.uninit.is_some() {
            return u32::MAX;
        }
        let generation = self.target.generation();
        self.racing.as_ref().map_or(0, |racing| racing::families(racing.watch, generation))
    }

    /// `LOOKED_AT`: there are `families` that are looked at; no instruction is left out.
    fn run_as<const ALTERED: bool, const LOOKED_AT: bool>(
        &mut self,
        code: &[Arc<Code>],
        left: &mut u64,
        families: u32,
    ) -> Exit {
        let mut range: Option<&Arc<Code>> = None;
        'page: loop {
            let pc = self.pc;
            let Some((start, page)) = range.and_then(|r| r.page(pc)) else {
                // Another code object, or none.
                range = code::find(code, pc);
                if range.is_none() {
                    self.stop = Some(Fault { kind: FaultKind::Fetch, pc });
                    return Exit::Stop;
                }
                continue;
            };
            let mut offset = pc - start;
            loop {
                if *left == 0 {
                    return Exit::Slice;
                }
                let mut index = (offset / 4) as usize;
                let first = index;
                // The hottest loop of the emulator: what can be done once for a straight run is not done here.
                let flow = loop {
                    let Some(op) = page.get(index) else { break None };
                    index += 1;
                    let mut idle = 0;
                    if op.layout != Layout::SHORT {
                        // Branches, which the host predicts; were this arithmetic, each instruction would wait for
                        // the one before to be loaded.
                        std::hint::cold_path();
                        index += 1;
                        if op.layout != Layout::LONG {
                            std::hint::cold_path();
                            index = index + op.layout.dwords() - 2;
                            if !LOOKED_AT {
                                idle = op.layout.idle();
                            }
                            if let Some(second) = page.second(op) {
                                self.pc = start + 4 * index as u64;
                                self.dual::<LOOKED_AT>(op, second, families);
                                index += idle;
                                continue;
                            }
                        }
                    }
                    self.pc = start + 4 * index as u64;
                    let altered = ALTERED && !is_scalar(op.inst.row.family);
                    if altered && self.mode.vskip() {
                        continue;
                    }
                    if LOOKED_AT && families >> op.inst.row.family as u32 & 1 != 0 {
                        let inst = if altered { self.altered(&op.inst) } else { op.inst };
                        self.look_at(&inst, op.exec);
                    }
                    let flow = if altered {
                        (op.exec)(self, &self.altered(&op.inst))
                    } else {
                        (op.exec)(self, &op.inst)
                    };
                    if flow != Flow::Next {
                        break Some(flow);
                    }
                    index += idle;
                };
                *left = left.saturating_sub((index - first) as u64);
                match flow {
                    Some(Flow::Jump) => {
                        offset = self.pc.wrapping_sub(start);
                        if offset >= PAGE_BYTES {
                            continue 'page;
                        }
                    }
                    None => {
                        // Past what was left out at the end of the page, too.
                        self.pc = start + 4 * index as u64;
                        continue 'page;
                    }
                    Some(flow) => return exit(flow),
                }
            }
        }
    }
}

/// What is known of a vector register, beside what it holds.
struct Known {
    inactive: Option<Row>,
    unwritten: Option<VectorShadow>,
}

impl Wave {
    /// Executes a dual-issue instruction.
    #[inline(never)]
    pub(super) fn dual<const LOOKED_AT: bool>(&mut self, op: &Op, second: &Second, families: u32) {
        let is_looked_at = LOOKED_AT && families >> Family::Vopd as u32 & 1 != 0;
        let hidden = second.hidden.map(|row| (row, self.vgpr[row]));
        let mut known = second.hidden.filter(|_| is_looked_at).map(|row| (row, self.known(row)));
        if is_looked_at {
            self.look_at(&op.inst, op.exec);
        }
        (op.exec)(self, &op.inst);
        let hidden = hidden.map(|(row, before)| (row, std::mem::replace(&mut self.vgpr[row], before)));
        if is_looked_at {
            self.exchange_known(&mut known);
            self.look_at(&second.inst, second.exec);
            self.exchange_known(&mut known);
        }
        (second.exec)(self, &second.inst);
        if let Some((row, after)) = hidden {
            self.vgpr[row] = after;
        }
    }

    /// What is known of a register where waves are watched.
    fn known(&self, row: usize) -> Known {
        Known {
            inactive: self.converging.as_ref().map(|converging| converging.inactive.row(row)),
            unwritten: self.uninit.as_ref().and_then(|uninit| uninit.registers.row(row).cloned()),
        }
    }

    /// Puts what is known of a register in the place of what is now, which is kept.
    fn exchange_known(&mut self, known: &mut Option<(usize, Known)>) {
        let Some((row, known)) = known else { return };
        let before = std::mem::replace(known, self.known(*row));
        if let (Some(converging), Some(inactive)) = (&mut self.converging, before.inactive) {
            // CAST: less than 512.
            converging.inactive.set((Operand(256 + *row as u16), Ty::B32), u64::MAX, inactive);
        }
        if let Some(uninit) = &mut self.uninit {
            uninit.registers.clear_row(*row, u64::MAX);
            if let Some(unwritten) = before.unwritten {
                uninit.registers.set_row(*row, u64::MAX, &unwritten);
            }
        }
    }

    /// Looks at an instruction that is about to be executed.
    #[cold]
    fn look_at(&mut self, inst: &Inst, exec: Exec) {
        if coverage::enabled() {
            coverage::executed(self.target, inst.row);
        }
        self.follow_races(inst);
        self.follow_lanes(inst);
        self.follow_unwritten(inst, exec);
    }
}

#[cold]
pub(super) fn exit(flow: Flow) -> Exit {
    match flow {
        Flow::Barrier => Exit::Barrier,
        Flow::End => Exit::End,
        Flow::Stop => Exit::Stop,
        // The first two never come here.
        Flow::Next | Flow::Jump | Flow::Yield => Exit::Yield,
    }
}

/// Whether an instruction is the scalar unit's: all others are what VSKIP skips.
fn is_scalar(family: Family) -> bool {
    use Family::{Smem, Sop1, Sop2, Sopc, Sopk, Sopp};
    matches!(family, Sop1 | Sop2 | Sopk | Sopc | Sopp | Smem)
}

fn is_valu(family: Family) -> bool {
    matches!(family, Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p)
}

impl Wave {
    /// A vector instruction as VGPR indexing changes it; memory instructions stay as they are.
    fn altered(&self, inst: &Inst) -> Inst {
        if is_valu(inst.row.family) { indexed(inst, self.m0()) } else { *inst }
    }
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
    inst.form = Form::of(&inst);
    inst
}
