//! A code object: an ELF file of machine code for one target.

mod metadata;
mod symbols;
mod wave_sync;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use goblin::elf::header::EI_ABIVERSION;
use goblin::elf::section_header::SHT_SYMTAB;
pub use metadata::{Access, AddressSpace, Arg, KernelMetadata, Metadata, ValueKind};
use symbols::Record;
pub use symbols::{Place, Symbol, SymbolKind};

use crate::elf::{self, Elf, Identity, Version};
use crate::segment::{Layout, Segment};
use crate::{Bytes, Error, KernelDescriptor, Result, TargetId};

/// A code object, parsed as far as its symbol table.
///
/// Names of kernels and variables come from the symbol table. The metadata, by far the longest to read, is
/// read when a kernel is first asked for, once. All places are *image offsets*: bytes from the start of the
/// loaded image, whatever address it will have.
#[derive(Debug)]
pub struct CodeObject<'a> {
    bytes: Bytes<'a>,
    identity: Identity,
    layout: Layout,
    symbols: Vec<Record>,
    /// Section index of the dynamic symbol table, which relocations refer to.
    symbol_section: Option<usize>,
    kernels: Vec<usize>,
    note: Option<Range<usize>>,
    by_name: OnceLock<HashMap<Box<str>, usize>>,
    metadata: OnceLock<Result<Metadata>>,
}

/// A kernel: its descriptor, and what the compiler tells about it.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'c> {
    /// Name, as mangled.
    pub name: &'c str,
    /// The decoded descriptor.
    pub descriptor: KernelDescriptor,
    /// Image offset of the descriptor: with the image's address, the `kernel_object` of a dispatch packet.
    pub descriptor_offset: u64,
    /// Image offset of the first instruction.
    pub entry_offset: u64,
    /// Arguments, sizes and register counts.
    pub metadata: &'c KernelMetadata,
}

/// A global variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable<'c> {
    /// Name, as mangled.
    pub name: &'c str,
    /// Image offset.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Whether device code may store to it; a constant is in a read-only segment.
    pub writable: bool,
}

impl<'a> CodeObject<'a> {
    /// Parses a code object. The bytes are kept, borrowed or shared, but not copied.
    ///
    /// # Errors
    /// Whatever contradicts the ELF specification or the AMDGPU ABI in the header, segments or symbols.
    pub fn parse(bytes: impl Into<Bytes<'a>>) -> Result<Self> {
        let bytes = bytes.into();
        let identity = elf::identity(&bytes)?;
        let elf = Elf::parse(&bytes)?;
        let layout = Layout::new(&elf.program_headers, bytes.len())?;
        let table = elf.dynamic_symbols()?;
        let symbols = match &table {
            Some(table) => symbols::read(&bytes, table, &layout)?,
            None => Vec::new(),
        };
        let kernels = symbols.iter().enumerate();
        let kernels = kernels.filter(|(_, s)| s.is(SymbolKind::KernelDescriptor)).map(|(i, _)| i).collect();
        let note = elf.metadata_note()?;
        let symbol_section = table.map(|t| t.section);
        Ok(Self {
            identity,
            layout,
            symbols,
            symbol_section,
            kernels,
            note,
            by_name: OnceLock::new(),
            metadata: OnceLock::new(),
            bytes,
        })
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &Bytes<'a> {
        &self.bytes
    }

    /// The code object version, from the ELF header.
    pub fn version(&self) -> Version {
        self.identity.version
    }

    /// What the code was compiled for, from the ELF header.
    pub fn target(&self) -> TargetId {
        self.identity.target
    }

    /// Everything that the ELF header says.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The file as a version-5 object, for runtimes from before version 6; `None` if it is not of version 6 or if
    /// it is for a generic target, which version 5 does not have.
    ///
    /// For other targets the versions differ in the number in the header alone (LLVM AMDGPUUsage, "Code Object V6
    /// Metadata").
    pub fn as_version_5(&self) -> Option<Vec<u8>> {
        let identity = self.identity();
        if identity.version != Version::V6 || identity.target.processor.is_generic() {
            return None;
        }
        let mut bytes = self.bytes.to_vec();
        bytes[EI_ABIVERSION] = elf::ABI_V5;
        Some(bytes)
    }

    /// The file with its dynamic symbols declared static, for runtimes that look up no others; `None` if it has
    /// static symbols already, or none of either kind.
    ///
    /// Both tables have one layout, and differ in type and name (ELF, "Symbol Table", "Special Sections").
    /// [`CodeObject::parse`] finds no symbols in what results.
    pub fn with_static_symbols(&self) -> Option<Vec<u8>> {
        let elf = Elf::parse(&self.bytes).ok()?;
        if elf.has_static_symbols() {
            return None;
        }
        let (kind, name) = elf.type_and_name(self.symbol_section?)?;
        let mut bytes = self.bytes.to_vec();
        bytes.get_mut(kind)?.copy_from_slice(&SHT_SYMTAB.to_le_bytes());
        let name = bytes.get_mut(name..)?.get_mut(..elf::DYNAMIC_SYMBOLS_NAME.len())?;
        if name != elf::DYNAMIC_SYMBOLS_NAME {
            return None;
        }
        name.copy_from_slice(elf::STATIC_SYMBOLS_NAME);
        Some(bytes)
    }

    /// The loadable segments, ascending and disjoint.
    pub fn segments(&self) -> &[Segment] {
        &self.layout.segments
    }

