//! MUBUF: addresses, ranges, loads, stores, LDS.

use emulator::{
    isa::{Generation, Target},
    wave::FaultKind,
};

use super::{
    ADDR, DATA, DST, EXEC, LOADS, STORES,
    bench::{BUFFER_LDS, Bench, IDXEN, MEMORY_BYTES, OFFEN, SCRATCH_BYTES, ZERO},
    in_lds, is_gfx90a, live, loaded, loads_to_lds, on_each_target, on_gfx9, stored,
};

on_each_target! {
    loads_and_stores_find_their_addresses: every_load_and_store;
    cache_maintenance_changes_nothing: cache_maintenance;
}

on_gfx9! {
    loads_to_lds_put_a_dword_for_each_lane: every_load_to_lds;
    raw_buffers_end_at_a_byte: raw_ranges;
    structured_buffers_end_at_a_record: record_ranges;
    an_unbound_resource_reads_zero: unbound;
    the_stack_of_the_wave_lies_in_its_scratch: stacks;
    misaligned_buffer_atomics_fault: alignment;
}

const RESOURCE: usize = 8;
const SOFFSET: usize = 20;

const SWIZZLE: u32 = 1 << 31;
const ADD_TID: u32 = 1 << 23;
const FORMAT_32: u32 = 4 << 15;

/// A resource and address registers, and where byte `i` of lane n's datum is then, in words of the manual:
/// linear `base + soffset + index * stride + offset`, or swizzled.
struct Form {
    flags: u32,
    words: [u32; 3],
    /// VGPRs by lane, as IDXEN and OFFEN ask for.
    registers: fn(u32) -> [u32; 2],
    byte: fn(u32, u32) -> u32,
}

/// Bytes of the linear forms' records, and offsets.
const STRIDE: u32 = 48;
const IMMEDIATE: u32 = 0x20;
const START: u32 = 64;

fn scatter(lane: u32) -> u32 {
    lane * 29 % 64
}

/// OOB_SELECT of RDNA: nothing is out of range.
const UNCHECKED: u32 = 2 << 28;

/// Linear forms, of which resources of RDNA have no other layout.
fn linear() -> [Form; 4] {
    [
        // Nothing but the immediate: every lane the same.
        Form { flags: 0, words: [0, 0x1000, FORMAT_32], registers: |_| [0; 2], byte: |_, i| IMMEDIATE + i },
        Form {
            flags: OFFEN,
            words: [0, 0x8000, FORMAT_32],
            registers: |lane| [scatter(lane) * 17, 0],
            byte: |lane, i| scatter(lane) * 17 + IMMEDIATE + i,
        },
        Form {
            flags: IDXEN,
            words: [STRIDE << 16, 64, FORMAT_32],
            registers: |lane| [scatter(lane), 0],
            byte: |lane, i| scatter(lane) * STRIDE + IMMEDIATE + i,
        },
        Form {
            flags: IDXEN | OFFEN,
            words: [STRIDE << 16, 64, FORMAT_32],
            registers: |lane| [scatter(lane), lane % 3],
            byte: |lane, i| scatter(lane) * STRIDE + lane % 3 + IMMEDIATE + i,
        },
    ]
}

/// What else GFX9 has.
fn other() -> [Form; 3] {
    [
        // The lane number is added to the index; no range counts. The format's bits are the stride's upper
        // ones.
        Form {
            flags: 0,
            words: [STRIDE << 16, 0, ADD_TID],
            registers: |_| [0; 2],
            byte: |lane, i| lane * STRIDE + IMMEDIATE + i,
        },
        // Blocks of 16 records, dword by dword.
        Form {
            flags: IDXEN | OFFEN,
            words: [STRIDE << 16 | SWIZZLE, 64, FORMAT_32 | 1 << 21],
            registers: |lane| [scatter(lane), 0],
            byte: |lane, i| {
                let (index, offset) = (scatter(lane), IMMEDIATE + i);
                (index / 16 * STRIDE + offset / 4 * 4) * 16 + index % 16 * 4 + offset % 4
            },
        },
        // 64 lanes side by side, the layout of stacks, somewhere else.
        Form {
            flags: OFFEN,
            words: [SWIZZLE, u32::MAX, ADD_TID | 3 << 21],
            registers: |lane| [lane % 5 * 4, 0],
            byte: |lane, i| {
                let offset = lane % 5 * 4 + IMMEDIATE + i;
                offset / 4 * 4 * 64 + lane * 4 + offset % 4
            },
        },
    ]
}

