//! The emulator as programs see it: through the HSA function table.

mod branches;
mod cards;
mod coherence;
mod copies;
mod discrete;
mod kernels;
mod memory;
mod order;
mod queues;
mod rings;
mod scarce;
mod session;
mod share;
mod signals;
mod sockets;
mod svm;
mod units;
