//! Functions and lines of sources for addresses in programs and libraries, from their DWARF.

use std::{collections::HashMap, fs, path::Path};

use addr2line::Loader;
use aqlipse::check::{Finding, Frame};
use object::{Object as _, ObjectSegment as _};

/// The files that were read so far; `None` for one that says nothing.
#[derive(Default)]
pub struct Sources(HashMap<String, Option<File>>);

struct File {
    loader: Loader,
    /// The address in the file of what is loaded first.
    base: u64,
}

impl File {
    fn open(path: &str) -> Option<Self> {
        let data = fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let base = file.segments().map(|segment| segment.address()).min()?;
        Some(Self { loader: Loader::new(Path::new(path)).ok()?, base: base & !4095 })
    }

    /// The function at an offset, and its line, functions that are inlined there counted.
    fn at(&self, offset: u64) -> Option<(Option<String>, Option<String>)> {
        let address = self.base + offset;
        let mut frames = self.loader.find_frames(address).ok()?;
        let innermost = frames.next().ok().flatten();
        let line = innermost
            .as_ref()
            .and_then(|frame| frame.location.as_ref())
            .and_then(|location| Some(format!("{}:{}", location.file?, location.line?)));
        let function =
            innermost.and_then(|frame| frame.function.and_then(|name| name.raw_name().ok().map(Into::into)));
        Some((function.or_else(|| self.loader.find_symbol(address).map(Into::into)), line))
    }
}

impl Sources {
    /// A finding with the functions and lines of its places.
    pub fn name(&mut self, mut finding: Finding) -> Finding {
        if let Some(made) = finding.made_mut() {
            made.frames.iter_mut().for_each(|frame| self.name_frame(frame));
            // What calls `main` is the same in all programs.
            if let Some(last) = made.frames.iter().rposition(|frame| frame.line.is_some()) {
                made.frames.truncate(last + 1);
            }
        }
        finding
    }

    fn name_frame(&mut self, frame: &mut Frame) {
        let file = self.0.entry(frame.object.clone()).or_insert_with(|| File::open(&frame.object));
        if let Some((function, line)) = file.as_ref().and_then(|file| file.at(frame.offset)) {
            frame.symbol = function.unwrap_or_else(|| std::mem::take(&mut frame.symbol));
            frame.line = line;
        }
    }
}
