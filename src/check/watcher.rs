//! What devices and the host do is looked at as they do it.

#![forbid(unsafe_code)]

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use emulator::{Asked, Dispatched, How, Observer, Starting, os::hidden::HostAccess};

use super::{
    code,
    command::Command,
    finding::Finding,
    host::{self, InFlight},
    lives::{self, Lives},
    made::Site,
    state::{CHECKS, State, Stray},
};
use crate::device::{Tool, checked, clocks};

/// How long a thread that touches what it must not waits for the others.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pointers of a dispatch that is about to start which point nowhere.
fn stray_pointers(lives: &Lives, command: &Arc<Command>, dispatch: &Starting<'_>) -> Vec<Stray> {
    let mut strays = Vec::new();
    for &(number, offset) in &*code::pointers(dispatch.kernel_object) {
        let Some(address) = (dispatch.word)(offset.into()).filter(|address| *address != 0) else { continue };
        let is_freed = lives.is_over(command, address);
        // What is right behind memory is its end.
        let is_somewhere = || [address, address - 1].into_iter().any(dispatch.is_memory);
        if is_freed || !is_somewhere() {
            strays.push(Stray { number, address, is_freed });
        }
    }
    strays
}

/// The host has waited for something, or this thread does what commands come behind.
pub(super) fn waited() {
    let Some(checks) = CHECKS.get().filter(|_| host::is_any_closed()) else { return };
    checks.state.lock().closed.open(|InFlight { command, .. }| {
        clocks::host_is_behind(&command.moment) || clocks::is_behind_this_thread(&command.moment)
    });
}

/// Whether other processes may write memory of this one.
pub(super) static IS_SHARED: AtomicBool = AtomicBool::new(false);

pub(super) struct Watcher;

impl Observer for Watcher {
    /// The runtime's wait for a value is ended by a write that may come at any time, and so is one for what another process
    /// writes.
    fn is_patient(&self, kernel_object: u64) -> bool {
        IS_SHARED.load(Ordering::Relaxed) || code::is_own(kernel_object)
    }

    fn host_touches(&self, address: u64, how: How, pc: u64) -> bool {
        // Whoever holds the lock does not touch such memory, except in this library.
        let state = CHECKS.get().and_then(|checks| Some((checks, checks.state.try_lock_for(PATIENCE)?)));
        let Some((checks, mut state)) = state else {
            return host::open(host::page_of(address), HostAccess::ReadWrite);
        };
        let may_go_on = state.host_touches(address, how, pc);
        checks.tell(&mut state);
        may_go_on
    }

    fn starting(&self, dispatch: &Starting<'_>) {
        let wanted = checked::is_any_on(&[Tool::Graph, Tool::Init, Tool::Memory]);
        let Some(checks) = CHECKS.get().filter(|_| wanted) else { return };
        let mut state = checks.state.lock();
        state.may_tell_host(dispatch);
        let State { expected, forgotten, lives, strays, .. } = &mut *state;
        let Some(command) = expected.get(&dispatch.arguments).and_then(VecDeque::front) else { return };
        if checked::is_on(Tool::Memory) {
            let found = stray_pointers(lives, command, dispatch);
            if !found.is_empty() {
                strays.insert(dispatch.arguments, found);
            }
        }
        // What may be behind anything counts as behind all, and still is not behind what was submitted later.
        let comes_before = |begun: &Command| begun.number() <= command.number() && begun.is_before(command);
        for (_, bytes) in forgotten.extract_if(.., |(begun, _)| comes_before(begun)) {
            emulator::uninitialize(bytes);
        }
    }

    fn asked(&self, arguments: u64, page: Range<u64>) -> Vec<Asked> {
        let Some(checks) = CHECKS.get().filter(|_| checked::is_on(Tool::Memory)) else { return Vec::new() };
        let state = checks.state.lock();
        let Some(command) = state.expected.get(&arguments).and_then(VecDeque::front) else {
            return Vec::new();
        };
        lives::asked(&state.lives.forbidden(command, page.clone()), &page)
    }

    fn dispatched(&self, dispatch: &Dispatched<'_>) {
        let Some(checks) = CHECKS.get() else { return };
        let mut state = checks.state.lock();
        let next = state.expected.get_mut(&dispatch.arguments).and_then(VecDeque::pop_front);
        if state.expected.get(&dispatch.arguments).is_some_and(VecDeque::is_empty) {
            state.expected.remove(&dispatch.arguments);
        }
        // What is compared is kept.
        let compares = checked::is_any_on(&[Tool::Graph, Tool::Memory]);
        if let Some(command) = next.as_ref().filter(|_| compares) {
            state.compare(command, dispatch);
        }
        state.look_into(next.as_deref(), dispatch);
        if dispatch.refused.is_some() || dispatch.deadlock.is_some() {
            // The host does not come behind what is lost.
            state.closed.open(|_| true);
        }
        let strays = state.strays.remove(&dispatch.arguments);
        if let Some((command, strays)) = next.as_ref().zip(strays) {
            state.tell_strays(command, dispatch, strays);
        }
        if let Some(command) = next.as_ref().filter(|_| checked::is_on(Tool::Init)) {
            state.look_at_copy(command, dispatch.touched);
        }
        if let Some(command) = next.filter(|_| checked::is_on(Tool::Edges)) {
            state.look_at_edges(&command, dispatch.touched);
        }
        checks.tell(&mut state);
    }
}

impl State {
    /// What is behind what came before a dispatch the host may hear from that: by a word that it polls.
    fn may_tell_host(&mut self, dispatch: &Starting<'_>) {
        if !host::is_any_closed() || !code::may_tell_host(dispatch, host::is_hosts) {
            return;
        }
        let Self { expected, closed, .. } = self;
        let teller = expected.get(&dispatch.arguments).and_then(VecDeque::front);
        closed.open(|one| teller.is_none_or(|teller| one.command.is_before(teller)));
    }

    /// The host touches memory that is closed to it; whether it may go on, with the memory open.
    fn host_touches(&mut self, address: u64, how: How, pc: u64) -> bool {
        let met = self.closed.open(|one| one.forbids(address, how));
        // Another thread may have opened it meanwhile.
        if met.is_empty() && host::is_hosts(address) {
            return self.closed.protect(&host::page_of(address));
        }
        let is_open = !met.is_empty() || host::open(host::page_of(address), HostAccess::ReadWrite);
        let Some(frames) = Site::interrupted(pc).map(|site| site.look_up().frames) else { return is_open };
        // A function of the host that a stream calls may touch what a copy touches that was submitted meanwhile, behind it.
        let too_early = met.iter().filter(|one| !clocks::is_behind_this_thread(&one.command.moment));
        let commands = too_early.map(|one| Some(one.command.party(one.how)));
        let of_device = met.is_empty() && checked::is_on(Tool::Memory);
        for command in commands.chain(of_device.then_some(None)) {
            let place =
                frames.first().map_or(String::new(), |frame| format!("{}+{}", frame.object, frame.offset));
            let (other, what) =
                command.clone().map_or_else(Default::default, |party| (party.place, party.what));
            if self.known.insert([other, what, place, format!("host {how:?}")]) {
                let (frames, near) = (frames.clone(), self.near(address));
                self.found.push(Finding::Host { command, how, address, frames, near });
            }
        }
        is_open
    }
}
