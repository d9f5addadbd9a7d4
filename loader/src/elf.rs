//! The parts of an AMDGPU ELF file that loading needs, as checked views of its tables.
//!
//! The [`goblin`] crate decodes headers, symbols, relocations and notes. Its `Elf::parse` is not used, because it
//! also reads tables that loading does not need, and neither is its `Strtab`, which copies the place of every
//! string and refuses the whole table for one that is not UTF-8. Each table is known to be inside the file before
//! memory is allocated for it: whatever the file claims, that is a few times the file at most.

use std::mem::offset_of;
use std::ops::Range;

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::header::{
    EI_ABIVERSION, EI_CLASS, EI_DATA, EI_OSABI, EI_VERSION, ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_AMDGPU,
    ET_DYN, EV_CURRENT,
};
use goblin::elf::note::NoteDataIterator;
use goblin::elf::program_header::{PT_NOTE, ProgramHeader};
use goblin::elf::reloc::RelocSection;
use goblin::elf::section_header::{SHT_DYNSYM, SHT_REL, SHT_RELA, SHT_STRTAB, SHT_SYMTAB, SectionHeader};
use goblin::elf::sym::Symtab;
use goblin::elf64::header::{Header, SIZEOF_EHDR};
use goblin::elf64::program_header::SIZEOF_PHDR;
use goblin::elf64::reloc::SIZEOF_RELA;
use goblin::elf64::section_header::{SIZEOF_SHDR, SectionHeader as RawSectionHeader};
use goblin::elf64::sym::SIZEOF_SYM;

use crate::{Error, Feature, Processor, Result, TargetId, wire};

/// How the entries of all tables are encoded: 64-bit, little-endian.
pub(crate) const ENCODING: Ctx = Ctx { container: Container::Big, le: Endian::Little };

/// The ABI version of [`Version::V5`].
pub(crate) const ABI_V5: u8 = 3;

/// The name of the section with symbols that are not for dynamic linking, of the type `SHT_SYMTAB`.
pub(crate) const STATIC_SYMBOLS_NAME: &[u8; 8] = b".symtab\0";
/// The name of the section with the symbols that are for dynamic linking.
pub(crate) const DYNAMIC_SYMBOLS_NAME: &[u8; 8] = b".dynsym\0";

const OSABI_AMDGPU_HSA: u8 = 64;
const NOTE_METADATA: u32 = 32;
/// The type of a section with relocations in compressed form.
const SHT_RELR: u32 = 19;
/// The count of program headers that stands for a count in section 0.
const PN_XNUM: u16 = 0xffff;

/// The layout and metadata version of a code object (LLVM AMDGPUUsage, "ELF Header", `EI_ABIVERSION`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// ABI version 1: `e_flags` says of a feature that it is on, or not.
    V3,
    /// ABI version 2.
    V4,
    /// ABI version 3.
    V5,
    /// ABI version 4: generic targets.
    V6,
}

/// What the ELF header says about a code object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The code object version.
    pub version: Version,
    /// What the code was compiled for.
    pub target: TargetId,
    /// Version of a generic target, 1 to 255; 0 for all others.
    pub generic_version: u8,
    /// The whole `e_flags` word.
    pub e_flags: u32,
}

/// Reads the ELF header, the first 64 bytes, of an AMDGPU shared object.
pub(crate) fn header(data: &[u8]) -> Result<Header> {
    const WHAT: &str = "ELF header";
    if !data.starts_with(ELFMAG) && !ELFMAG.starts_with(data) {
        return Err(Error::unknown_format(data));
    }
    let bytes = wire::array::<SIZEOF_EHDR>(data, 0, WHAT)?;
    // goblin reads the header in the byte order that it claims: every other one is refused first.
    let (kind, machine) = (wire::u16(data, 16, WHAT)?, wire::u16(data, 18, WHAT)?);
    let (class, order) = (bytes[EI_CLASS], bytes[EI_DATA]);
    if (class, order, kind, machine) != (ELFCLASS64, ELFDATA2LSB, ET_DYN, EM_AMDGPU) {
        return Err(Error::NotAmdGpu { class, data: order, kind, machine });
    }
    Header::parse(&bytes).map_err(Error::elf("header"))
}

