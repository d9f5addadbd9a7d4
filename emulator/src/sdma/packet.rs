//! Packets of a copy engine's ring, in the format of GFX9's engines (SDMA 4.x), and what those of RDNA have beside it (5.x, 6.x).
//!
//! Opcodes and fields are those of the packet headers of AMD's kernel driver; ROCr writes the same. A packet has as
//! many dwords as its opcode says; sizes are stored less one. Fields that would change what a packet does are refused
//! unless they are 0.

use crate::{copy, copy::Window};

/// A packet that an engine does not execute.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused(pub(super) String);

/// What a packet asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Nothing: padding, and flushes of the host data path and of caches, of which there are none.
    Nothing,
    /// As `memmove`.
    Copy { destination: u64, source: u64, bytes: u64 },
    /// A box of rows and slices.
    CopyRect(copy::Rect),
    /// `count` times the low `unit` bytes of `value`.
    Fill { destination: u64, value: u32, unit: u64, count: u64 },
    /// Dwords out of the ring.
    Write { destination: u64, words: Vec<u32> },
    /// Stores a dword after all that came before.
    Fence { address: u64, value: u32 },
    /// Waits until a dword compares.
    Poll { address: u64, mask: u32, comparison: Comparison, reference: u32 },
    /// Adds to a word of 4 bytes.
    Add32 { address: u64, value: u32 },
    /// Adds to a word of 8 bytes.
    Add64 { address: u64, value: u64 },
    /// Stores the device's clock.
    Timestamp { address: u64 },
    /// Interrupts the host.
    Trap { context: u32 },
}

/// How a poll compares the masked dword with its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Always,
    Less,
    AtMost,
    Equal,
    NotEqual,
    AtLeast,
    Greater,
}

impl Comparison {
    /// By the number of the function in the packet.
    fn numbered(number: u32) -> Option<Self> {
        use Comparison::*;
        [Always, Less, AtMost, Equal, NotEqual, AtLeast, Greater].get(number as usize).copied()
    }

    /// Whether `value` compares with `reference`.
    pub(super) fn holds(self, value: u32, reference: u32) -> bool {
        match self {
            Self::Always => true,
            Self::Less => value < reference,
            Self::AtMost => value <= reference,
            Self::Equal => value == reference,
            Self::NotEqual => value != reference,
            Self::AtLeast => value >= reference,
            Self::Greater => value > reference,
        }
    }
}

const NOP: u32 = 0;
const COPY: u32 = 1;
const WRITE: u32 = 2;
const FENCE: u32 = 5;
const TRAP: u32 = 6;
const POLL_REGMEM: u32 = 8;
const ATOMIC: u32 = 10;
const CONST_FILL: u32 = 11;
const TIMESTAMP: u32 = 13;
/// Writes caches back and empties them, before and behind copies of RDNA's engines.
const GCR: u32 = 17;

const COPY_LINEAR: u32 = 0;
const COPY_LINEAR_SUB_WINDOW: u32 = 4;
const WRITE_LINEAR: u32 = 0;
const TIMESTAMP_GET_GLOBAL: u32 = 2;
/// Operations of atomics, as the texture caches number them.
const ADD_32: u32 = 15;
const ADD_64: u32 = 47;
/// A poll with this count is repeated for ever.
const RETRY_FOR_EVER: u32 = 0xfff;

/// The `width` bits of `word` from bit `low` on.
fn bits(word: u32, low: u32, width: u32) -> u32 {
    word >> low & (u32::MAX >> (u32::BITS - width))
}

