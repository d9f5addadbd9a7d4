use std::cell::LazyCell;

use crate::elf::{Elf, malformed};
use crate::segment::Segment;
use crate::{CodeObject, Error, Limits, Place, Result, Symbol};

const R_AMDGPU_NONE: u32 = 0;
const R_AMDGPU_ABS64: u32 = 3;
const R_AMDGPU_RELATIVE64: u32 = 13;

/// Names by number (LLVM AMDGPUUsage, "Relocation Records"); 12 is not in use.
const NAMES: [&str; 15] = [
    "R_AMDGPU_NONE",
    "R_AMDGPU_ABS32_LO",
    "R_AMDGPU_ABS32_HI",
    "R_AMDGPU_ABS64",
    "R_AMDGPU_REL32",
    "R_AMDGPU_REL64",
    "R_AMDGPU_ABS32",
    "R_AMDGPU_GOTPCREL",
    "R_AMDGPU_GOTPCREL32_LO",
    "R_AMDGPU_GOTPCREL32_HI",
    "R_AMDGPU_REL32_LO",
    "R_AMDGPU_REL32_HI",
    "unknown",
    "R_AMDGPU_RELATIVE64",
    "R_AMDGPU_REL16",
];

/// What to do to place a code object in memory.
///
/// The plan itself does not touch memory that a device sees: [`write`](Self::write) fills a slice. The
/// owner of the device's memory gives that slice, or copies it there.
#[derive(Debug)]
pub struct LoadPlan<'c> {
    object: &'c CodeObject<'c>,
    relocations: Vec<Relocation<'c>>,
}

/// Eight bytes of the image that depend on where it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation<'c> {
    /// Image offset of the eight bytes.
    pub offset: u64,
    /// What they become.
    pub value: RelocatedValue<'c>,
}

/// The value that a relocation stores, little-endian; sums wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocatedValue<'c> {
    /// The image's address plus this offset.
    Image(u64),
    /// This value, wherever the image is.
    Absolute(u64),
    /// The address of a symbol that is defined elsewhere, plus an addend.
    External {
        /// The symbol's name.
        name: &'c str,
        /// What is added to its address.
        addend: i64,
        /// The address is 0 if no code object defines the symbol.
        weak: bool,
    },
}

impl CodeObject<'_> {
    /// Plans how to place the code object in memory.
    ///
    /// # Errors
    /// [`Error::ImageTooLarge`], and what is wrong with the relocations.
    pub fn load_plan(&self, limits: &Limits) -> Result<LoadPlan<'_>> {
        LoadPlan::new(self, limits)
    }
}

impl<'c> LoadPlan<'c> {
    fn new(object: &'c CodeObject<'_>, limits: &Limits) -> Result<Self> {
        let bytes = object.layout().size;
        let limit = limits.image_bytes.min(isize::MAX as u64);
        if bytes > limit {
            return Err(Error::ImageTooLarge { bytes, limit });
        }
        Ok(Self { object, relocations: relocations(object)? })
    }

    /// Bytes of the image, a multiple of [`align`](Self::align).
    pub fn size(&self) -> u64 {
        self.object.layout().size
    }

    /// Alignment of the image's address in bytes: a power of two, one page as a rule.
    pub fn align(&self) -> u64 {
        self.object.layout().align
    }

