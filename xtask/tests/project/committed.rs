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
fn device_code_is_what_its_sources_make() {
    if !kernels::have_clang() && !packages::required() {
        eprintln!("skipped: clang-22 is missing");
        return;
    }
    kernels::check().unwrap();
}
