//! Where workgroups run on emulated devices, and when.
//!
//! The emulator says it of each dispatch before it signals that it is over. Of one that is noted its completion signal tells
//! which it is, and it is recorded with what is known of the kernel; any other, such as one that a kernel has launched, at once.

use std::{collections::HashMap, sync::LazyLock};

use emulator::{OnUnits, UnitObserver, UnitPlace, UnitSlice};
use parking_lot::Mutex;
use timeline::{Details, is_on, recorder, track::Track};

type Slices = Vec<(UnitPlace, UnitSlice)>;

/// By completion signal, where the workgroups of noted kernels have run; nothing until a kernel has.
static EXPECTED: LazyLock<Mutex<HashMap<u64, Slices>>> = LazyLock::new(Mutex::default);

/// Has emulated devices say it from now on.
pub(super) fn watch() {
    emulator::observe_units(Box::new(Watcher));
}

/// A kernel is noted whose packet has this completion signal.
pub(super) fn expect(completion: u64) {
    EXPECTED.lock().insert(completion, Slices::new());
}

/// Where the workgroups of a noted kernel have run; none on a card.
pub(super) fn take(completion: u64) -> Slices {
    EXPECTED.lock().remove(&completion).unwrap_or_default()
}

/// Records where workgroups of a kernel have run; `details` are known of the kernel.
pub(super) fn record(
    device: usize,
    slices: impl IntoIterator<Item = (UnitPlace, UnitSlice)>,
    name: &str,
    details: &Details,
) {
    for (UnitPlace { die, engine, unit }, slice) in slices {
        let details = details.clone().number("workgroup", slice.workgroup);
        let details = match slice.workgroups {
            1 => details,
            several => details.number("workgroups", several).number("busy", slice.busy),
        };
        let track = Track::Unit { device, die, engine, unit, row: 0 };
        recorder::in_rows(track, (slice.start, slice.end), "workgroups", name, details);
    }
}

struct Watcher;

impl UnitObserver for Watcher {
    fn is_watching(&self) -> bool {
        is_on()
    }

    fn ran(&self, OnUnits { device, queue, completion, kernel, slices }: OnUnits<'_>) {
        if let Some(expected) = EXPECTED.lock().get_mut(&completion) {
            *expected = slices;
            return;
        }
        let details = Details::default().number("queue", queue);
        record(device as usize, slices, &aqlipse_graph::dot::readable(&kernel()), &details);
    }
}
