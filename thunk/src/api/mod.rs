//! The exported functions, by topic.

pub mod clock;
pub mod counters;
pub mod debug;
pub mod dtif;
pub mod event;
pub mod memory;
pub mod queue;
pub mod refused;
pub mod svm;
pub mod sysfs;
pub mod topology;

/// Says once per process that something is not offered; the client gets a status.
macro_rules! say_once {
    ($level:ident, $($text:tt)*) => {{
        static SAID: std::sync::Once = std::sync::Once::new();
        SAID.call_once(|| tracing::$level!($($text)*));
    }};
}

pub(crate) use say_once;
