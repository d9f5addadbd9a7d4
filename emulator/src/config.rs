//! Which devices the emulator offers, and how it schedules.

use std::time::Duration;

use parking_lot::Mutex;

use crate::{
    hardware::{Hardware, UnknownTrait},
    isa::Target,
};

/// Devices that one process may have.
pub const MAX_DEVICES: usize = 16;

/// What the emulator offers; taken from the environment unless [`configure`](crate::configure) says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// One entry per device, in agent order.
    pub devices: Vec<Target>,
    /// `Some`: independent packets and workgroups run one at a time, in an order drawn from this seed.
    pub seed: Option<u64>,
    /// Compute units of each device, instead of the few that it has by default.
    pub compute_units: Option<u32>,
    /// Bytes of local memory of each device, instead of what the card has (and the host can back).
    pub local_memory: Option<u64>,
    /// Kernel dispatches complete without executing: what remains is the cost of the program and its runtime.
    pub null_kernels: bool,
    /// Devices have caches that keep coherent what fences ask for and nothing else.
    pub strict_coherence: bool,
    /// Whether devices retry accesses to pages that are not mapped, as `HSA_XNACK=1` has it on cards.
    pub xnack: bool,
    /// What hardware does that the emulator spares programs otherwise.
    pub hardware: Hardware,
    /// Whether an [`Observer`](crate::Observer) is told what each dispatch touches, which takes time.
    pub observed: bool,
    /// Whether it is told as well of accesses of LDS and memory that nothing orders, which takes more time.
    pub observed_races: bool,
    /// Whether it is told as well of writes of the same value that nothing orders, where it is told of such accesses.
    pub observed_same_values: bool,
    /// Whether it is told as well of accesses beyond the LDS and the scratch that a dispatch has asked for. Before each block of
    /// memory are [`FRONT`](crate::FRONT) bytes then that are in none.
    pub observed_bounds: bool,
    /// Whether it is told as well where lanes and waves do not come together, which takes more time, too.
    pub observed_sync: bool,
    /// Whether it is told as well of what the host touches that it has to keep off: memory of devices, where bounds are observed,
    /// and pages of pinned memory that [`hidden::open`](crate::os::hidden::open) has closed. x86-64 alone.
    pub observed_host: bool,
    /// How long all waves of all devices have to wait before it is told of a deadlock, where it is told of lanes and waves: a
    /// program may yet start what they wait for.
    pub patience: Duration,
    /// Whether it is told as well what depends on bytes that nothing has written, which takes the most.
    pub observed_uninit: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            devices: vec![Target::Gfx90a],
            seed: None,
            compute_units: None,
            local_memory: None,
            null_kernels: false,
            strict_coherence: false,
            xnack: false,
            hardware: Hardware::default(),
            observed: false,
            observed_races: false,
            observed_same_values: false,
            observed_bounds: false,
            observed_sync: false,
            observed_host: false,
            patience: Duration::from_secs(5),
            observed_uninit: false,
        }
    }
}

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// `AQLIPSE_EMULATE` names a device that does not exist.
    #[error(
        "AQLIPSE_EMULATE: {0:?} is no device ({names} are, as is 2xgfx942)",
        names = Target::ALL.map(Target::name).join(", ")
    )]
    Device(String),
    /// No device, or too many.
    #[error("AQLIPSE_EMULATE asks for {0} devices; 1 to {MAX_DEVICES} can be had")]
    Count(u64),
    /// A variable that should hold a number does not.
    #[error("{variable}: {value:?} is not a number from {least} to {most}")]
    Number {
        /// The environment variable.
        variable: &'static str,
        /// What it holds.
        value: String,
        /// Smallest number allowed.
        least: u64,
        /// Largest number allowed.
        most: u64,
    },
    /// A variable that should hold one of two words holds neither.
    #[error("{variable}: {value:?} is neither {} nor {}", words[0], words[1])]
    Word {
        /// The environment variable.
        variable: &'static str,
        /// What it holds.
        value: String,
        /// What it may hold.
        words: [&'static str; 2],
    },
    /// `AQLIPSE_EMULATE_HARDWARE` has an item that names nothing.
    #[error("AQLIPSE_EMULATE_HARDWARE: {0}")]
    Hardware(UnknownTrait),
    /// A configuration arrived after `hsa_init`.
    #[error("the emulator is already initialised")]
    Initialised,
}

