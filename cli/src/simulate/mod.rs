//! Launches in virtual time: what the packets of a plan take on a device that a cost table describes.
//!
//! The input are the packets that a launch would copy into its queues, with what they wait for and signal. The output
//! is when each would run. What is modelled, and by which value of the [`CostTable`](aqlipse_graph::schedule::CostTable):
//!
//! | what | how | value |
//! |---|---|---|
//! | dispatch | the packet processors of a device launch one packet at a time, over all its queues | `packet_ns` |
//! | barrier bit | the packet launches behind the last completion of a kernel before it in its queue | `dependent_ns` |
//! | acquire | at agent or system scope: the packet launches so much later, as far as the packet processors are not busy with others meanwhile | `acquire_ns` |
//! | interrupt | what is behind a barrier bit launches so much later, if the completion before it raises one | `interrupt_ns` |
//! | arguments | in the host's memory they make each kernel longer | `first_load_ns` |
//! | barrier-AND | holds its queue until its signals are seen, which takes a signal's way from where it fires | `cross_queue_ns`, with one packet in it |
//! | host call | one at a time, behind the signals that it waits for | `host_wake_ns` |
//! | occupancy | a kernel takes as many compute units as it can use; the kernel that started first chooses first, and one that gets fewer takes longer | `compute_units` |
//!
//! Every packet lies in its queue at time 0: what the launch itself takes is measured, not simulated. Nothing is known
//! here of how a plan was made: the scheduler's own estimate is another, simpler model, without queues that compete.
//!
//! ```
//! use aqlipse_cli::simulate::{Program, published, run};
//! use aqlipse_graph::schedule::{Class, CostTable, Policy, Problem, plan};
//! use aqlipse_graph::Csr;
//!
//! // Two kernels of 20 us, both behind one of 5 us.
//! let preds = Csr::from_pairs(3, [(1, 0), (2, 0)].into_iter());
//! let succs = preds.transposed();
//! let problem = Problem::new(&preds, &succs, &[Class::Packet; 3], &[5_000, 20_000, 20_000])?;
//! let table = CostTable::default();
//! let ours = Program::of_plan(&problem, &plan(&problem, 4, &table))?;
//! let streams = published(Policy::RoundRobin, &problem);
//! assert!(run(&ours, &table)?.makespan_ns < run(&streams, &table)?.makespan_ns);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`program`] | what runs: queues of packets, host calls, signals |
//! | [`policy`] | what AMD's releases publish for a graph, by what is known of them |
//! | `engine` | virtual time |

mod engine;
pub mod policy;
pub mod program;

#[cfg(test)]
mod tests;

pub use engine::{Stuck, Timeline, run};
pub use policy::published;
pub use program::{HostCall, Packet, Program, Queue, Work};
