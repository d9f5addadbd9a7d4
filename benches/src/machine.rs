//! The machine that measurements are made on.

use std::{fs, thread};

/// A processor, as far as results depend on it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The name that the processor gives itself.
    pub processor: String,
    /// Cores that this process may run on.
    pub cores: usize,
}

impl Machine {
    /// Looks at the machine; what the system does not tell is called unknown.
    pub fn here() -> Self {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let processor = model.map_or("unknown processor", |(_, name)| name.trim()).to_owned();
        Self { processor, cores: thread::available_parallelism().map_or(1, usize::from) }
    }
}
