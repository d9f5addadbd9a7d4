//! The tables for the terminal.

use std::fmt::{self, Write};

use aqlipse_bench::machine::Machine;

use super::{
    Plan,
    protocol::{Case, Counters, Quantity},
    results::{Entry, Results, Spread},
};
use crate::bench::number;

/// Everything that was measured, as text.
pub struct Table<'a> {
    /// What was to be measured.
    pub plan: &'a Plan,
    /// What came of it.
    pub results: &'a Results,
    /// The machine.
    pub machine: &'a Machine,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.header(f)?;
        self.results.entries.iter().try_for_each(|entry| contestant(f, entry))?;
        if self.plan.cases.contains(&Case::Launches) {
            self.launches(f)?;
        }
        let mut last = None;
        for &case in &self.plan.cases {
            let Case::Graph { shape, nodes } = case else { continue };
            if last.replace(shape) != Some(shape) {
                writeln!(f, "\n{}: {}", shape.name(), shape.title())?;
                self.columns(
                    f,
                    "nodes",
                    &["instantiate, ns a node", "hipGraphLaunch, us", "launch to completion, us"],
                )?;
            }
            let times = [(Quantity::InstantiateNode, 1.0), (Quantity::Call, 1e3), (Quantity::Complete, 1e3)];
            self.rows(f, case, &nodes.to_string(), &times)?;
        }
        self.packets(f)
    }
}

impl Table<'_> {
    fn header(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, machine) = (self.plan, self.machine);
        writeln!(f, "machine   {}, {} cores", machine.processor, machine.cores)?;
        writeln!(
            f,
            "rounds    {}: in each, every contestant measures everything in a process of its own;",
            plan.rounds
        )?;
        writeln!(f, "          one after the other, bound to no core; who begins, rotates")?;
        let kernels = if plan.environment.null_kernels {
            "of three arguments; packets complete without executing, so that the time is the runtime's own"
        } else {
            "of three arguments; each writes when it ran"
        };
        writeln!(f, "kernels   {kernels}")?;
        writeln!(
            f,
            "waits     ROC_ACTIVE_WAIT_TIMEOUT=0: AMD's 5.2.3 would spin in hipGraphLaunch for about 10 us"
        )?;
        writeln!(f, "          for each dependency between its queues; newer releases do not")?;
        writeln!(
            f,
            "spread    median over processes of each one's median [lowest-highest process]; xA: over A's"
        )?;
        match &plan.environment.thunk {
            Some(thunk) => writeln!(f, "thunk     {}\n", thunk.display()),
            None => writeln!(f, "thunk     none\n"),
        }
    }

    fn launches(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nhipModuleLaunchKernel")?;
        self.columns(f, "", &["1000 in a row, ns a launch", "one and a wait, us"])?;
        self.rows(f, Case::Launches, "", &[(Quantity::LaunchInBatch, 1.0), (Quantity::LaunchAndWait, 1e3)])
    }

    /// Ours, as far as there are times of it: what the others are compared with.
    fn bases(&self) -> Vec<char> {
        let ours = self.results.entries.iter().filter(|entry| entry.contestant.ours);
        ours.map(|entry| entry.contestant.label).filter(|&label| self.results.measured(label)).collect()
    }

    fn columns(&self, f: &mut fmt::Formatter<'_>, first: &str, times: &[&str]) -> fmt::Result {
        write!(f, "{first:>6}   ")?;
        for time in times {
            write!(f, " |{time:>28}")?;
            self.bases().iter().try_for_each(|base| write!(f, "{:>7}", format!("x{base}")))?;
        }
        writeln!(f)
    }

    /// A line for each contestant that has any of the times.
    fn rows(
        &self,
        f: &mut fmt::Formatter<'_>,
        case: Case,
        first: &str,
        times: &[(Quantity, f64)],
    ) -> fmt::Result {
        let mut first = first;
        for entry in &self.results.entries {
            let label = entry.contestant.label;
            let spreads: Vec<_> =
                times.iter().map(|&(quantity, _)| self.results.spread(label, case, quantity)).collect();
            if !self.results.measured(label) {
                continue;
            }
            write!(f, "{first:>6}  {label}")?;
            for (&(quantity, unit), spread) in times.iter().zip(spreads) {
                write!(f, " |{:>28}", spread.map_or("-".into(), |spread| text(spread, unit)))?;
                for base in self.bases() {
                    let ratio = self.results.ratio(label, base, case, quantity);
                    write!(f, "{:>7}", ratio.map_or("-".into(), number))?;
                }
            }
            writeln!(f)?;
            first = "";
        }
        Ok(())
    }

    fn packets(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let measured = self.results.entries.iter().map(|entry| entry.contestant.label);
        let measured = measured.filter(|&label| self.results.measured(label));
        let (counted, others): (Vec<_>, Vec<_>) = measured.partition(|&label| self.results.counted(label));
        writeln!(f, "\ndevice: packets by type, and so on, for a launch and a wait; means of all rounds")?;
        writeln!(f, "doorbells: changes that the packet processor saw; stores in quick succession are one")?;
        if !others.is_empty() {
            let others: Vec<_> = others.iter().map(char::to_string).collect();
            writeln!(
                f,
                "not counted: {}; a thunk that exports aqlipseThunkCounters counts",
                others.join(", ")
            )?;
        }
        if counted.is_empty() {
            return Ok(());
        }
        write!(f, "{:<18}   ", "")?;
        for name in Counters::NAMES {
            write!(f, " {:>w$}", name.replace('_', " "), w = width(name))?;
        }
        writeln!(f)?;
        for &case in &self.plan.cases {
            let mut first = match case {
                Case::Launches => format!("{} launches", super::worker::BATCH),
                Case::Graph { .. } => case.to_string(),
            };
            for &label in &counted {
                write!(f, "{first:<18}  {label}")?;
                let packets = self.results.packets(label, case);
                for (at, name) in Counters::NAMES.into_iter().enumerate() {
                    let text = packets.map_or("-".into(), |packets| count(packets[at]));
                    write!(f, " {text:>w$}", w = width(name))?;
                }
                writeln!(f)?;
                first.clear();
            }
        }
        Ok(())
    }
}

