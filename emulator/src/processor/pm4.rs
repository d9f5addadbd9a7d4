//! The few PM4 commands that a packet may point to (AMD's AQL packet of format `PM4_IB`).
//!
//! Drivers use them to maintain caches, above all to make the instruction caches forget what was at an address where
//! code has been placed. Opcodes and fields are those of the register headers of AMD's kernel driver for GFX9.

use super::refusal::Refusal;
use crate::{memory::Snapshot, os::hidden};

/// The one format of such a packet.
pub(super) const FORMAT: u64 = 1;
/// PM4 type-3 opcodes.
const NOP: u32 = 0x10;
const INDIRECT_BUFFER: u32 = 0x3f;
const ACQUIRE_MEM: u32 = 0x58;
/// `CP_COHER_CNTL.SH_ICACHE_ACTION_ENA`: the instruction caches are invalidated.
const INSTRUCTION_CACHES: u32 = 1 << 29;

/// What the commands of a packet come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Commands {
    /// The instruction caches forget what they hold.
    pub(super) invalidate_code: bool,
}

/// Reads the commands that a packet points to.
///
/// # Errors
/// [`Refusal`] for a command that we do not know, and for commands outside of the device's memory.
pub(super) fn read(packet: &[u64; 8], memory: &Snapshot) -> Result<Commands, Refusal> {
    // Dword 1 begins the jump: INDIRECT_BUFFER, its address, and the number of dwords in the low 20 bits.
    // CAST: the halves of words.
    let (jump, size) = ((packet[0] >> 32) as u32, packet[2] as u32);
    let address = packet[1] & !3;
    if opcode(jump) != Some(INDIRECT_BUFFER) {
        return Err(Refusal::format(format!("a PM4 packet that begins with {jump:#010x} instead of a jump")));
    }
    let dwords = u64::from(size & 0xf_ffff);
    if !memory.covers(address, address.saturating_add(4 * dwords), false) {
        return Err(Refusal::format(format!("{dwords} dwords of PM4 at {address:#x}, outside of memory")));
    }
    let word = |index: u64| {
        // SAFETY: the snapshot covers `dwords` dwords from `address` on and keeps them mapped.
        unsafe { hidden::at(address).cast::<u32>().add(index as usize).read_volatile() }
    };
    let mut commands = Commands::default();
    let mut at = 0;
    while at < dwords {
        let header = word(at);
        let body = u64::from(header >> 16 & 0x3fff) + 1;
        match opcode(header) {
            Some(NOP) if header >> 16 & 0x3fff == 0x3fff => {
                // A count of all ones is a header without a body.
                at += 1;
                continue;
            }
            Some(NOP) => {}
            Some(ACQUIRE_MEM) if at + 1 < dwords => {
                commands.invalidate_code |= word(at + 1) & INSTRUCTION_CACHES != 0;
            }
            _ => return Err(Refusal::format(format!("PM4 command {header:#010x}"))),
        }
        at += 1 + body;
    }
    Ok(commands)
}

/// The opcode of a type-3 header.
fn opcode(header: u32) -> Option<u32> {
    (header >> 30 == 3).then_some(header >> 8 & 0xff)
}

#[cfg(test)]
mod tests {
    use super::{Commands, read};
    use crate::memory::{Allocation, Grain, Map};

    fn type3(opcode: u32, body: u32) -> u32 {
        3 << 30 | (body - 1) << 16 | opcode << 8
    }

    fn run(commands: &[u32]) -> Result<Commands, String> {
        let start = commands.as_ptr() as u64;
        let map = Map::default();
        let end = start + 4 * commands.len() as u64;
        map.insert(Allocation {
            start,
            end,
            writable: false,
            grain: Grain::Fine,
            socket: None,
            backing: None,
        });
        let size = commands.len() as u64 | 1 << 23;
        read(&[u64::from(type3(0x3f, 3)) << 32, start, size, 0, 0, 0, 0, 0], &map.snapshot())
            .map_err(|refusal| refusal.reason)
    }

    #[test]
    fn an_acquire_of_the_instruction_caches_invalidates_code() {
        let acquire = |control| [type3(0x58, 6), control, !0, 0xff, 0, 0, 4];
        assert_eq!(run(&acquire(1 << 29)), Ok(Commands { invalidate_code: true }));
        assert_eq!(run(&acquire(1 << 27)), Ok(Commands { invalidate_code: false }));
        let behind_nops = [&[0xffff_1000, type3(0x10, 2), 1, 2][..], &acquire(1 << 29)].concat();
        assert_eq!(run(&behind_nops), Ok(Commands { invalidate_code: true }));
    }

    #[test]
    fn an_unknown_command_is_refused_with_its_header() {
        let dispatch = type3(0x15, 4);
        assert_eq!(run(&[dispatch, 1, 1, 1, 1]), Err(format!("PM4 command {dispatch:#010x}")));
        assert!(run(&[0]).is_err(), "a type-0 header");
    }

    #[test]
    fn commands_outside_of_memory_are_refused() {
        let mut packet = [u64::from(type3(0x3f, 3)) << 32, 0x1000, 7, 0, 0, 0, 0, 0];
        assert!(read(&packet, &Map::default().snapshot()).is_err());
        packet[0] = u64::from(type3(0x10, 3)) << 32;
        assert!(read(&packet, &Map::default().snapshot()).is_err());
    }
}
