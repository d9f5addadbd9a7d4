//! The buffer for kernels that print without calling the host (`-mprintf-kind=buffered`).
//!
//! A kernel reserves room for a whole message with one atomic addition, so messages of a wave are in order and complete
//! once the kernel is over; the host reads them then. What does not fit is lost, and `printf` returns -1.
//!
//! A message is a control word (bit 1: the format is named by its hash; bits 31..2: bytes, this word included), the
//! format or 64 bits of its MD5, and the arguments. The code object's metadata have the formats by hash.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use parking_lot::Mutex;

use super::{
    format::{self, Arguments, FormatError},
    output::Standard,
    services::{Output, Stream},
};
use crate::{
    device::Device,
    error::{Error, Result},
};
use aqlipse_graph::HostFn;

/// Bytes of a buffer unless the program says otherwise.
pub(crate) const DEFAULT_BYTES: usize = 1 << 20;

/// Bytes that a buffer can have: room for a message, and what 32 bits count.
pub(super) const SIZES: std::ops::RangeInclusive<usize> = 64..=u32::MAX as usize;

/// Bytes before the first message: how many are in use, and how many there are with these.
const HEAD: usize = 8;

/// Formats of a code object by hash.
pub(crate) type Formats = HashMap<u64, Box<str>>;

/// Reads `amdhsa.printf` entries: `0:0:<hash in hex>,<format>`. Entries of other languages are left out.
pub(crate) fn formats(entries: &[Box<str>]) -> Formats {
    let parse = |entry: &str| {
        let (hash, format) = entry.strip_prefix("0:0:")?.split_once(',')?;
        Some((u64::from_str_radix(hash, 16).ok()?, format.into()))
    };
    entries.iter().filter_map(|entry| parse(entry)).collect()
}

/// A message that cannot be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum MessageError {
    #[error("a message of {0} bytes")]
    Length(usize),
    #[error("no format has the hash {0:#018x}")]
    NoFormat(u64),
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// A buffer that the kernels of one stream, or of one executable graph, print to.
pub(crate) struct Fifo {
    memory: hsa::Allocation,
    formats: Mutex<Formats>,
}

impl Fifo {
    /// An empty buffer of the size that the program has chosen for the device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(device: &Device) -> Result<Arc<Self>> {
        let bytes = device.context().hostcall.printf_bytes();
        let memory = device.0.host.allocate(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        let memory = memory.held_by(crate::memory_report::HOSTCALLS);
        memory.allow_access(std::slice::from_ref(&device.0.agent))?;
        let fifo = Self { memory, formats: Mutex::default() };
        fifo.word(0).store(0, Ordering::Relaxed);
        // CAST: one of `SIZES`.
        fifo.word(1).store(bytes as u32, Ordering::Release);
        Ok(Arc::new(fifo))
    }

    /// Bytes of the buffer.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// Where it lies, as kernels and the host see it.
    pub(crate) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Takes in the formats of a kernel that is to print here, by hash.
    pub(crate) fn know<'f>(&self, of_kernel: impl Iterator<Item = (&'f u64, &'f Box<str>)>) {
        let mut formats = self.formats.lock();
        for (hash, format) in of_kernel {
            formats.entry(*hash).or_insert_with(|| format.clone());
        }
    }

    /// What reads the buffer; for when no kernel prints there.
    pub(crate) fn reader(self: &Arc<Self>) -> HostFn {
        let fifo = self.clone();
        HostFn::new(move || fifo.drain())
    }

    /// Prints everything that is in the buffer, and empties it. No kernel prints there meanwhile.
    pub(crate) fn drain(&self) {
        let formats = self.formats.lock();
        // ORDER: Acquire. The kernel that stored the messages has released them by ending.
        let used = self.word(0).load(Ordering::Acquire) as usize;
        let messages = self.copy(used.min(self.memory.len() - HEAD));
        self.word(0).store(0, Ordering::Release);
        let mut output = Standard::default();
        print_all(&messages, &formats, &mut output);
        output.flush();
    }

    fn word(&self, index: usize) -> &AtomicU32 {
        // SAFETY: the memory begins with two words; it is the host's as well as the device's, and lives as long as
        // `self`.
        unsafe { &*self.memory.as_ptr().cast::<AtomicU32>().add(index) }
    }

    fn copy(&self, bytes: usize) -> Vec<u8> {
        let mut messages = vec![0; bytes];
        // SAFETY: the caller has seen to it that so many bytes follow the head. If a faulty kernel still writes them,
        // they are nonsense, as it could have written before.
        unsafe {
            std::ptr::copy_nonoverlapping(self.memory.as_ptr().add(HEAD), messages.as_mut_ptr(), bytes);
        }
        messages
    }
}

