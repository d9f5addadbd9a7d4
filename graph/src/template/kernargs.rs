//! Parts of a kernel launch that most nodes have little of: argument bytes, and attributes.

use std::{
    fmt,
    ops::{Deref, DerefMut},
};

/// So many bytes need no memory of their own: four pointers and a word.
const INLINE: usize = 38;

/// The bytes of a kernel's arguments: in place if they are few, as they mostly are.
#[derive(Clone)]
pub struct Kernargs(Bytes);

#[derive(Clone)]
enum Bytes {
    Few(u8, [u8; INLINE]),
    Many(Box<[u8]>),
}

impl Kernargs {
    /// So many zeros.
    #[inline]
    pub fn zeroed(len: usize) -> Self {
        // CAST: less than 256.
        Self(if len <= INLINE {
            Bytes::Few(len as u8, [0; INLINE])
        } else {
            Bytes::Many(vec![0; len].into())
        })
    }

    /// Puts zeros behind the bytes until they are so many; no fewer remain.
    #[inline]
    pub fn grow(&mut self, len: usize) {
        if len <= self.len() {
            return;
        }
        match &mut self.0 {
            // CAST: less than 256. Behind the bytes that count there are zeros.
            Bytes::Few(now, _) if len <= INLINE => *now = len as u8,
            _ => *self = Self::padded(self, len),
        }
    }

    /// The first bytes of `given`, and zeros behind them up to `len` bytes.
    pub fn padded(given: &[u8], len: usize) -> Self {
        let given = &given[..given.len().min(len)];
        if len <= INLINE {
            let mut bytes = [0; INLINE];
            bytes[..given.len()].copy_from_slice(given);
            // CAST: less than 256.
            return Self(Bytes::Few(len as u8, bytes));
        }
        let mut bytes = Vec::with_capacity(len);
        bytes.extend_from_slice(given);
        bytes.resize(len, 0);
        Self(Bytes::Many(bytes.into()))
    }

    /// Bytes in memory of their own.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Bytes::Few(..) => 0,
            Bytes::Many(bytes) => bytes.len(),
        }
    }
}

impl Default for Kernargs {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl Deref for Kernargs {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Few(len, bytes) => &bytes[..usize::from(*len)],
            Bytes::Many(bytes) => bytes,
        }
    }
}

impl DerefMut for Kernargs {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Bytes::Few(len, bytes) => &mut bytes[..usize::from(*len)],
            Bytes::Many(bytes) => bytes,
        }
    }
}

impl From<&[u8]> for Kernargs {
    fn from(bytes: &[u8]) -> Self {
        Self::padded(bytes, bytes.len())
    }
}

impl From<Vec<u8>> for Kernargs {
    fn from(bytes: Vec<u8>) -> Self {
        if bytes.len() <= INLINE { Self::from(&bytes[..]) } else { Self(Bytes::Many(bytes.into())) }
    }
}

impl From<Box<[u8]>> for Kernargs {
    fn from(bytes: Box<[u8]>) -> Self {
        bytes.into_vec().into()
    }
}

impl PartialEq for Kernargs {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Kernargs {}

impl fmt::Debug for Kernargs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Launch attributes of a kernel node.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KernelAttributes {
    /// Not 0 if all blocks must be resident together. It reads back as it was set.
    pub cooperative: i32,
    /// Priority against other nodes; smaller runs first.
    pub priority: i32,
    /// The range of memory that the caches should favour, a hint.
    pub access_policy: AccessPolicy,
    /// Work-items that the last block of each dimension lacks, where the grid was given in work-items.
    pub lacking: [u32; 3],
    /// The memory synchronisation domain: 0 default, 1 remote. A hint: all writes are in one domain here.
    pub sync_domain: u32,
    /// Which domains those two are.
    pub sync_domain_map: [u8; 2],
}

impl KernelAttributes {
    /// What a launch without attributes has.
    pub const DEFAULT: Self = Self {
        cooperative: 0,
        priority: 0,
        access_policy: AccessPolicy { base: 0, bytes: 0, hit_ratio: 0.0, on_hit: 0, on_miss: 0 },
        lacking: [0; 3],
        sync_domain: 0,
        sync_domain_map: [0; 2],
    };

    /// Whether all blocks must be resident together.
    pub const fn is_cooperative(&self) -> bool {
        self.cooperative != 0
    }
}

/// A hint about how a range of global memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AccessPolicy {
    /// First byte of the range.
    pub base: u64,
    /// Length of the range, in bytes; 0 means no hint.
    pub bytes: u64,
    /// The fraction of accesses that count as hits, 0 to 1.
    pub hit_ratio: f32,
    /// How hits are cached, as the caller encoded it.
    pub on_hit: u32,
    /// How misses are cached, as the caller encoded it.
    pub on_miss: u32,
}

/// Launch attributes of a kernel node, which take no memory where they are those of a launch without any.
#[derive(Clone, Default)]
pub struct Attributes(Option<Box<KernelAttributes>>);

impl Deref for Attributes {
    type Target = KernelAttributes;

    fn deref(&self) -> &KernelAttributes {
        self.0.as_deref().unwrap_or(&KernelAttributes::DEFAULT)
    }
}

impl DerefMut for Attributes {
    fn deref_mut(&mut self) -> &mut KernelAttributes {
        self.0.get_or_insert_default()
    }
}

impl From<KernelAttributes> for Attributes {
    fn from(attributes: KernelAttributes) -> Self {
        Self((attributes != KernelAttributes::DEFAULT).then(|| attributes.into()))
    }
}

impl PartialEq for Attributes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_bytes_read_and_write_alike() {
        for len in [0, 1, INLINE - 1, INLINE, INLINE + 1, 300] {
            let bytes: Vec<u8> = (0..len).map(|n| n as u8).collect();
            let mut kernargs = Kernargs::from(bytes.clone());
            assert_eq!((&*kernargs, &kernargs), (&bytes[..], &Kernargs::from(&bytes[..])));
            assert_eq!(kernargs.heap_bytes() > 0, len > INLINE);
            kernargs.iter_mut().for_each(|byte| *byte ^= 1);
            assert!(kernargs.iter().zip(&bytes).all(|(new, old)| *new == old ^ 1));
            let padded = Kernargs::padded(&bytes, len + 5);
            assert!(padded[..len] == bytes && padded[len..] == [0; 5]);
            assert_eq!(*Kernargs::padded(&bytes, len / 2), bytes[..len / 2]);
            assert_eq!(Kernargs::zeroed(len), Kernargs::padded(&[], len));
            let mut grown = Kernargs::default();
            grown.grow(len);
            assert_eq!(grown, Kernargs::zeroed(len));
            grown.fill(7);
            grown.grow(len / 2);
            assert_eq!(grown.len(), len);
            grown.grow(len + 3);
            assert_eq!(grown, Kernargs::padded(&vec![7; len], len + 3));
        }
    }

    #[test]
    fn default_attributes_are_equal_however_they_came_about() {
        let mut attributes = Attributes::default();
        assert_eq!(attributes, KernelAttributes::DEFAULT.into());
        attributes.priority = 3;
        assert_eq!(attributes, KernelAttributes { priority: 3, ..KernelAttributes::DEFAULT }.into());
        attributes.priority = 0;
        assert_eq!(attributes, Attributes::default());
    }
}
