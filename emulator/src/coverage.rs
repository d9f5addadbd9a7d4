//! Which rows of the instruction tables were executed: what the report at the end of the test suite is made of.
//!
//! With `AQLIPSE_COVERAGE=FILE` in its environment a process appends a line to FILE when it first executes a row:
//! the generation whose opcode it has, family, opcode, mnemonic and the test that it runs (`NEXTEST_TEST_NAME`), with tabs
//! between. Without, the interpreter's loop does not know of any of this.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions},
    io::Write,
    sync::{
        OnceLock,
        atomic::{AtomicU8, Ordering},
    },
};

use parking_lot::Mutex;

use crate::isa::{Family, Row, Target, row::ABSENT, table};

/// The environment variable that names the file.
pub const VARIABLE: &str = "AQLIPSE_COVERAGE";

/// What a row's opcodes are columns of: GFX9, where all targets share them, and the columns of RDNA's tables.
pub const GENERATIONS: [&str; 5] = ["GFX9", "RDNA 2", "RDNA 3", "RDNA 3.5", "RDNA 4"];

/// The one of [`GENERATIONS`] that a target is of.
const fn generation(target: Target) -> usize {
    match target.rdna_column() {
        Some(column) => column + 1,
        None => 0,
    }
}

/// The tables of GFX9, then RDNA's.
fn tables() -> impl Iterator<Item = &'static (Family, &'static [Row])> {
    table::TABLES.iter().chain(&table::rdna::TABLES)
}

/// Rows with each of [`GENERATIONS`] that encodes them, and their opcodes there.
fn encoded() -> impl Iterator<Item = (&'static Row, usize, u16)> {
    tables().flat_map(|(_, rows)| rows.iter()).flat_map(|row| {
        let opcodes = if row.is_rdna() { &row.rdna[..] } else { std::slice::from_ref(&row.opcode) };
        let first = usize::from(row.is_rdna());
        let all = opcodes.iter().enumerate().filter(|(_, opcode)| **opcode != ABSENT);
        all.map(move |(n, opcode)| (row, first + n, *opcode))
    })
}

struct Recorder {
    /// One entry a row, in the order of the tables: a bit for each of [`GENERATIONS`].
    seen: Vec<AtomicU8>,
    file: Mutex<File>,
    test: String,
}

/// `None`: it is not asked for, or the file cannot be opened.
fn recorder() -> Option<&'static Recorder> {
    static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();
    RECORDER.get_or_init(Recorder::open).as_ref()
}

impl Recorder {
    fn open() -> Option<Self> {
        let path = std::env::var_os(VARIABLE)?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file =
            file.inspect_err(|error| tracing::error!("{VARIABLE}: {}: {error}", path.display())).ok()?;
        let rows = tables().map(|(_, rows)| rows.len()).sum();
        let test = std::env::var("NEXTEST_TEST_NAME").unwrap_or_else(|_| "?".into());
        let seen = std::iter::repeat_with(AtomicU8::default).take(rows).collect();
        Some(Self { seen, file: Mutex::new(file), test })
    }
}

/// Whether rows are recorded; found out once.
#[inline]
pub(crate) fn enabled() -> bool {
    recorder().is_some()
}

/// Notes that `row` is executed on a target: the interpreter's loop says so, and tests that call the semantics themselves.
#[cold]
pub fn executed(target: Target, row: &'static Row) {
    let Some(recorder) = recorder() else { return };
    // Rows outside of the tables stand for words that are no instruction.
    let Some(seen) = index(row).and_then(|index| recorder.seen.get(index)) else { return };
    let generation = generation(target);
    let bit = 1 << generation;
    // ORDER: Relaxed. Nothing else hangs on the bit; the thread that sets it writes the line.
    if seen.load(Ordering::Relaxed) & bit != 0 || seen.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
        return;
    }
    let (generation, opcode) = (GENERATIONS[generation], row.opcode_on(target));
    let line = format!("{generation}\t{:?}\t{opcode}\t{}\t{}\n", row.family, row.name, recorder.test);
    // One write of a short line to a file opened for appending does not mix with other processes' lines.
    let mut file = recorder.file.lock();
    if let Err(error) = file.write_all(line.as_bytes()) {
        tracing::error!("{VARIABLE}: {error}");
    }
}

