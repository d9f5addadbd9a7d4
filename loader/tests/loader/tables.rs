//! Counts, sizes, offsets and entry sizes that the headers of a code object may claim: whatever they are, the
//! tables are read as far as the file has them, or refused by name before memory is allocated for them.

use std::time::{Duration, Instant};

use loader::bundle::{Extent, extent};
use loader::{CodeObject, Error, Limits};

use crate::{allocation, samples};

// Where the ELF header has its fields (ELF, "ELF Header").
const E_PHOFF: usize = 32;
const E_SHOFF: usize = 40;
const E_PHENTSIZE: usize = 54;
const E_PHNUM: usize = 56;
const E_SHENTSIZE: usize = 58;
const E_SHNUM: usize = 60;

// Where a program header has its fields (ELF, "Program Header").
const P_OFFSET: usize = 8;
const P_FILESZ: usize = 32;
const P_ALIGN: usize = 48;

// Where a section header has its fields (ELF, "Section Header").
const SH_TYPE: usize = 4;
const SH_OFFSET: usize = 24;
const SH_SIZE: usize = 32;
const SH_LINK: usize = 40;
const SH_INFO: usize = 44;
const SH_ENTSIZE: usize = 56;

const SHT_RELA: u32 = 4;
const SHT_DYNSYM: u32 = 11;
const PT_NOTE: u32 = 4;

/// No sample is larger.
const OUTSIDE: u64 = 1 << 20;

fn sample() -> Vec<u8> {
    samples::read("gfx90a_v5.co")
}

fn put<const N: usize>(file: &mut [u8], at: usize, value: [u8; N]) {
    file[at..at + N].copy_from_slice(&value);
}

fn half(file: &[u8], at: usize) -> usize {
    u16::from_le_bytes(*file[at..].first_chunk().unwrap()).into()
}

fn word(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*file[at..].first_chunk().unwrap())
}

fn long(file: &[u8], at: usize) -> usize {
    u64::from_le_bytes(*file[at..].first_chunk().unwrap()) as usize
}

/// Where the header of section `index` is.
fn section(file: &[u8], index: usize) -> usize {
    long(file, E_SHOFF) + 64 * index
}

/// Where the header of the section of this type is.
fn section_of(file: &[u8], kind: u32) -> usize {
    let mut headers = (0..half(file, E_SHNUM)).map(|index| section(file, index));
    headers.find(|&at| word(file, at + SH_TYPE) == kind).unwrap()
}

/// Where the header of the section with the names of the dynamic symbols is.
fn strings(file: &[u8]) -> usize {
    section(file, word(file, section_of(file, SHT_DYNSYM) + SH_LINK) as usize)
}

/// Where the program header of the notes is.
fn notes(file: &[u8]) -> usize {
    let mut headers = (0..half(file, E_PHNUM)).map(|index| long(file, E_PHOFF) + 56 * index);
    headers.find(|&at| word(file, at) == PT_NOTE).unwrap()
}

/// Checks that a table is why the file is refused, and that no memory was allocated for what it claims.
#[track_caller]
fn refused(file: &[u8], expected: &str) {
    let mut error = None;
    let parse = || CodeObject::parse(file).and_then(|object| object.load_plan(&Limits::default()).map(drop));
    let bytes = allocation::largest_in(|| error = parse().err());
    match error {
        Some(Error::Elf { table, .. }) if table == expected => {}
        other => panic!("{expected} should be refused: {other:?}"),
    }
    assert!(bytes <= file.len(), "{bytes} bytes at once");
}

/// The same for a file whose length is not known.
#[track_caller]
fn has_no_extent(file: &[u8], expected: &str) {
    match extent(file) {
        Err(Error::Elf { table, .. }) if table == expected => {}
        other => panic!("{expected} should be refused: {other:?}"),
    }
}

