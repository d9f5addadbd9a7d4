//! Machine code, decoded once per loaded range into what the interpreter runs.

use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use super::{
    Exec, FaultKind, Restriction, Wave,
    exec::{cached, sopp},
    semantics,
    way::Way,
};
use crate::{
    isa::{
        Family, Flow, Inst, Mods, Operand, Row, Shape, Target, Targets, Ty, decode, flag,
        inst::{Form, Memory, Variant},
        row::ABSENT,
    },
    os::hidden,
};

/// Dwords decoded at a time.
const PAGE_DWORDS: usize = 256;
/// Bytes decoded at a time.
pub(crate) const PAGE_BYTES: u64 = 4 * PAGE_DWORDS as u64;

/// A decoded instruction beside its semantics: one cache line.
#[repr(align(64))]
pub(crate) struct Op {
    pub exec: Exec,
    /// Of a dual-issue instruction this is the half that is executed first.
    pub inst: Inst,
    pub layout: Layout,
}

/// How an instruction lies in its page, in one word: its dwords in bits 3..0; in 15..4 the dwords of instructions behind it
/// that have no effect ([`is_idle`]); of a dual-issue instruction in 31..16 the place of its other half in
/// [`Page::seconds`], from 1 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout(u32);

impl Layout {
    /// A dword, and then an instruction that does something.
    pub(crate) const SHORT: Self = Self::of(4);
    /// As [`Layout::SHORT`], of two dwords.
    pub(crate) const LONG: Self = Self::of(8);

    const fn of(bytes: u8) -> Self {
        Self(bytes as u32 / 4)
    }

    /// Dwords of the instruction.
    pub(crate) const fn dwords(self) -> usize {
        (self.0 & 0xf) as usize
    }

    /// Dwords to leave out behind it.
    pub(crate) const fn idle(self) -> usize {
        (self.0 >> 4 & 0xfff) as usize
    }

    fn add_idle(&mut self, dwords: usize) {
        // CAST: a page's dwords, and one of an instruction that ends in the next.
        self.0 += (dwords as u32) << 4;
    }
}

/// The half of a dual-issue instruction that is executed last.
pub(crate) struct Second {
    pub exec: Exec,
    pub inst: Inst,
    /// The register that the first half has written, if this half reads what was there before.
    pub hidden: Option<usize>,
}

impl Second {
    /// The halves of a dual-issue instruction. Both read before either writes: the one goes first that writes nothing that
    /// the other reads.
    fn of(halves: [Inst; 2]) -> Option<(Op, Self)> {
        let reads = |reader: &Inst, writer: &Inst| {
            reader.src.iter().any(|op| *op == writer.dst && op.row().is_some())
        };
        let [x, y] = halves;
        let swaps = reads(&y, &x) && !reads(&x, &y);
        let [inst, last] = if swaps { [y, x] } else { [x, y] };
        let hidden = reads(&last, &inst).then(|| inst.dst.row()).flatten();
        let second = Self { exec: semantics(last.row)?, inst: last, hidden };
        Some((Op::new(semantics(inst.row)?, inst), second))
    }
}

impl Op {
    fn new(exec: Exec, inst: Inst) -> Self {
        Self { exec, inst, layout: Layout::of(inst.size) }
    }
}

/// Decoded code.
pub(crate) struct Page {
    /// As many as the page has dwords; what stands at the second dword of an instruction is never reached.
    ops: [Op; PAGE_DWORDS],
    /// The second halves of dual-issue instructions, which have two dwords and more.
    seconds: Vec<Second>,
    /// How waves in lockstep execute the operations.
    ways: OnceLock<Box<[Way]>>,
}

impl Page {
    /// The operation at a dword; `None` behind the page's end.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<&Op> {
        self.ops.get(index)
    }

    /// The other half of a dual-issue instruction.
    pub(crate) fn second(&self, op: &Op) -> Option<&Second> {
        self.seconds.get((op.layout.0 >> 16).checked_sub(1)? as usize)
    }

    /// How waves in lockstep execute the operation at each dword.
    pub(crate) fn ways(&self) -> &[Way] {
        self.ways.get_or_init(|| {
            let way = |op: &Op| Way::of(&op.inst, self.second(op).map(|second| &second.inst));
            self.ops.iter().map(way).collect()
        })
    }

    /// Counts what has no effect behind each operation.
    fn count_idle(&mut self) {
        for index in (0..PAGE_DWORDS).rev() {
            let next = index + self.ops[index].layout.dwords();
            let Some(&Op { exec, layout, .. }) = self.ops.get(next) else { continue };
            if is_idle(exec) {
                self.ops[index].layout.add_idle(layout.dwords() + layout.idle());
            }
        }
    }
}

