//! What an instruction takes a lone wave, and what all cores together do.
//!
//! Where the time of common instructions goes, on Zen 4 cores with AVX2 (2 loads and 1 store of 32 bytes a cycle): of 4.6 ns
//! for `v_add_u32`, 3 are the loop with its eight stores and the call; the rest finds rows and dispatches. A dependent
//! `s_add_u32` takes 2.8 ns: a dozen host instructions, and the forwarding of one store to the next load. A contiguous load
//! of 64 dwords takes 9 ns: 16 compares of addresses, 8 loads, 8 stores, and the look-up of the allocation.

use aqlipse::{
    Device, Result, Stream,
    typed::{DeviceBuffer, Kernel},
};

use aqlipse_bench::{
    machine::Machine,
    timing::{Spread, measure},
};

use crate::{open, wanted, wrong};

const OBJECTS: [&[u8]; 2] =
    [include_bytes!("../../kernels/bench.gfx90a.co"), include_bytes!("../../kernels/bench.gfx942.co")];

/// Instructions of a round, `BLOCK` in kernels/bench.cpp.
const BLOCK: u32 = 256;

/// Rounds of a launch: few, so that a launch has a chance of running undisturbed on a busy machine. What a launch
/// without rounds takes is subtracted.
const ROUNDS: u32 = 128;

const WAVE: u32 = 64;

/// Work-items of a workgroup of the launches on all cores.
const GROUP: u32 = 256;

/// Workgroups for each core, so that none runs dry.
const GROUPS_PER_CORE: u32 = 4;

const SAMPLES: usize = 101;
const CROWD_SAMPLES: usize = 21;

/// A work-item, for what it should compute.
struct Item<'a> {
    index: u32,
    /// What the buffer holds at first.
    data: &'a [u32],
    rounds: u32,
}

impl Item<'_> {
    fn word(&self) -> u32 {
        self.data[self.index as usize]
    }

    fn float(&self) -> f32 {
        f32::from_bits(self.word())
    }

    /// How often the block's instruction runs.
    fn times(&self) -> u32 {
        BLOCK * self.rounds
    }

    /// `x`, so many times replaced by `f(x)`.
    fn repeat<T>(&self, x: T, f: impl Fn(T) -> T) -> T {
        (0..self.times()).fold(x, |x, _| f(x))
    }
}

struct Row {
    name: &'static str,
    kernel: &'static str,
    /// Nanoseconds that an instruction may take with AVX2.
    target: Option<f64>,
    result: fn(&Item) -> u32,
}

const fn row(name: &'static str, kernel: &'static str, target: f64, result: fn(&Item) -> u32) -> Row {
    Row { name, kernel, target: if target > 0.0 { Some(target) } else { None }, result }
}

const ROWS: [Row; 23] = [
    row("s_add_u32", "scalar_add", 2.0, |i| 1 + i.times() * i.rounds),
    row("s_branch", "branch", 0.0, |i| i.rounds),
    row("v_add_u32", "vector_add", 4.0, |i| i.index.wrapping_add(i.times().wrapping_mul(i.word()))),
    row("v_add_u32 constant", "vector_add_constant", 0.0, |i| i.index + 7 * i.times()),
    row("v_add_u32 SGPR", "vector_add_scalar", 0.0, |i| i.index + i.rounds * i.times()),
    row("v_add_u32 half exec", "vector_add_half", 0.0, |i| {
        if i.index % 64 < 32 { i.index.wrapping_add(i.times().wrapping_mul(i.word())) } else { i.index }
    }),
    row("v_fma_f32", "fma_f32", 6.0, |i| i.repeat(i.float(), |x| x.mul_add(0.5, 1.0)).to_bits()),
    row("v_fma_f32 neg", "negated", 0.0, |i| i.repeat(i.float(), |x| (-x).mul_add(0.5, 1.0)).to_bits()),
    row("v_pk_fma_f32", "packed_fma", 0.0, |i| {
        let halves = |x: f64| [x.to_bits() as u32, (x.to_bits() >> 32) as u32].map(f32::from_bits);
        let (factor, term) = (halves(0.5), halves(1.0));
        let [low, high] = i.repeat(halves(i.float().into()), |[low, high]| {
            [low.mul_add(factor[0], term[0]), high.mul_add(factor[1], term[1])]
        });
        (f64::from_bits(u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32) as f32).to_bits()
    }),
    row("v_fma_f64", "fma_f64", 20.0, |i| {
        (i.repeat(f64::from(i.float()), |x| x.mul_add(0.5, 1.0)) as f32).to_bits()
    }),
    row("v_cmp_lt_f32", "compare", 0.0, |i| if i.word() == 0 { i.rounds } else { 0 }),
    row("v_cndmask_b32", "select", 0.0, |i| if i.index % 2 == 0 { i.word() } else { i.index }),
    row("v_add_u32 DPP", "dpp", 0.0, |i| match i.index % 16 {
        0 => i.index,
        _ => i.index.wrapping_add(i.times().wrapping_mul(i.data[i.index as usize - 1])),
    }),
    row("v_add_u32 SDWA", "sdwa", 0.0, |i| i.index.wrapping_add(i.times() * (i.word() >> 8 & 0xff))),
    row("v_div_scale_f32", "div_scale", 0.0, |i| (i.float() + 3.0).to_bits()),
    row("mixed, registers", "mixed", 1e3 / 150.0, mixed),
    row("global_load_dword", "global_load", 7.0, |i| i.word()),
    row("global_load_dwordx4", "global_load_wide", 0.0, |i| i.word()),
    row("global_load gather", "gather", 40.0, |i| i.word()),
    row("global_store_dword", "global_store", 7.0, |i| i.rounds - 1),
    row("ds_read_b32", "lds_load", 26.0, |i| i.index),
    row("ds_read_b32 gather", "lds_gather", 26.0, |i| i.index),
    row("ds_write_b32", "lds_store", 0.0, |i| i.rounds - 1),
];

