//! What captures leave behind.

use std::sync::{Arc, Weak};

use super::{Mode, begin, end};
use crate::{Device, Event, Stream, StreamKind};

#[test]
fn an_event_does_not_hold_the_graph_of_a_capture_that_has_ended() {
    let stream = Stream::new(&Device::get(0).unwrap(), StreamKind::NonBlocking, 0);
    let event = Event::new(false);
    begin(&stream, Mode::Relaxed, None).unwrap();
    // The graph holds the event, which stands for a place in it.
    stream.record_event_external(&event).unwrap();
    stream.record_event(&event).unwrap();
    let graph = Arc::downgrade(&end(&stream).unwrap());
    assert_eq!(Weak::strong_count(&graph), 0);
    // It counts as never recorded.
    stream.wait(&event).unwrap();
    event.synchronize().unwrap();
}
