//! What a worker tells: one JSON object a line.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use aqlipse_bench::shape::Shape;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Case {
    /// Kernels launched one by one.
    Launches,
    /// A graph of kernels.
    Graph {
        /// How they depend on each other.
        shape: Shape,
        /// How many there are.
        nodes: usize,
    },
}

/// Nodes of a graph that is launched at most: a queue has fewer slots than larger ones have packets.
pub const MOST_LAUNCHED: usize = 8192;

impl Case {
    /// Whether it is launched, and not only compiled.
    pub fn is_launched(self) -> bool {
        !matches!(self, Self::Graph { nodes, .. } if nodes > MOST_LAUNCHED)
    }

    /// The smallest graph of the shape.
    pub fn of_one_node(self) -> Self {
        match self {
            Self::Launches => self,
            Self::Graph { shape, .. } => Self::Graph { shape, nodes: 1 },
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launches => f.write_str("launches"),
            Self::Graph { shape, nodes } => write!(f, "{}/{nodes}", shape.name()),
        }
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "launches" {
            return Ok(Self::Launches);
        }
        let (shape, nodes) = text.split_once('/').ok_or_else(|| format!("`{text}` is no SHAPE/NODES"))?;
        let nodes = nodes.parse().ok().filter(|&nodes| nodes > 0 && nodes <= MOST_NODES);
        Ok(Self::Graph {
            shape: shape.parse()?,
            nodes: nodes.ok_or_else(|| format!("`{text}`: a graph has 1 to {MOST_NODES} nodes"))?,
        })
    }
}

/// Nodes of a graph at most.
pub const MOST_NODES: usize = 100_000;

impl From<Case> for String {
    fn from(case: Case) -> Self {
        case.to_string()
    }
}

