//! SMEM.

use std::time::{Duration, Instant};

use emulator::{
    isa::{Family, Target},
    wave::FaultKind,
};

use super::bench::{Bench, MEMORY_BYTES, SMEM_IMM, SMEM_SOFFSET, row};
use super::{on_each_target, on_gfx9};

on_gfx9! {
    scalar_loads_and_stores_move_dwords: every_load_and_store;
    scalar_cache_maintenance_changes_nothing: cache_maintenance;
    scalar_buffers_end_at_their_last_record: ends_of_buffers;
    a_scalar_load_outside_of_memory_faults: outside;
}

on_each_target! {
    clocks_tick_at_their_rates: clocks;
}

/// Dwords, by suffix.
const SIZES: [(&str, usize); 5] = [("", 1), ("x2", 2), ("x4", 4), ("x8", 8), ("x16", 16)];
const BASE: usize = 4;
const DATA: usize = 16;

/// Address forms: bits of word 0, word 1, and the offset that they mean if the register (s1 or M0) holds 3,
/// which counts `unit` bytes.
fn forms(unit: u64) -> [(u32, u32, u64); 5] {
    [
        (SMEM_IMM, 0x105, 0x104),
        (0, 1, (3 * unit) & !3),
        (0, 124, (3 * unit) & !3),
        (SMEM_SOFFSET, 1 << 25, (3 * unit) & !3),
        (SMEM_IMM | SMEM_SOFFSET, 0x101 | 1 << 25, (0x101 + 3 * unit) & !3),
    ]
}

pub fn every_load_and_store(target: Target) {
    for (family, unit, sizes) in [("s", 1, 5), ("s_scratch", 64, 3), ("s_buffer", 1, 5)] {
        for ((suffix, dwords), (flags, word1, offset)) in
            SIZES[..sizes].iter().flat_map(|size| forms(unit).map(|form| (size, form)))
        {
            let mut b = Bench::new(target);
            let base = b.memory.address() + 64;
            b.set_pair(BASE, base);
            (b.wave.sgpr[BASE + 2], b.wave.sgpr[1]) = (MEMORY_BYTES as u32, 3);
            b.m0(3);
            let name = format!("{family}_load_dword{suffix}");
            let at = 64 + offset as usize;
            let expected: Vec<u32> = (0..*dwords).map(|i| b.memory.dword(at + 4 * i)).collect();
            let before = b.wave.sgpr;
            b.end(&b.smem(&name, DATA as u32, BASE as u32, flags, word1));
            assert_eq!(b.wave.sgpr[DATA..DATA + dwords], expected, "{name} {target:?} {flags:#x}");
            assert_eq!(b.wave.sgpr[DATA + dwords..], before[DATA + dwords..], "{name}");

            if *dwords > 4 {
                continue;
            }
            let name = format!("{family}_store_dword{suffix}");
            let mut expected = b.memory.bytes().to_vec();
            for i in 0..*dwords {
                let word = 0x1000_0001 * (i as u32 + 1);
                b.wave.sgpr[DATA + i] = word;
                expected[at + 4 * i..at + 4 * i + 4].copy_from_slice(&word.to_le_bytes());
            }
            b.end(&b.smem(&name, DATA as u32, BASE as u32, flags, word1));
            assert!(b.memory.bytes() == expected, "{name} {target:?} {flags:#x}");
        }
    }
    // Offsets may be negative.
    let mut b = Bench::new(target);
    b.set_pair(BASE, b.memory.address() + 64);
    b.end(&b.smem("s_load_dword", DATA as u32, BASE as u32, SMEM_IMM, -8i32 as u32 & 0x1f_ffff));
    assert_eq!(b.wave.sgpr[DATA], b.memory.dword(56));
    // Nothing is written where there is no register, whatever has the codes behind.
    let (sgpr, exec) = (b.wave.sgpr, b.wave.exec);
    b.end(&b.smem("s_load_dwordx4", 125, BASE as u32, SMEM_IMM, 0));
    assert_eq!((b.wave.sgpr, b.wave.exec), (sgpr, exec));
    // VCC is a destination like others.
    b.end(&b.smem("s_load_dwordx2", 106, BASE as u32, SMEM_IMM, 8));
    assert_eq!([b.wave.sgpr[106], b.wave.sgpr[107]], [b.memory.dword(72), b.memory.dword(76)]);
}

