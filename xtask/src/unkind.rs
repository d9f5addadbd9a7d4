//! Test runs on emulated devices that behave as hardware does where it is unkind: `AQLIPSE_EMULATE_HARDWARE`.

/// What runs on a device, as nextest is told of it.
pub const RUNTIME: &str =
    "(package(aqlipse) or package(aqlipse-cli) or package(capi) or package(aqlipse-hsa))";

/// The traits with which everything must run: cards behind PCIe, whose memory the host may not touch; beside two sockets;
/// with little of everything.
pub const TRAITS: [&str; 4] = ["discrete", "no-bar", "two-sockets", "scarce"];

/// [`TRAITS`] by twos, of different parts of a machine. ROCr meets the first two.
const PAIRS: [&str; 2] = ["discrete,scarce", "no-bar,two-sockets"];

/// How a device goes about its work: in order, in a random legal order, and with caches that keep coherent only what fences
/// ask for.
const ORDERS: [&[(&str, &str)]; 3] = [
    &[],
    &[("AQLIPSE_EMULATE_SEED", "5")],
    &[("AQLIPSE_EMULATE_COHERENCE", "strict"), ("AQLIPSE_EMULATE_SEED", "6")],
];

/// Tests of the runtime that run on any device; not those with rings in device memory, where each store of a packet would be
/// two signals: these run so with [`everything`].
pub const ON_CARDS: &str = "(package(aqlipse) and kind(lib)) or (binary(=main) and test(/^runtime::/) and not \
    test(/tests_pass_with_rings_in_device_memory|^runtime::rings::/))";

/// Of the runtime, what depends most on the order of packets and on what fences make visible.
const SELECTED: &str = "binary(=main) and test(/^runtime::(events|relaunches|streams|updates|waits)::/)";

/// Tests below valgrind, beside which memory cannot be hidden from the host: both handle the faults.
const BELOW_VALGRIND: &str =
    "(binary(=main) and test(/^instructions::|^programs::the_host_side_has_no_memory_errors$/))";

/// Tests that move so much that strict caches, which look up every access, take many minutes; others do the same with less.
const LARGE: &str = "(binary(=main) and test(/^programs::full_size_passes$/) or \
    package(capi) and test(/^fault_injection::a_copy_that_fails_is_over$/))";

/// One run of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The value of `AQLIPSE_DEVICE`, or the default one.
    pub device: Option<&'static str>,
    /// The traits.
    pub traits: String,
    /// Further variables for the device.
    pub order: &'static [(&'static str, &'static str)],
    /// The tests, as nextest is told of them.
    pub tests: String,
}

impl Run {
    fn new(device: Option<&'static str>, traits: &str, order: usize, tests: &str) -> Self {
        Self { device, traits: traits.into(), order: ORDERS[order], tests: tests.into() }
    }

    /// The variables of the device.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        std::iter::once(("AQLIPSE_EMULATE_HARDWARE", self.traits.as_str())).chain(self.order.iter().copied())
    }
}

/// What every change must pass.
pub fn selection() -> Vec<Run> {
    let in_order = PAIRS.iter().map(|traits| Run::new(None, traits, 0, ON_CARDS));
    let on_rocr = Run::new(Some("rocr"), PAIRS[0], 0, ON_CARDS);
    let strict = ["discrete", "two-sockets", "scarce"].map(|traits| Run::new(None, traits, 2, SELECTED));
    in_order.chain([on_rocr]).chain(strict).collect()
}

/// Everything that runs on a device, with some traits or with each of [`TRAITS`] if there are none, but for tests whose names
/// begin with one of `without`.
pub fn everything(traits: &str, without: &[&str]) -> Vec<Run> {
    let chosen = [traits];
    let all = if traits.is_empty() { &TRAITS[..] } else { &chosen };
    let without: String =
        without.iter().map(|name| format!(" and not (binary(=main) and test(/^{name}/))")).collect();
    let tests = format!(
        "{RUNTIME} and not test(tests_pass_with_rings_in_device_memory) and not {BELOW_VALGRIND}{without}"
    );
    let mut runs = Vec::new();
    for traits in all {
        runs.extend((0..2).map(|order| Run::new(None, traits, order, &tests)));
        runs.push(Run::new(None, traits, 2, &format!("{tests} and not {LARGE}")));
        runs.push(Run::new(Some("rocr"), traits, 0, &tests));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_meets_every_trait() {
        let runs = selection();
        let in_order = runs.iter().filter(|run| run.tests == ON_CARDS && run.device.is_none());
        let met: Vec<_> = in_order.flat_map(|run| run.traits.split(',')).collect();
        assert!(TRAITS.iter().all(|traits| met.contains(traits)), "{met:?}");
    }

    #[test]
    fn everything_runs_with_every_trait_in_every_order() {
        let runs = everything("", &["device::"]);
        for traits in TRAITS {
            for order in ORDERS {
                let is_meant =
                    |run: &&Run| run.traits == traits && run.order == order && run.device.is_none();
                let run = runs.iter().find(is_meant).unwrap();
                assert!(run.tests.contains("not (binary(=main) and test(/^device::/))"));
                assert!(run.variables().any(|variable| variable == ("AQLIPSE_EMULATE_HARDWARE", traits)));
            }
        }
        assert!(everything("few-queues", &[]).iter().all(|run| run.traits == "few-queues"));
    }
}
