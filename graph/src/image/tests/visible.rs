//! A proof that packets see what they depend on, from the packets alone.
//!
//! Each unit writes one word. By the rules of the HSA memory model a packet's writes reach its device when it releases at
//! agent scope or wider, and everybody at system scope; a queue sees what had reached its device when a packet of it
//! acquired. Which of two things happens first in every run follows from the rules of queues: launches of a queue are in
//! order, a barrier bit waits for all completions before it, a signal fires at a completion. Nothing is known here of plans,
//! or of how fences were chosen.

use hsa::packet::{Fences, Scope};

use super::super::{Image, Patch, Source};
use super::{Field, unit_at};
use crate::template::Csr;

/// The start or the end of a packet, a host step or a copy by an engine, or the beginning of all.
type Event = usize;

/// What happens before all.
const BEGINNING: Event = 0;

struct Step {
    /// Nothing for the host's and for copies by engines.
    queue: Option<usize>,
    device: usize,
    fences: Fences,
    unit: Option<u32>,
}

/// What happens, and in which order it must.
struct Order {
    steps: Vec<Step>,
    /// By queue, its steps.
    queues: Vec<Vec<usize>>,
    /// By event, those that must come before it.
    before: Vec<Vec<bool>>,
}

const fn start(step: usize) -> Event {
    1 + 2 * step
}

const fn end(step: usize) -> Event {
    2 + 2 * step
}

impl Order {
    /// Copies that `by_engine` says of are done by engines, the others by the packets in their place.
    fn of(image: &Image, mut by_engine: impl FnMut() -> bool) -> Self {
        let (mut steps, mut queues) = (Vec::new(), Vec::new());
        let mut edges: Vec<(Event, Event)> = Vec::new();
        let mut fired: Vec<Vec<Event>> = vec![Vec::new(); image.signals as usize];
        let mut waits: Vec<(usize, u32)> = Vec::new();
        for (number, lane) in image.lanes.iter().enumerate() {
            let mut queue: Vec<usize> = Vec::new();
            let mut copied = vec![false; lane.packets.len()];
            for copy in lane.engine.iter().filter(|_| by_engine()) {
                copied[copy.packets.start as usize..copy.packets.end as usize].fill(true);
                let step = steps.len();
                let unit = Some(copy.unit);
                steps.push(Step { queue: None, device: lane.device.into(), fences: Fences::NONE, unit });
                // HSA promises no order among copies.
                waits.extend(copy.after.iter().map(|&signal| (step, signal)));
                fired[copy.done as usize].push(end(step));
            }
            for (packet, content) in lane.packets.iter().enumerate().filter(|(packet, _)| !copied[*packet]) {
                let step = steps.len();
                let fences = content.header().unwrap().fences;
                let unit = unit_at(image, number, packet);
                steps.push(Step { queue: Some(number), device: lane.device.into(), fences, unit });
                edges.extend(queue.last().map(|&before| (start(before), start(step))));
                if fences.barrier {
                    edges.extend(queue.iter().map(|&before| (end(before), start(step))));
                }
                queue.push(step);
                for &Patch { field, source, .. } in lane.patches_of(packet as u32) {
                    let Source::Launch(signal) = source else { continue };
                    match field {
                        Field::Completion => fired[signal as usize].push(end(step)),
                        Field::Dependency(_) => waits.push((step, signal)),
                    }
                }
            }
            queues.push(queue);
        }
        let first = steps.len();
        for host in &image.host {
            let step = steps.len();
            steps.push(Step { queue: None, device: 0, fences: Fences::NONE, unit: Some(host.unit) });
            if step > first {
                edges.push((end(step - 1), start(step)));
            }
            waits.extend(host.after.iter().map(|&signal| (step, signal)));
            host.done.into_iter().for_each(|signal| fired[signal as usize].push(end(step)));
        }
        edges.extend(waits.iter().flat_map(|&(step, signal)| {
            fired[signal as usize].iter().map(move |&fired| (fired, start(step)))
        }));
        edges.extend((0..steps.len()).flat_map(|step| [(BEGINNING, start(step)), (start(step), end(step))]));
        Self { before: closure(1 + 2 * steps.len(), &edges), steps, queues }
    }

    /// Whether one of some events comes first in every run.
    fn any_before(&self, events: &[Event], event: Event) -> bool {
        events.iter().any(|&first| first == event || self.before[event][first])
    }
}