/// Checks that a file is read as the sample is, in a time that grows with its size only.
#[track_caller]
fn reads_as_the_sample(file: &[u8]) {
    let original = sample();
    let original = CodeObject::parse(&original).unwrap();
    let start = Instant::now();
    let object = CodeObject::parse(file).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(object.symbols().eq(original.symbols()));
    assert_eq!(object.segments(), original.segments());
    assert_eq!(object.metadata().unwrap().kernels, original.metadata().unwrap().kernels);
    let limits = Limits::default();
    let (plan, expected) = (object.load_plan(&limits).unwrap(), original.load_plan(&limits).unwrap());
    assert_eq!(plan.relocations(), expected.relocations());
}

/// The sample with section headers behind its end: its own, then empty ones.
fn with_sections(count: usize) -> Vec<u8> {
    let mut file = sample();
    let headers = section(&file, 0)..section(&file, half(&file, E_SHNUM));
    let end = file.len();
    file.extend_from_within(headers);
    file.resize(end + 64 * count, 0);
    put(&mut file, E_SHOFF, (end as u64).to_le_bytes());
    file
}

/// The sample with program headers behind its end: its own, then empty ones.
fn with_program_headers(count: usize) -> Vec<u8> {
    let mut file = sample();
    let headers = 64..64 + 56 * half(&file, E_PHNUM);
    let end = file.len();
    file.extend_from_within(headers);
    file.resize(end + 56 * count, 0);
    put(&mut file, E_PHOFF, (end as u64).to_le_bytes());
    file
}

#[test]
fn a_count_of_sections_that_the_file_does_not_have_is_refused() {
    for count in [17, 0x7fff, 0xffff_u16] {
        let mut file = sample();
        put(&mut file, E_SHNUM, count.to_le_bytes());
        refused(&file, "section headers");
        assert!(matches!(extent(&file), Ok(Extent::Need(bytes)) if bytes > file.len()));
    }
    // A count of 0 stands for the size of section 0 (ELF, "Section Header").
    for count in [17, 0xffff, 1 << 32, u64::MAX / 64, u64::MAX] {
        let mut file = sample();
        let first = section(&file, 0);
        put(&mut file, E_SHNUM, [0; 2]);
        put(&mut file, first + SH_SIZE, count.to_le_bytes());
        refused(&file, "section headers");
    }
}

#[test]
fn a_count_of_program_headers_that_the_file_does_not_have_is_refused() {
    for count in [0x7fff, 0xfffe_u16] {
        let mut file = sample();
        put(&mut file, E_PHNUM, count.to_le_bytes());
        refused(&file, "program headers");
        assert!(matches!(extent(&file), Ok(Extent::Need(bytes)) if bytes > file.len()));
    }
    // 0xffff stands for a count in section 0 (ELF, "ELF Header").
    for count in [0xffff, u32::MAX] {
        let mut file = sample();
        let first = section(&file, 0);
        put(&mut file, E_PHNUM, [0xff; 2]);
        put(&mut file, first + SH_INFO, count.to_le_bytes());
        refused(&file, "program headers");
    }
    let mut file = sample();
    put(&mut file, E_PHNUM, [0xff; 2]);
    assert_eq!(CodeObject::parse(&file).unwrap_err(), Error::NoSegments, "section 0 counts none");
}

#[test]
fn many_headers_are_read_if_the_file_has_them() {
    let mut file = with_sections(0xffff);
    put(&mut file, E_SHNUM, [0xff; 2]);
    reads_as_the_sample(&file);
    assert_eq!(extent(&file), Ok(Extent::Len(file.len())));

    let mut file = with_sections(0x1_1000);
    let first = section(&file, 0);
    put(&mut file, E_SHNUM, [0; 2]);
    put(&mut file, first + SH_SIZE, 0x1_1000_u64.to_le_bytes());
    reads_as_the_sample(&file);

    let mut file = with_program_headers(0xfffe);
    put(&mut file, E_PHNUM, 0xfffe_u16.to_le_bytes());
    reads_as_the_sample(&file);
    assert_eq!(extent(&file), Ok(Extent::Len(file.len())));

    let mut file = with_program_headers(0x1_1000);
    let first = section(&file, 0);
    put(&mut file, E_PHNUM, [0xff; 2]);
    put(&mut file, first + SH_INFO, 0x1_1000_u32.to_le_bytes());
    reads_as_the_sample(&file);
}

