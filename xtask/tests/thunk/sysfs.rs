//! `aqlipse run --sysfs`: the devices in `/sys` and `/dev`, as programs find them, AMD's listers among them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    ROCR, compile_c, installed,
    process::{Finished, on_thunk, run},
    scratch, thunk,
};

const HEADERS: (&str, &str) = ("/usr/include/hsakmt.h", "libhsakmt-dev");
const ROCMINFO: (&str, &str) = ("/usr/bin/rocminfo", "rocminfo");

/// The command `aqlipse`, which `cargo xtask dist` put beside the thunk.
fn aqlipse() -> PathBuf {
    thunk().parent().unwrap().join("bin/aqlipse")
}

/// A program under `aqlipse run --sysfs`, by a command that starts that.
fn started_by(starter: &[&str], devices: &str, program: &[&str]) -> Command {
    let aqlipse = aqlipse();
    let words: Vec<&str> = starter.iter().copied().chain([aqlipse.to_str().unwrap()]).collect();
    let mut command = on_thunk(Path::new(words[0]));
    command.args(&words[1..]).args(["run", "--sysfs", "--"]).args(program).env("AQLIPSE_EMULATE", devices);
    command
}

fn shown(devices: &str, program: &[&str]) -> Finished {
    run(&mut started_by(&[], devices, program))
}

#[test]
fn rocminfo_lists_the_device() {
    if !installed(&[ROCMINFO, ROCR]) {
        return;
    }
    let finished = shown("gfx90a", &[ROCMINFO.0]);
    let lines = finished.lines();
    for wanted in [
        "Name: gfx90a",
        "Uuid: GPU-00000000740f0000",
        "Marketing Name: AMD Instinct MI210 (emulated)",
        "Vendor Name: AMD",
        "Device Type: GPU",
        "L1: 16(0x10) KB",
        "L2: 8192(0x2000) KB",
        "Chip ID: 29711(0x740f)",
        "Compute Unit: 4(0x4)",
        "Wavefront Size: 64(0x40)",
        "Max Waves Per CU: 32(0x20)",
        "Name: amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        "*** Done ***",
    ] {
        let tidy = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        // Numbers appear as decimal and, some of them, as hexadecimal.
        let short = wanted.split("(0x").next().unwrap();
        assert!(lines.iter().any(|line| tidy(line).starts_with(short)), "{wanted}\n{}", finished.stdout);
    }
}

#[test]
fn rocminfo_lists_as_many_devices_as_configured() {
    if !installed(&[ROCMINFO, ROCR]) {
        return;
    }
    let finished = shown("2xgfx90a", &[ROCMINFO.0]);
    let names = finished.lines().into_iter().filter(|line| line.trim() == "Device Type:             GPU");
    assert_eq!(names.count(), 2, "{}", finished.stdout);
}

#[test]
fn rocm_agent_enumerator_prints_the_devices() {
    if !installed(&[("/usr/bin/rocm_agent_enumerator", ROCMINFO.1), ROCR]) {
        return;
    }
    // From the topology; gfx000 is the host's.
    let finished = shown("gfx90a,2xgfx942", &["rocm_agent_enumerator"]);
    assert_eq!(finished.lines(), ["gfx000", "gfx90a", "gfx942", "gfx942"]);
    // By rocminfo.
    let finished = shown("2xgfx90a", &["rocm_agent_enumerator", "-name"]);
    assert_eq!(finished.lines(), ["gfx90a:sramecc+:xnack-"; 2]);
}

#[test]
fn rocm_smi_lists_the_devices() {
    if !installed(&[("/usr/bin/rocm-smi", "rocm-smi")]) {
        return;
    }
    // A process of its that was killed leaves a lock in the machine's shared memory, which is not this test's concern.
    let program =
        "mount -t tmpfs none /dev/shm; exec rocm-smi --showid --showbus --showuniqueid --showproductname";
    let finished = shown("gfx90a,gfx942", &["sh", "-c", program]);
    for wanted in [
        "GPU[0]\t\t: GPU ID: 0x740f",
        "GPU[1]\t\t: GPU ID: 0x74a1",
        "GPU[0]\t\t: Unique ID: 0x740f0000",
        "GPU[1]\t\t: PCI Bus: 0000:04:00.0",
        "GPU[0]\t\t: Card series: \t\tAMD Instinct MI210 (emulated)",
    ] {
        assert!(finished.stdout.lines().any(|line| line.trim_end() == wanted), "{wanted}\n{finished:?}");
    }
}

