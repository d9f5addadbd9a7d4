//! Where the elements of a matrix lie (MI300 ISA, 7.1.4; AMD matrix instruction calculator).

use crate::wave::Vector;

/// The size of a product: `blocks` times N x K by K x N.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    /// Rows of A, columns of B.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Independent products.
    pub blocks: usize,
}

impl Shape {
    /// Rows of A (columns of B) of all blocks: a column of A (row of B) takes so many consecutive lanes.
    ///
    /// Lanes hold runs of consecutive values of k: item t of run r of A\[b, i\] is in lane `i + n * b + width * g`, where
    /// k is `(r * 64 / width + g) * run + t`; B\[b, .., j\] likewise. There is one run but in large matrices.
    #[inline(always)]
    pub(super) const fn width(self) -> usize {
        self.n * self.blocks
    }

    /// Values of k that a lane holds.
    #[inline(always)]
    pub(super) const fn per_lane(self) -> usize {
        self.k * self.width() / 64
    }

    /// Blocks, and values of k in steps of `G`.
    #[inline(always)]
    pub(super) fn groups<const G: usize>(self) -> impl Iterator<Item = (usize, [usize; G])> {
        (0..self.blocks).flat_map(move |block| {
            (0..self.k / G).map(move |group| (block, std::array::from_fn(|t| group * G + t)))
        })
    }

    /// Registers of C and D if an element takes one.
    #[inline(always)]
    pub(super) const fn registers(self) -> usize {
        self.n * self.n * self.blocks / 64
    }

    /// Where row `i` of block `b` of C and D lies: an item, which is a register or a pair of them, and the lane of
    /// the row's first element. The others follow in the next lanes.
    ///
    /// `height` rows lie in consecutive items: 4, or 1 of doubles. Of the rows that share an item, row 0 of all blocks
    /// comes before row 1, as the calculator has it; the manual's formula has block 0 before block 1, which differs for
    /// four blocks of doubles.
    #[inline(always)]
    pub(super) const fn row(self, height: usize, b: usize, i: usize) -> (usize, usize) {
        // How many rows, and rows of how many blocks, share an item.
        let rows = 64 / self.n;
        let shared = (64 * height).div_ceil(self.n * self.n);
        let item = b * (self.n * self.n / 64) + i / (height * rows) * height + i % height;
        let lane = (b % shared + i / height % rows * shared) * self.n;
        (item, lane)
    }
}

/// `G` times `N` consecutive elements, from the indices `at` on: columns of A or rows of B.
#[inline(always)]
pub(super) fn lines<T, const N: usize, const G: usize>(matrix: &[T], at: [usize; G]) -> [&[T; N]; G] {
    // PANIC: the slices have N elements.
    std::array::from_fn(|t| matrix[at[t]..at[t] + N].try_into().unwrap())
}

/// Element `i` of each line.
#[inline(always)]
pub(super) fn across<T: Copy, const N: usize, const G: usize>(lines: &[&[T; N]; G], i: usize) -> [T; G] {
    std::array::from_fn(|t| lines[t][i])
}

/// Row `i` of a block of C and D whose elements take a register each.
#[inline(always)]
pub(super) fn accumulators<const N: usize>(
    shape: Shape,
    block: usize,
    i: usize,
    d: &mut [Vector],
) -> &mut [u32; N] {
    let (register, lane) = shape.row(4, block, i);
    // PANIC: the slice has N elements.
    (&mut d[register].0[lane..lane + N]).try_into().unwrap()
}