#[test]
fn headers_of_another_size_are_refused() {
    for (field, bytes, table) in
        [(E_PHENTSIZE, 56_u16, "program headers"), (E_SHENTSIZE, 64, "section headers")]
    {
        // 32 and 40 are the sizes of 32-bit files.
        for entry in [0, 1, 32, 40, bytes - 1, bytes + 1, 2 * bytes, u16::MAX] {
            let mut file = sample();
            put(&mut file, field, entry.to_le_bytes());
            refused(&file, table);
            has_no_extent(&file, table);
        }
    }
}

#[test]
fn without_program_headers_their_size_does_not_matter() {
    let mut file = sample();
    put(&mut file, E_PHNUM, [0; 2]);
    put(&mut file, E_PHENTSIZE, [0; 2]);
    assert_eq!(CodeObject::parse(&file).unwrap_err(), Error::NoSegments);
}

#[test]
fn the_size_of_symbols_and_relocations_is_not_the_section_s_to_say() {
    for kind in [SHT_DYNSYM, SHT_RELA] {
        for entry in [0, 16, 25, u64::MAX] {
            let mut file = sample();
            let header = section_of(&file, kind);
            put(&mut file, header + SH_ENTSIZE, entry.to_le_bytes());
            reads_as_the_sample(&file);
        }
    }
}

#[test]
fn tables_of_headers_near_the_end_of_the_address_space_are_refused() {
    for (field, table) in [(E_PHOFF, "program headers"), (E_SHOFF, "section headers")] {
        for below in [0, 1, 55, 56, 63, 64, 9 * 56 - 1, 16 * 64, 1 << 20, 1 << 63] {
            let mut file = sample();
            put(&mut file, field, (u64::MAX - below).to_le_bytes());
            refused(&file, table);
            if below < 1 << 63 {
                has_no_extent(&file, table);
            }
        }
        for beyond in [0, 1] {
            let mut file = sample();
            let end = (file.len() + beyond) as u64;
            put(&mut file, field, end.to_le_bytes());
            refused(&file, table);
        }
    }
}

#[test]
fn sections_and_notes_outside_the_file_are_refused() {
    type Place = fn(&[u8]) -> usize;
    let places: [(Place, usize, usize, &str); 4] = [
        (|file| section_of(file, SHT_DYNSYM), SH_OFFSET, SH_SIZE, "dynamic symbols"),
        (strings, SH_OFFSET, SH_SIZE, "dynamic symbols"),
        (|file| section_of(file, SHT_RELA), SH_OFFSET, SH_SIZE, "dynamic relocations"),
        (notes, P_OFFSET, P_FILESZ, "notes"),
    ];
    for (header, offset, size, table) in places {
        for value in [OUTSIDE, 1 << 63, u64::MAX - 71, u64::MAX - 23, u64::MAX] {
            for field in [offset, size] {
                let mut file = sample();
                let header = header(&file);
                put(&mut file, header + field, value.to_le_bytes());
                refused(&file, table);
            }
        }
        // Offset and size wrap around to a small sum.
        let mut file = sample();
        let header = header(&file);
        let start = long(&file, header + offset) as u64;
        put(&mut file, header + size, 24_u64.wrapping_sub(start).to_le_bytes());
        refused(&file, table);
    }
}

#[test]
fn a_cut_off_last_entry_is_refused() {
    for (kind, table) in [(SHT_DYNSYM, "dynamic symbols"), (SHT_RELA, "dynamic relocations")] {
        for more in [1, 23] {
            let mut file = sample();
            let at = section_of(&file, kind) + SH_SIZE;
            let size = (long(&file, at) + more) as u64;
            put(&mut file, at, size.to_le_bytes());
            refused(&file, table);
        }
    }
}