/// One executable range of device memory.
pub struct Code {
    start: u64,
    end: u64,
    target: Target,
    pages: Box<[OnceLock<Box<Page>>]>,
    /// Keeps the range mapped.
    backing: Option<Arc<dyn Send + Sync>>,
}

impl Code {
    /// The code from `start` to `end` (one past the last byte), both multiples of 4. Nothing is read yet.
    ///
    /// # Safety
    /// The range is readable, and its contents do not change, while this value lives.
    pub unsafe fn new(start: u64, end: u64, target: Target) -> Self {
        Self::over(start, end, target, None)
    }

    /// As [`Code::new`], for memory that `backing` keeps mapped and that the program may write: what was decoded
    /// stays until [`Registry::invalidate`], as in an instruction cache.
    ///
    /// # Safety
    /// The range is readable while `backing` lives; if there is none, while this value does.
    pub unsafe fn mutable(
        start: u64,
        end: u64,
        target: Target,
        backing: Option<Arc<dyn Send + Sync>>,
    ) -> Self {
        Self::over(start, end, target, backing)
    }

    fn over(start: u64, end: u64, target: Target, backing: Option<Arc<dyn Send + Sync>>) -> Self {
        let bytes = (end & !3).saturating_sub(start);
        let pages = (0..bytes.div_ceil(PAGE_BYTES)).map(|_| OnceLock::new()).collect();
        Self { start, end: start + bytes, target, pages, backing }
    }

    /// The same range with nothing decoded.
    fn fresh(&self) -> Self {
        Self::over(self.start, self.end, self.target, self.backing.clone())
    }

    /// First address.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// One past the last byte.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whose instructions these are.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Whether an instruction may start at `pc`.
    pub fn contains(&self, pc: u64) -> bool {
        (self.start..self.end).contains(&pc) && pc.is_multiple_of(4)
    }

    /// The page that `pc` is in and its first address; `None` outside of the range.
    pub(crate) fn page(&self, pc: u64) -> Option<(u64, &Page)> {
        if !self.contains(pc) {
            return None;
        }
        let index = (pc - self.start) / PAGE_BYTES;
        let page = self.pages.get(index as usize)?;
        let start = self.start + index * PAGE_BYTES;
        Some((start, page.get_or_init(|| self.decode(start))))
    }

    /// The instruction at `pc`, as it would be executed; `None` outside of the range or where there is none.
    pub fn instruction(&self, pc: u64) -> Option<Inst> {
        decode::decode(self.target, self.words(pc)?.as_slice()).ok()
    }

    /// Up to four dwords from `pc` on.
    fn words(&self, pc: u64) -> Option<Words> {
        if !self.contains(pc) {
            return None;
        }
        let at = hidden::at(pc).cast::<u32>();
        let mut words = [0; 4];
        let count = words.len().min(((self.end - pc) / 4) as usize);
        for (n, word) in words[..count].iter_mut().enumerate() {
            // SAFETY: `pc` and `count` dwords from there on are inside of the range, which the maker of this value
            // keeps readable. Volatile: a program may write to code of its own, and then gets the instruction or a
            // mixture of its own bytes.
            *word = unsafe { at.add(n).read_volatile() };
        }
        Some(Words { words, count })
    }

    #[cold]
    fn decode(&self, start: u64) -> Box<Page> {
        let mut seconds = Vec::new();
        let ops = std::array::from_fn(|n| self.op(start + 4 * n as u64, &mut seconds));
        let mut page = Box::new(Page { ops, seconds, ways: OnceLock::new() });
        page.count_idle();
        page
    }

    fn op(&self, pc: u64, seconds: &mut Vec<Second>) -> Op {
        let Some(words) = self.words(pc) else {
            return Op::new(outside, nothing(Words::default()));
        };
        let Ok(inst) = decode::decode(self.target, words.as_slice()) else {
            return Op::new(illegal, nothing(words));
        };
        if let Some((mut op, second)) = decode::halves(self.target, words.as_slice()).and_then(Second::of) {
            seconds.push(second);
            // CAST: at most one a dword of the page.
            op.layout.0 |= (seconds.len() as u32) << 16;
            return op;
        }
        let gds =
            inst.row.family == Family::Ds && inst.memory.has(Memory::GDS) && !inst.row.shape.has(flag::GDS);
        match semantics(inst.row) {
            _ if gds => Op::new(no_gds, inst),
            _ if is_refused(&inst, self.target) => Op::new(unimplemented, inst),
            Some(exec) => Op::new(exec, inst),
            None => Op::new(unimplemented, inst),
        }
    }
}

