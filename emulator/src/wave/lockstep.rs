//! Two waves of 32 lanes that execute the same instructions at the same time.
//!
//! The second one's lanes lie behind the first one's in the [rows of registers](super::VectorFile), so that where both are at the
//! same instruction, one call for 64 lanes executes it for both, and costs hardly more than one for 32. All that is not
//! a matter of lanes each wave has for itself: scalar registers, EXEC, the program counter.

use std::{ptr::NonNull, sync::Arc};

use super::{
    Exit, Fault, FaultKind, Wave,
    code::{self, Code, Layout, Op, PAGE_BYTES, Second},
    run,
    state::Masks,
    way::{Manner, Way},
};
use crate::isa::Flow;

/// Straight runs of instructions that the wave behind goes alone before both go on for themselves for a turn.
const ATTEMPTS: u32 = 32;
/// Dwords that such a run counts as.
const RUN: u64 = 16;

/// Executes about `left` dwords of instructions of each of two waves and takes their number from it: together as long as
/// they are at the same instruction. How each one stopped.
pub(crate) fn run(waves: [&mut Wave; 2], code: &[Arc<Code>], left: &mut u64) -> [Exit; 2] {
    let [first, second] = waves;
    for _ in 0..ATTEMPTS {
        if first.mode != second.mode {
            break;
        }
        if first.pc == second.pc {
            let pair = Pair { first, second, is_joined: false };
            if let Some(exits) = pair.run(code, left) {
                return exits;
            }
        }
        // Most likely the one behind comes to where the other one is.
        let is_first = first.pc < second.pc;
        let (behind, ahead) =
            if is_first { (&mut *first, &mut *second) } else { (&mut *second, &mut *first) };
        let exit = behind.run(code, &mut 1);
        *left = left.saturating_sub(RUN);
        if exit != Exit::Slice {
            let other = ahead.run(code, left);
            return if is_first { [exit, other] } else { [other, exit] };
        }
    }
    let mut own = *left;
    [first.run(code, &mut own), second.run(code, left)]
}

/// Two waves at the same instruction, with the same MODE.
struct Pair<'a> {
    first: &'a mut Wave,
    second: &'a mut Wave,
    /// Whether the first one is a wave of 64 lanes for now.
    is_joined: bool,
}

impl Pair<'_> {
    /// Executes instructions until the waves part; `None`: both can go on, at different ones.
    fn run(mut self, code: &[Arc<Code>], left: &mut u64) -> Option<[Exit; 2]> {
        let exits = self.go(code, left);
        self.part();
        exits
    }

    fn go(&mut self, code: &[Arc<Code>], left: &mut u64) -> Option<[Exit; 2]> {
        let mut range: Option<&Arc<Code>> = None;
        'page: loop {
            let pc = self.first.pc;
            let Some((start, page)) = range.and_then(|range| range.page(pc)) else {
                range = code::find(code, pc);
                if range.is_none() {
                    self.first.stop = Some(Fault { kind: FaultKind::Fetch, pc });
                    return Some([Exit::Stop, Exit::Slice]);
                }
                continue;
            };
            let ways = page.ways();
            let mut offset = pc - start;
            loop {
                if *left == 0 {
                    self.second.pc = self.first.pc;
                    return Some([Exit::Slice; 2]);
                }
                let mut index = (offset / 4) as usize;
                let first = index;
                let flows = loop {
                    let (Some(op), Some(way)) = (page.get(index), ways.get(index)) else { break None };
                    index += 1;
                    let (mut idle, mut second) = (0, None);
                    // As for a wave alone: branches, which the host predicts.
                    if op.layout != Layout::SHORT {
                        std::hint::cold_path();
                        index += 1;
                        if op.layout != Layout::LONG {
                            std::hint::cold_path();
                            index = index + op.layout.dwords() - 2;
                            idle = op.layout.idle();
                            second = page.second(op);
                        }
                    }
                    self.first.pc = start + 4 * index as u64;
                    let flows = self.execute(op, second, way);
                    if flows != [Flow::Next; 2] {
                        break Some(flows);
                    }
                    index += idle;
                };
                *left = left.saturating_sub((index - first) as u64);
                match flows {
                    Some([Flow::Jump, Flow::Jump]) if self.first.pc == self.second.pc => {
                        offset = self.first.pc.wrapping_sub(start);
                        if offset >= PAGE_BYTES {
                            continue 'page;
                        }
                    }
                    None => {
                        self.first.pc = start + 4 * index as u64;
                        continue 'page;
                    }
                    Some([Flow::Next | Flow::Jump, Flow::Next | Flow::Jump]) => return None,
                    Some(flows) => {
                        return Some(flows.map(|flow| match flow {
                            Flow::Next | Flow::Jump => Exit::Slice,
                            flow => run::exit(flow),
                        }));
                    }
                }
            }
        }
    }

    /// Executes an instruction behind which the first wave's program counter is.
    #[inline(always)]
    fn execute(&mut self, op: &Op, second: Option<&Second>, way: &Way) -> [Flow; 2] {
        let is_together = way.manner.is_together(self.first.scratch_stride != 0);
        if !is_together || !way.agrees(&self.first.sgpr, &self.second.sgpr) {
            if way.manner != Manner::Scalar {
                self.part();
            }
            return self.each(op, second);
        }
        if !self.is_joined {
            if self.first.mode != self.second.mode {
                return self.each(op, second);
            }
            self.join();
        }
        // Anew each time, because there may have been other references to them.
        self.first.masks = Masks::Split(NonNull::from(&mut self.second.sgpr));
        match once(self.first, op, second) {
            Flow::Next => [Flow::Next; 2],
            flow => self.stopped(flow),
        }
    }

    /// Executes an instruction for one wave and then for the other.
    #[inline(never)]
    fn each(&mut self, op: &Op, second: Option<&Second>) -> [Flow; 2] {
        self.second.pc = self.first.pc;
        [once(self.first, op, second), once(self.second, op, second)]
    }

    /// How an instruction of both ended that ended them, or one of them.
    #[cold]
    fn stopped(&mut self, flow: Flow) -> [Flow; 2] {
        self.second.pc = self.first.pc;
        let Some(fault) = self.first.stop.as_mut() else { return [flow; 2] };
        match &mut fault.kind {
            FaultKind::Memory { lane, .. }
            | FaultKind::Misaligned { lane, .. }
            | FaultKind::Aperture { lane, .. }
                if *lane >= 32 =>
            {
                *lane -= 32;
                self.second.stop = self.first.stop.take();
                [Flow::Next, flow]
            }
            _ => [flow, Flow::Next],
        }
    }

    /// Makes the first one a wave of the lanes of both.
    #[inline(always)]
    fn join(&mut self) {
        let Self { first, second, is_joined } = self;
        *is_joined = true;
        first.exec |= second.exec << 32;
        first.full = u64::MAX;
        first.lanes = 64;
    }

    /// Gives each wave its own lanes back.
    #[inline(always)]
    fn part(&mut self) {
        if !self.is_joined {
            return;
        }
        self.is_joined = false;
        self.second.exec = self.first.exec >> 32;
        self.first.set_lanes(32);
        self.first.exec &= self.first.full;
    }
}

#[inline(always)]
fn once(wave: &mut Wave, op: &Op, second: Option<&Second>) -> Flow {
    match second {
        None => (op.exec)(wave, &op.inst),
        Some(second) => {
            wave.dual::<false>(op, second, 0);
            Flow::Next
        }
    }
}

#[cfg(test)]
mod tests;
