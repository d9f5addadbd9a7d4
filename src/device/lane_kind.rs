//! What the lanes of a device are for, and the numbers by which streams and the device store them.

#![forbid(unsafe_code)]

use hsa::Priority;

/// Lanes of a device for streams of ordinary priority. AMD's command processor gains nothing from more
/// than a few queues that are busy at once, and each costs memory (`GPU_MAX_HW_QUEUES` is 4 there).
pub(crate) const LANES: usize = 4;

/// Lanes for bodies of conditional nodes.
pub(super) const BODIES: usize = LANES - 1;

/// A lane of a device. An `index` is below [`LANES`], that of a body below [`BODIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneKind {
    /// For streams of one priority: that of the queue. Lanes of the other priorities than the ordinary one are created
    /// when the first such stream is used.
    Stream { priority: Priority, index: usize },
    /// For cooperative kernels whose blocks meet in memory.
    Cooperative,
    /// For cooperative kernels that use global wave sync.
    WaveSync,
    /// For bodies of conditional nodes that the host drives.
    Body { index: usize },
    /// The queue to which kernels publish what launches resident graphs.
    ResidentLaunches,
    /// A queue that resident graphs run on.
    Resident { index: usize },
    /// For streams that are restricted to a set of units.
    Restricted { set: usize, index: usize },
    /// For one stream or launch at a time; see [`own_lanes`](super::own_lanes).
    Own { number: usize },
}

/// Lanes whose work can be on one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// For streams of one priority.
    Streams(Priority),
    /// For streams that are restricted to one set of units.
    Restricted(usize),
    /// For bodies.
    Bodies,
    /// None: device code publishes there, or kernels run there that others would wait for, maybe without end.
    Alone,
}

/// Lanes that find a queue of their own whenever they are needed: all that stand alone, what ordinary streams have, and one
/// of each other group but restricted ones and those of one stream, of which programs make any number.
pub(super) const RESERVED: [LaneKind; 14] = [
    LaneKind::Stream { priority: Priority::Normal, index: 0 },
    LaneKind::Stream { priority: Priority::Normal, index: 1 },
    LaneKind::Stream { priority: Priority::Normal, index: 2 },
    LaneKind::Stream { priority: Priority::Normal, index: 3 },
    LaneKind::Stream { priority: Priority::High, index: 0 },
    LaneKind::Stream { priority: Priority::Low, index: 0 },
    LaneKind::Cooperative,
    LaneKind::WaveSync,
    LaneKind::Body { index: 0 },
    LaneKind::ResidentLaunches,
    LaneKind::Resident { index: 0 },
    LaneKind::Resident { index: 1 },
    LaneKind::Resident { index: 2 },
    LaneKind::Resident { index: 3 },
];

impl LaneKind {
    /// The lane of the default stream.
    pub(crate) const DEFAULT: Self = Self::Stream { priority: Priority::Normal, index: 0 };

    /// The priority of queues for what a caller calls a priority: smaller is more urgent.
    pub(super) fn priority(priority: i32) -> Priority {
        match priority {
            0 => Priority::Normal,
            ..0 => Priority::High,
            1.. => Priority::Low,
        }
    }

    /// The lanes that it can share a queue with.
    pub(super) fn group(self) -> Group {
        match self {
            Self::Stream { priority, .. } => Group::Streams(priority),
            Self::Restricted { set, .. } => Group::Restricted(set),
            Self::Body { .. } => Group::Bodies,
            Self::Cooperative
            | Self::WaveSync
            | Self::ResidentLaunches
            | Self::Resident { .. }
            | Self::Own { .. } => Group::Alone,
        }
    }

