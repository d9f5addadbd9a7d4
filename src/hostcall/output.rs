//! Standard output and error, through the C library's streams. So the output of kernels and the `printf` of the program
//! itself come in their order.

use std::ffi::c_void;

use super::services::{Output, Stream};

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// The process's standard streams.
#[derive(Default)]
pub(crate) struct Standard {
    dirty: bool,
}

fn stream_of(stream: Stream) -> *mut libc::FILE {
    // SAFETY: the C library defines both before any code of ours runs; a program that assigns to them does so before
    // it has threads.
    unsafe {
        match stream {
            Stream::Out => stdout,
            Stream::Error => stderr,
        }
    }
}

impl Output for Standard {
    fn write(&mut self, stream: Stream, text: &[u8]) {
        self.dirty = true;
        // SAFETY: the slice has that many bytes; the stream locks itself. A failure is not reported, as with a
        // program's own `printf`.
        unsafe { libc::fwrite(text.as_ptr().cast::<c_void>(), 1, text.len(), stream_of(stream)) };
    }

    fn flush(&mut self) {
        if std::mem::take(&mut self.dirty) {
            for stream in [Stream::Out, Stream::Error] {
                // SAFETY: a stream of the C library, which locks itself.
                unsafe { libc::fflush(stream_of(stream)) };
            }
        }
    }
}
