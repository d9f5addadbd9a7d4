//! What is generated and committed is what its sources make.

use xtask::{clients, compare, compat, kernels, packages};

#[test]
fn compat_md_is_up_to_date() {
    compat::check().unwrap();
}

#[test]
fn the_comparison_is_up_to_date_and_names_tests_that_exist() {
    compare::check().unwrap();
}

#[test]
fn the_page_of_clients_has_their_names_versions_and_commands() {
    clients::page::check().unwrap();
}

#[test]
fn every_symbol_is_proven_or_has_its_reason() {
    let gaps = compat::gaps().unwrap();
    assert!(gaps.is_empty(), "{}", gaps.join("\n"));
}

#[test]
fn all_functions_of_the_newest_header_are_counted() {
    match compat::against_the_newest_header().unwrap() {
        Some(differences) => assert!(differences.is_empty(), "{}", differences.join("\n")),
        None => {
            assert!(
                !packages::required(),
                "the bindings of the newest header are missing: `cargo xtask test` fetches them"
            );
            eprintln!("skipped: the bindings of the newest header are missing (PyPI)");
        }
    }
}

#[test]
fn device_code_is_what_its_sources_make() {
    if !kernels::have_clang() && !packages::required() {
        eprintln!("skipped: clang-22 is missing");
        return;
    }
    kernels::check().unwrap();
}
