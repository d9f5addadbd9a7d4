//! Functions and lines of sources for addresses in programs and libraries, from their DWARF.

use std::{collections::HashMap, fs, path::Path};

use addr2line::{Loader, Location};
use aqlipse::check::{Code, Finding, Frame, Pc};
use object::{Object as _, ObjectSegment as _, ObjectSymbol as _};

/// Where sources lie that are not the program's.
const SYSTEM: [&str; 2] = ["/usr/", "/opt/"];

/// The files that were read so far; `None` for one that says nothing.
#[derive(Default)]
pub struct Sources(HashMap<String, Option<File>>);

struct File {
    loader: Loader,
    /// The address in the file of what is loaded first.
    base: u64,
    /// Those of kernels, by their addresses in the file.
    descriptors: Vec<(u64, String)>,
}

impl File {
    fn open(path: &str) -> Option<Self> {
        let data = fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let base = file.segments().map(|segment| segment.address()).min()?;
        let symbols = file.dynamic_symbols().filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| name.ends_with(".kd"))?;
            Some((symbol.address(), name.to_owned()))
        });
        Some(Self {
            loader: Loader::new(Path::new(path)).ok()?,
            base: base & !4095,
            descriptors: symbols.collect(),
        })
    }

    /// The line of an instruction of a kernel whose code lies in the file: of what is inlined there, the innermost that is not
    /// the system's, as the barrier of HIP's headers is.
    fn line(&self, code: &Code, offset: u64) -> Option<String> {
        let (descriptor, _) = self.descriptors.iter().find(|(_, name)| *name == code.descriptor)?;
        let address = descriptor.wrapping_add(code.entry).wrapping_add(offset);
        let mut lines = Vec::new();
        let mut frames = self.loader.find_frames(address).ok()?;
        while let Ok(Some(frame)) = frames.next() {
            lines.extend(frame.location.as_ref().and_then(line_of));
        }
        let is_programs = |line: &String| !SYSTEM.iter().any(|folder| line.starts_with(folder));
        let place = lines.iter().position(is_programs).unwrap_or_default();
        (place < lines.len()).then(|| lines.swap_remove(place))
    }

    /// The function at an offset, and its line, functions that are inlined there counted.
    fn at(&self, offset: u64) -> Option<(Option<String>, Option<String>)> {
        let address = self.base + offset;
        let mut frames = self.loader.find_frames(address).ok()?;
        let innermost = frames.next().ok().flatten();
        let line = innermost.as_ref().and_then(|frame| frame.location.as_ref()).and_then(line_of);
        let function =
            innermost.and_then(|frame| frame.function.and_then(|name| name.raw_name().ok().map(Into::into)));
        Some((function.or_else(|| self.loader.find_symbol(address).map(Into::into)), line))
    }
}

fn line_of(location: &Location<'_>) -> Option<String> {
    Some(format!("{}:{}", location.file?, location.line?))
}

impl Sources {
    /// A finding with the functions and lines of its places.
    pub fn name(&mut self, mut finding: Finding) -> Finding {
        for frames in finding.frames_mut() {
            frames.iter_mut().for_each(|frame| self.name_frame(frame));
            // What calls `main` is the same in all programs.
            if let Some(last) = frames.iter().rposition(|frame| frame.line.is_some()) {
                frames.truncate(last + 1);
            }
        }
        if let Some((code, places)) = finding.code_mut() {
            let file = self.file(&code.object);
            let line = |pc: &Pc| file.and_then(|file| file.line(code, pc.offset));
            places.into_iter().for_each(|pc| pc.line = line(pc));
        }
        finding
    }

    fn file(&mut self, path: &str) -> Option<&File> {
        self.0.entry(path.to_owned()).or_insert_with(|| File::open(path)).as_ref()
    }

    fn name_frame(&mut self, frame: &mut Frame) {
        let file = self.file(&frame.object);
        if let Some((function, line)) = file.and_then(|file| file.at(frame.offset)) {
            frame.symbol = function.unwrap_or_else(|| std::mem::take(&mut frame.symbol));
            frame.line = line;
        }
    }
}
