//! The table as `docs/compare.txt` has it.
//!
//! ```text
//! # A comment.
//! document sycl: https://example.org | The SYCL extension
//!
//! theme Updates
//! A sentence on the theme, if one is needed.
//!
//! feature Whole graph
//!   C      yes <- tests/runtime/updates.rs a_refused_update_says_which_node_and_what_differs
//!   Rust   partly: kernels only <- examples/relaunched.rs
//!   HIP    yes <- hip Graph Management
//!   CUDA   no <- cuda
//!   Julia  ?
//!   Kokkos ?
//!   SYCL   partly: kernels and host tasks <- sycl Whole Graph Update; sycl Host Tasks
//! ```
//!
//! A cell of ours names tests: a file, and behind it the function if there are several in it, or `doctests`. A `no` names
//! the test that shows the refusal; or what has no such thing, to be searched: a file or a folder of Rust sources, `without`
//! and a part of the names that it would have. A cell of
//! another system names documents that were introduced, and the section if the document has some. `?` is what no
//! document says.

/// The systems, in the order of their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum System {
    /// This library, as C programs see it.
    C,
    /// This library, as Rust programs see it.
    Rust,
    /// HIP as AMD documents it.
    Hip,
    /// CUDA.
    Cuda,
    /// AMDGPU.jl.
    Julia,
    /// `Kokkos::Graph`.
    Kokkos,
    /// SYCL command graphs.
    Sycl,
}

impl System {
    /// Every one.
    pub const ALL: [Self; 7] =
        [Self::C, Self::Rust, Self::Hip, Self::Cuda, Self::Julia, Self::Kokkos, Self::Sycl];

    /// The word before its cells.
    pub fn name(self) -> &'static str {
        ["C", "Rust", "HIP", "CUDA", "Julia", "Kokkos", "SYCL"][self as usize]
    }

    /// What stands above its column.
    pub fn title(self) -> &'static str {
        match self {
            Self::C => "aqlipse, C",
            Self::Rust => "aqlipse, Rust",
            Self::Hip => "HIP 7",
            Self::Cuda => "CUDA 13",
            Self::Julia => "AMDGPU.jl",
            Self::Kokkos => "Kokkos::Graph",
            Self::Sycl => "SYCL graphs",
        }
    }

    /// Whether it is this library, whose cells are proven by tests.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::C | Self::Rust)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.name() == name)
    }
}

/// Whether a system has a feature. More is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No document says.
    Unknown,
    /// It has not.
    No,
    /// In part, as the words of the cell say.
    Partly,
    /// It has.
    Yes,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Whether there is such a thing.
    pub verdict: Verdict,
    /// A remark, which may be empty.
    pub words: String,
    /// Tests of ours, documents of others: a path or name, and what in it, which may be empty.
    pub sources: Vec<(String, String)>,
    /// Line of the table.
    pub line: usize,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// A cell for each of [`System::ALL`].
    pub cells: Vec<Cell>,
}

/// Rows that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// What is to be said before its rows.
    pub text: String,
    /// Its rows.
    pub features: Vec<Feature>,
}

/// A public document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name in the table.
    pub name: String,
    /// Where it is.
    pub address: String,
    /// What it is called.
    pub title: String,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What cells of others refer to.
    pub documents: Vec<Document>,
    /// The rows.
    pub themes: Vec<Theme>,
}

impl Table {
    /// The document of this name.
    pub fn document(&self, name: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.name == name)
    }

    /// Every row.
    pub fn features(&self) -> impl Iterator<Item = &Feature> {
        self.themes.iter().flat_map(|theme| &theme.features)
    }
}

