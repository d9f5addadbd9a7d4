use super::*;
use crate::Error;

fn id(text: &str) -> TargetId {
    text.parse().unwrap()
}

#[test]
fn every_spelling_gives_the_same_id() {
    for text in [
        "gfx90a:sramecc+:xnack-",
        "gfx90a:xnack-:sramecc+",
        "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        "hip-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        "hip-amdgcn-amd-amdhsa-unknown-gfx90a:sramecc+:xnack-",
        "amdgpu9.0a-amd-amdhsa-unknown-gfx90a:sramecc+:xnack-",
        "amdgpu9.0a-amd-amdhsa:sramecc+:xnack-",
    ] {
        let parsed = id(text);
        assert_eq!(parsed.to_string(), "gfx90a:sramecc+:xnack-", "{text}");
    }
    assert_eq!(id("amdgpu9.42-amd-amdhsa"), id("gfx942"));
    assert_eq!(id("hip-amdgcn-amd-amdhsa--gfx9-4-generic:xnack+").to_string(), "gfx9-4-generic:xnack+");
}

#[test]
fn what_is_no_target_id_is_refused() {
    for text in [
        "",
        "host-x86_64-unknown-linux-gnu-",
        "gfx",
        "gfx90z",
        "gfx90a:",
        "gfx90a:xnack",
        "gfx90a:xnack*",
        "gfx90a:xnack+:xnack-",
        "gfx90a:wavefront+",
        "gfx1030:xnack+",
        "gfx900:sramecc+",
        "amdgpu-amd-amdhsa",
        "hip-spirv64-amd-amdhsa--amdgcnspirv",
    ] {
        assert_eq!(text.parse::<TargetId>(), Err(Error::TargetId { text: text.to_owned() }));
    }
}

#[test]
fn code_runs_where_processor_and_fixed_features_agree() {
    let device = id("gfx90a:sramecc+:xnack-");
    for (code, runs) in [
        ("gfx90a", true),
        ("gfx90a:xnack-", true),
        ("gfx90a:sramecc+", true),
        ("gfx90a:sramecc+:xnack-", true),
        ("gfx90a:xnack+", false),
        ("gfx90a:sramecc-", false),
        ("gfx90a:sramecc-:xnack-", false),
        ("gfx942", false),
        ("gfx9-generic", false),
        ("gfx9-4-generic", false),
    ] {
        assert_eq!(id(code).runs_on(1, &device), runs, "{code}");
    }
}

#[test]
fn a_device_that_does_not_tell_a_feature_runs_only_open_code() {
    assert!(id("gfx90a").runs_on(0, &id("gfx90a")));
    assert!(!id("gfx90a:xnack-").runs_on(0, &id("gfx90a")));
}

#[test]
fn generic_code_runs_on_its_family_from_the_version_that_knows_the_member() {
    for (code, device, version, runs) in [
        ("gfx9-generic", "gfx900:xnack-", 1, true),
        ("gfx9-generic", "gfx906:sramecc+:xnack-", 1, true),
        ("gfx9-generic", "gfx908:sramecc+:xnack-", 1, false),
        ("gfx9-generic", "gfx90a:sramecc+:xnack-", 1, false),
        ("gfx9-generic:xnack+", "gfx906:sramecc+:xnack-", 1, false),
        ("gfx9-4-generic", "gfx942:sramecc+:xnack-", 1, true),
        ("gfx9-4-generic", "gfx942:sramecc+:xnack-", 7, true),
        ("gfx9-4-generic", "gfx942:sramecc+:xnack-", 0, false),
        ("gfx9-4-generic:sramecc-", "gfx950:sramecc+:xnack-", 1, false),
        ("gfx9-4-generic", "gfx940:sramecc+:xnack-", 1, false),
        ("gfx10-3-generic", "gfx1030", 1, true),
        ("gfx10-1-generic", "gfx1030", 1, false),
        ("gfx11-generic", "gfx1100", 1, true),
        ("gfx11-generic", "gfx1030", 1, false),
        ("gfx11-generic", "gfx1151", 1, true),
        ("gfx12-generic", "gfx1151", 1, false),
        ("gfx12-generic", "gfx1200", 1, true),
        ("gfx12-generic", "gfx1201", 1, true),
        ("gfx12-generic", "gfx1250:xnack-", 1, false),
    ] {
        assert_eq!(id(code).runs_on(version, &id(device)), runs, "{code} v{version} on {device}");
    }
}

#[test]
fn the_exact_processor_ranks_before_the_generic_and_fixed_features_before_open_ones() {
    let ranked =
        ["gfx9-4-generic", "gfx9-4-generic:xnack-", "gfx942", "gfx942:xnack-", "gfx942:sramecc+:xnack-"];
    assert!(ranked.iter().map(|t| id(t).specificity()).is_sorted_by(|a, b| a < b));
}
