//! Graph templates: their nodes and edges, and what a node of each kind does, in a template and in an executable made
//! from it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`kind`] | kinds of nodes by the caller's numbers |
//! | [`view`] | what callers may point to of nodes |
//! | [`template`] | graphs, their edges, their nodes as a list |
//! | [`node`] | what nodes of all kinds have in common |
//! | [`kernel_node`] | launches, arguments and attributes |
//! | [`copy_node`] | copies of runs and boxes |
//! | [`symbol_node`] | copies to and from device variables |
//! | [`fill_node`] | fills of rows |
//! | [`fill64_node`] | fills with elements of 8 bytes |
//! | [`driver_node`] | copies and fills as the driver interface describes them |
//! | [`batch_copy_node`] | batches of copies |
//! | [`batch_mem_op_node`] | batches of words written and waited for |
//! | [`host_node`] | functions on the host |
//! | [`event_node`] | event records and waits |
//! | [`semaphore_node`] | signals of and waits for external semaphores |
//! | [`memory_node`] | allocations and frees; graph memory |
//! | [`child_node`] | graphs inside nodes |
//! | [`conditional_node`] | nodes that run graphs as a value says |
//! | [`any_node`] | nodes of any kind through one structure |
//! | [`dot`] | graphs written to files |
//! | [`user_object`] | resources that graphs keep |

pub(super) mod any_node;
pub(super) mod batch_copy_node;
pub(super) mod batch_mem_op_node;
pub(super) mod child_node;
pub(super) mod conditional_node;
pub(super) mod copy_node;
pub(super) mod dot;
pub(super) mod driver_node;
pub(super) mod event_node;
pub(super) mod fill64_node;
pub(super) mod fill_node;
pub(super) mod host_node;
pub(super) mod kernel_node;
pub(super) mod kind;
pub(super) mod memory_node;
pub(super) mod node;
pub(super) mod semaphore_node;
pub(super) mod symbol_node;
pub(super) mod template;
pub(super) mod user_object;
pub(super) mod view;
