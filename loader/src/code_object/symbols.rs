use std::ops::Range;

use goblin::elf::section_header::{SHN_ABS, SHN_UNDEF};
use goblin::elf::sym::{STB_WEAK, STT_FUNC, STT_OBJECT};

use crate::elf::{DynamicSymbols, malformed};
use crate::segment::Layout;
use crate::{Error, KernelDescriptor, Result};

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A kernel descriptor; the symbol's name is the kernel's with `.kd` behind.
    KernelDescriptor,
    /// A global variable.
    Variable,
    /// Code: a kernel's or a function's.
    Function,
    /// Anything else.
    Other,
}

/// Where a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the image, at this offset.
    Image(u64),
    /// At an address that loading does not change.
    Absolute(u64),
    /// In another code object.
    Undefined {
        /// The address is 0 if no code object defines the symbol.
        weak: bool,
    },
}

/// A symbol of the dynamic symbol table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'c> {
    /// Its name.
    pub name: &'c str,
    /// What it names.
    pub kind: SymbolKind,
    /// Where it is.
    pub place: Place,
    /// Bytes that belong to it.
    pub size: u64,
}

/// One symbol; the name is a range of the file, known to be UTF-8.
#[derive(Clone, Debug)]
pub(super) struct Record {
    name: Range<usize>,
    kind: SymbolKind,
    pub(super) place: Place,
    pub(super) size: u64,
}

impl Record {
    pub(super) fn name<'c>(&self, file: &'c [u8]) -> &'c str {
        let bytes = file.get(self.name.clone()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    pub(super) fn symbol<'c>(&self, file: &'c [u8]) -> Symbol<'c> {
        Symbol { name: self.name(file), kind: self.kind, place: self.place, size: self.size }
    }

    pub(super) fn is(&self, kind: SymbolKind) -> bool {
        self.kind == kind
    }
}

/// Reads the table; the null symbol keeps its place so that relocations can index the result.
pub(super) fn read(file: &[u8], symbols: &DynamicSymbols<'_>, layout: &Layout) -> Result<Vec<Record>> {
    let mut records = Vec::with_capacity(symbols.table.len());
    let mut name_bytes = 0;
    for (index, symbol) in symbols.table.iter().enumerate() {
        let name = name(file, symbols, symbol.st_name).ok_or(Error::SymbolName { index })?;
        // Names that overlap would multiply work and memory beyond what the size of the file allows.
        name_bytes += name.len();
        if name_bytes > file.len() {
            return Err(malformed("dynamic symbols", "names overlap"));
        }
        let (value, size) = (symbol.st_value, symbol.st_size);
        // CAST: 16 bits in the file.
        let place = match symbol.st_shndx as u32 {
            SHN_UNDEF => Place::Undefined { weak: symbol.st_bind() == STB_WEAK },
            SHN_ABS => Place::Absolute(value),
            _ => match layout.locate(value, size) {
                Some(offset) => Place::Image(offset),
                None => return Err(Error::SymbolOutsideImage { name: text(file, &name).to_owned() }),
            },
        };
        let kind = match (symbol.st_type(), place) {
            (STT_OBJECT, Place::Image(_)) => {
                let descriptor = text(file, &name).ends_with(".kd") && size == KernelDescriptor::BYTES as u64;
                if descriptor { SymbolKind::KernelDescriptor } else { SymbolKind::Variable }
            }
            (STT_FUNC, _) => SymbolKind::Function,
            _ => SymbolKind::Other,
        };
        records.push(Record { name, kind, place, size });
    }
    Ok(records)
}

fn text<'c>(file: &'c [u8], name: &Range<usize>) -> &'c str {
    std::str::from_utf8(&file[name.clone()]).unwrap_or_default()
}

/// Finds the zero-terminated UTF-8 name at `start` of the string table.
fn name(file: &[u8], symbols: &DynamicSymbols<'_>, start: usize) -> Option<Range<usize>> {
    let strings = &file[symbols.strings.clone()];
    let length = strings.get(start..)?.iter().position(|&byte| byte == 0)?;
    std::str::from_utf8(&strings[start..start + length]).ok()?;
    let start = symbols.strings.start + start;
    Some(start..start + length)
}
