/// How much memory a file may make the loader ask for.
///
/// Everything else that the loader allocates is bounded by the size of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest loaded image in bytes, zero-filled parts included. Default: 2 GiB.
    pub image_bytes: u64,
    /// Largest decompressed bundle in bytes. Default: 4 GiB.
    pub decompressed_bytes: u64,
}

impl Limits {
    /// Sets [`image_bytes`](Self::image_bytes).
    pub const fn image_bytes(mut self, bytes: u64) -> Self {
        self.image_bytes = bytes;
        self
    }

    /// Sets [`decompressed_bytes`](Self::decompressed_bytes).
    pub const fn decompressed_bytes(mut self, bytes: u64) -> Self {
        self.decompressed_bytes = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { image_bytes: 2 << 30, decompressed_bytes: 4 << 30 }
    }
}
