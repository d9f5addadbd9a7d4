//! Launches of kernels on streams, and the arguments and configurations that they are given.
//!
//! | module | what it holds |
//! |---|---|
//! | [`arguments`] | arguments as callers pass them |
//! | [`host_function`] | functions that streams call on the host |
//! | [`kernel`] | launches by every route but `<<<...>>>` |
//! | [`configuration`] | what `<<<...>>>` pushes and the host stub pops |
//! | [`cooperative`] | kernels that wait for themselves or each other; several devices |

pub(super) mod arguments;
pub(super) mod configuration;
pub(super) mod cooperative;
pub(super) mod host_function;
pub(super) mod kernel;
