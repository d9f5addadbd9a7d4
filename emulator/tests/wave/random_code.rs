//! Any instruction in any state: no panic, no byte changed outside of what the wave may write, and the same outcome
//! whatever SIMD the host has.

use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
    sync::Arc,
};

use emulator::{
    isa::{Target, decode, disassemble},
    memory::{Allocation, Grain, Map},
    wave::{Apertures, Deaf, Exit, Mode, Surroundings, Wave, code::Code},
};
use fastrand::Rng;

use crate::{
    harness::TARGETS,
    isa::words::{self, Encoding},
};

/// Where the memory of these tests is: addresses are data, and data must be the same in every process.
const BASE: u64 = 0x2500_0000_0000;
/// Bytes of each part, and of the forbidden ground around it.
const PART: u64 = 16 << 10;
const FORBIDDEN: u64 = 64 << 10;
const CODE: u64 = BASE;
const MEMORY: u64 = BASE + PART + FORBIDDEN;
const LDS: u64 = MEMORY + PART + FORBIDDEN;
const SCRATCH: u64 = LDS + PART + FORBIDDEN;
const END: u64 = SCRATCH + PART + FORBIDDEN;
/// `s_endpgm`.
const END_OF_PROGRAM: u32 = 0xbf81_0000;
/// Fills the forbidden ground.
const CANARY: u8 = 0x5a;

/// The host memory of all parts, mapped at [`BASE`].
struct Ground;

impl Ground {
    fn new() -> Self {
        let length = (END - BASE) as usize;
        // SAFETY: a new mapping that replaces none.
        let at = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            libc::mmap(BASE as *mut _, length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        assert_eq!(at as u64, BASE, "the address is free in a test process");
        let ground = Self;
        ground.bytes(BASE, END).fill(CANARY);
        ground
    }

    #[allow(clippy::mut_from_ref)]
    fn bytes(&self, start: u64, end: u64) -> &mut [u8] {
        // SAFETY: inside of the mapping, which nothing else uses; callers let go of one slice before the next.
        unsafe { std::slice::from_raw_parts_mut(start as *mut u8, (end - start) as usize) }
    }

    fn forbidden_is_untouched(&self) -> bool {
        [CODE, MEMORY, LDS, SCRATCH]
            .iter()
            .all(|part| self.bytes(part + PART, part + PART + FORBIDDEN).iter().all(|byte| *byte == CANARY))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and every wave that knew of it is gone.
        unsafe { libc::munmap(BASE as *mut _, (END - BASE) as usize) };
    }
}

fn fill(bytes: &mut [u8], random: &mut Rng) {
    for chunk in bytes.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random.u64(..).to_le_bytes());
    }
}

/// A word that is likely to mean something: part of an address, an LDS offset, a float, a small number.
fn word(random: &mut Rng, high: bool) -> u32 {
    let any = random.u64(..);
    let offset = (any >> 16) % (PART + 64);
    match any % 8 {
        // Pairs of registers become addresses, mostly of memory and mostly aligned.
        0..4 if high => (MEMORY >> 32) as u32,
        0..3 => (MEMORY + (offset & !3)) as u32,
        3 => (MEMORY + offset) as u32,
        4 => (offset & !3) as u32,
        5 => f32::from_bits(0x3f80_0000 | (any >> 40) as u32).to_bits() ^ (any as u32 & 0x8000_0000),
        6 => (any >> 8) as u32 & 0xff,
        _ => (any >> 32) as u32,
    }
}

fn wave(target: Target, random: &mut Rng) -> Wave {
    let map = Arc::new(Map::default());
    let (end, grain) = (MEMORY + PART, Grain::Fine);
    map.insert(Allocation { start: MEMORY, end, writable: true, grain, socket: None, backing: None });
    let surroundings = Surroundings { map, apertures: Apertures::default(), host: Arc::new(Deaf) };
    let mut wave = Wave::new(target, surroundings);
    for (register, word_of) in wave.sgpr[..124].iter_mut().enumerate() {
        *word_of = word(random, register % 2 == 1);
    }
    for (row, vector) in wave.vgpr.iter_mut().enumerate() {
        for lane in vector.0.iter_mut() {
            *lane = word(random, row % 2 == 1);
        }
    }
    wave.lds = LDS as *mut u8;
    wave.lds_size = PART as u32;
    wave.scratch = SCRATCH;
    wave.scratch_stride = PART as u32;
    wave
}

/// What may change from one instruction to the next.
fn disturb(wave: &mut Wave, random: &mut Rng) {
    wave.exec = match random.u64(..4) {
        0 => random.u64(..),
        1 => 0,
        _ => u64::MAX,
    };
    wave.mode = Mode(if random.bool() { 0x3f0 } else { random.u32(..) & 0x80_03ff });
    wave.scc = random.bool();
    wave.sgpr[124] = random.u32(..) & 0xffff;
    wave.sgpr[106] = random.u32(..);
    wave.pc = CODE;
    wave.stop = None;
}

/// The bits without the payloads of NaNs, which no document defines. A NaN of 32 bits begins like one of 16.
fn canonical(word: u32) -> u32 {
    let is_nan = |half: u32| half & 0x7c00 == 0x7c00 && half & 0x3ff != 0;
    match (is_nan(word >> 16), is_nan(word & 0xffff)) {
        (true, _) => 0x7e00_0000,
        (_, true) => word & 0xffff_0000 | 0x7e00,
        _ => word,
    }
}

