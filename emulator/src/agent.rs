//! Agents and their handles.

use hsa_sys::hsa_agent_t;

/// Agents: the host is 0, GPU `i` is `i + 1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Agent {
    Host,
    Gpu(u32),
}

/// Upper half of every agent handle, so that a small number is none.
const TAG: u64 = 0x6167_656e << 32;

impl Agent {
    /// The handle that programs see.
    pub(crate) fn handle(self) -> hsa_agent_t {
        let number = match self {
            Self::Host => 0,
            Self::Gpu(index) => u64::from(index) + 1,
        };
        hsa_agent_t { handle: TAG | number }
    }

    /// The GPU, if it is one.
    pub(crate) fn gpu(self) -> Option<u32> {
        match self {
            Self::Host => None,
            Self::Gpu(index) => Some(index),
        }
    }

    /// The agent that a handle names, if it names one where there are `gpus` GPUs.
    pub(crate) fn of_handle(agent: hsa_agent_t, gpus: usize) -> Option<Self> {
        match agent.handle.checked_sub(TAG)? {
            0 => Some(Self::Host),
            number if number <= gpus as u64 => Some(Self::Gpu(number as u32 - 1)),
            _ => None,
        }
    }
}
