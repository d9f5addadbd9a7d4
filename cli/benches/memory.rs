//! How many bytes do planned graphs need, beside the least that any plan needs?
//!
//! - Buffers of files: the public instances of MiniMalloc (github.com/google/minimalloc, Apache-2.0), as the folder that
//!   `--minimalloc DIR` or `MINIMALLOC` names holds them: `*.csv` with `id,lower,upper,size`. They are none of ours:
//!   constants were compared on generated problems, with these in view too.
//! - Buffers that fill a rectangle without slack, cut at random: beside its height, which can be reached.
//! - Buffers of generated graphs, whose lives are ordered partially: beside the heaviest antichain.
//!
//! `--long` gives each file 5 s as well, and `--python PATH` or `PYTHON` names an interpreter that has `omnimalloc` from
//! PyPI, which places the same buffers in the same time and checks our plans of them. All plans are checked here too.
//!
//! What was tried for the search (`aqlipse_cli::offsets`) and left out. With buffers that fill a rectangle:
//! - local search over orders of first fit: worse; beams of partial plans: no better, and slower;
//! - branching where there are fewest candidates: better on few problems, slower on all;
//! - moves from where a search got furthest, or back to the best plan after some thousand moves: no better;
//! - searches that begin in the fullest set, or in the one that ended most branches: they add little to the others;
//! - plans by floors alone before the first search: moves do more in that time.
//!
//! With these buffers and with lives of all lengths in a chain:
//! - keeping the end of each set's plan up to date from floor to floor: a step took more than twice as long;
//! - raising buffers that cannot be the first of a part of a set: up to three times as many searches succeeded, four to
//!   seven times slower;
//! - looking at fewer sets for buffers to raise: 1.7 times faster, half as many succeeded;
//! - going on from a variation of the best try too, or giving up the rest at half of the steps: no better.

use std::{
    env, fs,
    io::Write,
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use aqlipse_cli::offsets::{Bound, Buffer, Problem, plan};
use dags::Dag;
use filled::Filled;

#[path = "memory/dags.rs"]
mod dags;
#[path = "memory/filled.rs"]
mod filled;
#[path = "memory/random.rs"]
mod random;

/// Plans of each file and budget, unless it is a long one.
const RUNS: usize = 5;
const SEEDS: u64 = 7;

fn main() {
    let mut arguments = env::args().skip(1);
    let (mut folder, mut python, mut long) = (env::var_os("MINIMALLOC"), env::var_os("PYTHON"), false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minimalloc" => folder = arguments.next().map(Into::into),
            "--python" => python = arguments.next().map(Into::into),
            "--long" => long = true,
            // What cargo gives to every benchmark.
            "--bench" => {}
            other => panic!("{other}: expected --minimalloc DIR, --python PATH or --long"),
        }
    }
    let python = python.unwrap_or_else(|| "python3".into());
    let rival = Rival::find(Path::new(&python));
    match folder.map(PathBuf::from) {
        Some(folder) => files(&folder, rival.as_ref(), long),
        None => println!("no --minimalloc DIR: the public instances are left out"),
    }
    rectangles();
    graphs();
    large();
}

/// Buffers of a file, and their lives.
struct File {
    name: String,
    buffers: Vec<Buffer>,
    lives: Vec<Range<u64>>,
}

impl File {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut file = Self { name, buffers: Vec::new(), lives: Vec::new() };
        for (line, row) in text.lines().enumerate().skip(1) {
            let numbers: Vec<u64> = row.split(',').map_while(|field| field.trim().parse().ok()).collect();
            let [_, lower, upper, size] = numbers[..] else {
                panic!("{}:{}: expected id,lower,upper,size", path.display(), line + 1)
            };
            file.buffers.push(Buffer { bytes: size, align: 1 });
            file.lives.push(lower..upper);
        }
        file
    }
}

