//! What is known of commands and allocations, and what was found. What commands touch is compared as they end: with what others
//! have touched (`AQLIPSE_CHECK=graph`), and with the allocations (`memory`).

#![forbid(unsafe_code)]

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
    sync::{Arc, OnceLock},
};

use emulator::{Dispatched, How, Page, RaceAccess};
use parking_lot::Mutex;

use super::{
    allocations, captured, code,
    command::{Command, Launch, Place, Touch},
    drawing::Marked,
    finding::{Bytes, Finding, Instruction, Near, Pc},
    host::Closed,
    lives::{Life, Lives, Offence},
    made::Site,
    needless::Looked,
    report,
};
use crate::device::{Tool, checked, clocks};

pub(super) static CHECKS: OnceLock<Checks> = OnceLock::new();

/// The checks of the process.
pub(super) struct Checks {
    /// Whether findings are told as they are made; otherwise a [`Checker`] takes them.
    pub(super) is_told: bool,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// By the address of its arguments, the commands of a dispatch that have not run.
    pub(super) expected: HashMap<u64, VecDeque<Arc<Command>>>,
    /// What commands have touched of each page, by its first address, as far as it can still matter.
    pub(super) pages: HashMap<u64, Vec<Touch>>,
    pub(super) lives: Lives,
    pub(super) closed: Closed,
    /// Allocations with the commands that they begin with, behind which no dispatch has started: what was there is forgotten
    /// when one does.
    pub(super) forgotten: Vec<(Arc<Command>, Range<u64>)>,
    /// By the address of its arguments, the pointers that a dispatch that has started was given and that point nowhere.
    pub(super) strays: HashMap<u64, Vec<Stray>>,
    /// Launches of which some dispatches have not ended, if their edges are looked at: the first of each executable.
    pub(super) looked: Vec<Looked>,
    /// The executables of which there is one, or was.
    pub(super) executables: HashSet<u64>,
    pub(super) found: Vec<Finding>,
    /// The pairs that were told.
    pub(super) known: HashSet<[String; 4]>,
}

/// A pointer among a kernel's arguments that points to no memory, or to memory that was freed.
pub(super) struct Stray {
    /// Which argument it is.
    pub(super) number: u32,
    pub(super) address: u64,
    pub(super) is_freed: bool,
}

/// Bytes of a page that a command has touched, and one before it that nothing orders with it.
struct Conflict {
    with: Arc<Command>,
    bytes: Range<u64>,
    /// The bytes of the allocation.
    allocation: Range<u64>,
    /// How the one before has touched the first, and how the command.
    how: [How; 2],
}

impl Checks {
    /// Tells what was found, if it is to be told at once.
    pub(super) fn tell(&self, state: &mut State) {
        if self.is_told {
            state.found.drain(..).for_each(|finding| report::tell(&finding));
        }
    }
}

/// An access of a dispatch as findings name it.
pub(super) fn instruction(dispatch: &Dispatched<'_>, access: RaceAccess) -> Instruction {
    let RaceAccess { workgroup, wave, how, pc } = access;
    Instruction { workgroup, wave, how, pc: Pc::new(pc.wrapping_sub(dispatch.entry)) }
}

impl State {
    /// An allocation begins, with a command or for all that follows.
    pub(super) fn begin(
        &mut self,
        bytes: Range<u64>,
        command: Option<Arc<Command>>,
        site: Option<Arc<Site>>,
    ) {
        let born = command.as_ref().map_or_else(|| clocks::commands() + 1, |command| command.number());
        let site = site.unwrap_or_else(|| Arc::new(Site::here()));
        self.lives.begin(Life::new(bytes, born, command, site));
    }

