//! One wave with memory, LDS and scratch of its own, and the words to run on it: an assembler of a few lines.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use emulator::{
    isa::{Family, Generation, Row, Target, decode, table},
    memory::{Allocation, Grain, Map},
    wave::{Apertures, Exit, FaultKind, Host, Mode, Surroundings, Wave, WaveSync, code::Code},
};
use fastrand::Rng;

use super::names;

/// MODE of compiled kernels: nearest even, all denormals, DX10 clamp, IEEE.
pub const MODE: u32 = 0x3f0;
pub const MEMORY_BYTES: usize = 64 * 1024;
pub const LDS_BYTES: usize = 8 * 1024;
/// Per lane.
pub const SCRATCH_BYTES: usize = 512;
const CODE_DWORDS: usize = 64;

/// The instruction on a target.
const fn s_endpgm(target: Target) -> u32 {
    match target.generation() {
        Generation::Gfx9 | Generation::Gfx10 => 0xbf81_0000,
        _ => 0xbfb0_0000,
    }
}

thread_local! {
    static EXECUTED: RefCell<BTreeSet<(u8, Family, &'static str)>> = const { RefCell::new(BTreeSet::new()) };
}

/// Rows that this thread has run: the target's number, family and mnemonic.
pub fn executed() -> BTreeSet<(u8, Family, &'static str)> {
    EXECUTED.with_borrow(Clone::clone)
}

/// What the wave's host heard and lends.
#[derive(Default)]
pub struct Listener {
    pub messages: Mutex<Vec<(u16, u32)>>,
    pub sync: WaveSync,
}

impl Host for Listener {
    fn message(&self, message: u16, m0: u32) {
        self.messages.lock().unwrap().push((message, m0));
    }

    fn wave_sync(&self) -> Option<&WaveSync> {
        Some(&self.sync)
    }
}

/// Bytes that start at a multiple of 256.
pub struct Aligned(Vec<[u64; 32]>, usize);

impl Aligned {
    fn new(bytes: usize) -> Self {
        Self(vec![[0; 32]; bytes.div_ceil(256) + 1], bytes)
    }

    fn skip(&self) -> usize {
        (256 - self.0.as_ptr() as usize % 256) % 256
    }

    pub fn address(&self) -> u64 {
        (self.0.as_ptr() as usize + self.skip()) as u64
    }

    pub fn bytes(&self) -> &[u8] {
        let skip = self.skip();
        &bytemuck::cast_slice(&self.0)[skip..skip + self.1]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let skip = self.skip();
        &mut bytemuck::cast_slice_mut(&mut self.0)[skip..skip + self.1]
    }

    pub fn dword(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.bytes()[offset..offset + 4].try_into().unwrap())
    }
}

pub struct Bench {
    pub wave: Wave,
    pub target: Target,
    pub memory: Aligned,
    pub lds: Aligned,
    pub scratch: Aligned,
    pub host: Arc<Listener>,
    code: Box<[u32; CODE_DWORDS]>,
}

impl Bench {
    pub fn new(target: Target) -> Self {
        Self::beside(target, Arc::default())
    }

    /// A wave that shares its host with another.
    pub fn beside(target: Target, host: Arc<Listener>) -> Self {
        let (mut memory, mut lds) = (Aligned::new(MEMORY_BYTES), Aligned::new(LDS_BYTES));
        let mut scratch = Aligned::new(64 * SCRATCH_BYTES);
        let mut random = Rng::with_seed(7);
        for area in [&mut memory, &mut lds, &mut scratch] {
            area.bytes_mut().iter_mut().for_each(|byte| *byte = random.u8(..));
        }
        let map = Arc::new(Map::default());
        let start = memory.address();
        let (end, grain) = (start + MEMORY_BYTES as u64, Grain::Fine);
        map.insert(Allocation { start, end, writable: true, grain, socket: None, backing: None });
        let apertures = Apertures::default();
        let mut wave = Wave::new(target, Surroundings { map, apertures, host: host.clone() });
        wave.exec = u64::MAX;
        wave.mode = Mode::of(target, MODE);
        wave.lds = lds.bytes_mut().as_mut_ptr();
        wave.lds_size = LDS_BYTES as u32;
        wave.scratch = scratch.address();
        wave.scratch_stride = 64 * SCRATCH_BYTES as u32;
        Self { wave, target, memory, lds, scratch, host, code: Box::new([s_endpgm(target); CODE_DWORDS]) }
    }