fn files(folder: &Path, rival: Option<&Rival>, long: bool) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
    paths.sort();
    println!("buffers of {}: heights, medians of {RUNS} plans [least-most], 1 of 5 s", folder.display());
    if rival.is_none() {
        println!("no Python with omnimalloc (--python PATH): it is left out");
    }
    println!(
        "{:<16} {:>5} {:>9} {:>8} {:>28} {:>7} {:>8} {:>9} {:>24}",
        "file", "n", "bound", "budget", "height", "above", "optimal", "time", "omnimalloc"
    );
    let budgets: &[u64] = if long { &[20, 100, 5_000] } else { &[20, 100] };
    for &ms in budgets {
        let budget = Duration::from_millis(ms);
        let mut optimal = 0;
        for path in &paths {
            let file = File::read(path);
            let problem = Problem::of_intervals(&file.buffers, &file.lives).expect("a problem");
            let runs = if ms < 1_000 { RUNS } else { 1 };
            let mut plans: Vec<_> = (0..runs).map(|_| timed(&problem, budget)).collect();
            plans.sort_by_key(|(plan, time)| (plan.height, *time));
            let (median, time) = &plans[runs / 2];
            let bound = problem.lower_bound().bytes();
            let beside = rival.map_or(String::new(), |rival| rival.place(&file, &median.offsets, budget));
            optimal += usize::from(median.is_optimal());
            println!(
                "{:<16} {:>5} {bound:>9} {:>6}ms {:>28} {:>6.2}% {:>8} {:>7.1}ms {beside:>24}",
                file.name,
                problem.len(),
                ms,
                format!("{} [{}-{}]", median.height, plans[0].0.height, plans[runs - 1].0.height),
                above(median.height, bound),
                if median.is_optimal() { "yes" } else { "open" },
                time.as_secs_f64() * 1e3,
            );
        }
        println!("optimal within {ms} ms: {optimal} of {}", paths.len());
    }
}

fn above(height: u64, bound: u64) -> f64 {
    (height as f64 / bound.max(1) as f64 - 1.0) * 100.0
}

fn timed(problem: &Problem, budget: Duration) -> (aqlipse_cli::offsets::Plan, Duration) {
    let start = Instant::now();
    let plan = plan(problem, budget);
    let time = start.elapsed();
    assert!(problem.admits(&plan.offsets, plan.height), "a plan that does not hold");
    (plan, time)
}

fn rectangles() {
    println!("\nbuffers that fill a rectangle: % above its height, {SEEDS} each, median [least-most]");
    println!("{:<14} {:>5} {:>22} {:>22} {:>8}", "cuts", "n", "20 ms", "100 ms", "optimal");
    for (name, make) in Filled::FAMILIES {
        for buffers in [150, 200, 300] {
            let (mut over, mut optimal) = ([Vec::new(), Vec::new()], 0);
            for seed in 1..=SEEDS {
                let problem = make(seed, buffers).problem();
                for (over, ms) in over.iter_mut().zip([20, 100]) {
                    let (plan, _) = timed(&problem, Duration::from_millis(ms));
                    over.push(above(plan.height, filled::HEIGHT));
                    optimal += usize::from(ms == 100 && plan.is_optimal());
                }
            }
            let [short, long] = over.map(|over| spread(over, "%"));
            println!("{name:<14} {buffers:>5} {short:>22} {long:>22} {:>8}", format!("{optimal}/{SEEDS}"));
        }
    }
}

fn graphs() {
    println!(
        "\nbuffers of generated graphs: % above the heaviest antichain, {SEEDS} graphs each, median [least-most]"
    );
    println!(
        "{:<14} {:>5} {:>9} {:>22} {:>22} {:>8}",
        "family", "n", "bound in", "20 ms", "100 ms", "optimal"
    );
    for (family, make) in Dag::FAMILIES {
        let (mut nodes, mut bounds, mut optimal) = (0, Vec::new(), 0);
        let mut over = [Vec::new(), Vec::new()];
        for seed in 1..=SEEDS {
            let dag = make(seed);
            let start = Instant::now();
            let problem = dag.problem();
            bounds.push(start.elapsed().as_secs_f64() * 1e3);
            let Bound::Exact(bound) = problem.lower_bound() else {
                panic!("the bound of {family} is not exact")
            };
            nodes = problem.len();
            for (over, ms) in over.iter_mut().zip([20, 100]) {
                let (plan, _) = timed(&problem, Duration::from_millis(ms));
                over.push(above(plan.height, bound));
                optimal += usize::from(ms == 100 && plan.is_optimal());
            }
        }
        let [short, long] = over.map(|over| spread(over, "%"));
        let bound = spread(bounds, "ms");
        let bound = bound.split(' ').next().unwrap_or_default();
        println!(
            "{family:<14} {nodes:>5} {bound:>9} {short:>22} {long:>22} {:>8}",
            format!("{optimal}/{SEEDS}")
        );
    }
}

