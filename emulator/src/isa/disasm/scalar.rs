//! Scalar ALU and control instructions, with the immediates that have a language of their own.

use super::{
    super::{
        inst::{Inst, Operand},
        row::{Family, Target, flag},
    },
    Text, bits,
    operand::{immediate32, name},
};

pub fn print(text: &mut Text, inst: &Inst, target: Target) {
    let shape = &inst.row.shape;
    // CAST: the low 16 bits of the first word.
    let imm = inst.imm as u32 & 0xffff;
    if shape.has(flag::HWREG | flag::WRITE) && shape.has(flag::WRITE) {
        text.operand(&hwreg(imm, target));
    }
    if inst.dst != Operand::NONE {
        text.operand(&name(inst.dst, shape.dst, 0));
    }
    for (op, ty) in inst.src.into_iter().zip(shape.src).filter(|(op, _)| *op != Operand::NONE) {
        text.operand(&name(op, ty, inst.literal));
    }
    if shape.has(flag::GPR_IDX) {
        text.operand(&gpr_idx(imm));
    }
    match inst.row.family {
        Family::Sopk if shape.has(flag::LITERAL) => text.operand(&immediate32(inst.literal)),
        Family::Sopk if shape.has(flag::WRITE) => {}
        Family::Sopk if shape.has(flag::HWREG) => text.operand(&hwreg(imm, target)),
        Family::Sopk if shape.has(flag::BRANCH) => text.operand(&imm.to_string()),
        Family::Sopk => text.operand(&format!("{imm:#x}")),
        Family::Sopp => sopp(text, imm, shape.flags),
        _ => {}
    }
}

fn sopp(text: &mut Text, imm: u32, flags: u64) {
    let has = |flag: u64| flags & flag != 0;
    if has(flag::NO_IMM | flag::GPR_IDX) || has(flag::OPTIONAL_IMM) && imm == 0 {
        return;
    }
    if has(flag::WAITCNT) {
        return waitcnt(text, imm);
    }
    text.operand(&match () {
        () if has(flag::SENDMSG) => sendmsg(imm),
        () if has(flag::BRANCH | flag::OPTIONAL_IMM) => imm.to_string(),
        () => small(imm),
    });
}

/// Values that fit an inline constant in decimal, others in hexadecimal.
pub fn small(imm: u32) -> String {
    if imm <= 64 { imm.to_string() } else { format!("{imm:#x}") }
}

/// The counters that are waited for; all of them if none is.
fn waitcnt(text: &mut Text, imm: u32) {
    let counters = [
        ("vmcnt", bits(imm, 3, 0) | bits(imm, 15, 14) << 4, 63),
        ("expcnt", bits(imm, 6, 4), 7),
        ("lgkmcnt", bits(imm, 11, 8), 15),
    ];
    let none = counters.iter().all(|(_, count, idle)| count == idle);
    for (counter, count, idle) in counters {
        text.flag(none || count != idle, &format!("{counter}({count})"));
    }
}

pub fn sendmsg(imm: u32) -> String {
    const GS_OPS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
    let (id, op, stream) = (bits(imm, 3, 0), bits(imm, 6, 4), bits(imm, 9, 8));
    let message = match (id, op, stream) {
        (1, 0, 0) => "MSG_INTERRUPT",
        (4, 0, 0) => "MSG_SAVEWAVE",
        (5, 0, 0) => "MSG_STALL_WAVE_GEN",
        (6, 0, 0) => "MSG_HALT_WAVES",
        (7, 0, 0) => "MSG_ORDERED_PS_DONE",
        (8, 0, 0) => "MSG_EARLY_PRIM_DEALLOC",
        (9, 0, 0) => "MSG_GS_ALLOC_REQ",
        (10, 0, 0) => "MSG_GET_DOORBELL",
        (15, 1, 0) => "MSG_SYSMSG, SYSMSG_OP_ECC_ERR_INTERRUPT",
        (15, 2, 0) => "MSG_SYSMSG, SYSMSG_OP_REG_RD",
        (15, 4, 0) => "MSG_SYSMSG, SYSMSG_OP_TTRACE_PC",
        (3, 0, 0) => "MSG_GS_DONE, GS_OP_NOP",
        (2 | 3, 1..=3, _) => {
            let message = if id == 2 { "MSG_GS" } else { "MSG_GS_DONE" };
            return format!("sendmsg({message}, {}, {stream})", GS_OPS[op as usize]);
        }
        _ if id | op << 4 | stream << 8 != imm => return imm.to_string(),
        _ => return format!("sendmsg({id}, {op}, {stream})"),
    };
    format!("sendmsg({message})")
}

fn hwreg(imm: u32, target: Target) -> String {
    let (id, offset, size) = (bits(imm, 5, 0), bits(imm, 10, 6), bits(imm, 15, 11) + 1);
    let register = match id {
        1 => "HW_REG_MODE",
        2 => "HW_REG_STATUS",
        3 => "HW_REG_TRAPSTS",
        4 => "HW_REG_HW_ID",
        5 => "HW_REG_GPR_ALLOC",
        6 => "HW_REG_LDS_ALLOC",
        7 => "HW_REG_IB_STS",
        15 => "HW_REG_SH_MEM_BASES",
        16 => "HW_REG_TBA_LO",
        17 => "HW_REG_TBA_HI",
        18 => "HW_REG_TMA_LO",
        19 => "HW_REG_TMA_HI",
        20 if target.is_gfx940() => "HW_REG_XCC_ID",
        21 if target.is_gfx940() => "HW_REG_SQ_PERF_SNAPSHOT_DATA",
        22 if target.is_gfx940() => "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
        23 if target.is_gfx940() => "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
        24 if target.is_gfx940() => "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
        _ => "",
    };
    let register = if register.is_empty() { id.to_string() } else { register.to_owned() };
    if offset == 0 && size == 32 {
        return format!("hwreg({register})");
    }
    format!("hwreg({register}, {offset}, {size})")
}

fn gpr_idx(imm: u32) -> String {
    if imm > 15 {
        return format!("{imm:#x}");
    }
    let roles = ["SRC0", "SRC1", "SRC2", "DST"];
    let set: Vec<_> = (0..4).filter(|i| imm >> i & 1 != 0).map(|i| roles[i]).collect();
    format!("gpr_idx({})", set.join(","))
}