/// Reads a table.
///
/// # Errors
/// The number of a line and what is wrong with it.
pub fn parse(text: &str) -> Result<Table, (usize, String)> {
    let mut table = Table::default();
    for (line, text) in text.lines().enumerate().map(|(index, text)| (index + 1, text.trim_end())) {
        let refuse = |why: &str| Err((line, why.to_owned()));
        if text.is_empty() || text.starts_with('#') {
        } else if let Some(cell) = text.strip_prefix("  ") {
            let Some(feature) = table.themes.last_mut().and_then(|theme| theme.features.last_mut()) else {
                return refuse("a cell without a feature");
            };
            let (system, rest) = cell.split_once(' ').unwrap_or((cell, ""));
            let next = System::ALL.get(feature.cells.len());
            match (System::named(system), next) {
                (Some(system), Some(next)) if system == *next => {
                    feature.cells.push(parse_cell(system, rest.trim(), line).map_err(|why| (line, why))?);
                }
                (_, next) => {
                    let wanted = next.map_or("no further cell", |next| next.name());
                    return Err((line, format!("expected {wanted}, not {system:?}")));
                }
            }
        } else if let Some(incomplete) = incomplete(&table) {
            return Err((line, format!("{} has no cell for {}", incomplete.0, incomplete.1)));
        } else if let Some(document) = text.strip_prefix("document ") {
            let parts =
                document.split_once(": ").and_then(|(name, rest)| Some((name, rest.split_once(" | ")?)));
            let Some((name, (address, title))) = parts else {
                return refuse("expected `document NAME: ADDRESS | TITLE`");
            };
            if table.document(name).is_some() {
                return refuse("a second document of this name");
            }
            let [name, address, title] = [name, address, title].map(|part| part.trim().to_owned());
            table.documents.push(Document { name, address, title });
        } else if let Some(name) = text.strip_prefix("theme ") {
            table.themes.push(Theme { name: name.into(), ..Theme::default() });
        } else if let Some(name) = text.strip_prefix("feature ") {
            let Some(theme) = table.themes.last_mut() else { return refuse("a feature without a theme") };
            theme.features.push(Feature { name: name.into(), cells: Vec::new() });
        } else {
            match table.themes.last_mut() {
                Some(theme) if theme.features.is_empty() => {
                    theme.text.push_str(text);
                    theme.text.push('\n');
                }
                _ => return refuse("expected a document, a theme, a feature or a cell"),
            }
        }
    }
    let end = text.lines().count();
    if let Some((feature, system)) = incomplete(&table) {
        return Err((end, format!("{feature} has no cell for {system}")));
    }
    for cell in table.features().flat_map(|feature| feature.cells.iter().skip(2)) {
        for (name, _) in &cell.sources {
            if table.document(name).is_none() {
                return Err((cell.line, format!("{name:?} is no document")));
            }
        }
    }
    let is_used = |document: &Document| {
        let mut cells = table.features().flat_map(|feature| &feature.cells);
        cells.any(|cell| cell.sources.iter().any(|(name, _)| *name == document.name))
    };
    match table.documents.iter().find(|document| !is_used(document)) {
        Some(document) => Err((end, format!("no cell refers to {:?}", document.name))),
        None => Ok(table),
    }
}

/// The last feature and the system whose cell it lacks.
fn incomplete(table: &Table) -> Option<(&str, &'static str)> {
    let feature = table.themes.last()?.features.last()?;
    Some((&feature.name, System::ALL.get(feature.cells.len())?.name()))
}

fn parse_cell(system: System, text: &str, line: usize) -> Result<Cell, String> {
    let (text, sources) = match text.split_once("<-") {
        Some((text, sources)) => (text.trim(), sources.split(';').map(source).collect()),
        None => (text, Vec::new()),
    };
    let (verdict, words) = text.split_once(':').unwrap_or((text, ""));
    let verdict = match verdict {
        "yes" => Verdict::Yes,
        "partly" => Verdict::Partly,
        "no" => Verdict::No,
        "?" => Verdict::Unknown,
        other => return Err(format!("{other:?} is neither yes, partly, no nor ?")),
    };
    let words = words.trim().to_owned();
    match verdict {
        Verdict::Unknown if system.is_ours() => return Err("we know what we have".into()),
        Verdict::Unknown if !sources.is_empty() => return Err("a document for what no document says".into()),
        Verdict::Yes | Verdict::Partly if sources.is_empty() => {
            let what = if system.is_ours() { "no test proves it" } else { "no document says so" };
            return Err(what.into());
        }
        Verdict::No if system.is_ours() && words.is_empty() => return Err("`no` without a reason".into()),
        Verdict::No if system.is_ours() && sources.is_empty() => {
            return Err("`no` without a test of the refusal, or a place `without` it".into());
        }
        Verdict::No if !system.is_ours() && sources.is_empty() => {
            return Err("no document says so; `?` is for what none says".into());
        }
        Verdict::Partly if words.is_empty() => {
            return Err("`partly` without words that say which part".into());
        }
        _ => {}
    }
    Ok(Cell { verdict, words, sources, line })
}

/// `NAME what in it`.
fn source(text: &str) -> (String, String) {
    let (name, part) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    (name.into(), part.trim().into())
}

#[cfg(test)]
mod tests;