    /// Where the next program will stand.
    pub fn base(&self) -> u64 {
        self.code.as_ptr() as u64
    }

    /// Runs a program, an `s_endpgm` behind it, until the wave ends or gives way; it is about its first
    /// instruction.
    pub fn run(&mut self, words: &[u32]) -> Exit {
        let inst = decode(self.target, words).unwrap_or_else(|e| panic!("{words:08x?}: {e}"));
        EXECUTED.with_borrow_mut(|set| set.insert((self.target as u8, inst.row.family, inst.row.name)));
        self.code.fill(s_endpgm(self.target));
        self.code[..words.len()].copy_from_slice(words);
        self.wave.pc = self.base();
        self.resume()
    }

    /// Goes on where the wave gave way.
    pub fn resume(&mut self) -> Exit {
        let start = self.base();
        // SAFETY: the words stay as they are while the wave runs.
        let code = unsafe { Code::new(start, start + 4 * CODE_DWORDS as u64, self.target) };
        self.wave.run(&[Arc::new(code)], &mut 1000)
    }

    /// As [`Bench::run`], for a program that ends.
    pub fn end(&mut self, words: &[u32]) {
        let exit = self.run(words);
        assert_eq!(exit, Exit::End, "{words:08x?} {:?}", self.wave.stop);
    }

    /// As [`Bench::run`], for a program that faults.
    pub fn fault(&mut self, words: &[u32]) -> FaultKind {
        let exit = self.run(words);
        assert_eq!(exit, Exit::Stop, "{words:08x?}");
        self.wave.stop.take().unwrap().kind
    }

    pub fn set_pair(&mut self, register: usize, value: u64) {
        self.wave.sgpr[register] = value as u32;
        self.wave.sgpr[register + 1] = (value >> 32) as u32;
    }

    pub fn pair(&self, register: usize) -> u64 {
        u64::from(self.wave.sgpr[register]) | u64::from(self.wave.sgpr[register + 1]) << 32
    }

    pub fn m0(&mut self, value: u32) {
        self.wave.sgpr[124] = value;
    }

    /// Lane values of a vector register.
    pub fn v(&mut self, register: usize) -> &mut [u32; 64] {
        &mut self.wave.vgpr[register].0
    }

    /// Sets a register pair of each lane.
    pub fn set_wide(&mut self, register: usize, value: impl Fn(usize) -> u64) {
        for lane in 0..64 {
            self.v(register)[lane] = value(lane) as u32;
            self.v(register + 1)[lane] = (value(lane) >> 32) as u32;
        }
    }

    /// Up to four registers of a lane.
    pub fn quad(&mut self, register: usize, lane: usize) -> [u32; 4] {
        std::array::from_fn(|i| self.v(register + i)[lane])
    }

    /// Fills registers with values that no load gives by chance.
    pub fn fill(&mut self, registers: std::ops::Range<usize>) {
        let mut random = Rng::with_seed(registers.start as u64 + 99);
        for register in registers {
            self.v(register).iter_mut().for_each(|v| *v = random.u32(..));
        }
    }

    fn op(&self, family: Family, name: &str) -> u32 {
        row(self.target, family, name)
            .unwrap_or_else(|| panic!("{:?} has no {name}", self.target))
            .opcode_on(self.target)
            .into()
    }

    fn generation(&self) -> Generation {
        self.target.generation()
    }

    pub fn sop2(&self, name: &str, dst: u32, s0: u32, s1: u32) -> u32 {
        0x8000_0000 | self.op(Family::Sop2, name) << 23 | dst << 16 | s1 << 8 | s0
    }

    pub fn sop1(&self, name: &str, dst: u32, s0: u32) -> u32 {
        0xbe80_0000 | dst << 16 | self.op(Family::Sop1, name) << 8 | s0
    }

    pub fn sopk(&self, name: &str, dst: u32, imm: u32) -> u32 {
        0xb000_0000 | self.op(Family::Sopk, name) << 23 | dst << 16 | imm & 0xffff
    }

