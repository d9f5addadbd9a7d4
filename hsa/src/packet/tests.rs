use hsa_sys::*;

use super::*;

const A: hsa_signal_t = hsa_signal_t { handle: 0x1111_2222_3333_4444 };
const B: hsa_signal_t = hsa_signal_t { handle: 0x5555_6666_7777_8888 };

fn bytes(packet: &Packet) -> Vec<u8> {
    packet.words().iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Reads `N` bytes at a field's place in the specification's layout.
fn field<const N: usize>(packet: &Packet, offset: usize) -> [u8; N] {
    bytes(packet)[offset..offset + N].try_into().unwrap()
}

fn u16_at(packet: &Packet, offset: usize) -> u16 {
    u16::from_le_bytes(field(packet, offset))
}

fn u32_at(packet: &Packet, offset: usize) -> u32 {
    u32::from_le_bytes(field(packet, offset))
}

fn u64_at(packet: &Packet, offset: usize) -> u64 {
    u64::from_le_bytes(field(packet, offset))
}

macro_rules! at {
    ($type:ident . $field:ident) => {
        core::mem::offset_of!($type, $field)
    };
}

fn dispatch() -> KernelDispatch {
    KernelDispatch {
        fences: Fences { barrier: true, acquire: Scope::System, release: Scope::Agent },
        grid: [1024, 3, 2],
        workgroup: [256, 3, 1],
        private_segment: 160,
        group_segment: 4096,
        kernel_object: 0x7fff_0000_1240,
        kernarg_address: 0x7fff_1234_5670,
        completion: A,
    }
}

#[test]
fn dispatch_fields_are_where_the_header_puts_them() {
    use hsa_kernel_dispatch_packet_t as T;
    let packet = dispatch().packet().unwrap();
    assert_eq!(u16_at(&packet, at!(T.header)), 0x0d02);
    assert_eq!(u16_at(&packet, at!(T.setup)), 3);
    assert_eq!(u16_at(&packet, at!(T.workgroup_size_x)), 256);
    assert_eq!(u16_at(&packet, at!(T.workgroup_size_y)), 3);
    assert_eq!(u16_at(&packet, at!(T.workgroup_size_z)), 1);
    assert_eq!(u16_at(&packet, at!(T.reserved0)), 0);
    assert_eq!(u32_at(&packet, at!(T.grid_size_x)), 1024);
    assert_eq!(u32_at(&packet, at!(T.grid_size_y)), 3);
    assert_eq!(u32_at(&packet, at!(T.grid_size_z)), 2);
    assert_eq!(u32_at(&packet, at!(T.private_segment_size)), 160);
    assert_eq!(u32_at(&packet, at!(T.group_segment_size)), 4096);
    assert_eq!(u64_at(&packet, at!(T.kernel_object)), 0x7fff_0000_1240);
    assert_eq!(u64_at(&packet, at!(T.kernarg_address)), 0x7fff_1234_5670);
    assert_eq!(u64_at(&packet, at!(T.reserved2)), 0);
    assert_eq!(u64_at(&packet, at!(T.completion_signal)), A.handle);
}

#[test]
fn barrier_fields_are_where_the_header_puts_them() {
    use hsa_barrier_and_packet_t as T;
    let deps = [A, NO_SIGNAL, B, NO_SIGNAL, A];
    let and = BarrierAnd { fences: Fences::AGENT, deps, completion: B }.packet();
    assert_eq!(u16_at(&and, at!(T.header)), 0x0b03);
    assert_eq!(u16_at(&and, at!(T.reserved0)), 0);
    assert_eq!(u32_at(&and, at!(T.reserved1)), 0);
    for (index, signal) in deps.iter().enumerate() {
        assert_eq!(u64_at(&and, at!(T.dep_signal) + 8 * index), signal.handle);
    }
    assert_eq!(u64_at(&and, at!(T.reserved2)), 0);
    assert_eq!(u64_at(&and, at!(T.completion_signal)), B.handle);
    let or = BarrierOr { fences: Fences::AGENT, deps, completion: B }.packet();
    assert_eq!(u16_at(&or, 0), 0x0b05);
    assert_eq!(bytes(&or)[2..], bytes(&and)[2..]);
}

#[test]
fn barrier_value_fields_are_where_the_header_puts_them() {
    use hsa_amd_barrier_value_packet_t as T;
    let wait = BarrierValue {
        fences: Fences::SYSTEM,
        signal: A,
        value: -2,
        mask: i64::MAX,
        condition: Condition::GreaterOrEqual,
        completion: B,
    };
    let packet = wait.packet();
    assert_eq!(u16_at(&packet, at!(T.header)), 0x1500);
    assert_eq!(field(&packet, 2), [2, 0]);
    assert_eq!(u64_at(&packet, at!(T.signal)), A.handle);
    assert_eq!(u64_at(&packet, at!(T.value)), (-2_i64).cast_unsigned());
    assert_eq!(u64_at(&packet, at!(T.mask)), i64::MAX.cast_unsigned());
    assert_eq!(u32_at(&packet, at!(T.cond)), HSA_SIGNAL_CONDITION_GTE.0);
    assert_eq!(field(&packet, at!(T.reserved1)), [0; 20]);
    assert_eq!(u64_at(&packet, at!(T.completion_signal)), B.handle);
    assert_eq!(packet.value_wait(), Some(wait));
}

#[test]
fn setup_counts_the_dimensions_in_use() {
    let setup = |grid, workgroup| {
        let packet = KernelDispatch { grid, workgroup, ..dispatch() }.packet().unwrap();
        packet.header_word() >> 16
    };
    assert_eq!(setup([1, 1, 1], [1, 1, 1]), 1);
    assert_eq!(setup([64, 1, 1], [64, 1, 1]), 1);
    assert_eq!(setup([64, 2, 1], [64, 1, 1]), 2);
    assert_eq!(setup([64, 1, 2], [64, 1, 1]), 3);
    assert_eq!(setup([1, 1, 1], [1, 1, 2]), 3);
}

#[test]
fn empty_grid_and_workgroup_are_refused() {
    assert_eq!(
        KernelDispatch { grid: [4, 0, 1], ..dispatch() }.packet(),
        Err(PacketError::EmptyDimension { what: "grid", dimension: 1 })
    );
    assert_eq!(
        KernelDispatch { workgroup: [4, 1, 0], ..dispatch() }.packet(),
        Err(PacketError::EmptyDimension { what: "workgroup", dimension: 2 })
    );
}

#[test]
fn reader_returns_what_the_builder_was_given() {
    let given = dispatch();
    let packet = given.packet().unwrap();
    assert_eq!(packet.kind(), Some(Kind::KernelDispatch));
    assert_eq!(packet.header().unwrap().fences, given.fences);
    assert!(packet.barrier());
    assert_eq!(packet.grid(), Some(given.grid));
    assert_eq!(packet.workgroup(), Some(given.workgroup));
    assert_eq!(packet.segments(), Some((160, 4096)));
    assert_eq!(packet.kernel_object(), Some(given.kernel_object));
    assert_eq!(packet.kernarg_address(), Some(given.kernarg_address));
    assert_eq!(packet.completion_signal(), A);
    assert_eq!(packet.deps(), None);
    assert_eq!(packet.value_wait(), None);
}

#[test]
fn patches_change_their_field_alone() {
    let mut patched = dispatch().packet().unwrap();
    patched.set_kernarg_address(0x1000).unwrap();
    patched.set_completion_signal(B);
    patched.set_fences(Fences::NONE).unwrap();
    let built = KernelDispatch { kernarg_address: 0x1000, completion: B, fences: Fences::NONE, ..dispatch() };
    assert_eq!(patched, built.packet().unwrap());

    let mut patched = BarrierAnd::default().packet();
    patched.set_dep(4, B).unwrap();
    let deps = [NO_SIGNAL, NO_SIGNAL, NO_SIGNAL, NO_SIGNAL, B];
    assert_eq!(patched, BarrierAnd { deps, ..BarrierAnd::default() }.packet());
}

#[test]
fn patches_of_absent_fields_are_refused() {
    let mut barrier = BarrierOr::default().packet();
    assert!(matches!(barrier.set_kernarg_address(1), Err(PacketError::NoSuchField { .. })));
    assert!(matches!(barrier.set_wait_value(1), Err(PacketError::NoSuchField { .. })));
    assert_eq!(barrier.set_dep(5, A), Err(PacketError::NoSuchDependency { index: 5 }));
    let mut kernel = dispatch().packet().unwrap();
    assert!(matches!(kernel.set_dep(0, A), Err(PacketError::NoSuchField { .. })));
    let mut junk = Packet::from_words([0xffff_ffff; 16]);
    assert_eq!(junk.set_fences(Fences::NONE), Err(PacketError::MalformedHeader { bits: 0xffff }));
    assert_eq!(junk.kind(), None);
}

#[test]
fn no_operation_is_a_barrier_that_waits_for_nothing() {
    assert_eq!(Packet::NO_OPERATION, BarrierAnd::default().packet());
    assert_eq!(Packet::INVALID.kind(), Some(Kind::Invalid));
}
