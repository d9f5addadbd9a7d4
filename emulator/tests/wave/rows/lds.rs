//! DS: reads, writes, exchanges and lane permutations; the plain atomics are in the module `rmw`.

use emulator::{
    isa::{Family, Generation, Target},
    wave::FaultKind,
};
use fastrand::Rng;

use super::{
    ADDR, DATA, DST, EXEC, LOADS, Load, STORES,
    bench::{Bench, LDS_BYTES, row},
    live, loaded, on_each_target, on_gfx9, stored,
};

on_each_target! {
    reads_and_writes_move_what_their_names_say: every_read_and_write;
    pairs_of_reads_and_writes_have_two_offsets: every_pair;
    exchanges_return_what_they_replace: every_exchange;
    lanes_exchange_data_without_memory: every_lane_permutation;
    data_are_loaded_into_all_lanes: direct_loads;
    the_end_of_lds_is_not_crossed: out_of_range;
    atomics_must_be_aligned: alignment;
}

on_gfx9! {
    tiles_are_transposed: every_transposed_read;
}

/// A wave whose lanes have addresses from `start` on, `step` apart, in an order of their own, in v4.
fn bench(target: Target, start: u32, step: u32) -> Bench {
    let mut b = Bench::new(target);
    b.wave.exec = EXEC;
    b.fill(DATA..DATA + 8);
    b.fill(DST..DST + 8);
    for lane in 0..64 {
        b.v(ADDR)[lane] = start + step * ((lane as u32 * 29) % 64);
    }
    b
}

/// Lanes whose registers a load has changed must hold what `expected` says of their old contents.
fn check_loaded(b: &mut Bench, words: [u32; 2], expected: impl Fn(&Bench, usize, [u32; 4]) -> [u32; 4]) {
    let want: Vec<[u32; 4]> = (0..64)
        .map(|lane| {
            let old = b.quad(DST, lane);
            if live(lane) { expected(b, lane, old) } else { old }
        })
        .collect();
    b.end(&words);
    for (lane, want) in want.into_iter().enumerate() {
        assert_eq!(b.quad(DST, lane), want, "{:?} {words:08x?} lane {lane}", b.target);
    }
}

/// LDS must hold what it held, with the bytes that `writes` gives each live lane at an offset, in lane order.
fn check_stored(b: &mut Bench, words: [u32; 2], writes: impl Fn(&mut Bench, usize) -> Vec<(usize, Vec<u8>)>) {
    let mut want = b.lds.bytes().to_vec();
    for lane in (0..64).filter(|lane| live(*lane)) {
        for (at, bytes) in writes(b, lane) {
            want[at..at + bytes.len()].copy_from_slice(&bytes);
        }
    }
    b.end(&words);
    assert!(b.lds.bytes() == want, "{:?} {words:08x?}", b.target);
}

pub fn every_read_and_write(target: Target) {
    // Aligned, and as far off as the unaligned access mode of HSA programs allows.
    for (start, step) in [(32, 16), (33, 17), (38, 18)] {
        for (_, name, bytes, how) in LOADS {
            let mut b = bench(target, start, step);
            let words = b.ds(&format!("ds_read_{name}"), [DST as u32, 0, 0, ADDR as u32], 0x123);
            check_loaded(&mut b, words, |b, lane, old| {
                let at = b.wave.vgpr[ADDR].0[lane] as usize + 0x123;
                loaded(*how, &b.lds.bytes()[at..at + bytes], old)
            });
        }
        for (_, name, bytes, high) in STORES {
            let mut b = bench(target, start, step);
            let words = b.ds(&format!("ds_write_{name}"), [0, 0, DATA as u32, ADDR as u32], 0x123);
            check_stored(&mut b, words, |b, lane| {
                let at = b.v(ADDR)[lane] as usize + 0x123;
                vec![(at, stored(b.quad(DATA, lane), *bytes, *high))]
            });
        }
    }
    // By lane number: M0 + offset + 4 * lane.
    let mut b = bench(target, 0, 0);
    b.m0(0x40);
    let words = b.ds("ds_read_addtid_b32", [DST as u32, 0, 0, 0], 8);
    check_loaded(&mut b, words, |b, lane, old| [b.lds.dword(0x48 + 4 * lane), old[1], old[2], old[3]]);
    let words = b.ds("ds_write_addtid_b32", [0, 0, DATA as u32, 0], 8);
    check_stored(&mut b, words, |b, lane| vec![(0x48 + 4 * lane, b.v(DATA)[lane].to_le_bytes().to_vec())]);
    // Nothing at all.
    let words = b.ds("ds_nop", [0; 4], 0);
    check_stored(&mut b, words, |_, _| vec![]);
}

