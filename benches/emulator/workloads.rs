//! What whole kernels take.

use std::time::Instant;

use aqlipse::{
    Device, Module, Result, Stream,
    typed::{Argument, DeviceBuffer, Kernel, Plain},
};

use aqlipse_bench::{
    machine::Machine,
    timing::{Spread, measure},
};

use crate::{open, wanted, wrong};

const OBJECTS: [&[u8]; 4] = [
    include_bytes!("../../kernels/workloads.gfx90a.co"),
    include_bytes!("../../kernels/workloads.gfx942.co"),
    include_bytes!("../../kernels/workloads.gfx11-generic.co"),
    include_bytes!("../../kernels/workloads.gfx12-generic.co"),
];

/// Which cards are compared, with the first one.
pub const CARDS: [&str; 3] = ["gfx942", "gfx1100", "gfx1201"];

/// Work-items of a workgroup, in all of kernels/workloads.cpp.
const GROUP: u32 = 256;

const SAMPLES: usize = 5;

/// Elements of the vectors.
const LENGTH: u32 = 1 << 22;

/// Workgroups of the reduction, whose sums the host adds up.
const SUMS: u32 = 256;

/// Rows and columns of the matrices in single precision.
const SIZE: u32 = 512;

/// Rows and columns of the matrices in half precision.
const HALF_SIZE: u32 = 1024;

/// Launches a kernel, checks and times it.
type Workload = fn(&Bench) -> Result<Figures>;

const WORKLOADS: [(&str, Workload); 5] = [
    ("saxpy 2^22", saxpy),
    ("reduction 2^22", reduction),
    ("matmul 512^3 f32", matmul),
    ("stencil 2^22", stencil),
    ("gemm 1024^3 f16", gemm),
];

/// Runs the kernels that `words` asks for and prints a table.
///
/// # Errors
/// The last failure, after all have run: a launch's, or a wrong result.
pub fn run(words: &[String]) -> Result<()> {
    let cores = Machine::here().cores;
    println!(
        "{:<22}{:>8}{:>8}  {:<16}{:>14}{:>14}{:>18}",
        "ms a launch", "least", "median", "quartiles", "GFLOP/s/core", "GB/s/core", "target, GFLOP/s"
    );
    let mut done = Ok(());
    for (name, kernel) in WORKLOADS.into_iter().filter(|(name, _)| wanted(name, words)) {
        match Bench::new(&Device::get(0)?).and_then(|bench| kernel(&bench)) {
            Ok(figures) => figures.print(name, cores),
            Err(error) => {
                println!("{name:<22}{error}");
                done = Err(error);
            }
        }
    }
    done
}

/// Runs the kernels that `words` asks for on each of [`CARDS`] and prints a table of their best times, and how many times
/// that of the first card it is.
///
/// # Errors
/// A launch's, or a wrong result.
pub fn compare(words: &[String]) -> Result<()> {
    let devices = Device::all()?;
    println!(
        "{:<22}{}",
        "ms a launch",
        CARDS.map(|card| format!("{card:>12}{:>8}{:>10}", "times", "GFLOP/s")).concat()
    );
    for (name, kernel) in WORKLOADS.into_iter().filter(|(name, _)| wanted(name, words)) {
        print!("{name:<22}");
        let mut first = None;
        for device in devices {
            let figures = kernel(&Bench::new(device)?)?;
            let times = figures.least / *first.get_or_insert(figures.least);
            let rate = figures.operations / figures.least / 1e9;
            print!("{:>12.2}{times:>8.2}{rate:>10.2}", figures.least * 1e3);
        }
        println!();
    }
    Ok(())
}

/// What a kernel does and how long that takes.
struct Figures {
    operations: f64,
    bytes: f64,
    /// 10^9 operations a second a core.
    target: Option<f64>,
    least: f64,
    spread: Spread,
}

impl Figures {
    fn print(&self, name: &str, cores: usize) {
        let [low, high] = self.spread.quartiles.map(|time| time.as_secs_f64() * 1e3);
        let quartiles = format!("{low:.2}-{high:.2}");
        let rate = |amount: f64| amount / self.least / cores as f64 / 1e9;
        let target = self.target.map_or(String::new(), |target| format!("{target:.1}"));
        println!(
            "{name:<22}{:>8.2}{:>8.2}  {quartiles:<16}{:>14.2}{:>14.2}{target:>18}",
            self.least * 1e3,
            self.spread.median.as_secs_f64() * 1e3,
            rate(self.operations),
            rate(self.bytes),
        );
    }
}

