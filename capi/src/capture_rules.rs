//! What each kind of call is to captures, and what to call instead: the kinds of the column `capture` in `exports.tsv`.
//!
//! The rules are those of CUDA's `cudaThreadExchangeStreamCaptureMode` and Programming Guide ("Prohibited and Unhandled
//! Operations"), which HIP 7 follows ("HIP 7.0 changes", stream capture).

use aqlipse::capture::{Class, Rule};

use crate::symbols;

/// The rule of an exported call, if it has to do with streams, memory or graphs.
pub fn rule(call: &str) -> Option<Rule> {
    symbols::find(call)?.capture
}

const LAUNCHED: &str = "end the capture, launch its graph, and wait for the stream that it was launched on";
const ASYNC: &str = "use the call's asynchronous form on the stream that captures";

const fn kind(class: Class, instead: &'static str) -> Option<Rule> {
    Some(Rule { class, instead })
}

/// Neither streams, memory nor graphs are its subject.
pub(crate) const NONE: Option<Rule> = None;
/// Launches, copies, fills, allocations and frees on a stream.
pub(crate) const CAPTURED: Option<Rule> = kind(Class::Captured, "make the call on the stream that captures");
/// Events.
pub(crate) const MARK: Option<Rule> = kind(
    Class::Mark,
    "record and wait on streams of the capture; an event from outside goes in with hipEventRecordExternal and \
     hipEventWaitExternal",
);
pub(crate) const ASKS: Option<Rule> = kind(Class::Asks, "ask for the stream that captures");
pub(crate) const SESSION: Option<Rule> =
    kind(Class::Session, "end the capture on the stream, and in the thread, that it was begun on");
pub(crate) const WAITS: Option<Rule> = kind(Class::Waits, LAUNCHED);
pub(crate) const WAITS_EVENT: Option<Rule> = kind(
    Class::WaitsEvent,
    "record an event behind the launch of the captured graph; a thread that only watches other work takes \
     relaxed mode with hipThreadExchangeStreamCaptureMode",
);
pub(crate) const WAITS_DEVICE: Option<Rule> = kind(Class::WaitsDevice, LAUNCHED);
/// Waits for the devices of both ends.
pub(crate) const COPIES_TO_PEER: Option<Rule> =
    kind(Class::WaitsDevice, "use hipMemcpyPeerAsync on the stream that captures");
/// Allocates at once.
pub(crate) const ALLOCATES: Option<Rule> = kind(
    Class::Unsafe,
    "allocate with hipMallocAsync on the stream that captures, or before the capture, or capture in relaxed \
     mode",
);
/// Frees at once.
pub(crate) const FREES: Option<Rule> = kind(
    Class::Unsafe,
    "free with hipFreeAsync on the stream that captures, or behind the capture, or capture in relaxed mode",
);
/// Other calls that act at once.
pub(crate) const UNSAFE: Option<Rule> =
    kind(Class::Unsafe, "call it before the capture or behind it, or capture in relaxed mode");
pub(crate) const RESTRICTED: Option<Rule> =
    kind(Class::Restricted, "call it before the capture or behind it, or capture in relaxed mode");
/// A copy that waits, though a stream is named.
pub(crate) const COPIES_AND_WAITS: Option<Rule> = kind(Class::Restricted, ASYNC);
pub(crate) const DEFAULT_STREAM: Option<Rule> = kind(Class::DefaultStream, ASYNC);
pub(crate) const THREAD_STREAM: Option<Rule> = kind(Class::ThreadStream, ASYNC);
pub(crate) const CALLBACK: Option<Rule> =
    kind(Class::Callback, "use hipLaunchHostFunc, which becomes a node");
pub(crate) const UNCAPTURABLE: Option<Rule> =
    kind(Class::Uncapturable, "make the call on a stream that does not capture");
pub(crate) const ALLOWED: Option<Rule> = kind(Class::Allowed, "");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_refused_has_advice() {
        for symbol in symbols::all() {
            let Some(rule) = rule(symbol.name) else { continue };
            assert_eq!(rule.instead.is_empty(), rule.class == Class::Allowed, "{}", symbol.name);
        }
        assert_eq!(rule("hipMalloc"), ALLOCATES);
        assert_eq!(rule("hipNoSuchFunction"), None);
    }
}