/// Bytes at an offset of LDS as words.
fn words_at(b: &Bench, at: usize, count: usize) -> Vec<u32> {
    (0..count).map(|i| b.lds.dword(at + 4 * i)).collect()
}

pub fn every_pair(target: Target) {
    for (suffix, bytes) in [("b32", 4usize), ("b64", 8)] {
        for (stride, unit) in [("", 1), ("st64", 64)] {
            let (first, second) = if unit == 1 { (3, 200) } else { (1, 7) };
            for (first, second) in [(first, second), (second, second)] {
                let places =
                    |address: u32| [first, second].map(|offset| address as usize + offset * unit * bytes);
                let offsets = (second << 8 | first) as u32;
                let n = bytes / 4;

                let mut b = bench(target, 16, 8);
                let words =
                    b.ds(&format!("ds_read2{stride}_{suffix}"), [DST as u32, 0, 0, ADDR as u32], offsets);
                check_loaded(&mut b, words, |b, lane, old| {
                    let [p, q] = places(b.wave.vgpr[ADDR].0[lane]);
                    let mut new = old;
                    new[..n].copy_from_slice(&words_at(b, p, n));
                    new[n..2 * n].copy_from_slice(&words_at(b, q, n));
                    new
                });

                let mut b = bench(target, 16, 8);
                let data1 = DATA as u32 + 4;
                let registers = [0, data1, DATA as u32, ADDR as u32];
                let words = b.ds(&format!("ds_write2{stride}_{suffix}"), registers, offsets);
                // The second writes follow the first of all lanes; equal offsets leave the first.
                let mut want = b.lds.bytes().to_vec();
                for (i, data) in [DATA, DATA + 4].into_iter().enumerate() {
                    for lane in (0..64).filter(|lane| live(*lane) && (i == 0 || first != second)) {
                        let at = places(b.v(ADDR)[lane])[i];
                        want[at..at + bytes].copy_from_slice(&stored(b.quad(data, lane), bytes, false));
                    }
                }
                b.end(&words);
                assert!(b.lds.bytes() == want, "{target:?} write2{stride}_{suffix} {first} {second}");

                // Far apart, so that no two lanes meet.
                let mut b = bench(target, 0, 8);
                let registers = [DST as u32, data1, DATA as u32, ADDR as u32];
                let words = b.ds(&format!("ds_wrxchg2{stride}_rtn_{suffix}"), registers, offsets);
                let before = b.lds.bytes().to_vec();
                let word = |at: usize| u32::from_le_bytes(before[at..at + 4].try_into().unwrap());
                let mut memory = before.clone();
                let mut results = vec![];
                for lane in 0..64 {
                    let mut result = b.quad(DST, lane);
                    if live(lane) {
                        for (i, at) in places(b.v(ADDR)[lane]).into_iter().enumerate() {
                            // The old value is that of memory as earlier lanes have left it.
                            for k in 0..n {
                                let at = at + 4 * k;
                                let now = u32::from_le_bytes(memory[at..at + 4].try_into().unwrap());
                                result[i * n + k] = if first == second { word(at) } else { now };
                            }
                            if i == 0 || first != second {
                                let data = b.quad([DATA, DATA + 4][i], lane);
                                memory[at..at + bytes].copy_from_slice(&stored(data, bytes, false));
                            }
                        }
                    }
                    results.push(result);
                }
                b.end(&words);
                assert!(b.lds.bytes() == memory, "{target:?} wrxchg2{stride}_{suffix} {first} {second}");
                for (lane, result) in results.into_iter().enumerate() {
                    assert_eq!(
                        b.quad(DST, lane),
                        result,
                        "wrxchg2{stride}_{suffix} {first} {second} lane {lane}"
                    );
                }
            }
        }
    }
}