    /// The segments: where bytes of the file go, what is zero, and which protection the memory wants
    /// afterwards.
    pub fn segments(&self) -> &'c [Segment] {
        self.object.segments()
    }

    /// The relocations that [`write`](Self::write) applies.
    pub fn relocations(&self) -> &[Relocation<'c>] {
        &self.relocations
    }

    /// Writes the image that belongs at address `base`: bytes of the file, zeros, relocated addresses.
    ///
    /// `resolve` gives the address of a symbol that is defined elsewhere.
    ///
    /// # Errors
    /// [`Error::ImageLength`], [`Error::BadBase`] or [`Error::Unresolved`]; `image` is then half written.
    pub fn write(&self, image: &mut [u8], base: u64, resolve: impl Fn(&str) -> Option<u64>) -> Result<()> {
        if image.len() as u64 != self.size() {
            return Err(Error::ImageLength { expected: self.size(), actual: image.len() as u64 });
        }
        if !base.is_multiple_of(self.align()) || base.checked_add(self.size()).is_none() {
            return Err(Error::BadBase { base, align: self.align() });
        }
        let mut written = 0;
        for segment in self.segments() {
            // CAST: the image's size, and so every offset in it, fits the slice.
            let start = segment.offset as usize;
            let file = self.object.bytes().get(segment.file.clone()).unwrap_or_default();
            image[written..start].fill(0);
            written = start + file.len();
            image[start..written].copy_from_slice(file);
        }
        image[written..].fill(0);

        for &Relocation { offset, value } in &self.relocations {
            let value = match value {
                RelocatedValue::Image(offset) => base.wrapping_add(offset),
                RelocatedValue::Absolute(value) => value,
                RelocatedValue::External { name, addend, weak } => match resolve(name) {
                    Some(address) => address.wrapping_add_signed(addend),
                    None if weak => addend as u64,
                    None => return Err(Error::Unresolved { name: name.to_owned(), offset }),
                },
            };
            // CAST: as above.
            let offset = offset as usize;
            image[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    /// Returns the image that belongs at address `base`, as [`write`](Self::write) fills it.
    ///
    /// # Errors
    /// Those of [`write`](Self::write), and [`Error::OutOfMemory`].
    pub fn image(&self, base: u64, resolve: impl Fn(&str) -> Option<u64>) -> Result<Vec<u8>> {
        let mut image = Vec::new();
        // CAST: the size was limited to isize::MAX.
        let size = self.size() as usize;
        image.try_reserve_exact(size).map_err(|_| Error::OutOfMemory { bytes: self.size() })?;
        image.resize(size, 0);
        self.write(&mut image, base, resolve)?;
        Ok(image)
    }
}

fn relocations<'c>(object: &'c CodeObject<'_>) -> Result<Vec<Relocation<'c>>> {
    let elf = Elf::parse(object.bytes())?;
    let layout = object.layout();
    // Once for all relocations: each of them could want the longest name.
    let symbol_table = LazyCell::new(|| object.symbol_table().collect::<Vec<_>>());
    let mut relocations = Vec::new();
    for (symbols, table) in elf.relocations()? {
        if !table.is_empty() && object.symbol_section() != Some(symbols) {
            return Err(malformed("dynamic relocations", "not tied to the dynamic symbols"));
        }
        relocations.reserve(table.len());
        for entry in &table {
            let (address, addend) = (entry.r_offset, entry.r_addend.unwrap_or_default());
            let offset = layout.locate(address, 8).ok_or(Error::RelocationOutsideImage { address })?;
            let value = match entry.r_type {
                R_AMDGPU_NONE => continue,
                // CAST: a relative addend is an address as linked, not a difference.
                R_AMDGPU_RELATIVE64 => RelocatedValue::Image((addend as u64).wrapping_sub(layout.origin)),
                R_AMDGPU_ABS64 => absolute(&symbol_table, offset, entry.r_sym, addend)?,
                kind => {
                    let name = NAMES.get(kind as usize).copied().unwrap_or("unknown");
                    return Err(Error::UnsupportedRelocation { kind, name, offset });
                }
            };
            relocations.push(Relocation { offset, value });
        }
    }
    Ok(relocations)
}

fn absolute<'c>(
    symbols: &[Symbol<'c>],
    offset: u64,
    index: usize,
    addend: i64,
) -> Result<RelocatedValue<'c>> {
    // CAST: 32 bits in the file.
    let missing = Error::RelocationSymbol { offset, index: index as u32 };
    let symbol = symbols.get(index).ok_or(missing)?;
    Ok(match symbol.place {
        // ELF, "Symbol Table": index 0 stands for no symbol, with the value 0.
        _ if index == 0 => RelocatedValue::Absolute(addend as u64),
        Place::Image(at) => RelocatedValue::Image(at.wrapping_add_signed(addend)),
        Place::Absolute(value) => RelocatedValue::Absolute(value.wrapping_add_signed(addend)),
        Place::Undefined { weak } => RelocatedValue::External { name: symbol.name, addend, weak },
    })
}
