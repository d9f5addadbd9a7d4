//! DS_GWS_*: global wave sync (CDNA3 ISA, 12.12). A wave that has to wait gives way and tries again.

use crate::{
    isa::{Flow, Inst},
    memory::coherence::Scope,
    wave::{FaultKind, Restriction, Ticket, Wave, WaveSync},
};

/// The resource: a base of six bits in M0[21:16] plus OFFSET0[5:0].
fn resource(w: &Wave, inst: &Inst) -> u32 {
    (w.m0() >> 16).wrapping_add(inst.imm as u32) & 63
}

/// The data of the first live lane; of lane 0 if none lives.
fn data(w: &Wave, inst: &Inst) -> u32 {
    let lane = if w.exec == 0 { 0 } else { w.exec.trailing_zeros() as usize };
    inst.src[0].row().map_or(0, |row| w.row(row)[lane])
}

/// Applies `operation` to the queue's resources; the wave goes on unless that gives it a ticket.
fn with(w: &mut Wave, inst: &Inst, operation: impl FnOnce(&Wave, &WaveSync, u32) -> Option<Ticket>) -> Flow {
    let Some(sync) = w.surroundings.host.wave_sync() else {
        return w.fault(inst, FaultKind::Illegal { name: inst.row.name, why: Restriction::NoWaveSync });
    };
    w.waiting = operation(w, sync, resource(w, inst));
    if w.waiting.is_none() {
        // Device libraries invalidate the cache before they wait for the grid, and take for granted that it has fetched
        // nothing since.
        if let Some(view) = &w.view {
            view.acquire(Scope::Agent);
        }
        return Flow::Next;
    }
    w.pc = w.pc.wrapping_sub(u64::from(inst.size));
    Flow::Yield
}

/// Sets the resource's counter.
pub fn ds_gws_init(w: &mut Wave, inst: &Inst) -> Flow {
    with(w, inst, |w, sync, resource| {
        sync.init(resource, data(w, inst));
        None
    })
}

/// Waits for as many waves as the counter says, and one.
pub fn ds_gws_barrier(w: &mut Wave, inst: &Inst) -> Flow {
    with(w, inst, |w, sync, resource| sync.barrier(resource, data(w, inst), w.waiting))
}

/// Lets one wave pass the semaphore.
pub fn ds_gws_sema_v(w: &mut Wave, inst: &Inst) -> Flow {
    with(w, inst, |_, sync, resource| {
        sync.release(resource, 1);
        None
    })
}

/// Lets as many waves pass the semaphore as the data say.
pub fn ds_gws_sema_br(w: &mut Wave, inst: &Inst) -> Flow {
    with(w, inst, |w, sync, resource| {
        sync.release(resource, data(w, inst));
        None
    })
}

/// Waits until the semaphore lets this wave pass.
pub fn ds_gws_sema_p(w: &mut Wave, inst: &Inst) -> Flow {
    with(w, inst, |w, sync, resource| sync.acquire(resource, w.waiting))
}

/// Lets all waves pass that wait at the semaphore.
pub fn ds_gws_sema_release_all(w: &mut Wave, inst: &Inst) -> Flow {
    with(w, inst, |_, sync, resource| {
        sync.release_queued(resource);
        None
    })
}
