//! Whole programs: the same source on the host and on the emulated device, at every level and on both targets.

use fastrand::Rng;

use crate::harness::{Level, RDNA, everywhere, input, kernel, native, output, value};

/// A kernel `name(const u32 *in, void *out, u32 n)` and its launch.
struct Program {
    source: &'static str,
    name: &'static str,
    groups: u32,
    size: u16,
    /// 32-bit words of input and output; `n` says how many the kernel may count on.
    words: [usize; 2],
    n: u32,
}

/// Random words, among them small ones and those at the limits.
fn words(count: usize, seed: u64) -> Vec<u32> {
    let mut random = Rng::with_seed(seed);
    let mut word = |_| match random.u64(..8) {
        0 => [0, 1, u32::MAX, 1 << 31, i32::MAX as u32][random.usize(..5)],
        1 => random.u32(..) >> (random.u64(..32)),
        _ => random.u32(..),
    };
    (0..count).map(&mut word).collect()
}

impl Program {
    fn host(&self, data: &[u32]) -> Option<Vec<u32>> {
        let library = native(self.source)?;
        let mut out = vec![0u32; self.words[1]];
        let args = [data.as_ptr() as usize, out.as_mut_ptr() as usize, self.n as usize];
        // SAFETY: these are the kernel's parameters, and `words` says how much memory it needs.
        unsafe { library.launch(self.name, self.groups, self.size.into(), &args) };
        Some(out)
    }

    /// Demands the host's results of the device, and returns them; `None` without a compiler.
    fn agrees(&self, data: &[u32]) -> Option<Vec<u32>> {
        let name = self.name;
        let expected = self.host(data)?;
        assert!(expected.iter().any(|&word| word != 0), "{name} computes something");
        let narrow = RDNA.into_iter().flat_map(|target| Level::ALL.map(|level| (target, level)));
        for (target, level) in everywhere().chain(narrow) {
            let kernel = kernel(self.source, name, target, level)?;
            let mut out = vec![0u32; self.words[1]];
            let args = &mut [input(data), output(&mut out), value(self.n)];
            kernel
                .run([self.groups, 1, 1], [self.size, 1, 1], args, 0)
                .unwrap_or_else(|fault| panic!("{name} {target:?} {level:?}: {fault}"));
            let wrong = (0..out.len()).find(|&i| out[i] != expected[i]);
            if let Some(i) = wrong {
                panic!("{name} {target:?} {level:?}: word {i} is {:#x}, not {:#x}", out[i], expected[i]);
            }
        }
        Some(expected)
    }

    fn agrees_on_random_words(&self) -> Option<Vec<u32>> {
        self.agrees(&words(self.words[0], self.words[0] as u64))
    }
}

const CRYPTO: &str = include_str!("sources/crypto.hip");
const SORT: &str = include_str!("sources/sort.hip");
const NUMERIC: &str = include_str!("sources/numeric.hip");
const GRIDS: &str = include_str!("sources/grids.hip");
const TEXT: &str = include_str!("sources/text.hip");
const INTEGERS: &str = include_str!("sources/integers.hip");
const CALLS: &str = include_str!("sources/calls.hip");

/// A test for each kernel of which the host's results are all that is known.
macro_rules! agree {
    ($($test:ident: $source:ident $name:literal $groups:literal x $size:literal, $input:literal => $output:literal;)*) => {
        $(#[test]
        fn $test() {
            let words = [$input, $output];
            Program { source: $source, name: $name, groups: $groups, size: $size, words, n: $input }
                .agrees_on_random_words();
        })*
    };
}

agree! {
    scans_add_up_in_64_bits: SORT "hillis_steele" 2 x 256, 512 => 1024;
    scans_sweep_up_and_down: SORT "blelloch" 2 x 256, 1024 => 1024;
    histograms_count_with_atomics_in_lds: SORT "histogram" 3 x 200, 3072 => 66;
    quick_sorts_agree_with_and_without_recursion: SORT "quick" 1 x 100, 824 => 4800;
    fourier_transforms_in_singles_are_the_hosts: NUMERIC "fft_single" 2 x 256, 4096 => 4096;
    fourier_transforms_in_doubles_are_the_hosts: NUMERIC "fft_double" 1 x 256, 2048 => 4096;
    elimination_pivots_as_on_the_host: NUMERIC "lu" 1 x 150, 521 => 2400;
    cholesky_factors_pass_through_lds: NUMERIC "cholesky" 2 x 256, 512 => 512;
    bodies_attract_each_other: NUMERIC "bodies" 1 x 256, 2048 => 1536;
    orbits_escape_after_as_many_steps: NUMERIC "mandelbrot" 2 x 256, 1 => 512;
    sparse_rows_add_up: NUMERIC "sparse" 2 x 130, 8009 => 520;
    tiles_are_transposed: GRIDS "transpose" 4 x 256, 4096 => 4096;
    cells_live_and_die: GRIDS "life" 2 x 64, 128 => 128;
    tiles_multiply: GRIDS "product" 4 x 256, 2048 => 1024;
    bytes_are_blurred: GRIDS "blur" 4 x 256, 256 => 512;
    strings_have_a_distance: TEXT "levenshtein" 2 x 120, 2880 => 240;
    patterns_are_found: TEXT "find" 1 x 256, 310 => 256;
    numbers_are_written_and_read: TEXT "decimal" 2 x 250, 502 => 1000;
    wide_numbers_multiply: INTEGERS "multiply" 2 x 100, 3200 => 3400;
    powers_have_128_bit_products: INTEGERS "power" 1 x 250, 500 => 500;
    random_numbers_are_the_same: INTEGERS "generators" 2 x 250, 500 => 500;
    structures_pass_by_value: CALLS "by_value" 2 x 250, 502 => 500;
    functions_call_themselves_and_each_other: CALLS "recursion" 1 x 130, 130 => 130;
    a_table_of_functions_drives_a_machine: CALLS "machine" 2 x 250, 500 => 500;
    shapes_know_their_area: CALLS "shapes" 2 x 250, 500 => 500;
}

