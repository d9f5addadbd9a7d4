//! `libdtif.so`, as a ROCr that has DTIF loads it. No such ROCr is packaged where these tests run: a C program with
//! the sizes and offsets of its headers takes its place.

use crate::{
    compile_c,
    process::{on_thunk, run},
    scratch, thunk,
};
use xtask::thunk::DTIF;

#[test]
fn a_client_of_the_newer_interface_finds_every_function_and_its_structures() {
    let program = compile_c(&scratch("dtif"), "dtif", &["-ldl"]);
    let table = xtask::root().join(xtask::thunk::EXPORTS);
    let finished =
        run(on_thunk(&program).arg(thunk().join(DTIF)).arg(table).env("AQLIPSE_EMULATE", "gfx942"));
    assert_eq!(
        finished.lines(),
        [
            "functions: all",
            "nodes: 2",
            "node: gfx942, 9.4.2, dies 8, family 141, untouched behind",
            "links: PCIe to 0, untouched behind",
            "clock: 100000 kHz",
            "queue: a barrier packet is done when it is rung for",
            "virtual memory: 42 at both places",
            "import: 42 of node 1",
            "refused: a name mapped 1, outside 1, no reservation 1, mapped twice 1, a pipe imported 3, beyond the end 3",
            "freed: 42 still mapped by the buffer",
            "freed twice: 1",
            "export: 43 at 4096",
            "attached: 43 of 8192 bytes",
            "freed: 3, no handle: 3",
            "done",
        ]
    );
    assert!(finished.stderr.is_empty(), "{}", finished.stderr);
}
