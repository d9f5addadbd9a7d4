//! HIP programs, compiled by clang, on the shared library that `cargo xtask dist` builds.
//!
//! They need `AQLIPSE_DIST` and Debian's compilers; `cargo xtask test` provides both. Without them each test says what
//! is missing and passes, unless `AQLIPSE_REQUIRE_PACKAGES` is set.

mod against;
mod back_end;
mod cards;
mod check;
mod device;
mod errors;
mod failures;
mod fallback;
mod graph_memory_rules;
mod instructions;
mod layouts;
mod page;
mod processes;
mod profiler;
mod programs;
mod registration;
mod rocprim;
mod rocrand;
mod runtime;
mod services;
mod several;
mod toolchain;
mod trace;
mod triton;
mod viewer;
