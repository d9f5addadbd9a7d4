//! A trace as a page: one file that a browser shows without a network.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::model::{Detail, Model, Track, TrackKind};
use crate::dumped::Graph;

/// The page, with a place for the trace; it says what the trace looks like there.
const PAGE: &str = include_str!("page.html");
const PLACE: &str = "@TRACE@";

/// The page of a trace.
pub fn html(title: &str, model: &Model, graphs: &[Graph]) -> String {
    // Nothing in it may look like the end of the element, or like a comment.
    let json = trace(title, model, graphs).to_string().replace('<', "\\u003c");
    PAGE.replacen(PLACE, &json, 1)
}

fn trace(title: &str, model: &Model, graphs: &[Graph]) -> Value {
    let first_slice = model.slices.iter().map(|slice| slice.start).min();
    let first_count = model.counts.iter().map(|count| count.time).min();
    let start = first_slice.into_iter().chain(first_count).min().unwrap_or_default();
    // The page stacks what overlaps by itself: rows of a queue are one.
    let same = |index: usize| {
        let Track { parent, name, kind, .. } = &model.tracks[index];
        let is_it = |other: &Track| (&other.parent, &other.name, &other.kind) == (parent, name, kind);
        let first = model.tracks.iter().position(is_it).filter(|_| *kind == TrackKind::Lane);
        first.unwrap_or(index)
    };
    let first: Vec<usize> = (0..model.tracks.len()).map(same).collect();
    let tracks = model.tracks.iter().enumerate().filter(|(index, _)| first[*index] == *index);
    let tracks = tracks.map(|(index, track)| {
        let kind = match track.kind {
            TrackKind::Process => "process",
            TrackKind::Thread => "thread",
            TrackKind::Counter => "counter",
            TrackKind::Lane => "lane",
            TrackKind::Other if track.name.starts_with("device") => "device",
            TrackKind::Other => "thread",
        };
        let name = match (track.kind, track.thread) {
            (TrackKind::Process, _) => format!("{} {}", track.name, track.process),
            (_, Some(thread)) => format!("thread {thread} {}", track.name),
            _ => track.name.clone(),
        };
        // 0 is around all of them.
        let parent = track.parent.map_or(0, |parent| parent + 1);
        let unit = if track.kind == TrackKind::Counter { "bytes" } else { "" };
        json!({ "id": index + 1, "parent": parent, "name": name, "kind": kind, "unit": unit })
    });
    let slices = model.slices.iter().map(|slice| {
        let details: Map<String, Value> = slice
            .details
            .iter()
            .map(|(name, detail)| match detail {
                Detail::Number(number) => (name.clone(), json!(number)),
                Detail::Text(text) => (name.clone(), json!(text)),
            })
            .collect();
        json!({
            "track": first[slice.track] + 1, "start": slice.start - start, "end": slice.end - start,
            "name": slice.name, "category": slice.category, "arguments": details,
        })
    });
    let mut counters: HashMap<usize, Vec<(u64, i64)>> = HashMap::new();
    for count in &model.counts {
        counters.entry(count.track).or_default().push((count.time - start, count.value));
    }
    let counters =
        counters.into_iter().map(|(track, points)| json!({ "track": track + 1, "points": points }));
    let process_track = |process| {
        let is_it =
            |track: &super::model::Track| track.kind == TrackKind::Process && track.process == process;
        model.tracks.iter().position(is_it).map_or(0, |track| track + 1)
    };
    let graphs = graphs.iter().map(|graph| {
        let nodes = graph.nodes.iter().map(|node| {
            // As slices are of categories.
            let kind = match node.kind.as_deref() {
                Some("Kernel") => "kernel",
                Some("Memcpy" | "MemcpyBatch") => "copy",
                Some("Memset") => "fill",
                Some("Host") => "host",
                Some("EventWait" | "SemaphoreWait") => "wait",
                _ => "other",
            };
            json!({ "id": node.id, "name": node.name, "kind": kind })
        });
        json!({
            "executable": graph.executable, "process": process_track(graph.process),
            "name": format!("graph {}", graph.graph), "nodes": nodes.collect::<Vec<_>>(), "edges": graph.edges,
        })
    });
    json!({
        "title": title,
        "tracks": tracks.collect::<Vec<_>>(),
        "slices": slices.collect::<Vec<_>>(),
        "counters": counters.collect::<Vec<_>>(),
        "flows": model.flows,
        "graphs": graphs.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::model::tests::sample;

    #[test]
    fn a_page_holds_the_trace_and_nothing_in_it_ends_the_element() {
        let model = Model::read(&sample()).unwrap();
        let page = html("</script><!--", &model, &[]);
        assert_eq!(PAGE.matches(PLACE).count(), 1);
        let (before, after) = PAGE.split_once(PLACE).unwrap();
        let json = page.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap();
        assert!(!json.contains('<'));
        let trace: Value = serde_json::from_str(json).unwrap();
        assert_eq!(trace["title"], "</script><!--");
        assert_eq!(
            trace["tracks"][3],
            json!({ "id": 4, "parent": 3, "name": "queue 5", "kind": "lane", "unit": "" })
        );
        assert_eq!((&trace["slices"][2]["start"], &trace["slices"][2]["end"]), (&json!(50), &json!(150)));
        assert_eq!(trace["counters"], json!([{ "track": 5, "points": [[20, 4096]] }]));
        assert_eq!(trace["flows"], json!([[1, 2]]));
    }
}
