//! ROCr's copies and fills copy and fill.
//!
//! Their arguments, as the code reads them, are the ends of phases: bytes up to an alignment, full rounds of 16 bytes for
//! each work-item, and what is left.

use std::{fmt::Write as _, fs, process::Command};

use emulator::isa::Target;

use super::blits;
use crate::{
    harness::{Kernel, input, output, value},
    isa::llvm,
};

/// Two workgroups of 64, the size that the code multiplies with.
const ITEMS: u64 = 128;
/// Words of 64 bits in the longest list of arguments, and one of padding.
const ARGUMENTS: usize = 12;

/// A code object around `code`: kernarg address in s[0:1], workgroup in s2, work-item in v0, no other register set.
fn assemble(name: &str, code: &[u32]) -> Kernel {
    let mut source = String::from(".text\n.globl blit\n.p2align 8\n.type blit,@function\nblit:\n");
    for word in code {
        // Writing to a string cannot fail.
        let _ = writeln!(source, ".long {word:#010x}");
    }
    let bytes = 8 * ARGUMENTS;
    let arguments = format!("{{.offset: 0, .size: {bytes}, .value_kind: by_value}}");
    let buffer = |i: usize| {
        format!(
            "{{.offset: {}, .size: 8, .value_kind: global_buffer, .address_space: global}}",
            bytes + 8 * i
        )
    };
    let kernarg = bytes + 16;
    let _ = write!(
        source,
        ".rodata
.p2align 6
.amdhsa_kernel blit
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
  .amdhsa_accum_offset 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {{.name: blit, .symbol: blit.kd, .kernarg_segment_size: {kernarg}, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 32,
     .vgpr_count: 16, .max_flat_workgroup_size: 64, .args: [{arguments}, {}, {}]}}
...
.end_amdgpu_metadata
",
        buffer(0),
        buffer(1)
    );
    let folder = std::env::temp_dir().join(format!("aqlipse-blit-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let (from, to) = (folder.join("blit.s"), folder.join("blit.co"));
    fs::write(&from, source).expect("the temporary folder is writable");
    let mut clang = Command::new("clang-22");
    clang.args(["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib"]).arg(&from).arg("-o").arg(&to);
    let done = clang.output().expect("clang-22 was found before");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let object = fs::read(&to).expect("clang has written it");
    fs::remove_dir_all(&folder).expect("the temporary folder is ours");
    Kernel::load(&object, "blit", Target::Gfx90a)
}

/// The three kernels; `None` without the library or without an assembler.
fn kernel(name: &str, index: usize) -> Option<Kernel> {
    let blits = blits()?;
    llvm::available("clang-22", "clang-22").then(|| assemble(name, &blits[index]))
}

fn arguments(words: &[u64]) -> [u64; ARGUMENTS] {
    std::array::from_fn(|i| words.get(i).copied().unwrap_or(0))
}

fn pattern(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 7 + i / 251) as u8).collect()
}

/// Copies `bytes` from offset `from` to offset `to` and checks all of the destination.
fn copies(kernel: &Kernel, from: usize, to: usize, bytes: usize, phases: impl Fn(u64, u64) -> Vec<u64>) {
    let source = pattern(from + bytes + 100);
    let mut destination = vec![0xcc; to + bytes + 100];
    let mut expected = destination.clone();
    expected[to..to + bytes].copy_from_slice(&source[from..from + bytes]);
    let places = (source.as_ptr() as u64 + from as u64, destination.as_mut_ptr() as u64 + to as u64);
    let list = arguments(&phases(places.0, places.1));
    kernel
        .run([2, 1, 1], [64, 1, 1], &mut [value(list), input(&source), output(&mut destination)], 0)
        .expect("the copy ends well");
    assert_eq!(destination, expected, "{bytes} bytes from {from} to {to}");
}

#[test]
fn the_fill_of_rocr_fills_what_it_is_told() {
    let Some(kernel) = kernel("fill", 0) else { return };
    for (rounds, rest) in [(0, 0), (0, 3), (1, 0), (3, 77), (2, 511)] {
        let (start, words) = (5, rounds * ITEMS as usize * 4 + rest);
        let mut memory = vec![7u32; start + words + 50];
        let mut expected = memory.clone();
        expected[start..start + words].fill(0x1234_5678);
        let first = memory.as_mut_ptr() as u64 + 4 * start as u64;
        let (full, end) = (first + rounds as u64 * ITEMS * 16, first + 4 * words as u64);
        let list = arguments(&[first, full, end, 0x1234_5678 | ITEMS << 32]);
        let mut nothing = [0u32];
        kernel
            .run([2, 1, 1], [64, 1, 1], &mut [value(list), output(&mut memory), output(&mut nothing)], 0)
            .expect("the fill ends well");
        assert_eq!(memory, expected, "{words} words");
    }
}

#[test]
fn the_byte_copy_of_rocr_copies_what_it_is_told() {
    let Some(kernel) = kernel("bytes", 1) else { return };
    for (from, to, bytes) in [(0, 0, 0), (1, 2, 1), (3, 0, 511), (0, 5, 512), (7, 9, 2000)] {
        copies(&kernel, from, to, bytes, |source, destination| {
            let full = bytes as u64 / (4 * ITEMS) * (4 * ITEMS);
            vec![source, destination, source + full, destination + full, source + bytes as u64, 0, ITEMS]
        });
    }
}

#[test]
fn the_aligned_copy_of_rocr_copies_what_it_is_told() {
    let Some(kernel) = kernel("aligned", 2) else { return };
    // Offsets that are alike in a cache line, so that both become aligned at once.
    for (offset, bytes) in [(0, 0), (4, 60), (3, 5000), (0, 2048), (15, 7001)] {
        copies(&kernel, offset, offset, bytes, |source, destination| {
            let end = source + bytes as u64;
            let aligned = source.next_multiple_of(16).min(end);
            let full = aligned + (end - aligned) / (16 * ITEMS) * (16 * ITEMS);
            let words = full + (end - full) / 4 * 4;
            let mut list = Vec::new();
            for place in [source, aligned, full, words] {
                list.extend([place, destination + (place - source)]);
            }
            list.extend([end, 0, ITEMS]);
            list
        });
    }
}
