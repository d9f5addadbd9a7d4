//! What hardware does to programs that the emulator spares them unless it is asked: `AQLIPSE_EMULATE_HARDWARE`.

use std::{fmt, str::FromStr};

use crate::agent::Agent;

/// The traits of hardware that are emulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// What goes wrong.
    pub failures: Vec<Failure>,
    /// Devices are cards behind PCIe. Their memory is not the host's to touch but where it is allocated for that, and what
    /// the host stores there is on its way until it flushes the device's data path or reads something back.
    pub discrete: bool,
    /// The host reaches no memory of such cards at all: they have no large BAR.
    pub no_bar: bool,
    /// Atomic operations of devices do not reach host memory.
    pub no_atomics: bool,
    /// The host has two sockets, a CPU agent each. Device `n` is near socket `n % 2`, and what kernels read of host memory
    /// is counted by socket.
    pub two_sockets: bool,
    /// A process has 4096 interrupt events; further signals have none.
    pub few_events: bool,
    /// A device serves 24 queues at a time; more take turns.
    pub few_queues: bool,
    /// A process locks at most 1 GiB of host memory.
    pub little_locked_memory: bool,
    /// The kernel driver has no shared virtual memory, as where it is built without device-private pages.
    pub no_svm: bool,
}

/// Interrupt events of a process, as the kernel driver limits them.
pub const EVENTS: u32 = 4096;
/// Queues that a device serves at a time: three pipes of eight queues, as the kernel driver leaves to programs.
pub const QUEUES: u32 = 24;
/// Bytes of host memory that devices may reach where little can be locked. The kernel driver's limit is a share of the
/// machine's memory; this one is small enough to be met.
pub const LOCKED_MEMORY: u64 = 1 << 30;

/// Something that goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it is.
    pub kind: FailureKind,
    /// The kernel dispatch that it befalls, counted from 1 among those of its device.
    pub dispatch: u64,
    /// The device, by position.
    pub device: u32,
}

/// How hardware fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The device hangs and is reset: every queue of it stops, and no queue reports an error. System event handlers are
    /// told of a hang.
    Reset,
    /// An error of memory that cannot be corrected. Every queue of the device stops; system event handlers are told.
    MemoryError,
    /// The dispatch never ends. No error is reported.
    Hang,
    /// The queue stops with an error.
    QueueError,
}

impl FailureKind {
    const NAMES: [(&str, Self); 4] = [
        ("reset", Self::Reset),
        ("memory-error", Self::MemoryError),
        ("hang", Self::Hang),
        ("queue-error", Self::QueueError),
    ];
}

impl Hardware {
    /// Whether the host can reach memory of devices.
    pub fn reaches_devices(&self) -> bool {
        !self.no_bar
    }

    /// CPU agents of the host.
    pub fn sockets(&self) -> u32 {
        if self.two_sockets { 2 } else { 1 }
    }

    /// The socket that a device is near.
    pub fn socket_of(&self, device: u32) -> u32 {
        device % self.sockets()
    }

    /// How far an agent is from another, as the kernel driver weighs links: 20 for each that is behind PCIe, and 32 for
    /// the way between sockets.
    pub fn distance(&self, from: Agent, to: Agent) -> u32 {
        let socket = |agent| match agent {
            Agent::Host(socket) => socket,
            Agent::Gpu(device) => self.socket_of(device),
        };
        let links = [from, to].into_iter().filter_map(Agent::gpu).count();
        // CAST: at most 2.
        20 * links as u32 + if socket(from) == socket(to) { 0 } else { 32 }
    }

    /// Bytes of host memory that devices may reach, if they are limited.
    pub fn locked_memory(&self) -> Option<u64> {
        self.little_locked_memory.then_some(LOCKED_MEMORY)
    }

    /// Switches on what a name stands for, if it names traits.
    fn switch(&mut self, name: &str) -> bool {
        let traits: &mut [&mut bool] = match name {
            "discrete" => &mut [&mut self.discrete],
            "no-bar" => &mut [&mut self.no_bar],
            "no-atomics" => &mut [&mut self.no_atomics],
            "two-sockets" => &mut [&mut self.two_sockets],
            "few-events" => &mut [&mut self.few_events],
            "few-queues" => &mut [&mut self.few_queues],
            "little-locked-memory" => &mut [&mut self.little_locked_memory],
            "no-svm" => &mut [&mut self.no_svm],
            "scarce" => &mut [&mut self.few_events, &mut self.few_queues, &mut self.little_locked_memory],
            _ => return false,
        };
        traits.iter_mut().for_each(|on| **on = true);
        true
    }

