use super::session::{Session, barrier, dispatch};
use crate::harness::{Level, code_object};
use emulator::Target;
use hsa_sys::*;
use std::time::Instant;
#[test]
#[ignore]
fn measure() {
    let session = Session::new();
    let object = code_object("KERNEL empty() {}", Target::Gfx90a, Level::O1).unwrap();
    let k = session.kernel(0, &object, "empty");
    let kernarg = session.array::<u64>(1);
    let queue = session.queue(0, 16384);
    let mut times = vec![];
    for _ in 0..2000 {
        let s = session.signal(1);
        let t = Instant::now();
        queue.submit(&[dispatch(0, k, 1, kernarg, s)]);
        assert!(session.finished(s));
        times.push(t.elapsed().as_nanos());
        unsafe { (session.hsa.hsa_signal_destroy)(s) };
    }
    times.sort();
    println!("empty kernel round trip ns: p10 {} p50 {} p90 {}", times[200], times[1000], times[1800]);
    let mut times = vec![];
    for _ in 0..200 {
        let s = session.signal(1);
        std::thread::sleep(std::time::Duration::from_millis(2));
        let t = Instant::now();
        queue.submit(&[dispatch(0, k, 1, kernarg, s)]);
        assert!(session.finished(s));
        times.push(t.elapsed().as_nanos());
    }
    times.sort();
    println!("asleep round trip ns: p10 {} p50 {} p90 {}", times[20], times[100], times[180]);
    for (name, flags) in [("no bit", 0), ("bit", 1 << 8)] {
        for what in ["barrier", "kernel"] {
            let mut times = vec![];
            for _ in 0..30 {
                let s = session.signal(1);
                let none = hsa_signal_t { handle: 0 };
                let n = 8000;
                let mut p = vec![
                    if what == "barrier" {
                        barrier(HSA_PACKET_TYPE_BARRIER_AND, flags, &[], none)
                    } else {
                        dispatch(flags, k, 1, kernarg, none)
                    };
                    n
                ];
                p.push(barrier(HSA_PACKET_TYPE_BARRIER_AND, 1 << 8, &[], s));
                let t = Instant::now();
                queue.submit(&p);
                assert!(session.finished(s));
                times.push(t.elapsed().as_nanos() / n as u128);
            }
            times.sort();
            println!("{what} {name}: ns per packet p10 {} p50 {}", times[3], times[15]);
        }
    }
    queue.destroy();
}
