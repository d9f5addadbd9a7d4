//! What took most of the time, in a few lines.

use std::{collections::HashMap, fmt};

use super::model::{Model, Slice};

/// Rows of each table at most.
const ROWS: usize = 5;

/// What is said of a trace.
pub struct Summary {
    device: Vec<Row>,
    calls: Vec<Row>,
    launches: Vec<Launches>,
}

/// All slices of one name.
struct Row {
    name: String,
    /// Nanoseconds of each, sorted.
    durations: Vec<u64>,
}

/// All launches of one executable.
struct Launches {
    executable: u64,
    /// Nanoseconds from the first of its nodes to the end of the last, of each, sorted.
    durations: Vec<u64>,
    /// Nanoseconds of all its nodes.
    work: u64,
}

impl Summary {
    pub fn of(model: &Model) -> Self {
        let on_devices = |slice: &&Slice| matches!(&*slice.category, "kernel" | "copy" | "fill");
        Self {
            device: rows(model.slices.iter().filter(on_devices)),
            calls: rows(model.slices.iter().filter(|slice| slice.category == "api")),
            launches: launches(model.slices.iter().filter(on_devices).filter_map(|slice| {
                let process = model.tracks[slice.track].process;
                Some(((process, slice.number("executable")?, slice.number("launch")?), slice))
            })),
        }
    }
}

/// Slices by name, those that took most first.
fn rows<'m>(slices: impl Iterator<Item = &'m Slice>) -> Vec<Row> {
    let mut by_name: HashMap<&str, Vec<u64>> = HashMap::new();
    slices.for_each(|slice| by_name.entry(&slice.name).or_default().push(slice.duration()));
    let row = |(name, mut durations): (&str, Vec<u64>)| {
        durations.sort_unstable();
        Row { name: name.into(), durations }
    };
    let mut rows: Vec<Row> = by_name.into_iter().map(row).collect();
    rows.sort_by(|one, other| other.total().cmp(&one.total()).then_with(|| one.name.cmp(&other.name)));
    rows
}

/// Nodes by executable, and by launch.
fn launches<'m>(nodes: impl Iterator<Item = ((i32, u64, u64), &'m Slice)>) -> Vec<Launches> {
    let mut extents: HashMap<(i32, u64, u64), (u64, u64, u64)> = HashMap::new();
    for (launch, node) in nodes {
        let (start, end, work) = extents.entry(launch).or_insert((u64::MAX, 0, 0));
        (*start, *end, *work) = (node.start.min(*start), node.end.max(*end), *work + node.duration());
    }
    let mut all: Vec<((i32, u64), (u64, u64))> = extents
        .into_iter()
        .map(|((process, executable, _), (start, end, work))| ((process, executable), (end - start, work)))
        .collect();
    all.sort_unstable();
    let of_one = all.chunk_by(|one, other| one.0 == other.0);
    let mut launches: Vec<Launches> = of_one
        .map(|launches| Launches {
            executable: launches[0].0.1,
            durations: launches.iter().map(|(_, (duration, _))| *duration).collect(),
            work: launches.iter().map(|(_, (_, work))| work).sum(),
        })
        .collect();
    launches.sort_by_key(|launches| std::cmp::Reverse(launches.durations.iter().sum::<u64>()));
    launches
}

impl Row {
    fn total(&self) -> u64 {
        self.durations.iter().sum()
    }
}

/// The lower one of the two in the middle.
fn median(sorted: &[u64]) -> u64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// A time as people read it.
fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..10_000 => format!("{nanoseconds} ns"),
        10_000..10_000_000 => format!("{} us", nanoseconds / 1_000),
        10_000_000..10_000_000_000 => format!("{} ms", nanoseconds / 1_000_000),
        _ => format!("{} s", nanoseconds / 1_000_000_000),
    }
}

/// A name that leaves room for what stands before it on a line.
fn short(name: &str) -> String {
    const MOST: usize = 72;
    if name.chars().count() <= MOST {
        return name.into();
    }
    name.chars().take(MOST - 3).chain("...".chars()).collect()
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, rows) in [("on devices", &self.device), ("calls", &self.calls)] {
            if rows.is_empty() {
                continue;
            }
            writeln!(f, "{:>10} {:>8} {:>10}  {title}", "time", "count", "median")?;
            for row in rows.iter().take(ROWS) {
                let (total, median) = (time(row.total()), time(median(&row.durations)));
                writeln!(f, "{total:>10} {:>8} {median:>10}  {}", row.durations.len(), short(&row.name))?;
            }
            if rows.len() > ROWS {
                let rest: u64 = rows[ROWS..].iter().map(Row::total).sum();
                let count: usize = rows[ROWS..].iter().map(|row| row.durations.len()).sum();
                writeln!(f, "{:>10} {count:>8} {:>10}  {} others", time(rest), "", rows.len() - ROWS)?;
            }
        }
        for launches in self.launches.iter().take(ROWS) {
            let total = launches.durations.iter().sum::<u64>();
            writeln!(
                f,
                "executable {}: {} launches, median {}; {:.1} nodes at once",
                launches.executable,
                launches.durations.len(),
                time(median(&launches.durations)),
                launches.work as f64 / total.max(1) as f64,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::model::tests::sample;

    #[test]
    fn what_took_most_comes_first() {
        let text = Summary::of(&Model::read(&sample()).unwrap()).to_string();
        let expected = "      \
      time    count     median  on devices
    100 ns        1     100 ns  scan
      time    count     median  calls
    100 ns        1     100 ns  hipLaunchKernel
     80 ns        1      80 ns  launch
     10 ns        1      10 ns  hipDeviceSynchronize
";
        assert_eq!(text.trim_start(), expected.trim_start());
    }

    #[test]
    fn a_long_tail_is_one_row_and_long_names_are_cut() {
        let row = |n: u64| Row { name: "x".repeat(70 + n as usize), durations: vec![n] };
        let summary = Summary { device: (0..8).map(row).collect(), calls: Vec::new(), launches: Vec::new() };
        let text = summary.to_string();
        assert!(text.lines().last().unwrap().ends_with("3 others"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 104), "{text}");
    }
}
