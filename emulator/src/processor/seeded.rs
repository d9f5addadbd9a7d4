//! The seeded schedule: one thing at a time, in any order that the specification allows.
//!
//! Whatever may legally happen next (the launch of a queue's front packet, some turns of any launched
//! dispatch) is put into a list, and the seed draws from it. Packets without the barrier bit thus run
//! behind later ones, queues overtake each other, and workgroups run in a drawn order, so that a
//! dependency that is missing from a program shows.

use super::engine::Engine;
use super::lane::Front;
use crate::workers::Turn;

/// Turns of a drawn dispatch before the next draw: most dispatches end within one draw, and one that
/// waits for another does not keep it from running.
const TURNS: u32 = 4096;

/// Something that may happen next.
#[derive(Clone, Copy)]
enum Choice {
    /// Launch the front packet of a lane.
    Launch(usize),
    /// Run a launched dispatch of a lane.
    Run(usize, usize),
}

impl Engine {
    /// Draws one of the legal next steps and takes it.
    pub(super) fn seeded_round(&mut self) -> bool {
        let mut worked = self.finish();
        self.turns.deal(&mut self.lanes, &self.device);
        let mut choices = Vec::new();
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            match lane.front() {
                Front::Nothing => {}
                Front::Pending(barrier) => lane.watch(&barrier),
                Front::Ready(..) | Front::Refused(_) if lane.has_place => choices.push(Choice::Launch(index)),
                Front::Ready(..) | Front::Refused(_) => {}
            }
            choices.extend((0..lane.running.len()).map(|dispatch| Choice::Run(index, dispatch)));
        }
        // Several draws, because some choices come to nothing: a full device, a dispatch that waits.
        for _ in 0..2 * choices.len() {
            let Some(random) = &mut self.random else { break };
            let done = match choices[random.below(choices.len())] {
                Choice::Launch(index) => self.step(index),
                Choice::Run(index, dispatch) => {
                    let dispatch = self.lanes[index].running[dispatch].dispatch.clone();
                    self.hand.turn_of(&dispatch, TURNS) == Turn::Worked
                }
            };
            if done {
                worked = true;
                break;
            }
        }
        worked | self.finish()
    }
}
