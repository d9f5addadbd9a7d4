//! Copies and fills of every size, alignment, direction and shape.

use std::sync::Arc;

use aqlipse::{
    Error, Exec, Options, Template,
    capture::{self, Mode},
    graph::{BoxCopy, CopyKind, HostFn, Memcpy, Memset, Node, Surface},
    memory::{self, Origin, Region},
};
use proptest::prelude::*;

use super::*;

/// Memory of one kind, as bytes.
enum Memory {
    Device(Arc<Region>),
    Pinned(Arc<Region>),
    Pageable(Vec<u8>),
}

impl Memory {
    fn new(kind: usize, bytes: usize) -> Self {
        match kind {
            0 => Self::Device(memory::allocate(&device(), bytes).unwrap()),
            1 => Self::Pinned(memory::allocate_host(&device(), bytes, Origin::Host, 0).unwrap()),
            _ => Self::Pageable(vec![0; bytes]),
        }
    }

    fn address(&self) -> u64 {
        match self {
            Self::Device(region) | Self::Pinned(region) => region.address,
            Self::Pageable(bytes) => bytes.as_ptr() as u64,
        }
    }

    /// By the path of a plain copy of everything, page-aligned on one side.
    fn set(&self, stream: &Stream, bytes: &[u8]) {
        copy(stream, Memcpy::linear(self.address(), bytes.as_ptr() as u64, bytes.len() as u64)).unwrap();
    }

    fn get(&self, stream: &Stream, bytes: usize) -> Vec<u8> {
        let out = vec![0; bytes];
        copy(stream, Memcpy::linear(out.as_ptr() as u64, self.address(), bytes as u64)).unwrap();
        out
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let freed = match self {
            Self::Device(region) => memory::free(region.address),
            Self::Pinned(region) => memory::free_host(region.address),
            Self::Pageable(_) => Ok(()),
        };
        assert_eq!(freed, Ok(()));
    }
}

fn copy(stream: &Stream, copy: Memcpy) -> aqlipse::Result<()> {
    // SAFETY: the callers' memory lives behind the wait.
    unsafe { stream.memcpy_and_wait(copy) }
}

fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8) ^ seed).collect()
}