    /// What it is for.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stream { priority: Priority::Normal, .. } => "streams",
            Self::Stream { .. } => "streams with a priority",
            Self::Restricted { .. } => "streams on some compute units",
            Self::Cooperative => "cooperative kernels",
            Self::WaveSync => "cooperative kernels with global wave sync",
            Self::Body { .. } => "bodies of conditional nodes",
            Self::ResidentLaunches | Self::Resident { .. } => "resident graphs",
            Self::Own { .. } => "streams and graphs that wait for memory",
        }
    }

    /// The number that stands for the lane.
    pub(crate) fn number(self) -> usize {
        let (group, index) = match self {
            Self::Stream { priority: Priority::Normal, index } => (0, index),
            Self::Stream { priority: Priority::High, index } => (1, index),
            Self::Stream { priority: Priority::Low, index } => (2, index),
            Self::Cooperative => (3, 0),
            Self::Body { index } => (3, 1 + index),
            Self::ResidentLaunches => (4, 0),
            Self::WaveSync => (4, 1),
            Self::Resident { index } => (5, index),
            Self::Restricted { set, index } => (6 + 2 * set, index),
            Self::Own { number } => (7 + 2 * (number / LANES), number % LANES),
        };
        group * LANES + index
    }

    /// When its queue is stopped of several that are: those to which kernels on others publish come after these.
    pub(super) fn stop_order(self) -> u32 {
        match self {
            Self::ResidentLaunches => 1,
            Self::Resident { .. } => 2,
            _ => 0,
        }
    }

    /// The `n`th lane behind this one of the same priority or set of units; another one for each `n` below [`LANES`], though
    /// it may have the same queue.
    pub(crate) fn beside(self, n: usize) -> Self {
        match self {
            Self::Stream { priority, index } => Self::Stream { priority, index: (index + n) % LANES },
            Self::Restricted { set, index } => Self::Restricted { set, index: (index + n) % LANES },
            other => other,
        }
    }

    /// The first lane of the same priority or set of units.
    pub(super) fn first(self) -> Self {
        match self {
            Self::Stream { priority, .. } => Self::Stream { priority, index: 0 },
            Self::Restricted { set, .. } => Self::Restricted { set, index: 0 },
            other => other,
        }
    }

    /// The lane for streams of this priority with the same index; a restricted one stays what it is.
    pub(crate) fn of_priority(self, priority: i32) -> Self {
        match self {
            Self::Stream { index, .. } => Self::Stream { priority: Self::priority(priority), index },
            other => other,
        }
    }
}

/// What [`LaneKind::number`] has made a number of.
impl From<usize> for LaneKind {
    fn from(number: usize) -> Self {
        match (number / LANES, number % LANES) {
            (0, index) => Self::Stream { priority: Priority::Normal, index },
            (1, index) => Self::Stream { priority: Priority::High, index },
            (2, index) => Self::Stream { priority: Priority::Low, index },
            (3, 0) => Self::Cooperative,
            (3, index) => Self::Body { index: index - 1 },
            (4, 0) => Self::ResidentLaunches,
            (4, _) => Self::WaveSync,
            (5, index) => Self::Resident { index },
            (group, index) if group % 2 == 0 => Self::Restricted { set: (group - 6) / 2, index },
            (group, index) => Self::Own { number: (group - 7) / 2 * LANES + index },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<LaneKind> {
        let streams = [Priority::Normal, Priority::High, Priority::Low]
            .into_iter()
            .flat_map(|priority| (0..LANES).map(move |index| LaneKind::Stream { priority, index }));
        let bodies = (0..BODIES).map(|index| LaneKind::Body { index });
        let resident = (0..LANES).map(|index| LaneKind::Resident { index });
        let restricted =
            (0..3).flat_map(|set| (0..LANES).map(move |index| LaneKind::Restricted { set, index }));
        let own = (0..3 * LANES).map(|number| LaneKind::Own { number });
        streams
            .chain([LaneKind::Cooperative])
            .chain(bodies)
            .chain([LaneKind::ResidentLaunches, LaneKind::WaveSync])
            .chain(resident)
            .chain(restricted)
            .chain(own)
            .collect()
    }

    #[test]
    fn each_lane_has_its_own_number_which_leads_back_to_it() {
        let lanes = all();
        for (n, lane) in lanes.iter().enumerate() {
            assert_eq!(LaneKind::from(lane.number()), *lane);
            assert!(lanes[..n].iter().all(|other| other.number() != lane.number()), "{lane:?}");
        }
        assert_eq!(LaneKind::DEFAULT.number(), 0);
    }

    #[test]
    fn each_group_that_is_known_has_a_queue_and_a_lane_that_stands_alone_is_one() {
        let of_programs =
            |lane: &LaneKind| matches!(lane, LaneKind::Restricted { .. } | LaneKind::Own { .. });
        for lane in all().into_iter().filter(|lane| !of_programs(lane)) {
            assert!(RESERVED.iter().any(|reserved| reserved.group() == lane.group()), "{lane:?}");
            assert!(lane.group() != Group::Alone || RESERVED.contains(&lane), "{lane:?}");
        }
    }

    #[test]
    fn lanes_beside_one_are_all_those_of_its_kind() {
        for lane in all()
            .into_iter()
            .filter(|lane| matches!(lane, LaneKind::Stream { .. } | LaneKind::Restricted { .. }))
        {
            let mut beside: Vec<_> = (0..LANES).map(|n| lane.beside(n).number()).collect();
            assert_eq!(beside[0], lane.number());
            beside.sort_unstable();
            let first = lane.number() / LANES * LANES;
            assert_eq!(beside, (first..first + LANES).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_restriction_outweighs_a_priority() {
        let urgent = LaneKind::Stream { priority: Priority::High, index: 2 };
        assert_eq!(urgent.of_priority(1), LaneKind::Stream { priority: Priority::Low, index: 2 });
        assert_eq!(urgent.of_priority(0).of_priority(-7), urgent);
        let restricted = LaneKind::Restricted { set: 1, index: 2 };
        assert_eq!(restricted.of_priority(-1), restricted);
    }
}