/// A buffer of two records of 8 bytes: what is behind reads 0 and is not written.
fn ends_of_buffers(target: Target) {
    let mut b = Bench::new(target);
    b.set_pair(BASE, b.memory.address() | 8 << 48);
    b.wave.sgpr[BASE + 2] = 2;
    let expected = [b.memory.dword(8), b.memory.dword(12), 0, 0];
    b.end(&b.smem("s_buffer_load_dwordx4", DATA as u32, BASE as u32, SMEM_IMM, 8));
    assert_eq!(b.wave.sgpr[DATA..DATA + 4], expected);
    let mut memory = b.memory.bytes().to_vec();
    b.wave.sgpr[DATA..DATA + 4].copy_from_slice(&[1, 2, 3, 4]);
    memory[8..16].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
    b.end(&b.smem("s_buffer_store_dwordx4", DATA as u32, BASE as u32, SMEM_IMM, 8));
    assert!(b.memory.bytes() == memory);
    // An atomic that does not fit is not done.
    b.end(&b.smem("s_buffer_atomic_add_x2", DATA as u32, BASE as u32, SMEM_IMM | 1 << 16, 16));
    assert!(b.memory.bytes() == memory && b.wave.sgpr[DATA..DATA + 2] == [0, 0]);
}

fn outside(target: Target) {
    let mut b = Bench::new(target);
    let end = b.memory.address() + MEMORY_BYTES as u64;
    b.set_pair(BASE, end - 4);
    let fault = b.fault(&b.smem("s_load_dwordx2", DATA as u32, BASE as u32, SMEM_IMM, 0));
    assert_eq!(fault, FaultKind::Memory { address: end - 4, lane: 0, bytes: 8, write: false });
    b.set_pair(BASE, end - 4);
    let fault = b.fault(&b.smem("s_atomic_add_x2", DATA as u32, BASE as u32, SMEM_IMM, 0));
    assert_eq!(fault, FaultKind::Misaligned { address: end - 4, lane: 0, bytes: 8 });
}

pub fn cache_maintenance(target: Target) {
    for name in ["inv", "wb", "inv_vol", "wb_vol", "discard", "discard_x2"]
        .map(|name| format!("s_dcache_{name}"))
        .into_iter()
        .chain(["s_atc_probe".to_owned(), "s_atc_probe_buffer".to_owned()])
    {
        let mut b = Bench::new(target);
        b.set_pair(BASE, b.memory.address());
        let (memory, sgpr) = (b.memory.bytes().to_vec(), b.wave.sgpr);
        let operands =
            if name.contains("inv") || name.contains("wb") { (0, 0) } else { (BASE as u32, SMEM_IMM) };
        b.end(&b.smem(&name, 0, operands.0, operands.1, 0));
        assert!(b.memory.bytes() == memory && b.wave.sgpr == sgpr, "{name}");
    }
}

pub fn clocks(target: Target) {
    let mut b = Bench::new(target);
    for (name, nanoseconds) in [("s_memtime", 1), ("s_memrealtime", 10)] {
        if row(target, Family::Smem, name).is_none() {
            continue;
        }
        let mut read = || {
            let words = match target.is_rdna() {
                true => b.rdna_smem(name, DATA as u32, 0, 0, 0),
                false => b.smem(name, DATA as u32, 0, 0, 0),
            };
            b.end(&words);
            b.pair(DATA)
        };
        let begin = Instant::now();
        let first = read();
        let inner = Instant::now();
        std::thread::sleep(Duration::from_millis(2));
        let inner = inner.elapsed().as_nanos() as u64;
        let ticks = read() - first;
        let outer = begin.elapsed().as_nanos() as u64;
        // One tick of rounding at each end.
        assert!(
            (inner / nanoseconds - 1..=outer / nanoseconds + 1).contains(&ticks),
            "{name}: {ticks} ticks"
        );
    }
}
