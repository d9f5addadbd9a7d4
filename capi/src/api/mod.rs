//! The exported functions, by topic.

// ABI: parameters, constants and functions have the header's names.
#![allow(non_snake_case, non_upper_case_globals)]

mod any_node;
mod arguments;
mod call_configuration;
mod capture;
mod child;
mod choose;
mod conditional;
mod configuration;
mod context;
mod cooperative;
mod device;
mod driver_copy;
mod error;
mod event;
mod event_node;
mod exec;
mod function;
mod graph;
mod half;
mod launch;
mod lookup;
mod managed;
mod memory;
mod memory_type;
mod module;
mod names;
mod node;
mod params;
mod peer;
mod per_thread;
mod pitched;
mod pointer;
mod profiler;
mod properties;
mod register;
mod stream;
mod stream_value;
mod symbol;
mod texture;
mod update;
mod version;
