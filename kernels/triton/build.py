"""Compiles `kernels.py` to code objects: `build.py FOLDER` writes `FOLDER/<target>/<name>.co` and `FOLDER/launch.tsv`.

Triton's compiler works without a GPU and without torch; `cargo xtask kernels --triton` installs the version that
`requirements.txt` names and calls this.
"""

import os
import subprocess
import sys
from pathlib import Path

# Line tables would hold this machine's paths.
os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels

# Target and lanes of a wavefront.
TARGETS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32}
MATMUL = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}


def matmul(operand, sum_type, result, **options):
    types = f"*{operand} *{operand} *{result} i32 i32 i32 i32 i32 i32"
    return kernels.matmul, types, {**MATMUL, "SUM": sum_type, **options}


def scaled(a, b):
    per_byte = {"e4m3": 1, "e5m2": 1, "e2m1": 2}
    types = "*u8 *u8 *u8 *u8 *fp32 i32 i32 i32"
    sizes = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 128}
    return kernels.matmul_scaled, types, {**sizes, "A": a, "A_PER_BYTE": per_byte[a], "B": b, "B_PER_BYTE": per_byte[b]}


# Name of the code object: kernel, types of its arguments in order, compile-time constants, wavefronts.
KERNELS = {
    "vector_add": (kernels.vector_add, "*fp32 *fp32 *fp32 i32", {"BLOCK": 1024}, 4),
    "softmax": (kernels.softmax, "*fp32 *fp32 i32", {"BLOCK": 1024}, 4),
    "layer_norm": (kernels.layer_norm, "*fp32 *fp32 *fp32 *fp32 *fp32 *fp32 i32 fp32", {"BLOCK": 512}, 4),
    "matmul_fp32": (*matmul("fp32", tl.float32, "fp32"), 4),
    "matmul_fp16": (*matmul("fp16", tl.float32, "fp32"), 4),
    "matmul_bf16": (*matmul("bf16", tl.float32, "fp32"), 4),
    "matmul_i8": (*matmul("i8", tl.int32, "i32"), 4),
    "matmul_fp64": (*matmul("fp64", tl.float64, "fp64"), 4),
    "matmul_fp8": (*matmul("fp8e4b8", tl.float32, "fp32"), 4),
    "matmul_bf8": (*matmul("fp8e5b16", tl.float32, "fp32"), 4),
    "matmul_fp8_ocp": (*matmul("fp8e4nv", tl.float32, "fp32"), 4),
    "matmul_bf8_ocp": (*matmul("fp8e5", tl.float32, "fp32"), 4),
    "matmul_scaled_fp8_bf8": (*scaled("e4m3", "e5m2"), 4),
    "matmul_scaled_fp4": (*scaled("e2m1", "e2m1"), 4),
    "matmul_scaled_fp8_fp4": (*scaled("e4m3", "e2m1"), 4),
    "matmul_fp16_large": (*matmul("fp16", tl.float32, "fp32", BLOCK_M=128, BLOCK_N=128, BLOCK_K=64), 8),
    "attention": (
        kernels.attention, "*fp16 *fp16 *fp16 *fp16 fp32 i32",
        {"BLOCK_M": 64, "BLOCK_N": 32, "WIDTH": 64, "CAUSAL": False}, 4,
    ),
    "attention_causal": (
        kernels.attention, "*bf16 *bf16 *bf16 *bf16 fp32 i32",
        {"BLOCK_M": 32, "BLOCK_N": 32, "WIDTH": 32, "CAUSAL": True}, 2,
    ),
    "sum_all": (kernels.sum_all, "*fp32 *fp32 i32", {"BLOCK": 1024}, 4),
    "cumsum": (kernels.cumsum, "*fp32 *fp32 i32", {"BLOCK": 1024}, 4),
    "linear_recurrence": (kernels.linear_recurrence, "*fp32 *fp32 *fp32 i32", {"BLOCK": 512}, 4),
    "histogram": (kernels.histogram, "*i32 *i32 i32", {"BINS": 128, "BLOCK": 1024}, 4),
    "embedding": (kernels.embedding, "*fp16 *i64 *fp16 i32", {"BLOCK": 256}, 1),
    "permute_rows": (kernels.permute_rows, "*fp32 *i32 *fp32", {"ROWS": 64, "COLUMNS": 32}, 4),
    "dropout": (kernels.dropout, "*fp32 *fp32 i32 fp32 i32", {"BLOCK": 1024}, 4),
    "transpose": (kernels.transpose, "*fp16 *fp16 i32 i32", {"BLOCK": 64}, 4),
    "argmax": (kernels.argmax, "*fp32 *fp32 *i32 i32", {"BLOCK": 1024}, 4),
    "sort_rows": (kernels.sort_rows, "*i32 *i32", {"BLOCK": 256}, 4),
    "gelu": (kernels.gelu, "*bf16 *bf16 i32", {"BLOCK": 1024}, 4),
    "cross_entropy": (kernels.cross_entropy, "*fp16 *i32 *fp32 i32", {"BLOCK": 512}, 4),
    "locked_update": (kernels.locked_update, "*i32 *i32 i32", {}, 1),
    "dot_f64": (kernels.dot_f64, "*fp64 *fp64 *fp64 i32", {"BLOCK": 1024}, 4),
    "quantise": (kernels.quantise, "*fp32 *i8 *fp32 i32", {"BLOCK": 512}, 4),
    "fp8_round_trip": (kernels.fp8_round_trip, "*fp32 *u8 *fp32 i32", {"BLOCK": 512, "KIND": tl.float8e4b8}, 4),
    "bf8_round_trip": (kernels.fp8_round_trip, "*fp32 *u8 *fp32 i32", {"BLOCK": 512, "KIND": tl.float8e5b16}, 4),
    "fp8_ocp_round_trip": (kernels.fp8_round_trip, "*fp32 *u8 *fp32 i32", {"BLOCK": 512, "KIND": tl.float8e4nv}, 4),
    "bf8_ocp_round_trip": (kernels.fp8_round_trip, "*fp32 *u8 *fp32 i32", {"BLOCK": 512, "KIND": tl.float8e5}, 4),
}


def compile_kernel(kernel, types, constants, wavefronts, target, lanes):
    names = kernel.arg_names
    given = iter(types.split())
    signature = {name: "constexpr" if name in constants else next(given) for name in names}
    # What a JIT would find out from the tensors: allocations are aligned.
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names) if signature[name].startswith("*")}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=aligned)
    return triton.compile(source, target=GPUTarget("hip", target, lanes), options={"num_warps": wavefronts})


def main(folder):
    lines = ["# target\tcode object\tkernel\twork-items of a workgroup\tbytes of LDS to add at launch\targuments"]
    for target, lanes in TARGETS.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, (kernel, types, constants, wavefronts) in KERNELS.items():
            compiled = compile_kernel(kernel, types, constants, wavefronts, target, lanes)
            meta = compiled.metadata
            # The launcher appends two pointers to scratch memory, null unless a kernel asks for some.
            assert meta.global_scratch_size == 0 and meta.profile_scratch_size == 0, name
            path = folder / target / f"{name}.co"
            path.write_bytes(compiled.asm["hsaco"])
            subprocess.run(["llvm-strip-22", "--strip-all", path], check=True)
            lines.append("\t".join([target, name, meta.name, str(lanes * meta.num_warps), str(meta.shared), types]))
    (folder / "launch.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
