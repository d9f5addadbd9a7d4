//! What goes wrong is named.

use emulator::{isa::Target, wave::FaultKind};

use crate::harness::{Level, TARGETS, everywhere, input, kernel, output, value};

#[test]
fn a_write_out_of_bounds_names_the_lane_and_the_address() {
    let source = "KERNEL over(u32 *out, u32 bad) { out[tid == bad ? 1000000 : tid] = tid; }";
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "over", target, level) else { return };
        let mut out = vec![0u32; 256];
        let base = out.as_ptr() as u64;
        let fault = kernel.run([1, 1, 1], [256, 1, 1], &mut [output(&mut out), value(77u32)], 0).unwrap_err();
        let expected = FaultKind::Memory { address: base + 4_000_000, lane: 13, bytes: 4, write: true };
        assert_eq!(fault.kind, expected, "{target:?} {level:?}");
        assert_eq!((fault.wave, fault.workitem), (1, Some([77, 0, 0])));
        assert!(fault.instruction.contains("store_dword"), "{}", fault.instruction);
        assert!(
            fault.to_string().contains(&format!("write of 4 bytes at {:#x} by lane 13", base + 4_000_000))
        );
    }
}

#[test]
fn a_read_just_past_the_end_faults_though_the_bytes_before_it_are_fine() {
    let source = "KERNEL past(const u32 *in, u32 *out) { out[tid] = in[tid]; }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "past", target, Level::O2) else { return };
        let (data, mut out) = (vec![1u32; 63], vec![0u32; 64]);
        let base = data.as_ptr() as u64;
        let fault = kernel.run([1, 1, 1], [64, 1, 1], &mut [input(&data), output(&mut out)], 0).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Memory { address: base + 252, lane: 63, bytes: 4, write: false });
        assert_eq!(fault.nearest, Some((base, base + 252)));
    }
}

#[test]
fn a_write_to_read_only_memory_faults() {
    let source = "KERNEL ro(u32 *out) { out[tid] = 1; }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "ro", target, Level::O2) else { return };
        let data = vec![0u32; 64];
        let fault = kernel.run([1, 1, 1], [64, 1, 1], &mut [input(&data)], 0).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Memory { lane: 0, write: true, .. }), "{fault}");
    }
}

#[test]
fn a_null_pointer_faults_at_its_address() {
    let source = "KERNEL null(u32 *out) { out[0] = *(volatile u32 *)8; }";
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "null", target, level) else { return };
        let mut out = vec![0u32; 1];
        let fault = kernel.run([1, 1, 1], [1, 1, 1], &mut [output(&mut out)], 0).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Memory { address: 8, write: false, .. }), "{fault}");
    }
}

#[test]
fn an_instruction_that_no_kernel_may_execute_is_named() {
    let source = "KERNEL privileged() { asm volatile(\"s_rfe_b64 s[2:3]\"); }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "privileged", target, Level::O2) else { return };
        let fault = kernel.run([1, 1, 1], [64, 1, 1], &mut [], 0).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Illegal { name: "s_rfe_b64", .. }), "{fault}");
        assert!(fault.to_string().contains("only a trap handler"), "{fault}");
        assert_eq!(fault.instruction, "s_rfe_b64 s[2:3]");
        assert!(fault.pc >= kernel.image());
    }
}

#[test]
fn words_that_are_no_instruction_fault_only_when_they_are_reached() {
    let source = "KERNEL illegal(u32 *out, u32 go) {
        out[0] = 1;
        if (go) asm volatile(\".long 0xffffffff\\n.long 0xffffffff\");
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "illegal", target, Level::O2) else { return };
        let mut out = vec![0u32; 1];
        kernel.run([1, 1, 1], [64, 1, 1], &mut [output(&mut out), value(0u32)], 0).unwrap();
        let fault = kernel.run([1, 1, 1], [64, 1, 1], &mut [output(&mut out), value(1u32)], 0).unwrap_err();
        assert_eq!(fault.kind, FaultKind::IllegalInstruction { word0: u32::MAX, word1: u32::MAX });
        assert_eq!(out[0], 1);
    }
}

#[test]
fn traps_stop_the_dispatch() {
    let source = "KERNEL trap(u32 n) { if (tid >= n) __builtin_trap(); }";
    for (target, level) in everywhere() {
        let Some(kernel) = kernel(source, "trap", target, level) else { return };
        kernel.run([1, 1, 1], [64, 1, 1], &mut [value(64u32)], 0).unwrap();
        let fault = kernel.run([4, 1, 1], [64, 1, 1], &mut [value(63u32)], 0).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Trap { id: 2 }, "{target:?} {level:?}");
    }
}

#[test]
fn a_jump_out_of_the_code_faults_there() {
    let source = "KERNEL jump() { asm volatile(\"s_mov_b64 s[0:1], 0x1000\\ns_setpc_b64 s[0:1]\"); }";
    let Some(kernel) = kernel(source, "jump", Target::Gfx90a, Level::O2) else { return };
    let fault = kernel.run([1, 1, 1], [64, 1, 1], &mut [], 0).unwrap_err();
    assert_eq!((fault.kind, fault.pc), (FaultKind::Fetch, 0x1000));
}

#[test]
fn a_pointer_past_the_end_of_lds_faults() {
    let source = "KERNEL far(u32 *out, u32 at) {
        SHARED u32 box[16];
        u32 *p = box;
        asm volatile(\"\" : \"+v\"(p));
        p[at] = 1;
        out[0] = p[0];
    }";
    for target in TARGETS {
        let Some(kernel) = kernel(source, "far", target, Level::O2) else { return };
        let mut out = vec![0u32; 1];
        kernel.run([1, 1, 1], [1, 1, 1], &mut [output(&mut out), value(0u32)], 0).unwrap();
        assert_eq!(out[0], 1);
        let fault = kernel.run([1, 1, 1], [1, 1, 1], &mut [output(&mut out), value(1000u32)], 0).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Aperture { address: (1 << 48) + 4000, lane: 0 });
    }
}
