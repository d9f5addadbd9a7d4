//! DS_GWS: waits across workgroups (MI200 ISA, 12.12).
//!
//! The resource is M0[21:16] + offset. A wave that must wait gives way and comes back to the same instruction.

use crate::{
    isa::{Flow, Inst},
    wave::{FaultKind, Wave, gws::Arrival, gws::Gws},
};

/// Applies `f` to the device's resources and the number of the resource.
fn with<T>(w: &Wave, inst: &Inst, f: impl FnOnce(&Gws, u32) -> T) -> Option<T> {
    let id = (w.m0() >> 16 & 0x3f).wrapping_add(inst.imm as u32);
    w.surroundings.host.gws().map(|gws| f(gws, id))
}

/// The data of the first live lane.
fn data(w: &Wave, inst: &Inst) -> u32 {
    let lane = w.exec.trailing_zeros() as usize % 64;
    w.row(inst.src[0].row().unwrap_or(0))[lane]
}

fn done(w: &mut Wave, inst: &Inst, done: Option<()>) -> Flow {
    match done {
        Some(()) => Flow::Next,
        None => w.fault(inst, FaultKind::NoGws),
    }
}

fn arrive(w: &mut Wave, inst: &Inst, arrival: Option<Arrival>) -> Flow {
    match arrival {
        Some(Arrival::Released) => {
            w.waits_since = None;
            Flow::Next
        }
        Some(Arrival::Waits(round)) => {
            w.waits_since = Some(round);
            w.pc = w.pc.wrapping_sub(u64::from(inst.size));
            Flow::Yield
        }
        None => w.fault(inst, FaultKind::NoGws),
    }
}

/// Sets the counter to the data.
pub fn ds_gws_init(w: &mut Wave, inst: &Inst) -> Flow {
    let value = data(w, inst);
    let outcome = with(w, inst, |gws, id| gws.init(id, value));
    done(w, inst, outcome)
}

/// Waits for data + 1 waves.
pub fn ds_gws_barrier(w: &mut Wave, inst: &Inst) -> Flow {
    let (value, since) = (data(w, inst), w.waits_since);
    let arrival = with(w, inst, |gws, id| gws.barrier(id, value, since));
    arrive(w, inst, arrival)
}

/// Adds one unit.
pub fn ds_gws_sema_v(w: &mut Wave, inst: &Inst) -> Flow {
    let outcome = with(w, inst, |gws, id| gws.raise(id, 1));
    done(w, inst, outcome)
}

/// Adds as many units as the data say.
pub fn ds_gws_sema_br(w: &mut Wave, inst: &Inst) -> Flow {
    let units = data(w, inst);
    let outcome = with(w, inst, |gws, id| gws.raise(id, units));
    done(w, inst, outcome)
}

/// Takes one unit, or waits for it.
pub fn ds_gws_sema_p(w: &mut Wave, inst: &Inst) -> Flow {
    let since = w.waits_since;
    let arrival = with(w, inst, |gws, id| gws.lower(id, since));
    arrive(w, inst, arrival)
}

/// Releases all that wait.
pub fn ds_gws_sema_release_all(w: &mut Wave, inst: &Inst) -> Flow {
    let outcome = with(w, inst, Gws::release_all);
    done(w, inst, outcome)
}
