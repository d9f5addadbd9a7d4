//! Global wave sync: 64 counters of a device (`ds_gws_*`), at which the blocks of a grid can wait for each other.

use super::{CodeObject, Place, SymbolKind};

impl CodeObject<'_> {
    /// Whether the code of a kernel may use global wave sync. So it may if one of its instructions does, or one of a
    /// function that is no kernel, which it could call.
    pub fn may_use_wave_sync(&self, kernel: &str) -> bool {
        let others = self.kernel_names().filter(|name| *name != kernel);
        let others = others.filter_map(|name| match self.symbol(name)? {
            // Inside the image, or the symbol table would have been refused.
            symbol if symbol.kind != SymbolKind::Function => None,
            symbol => match symbol.place {
                Place::Image(start) => Some(start..start + symbol.size),
                _ => None,
            },
        });
        let others: Vec<_> = others.collect();
        self.segments().iter().filter(|segment| segment.protection.execute).any(|segment| {
            let code = self.bytes.get(segment.file.clone()).unwrap_or_default();
            let words = (segment.offset..).step_by(4).zip(code.as_chunks().0);
            let mut uses = words.filter(|(_, word)| is_wave_sync(u32::from_le_bytes(**word)));
            uses.any(|(at, _)| !others.iter().any(|other| other.contains(&at)))
        })
    }
}

/// Whether an instruction that begins with this word uses global wave sync. A word inside of another instruction may look
/// like it.
fn is_wave_sync(word: u32) -> bool {
    // The encoding in bits 26 to 31, the operation from bit 17 (MI200 ISA, 13.3) or 18 (RDNA3 ISA, 15.4) on, GDS below.
    let (gfx9, newer) = ((word >> 17 & 0xff, word >> 16 & 1), (word >> 18 & 0xff, word >> 17 & 1));
    let is_operation = matches!(gfx9, (152..=157, 1)) || matches!(newer, (24..=29, 1));
    word >> 26 == 0x36 && is_operation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_known_by_their_first_word() {
        // As llvm-mc assembles release_all, init, v, br, p and barrier.
        let gfx9 = [0xd931, 0xd933, 0xd935, 0xd937, 0xd939, 0xd93b];
        let gfx10 = [0xd862, 0xd866, 0xd86a, 0xd86e, 0xd872, 0xd876];
        for word in gfx9.into_iter().chain(gfx10) {
            assert!(is_wave_sync(word << 16) && is_wave_sync(word << 16 | 3), "{word:#x}");
        }
        // ds_write_b32, ds_read_b32, ds_add_gs_reg_rtn of GFX11, s_endpgm.
        for word in [0xd81a_0000, 0xd86c_0000, 0xd9ea_0000, 0xbf81_0000] {
            assert!(!is_wave_sync(word), "{word:#x}");
        }
    }

    #[test]
    fn kernels_that_use_it_are_found() {
        let uses = |bytes: &'static [u8], kernel| CodeObject::parse(bytes).unwrap().may_use_wave_sync(kernel);
        for object in [
            include_bytes!("../../../kernels/cooperative.gfx90a.co").as_slice(),
            include_bytes!("../../../kernels/cooperative.gfx942.co").as_slice(),
            include_bytes!("../../../kernels/cooperative.gfx9-4-generic.co").as_slice(),
        ] {
            assert!(uses(object, "gws_init"));
            assert!(!uses(object, "another"), "no kernel calls another kernel");
        }
        assert!(!uses(include_bytes!("../../../kernels/tests.gfx90a.co"), "slow"));
    }
}
