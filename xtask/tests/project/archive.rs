//! What users install.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use xtask::{archive, conformance, link::Profile, output, packages, read, root};

/// Runs a line of a shell with the tree's command, in a copy of the example project.
fn shell(tree: &Path, project: &Path, line: &str) -> String {
    let path = format!("{}:{}", tree.join("bin").display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-ec", line]).current_dir(project).env("PATH", path);
    // The user's machine has neither the folder of the thunk nor a device that the tests are to run on.
    shell.env_remove("LD_LIBRARY_PATH").env_remove("AQLIPSE_DEVICE");
    output(&mut shell).unwrap_or_else(|error| panic!("{error}"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn a_project_is_built_and_tested_with_the_tarball_and_the_package() {
    let missing = packages::missing_of(&["cmake", "hipcc", "clang-15", "pkg-config", "man-db"]);
    if !missing.is_empty() {
        assert!(!packages::required(), "missing Debian packages: {}", missing.join(" "));
        eprintln!("skipped: missing Debian packages {}", missing.join(" "));
        return;
    }
    let folder = xtask::target_dir().join("archive-test");
    let archives = archive::make(&conformance::dist(Profile::Release).unwrap(), &folder).unwrap();
    let [tarball, package] = ["tarball", "package"].map(|name| folder.join(name));
    fs::create_dir(&tarball).unwrap();
    output(
        Command::new("tar")
            .arg("-xf")
            .arg(&archives.tarball)
            .arg("-C")
            .arg(&tarball)
            .arg("--strip-components=1"),
    )
    .unwrap();
    output(Command::new("dpkg-deb").arg("--extract").arg(&archives.package).arg(&package)).unwrap();
    let installed = package.join(archive::debian::PREFIX);

    // The steps that are shown, but for those that install.
    let [dockerfile, workflow, page] = ["examples/ci/Dockerfile", "examples/ci/workflow.yml", "docs/ci.md"]
        .map(|file| read(&root().join(file)).unwrap());
    let steps = archive::chroot::commands(&dockerfile);
    let (install, steps) = steps.split_first().unwrap();
    let name = archives.package.file_name().unwrap().to_str().unwrap();
    assert!(install.ends_with(&format!(" ./{name}")), "{install}");
    for shown in [&workflow, &page] {
        assert!(steps.iter().all(|step| shown.contains(step.as_str())) && shown.contains(name), "{shown}");
    }
    assert!(read(&root().join("README.md")).unwrap().contains(name));
    let project = folder.join("project");
    copy(&root().join("examples/ci"), &project);
    for tree in [&tarball, &installed] {
        let said: Vec<_> = steps.iter().map(|step| shell(tree, &project, step)).collect();
        assert!(said.last().unwrap().contains("100% tests passed"), "{said:?}");
    }

    // Without AMD's package of CMake, and without `aqlipse run`.
    let ours = format!("-DCMAKE_PREFIX_PATH={}", tarball.display());
    let configured =
        shell(&tarball, &project, &format!("cmake -S . -B ours -DCMAKE_CXX_COMPILER=clang++-15 {ours}"));
    let cache = read(&project.join("ours/CMakeCache.txt")).unwrap();
    assert!(cache.contains(&format!("hip_DIR:PATH={}", tarball.display())), "{configured}");
    let tested = shell(&tarball, &project, "cmake --build ours && ctest --test-dir ours");
    assert!(tested.contains("100% tests passed"), "{tested}");
    let without = format!(
        "cmake -S . -B none {ours} -DHIP_INCLUDE_DIR=HIP_INCLUDE_DIR-NOTFOUND -DCMAKE_FIND_ROOT_PATH=/none \\
        -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY 2>&1 || true"
    );
    assert!(shell(&tarball, &project, &without).contains("set HIP_INCLUDE_DIR"), "no reason without headers");

    // A program in C.
    fs::write(project.join("c.c"), "int hipInit(unsigned); int main(void) { return hipInit(0); }").unwrap();
    let flags = format!("PKG_CONFIG_PATH={}/lib/pkgconfig", installed.display());
    shell(
        &installed,
        &project,
        &format!("{flags} cc c.c -o c $({flags} pkg-config --cflags --libs aqlipse)"),
    );
    shell(&installed, &project, "aqlipse run -- ./c");

    // Every subcommand has a page, and what completes is a program.
    let help = shell(&tarball, &project, "aqlipse help");
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: BTreeSet<_> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains("run") && commands.contains("bench"), "{help}");
    for command in commands.iter().filter(|command| **command != "help") {
        let page = tarball.join(format!("share/man/man1/aqlipse-{command}.1"));
        shell(&tarball, &project, &format!("man --warnings=w -l {} | grep -q aqlipse", page.display()));
    }
    shell(&tarball, &project, "bash -n ../tarball/share/bash-completion/completions/aqlipse");
    let demo = shell(&installed, &project, "../package/usr/bin/aqlipse demo --size 65536");
    assert!(!demo.is_empty());
}
