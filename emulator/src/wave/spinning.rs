//! A wave that is watched for loops that it cannot end itself: its state is looked at once in a turn, and so is what it loads there.

use super::{
    Exit, Wave,
    accesses::{self, Action, Dwords, Part, Place},
    exec::shape,
};
use crate::{
    convergence::{Awaited, Spin},
    isa::{Family, Inst},
};

/// Follows an instruction that is about to be executed.
pub(super) fn follow(spin: &mut Spin, wave: &Wave, inst: &Inst, pc: u64) {
    if spin.asks(pc) {
        spin.see(state(wave));
    }
    use Family::{Ds, Flat, Global, Mtbuf, Mubuf, Scratch, Smem};
    if !matches!(inst.row.family, Ds | Flat | Global | Mtbuf | Mubuf | Scratch | Smem) {
        return;
    }
    let stores = accesses::action_of(inst.row) == Action::Store;
    if !stores && !spin.is_spinning() {
        return;
    }
    match first_place(wave, inst) {
        Some(_) if stores => spin.progress(),
        Some(awaited) => spin.load(pc, awaited),
        None => {}
    }
}

/// Bytes of scratch up to which its contents belong to the state of a wave; stores to more count as others do.
const SCRATCH: u32 = 1 << 20;

/// What the first live lane accesses, if that is not scratch.
fn first_place(wave: &Wave, inst: &Inst) -> Option<Awaited> {
    use Family::{Ds, Flat, Global, Mtbuf, Mubuf, Scratch};
    let mut first = None;
    let lane = shape::lanes(wave.exec).next();
    let mut part = |part: &Part<'_>| {
        let place = lane.map(|lane| (part.places)(lane, 0));
        first = first.or(match place? {
            Place::Memory(at) => Some(Awaited::Memory(at)),
            Place::Lds(at) => Some(Awaited::Lds(at)),
            Place::Scratch(_) if wave.scratch_stride > SCRATCH => Some(Awaited::Nothing),
            Place::Scratch(_) | Place::Nowhere => None,
        });
        first
    };
    match inst.row.family {
        Ds if accesses::is_gws(inst) => return Some(Awaited::Grid),
        Ds => accesses::local(wave, inst, |each| _ = part(each)),
        Flat | Global | Scratch => accesses::flat(wave, inst, |each| _ = part(each)),
        Mubuf | Mtbuf => accesses::buffer(wave, inst, |each| _ = part(each)),
        _ => return Dwords::of(wave, inst)?.at(0).map(Awaited::Memory),
    }
    first
}

/// A hash of all that decides what a wave does next, memory and LDS aside. What it has in registers that its kernel does not use
/// stays as it is.
fn state(wave: &Wave) -> u64 {
    /// 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, value: u64| (hash.rotate_left(5) ^ value).wrapping_mul(FACTOR);
    let scalars = wave.sgpr[..128].iter().copied().map(u64::from);
    let others = [wave.exec, wave.scc.into(), wave.mode.0.into(), wave.status.into()];
    let hash = scalars.chain(others).fold(0, mix);
    let pairs = wave.vgpr.iter().flat_map(|row| row.0.as_chunks::<2>().0);
    let hash = pairs.fold(hash, |hash, [low, high]| mix(hash, u64::from(*low) | u64::from(*high) << 32));
    wave.scratch_words().fold(hash, mix)
}

impl Wave {
    /// What its scratch holds.
    fn scratch_words(&self) -> impl Iterator<Item = u64> {
        let bytes = if self.scratch_stride > SCRATCH { 0 } else { self.scratch_stride };
        let words = if self.scratch == 0 { 0 } else { bytes as usize / 8 };
        // SAFETY: the wave's own scratch is mapped, aligned, that long, and no other thread's while the wave runs.
        (0..words).map(|word| unsafe { (self.scratch as *const u64).add(word).read_volatile() })
    }

    /// A turn has ended so. Whether the wave, if it is watched, goes round in a loop.
    pub(crate) fn end_turn(&mut self, exit: Exit) -> bool {
        let Some(converging) = &mut self.converging else { return false };
        match exit {
            Exit::Slice | Exit::Yield => converging.spin.end_turn(self.pc),
            Exit::Barrier | Exit::End | Exit::Stop => converging.spin.progress(),
        }
        converging.spin.is_spinning()
    }

    /// What it waits for if it goes round in a loop, and the instruction that asks for it.
    pub(crate) fn awaited(&self) -> Option<(u64, Awaited)> {
        self.converging.as_ref()?.spin.awaited()
    }
}
