//! Global wave sync among waves that share a host.

use std::sync::Arc;

use emulator::{
    isa::{Generation, Target},
    memory::Map,
    wave::{Apertures, Deaf, Exit, FaultKind, Surroundings},
};

use super::{bench::Bench, on_each_target};

on_each_target! {
    barriers_and_semaphores_hold_waves_back: every_instruction;
    a_queue_without_resources_has_no_wave_sync: without_resources;
    global_data_share_memory_does_not_exist: no_gds_memory;
}

/// The bit that says so.
fn gds(b: &Bench) -> u32 {
    if b.target.is_rdna() { 1 << 17 } else { 1 << 16 }
}

/// RDNA 4 has no global wave sync any more.
fn has_gws(target: Target) -> bool {
    target.generation() < Generation::Gfx12
}

/// The instruction on resource 5: base 3 in M0, offset 2. The data stand in v4.
fn gws(b: &mut Bench, name: &str, data: Option<u32>) -> Exit {
    b.m0(3 << 16);
    if let Some(data) = data {
        // The first live lane's counts.
        b.wave.exec = !1;
        b.v(4).fill(99);
        b.v(4)[1] = data;
    }
    let [word0, word1] = b.ds(name, [0, 0, 0, if data.is_some() { 4 } else { 0 }], 2);
    b.run(&[word0 | gds(b), word1])
}

pub fn every_instruction(target: Target) {
    if !has_gws(target) {
        return;
    }
    let mut a = Bench::new(target);
    let mut others: Vec<_> = (0..2).map(|_| Bench::beside(target, a.host.clone())).collect();

    // A barrier of three waves, then, as its last wave says, of two.
    assert_eq!(gws(&mut a, "ds_gws_init", Some(2)), Exit::End);
    assert_eq!(gws(&mut a, "ds_gws_barrier", Some(2)), Exit::Yield);
    assert_eq!(a.resume(), Exit::Yield, "asking again is not arriving again");
    assert_eq!(gws(&mut others[0], "ds_gws_barrier", Some(2)), Exit::Yield);
    assert_eq!(gws(&mut others[1], "ds_gws_barrier", Some(1)), Exit::End);
    assert_eq!((a.resume(), others[0].resume()), (Exit::End, Exit::End));
    assert_eq!(gws(&mut others[0], "ds_gws_barrier", Some(1)), Exit::Yield);
    assert_eq!(gws(&mut a, "ds_gws_barrier", Some(1)), Exit::End);
    assert_eq!(others[0].resume(), Exit::End);

    // A semaphore: one passes for each release.
    assert_eq!(gws(&mut a, "ds_gws_init", Some(0)), Exit::End);
    assert_eq!(gws(&mut others[0], "ds_gws_sema_p", None), Exit::Yield);
    assert_eq!(gws(&mut others[1], "ds_gws_sema_p", None), Exit::Yield);
    assert_eq!(gws(&mut a, "ds_gws_sema_v", None), Exit::End);
    assert_eq!(others[0].resume(), Exit::End);
    assert_eq!(others[1].resume(), Exit::Yield);
    assert_eq!(gws(&mut a, "ds_gws_sema_br", Some(2)), Exit::End);
    assert_eq!(others[1].resume(), Exit::End);
    assert_eq!(gws(&mut others[1], "ds_gws_sema_p", None), Exit::End, "the second release was kept");
    // All waves that wait, but none that comes later.
    assert_eq!(gws(&mut others[0], "ds_gws_sema_p", None), Exit::Yield);
    assert_eq!(gws(&mut others[1], "ds_gws_sema_p", None), Exit::Yield);
    assert_eq!(gws(&mut a, "ds_gws_sema_release_all", None), Exit::End);
    assert_eq!((others[0].resume(), others[1].resume()), (Exit::End, Exit::End));
    assert_eq!(gws(&mut a, "ds_gws_sema_p", None), Exit::Yield);
}

fn without_resources(target: Target) {
    if !has_gws(target) {
        return;
    }
    let mut b = Bench::new(target);
    b.wave.surroundings =
        Surroundings { map: Arc::<Map>::default(), apertures: Apertures::default(), host: Arc::new(Deaf) };
    let [word0, word1] = b.ds("ds_gws_sema_v", [0; 4], 0);
    let fault = b.fault(&[word0 | gds(&b), word1]);
    assert!(matches!(fault, FaultKind::Illegal { name: "ds_gws_sema_v", .. }), "{fault}");
}

fn no_gds_memory(target: Target) {
    if !has_gws(target) {
        return;
    }
    let mut b = Bench::new(target);
    let [word0, word1] = b.ds("ds_add_u32", [0, 0, 1, 2], 0);
    let fault = b.fault(&[word0 | gds(&b), word1]);
    assert!(matches!(fault, FaultKind::Illegal { name: "ds_add_u32", .. }), "{fault}");
    assert!(fault.to_string().contains("no global data share"), "{fault}");
}
