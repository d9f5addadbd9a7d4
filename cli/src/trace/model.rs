//! A trace as tracks with slices and counters on them.

use std::{collections::HashMap, io};

use timeline::message::{self, Kind, TrackEvent, annotation::Value};

/// What a file holds.
#[derive(Debug, Default)]
pub struct Model {
    /// A track comes behind the one around it.
    pub tracks: Vec<Track>,
    /// In the order in which they begin; those of one track that are one in the other, the outer one first.
    pub slices: Vec<Slice>,
    pub counts: Vec<Count>,
    /// From slice to slice, by index.
    pub flows: Vec<(usize, usize)>,
    /// Bytes at the end of the file that are no whole message, and are not here.
    pub left_out: usize,
}

/// A track.
#[derive(Debug)]
pub struct Track {
    pub name: String,
    pub kind: TrackKind,
    /// The index of the track around it.
    pub parent: Option<usize>,
    /// The number of the process.
    pub process: i32,
    /// The number of the thread, if it is one.
    pub thread: Option<i64>,
}

/// What a track is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackKind {
    Process,
    Thread,
    Counter,
    /// A device, or what is below a process otherwise.
    Other,
    /// What is below a device.
    Lane,
}

/// Something that takes time, or none.
#[derive(Debug)]
pub struct Slice {
    /// The index of its track.
    pub track: usize,
    /// Nanoseconds.
    pub start: u64,
    /// Nanoseconds. What had not ended with the trace ends with the last that did.
    pub end: u64,
    pub name: String,
    pub category: String,
    pub details: Vec<(String, Detail)>,
}

/// What is known of a slice beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    Number(u64),
    Text(String),
}

/// A value of a counter.
#[derive(Debug)]
pub struct Count {
    /// The index of its track.
    pub track: usize,
    /// Nanoseconds.
    pub time: u64,
    pub value: i64,
}

impl Slice {
    /// Nanoseconds.
    pub fn duration(&self) -> u64 {
        self.end - self.start
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.details.iter().find_map(|(known, detail)| match detail {
            Detail::Number(number) if known == name => Some(*number),
            _ => None,
        })
    }
}

impl Model {
    /// Reads a file, which may end in the middle of a message: a process may have ended while it wrote, or a disk been full.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if nothing in it can be read.
    pub fn read(bytes: &[u8]) -> io::Result<Self> {
        let (trace, left_out) = message::Trace::read(bytes);
        if trace.packet.is_empty() && left_out > 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no whole message of a trace is in it"));
        }
        let mut reader = Reader { model: Self { left_out, ..Self::default() }, ..Reader::default() };
        for descriptor in trace.packet.iter().filter_map(|packet| packet.track_descriptor.as_ref()) {
            reader.describe(descriptor);
        }
        let mut events: Vec<(u64, &TrackEvent)> = trace
            .packet
            .iter()
            .filter_map(|packet| Some((packet.timestamp.unwrap_or_default(), packet.track_event.as_ref()?)))
            .collect();
        events.sort_by_key(|(time, _)| *time);
        for &(time, event) in &events {
            reader.take(time, event);
        }
        Ok(reader.finish(events.last().map_or(0, |(time, _)| *time)))
    }

    /// Slices, and values of counters.
    pub fn events(&self) -> usize {
        self.slices.len() + self.counts.len()
    }

    pub fn processes(&self) -> usize {
        self.tracks.iter().filter(|track| track.kind == TrackKind::Process).count()
    }
}

#[derive(Default)]
struct Reader {
    model: Model,
    tracks: HashMap<u64, usize>,
    /// By track, the slices that have begun and not ended, the last begun one last.
    open: HashMap<usize, Vec<usize>>,
    /// The slices where flows begin.
    sources: HashMap<u64, usize>,
}

