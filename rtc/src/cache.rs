//! Results of earlier compilations, in a folder that processes share.
//!
//! An entry is a file that is named by the hash of what it was made of. It is written aside and renamed into place, so a
//! reader sees all of it or nothing. It has the hash of its content, and the stamps of the headers that the compiler read
//! from elsewhere: an entry that is damaged, or whose headers have changed, is as good as none.

use std::{
    env,
    fs::{self, File},
    io::Write,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use sha2::{Digest, Sha256};

use crate::compiler;

/// Begins an entry; another layout begins otherwise.
const MAGIC: &[u8; 16] = b"aqlipse rtc 1\n\0\0";
/// Megabytes of entries that are kept unless `AQLIPSE_RTC_CACHE_MB` says otherwise.
const DEFAULT_MB: u64 = 256;
const HASH: usize = 32;

/// What is kept of a compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Files that it depends on, with their stamps.
    pub dependencies: Vec<(String, String)>,
    /// The result.
    pub bytes: Vec<u8>,
    /// What the compiler said.
    pub log: Vec<u8>,
    /// Symbols of the name expressions.
    pub names: Vec<String>,
}

/// The hash of everything that decides over a result.
#[derive(Default)]
pub struct Key(Sha256);

impl Key {
    /// Adds one thing; its length keeps it apart from the next.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn name(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A folder of entries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

impl Cache {
    /// The user's cache: `AQLIPSE_RTC_CACHE`, or a folder below `XDG_CACHE_HOME` or `HOME/.cache`. None if the variable is
    /// `0`, or if there is no folder for it.
    pub fn of_user() -> Option<Self> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let folder = match set("AQLIPSE_RTC_CACHE") {
            Some(off) if off == "0" => return None,
            Some(folder) => folder.into(),
            None => {
                let caches = set("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
                caches.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))?.join("aqlipse/rtc")
            }
        };
        let megabytes = set("AQLIPSE_RTC_CACHE_MB").and_then(|text| text.to_str()?.parse().ok());
        Self::at(folder, megabytes.unwrap_or(DEFAULT_MB).saturating_mul(1 << 20))
    }

    /// A cache in a folder, with at most `limit` bytes.
    pub fn at(folder: PathBuf, limit: u64) -> Option<Self> {
        match fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder) {
            Ok(()) => Some(Self { folder, limit }),
            Err(error) => {
                tracing::info!("no cache in {}: {error}", folder.display());
                None
            }
        }
    }

    /// What was kept under a key, and the place for it.
    pub fn find(&self, key: Key) -> (PathBuf, Option<Entry>) {
        let path = self.folder.join(key.name());
        let found = fs::read(&path).ok().and_then(|bytes| read(&bytes));
        let current = found.filter(|entry| {
            entry
                .dependencies
                .iter()
                .all(|(file, then)| compiler::stamp(file.as_ref()).as_ref() == Some(then))
        });
        if current.is_some() {
            // The time of its last use, by which the oldest goes. A cache that cannot be written serves all the same.
            let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        (path, current)
    }

    /// Keeps an entry at its place, and removes the least recently used ones beyond the limit. A cache that cannot be
    /// written keeps nothing.
    pub fn keep(&self, path: &Path, entry: &Entry) {
        let bytes = written(entry);
        if bytes.len() as u64 > self.limit {
            return;
        }
        let kept = tempfile::NamedTempFile::new_in(&self.folder).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.persist(path).map_err(|error| error.error)
        });
        if let Err(error) = kept {
            tracing::info!("{}: {error}", path.display());
        }
        self.trim();
    }

    fn trim(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let found = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((found.modified().ok()?, found.len(), entry.path()))
            })
            .collect();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        files.sort();
        for (_, bytes, path) in files {
            if total <= self.limit {
                return;
            }
            // Another process may have removed it.
            let _ = fs::remove_file(path);
            total -= bytes;
        }
    }
}

/// An entry as a file has it: the magic, the hash of the rest, then each part behind its length.
fn written(entry: &Entry) -> Vec<u8> {
    let mut content = Vec::new();
    let mut add = |part: &[u8]| {
        content.extend((part.len() as u64).to_le_bytes());
        content.extend(part);
    };
    add(&entry.bytes);
    add(&entry.log);
    add(&(entry.names.len() as u64).to_le_bytes());
    entry.names.iter().for_each(|name| add(name.as_bytes()));
    for (file, stamp) in &entry.dependencies {
        add(file.as_bytes());
        add(stamp.as_bytes());
    }
    [&MAGIC[..], &Sha256::digest(&content)[..], &content].concat()
}

