//! Memory instructions on a device with caches (`coherence`), and the instructions that maintain these.

use std::sync::{
    Arc,
    atomic::{Ordering, fence},
};

use super::kind::{self, Kind, Words};
use crate::{
    isa::{Flow, Generation, Inst, Memory, Target},
    memory::coherence::{Reach, Scope, View},
    os::hidden,
    wave::Wave,
};

impl Wave {
    /// The view through which an address is accessed: none on a device without caches, and none of scratch, which
    /// no other wave sees.
    #[inline(always)]
    fn view_of(&self, at: *const u8) -> Option<&Arc<View>> {
        let view = self.view.as_ref()?;
        std::hint::cold_path();
        ((at as u64).wrapping_sub(self.scratch) >= u64::from(self.scratch_stride)).then_some(view)
    }

    /// Loads `to` as the workgroup sees it; `false` if it sees what memory holds.
    #[inline(always)]
    pub(super) fn load_cached(&self, at: *const u8, to: &mut [u8]) -> bool {
        self.view_of(at).is_some_and(|view| view.load(at as u64, to, self.reach))
    }

    /// Stores `from` where the workgroup sees it; `false` if it is to be stored to memory.
    #[inline(always)]
    pub(super) fn store_cached(&self, at: *mut u8, from: &[u8]) -> bool {
        let Some(view) = self.view_of(at) else { return false };
        view.store(at as u64, from, self.reach);
        true
    }

    /// Loads a lane's datum.
    ///
    /// # Safety
    /// `at` is valid for reads of `kind.bytes()` bytes.
    #[inline(always)]
    pub(super) unsafe fn load_datum(&self, kind: Kind, at: *const u8) -> Words {
        let mut bytes = [0; 16];
        if self.view.is_some() && self.load_cached(at, &mut bytes[..kind.bytes() as usize]) {
            return std::array::from_fn(|n| {
                u32::from_le_bytes([bytes[4 * n], bytes[4 * n + 1], bytes[4 * n + 2], bytes[4 * n + 3]])
            });
        }
        // SAFETY: the caller vouches for the datum.
        unsafe { kind::read(kind, hidden::at(at as u64)) }
    }

    /// Stores a lane's datum.
    ///
    /// # Safety
    /// `at` is valid for writes of `kind.bytes()` bytes.
    #[inline(always)]
    pub(super) unsafe fn store_datum(&self, kind: Kind, at: *mut u8, words: Words) {
        if self.view.is_some() {
            let bytes = words.map(u32::to_le_bytes);
            if self.store_cached(at, &bytes.as_flattened()[..kind.bytes() as usize]) {
                return;
            }
        }
        // SAFETY: the caller vouches for the datum.
        unsafe { kind::write(kind, hidden::at(at as u64), words) };
    }

    /// Lets `operate` perform an atomic of `bytes` bytes at the address that it is given: `at`, or where the device's
    /// caches hold it.
    #[inline(always)]
    pub(super) fn at_device<T>(
        &mut self,
        at: *mut u8,
        bytes: u32,
        operate: impl FnOnce(&mut Self, *mut u8) -> T,
    ) -> T {
        match self.view_of(at).cloned() {
            None => operate(self, hidden::at(at as u64)),
            Some(view) => {
                let (mut operate, mut result) = (Some(operate), None);
                view.atomic(at as u64, bytes as usize, &mut |at| {
                    result = operate.take().map(|operate| operate(self, at));
                });
                // PANIC: it has been called.
                result.unwrap_or_else(|| unreachable!())
            }
        }
    }

    /// Notes how far the memory instruction at hand reaches past caches.
    #[inline(always)]
    pub(super) fn note_reach(&mut self, inst: &Inst) {
        if self.view.is_some() {
            self.reach = reach(self.target, inst);
        }
    }
}

/// How far an instruction reaches: to the device with GLC on gfx90a and RDNA 3, SC1 (agent and system scope) on gfx942, GLC and
/// DLC on RDNA 2, which without DLC is for the workgroup, and with its scope on RDNA 4 (LLVM AMDGPUUsage, "Memory Model
/// gfx90a", "gfx942", "gfx10-gfx11", "gfx12").
#[cold]
pub fn reach(target: Target, inst: &Inst) -> Reach {
    let memory = inst.memory;
    let to_device = |reaches: bool| if reaches { Reach::Device } else { Reach::Unit };
    match target.generation() {
        Generation::Gfx9 if target.is_gfx940() => to_device(memory.caches(Memory::SCC)),
        Generation::Gfx9 | Generation::Gfx11 => to_device(memory.caches(Memory::GLC)),
        Generation::Gfx10 if memory.caches(Memory::GLC) && !memory.caches(Memory::DLC) => Reach::Workgroup,
        Generation::Gfx10 => to_device(memory.caches(Memory::GLC)),
        Generation::Gfx12 => match memory.scope() {
            0 => Reach::Unit,
            1 => Reach::Workgroup,
            _ => Reach::Device,
        },
    }
}

/// What follows must not overtake what was before.
fn order() {
    // ORDER: acquire and release sequences of device programs end in the instructions that call this.
    fence(Ordering::SeqCst);
}

