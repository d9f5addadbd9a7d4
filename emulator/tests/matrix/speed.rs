//! How long an instruction takes: a measurement to read, not a test.

use std::{hint::black_box, time::Instant};

use emulator::isa::{Flow, decode};

use super::{Case, Machine};
use crate::wave::Random;

#[test]
#[ignore = "prints a table; run it with --release"]
fn nanoseconds_of_every_instruction() {
    let mut random = Random(51);
    for case in Case::all() {
        let mut machine = Machine::new(case.target, &mut random);
        // Ordinary numbers in every format.
        for row in machine.wave.vgpr.iter_mut() {
            row.0.fill_with(|| random.next() as u32 & 0x0707_0707 | 0x3030_3030);
        }
        let word0 = 0xd380_0000 | u32::from(case.row.opcode) << 16 | 80;
        let inst = decode(case.target, &[word0, 256 | 276 << 9 | (256 + 80) << 18]).unwrap();
        let exec = inst.row.exec.unwrap();
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let start = Instant::now();
            for _ in 0..200 {
                assert_eq!(exec(black_box(&mut machine.wave), black_box(&inst)), Flow::Next);
            }
            best = best.min(start.elapsed().as_secs_f64() / 200.0);
        }
        let multiplications = case.n * case.n * case.k * case.blocks;
        println!(
            "{:32} {:7.0} ns {:6.1} GFLOP/s",
            case.row.name,
            best * 1e9,
            2.0 * multiplications as f64 / best / 1e9
        );
    }
}
