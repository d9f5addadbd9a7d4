//! A trace in Chrome's JSON: the array of events that its own viewer, and Perfetto's, read.

use serde_json::{Map, Value, json};

use super::model::{Detail, Model, Slice, TrackKind};

/// The file.
pub fn json(model: &Model) -> Value {
    let mut events = Vec::new();
    for (index, track) in model.tracks.iter().enumerate() {
        let (what, number) = match track.kind {
            TrackKind::Process => ("process_name", 0),
            TrackKind::Counter => continue,
            _ => ("thread_name", thread(model, index)),
        };
        events.push(json!({
            "ph": "M", "pid": track.process, "tid": number, "name": what, "args": { "name": name(model, index) },
        }));
    }
    events.extend(model.slices.iter().map(|slice| event(model, slice)));
    events.extend(model.counts.iter().map(|count| {
        json!({
            "ph": "C", "pid": model.tracks[count.track].process, "ts": microseconds(count.time),
            "name": name(model, count.track), "args": { "value": count.value },
        })
    }));
    for (number, &(from, to)) in model.flows.iter().enumerate() {
        let end = |phase: &str, slice: &Slice| {
            let mut event = event(model, slice);
            let fields = [
                ("ph", json!(phase)),
                ("id", json!(number)),
                ("name", json!("launch")),
                ("cat", json!("flow")),
            ];
            // PANIC: an event is an object.
            let object = event.as_object_mut().expect("an object");
            object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
            object.retain(|name, _| name != "dur" && name != "args");
            event
        };
        let mut finish = end("f", &model.slices[to]);
        finish["bp"] = json!("e");
        events.extend([end("s", &model.slices[from]), finish]);
    }
    json!({ "traceEvents": events, "displayTimeUnit": "ns" })
}

fn event(model: &Model, slice: &Slice) -> Value {
    let details: Map<String, Value> = slice
        .details
        .iter()
        .map(|(name, detail)| {
            let value = match detail {
                Detail::Number(number) => json!(number),
                Detail::Text(text) => json!(text),
            };
            (name.clone(), value)
        })
        .collect();
    json!({
        "ph": "X", "pid": model.tracks[slice.track].process, "tid": thread(model, slice.track),
        "ts": microseconds(slice.start), "dur": microseconds(slice.duration()),
        "name": slice.name, "cat": slice.category, "args": details,
    })
}

/// What stands for the thread: numbers that no thread of a process has, for tracks that are none.
fn thread(model: &Model, track: usize) -> i64 {
    // CAST: few tracks. Linux numbers threads up to 2^22.
    model.tracks[track].thread.unwrap_or((1 << 22) + track as i64)
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

/// The name of a track with that of the device around it.
fn name(model: &Model, track: usize) -> String {
    let track = &model.tracks[track];
    let around = track.parent.map(|parent| &model.tracks[parent]);
    match around.filter(|around| around.kind == TrackKind::Other) {
        Some(around) => format!("{}, {}", around.name, track.name),
        None => track.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::model::tests::sample;

    #[test]
    fn events_have_microseconds_and_tracks_that_are_no_threads_have_numbers() {
        let json = json(&Model::read(&sample()).unwrap());
        let events = json["traceEvents"].as_array().unwrap();
        let named = |name: &str| events.iter().find(|event| event["name"] == name).unwrap();
        let kernel = named("scan");
        assert_eq!((kernel["ts"].as_f64(), kernel["dur"].as_f64()), (Some(0.15), Some(0.1)));
        assert_eq!(kernel["args"]["launch"], 3);
        let tracks = events.iter().filter(|event| event["ph"] == "M" && event["tid"] == kernel["tid"]);
        assert_eq!(tracks.map(|event| &event["args"]["name"]).collect::<Vec<_>>(), ["device 0, queue 5"]);
        let counter = events.iter().find(|event| event["ph"] == "C").unwrap();
        assert_eq!((&counter["name"], &counter["args"]["value"]), (&json!("device 0, memory"), &json!(4096)));
        let flow: Vec<_> = events.iter().filter(|event| event["cat"] == "flow").collect();
        assert_eq!(flow.iter().map(|event| &event["ph"]).collect::<Vec<_>>(), ["s", "f"]);
        assert_eq!(flow[0]["id"], flow[1]["id"]);
    }
}
