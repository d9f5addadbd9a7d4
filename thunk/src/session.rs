//! What lives between `hsaKmtOpenKFD` and `hsaKmtCloseKFD`.

use std::{process, sync::Arc};

use emulator::{
    Config,
    driver::{Access, Driver, Home, Interrupts, Loss, QueueFault},
};
use parking_lot::RwLock;

use crate::{
    abi::{
        HSAKMT_STATUS_KERNEL_ALREADY_OPENED, HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED,
        HSAKMT_STATUS_NO_MEMORY, newer,
    },
    client,
    entry::Result,
    event::Events,
    memory::Memory,
    queue::Queues,
    topology::{Nodes, Topology},
};

/// An open driver and what the process has of it.
pub struct Session {
    /// The devices.
    pub driver: Arc<Driver>,
    /// What they are.
    pub topology: Topology,
    /// What they may reach.
    pub memory: Memory,
    /// What they interrupt with.
    pub events: Arc<Events>,
    /// What they serve.
    pub queues: Arc<Queues>,
}

/// Passes interrupts on to events.
struct Line {
    nodes: Nodes,
    events: Arc<Events>,
    queues: Arc<Queues>,
}

impl Interrupts for Line {
    fn event(&self, _: u32, event: u32) {
        self.events.interrupt(event);
    }

    fn message(&self, _: u32, m0: u32) {
        self.events.message(m0);
    }

    fn queue_error(&self, queue: u64, device: u32, fault: &QueueFault) {
        self.queues.report(&self.events, queue, self.nodes.of(device), fault);
    }

    fn owns(&self, address: u64) -> bool {
        current().is_ok_and(|session| session.memory.owns(address))
    }

    fn lost(&self, device: u32, loss: Loss) {
        self.queues.report_loss(&self.events, self.nodes.of(device), loss);
    }
}

/// The session, the process that opened it, and how often.
struct Opened {
    process: u32,
    count: u32,
    session: Arc<Session>,
}

static OPENED: RwLock<Option<Opened>> = RwLock::new(None);

/// The open session.
///
/// # Errors
/// `KERNEL_IO_CHANNEL_NOT_OPENED`, also in a child of the process that opened it: threads and devices do not survive
/// a fork, so that the child has to open its own.
pub fn current() -> Result<Arc<Session>> {
    let opened = OPENED.read();
    let opened = opened.as_ref().filter(|opened| opened.process == process::id());
    opened.map(|opened| Arc::clone(&opened.session)).ok_or(HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED)
}

/// Opens the session, or counts one more user of it.
///
/// # Errors
/// `KERNEL_ALREADY_OPENED` says that it is open and counted; other codes that it cannot be opened.
pub fn open() -> Result {
    let mut opened = OPENED.write();
    match &mut *opened {
        Some(opened) if opened.process == process::id() => {
            opened.count += 1;
            Err(HSAKMT_STATUS_KERNEL_ALREADY_OPENED)
        }
        other => {
            let session = Arc::new(Session::new()?);
            let inherited = other.replace(Opened { process: process::id(), count: 1, session });
            // A parent's devices have no threads here that could be stopped.
            std::mem::forget(inherited);
            Ok(())
        }
    }
}

/// Counts one user less; the last one takes the devices with it.
///
/// # Errors
/// `KERNEL_IO_CHANNEL_NOT_OPENED`.
pub fn close() -> Result {
    let mut opened = OPENED.write();
    let mine = opened.as_mut().filter(|opened| opened.process == process::id());
    let Some(mine) = mine else { return Err(HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED) };
    mine.count -= 1;
    let last = if mine.count == 0 { opened.take() } else { None };
    // Stopping the devices waits for their threads, which must not find us locked.
    drop(opened);
    drop(last);
    Ok(())
}

/// The devices that the environment asks for.
///
/// # Errors
/// `KERNEL_IO_CHANNEL_NOT_OPENED` for a variable that makes no sense; the log says which.
pub fn config() -> Result<Config> {
    Config::from_env().map_err(|error| {
        tracing::error!("{error}");
        HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED
    })
}

impl Session {
    fn new() -> Result<Self> {
        client::check()?;
        let config = config()?;
        if config.devices.iter().any(|target| target.is_gfx940()) && !newer::is_spoken() {
            tracing::warn!(
                "ROCr 5 knows neither gfx942 nor gfx950 and will refuse to start: use AQLIPSE_EMULATE=gfx90a, or a newer ROCr"
            );
        }
        let events = Arc::new(Events::new().map_err(|error| {
            tracing::error!("no memory for events: {error}");
            HSAKMT_STATUS_NO_MEMORY
        })?);
        let queues = Arc::new(Queues::default());
        // CAST: at most MAX_DEVICES.
        let nodes = Nodes::new(config.hardware.sockets(), config.devices.len() as u32);
        let line = Line { nodes, events: Arc::clone(&events), queues: Arc::clone(&queues) };
        let driver = Driver::open(&config, Arc::new(line)).map_err(|error| {
            tracing::error!("the emulated devices do not start: {error}");
            HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED
        })?;
        let driver = Arc::new(driver);
        let registers = (0..nodes.devices()).map(|device| driver.flush_registers(device)).collect();
        let topology = Topology::new(driver.devices(), config.hardware, registers);
        let mailboxes = events.mailboxes();
        for device in 0..nodes.devices() {
            let access = Access { writable: true, executable: false, home: Home::Device };
            let size = mailboxes.size() as u64;
            // SAFETY: the mailboxes are ours, and the driver keeps them.
            unsafe {
                driver.show(device, mailboxes.address(), size, access, Some(Arc::clone(mailboxes) as _))
            };
        }
        let memory = Memory::new(Arc::clone(&driver), nodes);
        Ok(Self { driver, topology, memory, events, queues })
    }
}
