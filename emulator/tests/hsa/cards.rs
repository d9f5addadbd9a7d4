//! What devices say of themselves, and which code they take.

use std::ffi::c_void;

use emulator::isa::Target;
use hsa_sys::*;

use super::session::{Session, ok};
use crate::harness::code_object_for;

/// The answer of an agent, as many bytes as it may have.
fn ask<const N: usize>(session: &Session, gpu: usize, attribute: hsa_agent_info_t) -> [u8; N] {
    let mut answer = [0; N];
    // SAFETY: the tests below give each answer the room that it takes.
    let status =
        unsafe { (session.hsa.hsa_agent_get_info)(session.gpu(gpu), attribute, answer.as_mut_ptr().cast()) };
    ok(status);
    answer
}

fn number(session: &Session, gpu: usize, attribute: hsa_agent_info_t) -> u32 {
    u32::from_le_bytes(ask(session, gpu, attribute))
}

fn text(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).expect("names are text")
}

#[test]
fn cards_of_rdna_have_wavefronts_of_32_lanes_and_names_without_features() {
    let session = Session::devices(&Target::ALL);
    let memory_properties = hsa_agent_info_t(HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES.0);
    for (gpu, target) in Target::ALL.into_iter().enumerate() {
        let name = target.name();
        assert_eq!(text(&ask::<64>(&session, gpu, HSA_AGENT_INFO_NAME)), name);
        let lanes = if target.is_rdna() { 32 } else { 64 };
        assert_eq!(number(&session, gpu, HSA_AGENT_INFO_WAVEFRONT_SIZE), lanes, "{name}");
        let simds = number(&session, gpu, hsa_agent_info_t(HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU.0));
        assert_eq!(simds, if target.is_rdna() { 2 } else { 4 }, "{name}");
        // The bit with the number 1.
        let is_apu = ask::<8>(&session, gpu, memory_properties)[0] & 2 != 0;
        assert_eq!(is_apu, matches!(target, Target::Gfx1103 | Target::Gfx1150 | Target::Gfx1151), "{name}");
        let isa = hsa_isa_t { handle: u64::from_le_bytes(ask(&session, gpu, HSA_AGENT_INFO_ISA)) };
        let mut said = [0u8; 64];
        let room = (&raw mut said).cast::<c_void>();
        // SAFETY: no name has more than 64 characters.
        ok(unsafe { (session.hsa.hsa_isa_get_info_alt)(isa, HSA_ISA_INFO_NAME, room) });
        let features = if target.is_rdna() { "" } else { ":sramecc+:xnack-" };
        assert_eq!(text(&said), format!("amdgcn-amd-amdhsa--{name}{features}"));
    }
}

#[test]
fn code_for_a_generic_target_loads_on_the_cards_of_its_family() {
    let session = Session::devices(&Target::ALL);
    let source = "KERNEL nothing() {}";
    for (generic, family) in [
        ("gfx9-4-generic", &["gfx942", "gfx950"][..]),
        ("gfx10-3-generic", &["gfx1030"]),
        ("gfx11-generic", &["gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151"]),
        ("gfx12-generic", &["gfx1200", "gfx1201"]),
    ] {
        // Generic targets came with version 6.
        let Some(code) = code_object_for(source, generic, 6) else { return };
        for (gpu, target) in Target::ALL.into_iter().enumerate() {
            let loaded = session.load_code(gpu, &code);
            assert_eq!(loaded.is_ok(), family.contains(&target.name()), "{generic} on {}", target.name());
            if let Ok(executable) = loaded {
                // SAFETY: it has just been made.
                ok(unsafe { (session.hsa.hsa_executable_destroy)(executable) });
            }
        }
    }
}
