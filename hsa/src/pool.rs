//! Memory pools and what is allocated from them.

use std::fmt;
use std::sync::Arc;

use hsa_sys::*;

use crate::agent::{Agent, count, handles};
use crate::error::{Error, check};
use crate::info::Answer;
use crate::ledger::{Entry, Resource};
use crate::runtime::{Runtime, collect};

/// A source of memory with one set of properties, which are read once.
#[derive(Clone)]
pub struct Pool {
    runtime: Arc<Runtime>,
    raw: hsa_amd_memory_pool_t,
    properties: PoolProperties,
}

/// What a pool says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolProperties {
    /// Segment; only the global one is allocated from.
    pub segment: hsa_amd_segment_t,
    /// `HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_*` bits; 0 outside the global segment.
    pub flags: u32,
    /// Bytes of the pool.
    pub size: u64,
    /// Most bytes of one allocation.
    pub alloc_max_size: u64,
    /// Whether memory can be allocated at all; the next three are 0 if not.
    pub alloc_allowed: bool,
    /// Sizes are rounded up to a multiple of this many bytes.
    pub granule: u64,
    /// Sizes that are multiples of this many bytes waste least; the granule where the runtime does not say.
    pub recommended_granule: u64,
    /// Alignment of allocations in bytes.
    pub alignment: u64,
    /// Whether every agent can access the pool.
    pub accessible_by_all: bool,
}

impl PoolProperties {
    fn global(&self, flag: hsa_amd_memory_pool_global_flag_t) -> bool {
        self.segment == HSA_AMD_SEGMENT_GLOBAL && self.flags & flag.0 != 0
    }

    /// Whether kernel arguments may live here.
    pub fn is_kernarg(&self) -> bool {
        self.global(HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
    }

    /// Whether stores become visible to other agents while a kernel runs.
    pub fn is_fine_grained(&self) -> bool {
        self.global(HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
    }

    /// As [`PoolProperties::is_fine_grained`], for accesses of system scope.
    pub fn is_fine_grained_for_the_system(&self) -> bool {
        self.global(HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED)
    }

    /// Whether stores become visible to other agents at fences only.
    pub fn is_coarse_grained(&self) -> bool {
        self.global(HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
    }
}

/// How an agent may use a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolAccess {
    /// Not at all.
    Never,
    /// At once.
    ByDefault,
    /// After [`Allocation::allow_access`].
    OnRequest,
}

/// The way from an agent to a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// What the first hop is.
    pub kind: hsa_amd_link_info_type_t,
    /// Number of hops.
    pub hops: u32,
    /// Whether the first hop lets atomic operations of 32 and 64 bits through.
    pub atomics: bool,
    /// How long the first hop is, as the driver weighs links: less is nearer.
    pub distance: u32,
}

const _: () = assert!(std::mem::offset_of!(hsa_amd_memory_pool_link_info_t, link_type) == 20);
const _: () = assert!(std::mem::offset_of!(hsa_amd_memory_pool_link_info_t, numa_distance) == 24);
const _: () = assert!(std::mem::offset_of!(hsa_amd_memory_pool_link_info_t, atomic_support_32bit) == 16);
const _: () = assert!(std::mem::offset_of!(hsa_amd_memory_pool_link_info_t, atomic_support_64bit) == 17);

impl Agent {
    /// The memory pools of the agent.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn pools(&self) -> Result<Vec<Pool>, Error> {
        let mut handles: Vec<hsa_amd_memory_pool_t> = Vec::new();
        // SAFETY: `collect` expects the vector that it is given, and is called only during this call.
        let status = unsafe {
            (self.runtime().api().hsa_amd_agent_iterate_memory_pools)(
                self.raw(),
                Some(collect::<hsa_amd_memory_pool_t>),
                (&raw mut handles).cast(),
            )
        };
        check("hsa_amd_agent_iterate_memory_pools", status)?;
        handles.into_iter().map(|handle| Pool::new(Arc::clone(self.runtime()), handle)).collect()
    }
}

