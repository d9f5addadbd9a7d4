use std::sync::Arc;

use parking_lot::Mutex;
use proptest::prelude::*;

use super::{
    super::buffer::{Buffer, fake},
    *,
};

/// Keeps what is written.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<(String, String)>>);

impl Output for Paper {
    fn write(&mut self, stream: Stream, text: &[u8]) {
        let mut paper = self.0.lock();
        let text = String::from_utf8_lossy(text);
        match stream {
            Stream::Out => paper.0.push_str(&text),
            Stream::Error => paper.1.push_str(&text),
        }
    }

    fn flush(&mut self) {}
}

/// Gives out numbers, and takes them back.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl Memory for Numbers {
    fn allocate(&mut self, bytes: u64) -> u64 {
        self.0.push(bytes * 4096);
        bytes * 4096
    }

    fn free(&mut self, address: u64) -> bool {
        let place = self.0.iter().position(|&given| given == address);
        place.map(|place| self.0.remove(place)).is_some()
    }
}

struct Bench {
    buffer: Buffer,
    services: Services,
    paper: Paper,
}

impl Bench {
    fn new() -> Self {
        let paper = Paper::default();
        let services = Services::new(Box::new(paper.clone()), Box::new(Numbers::default()));
        Self { buffer: fake::buffer(8), services, paper }
    }

    /// A wave asks and is answered.
    fn ask(
        &mut self,
        service: u32,
        lanes: &[(usize, [u64; 8])],
    ) -> (Vec<[u64; 2]>, Result<(), ServiceError>) {
        let packet = self.buffer.call(service, lanes);
        let taken = self.buffer.take_ready();
        assert_eq!(taken.len(), 1);
        let outcome = self.services.serve(&self.buffer.packet(taken[0]));
        let answers = lanes.iter().map(|(lane, _)| self.buffer.answer_of(packet, *lane)).collect();
        self.buffer.packet(taken[0]).finish();
        self.buffer.push(packet);
        (answers, outcome)
    }

    fn out(&self) -> String {
        self.paper.0.lock().0.clone()
    }
}

fn part(descriptor: u64, words: &[u64]) -> [u64; 8] {
    let mut part = [0; 8];
    part[0] = descriptor | (words.len() as u64) << 5;
    part[1..=words.len()].copy_from_slice(words);
    part
}

fn packed(text: &[u8]) -> Vec<u64> {
    let mut bytes = text.to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect()
}

#[test]
fn each_lane_has_a_message_of_its_own() {
    let mut bench = Bench::new();
    let lanes = [3, 9, 63];
    let begin = lanes.map(|lane| (lane, part(1, &[0])));
    let (answers, outcome) = bench.ask(PRINTF, &begin);
    assert_eq!(outcome, Ok(()));
    let numbers: Vec<u64> = answers.iter().map(|answer| answer[0]).collect();
    assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2]);
    let format = packed(b"lane %d\n");
    let parts: Vec<_> = lanes.iter().zip(&numbers).map(|(&lane, &n)| (lane, part(n, &format))).collect();
    assert_eq!(bench.ask(PRINTF, &parts).1, Ok(()));
    assert_eq!(bench.out(), "");
    let ends: Vec<_> =
        lanes.iter().zip(&numbers).map(|(&lane, &n)| (lane, part(n | 2, &[lane as u64]))).collect();
    let (answers, _) = bench.ask(PRINTF, &ends);
    assert_eq!(bench.out(), "lane 3\nlane 9\nlane 63\n");
    assert_eq!(answers, [[7, 0], [7, 0], [8, 0]], "bytes printed");
}

#[test]
fn the_first_word_chooses_standard_error() {
    let mut bench = Bench::new();
    let mut words = vec![1];
    words.extend(packed(b"%s!\n"));
    words.extend(packed(b"wrong"));
    assert_eq!(bench.ask(PRINTF, &[(0, part(3, &words))]).1, Ok(()));
    assert_eq!((bench.out().as_str(), bench.paper.0.lock().1.as_str()), ("", "wrong!\n"));
}

#[test]
fn a_message_that_cannot_be_printed_is_the_kernels_to_hear_of() {
    let mut bench = Bench::new();
    let mut words = vec![0];
    words.extend(packed(b"%n"));
    let (answers, outcome) = bench.ask(PRINTF, &[(0, part(3, &words))]);
    assert_eq!((answers[0][0], outcome), (u64::MAX, Ok(())));
}

#[test]
fn a_request_that_makes_no_sense_keeps_no_other_from_being_served() {
    let mut bench = Bench::new();
    let mut words = vec![0];
    words.extend(packed(b"served\n"));
    let lanes = [(0, part(0x7700, &[])), (1, part(3, &words)), (2, part(3, &[9]))];
    assert_eq!(bench.ask(PRINTF, &lanes).1, Err(ServiceError::NoMessage(0x77)));
    assert_eq!(bench.out(), "served\n");
    assert_eq!(bench.ask(77, &[(0, [0; 8])]).1, Err(ServiceError::Unknown(77)));
    assert_eq!(bench.ask(FUNCTION_CALL, &[(0, [8; 8])]).1, Err(ServiceError::NoFunction(8)));
    assert_eq!(bench.ask(PRINTF, &[(0, part(3, &[9]))]).1, Err(ServiceError::NoStream(9)));
}

#[test]
fn memory_is_given_and_taken_back_once() {
    let mut bench = Bench::new();
    let ask = |address, bytes| (5, [address, bytes, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bench.ask(DEVICE_MEMORY, &[ask(0, 2)]), (vec![[8192, 0]], Ok(())));
    assert_eq!(bench.ask(DEVICE_MEMORY, &[ask(8192, 0)]).1, Ok(()));
    assert_eq!(bench.ask(DEVICE_MEMORY, &[ask(8192, 0)]).1, Err(ServiceError::NotAllocated(8192)));
}

unsafe extern "C" fn add(results: *mut u64, arguments: *const u64) {
    // SAFETY: two results and seven arguments.
    unsafe {
        results.write((0..7).map(|n| arguments.add(n).read()).sum());
        results.add(1).write(arguments.add(6).read());
    }
}

#[test]
fn a_host_function_is_called_with_seven_arguments_and_returns_two() {
    let mut bench = Bench::new();
    let function = add as unsafe extern "C" fn(*mut u64, *const u64) as usize as u64;
    let lanes = [(0, [function, 1, 2, 3, 4, 5, 6, 7]), (40, [function, 10, 0, 0, 0, 0, 0, 1])];
    assert_eq!(bench.ask(FUNCTION_CALL, &lanes), (vec![[28, 7], [11, 1]], Ok(())));
}

#[test]
fn a_message_without_an_end_is_given_up() {
    let mut bench = Bench::new();
    let (answers, _) = bench.ask(PRINTF, &[(0, part(1, &[0]))]);
    let endless = part(answers[0][0], &[0x6161_6161_6161_6161; 7]);
    let outcome = (0..400_000).map(|_| bench.services.print(endless)).find(Result::is_err);
    assert_eq!(outcome, Some(Err(ServiceError::LongMessage)));
    assert!(bench.services.messages.is_empty());
}

proptest! {
    #[test]
    fn no_request_panics(calls in prop::collection::vec((0u32..6, 0usize..64, any::<[u64; 8]>()), 0..20)) {
        let mut bench = Bench::new();
        for (service, lane, words) in calls {
            // A call of whatever is mapped is the kernel's own affair.
            let service = if service == FUNCTION_CALL { PRINTF } else { service };
            let _ = bench.ask(service, &[(lane, words)]);
        }
    }
}