    /// An allocation ends: what has used it must come before.
    pub(super) fn end(&mut self, address: u64, command: &Arc<Command>) {
        let Some(life) = self.lives.end(address, command) else { return };
        let pages = life.pages();
        let starts: Vec<u64> = match (pages.end - pages.start) / Page::BYTES < self.pages.len() as u64 {
            true => pages.step_by(Page::BYTES as usize).collect(),
            false => self.pages.keys().copied().filter(|start| pages.contains(start)).collect(),
        };
        let here = starts.into_iter().filter_map(|start| Some((start, self.pages.get(&start)?)));
        let mut offences: Vec<_> =
            here.flat_map(|(start, touches)| life.judge_earlier(start, touches)).collect();
        offences.sort_by(|(one, _), (other, _)| one.rank().cmp(&other.rank()));
        while let Some((command, offence)) = offences.pop() {
            let of_one = offences.extract_if(.., |(other, _)| Arc::ptr_eq(other, &command));
            let of_one = of_one.map(|(_, offence)| offence).chain([offence]).collect();
            self.accuse(&command, of_one, None);
        }
    }

    /// Says what a command has done to allocations, by a dispatch that has just ended if it is known.
    fn accuse(
        &mut self,
        command: &Arc<Command>,
        mut offences: Vec<Offence>,
        dispatch: Option<&Dispatched<'_>>,
    ) {
        offences.sort_by_key(|offence| (offence.misuse, offence.allocation(), offence.bytes.start));
        let same = |one: &Offence, other: &Offence| {
            (one.misuse, one.allocation()) == (other.misuse, other.allocation())
        };
        for of_one in offences.chunk_by(same) {
            let total = of_one.iter().map(|offence| offence.bytes.end - offence.bytes.start).sum();
            let offence = &of_one[0];
            let party = command.party(offence.how);
            let other =
                offence.other().map_or(String::new(), |other| format!("{} ({})", other.place(), other.what));
            let names =
                [&party.place, &party.what, &other, &format!("{:?}", offence.misuse)].map(String::clone);
            if self.known.insert(names) {
                let (misuse, bytes, made) =
                    (offence.misuse, offence.describe(total), offence.site().look_up());
                let dispatch = dispatch.filter(|dispatch| !code::is_own(dispatch.kernel_object));
                let first = dispatch.and_then(|dispatch| {
                    let first =
                        dispatch.firsts.iter().find(|first| first.bytes.contains(&bytes.first.start))?;
                    Some((code::of(dispatch), instruction(dispatch, first.access)))
                });
                let (code, access) =
                    first.map_or_else(Default::default, |(code, access)| (code, Some(access)));
                self.found.push(Finding::Memory { misuse, party, other, bytes, made, code, access });
            }
        }
    }

    /// A dispatch with these arguments is about to be published. They lie where those of an earlier one lay that is over.
    pub(super) fn expect(&mut self, arguments: u64, command: Arc<Command>, touches: Vec<(How, Range<u64>)>) {
        self.close(&command, touches);
        self.expected.insert(arguments, VecDeque::from([command]));
    }

    /// Keeps the host off what a command touches, until it has waited for that.
    pub(super) fn close(&mut self, command: &Arc<Command>, touches: Vec<(How, Range<u64>)>) {
        if checked::is_on(Tool::Graph) {
            self.closed.close(command, touches);
        }
    }

    /// The allocation at an address, or near it.
    pub(super) fn near(&self, address: u64) -> Option<Near> {
        let Some((allocation, is_freed, site)) = self.lives.near(address) else {
            let table = allocations::table()?;
            let (allocation, _) = table.extent(address)?;
            let made = table.site(allocation.start)?.look_up();
            return Some(Near { allocation, is_freed: false, made });
        };
        Some(Near { allocation: allocation.clone(), is_freed, made: site.look_up() })
    }