    pub fn sopc(&self, name: &str, s0: u32, s1: u32) -> u32 {
        0xbf00_0000 | self.op(Family::Sopc, name) << 16 | s1 << 8 | s0
    }

    pub fn sopp(&self, name: &str, imm: u32) -> u32 {
        0xbf80_0000 | self.op(Family::Sopp, name) << 16 | imm & 0xffff
    }

    /// `flags`: bits of GFX9's first word, such as [`SMEM_IMM`].
    pub fn smem(&self, name: &str, data: u32, base: u32, flags: u32, word1: u32) -> [u32; 2] {
        [0xc000_0000 | self.op(Family::Smem, name) << 18 | flags | data << 6 | base >> 1, word1]
    }

    /// Of RDNA; `soffset`: the register with an offset, or [`NULL`].
    pub fn rdna_smem(&self, name: &str, data: u32, base: u32, offset: i32, soffset: u32) -> [u32; 2] {
        let op = self.op(Family::Smem, name);
        let (op, bits) = if self.generation() == Generation::Gfx12 { (op << 13, 24) } else { (op << 18, 21) };
        let soffset = self.scalar(soffset);
        [0xf400_0000 | op | data << 6 | base >> 1, offset as u32 & ((1 << bits) - 1) | soffset << 25]
    }

    /// The code of a scalar register: M0 and NULL changed places with RDNA 3.
    fn scalar(&self, code: u32) -> u32 {
        if self.generation() > Generation::Gfx10 && matches!(code, M0 | NULL) {
            code ^ M0 ^ NULL
        } else {
            code
        }
    }

    /// Registers: destination, data 1, data 0, address.
    pub fn ds(&self, name: &str, registers: [u32; 4], offset: u32) -> [u32; 2] {
        let shift = if self.target.is_rdna() { 18 } else { 17 };
        let word0 = 0xd800_0000 | self.op(Family::Ds, name) << shift | offset;
        [word0, registers.into_iter().fold(0, |word, register| word << 8 | register)]
    }

    /// `flags`: bits of GFX9's first word; registers: destination, SADDR, data, address.
    pub fn flat(&self, name: &str, flags: u32, registers: [u32; 4], offset: i32) -> Vec<u32> {
        let (family, segment) = match name.split('_').next() {
            Some("flat") => (Family::Flat, 0),
            Some("scratch") => (Family::Scratch, 1),
            _ => (Family::Global, 2),
        };
        let op = self.op(family, name);
        let [dst, saddr, data, address] = registers;
        let (glc, sve) = (u32::from(flags & GLC != 0), u32::from(flags & BIT_13 != 0));
        let (plain, offset) = (family == Family::Flat || saddr == OFF, offset as u32);
        let word1 = |saddr: u32| dst << 24 | saddr << 16 | data << 8 | address;
        match self.generation() {
            Generation::Gfx9 => {
                let word0 = 0xdc00_0000 | op << 18 | segment << 14 | flags;
                vec![word0 | offset & 0x1fff, word1(if family == Family::Flat { 0 } else { saddr })]
            }
            Generation::Gfx10 => {
                // 127: no register at all.
                let none = if family == Family::Scratch && sve == 0 { 127 } else { NULL };
                let word0 = 0xdc00_0000 | op << 18 | segment << 14 | glc << 16;
                vec![word0 | offset & 0xfff, word1(if plain { none } else { saddr })]
            }
            Generation::Gfx11 => {
                let word0 = 0xdc00_0000 | op << 18 | segment << 16 | glc << 14;
                vec![
                    word0 | offset & 0x1fff,
                    word1(if plain { self.scalar(NULL) } else { saddr }) | sve << 23,
                ]
            }
            Generation::Gfx12 => {
                let word0 =
                    0xec00_0000 | op << 14 | segment << 24 | if plain { self.scalar(NULL) } else { saddr };
                vec![word0, dst | sve << 17 | glc << 20 | data << 23, address | offset << 8]
            }
        }
    }