/// A quick hash (FNV-1a by words): the register file is hashed after each instruction.
fn digest(words: impl Iterator<Item = u32>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01b3))
}

/// Everything that an instruction may have changed but memory.
fn outcome(wave: &Wave, exit: Exit) -> String {
    let scalar = digest(wave.sgpr[..128].iter().copied());
    let vector = digest(wave.vgpr.iter().flat_map(|row| row.0).map(canonical));
    let Wave { pc, exec, scc, mode, stop, .. } = wave;
    format!("{exit:?} {stop:?} {pc:#x} {exec:#x} {scc} {:#x} {scalar:016x} {vector:016x}", mode.0)
}

/// Runs `samples` encodings of each opcode, a line for each: the words, the text and what they did.
fn trace(target: Target, encoding: &Encoding, samples: usize, seed: u64) -> Vec<String> {
    let ground = Ground::new();
    let mut random = Rng::with_seed(seed);
    let mut words_of = Rng::with_seed(seed);
    let mut lines = Vec::new();
    let mut wave = wave(target, &mut random);
    let (scalars, vectors) = (wave.sgpr, wave.vgpr.clone());
    for opcode in 0..encoding.opcodes() {
        fill(ground.bytes(MEMORY, MEMORY + PART), &mut random);
        fill(ground.bytes(LDS, LDS + PART), &mut random);
        fill(ground.bytes(SCRATCH, SCRATCH + PART), &mut random);
        let tries = std::iter::repeat_with(|| encoding.sample::<2>(opcode, &mut words_of)).take(20 * samples);
        for sample in tries.filter(|words| decode(target, words).is_ok()).take(samples) {
            let inst = decode(target, &sample).expect("only what decodes is left");
            // The clock is not the same twice.
            if inst.row.name.starts_with("s_mem") {
                continue;
            }
            // A wave gives way at branches only: the end of the program follows.
            let words = if inst.size == 4 {
                [sample[0], END_OF_PROGRAM, 0]
            } else {
                [sample[0], sample[1], END_OF_PROGRAM]
            };
            for (at, word) in ground.bytes(CODE, CODE + 12).chunks_exact_mut(4).zip(words) {
                at.copy_from_slice(&word.to_le_bytes());
            }
            // Each begins from the same: a result would displace an address, or hand on the payload of a NaN.
            wave.sgpr = scalars;
            wave.vgpr.copy_from_slice(&*vectors);
            disturb(&mut wave, &mut random);
            // SAFETY: the ground outlives the code, which is dropped before its bytes change.
            let code = [Arc::new(unsafe { Code::new(CODE, CODE + 12, target) })];
            let exit = wave.run(&code, &mut 1);
            let text = disassemble(&inst, target);
            lines.push(format!("{:08x} {:08x} {text}: {}", sample[0], sample[1], outcome(&wave, exit)));
        }
        let last = lines.last().map_or("", String::as_str);
        assert!(ground.forbidden_is_untouched(), "something up to {last} wrote where it must not");
        let memory = ground.bytes(MEMORY, SCRATCH + PART).chunks_exact(4);
        let memory = digest(memory.map(|w| canonical(u32::from_le_bytes([w[0], w[1], w[2], w[3]]))));
        lines.push(format!("memory behind opcode {opcode}: {memory:016x}"));
    }
    lines
}

fn all(samples: usize, seed: u64) -> BTreeMap<String, Vec<String>> {
    let mut traces = BTreeMap::new();
    for target in TARGETS {
        for encoding in words::ENCODINGS {
            let name = format!("{target:?} {}", encoding.name);
            traces.insert(name, trace(target, encoding, samples, seed));
        }
    }
    traces
}

/// Where the traces go; set for the processes that [`outcomes_do_not_depend_on_the_hosts_simd`] starts.
const TRACE: &str = "AQLIPSE_TEST_TRACE";

#[test]
fn no_instruction_panics_or_writes_where_it_must_not() {
    let traces = all(4, 1);
    if let Some(path) = std::env::var_os(TRACE) {
        let lines: Vec<_> = traces
            .iter()
            .flat_map(|(name, lines)| lines.iter().map(move |line| format!("{name}: {line}")))
            .collect();
        std::fs::write(path, lines.join("\n")).expect("the target folder is writable");
    }
}

#[test]
fn outcomes_do_not_depend_on_the_hosts_simd() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let started = ["0", "1", "2"].map(|level| {
        let path = folder.join(format!("trace-{}-{level}", std::process::id()));
        let this = std::env::current_exe().expect("a test has a program");
        let child = Command::new(this)
            .args(["--exact", "wave::random_code::no_instruction_panics_or_writes_where_it_must_not"])
            .env("AQLIPSE_SIMD", level)
            .env(TRACE, &path)
            .stdout(Stdio::piped())
            .spawn();
        (child.expect("the test program starts"), path)
    });
    let [baseline, avx2, avx512] = started.map(|(child, path)| {
        let output = child.wait_with_output().expect("the test program ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let trace = std::fs::read_to_string(&path).expect("the test program wrote its trace");
        let _ = std::fs::remove_file(path);
        trace
    });
    for (level, trace) in [("AVX2", avx2), ("AVX-512", avx512)] {
        let pairs = baseline.lines().zip(trace.lines());
        let differences: Vec<_> = pairs.filter(|(a, b)| a != b).map(|(a, b)| format!("{a}\n  {b}")).collect();
        let shown = differences.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
        assert!(differences.is_empty(), "{level} differs {} times:\n{shown}", differences.len());
    }
}