/// Reads the identity from the ELF header.
pub(crate) fn identity(data: &[u8]) -> Result<Identity> {
    let Header { e_ident, e_flags, .. } = header(data)?;
    let version = match (e_ident[EI_OSABI], e_ident[EI_ABIVERSION]) {
        (OSABI_AMDGPU_HSA, 1) => Version::V3,
        (OSABI_AMDGPU_HSA, 2) => Version::V4,
        (OSABI_AMDGPU_HSA, ABI_V5) => Version::V5,
        (OSABI_AMDGPU_HSA, 4) => Version::V6,
        (os_abi, abi_version) => return Err(Error::UnsupportedAbi { os_abi, abi_version }),
    };
    let [mach, features, _, generic] = e_flags.to_le_bytes();
    let processor = Processor::from_mach(mach).ok_or(Error::UnknownProcessor { e_flags })?;
    let (xnack, sramecc) = if version == Version::V3 {
        let flag = |known, bit| match (known, features & bit != 0) {
            (false, _) => Feature::Any,
            (true, false) => Feature::Off,
            (true, true) => Feature::On,
        };
        (flag(processor.has_xnack(), 1), flag(processor.has_sramecc(), 2))
    } else {
        // 0 is "unsupported", 1 "any": code does not depend on the feature either way.
        let field = |shift: u8| match features >> shift & 3 {
            2 => Feature::Off,
            3 => Feature::On,
            _ => Feature::Any,
        };
        (field(0), field(2))
    };
    let generic_version = if version >= Version::V6 { generic } else { 0 };
    Ok(Identity { version, target: TargetId { processor, xnack, sramecc }, generic_version, e_flags })
}

/// An ELF file whose header and tables of headers are inside the file.
pub(crate) struct Elf<'d> {
    data: &'d [u8],
    header: Header,
    pub(crate) program_headers: Vec<ProgramHeader>,
    sections: Vec<SectionHeader>,
}

/// The dynamic symbol table and its strings.
pub(crate) struct DynamicSymbols<'d> {
    pub(crate) section: usize,
    pub(crate) table: Symtab<'d>,
    pub(crate) strings: Range<usize>,
}

impl<'d> Elf<'d> {
    pub(crate) fn parse(data: &'d [u8]) -> Result<Self> {
        let header = header(data)?;
        if header.e_ident[EI_VERSION] != EV_CURRENT {
            return Err(malformed("header", "unknown version"));
        }
        // ELF, "Section Header": a count of 0 stands for the one in section 0. goblin allocates for no more
        // headers than the file has room for.
        let (at, entry, count) = (header.e_shoff, header.e_shentsize, header.e_shnum.into());
        let sections = headers("section headers", data, at, entry, count, SIZEOF_SHDR, SectionHeader::parse)?;
        // ELF, "ELF Header", e_phnum: a larger count is in section 0.
        let count = match (header.e_phnum, sections.first()) {
            (PN_XNUM, Some(section)) => section.sh_info as usize,
            (count, _) => count.into(),
        };
        // Without an entry, their size says nothing.
        let (at, entry) = if count == 0 { (0, 0) } else { (header.e_phoff, header.e_phentsize) };
        let program_headers =
            headers("program headers", data, at, entry, count, SIZEOF_PHDR, ProgramHeader::parse)?;
        Ok(Self { data, header, program_headers, sections })
    }

    /// Whether a section has the symbols of the static linker, which `strip` takes away.
    pub(crate) fn has_static_symbols(&self) -> bool {
        self.sections.iter().any(|section| section.sh_type == SHT_SYMTAB)
    }

