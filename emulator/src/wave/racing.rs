//! A wave that is watched for what it does to LDS and memory that nothing orders: each instruction is looked at before it is
//! executed.

use super::{
    Wave,
    accesses::{self, Action, Data, Dwords, Part, Place},
    exec::{cached::bypasses, kind, shape},
};
use crate::{
    isa::{Family, Inst, Memory, Operand, Target, flag},
    race::{Access, Counter, How, RaceWatch, Racing, Span, Spans},
};

// Opcodes of their families (MI200 ISA, 12).
const S_WAITCNT: u16 = 12;
const BUFFER_WBL2: u16 = 40;
const BUFFER_INVL2: u16 = 41;

/// The families of which instructions are looked at, a bit each: all that touch memory or wait, for the order; for bounds those
/// that touch LDS.
pub(super) const fn families(watch: RaceWatch) -> u32 {
    const fn bits(families: &[Family]) -> u32 {
        match families {
            [first, rest @ ..] => 1 << *first as u32 | bits(rest),
            [] => 0,
        }
    }
    use Family::{Ds, Flat, Global, Mtbuf, Mubuf, Scratch, Smem, Sopp};
    match (watch.order, watch.bounds) {
        (true, _) => bits(&[Ds, Flat, Global, Mtbuf, Mubuf, Scratch, Smem, Sopp]),
        (false, true) => bits(&[Ds, Flat]),
        (false, false) => 0,
    }
}

impl Wave {
    /// Looks at an instruction that is about to be executed, if the wave is watched.
    #[cold]
    pub(super) fn follow_races(&mut self, inst: &Inst) {
        use Family::{Ds, Flat, Global, Mtbuf, Mubuf, Scratch, Sopp};
        let family = inst.row.family;
        let is_watched = |racing: &Racing| families(racing.watch) >> family as u32 & 1 != 0;
        if !self.racing.as_deref().is_some_and(is_watched) {
            return;
        }
        let Some(mut racing) = self.racing.take() else { return };
        racing.settle();
        let look = Look { wave: self, inst, pc: self.pc.wrapping_sub(u64::from(inst.size)) };
        match family {
            Sopp if inst.row.opcode == S_WAITCNT => {
                // VMCNT is in bits 15:14 and 3:0, LGKMCNT in 11:8 (MI200 ISA, 12.5, S_WAITCNT).
                let count = inst.imm as usize;
                racing.wait(count & 0xf | count >> 10 & 0x30, count >> 8 & 0xf);
            }
            Sopp => {}
            Mubuf if inst.row.shape.has(flag::CACHE) => look.maintain(&mut racing),
            Ds if accesses::is_gws(inst) => racing.meet_all(),
            Ds => accesses::local(self, inst, |part| look.part(&mut racing, part)),
            Flat | Scratch if look.is_private() => racing.issue_scratch(),
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
        let reaches_device = self.inst.memory.caches(Memory::SCC);
        match (self.wave.target, self.inst.row.opcode) {
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
        let spans: Vec<_> = (0..dwords.count)
            .filter_map(|n| Some((dwords.at(n)?, self.wave.scalar(Operand(self.inst.dst.0 + n), self.inst))))
            .map(|(at, value)| Span { at, bytes: 4, value })
            .collect();
        racing.touch(true, self.access(racing, how), Counter::Local, &spans);
    }

    fn access(&self, racing: &Racing, how: How) -> Access {
        let (wave, inst) = (self.wave, self.inst);
        let reaches_device = bypasses(wave.target, inst);
        // SLC, on gfx942 NT.
        let is_streaming = inst.memory.caches(Memory::SLC);
        let (is_coherent, may_meet_atomics) = match (wave.target, how) {
            // With both bits it is an access that is not temporal.
            (Target::Gfx90a, How::Read) => (reaches_device && !is_streaming, false),
            // Atomic stores look as any others do. Those that locks are released with come behind a wait.
            (Target::Gfx90a, _) => (!is_streaming, racing.has_waited()),
            _ => (reaches_device, reaches_device),
        };
        let is_atomic_store = wave.target.is_gfx940() && reaches_device && how == How::Write;
        let mut access = Access::new(how, self.pc);
        access.compares = how == How::Atomic && inst.row.name.contains("cmp");
        (access.is_coherent, access.may_meet_atomics) = (is_coherent, may_meet_atomics);
        access.is_atomic_store = is_atomic_store;
        access.is_unknown = inst.row.name.contains("_lds_");
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
        for lane in shape::lanes(self.wave.exec) {
            self.lane(racing, part, &access, lane, &mut spans);
        }
        if racing.watch.order {
            self.touch(racing, part, access, &spans);
        }
        racing.room = spans;
    }

    /// Notes what the lanes touch.
    fn touch(&self, racing: &mut Racing, part: &Part<'_>, access: Access, spans: &Spans) {
        let how = access.how;
        let to_lds = match (part.data, how) {
            (Data::Lds(_), How::Read) => Counter::ToLds,
            _ => Counter::Vector,
        };
        if !spans.memory.is_empty() {
            racing.touch(true, access, to_lds, &spans.memory);
        } else if self.inst.row.family != Family::Ds {
            racing.issue_scratch();
        }
        if let Data::Lds(place) = part.data {
            let lanes = shape::lanes(self.wave.exec).filter_map(|lane| place.lane(self.wave, lane));
            let spans: Vec<_> =
                lanes.map(|at| Span { at: at.into(), bytes: place.bytes(), value: 0 }).collect();
            let how = if how == How::Read { How::Write } else { How::Read };
            let mut access = Access::new(how, self.pc);
            access.is_unknown = true;
            racing.touch(false, access, to_lds, &spans);
        } else if !spans.lds.is_empty() {
            racing.touch(false, access.in_lds(), Counter::Local, &spans.lds);
        }
        let hears = match how {
            How::Read => access.is_coherent,
            How::Write => false,
            How::Atomic => part.returned.is_some(),
        };
        if hears {
            let places = |span: &Span| (span.at, 4);
            racing.hear(true, spans.memory.iter().map(places));
            if how == How::Atomic {
                racing.hear(false, spans.lds.iter().map(places));
            }
        }
    }

    /// Notes what a lane touches.
    fn lane(&self, racing: &Racing, part: &Part<'_>, access: &Access, lane: usize, spans: &mut Spans) {
        let (kind, bytes) = (part.kind, part.kind.bytes());
        let words = match (part.action, part.data) {
            (Action::Store, Data::Rows(row)) => kind::take(self.wave, kind, row, lane),
            _ => [0; 4],
        };
        for n in 0..bytes.div_ceil(4) {
            let bytes = (bytes - 4 * n).min(4);
            let value = words[n as usize];
            match (part.places)(lane, 4 * n) {
                Place::Memory(at) => split(at, bytes, value, &mut spans.memory),
                Place::Lds(at) if n == 0 && racing.leaves(access, at, kind.bytes()) => return,
                Place::Lds(at) => split(at.into(), bytes, value, &mut spans.lds),
                Place::Scratch(_) | Place::Nowhere => {}
            }
        }
    }
}

/// The bytes of a dword, or of two if it is not aligned.
fn split(at: u64, bytes: u32, value: u32, spans: &mut Vec<Span>) {
    // CAST: at most 4.
    let first = bytes.min(4 - (at & 3) as u32);
    let low = if first == 4 { value } else { value & ((1 << (8 * first)) - 1) };
    spans.push(Span { at, bytes: first, value: low });
    if first < bytes {
        spans.push(Span {
            at: at.wrapping_add(first.into()),
            bytes: bytes - first,
            value: value >> (8 * first),
        });
    }
}
