//! Agents and their handles.

use hsa_sys::hsa_agent_t;

/// An agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agent {
    /// The processors of a socket of the host, by its number.
    Host(u32),
    /// A GPU, by its index.
    Gpu(u32),
}

/// Upper half of every agent handle, so that a small number is none.
const TAG: u64 = 0x6167_656e << 32;
/// Sockets beyond the first have numbers from here on: more than there are GPUs.
const SOCKETS: u32 = 0x80;

impl Agent {
    /// Its number among all agents: 0 for the first socket, one more than its index for a GPU.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Host(0) => 0,
            Self::Host(socket) => SOCKETS + socket,
            Self::Gpu(index) => index + 1,
        }
    }

    /// The agent of a number, whether or not it exists.
    fn of_number(number: u32) -> Self {
        match number {
            0 => Self::Host(0),
            number if number > SOCKETS => Self::Host(number - SOCKETS),
            number => Self::Gpu(number - 1),
        }
    }

    /// The handle that programs see.
    pub(crate) fn handle(self) -> hsa_agent_t {
        hsa_agent_t { handle: TAG | u64::from(self.number()) }
    }

    /// The GPU, if it is one.
    pub fn gpu(self) -> Option<u32> {
        match self {
            Self::Host(_) => None,
            Self::Gpu(index) => Some(index),
        }
    }

    /// The socket of the host, if it is one.
    pub fn socket(self) -> Option<u32> {
        match self {
            Self::Host(socket) => Some(socket),
            Self::Gpu(_) => None,
        }
    }

    /// The agent that a handle names, if it names one where there are so many sockets and GPUs.
    pub(crate) fn of_handle(agent: hsa_agent_t, sockets: u32, gpus: usize) -> Option<Self> {
        let agent = Self::of_number(u32::try_from(agent.handle.checked_sub(TAG)?).ok()?);
        let exists = match agent {
            Self::Host(socket) => socket < sockets,
            Self::Gpu(index) => (index as usize) < gpus,
        };
        exists.then_some(agent)
    }
}