    /// What befalls a dispatch of a device.
    pub(crate) fn failure(&self, device: u32, dispatch: u64) -> Option<FailureKind> {
        let befalls = |failure: &&Failure| (failure.device, failure.dispatch) == (device, dispatch);
        self.failures.iter().find(befalls).map(|failure| failure.kind)
    }
}

/// An item of `AQLIPSE_EMULATE_HARDWARE` that names no trait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTrait(String);

impl fmt::Display for UnknownTrait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no trait of hardware (discrete, no-bar, no-atomics, two-sockets, scarce, few-events, few-queues, ",
            self.0
        )?;
        f.write_str("little-locked-memory and no-svm are; reset, memory-error, hang and ")?;
        f.write_str(
            "queue-error with @ and the number of a dispatch, and : and that of a device: reset@3, hang@1:0)",
        )
    }
}

impl FromStr for Hardware {
    type Err = UnknownTrait;

    /// Reads traits that are separated by commas: a name, `KIND@DISPATCH` or `KIND@DISPATCH:DEVICE`.
    fn from_str(text: &str) -> Result<Self, UnknownTrait> {
        let mut hardware = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            if !hardware.switch(item) {
                hardware.failures.push(failure(item).ok_or_else(|| UnknownTrait(item.into()))?);
            }
        }
        // A card without large BAR is one behind PCIe.
        hardware.discrete |= hardware.no_bar;
        Ok(hardware)
    }
}

fn failure(item: &str) -> Option<Failure> {
    let (name, place) = item.split_once('@')?;
    let (dispatch, device) = place.split_once(':').unwrap_or((place, "0"));
    let (_, kind) = *FailureKind::NAMES.iter().find(|(known, _)| *known == name)?;
    let dispatch = dispatch.parse().ok().filter(|dispatch| *dispatch > 0)?;
    Some(Failure { kind, dispatch, device: device.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_name_their_dispatch_and_device() {
        let hardware: Hardware = "reset@3, hang@1:2".parse().unwrap();
        assert_eq!(hardware.failure(0, 3), Some(FailureKind::Reset));
        assert_eq!(hardware.failure(2, 1), Some(FailureKind::Hang));
        assert_eq!((hardware.failure(0, 1), hardware.failure(2, 3)), (None, None));
        assert_eq!("".parse(), Ok(Hardware::default()));
    }

    #[test]
    fn traits_are_switched_on_by_name() {
        let hardware: Hardware = "discrete, no-atomics".parse().unwrap();
        assert!(hardware.discrete && hardware.no_atomics && hardware.reaches_devices());
        let hardware: Hardware = "no-bar".parse().unwrap();
        assert!(hardware.discrete && !hardware.reaches_devices());
        let hardware: Hardware = "scarce".parse().unwrap();
        assert!(hardware.few_events && hardware.few_queues && hardware.locked_memory().is_some());
        assert_eq!((hardware.sockets(), Hardware::default().locked_memory()), (1, None));
    }

    #[test]
    fn devices_are_near_one_socket_and_far_from_the_other() {
        use Agent::{Gpu, Host};
        let two: Hardware = "two-sockets".parse().unwrap();
        let distances = |device| [0, 1].map(|socket| two.distance(Gpu(device), Host(socket)));
        assert_eq!([distances(0), distances(1), distances(2)], [[20, 52], [52, 20], [20, 52]]);
        assert_eq!([two.distance(Gpu(0), Gpu(2)), two.distance(Gpu(1), Gpu(2))], [40, 72]);
        assert_eq!((two.distance(Host(0), Host(1)), Hardware::default().distance(Gpu(1), Host(0))), (32, 20));
    }

    #[test]
    fn what_names_no_trait_is_refused() {
        for wrong in ["reset", "reset@0", "reset@x", "melt@1", "hang@1:x", "hang@1,quake"] {
            let error = wrong.parse::<Hardware>().unwrap_err();
            assert!(error.to_string().contains("is no trait"), "{error}");
        }
    }
}
