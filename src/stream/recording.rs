//! A stream's part in a capture: what is put on the stream becomes nodes.

#![forbid(unsafe_code)]

use std::{
    ptr,
    sync::{Arc, atomic::Ordering},
};

use parking_lot::MutexGuard;

use super::{
    Captured, Event, Membership, Node, Recorder, Stream, StreamKind,
    rules::{Reason, Status},
};
use crate::{
    check::{Call, Waited},
    device::fence::Alive,
    error::{CaptureError, Error, Result, explain},
};
use aqlipse_graph::NodeId;

/// What a wait for an event goes by where no exported call names it.
const WAITING: &str = "waiting for an event";

const NOT_CAPTURING: Error = Error::IllegalState("the stream does not capture");

impl Stream {
    /// Whether calls on the stream are being recorded into a graph.
    pub fn is_capturing(&self) -> bool {
        self.0.capturing.load(Ordering::Acquire)
    }

    /// Whether the stream captures, and whether the capture is still good.
    pub(crate) fn capture_status(&self) -> Status {
        self.with_capture(|capture| match capture {
            None => Status::None,
            Some(member) if member.session.is_broken() => Status::Invalidated,
            Some(_) => Status::Active,
        })
    }

    /// The stream's part in a capture, for `f` to read or change.
    pub(crate) fn with_capture<T>(&self, f: impl FnOnce(&mut Option<Membership>) -> T) -> T {
        let mut capture = self.capture();
        let result = f(&mut capture);
        self.0.capturing.store(capture.is_some(), Ordering::Release);
        result
    }

    fn capture(&self) -> MutexGuard<'_, Option<Membership>> {
        self.0.capture.lock()
    }

    /// Adds a captured node behind the stream's latest; a kernel that was given no priority gets the stream's.
    pub(crate) fn record(&self, mut node: Node) -> Result<()> {
        if let Node::Kernel(kernel) = &mut node
            && kernel.attributes.priority == 0
        {
            kernel.attributes.priority = self.priority();
        }
        self.extend_capture(|session, after| Ok((session.add(self.device(), node, after)?, ())))
    }

    /// Lets `add` put one node behind what the stream captured last.
    ///
    /// # Errors
    /// What `add` returns, and the capture is invalid then; [`CaptureError::Invalidated`] if it is already.
    pub(crate) fn extend_capture<T>(
        &self,
        add: impl FnOnce(&Arc<dyn Recorder>, &[NodeId]) -> Result<(NodeId, T)>,
    ) -> Result<T> {
        let mut capture = self.capture();
        let member = capture.as_mut().ok_or(NOT_CAPTURING)?;
        if member.session.is_broken() {
            return Err(CaptureError::Invalidated.into());
        }
        match add(&member.session, &member.dependencies) {
            Ok((node, value)) => {
                let after = std::mem::replace(&mut member.dependencies, vec![node]);
                if let Some(log) = member.session.log() {
                    log.note(self.id(), Call::Node { node, after: after.into() });
                }
                Ok(value)
            }
            Err(error) => {
                let rule = format!("it failed, and the graph would lack it: {error}");
                let reason = Reason::new("a captured call", rule).on(self);
                member
                    .session
                    .break_by(&reason.instead("find out before the capture whether it can succeed"));
                Err(error)
            }
        }
    }

    /// Lets the captured graph keep `objects` alive.
    pub(super) fn keep_in_capture(&self, objects: &[Alive]) -> Result<()> {
        self.capture().as_ref().ok_or(NOT_CAPTURING)?.session.keep(objects);
        Ok(())
    }

    /// Spoils the capture that the stream takes part in; `false` if it takes part in none.
    pub(crate) fn invalidate(&self, reason: impl FnOnce() -> Reason) -> bool {
        if !self.is_capturing() {
            return false;
        }
        let capture = self.capture();
        if let Some(member) = &*capture {
            let reason = reason();
            member.session.break_by(&if reason.has_stream() { reason } else { reason.on(self) });
        }
        capture.is_some()
    }

    /// Puts the stream's place in its capture into `event`; `false` if it does not capture.
    pub(super) fn record_in_capture(&self, event: &Event) -> bool {
        let capture = self.capture();
        let Some(member) = &*capture else { return false };
        // HIP: 5.2.3 and the runtime of October 2024 take events in a broken capture, too
        // (tests/conformance/capture_after_invalidation.cpp).
        if let Some(log) = member.session.log() {
            let behind = member.dependencies.as_slice().into();
            log.note(self.id(), Call::Record { event: event.id(), behind });
        }
        event.set_captured(Captured {
            session: Arc::downgrade(&member.session),
            dependencies: member.dependencies.clone(),
        });
        true
    }

    /// Joins the stream to the capture that `event` was recorded in; `None` if neither has to do with a capture. A wait
    /// that is refused changes nothing.
    pub(super) fn wait_in_capture(&self, event: &Event) -> Option<Result<()>> {
        let captured = event.captured();
        let recorded = event.fence().is_some();
        let note = |session: &dyn Recorder, what| {
            if let Some(log) = session.log() {
                log.note(self.id(), Call::Wait { event: event.id(), what });
            }
        };
        self.with_capture(|capture| match (capture.as_mut(), captured) {
            (None, None) => None,
            // HIP: 5.2.3 and the runtime of October 2024 refuse an event that was recorded before the capture began, and
            // let the capture go on (tests/conformance/capture_isolation.cpp).
            (Some(member), None) => Some(if recorded {
                note(&*member.session, Waited::Outside);
                explain(Reason::new(WAITING, "the event was recorded outside the capture").on(self).instead(
                    "record it on a stream of the capture, wait for it before the capture, or wait with \
                         hipEventWaitExternal",
                ));
                Err(CaptureError::Isolation.into())
            } else {
                note(&*member.session, Waited::Nothing);
                Ok(())
            }),
            (Some(member), Some(at)) => {
                Some(if !ptr::addr_eq(Arc::as_ptr(&member.session), at.session.as_ptr()) {
                    explain(Reason::new(WAITING, "the event belongs to another capture").on(self).instead(
                        "fork both from one capture, or end them apart and join their graphs as child graphs",
                    ));
                    Err(CaptureError::Merge.into())
                } else {
                    note(&*member.session, Waited::Place);
                    for node in at.dependencies {
                        if !member.dependencies.contains(&node) {
                            member.dependencies.push(node);
                        }
                    }
                    Ok(())
                })
            }
            (None, Some(at)) => {
                let joined = self.join(capture, at);
                if let Some(member) = &*capture {
                    note(&*member.session, Waited::Place);
                }
                Some(joined)
            }
        })
    }

    fn join(&self, capture: &mut Option<Membership>, at: Captured) -> Result<()> {
        if self.kind() == StreamKind::Legacy {
            // HIP: as the runtime of October 2024, which lets the capture go on
            // (tests/conformance/capture_legacy_waits.cpp).
            explain(
                Reason::new(WAITING, "the default stream cannot join a capture")
                    .on(self)
                    .instead("wait on a stream that was created, or on the thread's own"),
            );
            return Err(Error::InvalidHandle);
        }
        // An event of a capture that has ended stands for nothing.
        if let Some(session) = at.session.upgrade()
            && session.join(self)?
        {
            *capture = Some(Membership { session, dependencies: at.dependencies });
        }
        Ok(())
    }
}