impl Reader {
    fn describe(&mut self, descriptor: &message::TrackDescriptor) {
        let uuid = descriptor.uuid.unwrap_or_default();
        // Two libraries of one process describe the same tracks.
        if self.tracks.contains_key(&uuid) {
            return;
        }
        let parent = descriptor.parent_uuid.and_then(|parent| self.tracks.get(&parent)).copied();
        let around = parent.map(|parent| &self.model.tracks[parent]);
        let process = descriptor.process.as_ref().and_then(|process| process.pid);
        let process = process.or(around.map(|around| around.process)).unwrap_or_default();
        let thread = descriptor.thread.as_ref().and_then(|thread| thread.tid);
        let kind = match descriptor {
            message::TrackDescriptor { process: Some(_), .. } => TrackKind::Process,
            message::TrackDescriptor { thread: Some(_), .. } => TrackKind::Thread,
            message::TrackDescriptor { counter: Some(_), .. } => TrackKind::Counter,
            _ if around.is_some_and(|around| around.kind == TrackKind::Other) => TrackKind::Lane,
            _ => TrackKind::Other,
        };
        let process_name = descriptor.process.as_ref().and_then(|process| process.process_name.clone());
        let thread_name = descriptor.thread.as_ref().and_then(|thread| thread.thread_name.clone());
        let name = descriptor.name.clone().or(process_name).or(thread_name).unwrap_or_default();
        self.tracks.insert(uuid, self.model.tracks.len());
        self.model.tracks.push(Track { name, kind, parent, process, thread });
    }

    fn take(&mut self, time: u64, event: &TrackEvent) {
        let Some(&track) = event.track_uuid.and_then(|uuid| self.tracks.get(&uuid)) else { return };
        let details = event.debug_annotations.iter().filter_map(|annotation| {
            let detail = match annotation.value.as_ref()? {
                Value::Uint(number) => Detail::Number(*number),
                Value::Text(text) => Detail::Text(text.clone()),
                Value::Address(address) => Detail::Text(format!("{address:#x}")),
            };
            Some((annotation.name.clone()?, detail))
        });
        match event.r#type() {
            kind @ (Kind::SliceBegin | Kind::Instant) => {
                let slice = self.model.slices.len();
                self.model.slices.push(Slice {
                    track,
                    start: time,
                    end: time,
                    name: event.name.clone().unwrap_or_default(),
                    category: event.categories.first().cloned().unwrap_or_default(),
                    details: details.collect(),
                });
                if kind == Kind::SliceBegin {
                    self.open.entry(track).or_default().push(slice);
                }
                self.sources.extend(event.flow_ids.iter().map(|&flow| (flow, slice)));
                let ending = event.terminating_flow_ids.iter().filter_map(|flow| self.sources.get(flow));
                self.model.flows.extend(ending.map(|&source| (source, slice)));
            }
            Kind::SliceEnd => {
                let Some(slice) = self.open.get_mut(&track).and_then(Vec::pop) else { return };
                let slice = &mut self.model.slices[slice];
                slice.end = time;
                slice.details.extend(details);
            }
            Kind::Counter => {
                let value = event.counter_value.unwrap_or_default();
                self.model.counts.push(Count { track, time, value });
            }
            Kind::Unspecified => {}
        }
    }

    fn finish(mut self, last: u64) -> Model {
        for slice in self.open.into_values().flatten() {
            self.model.slices[slice].end = last;
        }
        self.model
    }
}

#[cfg(test)]
pub(super) mod tests {
    use prost::Message as _;
    use timeline::message::{
        CounterDescriptor, DebugAnnotation, ProcessDescriptor, ThreadDescriptor, Trace, TracePacket,
        TrackDescriptor,
    };

    use super::*;

    fn track(uuid: u64, parent: Option<u64>, name: &str) -> TrackDescriptor {
        TrackDescriptor {
            uuid: Some(uuid),
            parent_uuid: parent,
            name: Some(name.into()),
            ..Default::default()
        }
    }

    fn event(time: u64, track: u64, kind: Kind, name: &str) -> (u64, TrackEvent) {
        let event = TrackEvent {
            r#type: Some(kind as i32),
            track_uuid: Some(track),
            name: Some(name.into()),
            categories: vec!["api".into()],
            ..Default::default()
        };
        (time, event)
    }

