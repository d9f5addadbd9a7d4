//! Tests that need another process, or devices of their own: the test's binary again, with one test and a role.

use std::{
    env, fs,
    process::{Child, Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

const ROLE: &str = "AQLIPSE_TEST_ROLE";

/// Longer than anything here takes, on a busy machine too.
pub const LONG: Duration = Duration::from_secs(200);

/// What this process is to do in a test that has several.
pub fn role() -> Option<String> {
    env::var(ROLE).ok()
}

/// The test of this name in another process.
pub fn again(test: &str, role: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("the test has a file"));
    command.args([test, "--exact", "--nocapture"]).env(ROLE, role);
    command
}

/// Runs the test with so many emulated devices, and says whether that is to be done here.
pub fn with_devices(test: &str, devices: u32) -> bool {
    if role().is_some() {
        return true;
    }
    let mut command = again(test, "devices");
    command.env("AQLIPSE_DEVICE", "emulated").env("AQLIPSE_EMULATE", format!("{devices}xgfx90a"));
    assert!(ends(command.spawn().expect("a process")).success());
    false
}

/// How a process ends, which it must do within [`LONG`].
pub fn ends(mut child: Child) -> ExitStatus {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(status) = child.try_wait().expect("our child") {
            return status;
        }
        if Instant::now() > deadline {
            child.kill().expect("our child");
            panic!("the other process hangs");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Open descriptors and mappings of this process.
pub fn footprint() -> (usize, usize) {
    let descriptors = fs::read_dir("/proc/self/fd").expect("procfs").count();
    let maps = fs::read_to_string("/proc/self/maps").expect("procfs").lines().count();
    (descriptors, maps)
}

/// Bytes as text, to be passed in the environment.
pub fn hex(bytes: &[i8]) -> String {
    bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect()
}

/// The bytes that [`hex`] wrote into a variable.
pub fn unhex<const N: usize>(variable: &str) -> [i8; N] {
    bytes_of(&env::var(variable).expect(variable))
}

/// The bytes that [`hex`] wrote.
pub fn bytes_of<const N: usize>(text: &str) -> [i8; N] {
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("two digits") as i8)
}
