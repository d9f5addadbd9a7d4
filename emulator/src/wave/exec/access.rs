//! What the lanes of a buffer instruction access: MUBUF and MTBUF alike (MI200 ISA, 9.1).

use std::sync::atomic::{Ordering, fence};

use super::{
    buffer::{Range, Resource},
    shape,
    transfer::Linear,
};
use crate::{
    isa::{Inst, Memory, Operand},
    wave::{FaultKind, Wave},
};

/// The parts of an access that all lanes share.
pub struct Access {
    pub resource: Resource,
    /// How the lanes' offsets and indices are checked.
    range: Range,
    /// SOFFSET.
    scalar: u32,
    /// Register with the lanes' offsets, and with their indices.
    pub offsets: Option<usize>,
    indices: Option<usize>,
    offset: u32,
}

impl Access {
    /// The access of an instruction that takes no format from the resource.
    #[inline(always)]
    pub fn new(w: &Wave, inst: &Inst) -> Self {
        Self::through(w, inst, Resource::scalar(w, inst, inst.src[1]))
    }

    /// The access of an instruction with a format.
    pub fn formatted(w: &Wave, inst: &Inst) -> Self {
        Self::through(w, inst, Resource::scalar(w, inst, inst.src[1]).formatted())
    }

    #[inline(always)]
    fn through(w: &Wave, inst: &Inst, resource: Resource) -> Self {
        let first = inst.src[0].row().unwrap_or(0);
        let (offen, idxen) = (inst.memory.has(Memory::OFFEN), inst.memory.has(Memory::IDXEN));
        // A store from LDS has no address register.
        let idxen = idxen && inst.src[0] != Operand::NONE;
        Self {
            resource,
            range: resource.range(idxen),
            scalar: w.scalar(inst.src[2], inst),
            // With both, the index stands first.
            offsets: offen.then_some(first + usize::from(idxen)),
            indices: idxen.then_some(first),
            offset: inst.imm as u32,
        }
    }

    /// The registers that say where the lanes' data are.
    pub fn registers(&self) -> impl Iterator<Item = usize> {
        self.offsets.into_iter().chain(self.indices)
    }

    /// A lane's index and offset.
    #[inline(always)]
    pub fn lane(&self, w: &Wave, lane: usize) -> (u32, u32) {
        let offset = self.offsets.map_or(0, |r| w.row(r)[lane]);
        let (_, offset) = self.advance((0, offset), self.offset);
        let index = self.indices.map_or(0, |r| w.row(r)[lane]);
        (index.wrapping_add(if self.resource.add_thread { lane as u32 } else { 0 }), offset)
    }

    /// The place `bytes` bytes on. Offsets saturate where they are checked, so that none comes back into
    /// range.
    #[inline(always)]
    pub fn advance(&self, (index, offset): (u32, u32), bytes: u32) -> (u32, u32) {
        let next = match self.range {
            Range::Unchecked => offset.wrapping_add(bytes),
            _ => offset.saturating_add(bytes),
        };
        (index, next)
    }

    /// Whether `bytes` bytes at a lane's index and offset are out of range.
    #[inline(always)]
    pub fn excludes(&self, (index, offset): (u32, u32), bytes: u32) -> bool {
        self.resource.excludes(self.range, index, offset, bytes)
    }

    /// Address of a lane's index and offset.
    #[inline(always)]
    pub fn address(&self, (index, offset): (u32, u32)) -> u64 {
        self.resource.address(index, offset, self.scalar)
    }

    /// If this is an access to the wave's own scratch: where its lanes' offsets start.
    #[inline(always)]
    pub fn scratch(&self, w: &Wave) -> Option<u32> {
        if !self.resource.is_scratch(w.lanes) || self.indices.is_some() {
            return None;
        }
        // The stack pointer counts bytes of all lanes together. CAST: 32 or 64.
        let lanes = w.lanes as u32;
        let start = self.resource.base.wrapping_add(u64::from(self.scalar)).wrapping_sub(w.scratch);
        (start < u64::from(w.scratch_stride) && start.is_multiple_of(4 * u64::from(lanes)))
            .then_some(start as u32 / lanes + self.offset)
    }

    /// If all live lanes are in range of a plain linear buffer: base and register.
    #[inline(always)]
    pub fn linear(&self, w: &Wave, bytes: u32) -> Option<Linear> {
        let r = &self.resource;
        let row = self.offsets?;
        if r.swizzle || r.add_thread || self.indices.is_some() || w.exec == 0 {
            return None;
        }
        let (_, high) = shape::range(w.row(row), w.exec);
        // The last dword, as each is checked by itself.
        let last = high.checked_add(self.offset)?.checked_add(bytes.saturating_sub(4))?;
        (!self.excludes((0, last), bytes.min(4))).then(|| Linear {
            base: r.base.wrapping_add(u64::from(self.scalar)).wrapping_add(u64::from(self.offset)),
            row,
        })
    }

    /// Host address of `bytes` bytes of a lane after a check against the map or, in scratch, the wave's
    /// backing.
    pub fn host(
        &self,
        w: &mut Wave,
        place: (u32, u32),
        bytes: u32,
        lane: usize,
        write: bool,
    ) -> Result<*mut u8, FaultKind> {
        let address = self.address(place);
        if !is_scratch(w, address, bytes) {
            w.check(address, bytes, lane, write)?;
        }
        Ok(address as *mut u8)
    }

    /// As [`Access::host`], for an atomic.
    pub fn host_of_atomic(
        &self,
        w: &mut Wave,
        place: (u32, u32),
        bytes: u32,
        lane: usize,
    ) -> Result<*mut u8, FaultKind> {
        let address = self.address(place);
        if !is_scratch(w, address, bytes) {
            w.check_atomic(address, bytes, lane)?;
        }
        Ok(address as *mut u8)
    }
}

/// Whether bytes are the wave's own scratch.
fn is_scratch(w: &Wave, address: u64, bytes: u32) -> bool {
    let within = address.wrapping_sub(w.scratch);
    within.checked_add(u64::from(bytes)).is_some_and(|end| end <= u64::from(w.scratch_stride))
}

/// Keeps a coherent load from overtaking this wave's earlier stores.
#[inline(always)]
pub fn fence_for(w: &mut Wave, inst: &Inst) {
    w.note_reach(inst);
    if inst.memory.is_coherent() {
        // ORDER: an atomic load must not overtake this wave's earlier stores.
        fence(Ordering::SeqCst);
    }
}
