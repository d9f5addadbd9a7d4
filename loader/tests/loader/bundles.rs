use std::io::Write;

use loader::bundle::{Bundle, Extent, Format, bundles, extent};
use loader::{Error, Limits, TargetId};

use crate::samples;

fn device(text: &str) -> TargetId {
    text.parse().unwrap()
}

/// Writes a plain bundle.
fn plain(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let header: usize = 32 + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend((entries.len() as u64).to_le_bytes());
    let mut at = header;
    for (id, bytes) in entries {
        for word in [at, bytes.len(), id.len()] {
            bundle.extend((word as u64).to_le_bytes());
        }
        bundle.extend(id.as_bytes());
        at += bytes.len();
    }
    entries.iter().for_each(|(_, bytes)| bundle.extend(*bytes));
    bundle
}

/// Compresses a bundle as version 1, 2 or 3.
fn compress(content: &[u8], version: u16, zlib: bool) -> Vec<u8> {
    let data = if zlib {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    } else {
        zstd::bulk::compress(content, 3).unwrap()
    };
    let mut bundle = b"CCOB".to_vec();
    bundle.extend(version.to_le_bytes());
    bundle.extend(u16::from(!zlib).to_le_bytes());
    let (file, raw) = (data.len() + [20, 24, 32][usize::from(version) - 1], content.len());
    match version {
        1 => bundle.extend((raw as u32).to_le_bytes()),
        2 => bundle.extend([(file as u32).to_le_bytes(), (raw as u32).to_le_bytes()].concat()),
        _ => bundle.extend([(file as u64).to_le_bytes(), (raw as u64).to_le_bytes()].concat()),
    }
    bundle.extend(0x0123_4567_89ab_cdefu64.to_le_bytes());
    bundle.extend(data);
    bundle
}

/// Finds the extent as a caller does that may read no further than it is told.
fn measure(bytes: &[u8]) -> Result<usize, Error> {
    let mut known = 0;
    loop {
        match extent(&bytes[..known])? {
            Extent::Len(length) => return Ok(length),
            Extent::Need(more) => {
                assert!(known < more && more <= bytes.len(), "{known} {more} {}", bytes.len());
                known = more;
            }
        }
    }
}

#[test]
fn entries_of_a_plain_bundle_are_not_copied() {
    let file = samples::read("three_targets.hipfb");
    let bundle = Bundle::parse(&file, &Limits::default()).unwrap();
    assert_eq!((bundle.format(), bundle.extent()), (Format::Plain, file.len()));
    let ids: Vec<_> = bundle.entries().iter().map(|entry| &*entry.id).collect();
    let gpu = ["hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx9-4-generic"];
    assert_eq!(ids, ["host-x86_64-unknown-linux-gnu-", gpu[0], gpu[1]]);
    assert!(bundle.entries()[0].bytes.is_empty() && bundle.entries()[0].identity.is_none());
    assert_eq!(*bundle.entries()[1].bytes, samples::read("gfx90a_v5.co"));
    let range = file.as_ptr_range();
    assert!(bundle.entries()[1..].iter().all(|entry| range.contains(&entry.bytes.as_ptr())));
}

#[test]
fn compressed_bundles_have_the_entries_of_the_plain_one() {
    let plain = samples::read("three_targets.hipfb");
    let expected = Bundle::parse(&plain, &Limits::default()).unwrap();
    let mut files = vec![samples::read("three_targets_v2.ccob"), samples::read("three_targets_v3.ccob")];
    for version in 1..=3 {
        files.extend([compress(&plain, version, true), compress(&plain, version, false)]);
    }
    for mut file in files {
        let length = file.len();
        file.extend([0; 100]); // what follows is not of the bundle
        let bundle = Bundle::parse(&file, &Limits::default()).unwrap();
        assert_eq!((bundle.format(), bundle.extent()), (Format::Compressed, length));
        assert_eq!(bundle.entries().len(), expected.entries().len());
        for (entry, expected) in bundle.entries().iter().zip(expected.entries()) {
            assert_eq!((&entry.id, &*entry.bytes), (&expected.id, &*expected.bytes));
        }
    }
}