/// Runs `copy` eagerly or as a node of a captured graph.
fn perform(stream: &Stream, captured: bool, what: Memcpy) {
    if !captured {
        return copy(stream, what).unwrap();
    }
    capture::begin(stream, Mode::Relaxed, None).unwrap();
    // SAFETY: the memory lives until the graph has run, below.
    unsafe { stream.memcpy(what) }.unwrap();
    let template = capture::end(stream).unwrap();
    let exec = Exec::new(&template.lock(), Options::default()).unwrap();
    exec.launch(stream).unwrap();
    stream.synchronize().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn a_linear_copy_moves_its_bytes_and_no_others(
        (from, to) in (0usize..3, 0usize..3),
        bytes in prop_oneof![0usize..80, 4000usize..4200, 65_000usize..66_000, 100_000usize..150_000],
        (src_at, dst_at) in (0usize..40, 0usize..40),
        captured in any::<bool>(),
    ) {
        let stream = stream();
        let (src, dst) = (Memory::new(from, bytes + 64), Memory::new(to, bytes + 64));
        let (input, before) = (pattern(bytes + 64, 1), pattern(bytes + 64, 77));
        src.set(&stream, &input);
        dst.set(&stream, &before);
        let what = Memcpy::linear(dst.address() + dst_at as u64, src.address() + src_at as u64, bytes as u64);
        perform(&stream, captured, what);
        let mut expected = before;
        expected[dst_at..dst_at + bytes].copy_from_slice(&input[src_at..src_at + bytes]);
        prop_assert!(dst.get(&stream, bytes + 64) == expected, "{from} to {to}, {bytes} bytes");
    }

    #[test]
    fn a_box_copy_moves_its_rows_and_no_others(
        (from, to) in (0usize..3, 0usize..3),
        extent in (1u64..70, 1u64..6, 1u64..4),
        (src_pad, dst_pad) in ((0u64..20, 0u64..3), (0u64..20, 0u64..3)),
        (src_corner, dst_corner) in ((0u64..9, 0u64..3, 0u64..2), (0u64..9, 0u64..3, 0u64..2)),
        captured in any::<bool>(),
    ) {
        let stream = stream();
        let (width, height, depth) = extent;
        let surface = |pad: (u64, u64), corner: (u64, u64, u64)| {
            let pitch = width + corner.0 + pad.0;
            let rows = height + corner.1 + pad.1;
            let corner = [corner.0, corner.1, corner.2];
            Surface { address: 0, pitch, row_bytes: pitch, rows, corner }
        };
        let (mut src, mut dst) = (surface(src_pad, src_corner), surface(dst_pad, dst_corner));
        let size = |s: &Surface| (s.pitch * s.rows * (depth + s.corner[2])) as usize;
        let (source, target) = (Memory::new(from, size(&src)), Memory::new(to, size(&dst)));
        let (input, mut expected) = (pattern(size(&src), 1), pattern(size(&dst), 77));
        source.set(&stream, &input);
        target.set(&stream, &expected);
        for z in 0..depth {
            for y in 0..height {
                let row = |s: &Surface| {
                    (((z + s.corner[2]) * s.rows + y + s.corner[1]) * s.pitch + s.corner[0]) as usize
                };
                let (s, d, n) = (row(&src), row(&dst), width as usize);
                expected[d..d + n].copy_from_slice(&input[s..s + n]);
            }
        }
        (src.address, dst.address) = (source.address(), target.address());
        let extent = [width, height, depth];
        perform(&stream, captured, Memcpy::Box(Box::new(BoxCopy { dst, src, extent, kind: CopyKind::Inferred })));
        prop_assert!(target.get(&stream, expected.len()) == expected, "{from} to {to}, {extent:?}");
    }

    #[test]
    fn a_fill_sets_its_elements_and_no_others(
        element_size in prop_oneof![Just(1u32), Just(2), Just(4), Just(8)],
        (width, height) in (0u64..3000, 0u64..5),
        (at, pad) in (0u64..9, 0u64..50),
        value in any::<u64>(),
        captured in any::<bool>(),
    ) {
        let stream = stream();
        let pitch = width * u64::from(element_size) + pad;
        let bytes = (pitch * height.max(1) + 128) as usize;
        let memory = Memory::new(0, bytes);
        let mut expected = pattern(bytes, 5);
        memory.set(&stream, &expected);
        let at = at * u64::from(element_size);
        for y in 0..height {
            for x in 0..width {
                let from = (at + y * pitch + x * u64::from(element_size)) as usize;
                expected[from..from + element_size as usize]
                    .copy_from_slice(&value.to_le_bytes()[..element_size as usize]);
            }
        }
        let set = Memset { dst: memory.address() + at, pitch, value, element_size, width, height };
        if captured {
            let mut template = Template::new(&device());
            template.add(Node::Memset(set), &[]).unwrap();
            Exec::new(&template, Options::default()).unwrap().launch(&stream).unwrap();
        } else {
            stream.memset(set).unwrap();
        }
        prop_assert!(memory.get(&stream, bytes) == expected);
    }
}

#[test]
fn a_copy_from_pageable_memory_reads_what_an_earlier_host_function_wrote() {
    let (stream, data) = (stream(), buffer(&[0; 4]));
    let source: Arc<Mutex<Box<[u32]>>> = Arc::new(Mutex::new(vec![1; 4].into()));
    let address = source.lock().unwrap().as_ptr() as u64;
    let written = source.clone();
    stream
        .call(move || {
            std::thread::sleep(Duration::from_millis(50));
            written.lock().unwrap().fill(9);
        })
        .unwrap();
    // SAFETY: the source lives to the end of the test.
    unsafe { stream.memcpy(Memcpy::linear(data.slice().address(), address, 16)) }.unwrap();
    assert_eq!(data.read(&stream).unwrap(), [9; 4]);
}