/// Decodes the packet at the front of a ring: what it asks for, and its dwords.
///
/// `fetch` reads the dword at a distance from the front, of which `available` are published.
///
/// # Errors
/// [`Refused`] for an unknown packet, and for one that is not all published.
pub(super) fn decode(
    available: u64,
    copy_count_bits: u32,
    fetch: impl Fn(u64) -> u32,
) -> Result<(Command, u64), Refused> {
    let word = |index: u64| {
        let published = index < available;
        published.then(|| fetch(index)).ok_or_else(|| {
            let header = if available > 0 { fetch(0) } else { 0 };
            Refused(format!("packet {header:#010x} is cut off by the write pointer after {available} dwords"))
        })
    };
    let address = |index: u64| Ok(u64::from(word(index)?) | u64::from(word(index + 1)?) << 32);
    let header = word(0)?;
    let (opcode, sub_opcode, flags) = (bits(header, 0, 8), bits(header, 8, 8), bits(header, 16, 16));
    let unknown = || Err(Refused(format!("packet {header:#010x} is none that this engine executes")));
    match (opcode, sub_opcode) {
        // The count says how many dwords behind the header are skipped.
        (NOP, 0) if flags >> 14 == 0 => Ok((Command::Nothing, 1 + u64::from(flags))),
        (COPY, COPY_LINEAR) if flags == 0 && word(2)? == 0 => {
            let count = word(1)?;
            if count >> copy_count_bits != 0 {
                return Err(Refused(format!("a linear copy with the count {count:#x}")));
            }
            let (source, destination) = (address(3)?, address(5)?);
            Ok((Command::Copy { destination, source, bytes: u64::from(count) + 1 }, 7))
        }
        (COPY, COPY_LINEAR_SUB_WINDOW) if bits(header, 16, 13) == 0 => {
            let element = bits(header, 29, 3);
            let extent = (word(11)?, word(12)?);
            if element > 4 || extent.1 >> 11 != 0 {
                return Err(Refused(format!("a sub-window copy {header:#010x} with {:#010x}", extent.1)));
            }
            // Base address, offsets, pitch and slice from this dword on, in elements.
            let window = |first: u64| {
                let (offset, pitch, slice) = (word(first + 2)?, word(first + 3)?, word(first + 4)?);
                let bytes = |elements: u32| u64::from(elements) << element;
                let pitch_bytes = bytes(bits(pitch, 13, 19) + 1);
                let slice_bytes = bytes(bits(slice, 0, 28) + 1);
                let offset = bytes(bits(offset, 0, 14))
                    + u64::from(bits(offset, 16, 14)) * pitch_bytes
                    + u64::from(bits(pitch, 0, 11)) * slice_bytes;
                let start = address(first)?.wrapping_add(offset);
                Ok(Window { start, pitch: pitch_bytes, slice: slice_bytes })
            };
            let rect = copy::Rect {
                source: window(1)?,
                destination: window(6)?,
                width: u64::from(bits(extent.0, 0, 14) + 1) << element,
                height: u64::from(bits(extent.0, 16, 14) + 1),
                depth: u64::from(bits(extent.1, 0, 11) + 1),
            };
            Ok((Command::CopyRect(rect), 13))
        }
        (WRITE, WRITE_LINEAR) if flags == 0 => {
            let count = u64::from(bits(word(3)?, 0, 20)) + 1;
            let words = (0..count).map(|index| word(4 + index)).collect::<Result<_, _>>()?;
            Ok((Command::Write { destination: address(1)?, words }, 4 + count))
        }
        // On RDNA the header says how the store is cached.
        (FENCE, 0) if flags >> 3 == 0 => Ok((Command::Fence { address: address(1)?, value: word(3)? }, 4)),
        (TRAP, 0) if flags == 0 => Ok((Command::Trap { context: bits(word(1)?, 0, 28) }, 2)),
        (POLL_REGMEM, 0) if bits(header, 16, 10) == 0 && bits(header, 27, 1) == 0 => {
            let Some(comparison) = Comparison::numbered(bits(header, 28, 3)) else { return unknown() };
            let in_memory = bits(header, 31, 1) != 0;
            let (address, reference, mask, tries) = (address(1)?, word(3)?, word(4)?, bits(word(5)?, 16, 12));
            match (in_memory, comparison) {
                // A register that is read for nothing: how ROCr flushes the host data path.
                (false, Comparison::Always) => Ok((Command::Nothing, 6)),
                (false, _) => Err(Refused(format!("a poll of the register {address:#x}"))),
                (true, _) if tries != RETRY_FOR_EVER => {
                    Err(Refused(format!("a poll of {address:#x} that gives up after {tries} times")))
                }
                (true, _) => Ok((Command::Poll { address, mask, comparison, reference }, 6)),
            }
        }
        (ATOMIC, 0) if bits(header, 16, 9) == 0 => {
            let (address, value) = (address(1)?, address(3)?);
            word(7)?;
            match bits(header, 25, 7) {
                // CAST: the low half.
                ADD_32 => Ok((Command::Add32 { address, value: value as u32 }, 8)),
                ADD_64 => Ok((Command::Add64 { address, value }, 8)),
                operation => Err(Refused(format!("the atomic operation {operation}"))),
            }
        }
        (CONST_FILL, 0) if bits(header, 16, 14) == 0 && bits(header, 30, 2) < 3 => {
            let size = bits(header, 30, 2);
            let (destination, value, bytes) = (address(1)?, word(3)?, word(4)?);
            if bytes >> copy_count_bits != 0 {
                return Err(Refused(format!("a fill with the count {bytes:#x}")));
            }
            let count = u64::from(bytes >> size) + 1;
            Ok((Command::Fill { destination, value, unit: 1 << size, count }, 5))
        }
        (GCR, 0) if flags == 0 => word(4).map(|_| (Command::Nothing, 5)),
        (TIMESTAMP, TIMESTAMP_GET_GLOBAL) if flags == 0 => {
            Ok((Command::Timestamp { address: address(1)? }, 3))
        }
        _ => unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(words: &[u32]) -> Result<(Command, u64), String> {
        decode(words.len() as u64, 22, |index| words[index as usize]).map_err(|refused| refused.0)
    }

    #[test]
    fn each_packet_has_its_size_and_operands() {
        assert_eq!(decoded(&[0]), Ok((Command::Nothing, 1)));
        assert_eq!(decoded(&[3 << 16, 9, 9, 9]), Ok((Command::Nothing, 4)));
        let copy = Command::Copy { destination: 0x5_0000_0004, source: 0x3_0000_0002, bytes: 16 };
        assert_eq!(decoded(&[1, 15, 0, 2, 3, 4, 5]), Ok((copy, 7)));
        let fence = Command::Fence { address: 0x2_0000_0010, value: 7 };
        assert_eq!(decoded(&[5, 0x10, 2, 7]), Ok((fence, 4)));
        assert_eq!(decoded(&[5 | 3 << 16, 0x10, 2, 7]), decoded(&[5, 0x10, 2, 7]));
        assert_eq!(decoded(&[17, 0, 0x8000_0000, 0, 0]), Ok((Command::Nothing, 5)));
        assert!(decoded(&[17, 0, 0, 0]).is_err());
        assert_eq!(decoded(&[6, 0xf000_0123]), Ok((Command::Trap { context: 0x123 }, 2)));
        let poll = Command::Poll { address: 0x10, mask: 0xff, comparison: Comparison::Equal, reference: 3 };
        assert_eq!(decoded(&[8 | 3 << 28 | 1 << 31, 0x10, 0, 3, 0xff, 0xfff << 16 | 4]), Ok((poll, 6)));
        let add = Command::Add64 { address: 0x10, value: u64::MAX };
        assert_eq!(decoded(&[10 | 47 << 25, 0x10, 0, !0, !0, 0, 0, 0]), Ok((add, 8)));
        let fill = Command::Fill { destination: 0x20, value: 9, unit: 4, count: 3 };
        assert_eq!(decoded(&[11 | 2 << 30, 0x20, 0, 9, 8]), Ok((fill, 5)));
        let bytes = Command::Fill { destination: 0x20, value: 9, unit: 1, count: 9 };
        assert_eq!(decoded(&[11, 0x20, 0, 9, 8]), Ok((bytes, 5)));
        assert_eq!(decoded(&[13 | 2 << 8, 0x20, 0]), Ok((Command::Timestamp { address: 0x20 }, 3)));
        let write = Command::Write { destination: 0x20, words: vec![5, 6] };
        assert_eq!(decoded(&[2, 0x20, 0, 1, 5, 6]), Ok((write, 6)));
    }

    #[test]
    fn a_sub_window_counts_in_elements() {
        // Elements of 4 bytes; source at (1, 2, 3) of rows of 32 and slices of 256 elements.
        let packet = [
            1 | 4 << 8 | 2 << 29,
            0x1000,
            0,
            1 | 2 << 16,
            3 | 31 << 13,
            255,
            0x2000,
            0,
            0,
            15 << 13,
            63,
            4 | 5 << 16,
            6,
        ];
        let rect = copy::Rect {
            source: Window { start: 0x1000 + 4 * (1 + 2 * 32 + 3 * 256), pitch: 128, slice: 1024 },
            destination: Window { start: 0x2000, pitch: 64, slice: 256 },
            width: 20,
            height: 6,
            depth: 7,
        };
        assert_eq!(decoded(&packet), Ok((Command::CopyRect(rect), 13)));
    }

    #[test]
    fn what_an_engine_does_not_execute_is_refused_by_name() {
        for packet in [
            // A tiled copy, a broadcast, a semaphore, a conditional, an indirect buffer, a register write.
            [1 | 1 << 8, 0, 0, 0, 0, 0, 0, 0],
            [1 | 1 << 27, 0, 0, 0, 0, 0, 0, 0],
            [7, 0, 0, 0, 0, 0, 0, 0],
            [9, 0, 0, 0, 0, 0, 0, 0],
            [4, 0, 0, 0, 0, 0, 0, 0],
            [14, 0, 0, 0, 0, 0, 0, 0],
            // A local time stamp, a comparison that there is none of.
            [13 | 1 << 8, 0, 0, 0, 0, 0, 0, 0],
            [8 | 7 << 28 | 1 << 31, 0, 0, 0, 0, 0xfff << 16, 0, 0],
        ] {
            let text = format!("packet {:#010x} is none that this engine executes", packet[0]);
            assert_eq!(decoded(&packet), Err(text));
        }
        let poll = |tries: u32| [8 | 3 << 28 | 1 << 31, 0x10, 0, 3, 0xff, tries << 16];
        assert_eq!(decoded(&poll(5)), Err("a poll of 0x10 that gives up after 5 times".into()));
        assert_eq!(
            decoded(&[8 | 3 << 28, 0x10, 0, 3, 0xff, 0xfff << 16]),
            Err("a poll of the register 0x10".into())
        );
        let compare_and_swap = [10 | 40 << 25, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(decoded(&compare_and_swap), Err("the atomic operation 40".into()));
        let too_long = [1, 1 << 22, 0, 0, 0, 0, 0];
        assert_eq!(decoded(&too_long), Err("a linear copy with the count 0x400000".into()));
        let cut_off = "packet 0x00000001 is cut off by the write pointer after 3 dwords";
        assert_eq!(decoded(&[1, 15, 0]), Err(cut_off.into()));
    }

    #[test]
    fn rocrs_flush_of_the_host_data_path_is_nothing() {
        assert_eq!(decoded(&[8, 0, 0x8000_0000, 0, 0, 0]), Ok((Command::Nothing, 6)));
    }

    #[test]
    fn comparisons_are_those_of_their_numbers() {
        let held = |value| -> Vec<bool> {
            (0..7).map(|number| Comparison::numbered(number).unwrap().holds(value, 5)).collect()
        };
        assert_eq!(held(4), [true, true, true, false, true, false, false]);
        assert_eq!(held(5), [true, false, true, true, false, true, false]);
        assert_eq!(held(6), [true, false, false, false, true, true, true]);
        assert_eq!(Comparison::numbered(7), None);
    }
}
