//! The services that kernels ask for, by the device library's numbers.

use std::collections::HashMap;

use super::{
    buffer::Packet,
    format::{self, Arguments, FormatError},
};

/// `__ockl_call_host_function`
const FUNCTION_CALL: u32 = 1;
/// `__ockl_printf_*` and `__ockl_fprintf_*`
const PRINTF: u32 = 2;
/// `__ockl_devmem_request`
const DEVICE_MEMORY: u32 = 3;

/// Bytes of one message: more than that no kernel means to print.
const MESSAGE_BYTES: usize = 16 << 20;
/// Messages that may be begun and not ended: one for each lane of a large device, and some.
const OPEN_MESSAGES: usize = 1 << 21;

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Error,
}

/// Prints what kernels print.
pub(crate) trait Output: Send {
    /// Appends `text`.
    fn write(&mut self, stream: Stream, text: &[u8]);
    /// Passes on what was written.
    fn flush(&mut self);
}

/// Gives kernels memory.
pub(super) trait Memory: Send {
    /// The address of `bytes` fresh bytes, or 0.
    fn allocate(&mut self, bytes: u64) -> u64;
    /// Takes back what `allocate` gave; says whether it did.
    fn free(&mut self, address: u64) -> bool;
}

/// A request that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ServiceError {
    /// A service that does not exist.
    #[error("hostcall service {0} does not exist")]
    Unknown(u32),
    /// A part of a message that was never begun.
    #[error("a part of message {0}, which was not begun")]
    NoMessage(u64),
    /// A message without an end.
    #[error("a message of more than {MESSAGE_BYTES} bytes")]
    LongMessage,
    /// Too many messages without an end.
    #[error("more than {OPEN_MESSAGES} messages at once")]
    ManyMessages,
    /// A message for something else than standard output or error.
    #[error("a message for stream {0}")]
    NoStream(u64),
    /// A host function that is none.
    #[error("a call of a host function at {0:#x}, where no code is")]
    NoFunction(u64),
    /// Memory that was not allocated.
    #[error("{0:#x} is freed, where no device allocation starts")]
    NotAllocated(u64),
}

/// What a wave's lanes are in the middle of, and what answers them.
pub(super) struct Services {
    /// Messages that were begun, by the number that their lanes were told.
    messages: HashMap<u64, Vec<u8>>,
    next_message: u64,
    output: Box<dyn Output>,
    memory: Box<dyn Memory>,
}

/// A message descriptor, the first word of each part of a message.
#[derive(Clone, Copy)]
struct Descriptor(u64);

impl Descriptor {
    fn begins(self) -> bool {
        self.0 & 1 != 0
    }

    fn ends(self) -> bool {
        self.0 & 2 != 0
    }

    /// Words that follow.
    fn words(self) -> usize {
        (self.0 >> 5 & 7) as usize
    }

    fn message(self) -> u64 {
        self.0 >> 8
    }

    /// What the parts that follow name the message by.
    fn of(message: u64) -> u64 {
        message << 8
    }
}

impl Services {
    pub(super) fn new(output: Box<dyn Output>, memory: Box<dyn Memory>) -> Self {
        Self { messages: HashMap::new(), next_message: 1, output, memory }
    }

    /// Answers all lanes of a request; the wave still waits.
    ///
    /// A lane whose request makes no sense gets 0; the other lanes are served nevertheless.
    ///
    /// # Errors
    /// The first such request's.
    pub(super) fn serve(&mut self, packet: &Packet<'_>) -> Result<(), ServiceError> {
        let service = packet.service();
        let mut outcome = Ok(());
        for lane in packet.lanes() {
            let words = packet.arguments(lane);
            let answer = match service {
                FUNCTION_CALL => call(words),
                PRINTF => self.print(words).map(|word| [word, 0]),
                DEVICE_MEMORY => self.device_memory(words).map(|word| [word, 0]),
                other => Err(ServiceError::Unknown(other)),
            };
            packet.answer(lane, answer.unwrap_or_default());
            outcome = outcome.and(answer.map(drop));
        }
        outcome
    }

    /// Passes on what was printed.
    pub(super) fn flush(&mut self) {
        self.output.flush();
    }

