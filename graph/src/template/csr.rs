//! Adjacency as two flat arrays.

/// For each of `n` nodes a list of nodes: compressed sparse rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csr {
    /// Where each row starts in `columns`; one more entry than rows.
    starts: Vec<u32>,
    columns: Vec<u32>,
}

impl Default for Csr {
    fn default() -> Self {
        Self { starts: vec![0], columns: Vec::new() }
    }
}

impl Csr {
    /// Makes an adjacency without rows, with room for as many as are said.
    pub fn with_capacity(rows: usize, entries: usize) -> Self {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        Self { starts, columns: Vec::with_capacity(entries) }
    }

    /// Appends a row.
    pub fn push_row(&mut self, row: impl IntoIterator<Item = u32>) {
        self.columns.extend(row);
        // CAST: graphs hold fewer than 2^32 edges, and rows only list edges.
        self.starts.push(self.columns.len() as u32);
    }

    /// The first `rows` rows.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn head(&self, rows: usize) -> Self {
        let starts = self.starts[..=rows].to_vec();
        let columns = self.columns[..starts[rows] as usize].to_vec();
        Self { starts, columns }
    }

    /// Sorts `(row, column)` pairs into rows; within a row they keep their order.
    ///
    /// # Panics
    /// When a row index is `rows` or more.
    pub fn from_pairs(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        // Counting sort. A row's start is counted one place to the right, so that filling it moves it to the
        // end of the row, which is the start of the next.
        let mut starts = vec![0u32; rows + 2];
        for (row, _) in pairs.clone() {
            starts[row as usize + 2] += 1;
        }
        for row in 2..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut columns = vec![0; starts[rows + 1] as usize];
        for (row, column) in pairs {
            let place = &mut starts[row as usize + 1];
            columns[*place as usize] = column;
            *place += 1;
        }
        starts.pop();
        Self { starts, columns }
    }

    /// The same pairs with rows and columns exchanged; rows come out ascending.
    pub fn transposed(&self) -> Self {
        // As in `from_pairs`, without a pair at a time being looked for.
        let mut starts = vec![0u32; self.len() + 2];
        for &column in &self.columns {
            starts[column as usize + 2] += 1;
        }
        for row in 2..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut columns = vec![0; self.columns.len()];
        for row in 0..self.len() as u32 {
            for &column in self.row(row) {
                let place = &mut starts[column as usize + 1];
                columns[*place as usize] = row;
                *place += 1;
            }
        }
        starts.pop();
        Self { starts, columns }
    }

    /// Bytes of all rows.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.columns[..])
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entries in all rows.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// One row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.columns[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// All `(row, column)` pairs, row by row.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        (0..self.len() as u32).flat_map(|row| self.row(row).iter().map(move |&column| (row, column)))
    }
}
