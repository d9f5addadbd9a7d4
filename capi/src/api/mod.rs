//! The exported functions, by topic.

// ABI: parameters, constants and functions have the header's names.
#![allow(non_snake_case, non_upper_case_globals)]

mod any_node;
mod arguments;
mod call_configuration;
mod capture;
mod choose;
mod configuration;
mod context;
mod cooperative;
mod device;
mod error;
mod event;
mod exec;
mod function;
mod graph;
mod half;
mod launch;
mod lookup;
mod memory;
mod module;
mod node;
mod params;
mod peer;
mod per_thread;
mod pitched;
mod pointer;
mod profiler;
mod register;
mod stream;
mod stream_value;
mod symbol;
mod texture;
mod update;
mod version;
