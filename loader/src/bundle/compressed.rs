//! `CCOB`: a plain bundle, compressed (LLVM ClangOffloadBundler, "Compression and Decompression").
//!
//! | bytes | version 1 | version 2 | version 3 |
//! |---|---|---|---|
//! | 0-3 | `CCOB` | `CCOB` | `CCOB` |
//! | 4-5, 6-7 | version, method | version, method | version, method |
//! | size of the whole | - | u32 at 8 | u64 at 8 |
//! | size decompressed | u32 at 8 | u32 at 12 | u64 at 16 |
//! | hash of the content | u64 at 12 | u64 at 16 | u64 at 24 |
//! | compressed data from | 20 | 24 | 32 |
//!
//! The hash names the content for caches; it is not checked.

use std::io::Read;

use crate::{Error, Limits, Result, wire};

pub(super) const MAGIC: [u8; 4] = *b"CCOB";

/// The longest header.
pub(super) const MAX_HEADER_BYTES: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Zlib,
    Zstd,
}

pub(super) struct Header {
    pub(super) method: Method,
    /// Bytes of the whole, header included; version 1 does not say.
    pub(super) file_bytes: Option<usize>,
    pub(super) raw_bytes: u64,
    /// Where the compressed data starts.
    pub(super) data: usize,
}

impl Header {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        const WHAT: &str = "compressed bundle header";
        let word = |at| wire::u32(bytes, at, WHAT).map(u64::from);
        let long = |at| wire::u64(bytes, at, WHAT);
        let (file_bytes, raw_bytes, data) = match wire::u16(bytes, 4, WHAT)? {
            1 => (None, word(8)?, 20),
            2 => (Some(word(8)?), word(12)?, 24),
            3 => (Some(long(8)?), long(16)?, 32),
            version => return Err(Error::CompressedVersion { version }),
        };
        // The hash is the header's last field.
        long(data - 8)?;
        let method = match wire::u16(bytes, 6, WHAT)? {
            0 => Method::Zlib,
            1 => Method::Zstd,
            method => return Err(Error::CompressedMethod { method }),
        };
        let file_bytes = match file_bytes {
            None => None,
            Some(bytes) => match usize::try_from(bytes) {
                Ok(size) if size >= data && size <= isize::MAX as usize => Some(size),
                _ => return Err(Error::CompressedSize { bytes }),
            },
        };
        Ok(Self { method, file_bytes, raw_bytes, data })
    }
}

/// Decompresses the bundle at the start of `bytes`; also says how many of them it has.
pub(super) fn decompress(bytes: &[u8], limits: &Limits) -> Result<(Vec<u8>, usize)> {
    let header = Header::parse(bytes)?;
    let (expected, limit) = (header.raw_bytes, limits.decompressed_bytes.min(isize::MAX as u64));
    if expected > limit {
        return Err(Error::DecompressedTooLarge { bytes: expected, limit });
    }
    let end = header.file_bytes.unwrap_or(bytes.len());
    let available = bytes.len() as u64;
    let truncated = Error::Truncated { what: "compressed bundle", offset: 0, needed: end as u64, available };
    let mut data = bytes.get(header.data..end).ok_or(truncated)?;
    let whole = data.len();
    // Without a size the bundle ends where its one stream does.
    let (content, left) = match header.method {
        Method::Zlib => {
            let mut decoder = flate2::bufread::ZlibDecoder::new(data);
            let content = read(&mut decoder, expected)?;
            (content, decoder.into_inner().len())
        }
        Method::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(&mut data).map_err(corrupt)?.single_frame();
            // A window larger than the content serves nothing; without this a header of a few bytes could ask
            // for gigabytes. RFC 8878, 3.1.1.1.2 wants 8 MiB (2^23) accepted anyway; 31 is zstd's largest.
            let log = expected.max(1).ilog2() + 1;
            decoder.window_log_max(log.clamp(23, 31)).map_err(corrupt)?;
            let content = read(&mut decoder, expected)?;
            drop(decoder);
            (content, data.len())
        }
    };
    if content.len() as u64 != expected {
        return Err(Error::DecompressedSize { expected, actual: content.len() as u64 });
    }
    Ok((content, header.file_bytes.unwrap_or(header.data + whole - left)))
}

/// Reads at most one byte more than expected. Memory grows with what comes out, not with what a header
/// claims.
fn read(decoder: &mut impl Read, expected: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    decoder.take(expected.saturating_add(1)).read_to_end(&mut content).map_err(corrupt)?;
    Ok(content)
}

fn corrupt(error: std::io::Error) -> Error {
    Error::Decompress { detail: error.to_string() }
}