    /// A process whose call launches a kernel.
    pub fn sample() -> Vec<u8> {
        let process =
            ProcessDescriptor { pid: Some(7), cmdline: vec![], process_name: Some("program".into()) };
        let thread = ThreadDescriptor { pid: Some(7), tid: Some(8), thread_name: Some("worker".into()) };
        let tracks = [
            TrackDescriptor { process: Some(process), name: None, ..track(1, None, "") },
            TrackDescriptor { thread: Some(thread), name: None, ..track(2, Some(1), "") },
            track(3, Some(1), "device 0"),
            track(4, Some(3), "queue 5"),
            TrackDescriptor {
                counter: Some(CounterDescriptor { unit: Some(3) }),
                ..track(5, Some(3), "memory")
            },
        ];
        let mut events = [
            event(100, 2, Kind::SliceBegin, "hipLaunchKernel"),
            event(110, 2, Kind::SliceBegin, "launch"),
            event(190, 2, Kind::SliceEnd, ""),
            event(200, 2, Kind::SliceEnd, ""),
            event(150, 4, Kind::SliceBegin, "scan"),
            event(250, 4, Kind::SliceEnd, ""),
            event(120, 5, Kind::Counter, ""),
            event(240, 2, Kind::SliceBegin, "hipDeviceSynchronize"),
        ];
        events[1].1.flow_ids.push(77);
        events[4].1.terminating_flow_ids.push(77);
        events[4].1.categories = vec!["kernel".into()];
        let annotation = |name: &str, value| DebugAnnotation { name: Some(name.into()), value: Some(value) };
        events[4].1.debug_annotations.push(annotation("launch", Value::Uint(3)));
        events[3].1.debug_annotations.push(annotation("result", Value::Text("hipErrorInvalidValue".into())));
        events[6].1.counter_value = Some(4096);
        let tracks = tracks.map(|track| TracePacket { track_descriptor: Some(track), ..Default::default() });
        let events = events.map(|(time, event)| TracePacket {
            timestamp: Some(time),
            track_event: Some(event),
            ..Default::default()
        });
        Trace { packet: [&tracks[..], &events[..]].concat() }.encode_to_vec()
    }

    #[test]
    fn slices_end_with_what_ends_them_and_flows_lead_from_slice_to_slice() {
        // The same again, as of another library of the process.
        let model = Model::read(&[sample(), Vec::new()].concat()).unwrap();
        let slices: Vec<_> =
            model.slices.iter().map(|slice| (&*slice.name, slice.start, slice.end)).collect();
        let expected = [
            ("hipLaunchKernel", 100, 200),
            ("launch", 110, 190),
            ("scan", 150, 250),
            ("hipDeviceSynchronize", 240, 250),
        ];
        assert_eq!(slices, expected);
        assert_eq!(model.flows, [(1, 2)]);
        assert_eq!(model.slices[2].number("launch"), Some(3));
        let result = Detail::Text("hipErrorInvalidValue".into());
        assert_eq!(model.slices[0].details, [("result".into(), result)]);
        let kinds = model.tracks.iter().map(|track| track.kind).collect::<Vec<_>>();
        use TrackKind::{Counter, Lane, Other, Process, Thread};
        assert_eq!(kinds, [Process, Thread, Other, Lane, Counter]);
        assert_eq!(model.tracks[3].parent, Some(2));
        assert_eq!((model.processes(), model.events()), (1, 5));
    }

    #[test]
    fn a_file_that_ends_in_the_middle_of_a_message_is_read_up_to_there() {
        let bytes = sample();
        let whole = message::Trace::read(&bytes).0.packet;
        let first = message::Trace { packet: whole[..1].to_vec() }.encoded_len();
        assert!((0..bytes.len()).all(|length| {
            let (read, left_out) = message::Trace::read(&bytes[..length]);
            let kept = message::Trace { packet: whole[..read.packet.len()].to_vec() }.encoded_len();
            let next = message::Trace { packet: whole[..read.packet.len() + 1].to_vec() }.encoded_len();
            read.packet == whole[..read.packet.len()] && kept + left_out == length && length < next
        }));
        let cut = Model::read(&bytes[..bytes.len() - 1]).unwrap();
        assert!(cut.left_out > 0 && cut.slices.iter().all(|slice| slice.name != "hipDeviceSynchronize"));
        assert_eq!((cut.slices.len(), cut.slices[2].end), (3, 250));
        assert_eq!(Model::read(&bytes).unwrap().left_out, 0);
        assert_eq!(Model::read(&bytes[..first - 1]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn what_is_no_trace_is_an_error() {
        assert_eq!(Model::read(b"GET / HTTP/1.1").unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(Model::read(&[]).unwrap().events(), 0);
    }
}
