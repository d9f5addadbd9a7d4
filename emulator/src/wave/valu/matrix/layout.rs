//! Where the elements of a matrix lie (MI300 ISA, 7.1.4; AMD matrix instruction calculator).

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
    /// A\[b, i, k\] is item `k % per_lane` of lane `i + n * b + width * (k / per_lane)`; B\[b, k, j\] likewise.
    #[inline(always)]
    pub(super) const fn width(self) -> usize {
        self.n * self.blocks
    }

    /// Consecutive values of k that a lane holds.
    #[inline(always)]
    pub(super) const fn per_lane(self) -> usize {
        self.k * self.width() / 64
    }

    /// Registers of C and D if an element takes one.
    #[inline(always)]
    pub(super) const fn registers(self) -> usize {
        self.n * self.n * self.blocks / 64
    }

    /// Where row `i` of block `b` of C and D lies: an item, which is a register or a pair of them, and the lane of
    /// the row's first element. The others follow in the next lanes.
    ///
    /// `height` rows lie in consecutive items: 4, or 1 of doubles.
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