impl Form {
    fn bench(&self, target: Target) -> Bench {
        let mut b = Bench::new(target);
        b.wave.exec = EXEC;
        b.fill(DATA..DATA + 4);
        b.fill(DST..DST + 4);
        let base = b.memory.address();
        let [stride, records, format] = self.words;
        resource(&mut b, base, [stride, records, if target.is_rdna() { format | UNCHECKED } else { format }]);
        b.wave.sgpr[SOFFSET] = START;
        for lane in 0..64 {
            for (i, value) in (self.registers)(lane as u32).into_iter().enumerate() {
                b.v(ADDR + i)[lane] = value;
            }
        }
        b
    }

    fn words(&self, b: &Bench, name: &str, data: usize) -> Vec<u32> {
        let registers = [SOFFSET as u32, RESOURCE as u32, data as u32, ADDR as u32];
        b.mubuf(name, self.flags, registers, IMMEDIATE)
    }

    fn byte(&self, lane: usize, i: usize) -> usize {
        (START + (self.byte)(lane as u32, i as u32)) as usize
    }
}

/// Puts a resource at s8: base, and what else is in words 1 to 3.
fn resource(b: &mut Bench, base: u64, words: [u32; 3]) {
    let all = [base as u32, (base >> 32) as u32 | words[0], words[1], words[2]];
    b.wave.sgpr[RESOURCE..RESOURCE + 4].copy_from_slice(&all);
}

pub fn every_load_and_store(target: Target) {
    for form in linear().into_iter().chain(other().into_iter().filter(|_| !target.is_rdna())) {
        for (name, _, bytes, how) in LOADS {
            // Swizzled buffers are for dwords that are aligned, and their parts.
            let mut b = form.bench(target);
            let words = form.words(&b, &format!("buffer_load_{name}"), DST);
            let want: Vec<_> = (0..64)
                .map(|lane| {
                    let raw: Vec<u8> = (0..*bytes).map(|i| b.memory.bytes()[form.byte(lane, i)]).collect();
                    let old = b.quad(DST, lane);
                    if live(lane) { loaded(*how, &raw, old) } else { old }
                })
                .collect();
            b.end(&words);
            for (lane, want) in want.into_iter().enumerate() {
                let what = format!("{target:?} buffer_load_{name} {:x?} lane {lane}", form.words);
                assert_eq!(b.quad(DST, lane), want, "{what}");
            }
        }
        for (name, _, bytes, high) in STORES {
            let mut b = form.bench(target);
            let words = form.words(&b, &format!("buffer_store_{name}"), DATA);
            let mut want = b.memory.bytes().to_vec();
            for lane in (0..64).filter(|lane| live(*lane)) {
                for (i, byte) in stored(b.quad(DATA, lane), *bytes, *high).into_iter().enumerate() {
                    want[form.byte(lane, i)] = byte;
                }
            }
            b.end(&words);
            assert!(b.memory.bytes() == want, "{target:?} buffer_store_{name} {:x?}", form.words);
        }
    }
    if target.is_rdna() {
        return;
    }
    // The stride of a private buffer has 18 bits, of which the format's field holds four.
    let mut b = Bench::new(target);
    b.wave.exec = 0b10;
    let base = b.memory.address() - 0x8000;
    resource(&mut b, base, [0x10 << 16, 0, ADD_TID | 2 << 15]);
    b.end(&b.mubuf("buffer_load_dword", 0, [ZERO, RESOURCE as u32, DST as u32, 0], 0));
    assert_eq!(b.wave.vgpr[DST].0[1], b.memory.dword(0x10));
}