pub fn every_exchange(target: Target) {
    // Each half is replaced if its highest bit is set, without that bit. The address loses its low bits.
    let mut b = bench(target, 16, 8);
    let offset = 13;
    let words = b.ds("ds_condxchg32_rtn_b64", [DST as u32, 0, DATA as u32, ADDR as u32], offset);
    let mut want = b.lds.bytes().to_vec();
    let mut results = vec![];
    for lane in 0..64 {
        let at = (b.v(ADDR)[lane] + offset) as usize & 0xfff8;
        let mut result = b.quad(DST, lane);
        for i in (0..2).filter(|_| live(lane)) {
            result[i] = b.lds.dword(at + 4 * i);
            let data = b.v(DATA + i)[lane];
            if data & 0x8000_0000 != 0 {
                want[at + 4 * i..at + 4 * i + 4].copy_from_slice(&(data & 0x7fff_ffff).to_le_bytes());
            }
        }
        results.push(result);
    }
    b.end(&words);
    assert!(b.lds.bytes() == want);
    for (lane, result) in results.into_iter().enumerate() {
        assert_eq!(b.quad(DST, lane), result, "lane {lane}");
    }

    // The number of live lanes, at M0 + offset.
    let live_lanes = EXEC.count_ones();
    for (name, add) in [("ds_append", live_lanes), ("ds_consume", live_lanes.wrapping_neg())] {
        let mut b = bench(target, 0, 0);
        b.m0(0x60);
        let old = b.lds.dword(0x68);
        let words = b.ds(name, [DST as u32, 0, 0, 0], 8);
        check_loaded(&mut b, words, |_, _, registers| [old, registers[1], registers[2], registers[3]]);
        assert_eq!(b.lds.dword(0x68), old.wrapping_add(add), "{name}");
    }
}

pub fn every_lane_permutation(target: Target) {
    let mut b = bench(target, 0, 0);
    let mut random = Rng::with_seed(3);
    // Addresses count bytes; only six bits of the lane number count. On RDNA 2 and 3 it is five: lanes name others of their
    // own half.
    let reach = if matches!(target.generation(), Generation::Gfx10 | Generation::Gfx11) { 32 } else { 64 };
    let named = move |b: &Bench, lane: usize| {
        lane / reach * reach + b.wave.vgpr[ADDR].0[lane].wrapping_add(8) as usize / 4 % reach
    };
    b.v(ADDR).iter_mut().for_each(|v| *v = random.u32(..));
    let words = b.ds("ds_bpermute_b32", [DST as u32, 0, DATA as u32, ADDR as u32], 8);
    check_loaded(&mut b, words, |b, lane, old| {
        let from = named(b, lane);
        [if live(from) { b.wave.vgpr[DATA].0[from] } else { 0 }, old[1], old[2], old[3]]
    });
    let words = b.ds("ds_permute_b32", [DST as u32, 0, DATA as u32, ADDR as u32], 8);
    check_loaded(&mut b, words, |b, lane, old| {
        let sender = |from: &usize| named(b, *from) == lane;
        // Of two lanes that send to one the higher wins.
        let from = (0..64).rev().filter(|from| live(*from)).find(sender);
        [from.map_or(0, |from| b.wave.vgpr[DATA].0[from]), old[1], old[2], old[3]]
    });

    if target.generation() == Generation::Gfx12 {
        let words = b.ds("ds_bpermute_fi_b32", [DST as u32, 0, DATA as u32, ADDR as u32], 8);
        check_loaded(&mut b, words, |b, lane, old| {
            [b.wave.vgpr[DATA].0[named(b, lane)], old[1], old[2], old[3]]
        });
    }

    // The manual's table of the FFT modes: from which lane of its 32 each lane reads.
    let reversed =
        |lane: usize, bits: u32| (0..bits).map(|i| (lane >> i & 1) << (bits - 1 - i)).sum::<usize>();
    type Pattern = (u32, fn(usize, &dyn Fn(usize, u32) -> usize) -> usize);
    let patterns: &[Pattern] = &[
        (0x041f, |lane, _| lane ^ 1),
        (0x7c1f, |lane, _| lane ^ 31),
        (0x0010, |lane, _| lane & 0x10),
        (0x00e3, |lane, _| lane & 3 | 7),
        (0x1d67, |lane, _| (lane & 7 | 11) ^ 7),
        (0x801b, |lane, _| lane ^ 3),
        (0x80aa, |lane, _| lane & !3 | 2),
        (0xc020, |lane, _| (lane + 1) % 32),
        (0xc460, |lane, _| (lane + 29) % 32),
        // Rotation by 3 in groups of 8: the mask keeps the group.
        (0xc078, |lane, _| lane & 0x18 | (lane + 3) & 7),
        (0xe000, |lane, reversed| reversed(lane, 5)),
        (0xe010, |lane, reversed| lane & 16 | reversed(lane & 15, 4)),
        (0xe01f, |lane, _| lane),
    ];
    for (pattern, source) in patterns {
        let words = b.ds("ds_swizzle_b32", [DST as u32, 0, 0, DATA as u32], *pattern);
        check_loaded(&mut b, words, |b, lane, old| {
            let from = lane & 32 | source(lane & 31, &reversed);
            [if live(from) { b.wave.vgpr[DATA].0[from] } else { 0 }, old[1], old[2], old[3]]
        });
    }
}

