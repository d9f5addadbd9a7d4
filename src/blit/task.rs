//! What a dispatch does to memory, read from its arguments.

#![forbid(unsafe_code)]

use std::ops::Range;

use crate::{
    check::How,
    device::{
        System,
        activity::{Side, Task},
    },
    module::Dispatch,
};

/// What a dispatch does, for a listener to what devices do; nothing for the kernels of the runtime's that write words and
/// wait for them.
pub(crate) fn task(dispatch: &Dispatch) -> Option<Task> {
    if !dispatch.code.is_own() {
        return Some(Task::Kernel);
    }
    let words = dispatch.kernargs.as_chunks::<8>().0;
    // PANIC: the runtime has packed all arguments of its kernels.
    let word = |place: usize| u64::from_le_bytes(words[place]);
    let product = |places: [usize; 3]| places.into_iter().fold(1, |bytes, at| word(at).saturating_mul(bytes));
    let copy = |dst: usize, is_box: bool, bytes: u64| Task::Copy {
        from: side(word(dst + 1)),
        to: side(word(dst)),
        is_box,
        bytes,
    };
    Some(match dispatch.code.name() {
        "copy" => copy(0, false, word(2)),
        "copy_rect" => copy(0, true, product([6, 7, 8])),
        // A header of three words, then a destination, a source and bytes for each run.
        "copy_batch" => {
            let runs = words[3..].as_chunks::<3>().0.iter();
            copy(3, false, runs.map(|run| u64::from_le_bytes(run[2])).fold(0, u64::saturating_add))
        }
        "fill" => Task::Fill { bytes: word(2) },
        "fill_rect" => Task::Fill { bytes: product([4, 5, 6]) },
        _ => return None,
    })
}

/// What a copy or a fill reads and writes, each range whole; nothing of kernels of other kinds, nor of boxes, whose rows may
/// have gaps.
pub(crate) fn touches(dispatch: &Dispatch) -> Vec<(How, Range<u64>)> {
    if !dispatch.code.is_own() {
        return Vec::new();
    }
    let words = dispatch.kernargs.as_chunks::<8>().0;
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let range = |start: u64, bytes: u64| start..start.saturating_add(bytes);
    let copy = |dst, src, bytes| [(How::Write, range(dst, bytes)), (How::Read, range(src, bytes))];
    match dispatch.code.name() {
        "copy" => copy(words[0], words[1], words[2]).into(),
        "copy_batch" => {
            let runs = words[3..].as_chunks::<3>().0.iter();
            runs.flat_map(|&[dst, src, bytes]| copy(dst, src, bytes)).collect()
        }
        "fill" => vec![(How::Write, range(words[0], words[2]))],
        _ => Vec::new(),
    }
}

/// Whose memory is at an address. What the table of allocations does not know the runtime has pinned for the copy.
fn side(address: u64) -> Side {
    let region = System::get().ok().and_then(|system| system.memory().find(address));
    if region.is_some_and(|region| region.origin.is_device()) { Side::Device } else { Side::Host }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use aqlipse_graph::{Memset, RunCopy};

    #[test]
    fn a_dispatch_tells_what_it_reads_and_writes() {
        let device = Device::get(0).unwrap();
        let blit = device.blit().unwrap();
        let [one, other] =
            [(4096, 8192, 5), (64, 128, 6)].map(|(dst, src, bytes)| RunCopy { dst, src, bytes });
        let copied = |run: &RunCopy| {
            [(How::Write, run.dst..run.dst + run.bytes), (How::Read, run.src..run.src + run.bytes)]
        };
        assert_eq!(touches(&blit.copy(one.dst, one.src, one.bytes)), copied(&one));
        assert_eq!(touches(&blit.copy_batch(&[one, other])), [copied(&one), copied(&other)].concat());
        let set = Memset { dst: 4096, pitch: 64, value: 1, element_size: 4, width: 3, height: 1 };
        assert_eq!(touches(&blit.memset(&set)), [(How::Write, 4096..4108)]);
        // Rows have gaps, and words are no copies.
        assert_eq!(touches(&blit.memset(&Memset { height: 5, ..set })), []);
        assert_eq!(touches(&blit.word_steps(&[])), []);
    }

    #[test]
    fn a_dispatch_tells_how_many_bytes_it_moves() {
        let device = Device::get(0).unwrap();
        let blit = device.blit().unwrap();
        let run = |bytes| RunCopy { dst: 4096, src: 8192, bytes };
        let copy = |is_box, bytes| Some(Task::Copy { from: Side::Host, to: Side::Host, is_box, bytes });
        assert_eq!(task(&blit.copy(4096, 8192, 77)), copy(false, 77));
        assert_eq!(task(&blit.copy_batch(&[run(5), run(6), run(7)])), copy(false, 18));
        let set = Memset { dst: 4096, pitch: 64, value: 1, element_size: 4, width: 3, height: 1 };
        assert_eq!(task(&blit.memset(&set)), Some(Task::Fill { bytes: 12 }));
        assert_eq!(task(&blit.memset(&Memset { height: 5, ..set })), Some(Task::Fill { bytes: 60 }));
        assert_eq!(task(&blit.word_steps(&[])), None);
    }
}