/// The median, and the least and the most.
fn spread(mut values: Vec<f64>, unit: &str) -> String {
    values.sort_unstable_by(f64::total_cmp);
    let (median, least, most) = (values[values.len() / 2], values[0], values[values.len() - 1]);
    format!("{median:.2}{unit} [{least:.2}-{most:.2}]")
}

/// What is left of the time when there are many buffers.
fn large() {
    println!("\nten thousand buffers of a chain: time that the problem and the plan take");
    for budget in [20, 100, 1_000] {
        let n = 10_000u64;
        let buffers: Vec<_> =
            (0..n).map(|i| Buffer { bytes: 256 * (1 + i * 7919 % 61), align: 256 }).collect();
        let lives: Vec<_> =
            (0..n).map(|i| i..i + if i.is_multiple_of(50) { 3_000 } else { 2 + i % 7 }).collect();
        let start = Instant::now();
        let problem = Problem::of_intervals(&buffers, &lives).expect("a problem");
        let made = start.elapsed();
        let (plan, time) = timed(&problem, Duration::from_millis(budget));
        let over = above(plan.height, problem.lower_bound().bytes());
        println!(
            "budget {budget:>5} ms: problem {:.1} ms, plan {:.1} ms, {over:.2} % above the bound",
            made.as_secs_f64() * 1e3,
            time.as_secs_f64() * 1e3
        );
    }
}

/// `omnimalloc`, in a Python of the caller's.
struct Rival {
    python: PathBuf,
}

/// Takes the buffers as JSON; prints the height of its own plan and the seconds that it took, once it has checked ours.
const SCRIPT: &str = r#"
import json, sys, time, omnimalloc as om
from omnimalloc.allocators import SupermallocAllocator
task = json.load(sys.stdin)
rows = list(enumerate(task["rows"]))
om.validate_allocation([om.Allocation(i, size, start, end, offset) for i, (size, start, end, offset) in rows])
bare = [om.Allocation(i, size, start, end) for i, (size, start, end, _) in rows]
begin = time.perf_counter()
made = om.allocate(bare, allocator=SupermallocAllocator(timeout=task["seconds"]))
took = time.perf_counter() - begin
om.validate_allocation(made)
print(max(one.offset + one.size for one in made), took)
"#;

impl Rival {
    fn find(python: &Path) -> Option<Self> {
        let output = Command::new(python).args(["-c", "import omnimalloc"]).output().ok()?;
        output.status.success().then(|| Self { python: python.to_owned() })
    }

    /// Its plan in as much time, beside ours, which it checks.
    fn place(&self, file: &File, offsets: &[u64], budget: Duration) -> String {
        let rows = file.buffers.iter().zip(&file.lives).zip(offsets);
        let rows: Vec<_> =
            rows.map(|((buffer, life), offset)| [buffer.bytes, life.start, life.end, *offset]).collect();
        let task = serde_json::json!({ "rows": rows, "seconds": budget.as_secs_f64() }).to_string();
        let mut child = Command::new(&self.python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        child.stdin.take().expect("its input").write_all(task.as_bytes()).expect("Python reads");
        let output = child.wait_with_output().expect("Python ends");
        assert!(output.status.success(), "omnimalloc does not take our plan, or makes none");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
        let (height, seconds) = (words.next().expect("a height"), words.next().expect("seconds"));
        format!("{height} in {:.1}ms", seconds * 1e3)
    }
}
