//! The `aqlipse` command.

mod bench;
mod calibrate;
mod check;
mod demo;
mod doctor;
mod dumped;
mod flags;
mod info;
mod installed;
#[path = "../../kernels/objects.rs"]
mod objects;
mod run;
mod sysfs;
mod trace;

use std::{error::Error, ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{CommandFactory, Parser, Subcommand};

/// The command.
const NAME: &str = "aqlipse";

/// A clean-room HIP graph runtime on HSA queues.
#[derive(Parser)]
#[command(name = NAME, version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure building, compiling, updating and launching graphs, alone or beside another libamdhip64.
    Bench(bench::Selection),
    /// Measure one library for `bench --against`.
    #[command(name = bench::against::worker::COMMAND, hide = true)]
    BenchWorker(bench::against::worker::Task),
    /// Measure what packets, barriers and signals cost on a device, as the scheduler's cost table says it.
    Calibrate(calibrate::Calibration),
    /// Run a HIP program on the emulated device and say what is wrong with it.
    Check(check::Check),
    /// Print what lets a shell complete this command.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Run the reference graph, captured and built node by node; compare launches with plain streams.
    Demo {
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
        /// Elements; a multiple of 1024.
        #[arg(long, default_value_t = 1 << 20)]
        size: usize,
        /// Timed iterations of each way to launch.
        #[arg(long, default_value_t = 20)]
        iterations: usize,
    },
    /// Say what is wrong with a graph, and what would help.
    #[command(subcommand)]
    Doctor(doctor::Examination),
    /// Print what compiles and links a program with the HIP headers that there are: a program is linked with the folder
    /// of the release that its headers are of.
    Flags(flags::Selection),
    /// List the devices.
    Info {
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Write the manual pages into a folder.
    #[command(hide = true)]
    Manual { folder: PathBuf },
    /// Run a HIP program on this library. It reads structures as the release has them that the program was linked
    /// with (`flags`); a program that was not linked with HIP gets the newest.
    Run {
        /// Say on stderr, or in a file, what holds the devices' memory when the program ends.
        #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
        memory: Option<OsString>,
        /// Show the program the emulated devices in /sys and /dev, as Linux shows cards, instead of the machine's own.
        /// Needs root or user namespaces.
        #[arg(long)]
        sysfs: bool,
        /// The program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<OsString>,
    },
    /// Run a HIP program and write down what it does and when: calls, launches, and what devices do.
    Trace(trace::Trace),
}

fn main() -> ExitCode {
    aqlipse::trace::init_from_env();
    let outcome: Result<(), Box<dyn Error>> = match Arguments::parse().command {
        Command::Bench(selection) => bench::run(&selection),
        Command::BenchWorker(task) => bench::against::worker::run(&task),
        Command::Calibrate(calibration) => calibrate::run(&calibration),
        Command::Check(check) => return check::run(&check),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Arguments::command(), NAME, &mut std::io::stdout());
            Ok(())
        }
        Command::Demo { json, size, iterations } => demo::run(json, size, iterations).map_err(Into::into),
        Command::Doctor(examination) => doctor::run(&examination),
        Command::Flags(selection) => flags::run(&selection).map_err(Into::into),
        Command::Info { json } => info::run(json).map_err(Into::into),
        Command::Manual { folder } => {
            clap_mangen::generate_to(Arguments::command(), folder).map_err(Into::into)
        }
        Command::Trace(trace) => return trace::run(&trace),
        Command::Run { memory, sysfs, program } => return run::run(&program, memory, sysfs),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("aqlipse: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(line: &str) -> bool {
        Arguments::try_parse_from(line.split(' ')).is_ok()
    }

    #[test]
    fn arguments_fit_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn json_goes_to_a_file_or_to_the_terminal() {
        assert!(
            accepted("aqlipse bench --json --quick") && accepted("aqlipse bench --json out.json --quick")
        );
        assert!(!accepted("aqlipse bench --json one two"));
    }

    #[test]
    fn the_doctor_needs_a_file_and_a_sensible_time() {
        let memory = "aqlipse doctor memory";
        assert!(accepted(&format!("{memory} graph.json --svg plan.svg --json --plan-ms 100")));
        assert!(accepted("aqlipse doctor packets forkjoin8/145 --lanes 2"));
        assert!(!accepted("aqlipse doctor packets forkjoin8/145 --lanes 9"));
        assert!(!accepted("aqlipse doctor packets"));
        for wrong in ["", "--json", "graph.json --plan-ms -1", "graph.json --plan-ms 3600001", "one two"] {
            assert!(!accepted(format!("{memory} {wrong}").trim_end()), "{wrong}");
        }
    }

    #[test]
    fn graphs_come_from_files_or_from_a_program() {
        for accepted_ones in ["one.json", "one.json two.json", "-- ./program --its own"] {
            assert!(accepted(&format!("aqlipse doctor graph {accepted_ones}")), "{accepted_ones}");
        }
        for wrong in ["", " one.json -- ./program", " one two three"] {
            assert!(!accepted(&format!("aqlipse doctor graph{wrong}")), "{wrong}");
        }
        assert!(
            accepted("aqlipse trace -- ./program")
                && accepted("aqlipse trace -o t.json --html t.html -- ./p -o x")
        );
        assert!(!accepted("aqlipse trace -o t.json") && !accepted("aqlipse trace ./program"));
    }

    #[test]
    fn simulations_measure_nothing() {
        assert!(accepted("aqlipse bench --simulate --filter full --json out.json"));
        assert!(!accepted("aqlipse bench --simulate --quick"));
        assert!(!accepted("aqlipse bench --simulate --against libamdhip64.so.5"));
        assert!(accepted("aqlipse bench --limits --quick --filter full2/ --json"));
        assert!(!accepted("aqlipse bench --limits --simulate"));
    }

    /// The commands of the page for a first card, up to where their output goes.
    #[test]
    fn the_page_of_the_first_card_has_commands_that_there_are() {
        let page = include_str!("../../docs/first-card.md");
        let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        let parts = blocks.flat_map(|block| block.split(['\n', '|', ';', '&']));
        let commands: Vec<_> = parts
            .map(|part| part.split('>').next().unwrap_or_default().trim())
            .filter(|part| part.starts_with("aqlipse "))
            .collect();
        assert!(commands.len() >= 6, "{commands:?}");
        for command in commands {
            assert!(accepted(command), "{command}");
        }
    }

    #[test]
    fn what_only_comparisons_know_needs_one() {
        let against = "aqlipse bench --against libamdhip64.so.5";
        for option in
            ["--svg plot.svg", "--sizes 16,128", "--shapes straight,branches8", "--full", "--no-thunk"]
        {
            assert!(!accepted(&format!("aqlipse bench {option}")), "{option}");
            assert!(accepted(&format!("{against} {option}")), "{option}");
        }
        for wrong in
            ["--sizes 0", "--shapes round", "--rounds 0", "--no-thunk --thunk x", "--execute --null-kernels"]
        {
            assert!(!accepted(&format!("{against} {wrong}")), "{wrong}");
        }
        assert!(accepted(&format!("{against} --against /opt/rocm/lib/libamdhip64.so --rounds 3 --execute")));
    }
    #[test]
    fn a_program_that_is_run_keeps_its_own_arguments() {
        let parse = |words: &[&str]| match Arguments::try_parse_from(words).unwrap().command {
            Command::Run { memory, sysfs, program } => (memory, sysfs, program),
            _ => panic!("{words:?}"),
        };
        let texts = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let program = ["./program", "--memory=x", "-v"];
        assert_eq!(
            parse(&["aqlipse", "run", "./program", "--memory=x", "-v"]),
            (None, false, texts(&program))
        );
        let stderr = Some("1".into());
        assert_eq!(
            parse(&["aqlipse", "run", "--memory", "./program"]),
            (stderr, false, texts(&program[..1]))
        );
        assert_eq!(parse(&["aqlipse", "run", "--sysfs", "./program"]), (None, true, texts(&program[..1])));
        let file = Some("report.txt".into());
        assert_eq!(
            parse(&["aqlipse", "run", "--memory=report.txt", "--", "./program", "--memory=x", "-v"]),
            (file, false, texts(&program))
        );
    }
}
