//! A machine that has a GPU driver and no GPU that can be used.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::toolchain::{Toolchain, has};

/// Has a file or a folder stand for the driver's device file, and executes the rest of the arguments. Nothing can be done with
/// the file, and the folder cannot be opened.
const PRETEND: &str = r#"
set -e
dev=$1 kfd=$2
shift 2
mount -t tmpfs none "$dev"
for name in null zero urandom; do
  touch "$dev/$name"
  mount --bind "/dev/$name" "$dev/$name"
done
mkdir "$dev/shm"
mount --bind /dev/shm "$dev/shm"
$kfd "$dev/kfd"
mount --rbind "$dev" /dev
exec "$@"
"#;

/// `aqlipse info` where `kfd` has made `/dev/kfd`, a mount of this process alone.
fn info(toolchain: &Toolchain, kfd: &str, device: &str) -> Output {
    let dev = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("dev-{}", std::process::id()));
    fs::create_dir_all(&dev).expect("the target directory can be written");
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", PRETEND, "pretend"]).arg(&dev).arg(kfd);
    // Debian's own driver library, and not one that needs no driver.
    command.arg(toolchain.command()).arg("info").env_remove("LD_LIBRARY_PATH").env_remove("AQLIPSE_LOG");
    let output = command.env("AQLIPSE_DEVICE", device).output().expect("unshare starts");
    fs::remove_dir(&dev).expect("what was mounted there is gone");
    output
}

/// Whether processes may have mounts of their own.
fn may_mount() -> bool {
    let mut command = Command::new("unshare");
    let output = command.args(["--map-root-user", "--mount", "true"]).output().expect("unshare starts");
    if !output.status.success() {
        eprintln!("skipped: no mounts of its own: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    output.status.success()
}

#[test]
fn a_driver_that_cannot_be_used_is_named_in_one_line_or_an_error() {
    let Some(toolchain) = Toolchain::find() else { return };
    let library = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1";
    if !has("/usr/bin/unshare", "util-linux") || !has(library, "libhsa-runtime64-1") || !may_mount() {
        return;
    }
    for (kfd, reason) in [("touch", "rocminfo"), ("mkdir", "/dev/kfd cannot be opened")] {
        let run = |device| {
            let Output { status, stdout, stderr } = info(&toolchain, kfd, device);
            let text = |bytes| String::from_utf8(bytes).expect("text");
            (status.success(), text(stdout).contains("[emulated]"), text(stderr))
        };
        let (succeeds, is_emulated, said) = run("auto");
        assert!(succeeds && is_emulated, "{kfd}: {said}");
        let [line] = said.lines().collect::<Vec<_>>()[..] else { panic!("{kfd}: {said}") };
        let says = ["the GPU of this machine is not used", reason, "AQLIPSE_DEVICE=rocr"];
        assert!(says.iter().all(|words| line.contains(words)), "{line}");

        let (succeeds, is_emulated, said) = run("rocr");
        assert!(!succeeds && !is_emulated && said.contains(reason), "{kfd}: {said}");
        assert_eq!(run("emulated"), (true, true, String::new()), "{kfd}");
    }
}
