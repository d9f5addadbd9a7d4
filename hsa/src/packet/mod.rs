//! AQL packets as 64 bytes that need no device: typed builders, and a reader of finished images.
//!
//! A builder ([`KernelDispatch`], [`BarrierAnd`], [`BarrierOr`], [`BarrierValue`]) makes a [`Packet`]; a
//! packet can be asked what it is and patched where a launch differs from the last: completion signal,
//! dependencies, kernarg address. Nothing here touches memory that a device reads; that is
//! [`ring`](crate::ring)'s job.
#![forbid(unsafe_code)]

mod branch;
mod build;
mod header;

use core::fmt;

use hsa_sys::{HSA_AMD_PACKET_TYPE_BARRIER_VALUE, PACKET_BYTES, hsa_signal_t, hsa_signal_value_t};

pub use branch::{Branch, LoopBack, Run, Test};
pub use build::{BarrierAnd, BarrierOr, BarrierValue, KernelDispatch};
pub use header::{Fences, Header, Kind, Scope};

use crate::condition::Condition;

/// Dependencies that one barrier-AND or barrier-OR packet has room for.
pub const BARRIER_DEPS: usize = 5;

/// The absence of a signal: a completion that no thread waits for, a dependency that is met.
pub const NO_SIGNAL: hsa_signal_t = hsa_signal_t { handle: 0 };

/// Why a packet cannot be encoded, read or patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// A header has an unknown type or scope, or a reserved bit set.
    #[error("malformed packet header {bits:#06x}")]
    MalformedHeader {
        /// The header.
        bits: u16,
    },
    /// A dimension of the grid or of the workgroup is zero.
    #[error("dimension {dimension} of the {what} is zero")]
    EmptyDimension {
        /// `"grid"` or `"workgroup"`.
        what: &'static str,
        /// 0 for x, 1 for y, 2 for z.
        dimension: usize,
    },
    /// The packet has no such field.
    #[error("a packet with header {bits:#06x} has no {field}")]
    NoSuchField {
        /// Header of the packet.
        bits: u16,
        /// Name of the field.
        field: &'static str,
    },
    /// A barrier packet has fewer dependencies.
    #[error("a barrier packet has no dependency {index}")]
    NoSuchDependency {
        /// Index asked for.
        index: usize,
    },
    /// A packet to be submitted still has the type INVALID, at which the packet processor would wait for
    /// ever.
    #[error("packet {index} of the submission is invalid")]
    Invalid {
        /// Its index in the submission.
        index: usize,
    },
}

/// Where a packet names a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalPlace {
    /// Dependency `n` of a barrier-AND or barrier-OR packet.
    Dependency(u8),
    /// The completion signal of any packet.
    Completion,
}

impl SignalPlace {
    /// The pair of words that holds the handle: half the number of its first word.
    pub const fn double(self) -> usize {
        match self {
            Self::Dependency(n) => 1 + n as usize,
            Self::Completion => 7,
        }
    }
}

/// One 64-byte AQL packet, as it will lie in the ring (HSA Runtime 1.2, 2.9).
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Packet([u32; 16]);

const _: () = assert!(size_of::<Packet>() == PACKET_BYTES && align_of::<Packet>() == 64);

impl Packet {
    /// A slot that holds no packet.
    pub const INVALID: Self = {
        let mut words = [0; 16];
        words[0] = Header { kind: Kind::Invalid, fences: Fences::NONE }.encode() as u32;
        Self(words)
    };

    /// A barrier-AND packet without dependencies: the packet processor passes it.
    pub const NO_OPERATION: Self = {
        let mut words = [0; 16];
        words[0] = Header { kind: Kind::BarrierAnd, fences: Fences::NONE }.encode() as u32;
        Self(words)
    };

    /// Takes 16 little-endian words as a packet, whatever they say.
    pub const fn from_words(words: [u32; 16]) -> Self {
        Self(words)
    }

    /// The packet as 16 little-endian words.
    pub const fn words(&self) -> &[u32; 16] {
        &self.0
    }

    /// The first word: header and setup (or vendor format), which turn valid in one store.
    pub const fn header_word(&self) -> u32 {
        self.0[0]
    }

    /// The header's bits.
    pub const fn header_bits(&self) -> u16 {
        // CAST: the header is the low half of the first word.
        self.0[0] as u16
    }

    /// The decoded header.
    ///
    /// # Errors
    /// [`PacketError::MalformedHeader`].
    pub const fn header(&self) -> Result<Header, PacketError> {
        Header::decode(self.header_bits())
    }

    /// The packet's type, or `None` if it has no meaning.
    pub fn kind(&self) -> Option<Kind> {
        self.header().ok().map(|header| header.kind)
    }

    /// Whether all earlier packets of the queue must have completed first.
    pub fn barrier(&self) -> bool {
        self.header().is_ok_and(|header| header.fences.barrier)
    }

    /// Sets barrier bit and fence scopes.
    ///
    /// # Errors
    /// [`PacketError::MalformedHeader`] if there is no header to change.
    pub fn set_fences(&mut self, fences: Fences) -> Result<(), PacketError> {
        let header = Header { fences, ..self.header()? };
        self.0[0] = self.0[0] & 0xffff_0000 | u32::from(header.encode());
        Ok(())
    }

    /// Whether the type field reads INVALID, whatever the rest of the header says.
    pub const fn is_invalid(&self) -> bool {
        self.0[0] & 0xff == Self::INVALID.0[0]
    }

    /// Whether this is AMD's barrier-value packet.
    pub fn is_barrier_value(&self) -> bool {
        self.kind() == Some(Kind::VendorSpecific)
            && self.0[0] >> 16 & 0xff == HSA_AMD_PACKET_TYPE_BARRIER_VALUE.0
    }

