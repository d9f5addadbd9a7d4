"""Reads a trace by Perfetto's own description of the format and prints what is in it as JSON.

Fails for what that description does not know, for slices of a track that do not nest, and for flows from nowhere.
"""

import json
import sys

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto


def refuse_unknown(message):
    assert not len(unknown_fields.UnknownFieldSet(message)), message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                refuse_unknown(part)


def value(annotation):
    return getattr(annotation, annotation.WhichOneof("value"))


def main(path):
    trace = perfetto.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    refuse_unknown(trace)
    tracks, events = {}, []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert not track.HasField("parent_uuid") or track.parent_uuid in tracks, track
            tracks[track.uuid] = track
        else:
            assert packet.track_event.track_uuid in tracks, packet
            events.append((packet.timestamp, packet.track_event))

    def name(track):
        return track.name or track.thread.thread_name or track.process.process_name

    event_type = perfetto.TrackEvent.Type
    slices, counters, sources, opened = [], [], {}, {}
    for time, event in sorted(events, key=lambda event: event[0]):
        track = tracks[event.track_uuid]
        if event.type == event_type.TYPE_COUNTER:
            assert track.HasField("counter")
            counters.append({"track": name(track), "time": time, "value": event.counter_value})
            continue
        open_here = opened.setdefault(event.track_uuid, [])
        arguments = {annotation.name: value(annotation) for annotation in event.debug_annotations}
        if event.type == event_type.TYPE_SLICE_END:
            ended = open_here.pop()
            ended["end"] = time
            ended["arguments"].update(arguments)
            continue
        around = tracks.get(track.parent_uuid)
        begun = {
            "track": name(track),
            "around": name(around) if around else "",
            "name": event.name,
            "category": event.categories[0],
            "start": time,
            "end": time,
            "depth": len(open_here),
            "arguments": arguments,
            "from": [sources[flow] for flow in event.terminating_flow_ids],
        }
        for flow in event.flow_ids:
            sources[flow] = len(slices)
        slices.append(begun)
        if event.type == event_type.TYPE_SLICE_BEGIN:
            open_here.append(begun)
        else:
            assert event.type == event_type.TYPE_INSTANT
    assert not any(opened.values()), "slices that do not end"
    # What overlaps on one track is one in the other.
    json.dump({"slices": slices, "counters": counters}, sys.stdout)


main(sys.argv[1])
