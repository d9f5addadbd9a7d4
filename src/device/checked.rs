//! What a program is checked for.

#![forbid(unsafe_code)]

use std::{
    env,
    str::FromStr,
    sync::{
        LazyLock,
        atomic::{AtomicU8, Ordering},
    },
};

use super::{Backend, clocks};
use crate::error::{Error, Result};

/// The environment variable that has a program checked: words of [`Tool`] with commas between them, or `all`.
pub const CHECK_VARIABLE: &str = "AQLIPSE_CHECK";

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Commands that touch the same bytes in an order that nothing says.
    Graph,
    /// Edges of graphs that no data needs. They are no fault, and `all` does not look for them.
    Edges,
    /// What depends on bytes that nothing has written.
    Init,
    /// What is there when the process ends.
    Leak,
    /// Memory that is used beside its allocation, before it or behind its end.
    Memory,
    /// Accesses of one kernel to LDS or memory that nothing orders.
    Race,
    /// Writes of the same value by different waves that nothing orders. They are mostly no fault, and `all` does not look for them.
    SameValue,
    /// Barriers that lanes or waves go past, and lanes that use what they read from others that are off.
    Sync,
}

impl Tool {
    /// All that find faults.
    pub const ALL: [Self; 6] = [Self::Graph, Self::Init, Self::Leak, Self::Memory, Self::Race, Self::Sync];

    /// Those that find what may be no fault, and that `all` does not stand for.
    pub const ASKED: [Self; 2] = [Self::Edges, Self::SameValue];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Edges => "edges",
            Self::Init => "init",
            Self::Leak => "leak",
            Self::Memory => "memory",
            Self::Race => "race",
            Self::SameValue => "same-value",
            Self::Sync => "sync",
        }
    }

    /// Whether it must know what kernels touch, which only the emulated device says.
    pub fn watches_devices(self) -> bool {
        self != Self::Leak
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl FromStr for Tool {
    type Err = String;

    fn from_str(word: &str) -> std::result::Result<Self, String> {
        let tools = || Self::ALL.into_iter().chain(Self::ASKED);
        let words = || tools().map(Self::word).collect::<Vec<_>>().join(", ");
        let found = tools().find(|tool| tool.word() == word);
        found.ok_or_else(|| format!("{word:?} is none of {}, all", words()))
    }
}

/// The bits of what the environment asks for, or why that makes no sense.
static GIVEN: LazyLock<std::result::Result<u8, String>> = LazyLock::new(|| {
    let given = env::var(CHECK_VARIABLE).unwrap_or_default();
    let words = given.split(',').map(str::trim).filter(|word| !word.is_empty());
    words
        .map(|word| if word == "all" { Ok(bits(&Tool::ALL)) } else { word.parse().map(Tool::bit) })
        .try_fold(0, |all, bit| {
            Ok(all | bit.map_err(|error: String| format!("{CHECK_VARIABLE}={given}: {error}"))?)
        })
});

/// Set by a program that checks itself.
static WANTED: AtomicU8 = AtomicU8::new(0);

const fn bits(tools: &[Tool]) -> u8 {
    let (mut all, mut n) = (0, 0);
    while n < tools.len() {
        all |= tools[n].bit();
        n += 1;
    }
    all
}

/// Has the runtime checked that is yet to start.
pub(crate) fn want(tools: &[Tool]) {
    WANTED.fetch_or(bits(tools), Ordering::SeqCst);
}

/// Whether the program checks itself.
pub(crate) fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed) != 0
}

/// Whether the process is checked by a tool.
#[inline]
pub(crate) fn is_on(tool: Tool) -> bool {
    is_any_on(&[tool])
}

/// Whether it is checked by any of some.
#[inline(always)]
pub(crate) fn is_any_on(tools: &[Tool]) -> bool {
    (GIVEN.as_ref().map_or(0, |given| *given) | WANTED.load(Ordering::Relaxed)) & bits(tools) != 0
}

/// Bytes in the place of the arguments of a kernel that has none: a dispatch is known by the address of its arguments, if
/// devices are watched.
#[cold]
pub(crate) fn no_arguments() -> &'static [u8] {
    let watched = Tool::ALL.into_iter().chain(Tool::ASKED).any(|tool| tool.watches_devices() && is_on(tool));
    if watched { &[0] } else { &[] }
}

/// Whether a runtime on this kind of devices has what kernels touch noted and compared.
///
/// # Errors
/// [`Error::NotInitialized`] for a variable that holds other words, and where the devices do not tell.
pub(super) fn wanted(backend: Backend) -> Result<bool> {
    GIVEN.as_ref().map_err(|text| Error::NotInitialized(text.clone()))?;
    let watching =
        Tool::ALL.into_iter().chain(Tool::ASKED).find(|tool| is_on(*tool) && tool.watches_devices());
    if let Some(tool) = watching.filter(|_| backend != Backend::Emulated) {
        let text = "only the emulated device says what kernels touch (AQLIPSE_DEVICE=emulated)";
        return Err(Error::NotInitialized(format!("{CHECK_VARIABLE}={}: {text}", tool.word())));
    }
    if watching.is_some() {
        clocks::keep();
    }
    Ok(watching.is_some())
}