    /// Forgets messages that will never end: the waves that began them are gone.
    pub(super) fn forget(&mut self) {
        self.messages.clear();
    }

    /// A part of a message: the answer is how to go on, or, at the end, what `printf` returns.
    fn print(&mut self, words: [u64; 8]) -> Result<u64, ServiceError> {
        let descriptor = Descriptor(words[0]);
        let number = if descriptor.begins() { self.begin()? } else { descriptor.message() };
        let message = self.messages.get_mut(&number).ok_or(ServiceError::NoMessage(number))?;
        for word in &words[1..=descriptor.words()] {
            message.extend_from_slice(&word.to_le_bytes());
        }
        if message.len() > MESSAGE_BYTES {
            self.messages.remove(&number);
            return Err(ServiceError::LongMessage);
        }
        if !descriptor.ends() {
            return Ok(Descriptor::of(number));
        }
        let message = self.messages.remove(&number).unwrap_or_default();
        self.finish(&message)
    }

    fn begin(&mut self) -> Result<u64, ServiceError> {
        if self.messages.len() >= OPEN_MESSAGES {
            return Err(ServiceError::ManyMessages);
        }
        let number = self.next_message;
        // A descriptor has 56 bits for it, which last for ever.
        self.next_message = (number + 1) & (u64::MAX >> 8);
        self.messages.insert(number, Vec::new());
        Ok(number)
    }

    /// Prints a whole message: the stream's number, the format, the arguments.
    fn finish(&mut self, message: &[u8]) -> Result<u64, ServiceError> {
        let (stream, rest) = message.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let stream = match u64::from_le_bytes(*stream) {
            0 => Stream::Out,
            1 => Stream::Error,
            other => return Err(ServiceError::NoStream(other)),
        };
        Ok(printed(print_message(rest, &mut *self.output, stream)))
    }

    fn device_memory(&mut self, words: [u64; 8]) -> Result<u64, ServiceError> {
        match words {
            [0, bytes, ..] => Ok(self.memory.allocate(bytes)),
            [address, ..] if self.memory.free(address) => Ok(0),
            [address, ..] => Err(ServiceError::NotAllocated(address)),
        }
    }
}

/// Prints a format and its arguments.
fn print_message(message: &[u8], output: &mut dyn Output, stream: Stream) -> Result<usize, FormatError> {
    let mut arguments = Arguments::new(message);
    let text = format::print(arguments.text()?, &mut arguments)?;
    output.write(stream, &text);
    Ok(text.len())
}

/// What `printf` returns: bytes, or -1 for a message that could not be printed, which the log explains.
fn printed(outcome: Result<usize, FormatError>) -> u64 {
    match outcome {
        Ok(bytes) => bytes as u64,
        Err(error) => {
            tracing::warn!("a kernel's message was not printed: {error}");
            u64::MAX
        }
    }
}

/// Calls a function of the host's: `void function(uint64_t* results, const uint64_t* arguments)` with two results and
/// seven arguments.
fn call(words: [u64; 8]) -> Result<[u64; 2], ServiceError> {
    let [address, arguments @ ..] = words;
    if !is_code(address) {
        return Err(ServiceError::NoFunction(address));
    }
    let mut results = [0; 2];
    // SAFETY: code stands at the address, and the kernel, which is the caller's as any host function is, says that it
    // is a function of this type.
    let function: unsafe extern "C" fn(*mut u64, *const u64) =
        unsafe { std::mem::transmute(address as usize as *const ()) };
    // SAFETY: as above; both arrays have the lengths that the device library promises.
    unsafe { function(results.as_mut_ptr(), arguments.as_ptr()) };
    Ok(results)
}

/// Whether code is mapped at `address`.
fn is_code(address: u64) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return false };
    maps.lines().any(|line| {
        let mut fields = line.split(' ');
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else { return false };
        let Some((start, end)) = range.split_once('-') else { return false };
        let number = |text| u64::from_str_radix(text, 16).unwrap_or(0);
        access.contains('x') && (number(start)..number(end)).contains(&address)
    })
}

#[cfg(test)]
mod tests;
