//! Processes whose memory is open here. When one ends, device code that waits for a word of it is told, and fails: nobody is
//! left to write the word.

use std::{
    collections::HashMap,
    io::{self, PipeWriter},
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    sync::{Arc, Weak, mpsc},
};

use parking_lot::Mutex;

use crate::{
    device::{Device, slabs::Block},
    error::{Error, Result, explain},
    thread,
};

/// A process whose memory is open here.
pub(crate) struct Exporter {
    /// Its first word is 1 once the process has ended.
    gone: Arc<Block>,
    /// The thread that watches the process ends when this goes.
    stop: Option<PipeWriter>,
    ended: Mutex<mpsc::Receiver<()>>,
}

/// One each, for as long as something of it is open.
static EXPORTERS: Mutex<Option<HashMap<u32, Weak<Exporter>>>> = Mutex::new(None);

impl Exporter {
    /// The process of this number; `None` if the kernel cannot tell of its end (Linux before 5.3).
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if there is none; [`Error::OutOfMemory`].
    pub(super) fn of(process: u32, device: &Device) -> Result<Option<Arc<Self>>> {
        let mut exporters = EXPORTERS.lock();
        let exporters = exporters.get_or_insert_default();
        if let Some(known) = exporters.get(&process).and_then(Weak::upgrade) {
            return Ok(Some(known));
        }
        let Some(handle) = open(process)? else { return Ok(None) };
        let exporter = Arc::new(Self::watch(process, handle, device)?);
        exporters.retain(|_, exporter| exporter.strong_count() > 0);
        exporters.insert(process, Arc::downgrade(&exporter));
        Ok(Some(exporter))
    }

    fn watch(process: u32, handle: OwnedFd, device: &Device) -> Result<Self> {
        let gone = Arc::new(device.0.kernargs.take(size_of::<u64>())?);
        gone.write(0, &[0; size_of::<u64>()]);
        let refused = |error: io::Error| {
            explain(format_args!("a pipe for the thread that watches process {process}: {error}"));
            Error::OutOfMemory { bytes: 0 }
        };
        let (stopped, stop) = io::pipe().map_err(refused)?;
        let (ends, ended) = mpsc::channel();
        let word = gone.clone();
        thread::start("aqlipse-exporter", move || {
            if is_first_to_end(&handle, &stopped) {
                tracing::warn!(
                    process,
                    "a process has ended whose memory is open here: waits for its words fail"
                );
                word.store(0, 1);
            }
            drop((handle, stopped, word));
            drop(ends);
        })?;
        Ok(Self { gone, stop: Some(stop), ended: Mutex::new(ended) })
    }

    /// Address of a word of 32 bits that becomes 1 when the process has ended, for all devices.
    pub(crate) fn gone(&self) -> u64 {
        self.gone.address()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.stop = None;
        // The thread's descriptors are closed when it ends: its sender goes.
        let _ = self.ended.lock().recv();
    }
}

/// A descriptor of the process, readable when it has ended (pidfd_open(2)).
fn open(process: u32) -> Result<Option<OwnedFd>> {
    // SAFETY: the call takes numbers.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
    if descriptor >= 0 {
        // SAFETY: the call has just opened it. CAST: descriptors are of 32 bits.
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor as i32) }));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EPERM) => {
            tracing::debug!(process, %error, "its end will not be noticed");
            Ok(None)
        }
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => {
            explain(format_args!("a descriptor of process {process}: {error}"));
            Err(Error::OutOfMemory { bytes: 0 })
        }
        _ => Err(Error::InvalidValue("the handle names no memory of another process")),
    }
}

/// Waits for the end of the process or of the pipe; whether the process was first.
fn is_first_to_end(process: &OwnedFd, stopped: &io::PipeReader) -> bool {
    let look = |descriptor: i32| libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    let mut looks = [look(process.as_raw_fd()), look(stopped.as_raw_fd())];
    loop {
        // SAFETY: the array is ours.
        let found = unsafe { libc::poll(looks.as_mut_ptr(), 2, -1) };
        if found > 0 {
            return looks[1].revents == 0;
        }
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return false;
        }
    }
}