    /// The signal that is decremented when the packet has completed; every type has it in the same place.
    pub fn completion_signal(&self) -> hsa_signal_t {
        hsa_signal_t { handle: self.double(2 * SignalPlace::Completion.double()) }
    }

    /// Replaces the completion signal; [`NO_SIGNAL`] for none.
    pub fn set_completion_signal(&mut self, signal: hsa_signal_t) {
        self.set_double(2 * SignalPlace::Completion.double(), signal.handle);
    }

    /// Address of the kernel descriptor of a dispatch.
    pub fn kernel_object(&self) -> Option<u64> {
        self.is_dispatch().then(|| self.double(8))
    }

    /// Address of the kernel arguments of a dispatch.
    pub fn kernarg_address(&self) -> Option<u64> {
        self.is_dispatch().then(|| self.double(10))
    }

    /// Points a dispatch at other kernel arguments.
    ///
    /// # Errors
    /// [`PacketError::NoSuchField`] on any other packet.
    pub fn set_kernarg_address(&mut self, address: u64) -> Result<(), PacketError> {
        if !self.is_dispatch() {
            return Err(self.lacks("kernarg address"));
        }
        self.set_double(10, address);
        Ok(())
    }

    /// Work-items of a dispatch in x, y and z.
    pub fn grid(&self) -> Option<[u32; 3]> {
        self.is_dispatch().then(|| [self.0[3], self.0[4], self.0[5]])
    }

    /// Work-items of one workgroup of a dispatch in x, y and z.
    pub fn workgroup(&self) -> Option<[u16; 3]> {
        // CAST: three 16-bit fields in two words.
        self.is_dispatch().then(|| [self.0[1] as u16, (self.0[1] >> 16) as u16, self.0[2] as u16])
    }

    /// Bytes of private memory a work-item and of group memory a workgroup of a dispatch.
    pub fn segments(&self) -> Option<(u32, u32)> {
        self.is_dispatch().then(|| (self.0[6], self.0[7]))
    }

    /// Dependencies of a barrier-AND or barrier-OR packet; absent ones are [`NO_SIGNAL`].
    pub fn deps(&self) -> Option<[hsa_signal_t; BARRIER_DEPS]> {
        self.is_barrier()
            .then(|| core::array::from_fn(|index| hsa_signal_t { handle: self.double(2 + 2 * index) }))
    }

    /// Replaces one dependency of a barrier-AND or barrier-OR packet, or the signal of a barrier-value packet
    /// (index 0).
    ///
    /// # Errors
    /// [`PacketError::NoSuchField`] on any other packet, [`PacketError::NoSuchDependency`] past the last one.
    pub fn set_dep(&mut self, index: usize, signal: hsa_signal_t) -> Result<(), PacketError> {
        let room = match (self.is_barrier(), self.is_barrier_value()) {
            (true, _) => BARRIER_DEPS,
            (_, true) => 1,
            _ => return Err(self.lacks("dependency")),
        };
        if index >= room {
            return Err(PacketError::NoSuchDependency { index });
        }
        self.set_double(2 + 2 * index, signal.handle);
        Ok(())
    }

    /// What a barrier-value packet waits for.
    ///
    /// `None` on any other packet, or if its condition has no meaning.
    pub fn value_wait(&self) -> Option<BarrierValue> {
        let fences = self.header().ok()?.fences;
        if !self.is_barrier_value() {
            return None;
        }
        Some(BarrierValue {
            fences,
            signal: hsa_signal_t { handle: self.double(2) },
            // CAST: signal values are signed, packets carry their bits.
            value: self.double(4) as hsa_signal_value_t,
            mask: self.double(6) as hsa_signal_value_t,
            condition: Condition::from_code(self.0[8])?,
            completion: self.completion_signal(),
        })
    }

    /// Replaces the value that a barrier-value packet compares with.
    ///
    /// # Errors
    /// [`PacketError::NoSuchField`] on any other packet.
    pub fn set_wait_value(&mut self, value: hsa_signal_value_t) -> Result<(), PacketError> {
        if !self.is_barrier_value() {
            return Err(self.lacks("wait value"));
        }
        // CAST: signal values are signed, packets carry their bits.
        self.set_double(4, value as u64);
        Ok(())
    }

    fn is_dispatch(&self) -> bool {
        self.kind() == Some(Kind::KernelDispatch)
    }

    fn is_barrier(&self) -> bool {
        matches!(self.kind(), Some(Kind::BarrierAnd | Kind::BarrierOr))
    }

    fn lacks(&self, field: &'static str) -> PacketError {
        PacketError::NoSuchField { bits: self.header_bits(), field }
    }

    fn double(&self, word: usize) -> u64 {
        u64::from(self.0[word]) | u64::from(self.0[word + 1]) << 32
    }

    fn set_double(&mut self, word: usize, value: u64) {
        // CAST: the two halves of the value.
        self.0[word] = value as u32;
        self.0[word + 1] = (value >> 32) as u32;
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut packet = f.debug_struct("Packet");
        match self.header() {
            Ok(header) => packet.field("header", &header),
            Err(_) => packet.field("header_bits", &format_args!("{:#06x}", self.header_bits())),
        };
        if let Some(address) = self.kernel_object() {
            packet.field("kernel_object", &format_args!("{address:#x}"));
        }
        if let Some(deps) = self.deps() {
            packet.field("deps", &deps.map(|signal| signal.handle));
        }
        packet.field("completion_signal", &self.completion_signal().handle).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
