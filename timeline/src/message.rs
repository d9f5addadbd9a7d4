//! The messages of Perfetto's trace format that are written and read here, with the numbers of their fields
//! (`protos/perfetto/trace/` of Perfetto 50: `trace.proto`, `trace_packet.proto`, `track_event/*.proto`).
//!
//! A file is one [`Trace`]. Files that follow each other are one, too, so that several processes append to the same.

#![forbid(unsafe_code)]

use prost::Message as _;

/// A whole file.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Trace {
    /// In any order: times say what comes first, and of equal times the place here.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

impl Trace {
    /// Key of [`Trace::packet`] in a file: field 1, with a length.
    const PACKET: u8 = 1 << 3 | 2;

    /// Reads packets up to the first that is not whole, and says how many bytes there are from there on.
    pub fn read(mut bytes: &[u8]) -> (Self, usize) {
        let mut trace = Self::default();
        while let Some((packet, rest)) = Self::first(bytes) {
            trace.packet.push(packet);
            bytes = rest;
        }
        (trace, bytes.len())
    }

    /// The first packet, and what is behind it.
    fn first(bytes: &[u8]) -> Option<(TracePacket, &[u8])> {
        let mut rest = bytes.strip_prefix(&[Self::PACKET])?;
        let length = prost::decode_length_delimiter(&mut rest).ok()?;
        let (packet, rest) = rest.split_at_checked(length)?;
        Some((TracePacket::decode(packet).ok()?, rest))
    }
}

/// One event, or the description of a track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TracePacket {
    /// Nanoseconds of `CLOCK_BOOTTIME`.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Which writer it is of: the number of the process.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// An event.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// A description.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// An event on a track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackEvent {
    /// What is known beside.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// What it is.
    #[prost(enumeration = "Kind", optional, tag = "9")]
    pub r#type: Option<i32>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// What it is of.
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    /// Its name; the end of a slice has none.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// The value of a counter.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Flows that begin here or pass.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Flows that end here.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Kind {
    /// None of the others.
    Unspecified = 0,
    /// A slice begins.
    SliceBegin = 1,
    /// The slice ends that began last on the track.
    SliceEnd = 2,
    /// Something that takes no time.
    Instant = 3,
    /// A counter has a value from now on.
    Counter = 4,
}

/// A name and a value.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DebugAnnotation {
    /// The value.
    #[prost(oneof = "annotation::Value", tags = "3, 6, 7")]
    pub value: Option<annotation::Value>,
    /// The name.
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
}

/// What belongs to [`DebugAnnotation`].
pub mod annotation {
    /// A value.
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub enum Value {
        /// A number.
        #[prost(uint64, tag = "3")]
        Uint(u64),
        /// A text.
        #[prost(string, tag = "6")]
        Text(String),
        /// An address.
        #[prost(uint64, tag = "7")]
        Address(u64),
    }
}

/// A track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackDescriptor {
    /// Its number.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// That of a process.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// That of a thread.
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadDescriptor>,
    /// The number of the track around it.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// That of a counter.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    /// How viewers order the tracks in it: [`BY_RANK`] or none.
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    /// Its rank among those, lowest first.
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// A process.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessDescriptor {
    /// Its number.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its arguments.
    #[prost(string, repeated, tag = "2")]
    pub cmdline: Vec<String>,
    /// Its name.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// A thread.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ThreadDescriptor {
    /// The number of its process.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its number.
    #[prost(int64, optional, tag = "2")]
    pub tid: Option<i64>,
    /// Its name.
    #[prost(string, optional, tag = "5")]
    pub thread_name: Option<String>,
}

/// A counter.
#[derive(Clone, PartialEq, prost::Message)]
pub struct CounterDescriptor {
    /// Its unit: [`BYTES`] or none.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
}

/// Tracks lie in the order of their ranks (`TrackDescriptor.ChildTracksOrdering.EXPLICIT`).
pub const BY_RANK: i32 = 3;

/// The unit of counters of bytes (`CounterDescriptor.Unit.UNIT_SIZE_BYTES`).
pub const BYTES: i32 = 3;
