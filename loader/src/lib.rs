//! AMDGPU code objects and offload bundles: from the bytes that a compiler wrote to what a device must hold
//! in memory. A fat binary is a [`bundle`] of code objects; [`Bundle::select`](bundle::Bundle::select) takes
//! the one that fits a device, [`CodeObject`] lists its kernels and variables, and [`LoadPlan`] lays it out
//! at an address. The crate touches no memory but slices, has no `unsafe`, and trusts no byte: whatever a
//! file claims, the answer is a value or an [`Error`], and memory stays within [`Limits`].
//!
//! ```
//! use loader::bundle::Bundle;
//! use loader::{CodeObject, Limits};
//!
//! let fat_binary = include_bytes!("../tests/samples/three_targets.hipfb");
//! let limits = Limits::default();
//! let bundle = Bundle::parse(fat_binary, &limits)?;
//! let entry = bundle.select(&"gfx90a:sramecc+:xnack-".parse()?)?;
//! let object = CodeObject::parse(entry.bytes.clone())?;
//! assert!(object.kernel_names().any(|name| name == "sum"));
//!
//! let kernel = object.kernel("sum")?;
//! assert_eq!(kernel.metadata.group_segment_fixed_size, 1024);
//!
//! let base = 0x7f00_0000_0000;
//! let image = object.load_plan(&limits)?.image(base, |_symbol| None)?;
//! let kernel_object = base + kernel.descriptor_offset; // goes into the dispatch packet
//! let code = &image[kernel.entry_offset as usize..]; // goes to the wavefronts
//! # assert!(kernel_object % 64 == 0 && code.len() > 4);
//! # Ok::<(), loader::Error>(())
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`bundle`] | plain and compressed bundles, the fat binary wrapper, how long unsized data is, selection |
//! | `code_object` | [`CodeObject`], its [`Kernel`]s, [`Variable`]s, [`Symbol`]s and [`Metadata`] |
//! | `load` | [`LoadPlan`], [`Relocation`] |
//! | `descriptor` | [`KernelDescriptor`], the 64 bytes that start a wavefront |
//! | `target`, `target_name` | [`TargetId`], [`Processor`]: which code runs on which device; ids as text |
//! | `segment` | [`Segment`], [`Protection`], and the checks that keep segments apart |
//! | `elf` | [`Identity`], [`Version`], and checked views of the ELF tables |
//! | `bytes` | [`Bytes`], borrowed or shared |
//! | `limits`, `error` | [`Limits`], [`Error`] |
//! | `wire` | little-endian fields of untrusted bytes |

#![forbid(unsafe_code)]

pub mod bundle;

mod bytes;
mod code_object;
mod descriptor;
mod elf;
mod error;
mod limits;
mod load;
mod segment;
mod target;
mod target_name;
mod wire;

pub use bytes::Bytes;
pub use code_object::{
    Access, AddressSpace, Arg, CodeObject, Kernel, KernelMetadata, Metadata, Place, Symbol, SymbolKind,
    ValueKind, Variable,
};
pub use descriptor::{Denormals, KernelDescriptor, Rounding};
pub use elf::{Identity, Version};
pub use error::{Error, Result};
pub use limits::Limits;
pub use load::{LoadPlan, RelocatedValue, Relocation};
pub use segment::{Protection, Segment};
pub use target::{Feature, Processor, TargetId};