fn width(name: &str) -> usize {
    name.len().max(8)
}

/// A mean of counts: whole where it is.
fn count(mean: f64) -> String {
    if mean.fract() == 0.0 { format!("{mean}") } else { number(mean) }
}

/// `median [low-high]` in units of `unit` nanoseconds.
fn text(spread: Spread, unit: f64) -> String {
    let [median, low, high] = [spread.median, spread.low, spread.high].map(|time| number(time / unit));
    format!("{median} [{low}-{high}]")
}

fn contestant(f: &mut fmt::Formatter<'_>, entry: &Entry) -> fmt::Result {
    writeln!(f, "{}  {}", entry.contestant.label, entry.contestant.name)?;
    let mut lines = String::new();
    if let Some(loaded) = &entry.loaded {
        let verified = match entry.verified.len() {
            0 => "no graph verified".into(),
            1 => "1 graph verified with kernels that execute".into(),
            graphs => format!("{graphs} graphs verified with kernels that execute"),
        };
        writeln!(lines, "{}, version {}", loaded.path, loaded.version)?;
        writeln!(lines, "device \"{}\" ({}); {verified}", loaded.device, loaded.target)?;
    }
    entry.problems.iter().try_for_each(|problem| writeln!(lines, "! {problem}"))?;
    lines.lines().try_for_each(|line| writeln!(f, "   {line}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::against::{contestant::Environment, results};
    use aqlipse_bench::shape::Shape;

    fn text() -> String {
        let graph = |nodes| Case::Graph { shape: Shape::Straight, nodes };
        let plan = Plan {
            environment: Environment { thunk: Some("/thunk".into()), null_kernels: true },
            cases: vec![Case::Launches, graph(16), graph(128)],
            rounds: 2,
            budget: Duration::ZERO,
            goals: false,
        };
        let machine = Machine { processor: "a processor".into(), cores: 2 };
        Table { plan: &plan, results: &results::tests::fixed(), machine: &machine }.to_string()
    }

    /// The words of the line that has these words.
    fn line<'a>(text: &'a str, words: &str) -> Vec<&'a str> {
        let line = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut lines = line.filter(|line| line.join(" ").contains(words));
        lines.next().unwrap_or_else(|| panic!("no line with `{words}`:\n{text}"))
    }

    #[test]
    fn times_have_their_spread_and_their_ratio_to_ours() {
        let text = text();
        let first = "16 A | 550 [500-600] 1.00 | 11.0 [10.0-12.0] 1.00 | 33.0 [30.0-36.0] 1.00";
        assert_eq!(line(&text, "16 A |").join(" "), first);
        let other = "C | 2100 [2000-2200] 3.82 | 42.0 [40.0-44.0] 3.82 | 126 [120-132] 3.82";
        assert_eq!(line(&text, "C | 2100 [2000-2200] 3.82 | 42.0").join(" "), other);
        assert_eq!(line(&text, "128 A |")[..4], ["128", "A", "|", "3850"]);
        assert_eq!(line(&text, "C | 2100 [2000-2200] 3.82 | 33.6").len(), 9, "two times of plain launches");
    }

    #[test]
    fn packets_stand_where_they_were_counted_only() {
        let text = text();
        assert_eq!(line(&text, "straight/16 C").join(" "), "straight/16 C 16 1.50 0 0 0 17 1 1 17");
        assert_eq!(line(&text, "straight/128 C").join(" "), "straight/128 C - - - - - - - - -");
        assert_eq!(line(&text, "not counted:")[2], "A;");
    }

    #[test]
    fn who_failed_is_named_with_the_reason_and_has_no_rows() {
        let text = text();
        assert!(
            text.contains("B  ours on AMD's ROCr on the thunk\n   ! hipInit: hipErrorNoDevice (100)\n"),
            "{text}"
        );
        assert!(!text.contains("B |") && !text.contains("xB"), "{text}");
        assert!(text.contains("thunk     /thunk") && text.contains("ROC_ACTIVE_WAIT_TIMEOUT=0"));
        assert!(text.contains("version 50221153") && text.contains("1 graph verified"));
    }
}