impl Pool {
    pub(crate) fn new(runtime: Arc<Runtime>, raw: hsa_amd_memory_pool_t) -> Result<Self, Error> {
        let ask = |attribute| {
            Answer::ask("hsa_amd_memory_pool_get_info", |value| {
                // SAFETY: `value` has more room than any attribute of a pool needs.
                unsafe { (runtime.api().hsa_amd_memory_pool_get_info)(raw, attribute, value) }
            })
        };
        let segment = hsa_amd_segment_t(ask(HSA_AMD_MEMORY_POOL_INFO_SEGMENT)?.u32());
        let global = segment == HSA_AMD_SEGMENT_GLOBAL;
        let alloc_allowed = ask(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED)?.bool();
        let size = ask(HSA_AMD_MEMORY_POOL_INFO_SIZE)?.u64();
        let when_allowed =
            |attribute| if alloc_allowed { ask(attribute).map(|answer| answer.u64()) } else { Ok(0) };
        let granule = when_allowed(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE)?;
        let properties = PoolProperties {
            segment,
            flags: if global { ask(HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS)?.u32() } else { 0 },
            size,
            alloc_max_size: ask(HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE).map_or(size, |answer| answer.u64()),
            alloc_allowed,
            granule,
            // ROCr 5.2.3 does not know the attribute.
            recommended_granule: when_allowed(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE)
                .map_or(granule, |recommended| recommended.max(granule)),
            alignment: when_allowed(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT)?,
            accessible_by_all: ask(HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL)?.bool(),
        };
        Ok(Self { runtime, raw, properties })
    }

    /// The pool's handle in the function table.
    pub fn raw(&self) -> hsa_amd_memory_pool_t {
        self.raw
    }

    /// The runtime that the pool belongs to.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// What the pool says about itself.
    pub fn properties(&self) -> &PoolProperties {
        &self.properties
    }

    /// How `agent` may use memory of this pool.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn access(&self, agent: &Agent) -> Result<PoolAccess, Error> {
        let answer = Answer::ask("hsa_amd_agent_memory_pool_get_info", |value| {
            // SAFETY: `value` has room for the four bytes of the answer.
            unsafe {
                (self.runtime.api().hsa_amd_agent_memory_pool_get_info)(
                    agent.raw(),
                    self.raw,
                    HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                    value,
                )
            }
        })?;
        Ok(match hsa_amd_memory_pool_access_t(answer.u32()) {
            HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT => PoolAccess::ByDefault,
            HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT => PoolAccess::OnRequest,
            _ => PoolAccess::Never,
        })
    }

    /// How `agent` is linked to the pool; `None` if it is its own.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn link(&self, agent: &Agent) -> Result<Option<Link>, Error> {
        let ask = |bytes, attribute| {
            Answer::ask_for(bytes, "hsa_amd_agent_memory_pool_get_info", |value| {
                // SAFETY: `value` has room for the answer: a number, or a structure for each hop.
                unsafe {
                    (self.runtime.api().hsa_amd_agent_memory_pool_get_info)(
                        agent.raw(),
                        self.raw,
                        attribute,
                        value,
                    )
                }
            })
        };
        let hops = ask(4, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS)?.u32();
        if hops == 0 {
            return Ok(None);
        }
        let bytes = (hops as usize).saturating_mul(size_of::<hsa_amd_memory_pool_link_info_t>());
        let links = ask(bytes, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO)?;
        // Seven words of the first hop's structure; before the last two come flags of a byte.
        let [.., flags, kind, distance] = links.u32s::<7>();
        let [atomics_of_32_bits, atomics_of_64_bits, ..] = flags.to_ne_bytes();
        let atomics = atomics_of_32_bits != 0 && atomics_of_64_bits != 0;
        Ok(Some(Link { kind: hsa_amd_link_info_type_t(kind), hops, atomics, distance }))
    }

    /// Allocates at least `len` bytes.
    ///
    /// # Errors
    /// [`Error::Call`]: `HSA_STATUS_ERROR_OUT_OF_RESOURCES` if the pool is exhausted,
    /// `HSA_STATUS_ERROR_INVALID_ARGUMENT` if `len` is 0.
    pub fn allocate(&self, len: usize) -> Result<Allocation, Error> {
        self.allocate_with(len, HSA_AMD_MEMORY_POOL_STANDARD_FLAG.0)
    }

    /// Allocates with `HSA_AMD_MEMORY_POOL_*_FLAG` bits, for instance executable memory.
    ///
    /// # Errors
    /// As [`Pool::allocate`].
    pub fn allocate_with(&self, len: usize, flags: u32) -> Result<Allocation, Error> {
        let mut address = std::ptr::null_mut();
        // SAFETY: `address` has room for the pointer.
        let status = unsafe {
            (self.runtime.api().hsa_amd_memory_pool_allocate)(self.raw, len, flags, &raw mut address)
        };
        check("hsa_amd_memory_pool_allocate", status)?;
        Ok(Allocation {
            runtime: Arc::clone(&self.runtime),
            address: address.expose_provenance() as u64,
            len,
            entry: Some(self.entry(len)),
        })
    }
}

