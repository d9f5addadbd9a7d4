//! What cards do that the emulated device spares programs unless it is asked.

use std::path::Path;

use aqlipse::{ARGUMENTS_VARIABLE, Backend, Error, Options, typed::Graph};

use super::{
    resident::{Way, chain},
    *,
};

const HARDWARE: &str = "AQLIPSE_EMULATE_HARDWARE";

#[test]
fn arguments_that_change_between_launches_reach_cards_behind_pcie() {
    for (traits, place) in [("discrete", "device"), ("no-bar", "device"), ("discrete", "host")] {
        let test = "runtime::hardware::arguments_that_change_between_launches_reach_cards_behind_pcie";
        in_child(test, &[(HARDWARE, traits), (ARGUMENTS_VARIABLE, place)], || {
            let (stream, log) = (stream(), Log::new(60));
            let mut graph = Graph::new(&device());
            let first = graph.kernel(&log.append(0), &[]).unwrap();
            let second = graph.kernel(&log.append(1), &[first]).unwrap();
            let exec = graph.instantiate().unwrap();
            for launch in 0..30 {
                exec.launch(&stream).unwrap();
                if launch % 2 == 0 {
                    stream.synchronize().unwrap();
                }
                exec.set_kernel(second, &log.append(2 * launch + 3)).unwrap();
                exec.set_kernel(first, &log.append(2 * launch + 2)).unwrap();
            }
            stream.synchronize().unwrap();
            assert_eq!(log.entries(), (0..60).collect::<Vec<_>>());
        });
        if std::env::var(CHILD).is_ok() {
            return; // The child has one of them.
        }
    }
}

#[test]
fn nothing_waits_for_atomics_that_the_link_does_not_carry() {
    let test = "runtime::hardware::nothing_waits_for_atomics_that_the_link_does_not_carry";
    in_child(test, &[(HARDWARE, "no-atomics")], || {
        if Path::new("/dev/kfd").exists() && device().backend() != Backend::Emulated {
            return; // The links of a card are what they are.
        }
        assert!(!device().properties().host_atomics);
        let log = Log::new(2);
        let refused = |error| matches!(error, Some(Error::NotSupported(why)) if why.contains("atomic"));
        let exec = if device().backend() == Backend::Emulated {
            // What the packet processor takes needs none. Kernels that launch it do.
            let exec = Way::Buffer.instantiate(&chain(&log, [1, 2]));
            assert!(refused(exec.device_graph().err()));
            exec
        } else {
            chain(&log, [1, 2]).instantiate().unwrap()
        };
        exec.launch(&stream()).unwrap();
        device().synchronize().unwrap();
        assert_eq!(log.entries(), [1, 2]);
        let by_kernel = Way::Launcher.options(Options::default());
        assert!(refused(chain(&log, [1, 2]).instantiate_with(by_kernel).err()));
    });
}
