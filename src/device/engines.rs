//! When copies may go to a device's copy engines.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::{Device, Fence};

/// What keeps copies from engines for a while.
///
/// An engine does its copies in order, whatever streams they are of. If one waits, however indirectly, until a stream writes
/// a word, and a copy of that stream stands behind it, neither goes on. While a wait for a word may be under way, or one for
/// another process or another API, copies are therefore left to kernels.
#[derive(Default)]
pub(super) struct Engines {
    /// Whether `waits` has any.
    held: AtomicBool,
    /// The ends of such waits.
    waits: Mutex<Vec<Fence>>,
}

impl Engines {
    fn are_held(&self) -> bool {
        // ORDER: acquire, pairs with the release of the thread that holds them: a thread that comes behind a wait sees it.
        if !self.held.load(Ordering::Acquire) {
            return false;
        }
        let mut waits = self.waits.lock();
        waits.retain(|end| !end.is_over());
        self.held.store(!waits.is_empty(), Ordering::Release);
        !waits.is_empty()
    }
}

impl Device {
    /// Whether copies may go to the device's copy engines. Behind a fault none may: an engine still has what waits for lost
    /// packets, and whatever followed would wait behind it.
    pub(crate) fn engines_serve(&self) -> bool {
        self.0.properties.copy_engines && self.0.faults.epoch() == 0 && !self.0.engines.are_held()
    }

    /// Keeps copies from the engines of all devices until `end` has fired: what is about to be published before it waits for
    /// what may be submitted later, or elsewhere.
    pub(crate) fn hold_engines(&self, end: &Fence) {
        for device in self.0.system.devices() {
            let engines = &device.0.engines;
            let mut waits = engines.waits.lock();
            waits.retain(|end| !end.is_over());
            waits.push(end.clone());
            engines.held.store(true, Ordering::Release);
        }
    }
}