    /// Compares what a command has touched with what those have that ended before it and that nothing orders with it, and
    /// with the allocations.
    pub(super) fn compare(&mut self, command: &Arc<Command>, dispatch: &Dispatched<'_>) {
        let touched = dispatch.touched;
        if checked::is_on(Tool::Memory) {
            let mut offences = Vec::new();
            touched.pages().for_each(|(start, page)| self.lives.judge(command, start, page, &mut offences));
            self.accuse(command, offences, Some(dispatch));
        }
        let table = allocations::table().filter(|_| checked::is_on(Tool::Graph));
        let mut conflicts: Vec<Conflict> = Vec::new();
        for (start, page) in touched.pages() {
            let earlier = self.pages.entry(start).or_default();
            earlier.retain_mut(|touch| {
                if touch.command.is_unordered_with(command) {
                    let Some(table) = table else { return true };
                    for bytes in touch.page.conflicts(page, start) {
                        // What is the runtime's own is ordered by other means, and what was there before the allocation
                        // does not count.
                        let Some((allocation, born)) = table.extent(bytes.start) else { continue };
                        if touch.command.moment.number.min(command.moment.number) <= born {
                            continue;
                        }
                        let how =
                            [&touch.page, page].map(|page| page.how(start, bytes.start).unwrap_or(How::Read));
                        conflicts.push(Conflict { with: touch.command.clone(), bytes, allocation, how });
                    }
                    return true;
                }
                !touch.command.is_before(command) || touch.page.forget_before(page)
            });
            earlier.push(Touch { command: command.clone(), page: page.clone() });
        }
        conflicts.sort_by_key(|conflict| (Arc::as_ptr(&conflict.with).addr(), conflict.bytes.start));
        for of_one in conflicts.chunk_by(|one, other| Arc::ptr_eq(&one.with, &other.with)) {
            let total = of_one.iter().map(|conflict| conflict.bytes.end - conflict.bytes.start).sum();
            let Conflict { with: other, bytes, allocation, how } = &of_one[0];
            let mut parties = [other.party(how[0]), command.party(how[1])];
            let mut commands = [&**other, command];
            if command.rank() < other.rank() {
                parties.swap(0, 1);
                commands.swap(0, 1);
            }
            let [one, two] = &parties;
            let names = [&one.place, &one.what, &two.place, &two.what].map(String::clone);
            if self.known.insert(names) {
                let of_one_launch = command.shares_launch_with(other);
                let bytes = Bytes { first: bytes.clone(), total, allocation: allocation.clone() };
                let captured = captured(commands);
                let drawn = drawn(commands);
                self.found.push(Finding::Unordered { parties, of_one_launch, bytes, captured, drawn });
            }
        }
    }
}

/// The two nodes of one launch that commands are, if they are.
fn nodes_of_one_launch([one, other]: [&Command; 2]) -> Option<(&Launch, [&str; 2])> {
    match (&one.place, &other.place) {
        (Place::Node { launch, node, .. }, Place::Node { node: second, .. })
            if one.shares_launch_with(other) =>
        {
            Some((&**launch, [node, second]))
        }
        _ => None,
    }
}

/// How two nodes of a launch were captured that nothing orders.
fn captured(commands: [&Command; 2]) -> Vec<String> {
    let nodes = nodes_of_one_launch(commands);
    nodes.map_or_else(Vec::new, |(launch, nodes)| captured::explain(&launch.order.captures, nodes))
}

/// Draws the graphs of two commands that nothing orders; returns the names of the files.
fn drawn(commands: [&Command; 2]) -> Vec<String> {
    let draw =
        |of: &Launch, nodes: &[&str], edge| of.order.drawing.as_ref()?.write(of.executable, nodes, edge);
    if let Some((launch, nodes @ [one, other])) = nodes_of_one_launch(commands) {
        return draw(launch, &nodes, Some(Marked::Missing(one, other))).into_iter().collect();
    }
    let alone = commands.into_iter().filter_map(|command| match &command.place {
        Place::Node { launch, node, .. } => draw(launch, &[&**node], None),
        Place::Host | Place::Stream => None,
    });
    alone.collect()
}
