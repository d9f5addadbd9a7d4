//! A wave that is watched for what it does to LDS and memory that nothing orders: each instruction is looked at before it is
//! executed.

use super::{
    Wave,
    accesses::{self, Action, Data, Dwords, Part, Place},
    exec::{cached, kind, shape},
};
use crate::{
    isa::{Family, Generation, Inst, Memory, Operand, Target, flag},
    memory::coherence,
    race::{Access, Counter, How, Most, RaceWatch, Racing, Reach, Spans, Touched},
};

// Opcodes of their families (MI200 ISA, 12).
const BUFFER_WBL2: u16 = 40;
const BUFFER_INVL2: u16 = 41;
// Those that rows of RDNA have, of MUBUF and GLOBAL.
const BUFFER_GL1_INV: u16 = 44;
const GLOBAL_WB: u16 = 44;
// Of SOPK (RDNA3 ISA, 16.2).
const S_WAITCNT_VSCNT: u16 = 24;
const S_WAITCNT_VMCNT: u16 = 25;
const S_WAITCNT_LGKMCNT: u16 = 27;
// Of SOPP, and of SOP1 (RDNA4 ISA, 16.3 and 16.5).
const S_WAIT_IDLE: u16 = 10;
const S_WAIT_LOADCNT: u16 = 64;
const S_WAIT_STORECNT: u16 = 65;
const S_WAIT_DSCNT: u16 = 70;
const S_WAIT_LOADCNT_DSCNT: u16 = 72;
const S_WAIT_STORECNT_DSCNT: u16 = 73;
const S_BARRIER_SIGNAL: u16 = 78;
const S_BARRIER_SIGNAL_ISFIRST: u16 = 79;
/// The code of the workgroup's barrier, -1.
const WORKGROUP: Operand = Operand(193);

/// The families of which instructions are looked at, a bit each: all that touch memory or wait, for the order; for bounds those
/// that touch LDS, and where instructions that touch memory have several sizes all of these.
pub(super) const fn families(watch: RaceWatch, generation: Generation) -> u32 {
    const fn bits(families: &[Family]) -> u32 {
        match families {
            [first, rest @ ..] => 1 << *first as u32 | bits(rest),
            [] => 0,
        }
    }
    use Family::{Ds, Flat, Global, LdsDirect, Mtbuf, Mubuf, Scratch, Smem, Sop1, Sopk, Sopp};
    const MEMORY: u32 = bits(&[Ds, Flat, Global, LdsDirect, Mtbuf, Mubuf, Scratch, Smem]);
    match (watch.order, watch.bounds, generation) {
        (true, _, Generation::Gfx9) => MEMORY | bits(&[Sopp]),
        (true, ..) => MEMORY | bits(&[Sop1, Sopk, Sopp]),
        (false, true, Generation::Gfx12) => MEMORY,
        (false, true, _) => bits(&[Ds, Flat, LdsDirect]),
        (false, false, _) => 0,
    }
}

/// What an instruction waits for, and whether with what an atomic store has before it.
fn waited(generation: Generation, inst: &Inst) -> Option<(Most, bool)> {
    // CAST: 16 bits.
    let count = inst.imm as u16 as usize;
    let (low, high) = (count & 0x3f, count >> 8 & 0x3f);
    let shape = &inst.row.shape;
    let most = match (inst.row.family, inst.row.opcode) {
        _ if shape.has(flag::WAITCNT) => {
            let (vector, local) = match generation {
                // VMCNT is in bits 15:14 and 3:0, LGKMCNT in 11:8 (MI200 ISA, 12.5, S_WAITCNT), of RDNA 2 in 13:8.
                Generation::Gfx9 => (count & 0xf | count >> 10 & 0x30, count >> 8 & 0xf),
                Generation::Gfx10 => (count & 0xf | count >> 10 & 0x30, high),
                // In 15:10 and 9:4 (RDNA3 ISA, 16.5).
                Generation::Gfx11 | Generation::Gfx12 => (count >> 10, count >> 4 & 0x3f),
            };
            let is_release = generation == Generation::Gfx9 && vector == 0;
            return Some((Most { vector, local, ..Most::ALL }, is_release));
        }
        (Family::Sopk, opcode) if shape.has(flag::WAIT) => match opcode {
            S_WAITCNT_VSCNT => Most { store: low, ..Most::ALL },
            S_WAITCNT_VMCNT => Most { vector: low, ..Most::ALL },
            S_WAITCNT_LGKMCNT => Most { local: low, ..Most::ALL },
            _ => return None,
        },
        (Family::Sopp, opcode) if generation != Generation::Gfx9 => match opcode {
            S_WAIT_IDLE => Most::NONE,
            S_WAIT_LOADCNT => Most { vector: low, ..Most::ALL },
            S_WAIT_STORECNT => Most { store: low, ..Most::ALL },
            S_WAIT_DSCNT => Most { local: low, ..Most::ALL },
            S_WAIT_LOADCNT_DSCNT => Most { vector: high, local: low, ..Most::ALL },
            S_WAIT_STORECNT_DSCNT => Most { store: high, local: low, ..Most::ALL },
            _ => return None,
        },
        _ => return None,
    };
    Some((most, most.store == 0))
}