/// Reads a file; `None` for anything that [`written`] did not make.
fn read(file: &[u8]) -> Option<Entry> {
    let (hash, mut content) = file.strip_prefix(MAGIC)?.split_at_checked(HASH)?;
    if Sha256::digest(content)[..] != *hash {
        return None;
    }
    let mut part = || -> Option<&[u8]> {
        let (length, rest) = content.split_first_chunk()?;
        let (part, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        content = rest;
        Some(part)
    };
    let (bytes, log) = (part()?.to_vec(), part()?.to_vec());
    let names = u64::from_le_bytes(part()?.try_into().ok()?);
    let mut text = || String::from_utf8(part()?.to_vec()).ok();
    let names = (0..names).map(|_| text()).collect::<Option<_>>()?;
    let dependencies = std::iter::from_fn(|| Some((text()?, text()?))).collect();
    Some(Entry { dependencies, bytes, log, names })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn cache(limit: u64) -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("a/b"), limit).unwrap();
        (folder, cache)
    }

    fn key(text: &str) -> Key {
        let mut key = Key::default();
        key.add(text.as_bytes());
        key
    }

    fn entry() -> Entry {
        Entry {
            dependencies: Vec::new(),
            bytes: vec![1; 1000],
            log: b"log".into(),
            names: vec!["_Z1fv".into()],
        }
    }

    #[test]
    fn what_was_kept_is_found_and_what_is_damaged_is_not() {
        let (_folder, cache) = cache(1 << 20);
        let (path, none) = cache.find(key("a"));
        assert_eq!(none, None);
        cache.keep(&path, &entry());
        assert_eq!(cache.find(key("a")).1, Some(entry()));
        assert_eq!(cache.find(key("b")).1, None);
        let whole = fs::read(&path).unwrap();
        for damaged in [&whole[..0], &whole[..20], &whole[..whole.len() - 1], &[&whole[..], b"x"].concat()] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(cache.find(key("a")).1, None);
        }
        for at in [0, 16, 47, 48, 100, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, flipped).unwrap();
            assert_eq!(cache.find(key("a")).1, None, "byte {at}");
        }
    }

    #[test]
    fn an_entry_ends_with_the_headers_that_it_was_made_of() {
        let (folder, cache) = cache(1 << 20);
        let header = folder.path().join("x.h");
        fs::write(&header, "1").unwrap();
        let stamp = compiler::stamp(&header).unwrap();
        let made = Entry { dependencies: vec![(header.display().to_string(), stamp)], ..entry() };
        let (path, _) = cache.find(key("a"));
        cache.keep(&path, &made);
        assert_eq!(cache.find(key("a")).1, Some(made));
        fs::write(&header, "12").unwrap();
        assert_eq!(cache.find(key("a")).1, None);
    }

    #[test]
    fn the_least_recently_used_goes() {
        let (_folder, cache) = cache(3000);
        for name in ["a", "b"] {
            let (path, _) = cache.find(key(name));
            cache.keep(&path, &entry());
            let earlier = SystemTime::now() - Duration::from_secs(if name == "a" { 20 } else { 10 });
            File::open(&path).unwrap().set_modified(earlier).unwrap();
        }
        assert!(cache.find(key("a")).1.is_some());
        let (path, _) = cache.find(key("c"));
        cache.keep(&path, &entry());
        let found = ["a", "b", "c"].map(|name| cache.find(key(name)).1.is_some());
        assert_eq!(found, [true, false, true]);
        let (path, _) = cache.find(key("d"));
        cache.keep(&path, &Entry { bytes: vec![0; 4000], ..entry() });
        assert!(
            cache.find(key("d")).1.is_none() && cache.find(key("c")).1.is_some(),
            "it would hold nothing else"
        );
    }

    #[test]
    fn parts_are_kept_apart() {
        let name = |parts: &[&str]| {
            let mut key = Key::default();
            parts.iter().for_each(|part| key.add(part.as_bytes()));
            key.name()
        };
        assert_ne!(name(&["ab", "c"]), name(&["a", "bc"]));
        assert_eq!(name(&["ab", "c"]).len(), 64);
    }
}
