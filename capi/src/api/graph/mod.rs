//! Graph templates: their nodes and edges, and what a node of each kind does, in a template and in an executable made
//! from it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`template`] | graphs, their edges, their nodes as a list |
//! | [`kind`] | kinds of nodes by the caller's numbers |
//! | [`node`] | adding nodes; kernels, copies, fills, host functions, memory |
//! | [`params`] | parameters of those nodes, and attributes of kernels |
//! | [`view`] | arrays that callers may point to |
//! | [`memory`] | graph memory |
//! | [`any_node`] | nodes of any kind through one structure |
//! | [`child_node`] | graphs inside nodes |
//! | [`conditional_node`] | nodes that run graphs as a value says |
//! | [`event_node`] | event records and waits |
//! | [`semaphore_node`] | signals of and waits for external semaphores |
//! | [`batch_mem_op_node`] | batches of words written and waited for |
//! | [`batch_copy_node`] | batches of copies |
//! | [`fill64_node`] | fills with elements of 8 bytes |
//! | [`driver_node`] | copies and fills as the driver interface describes them |
//! | [`dot`] | graphs written to files |
//! | [`user_object`] | resources that graphs keep |

pub(super) mod any_node;
pub(super) mod batch_copy_node;
pub(super) mod batch_mem_op_node;
pub(super) mod child_node;
pub(super) mod conditional_node;
pub(super) mod dot;
pub(super) mod driver_node;
pub(super) mod event_node;
pub(super) mod fill64_node;
pub(super) mod kind;
pub(super) mod memory;
pub(super) mod node;
pub(super) mod params;
pub(super) mod semaphore_node;
pub(super) mod template;
pub(super) mod user_object;
pub(super) mod view;
