//! Copies and fills, as they were described.

/// The direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyKind {
    /// From host to host.
    HostToHost,
    /// From host to device.
    HostToDevice,
    /// From device to host.
    DeviceToHost,
    /// From device to device.
    DeviceToDevice,
    /// As the addresses say.
    Inferred,
}

/// A copy, as it was described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memcpy {
    /// A run of bytes.
    Linear {
        /// Where the first byte goes.
        dst: u64,
        /// Where the first byte comes from.
        src: u64,
        /// How many bytes.
        bytes: u64,
        /// The direction.
        kind: CopyKind,
    },
    /// A box of rows and slices.
    Box(Box<BoxCopy>),
}

impl Memcpy {
    /// A linear copy whose direction follows from the addresses.
    pub fn linear(dst: u64, src: u64, bytes: u64) -> Self {
        Self::Linear { dst, src, bytes, kind: CopyKind::Inferred }
    }

    /// Whether it moves no byte.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Linear { bytes, .. } => *bytes == 0,
            Self::Box(copy) => copy.extent.contains(&0),
        }
    }

    /// How many bytes it moves; `None` for more than 64 bits count.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Linear { bytes, .. } => Some(*bytes),
            Self::Box(copy) => copy.extent.iter().try_fold(1, |all: u64, &part| all.checked_mul(part)),
        }
    }

    /// First byte and length of everything it may read, gaps between rows included.
    pub fn source_span(&self) -> Option<(u64, u64)> {
        match self {
            Self::Linear { src, bytes, .. } => Some((*src, *bytes)),
            Self::Box(copy) => Some((copy.src.corner_address()?, copy.span(copy.src.pitch, copy.src.rows)?)),
        }
    }

    /// First byte and length of everything it may write, gaps between rows included.
    pub fn destination_span(&self) -> Option<(u64, u64)> {
        match self {
            Self::Linear { dst, bytes, .. } => Some((*dst, *bytes)),
            Self::Box(copy) => Some((copy.dst.corner_address()?, copy.span(copy.dst.pitch, copy.dst.rows)?)),
        }
    }

    /// The same copy with another first source byte.
    pub fn with_source(&self, address: u64) -> Self {
        let mut copy = self.clone();
        match &mut copy {
            Self::Linear { src, .. } => *src = address,
            Self::Box(copy) => (copy.src.address, copy.src.corner) = (address, [0; 3]),
        }
        copy
    }

    /// The same copy with another first destination byte.
    pub fn with_destination(&self, address: u64) -> Self {
        let mut copy = self.clone();
        match &mut copy {
            Self::Linear { dst, .. } => *dst = address,
            Self::Box(copy) => (copy.dst.address, copy.dst.corner) = (address, [0; 3]),
        }
        copy
    }

    /// The direction of the copy.
    pub fn kind(&self) -> CopyKind {
        match self {
            Self::Linear { kind, .. } => *kind,
            Self::Box(copy) => copy.kind,
        }
    }
}

/// A copy of a box between two pitched surfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxCopy {
    /// The surface written to.
    pub dst: Surface,
    /// The surface read from.
    pub src: Surface,
    /// Width in bytes, height in rows, depth in slices.
    pub extent: [u64; 3],
    /// The direction.
    pub kind: CopyKind,
}

impl BoxCopy {
    /// Bytes from the first to the last of a box on a surface.
    fn span(&self, pitch: u64, rows: u64) -> Option<u64> {
        let [width, height, depth] = self.extent;
        if self.extent.contains(&0) {
            return Some(0);
        }
        // Between one slice and the next; a single one has no use for what may be nonsense.
        let slices = if depth > 1 { (depth - 1).checked_mul(rows.checked_mul(pitch)?)? } else { 0 };
        slices.checked_add((height - 1).checked_mul(pitch)?)?.checked_add(width)
    }
}

/// A pitched allocation, and the corner of a box in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    /// The allocation's first byte.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Width of a row, in bytes, without its padding.
    pub row_bytes: u64,
    /// Rows from one slice to the next.
    pub rows: u64,
    /// The corner of the box: bytes, rows, slices.
    pub corner: [u64; 3],
}

impl Surface {
    /// The address of the corner, or nothing if it lies beyond 64 bits.
    pub fn corner_address(&self) -> Option<u64> {
        let [x, y, z] = self.corner;
        let row = z.checked_mul(self.rows)?.checked_add(y)?;
        self.address.checked_add(row.checked_mul(self.pitch)?)?.checked_add(x)
    }
}

/// A fill of rows with a repeated element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memset {
    /// The first byte.
    pub dst: u64,
    /// Bytes from one row to the next; of no meaning for one row.
    pub pitch: u64,
    /// The element; its low `element_size` bytes count.
    pub value: u64,
    /// Bytes per element: 1, 2, 4 or 8.
    pub element_size: u32,
    /// Elements per row.
    pub width: u64,
    /// Rows.
    pub height: u64,
}

impl Memset {
    /// How many bytes it sets; `None` for more than 64 bits count.
    pub fn bytes(&self) -> Option<u64> {
        u64::from(self.element_size).checked_mul(self.width)?.checked_mul(self.height)
    }
}