    /// Where the file says of which type a section is, and where its name starts.
    pub(crate) fn type_and_name(&self, section: usize) -> Option<(Range<usize>, usize)> {
        let header = section.checked_mul(SIZEOF_SHDR)?;
        let header = usize::try_from(self.header.e_shoff).ok()?.checked_add(header)?;
        let kind = header.checked_add(offset_of!(RawSectionHeader, sh_type))?;
        let names = self.sections.get(usize::from(self.header.e_shstrndx))?.sh_offset;
        let name = usize::try_from(names).ok()?.checked_add(self.sections.get(section)?.sh_name)?;
        Some((kind..kind.checked_add(size_of::<u32>())?, name))
    }

    /// Finds the dynamic symbol table, which may be absent.
    pub(crate) fn dynamic_symbols(&self) -> Result<Option<DynamicSymbols<'d>>> {
        const TABLE: &str = "dynamic symbols";
        let mut tables = self.sections.iter().enumerate().filter(|(_, s)| s.sh_type == SHT_DYNSYM);
        let Some((index, section)) = tables.next() else { return Ok(None) };
        if tables.next().is_some() {
            return Err(malformed(TABLE, "more than one table"));
        }
        let range = self.table(TABLE, section.sh_offset, section.sh_size, SIZEOF_SYM)?;
        let table = Symtab::parse(self.data, range.start, range.len() / SIZEOF_SYM, ENCODING);
        let table = table.map_err(Error::elf(TABLE))?;
        let strings = self.sections.get(section.sh_link as usize);
        let strings = strings.filter(|s| s.sh_type == SHT_STRTAB);
        let strings = strings.and_then(|s| file_range(s.sh_offset, s.sh_size, self.data.len()));
        let strings = strings.ok_or_else(|| malformed(TABLE, "no string table"))?;
        Ok(Some(DynamicSymbols { section: index, table, strings }))
    }

    /// Iterates over the tables of relocations that the loader must apply, with the index of their symbol
    /// table.
    pub(crate) fn relocations(&self) -> Result<Vec<(usize, RelocSection<'d>)>> {
        const TABLE: &str = "dynamic relocations";
        let mut tables = Vec::new();
        let mut bytes = 0;
        for section in self.sections.iter().filter(|s| s.is_alloc()) {
            match section.sh_type {
                SHT_RELA => {}
                SHT_REL | SHT_RELR => {
                    return Err(malformed(TABLE, "only tables with addends (SHT_RELA) are supported"));
                }
                _ => continue,
            }
            let range = self.table(TABLE, section.sh_offset, section.sh_size, SIZEOF_RELA)?;
            // Tables that overlap would multiply the work beyond what the size of the file allows.
            bytes += range.len();
            if bytes > self.data.len() {
                return Err(malformed(TABLE, "tables overlap"));
            }
            let table = RelocSection::parse(self.data, range.start, range.len(), true, ENCODING);
            tables.push((section.sh_link as usize, table.map_err(Error::elf(TABLE))?));
        }
        Ok(tables)
    }

    /// Finds the descriptor of the metadata note, as a range of the file.
    pub(crate) fn metadata_note(&self) -> Result<Option<Range<usize>>> {
        const TABLE: &str = "notes";
        let mut walked = 0u64;
        for header in self.program_headers.iter().filter(|h| h.p_type == PT_NOTE) {
            walked = walked.saturating_add(header.p_filesz);
            if walked > self.data.len() as u64 {
                return Err(malformed(TABLE, "segments overlap"));
            }
            let range = self.table(TABLE, header.p_offset, header.p_filesz, 1)?;
            let align = usize::try_from(header.p_align).unwrap_or(usize::MAX);
            // The data ends with the segment: goblin reads a last note beyond `size`.
            let (data, size, offset) = (&self.data[..range.end], range.end, range.start);
            for note in (NoteDataIterator { data, size, offset, ctx: (align, ENCODING) }) {
                let note = note.map_err(Error::elf(TABLE))?;
                if note.name == "AMDGPU" && note.n_type == NOTE_METADATA {
                    // The descriptor is a part of the file.
                    let start = note.desc.as_ptr().addr() - self.data.as_ptr().addr();
                    return Ok(Some(start..start + note.desc.len()));
                }
            }
        }
        Ok(None)
    }

    /// Where a table has its entries of `bytes` bytes each; one without entries may say that it is anywhere.
    fn table(&self, table: &'static str, offset: u64, size: u64, bytes: usize) -> Result<Range<usize>> {
        let range = if size == 0 { Some(0..0) } else { file_range(offset, size, self.data.len()) };
        let whole = range.filter(|range| range.len().is_multiple_of(bytes));
        whole.ok_or_else(|| malformed(table, "not whole entries inside the file"))
    }
}

