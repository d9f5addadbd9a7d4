//! The metadata note: a MessagePack document (LLVM AMDGPUUsage, "Code Object Metadata").

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use crate::{Error, Result};

/// Nesting beyond this is no metadata, only an attack on the stack; real documents nest 5 deep.
const MAX_DEPTH: usize = 32;

/// What the compiler tells about a code object's kernels.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// `amdhsa.version`: `[1, 0]` is code object v3, `[1, 1]` v4, `[1, 2]` v5 and v6.
    pub version: (u32, u32),
    /// `amdhsa.target`, for information only: its spelling varies, the target is in the ELF header.
    pub target: Option<Box<str>>,
    /// `amdhsa.printf`: encoded format strings.
    pub printf: Vec<Box<str>>,
    /// The kernels, in the compiler's order.
    pub kernels: Vec<KernelMetadata>,
    by_symbol: HashMap<Box<str>, usize>,
}

/// What the compiler tells about one kernel. Sizes are in bytes, counts in registers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct KernelMetadata {
    /// Source name, as mangled.
    #[serde(rename = ".name")]
    pub name: Box<str>,
    /// Name of the kernel descriptor's symbol.
    #[serde(rename = ".symbol")]
    pub symbol: Box<str>,
    /// Arguments by offset, hidden ones included.
    #[serde(rename = ".args", default)]
    pub args: Vec<Arg>,
    /// Size of the kernel-argument segment.
    #[serde(rename = ".kernarg_segment_size")]
    pub kernarg_segment_size: u32,
    /// Alignment of the kernel-argument segment.
    #[serde(rename = ".kernarg_segment_align")]
    pub kernarg_segment_align: u32,
    /// Group memory (LDS) allocated statically.
    #[serde(rename = ".group_segment_fixed_size")]
    pub group_segment_fixed_size: u32,
    /// Private memory (scratch) per work-item, without dynamic stack.
    #[serde(rename = ".private_segment_fixed_size")]
    pub private_segment_fixed_size: u32,
    /// Lanes of a wavefront.
    #[serde(rename = ".wavefront_size")]
    pub wavefront_size: u32,
    /// Scalar registers.
    #[serde(rename = ".sgpr_count", default)]
    pub sgpr_count: u32,
    /// Vector registers, accumulation registers included where they share a file.
    #[serde(rename = ".vgpr_count", default)]
    pub vgpr_count: u32,
    /// Accumulation registers.
    #[serde(rename = ".agpr_count", default)]
    pub agpr_count: u32,
    /// Scalar registers spilled.
    #[serde(rename = ".sgpr_spill_count", default)]
    pub sgpr_spill_count: u32,
    /// Vector registers spilled.
    #[serde(rename = ".vgpr_spill_count", default)]
    pub vgpr_spill_count: u32,
    /// Largest number of work-items in a workgroup.
    #[serde(rename = ".max_flat_workgroup_size")]
    pub max_flat_workgroup_size: u32,
    /// The only workgroup size allowed, in x, y and z, unless it is absent or all zero.
    #[serde(rename = ".reqd_workgroup_size", default)]
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// The workgroup size that the code is tuned for.
    #[serde(rename = ".workgroup_size_hint", default)]
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// Whether the stack may grow beyond the fixed private size; known from code object v5 on, and before
    /// from the descriptor alone.
    #[serde(rename = ".uses_dynamic_stack", default)]
    pub uses_dynamic_stack: bool,
    /// Nonzero when every dimension of the grid must be a multiple of the workgroup's.
    #[serde(rename = ".uniform_work_group_size", default)]
    pub uniform_work_group_size: u32,
    /// Source language, "OpenCL C" for HIP too.
    #[serde(rename = ".language", default)]
    pub language: Option<Box<str>>,
    /// Version of the source language.
    #[serde(rename = ".language_version", default)]
    pub language_version: Option<(u32, u32)>,
    /// Role of the kernel: absent or "normal", "init", "fini".
    #[serde(rename = ".kind", default)]
    pub kind: Option<Box<str>>,
}

