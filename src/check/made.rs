//! Where a program has made something: the call, and the functions that led to it.

use std::{
    ffi::{CStr, c_void},
    fmt,
    mem::MaybeUninit,
    ptr,
};

/// Return addresses that are kept of a call, those of the library included.
const DEPTH: usize = 40;

/// Where something was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Made {
    /// The function of HIP; empty if the Rust interface was called.
    pub call: String,
    /// The functions of the program that led to it, the caller first.
    pub frames: Vec<Frame>,
}

/// A place in the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// The file of the program or library; empty if that is not known any more.
    pub object: String,
    /// The address, counted from where the file is loaded.
    pub offset: u64,
    /// The function, mangled or not; empty if the file does not say.
    pub symbol: String,
    /// The file and line of the source, if somebody has looked them up.
    pub line: Option<String>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, offset, symbol, line } = self;
        let symbol = if symbol.is_empty() { "?".into() } else { aqlipse_graph::dot::readable(symbol) };
        match line {
            Some(line) => write!(f, "{symbol} at {line}"),
            None => write!(f, "{symbol} ({object}+{offset:#x})"),
        }
    }
}

/// [`Made`], as it is kept: the addresses are looked up when they are asked for.
#[derive(Debug)]
pub(crate) struct Site(Box<[usize]>);

impl Site {
    /// Where the thread is.
    pub(crate) fn here() -> Self {
        let mut addresses = [ptr::null_mut::<c_void>(); DEPTH];
        // SAFETY: room for as many addresses as are said.
        let count = unsafe { libc::backtrace(addresses.as_mut_ptr(), DEPTH as i32) };
        let known = &addresses[..usize::try_from(count).unwrap_or(0)];
        Self(known.iter().map(|address| address.addr()).collect())
    }

    /// Where the thread was that runs a handler of a signal for the instruction at `pc`; `None` if it was in this library.
    pub(crate) fn interrupted(pc: u64) -> Option<Self> {
        let mut addresses = Self::here().0.into_vec();
        let place = addresses.iter().position(|address| *address as u64 == pc);
        addresses.drain(..place.unwrap_or(addresses.len()));
        if addresses.is_empty() {
            // CAST: a 64-bit process.
            addresses.push(pc as usize);
        }
        // As if it had been called from there.
        addresses[0] += 1;
        // Functions such as memcpy touch memory for others.
        let libc = Found::at(libc::free as *const () as usize).base;
        let base = |address: &usize| Found::at(address - 1).base;
        if let Some(caller) = addresses.iter().position(|address| base(address) != libc) {
            addresses.drain(..caller);
        }
        let (own, program) = own_and_program();
        (own == program || base(&addresses[0]) != own).then(|| Self(addresses.into()))
    }

    /// No place that is known.
    pub(crate) fn nowhere() -> Self {
        Self(Box::default())
    }

    /// The same for reports. Functions of this library are left out, unless it is part of the program.
    pub(crate) fn look_up(&self) -> Made {
        // The instruction before the one to return to.
        let found = self.0.iter().map(|address| Found::at(address.saturating_sub(1)));
        let mut frames: Vec<Found> = found.collect();
        let (own, program) = own_and_program();
        let inside =
            if own == program { 0 } else { frames.iter().take_while(|found| found.base == own).count() };
        let called = inside.checked_sub(1).map(|outermost| frames[outermost].frame.symbol.clone());
        let frames = frames.split_off(inside).into_iter().map(|found| found.frame).collect();
        Made { call: called.unwrap_or_default(), frames }
    }
}

/// Where this library is loaded, and where the program is, which may be one.
fn own_and_program() -> (usize, usize) {
    // SAFETY: it only looks up where the program begins.
    let entry = unsafe { libc::getauxval(libc::AT_ENTRY) } as usize;
    (Found::at(Site::here as fn() -> Site as usize).base, Found::at(entry).base)
}

/// What is at an address.
struct Found {
    /// Where its file is loaded.
    base: usize,
    frame: Frame,
}

impl Found {
    fn at(address: usize) -> Self {
        let mut info = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: the address is only looked up, and there is room for the answer.
        let known = unsafe { libc::dladdr(ptr::without_provenance(address), info.as_mut_ptr()) } != 0;
        if !known {
            let offset = address as u64;
            let frame = Frame { object: String::new(), offset, symbol: String::new(), line: None };
            return Self { base: 0, frame };
        }
        // SAFETY: it was filled in.
        let info = unsafe { info.assume_init() };
        let text = |text: *const libc::c_char| match text.is_null() {
            true => String::new(),
            // SAFETY: names of the dynamic linker's, which are there as long as the file is loaded.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        };
        let base = info.dli_fbase.addr();
        let (object, symbol) = (text(info.dli_fname), text(info.dli_sname));
        // CAST: a 64-bit process.
        Self { base, frame: Frame { object, offset: (address - base) as u64, symbol, line: None } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn caller() -> Site {
        std::hint::black_box(Site::here())
    }

    #[test]
    fn a_place_names_the_file_and_offsets_in_it() {
        let made = caller().look_up();
        let program = std::env::current_exe().unwrap();
        let is_ours = |frame: &&Frame| {
            std::path::Path::new(&frame.object).canonicalize().is_ok_and(|object| object == program)
        };
        assert!(made.frames.iter().filter(is_ours).count() > 2, "{made:?}");
        assert!(made.frames.iter().filter(is_ours).all(|frame| frame.offset < 1 << 32), "{made:?}");
        assert_eq!(made.call, "");
    }
}
