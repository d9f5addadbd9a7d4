//! libamdhip64.so: HIP's C ABI on top of [`aqlipse`].
//!
//! The library exports the names of `exports.tsv`: AMD's 593, and a few extensions (ADR 18, ADR 22). Each is written with
//! the `entry!` macro in [`api`], or generated as a refusal (`hipErrorNotSupported`) until it is. `cargo xtask dist` links
//! the shared object: a Rust `cdylib` cannot carry symbol versions, a static library linked with a version script can.
//!
//! ```
//! let symbol = capi::symbols::find("hipGetErrorString").expect("an exported name");
//! assert_eq!(symbol.since, (4, 2));
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`api`] | the exported functions, by subject |
//! | [`entry`] | the `entry!` macro: panics, error state |
//! | [`caller`] | reading and writing through caller pointers |
//! | [`error`] | `hipError_t` |
//! | [`types`] | C structures, enumerations, handles, flags |
//! | [`symbols`] | every exported symbol by name |
//! | [`soname`] | which version of the library clients expect |
//! | [`log`] | `AQLIPSE_LOG` |
//! | [`made`] | which functions were called, for `cargo xtask test` |
//! | [`callbacks`] | what profilers registered to be told of calls and devices |
//! | [`shown`] | how arguments of calls are shown |
//! | [`traced`] | calls on the timeline (`AQLIPSE_TRACE`), and told to profilers |
//!
//! Floors, lowest first; a module uses those below it, and those of its own floor:
//! 1. `error`, `shown`, `soname`
//! 2. `callbacks`, `caller`, `current`, `graph_ref`, `handle`, `log`, `outcome`, `traced`, `types`
//! 3. `arrays`, `descriptor`, `made`, `object`, `semaphores`
//! 4. `symbols`, `capture_rules`
//! 5. `entry`
//! 6. `api`
//!
//! To add a function, write an `entry!` in the module of its subject below [`api`], or a line of `node_entries!` for a kind
//! of graph node; the build script finds it there and stops generating the refusal. Write a test and put
//! `// proves: hipFoo` before it; then run `cargo xtask compat`.
//!
//! Unsafe code: [`caller`] and [`api`] follow caller pointers, [`callbacks`] calls a profiler's functions and fills its
//! structures, [`shown`] reads the bytes of arguments, [`soname`] the loader's tables.

#[macro_use]
pub mod entry;

pub mod api;
mod arrays;
pub mod callbacks;
pub mod caller;
pub mod capture_rules;
mod current;
mod descriptor;
pub mod error;
mod graph_ref;
mod handle;
pub mod log;
pub mod made;
mod object;
mod outcome;
mod semaphores;
pub mod shown;
pub mod soname;
pub mod symbols;
pub mod traced;
pub mod types;