/// Whether a function does nothing for a wave on a device without caches. They are told by their addresses, and so are never
/// inlined: a unit of code that had a copy of one would have another address.
fn is_idle(exec: Exec) -> bool {
    let idle: [Exec; 5] = [
        sopp::no_effect,
        cached::s_waitcnt,
        cached::s_wait_storecnt,
        cached::s_wait_storecnt_dscnt,
        cached::buffer_gl0_inv,
    ];
    idle.into_iter().any(|other| std::ptr::fn_addr_eq(exec, other))
}

/// What instructions of RDNA can ask for and do not get: a word that tells of pages that are not there, and loads to LDS that are
/// no buffer's.
fn is_refused(inst: &Inst, target: Target) -> bool {
    let to_lds = inst.memory.has(Memory::TO_LDS) && inst.row.family != Family::Mubuf;
    target.is_rdna() && (inst.memory.has(Memory::FAILS) || to_lds)
}

#[derive(Clone, Copy, Default)]
struct Words {
    words: [u32; 4],
    count: usize,
}

impl Words {
    fn as_slice(&self) -> &[u32] {
        &self.words[..self.count]
    }
}

/// Stands where no instruction is; its semantics never look at its operands.
static NOTHING: Row = Row {
    family: Family::Sopp,
    opcode: ABSENT,
    rdna: [ABSENT; 4],
    name: "",
    targets: Targets::ALL,
    shape: Shape { dst: Ty::No, sdst: Ty::No, src: [Ty::No; 3], flags: 0 },
};

fn nothing(words: Words) -> Inst {
    Inst {
        row: &NOTHING,
        dst: Operand::NONE,
        sdst: Operand::NONE,
        src: [Operand::NONE; 3],
        variant: Variant::Plain,
        size: 4,
        form: Form::default(),
        mods: Mods::default(),
        imm: 0,
        memory: Memory::default(),
        literal: 0,
        word0: words.words[0],
        word1: words.words[1],
    }
}

fn illegal(w: &mut Wave, inst: &Inst) -> Flow {
    w.fault(inst, FaultKind::IllegalInstruction { word0: inst.word0, word1: inst.word1 })
}

fn outside(w: &mut Wave, inst: &Inst) -> Flow {
    w.fault(inst, FaultKind::Fetch)
}

fn no_gds(w: &mut Wave, inst: &Inst) -> Flow {
    w.fault(inst, FaultKind::Illegal { name: inst.row.name, why: Restriction::NoGlobalDataShare })
}

fn unimplemented(w: &mut Wave, inst: &Inst) -> Flow {
    w.fault(inst, FaultKind::Unimplemented { name: inst.row.name })
}

/// The executable ranges of a device.
#[derive(Default)]
pub struct Registry {
    /// Sorted by address.
    ranges: RwLock<Ranges>,
}

/// Executable ranges, sorted by address.
pub type Ranges = Arc<[Arc<Code>]>;

impl Registry {
    /// Adds a range; dispatches created from now on can run it.
    pub fn insert(&self, code: Arc<Code>) {
        self.change(|ranges| {
            let i = ranges.partition_point(|r| r.start < code.start);
            ranges.insert(i, code);
        });
    }

    /// Removes the range that starts at `start`, if there is one; dispatches that exist keep it.
    pub fn remove(&self, start: u64) -> Option<Arc<Code>> {
        let mut removed = None;
        self.change(|ranges| {
            if let Ok(i) = ranges.binary_search_by_key(&start, |r| r.start) {
                removed = Some(ranges.remove(i));
            }
        });
        removed
    }

    /// Forgets what has been decoded: dispatches created from now on see what memory holds now.
    pub fn invalidate(&self) {
        self.change(|ranges| ranges.iter_mut().for_each(|code| *code = Arc::new(code.fresh())));
    }

    /// The ranges as of now.
    pub fn snapshot(&self) -> Ranges {
        self.ranges.read().clone()
    }

    fn change(&self, f: impl FnOnce(&mut Vec<Arc<Code>>)) {
        let mut ranges = self.ranges.write();
        let mut list = ranges.to_vec();
        f(&mut list);
        *ranges = list.into();
    }
}

/// The range of `ranges` (sorted by address) that contains `pc`.
pub(crate) fn find(ranges: &[Arc<Code>], pc: u64) -> Option<&Arc<Code>> {
    let i = ranges.partition_point(|r| r.start <= pc);
    ranges.get(i.checked_sub(1)?).filter(|r| r.contains(pc))
}

#[cfg(test)]
mod tests;
