//! The parts of an AMDGPU ELF file that loading needs, as checked views of its tables.
//!
//! The [`object`] crate reads the tables without copying; whatever the file claims, no more is allocated than
//! the file has bytes.

use std::mem::offset_of;
use std::ops::Range;

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};

use crate::{Error, Feature, Processor, Result, TargetId, wire};

pub(crate) type ProgramHeader = elf::ProgramHeader64<LE>;
pub(crate) type SectionHeader = elf::SectionHeader64<LE>;
pub(crate) type Symbol = elf::Sym64<LE>;
pub(crate) type Relocation = elf::Rela64<LE>;

pub(crate) const MAGIC: [u8; 4] = *b"\x7fELF";
/// The first 64 bytes of the file: all that the target of a code object depends on.
pub(crate) const HEADER_BYTES: usize = 64;

/// Where the header has its ABI version.
pub(crate) const EI_ABIVERSION: usize = 8;
/// The ABI version of [`Version::V5`].
pub(crate) const ABI_V5: u8 = 3;

/// The type of a section with symbols that are not for dynamic linking.
pub(crate) const STATIC_SYMBOLS: u32 = elf::SHT_SYMTAB.0;

const EM_AMDGPU: u16 = 224;
const ET_DYN: u16 = 3;
const OSABI_AMDGPU_HSA: u8 = 64;
const NOTE_METADATA: u32 = 32;

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

/// Reads the identity from the ELF header, the first 64 bytes.
pub(crate) fn identity(data: &[u8]) -> Result<Identity> {
    const WHAT: &str = "ELF header";
    if !data.starts_with(&MAGIC) && !MAGIC.starts_with(data) {
        return Err(Error::unknown_format(data));
    }
    let ident = wire::array::<HEADER_BYTES>(data, 0, WHAT)?;
    let (kind, machine) = (wire::u16(data, 16, WHAT)?, wire::u16(data, 18, WHAT)?);
    let (class, order) = (ident[4], ident[5]);
    if (class, order, kind, machine) != (2, 1, ET_DYN, EM_AMDGPU) {
        return Err(Error::NotAmdGpu { class, data: order, kind, machine });
    }
    let version = match (ident[7], ident[EI_ABIVERSION]) {
        (OSABI_AMDGPU_HSA, 1) => Version::V3,
        (OSABI_AMDGPU_HSA, 2) => Version::V4,
        (OSABI_AMDGPU_HSA, ABI_V5) => Version::V5,
        (OSABI_AMDGPU_HSA, 4) => Version::V6,
        (os_abi, abi_version) => return Err(Error::UnsupportedAbi { os_abi, abi_version }),
    };
    let e_flags = wire::u32(data, 48, WHAT)?;
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
    pub(crate) program_headers: &'d [ProgramHeader],
    pub(crate) sections: &'d [SectionHeader],
}

/// The dynamic symbol table and its strings.
pub(crate) struct DynamicSymbols<'d> {
    pub(crate) section: usize,
    pub(crate) table: &'d [Symbol],
    pub(crate) strings: Range<usize>,
}

impl<'d> Elf<'d> {
    pub(crate) fn parse(data: &'d [u8]) -> Result<Self> {
        let header = elf::FileHeader64::<LE>::parse(data).map_err(Error::elf("header"))?;
        let program_headers = header.program_headers(LE, data).map_err(Error::elf("program headers"))?;
        let sections = header.section_headers(LE, data).map_err(Error::elf("section headers"))?;
        Ok(Self { data, program_headers, sections })
    }

    /// Whether a section has the symbols of the static linker, which `strip` takes away.
    pub(crate) fn has_static_symbols(&self) -> bool {
        self.sections.iter().any(|section| section.sh_type(LE) == elf::SHT_SYMTAB)
    }

