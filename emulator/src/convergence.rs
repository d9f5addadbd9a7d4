//! Whether the lanes of a wave and the waves of a workgroup come together where they have to, for tools: barriers that some go
//! past, values that lanes take from others that are off, and waves that wait for what does not come.

mod inactive;
mod spin;

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

pub(crate) use inactive::{Inactive, Row, rows};
pub use spin::{Awaited, Deadlock};
pub(crate) use spin::{Spin, is_deadlock, moved};

/// What is wrong where lanes or waves should come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncKind {
    /// A wave waits at a barrier with lanes off that go on behind it.
    DivergentBarrier,
    /// A wave goes on behind a barrier that others of its workgroup wait at, without having been there.
    BarrierNotReached,
    /// A lane uses what it has read from another that is off.
    InactiveLane,
    /// A workgroup has LDS, and its kernel was built for waves of a workgroup that run on different compute units, which share none
    /// (LLVM AMDGPUUsage, "Memory Model GFX90A", threadgroup split).
    SplitLds,
}

/// What was found in a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncFinding {
    /// What it is.
    pub kind: SyncKind,
    /// The workgroup, by its number in the grid.
    pub workgroup: u64,
    /// The wave, by its number in the workgroup.
    pub wave: u32,
    /// The lane that goes on, or that uses the value.
    pub lane: Option<u32>,
    /// The address of the barrier, or of the instruction that reads from another lane.
    pub pc: u64,
    /// The address of the instruction that shows it: behind the barrier, or the one that uses the value.
    pub then: u64,
    /// How often it was found: barriers, waves, or lanes.
    pub count: u64,
}

/// What was found in the workgroups of a dispatch, once for each barrier or instruction.
#[derive(Default)]
pub(crate) struct SyncFindings(Mutex<HashMap<(SyncKind, u64), SyncFinding>>);

impl SyncFindings {
    pub(crate) fn add(&self, finding: SyncFinding) {
        let mut all = self.0.lock();
        let known = all.entry((finding.kind, finding.pc));
        known.and_modify(|known| known.count += finding.count).or_insert(finding);
    }

    /// What was found, by instructions.
    pub(crate) fn take(&self) -> Vec<SyncFinding> {
        let mut all: Vec<_> = std::mem::take(&mut *self.0.lock()).into_iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(_, finding)| finding).collect()
    }
}

/// What an instruction is to [`Lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing else that a scalar unit does.
    Scalar,
    /// A branch where no lane is on, or where any is: if lanes have just gone off, they go on at the address.
    Resume(u64),
    /// A call, which returns to the address.
    Call(u64),
    /// A jump that may be a return.
    Return,
    /// The next instructions are for all lanes, or for those that are off: what compilers spill registers with.
    WholeWave,
    /// `s_barrier`.
    Barrier,
    /// An access of memory or LDS.
    Access,
    /// Any other vector instruction.
    Vector,
}

/// Lanes that are off and have not come to where they go on.
struct Skipping {
    lanes: u64,
    /// How many calls deep they went off.
    depth: usize,
    /// The address there at which they go on.
    resumes: u64,
}

/// A barrier that a wave has waited at with lanes off.
struct Waited {
    pc: u64,
    /// Lanes that have not skipped it, those included that were off and do not skip it.
    present: u64,
    /// Lanes that have skipped it.
    missing: u64,
    times: u64,
}

/// Barriers with different lanes off that are kept in mind at once.
const WAITED: usize = 256;

/// A lane that goes on behind a barrier at which it was off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) barrier: u64,
    pub(crate) lane: u32,
    pub(crate) times: u64,
}

/// Which lanes of a wave are off and why.
///
/// That a lane is off at a barrier says little. One that returns without it does not come together with those that have waited:
/// it counts only when it accesses memory with one of them later. And where a condition ends right before another, compilers put
/// lanes on again once, behind both: a barrier in between finds lanes off that are there in the program. The branch that is taken
/// where no lane is on tells the two apart: it leads to the end of the condition. A lane goes past the barriers that its wave
/// meets before it gets there.
#[derive(Default)]
pub(crate) struct Lanes {
    exec: u64,
    /// Those that have been on.
    all: u64,
    /// The lanes that are on again behind what is for the whole wave.
    saved: Option<u64>,
    /// Lanes that have gone off since the last vector instruction or branch.
    fresh: u64,
    skipping: Vec<Skipping>,
    /// Return addresses, the outermost first.
    frames: Vec<u64>,
    is_returning: bool,
    waited: Vec<Waited>,
}