/// One kernel argument. Offset and size are in bytes of the kernel-argument segment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Arg {
    /// Where it is.
    #[serde(rename = ".offset")]
    pub offset: u32,
    /// How long it is.
    #[serde(rename = ".size")]
    pub size: u32,
    /// What it is.
    #[serde(rename = ".value_kind")]
    pub value_kind: ValueKind,
    /// Name in the source; rarely given.
    #[serde(rename = ".name", default)]
    pub name: Option<Box<str>>,
    /// Address space that a pointer points to.
    #[serde(rename = ".address_space", default)]
    pub address_space: Option<AddressSpace>,
    /// How the source declares the access through it.
    #[serde(rename = ".access", default)]
    pub access: Option<Access>,
    /// How the code really accesses memory through it.
    #[serde(rename = ".actual_access", default)]
    pub actual_access: Option<Access>,
    /// Alignment of what a pointer to dynamic group memory points to.
    #[serde(rename = ".pointee_align", default)]
    pub pointee_align: Option<u32>,
}

/// Declares an enum that is read from strings, with a last variant that keeps unknown ones.
macro_rules! names {
    ($(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type {
            $($(#[$doc])* $variant,)*
            /// One that this version of the loader does not know.
            Other(Box<str>),
        }

        impl $type {
            /// The spelling in the metadata.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $type {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    _ => Self::Other(text.into()),
                }
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text).map(|text| Self::from(&*text))
            }
        }
    };
}

names! {
    /// What a kernel argument holds (`.value_kind`); those called hidden are filled in by the runtime.
    ValueKind {
        /// The argument itself.
        ByValue = "by_value",
        /// A pointer to global memory.
        GlobalBuffer = "global_buffer",
        /// A pointer to group memory, allocated at launch.
        DynamicSharedPointer = "dynamic_shared_pointer",
        /// A pointer to a sampler descriptor.
        Sampler = "sampler",
        /// A pointer to an image descriptor.
        Image = "image",
        /// A pointer to an OpenCL pipe.
        Pipe = "pipe",
        /// A pointer to an OpenCL queue.
        Queue = "queue",
        /// Offset of the grid in x.
        HiddenGlobalOffsetX = "hidden_global_offset_x",
        /// Offset of the grid in y.
        HiddenGlobalOffsetY = "hidden_global_offset_y",
        /// Offset of the grid in z.
        HiddenGlobalOffsetZ = "hidden_global_offset_z",
        /// Space that is not used.
        HiddenNone = "hidden_none",
        /// A pointer to the printf buffer.
        HiddenPrintfBuffer = "hidden_printf_buffer",
        /// A pointer to the hostcall buffer.
        HiddenHostcallBuffer = "hidden_hostcall_buffer",
        /// A pointer to the default queue of device-side enqueue.
        HiddenDefaultQueue = "hidden_default_queue",
        /// A pointer that links enqueued kernels to their parent.
        HiddenCompletionAction = "hidden_completion_action",
        /// A pointer to the state of a multi-grid barrier.
        HiddenMultigridSyncArg = "hidden_multigrid_sync_arg",
        /// Workgroups of the grid in x, partial ones left out.
        HiddenBlockCountX = "hidden_block_count_x",
        /// Workgroups of the grid in y, partial ones left out.
        HiddenBlockCountY = "hidden_block_count_y",
        /// Workgroups of the grid in z, partial ones left out.
        HiddenBlockCountZ = "hidden_block_count_z",
        /// Work-items of a workgroup in x.
        HiddenGroupSizeX = "hidden_group_size_x",
        /// Work-items of a workgroup in y.
        HiddenGroupSizeY = "hidden_group_size_y",
        /// Work-items of a workgroup in z.
        HiddenGroupSizeZ = "hidden_group_size_z",
        /// Work-items of the partial workgroup in x.
        HiddenRemainderX = "hidden_remainder_x",
        /// Work-items of the partial workgroup in y.
        HiddenRemainderY = "hidden_remainder_y",
        /// Work-items of the partial workgroup in z.
        HiddenRemainderZ = "hidden_remainder_z",
        /// Dimensions of the grid.
        HiddenGridDims = "hidden_grid_dims",
        /// A pointer to the heap of device-side malloc.
        HiddenHeapV1 = "hidden_heap_v1",
        /// Bytes of group memory allocated at launch.
        HiddenDynamicLdsSize = "hidden_dynamic_lds_size",
        /// Upper half of the private aperture's address.
        HiddenPrivateBase = "hidden_private_base",
        /// Upper half of the group aperture's address.
        HiddenSharedBase = "hidden_shared_base",
        /// A pointer to the queue.
        HiddenQueuePtr = "hidden_queue_ptr",
    }
}

