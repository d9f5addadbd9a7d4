use crate::{Error, Result, wire};

/// What `__hipRegisterFatBinary` is called with: a struct in section `.hipFatBinSegment`.
///
/// It holds a host pointer, which the caller follows: [`extent`](super::extent) tells how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// Host address of the bundle.
    pub binary: u64,
    /// Not in use; zero.
    pub reserved: u64,
}

impl Wrapper {
    /// The first word, "HIPF" read as a big-endian number.
    pub const MAGIC: u32 = 0x4849_5046;
    /// The only version.
    pub const VERSION: u32 = 1;
    /// Bytes of the struct.
    pub const BYTES: usize = 24;

    /// Reads the fields: u32 magic, u32 version, u64 binary, u64 reserved.
    ///
    /// # Errors
    /// [`Error::Wrapper`] for another magic number or version.
    pub fn parse(bytes: &[u8; Self::BYTES]) -> Result<Self> {
        const WHAT: &str = "fat binary wrapper";
        let (magic, version) = (wire::u32(bytes, 0, WHAT)?, wire::u32(bytes, 4, WHAT)?);
        if (magic, version) != (Self::MAGIC, Self::VERSION) {
            return Err(Error::Wrapper { magic, version });
        }
        Ok(Self { binary: wire::u64(bytes, 8, WHAT)?, reserved: wire::u64(bytes, 16, WHAT)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrapper_starts_with_fpih_in_memory() {
        let mut bytes = *b"FPIH\x01\0\0\0\x10\x32\x54\x76\x98\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(Wrapper::parse(&bytes), Ok(Wrapper { binary: 0x98_7654_3210, reserved: 0 }));
        bytes[4] = 2;
        assert_eq!(Wrapper::parse(&bytes), Err(Error::Wrapper { magic: Wrapper::MAGIC, version: 2 }));
    }
}