    /// `flags`: bits of GFX9's first word; registers: SOFFSET, resource, data, address.
    pub fn mubuf(&self, name: &str, flags: u32, registers: [u32; 4], offset: u32) -> Vec<u32> {
        let op = self.op(Family::Mubuf, name);
        let bit = |flag: u32| u32::from(flags & flag != 0);
        match self.generation() {
            Generation::Gfx9 | Generation::Gfx10 => {
                vec![0xe000_0000 | op << 18 | flags | offset, buffer_registers(registers)]
            }
            Generation::Gfx11 => {
                let word0 = 0xe000_0000 | op << 18 | flags & BUFFER_GLC | offset;
                vec![word0, buffer_registers(registers) | bit(OFFEN) << 22 | bit(IDXEN) << 23]
            }
            Generation::Gfx12 => self.vbuffer(op, flags, registers, offset),
        }
    }

    /// As [`Bench::mubuf`], with a data and a number format on GFX9, and the number of one on RDNA.
    pub fn mtbuf(&self, name: &str, format: [u32; 2], flags: u32, registers: [u32; 4]) -> Vec<u32> {
        let op = self.op(Family::Mtbuf, name);
        let bit = |flag: u32| u32::from(flags & flag != 0);
        match self.generation() {
            Generation::Gfx9 => {
                let word0 = 0xe800_0000 | op << 15 | format[1] << 23 | format[0] << 19 | flags;
                vec![word0, buffer_registers(registers)]
            }
            Generation::Gfx10 => {
                let word0 = 0xe800_0000 | format[0] << 19 | (op & 7) << 16 | flags;
                vec![word0, buffer_registers(registers) | op >> 3 << 21]
            }
            Generation::Gfx11 => {
                let word1 = buffer_registers(registers) | bit(OFFEN) << 22 | bit(IDXEN) << 23;
                vec![0xe800_0000 | format[0] << 19 | op << 15, word1]
            }
            Generation::Gfx12 => {
                let mut words = self.vbuffer(op, flags, registers, 0);
                words[1] |= format[0] << 23;
                words
            }
        }
    }

    /// A buffer instruction of RDNA 4.
    fn vbuffer(&self, op: u32, flags: u32, registers: [u32; 4], offset: u32) -> Vec<u32> {
        let [soffset, resource, data, address] = registers;
        let bit = |flag: u32| u32::from(flags & flag != 0);
        // There is no constant here.
        let soffset = if soffset == ZERO { self.scalar(NULL) } else { soffset };
        let word1 = data | resource << 9 | bit(BUFFER_GLC) << 20 | bit(OFFEN) << 30 | bit(IDXEN) << 31;
        vec![0xc400_0000 | op << 14 | soffset, word1, address | offset << 8]
    }
}

fn buffer_registers([soffset, resource, data, address]: [u32; 4]) -> u32 {
    soffset << 24 | resource << 14 | data << 8 | address
}

/// SMEM: the offset is an immediate.
pub const SMEM_IMM: u32 = 1 << 17;
/// SMEM: an offset register stands in bits 31..25 of the second word.
pub const SMEM_SOFFSET: u32 = 1 << 14;
/// SMEM, FLAT: an atomic returns.
pub const GLC: u32 = 1 << 16;
/// SADDR of FLAT that says off.
pub const OFF: u32 = 0x7f;
/// FLAT: SVE, or LDS on gfx90a.
pub const BIT_13: u32 = 1 << 13;
/// MUBUF, MTBUF.
pub const OFFEN: u32 = 1 << 12;
pub const IDXEN: u32 = 1 << 13;
pub const BUFFER_GLC: u32 = 1 << 14;
pub const BUFFER_LDS: u32 = 1 << 16;
/// The scalar source code of 0.
pub const ZERO: u32 = 128;

/// Word 3 of a resource of bytes: GFX9's format of dwords, which says that it is bound, or RDNA's OOB_SELECT.
pub fn raw(target: Target) -> u32 {
    if target.is_rdna() { 3 << 28 } else { 4 << 15 }
}

/// M0 and NULL, which is RDNA's, as GFX9 and RDNA 2 number them.
pub const M0: u32 = 124;
pub const NULL: u32 = 125;

/// The target's row of the instruction that GFX9 calls so.
pub fn row(target: Target, family: Family, name: &str) -> Option<&'static Row> {
    let name = names::on(target, name);
    let (_, rows) = table::of(target)[family as usize];
    rows.iter().find(|row| row.name == name && row.targets.has(target))
}
