//! The packets of a launch as text: of each its barrier bit and the scopes of its fences, folded where they repeat.

#![forbid(unsafe_code)]

use std::fmt;

use hsa::packet::{Kind, Packet, Scope, SignalPlace};

use super::launch::{LaunchImage, LaunchLane};

/// Lines that are looked at together for repetitions.
const LONGEST: usize = 16;

/// What is said of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    kind: &'static str,
    barrier: bool,
    acquire: Scope,
    release: Scope,
    waits: usize,
    fires: bool,
    ends: bool,
}

/// What is said of packets one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fold {
    /// Each with how many packets in a row it is said of.
    lines: Vec<(Line, usize)>,
    /// How often they follow each other.
    times: usize,
}

impl LaunchLane {
    /// What is said of each packet.
    fn lines(&self, ends_launch: bool) -> Vec<Line> {
        let mut lines: Vec<Line> = self.packets.iter().map(Line::of).collect();
        for &(packet, place, _) in &self.patches {
            match place {
                SignalPlace::Dependency(_) => lines[packet as usize].waits += 1,
                SignalPlace::Completion => lines[packet as usize].fires = true,
            }
        }
        if let Some(last) = lines.last_mut() {
            last.ends = ends_launch;
        }
        lines
    }
}

impl Line {
    fn of(packet: &Packet) -> Self {
        let fences = packet.header().map(|header| header.fences).unwrap_or_default();
        let kind = match packet.kind() {
            Some(Kind::KernelDispatch) => "kernel",
            Some(Kind::BarrierAnd) => "barrier-AND",
            Some(Kind::BarrierOr) => "barrier-OR",
            Some(Kind::VendorSpecific) => "vendor",
            _ => "other",
        };
        let (acquire, release) = (fences.acquire, fences.release);
        Self { kind, barrier: fences.barrier, acquire, release, waits: 0, fires: false, ends: false }
    }
}

/// Folds equal lines in a row, then groups of those that repeat.
fn fold(lines: &[Line]) -> Vec<Fold> {
    let runs: Vec<(Line, usize)> = lines.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    let (mut folds, mut at) = (Vec::new(), 0);
    while at < runs.len() {
        let times = |period: usize| {
            let groups = runs[at..].chunks_exact(period);
            groups.take_while(|group| *group == &runs[at..at + period]).count()
        };
        // What saves most lines; of equal ones the shortest group.
        let periods = 1..=LONGEST.min(runs.len() - at);
        let saved = |period: usize| (times(period).max(1) - 1) * period;
        let period = periods.rev().max_by_key(|&period| saved(period)).unwrap_or(1);
        let times = times(period).max(1);
        folds.push(Fold { lines: runs[at..at + period].to_vec(), times });
        at += period * times;
    }
    // Groups that do not repeat are one.
    folds.into_iter().fold(Vec::new(), |mut all: Vec<Fold>, next| {
        match all.last_mut() {
            Some(last) if last.times == 1 && next.times == 1 => last.lines.extend(next.lines),
            _ => all.push(next),
        }
        all
    })
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = |scope| match scope {
            Scope::None => "-",
            Scope::Agent => "agent",
            Scope::System => "system",
        };
        let barrier = if self.barrier { "barrier" } else { "-" };
        write!(
            f,
            "{:<12}{barrier:<9}acquire {:<8}release {:<8}",
            self.kind,
            scope(self.acquire),
            scope(self.release)
        )?;
        if self.waits > 0 {
            write!(f, "waits for {} ", self.waits)?;
        }
        if self.fires {
            f.write_str("fires ")?;
        }
        if self.ends { f.write_str("ends the launch") } else { Ok(()) }
    }
}

/// By queue, the packets with their fences. `x` says how many packets in a row a line is for.
impl fmt::Display for LaunchImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, lane) in self.lanes.iter().enumerate() {
            let lines = lane.lines(number == 0);
            let acquires = lines.iter().filter(|line| line.acquire != Scope::None).count();
            writeln!(f, "queue {number}: {} packets, of which {acquires} acquire", lines.len())?;
            for Fold { lines, times } in fold(&lines) {
                if times > 1 {
                    writeln!(f, "  {times} times:")?;
                }
                let indent = if times > 1 { "    " } else { "  " };
                for (line, packets) in lines {
                    let text = format!("{indent}{:>5} x {line}", packets);
                    writeln!(f, "{}", text.trim_end())?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hsa::packet::{BarrierAnd, Fences, KernelDispatch};

    use super::*;

    fn kernel(fences: Fences) -> Packet {
        KernelDispatch { fences, ..KernelDispatch::new(64) }.packet().unwrap()
    }

    fn image(packets: Vec<Packet>, patches: Vec<(u32, SignalPlace, u32)>) -> LaunchImage {
        LaunchImage { lanes: vec![LaunchLane { packets, patches }], ..LaunchImage::default() }
    }

    #[test]
    fn what_repeats_is_said_once() {
        let wide = Fences { barrier: false, acquire: Scope::None, release: Scope::Agent };
        let stage = [vec![kernel(Fences::AGENT)], vec![kernel(wide); 3]].concat();
        let mut packets = vec![kernel(Fences { acquire: Scope::System, ..Fences::AGENT })];
        (0..40).for_each(|_| packets.extend_from_slice(&stage));
        packets.push(kernel(Fences { acquire: Scope::Agent, ..Fences::SYSTEM }));
        let text = image(packets, Vec::new()).to_string();
        let expected = "\
queue 0: 162 packets, of which 42 acquire
      1 x kernel      barrier  acquire system  release agent
  40 times:
        1 x kernel      barrier  acquire agent   release agent
        3 x kernel      -        acquire -       release agent
      1 x kernel      barrier  acquire agent   release system  ends the launch
";
        assert_eq!(text, expected);
    }

    #[test]
    fn waits_and_signals_are_told() {
        let waits = BarrierAnd::default().packet();
        let patches = vec![
            (0, SignalPlace::Dependency(0), 3),
            (0, SignalPlace::Dependency(1), 4),
            (1, SignalPlace::Completion, 5),
        ];
        let text = image(vec![waits, kernel(Fences::SYSTEM)], patches).to_string();
        let expected = "\
queue 0: 2 packets, of which 1 acquire
      1 x barrier-AND -        acquire -       release -       waits for 2
      1 x kernel      barrier  acquire system  release system  fires ends the launch
";
        assert_eq!(text, expected);
    }
}
