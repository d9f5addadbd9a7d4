//! `coverage FILE`: which rows of the instruction tables the tests executed that wrote FILE.
//!
//! Prints a line a family and every row that no test executed; fails if there is one. `--all` prints every row with
//! the number of its tests and the name of one.

use std::{collections::BTreeMap, env, fs, process::ExitCode};

use emulator::{coverage::Report, isa::Family};

fn main() -> ExitCode {
    let (flags, files): (Vec<_>, Vec<_>) = env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let ([file], true) = (&files[..], flags.iter().all(|flag| flag == "--all")) else {
        eprintln!("usage: coverage [--all] FILE");
        return ExitCode::FAILURE;
    };
    let recorded = match fs::read_to_string(file) {
        Ok(recorded) => recorded,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let report = Report::new(&recorded);
    if !flags.is_empty() {
        for (row, tests) in report.rows() {
            let first = tests.first().map_or("", String::as_str);
            println!("{:?}\t{}\t{}\t{}\t{first}", row.family, row.opcode, row.name, tests.len());
        }
    }
    let mut families = BTreeMap::<Family, (usize, usize)>::new();
    for (row, tests) in report.rows() {
        let (executed, rows) = families.entry(row.family).or_default();
        *executed += usize::from(!tests.is_empty());
        *rows += 1;
    }
    println!("rows of the instruction tables that tests executed:");
    for (family, (executed, rows)) in &families {
        println!("  {:<8} {executed:>4} of {rows:>4}", format!("{family:?}").to_uppercase());
    }
    let (executed, rows) = families.values().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    println!("  {:<8} {executed:>4} of {rows:>4}", "all");
    let missing = report.missing();
    for row in &missing {
        println!("not executed: {:?} {} {}", row.family, row.opcode, row.name);
    }
    if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