#[test]
fn a_captured_copy_reads_pageable_memory_at_each_launch() {
    let (stream, data) = (stream(), buffer(&[0; 4]));
    let mut source = vec![1u32; 4];
    let mut template = Template::new(&device());
    let values = Arc::new(Mutex::new((source.as_mut_ptr() as usize, 0)));
    let next = values.clone();
    // The node before the copy writes its source.
    let fill = HostFn::new(move || {
        let mut values = next.lock().unwrap();
        values.1 += 1;
        // SAFETY: the vector outlives the launches, and the copy is ordered behind this call.
        unsafe { std::slice::from_raw_parts_mut(values.0 as *mut u32, 4).fill(values.1) };
    });
    let fill = template.add(Node::Host(fill), &[]).unwrap();
    let upload = Memcpy::linear(data.slice().address(), source.as_ptr() as u64, 16);
    template.add(Node::Memcpy(upload), &[fill]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    for round in 1..=5 {
        exec.launch(&stream).unwrap();
        assert_eq!(data.read(&stream).unwrap(), [round; 4]);
    }
    for _ in 0..20 {
        exec.launch(&stream).unwrap();
    }
    assert_eq!(data.read(&stream).unwrap(), [25; 4]);
}

#[test]
fn ranges_that_leave_their_allocation_are_refused() {
    let (stream, memory) = (stream(), Memory::new(0, 100));
    let host = [0u8; 200];
    let at = host.as_ptr() as u64;
    let refused = |what: Memcpy| matches!(copy(&stream, what), Err(Error::InvalidValue(_)));
    assert!(refused(Memcpy::linear(memory.address(), at, 101)));
    assert!(refused(Memcpy::linear(memory.address() + 50, at, 51)));
    assert!(refused(Memcpy::linear(0, at, 1)) && refused(Memcpy::linear(at, 0, 1)));
    assert!(refused(Memcpy::linear(memory.address(), at, u64::MAX)));
    let surface = |address, pitch| Surface { address, pitch, row_bytes: pitch, rows: 2, corner: [0; 3] };
    let boxed = |dst_pitch, src_pitch, extent| {
        let (dst, src) = (surface(memory.address(), dst_pitch), surface(at, src_pitch));
        Memcpy::Box(Box::new(BoxCopy { dst, src, extent, kind: CopyKind::Inferred }))
    };
    assert_eq!(
        copy(&stream, boxed(4, 10, [10, 2, 1])),
        Err(Error::InvalidValue("the rows of a copy leave the rows of the memory"))
    );
    assert!(refused(boxed(60, 10, [10, 2, 2])));
    assert!(refused(boxed(u64::MAX, u64::MAX, [10, 3, 3])));
    // One row has no use for its pitch.
    assert_eq!(copy(&stream, boxed(u64::MAX, u64::MAX, [10, 1, 1])), Ok(()));
    assert_eq!(copy(&stream, boxed(4, 4, [0, 7, 7])), Ok(()));
    let set = |dst, element_size, width, height, pitch| {
        stream.memset(Memset { dst, pitch, value: 0, element_size, width, height })
    };
    assert!(set(memory.address(), 4, 26, 1, 0).is_err());
    assert!(set(memory.address(), 3, 1, 1, 0).is_err());
    assert!(set(memory.address(), 4, u64::MAX, 1, 0).is_err());
    assert!(set(memory.address(), 1, 10, u64::MAX, u64::MAX).is_err());
    assert!(set(memory.address(), 1, 10, 2, 9).is_err());
    assert!(set(at, 1, 10, 1, 10).is_err(), "pageable memory");
    assert_eq!(set(memory.address(), 4, 25, 1, 0), Ok(()));
}

#[test]
fn registered_memory_is_reached_until_it_is_unregistered() {
    let (stream, data) = (stream(), buffer(&[5; 100]));
    let host = vec![0u32; 100];
    let (at, bytes) = (host.as_ptr() as u64, 400);
    // SAFETY: the vector lives to the end of the test.
    unsafe { memory::register(&device(), at, bytes, 0) }.unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { memory::register(&device(), at + 8, 4, 0) }, Err(Error::AlreadyRegistered));
    stream.memset(Memset { dst: at, pitch: 0, value: 3, element_size: 4, width: 50, height: 1 }).unwrap();
    copy(&stream, Memcpy::linear(at + 200, data.slice().address(), 200)).unwrap();
    assert_eq!((host[49], host[50]), (3, 5));
    assert_eq!(memory::unregister(at + 4), Err(Error::NotRegistered));
    memory::unregister(at).unwrap();
    assert_eq!(memory::unregister(at), Err(Error::NotRegistered));
}

#[test]
fn freed_addresses_are_refused() {
    let region = memory::allocate(&device(), 64).unwrap();
    assert!(memory::free(region.address + 4).is_err() && memory::free_host(region.address).is_err());
    memory::free(region.address).unwrap();
    assert!(memory::free(region.address).is_err());
    assert!(stream().free_async(region.address).is_err());
    assert!(matches!(memory::allocate(&device(), usize::MAX), Err(Error::OutOfMemory { .. })));
    assert!(matches!(stream().allocate_async(usize::MAX), Err(Error::OutOfMemory { .. })));
}
