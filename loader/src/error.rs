use crate::TargetId;

/// A [`Result`](std::result::Result) whose error is the loader's.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with a container, a code object or a request, and where.
///
/// Offsets are bytes from the start of the slice that was parsed, unless the variant says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The first bytes are neither an ELF file nor an offload bundle.
    #[error("neither a code object nor an offload bundle: starts with {magic:02x?}")]
    UnknownFormat {
        /// The first bytes, zero filled when there are fewer than four.
        magic: [u8; 4],
    },
    /// The file ends inside a structure.
    #[error("{what} at offset {offset:#x} needs {needed} bytes, {available} are left")]
    Truncated {
        /// The structure that is cut off.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// Its length in bytes.
        needed: u64,
        /// The bytes that are left from `offset` on.
        available: u64,
    },
    /// The file is an ELF file, but not of AMDGPU's class, byte order, machine or type.
    #[error("not an AMDGPU shared object: class {class}, data {data}, type {kind}, machine {machine}")]
    NotAmdGpu {
        /// `e_ident[EI_CLASS]`; 2 is right.
        class: u8,
        /// `e_ident[EI_DATA]`; 1 is right.
        data: u8,
        /// `e_type`; 3 is right.
        kind: u16,
        /// `e_machine`; 224 is right.
        machine: u16,
    },
    /// The ELF file is for another operating system ABI, or for a code object version that is not supported.
    #[error(
        "unsupported ELF ABI: OSABI {os_abi}, version {abi_version} (code objects v3 to v6 are 64, 1 to 4)"
    )]
    UnsupportedAbi {
        /// `e_ident[EI_OSABI]`; 64 is right.
        os_abi: u8,
        /// `e_ident[EI_ABIVERSION]`; 1 to 4 are right.
        abi_version: u8,
    },
    /// `e_flags` names a processor that the loader does not know.
    #[error("unknown processor in e_flags {e_flags:#010x}")]
    UnknownProcessor {
        /// The whole `e_flags` word.
        e_flags: u32,
    },
    /// A table of the ELF file is malformed.
    #[error("malformed ELF {table}: {detail}")]
    Elf {
        /// The table: "header", "section headers", "dynamic symbols", ...
        table: &'static str,
        /// What the ELF reader says.
        detail: String,
    },
    /// There is no loadable segment.
    #[error("the code object has no loadable segment")]
    NoSegments,
    /// A loadable segment reaches past the end of the file.
    #[error("segment {index} reaches past the end of the file")]
    SegmentOutsideFile {
        /// Index among the program headers.
        index: usize,
    },
    /// A loadable segment's sizes contradict each other, or its addresses wrap around.
    #[error("segment {index} has contradicting sizes")]
    SegmentSize {
        /// Index among the program headers.
        index: usize,
    },
    /// A loadable segment's alignment is no power of two, too large, or not kept by its address.
    #[error("segment {index} is misaligned")]
    SegmentMisaligned {
        /// Index among the program headers.
        index: usize,
    },
    /// Two loadable segments share memory.
    #[error("segment {index} overlaps another one")]
    SegmentOverlap {
        /// Index among the program headers.
        index: usize,
    },
    /// The code object wants more memory than [`Limits`](crate::Limits) allows.
    #[error("the loaded image has {bytes} bytes, the limit is {limit}")]
    ImageTooLarge {
        /// What it wants.
        bytes: u64,
        /// What is allowed.
        limit: u64,
    },
    /// A symbol's name is not in the string table, or is not UTF-8.
    #[error("symbol {index} has no readable name")]
    SymbolName {
        /// Index in the dynamic symbol table.
        index: usize,
    },
    /// A symbol's bytes are not inside one loadable segment.
    #[error("symbol {name} lies outside the loadable segments")]
    SymbolOutsideImage {
        /// The symbol.
        name: String,
    },
    /// The code object has no kernel of this name.
    #[error("no kernel {name:?} in the code object")]
    NoKernel {
        /// The name asked for.
        name: String,
    },
    /// A kernel descriptor is not 64 readable bytes at a multiple of 64.
    #[error("the descriptor of kernel {name:?} is not 64 aligned bytes of the file")]
    KernelDescriptor {
        /// The kernel.
        name: String,
    },
    /// A kernel's entry point is not 256-byte aligned code.
    #[error("the entry of kernel {name:?} at image offset {offset:#x} is not aligned code")]
    KernelEntry {
        /// The kernel.
        name: String,
        /// Where the descriptor says that the code starts, relative to the image.
        offset: u64,
    },
    /// The code object has no AMDGPU metadata note.
    #[error("the code object has no AMDGPU metadata note")]
    NoMetadata,
    /// The metadata note is not the MessagePack document that it should be.
    #[error("malformed metadata in the note at offset {offset:#x}: {detail}")]
    Metadata {
        /// Where the note's descriptor starts.
        offset: u64,
        /// What the MessagePack reader says.
        detail: String,
    },
    /// The metadata has a major version other than 1.
    #[error("unsupported metadata version {major}.{minor}")]
    MetadataVersion {
        /// First integer of `amdhsa.version`.
        major: u32,
        /// Second integer of `amdhsa.version`.
        minor: u32,
    },
    /// A kernel has a descriptor, but the metadata does not mention it.
    #[error("kernel {name:?} has no metadata")]
    NoKernelMetadata {
        /// The kernel.
        name: String,
    },
    /// A relocation is of a type that loading does not know.
    #[error("unsupported relocation {name} ({kind}) at image offset {offset:#x}")]
    UnsupportedRelocation {
        /// `R_AMDGPU_*` number.
        kind: u32,
        /// `R_AMDGPU_*` name, or "unknown".
        name: &'static str,
        /// Place to patch, relative to the image.
        offset: u64,
    },
    /// A relocation patches bytes outside every segment.
    #[error("relocation at address {address:#x} lies outside the loadable segments")]
    RelocationOutsideImage {
        /// `r_offset`.
        address: u64,
    },
    /// A relocation names a symbol that does not exist.
    #[error("relocation at image offset {offset:#x} names symbol {index}, which does not exist")]
    RelocationSymbol {
        /// Place to patch, relative to the image.
        offset: u64,
        /// Index in the dynamic symbol table.
        index: u32,
    },
    /// An undefined symbol was not resolved.
    #[error("undefined symbol {name:?} at image offset {offset:#x}")]
    Unresolved {
        /// The symbol.
        name: String,
        /// Place to patch, relative to the image.
        offset: u64,
    },
    /// The memory given for the image has not the size that the plan asks for.
    #[error("the image has {expected} bytes, the memory given has {actual}")]
    ImageLength {
        /// What the plan asks for.
        expected: u64,
        /// What was given.
        actual: u64,
    },
    /// The base address does not keep the image's alignment, or the image wraps around there.
    #[error("an image of alignment {align:#x} cannot be loaded at {base:#x}")]
    BadBase {
        /// The address given.
        base: u64,
        /// What the plan asks for.
        align: u64,
    },
    /// The host has no memory left.
    #[error("cannot allocate {bytes} bytes")]
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
    },
    /// A bundle's entry lies outside the bundle, or its id is not text.
    #[error("entry {index} of the bundle, described at offset {offset:#x}, is malformed")]
    BundleEntry {
        /// Index of the entry.
        index: u64,
        /// Where its description starts.
        offset: u64,
    },
    /// A bundle claims more entries than any compiler writes.
    #[error("the bundle claims {entries} entries")]
    BundleEntries {
        /// The claim.
        entries: u64,
    },
    /// A compressed bundle has a version other than 1, 2 or 3.
    #[error("unsupported compressed bundle version {version}")]
    CompressedVersion {
        /// The version.
        version: u16,
    },
    /// A compressed bundle is compressed by another method than zlib (0) or zstd (1).
    #[error("unsupported compression method {method}")]
    CompressedMethod {
        /// The method.
        method: u16,
    },
    /// A compressed bundle's header contradicts itself.
    #[error("a compressed bundle of {bytes} bytes cannot hold its own header")]
    CompressedSize {
        /// The size that the header gives for the whole.
        bytes: u64,
    },
    /// A compressed bundle would grow beyond [`Limits`](crate::Limits).
    #[error("the bundle decompresses to {bytes} bytes, the limit is {limit}")]
    DecompressedTooLarge {
        /// The size that the header gives.
        bytes: u64,
        /// What is allowed.
        limit: u64,
    },
    /// A compressed bundle decompresses to another size than its header says.
    #[error("the bundle should decompress to {expected} bytes, not {actual}")]
    DecompressedSize {
        /// What the header says.
        expected: u64,
        /// What came out; counting stops one byte beyond `expected`.
        actual: u64,
    },
    /// A compressed bundle's data is corrupt.
    #[error("cannot decompress the bundle: {detail}")]
    Decompress {
        /// What the decompressor says.
        detail: String,
    },
    /// The length of the data cannot be known from its header.
    #[error("a zlib-compressed bundle of version 1 does not say how long it is")]
    UnknownExtent,
    /// The wrapper of a fat binary has another magic number or version.
    #[error("not a fat binary wrapper: magic {magic:#010x}, version {version}")]
    Wrapper {
        /// First word.
        magic: u32,
        /// Second word.
        version: u32,
    },
    /// A target id cannot be read.
    #[error("cannot read the target id {text:?}")]
    TargetId {
        /// The text.
        text: String,
    },
    /// A bundle has nothing that runs on the device.
    #[error("no code for {device}; the bundle has: {}", list(.available))]
    NoMatch {
        /// The device.
        device: TargetId,
        /// The ids of the bundle's entries, in order; for code objects also what their `e_flags` say.
        available: Vec<String>,
    },
}

fn list(available: &[String]) -> String {
    if available.is_empty() { "nothing".to_owned() } else { available.join(", ") }
}

impl Error {
    pub(crate) fn unknown_format(bytes: &[u8]) -> Self {
        let mut magic = [0; 4];
        magic.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Self::UnknownFormat { magic }
    }

    pub(crate) fn elf(table: &'static str) -> impl FnOnce(goblin::error::Error) -> Self {
        move |e| Self::Elf { table, detail: e.to_string() }
    }
}