/// The scope of an instruction of gfx942, unless it is the workgroup.
fn scope(inst: &Inst) -> Option<Scope> {
    match (inst.memory.caches(Memory::SCC), inst.memory.caches(Memory::GLC)) {
        (true, true) => Some(Scope::System),
        (true, false) => Some(Scope::Agent),
        _ => None,
    }
}

/// Waits for memory operations, which are complete: here; on a device with caches, gfx90a's stores are now in the cache
/// that all compute units share. On gfx942 it takes [`buffer_wbl2`].
#[inline(never)]
pub fn s_waitcnt(w: &mut Wave, inst: &Inst) -> Flow {
    if let Some(view) = &w.view {
        let stores = (inst.imm & 0xf | inst.imm >> 10 & 0x30) < 0x3f;
        if stores && w.target == Target::Gfx90a {
            view.release(Scope::Agent);
        }
    }
    Flow::Next
}

/// Writes the L2 cache back: of gfx90a at system scope, where it is one for the device.
pub fn buffer_wbl2(w: &mut Wave, inst: &Inst) -> Flow {
    order();
    if let Some(view) = &w.view {
        let scope = if w.target == Target::Gfx90a { Some(Scope::System) } else { scope(inst) };
        scope.into_iter().for_each(|scope| view.release(scope));
    }
    Flow::Next
}

/// Invalidates the caches of gfx942 up to a scope.
pub fn buffer_inv(w: &mut Wave, inst: &Inst) -> Flow {
    order();
    if let Some(view) = &w.view {
        scope(inst).into_iter().for_each(|scope| view.acquire(scope));
    }
    Flow::Next
}

/// Invalidates what gfx90a's L2 cache holds of other memory than its own.
pub fn buffer_invl2(w: &mut Wave, _: &Inst) -> Flow {
    order();
    if let Some(view) = &w.view {
        view.acquire(Scope::System);
    }
    Flow::Next
}

/// Invalidates the compute unit's cache of gfx90a.
pub fn buffer_wbinvl1(w: &mut Wave, _: &Inst) -> Flow {
    order();
    if let Some(view) = &w.view {
        view.acquire(Scope::Agent);
    }
    Flow::Next
}

/// Invalidates the cache of the shader array (RDNA 2 and 3), which all that comes from beyond the compute unit goes through:
/// memory of the host and of other devices too, which bypasses the device's cache.
pub fn buffer_gl1_inv(w: &mut Wave, _: &Inst) -> Flow {
    order();
    if let Some(view) = &w.view {
        view.acquire_shared(Scope::System);
    }
    Flow::Next
}

/// Invalidates the compute unit's cache (RDNA 2 and 3): alone it is for the workgroup, which one thread executes.
#[inline(never)]
pub fn buffer_gl0_inv(w: &mut Wave, _: &Inst) -> Flow {
    if let Some(view) = &w.view {
        view.acquire_from_workgroup();
    }
    Flow::Next
}

/// What had been stored is in the cache that all compute units share, once all but `left` stores are done (of 0 to 63).
fn wait_for_stores(w: &mut Wave, left: i32) -> Flow {
    if left < 0x3f
        && let Some(view) = &w.view
    {
        view.release(Scope::Agent);
    }
    Flow::Next
}

/// Waits for stores (RDNA 2 and later).
#[inline(never)]
pub fn s_wait_storecnt(w: &mut Wave, inst: &Inst) -> Flow {
    wait_for_stores(w, inst.imm & 0x3f)
}

/// Waits for stores and for LDS (RDNA 4): bits 13..8 and 5..0.
#[inline(never)]
pub fn s_wait_storecnt_dscnt(w: &mut Wave, inst: &Inst) -> Flow {
    wait_for_stores(w, inst.imm >> 8 & 0x3f)
}

/// What a cache instruction of RDNA 4 reaches beyond one workgroup must not be overtaken.
fn order_beyond_workgroup(inst: &Inst) {
    if inst.memory.scope() > 1 {
        order();
    }
}

/// Invalidates caches up to a scope (RDNA 4).
pub fn global_inv(w: &mut Wave, inst: &Inst) -> Flow {
    order_beyond_workgroup(inst);
    if let Some(view) = &w.view {
        match inst.memory.scope() {
            0 => {}
            1 => view.acquire_from_workgroup(),
            2 => view.acquire(Scope::Agent),
            _ => view.acquire(Scope::System),
        }
    }
    Flow::Next
}

/// Writes caches back up to a scope (RDNA 4).
pub fn global_wb(w: &mut Wave, inst: &Inst) -> Flow {
    order_beyond_workgroup(inst);
    if let Some(view) = &w.view {
        match inst.memory.scope() {
            0 => {}
            1 | 2 => view.release(Scope::Agent),
            _ => view.release(Scope::System),
        }
    }
    Flow::Next
}

/// Both.
pub fn global_wbinv(w: &mut Wave, inst: &Inst) -> Flow {
    global_wb(w, inst);
    global_inv(w, inst)
}