#[test]
fn a_bare_code_object_is_a_bundle_of_one() {
    let mut file = samples::read("gfx942_v6.co");
    let length = file.len();
    file.extend([1; 64]);
    let bundle = Bundle::parse(&file, &Limits::default()).unwrap();
    assert_eq!((bundle.format(), bundle.extent()), (Format::CodeObject, length));
    let entry = bundle.select(&device("gfx942:sramecc+:xnack-")).unwrap();
    assert_eq!((&*entry.id, entry.bytes.len()), ("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", length));
}

#[test]
fn the_extent_is_found_without_reading_beyond_the_end() {
    for (name, file) in samples::all() {
        assert_eq!(measure(&file), Ok(file.len()), "{name}");
    }
    let plain = samples::read("three_targets.hipfb");
    let one = compress(&plain, 1, false);
    assert_eq!(measure(&one), Ok(one.len()));
    assert_eq!(measure(&compress(&plain, 1, true)), Err(Error::UnknownExtent));
    // A content that does not compress makes raw zstd blocks, one of zeros repeated ones.
    for content in [vec![0; 1 << 20], (0..300_000u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).collect()]
    {
        let file = compress(&content, 1, false);
        assert_eq!(measure(&file), Ok(file.len()));
    }
}

#[test]
fn what_is_no_container_has_no_extent() {
    assert_eq!(extent(b""), Ok(Extent::Need(4)));
    assert_eq!(extent(b"_CLA"), Err(Error::UnknownFormat { magic: *b"_CLA" }));
    assert_eq!(extent(b"__CL"), Ok(Extent::Need(24)));
    assert_eq!(extent(b"__CLANG_OFFLOAD_BUNDLE!!"), Err(Error::UnknownFormat { magic: *b"__CL" }));
    let mut host = samples::read("gfx90a_v5.co");
    host[18] = 62;
    assert!(matches!(extent(&host), Err(Error::NotAmdGpu { machine: 62, .. })));
}

#[test]
fn bundles_stand_back_to_back() {
    let parts = ["three_targets.hipfb", "three_targets_v3.ccob", "gfx90a_v4.co", "three_targets_v2.ccob"];
    let mut section = Vec::new();
    for part in parts {
        section.extend(samples::read(part));
        section.resize(section.len().next_multiple_of(4096), 0);
    }
    let found: Vec<_> = bundles(&section, Limits::default()).collect::<Result<_, _>>().unwrap();
    let formats: Vec<_> = found.iter().map(Bundle::format).collect();
    assert_eq!(formats, [Format::Plain, Format::Compressed, Format::CodeObject, Format::Compressed]);

    section.extend(b"junk");
    let found: Vec<_> = bundles(&section, Limits::default()).collect();
    assert_eq!(found.len(), 5);
    assert!(matches!(found[4], Err(Error::UnknownFormat { magic: [b'j', b'u', b'n', b'k'] })));
}

#[test]
fn the_most_specific_code_object_is_selected() {
    let read = samples::read;
    let (generic, gfx942, gfx942_fixed) =
        (read("gfx9-4-generic_v6.co"), read("gfx942_v5.co"), read("gfx942_v6.co"));
    let (gfx90a, gfx90a_xnack) = (read("gfx90a_v5.co"), read("gfx90a_xnack_v6.co"));
    let file = plain(&[
        ("host-x86_64-unknown-linux-gnu-", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", &generic),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a", &gfx90a),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", &gfx90a_xnack),
        ("hip-amdgcn-amd-amdhsa--gfx942", &gfx942),
        ("hip-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", &gfx942_fixed),
    ]);
    let bundle = Bundle::parse(&file, &Limits::default()).unwrap();
    for (device_id, expected) in [
        ("gfx90a:sramecc+:xnack-", "hipv4-amdgcn-amd-amdhsa--gfx90a"),
        ("gfx90a:sramecc+:xnack+", "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"),
        ("gfx942:sramecc+:xnack-", "hip-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"),
        ("gfx942:sramecc+:xnack+", "hip-amdgcn-amd-amdhsa--gfx942"),
        ("gfx950:sramecc+:xnack-", "hipv4-amdgcn-amd-amdhsa--gfx9-4-generic"),
    ] {
        assert_eq!(&*bundle.select(&device(device_id)).unwrap().id, expected, "{device_id}");
    }
}

