//! What hardware does to programs that the emulator spares them unless it is asked: `AQLIPSE_EMULATE_HARDWARE`.

use std::{fmt, str::FromStr};

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
}

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

    /// The switch that a name stands for.
    fn switch(&mut self, name: &str) -> Option<&mut bool> {
        match name {
            "discrete" => Some(&mut self.discrete),
            "no-bar" => Some(&mut self.no_bar),
            "no-atomics" => Some(&mut self.no_atomics),
            _ => None,
        }
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
            "{:?} is no trait of hardware (discrete, no-bar and no-atomics are; reset, memory-error, hang and ",
            self.0
        )?;
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
            match hardware.switch(item) {
                Some(switch) => *switch = true,
                None => hardware.failures.push(failure(item).ok_or_else(|| UnknownTrait(item.into()))?),
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
    }

    #[test]
    fn what_names_no_trait_is_refused() {
        for wrong in ["reset", "reset@0", "reset@x", "melt@1", "hang@1:x", "hang@1,quake"] {
            let error = wrong.parse::<Hardware>().unwrap_err();
            assert!(error.to_string().contains("is no trait"), "{error}");
        }
    }
}
