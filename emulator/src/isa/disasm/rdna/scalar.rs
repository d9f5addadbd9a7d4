//! Scalar ALU and control instructions.

use super::super::{
    super::{
        inst::{Inst, Operand},
        row::{Family, Generation, Target, Ty, flag},
    },
    Text, bits,
    operand::immediate32,
    scalar::{sendmsg, small},
    vector::constant_k,
};
use super::operand::name;

pub fn print(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    // CAST: the low 16 bits of the first word.
    let imm = inst.imm as u32 & 0xffff;
    if shape.has(flag::WRITE) {
        text.operand(&hwreg(imm, target));
    }
    if inst.dst != Operand::NONE {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    for i in 0..3 {
        if shape.has(flag::MADMK) && i == 1 || shape.has(flag::MADAK) && i == 2 {
            text.operand(&constant_k(inst.literal, shape.src[0]));
        }
        if inst.src[i] != Operand::NONE {
            let ty = match (shape.src[i], inst.row.family) {
                // LLVM takes the halves that the scalar unit compares for integers.
                (Ty::F16, Family::Sopc) => Ty::I16,
                // And a literal of one source for a whole dword.
                (Ty::F16, Family::Sop1) if inst.src[i] == Operand::LITERAL => Ty::B32,
                (ty, _) => ty,
            };
            text.operand(&name(inst.src[i], ty, inst.literal));
        }
    }
    match inst.row.family {
        Family::Sop1 if shape.src[0] == Ty::Msg => text.operand(&message(imm & 0xff, target)),
        Family::Sopk if shape.has(flag::LITERAL) => text.operand(&immediate32(inst.literal)),
        Family::Sopk if shape.has(flag::WRITE) => {}
        Family::Sopk if shape.has(flag::HWREG) => text.operand(&hwreg(imm, target)),
        Family::Sopk if shape.has(flag::BRANCH) => text.operand(&imm.to_string()),
        Family::Sopk if shape.has(flag::VERSION) => text.operand(&version(imm)),
        Family::Sopk => text.operand(&format!("{imm:#x}")),
        Family::Sopp => sopp(text, imm, shape.flags, target),
        _ => {}
    }
}

fn sopp(text: &mut Text, imm: u32, flags: u64, target: Target) {
    let has = |flag: u64| flags & flag != 0;
    if has(flag::NO_IMM) || has(flag::OPTIONAL_IMM) && imm == 0 {
        return;
    }
    if has(flag::WAITCNT) {
        return waitcnt(text, imm, target);
    }
    if has(flag::DEPCTR) {
        return depctr(text, imm);
    }
    text.operand(&match () {
        () if has(flag::SENDMSG) => message(imm, target),
        () if has(flag::BRANCH | flag::OPTIONAL_IMM) => imm.to_string(),
        () if has(flag::DELAY) => delay(imm),
        () if has(flag::HEX) => format!("{imm:#x}"),
        () => small(imm),
    });
}

/// The counters that are waited for; all of them if none is.
fn waitcnt(text: &mut Text, imm: u32, target: Target) {
    let counters = if target.generation() == Generation::Gfx10 {
        [
            ("vmcnt", bits(imm, 3, 0) | bits(imm, 15, 14) << 4, 63),
            ("expcnt", bits(imm, 6, 4), 7),
            ("lgkmcnt", bits(imm, 13, 8), 63),
        ]
    } else {
        [("vmcnt", bits(imm, 15, 10), 63), ("expcnt", bits(imm, 2, 0), 7), ("lgkmcnt", bits(imm, 9, 4), 63)]
    };
    let none = counters.iter().all(|(_, count, idle)| count == idle);
    for (counter, count, idle) in counters {
        text.flag(none || count != idle, &format!("{counter}({count})"));
    }
}

fn message(imm: u32, target: Target) -> String {
    let generation = target.generation();
    if generation == Generation::Gfx10 {
        // Bits that no message has are ignored if LLVM knows the number.
        return match imm & 0x37f {
            11 => "sendmsg(MSG_GET_DDID)".to_owned(),
            _ => sendmsg(imm),
        };
    }
    // LLVM ignores the upper bits if it knows the number.
    let message = match imm & 0xff {
        1 => "MSG_INTERRUPT",
        2 => "MSG_HS_TESSFACTOR",
        3 => "MSG_DEALLOC_VGPRS",
        5 if generation == Generation::Gfx11 => "MSG_STALL_WAVE_GEN",
        6 if generation == Generation::Gfx11 => "MSG_HALT_WAVES",
        9 => "MSG_GS_ALLOC_REQ",
        128 => "MSG_RTN_GET_DOORBELL",
        129 => "MSG_RTN_GET_DDID",
        130 => "MSG_RTN_GET_TMA",
        131 => "MSG_RTN_GET_REALTIME",
        132 => "MSG_RTN_SAVE_WAVE",
        133 => "MSG_RTN_GET_TBA",
        134 => "MSG_RTN_GET_TBA_TO_PC",
        135 if generation == Generation::Gfx12 => "MSG_RTN_GET_SE_AID_ID",
        _ if imm < 256 => return format!("sendmsg({imm}, 0, 0)"),
        _ => return imm.to_string(),
    };
    format!("sendmsg({message})")
}

/// The counts of s_waitcnt_depctr that are not their greatest; all of them if none is.
fn depctr(text: &mut Text, imm: u32) {
    if bits(imm, 6, 5) != 0 {
        return text.operand(&format!("{imm:#x}"));
    }
    let counters = [
        ("hold_cnt", bits(imm, 7, 7), 1),
        ("sa_sdst", bits(imm, 0, 0), 1),
        ("va_vdst", bits(imm, 15, 12), 15),
        ("va_sdst", bits(imm, 11, 9), 7),
        ("va_ssrc", bits(imm, 8, 8), 1),
        ("va_vcc", bits(imm, 1, 1), 1),
        ("vm_vsrc", bits(imm, 4, 2), 7),
    ];
    let none = counters.iter().all(|(_, count, idle)| count == idle);
    for (counter, count, idle) in counters {
        text.flag(none || count != idle, &format!("depctr_{counter}({count})"));
    }
}

/// What s_version says a program is for.
fn version(imm: u32) -> String {
    const BITS: [(u32, &str); 3] = [(0x2000, "W64"), (0x4000, "W32"), (0x8000, "MDP")];
    if imm & 0x1f00 != 0 {
        return format!("{imm:#x}");
    }
    let code = match imm & 0xff {
        0 => "UC_VERSION_GFX7".to_owned(),
        4 => "UC_VERSION_GFX10".to_owned(),
        6 => "UC_VERSION_GFX11".to_owned(),
        9 => "UC_VERSION_GFX12".to_owned(),
        code => code.to_string(),
    };
    let mut names =
        BITS.iter().filter(|(bit, _)| imm & bit != 0).map(|(_, name)| format!("UC_VERSION_{name}_BIT"));
    let Some(first) = names.next() else { return code };
    names.fold(format!("{code}|{first}"), |text, name| format!("({text})|{name}"))
}

/// What s_delay_alu says of two instructions that follow.
fn delay(imm: u32) -> String {
    const WHAT: [&str; 12] = [
        "NO_DEP",
        "VALU_DEP_1",
        "VALU_DEP_2",
        "VALU_DEP_3",
        "VALU_DEP_4",
        "TRANS32_DEP_1",
        "TRANS32_DEP_2",
        "TRANS32_DEP_3",
        "FMA_ACCUM_CYCLE_1",
        "SALU_CYCLE_1",
        "SALU_CYCLE_2",
        "SALU_CYCLE_3",
    ];
    const SKIPS: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
    let what = |n: u32| WHAT.get(n as usize).copied().unwrap_or("/* invalid instid value */");
    let (first, skip, second) = (bits(imm, 3, 0), bits(imm, 6, 4), bits(imm, 10, 7));
    let mut parts = Vec::new();
    if first != 0 {
        parts.push(format!("instid0({})", what(first)));
    }
    if skip != 0 {
        let skip = SKIPS.get(skip as usize).copied().unwrap_or("/* invalid instskip value */");
        parts.push(format!("instskip({skip})"));
    }
    if second != 0 {
        parts.push(format!("instid1({})", what(second)));
    }
    if parts.is_empty() { "0".to_owned() } else { parts.join(" | ") }
}

fn hwreg(imm: u32, target: Target) -> String {
    let (id, offset, size) = (bits(imm, 5, 0), bits(imm, 10, 6), bits(imm, 15, 11) + 1);
    let name = match target.generation() {
        Generation::Gfx12 => register_of_gfx12(id),
        generation => register(id, generation),
    };
    let register = name.map_or_else(|| id.to_string(), |name| format!("HW_REG_{name}"));
    if offset == 0 && size == 32 {
        return format!("hwreg({register})");
    }
    format!("hwreg({register}, {offset}, {size})")
}

fn register(id: u32, generation: Generation) -> Option<&'static str> {
    let is_gfx10 = generation == Generation::Gfx10;
    Some(match id {
        1 => "MODE",
        2 => "STATUS",
        3 => "TRAPSTS",
        5 => "GPR_ALLOC",
        6 => "LDS_ALLOC",
        7 => "IB_STS",
        15 => "SH_MEM_BASES",
        16 if is_gfx10 => "TBA_LO",
        17 if is_gfx10 => "TBA_HI",
        18 if is_gfx10 => "TMA_LO",
        19 if is_gfx10 => "TMA_HI",
        18 => "PERF_SNAPSHOT_PC_LO",
        19 => "PERF_SNAPSHOT_PC_HI",
        20 => "FLAT_SCR_LO",
        21 => "FLAT_SCR_HI",
        23 => "HW_ID1",
        24 => "HW_ID2",
        25 if is_gfx10 => "POPS_PACKER",
        27 if !is_gfx10 => "PERF_SNAPSHOT_DATA",
        29 => "SHADER_CYCLES",
        _ => return None,
    })
}

