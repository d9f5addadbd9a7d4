//! Memory of devices and the host: allocating, copying and filling it, and what is known of an address.
//!
//! | module | what it holds |
//! |---|---|
//! | [`operand`] | directions of copies, and memory or arrays as callers describe them |
//! | [`word`] | words that are written and waited for, as callers describe them |
//! | [`linear`] | plain memory: allocation, copies, fills |
//! | [`pitched`] | memory in rows and slices |
//! | [`mod@array`] | arrays |
//! | [`array_copy`] | copies to, from and between arrays |
//! | [`mipmap`] | mipmapped arrays |
//! | [`channel`] | channel formats |
//! | [`driver_copy`] | copies of boxes as the driver interface describes them |
//! | [`batch_copy`] | batches of copies, and box copies between devices |
//! | [`symbol`] | device variables by their host shadows |
//! | [`peer`] | memory of other devices |
//! | [`managed`] | memory that host and device share |
//! | [`managed_batch`] | batches of managed ranges |
//! | [`mapping`] | reserved addresses and the physical memory mapped to them |
//! | [`kind`] | kinds of memory by the caller's numbers |
//! | [`mod@pointer`] | what a pointer is |

pub(super) mod array;
pub(super) mod array_copy;
pub(super) mod batch_copy;
pub(super) mod channel;
pub(super) mod driver_copy;
pub(super) mod kind;
pub(super) mod linear;
pub(super) mod managed;
pub(super) mod managed_batch;
pub(super) mod mapping;
pub(super) mod mipmap;
pub(super) mod operand;
pub(super) mod peer;
pub(super) mod pitched;
pub(super) mod pointer;
pub(super) mod symbol;
pub(super) mod word;
