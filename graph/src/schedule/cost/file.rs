//! Cost tables as text: a line for each value, `name TAB value TAB source`.

use std::fmt::{self, Write as _};

use super::CostTable;

/// A cost table with the family it is for and where each value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostFile {
    /// The target without features, such as `gfx942`, and where that is from.
    pub family: (String, String),
    /// The values.
    pub table: CostTable,
    /// The source of each value, in the order of the file's lines.
    pub sources: Vec<(&'static str, String)>,
}

/// Why a text is no cost table, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct FileError {
    /// From 1; the line behind the last for what is missing.
    pub line: usize,
    /// What is wrong there.
    pub reason: Reason,
}

/// What is wrong with a line of a cost table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// Not three fields with a tab between each two, all of them filled in.
    #[error("not `name TAB value TAB source`")]
    Fields,
    /// No value has this name.
    #[error("there is no value `{0}`")]
    Unknown(String),
    /// The value was given before.
    #[error("`{0}` is given twice")]
    Twice(&'static str),
    /// The value is no whole number that it may be.
    #[error("`{name}` is `{found}`, not a whole number from {least} to {most}")]
    Number {
        /// The value's name.
        name: &'static str,
        /// What stands there.
        found: String,
        /// The least that it may be.
        least: u32,
        /// The most that it may be.
        most: u32,
    },
    /// The file ends without this value.
    #[error("`{0}` is missing")]
    Missing(&'static str),
}

const FAMILY: &str = "family";

/// A second: no packet and no signal takes that long.
const MOST_NS: u32 = 1_000_000_000;
const MOST_UNITS: u32 = 1 << 16;
/// 10 TB/s: no bus is that fast.
const MOST_BYTES_PER_US: u32 = 10_000_000;
const MOST_BYTES: u32 = 1 << 30;

/// The values of a table by name, with the least and the most that each may be.
fn fields(table: &mut CostTable) -> [(&'static str, &mut u32, u32, u32); 15] {
    [
        ("compute_units", &mut table.compute_units, 1, MOST_UNITS),
        ("packet_ns", &mut table.packet_ns, 0, MOST_NS),
        ("dependent_ns", &mut table.dependent_ns, 0, MOST_NS),
        ("cross_queue_ns", &mut table.cross_queue_ns, 0, MOST_NS),
        ("host_wake_ns", &mut table.host_wake_ns, 0, MOST_NS),
        ("kernel_ns", &mut table.kernel_ns, 0, MOST_NS),
        ("host_call_ns", &mut table.host_call_ns, 0, MOST_NS),
        ("acquire_ns", &mut table.acquire_ns, 0, MOST_NS),
        ("first_load_ns", &mut table.first_load_ns, 0, MOST_NS),
        ("interrupt_ns", &mut table.interrupt_ns, 0, MOST_NS),
        ("engine_copy_ns", &mut table.engine_copy_ns, 0, MOST_NS),
        ("engine_bytes_per_us", &mut table.engine_bytes_per_us, 1, MOST_BYTES_PER_US),
        ("blit_bytes_per_us", &mut table.blit_bytes_per_us, 1, MOST_BYTES_PER_US),
        ("engine_min_bytes", &mut table.engine_min_bytes, 0, MOST_BYTES),
        ("staged_bytes", &mut table.staged_bytes, 0, MOST_BYTES),
    ]
}

/// Values that files of earlier versions lack, with what counts then and why.
const LATER: [(&str, u32, &str); 3] = [
    ("acquire_ns", 0, "not in the file: dependent_ns was measured with the acquire in it"),
    ("first_load_ns", 2_500, "not in the file: as in gfx942.tsv"),
    ("interrupt_ns", 500, "not in the file: assumed"),
];

impl CostFile {
    /// Reads a table. Empty lines, and lines that begin with `#`, say nothing; each value stands there once. A value that
    /// files of earlier versions lack has a default, and its source says so.
    ///
    /// # Errors
    /// The first line that is wrong, or what is missing.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut table = CostTable {
            compute_units: 0,
            packet_ns: 0,
            dependent_ns: 0,
            cross_queue_ns: 0,
            host_wake_ns: 0,
            kernel_ns: 0,
            host_call_ns: 0,
            acquire_ns: 0,
            first_load_ns: 0,
            interrupt_ns: 0,
            engine_copy_ns: 0,
            engine_bytes_per_us: 0,
            blit_bytes_per_us: 0,
            engine_min_bytes: 0,
            staged_bytes: 0,
        };
        let (mut family, mut sources) = (None, Vec::new());
        for (line, content) in (1..).zip(text.lines()) {
            let failed = |reason| FileError { line, reason };
            if content.trim().is_empty() || content.starts_with('#') {
                continue;
            }
            let mut parts = content.splitn(3, '\t').map(str::trim);
            let (Some(name), Some(value), Some(source)) = (parts.next(), parts.next(), parts.next()) else {
                return Err(failed(Reason::Fields));
            };
            if [name, value, source].contains(&"") {
                return Err(failed(Reason::Fields));
            }
            if name == FAMILY {
                if family.replace((value.to_owned(), source.to_owned())).is_some() {
                    return Err(failed(Reason::Twice(FAMILY)));
                }
                continue;
            }
            let field = fields(&mut table).into_iter().find(|(known, ..)| *known == name);
            let Some((name, place, least, most)) = field else {
                return Err(failed(Reason::Unknown(name.to_owned())));
            };
            if sources.iter().any(|(known, _)| *known == name) {
                return Err(failed(Reason::Twice(name)));
            }
            let number = value.parse().ok().filter(|number| (least..=most).contains(number));
            *place = number
                .ok_or_else(|| failed(Reason::Number { name, found: value.to_owned(), least, most }))?;
            sources.push((name, source.to_owned()));
        }
        let mut all = fields(&mut table);
        for (name, value, source) in LATER {
            let place = all.iter_mut().find(|(known, ..)| *known == name);
            if let Some((_, place, ..)) = place
                && !sources.iter().any(|(known, _)| *known == name)
            {
                **place = value;
                sources.push((name, source.to_owned()));
            }
        }
        let missing = |name| FileError { line: text.lines().count() + 1, reason: Reason::Missing(name) };
        let family = family.ok_or_else(|| missing(FAMILY))?;
        let given = |name: &&str| sources.iter().any(|(known, _)| known == name);
        match fields(&mut table).iter().map(|(name, ..)| *name).find(|name| !given(name)) {
            Some(name) => Err(missing(name)),
            None => Ok(Self { family, table, sources }),
        }
    }

    /// Whether the table is for a target such as `gfx90a:sramecc+:xnack-`.
    pub fn serves(&self, target: &str) -> bool {
        target.split(':').next() == Some(self.family.0.as_str())
    }

    /// The source of a value; nothing if there is no such value.
    pub fn source(&self, name: &str) -> Option<&str> {
        self.sources.iter().find(|(known, _)| *known == name).map(|(_, source)| source.as_str())
    }

    /// Gives a value another number and source; says whether there is such a value and the number is one it may have.
    pub fn set(&mut self, name: &str, number: u32, source: &str) -> bool {
        let mut table = self.table;
        let field = fields(&mut table).into_iter().find(|(known, ..)| *known == name);
        let Some((name, place, least, most)) = field else { return false };
        if !(least..=most).contains(&number) {
            return false;
        }
        *place = number;
        self.table = table;
        // What ends a field or a line ends the source.
        let source = source.replace(['\t', '\n', '\r'], " ");
        match self.sources.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = source,
            None => self.sources.push((name, source)),
        }
        true
    }
}

