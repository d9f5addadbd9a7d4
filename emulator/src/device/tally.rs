//! What a packet processor and copy engines have done, counted.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$meta:meta])* $name:ident,)*) => {
        /// Numbers of what a device's packet processor and copy engines have done since the device was opened.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$meta])* pub $name: u64,)*
        }

        /// The live counters.
        #[derive(Debug, Default)]
        pub struct Tally {
            $($(#[$meta])* pub $name: Count,)*
        }

        impl Tally {
            /// The numbers now, each on its own.
            pub fn read(&self) -> Counters {
                Counters { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Kernel-dispatch packets.
    kernels,
    /// Barrier-AND packets.
    barrier_and,
    /// Barrier-OR packets.
    barrier_or,
    /// AMD's barrier-value packets.
    barrier_value,
    /// AMD's packets that point to PM4 commands.
    pm4,
    /// Packets that branch or loop, as often as they did.
    branches,
    /// Packets of any type whose barrier bit was set.
    barrier_bits,
    /// Signals that were decremented behind a packet.
    completion_signals,
    /// Of which had a mailbox, so that the host was interrupted.
    interrupts,
    /// Changes of doorbells that were seen; stores in quick succession are seen as one.
    doorbells,
    /// Copies and fills by copy engines: packets in a ring of an engine, calls of the function table.
    engine_copies,
    /// Bytes that these stored.
    engine_bytes,
    /// Ranges of memory that the device was let reach: each is a call of the kernel driver.
    mappings,
    /// Calls of the kernel driver that handles of virtual memory take on hardware until the device reaches them: one to
    /// make the handle, and three for each address at which it is mapped for the device, as ROCr has the handle exported as
    /// a dma-buf, imported, and mapped.
    handle_calls,
    /// Queues that were given the place of another, where there are more than the device serves at a time.
    quanta,
    /// Reads by waves of memory of the socket that is near. Where the host has two sockets these three are counted, and
    /// pinned memory of programs is near wherever it lies; a range that an instruction reads at a time is one.
    near_host_reads,
    /// Reads by waves of memory of the other socket.
    far_host_reads,
    /// Of both, those that a wave makes before it stores anything.
    early_host_reads,
    /// Accesses to pages of the program's own that the device did not reach, and that were made to succeed.
    page_faults,
    /// Pages with memory that came to the device's, or went away from there.
    migrated_pages,
}

/// A number that any thread reads.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `n` to a number of the packet processor's, whose thread alone adds to it.
    #[inline]
    pub fn add(&self, n: u64) {
        // One writer: no read-modify-write is needed.
        self.0.store(self.0.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    /// Adds `n` to a number that several copy engines add to.
    pub fn add_shared(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }
}