impl ValueKind {
    /// Whether the runtime, not the caller, provides the argument.
    pub fn is_hidden(&self) -> bool {
        self.name().starts_with("hidden_")
    }
}

names! {
    /// An address space (`.address_space`).
    AddressSpace {
        /// Per work-item.
        Private = "private",
        /// Visible to all.
        Global = "global",
        /// Visible to all, constant while a kernel runs.
        Constant = "constant",
        /// Per workgroup.
        Local = "local",
        /// Any of private, global and local.
        Generic = "generic",
        /// Ordered across the device (GDS).
        Region = "region",
    }
}

names! {
    /// A kind of access (`.access`, `.actual_access`).
    Access {
        /// Loads.
        ReadOnly = "read_only",
        /// Stores.
        WriteOnly = "write_only",
        /// Both.
        ReadWrite = "read_write",
    }
}

/// Reads a string without copying it where the document allows.
struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "amdhsa.version")]
    version: (u32, u32),
    #[serde(rename = "amdhsa.target", default)]
    target: Option<Box<str>>,
    #[serde(rename = "amdhsa.printf", default)]
    printf: Vec<Box<str>>,
    #[serde(rename = "amdhsa.kernels", default)]
    kernels: Vec<KernelMetadata>,
}

impl Metadata {
    /// Parses the note's descriptor, which starts at `offset` of the file. Unknown keys are ignored.
    pub(super) fn parse(note: &[u8], offset: u64) -> Result<Self> {
        let mut deserializer = rmp_serde::Deserializer::from_read_ref(note);
        deserializer.set_max_depth(MAX_DEPTH);
        let document = Document::deserialize(&mut deserializer);
        let Document { version, target, printf, kernels } =
            document.map_err(|e| Error::Metadata { offset, detail: e.to_string() })?;
        if version.0 != 1 {
            return Err(Error::MetadataVersion { major: version.0, minor: version.1 });
        }
        let by_symbol = kernels.iter().enumerate().map(|(index, k)| (k.symbol.clone(), index)).collect();
        Ok(Self { version, target, printf, kernels, by_symbol })
    }

    /// Finds a kernel by the name of its descriptor's symbol, `<kernel>.kd`.
    pub fn by_symbol(&self, symbol: &str) -> Option<&KernelMetadata> {
        self.by_symbol.get(symbol).and_then(|&index| self.kernels.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_way_there_and_back() {
        for text in ["by_value", "hidden_queue_ptr", "hidden_of_next_year"] {
            assert_eq!(ValueKind::from(text).name(), text);
        }
        assert!(ValueKind::from("hidden_of_next_year").is_hidden());
        assert!(!ValueKind::GlobalBuffer.is_hidden());
    }

    #[test]
    fn unknown_keys_are_ignored_and_missing_ones_reported() {
        let document = b"\x82\xaeamdhsa.version\x92\x01\x02\xa5.news\x93\xc3\x80\x01";
        let metadata = Metadata::parse(document, 0).unwrap();
        assert_eq!((metadata.version, metadata.kernels.len()), ((1, 2), 0));
        assert!(matches!(Metadata::parse(b"\x80", 64), Err(Error::Metadata { offset: 64, .. })));
    }

    #[test]
    fn another_major_version_is_refused() {
        let document = b"\x81\xaeamdhsa.version\x92\x02\x00";
        assert_eq!(Metadata::parse(document, 0).unwrap_err(), Error::MetadataVersion { major: 2, minor: 0 });
    }

    #[test]
    fn deep_nesting_and_huge_claims_are_errors() {
        let mut deep = b"\x81\xa5.news".to_vec();
        deep.extend([0x91; 100_000]);
        assert!(matches!(Metadata::parse(&deep, 0), Err(Error::Metadata { .. })));
        let huge = b"\x81\xaeamdhsa.kernels\xdd\xff\xff\xff\xff";
        assert!(matches!(Metadata::parse(huge, 0), Err(Error::Metadata { .. })));
    }
}
