//! The floor under every launch: its packets copied into rings, with the signals and doorbells that they need, and
//! nothing else.
//!
//! [`DeviceRing`] has queues of the emulated device, which takes the packets out again: rings are where a packet
//! processor has left them, in the cache of another core. [`Ring`] is memory that no other thread looks at.

use std::{
    hint::black_box,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use aqlipse::{LaunchImage, LaunchLane};
use aqlipse_bench::sampling::nanoseconds;
use hsa::packet::{Packet, SignalPlace};

/// Slots of the ring; the runtime's queues have as many.
const SLOTS: usize = 16 * 1024;

/// Packets whose headers are held back together, as in the runtime's ring.
const RUN: usize = 64;

/// How long a wait for the device lasts before the queues are looked at for errors.
const LOOK: Duration = Duration::from_millis(100);

/// Memory like a queue's, which nothing reads.
pub struct Ring {
    slots: Box<[Packet; SLOTS]>,
    next: usize,
}

impl Ring {
    /// A ring whose pages have all been touched.
    pub fn new() -> Self {
        let slots = vec![Packet::INVALID; SLOTS].into_boxed_slice();
        // PANIC: the length is the array's.
        Self { slots: slots.try_into().expect("as many slots as the array has"), next: 0 }
    }

    /// Copies `packets` behind those of the call before: in runs, last to first, bodies with headers that read
    /// invalid, then the headers, last to first, with release.
    ///
    /// # Panics
    /// If there are more packets than slots.
    pub fn copy(&mut self, packets: &[Packet]) {
        assert!(packets.len() <= SLOTS, "more packets than slots");
        let first = self.next;
        let mut end = packets.len();
        while end > 0 {
            let start = end.saturating_sub(RUN);
            let run = &packets[start..end];
            for (at, packet) in (first + start..).zip(run) {
                let mut words = *packet.words();
                words[0] = Packet::INVALID.header_word();
                self.slots[at % SLOTS] = Packet::from_words(words);
            }
            for (at, packet) in (first + start..first + end).zip(run).rev() {
                let header: *mut u32 = (&raw mut self.slots[at % SLOTS]).cast();
                // SAFETY: the first of a packet's words, aligned with it, and borrowed by this call alone.
                unsafe { AtomicU32::from_ptr(header) }.store(packet.header_word(), Ordering::Release);
            }
            end = start;
        }
        self.next = (first + packets.len()) % SLOTS;
        black_box(&mut self.slots);
    }
}

/// Queues of an emulated device of this process whose kernels do nothing (`AQLIPSE_EMULATE_NULL`), and the packets of a
/// launch for them.
pub struct DeviceRing {
    runtime: Arc<hsa::Runtime>,
    queues: Vec<hsa::Queue>,
    image: LaunchImage,
    /// Those that packets of the image wait for and fire.
    signals: Vec<hsa::Signal>,
    /// What the last packet of the first queue fires.
    done: hsa::Signal,
}

impl DeviceRing {
    /// Queues like those of the runtime, for the packets of `image`.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn new(image: LaunchImage) -> Result<Self, hsa::Error> {
        let runtime = hsa::Runtime::new(emulator::api())?;
        let gpu = |agent: &hsa::Agent| agent.kind() == hsa::AgentKind::Gpu;
        let missing = hsa::Error::Call {
            function: "hsa_iterate_agents",
            status: hsa_sys::HSA_STATUS_ERROR_INVALID_AGENT,
        };
        let agent = runtime.agents()?.into_iter().find(gpu).ok_or(missing)?;
        let queue = |_: &LaunchLane| {
            // CAST: a small constant.
            let queue =
                hsa::Queue::create(&agent, SLOTS as u32, hsa::QueueOptions::default(), Box::new(|_| {}))?;
            // As the runtime's are.
            queue.set_profiling(true)?;
            Ok(queue)
        };
        let queues = image.lanes.iter().map(queue).collect::<Result<_, hsa::Error>>()?;
        let signal = |_| hsa::Signal::create(&runtime, 0, &[], hsa::Waiters::HostAndDevice);
        let signals = (0..image.signals).map(signal).collect::<Result<_, _>>()?;
        Ok(Self { done: signal(0)?, runtime, queues, image, signals })
    }

    /// Does what a launch cannot do without: arms the signals, copies the packets into the rings, in runs as
    /// [`Ring::copy`] does, and rings each doorbell, for the beginning of a long launch ahead of the rest. Returns what that
    /// took, and what it took until the device was done, in nanoseconds.
    ///
    /// # Panics
    /// If there are more packets than slots, or the device refuses one of them.
    pub fn copy(&mut self) -> [f64; 2] {
        let start = Instant::now();
        self.signals.iter().chain([&self.done]).for_each(|signal| signal.silent_store(1, Ordering::Relaxed));
        for (number, lane) in self.image.lanes.iter().enumerate() {
            let beginning = if number == 0 { self.image.beginning.min(lane.packets.len()) } else { 0 };
            for part in [0..beginning, beginning..lane.packets.len()] {
                if !part.is_empty() {
                    self.publish(number, part);
                }
            }
        }
        let called = nanoseconds(start);
        while self.done.wait(hsa::Condition::Less, 1, Some(LOOK), hsa::WaitState::Blocked) > 0 {
            let refused = self.queues.iter().find_map(hsa::Queue::fault);
            assert!(refused.is_none(), "a queue refused a packet of the launch: status {refused:?}");
        }
        [called, nanoseconds(start)]
    }

    /// Copies some packets of a queue into its ring, and rings the doorbell.
    fn publish(&self, number: usize, part: Range<usize>) {
        let (queue, lane) = (&self.queues[number], &self.image.lanes[number]);
        assert!(lane.packets.len() <= SLOTS, "more packets than slots");
        // SAFETY: the queue is alive; its base and doorbell do not change.
        let hsa_sys::hsa_queue_t { base_address, doorbell_signal, .. } = unsafe { *queue.raw() };
        let api = self.runtime.api();
        // SAFETY: the queue is alive, and no other thread submits to it.
        let claimed = unsafe { (api.hsa_queue_add_write_index_relaxed)(queue.raw(), part.len() as u64) };
        let first = claimed as usize;
        let slot = |packet: usize| {
            base_address.cast::<u32>().wrapping_add(16 * ((first + packet - part.start) % SLOTS))
        };
        let last = if number == 0 { lane.packets.len() - 1 } else { usize::MAX };
        let mut end = part.end;
        while end > part.start {
            let run = end.saturating_sub(RUN).max(part.start)..end;
            for (at, packet) in run.clone().zip(&lane.packets[run.clone()]) {
                // SAFETY: a slot of the ring, which is empty: the device has taken all packets before. It reads the
                // header meanwhile, and nothing else.
                unsafe {
                    AtomicU32::from_ptr(slot(at)).store(Packet::INVALID.header_word(), Ordering::Relaxed);
                    slot(at).add(1).copy_from_nonoverlapping(packet.words().as_ptr().add(1), 15);
                }
            }
            let set = |packet: usize, place: SignalPlace, signal: &hsa::Signal| {
                let handle = slot(packet).cast::<u64>().wrapping_add(place.double());
                // SAFETY: a word of a slot whose header is invalid: as above.
                unsafe { handle.write(signal.handle().handle) };
            };
            // CAST: packets of a lane are numbered in 32 bits.
            let from = lane.patches.partition_point(|(packet, ..)| (*packet as usize) < run.start);
            for (packet, place, signal) in &lane.patches[from..] {
                if *packet as usize >= run.end {
                    break;
                }
                set(*packet as usize, *place, &self.signals[*signal as usize]);
            }
            if run.contains(&last) {
                set(last, SignalPlace::Completion, &self.done);
            }
            for at in run.clone().rev() {
                // SAFETY: as above.
                let header = unsafe { AtomicU32::from_ptr(slot(at)) };
                header.store(lane.packets[at].header_word(), Ordering::Release);
            }
            end = run.start;
        }
        // CAST: indices stay far below 2^63.
        // SAFETY: the doorbell is the queue's.
        unsafe { (api.hsa_signal_store_screlease)(doorbell_signal, (first + part.len() - 1) as i64) };
    }
}