struct Bench {
    stream: Stream,
    module: Module,
}

impl Bench {
    fn new(device: &Device) -> Result<Self> {
        let (stream, module) = open(device, &OBJECTS)?;
        Ok(Self { stream, module })
    }

    fn device(&self) -> &Device {
        self.stream.device()
    }

    fn buffer<T: Plain>(&self, values: &[T]) -> Result<DeviceBuffer<T>> {
        let buffer = DeviceBuffer::new(self.device(), values.len())?;
        buffer.write(&self.stream, values)?;
        Ok(buffer)
    }

    /// Launches a kernel once, has the result checked, then times launches.
    fn time(
        &self,
        name: &str,
        groups: u32,
        arguments: &[&dyn Argument],
        check: impl FnOnce() -> Result<bool>,
    ) -> Result<(f64, Spread)> {
        // SAFETY: kernels/workloads.cpp: the callers below give buffers of the sizes that they pass.
        let kernel = unsafe { Kernel::trusted(self.module.kernel(name)?) };
        let launch = kernel.launch(self.device(), [groups, 1, 1], [GROUP, 1, 1], 0, arguments)?;
        self.stream.run(&launch)?;
        if !check()? {
            return Err(wrong(&format!("{name} computes something else")));
        }
        let mut least = f64::MAX;
        let spread = measure(SAMPLES, || {
            let start = Instant::now();
            self.stream.run(&launch)?;
            self.stream.synchronize()?;
            least = least.min(start.elapsed().as_secs_f64());
            Ok::<(), aqlipse::Error>(())
        })?;
        Ok((least, spread))
    }
}

/// A small integer for an index, as different as they come.
fn small(index: u32) -> i32 {
    (index.wrapping_mul(0x9e37_79b9) >> 27) as i32 - 16
}

fn saxpy(bench: &Bench) -> Result<Figures> {
    let x: Vec<f32> = (0..LENGTH).map(|i| small(i) as f32).collect();
    let y: Vec<f32> = (0..LENGTH).map(|i| small(!i) as f32).collect();
    let (dx, dy) = (bench.buffer(&x)?, bench.buffer(&y)?);
    let factor = 0.5f32;
    let check = || {
        let got = dy.read(&bench.stream)?;
        Ok(got.iter().zip(x.iter().zip(&y)).all(|(got, (x, y))| *got == factor * x + y))
    };
    let (least, spread) = bench.time("saxpy", LENGTH / GROUP, &[&dy, &dx, &factor, &LENGTH], check)?;
    let length = f64::from(LENGTH);
    Ok(Figures { operations: 2.0 * length, bytes: 12.0 * length, target: None, least, spread })
}

fn reduction(bench: &Bench) -> Result<Figures> {
    let data: Vec<u32> = (0..LENGTH).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let input = bench.buffer(&data)?;
    let sums = DeviceBuffer::<u32>::new(bench.device(), SUMS as usize)?;
    let check = || {
        let total = |values: &[u32]| values.iter().fold(0u32, |sum, x| sum.wrapping_add(*x));
        Ok(total(&sums.read(&bench.stream)?) == total(&data))
    };
    let stride = SUMS * GROUP;
    let (least, spread) = bench.time("reduce", SUMS, &[&sums, &input, &LENGTH, &stride], check)?;
    let length = f64::from(LENGTH);
    Ok(Figures { operations: length, bytes: 4.0 * length, target: None, least, spread })
}

/// Whether `c` is `a * b`, all square and row by row, of numbers whose sums are exact: multiplied with vectors of
/// small integers, a product that differs anywhere gives another vector, but for chance.
fn is_product(size: usize, a: &[f32], b: &[f32], c: &[f32]) -> bool {
    let times = |matrix: &[f32], vector: &[f64]| -> Vec<f64> {
        matrix
            .chunks_exact(size)
            .map(|row| row.iter().zip(vector).map(|(x, y)| f64::from(*x) * y).sum())
            .collect()
    };
    (1..=3u32).all(|seed| {
        let vector: Vec<f64> =
            (0..size as u32).map(|i| f64::from(small(i.wrapping_mul(seed) ^ seed << 8))).collect();
        times(c, &vector) == times(a, &times(b, &vector))
    })
}

