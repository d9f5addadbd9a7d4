//! The host's processors, an agent for each socket, and the memory of each.
//!
//! Memory that a device reads over the bus comes from the socket that it is near: from another one it would come through
//! the link between the two as well.

use hsa::AgentKind;

use crate::error::{Error, Result};

/// A socket and its memory.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) agent: hsa::Agent,
    /// Fine-grained memory.
    pub(super) memory: hsa::Pool,
    /// Memory that host and devices see alike at fences only; fine-grained where there is none.
    pub(super) coarse_grained: hsa::Pool,
    /// Where kernels find their arguments.
    pub(super) kernargs: hsa::Pool,
}

impl Host {
    /// A CPU agent, if it has memory that devices can work on together with it.
    fn of(agent: &hsa::Agent) -> Result<Option<Self>> {
        let mut pools = agent.pools()?;
        pools.retain(|pool| pool.properties().alloc_allowed);
        let kernargs = pools.iter().find(|pool| pool.properties().is_kernarg()).cloned();
        let coarse_grained = pools.iter().find(|pool| pool.properties().is_coarse_grained()).cloned();
        pools.retain(|pool| pool.properties().is_fine_grained());
        let memory = pools.iter().find(|pool| !pool.properties().is_kernarg()).or(pools.first());
        Ok(memory.map(|memory| Self {
            agent: agent.clone(),
            memory: memory.clone(),
            coarse_grained: coarse_grained.unwrap_or_else(|| memory.clone()),
            // There is one for them (HSA Runtime 1.2, 2.11), but other fine-grained memory serves as well.
            kernargs: kernargs.unwrap_or_else(|| memory.clone()),
        }))
    }
}

/// All sockets, at least one.
pub(super) struct Hosts(Vec<Host>);

impl Hosts {
    /// Those among the agents of a runtime.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] if there is none with memory for devices.
    pub(super) fn among(agents: &[hsa::Agent]) -> Result<Self> {
        let mut hosts = Vec::new();
        for agent in agents.iter().filter(|agent| agent.kind() == AgentKind::Cpu) {
            hosts.extend(Host::of(agent)?);
        }
        if hosts.is_empty() {
            return Err(Error::NotInitialized("no CPU agent with fine-grained memory".into()));
        }
        Ok(Self(hosts))
    }

    /// The first one, where it does not matter.
    pub(super) fn first(&self) -> &Host {
        &self.0[0]
    }

    /// The one that is nearest to a GPU which reaches its memory. Every ROCr tells how long links are; which CPU agent is
    /// nearest, 5.2.3 does not.
    pub(super) fn near(&self, gpu: &hsa::Agent) -> Result<&Host> {
        let mut nearest = (u32::MAX, self.first());
        for host in &self.0 {
            let is_reached = host.memory.access(gpu)? != hsa::PoolAccess::Never;
            let distance = host.memory.link(gpu)?.map_or(0, |link| link.distance);
            if is_reached && distance < nearest.0 {
                nearest = (distance, host);
            }
        }
        Ok(nearest.1)
    }
}