/// What comes before each event through any number of edges.
fn closure(events: usize, edges: &[(Event, Event)]) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; events]; events];
    let (mut after, mut open) = (vec![Vec::new(); events], vec![0; events]);
    for &(from, to) in edges {
        after[from].push(to);
        open[to] += 1;
    }
    let mut ready: Vec<Event> = (0..events).filter(|&event| open[event] == 0).collect();
    while let Some(event) = ready.pop() {
        for &next in &after[event] {
            let known = before[event].clone();
            for (first, (next, known)) in before[next].iter_mut().zip(known).enumerate() {
                *next |= known || first == event;
            }
            open[next] -= 1;
            if open[next] == 0 {
                ready.push(next);
            }
        }
    }
    before
}

/// When a word is where, at the latest.
struct Word {
    /// After which events an acquire at system scope sees it.
    everybody: Vec<Event>,
    /// By device, after which events its queues see it that acquire.
    devices: Vec<Vec<Event>>,
}

impl Word {
    /// Written by a step, or before all.
    fn of(order: &Order, by: Option<usize>) -> Self {
        let devices = order.steps.iter().map(|step| step.device + 1).max().unwrap_or(1);
        let mut this = Self { everybody: Vec::new(), devices: vec![Vec::new(); devices] };
        match by.map(|by| (by, order.steps[by].queue)) {
            None => this.everybody.push(BEGINNING),
            Some((by, None)) => this.everybody.push(end(by)),
            Some((by, Some(queue))) => {
                // Its own release, or else that of a packet with the barrier bit behind it.
                let releases = |&&step: &&usize| {
                    let Fences { barrier, release, .. } = order.steps[step].fences;
                    step >= by && (step == by || barrier) && release != Scope::None
                };
                if let Some(&step) = order.queues[queue].iter().find(releases) {
                    let Step { fences, device, .. } = order.steps[step];
                    this.devices[device].push(end(step));
                    this.everybody.extend((fences.release == Scope::System).then_some(end(step)));
                }
            }
        }
        this.spread(order);
        this
    }

    /// Follows the word through packets that acquire it, and release what they see.
    fn spread(&mut self, order: &Order) {
        loop {
            let (mut more, known) = (false, |place: &mut Vec<Event>, event: Event| {
                let new = !place.contains(&event);
                place.extend(new.then_some(event));
                new
            });
            for queue in &order.queues {
                let mut seen = false;
                for &step in queue {
                    let Step { fences, device, .. } = order.steps[step];
                    if fences.acquire == Scope::System && order.any_before(&self.everybody, start(step)) {
                        more |= known(&mut self.devices[device], start(step));
                    }
                    seen |=
                        fences.acquire != Scope::None && order.any_before(&self.devices[device], start(step));
                    if seen && fences.release == Scope::System {
                        more |= known(&mut self.everybody, end(step));
                    }
                }
            }
            if !more {
                return;
            }
        }
    }

    /// Whether a step sees it in every run.
    fn reaches(&self, order: &Order, step: usize) -> bool {
        let Some(queue) = order.steps[step].queue else {
            return order.any_before(&self.everybody, start(step));
        };
        let acquires = |at: &&usize| order.steps[**at].fences.acquire != Scope::None;
        let mut queue = order.queues[queue].iter().filter(|&&at| at <= step).filter(acquires);
        queue.any(|&at| order.any_before(&self.devices[order.steps[at].device], start(at)))
    }
}

/// What an image leaves unproved of the words that units see of those in `preds`, and of what was before, and of what
/// everybody sees at the end of the launch. Copies that `by_engine` says of are done by engines.
pub(super) fn unproved(image: &Image, preds: &Csr, by_engine: impl FnMut() -> bool) -> Option<String> {
    let order = Order::of(image, by_engine);
    let mut steps: Vec<Option<usize>> = vec![None; preds.len()];
    for (number, step) in order.steps.iter().enumerate() {
        if let Some(unit) = step.unit {
            steps[unit as usize] = Some(number);
        }
    }
    let (before, last) = (Word::of(&order, None), *order.queues[0].last()?);
    let words: Vec<Option<Word>> =
        steps.iter().map(|step| step.map(|step| Word::of(&order, Some(step)))).collect();
    for (unit, step) in (0u32..).zip(&steps) {
        let Some(step) = *step else { return Some(format!("unit {unit} is not there")) };
        if !before.reaches(&order, step) {
            return Some(format!("unit {unit} may not see what was before the launch"));
        }
        for &pred in preds.row(unit) {
            if words[pred as usize].as_ref().is_none_or(|word| !word.reaches(&order, step)) {
                return Some(format!("unit {unit} may not see what unit {pred} wrote"));
            }
        }
    }
    let ended =
        |word: &Option<Word>| word.as_ref().is_some_and(|word| order.any_before(&word.everybody, end(last)));
    let open = words.iter().position(|word| !ended(word));
    open.map(|unit| format!("what unit {unit} wrote may not be visible when the launch is over"))
}