/// Calls that are kept in mind; no program that returns is deeper.
const FRAMES: usize = 1024;

impl Lanes {
    /// The instruction at `pc` is about to be executed by the lanes in `exec`. Returns the barriers that some of these were
    /// off at.
    pub(crate) fn step(&mut self, pc: u64, exec: u64, step: Step) -> Vec<Passed> {
        if std::mem::take(&mut self.is_returning)
            && let Some(depth) = self.frames.iter().rposition(|back| *back == pc)
        {
            self.frames.truncate(depth);
            self.skipping.retain(|skipping| skipping.depth <= depth);
        }
        if self.saved.is_some_and(|saved| saved != exec) {
            return Vec::new();
        }
        self.saved = None;
        let depth = self.frames.len();
        if exec != self.exec {
            self.fresh = self.exec & !exec;
            self.exec = exec;
            self.all |= exec;
            self.skipping.iter_mut().for_each(|skipping| skipping.lanes &= !exec);
        }
        self.skipping
            .retain(|skipping| skipping.lanes != 0 && (skipping.depth, skipping.resumes) != (depth, pc));
        match step {
            Step::Scalar => return Vec::new(),
            Step::Call(back) => {
                if depth < FRAMES {
                    self.frames.push(back);
                }
            }
            Step::Return => self.is_returning = true,
            Step::WholeWave => {
                self.saved = Some(exec);
                return Vec::new();
            }
            Step::Resume(resumes) if self.fresh != 0 => {
                self.skipping.push(Skipping { lanes: self.fresh, depth, resumes });
            }
            Step::Barrier => self.wait(pc),
            Step::Resume(_) | Step::Access | Step::Vector => {}
        }
        self.fresh = 0;
        if step == Step::Access { self.pass() } else { Vec::new() }
    }

    /// Whether the instructions are for the whole wave.
    pub(crate) fn is_whole(&self) -> bool {
        self.saved.is_some()
    }

    fn wait(&mut self, pc: u64) {
        let missing = self.skipping.iter().fold(0, |all, skipping| all | skipping.lanes);
        let present = self.all & !missing;
        if missing == 0 {
            return;
        }
        let key = (pc, present, missing);
        let known = self.waited.iter_mut().find(|waited| (waited.pc, waited.present, waited.missing) == key);
        if let Some(waited) = known {
            waited.times += 1;
        } else if self.waited.len() < WAITED {
            self.waited.push(Waited { pc, present, missing, times: 1 });
        }
    }

    fn pass(&mut self) -> Vec<Passed> {
        let exec = self.exec;
        let passed =
            self.waited.extract_if(.., |waited| waited.missing & exec != 0 && waited.present & exec != 0);
        let told = passed.map(|Waited { pc, missing, times, .. }| Passed {
            barrier: pc,
            lane: (missing & exec).trailing_zeros(),
            times,
        });
        told.collect()
    }
}

/// The part of a wave in the barriers of its workgroup.
#[derive(Default)]
pub(crate) struct Rounds {
    /// How many barriers it has reached.
    reached: u32,
    /// The first and the last number of barriers behind which it has executed an instruction that accesses memory.
    accesses: HashMap<u64, (u32, u32)>,
    /// The first barrier that others have met at after it ended.
    missed: Option<u64>,
    /// What it and what another wave waited at when they first met at different barriers.
    crossed: Option<(u64, u64)>,
}

impl Rounds {
    pub(crate) fn reach(&mut self) {
        self.reached += 1;
    }

    pub(crate) fn access(&mut self, pc: u64) {
        let round = self.reached;
        self.accesses.entry(pc).or_insert((round, round)).1 = round;
    }

    /// Others have met at a barrier, and this wave has ended.
    pub(crate) fn miss(&mut self, barrier: u64) {
        self.missed.get_or_insert(barrier);
    }