fn register_of_gfx12(id: u32) -> Option<&'static str> {
    Some(match id {
        1 => "WAVE_MODE",
        2 => "WAVE_STATUS",
        4 => "WAVE_STATE_PRIV",
        5 => "WAVE_GPR_ALLOC",
        6 => "WAVE_LDS_ALLOC",
        7 => "IB_STS",
        10 => "PERF_SNAPSHOT_DATA",
        11 => "PERF_SNAPSHOT_PC_LO",
        12 => "PERF_SNAPSHOT_PC_HI",
        15 => "PERF_SNAPSHOT_DATA1",
        16 => "PERF_SNAPSHOT_DATA2",
        17 => "WAVE_EXCP_FLAG_PRIV",
        18 => "WAVE_EXCP_FLAG_USER",
        19 => "WAVE_TRAP_CTRL",
        20 => "WAVE_SCRATCH_BASE_LO",
        21 => "WAVE_SCRATCH_BASE_HI",
        23 => "WAVE_HW_ID1",
        24 => "WAVE_HW_ID2",
        26 => "WAVE_SCHED_MODE",
        29 => "SHADER_CYCLES_LO",
        30 => "SHADER_CYCLES_HI",
        31 => "WAVE_DVGPR_ALLOC_LO",
        32 => "WAVE_DVGPR_ALLOC_HI",
        _ => return None,
    })
}
