//! What crates.io asks of the packages that are published, so that `cargo publish --workspace --dry-run` passes.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde_json::Value;
use xtask::{output, read, root};

/// Those of the workspace that are published: libraries in Rust.
const PUBLISHED: [&str; 8] = [
    "aqlipse",
    "aqlipse-emulator",
    "aqlipse-graph",
    "aqlipse-hsa",
    "aqlipse-hsa-sys",
    "aqlipse-loader",
    "aqlipse-rtc",
    "aqlipse-timeline",
];

#[test]
fn what_is_published_is_described_licensed_and_depends_on_nothing_else_of_ours() {
    let metadata = output(xtask::cargo().args(["metadata", "--no-deps", "--format-version=1"])).unwrap();
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let published: Vec<_> = packages.iter().filter(|package| package["publish"].is_null()).collect();
    let names: BTreeSet<_> = published.iter().map(|package| package["name"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(PUBLISHED));

    for package in &published {
        let name = package["name"].as_str().unwrap();
        assert_eq!(package["documentation"], format!("https://docs.rs/{name}"));
        for text in ["description", "license"] {
            assert!(package[text].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {text}");
        }
        for list in ["keywords", "categories"] {
            // crates.io: at most five of each.
            assert!(
                package[list].as_array().is_some_and(|list| (1..=5).contains(&list.len())),
                "{name}: {list}"
            );
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            // What only tests need is left out if it has a path and no version.
            if dependency["kind"] == "dev" || dependency["path"].is_null() {
                continue;
            }
            let needed = dependency["name"].as_str().unwrap();
            assert!(names.contains(needed), "{name} needs {needed}, which is not published");
            assert_ne!(dependency["req"], "*", "{name} needs {needed} of any version");
        }
    }
}

#[test]
fn what_is_published_holds_its_licenses_and_the_files_that_it_includes() {
    for name in PUBLISHED {
        let manifest = output(xtask::cargo().args(["pkgid", "--offline", "--package", name])).unwrap();
        let (folder, _) = manifest.strip_prefix("path+file://").unwrap().rsplit_once('#').unwrap();
        let folder = Path::new(folder);
        let mut list = xtask::cargo();
        list.args(["package", "--list", "--offline", "--allow-dirty", "--package", name]);
        let list = output(&mut list).unwrap();
        let packed: BTreeSet<_> = list.lines().map(Path::new).collect();
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(packed.contains(Path::new(license)), "{name} lacks {license}");
            assert_eq!(read(&folder.join(license)).unwrap(), read(&root().join(license)).unwrap());
        }
        let sources = packed.iter().filter(|file| {
            file.starts_with("src") && file.extension().is_some_and(|extension| extension == "rs")
        });
        for source in sources {
            let text = read(&folder.join(source)).unwrap();
            for included in included(&text) {
                let included = normal(&source.with_file_name(included));
                assert!(
                    packed.contains(&*included),
                    "{name} lacks {} of {}",
                    included.display(),
                    source.display()
                );
            }
        }
    }
}

/// The paths in `include_str!` and `include_bytes!`, but those of tests at the end of the file.
fn included(text: &str) -> Vec<&str> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let calls = text.split("include_str!(\"").skip(1).chain(text.split("include_bytes!(\"").skip(1));
    calls.filter_map(|call| call.split('"').next()).collect()
}

/// Without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path {
        if part == ".." {
            assert!(normal.pop(), "{} leaves the package", path.display());
        } else {
            normal.push(part);
        }
    }
    normal
}