    /// It has met others at a barrier, and one of them waited at another instruction.
    pub(crate) fn cross(&mut self, mine: u64, other: u64) {
        self.crossed.get_or_insert((mine, other));
    }

    /// The barrier that it has gone past and the instruction that shows that, once all waves have ended. It accesses memory there
    /// behind its last barrier, and so do those that have reached more, behind theirs and not before. A wave that has returned
    /// early does nothing of the kind.
    pub(crate) fn judge<'a>(&self, all: impl Iterator<Item = &'a Self> + Clone) -> Option<(u64, u64)> {
        let missed = self.missed?;
        let barrier = match self.crossed {
            // It has been at the others' last barrier before them, in place of one that it has gone past.
            Some((mine, other)) if mine == missed => other,
            _ => missed,
        };
        let shows = |pc: &u64| {
            let others = all.clone().filter(|other| other.reached > self.reached);
            let mut firsts =
                others.filter_map(|other| Some((other.accesses.get(pc)?.0, other.reached))).peekable();
            firsts.peek().is_some() && firsts.all(|(first, reached)| first == reached)
        };
        let late = self.accesses.iter().filter(|(_, (_, last))| *last == self.reached);
        late.map(|(pc, _)| *pc).filter(shows).min().map(|then| (barrier, then))
    }
}

/// What is known of a wave that is watched.
pub(crate) struct Converging {
    /// Number of the workgroup in the grid.
    workgroup: u64,
    /// Its number in the workgroup.
    wave: u32,
    pub(crate) rounds: Rounds,
    pub(crate) lanes: Lanes,
    pub(crate) inactive: Inactive,
    pub(crate) spin: Spin,
    findings: Arc<SyncFindings>,
}

impl Converging {
    pub(crate) fn new(workgroup: u64, wave: u32, findings: Arc<SyncFindings>) -> Self {
        let (rounds, lanes) = (Rounds::default(), Lanes::default());
        let (inactive, spin) = (Inactive::default(), Spin::default());
        Self { workgroup, wave, rounds, lanes, inactive, spin, findings }
    }

    /// Says that the wave has gone past a barrier that others wait at.
    pub(crate) fn not_reached(&self, (barrier, then): (u64, u64)) {
        self.find(SyncKind::BarrierNotReached, None, barrier, then, 1);
    }

