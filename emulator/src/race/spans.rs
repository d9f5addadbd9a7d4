//! The bytes that instructions touch.

/// Bytes of a page, by which memory is looked up.
pub(super) const PAGE: u64 = 4096;

/// Bytes that lanes touch, one behind the other.
#[derive(Clone, Copy)]
struct Span {
    /// The address or offset of the first.
    at: u64,
    /// How many.
    bytes: u32,
    /// Where what they become stands among what is stored.
    stored: u32,
}

/// What the lanes of an instruction touch.
#[derive(Default)]
pub(crate) struct Spans {
    spans: Vec<Span>,
    /// What the bytes become, if they are stored: as many for each span as it has.
    stored: Vec<u8>,
}

impl Spans {
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.stored.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds bytes that are loaded, or changed by an atomic.
    #[inline]
    pub(crate) fn load(&mut self, at: u64, bytes: u32) {
        let end = at.wrapping_add(bytes.into());
        if let Some(last) = self.spans.last_mut() {
            let last_end = last.at.wrapping_add(last.bytes.into());
            if last.at <= at && end <= last_end && at <= end {
                return;
            }
            if last_end == at {
                last.bytes += bytes;
                return;
            }
        }
        self.spans.push(Span { at, bytes, stored: 0 });
    }

    /// Adds bytes with what is stored to them.
    #[inline]
    pub(crate) fn store(&mut self, at: u64, bytes: &[u8]) {
        // CAST: at most 16 bytes of each of 64 lanes.
        let (count, stored) = (bytes.len() as u32, self.stored.len() as u32);
        self.stored.extend_from_slice(bytes);
        match self.spans.last_mut() {
            Some(last) if last.at.wrapping_add(last.bytes.into()) == at => last.bytes += count,
            _ => self.spans.push(Span { at, bytes: count, stored }),
        }
    }

    /// The dwords that are touched, by their addresses.
    pub(crate) fn dwords(&self) -> impl Iterator<Item = u64> {
        self.spans
            .iter()
            .flat_map(|span| (span.at & !3..span.at.saturating_add(span.bytes.into())).step_by(4))
    }

    /// The only bytes that are touched, if they are one dword, or less.
    pub(super) fn only(&self) -> Option<u64> {
        match self.spans[..] {
            [Span { at, bytes: ..=4, .. }] => Some(at),
            _ => None,
        }
    }

    /// The bytes by pages.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.spans.iter().flat_map(|span| {
            let stored = self.stored.get(span.stored as usize..).unwrap_or_default();
            let mut rest = Piece { at: span.at, bytes: span.bytes as usize, stored };
            std::iter::from_fn(move || (rest.bytes > 0).then(|| rest.take_to(PAGE)))
        })
    }
}

/// Bytes of a page, a row or a dword.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) at: u64,
    pub(super) bytes: usize,
    /// What they become, if they are stored, and maybe more.
    pub(super) stored: &'a [u8],
}

impl Piece<'_> {
    /// Takes off what is before the next multiple of `unit`.
    pub(super) fn take_to(&mut self, unit: u64) -> Self {
        // CAST: at most a page.
        let bytes = self.bytes.min((unit - self.at % unit) as usize);
        let first = Self { bytes, ..*self };
        self.at = self.at.wrapping_add(bytes as u64);
        self.bytes -= bytes;
        self.stored = self.stored.get(bytes..).unwrap_or_default();
        first
    }

    /// Of one dword, a bit for each byte that is touched, and what the dword becomes.
    pub(super) fn of_dword(&self) -> (u8, u32) {
        let first = (self.at % 4) as usize;
        let mut value = [0; 4];
        if let Some(stored) = self.stored.get(..self.bytes) {
            value[first..first + self.bytes].copy_from_slice(stored);
        }
        // CAST: 4 bits.
        ((((1u32 << self.bytes) - 1) << first) as u8, u32::from_le_bytes(value))
    }
}
