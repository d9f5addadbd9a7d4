//! Loom explores every interleaving of threads that submit to streams, let go of them and wait for the default stream. What
//! lies on the device is a list of packets for each lane; none ever completes, so that nothing is waited for by luck.

#[path = "activity_counter.rs"]
#[allow(clippy::duplicate_mod, reason = "the same code on other atomics is what a model is")]
mod activity_counter;
#[path = "roll.rs"]
#[allow(clippy::duplicate_mod, dead_code, reason = "the same code on another lock is what a model is")]
mod roll;

use loom::{model::Builder, sync::Arc, thread};
// What the parts stand on.
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use self::{activity_counter::ActivityCounter, roll::Roll};
use super::tail::Tail;
use crate::loom_mutex::{Mutex, MutexGuard};

/// Behind the first so many packets of a lane.
type Fence = (usize, usize);

#[derive(Clone, Copy, PartialEq)]
enum Packet {
    Work(u32),
    Wait(Fence),
    Marker,
}

#[derive(Default)]
struct State {
    tail: Tail,
    last: Option<Fence>,
}

struct Stream {
    lane: usize,
    state: Mutex<State>,
    activity: AtomicU64,
    /// The default stream's activity that the stream is behind; of the default stream its latest look.
    seen: AtomicU64,
    seen_by_legacy: AtomicU64,
    is_legacy: bool,
}

/// A device with two lanes, whose default stream is on the first.
struct World {
    lanes: [Mutex<Vec<Packet>>; 2],
    roll: Roll<Arc<Stream>, Fence>,
    activity_counter: ActivityCounter,
    order: Mutex<()>,
    legacy: Arc<Stream>,
}

/// The right to append to a stream, as `submit::Submission`.
struct Submission<'a> {
    world: &'a World,
    stream: &'a Stream,
    state: MutexGuard<'a, State>,
    packets: Vec<Packet>,
}

impl Submission<'_> {
    fn publish(&mut self) -> Fence {
        let mut lane = self.world.lanes[self.stream.lane].lock();
        lane.append(&mut self.packets);
        (self.stream.lane, lane.len())
    }

    fn note_activity(&self) {
        let activity = self.stream.activity.load(Ordering::Relaxed) + 1;
        self.stream.activity.swap(activity, Ordering::SeqCst);
        if !self.stream.is_legacy {
            self.world.activity_counter.submitted();
        }
    }

    fn wait(&mut self, fence: Fence) {
        if fence.0 != self.stream.lane {
            self.packets.push(Packet::Wait(fence));
        } else if self.state.last != Some(fence) {
            self.state.tail.join();
        }
    }

    fn flush(&mut self) {
        if !self.packets.is_empty() {
            self.publish();
            self.state.tail.publish();
            self.note_activity();
        }
        if self.state.tail.take_joined() {
            self.note_activity();
        }
    }

    fn fence(mut self) -> (Fence, u64) {
        self.flush();
        let known = self.state.last.filter(|_| self.state.tail.is_empty());
        let fence = known.unwrap_or_else(|| {
            self.packets.push(Packet::Marker);
            let fence = self.publish();
            self.state.last = Some(fence);
            self.state.tail.end();
            self.note_activity();
            fence
        });
        (fence, self.stream.activity.load(Ordering::Relaxed))
    }
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            lanes: Default::default(),
            roll: Roll::default(),
            activity_counter: ActivityCounter::default(),
            order: Mutex::default(),
            legacy: Arc::new(Self::stream(0, true)),
        })
    }

    fn stream(lane: usize, is_legacy: bool) -> Stream {
        Stream {
            lane,
            state: Mutex::default(),
            activity: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            seen_by_legacy: AtomicU64::new(0),
            is_legacy,
        }
    }

    /// A new blocking stream.
    fn enter(&self, lane: usize) -> Arc<Stream> {
        let stream = Arc::new(Self::stream(lane, false));
        self.roll.enter(stream.clone());
        stream
    }

    /// Lets a stream go, as its last holder.
    fn leave(&self, stream: &Arc<Stream>) {
        let (fence, _) = self.open(stream).fence();
        *stream.state.lock() = State::default();
        self.roll.replace(|known| Arc::ptr_eq(known, stream), Some(fence));
    }

    fn open<'a>(&'a self, stream: &'a Stream) -> Submission<'a> {
        Submission { world: self, stream, state: stream.state.lock(), packets: Vec::new() }
    }

    /// As `Stream::submission`, `legacy::is_behind` and `legacy::catch_up`.
    fn submission<'a>(&'a self, stream: &'a Stream) -> Submission<'a> {
        let submission = self.open(stream);
        let seen = stream.seen.load(Ordering::Acquire);
        let is_behind = match stream.is_legacy {
            true => self.activity_counter.is_none_since(seen),
            false => self.legacy.activity.load(Ordering::Acquire) == seen,
        };
        if is_behind {
            return submission;
        }
        drop(submission);
        let _order = self.order.lock();
        let (mut fences, mut passed) = (Vec::new(), Vec::new());
        let seen = if stream.is_legacy {
            let look = self.activity_counter.look();
            let (streams, detached) = self.roll.all(|&detached| detached);
            for other in streams {
                let activity = other.activity.load(Ordering::Acquire);
                if activity != other.seen_by_legacy.load(Ordering::Relaxed) {
                    let (fence, activity) = self.open(&other).fence();
                    fences.push(fence);
                    passed.push((other, activity));
                }
            }
            fences.extend(detached);
            look
        } else {
            let (fence, activity) = self.open(&self.legacy).fence();
            fences.push(fence);
            activity
        };
        let mut submission = self.open(stream);
        fences.into_iter().for_each(|fence| submission.wait(fence));
        submission.flush();
        for (other, activity) in passed {
            other.seen_by_legacy.store(activity, Ordering::Relaxed);
        }
        stream.seen.store(seen, Ordering::Release);
        submission
    }

    fn submit(&self, stream: &Stream, work: u32) {
        let mut submission = self.submission(stream);
        submission.packets.push(Packet::Work(work));
        submission.flush();
    }

    /// The fence that a caller waits for who synchronises with a stream.
    fn synchronize(&self, stream: &Stream) -> Fence {
        self.submission(stream).fence().0
    }

    /// Whether `work` is over when `fence` has fired.
    fn covers(&self, (lane, end): Fence, work: u32) -> bool {
        let before = self.lanes[lane].lock()[..end].to_vec();
        before.into_iter().any(|packet| match packet {
            Packet::Work(other) => other == work,
            Packet::Wait(fence) => self.covers(fence, work),
            Packet::Marker => false,
        })
    }
}