/// One message for each work-item: its length, then its bytes.
fn messages(texts: &[&[u8]]) -> Vec<u32> {
    let mut data = words(16 * 200, 9);
    for (item, text) in texts.iter().enumerate() {
        let place = &mut data[item * 16..item * 16 + 16];
        place[0] = text.len() as u32;
        bytemuck::cast_slice_mut::<u32, u8>(&mut place[1..])[..text.len()].copy_from_slice(text);
    }
    data
}

fn crypto(name: &'static str, output: usize) -> Program {
    Program { source: CRYPTO, name, groups: 2, size: 100, words: [3200, output * 200], n: 200 }
}

#[test]
fn sha_256_gives_the_standards_digests() {
    let Some(out) = crypto("sha256", 8).agrees(&messages(&[b"abc", b""])) else { return };
    // FIPS 180-4's example, and the digest of nothing.
    assert_eq!(
        out[..8],
        [
            0xba78_16bf,
            0x8f01_cfea,
            0x4141_40de,
            0x5dae_2223,
            0xb003_61a3,
            0x9617_7a9c,
            0xb410_ff61,
            0xf200_15ad
        ]
    );
    assert_eq!(out[8..10], [0xe3b0_c442, 0x98fc_1c14]);
}

#[test]
fn chacha20_gives_the_standards_block() {
    let mut data = words(3200, 10);
    // RFC 8439, 2.3.2.
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    data[4..12].copy_from_slice(&bytemuck::cast::<_, [u32; 8]>(key));
    data[12..16].copy_from_slice(&[1, 0x0900_0000, 0x4a00_0000, 0]);
    let Some(out) = crypto("chacha20", 16).agrees(&data) else { return };
    assert_eq!(out[..4], [0xe4e7_f110, 0x1559_3bd1, 0x1fdd_0f50, 0xc471_20a3]);
}

#[test]
fn aes_gives_the_standards_ciphertext() {
    let mut data = words(3200, 11);
    // FIPS 197, appendix C.1.
    let bytes: [u8; 32] = std::array::from_fn(|i| if i < 16 { i as u8 } else { (i as u8 - 16) * 0x11 });
    data[..8].copy_from_slice(&bytemuck::cast::<_, [u32; 8]>(bytes));
    let Some(out) = crypto("aes128", 4).agrees(&data) else { return };
    assert_eq!(out[..4], [0xd8e0_c469, 0x3004_7b6a, 0x80b7_cdd8, 0x5ac5_b470]);
}

#[test]
fn checksums_agree_by_table_and_by_bit() {
    let Some(out) = crypto("crc32", 2).agrees(&messages(&[b"123456789"])) else { return };
    assert_eq!(out[0], 0xcbf4_3926);
    assert!(out.chunks(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn sorting_networks_and_digits_sort() {
    let bitonic =
        Program { source: SORT, name: "bitonic", groups: 2, size: 256, words: [1024, 1024], n: 1024 };
    let Some(out) = bitonic.agrees_on_random_words() else { return };
    assert!(out.chunks(512).all(<[u32]>::is_sorted));
    let radix = Program { source: SORT, name: "radix", groups: 2, size: 256, words: [512, 512], n: 512 };
    let Some(out) = radix.agrees_on_random_words() else { return };
    assert!(out.chunks(256).all(<[u32]>::is_sorted));
}

#[test]
fn floating_point_out_of_integers_is_the_processors() {
    let soft = Program { source: INTEGERS, name: "soft", groups: 4, size: 250, words: [2000, 6000], n: 1000 };
    let Some(out) = soft.agrees_on_random_words() else { return };
    for (item, results) in out.chunks(6).enumerate() {
        for pair in results.chunks(2) {
            assert_eq!(pair[0], pair[1], "work-item {item}");
        }
    }
}
