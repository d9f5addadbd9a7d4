//! The exported functions, by topic.

#![allow(non_snake_case)]

mod arguments;
mod call_configuration;
mod capture;
mod device;
mod error;
mod event;
mod exec;
mod graph;
mod half;
mod memory;
mod module;
mod node;
mod profiler;
mod register;
mod stream;
mod texture;
mod version;