impl Config {
    /// Whether what the host touches is observed: only a signal of x86-64 says what an access was about to do.
    pub(crate) fn observes_host(&self) -> bool {
        self.observed_host && cfg!(target_arch = "x86_64")
    }

    /// Reads `AQLIPSE_EMULATE`, `AQLIPSE_EMULATE_SEED`, `AQLIPSE_EMULATE_CUS`, `AQLIPSE_EMULATE_NULL`,
    /// `AQLIPSE_EMULATE_COHERENCE`, `AQLIPSE_EMULATE_HARDWARE`, `AQLIPSE_CHECK`, `AQLIPSE_WATCHDOG_MS`, and ROCr's `HSA_XNACK`.
    ///
    /// # Errors
    /// [`ConfigError`] naming the variable that makes no sense.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
    }

    fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        let given = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        if let Some(devices) = given("AQLIPSE_EMULATE") {
            config.devices = parse_devices(&devices)?;
        }
        if let Some(seed) = given("AQLIPSE_EMULATE_SEED") {
            config.seed = Some(number("AQLIPSE_EMULATE_SEED", &seed, 0, u64::MAX)?);
        }
        if let Some(units) = given("AQLIPSE_EMULATE_CUS") {
            // CAST: at most 304.
            config.compute_units = Some(number("AQLIPSE_EMULATE_CUS", &units, 1, 304)? as u32);
        }
        if let Some(null) = given("AQLIPSE_EMULATE_NULL") {
            config.null_kernels = number("AQLIPSE_EMULATE_NULL", &null, 0, 1)? != 0;
        }
        if let Some(coherence) = given("AQLIPSE_EMULATE_COHERENCE") {
            config.strict_coherence = word("AQLIPSE_EMULATE_COHERENCE", &coherence, ["off", "strict"])? == 1;
        }
        // As ROCr reads it: what is no number counts as 0.
        config.xnack = given("HSA_XNACK").is_some_and(|mode| mode.trim() == "1");
        if let Some(hardware) = given("AQLIPSE_EMULATE_HARDWARE") {
            config.hardware = hardware.parse().map_err(ConfigError::Hardware)?;
        }
        // What is left at the end the devices have no part in.
        let tools = given("AQLIPSE_CHECK").unwrap_or_default();
        let asks = |words: &[&str]| tools.split(',').any(|tool| words.contains(&tool.trim()));
        config.observed = asks(&["edges", "graph", "init", "memory", "race", "same-value", "sync", "all"]);
        config.observed_races = asks(&["race", "same-value", "all"]);
        config.observed_same_values = asks(&["same-value"]);
        config.observed_bounds = asks(&["memory", "all"]);
        config.observed_host = asks(&["graph", "memory", "all"]);
        config.observed_sync = asks(&["sync", "all"]);
        if let Some(milliseconds) = given("AQLIPSE_WATCHDOG_MS").and_then(|text| text.trim().parse().ok()) {
            config.patience = Duration::from_millis(milliseconds);
        }
        config.observed_uninit = asks(&["init", "all"]);
        Ok(config)
    }

    /// Checks a configuration that a program made itself.
    ///
    /// # Errors
    /// [`ConfigError::Count`], or [`ConfigError::Number`] for compute units outside 1 to 304.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.devices.is_empty() || self.devices.len() > MAX_DEVICES {
            return Err(ConfigError::Count(self.devices.len() as u64));
        }
        match self.compute_units {
            Some(units) if !(1..=304).contains(&units) => Err(ConfigError::Number {
                variable: "compute_units",
                value: units.to_string(),
                least: 1,
                most: 304,
            }),
            _ => Ok(()),
        }
    }
}

/// Parses `gfx90a`, `2xgfx942`, `gfx90a,gfx942` and mixtures of them.
fn parse_devices(text: &str) -> Result<Vec<Target>, ConfigError> {
    let mut devices = Vec::new();
    for item in text.split(',') {
        let item = item.trim();
        let unknown = || ConfigError::Device(item.to_owned());
        let (count, name) = match item.split_once('x') {
            Some((count, name)) if count.bytes().all(|b| b.is_ascii_digit()) && !count.is_empty() => {
                (count.parse::<u64>().map_err(|_| unknown())?, name)
            }
            _ => (1, item),
        };
        let target = Target::from_name(name).ok_or_else(unknown)?;
        let total = count.saturating_add(devices.len() as u64);
        if count == 0 || total > MAX_DEVICES as u64 {
            return Err(ConfigError::Count(total));
        }
        devices.extend(std::iter::repeat_n(target, count as usize));
    }
    Ok(devices)
}

