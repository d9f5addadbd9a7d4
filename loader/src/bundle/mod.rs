//! Offload bundles: several code objects, for several targets, in one piece of data.

mod compressed;
mod extent;
mod plain;
mod wrapper;

use crate::elf::{self, Identity};
use crate::{Bytes, Error, Limits, Result, TargetId};

pub use extent::{Extent, extent};
pub use wrapper::Wrapper;

/// One part of a bundle.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The id that the bundle gives it, such as `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-`.
    pub id: Box<str>,
    /// Its bytes, which may be none; they keep a decompressed bundle alive.
    pub bytes: Bytes<'a>,
    /// What the ELF header says, if the entry is an AMDGPU code object.
    pub identity: Option<Identity>,
}

impl<'a> Entry<'a> {
    fn new(id: Box<str>, bytes: Bytes<'a>) -> Self {
        let identity = elf::identity(&bytes).ok();
        Self { id, bytes, identity }
    }

    /// Describes the entry in a message: its id, and the target if that is something else.
    fn describe(&self) -> String {
        match self.identity {
            Some(identity) if self.id.parse() != Ok(identity.target) => {
                format!("{} ({})", self.id, identity.target)
            }
            _ => self.id.to_string(),
        }
    }
}

/// The kind of container that a [`Bundle`] was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `__CLANG_OFFLOAD_BUNDLE__`.
    Plain,
    /// `CCOB`: a plain bundle, compressed.
    Compressed,
    /// No bundle, but a single code object.
    CodeObject,
}

/// The code objects of one fat binary.
///
/// The entries of a plain bundle point into the bytes that it was read from; nothing is copied, however large
/// the bundle is. A compressed bundle is decompressed once, and its entries share the result.
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    format: Format,
    extent: usize,
    entries: Vec<Entry<'a>>,
}

impl<'a> Bundle<'a> {
    /// Reads the bundle, compressed bundle or single code object at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::UnknownFormat`], or what is wrong with the container; its code objects are not looked into
    /// beyond their ELF headers.
    pub fn parse(bytes: impl Into<Bytes<'a>>, limits: &Limits) -> Result<Self> {
        let bytes = bytes.into();
        if bytes.starts_with(&compressed::MAGIC) {
            let (content, extent) = compressed::decompress(&bytes, limits)?;
            let entries = plain::entries(&Bytes::shared(content))?.0;
            Ok(Self { format: Format::Compressed, extent, entries })
        } else if bytes.starts_with(plain::MAGIC) {
            let (entries, extent) = plain::entries(&bytes)?;
            Ok(Self { format: Format::Plain, extent, entries })
        } else {
            let identity = elf::identity(&bytes)?;
            let extent = extent::code_object(&bytes)?;
            let id = format!("amdgcn-amd-amdhsa--{}", identity.target).into();
            let (needed, available) = (extent as u64, bytes.len() as u64);
            let truncated = Error::Truncated { what: "code object", offset: 0, needed, available };
            let bytes = bytes.slice(0..extent).ok_or(truncated)?;
            let entries = vec![Entry { id, bytes, identity: Some(identity) }];
            Ok(Self { format: Format::CodeObject, extent, entries })
        }
    }

    /// The kind of container.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Bytes that the container has in the data it was read from.
    pub fn extent(&self) -> usize {
        self.extent
    }

    /// All entries in order, those for the host included.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// Chooses the most specific code object that runs on `device`; of equals, the first.
    ///
    /// What a code object runs on is what its `e_flags` say, whatever the entry's id is.
    ///
    /// # Errors
    /// [`Error::NoMatch`] lists what the bundle has.
    pub fn select(&self, device: &TargetId) -> Result<&Entry<'a>> {
        let mut best: Option<(&Entry<'a>, u8)> = None;
        for entry in &self.entries {
            let Some(identity) = entry.identity else { continue };
            let rank = identity.target.specificity();
            if identity.target.runs_on(identity.generic_version, device)
                && best.is_none_or(|(_, best)| rank > best)
            {
                best = Some((entry, rank));
            }
        }
        best.map(|(entry, _)| entry).ok_or_else(|| Error::NoMatch {
            device: *device,
            available: self.entries.iter().map(Entry::describe).collect(),
        })
    }
}

/// Iterates over bundles that stand back to back, with zeros between them, as in a `.hip_fatbin` section.
///
/// Ends at the end of the bytes, or after the first error.
pub fn bundles<'a>(bytes: impl Into<Bytes<'a>>, limits: Limits) -> impl Iterator<Item = Result<Bundle<'a>>> {
    let bytes = bytes.into();
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let start = at?;
        let start = start + bytes.get(start..)?.iter().position(|&byte| byte != 0)?;
        let bundle = Bundle::parse(bytes.slice(start..bytes.len())?, &limits);
        at = bundle.as_ref().ok().map(|bundle| start + bundle.extent);
        Some(bundle)
    })
}