#[test]
fn an_empty_table_may_be_anywhere() {
    for offset in [0, OUTSIDE, u64::MAX] {
        let mut file = sample();
        for kind in [SHT_DYNSYM, SHT_RELA] {
            let header = section_of(&file, kind);
            put(&mut file, header + SH_OFFSET, offset.to_le_bytes());
            put(&mut file, header + SH_SIZE, [0; 8]);
        }
        let header = notes(&file);
        put(&mut file, header + P_OFFSET, offset.to_le_bytes());
        put(&mut file, header + P_FILESZ, [0; 8]);
        let object = CodeObject::parse(&file).unwrap();
        assert_eq!((object.symbols().count(), object.metadata().unwrap_err()), (0, Error::NoMetadata));
        assert!(object.load_plan(&Limits::default()).unwrap().relocations().is_empty());
    }
}

#[test]
fn a_name_that_the_string_table_does_not_end_is_refused() {
    let file = sample();
    let header = strings(&file);
    let (start, size) = (long(&file, header + SH_OFFSET), long(&file, header + SH_SIZE));
    let symbols = section_of(&file, SHT_DYNSYM);
    let symbols =
        long(&file, symbols + SH_OFFSET)..long(&file, symbols + SH_OFFSET) + long(&file, symbols + SH_SIZE);
    // The first symbol whose name is not whole in so many bytes of the table.
    let first = |bytes: usize| {
        symbols.clone().step_by(24).position(|at| {
            let name = word(&file, at) as usize;
            !file[start..start + bytes].get(name..).is_some_and(|rest| rest.contains(&0))
        })
    };
    for bytes in [0, 1, size / 2, size - 1] {
        let mut shorter = file.clone();
        put(&mut shorter, header + SH_SIZE, (bytes as u64).to_le_bytes());
        match first(bytes) {
            Some(index) => {
                assert_eq!(CodeObject::parse(&shorter).unwrap_err(), Error::SymbolName { index }, "{bytes}");
            }
            None => assert!(bytes == size - 1 && CodeObject::parse(&shorter).is_ok()),
        }
    }
    // The same table without its final zero, at the very end of the file.
    let mut last = file.clone();
    let table = &file[start..start + size];
    last.extend_from_slice(&table[..size - 1]);
    put(&mut last, header + SH_OFFSET, (file.len() as u64).to_le_bytes());
    put(&mut last, header + SH_SIZE, (size as u64 - 1).to_le_bytes());
    assert_eq!(CodeObject::parse(&last).is_err(), first(size - 1).is_some());
}

#[test]
fn a_name_outside_the_string_table_or_not_of_text_is_refused() {
    let file = sample();
    let second = long(&file, section_of(&file, SHT_DYNSYM) + SH_OFFSET) + 24;
    let size = long(&file, strings(&file) + SH_SIZE) as u32;
    for name in [size, size + 1, u32::MAX] {
        let mut file = file.clone();
        put(&mut file, second, name.to_le_bytes());
        assert_eq!(CodeObject::parse(&file).unwrap_err(), Error::SymbolName { index: 1 });
    }
    let mut file = file.clone();
    let name = long(&file, strings(&file) + SH_OFFSET) + word(&file, second) as usize;
    file[name] = 0xff;
    assert_eq!(CodeObject::parse(&file).unwrap_err(), Error::SymbolName { index: 1 });
}

