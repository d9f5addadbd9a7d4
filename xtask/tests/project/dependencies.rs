//! Dependencies point down.

use std::collections::BTreeMap;

use serde_json::Value;

/// Which package may depend on which.
const ALLOWED: [(&str, &[&str]); 16] = [
    ("aqlipse-hsa-sys", &[]),
    ("aqlipse-hsa", &["aqlipse-hsa-sys"]),
    ("aqlipse-loader", &[]),
    ("aqlipse-emulator", &["aqlipse-hsa-sys", "aqlipse-loader"]),
    ("aqlipse-graph", &["aqlipse-hsa"]),
    ("aqlipse-timeline", &[]),
    ("roctx-c", &["aqlipse-timeline"]),
    (
        "aqlipse",
        &[
            "aqlipse-graph",
            "aqlipse-hsa",
            "aqlipse-hsa-sys",
            "aqlipse-loader",
            "aqlipse-emulator",
            "aqlipse-timeline",
            "xtask",
        ],
    ),
    ("aqlipse-rtc", &["aqlipse-loader"]),
    ("capi", &["aqlipse", "aqlipse-rtc", "aqlipse-timeline"]),
    ("hiprtc-c", &[]),
    ("aqlipse-bench", &["aqlipse", "aqlipse-hsa", "aqlipse-loader", "aqlipse-emulator", "xtask"]),
    (
        "aqlipse-cli",
        &[
            "aqlipse",
            "aqlipse-bench",
            "aqlipse-graph",
            "aqlipse-hsa",
            "aqlipse-hsa-sys",
            "aqlipse-emulator",
            "aqlipse-timeline",
        ],
    ),
    ("halo", &["aqlipse", "aqlipse-rtc"]),
    ("thunk", &["aqlipse-hsa-sys", "aqlipse-emulator"]),
    ("xtask", &[]),
];

#[test]
fn packages_depend_only_on_those_below_them() {
    let metadata =
        xtask::output(xtask::cargo().args(["metadata", "--no-deps", "--format-version=1"])).unwrap();
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages: BTreeMap<&str, &Value> =
        metadata["packages"].as_array().unwrap().iter().map(|package| (name(package), package)).collect();
    assert!(["aqlipse", "aqlipse-hsa-sys", "thunk"].iter().all(|name| packages.contains_key(name)));

    for (package, value) in &packages {
        let allowed = ALLOWED.iter().find(|(listed, _)| listed == package);
        let Some((_, allowed)) = allowed else { panic!("{package} has no place in the order yet") };
        // Normal, build and test dependencies alike: a test that reaches up ties the crates together as well.
        for dependency in value["dependencies"].as_array().unwrap().iter().map(name) {
            let ours = packages.contains_key(dependency);
            assert!(!ours || allowed.contains(&dependency), "{package} must not depend on {dependency}");
        }
    }
}

fn name(value: &Value) -> &str {
    value["name"].as_str().unwrap()
}
