//! Every truncation and 10,000 random corruptions of every sample: a value or an error, never a panic, a hang
//! or an allocation that the limits do not allow.

use std::time::{Duration, Instant};

use fastrand::Rng;
use loader::bundle::{Bundle, bundles, extent};
use loader::{CodeObject, Limits};

use crate::{allocation, samples};

const LIMIT: u64 = 1 << 20;
const CORRUPTIONS: u64 = 10_000;

/// Does with a file all that can be done with it.
fn use_all(file: &[u8]) {
    let limits = Limits::default().image_bytes(LIMIT).decompressed_bytes(LIMIT);
    let device = "gfx90a:sramecc+:xnack+".parse().unwrap();
    std::hint::black_box(extent(file).is_ok());
    for bundle in bundles(file, limits).flatten() {
        std::hint::black_box(bundle.select(&device).is_ok());
        bundle.entries().iter().for_each(|entry| use_code_object(&entry.bytes, &limits));
    }
    if Bundle::parse(file, &limits).is_err() {
        use_code_object(file, &limits);
    }
}

fn use_code_object(file: &[u8], limits: &Limits) {
    let Ok(object) = CodeObject::parse(file) else { return };
    for name in object.kernel_names() {
        std::hint::black_box(object.kernel(name).is_ok());
    }
    std::hint::black_box((object.kernels().count(), object.variables().count(), object.metadata().is_ok()));
    if let Ok(plan) = object.load_plan(limits)
        && let Ok(image) = plan.image(1 << 32, |name| Some(name.len() as u64))
    {
        assert_eq!(image.len() as u64, plan.size());
        for kernel in object.kernels().flatten() {
            assert!(image.len() as u64 >= kernel.descriptor_offset + 64);
            assert!(image.len() as u64 >= kernel.entry_offset + 4);
        }
        assert!(object.variables().all(|v| v.offset + v.size <= plan.size()));
    }
}

fn check(name: &str, what: impl std::fmt::Debug, file: &[u8]) {
    let start = Instant::now();
    let bytes = allocation::largest_in(|| use_all(file));
    // A growing buffer doubles, so decompressing up to the limit may ask for twice as much.
    assert!(bytes as u64 <= 2 * LIMIT + 4096, "{name} {what:?}: {bytes} bytes at once");
    assert!(start.elapsed() < Duration::from_secs(10), "{name} {what:?}: {:?}", start.elapsed());
}

/// Changes one to four places: a bit, a byte, or a field that gets a value at the edge of some range.
fn corrupt(file: &mut [u8], random: &mut Rng) {
    for _ in 0..=random.usize(..4) {
        // Half of the changes hit the first kilobyte, where headers are.
        let end = if random.bool() { file.len().min(1024) } else { file.len() };
        let at = random.usize(..end);
        match random.usize(..4) {
            0 => file[at] ^= 1 << random.usize(..8),
            1 => file[at] = random.u8(..),
            kind => {
                let width = [4, 8][kind - 2];
                let at = (at & !(width - 1)).min(file.len() - width);
                let edges = [
                    0,
                    1,
                    0x7f,
                    0xffff,
                    0x7fff_ffff,
                    0xffff_ffff,
                    1 << 40,
                    i64::MAX as u64,
                    u64::MAX,
                    random.u64(..),
                ];
                let value = edges[random.usize(..edges.len())].wrapping_sub(random.u64(..3));
                file[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            }
        }
    }
}

#[test]
fn every_truncation_is_handled() {
    for (name, file) in samples::all() {
        for length in 0..file.len() {
            check(&name, length, &file[..length]);
        }
    }
}

#[test]
fn a_truncated_code_object_is_an_error() {
    for (name, file) in samples::code_objects() {
        for length in (0..file.len()).step_by(97).chain([file.len() - 1]) {
            assert!(CodeObject::parse(&file[..length]).is_err(), "{name} {length}");
        }
    }
}

#[test]
fn random_corruptions_are_handled() {
    for (name, file) in samples::all() {
        let mut copy = file.clone();
        for number in 0..CORRUPTIONS {
            let mut random = Rng::with_seed(number);
            copy.copy_from_slice(&file);
            corrupt(&mut copy, &mut random);
            check(&name, number, &copy);
        }
    }
}