/// Lane n's dword goes to M0 + offset + 4n, or, on gfx90a, comes from there.
pub fn every_load_to_lds(target: Target) {
    let form = &linear()[3];
    for (name, _, bytes, how) in loads_to_lds(target) {
        let mut b = form.bench(target);
        // The immediate belongs to both addresses.
        b.m0(0xabcc_0104);
        let mut words = form.words(&b, &format!("buffer_load_{name}"), 0);
        words[0] |= BUFFER_LDS;
        let mut want = b.lds.bytes().to_vec();
        for lane in (0..64).filter(|lane| live(*lane)) {
            let raw: Vec<u8> = (0..*bytes).map(|i| b.memory.bytes()[form.byte(lane, i)]).collect();
            let datum = in_lds(*how, &raw);
            let at = 0x104 + IMMEDIATE as usize + datum.len() * lane;
            want[at..at + datum.len()].copy_from_slice(&datum);
        }
        b.end(&words);
        assert!(b.lds.bytes() == want, "{target:?} buffer_load_{name} lds");
    }
    if !is_gfx90a(target) {
        return;
    }
    let mut b = Bench::new(target);
    b.wave.exec = EXEC;
    let base = b.memory.address();
    resource(&mut b, base, [STRIDE << 16, 0, ADD_TID]);
    b.wave.sgpr[SOFFSET] = START;
    b.m0(0x104);
    let mut want = b.memory.bytes().to_vec();
    for lane in (0..64).filter(|lane| live(*lane)) {
        let at = (START + IMMEDIATE) as usize + lane * STRIDE as usize;
        let word = b.lds.dword(0x104 + IMMEDIATE as usize + 4 * lane);
        want[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    let words =
        b.mubuf("buffer_store_lds_dword", BUFFER_LDS, [SOFFSET as u32, RESOURCE as u32, 0, 0], IMMEDIATE);
    b.end(&words);
    assert!(b.memory.bytes() == want);
}

pub fn cache_maintenance(target: Target) {
    let names: &[&str] = match target.generation() {
        _ if is_gfx90a(target) => &["buffer_wbl2", "buffer_invl2", "buffer_wbinvl1", "buffer_wbinvl1_vol"],
        Generation::Gfx9 => &["buffer_wbl2", "buffer_inv"],
        Generation::Gfx10 | Generation::Gfx11 => &["buffer_gl0_inv", "buffer_gl1_inv"],
        // They are instructions of global memory there.
        Generation::Gfx12 => &[],
    };
    for name in names {
        let mut b = Bench::new(target);
        let (memory, sgpr) = (b.memory.bytes().to_vec(), b.wave.sgpr);
        b.end(&b.mubuf(name, 0, [0; 4], 0));
        assert!(b.memory.bytes() == memory && b.wave.sgpr == sgpr, "{name}");
    }
}

/// Offsets count, dword by dword; SOFFSET does not. Sums that pass 2^32 do not come back into range.
fn raw_ranges(target: Target) {
    const RECORDS: u32 = 100;
    let offsets = [0, 84, 88, 92, 96, 97, 100, 0x7fff_fffc, u32::MAX - 3, u32::MAX];
    for soffset in [0, 512] {
        let mut b = Bench::new(target);
        b.wave.exec = u64::MAX >> (64 - offsets.len());
        let base = b.memory.address();
        resource(&mut b, base, [0, RECORDS, FORMAT_32]);
        b.wave.sgpr[SOFFSET] = soffset;
        b.v(ADDR)[..offsets.len()].copy_from_slice(&offsets);
        let registers = [SOFFSET as u32, RESOURCE as u32, DST as u32, ADDR as u32];
        b.fill(DST..DST + 4);
        let words = b.mubuf("buffer_load_dwordx4", OFFEN, registers, 4);
        b.end(&words);
        let in_range = |offset: u32, i: u64| u64::from(offset) + 4 + 4 * i + 4 <= RECORDS.into();
        for (lane, offset) in offsets.into_iter().enumerate() {
            let want: [u32; 4] = std::array::from_fn(|i| {
                let at = soffset as usize + offset as usize + 4 + 4 * i;
                if in_range(offset, i as u64) { b.memory.dword(at) } else { 0 }
            });
            assert_eq!(b.quad(DST, lane), want, "{target:?} {offset:#x} {soffset}");
        }
        let mut memory = b.memory.bytes().to_vec();
        b.fill(DST..DST + 4);
        for (lane, offset) in offsets.into_iter().enumerate() {
            for i in (0..4).filter(|i| in_range(offset, *i as u64)) {
                let at = soffset as usize + offset as usize + 4 + 4 * i;
                memory[at..at + 4].copy_from_slice(&b.v(DST + i)[lane].to_le_bytes());
            }
        }
        let words = b.mubuf("buffer_store_dwordx4", OFFEN, registers, 4);
        b.end(&words);
        assert!(b.memory.bytes() == memory, "{target:?} {soffset}");
        // An atomic is done as a whole or not at all.
        b.v(DST).fill(1);
        b.v(DST + 1).fill(0);
        b.v(ADDR).fill(RECORDS - 8);
        b.end(&b.mubuf("buffer_atomic_add_x2", OFFEN, registers, 4));
        assert!(b.memory.bytes() == memory, "{target:?} {soffset}");
    }
}

/// Indices count, not offsets, also without swizzling.
fn record_ranges(target: Target) {
    for swizzle in [0, SWIZZLE] {
        let mut b = Bench::new(target);
        b.wave.exec = 0xf;
        let base = b.memory.address();
        resource(&mut b, base, [16 << 16 | swizzle, 10, FORMAT_32]);
        b.v(ADDR)[..4].copy_from_slice(&[9, 10, 0, u32::MAX]);
        b.v(ADDR + 1)[..4].copy_from_slice(&[0, 0, 400, 0]);
        let registers = [ZERO, RESOURCE as u32, DST as u32, ADDR as u32];
        b.end(&b.mubuf("buffer_load_dword", IDXEN | OFFEN, registers, 0));
        let address = |index: usize, offset: usize| match swizzle {
            0 => index * 16 + offset,
            _ => (index / 8 * 16 + offset) * 8 + index % 8 * 4,
        };
        let want = [b.memory.dword(address(9, 0)), 0, b.memory.dword(address(0, 400)), 0];
        assert_eq!(b.v(DST)[..4], want, "{target:?} {swizzle:#x}");
    }
}

fn unbound(target: Target) {
    let mut b = Bench::new(target);
    resource(&mut b, 0, [0, 0, 0]);
    b.fill(DST..DST + 1);
    let registers = [ZERO, RESOURCE as u32, DST as u32, 0];
    b.end(&b.mubuf("buffer_load_dword", 0, registers, 0));
    assert_eq!(*b.v(DST), [0; 64]);
    // A size alone does not bind it.
    let base = b.memory.address();
    resource(&mut b, base, [0, 0x1000, 0]);
    b.fill(DST..DST + 1);
    let memory = b.memory.bytes().to_vec();
    b.end(&b.mubuf("buffer_store_dword", 0, registers, 0));
    assert!(b.memory.bytes() == memory);
    // Behind the end of memory that is in range there is a fault.
    let end = base + MEMORY_BYTES as u64;
    resource(&mut b, end, [0, 0x1000, FORMAT_32]);
    let fault = b.fault(&b.mubuf("buffer_load_dword", 0, registers, 0));
    assert_eq!(fault, FaultKind::Memory { address: end, lane: 0, bytes: 4, write: false });
}

/// The V# that gfx90a's kernels get for their stack, with the offset register counting bytes of all lanes.
fn stacks(target: Target) {
    let mut b = Bench::new(target);
    let base = b.scratch.address();
    resource(&mut b, base, [SWIZZLE, u32::MAX, ADD_TID | 3 << 21 | FORMAT_32 | 4 << 12]);
    b.wave.sgpr[SOFFSET] = 64 * 32;
    b.fill(DATA..DATA + 2);
    b.fill(DST..DST + 2);
    (0..64).for_each(|lane| b.v(ADDR)[lane] = 4 * (lane as u32 % 7));
    let registers = |data: usize| [SOFFSET as u32, RESOURCE as u32, data as u32, ADDR as u32];
    b.end(&b.mubuf("buffer_store_dwordx2", OFFEN, registers(DATA), 16));
    for lane in 0..64 {
        for i in 0..2 {
            let dword = 32 / 4 + lane % 7 + 16 / 4 + i;
            assert_eq!(
                b.scratch.dword(dword * 256 + lane * 4),
                b.wave.vgpr[DATA + i].0[lane],
                "{target:?} {lane}"
            );
        }
    }
    b.end(&b.mubuf("buffer_load_dwordx2", OFFEN, registers(DST), 16));
    assert_eq!((*b.v(DST), *b.v(DST + 1)), (b.wave.vgpr[DATA].0, b.wave.vgpr[DATA + 1].0));
    // A byte of a slot that all lanes share.
    b.end(&b.mubuf("buffer_store_byte", 0, registers(DATA), 5));
    for lane in 0..64 {
        let byte = b.scratch.bytes()[(32 / 4 + 1) * 256 + lane * 4 + 1];
        assert_eq!(byte, b.wave.vgpr[DATA].0[lane] as u8);
    }
    // Beyond the lane's share.
    b.v(ADDR).fill(SCRATCH_BYTES as u32);
    let fault = b.fault(&b.mubuf("buffer_load_dword", OFFEN, registers(DST), 0));
    assert!(matches!(fault, FaultKind::Aperture { lane: 0, .. }), "{fault}");
}

fn alignment(target: Target) {
    let mut b = Bench::new(target);
    let base = b.memory.address();
    resource(&mut b, base, [0, 0x1000, FORMAT_32]);
    let fault = b.fault(&b.mubuf("buffer_atomic_add_x2", 0, [ZERO, RESOURCE as u32, DST as u32, 0], 4));
    assert_eq!(fault, FaultKind::Misaligned { address: base + 4, lane: 0, bytes: 8 });
}
