//! What a user can do when an HSA runtime does not start, for the text of the error.

use std::{
    fmt::Display,
    fs::File,
    io::ErrorKind,
    os::unix::fs::{FileTypeExt, MetadataExt},
};

use hsa_sys::LoadError;

use super::backend::{Backend, DEVICE_VARIABLE};

/// What can be done instead, whatever is wrong with ROCr.
fn otherwise() -> String {
    format!("or use {DEVICE_VARIABLE}=emulated")
}

/// Where the driver library of ours is that emulates GPUs below ROCr.
const THUNK: &str = "the folder of aqlipse's libhsakmt.so.1 (target/dist/thunk) first on LD_LIBRARY_PATH";

/// Why there is no function table of ROCr's, and what can be done.
pub(super) fn unloadable(error: &LoadError) -> String {
    let otherwise = otherwise();
    match error {
        LoadError::Function { .. } => {
            format!("{error}: it is older than ROCr 5.2.3; install a newer one, {otherwise}")
        }
        // The dynamic linker names the driver library, or one of its functions, if that is what does not fit.
        LoadError::Library { reason, .. } if reason.contains("hsakmt") || reason.contains("hsaKmt") => {
            format!(
                "{error}: the libhsakmt.so.1 that is found does not fit this ROCr; install the one that it was built with \
             (Debian: libhsakmt1), put {THUNK} to run ROCr on an emulated GPU, {otherwise}"
            )
        }
        _ => format!("{error}: install ROCr (Debian: libhsa-runtime64-1), {otherwise}"),
    }
}

/// What the driver's device file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Driver {
    Missing,
    Closed,
    Open,
}

impl Driver {
    pub(super) fn find() -> Self {
        match File::options().read(true).write(true).open("/dev/kfd") {
            Ok(file) if is_null(&file) => Self::Missing,
            Ok(_) => Self::Open,
            Err(error) if error.kind() == ErrorKind::NotFound => Self::Missing,
            Err(_) => Self::Closed,
        }
    }
}

/// Whether a device file is `/dev/null`, which stands for the driver of emulated devices under `aqlipse run --sysfs`.
fn is_null(file: &File) -> bool {
    let null = libc::makedev(1, 3);
    file.metadata().is_ok_and(|found| found.file_type().is_char_device() && found.rdev() == null)
}

/// Why an HSA runtime does not come up, and what can be done.
pub(super) fn not_started(backend: Backend, error: &dyn Display) -> String {
    match backend {
        Backend::Rocr => without_devices(error, Driver::find()),
        Backend::Emulated => match emulator::configuration_error() {
            Some(reason) => format!("{error}; {reason}"),
            None => error.to_string(),
        },
    }
}

/// Why an HSA runtime that came up has no GPU, and what can be done: its driver answered, but with nothing that it knows.
pub(super) fn no_gpu(backend: Backend) -> String {
    match backend {
        Backend::Rocr => format!(
            "ROCr comes up and knows none of the devices that its driver has: ROCr 5.2.3 knows gfx90a and not gfx942, so \
             set AQLIPSE_EMULATE=gfx90a on the thunk, or install a ROCr that knows the card, {}",
            otherwise()
        ),
        Backend::Emulated => "there is no GPU".to_owned(),
    }
}

/// What is printed, whatever the log says, where a machine seems to have a GPU and the emulated one takes its place: the
/// program is some thousand times slower than its user expects.
pub(super) fn fallback(error: &dyn Display, driver: Driver) -> Option<String> {
    (driver != Driver::Missing).then(|| {
        format!(
            "aqlipse: the GPU of this machine is not used ({error}). The emulated one is, which is much slower. \
             {DEVICE_VARIABLE}=rocr makes this an error, {DEVICE_VARIABLE}=emulated ends this line."
        )
    })
}

fn without_devices(error: &dyn Display, driver: Driver) -> String {
    let otherwise = otherwise();
    match driver {
        Driver::Missing => format!(
            "{error}; there is no /dev/kfd, so ROCr finds no AMD GPU: load the amdgpu driver, put {THUNK} to run ROCr \
             on an emulated GPU, {otherwise}"
        ),
        Driver::Closed => format!(
            "{error}; /dev/kfd cannot be opened: is the user in the groups `render` and `video`? If not, add them, \
             {otherwise}"
        ),
        Driver::Open => format!("{error}; see what `rocminfo` and the kernel's log say, {otherwise}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(reason: &str) -> String {
        unloadable(&LoadError::Library { library: hsa_sys::LIBRARY, reason: reason.into() })
    }

    #[test]
    fn every_failure_says_what_to_do() {
        let missing = hsa_sys::MissingFunction { name: "hsa_amd_vmem_map" };
        let old = unloadable(&LoadError::Function { library: hsa_sys::LIBRARY, missing });
        let started =
            [Driver::Missing, Driver::Closed, Driver::Open].map(|it| without_devices(&"status", it));
        for text in started.into_iter().chain([old, library("not found"), no_gpu(Backend::Rocr)]) {
            assert!(text.contains("AQLIPSE_DEVICE=emulated"), "{text}");
        }
    }

    #[test]
    fn a_gpu_that_is_not_used_is_named_in_one_line() {
        assert_eq!(fallback(&"status", Driver::Missing), None);
        for driver in [Driver::Closed, Driver::Open] {
            let line = fallback(&without_devices(&"status", driver), driver).unwrap();
            assert!(
                line.lines().count() == 1 && line.contains("/dev/kfd") | line.contains("rocminfo"),
                "{line}"
            );
        }
    }

    #[test]
    fn a_missing_rocr_is_told_from_a_driver_library_that_does_not_fit() {
        let none =
            library("libhsa-runtime64.so.1: cannot open shared object file: No such file or directory");
        assert!(none.contains("libhsa-runtime64-1") && !none.contains("does not fit"), "{none}");
        for reason in [
            "libhsakmt.so.1: cannot open shared object file: No such file or directory",
            "/lib/libhsakmt.so.1: version `HSAKMT_1' not found (required by /lib/libhsa-runtime64.so.1)",
            "/lib/libhsa-runtime64.so.1: undefined symbol: hsaKmtOpenKFD, version HSAKMT_1",
        ] {
            let text = library(reason);
            assert!(text.contains("does not fit this ROCr") && text.contains(reason), "{text}");
        }
    }
}
