//! Code that is run page by page against the same code taken one instruction after the other.

use proptest::prelude::*;

use super::*;
use crate::wave::{Apertures, Deaf, Exit, Surroundings};

/// Instructions of RDNA 3, as llvm-mc 22 encodes them.
const S_NOP: u32 = 0xbf80_0000;
const S_DELAY_ALU: u32 = 0xbf87_0001;
const S_WAITCNT: u32 = 0xbf89_03f7;
const S_BRANCH: u32 = 0xbfa0_0000;
const S_ENDPGM: u32 = 0xbfb0_0000;
const BUFFER_GL0_INV: [u32; 2] = [0xe0ac_0000, 0];
/// v_add_nc_u32 v0, 1, v0, and with a literal.
const V_ADD: u32 = 0x4a00_0081;
const V_ADD_LITERAL: [u32; 2] = [0x4a00_00ff, 1000];
/// v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1
const V_DUAL_SWAP: [u32; 2] = [0xca10_0102, 0x0102_0101];
/// s_getpc_b64 s[4:5]; s_xor_b32 s6, s6, s4
const S_GETPC: [u32; 2] = [0xbe84_4700, 0x8d06_0406];
/// No instruction.
const NONE: u32 = u32::MAX;

/// A part of a program; a branch goes as many parts forward as it says, less 1.
#[derive(Clone, Debug)]
enum Part {
    Words(Vec<u32>),
    Branch(usize),
}

fn part() -> impl Strategy<Value = Part> {
    let words = |words: &[u32]| Just(Part::Words(words.to_vec()));
    prop_oneof![
        2 => words(&[S_NOP]),
        2 => words(&[S_DELAY_ALU]),
        2 => words(&[S_WAITCNT]),
        2 => words(&BUFFER_GL0_INV),
        2 => words(&[V_ADD]),
        1 => words(&V_ADD_LITERAL),
        1 => words(&V_DUAL_SWAP),
        1 => words(&S_GETPC),
        1 => (1usize..400).prop_map(|count| Part::Words(vec![S_NOP; count])),
        1 => (1usize..12).prop_map(Part::Branch),
    ]
}

/// The words of parts, and `last` behind them.
fn words(parts: &[Part], last: u32) -> Vec<u32> {
    let length = |part: &Part| match part {
        Part::Words(words) => words.len(),
        Part::Branch(_) => 1,
    };
    let mut words = Vec::new();
    for (n, part) in parts.iter().enumerate() {
        match part {
            Part::Words(more) => words.extend(more),
            Part::Branch(parts_on) => {
                let over: usize = parts[n + 1..].iter().take(parts_on - 1).map(length).sum();
                words.push(S_BRANCH | over as u32);
            }
        }
    }
    words.push(last);
    words
}

fn code(words: &[u32]) -> Arc<Code> {
    let start = words.as_ptr() as u64;
    // SAFETY: the tests keep the words until they are done.
    Arc::new(unsafe { Code::new(start, start + 4 * words.len() as u64, Target::Gfx1100) })
}

fn wave(pc: u64) -> Wave {
    let (map, apertures, host) = (Arc::default(), Apertures::default(), Arc::new(Deaf));
    let mut wave = Wave::new(Target::Gfx1100, Surroundings { map, apertures, host });
    wave.set_lanes(32);
    wave.set_exec(u64::MAX);
    (wave.vgpr[1].0, wave.vgpr[2].0) = ([11; 64], [22; 64]);
    wave.pc = pc;
    wave
}

/// Executes one instruction after the other, as they are decoded.
fn step_through(code: &Code, wave: &mut Wave) -> Flow {
    loop {
        let Some(inst) = code.instruction(wave.pc) else { return Flow::Stop };
        let halves = code.words(wave.pc).and_then(|words| decode::halves(Target::Gfx1100, words.as_slice()));
        wave.pc += u64::from(inst.size);
        if let Some([x, y]) = halves {
            // Both read before either writes.
            let before = wave.vgpr[2];
            semantics(y.row).unwrap()(wave, &y);
            let after = std::mem::replace(&mut wave.vgpr[2], before);
            semantics(x.row).unwrap()(wave, &x);
            wave.vgpr[2] = after;
            continue;
        }
        match semantics(inst.row).unwrap()(wave, &inst) {
            Flow::Next | Flow::Jump => {}
            flow => return flow,
        }
    }
}

proptest! {
    #[test]
    fn code_runs_as_its_instructions_do_one_by_one(
        parts in proptest::collection::vec(part(), 0..40),
        is_endless in any::<bool>(),
        slice in 1u64..100,
    ) {
        let words = words(&parts, if is_endless { NONE } else { S_ENDPGM });
        let code = code(&words);
        let (mut one, mut other) = (wave(code.start()), wave(code.start()));
        let ended = step_through(&code, &mut one);
        let exit = loop {
            let mut left = slice;
            match other.run(std::slice::from_ref(&code), &mut left) {
                Exit::Slice => continue,
                exit => break exit,
            }
        };
        prop_assert_eq!((ended, exit), if is_endless { (Flow::Stop, Exit::Stop) } else { (Flow::End, Exit::End) });
        if is_endless {
            // The word that is no instruction is the one that is reached.
            prop_assert_eq!(other.stop.map(|fault| fault.pc), Some(one.pc));
        } else {
            prop_assert_eq!(one.pc, other.pc);
        }
        prop_assert_eq!(&one.sgpr[..128], &other.sgpr[..128]);
        for row in 0..3 {
            prop_assert_eq!(&one.vgpr[row].0[..32], &other.vgpr[row].0[..32]);
        }
    }
}

#[test]
fn what_has_no_effect_is_left_out_up_to_the_end_of_the_page() {
    let mut words = vec![V_ADD, S_NOP, S_DELAY_ALU, BUFFER_GL0_INV[0], BUFFER_GL0_INV[1], S_WAITCNT, V_ADD];
    words.resize(PAGE_DWORDS + 8, S_NOP);
    words.push(S_ENDPGM);
    let code = code(&words);
    let idle = |index: u64| {
        let (start, page) = code.page(code.start() + 4 * index).unwrap();
        let op = page.get(((code.start() + 4 * index - start) / 4) as usize).unwrap();
        (op.layout.dwords(), op.layout.idle())
    };
    assert_eq!([0, 1, 3, 5].map(idle), [(1, 5), (1, 4), (2, 1), (1, 0)]);
    let rest = PAGE_DWORDS - 7;
    assert_eq!(idle(6), (1, rest));
    assert_eq!(idle(PAGE_DWORDS as u64 + 7), (1, 0));
    let mut wave = wave(code.start());
    assert_eq!(wave.run(&[code], &mut 1000), Exit::End);
    assert_eq!(wave.vgpr[0].0[0], 2);
}

#[test]
fn what_has_no_effect_may_lie_in_two_pages() {
    for before in 0..PAGE_DWORDS + 4 {
        let mut words = vec![V_ADD];
        words.resize(1 + before, S_NOP);
        words.extend(BUFFER_GL0_INV);
        words.extend([V_ADD, S_ENDPGM]);
        let code = code(&words);
        let mut wave = wave(code.start());
        let mut left = words.len() as u64;
        assert_eq!(wave.run(&[code], &mut left), Exit::End, "{before} words between");
        assert_eq!((wave.vgpr[0].0[0], left), (2, 0), "{before} words between");
    }
}