    /// The names of the kernels, from the symbol table alone.
    pub fn kernel_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.kernels.iter().map(|&index| kernel_name(self.symbols[index].name(&self.bytes)))
    }

    /// The kernels, in the order of [`kernel_names`](Self::kernel_names).
    ///
    /// Each item is an error if that kernel is malformed, all if the metadata is.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = Result<Kernel<'_>>> {
        self.kernels.iter().map(|&index| self.kernel_at(&self.symbols[index]))
    }

    /// Finds a kernel by its mangled name.
    ///
    /// # Errors
    /// [`Error::NoKernel`] when there is none, and what is wrong with its descriptor or the metadata.
    pub fn kernel(&self, name: &str) -> Result<Kernel<'_>> {
        self.kernel_at(self.kernel_record(name)?)
    }

    /// Reads a kernel's descriptor without the metadata.
    ///
    /// # Errors
    /// [`Error::NoKernel`] when there is none, [`Error::KernelDescriptor`] when it is not in the file.
    pub fn descriptor(&self, name: &str) -> Result<KernelDescriptor> {
        Ok(self.descriptor_at(self.kernel_record(name)?)?.1)
    }

    /// Reads the metadata, the first time that it is asked for.
    ///
    /// # Errors
    /// [`Error::NoMetadata`], [`Error::Metadata`] or [`Error::MetadataVersion`].
    pub fn metadata(&self) -> Result<&Metadata> {
        let parse = || {
            let range = self.note.clone().ok_or(Error::NoMetadata)?;
            let note = self.bytes.get(range.clone()).ok_or(Error::NoMetadata)?;
            Metadata::parse(note, range.start as u64)
        };
        self.metadata.get_or_init(parse).as_ref().map_err(Clone::clone)
    }

    /// The global variables.
    pub fn variables(&self) -> impl Iterator<Item = Variable<'_>> {
        self.symbols().filter_map(|symbol| self.variable_of(symbol))
    }

    /// Finds a global variable by its mangled name.
    pub fn variable(&self, name: &str) -> Option<Variable<'_>> {
        self.variable_of(self.symbol(name)?)
    }

    /// All named symbols of the dynamic symbol table.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.symbol_table().filter(|symbol| !symbol.name.is_empty())
    }

    /// Finds a symbol by name; kernel descriptors are called `<kernel>.kd`.
    pub fn symbol(&self, name: &str) -> Option<Symbol<'_>> {
        Some(self.record(name)?.symbol(&self.bytes))
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn symbol_section(&self) -> Option<usize> {
        self.symbol_section
    }

    /// The dynamic symbol table, as relocations count it: the unnamed symbol 0 is the first.
    pub(crate) fn symbol_table(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.symbols.iter().map(|record| record.symbol(&self.bytes))
    }

    fn record(&self, name: &str) -> Option<&Record> {
        let by_name = self.by_name.get_or_init(|| {
            let named = self.symbols.iter().enumerate().map(|(index, s)| (s.name(&self.bytes), index));
            // A name given twice means the first: later ones must not shadow it.
            named.rev().filter(|(name, _)| !name.is_empty()).map(|(name, i)| (name.into(), i)).collect()
        });
        by_name.get(name).map(|&index| &self.symbols[index])
    }

    fn kernel_record(&self, name: &str) -> Result<&Record> {
        self.record(&format!("{name}.kd"))
            .filter(|record| record.is(SymbolKind::KernelDescriptor))
            .ok_or_else(|| Error::NoKernel { name: name.to_owned() })
    }

    fn descriptor_at(&self, record: &Record) -> Result<(u64, KernelDescriptor)> {
        let read = || {
            let Place::Image(offset) = record.place else { return None };
            let range = self.layout.file_range(offset, KernelDescriptor::BYTES)?;
            let aligned = (self.layout.origin + offset).is_multiple_of(KernelDescriptor::BYTES as u64);
            let bytes = self.bytes.get(range)?.first_chunk()?;
            aligned.then(|| (offset, KernelDescriptor::from_bytes(bytes)))
        };
        let name = || kernel_name(record.name(&self.bytes)).to_owned();
        read().ok_or_else(|| Error::KernelDescriptor { name: name() })
    }

    fn kernel_at<'c>(&'c self, record: &Record) -> Result<Kernel<'c>> {
        let symbol = record.name(&self.bytes);
        let name = kernel_name(symbol);
        let (descriptor_offset, descriptor) = self.descriptor_at(record)?;
        let offset = descriptor_offset.wrapping_add_signed(descriptor.entry_byte_offset);
        // The hardware's program counter register has no low 8 bits; one instruction has at least 4 bytes.
        let aligned = self.layout.origin.wrapping_add(offset).is_multiple_of(256);
        let code = self.layout.segment_at(offset, 4).is_some_and(|segment| segment.protection.execute);
        if !aligned || !code {
            return Err(Error::KernelEntry { name: name.to_owned(), offset });
        }
        let metadata = self.metadata()?.by_symbol(symbol);
        let metadata = metadata.ok_or_else(|| Error::NoKernelMetadata { name: name.to_owned() })?;
        Ok(Kernel { name, descriptor, descriptor_offset, entry_offset: offset, metadata })
    }

    fn variable_of<'c>(&'c self, symbol: Symbol<'c>) -> Option<Variable<'c>> {
        let Symbol { name, kind: SymbolKind::Variable, place: Place::Image(offset), size } = symbol else {
            return None;
        };
        let writable = self.layout.segment_at(offset, size)?.protection.write;
        Some(Variable { name, offset, size, writable })
    }
}

fn kernel_name(symbol: &str) -> &str {
    symbol.strip_suffix(".kd").unwrap_or(symbol)
}
