//! Words in memory that a stream writes, or that hold it back until somebody has written them.

use super::Stream;
use crate::{
    device::System,
    dispatch::Dispatch,
    error::{Error, Result},
    memory::{Place, peer},
};

/// A value with the width that it has in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Four bytes.
    U32(u32),
    /// Eight bytes.
    U64(u64),
}

impl Word {
    pub(crate) fn bits(self) -> u64 {
        match self {
            Self::U32(value) => value.into(),
            Self::U64(value) => value,
        }
    }

    pub(crate) fn is_wide(self) -> bool {
        matches!(self, Self::U64(_))
    }

    fn bytes(self) -> u64 {
        if self.is_wide() { 8 } else { 4 }
    }
}

/// When a word lets a stream go on; the numbers are those of HIP and of our kernel (`kernels/blit.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Condition {
    /// The word under the mask is at least the value; both are unsigned.
    AtLeast = 0,
    /// The word under the mask is the value.
    Equal = 1,
    /// The word under the mask and the value have a bit in common.
    And = 2,
    /// Under the mask there is a bit that neither the word nor the value has.
    Nor = 3,
}

impl Stream {
    /// Writes `value` to memory of the device or pinned memory of the host, in the stream's order.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for memory that the device does not reach or an address that is not aligned; what
    /// capture forbids.
    pub fn write_value(&self, address: u64, value: Word) -> Result<()> {
        self.refuse_capture("writing a value to memory")?;
        let at = self.word_at(address, value)?;
        self.run_alone(&self.device().blit()?.write_value(at, value))
    }

    /// Holds what follows back until the word at `address` meets `condition`; the bits that `mask` lacks do not count.
    ///
    /// Whoever writes the word must not be behind this wait: a stream that shares its queue with this one is.
    ///
    /// # Errors
    /// As [`Stream::write_value`].
    pub fn wait_value(&self, address: u64, condition: Condition, value: Word, mask: u64) -> Result<()> {
        self.refuse_capture("waiting for a value in memory")?;
        let at = self.word_at(address, value)?;
        self.run_alone(&self.device().blit()?.wait_value(at, condition, value, mask))
    }

    /// The device's address of a word.
    fn word_at(&self, address: u64, word: Word) -> Result<u64> {
        if !address.is_multiple_of(word.bytes()) {
            return Err(Error::InvalidValue("the word is not aligned"));
        }
        match System::get()?.memory().place(address, word.bytes())? {
            Place::Region(region) if peer::reaches(self.device(), &region) => {
                Ok(region.device_address + (address - region.address))
            }
            _ => Err(Error::InvalidValue("the word lies in memory that the device does not reach")),
        }
    }

    fn run_alone(&self, dispatch: &Dispatch) -> Result<()> {
        let mut submission = self.submission()?;
        submission.dispatch(dispatch)?;
        submission.finish()
    }
}