/// What the kernel of that name computes.
fn mixed(item: &Item) -> u32 {
    let (mut x, mut a, mut b) = (item.float(), item.index, item.index * 3);
    for _ in 0..item.times() / 8 {
        x = x.mul_add(0.5, 1.0);
        a = a.wrapping_add(b);
        b = a << 1;
        x *= 0.5;
        b ^= a;
        a = if 1.0 > x { b } else { a };
    }
    let count = (item.times() / 8).wrapping_mul(item.rounds);
    (x + a.wrapping_add(b).wrapping_add(count) as f32).to_bits()
}

/// Measures the rows that `words` asks for and prints a table.
///
/// # Errors
/// What launching can fail with, and a wrong result.
pub fn run(words: &[String]) -> Result<()> {
    let (stream, module) = open(&Device::get(0)?, &OBJECTS)?;
    let cores = Machine::here().cores;
    println!(
        "{:<22}{:>8}{:>8}  {:<16}{:>22}{:>18}",
        "ns an instruction", "least", "median", "quartiles", "10^9 lane ops/s/core", "target, AVX2"
    );
    for row in ROWS.iter().filter(|row| wanted(row.name, words)) {
        // SAFETY: kernels/bench.cpp: a work-item touches elements of its own workgroup's 256, and the buffer has as
        // many for each.
        let kernel = unsafe { Kernel::trusted(module.kernel(row.kernel)?) };
        check(&stream, &kernel, row)?;
        let (start, _) = time(&stream, &kernel, 1, WAVE, 0, SAMPLES)?;
        let (least, alone) = time(&stream, &kernel, 1, WAVE, ROUNDS, SAMPLES)?;
        // CAST: machines have fewer than 2^30 cores.
        let groups = cores as u32 * GROUPS_PER_CORE;
        let (fastest, _) = time(&stream, &kernel, groups, GROUP, ROUNDS, CROWD_SAMPLES)?;

        let each = |seconds: f64| (seconds - start) * 1e9 / f64::from(BLOCK * ROUNDS);
        let operations = f64::from(groups * GROUP) * f64::from(BLOCK * ROUNDS) / cores as f64;
        let [low, high] = alone.quartiles.map(|time| each(time.as_secs_f64()));
        let quartiles = format!("{low:.2}-{high:.2}");
        let target = row.target.map_or(String::new(), |target| format!("{target:.1}"));
        println!(
            "{:<22}{:>8.2}{:>8.2}  {quartiles:<16}{:>22.2}{target:>18}",
            row.name,
            each(least),
            each(alone.median.as_secs_f64()),
            operations / fastest / 1e9,
        );
    }
    Ok(())
}

/// Runs a few rounds on two workgroups and compares every element with what it should be.
fn check(stream: &Stream, kernel: &Kernel, row: &Row) -> Result<()> {
    const ITEMS: u32 = 2 * GROUP;
    let rounds = 3;
    // Numbers that are small as floats and spread as words; none is 1, which the loads take for an order to store.
    let data: Vec<u32> =
        (0..ITEMS).map(|i| if i % 5 == 0 { 0 } else { (i as f32 * 0.37).to_bits() | 0x300 }).collect();
    let buffer = DeviceBuffer::<u32>::new(stream.device(), data.len())?;
    buffer.write(stream, &data)?;
    stream.run(&kernel.launch(stream.device(), [2, 1, 1], [GROUP, 1, 1], 0, &[&buffer, &rounds])?)?;
    let got = buffer.read(stream)?;
    for (index, got) in (0..).zip(got) {
        let want = (row.result)(&Item { index, data: &data, rounds });
        if got != want {
            return Err(wrong(&format!("{}: item {index} gives {got:#x}, not {want:#x}", row.name)));
        }
    }
    Ok(())
}

/// Times launches of `groups` workgroups of `threads` work-items and `rounds` rounds, the first one off the clock: the
/// least time in seconds, and the spread.
fn time(
    stream: &Stream,
    kernel: &Kernel,
    groups: u32,
    threads: u32,
    rounds: u32,
    samples: usize,
) -> Result<(f64, Spread)> {
    let device = stream.device();
    // The kernels index with the full size of a workgroup.
    let data = DeviceBuffer::<u32>::new(device, (groups * GROUP) as usize)?;
    data.write(stream, &vec![0; (groups * GROUP) as usize])?;
    let launch = kernel.launch(device, [groups, 1, 1], [threads, 1, 1], 0, &[&data, &rounds])?;
    let mut least = f64::MAX;
    let mut once = || {
        let start = std::time::Instant::now();
        stream.run(&launch)?;
        stream.synchronize()?;
        least = least.min(start.elapsed().as_secs_f64());
        Ok::<(), aqlipse::Error>(())
    };
    once()?;
    let spread = measure(samples, once)?;
    Ok((least, spread))
}
