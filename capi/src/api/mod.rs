//! The exported functions, by topic.

// ABI: parameters, constants and functions have the header's names.
#![allow(non_snake_case, non_upper_case_globals)]

mod any_node;
mod arguments;
mod call_configuration;
mod capture;
mod child;
mod choose;
mod configuration;
mod context;
mod cooperative;
mod device;
mod dot;
mod driver_copy;
mod driver_node;
mod enabled;
mod error;
mod event;
mod event_node;
mod exec;
pub(crate) mod external;
mod function;
mod graph;
mod half;
mod ipc;
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
mod peer_access;
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
mod user_object;
mod version;
mod virtual_memory;