impl TryFrom<String> for Case {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A time that is measured of a case, in nanoseconds, or a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// A launch of a kernel: its share of many in a row, without a wait.
    LaunchInBatch,
    /// A launch of a kernel and a wait for it.
    LaunchAndWait,
    /// A node: its share of `hipGraphInstantiate`.
    InstantiateNode,
    /// A node: its share of `hipGraphExecDestroy`.
    DestroyNode,
    /// The first `hipGraphLaunch` of an executable graph, where some libraries do what others do before.
    FirstCall,
    /// `hipGraphLaunch`, with nothing else on the device.
    Call,
    /// From the call of `hipGraphLaunch` to the end of a wait for it.
    Complete,
    /// `hipGraphLaunch`, one of several in a row without a wait.
    CallInBatch,
    /// A node: its share of creating a graph with `hipGraphAddKernelNode`.
    BuildNode,
    /// A node: its share of `hipGraphExecUpdate` with a graph whose kernels have other arguments.
    UpdateNode,
    /// `hipGraphExecKernelNodeSetParams` with other arguments.
    SetNode,
    /// `hipGraphLaunch` of an executable that lies on the device (`hipGraphInstantiateFlagDeviceLaunch`).
    ResidentCall,
    /// A copy of this library's packets for the same graph into queues of an emulated device, in turns with the launches.
    Floor,
    /// The same, until the device is done with them.
    FloorComplete,
    /// `hipGraphLaunch` onto a device that has been idle for 10 ms.
    CallAfterIdle,
    /// The copy, likewise.
    FloorAfterIdle,
    /// [`Quantity::UpdateNode`] while launches of the executable are in flight.
    UpdateInFlight,
    /// [`Quantity::SetNode`] while launches of the executable are in flight.
    SetInFlight,
    /// The same into memory that no other thread looks at.
    WarmFloor,
    /// Bytes of memory that a process grows by for each of many executables of one graph.
    ExecBytes,
    /// The same, a node's share.
    ExecNodeBytes,
    /// Bytes of memory that a process grows by for each of many executables whose graphs are gone.
    OwnExecBytes,
    /// `hipGraphLaunch` by one thread, each launch behind a wait.
    CallBy1,
    /// The same by one of two threads at once, each with a stream and an executable of its own.
    CallBy2,
    /// The same by one of four.
    CallBy4,
    /// A copy of as many packets into a queue, by one thread.
    FloorBy1,
    /// The same by one of two threads at once, each with a queue of its own.
    FloorBy2,
    /// The same by one of four.
    FloorBy4,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 28] = [
        Self::LaunchInBatch,
        Self::LaunchAndWait,
        Self::InstantiateNode,
        Self::DestroyNode,
        Self::FirstCall,
        Self::Call,
        Self::Complete,
        Self::CallInBatch,
        Self::BuildNode,
        Self::UpdateNode,
        Self::SetNode,
        Self::ResidentCall,
        Self::Floor,
        Self::FloorComplete,
        Self::CallAfterIdle,
        Self::FloorAfterIdle,
        Self::UpdateInFlight,
        Self::SetInFlight,
        Self::WarmFloor,
        Self::ExecBytes,
        Self::ExecNodeBytes,
        Self::OwnExecBytes,
        Self::CallBy1,
        Self::CallBy2,
        Self::CallBy4,
        Self::FloorBy1,
        Self::FloorBy2,
        Self::FloorBy4,
    ];

    /// Its key in reports.
    pub fn key(self) -> &'static str {
        match self {
            Self::LaunchInBatch => "launch_in_batch",
            Self::LaunchAndWait => "launch_and_wait",
            Self::InstantiateNode => "instantiate_node",
            Self::DestroyNode => "destroy_node",
            Self::FirstCall => "first_call",
            Self::Call => "call",
            Self::Complete => "complete",
            Self::CallInBatch => "call_in_batch",
            Self::BuildNode => "build_node",
            Self::UpdateNode => "update_node",
            Self::SetNode => "set_node",
            Self::ResidentCall => "resident_call",
            Self::Floor => "floor",
            Self::FloorComplete => "floor_complete",
            Self::CallAfterIdle => "call_after_idle",
            Self::FloorAfterIdle => "floor_after_idle",
            Self::UpdateInFlight => "update_in_flight",
            Self::SetInFlight => "set_in_flight",
            Self::WarmFloor => "warm_floor",
            Self::ExecBytes => "exec_bytes",
            Self::ExecNodeBytes => "exec_node_bytes",
            Self::OwnExecBytes => "own_exec_bytes",
            Self::CallBy1 => "call_by1",
            Self::CallBy2 => "call_by2",
            Self::CallBy4 => "call_by4",
            Self::FloorBy1 => "floor_by1",
            Self::FloorBy2 => "floor_by2",
            Self::FloorBy4 => "floor_by4",
        }
    }
}

/// What went through the device's packet processors: the counters of the thunk's `aqlipseThunkCounters` in
/// its order.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters(pub [u64; Counters::NAMES.len()]);

impl Counters {
    /// What each counter counts: packets by type, packets of any type with the barrier bit and with a
    /// completion signal, interrupts to the host, changes of doorbells that the packet processor saw.
    pub const NAMES: [&str; 9] = [
        "kernels",
        "barrier_and",
        "barrier_or",
        "barrier_value",
        "pm4",
        "barrier_bits",
        "completion_signals",
        "interrupts",
        "doorbells",
    ];

    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].wrapping_add(other.0[at])))
    }

    /// What was counted since `earlier`; counters go around at 2^64.
    pub fn since(self, earlier: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].wrapping_sub(earlier.0[at])))
    }
}

/// The library that a worker has loaded, and the device on which it works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// The file, behind all links.
    pub path: String,
    /// What `hipRuntimeGetVersion` says.
    pub version: i32,
    /// What `hipDeviceGetName` says.
    pub device: String,
    /// The target of the code object that the library took.
    pub target: String,
    /// Whether a kernel's stores were seen: not so where packets complete without executing.
    pub executes: bool,
}

/// Samples in nanoseconds.
pub type Times = Vec<(Quantity, Vec<f64>)>;

