//! Device code: modules, libraries, and the kernels and variables in them, whichever way a program names them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`load`] | modules and their kernels |
//! | [`options`] | options of the loader |
//! | [`register`] | what clang's constructors register |
//! | [`recent`] | the kernels that a thread has named lately |
//! | [`names`] | names of kernels, for profilers |
//! | [`function`] | attributes and occupancy of a kernel |
//! | [`library`] | device code that belongs to no device |
//! | [`library_kernel`] | kernels of libraries |

pub(super) mod function;
pub(super) mod library;
pub(super) mod library_kernel;
pub(super) mod load;
pub(super) mod names;
pub(super) mod options;
pub(super) mod recent;
pub(super) mod register;