fn matmul(bench: &Bench) -> Result<Figures> {
    let a: Vec<f32> = (0..SIZE * SIZE).map(|i| small(i) as f32).collect();
    let b: Vec<f32> = (0..SIZE * SIZE).map(|i| small(!i) as f32).collect();
    let (da, db) = (bench.buffer(&a)?, bench.buffer(&b)?);
    let dc = DeviceBuffer::<f32>::new(bench.device(), a.len())?;
    let check = || Ok(is_product(SIZE as usize, &a, &b, &dc.read(&bench.stream)?));
    let across = SIZE / 16;
    let (least, spread) = bench.time("matmul", across * across, &[&dc, &da, &db, &SIZE, &across], check)?;
    let size = f64::from(SIZE);
    let bytes = 2.0 * size.powi(3) / 16.0 * 4.0;
    Ok(Figures { operations: 2.0 * size.powi(3), bytes, target: None, least, spread })
}

fn stencil(bench: &Bench) -> Result<Figures> {
    let input: Vec<f32> = (0..LENGTH).map(|i| small(i) as f32).collect();
    let from = bench.buffer(&input)?;
    let to = DeviceBuffer::<f32>::new(bench.device(), input.len())?;
    let check = || {
        let got = to.read(&bench.stream)?;
        // The weights are powers of two and 3/8, the numbers small: every sum is exact.
        let inner = input
            .windows(5)
            .zip(&got[2..])
            .all(|(x, got)| *got == 0.0625 * (x[0] + x[4]) + 0.25 * (x[1] + x[3]) + 0.375 * x[2]);
        let length = input.len();
        Ok(inner && got[..2] == input[..2] && got[length - 2..] == input[length - 2..])
    };
    let (least, spread) = bench.time("stencil", LENGTH / GROUP, &[&to, &from, &LENGTH], check)?;
    let length = f64::from(LENGTH);
    Ok(Figures { operations: 7.0 * length, bytes: 8.0 * length, target: None, least, spread })
}

/// A small integer in half precision.
fn half(value: i32) -> u16 {
    if value == 0 {
        return 0;
    }
    let sign = if value < 0 { 0x8000 } else { 0 };
    let magnitude = value.unsigned_abs();
    let exponent = magnitude.ilog2();
    // CAST: integers below 2048 have at most 11 significant bits, so that nothing is lost.
    (sign | (15 + exponent) << 10 | (magnitude << (10 - exponent) & 0x3ff)) as u16
}

fn gemm(bench: &Bench) -> Result<Figures> {
    let elements = HALF_SIZE * HALF_SIZE;
    let size = HALF_SIZE as usize;
    // Sums of 1024 products of at most 256 are exact in single precision.
    let a: Vec<i32> = (0..elements).map(small).collect();
    let b: Vec<i32> = (0..elements).map(|i| small(!i)).collect();
    let halves = |values: &[i32]| values.iter().map(|x| half(*x)).collect::<Vec<u16>>();
    let (da, db) = (bench.buffer(&halves(&a))?, bench.buffer(&halves(&b))?);
    let dc = DeviceBuffer::<f32>::new(bench.device(), a.len())?;
    let check = || {
        let floats = |values: &[i32]| values.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        // The kernel takes its second matrix column by column.
        let mut transposed = vec![0.0; b.len()];
        for (index, value) in floats(&b).into_iter().enumerate() {
            transposed[index % size * size + index / size] = value;
        }
        Ok(is_product(size, &floats(&a), &transposed, &dc.read(&bench.stream)?))
    };
    let across = HALF_SIZE / 128;
    let (least, spread) =
        bench.time("gemm", across * across, &[&dc, &da, &db, &HALF_SIZE, &across], check)?;
    let size = f64::from(HALF_SIZE);
    let bytes = 2.0 * size.powi(3) / 64.0 * 2.0;
    Ok(Figures { operations: 2.0 * size.powi(3), bytes, target: Some(4.0), least, spread })
}