/// A line of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The library is up.
    Loaded(Loaded),
    /// What comes is about a case; without more about it the worker has ended in its midst.
    Begins {
        /// What is measured.
        case: Case,
    },
    /// Every node of a graph ran once and behind all that it depends on.
    Verified {
        /// The graph.
        case: Case,
    },
    /// Samples of a time.
    Times {
        /// What was measured.
        case: Case,
        /// Which time of it.
        quantity: Quantity,
        /// In nanoseconds, in the order of their making.
        samples: Vec<f64>,
    },
    /// What the device processed for a graph's launch and a wait, or for a batch of launches and a wait, done
    /// `waits` times.
    Packets {
        /// What was launched.
        case: Case,
        /// How often.
        waits: u64,
        /// What the device processed in all.
        counters: Counters,
    },
    /// Something failed; what comes after does not depend on it.
    Problem {
        /// What was measured; nothing if it concerns everything.
        case: Option<Case>,
        /// What failed, and how.
        what: String,
    },
    /// The worker has done all it was asked.
    End,
}

impl Record {
    /// The line that says it, without its end.
    pub fn line(&self) -> String {
        // PANIC: the keys are strings, and no part can fail to be written.
        serde_json::to_string(self).expect("a record is JSON")
    }

    /// What a line says; nothing if it is not a worker's, for libraries print too, and not always whole lines.
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(&line[line.find("{\"record\":")?..]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: Case = Case::Graph { shape: Shape::Branches(8), nodes: 128 };

    #[test]
    fn a_record_reads_as_it_was_written() {
        let loaded = Loaded {
            path: "/lib/libamdhip64.so.5".into(),
            version: 50_221_153,
            device: "a \"quoted\" name".into(),
            target: "gfx90a".into(),
            executes: false,
        };
        for record in [
            Record::Loaded(loaded),
            Record::Verified { case: CASE },
            Record::Times {
                case: Case::Launches,
                quantity: Quantity::LaunchInBatch,
                samples: vec![1.5, 2.0],
            },
            Record::Packets { case: CASE, waits: 3, counters: Counters([7; 9]) },
            Record::Problem { case: Some(CASE), what: "hipGraphLaunch: hipErrorUnknown".into() },
            Record::Problem { case: None, what: "line\nbreak".into() },
            Record::End,
        ] {
            let line = record.line();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(Record::parse(&line), Some(record));
        }
    }

    #[test]
    fn lines_keep_their_form() {
        let times = Record::Times { case: CASE, quantity: Quantity::InstantiateNode, samples: vec![2.5] };
        let line =
            r#"{"record":"times","case":"branches8/128","quantity":"instantiate_node","samples":[2.5]}"#;
        assert_eq!(times.line(), line);
        assert_eq!(Record::End.line(), r#"{"record":"end"}"#);
    }

    #[test]
    fn what_a_library_prints_is_no_record() {
        for line in
            ["", "hello", "{}", r#"{"record":"surprise"}"#, r#"{"record":"verified"}"#, "[1]", "\u{0}"]
        {
            assert_eq!(Record::parse(line), None, "{line}");
        }
        let unknown = r#"{"record":"verified","case":"moebius/16"}"#;
        assert_eq!(Record::parse(unknown), None);
        assert_eq!(Record::parse(r#"no end of line{"record":"end"}"#), Some(Record::End));
    }

    #[test]
    fn a_case_has_a_known_shape_and_a_sane_number_of_nodes() {
        assert_eq!("straight/16".parse(), Ok(Case::Graph { shape: Shape::Straight, nodes: 16 }));
        assert_eq!("launches".parse(), Ok(Case::Launches));
        for wrong in ["straight", "straight/", "straight/0", "straight/-1", "straight/100001", "/16", "x/16"]
        {
            assert!(wrong.parse::<Case>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_quantity_has_one_name() {
        for quantity in Quantity::ALL {
            assert_eq!(serde_json::to_value(quantity).ok(), Some(quantity.key().into()));
        }
    }

    #[test]
    fn counters_go_around() {
        let mut earlier = Counters([4; 9]);
        earlier.0[8] = u64::MAX;
        let since = Counters([10; 9]).since(earlier);
        assert_eq!(since, Counters([6, 6, 6, 6, 6, 6, 6, 6, 11]));
        assert_eq!(earlier.and(since), Counters([10; 9]));
    }
}