fn explore(model: impl Fn() + Sync + Send + 'static) {
    // What loom switches threads with keeps something of a thread that has a model, which a leak checker would find.
    if std::env::var_os("AQLIPSE_SANITIZER").is_some() {
        return;
    }
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// Work on the default stream, then on a new stream of another thread, which says so; whoever hears of it and waits for the
/// default stream waits for both.
fn a_first_submission_is_waited_for(lane: usize, leaves: bool) {
    explore(move || {
        let (world, told) = (World::new(), Arc::new(AtomicBool::new(false)));
        world.submit(&world.legacy, 1);
        let other = {
            let (world, told) = (world.clone(), told.clone());
            thread::spawn(move || {
                let stream = world.enter(lane);
                world.submit(&stream, 2);
                told.store(true, Ordering::Release);
                if leaves {
                    world.leave(&stream);
                }
            })
        };
        let was_told = told.load(Ordering::Acquire);
        let fence = world.synchronize(&world.legacy);
        assert!(world.covers(fence, 1), "the default stream's own");
        assert!(!was_told || world.covers(fence, 2), "the other thread's");
        other.join().unwrap();
        let fence = world.synchronize(&world.legacy);
        assert!(world.covers(fence, 2), "what was missed would be missed for ever");
    });
}

#[test]
fn the_default_stream_is_behind_a_new_stream_on_its_lane() {
    a_first_submission_is_waited_for(0, false);
}

#[test]
fn the_default_stream_is_behind_a_new_stream_on_another_lane() {
    a_first_submission_is_waited_for(1, false);
}

#[test]
fn the_default_stream_is_behind_a_stream_that_is_being_let_go() {
    a_first_submission_is_waited_for(0, true);
    a_first_submission_is_waited_for(1, true);
}

#[test]
fn two_threads_that_wait_for_the_default_stream_wait_for_all() {
    explore(|| {
        let world = World::new();
        let stream = world.enter(0);
        world.submit(&stream, 1);
        let other = {
            let world = world.clone();
            thread::spawn(move || {
                let fence = world.synchronize(&world.legacy);
                assert!(world.covers(fence, 1));
            })
        };
        let fence = world.synchronize(&world.legacy);
        assert!(world.covers(fence, 1));
        other.join().unwrap();
    });
}

#[test]
fn a_blocking_stream_is_behind_the_default_stream() {
    for lane in 0..2 {
        explore(move || {
            let (world, told) = (World::new(), Arc::new(AtomicBool::new(false)));
            let other = {
                let (world, told) = (world.clone(), told.clone());
                thread::spawn(move || {
                    world.submit(&world.legacy, 1);
                    told.store(true, Ordering::Release);
                })
            };
            let stream = world.enter(lane);
            let was_told = told.load(Ordering::Acquire);
            let fence = world.synchronize(&stream);
            assert!(!was_told || world.covers(fence, 1));
            other.join().unwrap();
        });
    }
}