fn number(variable: &'static str, text: &str, least: u64, most: u64) -> Result<u64, ConfigError> {
    match text.trim().parse::<u64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(ConfigError::Number { variable, value: text.to_owned(), least, most }),
    }
}

/// Which of two words a variable holds.
fn word(variable: &'static str, text: &str, words: [&'static str; 2]) -> Result<usize, ConfigError> {
    let refused = || ConfigError::Word { variable, value: text.to_owned(), words };
    words.iter().position(|word| *word == text.trim()).ok_or_else(refused)
}

/// Set by [`configure`](crate::configure), read by `hsa_init`.
static CHOSEN: Mutex<Option<Config>> = Mutex::new(None);

/// Remembers a configuration for the next initialisation.
pub(crate) fn choose(config: Config) -> Result<(), ConfigError> {
    config.check()?;
    *CHOSEN.lock() = Some(config);
    Ok(())
}

/// The configuration that holds now.
pub(crate) fn current() -> Result<Config, ConfigError> {
    match &*CHOSEN.lock() {
        Some(config) => Ok(config.clone()),
        None => Config::from_env(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, ConfigError};
    use crate::isa::Target::{self, Gfx90a, Gfx942};

    fn from(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_variables(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn one_gfx90a_unless_told_otherwise() {
        assert_eq!(from(&[]).map(|c| c.devices), Ok(vec![Gfx90a]));
        assert_eq!(from(&[("AQLIPSE_EMULATE", " ")]).map(|c| c.devices), Ok(vec![Gfx90a]));
    }

    #[test]
    fn counts_and_lists_mix() {
        let devices = |text| from(&[("AQLIPSE_EMULATE", text)]).map(|c| c.devices);
        assert_eq!(devices("gfx942"), Ok(vec![Gfx942]));
        assert_eq!(devices("2xgfx942, gfx90a"), Ok(vec![Gfx942, Gfx942, Gfx90a]));
        for target in Target::ALL {
            assert_eq!(devices(target.name()), Ok(vec![target]));
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_name() {
        let error = |text| from(&[("AQLIPSE_EMULATE", text)]).unwrap_err();
        assert_eq!(error("gfx803"), ConfigError::Device("gfx803".to_owned()));
        assert!(error("gfx803").to_string().contains("(gfx90a, gfx942, gfx950, gfx1030, "));
        assert_eq!(error("xgfx90a"), ConfigError::Device("xgfx90a".to_owned()));
        assert_eq!(error("0xgfx90a"), ConfigError::Count(0));
        assert_eq!(error("17xgfx90a"), ConfigError::Count(17));
        assert!(matches!(error("99999999999999999999xgfx90a"), ConfigError::Device(_)));
        assert!(matches!(
            from(&[("AQLIPSE_EMULATE_SEED", "-1")]),
            Err(ConfigError::Number { variable: "AQLIPSE_EMULATE_SEED", .. })
        ));
        assert!(matches!(from(&[("AQLIPSE_EMULATE_CUS", "0")]), Err(ConfigError::Number { .. })));
        assert!(matches!(from(&[("AQLIPSE_EMULATE_NULL", "yes")]), Err(ConfigError::Number { .. })));
    }

    #[test]
    fn memory_is_coherent_unless_told_otherwise() {
        let strict = |text| from(&[("AQLIPSE_EMULATE_COHERENCE", text)]).map(|c| c.strict_coherence);
        assert_eq!(from(&[]).map(|c| c.strict_coherence), Ok(false));
        assert_eq!(strict("off"), Ok(false));
        assert_eq!(strict(" strict"), Ok(true));
        for wrong in ["1", "Strict", "strict,off"] {
            let Err(error) = strict(wrong) else { panic!("{wrong} is no word that is known") };
            assert!(error.to_string().contains("AQLIPSE_EMULATE_COHERENCE"), "{error}");
        }
    }

    #[test]
    fn kernels_execute_unless_told_otherwise() {
        assert_eq!(from(&[]).map(|c| c.null_kernels), Ok(false));
        assert_eq!(from(&[("AQLIPSE_EMULATE_NULL", "0")]).map(|c| c.null_kernels), Ok(false));
        assert_eq!(from(&[("AQLIPSE_EMULATE_NULL", "1")]).map(|c| c.null_kernels), Ok(true));
    }
}