/// Position of a row in [`tables`]; this runs for every instruction.
fn index(row: &'static Row) -> Option<usize> {
    const FAMILIES: usize = table::rdna::TABLES.len();
    /// Rows in the tables before that of each family: of GFX9, then of RDNA.
    const BEFORE: [[usize; FAMILIES]; 2] = {
        let mut before = [[0; FAMILIES]; 2];
        let (mut rows, mut family) = (0, 0);
        while family < table::TABLES.len() {
            before[0][family] = rows;
            rows += table::TABLES[family].1.len();
            family += 1;
        }
        family = 0;
        while family < FAMILIES {
            before[1][family] = rows;
            rows += table::rdna::TABLES[family].1.len();
            family += 1;
        }
        before
    };
    Some(BEFORE[usize::from(row.is_rdna())][row.family as usize] + table::position(row)?)
}

/// Tests that execute rows without knowing what they should give: they count for nothing.
const UNCHECKED: &str = "wave::random_code::";

/// A row on a generation that encodes it, with the tests that executed it there.
pub struct Entry {
    /// The row.
    pub row: &'static Row,
    /// Index into [`GENERATIONS`].
    pub generation: usize,
    /// Its opcode there.
    pub opcode: u16,
    /// Names of the tests.
    pub tests: BTreeSet<String>,
}

/// What a file of recorded lines says about the tables.
#[derive(Default)]
pub struct Report {
    entries: Vec<Entry>,
}

impl Report {
    /// Reads what processes recorded. Lines that name no row of the tables are left out: they are older than the
    /// tables.
    pub fn new(recorded: &str) -> Self {
        let mut tests = BTreeMap::<[&str; 4], BTreeSet<String>>::new();
        for line in recorded.lines() {
            let fields: Vec<_> = line.split('\t').collect();
            let [generation, family, opcode, name, test] = fields[..] else { continue };
            if !test.starts_with(UNCHECKED) {
                tests.entry([generation, family, opcode, name]).or_default().insert(test.to_owned());
            }
        }
        let entries = encoded().map(|(row, generation, opcode)| {
            let (family, number) = (format!("{:?}", row.family), opcode.to_string());
            let key = [GENERATIONS[generation], &family, &number, row.name];
            Entry { row, generation, opcode, tests: tests.get(&key).cloned().unwrap_or_default() }
        });
        Self { entries: entries.collect() }
    }

    /// Every row of the tables on each generation that encodes it.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_position_of_its_own() {
        for (n, row) in tables().flat_map(|(_, rows)| rows.iter()).enumerate() {
            assert_eq!(index(row), Some(n), "{}", row.name);
        }
    }

    #[test]
    fn a_report_tells_the_rows_that_ran_from_those_that_did_not() {
        let report = Report::new(
            "GFX9\tVop2\t1\tv_add_f32\tone\nGFX9\tVop2\t1\tv_add_f32\ttwo\nRDNA 4\tSop2\t0\ts_add_co_u32\tone\n\
             GFX9\tVop2\t1\tv_old\tone\nbroken\n",
        );
        let ran: Vec<_> = report.entries().filter(|entry| !entry.tests.is_empty()).collect();
        let what = |entry: &Entry| (entry.row.family, entry.row.name, entry.generation, entry.tests.len());
        assert_eq!(what(ran[0]), (Family::Vop2, "v_add_f32", 0, 2));
        assert_eq!(what(ran[1]), (Family::Sop2, "s_add_co_u32", 4, 1));
        assert_eq!(ran.len(), 2);
    }

    #[test]
    fn a_row_has_an_entry_for_each_generation_that_encodes_it() {
        let entries = |name| encoded().filter(move |(row, ..)| row.name == name);
        let generations = |name| entries(name).map(|(_, generation, _)| generation).collect::<Vec<_>>();
        assert_eq!(generations("s_add_co_u32"), [4]);
        assert_eq!(generations("v_readlane_b32"), [0, 1, 2, 3, 4]);
    }
}
