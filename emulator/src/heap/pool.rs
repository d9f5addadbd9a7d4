//! The memory pools of the agents.

use std::sync::Arc;

use hsa_sys::{
    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED,
    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT,
};

use crate::{agent::Agent, device::Device, memory::Grain, os};

/// What a pool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Fine,
    Kernarg,
    Coarse,
    /// Of which no cache keeps anything: memory of another pool that is asked for so.
    Uncached,
    /// LDS: a size to be asked for, nothing to be allocated.
    Group,
}

/// A pool of the host or of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    /// Whose memory it is.
    pub(crate) owner: Agent,
    pub(crate) kind: Kind,
}

/// Upper half of every pool handle, so that an agent's or a small number is none.
const TAG: u64 = 0x706f_6f6c;

impl Pool {
    /// What host memory is of whose pool nothing is said.
    pub(crate) const HOST: Self = Self { owner: Agent::Host(0), kind: Kind::Fine };

    /// An agent's pools, in the order of iteration.
    pub(crate) fn of(owner: Agent) -> [Self; 3] {
        let kinds = match owner {
            Agent::Host(_) => [Kind::Fine, Kind::Kernarg, Kind::Coarse],
            Agent::Gpu(_) => [Kind::Coarse, Kind::Fine, Kind::Group],
        };
        kinds.map(|kind| Self { owner, kind })
    }

    /// The GPU that owns it, if it is not the host's.
    pub(crate) fn gpu(self) -> Option<u32> {
        self.owner.gpu()
    }

    /// The same memory, kept in no cache. That of the host is in none of a GPU's for long.
    pub(crate) fn uncached(self) -> Self {
        match (self.gpu(), self.kind) {
            (Some(_), Kind::Coarse | Kind::Fine) => Self { kind: Kind::Uncached, ..self },
            _ => self,
        }
    }

    /// The handle that programs see.
    pub(crate) fn handle(self) -> u64 {
        let owner = u64::from(self.owner.number());
        let kind = match self.kind {
            Kind::Fine => 0,
            Kind::Kernarg => 1,
            Kind::Coarse => 2,
            Kind::Group => 3,
            Kind::Uncached => 4,
        };
        TAG << 32 | owner << 8 | kind
    }

    /// The pool that a handle names, if it names one.
    pub(crate) fn find(handle: u64, devices: &[Arc<Device>]) -> Option<Self> {
        let sockets = devices.first().map_or(1, |device| device.hardware.sockets());
        let gpus = devices.iter().map(|device| Agent::Gpu(device.index));
        let mut pools = (0..sockets).map(Agent::Host).chain(gpus).flat_map(Self::of);
        pools.find(|pool| pool.handle() == handle)
    }

    /// Bits of `HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS`.
    pub(crate) fn flags(self) -> u32 {
        match self.kind {
            // As the driver of a card behind PCIe has it: coherent for accesses of system scope.
            Kind::Fine | Kind::Uncached if self.gpu().is_some() => {
                HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED.0
            }
            Kind::Fine | Kind::Uncached => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED.0,
            Kind::Kernarg => {
                HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED.0
                    | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT.0
            }
            Kind::Coarse => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED.0,
            Kind::Group => 0,
        }
    }

    /// How its memory is kept coherent.
    pub(crate) fn grain(self) -> Grain {
        match self.kind {
            Kind::Fine | Kind::Kernarg => Grain::Fine,
            Kind::Coarse | Kind::Group => Grain::Coarse,
            Kind::Uncached => Grain::Uncached,
        }
    }

    /// Bytes that it holds.
    pub(crate) fn size(self, devices: &[Arc<Device>]) -> u64 {
        match (self.gpu().and_then(|gpu| devices.get(gpu as usize)), self.kind) {
            (Some(device), Kind::Group) => u64::from(device.card.group_memory),
            (Some(device), _) => device.local_memory,
            (None, _) => os::physical_memory(),
        }
    }
}
