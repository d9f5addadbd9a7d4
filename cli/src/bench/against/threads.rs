//! Launches by several threads at once, each of an executable of its own on a stream of its own, beside as many threads
//! that copy the same packets into queues of their own: what threads share shows in the calls of the one and not in those
//! of the other.

use std::{sync::Barrier, thread};

use super::{
    costs::floor_of,
    library::Failed,
    protocol::{Quantity, Times},
    session::Session,
};
use aqlipse_bench::shape::Shape;

/// Threads, and what their calls and copies are called.
pub const THREADS: [(usize, Quantity, Quantity); 3] = [
    (1, Quantity::CallBy1, Quantity::FloorBy1),
    (2, Quantity::CallBy2, Quantity::FloorBy2),
    (4, Quantity::CallBy4, Quantity::FloorBy4),
];

/// Nodes of the graphs.
pub const NODES: usize = 32;

/// Launches, or copies, of each thread; the first does not count.
const ROUNDS: usize = 401;

/// Times of single calls, in nanoseconds, for each number of threads.
///
/// # Errors
/// The first call that fails.
pub fn of_threads(session: &Session, shape: Shape) -> Result<Times, Failed> {
    let graph = session.graph(shape, NODES)?;
    let mut times = Times::new();
    for (threads, call, floor) in THREADS {
        let launchers = (0..threads).map(|_| session.launcher(&graph)).collect::<Result<Vec<_>, _>>()?;
        times.push((call, at_once(launchers, |launcher| launcher.call())?));
        let rings = (0..threads).map(|_| floor_of(shape, NODES)).collect::<Result<Vec<_>, _>>()?;
        times.push((floor, at_once(rings, |ring| Ok(ring.copy()[0]))?));
    }
    Ok(times)
}

/// Has each of `workers` work again and again in a thread of its own; what it took each time.
fn at_once<W: Send>(
    workers: Vec<W>,
    work: impl Fn(&mut W) -> Result<f64, Failed> + Sync,
) -> Result<Vec<f64>, Failed> {
    let start = Barrier::new(workers.len());
    let run = |mut worker: W| {
        start.wait();
        let times = (0..ROUNDS).map(|_| work(&mut worker)).collect::<Result<Vec<_>, _>>()?;
        Ok(times[1..].to_vec())
    };
    let times = thread::scope(|scope| {
        let threads: Vec<_> = workers.into_iter().map(|worker| scope.spawn(|| run(worker))).collect();
        let died = |_| Err(Failed::Wrong("a thread that launches died".into()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(died)).collect::<Result<Vec<_>, _>>()
    });
    Ok(times?.concat())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_workers_are_at_it_at_the_same_time() {
        let at_work = AtomicUsize::new(0);
        let times = at_once(vec![false; 3], |began| {
            if !std::mem::replace(began, true) {
                at_work.fetch_add(1, Ordering::Relaxed);
                while at_work.load(Ordering::Relaxed) < 3 {
                    thread::yield_now();
                }
            }
            Ok(1.0)
        });
        assert_eq!(times, Ok(vec![1.0; 3 * (ROUNDS - 1)]));
        let broken = |_: &mut ()| Err(Failed::Missing("hipGraphLaunch"));
        assert_eq!(at_once(vec![()], broken), Err(Failed::Missing("hipGraphLaunch")));
    }
}
