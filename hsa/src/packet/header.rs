//! The 16-bit header that every packet starts with (HSA Runtime 1.2, 2.9.1).
#![forbid(unsafe_code)]

use hsa_sys::*;

use super::PacketError;

/// How the packet processor reads the rest of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Format defined by the vendor; AMD's barrier-value packet.
    VendorSpecific,
    /// Not a packet yet: the packet processor waits here.
    Invalid,
    /// Runs a kernel.
    KernelDispatch,
    /// Waits for all of up to five signals.
    BarrierAnd,
    /// Calls a function of another agent.
    AgentDispatch,
    /// Waits for any of up to five signals.
    BarrierOr,
}

impl Kind {
    const fn code(self) -> u16 {
        // CAST: every packet type fits the eight bits of its field.
        (match self {
            Self::VendorSpecific => HSA_PACKET_TYPE_VENDOR_SPECIFIC,
            Self::Invalid => HSA_PACKET_TYPE_INVALID,
            Self::KernelDispatch => HSA_PACKET_TYPE_KERNEL_DISPATCH,
            Self::BarrierAnd => HSA_PACKET_TYPE_BARRIER_AND,
            Self::AgentDispatch => HSA_PACKET_TYPE_AGENT_DISPATCH,
            Self::BarrierOr => HSA_PACKET_TYPE_BARRIER_OR,
        })
        .0 as u16
    }

    const fn from_code(code: u16) -> Option<Self> {
        Some(match hsa_packet_type_t(code as u32) {
            HSA_PACKET_TYPE_VENDOR_SPECIFIC => Self::VendorSpecific,
            HSA_PACKET_TYPE_INVALID => Self::Invalid,
            HSA_PACKET_TYPE_KERNEL_DISPATCH => Self::KernelDispatch,
            HSA_PACKET_TYPE_BARRIER_AND => Self::BarrierAnd,
            HSA_PACKET_TYPE_AGENT_DISPATCH => Self::AgentDispatch,
            HSA_PACKET_TYPE_BARRIER_OR => Self::BarrierOr,
            _ => return None,
        })
    }
}

/// How far a memory fence reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// No fence.
    #[default]
    None,
    /// The agent that processes the packet.
    Agent,
    /// Every agent and the host.
    System,
}

impl Scope {
    const fn code(self) -> u16 {
        // CAST: scopes are 0, 1 and 2.
        (match self {
            Self::None => HSA_FENCE_SCOPE_NONE,
            Self::Agent => HSA_FENCE_SCOPE_AGENT,
            Self::System => HSA_FENCE_SCOPE_SYSTEM,
        })
        .0 as u16
    }

    const fn from_code(code: u16) -> Option<Self> {
        Some(match hsa_fence_scope_t(code as u32) {
            HSA_FENCE_SCOPE_NONE => Self::None,
            HSA_FENCE_SCOPE_AGENT => Self::Agent,
            HSA_FENCE_SCOPE_SYSTEM => Self::System,
            _ => return None,
        })
    }
}

/// What the packet processor does around a packet: when it may start, and what it must make visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fences {
    /// Whether every earlier packet of the queue must have completed before this one is launched.
    pub barrier: bool,
    /// Fence before the packet becomes active.
    pub acquire: Scope,
    /// Fence after the packet has finished, before its completion signal.
    pub release: Scope,
}

impl Fences {
    /// No barrier and no fence.
    pub const NONE: Self = Self { barrier: false, acquire: Scope::None, release: Scope::None };
    /// Behind all earlier packets, fences at agent scope: what a dependent packet in the same queue needs.
    pub const AGENT: Self = Self { barrier: true, acquire: Scope::Agent, release: Scope::Agent };
    /// Behind all earlier packets, fences at system scope: what the host or another device needs.
    pub const SYSTEM: Self = Self { barrier: true, acquire: Scope::System, release: Scope::System };
}

/// A packet header, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// How the rest of the packet is read.
    pub kind: Kind,
    /// When it starts and what it makes visible.
    pub fences: Fences,
}

const BARRIER: u32 = HSA_PACKET_HEADER_BARRIER.0;
const ACQUIRE: u32 = HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE.0;
const RELEASE: u32 = HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE.0;
const TYPE_MASK: u16 = (1 << HSA_PACKET_HEADER_WIDTH_TYPE.0) - 1;
const SCOPE_MASK: u16 = (1 << HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE.0) - 1;
/// Every bit above the release scope is reserved and must be 0.
const RESERVED: u16 = !0 << (RELEASE + HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE.0);

impl Header {
    /// The 16 bits that the packet processor reads.
    pub const fn encode(self) -> u16 {
        self.kind.code()
            | (self.fences.barrier as u16) << BARRIER
            | self.fences.acquire.code() << ACQUIRE
            | self.fences.release.code() << RELEASE
    }

    /// Reads 16 bits as the packet processor does.
    ///
    /// # Errors
    /// [`PacketError::MalformedHeader`] if the type or a scope has no meaning or a reserved bit is set.
    pub const fn decode(bits: u16) -> Result<Self, PacketError> {
        let malformed = Err(PacketError::MalformedHeader { bits });
        if bits & RESERVED != 0 {
            return malformed;
        }
        let Some(kind) = Kind::from_code(bits & TYPE_MASK) else { return malformed };
        let Some(acquire) = Scope::from_code(bits >> ACQUIRE & SCOPE_MASK) else { return malformed };
        let Some(release) = Scope::from_code(bits >> RELEASE & SCOPE_MASK) else { return malformed };
        Ok(Self { kind, fences: Fences { barrier: bits >> BARRIER & 1 == 1, acquire, release } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_bits_are_where_the_specification_puts_them() {
        let header = |kind, barrier, acquire, release| {
            Header { kind, fences: Fences { barrier, acquire, release } }.encode()
        };
        assert_eq!(header(Kind::Invalid, false, Scope::None, Scope::None), 0x0001);
        assert_eq!(header(Kind::KernelDispatch, true, Scope::System, Scope::System), 0x1502);
        assert_eq!(header(Kind::BarrierAnd, false, Scope::Agent, Scope::None), 0x0203);
        assert_eq!(header(Kind::BarrierOr, true, Scope::None, Scope::Agent), 0x0905);
        assert_eq!(header(Kind::VendorSpecific, true, Scope::None, Scope::None), 0x0100);
    }

    #[test]
    fn every_header_decodes_to_itself_or_is_refused() {
        let mut legal = 0;
        for bits in 0..=u16::MAX {
            match Header::decode(bits) {
                Ok(header) => {
                    assert_eq!(header.encode(), bits);
                    legal += 1;
                }
                Err(error) => assert_eq!(error, PacketError::MalformedHeader { bits }),
            }
        }
        assert_eq!(legal, 6 * 2 * 3 * 3);
    }
}