#[test]
fn the_topology_is_what_libhsakmt_tells() {
    if !installed(&[HEADERS]) {
        return;
    }
    let library = format!("-L{}", thunk().display());
    let program = compile_c(&scratch("sysfs"), "sysfs", &[&library, "-l:libhsakmt.so.1"]);
    let program = program.to_str().unwrap();
    let bytes = |finished: &Finished| {
        let line = finished.lines().into_iter().find(|line| line.contains(" bytes, ")).unwrap_or_default();
        line.split(", ").find_map(|part| part.strip_suffix(" bytes")).unwrap_or_default().to_owned()
    };
    let finished = shown("gfx90a,gfx942", &[program]);
    let [first, second] = [(3, "740f", "MI210"), (4, "74a1", "MI300X")].map(|(bus, device, card)| {
        let memory = bytes(&finished);
        format!(
            "  PCI device 0000:0{bus}:00.0: vendor 0x1002, device 0x{device}, {memory} bytes, AMD Instinct {card} (emulated), opens"
        )
    });
    assert_eq!(
        finished.lines(),
        [
            "generation 1, 3 nodes of 3, /dev/kfd opens",
            "node 0: gpu_id 0, name '', 1 memory banks, 0 caches, 2 links, 0 to other devices",
            "node 1: gpu_id 1, name 'gfx90a', 1 memory banks, 2 caches, 1 links, 1 to other devices",
            &first,
            "node 2: gpu_id 2, name 'gfx942', 1 memory banks, 3 caches, 1 links, 1 to other devices",
            &second,
            "many numbers, 0 of them different",
        ]
    );
    let mut scarce = started_by(&[], "2xgfx90a", &[program]);
    scarce.env("AQLIPSE_EMULATE_HARDWARE", "two-sockets,no-bar,no-atomics").env("AQLIPSE_EMULATE_CUS", "104");
    let finished = run(&mut scarce);
    let lines = finished.lines();
    assert_eq!(lines.first(), Some(&"generation 1, 4 nodes of 4, /dev/kfd opens"));
    // A host that reaches no device has a link to the other socket alone.
    assert_eq!(lines[2], "node 1: gpu_id 0, name '', 1 memory banks, 0 caches, 1 links, 0 to other devices");
    assert_eq!(lines.last(), Some(&"many numbers, 0 of them different"), "{finished:?}");
}

/// The names in some folders, as a shell lists them.
const NAMES: &str = "for folder in /sys /sys/class /sys/module /sys/bus/pci/devices /dev; do \
                     for name in $folder/*; do echo $name; done; done";

/// What is outside of the namespace stays, and is seen inside beside the devices.
#[test]
fn the_rest_of_the_machine_is_there_and_does_not_change() {
    let names = |finished: &Finished| -> BTreeSet<String> {
        finished.lines().into_iter().map(String::from).filter(|name| !name.ends_with('*')).collect()
    };
    let outside = || names(&run(Command::new("sh").args(["-c", NAMES])));
    let before = outside();
    let inside = names(&shown("gfx90a", &["sh", "-c", NAMES]));
    let new: Vec<&String> = inside.difference(&before).collect();
    if !Path::new("/dev/kfd").exists() && !Path::new("/sys/class/drm").exists() {
        let expected = [
            "/dev/dri",
            "/dev/kfd",
            "/sys/bus/pci/devices/0000:03:00.0",
            "/sys/class/drm",
            "/sys/class/kfd",
            "/sys/module/amdgpu",
        ];
        assert_eq!(new, expected);
    }
    let gone: Vec<&String> = before.difference(&inside).collect();
    assert_eq!(gone, Vec::<&String>::new());
    assert_eq!(outside(), before);
    // What was there still works.
    let finished = shown(
        "gfx90a",
        &["sh", "-c", "echo lost > /dev/null && cat /sys/kernel/mm/transparent_hugepage/enabled"],
    );
    let expected = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap();
    assert_eq!(finished.lines(), [expected.trim_end()]);
}

/// A driver that is not there would be one that the runtime should have used.
#[test]
fn the_runtime_does_not_take_the_devices_for_a_card_that_it_misses() {
    let mut command = started_by(&[], "gfx90a", &[aqlipse().to_str().unwrap(), "info"]);
    let finished = run(command.env_remove("LD_LIBRARY_PATH").env_remove("AQLIPSE_DEVICE"));
    assert!(finished.lines().iter().any(|line| line.contains("gfx90a")), "{finished:?}");
    assert_eq!(finished.stderr, "");
}

/// A process without the right to mount, as users have it.
const WITHOUT_RIGHTS: [&str; 3] = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"];

#[test]
fn a_user_without_rights_gets_the_devices_in_a_user_namespace() {
    let program = ["sh", "-c", "cat /sys/class/kfd/kfd/topology/nodes/1/gpu_id && id -u && ls /dev/dri"];
    let finished = run(&mut started_by(&WITHOUT_RIGHTS, "gfx90a", &program));
    let user = run(Command::new("id").arg("-u")).lines()[0].to_owned();
    assert_eq!(finished.lines(), ["1", &user, "card0", "renderD128"]);
}

#[test]
fn a_machine_that_allows_no_namespace_is_told_what_to_do() {
    // In a user namespace whose own limit is none.
    let refused = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let starter = ["unshare", "--user", "--map-root-user", "sh", "-c", refused, "sh"];
    let starter: Vec<&str> = starter.into_iter().chain(WITHOUT_RIGHTS).collect();
    let finished = run(&mut started_by(&starter, "gfx90a", &["echo", "unreached"]));
    assert_eq!((finished.status.code(), finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains("--sysfs needs a mount namespace"), "{}", finished.stderr);
    assert!(finished.stderr.contains("--cap-add SYS_ADMIN"), "{}", finished.stderr);
}

#[test]
fn devices_that_do_not_exist_are_refused_before_anything_runs() {
    let temporary = scratch("sysfs-temporary");
    let finished = run(started_by(&[], "gfx1", &["echo", "unreached"]).env("TMPDIR", &temporary));
    assert_eq!((finished.status.code(), finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains("\"gfx1\" is no device"), "{}", finished.stderr);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "nothing is left in {}", temporary.display());
}