/// The file: what [`CostFile::parse`] reads.
impl fmt::Display for CostFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from(
            "# Times, sizes and rates by which plans are compared and simulated, and copies choose.\n",
        );
        text += "# name\tvalue\tsource\n";
        writeln!(text, "{FAMILY}\t{}\t{}", self.family.0, self.family.1)?;
        let mut table = self.table;
        for (name, value, ..) in fields(&mut table) {
            writeln!(text, "{name}\t{value}\t{}", self.source(name).unwrap_or("unknown"))?;
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CDNA2, CDNA3};
    use super::*;

    const TEXT: &str = include_str!("../costs/gfx942.tsv");

    fn refused(text: &str) -> FileError {
        CostFile::parse(text).unwrap_err()
    }

    #[test]
    fn each_family_has_a_file_with_a_source_for_every_value() {
        for (family, file) in [("gfx90a", &CDNA2), ("gfx942", &CDNA3)] {
            assert_eq!(file.family.0, family);
            assert_eq!(file.sources.len(), fields(&mut { file.table }).len());
            assert!(file.serves(&format!("{family}:sramecc+:xnack-")) && !file.serves("gfx9"));
            assert_eq!(CostTable::of_target(&format!("{family}:xnack-")), file.table);
        }
        assert_eq!(CostTable::of_target("gfx1100"), CostTable::default());
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut file = CostFile::parse(TEXT).unwrap();
        assert!(file.set("packet_ns", 901, "measured\ton a\nTuesday"));
        assert!(!file.set("packets", 1, "") && !file.set("compute_units", 0, ""));
        let again = CostFile::parse(&file.to_string()).unwrap();
        assert_eq!((again.table, again.family.clone()), (file.table, file.family.clone()));
        assert_eq!(again.source("packet_ns"), Some("measured on a Tuesday"));
    }

    #[test]
    fn files_of_earlier_versions_count_the_acquire_as_a_part_of_what_they_measured() {
        let new = ["acquire_ns", "first_load_ns", "interrupt_ns"];
        let old: Vec<&str> =
            TEXT.lines().filter(|line| !new.iter().any(|name| line.starts_with(name))).collect();
        assert_eq!(old.len() + new.len(), TEXT.lines().count());
        let file = CostFile::parse(&old.join("\n")).unwrap();
        assert_eq!((file.table.acquire_ns, file.table.interrupt_ns), (0, CDNA3.table.interrupt_ns));
        assert_eq!(file.table.first_load_ns, CDNA3.table.first_load_ns);
        for name in new {
            assert!(file.source(name).unwrap().starts_with("not in the file"), "{name}");
        }
        // What is written has the rows.
        let again = CostFile::parse(&file.to_string()).unwrap();
        assert_eq!((again.table, again.source("acquire_ns")), (file.table, file.source("acquire_ns")));
    }

    #[test]
    fn a_malformed_file_names_the_line_and_the_value() {
        let with = |from: &str, to: &str| refused(&TEXT.replace(from, to));
        let error = with("packet_ns\t870", "packet_ns 870");
        assert_eq!((error.line, error.reason), (5, Reason::Fields));
        let error = with("dependent_ns", "dependant_ns");
        assert_eq!(error.to_string(), "line 6: there is no value `dependant_ns`");
        for wrong in ["-1", "1.5", "", "1000000001", "99999999999"] {
            let error = with("packet_ns\t870", &format!("packet_ns\t{wrong}"));
            assert_eq!(error.line, 5, "{wrong}: {error}");
        }
        let error = with("compute_units\t304", "compute_units\t0");
        assert!(
            error.to_string().contains("`compute_units` is `0`, not a whole number from 1 to"),
            "{error}"
        );
        let error = with("host_wake_ns\t10000\tassumed\n", "");
        assert_eq!((error.line, error.reason), (18, Reason::Missing("host_wake_ns")));
        let error = refused(&format!("{TEXT}packet_ns\t1\tagain\n"));
        assert_eq!((error.line, error.reason), (19, Reason::Twice("packet_ns")));
        assert_eq!(refused("").reason, Reason::Missing(FAMILY));
        assert!(CostFile::parse("\0\t\t\u{7f}\nfamily").is_err());
    }
}