/// Reads a table of headers, after a check that the file has all of it: goblin allocates by the count.
fn headers<T>(
    table: &'static str,
    data: &[u8],
    offset: u64,
    entry: u16,
    count: usize,
    bytes: usize,
    parse: impl FnOnce(&[u8], usize, usize, Ctx) -> goblin::error::Result<Vec<T>>,
) -> Result<Vec<T>> {
    if offset == 0 {
        return Ok(Vec::new());
    }
    let range = file_range(offset, bytes as u64 * count as u64, data.len());
    let range = range.filter(|_| usize::from(entry) == bytes);
    let range = range.ok_or_else(|| malformed(table, "not whole entries inside the file"))?;
    parse(data, range.start, count, ENCODING).map_err(Error::elf(table))
}

pub(crate) fn malformed(table: &'static str, detail: &str) -> Error {
    Error::Elf { table, detail: detail.to_owned() }
}

/// The part of a file that has `size` bytes from `offset` on, if the file has them.
pub(crate) fn file_range(offset: u64, size: u64, file_len: usize) -> Option<Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    (end <= file_len).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(abi: u8, e_flags: u32) -> [u8; SIZEOF_EHDR] {
        let mut bytes = [0; SIZEOF_EHDR];
        bytes[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 64, abi]);
        bytes[16..20].copy_from_slice(&[3, 0, 224, 0]);
        bytes[48..52].copy_from_slice(&e_flags.to_le_bytes());
        bytes
    }

    #[test]
    fn the_target_comes_from_e_flags() {
        for (abi, e_flags, target, generic) in [
            (2, 0x53f, "gfx90a", 0),
            (3, 0x63f, "gfx90a:xnack-", 0),
            (4, 0x54c, "gfx942", 0),
            (4, 0xf3f, "gfx90a:sramecc+:xnack+", 0),
            (4, 0xa4c, "gfx942:sramecc-:xnack-", 0),
            (4, 0x36, "gfx1030", 0),
            (4, 0x0100_0151, "gfx9-generic", 1),
            (4, 0x0700_055f, "gfx9-4-generic", 7),
        ] {
            let identity = identity(&header(abi, e_flags)).unwrap();
            assert_eq!(identity.target.to_string(), target);
            assert_eq!(identity.generic_version, generic);
        }
    }

    #[test]
    fn version_3_flags_say_on_or_off() {
        for (e_flags, target) in
            [(0x2f, "gfx906:sramecc-:xnack-"), (0x32f, "gfx906:sramecc+:xnack+"), (0x12c, "gfx900:xnack+")]
        {
            let identity = identity(&header(1, e_flags)).unwrap();
            assert_eq!((identity.version, identity.target.to_string()), (Version::V3, target.to_owned()));
        }
    }

    #[test]
    fn other_files_are_refused_by_name() {
        let mut x86 = header(4, 0x53f);
        x86[18] = 62;
        assert!(matches!(identity(&x86), Err(Error::NotAmdGpu { machine: 62, .. })));
        let mut relocatable = header(4, 0x53f);
        relocatable[16] = 1;
        assert!(matches!(identity(&relocatable), Err(Error::NotAmdGpu { kind: 1, .. })));
        assert_eq!(identity(&header(0, 0)), Err(Error::UnsupportedAbi { os_abi: 64, abi_version: 0 }));
        assert_eq!(identity(&header(5, 0)), Err(Error::UnsupportedAbi { os_abi: 64, abi_version: 5 }));
        assert_eq!(identity(&header(4, 0xff)), Err(Error::UnknownProcessor { e_flags: 0xff }));
        assert!(matches!(identity(&header(4, 0x53f)[..63]), Err(Error::Truncated { .. })));
    }
}
