//! What becomes of a stream's work when the last copy of the stream is gone: it runs, and keeps what it needs.

use super::{Held, StreamInner, StreamKind, Submission};
use crate::{
    device::{Fence, clocks},
    error::Result,
    memory::stream_pool::free_lists,
};

/// Work in flight of a stream that is gone.
pub(crate) struct DetachedWork {
    pub(crate) work: DetachedEnd,
    /// Kernel arguments, and fences of earlier work with what they keep.
    _rest: Box<dyn Send + Sync>,
}

/// How others wait for it.
#[derive(Clone)]
pub(crate) struct DetachedEnd {
    /// Fires behind all of it.
    pub(crate) fence: Fence,
    /// The lane that the fence lies on.
    pub(crate) lane: u64,
    pub(crate) kind: StreamKind,
    /// The execution context of its stream, 0 for none.
    pub(crate) context: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let capture = self.capture.lock().take();
        if let Some(member) = capture {
            member.session.leave(self.id, member.dependencies);
        }
        let detached = self.detach_if_needed();
        clocks::end(self.id);
        // Until here others find the stream's work with the stream, from here with the detached work.
        self.device.shared_by_streams().adopt(&self.0, detached);
    }
}

impl StreamInner {
    /// What is in flight, if anything is. The memory that was freed on the stream goes back.
    fn detach_if_needed(&self) -> Option<DetachedWork> {
        if !self.state.lock().has_rest() {
            free_lists::give_back_all(&self.freed, self.id, None);
            return None;
        }
        match self.device.lane(self.lane_number()).and_then(|lane| self.detached(lane)) {
            Ok(detached) => {
                let work = detached.as_ref().map(|detached| &detached.work);
                let behind = work.map(|work| (work.fence.clone(), work.lane));
                free_lists::give_back_all(&self.freed, self.id, behind);
                detached
            }
            // Only a fault, which has taken the work: the stream has the signal that it takes.
            Err(error) => {
                tracing::warn!("letting go of a stream with work in flight: {error}");
                free_lists::abandon(&self.freed);
                None
            }
        }
    }

    /// Closes the stream with a fence; `None` if all of its work was lost in a fault.
    fn detached(&self, lane: std::sync::Arc<crate::device::lane::Lane>) -> Result<Option<DetachedWork>> {
        let id = lane.id();
        let state = self.state.lock();
        let end = Submission::new(self, state, lane).close()?;
        let mut state = std::mem::take(&mut *self.state.lock());
        state.leave_behind(&end);
        let rest = state.into_rest();
        Ok(rest.map(|(fence, rest)| DetachedWork {
            work: DetachedEnd { fence, lane: id, kind: self.kind, context: self.context },
            _rest: rest,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use crate::{
        Device, Event, Exec, Options, Stream, StreamKind, Template,
        graph::{HostFn, Node},
    };

    /// Lets a stream go with work in flight, whose launch is not its last, and waits for it.
    fn leave_behind(work: impl FnOnce(&Device, &Stream)) {
        let device = Device::get(0).unwrap();
        let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
        let gate = Arc::new(Barrier::new(2));
        let other = gate.clone();
        let hold = move || {
            other.wait();
        };
        stream.host(HostFn::new(hold)).unwrap();
        work(&device, &stream);
        stream.host(HostFn::new(|| {})).unwrap();
        drop(stream);
        gate.wait();
        device.drain().unwrap();
    }

    #[test]
    fn a_launch_lets_go_of_its_graphs_memory() {
        let held = Arc::new(());
        leave_behind(|device, stream| {
            let mut template = Template::new(device);
            let (node, address) = template.add_allocation(device, 4096, &[]).unwrap();
            template.add_free(address, &[node]).unwrap();
            template.add(Node::Host(HostFn::new(|| {})), &[]).unwrap();
            let kept: crate::device::fence::Alive = held.clone();
            template.keep(&[kept]);
            Exec::new(&template, Options::default()).unwrap().launch(stream).unwrap();
        });
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn a_launch_lets_go_of_an_event_that_stands_for_it() {
        let held = Arc::new(());
        leave_behind(|device, stream| {
            let (event, kept) = (Event::new(false), held.clone());
            let mut template = Template::new(device);
            template.add(Node::EventWait(event.clone()), &[]).unwrap();
            template.add(Node::Host(HostFn::new(move || drop(kept.clone()))), &[]).unwrap();
            Exec::new(&template, Options::default()).unwrap().launch(stream).unwrap();
            stream.record_event(&event).unwrap();
        });
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
