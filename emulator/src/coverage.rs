//! Which rows of the instruction tables were executed: what the report at the end of the test suite is made of.
//!
//! With `AQLIPSE_COVERAGE=FILE` in its environment a process appends a line to FILE when it first executes a row:
//! family, opcode, mnemonic and the test that it runs (`NEXTEST_TEST_NAME`), with tabs between. Without, the
//! interpreter's loop does not know of any of this.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions},
    io::Write,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use crate::isa::{Row, table};

/// The environment variable that names the file.
pub const VARIABLE: &str = "AQLIPSE_COVERAGE";

struct Recorder {
    /// One entry a row, in the order of the tables.
    seen: Vec<AtomicBool>,
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
        let rows = table::TABLES.iter().map(|(_, rows)| rows.len()).sum();
        let test = std::env::var("NEXTEST_TEST_NAME").unwrap_or_else(|_| "?".into());
        let seen = std::iter::repeat_with(|| AtomicBool::new(false)).take(rows).collect();
        Some(Self { seen, file: Mutex::new(file), test })
    }
}

/// Whether rows are recorded; found out once.
#[inline]
pub(crate) fn enabled() -> bool {
    recorder().is_some()
}

/// Notes that `row` is executed: the interpreter's loop says so, and tests that call the semantics themselves.
#[cold]
pub fn executed(row: &'static Row) {
    let Some(recorder) = recorder() else { return };
    // Rows outside of the tables stand for words that are no instruction.
    let Some(seen) = index(row).and_then(|index| recorder.seen.get(index)) else { return };
    // ORDER: Relaxed. Nothing else hangs on the flag; the thread that sets it writes the line.
    if seen.load(Ordering::Relaxed) || seen.swap(true, Ordering::Relaxed) {
        return;
    }
    let line = format!("{:?}\t{}\t{}\t{}\n", row.family, row.opcode, row.name, recorder.test);
    // One write of a short line to a file opened for appending does not mix with other processes' lines.
    let mut file = recorder.file.lock();
    if let Err(error) = file.write_all(line.as_bytes()) {
        tracing::error!("{VARIABLE}: {error}");
    }
}

/// Position of a row in the tables of GFX9, the only ones that are counted; this runs for every instruction.
fn index(row: &'static Row) -> Option<usize> {
    /// Rows in the tables of the families before.
    const BEFORE: [usize; table::TABLES.len()] = {
        let mut before = [0; table::TABLES.len()];
        let mut family = 1;
        while family < before.len() {
            before[family] = before[family - 1] + table::TABLES[family - 1].1.len();
            family += 1;
        }
        before
    };
    (!row.is_rdna()).then_some(())?;
    Some(BEFORE[row.family as usize] + table::position(row)?)
}

/// Tests that execute rows without knowing what they should give: they count for nothing.
const UNCHECKED: &str = "wave::random_code::";

/// What a file of recorded lines says about the tables.
#[derive(Default)]
pub struct Report {
    /// Every row of the tables with the tests that executed it.
    rows: Vec<(&'static Row, BTreeSet<String>)>,
}

impl Report {
    /// Reads what processes recorded. Lines that name no row of the tables are left out: they are older than the
    /// tables.
    pub fn new(recorded: &str) -> Self {
        let mut tests = BTreeMap::<(String, u16, &str), BTreeSet<String>>::new();
        for line in recorded.lines() {
            let mut fields = line.split('\t');
            let (Some(family), Some(Ok(opcode)), Some(name), Some(test)) =
                (fields.next(), fields.next().map(str::parse), fields.next(), fields.next())
            else {
                continue;
            };
            if !test.starts_with(UNCHECKED) {
                tests.entry((family.to_owned(), opcode, name)).or_default().insert(test.to_owned());
            }
        }
        let rows = table::TABLES.iter().flat_map(|(_, rows)| rows.iter());
        let rows = rows.map(|row| {
            let key = (format!("{:?}", row.family), row.opcode, row.name);
            (row, tests.remove(&key).unwrap_or_default())
        });
        Self { rows: rows.collect() }
    }

    /// Rows of the tables, each with the tests that executed it.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Row, &BTreeSet<String>)> {
        self.rows.iter().map(|(row, tests)| (*row, tests))
    }

    /// Rows that no test executed.
    pub fn missing(&self) -> Vec<&'static Row> {
        self.rows().filter(|(_, tests)| tests.is_empty()).map(|(row, _)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Family;

    #[test]
    fn every_row_has_a_position_of_its_own() {
        let rows = table::TABLES.iter().flat_map(|(_, rows)| rows.iter());
        for (n, row) in rows.enumerate() {
            assert_eq!(index(row), Some(n), "{}", row.name);
        }
    }

    #[test]
    fn a_report_tells_the_rows_that_ran_from_those_that_did_not() {
        let report =
            Report::new("Vop2\t1\tv_add_f32\tone\nVop2\t1\tv_add_f32\ttwo\nVop2\t1\tv_old\tone\nbroken\n");
        let ran: Vec<_> = report.rows().filter(|(_, tests)| !tests.is_empty()).collect();
        assert_eq!(ran.len(), 1);
        assert_eq!((ran[0].0.family, ran[0].0.name, ran[0].1.len()), (Family::Vop2, "v_add_f32", 2));
        assert_eq!(report.missing().len() + 1, report.rows().count());
    }
}
