//! Nodes that do several small things of one kind: words written and waited for, runs of bytes copied, semaphores.

use super::Memcpy;

/// A value with the width that it has in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Four bytes.
    U32(u32),
    /// Eight bytes.
    U64(u64),
}

impl Word {
    /// The value.
    pub fn bits(self) -> u64 {
        match self {
            Self::U32(value) => value.into(),
            Self::U64(value) => value,
        }
    }

    /// Whether it has eight bytes.
    pub fn is_wide(self) -> bool {
        matches!(self, Self::U64(_))
    }

    /// Its width.
    pub fn bytes(self) -> u64 {
        if self.is_wide() { 8 } else { 4 }
    }
}

/// When a word lets a stream go on; the numbers are those of HIP and of our kernel (`kernels/blit.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WordCondition {
    /// The word under the mask is at least the value; both are unsigned.
    AtLeast = 0,
    /// The word under the mask is the value.
    Equal = 1,
    /// The word under the mask and the value have a bit in common.
    And = 2,
    /// Under the mask there is a bit that neither the word nor the value has.
    Nor = 3,
}

/// What is done with a word in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordAction {
    /// The value is written.
    Write,
    /// What follows is held back until the word under `mask` meets `condition`; narrow words ignore the upper half.
    Wait {
        /// The condition.
        condition: WordCondition,
        /// The bits that count.
        mask: u64,
    },
}

/// A write of a word, or a wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordStep {
    /// The word's address, aligned to its width.
    pub address: u64,
    /// What is written, or compared with.
    pub value: Word,
    /// Which of the two.
    pub action: WordAction,
}

/// A run of bytes to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunCopy {
    /// Where the first byte goes.
    pub dst: u64,
    /// Where the first byte comes from.
    pub src: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl RunCopy {
    /// It alone.
    pub fn copy(&self) -> Memcpy {
        Memcpy::linear(self.dst, self.src, self.bytes)
    }
}

impl WordStep {
    /// Whether it waits for the word.
    pub fn waits(&self) -> bool {
        matches!(self.action, WordAction::Wait { .. })
    }

    /// What updates of an executable cannot change of it.
    pub(super) fn mark(&self) -> u8 {
        u8::from(self.value.is_wide()) << 1 | u8::from(self.action == WordAction::Write)
    }
}
