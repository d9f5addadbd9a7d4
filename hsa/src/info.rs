//! Answers of the `*_get_info` functions, which write as many bytes as the attribute's type has.

use std::ffi::c_void;

use crate::error::{Error, check};

/// Bytes that a fixed-size attribute may need; the largest that we ask for has 64.
const ROOM: usize = 256;

/// The bytes of one answer, zero where the function wrote nothing.
pub(crate) struct Answer(Box<[u8]>);

impl Answer {
    /// Asks for a fixed-size attribute. `ask` calls the function of that name with the place for its answer.
    pub(crate) fn ask(
        function: &'static str,
        ask: impl FnOnce(*mut c_void) -> hsa_sys::hsa_status_t,
    ) -> Result<Self, Error> {
        Self::ask_for(ROOM, function, ask)
    }

    /// Asks for an attribute of up to `bytes` bytes.
    pub(crate) fn ask_for(
        bytes: usize,
        function: &'static str,
        ask: impl FnOnce(*mut c_void) -> hsa_sys::hsa_status_t,
    ) -> Result<Self, Error> {
        // Words, because the function may store up to eight bytes at once.
        let mut words = vec![0_u64; bytes.max(ROOM).div_ceil(8)];
        check(function, ask(words.as_mut_ptr().cast()))?;
        Ok(Self(words.iter().flat_map(|word| word.to_ne_bytes()).collect()))
    }

    fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[..N]);
        bytes
    }

    pub(crate) fn u32(&self) -> u32 {
        u32::from_ne_bytes(self.bytes())
    }

    pub(crate) fn u64(&self) -> u64 {
        u64::from_ne_bytes(self.bytes())
    }

    pub(crate) fn bool(&self) -> bool {
        self.0[0] != 0
    }

    pub(crate) fn u16s<const N: usize>(&self) -> [u16; N] {
        std::array::from_fn(|index| u16::from_ne_bytes([self.0[2 * index], self.0[2 * index + 1]]))
    }

    pub(crate) fn u32s<const N: usize>(&self) -> [u32; N] {
        std::array::from_fn(|index| {
            let at = 4 * index;
            u32::from_ne_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
        })
    }

    /// The text up to the first zero byte.
    pub(crate) fn text(&self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}
