//! Says where queues are that do not move: `AQLIPSE_WATCHDOG_MS`.
//!
//! A thread looks at the read index of each queue. A queue is reported once if its index stays where it is for too long
//! while packets lie behind it, or while a stream waits for its last ones. Launches do nothing for this; without the
//! variable there is no thread.

#![forbid(unsafe_code)]

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    io::Write as _,
    sync::{Arc, Once, Weak},
    thread,
    time::{Duration, Instant},
};

use hsa::packet::{Kind, Packet};
use parking_lot::Mutex;

use super::StreamInner;
use crate::{
    device::{Device, System, lane::Lane},
    module::kernel_name,
};

/// Executable graphs, which know the nodes of their packets.
pub(crate) trait NamesNodes: Send + Sync {
    /// The node whose kernel has its arguments at `arguments`.
    fn node_at(&self, arguments: u64) -> Option<String>;
}

static GRAPHS: Mutex<Vec<Weak<dyn NamesNodes>>> = Mutex::new(Vec::new());

/// Has reports name the nodes of a graph, if there are any reports.
pub(crate) fn name_nodes_of(graph: impl FnOnce() -> Weak<dyn NamesNodes>) {
    if System::get().is_ok_and(|system| system.watchdog().is_some()) {
        let mut graphs = GRAPHS.lock();
        graphs.retain(|graph| graph.strong_count() > 0);
        graphs.push(graph());
    }
}

/// Starts the thread, once, if the environment asks for it.
pub(super) fn start(device: &Device) {
    static START: Once = Once::new();
    let Some(limit) = device.0.system.watchdog() else { return };
    START.call_once(|| {
        let started = thread::Builder::new().name("aqlipse-watchdog".into()).spawn(move || watch(limit));
        if let Err(error) = started {
            tracing::error!("queues that do not move are not reported: {error}");
        }
    });
}

/// How far a queue has come.
struct Progress {
    read: u64,
    since: Instant,
    reported: bool,
}

fn watch(limit: Duration) {
    let mut known: HashMap<u64, Progress> = HashMap::new();
    loop {
        thread::sleep((limit / 4).clamp(Duration::from_millis(1), Duration::from_secs(1)));
        let Ok(system) = System::get() else { continue };
        for device in system.devices() {
            let awaited = awaited(device);
            // What a fault has taken is reported by calls.
            for lane in device.lanes().into_iter().filter(|lane| lane.is_current()) {
                let (read, write) = lane.indices();
                let busy = read < write || awaited.contains(&lane.id());
                let progress = known.entry(lane.id()).or_insert_with(|| Progress::at(read));
                if !busy || progress.read != read {
                    *progress = Progress::at(read);
                } else if !progress.reported && progress.since.elapsed() >= limit {
                    progress.reported = true;
                    let time = progress.since.elapsed().as_millis();
                    let place = place(device, &lane, read, write);
                    // A closed stderr is no reason to fail.
                    drop(writeln!(
                        std::io::stderr(),
                        "aqlipse: queue {} of device {} has not moved for {time} ms: {place}",
                        lane.id(),
                        device.ordinal()
                    ));
                }
            }
        }
    }
}

impl Progress {
    fn at(read: u64) -> Self {
        Self { read, since: Instant::now(), reported: false }
    }
}

/// The queues on which the last fence of a stream lies that has not fired.
fn awaited(device: &Device) -> HashSet<u64> {
    let (streams, _) = device.shared_by_streams().work();
    streams.iter().filter_map(|stream| stream.awaited_lane()).collect()
}

/// Which packet a queue is in, or which one it waits for.
fn place(device: &Device, lane: &Lane, read: u64, write: u64) -> String {
    let front = (read < write).then(|| lane.peek(read)).flatten();
    match front {
        Some(packet) if packet.kind() == Some(Kind::BarrierAnd) => {
            let mut text = format!("packet {read} waits");
            for signal in packet.deps().into_iter().flatten().filter(|signal| signal.handle != 0) {
                if let Some((lane, index, packet)) = fires(device, signal) {
                    let _ = write!(text, " for packet {index} of queue {}, {}", lane.id(), describe(&packet));
                }
            }
            text
        }
        // Where slots are given back late, the packet at the front has lost its type, and runs.
        Some(packet) if packet.is_invalid() => format!("it is in packet {read}, {}", describe(&packet)),
        _ => match read.checked_sub(1).and_then(|last| Some((last, lane.peek(last)?))) {
            Some((last, packet)) => format!("it is in packet {last}, {}", describe(&packet)),
            None => "its first packet was not launched".into(),
        },
    }
}

/// The latest packet that decrements a signal, with its queue.
fn fires(device: &Device, signal: hsa::hsa_signal_t) -> Option<(Arc<Lane>, u64, Packet)> {
    device.0.system.devices().iter().flat_map(Device::lanes).find_map(|lane| {
        let (read, write) = lane.indices();
        let slots = (write.saturating_sub(lane.size())..write).rev();
        let mut found = slots.filter_map(|index| Some((index, lane.peek(index)?)));
        let (index, packet) = found.find(|(_, packet)| packet.completion_signal() == signal)?;
        // What lies further back is complete, or it would hold its queue up.
        (index + 1 >= read).then_some((lane, index, packet))
    })
}

/// What is known of a packet, even without its type: a kernel of the program's or of ours, and its node.
fn describe(packet: &Packet) -> String {
    let words = packet.words();
    // AQL: the descriptor of a dispatch's kernel is at byte 32, the address of its arguments at byte 40 (HSA Runtime
    // 1.2, 2.9.6).
    let double = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
    let Some(name) = kernel_name(double(8)) else { return "which is no kernel dispatch".into() };
    let graphs: Vec<_> = GRAPHS.lock().iter().filter_map(Weak::upgrade).collect();
    match graphs.iter().find_map(|graph| graph.node_at(double(10))) {
        Some(node) => format!("kernel {name}, {node}"),
        None => format!("kernel {name}"),
    }
}

impl StreamInner {
    /// The queue on which the stream's last fence lies, if it has not fired and no other thread submits just now.
    fn awaited_lane(&self) -> Option<u64> {
        self.state.try_lock()?.awaited_lane()
    }
}