impl Wave {
    /// Looks at an instruction that is about to be executed, if the wave is watched.
    #[cold]
    pub(super) fn follow_races(&mut self, inst: &Inst) {
        use Family::{Ds, Flat, Global, LdsDirect, Mtbuf, Mubuf, Scratch, Sop1, Sopk, Sopp};
        let (family, generation) = (inst.row.family, self.target.generation());
        let is_watched = |racing: &Racing| families(racing.watch, generation) >> family as u32 & 1 != 0;
        if !self.racing.as_deref().is_some_and(is_watched) {
            return;
        }
        let Some(mut racing) = self.racing.take() else { return };
        racing.settle();
        let look = Look { wave: self, inst, pc: self.pc_of(inst) };
        racing.at = (generation == Generation::Gfx12).then_some(look.pc);
        match family {
            Sopp | Sopk => {
                if let Some((most, is_release)) = waited(generation, inst) {
                    racing.wait(most, is_release);
                }
            }
            Sop1 => {
                let signals = matches!(inst.row.opcode, S_BARRIER_SIGNAL | S_BARRIER_SIGNAL_ISFIRST);
                if signals && inst.src[0] == WORKGROUP {
                    racing.signal(self.arrivals + 1);
                }
            }
            Mubuf | Global if inst.row.shape.has(flag::CACHE) => look.maintain(&mut racing),
            Ds if accesses::is_gws(inst) => racing.meet_all(),
            Ds | LdsDirect => accesses::local(self, inst, |part| look.part(&mut racing, part)),
            Flat | Scratch if look.is_private() => racing.issue_scratch(look.counter()),
            Flat | Global | Scratch => accesses::flat(self, inst, |part| look.part(&mut racing, part)),
            Mubuf | Mtbuf => accesses::buffer(self, inst, |part| look.part(&mut racing, part)),
            _ => look.scalar(&mut racing),
        }
        self.racing = Some(racing);
    }
}

/// The instruction that is looked at.
struct Look<'a> {
    wave: &'a Wave,
    inst: &'a Inst,
    pc: u64,
}

