//! The loader on real files: committed samples, what the installed compiler makes now, and corrupted copies.

mod allocation;
mod bundles;
mod code_objects;
mod compiler;
mod corruption;
mod load_plans;
mod samples;
mod tables;