#[test]
fn the_target_comes_from_e_flags_whatever_the_id_says() {
    let file = plain(&[("hipv4-amdgcn-amd-amdhsa--gfx942", &samples::read("gfx90a_v5.co"))]);
    let bundle = Bundle::parse(&file, &Limits::default()).unwrap();
    assert!(bundle.select(&device("gfx90a")).is_ok());
    let error = bundle.select(&device("gfx942")).unwrap_err().to_string();
    assert_eq!(error, "no code for gfx942; the bundle has: hipv4-amdgcn-amd-amdhsa--gfx942 (gfx90a)");
}

#[test]
fn no_match_lists_what_the_bundle_has_and_what_the_device_is() {
    let file = samples::read("three_targets.hipfb");
    let bundle = Bundle::parse(&file, &Limits::default()).unwrap();
    let error = bundle.select(&device("gfx908:sramecc+:xnack-")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no code for gfx908:sramecc+:xnack-; the bundle has: host-x86_64-unknown-linux-gnu-, \
         hipv4-amdgcn-amd-amdhsa--gfx90a, hipv4-amdgcn-amd-amdhsa--gfx9-4-generic"
    );
    let empty = plain(&[]);
    let error = Bundle::parse(&empty, &Limits::default()).unwrap().select(&device("gfx90a")).unwrap_err();
    assert_eq!(error.to_string(), "no code for gfx90a; the bundle has: nothing");
}

#[test]
fn a_decompression_bomb_is_stopped_at_the_size_that_it_admits() {
    let zeros = plain(&[("hip-amdgcn-amd-amdhsa--gfx90a", &vec![0; 8 << 20])]);
    for (version, zlib) in [(1, true), (2, true), (3, true), (1, false), (2, false), (3, false)] {
        let honest = compress(&zeros, version, zlib);
        let limits = Limits::default().decompressed_bytes(zeros.len() as u64 - 1);
        let refused =
            Error::DecompressedTooLarge { bytes: zeros.len() as u64, limit: limits.decompressed_bytes };
        assert_eq!(Bundle::parse(&honest, &limits).unwrap_err(), refused);

        let at = [8, 12, 16][usize::from(version) - 1];
        for claim in [1000u32, zeros.len() as u32 + 1] {
            let mut liar = honest.clone();
            liar[at..at + 4].copy_from_slice(&claim.to_le_bytes());
            let error = Bundle::parse(&liar, &Limits::default()).unwrap_err();
            let Error::DecompressedSize { expected, actual } = error else { panic!("{error}") };
            assert!(expected == u64::from(claim) && actual == (zeros.len() as u64).min(expected + 1));
        }
    }
}

#[test]
fn a_bundle_inside_a_bundle_is_refused() {
    let nested = compress(&compress(&plain(&[]), 3, false), 3, false);
    let error = Bundle::parse(&nested, &Limits::default()).unwrap_err();
    assert_eq!(error, Error::UnknownFormat { magic: *b"CCOB" });
}

#[test]
fn unknown_versions_and_methods_are_named() {
    let mut file = samples::read("three_targets_v3.ccob");
    file[4] = 4;
    assert_eq!(
        Bundle::parse(&file, &Limits::default()).unwrap_err(),
        Error::CompressedVersion { version: 4 }
    );
    file[4..8].copy_from_slice(&[3, 0, 2, 0]);
    assert_eq!(Bundle::parse(&file, &Limits::default()).unwrap_err(), Error::CompressedMethod { method: 2 });
}

#[test]
fn entries_outside_the_bundle_and_absurd_counts_are_refused() {
    let good = plain(&[("hip-amdgcn-amd-amdhsa--gfx90a", b"code")]);
    for (at, value, error) in [
        (24, u64::MAX, Error::BundleEntries { entries: u64::MAX }),
        (32, u64::MAX, Error::BundleEntry { index: 0, offset: 32 }),
        (32, good.len() as u64, Error::BundleEntry { index: 0, offset: 32 }),
        (40, 5, Error::BundleEntry { index: 0, offset: 32 }),
        (48, 4097, Error::BundleEntry { index: 0, offset: 32 }),
        (48, 34, Error::Truncated { what: "bundle entry", offset: 56, needed: 34, available: 33 }),
        (56, u64::MAX, Error::BundleEntry { index: 0, offset: 32 }),
    ] {
        let mut bad = good.clone();
        bad[at..at + 8].copy_from_slice(&value.to_le_bytes());
        assert_eq!(Bundle::parse(&bad, &Limits::default()).unwrap_err(), error, "{at} {value}");
    }
}
