//! docs/clients.md: the table of clients, and what a user copies to run a program on each.

use std::{fmt::Write, path::Path};

use super::{
    CLIENTS, Client, RUNS, Run, Way,
    table::{Source, TESTED},
};
use crate::{Error, Result, pages, read, root};

/// The page.
pub const FILE: &str = "docs/clients.md";

const BEGINNING: &str = "\
# Clients
Programs and libraries of others that run on this library, unchanged and without an AMD GPU. `cargo xtask clients` installs
each of them in `target/clients`, in the version below, and runs a script of ours (`clients/NAME`). It has the client
compute and compares the results with numpy's or the host's. `cargo xtask clients NAME` does that for one,
`cargo xtask test` for those that are marked with a star, `cargo xtask test --clients` for all
([ADR 53](adr/0053-clients-are-tests.md)).

Each script runs on these, but for devices that a client has no code for:";

const NULL: &str = "Null kernels complete without executing: then every check must fail.";

const TRACED: &str = "\
What is traced ([trace.md](trace.md)) Perfetto's description of the format reads, with each node under one name at each launch, and
Perfetto's viewer opens it.

";

/// Writes the page.
///
/// # Errors
/// [`Error::File`], [`Error::Usage`].
pub fn write() -> Result {
    pages::write(&[(FILE, text()?)])
}

/// Compares the page with the table.
///
/// # Errors
/// [`Error::Stale`], [`Error::File`], [`Error::Usage`].
pub fn check() -> Result {
    pages::check("clients --page", &[(FILE, text()?)])
}

fn text() -> Result<String> {
    let mut text = BEGINNING.to_owned();
    // Writing to a string cannot fail.
    let runs: Vec<_> = RUNS.iter().map(|run| run.what).collect();
    let _ = write!(text, "\n- {}.\n\n{NULL}\n", runs.join(";\n- "));
    let checked = |run: &Run| if let Way::Checked(tools) = run.way { Some(tools) } else { None };
    for tools in RUNS.iter().filter_map(checked) {
        let found = CLIENTS.iter().filter(|client| !client.findings.is_empty());
        let found: Vec<_> =
            found.map(|client| format!("{} ({})", client.name, client.findings.join(", "))).collect();
        let _ = writeln!(
            text,
            "Checked is by `aqlipse check {tools}` ([check.md](check.md)): it finds nothing but in {}.",
            found.join(", ")
        );
    }
    text.push_str(TRACED);
    text.push_str("| client | packages | checks | graphs | what it lacks |\n|---|---|---|---|---|\n");
    for client in &CLIENTS {
        let Client { name, checks, graphs, lacks, fast, .. } = client;
        let star = if *fast { " *" } else { "" };
        let packages = packages(client)?;
        let graphs = if graphs.is_empty() { "none" } else { graphs };
        let _ = writeln!(
            text,
            "| [{name}](../clients/{name}){star} | {packages} | {checks} | {graphs} | {lacks} |"
        );
    }
    text.push_str("\nThese are tests of the library themselves:\n\n");
    text.push_str("| client | packages | tests | what it lacks |\n|---|---|---|---|\n");
    for (name, packages, file, tests, lacks) in TESTED {
        let tests = tests.map(|test| test.replace('_', " ")).join("; ");
        let _ = writeln!(text, "| {name} | {packages} | [{tests}](../{file}) | {lacks} |");
    }
    text.push_str("\n## Programs of your own\nAfter `cargo xtask clients NAME`:\n```sh\n");
    for client in &CLIENTS {
        let _ = writeln!(text, "{}", command_line(client));
    }
    text.push_str("```\n`target/clients/rocm` has the form of ROCm's folder, for clients that look for the library, a linker or\n");
    text.push_str("`hipconfig` there. `venv/stand-ins` of a client has stand-ins for ROCm's libraries, with which a client is linked: all of\n");
    text.push_str("their operations return an error.\n");
    Ok(text)
}

/// The packages that are the client, with their versions.
fn packages(client: &Client) -> Result<String> {
    let pinned = |file: &str, before: &str, after: char, names: &[&str]| {
        let path = root().join(client.sources()).join(file);
        let text = read(&path)?;
        let versions = names.iter().map(|name| {
            let found =
                text.split_once(&format!("{name}{before}")).and_then(|(_, rest)| rest.split_once(after));
            let (version, _) =
                found.ok_or_else(|| Error::Usage(format!("{} has no {name}", path.display())))?;
            Ok(format!("`{}` {version}", name.trim_matches('"')))
        });
        Ok(versions.collect::<Result<Vec<_>>>()?.join(", "))
    };
    match client.source {
        Source::PyPi(names) => pinned("requirements.txt", "==", '\n', names),
        Source::CratesIo(name) => pinned("Cargo.lock", "\nversion = \"", '"', &[&format!("\"{name}\"")]),
        Source::Debian(names) => {
            Ok(names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    }
}

/// What runs a program of the user's on a client.
fn command_line(client: &Client) -> String {
    let folder = Path::new("target/clients").join(client.name);
    let environment =
        client.environment(Path::new("target/dist"), &folder, Path::new("target/clients/rocm"), "$PATH");
    let mut line: String = environment.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    line.push_str(&match client.source {
        Source::PyPi(_) => format!("{} program.py", folder.join("venv/bin/python").display()),
        Source::Debian(names) if names[0].starts_with("lib") => {
            format!("./program    # that needs {}", names[0])
        }
        Source::Debian(names) => names[0].to_owned(),
        Source::CratesIo(name) => format!("cargo run    # of a program that depends on {name}"),
    });
    line
}
