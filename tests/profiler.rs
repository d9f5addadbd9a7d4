//! A profiler that is written against the public headers, and the table of what it is told against them.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
};

use crate::toolchain::{Program, Toolchain, build::compile_host};

/// `capi/callbacks.tsv` as a header that does not compile where `hip_prof_str.h` says otherwise, and lists the functions.
fn layout() -> PathBuf {
    let table = xtask::root().join("capi/callbacks.tsv");
    let table = fs::read_to_string(&table).unwrap_or_else(|error| panic!("{}: {error}", table.display()));
    let (mut asserts, mut functions) = (String::new(), String::new());
    for row in table.lines().skip(1) {
        let [id, name, arguments] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        asserts += &format!("static_assert(HIP_API_ID_{name} == {id}, \"\");\n");
        functions += &format!(" F({id}, \"{name}\")");
        for argument in arguments.split_whitespace() {
            let [argument, offset, size] = argument.split(':').collect::<Vec<_>>()[..] else {
                panic!("{argument}")
            };
            let (at, size) = (format!("args.{name}.{argument}"), size.trim_end_matches('f'));
            asserts += &format!("static_assert(offsetof(hip_api_data_t, {at}) == {offset}, \"{at}\");\n");
            asserts += &format!("static_assert(sizeof(((hip_api_data_t*)0)->{at}) == {size}, \"{at}\");\n");
        }
    }
    let text = format!("{asserts}#define FUNCTIONS{functions}\n");
    // What is compiled with it is kept by its name.
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let path = env::temp_dir().join(format!("aqlipse-callbacks-{:016x}.h", hasher.finish()));
    fs::write(&path, text).unwrap();
    path
}

// proves: hipRegisterApiCallback, hipRemoveApiCallback, hipRegisterActivityCallback, hipRemoveActivityCallback
// proves: hipInitActivityCallback, hipEnableActivityCallback
#[test]
fn a_profiler_is_told_of_calls_and_devices_as_the_public_headers_declare_it() {
    let Some(toolchain) = Toolchain::find() else { return };
    let program = compile_host(&toolchain, "profiler.cpp", &[("LAYOUT", &layout())], &[]);
    let finished = Program::new(&toolchain, &program, "gfx90a").run();
    finished.expect_passed(&"profiler");
}