    pub(crate) fn find(&self, kind: SyncKind, lane: Option<u32>, pc: u64, then: u64, count: u64) {
        let Self { workgroup, wave, .. } = *self;
        self.findings.add(SyncFinding { kind, workgroup, wave, lane, pc, then, count });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u64 = u64::MAX;
    const LOW: u64 = 0xffff;

    /// The barriers that lanes were off at, of instructions at 4, 8, 12 and so on.
    fn passed(steps: &[(u64, Step)]) -> Vec<u64> {
        let mut lanes = Lanes::default();
        let at = |n: usize| 4 * n as u64 + 4;
        let steps = steps.iter().enumerate();
        steps
            .flat_map(|(n, (exec, step))| lanes.step(at(n), *exec, *step))
            .map(|passed| passed.barrier)
            .collect()
    }

    use Step::{Access, Barrier, Call, Resume, Return, Scalar, Vector, WholeWave};

    #[test]
    fn lanes_that_skip_a_barrier_and_go_on_are_found() {
        let skipped = [(ALL, Scalar), (LOW, Resume(16)), (LOW, Barrier), (LOW, Scalar), (ALL, Access)];
        assert_eq!(passed(&skipped), [12]);
        // They have returned.
        assert!(passed(&skipped[..4]).is_empty());
        let returned = [&skipped[..4], &[(LOW, Access), (!LOW, Access), (ALL, Vector)]].concat();
        assert!(passed(&returned).is_empty());
        let twice = [&skipped[..], &[(LOW, Resume(100)), (LOW, Barrier), (ALL, Access)]].concat();
        assert_eq!(passed(&twice), [12, 28]);
    }

    #[test]
    fn a_barrier_behind_the_condition_is_not_skipped() {
        // Lanes are on again behind the barrier only, though the condition ends before it.
        for step in [Resume(16), Scalar, Vector] {
            let steps = [(ALL, Scalar), (LOW, step), (LOW, Vector), (LOW, Barrier), (ALL, Access)];
            assert!(passed(&steps).is_empty(), "{step:?}");
        }
        // A branch that belongs to other lanes.
        let steps = [(ALL, Scalar), (LOW, Vector), (LOW, Resume(100)), (LOW, Barrier), (ALL, Access)];
        assert!(passed(&steps).is_empty());
    }

    #[test]
    fn calls_are_within_the_condition() {
        let called = |resumes, back| [(ALL, Scalar), (LOW, Resume(resumes)), (LOW, Call(back))];
        let skipped = [(LOW, Barrier), (LOW, Return), (LOW, Vector), (ALL, Access)];
        assert_eq!(passed(&[&called(100, 24)[..], &skipped].concat()), [16]);
        // The callee has an instruction at the address, and the lanes do not go on there.
        let within = [(LOW, Vector), (LOW, Vector), (LOW, Barrier), (ALL, Access)];
        assert_eq!(passed(&[&called(24, 100)[..], &within].concat()), [24]);
        let behind = [(LOW, Return), (LOW, Vector), (LOW, Vector), (LOW, Barrier), (ALL, Access)];
        assert!(passed(&[&called(28, 20)[..], &behind].concat()).is_empty());
    }

    #[test]
    fn spills_of_the_whole_wave_turn_no_lane_on() {
        let skipped = [(ALL, Scalar), (LOW, Resume(100)), (LOW, Barrier)];
        let spilled = [(LOW, WholeWave), (ALL, Access), (ALL, Scalar), (LOW, Access)];
        assert!(passed(&[&skipped[..], &spilled].concat()).is_empty());
        let spilled = [(LOW, WholeWave), (ALL, Vector), (LOW, Barrier), (ALL, Access)];
        assert_eq!(passed(&[&skipped[..2], &spilled].concat()), [20]);
    }

    /// A wave that reaches a barrier at each 0, and executes accesses at the other addresses.
    fn rounds(steps: &[u64]) -> Rounds {
        let mut rounds = Rounds::default();
        for step in steps {
            match step {
                0 => rounds.reach(),
                pc => rounds.access(*pc),
            }
        }
        rounds
    }

    #[test]
    fn a_wave_that_goes_on_has_gone_past_a_barrier_and_one_that_has_returned_has_not() {
        const BARRIER: u64 = 20;
        let judged = |mine: &[u64], others: &[&[u64]]| {
            let mut mine = rounds(mine);
            mine.miss(BARRIER);
            let others: Vec<_> = others.iter().map(|other| rounds(other)).collect();
            mine.judge(others.iter().chain([&mine]))
        };
        let whole: &[u64] = &[4, 0, 24, 28];
        assert_eq!(judged(&[4, 24], &[whole, whole]), Some((BARRIER, 24)));
        assert_eq!(judged(&[4], &[whole]), None, "returned");
        assert_eq!(judged(&[4, 32], &[whole]), None, "on a way of its own");
        assert_eq!(judged(&[4, 24], &[&[4, 24, 0, 24]]), None, "others do that before the barrier, too");
        assert_eq!(judged(&[4, 24], &[&[4, 24]]), None, "no other has been at a barrier");
        assert_eq!(judged(&[4, 24], &[&[4, 0, 24, 0]]), None, "others do that in a loop");
        assert_eq!(judged(&[4, 0, 4, 28], &[&[4, 0, 4, 0, 4, 0, 28]]), Some((BARRIER, 28)));
        let mut other = rounds(&[0, 24]);
        other.miss(BARRIER);
        other.cross(BARRIER, 12);
        assert_eq!(other.judge([&rounds(&[0, 0, 24])].into_iter()), Some((12, 24)));
    }

    #[test]
    fn findings_of_one_instruction_are_one() {
        let findings = SyncFindings::default();
        let (kind, lane) = (SyncKind::InactiveLane, Some(3));
        for (workgroup, pc) in [(1, 8), (2, 8), (0, 4)] {
            findings.add(SyncFinding { kind, workgroup, wave: 0, lane, pc, then: 16, count: 2 });
        }
        let found: Vec<_> = findings.take().iter().map(|one| (one.pc, one.workgroup, one.count)).collect();
        assert_eq!(found, [(4, 0, 2), (8, 1, 4)]);
    }
}