impl Look<'_> {
    /// An instruction that writes back or invalidates caches.
    fn maintain(&self, racing: &mut Racing) {
        let (reaches_device, opcode) = (self.inst.memory.caches(Memory::SCC), self.inst.row.opcode);
        match self.wave.target.generation() {
            Generation::Gfx9 => {}
            Generation::Gfx10 | Generation::Gfx11 if opcode == BUFFER_GL1_INV => {
                return racing.invalidate_far();
            }
            Generation::Gfx10 | Generation::Gfx11 => return racing.invalidate_near(),
            // What is stored is in the cache of the device once it is complete.
            Generation::Gfx12 if opcode == GLOBAL_WB => return,
            Generation::Gfx12 => {
                return match self.inst.memory.scope() {
                    0 => {}
                    1 => racing.invalidate_near(),
                    _ => racing.invalidate(),
                };
            }
        }
        match (self.wave.target, opcode) {
            // On gfx90a they are about memory of others.
            (Target::Gfx90a, BUFFER_WBL2 | BUFFER_INVL2) => {}
            (Target::Gfx90a, _) => racing.invalidate(),
            (_, BUFFER_WBL2) if reaches_device => racing.write_back(),
            _ if !reaches_device => {}
            _ => racing.invalidate(),
        }
    }

    /// Whether an instruction of FLAT or SCRATCH reaches nothing but scratch. Code that is not optimized does hardly anything else.
    fn is_private(&self) -> bool {
        let Some(address) = self.inst.src[0].row().filter(|_| self.inst.row.family == Family::Flat) else {
            // Loads to LDS have no register for their data.
            return self.inst.row.shape.has(flag::STORE) || self.inst.dst != Operand::NONE;
        };
        let high = self.wave.row(address + 1);
        // CAST: the low half of the aperture's base is zero.
        let private = (self.wave.surroundings.apertures.private >> 32) as u32;
        shape::lanes(self.wave.exec).all(|lane| high[lane] == private)
    }

    fn scalar(&self, racing: &mut Racing) {
        let Some(dwords) = Dwords::of(self.wave, self.inst).filter(|_| racing.watch.order) else { return };
        let shape = &self.inst.row.shape;
        let how = match (shape.has(flag::ATOMIC), shape.has(flag::STORE)) {
            (true, _) => How::Atomic,
            (_, true) => How::Write,
            _ => How::Read,
        };
        let mut spans = Spans::default();
        for (n, at) in (0..dwords.count).filter_map(|n| Some((n, dwords.at(n)?))) {
            if how == How::Write {
                let value = self.wave.scalar(Operand(self.inst.dst.0 + n), self.inst).to_le_bytes();
                spans.store(at, &value[..dwords.kind.bytes() as usize]);
            } else {
                spans.load(at, dwords.kind.bytes());
            }
        }
        let is_apart = self.wave.target.generation() == Generation::Gfx12;
        let counter = if is_apart { Counter::Nothing } else { Counter::Local };
        racing.touch(true, self.access(racing, how), counter, &spans);
    }

    /// What an access of vector memory counts in: RDNA counts what returns nothing by itself.
    fn counter(&self) -> Counter {
        let shape = &self.inst.row.shape;
        let stores =
            shape.has(flag::STORE) || shape.has(flag::ATOMIC) && !self.inst.memory.has(Memory::RETURNS);
        if stores && self.wave.target.is_rdna() { Counter::Store } else { Counter::Vector }
    }

    fn access(&self, racing: &Racing, how: How) -> Access {
        let (wave, inst) = (self.wave, self.inst);
        let device = Reach::device;
        let reaches_device = cached::reach(wave.target, inst) != coherence::Reach::Unit;
        // SLC, on gfx942 NT.
        let is_streaming = inst.memory.caches(Memory::SLC);
        let scope = match inst.memory.scope() {
            0 => Reach::Nobody,
            1 => Reach::Group,
            _ => Reach::Device,
        };
        let (coherent, meets_atomics) = match (wave.target.generation(), how) {
            (Generation::Gfx9, _) if wave.target.is_gfx940() => {
                (device(reaches_device), device(reaches_device))
            }
            (Generation::Gfx12, _) => (scope, scope),
            // With both bits it is an access that is not temporal.
            (_, How::Read) if !reaches_device || is_streaming => (Reach::Nobody, Reach::Nobody),
            // The cache of the shader array has bits of its own.
            (Generation::Gfx10, How::Read) if !inst.memory.caches(Memory::DLC) => {
                (Reach::Group, Reach::Nobody)
            }
            (_, How::Read) => (Reach::Device, Reach::Nobody),
            // Atomic stores look as any others do. Those that locks are released with come behind a wait.
            _ => (device(!is_streaming), device(racing.has_waited())),
        };
        let is_told = wave.target.is_gfx940() || wave.target.generation() == Generation::Gfx12;
        let mut access = Access::new(how, self.pc);
        access.compares = how == How::Atomic && inst.row.name.contains("cmp");
        (access.coherent, access.meets_atomics) = (coherent, meets_atomics);
        access.atomic_store = if is_told && how == How::Write { coherent } else { Reach::Nobody };
        access.is_unknown = how == How::Write && inst.row.name.contains("_lds_");
        access
    }

    fn part(&self, racing: &mut Racing, part: &Part<'_>) {
        let how = match part.action {
            Action::Load => How::Read,
            Action::Store => How::Write,
            Action::Exchange | Action::Atomic => How::Atomic,
        };
        // How many bytes a format has is not looked at.
        if matches!(part.data, Data::Formatted(_)) {
            return;
        }
        let access = self.access(racing, how);
        let mut spans = std::mem::take(&mut racing.room);
        spans.memory.clear();
        spans.lds.clear();
        match part.straight {
            Some(at) => self.straight(part, at, &mut spans.memory),
            None => shape::lanes(self.wave.exec)
                .for_each(|lane| self.lane(racing, part, &access, lane, &mut spans)),
        }
        if racing.watch.order {
            self.touch(racing, part, access, &spans);
        }
        racing.room = spans;
    }

    /// Notes what the lanes touch.
    fn touch(&self, racing: &mut Racing, part: &Part<'_>, access: Access, spans: &Touched) {
        let how = access.how;
        let to_lds = match (part.data, how) {
            (Data::Lds(_), How::Read) => Counter::ToLds,
            _ => self.counter(),
        };
        if !spans.memory.is_empty() {
            racing.touch(true, access, to_lds, &spans.memory);
        } else if !matches!(self.inst.row.family, Family::Ds | Family::LdsDirect) {
            racing.issue_scratch(to_lds);
        }
        if let Data::Lds(place) = part.data {
            let how = if how == How::Read { How::Write } else { How::Read };
            let mut spans = Spans::default();
            for at in shape::lanes(self.wave.exec).filter_map(|lane| place.lane(self.wave, lane)) {
                match how {
                    // What it is is not known.
                    How::Write => spans.store(at.into(), &[0; 16][..place.bytes() as usize]),
                    _ => spans.load(at.into(), place.bytes()),
                }
            }
            let mut access = Access::new(how, self.pc);
            access.is_unknown = true;
            racing.touch(false, access, to_lds, &spans);
        } else if !spans.lds.is_empty() {
            // What EXPCNT counts is complete when the register that it loads is used.
            let is_direct = self.inst.row.family == Family::LdsDirect;
            let counter = if is_direct { Counter::Nothing } else { Counter::Local };
            racing.touch(false, access.in_lds(), counter, &spans.lds);
        }
        let hears = match how {
            How::Read => access.coherent > Reach::Nobody,
            How::Write => false,
            How::Atomic => part.returned.is_some(),
        };
        if hears {
            racing.hear(true, spans.memory.dwords());
            if how == How::Atomic {
                racing.hear(false, spans.lds.dwords());
            }
        }
    }

    /// What a lane stores.
    fn stored(&self, part: &Part<'_>, lane: usize) -> [u8; 16] {
        let mut data = [0; 16];
        if let Data::Rows(row) = part.data {
            let words = kind::take(self.wave, part.kind, row, lane);
            data.as_chunks_mut()
                .0
                .iter_mut()
                .zip(words)
                .for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        }
        data
    }

    /// Notes what all lanes touch, the first at an address and the others behind it.
    fn straight(&self, part: &Part<'_>, at: u64, spans: &mut Spans) {
        let bytes = part.kind.bytes();
        match part.action {
            Action::Store => shape::lanes(self.wave.exec).for_each(|lane| {
                let at = at.wrapping_add(lane as u64 * u64::from(bytes));
                spans.store(at, &self.stored(part, lane)[..bytes as usize]);
            }),
            _ => spans.load(at, self.wave.exec.count_ones() * bytes),
        }
    }

    /// Notes what a lane touches.
    fn lane(&self, racing: &Racing, part: &Part<'_>, access: &Access, lane: usize, spans: &mut Touched) {
        let (kind, bytes) = (part.kind, part.kind.bytes());
        let data = if part.action == Action::Store { self.stored(part, lane) } else { [0; 16] };
        let touch = |spans: &mut Spans, at, on: u32, bytes: u32| match part.action {
            Action::Store => spans.store(at, &data[on as usize..][..bytes as usize]),
            _ => spans.load(at, bytes),
        };
        // What a lane touches of a buffer may lie anywhere, dword by dword, and be none beyond its end.
        let step = if part.is_linear { bytes } else { 4 };
        let mut on = 0;
        while on < bytes {
            let bytes = (bytes - on).min(step);
            match (part.places)(lane, on) {
                Place::Memory(at) => touch(&mut spans.memory, at, on, bytes),
                Place::Lds(at) if on == 0 && racing.leaves(access, at, kind.bytes()) => return,
                Place::Lds(at) => touch(&mut spans.lds, at.into(), on, bytes),
                Place::Scratch(_) | Place::Nowhere => {}
            }
            on += step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{decode, table};

    #[test]
    fn opcodes_are_those_of_their_rows() {
        for (name, opcode) in [
            ("buffer_gl1_inv", BUFFER_GL1_INV),
            ("global_wb", GLOBAL_WB),
            ("s_waitcnt_vscnt", S_WAITCNT_VSCNT),
            ("s_waitcnt_vmcnt", S_WAITCNT_VMCNT),
            ("s_waitcnt_lgkmcnt", S_WAITCNT_LGKMCNT),
            ("s_barrier_signal", S_BARRIER_SIGNAL),
            ("s_barrier_signal_isfirst", S_BARRIER_SIGNAL_ISFIRST),
        ] {
            let mut rows = table::of(Target::Gfx1201).iter().flat_map(|(_, rows)| *rows);
            assert_eq!(rows.find(|row| row.name == name).map(|row| row.opcode), Some(opcode), "{name}");
        }
    }

    #[test]
    fn counters_of_each_generation_are_waited_for() {
        use Target::{Gfx90a, Gfx1030, Gfx1100, Gfx1201};
        let all = usize::MAX;
        for (target, word, expected) in [
            // s_waitcnt vmcnt(3) lgkmcnt(2), and of RDNA vmcnt(0)
            (Gfx90a, 0xbf8c_0273, [3, all, 2]),
            (Gfx1030, 0xbf8c_0273, [3, all, 2]),
            (Gfx1100, 0xbf89_0c27, [3, all, 2]),
            (Gfx1030, 0xbf8c_3f70, [0, all, 0x3f]),
            (Gfx1100, 0xbf89_03f7, [0, all, 0x3f]),
            // s_waitcnt_vscnt null, 0x5 and s_waitcnt_lgkmcnt null, 0x1
            (Gfx1030, 0xbbfd_0005, [all, 5, all]),
            (Gfx1100, 0xbc7c_0005, [all, 5, all]),
            (Gfx1100, 0xbdfc_0001, [all, all, 1]),
            // s_wait_loadcnt 0x3, storecnt 0x0, dscnt 0x2, loadcnt_dscnt 0x102, storecnt_dscnt 0x304, and s_wait_idle
            (Gfx1201, 0xbfc0_0003, [3, all, all]),
            (Gfx1201, 0xbfc1_0000, [all, 0, all]),
            (Gfx1201, 0xbfc6_0002, [all, all, 2]),
            (Gfx1201, 0xbfc8_0102, [1, all, 2]),
            (Gfx1201, 0xbfc9_0304, [all, 3, 4]),
            (Gfx1201, 0xbf8a_0000, [0, 0, 0]),
        ] {
            let inst = decode(target, &[word]).expect("an instruction");
            let (most, _) = waited(target.generation(), &inst).expect("it waits");
            assert_eq!([most.vector, most.store, most.local], expected, "{inst:?}");
        }
        // s_wait_kmcnt 0x0, and s_nop
        for word in [0xbfc7_0000, 0xbf80_0000] {
            let inst = decode(Gfx1201, &[word]).expect("an instruction");
            assert!(waited(Generation::Gfx12, &inst).is_none(), "{inst:?}");
        }
    }
}