    /// The bytes of the file that say of which type a section is.
    pub(crate) fn type_of_section(&self, section: usize) -> Option<Range<usize>> {
        let headers = elf::FileHeader64::<LE>::parse(self.data).ok()?.e_shoff(LE);
        let header = section.checked_mul(size_of::<SectionHeader>())?;
        let place = usize::try_from(headers).ok()?.checked_add(header)?;
        let place = place.checked_add(offset_of!(SectionHeader, sh_type))?;
        Some(place..place.checked_add(size_of::<u32>())?)
    }

    /// Finds the dynamic symbol table, which may be absent.
    pub(crate) fn dynamic_symbols(&self) -> Result<Option<DynamicSymbols<'d>>> {
        const TABLE: &str = "dynamic symbols";
        let mut tables = self.sections.iter().enumerate().filter(|(_, s)| s.sh_type(LE) == elf::SHT_DYNSYM);
        let Some((index, section)) = tables.next() else { return Ok(None) };
        if tables.next().is_some() {
            return Err(Error::Elf { table: TABLE, detail: "more than one table".to_owned() });
        }
        let table = section.data_as_array(LE, self.data).map_err(Error::elf(TABLE))?;
        let strings = self.sections.get(section.sh_link(LE) as usize);
        let strings = strings.filter(|s| s.sh_type(LE) == elf::SHT_STRTAB);
        let strings = strings.and_then(|s| s.file_range(LE)).and_then(|(offset, size)| {
            let start = usize::try_from(offset).ok()?;
            let end = start.checked_add(usize::try_from(size).ok()?)?;
            (end <= self.data.len()).then_some(start..end)
        });
        let detail = || "no string table".to_owned();
        let strings = strings.ok_or_else(|| Error::Elf { table: TABLE, detail: detail() })?;
        Ok(Some(DynamicSymbols { section: index, table, strings }))
    }

    /// Iterates over the tables of relocations that the loader must apply, with the index of their symbol
    /// table.
    pub(crate) fn relocations(&self) -> Result<Vec<(usize, &'d [Relocation])>> {
        const TABLE: &str = "dynamic relocations";
        let mut tables = Vec::new();
        let mut bytes = 0;
        for section in self.sections.iter().filter(|s| s.sh_flags(LE).contains(elf::SHF_ALLOC)) {
            match section.sh_type(LE) {
                elf::SHT_RELA => {}
                elf::SHT_REL | elf::SHT_RELR => {
                    let detail = "only tables with addends (SHT_RELA) are supported".to_owned();
                    return Err(Error::Elf { table: TABLE, detail });
                }
                _ => continue,
            }
            let table: &[Relocation] = section.data_as_array(LE, self.data).map_err(Error::elf(TABLE))?;
            // Tables that overlap would multiply the work beyond what the size of the file allows.
            bytes += size_of_val(table);
            if bytes > self.data.len() {
                return Err(Error::Elf { table: TABLE, detail: "tables overlap".to_owned() });
            }
            tables.push((section.sh_link(LE) as usize, table));
        }
        Ok(tables)
    }

    /// Finds the descriptor of the metadata note, as a range of the file.
    pub(crate) fn metadata_note(&self) -> Result<Option<Range<usize>>> {
        const TABLE: &str = "notes";
        let mut walked = 0u64;
        for header in self.program_headers.iter().filter(|h| h.p_type(LE) == elf::PT_NOTE) {
            walked = walked.saturating_add(header.p_filesz(LE));
            if walked > self.data.len() as u64 {
                return Err(Error::Elf { table: TABLE, detail: "segments overlap".to_owned() });
            }
            let mut notes = header.notes(LE, self.data).map_err(Error::elf(TABLE))?;
            while let Some(notes) = &mut notes
                && let Some(note) = notes.next().map_err(Error::elf(TABLE))?
            {
                if note.name() == b"AMDGPU" && note.n_type(LE).0 == NOTE_METADATA {
                    // Both point into the file; an empty note may point anywhere.
                    let start = note.desc().as_ptr().addr().checked_sub(self.data.as_ptr().addr());
                    return Ok(start.map(|start| start..start + note.desc().len()));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(abi: u8, e_flags: u32) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
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