/// One datum for all lanes: its address in M0, and in bits 18..16 its type.
pub fn direct_loads(target: Target) {
    if target.generation() < Generation::Gfx11 {
        return;
    }
    let (name, field) =
        if target.generation() == Generation::Gfx12 { ("ds_direct_load", 1) } else { ("lds_direct_load", 1) };
    assert!(row(target, Family::LdsDirect, name).is_some());
    let types: [(u32, usize, Load); 5] =
        [(0, 1, Load::Zero), (1, 2, Load::Zero), (2, 4, Load::Words), (4, 1, Load::Sign), (5, 2, Load::Sign)];
    for (code, bytes, how) in types {
        let mut b = bench(target, 0, 0);
        b.m0(0x124 | code << 16);
        let want = loaded(how, &b.lds.bytes()[0x124..0x124 + bytes], [0; 4])[0];
        let before = b.wave.vgpr[DST].0;
        b.end(&[0xce00_0000 | field << 20 | DST as u32]);
        for (lane, old) in before.into_iter().enumerate() {
            assert_eq!(b.v(DST)[lane], if live(lane) { want } else { old }, "{target:?} {code} lane {lane}");
        }
    }
}

/// What 16 lanes load is a tile of 16 columns, row by row, of which each gets a column.
pub fn every_transposed_read(target: Target) {
    if target != Target::Gfx950 {
        return;
    }
    for (name, bits, bytes) in
        [("b64_tr_b4", 4, 8), ("b96_tr_b6", 6, 12), ("b64_tr_b8", 8, 8), ("b64_tr_b16", 16, 8)]
    {
        let mut b = bench(target, 32, 16);
        let words = b.ds(&format!("ds_read_{name}"), [DST as u32, 0, 0, ADDR as u32], 0x123);
        check_loaded(&mut b, words, |b, lane, old| {
            let load = |lane: usize| {
                let at = b.wave.vgpr[ADDR].0[lane] as usize + 0x123;
                if live(lane) { b.lds.bytes()[at..at + bytes].to_vec() } else { vec![0; bytes] }
            };
            let tile: Vec<u8> = (lane & !15..).take(16).flat_map(load).collect();
            let bit = |n: usize| tile[n / 8] >> (n % 8) & 1;
            let elements = (lane & 15..tile.len() * 8 / bits).step_by(16);
            let column: Vec<u8> =
                elements.flat_map(|element| (0..bits).map(move |n| element * bits + n)).map(bit).collect();
            let mut words = old;
            for (word, bits) in words.iter_mut().zip(column.chunks(32)) {
                *word = bits.iter().rev().fold(0, |word, bit| word << 1 | u32::from(*bit));
            }
            words
        });
    }
}

/// Reads behind the end give 0 and writes are dropped, for an access as a whole.
fn out_of_range(target: Target) {
    let mut b = bench(target, 0, 0);
    for (lane, address) in b.v(ADDR).iter_mut().enumerate() {
        *address = LDS_BYTES as u32 - 256 + 8 * lane as u32;
    }
    let words = b.ds("ds_read_b64", [DST as u32, 0, 0, ADDR as u32], 4);
    check_loaded(&mut b, words, |b, lane, old| {
        let at = LDS_BYTES - 256 + 8 * lane + 4;
        let inside = at + 8 <= LDS_BYTES;
        let words = if inside { words_at(b, at, 2) } else { vec![0, 0] };
        [words[0], words[1], old[2], old[3]]
    });
    let words = b.ds("ds_write_b64", [0, 0, DATA as u32, ADDR as u32], 4);
    check_stored(&mut b, words, |b, lane| {
        let at = LDS_BYTES - 256 + 8 * lane + 4;
        let data = stored(b.quad(DATA, lane), 8, false);
        if at + 8 <= LDS_BYTES { vec![(at, data)] } else { vec![] }
    });
    b.v(ADDR).fill(u32::MAX - 3);
    let words = b.ds("ds_add_rtn_u32", [DST as u32, 0, DATA as u32, ADDR as u32], 0);
    check_loaded(&mut b, words, |_, _, old| [0, old[1], old[2], old[3]]);
}

fn alignment(target: Target) {
    let mut b = bench(target, 0, 0);
    b.v(ADDR).fill(12);
    let names = [("ds_add_u32", 2, 4), ("ds_add_rtn_u64", 0, 8)];
    for (name, offset, bytes) in names {
        let words =
            b.ds(name, [if bytes == 8 { DST as u32 } else { 0 }, 0, DATA as u32, ADDR as u32], offset);
        let fault = b.fault(&words);
        // Lane 2 is the first that lives.
        assert_eq!(fault, FaultKind::Misaligned { address: 12 + u64::from(offset), lane: 2, bytes });
    }
}