impl Drop for Fifo {
    /// What a kernel printed before it faulted is not lost.
    fn drop(&mut self) {
        self.drain();
    }
}

/// A pending [`Fifo::drain`], done when it is dropped: also when a fault has taken what it waited for.
pub(crate) struct Drain(pub(crate) Arc<Fifo>);

impl Drop for Drain {
    fn drop(&mut self) {
        self.0.drain();
    }
}

/// Prints one message after the other; one that makes no sense is reported, and the next is looked for behind it.
fn print_all(mut messages: &[u8], formats: &Formats, output: &mut dyn Output) {
    while let Some((control, _)) = messages.split_first_chunk() {
        let control = u32::from_le_bytes(*control);
        let bytes = (control >> 2) as usize;
        let outcome = match messages.get(4..bytes) {
            Some(body) => print(control, body, formats),
            // Where the next one begins is unknown.
            None => Err(MessageError::Length(bytes)),
        };
        match outcome {
            Ok(text) => output.write(Stream::Out, &text),
            Err(error) => tracing::warn!("a kernel's message was not printed: {error}"),
        }
        match messages.get(bytes..) {
            Some(rest) if bytes >= 4 => messages = rest,
            _ => return,
        }
    }
}

fn print(control: u32, body: &[u8], formats: &Formats) -> Result<Vec<u8>, MessageError> {
    if control & 2 == 0 {
        let mut arguments = Arguments::new(body);
        return Ok(format::print(arguments.text()?, &mut arguments)?);
    }
    let (hash, arguments) = body.split_first_chunk().ok_or(MessageError::Length(body.len()))?;
    let hash = u64::from_le_bytes(*hash);
    let format = formats.get(&hash).ok_or(MessageError::NoFormat(hash))?;
    Ok(format::print(format.as_bytes(), &mut Arguments::new(arguments))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Text(String);

    impl Output for Text {
        fn write(&mut self, _: Stream, text: &[u8]) {
            self.0 += &String::from_utf8_lossy(text);
        }
        fn flush(&mut self) {}
    }

    fn message(constant: bool, body: &[u8]) -> Vec<u8> {
        let control = ((body.len() as u32 + 4) << 2) | if constant { 2 } else { 0 };
        [&control.to_le_bytes(), body].concat()
    }

    fn printed(messages: &[Vec<u8>]) -> String {
        let entries = ["0:0:9d797eeaebe75307,%d: %s, %d\n".into(), "1:1:4:%d".into(), "0:0:zz,no".into()];
        let formats = formats(&entries);
        assert_eq!(formats.len(), 1);
        let mut text = Text::default();
        print_all(&messages.concat(), &formats, &mut text);
        text.0
    }

    const HASH: [u8; 8] = 0x9d79_7eea_ebe7_5307_u64.to_le_bytes();

    #[test]
    fn formats_are_found_by_hash_or_stand_in_the_message() {
        let by_hash = [&HASH[..], &1u64.to_le_bytes(), b"a\0\0\0\0\0\0\0", &2u64.to_le_bytes()].concat();
        let inline = [&b"<%x>\n\0\0\0"[..], &255u64.to_le_bytes()].concat();
        assert_eq!(printed(&[message(true, &by_hash), message(false, &inline)]), "1: a, 2\n<ff>\n");
    }

    #[test]
    fn a_message_that_makes_no_sense_hides_none_behind_it() {
        let good = message(false, b"good\n\0\0\0");
        let unknown = message(true, &[7; 8]);
        let short = message(true, &[7; 4]);
        assert_eq!(printed(&[unknown, short, good.clone()]), "good\n");
        let endless = (!2u32).to_le_bytes().to_vec();
        assert_eq!(printed(&[good.clone(), endless, good]), "good\n");
        assert_eq!(printed(&[vec![0; 64]]), "");
    }
}