/// The sample with symbols and relocations behind its end: `count` symbols that are named by the rest of one long
/// string, each by `step` bytes less than the one before, and `count` relocations with the first of them.
fn with_long_names(length: usize, count: usize, step: usize) -> Vec<u8> {
    let mut file = sample();
    let mut append = |header: usize, bytes: &[u8]| {
        let offset = file.len() as u64;
        file.extend_from_slice(bytes);
        put(&mut file, header + SH_OFFSET, offset.to_le_bytes());
        put(&mut file, header + SH_SIZE, (bytes.len() as u64).to_le_bytes());
    };
    let original = sample();
    let (symbols, relocations) = (section_of(&original, SHT_DYNSYM), section_of(&original, SHT_RELA));
    let mut symbol = original[long(&original, symbols + SH_OFFSET) + 24..][..24].to_vec();
    let mut relocation = original[long(&original, relocations + SH_OFFSET)..][..24].to_vec();
    put(&mut relocation, 8, (3 | 1_u64 << 32).to_le_bytes()); // R_AMDGPU_ABS64
    let mut table = vec![0; 24];
    put(&mut table, 0, (length as u32).to_le_bytes());
    for index in 0..count {
        put(&mut symbol, 0, ((step * index) as u32).to_le_bytes());
        table.extend_from_slice(&symbol);
    }
    append(strings(&original), &[vec![b'a'; length], vec![0]].concat());
    append(symbols, &table);
    append(relocations, &relocation.repeat(count));
    file
}

#[test]
fn names_that_end_alike_may_share_their_bytes() {
    let file = with_long_names(100, 50, 2);
    let object = CodeObject::parse(&file).unwrap();
    assert_eq!(
        object.symbols().map(|symbol| symbol.name.len()).sum::<usize>(),
        (1..=50).map(|n| 2 * n).sum()
    );
    assert_eq!(object.symbol(&"a".repeat(98)).unwrap().name.len(), 98);
}

#[test]
fn names_that_share_more_bytes_than_the_file_has_are_refused() {
    refused(&with_long_names(100_000, 4_000, 1), "dynamic symbols");
    refused(&with_long_names(100_000, 4_000, 0), "dynamic symbols");
}

#[test]
fn many_relocations_may_want_one_long_name() {
    let mut file = with_long_names(1 << 22, 1, 0);
    let relocations = section_of(&file, SHT_RELA);
    let relocation = file[long(&file, relocations + SH_OFFSET)..][..24].to_vec();
    let offset = file.len() as u64;
    file.extend_from_slice(&relocation.repeat(100_000));
    put(&mut file, relocations + SH_OFFSET, offset.to_le_bytes());
    put(&mut file, relocations + SH_SIZE, (24 * 100_000_u64).to_le_bytes());
    let object = CodeObject::parse(&file).unwrap();
    let start = Instant::now();
    assert_eq!(object.load_plan(&Limits::default()).unwrap().relocations().len(), 100_000);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn notes_that_contradict_their_segment_are_refused() {
    let file = sample();
    let header = notes(&file);
    let note = long(&file, header + P_OFFSET);
    let with = |at: usize, value: u32| {
        let mut file = file.clone();
        put(&mut file, at, value.to_le_bytes());
        file
    };
    // namesz, descsz
    for at in [note, note + 4] {
        for value in [0x1000, 1 << 31, u32::MAX - 12, u32::MAX] {
            refused(&with(at, value), "notes");
        }
    }
    for align in [3, 5, 16, 4096, u32::MAX] {
        let file = with(header + P_ALIGN, align);
        if align < 4 { reads_as_the_sample(&file) } else { refused(&file, "notes") }
    }
    // The file goes on behind the segment, and so could the note.
    for less in [1, 4, 0xaf4, 0xaf5] {
        let bytes = long(&file, header + P_FILESZ) as u32 - less;
        refused(&with(header + P_FILESZ, bytes), "notes");
    }
    // The owner's name is UTF-8.
    refused(&with(note + 12, u32::MAX), "notes");
}

#[test]
fn a_note_without_content_ends_its_segment() {
    for (kind, error) in [(1_u32, true), (32, false)] {
        let mut file = sample();
        let header = notes(&file);
        let note = long(&file, header + P_OFFSET);
        put(&mut file, note + 4, [0; 4]);
        put(&mut file, note + 8, kind.to_le_bytes());
        put(&mut file, header + P_FILESZ, 20_u64.to_le_bytes());
        let object = CodeObject::parse(&file).unwrap();
        assert_eq!(object.metadata().unwrap_err() == Error::NoMetadata, error);
    }
}
