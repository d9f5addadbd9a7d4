//! `aqlipse flags`: how to compile and link a program with the HIP headers that there are.
//!
//! A program's structures and codes are those of the headers it was compiled with. The folder that it is linked with gives it
//! the SONAME by which the library knows them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::installed::{LIBRARY, library_folder};

/// What is to be printed, and for which headers.
#[derive(clap::Args)]
pub struct Selection {
    /// The folder of the headers, or the one that has it as `include`; otherwise HIP_PATH, ROCM_PATH, /opt/rocm and
    /// /usr are looked at, in this order.
    #[arg(long, value_name = "DIR")]
    headers: Option<PathBuf>,
    /// Print what compiles only.
    #[arg(long, conflicts_with = "libs")]
    cflags: bool,
    /// Print what links only.
    #[arg(long)]
    libs: bool,
}

/// Headers of a release.
#[derive(Debug, PartialEq, Eq)]
struct Headers {
    folder: PathBuf,
    major: u32,
}

/// The ABIs that there are folders for.
const KNOWN: std::ops::RangeInclusive<u32> = 4..=7;

/// Where compilers look anyway; to name it changes the order of other folders.
const DEFAULT_FOLDER: &str = "/usr/include";

/// Prints the flags.
pub fn run(selection: &Selection) -> Result<(), String> {
    let library = library_folder()
        .ok_or_else(|| format!("{LIBRARY} is not beside this command; build it with `cargo xtask dist`"))?;
    let places = match &selection.headers {
        Some(folder) => vec![folder.clone()],
        None => {
            let named = ["HIP_PATH", "ROCM_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
            named.chain(["/opt/rocm".into(), "/usr".into()]).collect()
        }
    };
    let headers = places.iter().find_map(|place| Headers::at(place)).ok_or_else(|| {
        let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
        format!("no hip/hip_version.h in {}; --headers names the folder", places.join(", "))
    })?;
    if !KNOWN.contains(&headers.major) {
        let (folder, major) = (headers.folder.display(), headers.major);
        return Err(format!("the headers in {folder} are of HIP {major}, whose structures are not known"));
    }
    let (cflags, libs) = (headers.cflags(), headers.libs(&library));
    match (selection.cflags, selection.libs) {
        (true, _) => println!("{cflags}"),
        (_, true) => println!("{libs}"),
        _ => println!("{cflags} {libs}"),
    }
    Ok(())
}

impl Headers {
    /// The headers in a folder, or in its `include`.
    fn at(place: &Path) -> Option<Self> {
        [place.join("include"), place.to_owned()].into_iter().find_map(|folder| {
            let text = fs::read_to_string(folder.join("hip/hip_version.h")).ok()?;
            Some(Self { major: major(&text)?, folder })
        })
    }

    fn cflags(&self) -> String {
        let define = "-D__HIP_PLATFORM_AMD__";
        if self.folder == Path::new(DEFAULT_FOLDER) {
            define.into()
        } else {
            format!("{define} -I{}", self.folder.display())
        }
    }

    fn libs(&self, library: &Path) -> String {
        format!("-L{} -lamdhip64", library.join(format!("hip{}", self.major)).display())
    }
}

/// The number that `hip_version.h` defines.
fn major(text: &str) -> Option<u32> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| {
        let is_it = words.next() == Some("#define") && words.next() == Some("HIP_VERSION_MAJOR");
        is_it.then(|| words.next()?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_what_the_header_defines() {
        assert_eq!(major("#ifndef X\n#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 1\n"), Some(6));
        assert_eq!(major("#define HIP_VERSION_MINOR 1\n"), None);
        assert_eq!(major("#define HIP_VERSION_MAJOR ${x}\n"), None);
    }

    #[test]
    fn the_folder_to_link_with_goes_by_the_version() {
        let headers = Headers { folder: "/opt/rocm/include".into(), major: 6 };
        assert_eq!(headers.cflags(), "-D__HIP_PLATFORM_AMD__ -I/opt/rocm/include");
        assert_eq!(headers.libs(Path::new("/dist/lib")), "-L/dist/lib/hip6 -lamdhip64");
        let debian = Headers { folder: DEFAULT_FOLDER.into(), major: 5 };
        assert_eq!(debian.cflags(), "-D__HIP_PLATFORM_AMD__");
    }
}
