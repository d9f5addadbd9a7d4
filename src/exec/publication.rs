//! The packets of one launch, published to several queues.
//!
//! A launch first claims slots for its runs, in their order, then copies the packets queue by queue, and rings each
//! queue's doorbell once. That is what keeps queues that several streams share from deadlock, however their packets mix:
//! each packet waits only for packets whose slots were claimed before its own, and a launch that has claimed slots
//! publishes them without waiting for anything. A queue whose slots were claimed all at once, before those of the queues that it waits
//! for, could stand in front of another launch's packets that get into those queues first.
//!
//! A copy by an engine is submitted where its run comes: all that it waits for is published by then, and nothing is that
//! waits for it. An engine's ring is in order, as a queue is. So a copy, too, waits only for what was submitted before it,
//! to a queue or to an engine. Of all that was submitted and has not completed, what was submitted first can always go on:
//! no circle of waits closes through an engine, and launches need no lock among each other. The HSA runtime waits for room
//! in an engine's ring. The launch holds no claims then, and no copy in the ring waits for what the launch has yet to
//! publish: there will be room, however many copies it has.

#![forbid(unsafe_code)]

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{
    device::{
        lane::{BEGINNING, LONG, Lane, LaneClaim, Slots},
        pause::Pause,
    },
    error::Result,
};
use aqlipse_graph::image::{EngineStep, Image, Run};

/// Claims that are held at once; more runs than that are published in turns, each with a doorbell for each queue.
const HELD: usize = 32;

/// Claimed slots, and the packets to be copied there.
struct Piece<'l> {
    claim: LaneClaim<'l>,
    run: Run,
}

/// Publishes an image to `lanes`; `fill` may replace words of a lane's packets before their headers turn valid. `engine` has
/// a copy engine do a step, or says that it does not: the step's packets are published then.
///
/// Of a long image the beginning is announced ahead of the rest, so that the device starts while that is copied. An image
/// for which there is no room goes in parts.
///
/// # Errors
/// The fault that has taken a lane; parts of the image may have been published by then.
pub(super) fn publish(
    image: &Image,
    lanes: &[Arc<Lane>],
    mut engine: impl FnMut(&EngineStep) -> bool,
    mut fill: impl FnMut(u32, &mut Slots<'_, '_>),
) -> Result<()> {
    let mut queue = Remaining { runs: &image.runs, next: image.runs.first().copied() };
    if image.lanes.iter().map(|lane| lane.packets.len()).sum::<usize>() > LONG
        && let Some(first) = queue.next
        && let Some(beginning) = queue.claim(lanes, BEGINNING)?
    {
        copy(beginning, image, true, |slots| fill(first.lane, slots));
    }
    let has_engines = image.has_engines();
    let mut pause = Pause::default();
    while let Some(next) = queue.next {
        if has_engines
            && let Some(step) = step_of(image, next)
            && engine(step)
        {
            queue.skip();
            continue;
        }
        let mut pieces: SmallVec<[Piece<'_>; HELD]> = SmallVec::new();
        // A thread that holds claims must not wait for room: nothing retires behind a slot that is claimed.
        while pieces.len() < HELD
            && (pieces.is_empty() || !has_engines || !queue.is_at_engine(image))
            && let Some(piece) = queue.claim(lanes, usize::MAX)?
        {
            pieces.push(piece);
        }
        if pieces.is_empty() {
            pause.wait();
            continue;
        }
        pause = Pause::default();
        let mut left: SmallVec<[usize; 8]> = SmallVec::from_elem(0, lanes.len());
        pieces.iter().for_each(|piece| left[piece.run.lane as usize] += 1);
        // By lanes: one is behind the other, and none waits longer for its doorbell than it must.
        pieces.sort_unstable_by_key(|piece| (piece.run.lane, piece.run.start));
        for piece in pieces {
            let lane = piece.run.lane;
            left[lane as usize] -= 1;
            copy(piece, image, left[lane as usize] == 0, |slots| fill(lane, slots));
        }
    }
    Ok(())
}

/// What is not claimed yet.
struct Remaining<'i> {
    runs: &'i [Run],
    /// What is left of the first of them.
    next: Option<Run>,
}

/// The engine's step that a run stands for, if it does.
fn step_of(image: &Image, run: Run) -> Option<&EngineStep> {
    let steps = &image.lanes[run.lane as usize].engine;
    let at = steps.binary_search_by_key(&run.start, |step| step.packets.start).ok()?;
    steps.get(at)
}

impl Remaining<'_> {
    /// Leaves a run out that an engine does.
    fn skip(&mut self) {
        self.runs = &self.runs[1..];
        self.next = self.runs.first().copied();
    }

    /// Whether the next run is a step of an engine.
    fn is_at_engine(&self, image: &Image) -> bool {
        self.next.is_some_and(|run| step_of(image, run).is_some())
    }

    /// Claims slots for as much of the next run as there is room for, and for at most so many packets.
    fn claim<'l>(&mut self, lanes: &'l [Arc<Lane>], most: usize) -> Result<Option<Piece<'l>>> {
        let Some(run) = self.next else { return Ok(None) };
        let packets = (run.end - run.start) as usize;
        let Some(claim) = lanes[run.lane as usize].claim(packets.min(most))? else { return Ok(None) };
        // CAST: no more than there are packets.
        let middle = run.start + claim.len() as u32;
        self.next = match middle == run.end {
            true => {
                self.runs = &self.runs[1..];
                self.runs.first().copied()
            }
            false => Some(Run { start: middle, ..run }),
        };
        Ok(Some(Piece { claim, run: Run { end: middle, ..run } }))
    }
}

fn copy(piece: Piece<'_>, image: &Image, ring: bool, fill: impl FnMut(&mut Slots<'_, '_>)) {
    let Piece { claim, run } = piece;
    claim.publish(&image.lanes[run.lane as usize].packets, run.start as usize, ring, fill);
}
