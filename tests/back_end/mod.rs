//! What the runtime takes for granted of an HSA runtime, asked of the one that the suite runs on.
//!
//! | module | asks about |
//! |---|---|
//! | [`memory`] | pools, pinned memory, lookup of addresses, copies, virtual memory |
//! | [`signals`] | values, waits and handlers of both kinds of signal |
//! | [`queues`] | limits, priorities, masks, errors, barriers, times |
//! | [`newer`] | what ROCr 5.2.3 lacks: queries of queues and of mapped memory, memory as descriptors |

mod memory;
mod newer;
mod queues;
mod signals;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use hsa::{Agent, AgentKind, Allocation, Pool, PoolProperties, Runtime};

use crate::toolchain::is_emulated;

/// Longer than anything here takes: a wait that ends by it has failed.
const LONG: Duration = Duration::from_secs(60);

struct Machine {
    runtime: Arc<Runtime>,
    cpu: Agent,
    gpu: Agent,
}

fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let api = if is_emulated() { emulator::api() } else { hsa_sys::load().expect("ROCr is installed") };
        let runtime = Runtime::new(api).expect("the back end comes up");
        let agents = runtime.agents().expect("agents");
        let first = |kind| agents.iter().find(|agent| agent.kind() == kind).expect("one of each").clone();
        Machine { cpu: first(AgentKind::Cpu), gpu: first(AgentKind::Gpu), runtime: runtime.clone() }
    })
}

impl Machine {
    /// The pools of an agent that memory can be had from.
    fn pools(&self, agent: &Agent) -> Vec<Pool> {
        let pools = agent.pools().expect("pools").into_iter();
        pools.filter(|pool| pool.properties().alloc_allowed).collect()
    }

    /// The host's pool with a property.
    fn host(&self, has: impl Fn(&PoolProperties) -> bool) -> Pool {
        self.pools(&self.cpu).into_iter().find(|pool| has(pool.properties())).expect("a pool of the host")
    }

    /// Host memory that the device reaches and no kernel arguments are in.
    fn shared(&self, bytes: usize) -> Allocation {
        let pool = self.host(|pool| pool.is_fine_grained() && !pool.is_kernarg());
        let memory = pool.allocate(bytes).expect("memory");
        // Without it a copy on the device faults.
        memory.allow_access(std::slice::from_ref(&self.gpu)).expect("access");
        memory
    }

    /// The memory of the device.
    fn local(&self) -> Pool {
        let mut pools = self.pools(&self.gpu).into_iter();
        pools.find(|pool| pool.properties().is_coarse_grained()).expect("memory of the device")
    }
}
