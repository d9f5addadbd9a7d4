use super::{DST, Lab, check};

const W: [u32; 3] = [32; 3];

#[test]
fn logic_and_shifts_mask_their_counts() {
    check("v_mov_b32", W, 32, |[a, ..]| a);
    check("v_not_b32", W, 32, |[a, ..]| !a);
    check("v_xnor_b32", W, 32, |[a, b, _]| !(a ^ b));
    check("v_or3_b32", W, 32, |[a, b, c]| a | b | c);
    check("v_and_or_b32", W, 32, |[a, b, c]| (a & b) | c);
    check("v_lshl_or_b32", W, 32, |[a, b, c]| (a << (b % 32)) | c);
    check("v_lshlrev_b32", W, 32, |[a, b, _]| b << (a % 32));
    check("v_lshrrev_b32", W, 32, |[a, b, _]| b >> (a % 32));
    check("v_ashrrev_i32", W, 32, |[a, b, _]| (i64::from(b as u32 as i32) >> (a % 32)) as u64);
    check("v_lshlrev_b64", [32, 64, 32], 64, |[a, b, _]| b << (a % 64));
    check("v_lshrrev_b64", [32, 64, 32], 64, |[a, b, _]| b >> (a % 64));
    check("v_ashrrev_i64", [32, 64, 32], 64, |[a, b, _]| (b as i64 >> (a % 64)) as u64);
    check("v_lshlrev_b16", W, 32, |[a, b, _]| (b & 0xffff) << (a % 16) & 0xffff);
    check("v_ashrrev_i16", W, 32, |[a, b, _]| (i64::from(b as u16 as i16) >> (a % 16)) as u64 & 0xffff);
}

#[test]
fn bit_fields_extend_from_their_width() {
    check("v_bfe_u32", W, 32, |[a, b, c]| (a >> (b % 32)) & ((1 << (c % 32)) - 1));
    check("v_bfe_i32", W, 32, |[a, b, c]| {
        let (offset, width) = (b % 32, c % 32);
        if width == 0 {
            return 0;
        }
        // An arithmetic shift: bits above the register repeat its sign.
        let shifted = i64::from(a as u32 as i32) >> offset;
        (shifted << (64 - width) >> (64 - width)) as u64
    });
    check("v_bfi_b32", W, 32, |[a, b, c]| {
        (0..32).map(|n| (if a >> n & 1 != 0 { b } else { c }) & 1 << n).sum()
    });
    check("v_bfm_b32", W, 32, |[a, b, _]| ((1u64 << (a % 32)) - 1) << (b % 32));
    check("v_alignbit_b32", W, 32, |[a, b, c]| ((a << 32) + b) >> (c % 32));
    check("v_alignbyte_b32", W, 32, |[a, b, c]| ((a << 32) + b) >> (c % 4 * 8));
}

#[test]
fn counting_and_searching_bits() {
    check("v_bfrev_b32", W, 32, |[a, ..]| (0..32).map(|n| (a >> n & 1) << (31 - n)).sum());
    check("v_bcnt_u32_b32", W, 32, |[a, b, _]| (0..32).map(|n| a >> n & 1).sum::<u64>() + b);
    let none = u64::from(u32::MAX);
    check("v_ffbh_u32", W, 32, |[a, ..]| (0..32).find(|n| a >> (31 - n) & 1 != 0).unwrap_or(none));
    check("v_ffbl_b32", W, 32, |[a, ..]| (0..32).find(|n| a >> n & 1 != 0).unwrap_or(none));
    check("v_ffbh_i32", W, 32, |[a, ..]| (0..32).find(|n| a >> (31 - n) & 1 != a >> 31 & 1).unwrap_or(none));
}

#[test]
fn permute_takes_bytes_signs_and_constants() {
    check("v_perm_b32", W, 32, |[a, b, c]| {
        let bytes: Vec<u8> = (b as u32).to_le_bytes().into_iter().chain((a as u32).to_le_bytes()).collect();
        let sign = |n: usize| if bytes[n] >= 0x80 { 0xff } else { 0 };
        let out = (c as u32).to_le_bytes().map(|select| match select {
            0..8 => bytes[usize::from(select)],
            8 => sign(1),
            9 => sign(3),
            10 => sign(5),
            11 => sign(7),
            12 => 0,
            _ => 0xff,
        });
        u32::from_le_bytes(out).into()
    });
    // Folded by LLVM: llvm.amdgcn.perm(0x11223344, 0x8899aabb, 0x0c0b0807).
    let mut lab = Lab::new();
    for (register, value) in [(0, 0x1122_3344), (2, 0x8899_aabb), (4, 0x0c0b_0807)] {
        lab.set(register, 0, value);
    }
    lab.run("v_perm_b32");
    assert_eq!(lab.get(DST, 0) & 0xffff_ffff, 0x0000_ff11);
}

#[test]
fn byte_differences_add_up() {
    let bytes = |x: u64| (x as u32).to_le_bytes();
    let sad = move |a: u64, b: u64, masked: bool| -> u64 {
        let pairs = bytes(a).into_iter().zip(bytes(b));
        pairs.filter(|(_, y)| !masked || *y != 0).map(|(x, y)| u64::from(x.abs_diff(y))).sum()
    };
    check("v_sad_u8", W, 32, move |[a, b, c]| sad(a, b, false) + c);
    check("v_msad_u8", W, 32, move |[a, b, c]| sad(a, b, true) + c);
    check("v_sad_hi_u8", W, 32, move |[a, b, c]| (sad(a, b, false) << 16) + c);
    check("v_sad_u16", W, 32, |[a, b, c]| {
        u64::from((a as u16).abs_diff(b as u16))
            + u64::from(((a >> 16) as u16).abs_diff((b >> 16) as u16))
            + c
    });
    check("v_sad_u32", W, 32, |[a, b, c]| u64::from((a as u32).abs_diff(b as u32)) + c);
    check("v_lerp_u8", W, 32, move |[a, b, c]| {
        let average =
            |n: usize| (u16::from(bytes(a)[n]) + u16::from(bytes(b)[n]) + u16::from(bytes(c)[n] & 1)) / 2;
        (0..4).map(|n| u64::from(average(n)) << (8 * n)).sum()
    });
    check("v_qsad_pk_u16_u8", [64, 32, 64], 64, move |[a, b, c]| {
        (0..4)
            .map(|n| {
                (u64::from((c >> (16 * n)) as u16) + sad(a >> (8 * n), b, false)) % 0x1_0000 * (1 << (16 * n))
            })
            .sum()
    });
}