impl Pool {
    /// Enters memory of the pool into the accounts.
    pub(crate) fn entry(&self, len: usize) -> Entry {
        // CAST: a 64-bit process.
        let bytes = (len as u64).next_multiple_of(self.properties.granule.max(1));
        Entry::new(self.runtime.ledger(), Resource::Memory, self.raw.handle, bytes)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("raw", &self.raw.handle)
            .field("properties", &self.properties)
            .finish_non_exhaustive()
    }
}

/// Memory of a pool, freed when it is dropped.
///
/// Whether the host can reach the bytes depends on the pool. Agents write them, so they are no Rust slice.
#[must_use = "a dropped allocation is freed"]
pub struct Allocation {
    runtime: Arc<Runtime>,
    address: u64,
    len: usize,
    /// Nothing for memory whose pool is not known.
    entry: Option<Entry>,
}

impl Allocation {
    /// Takes responsibility for memory that [`Allocation::into_raw`] gave away.
    ///
    /// # Safety
    /// `address` came from `into_raw` of an allocation of this runtime with this length, and nothing else
    /// frees it.
    pub unsafe fn from_raw(runtime: Arc<Runtime>, address: u64, len: usize) -> Self {
        Self { runtime, address, len, entry: None }
    }

    /// The same, entered in the accounts under the name of its holder ([`Runtime::holdings`]).
    pub fn held_by(mut self, holder: &'static str) -> Self {
        self.entry.iter_mut().for_each(|entry| entry.name(holder));
        self
    }

    /// First address, the same for every agent.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes that were asked for.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first byte, to be reached by the host where the pool lets it.
    pub fn as_ptr(&self) -> *mut u8 {
        // CAST: addresses of a 64-bit process.
        std::ptr::with_exposed_provenance_mut(self.address as usize)
    }

    /// Lets exactly `agents`, besides the pool's own, access the memory.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn allow_access(&self, agents: &[Agent]) -> Result<(), Error> {
        self.runtime.allow_access(self.address, agents)
    }

    /// Gives the memory away without freeing it; the accounts forget it.
    pub fn into_raw(mut self) -> u64 {
        drop(self.entry.take());
        let mut this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped and not used again, so the reference is read out of it once.
        drop(unsafe { std::ptr::read(&raw mut this.runtime) });
        this.address
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: the allocation is ours, and its owner vouches that no agent still uses it. A failure
        // leaves nothing to do but leak.
        let _ = unsafe { (self.runtime.api().hsa_amd_memory_pool_free)(self.as_ptr().cast()) };
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocation({:#x}, {} bytes)", self.address, self.len)
    }
}

impl Runtime {
    /// Lets exactly `agents`, besides the pool's own, access the allocation that starts at `address`.
    ///
    /// # Errors
    /// [`Error::Call`], for instance if no allocation starts there.
    pub fn allow_access(&self, address: u64, agents: &[Agent]) -> Result<(), Error> {
        let agents = handles(agents);
        // SAFETY: the array has the length given; the address is compared, not dereferenced.
        let status = unsafe {
            (self.api().hsa_amd_agents_allow_access)(
                count(agents.len()),
                agents.as_ptr(),
                std::ptr::null(),
                std::ptr::without_provenance(address as usize),
            )
        };
        check("hsa_amd_agents_allow_access", status)
    }
}