#[cfg(test)]
mod tests {
    use hsa::packet::BarrierAnd;

    use super::*;
    use aqlipse_bench::shape::Shape;

    use crate::bench::measure;

    fn packet(value: u64) -> Packet {
        let mut packet = BarrierAnd::default().packet();
        packet.set_completion_signal(hsa_sys::hsa_signal_t { handle: value });
        packet
    }

    #[test]
    fn a_launch_is_copied_with_its_signals_and_takes_place() {
        const NULL: &str = "AQLIPSE_EMULATE_NULL";
        if std::env::var_os(NULL).is_none_or(|value| value != "1") {
            // Kernels of the image are not known to these queues: only a device on which kernels do nothing takes them.
            let name = "bench::floor::tests::a_launch_is_copied_with_its_signals_and_takes_place";
            let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
            let run = alone
                .args(["--exact", name])
                .env(NULL, "1")
                .env("AQLIPSE_DEVICE", "emulated")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(
                run.status.success() && said.contains("1 passed"),
                "{said}{}",
                String::from_utf8_lossy(&run.stderr)
            );
            return;
        }
        for (shape, nodes) in [(Shape::Straight, 1), (Shape::ForkJoin, 145), (Shape::Paths(4), 2000)] {
            let image = measure::image(shape, nodes).unwrap();
            let packets: usize = image.lanes.iter().map(|lane| lane.packets.len()).sum();
            assert!(packets >= nodes, "{shape:?}: {packets}");
            let mut ring = DeviceRing::new(image).unwrap();
            // It comes back when the last packet has fired, which waits for all others.
            for _ in 0..12 {
                let [called, complete] = ring.copy();
                assert!(called <= complete);
            }
        }
    }

    #[test]
    fn packets_arrive_whole_and_in_order() {
        let mut ring = Ring::new();
        let packets: Vec<_> = (0..SLOTS as u64 - 10).map(packet).collect();
        ring.copy(&packets);
        ring.copy(&packets[..100]);
        for (at, value) in
            [(0, 10), (89, 99), (90, 90), (SLOTS - 11, SLOTS - 11), (SLOTS - 10, 0), (SLOTS - 1, 9)]
        {
            assert_eq!(ring.slots[at], packet(value as u64));
        }
    }
}
