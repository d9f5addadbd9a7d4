//! A finding as a line of a report, of fields with tabs between.

#![forbid(unsafe_code)]

use emulator::{Awaited, How, RaceByte, RaceKind, SyncKind, UninitByte};

use super::{
    ACCESS_FAULTS, ARGUMENT, BAD_FREE, Bytes, Code, DEADLOCK, Finding, Frame, HOST_OF_COMMAND,
    HOST_OF_DEVICE, Instruction, Made, Misuse, NEEDLESS, NOT_RESIDENT, Near, Party, Pc, PlanCost, RACE_KINDS,
    SYNC_KINDS, UNINIT_KINDS, fault_rule, race_rule, sync_rule, uninit_rule, word,
};

/// What separates the fields of a line.
const SEPARATOR: char = '\t';

impl Finding {
    /// The finding as a line of fields; [`Finding::from_line`] reads it.
    pub(in crate::check) fn line(&self) -> String {
        let mut fields = Fields(vec![self.rule().to_owned()]);
        match self {
            Self::Unordered { parties, of_one_launch, bytes, captured, drawn } => {
                fields.put(of_one_launch);
                parties.iter().for_each(|party| fields.party(party));
                fields.bytes(bytes);
                [captured, drawn].into_iter().for_each(|texts| fields.list(texts));
            }
            Self::Memory { party, other, bytes, made, code, access, .. } => {
                fields.party(party);
                fields.put(other);
                fields.bytes(bytes);
                fields.put(access.is_some());
                if let Some(access) = access {
                    fields.code(code);
                    fields.instruction(access);
                }
                fields.made(made);
            }
            Self::Refused { place, what, address, bytes, code, access, near, .. } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                [address, bytes].iter().for_each(|number| fields.put(number));
                fields.instruction(access);
                fields.near(near.as_ref());
            }
            Self::Argument { place, what, number, address, is_freed, near } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.put(number);
                fields.put(address);
                fields.put(is_freed);
                fields.near(near.as_ref());
            }
            Self::Race { place, what, code, byte, access, other, near, count, .. } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                let (memory, at) = match *byte {
                    RaceByte::Memory(address) => ("memory", address),
                    RaceByte::Lds(offset) => ("LDS", offset.into()),
                    RaceByte::Scratch(offset) => ("scratch", offset.into()),
                };
                fields.put(memory);
                [at, *count].iter().for_each(|number| fields.put(number));
                [access].into_iter().chain(other).for_each(|access| fields.instruction(access));
                fields.near(near.as_ref());
            }
            Self::Sync { place, what, workgroup, wave, lane, code, pc, then, count, .. } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                [workgroup, &pc.offset, &then.offset, count].iter().for_each(|number| fields.put(number));
                fields.put(wave);
                lane.iter().for_each(|lane| fields.put(lane));
            }
            Self::Uninit {
                place, what, workgroup, wave, lane, code, read, byte, pc, count, near, ..
            } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                let (memory, at) = match *byte {
                    UninitByte::Memory(address) => ("memory", address),
                    UninitByte::Lds(offset) => ("LDS", offset.into()),
                    UninitByte::Scratch(offset) => ("scratch", offset.into()),
                };
                fields.put(memory);
                [workgroup, &at, &read.offset, &pc.offset, count]
                    .iter()
                    .for_each(|number| fields.put(number));
                fields.put(wave);
                fields.put(lane.map_or("-".into(), |lane| lane.to_string()));
                fields.near(near.as_ref());
            }
            Self::Deadlock { place, what, workgroup, wave, code, pc, awaited, waiting, near } => {
                [place, what].iter().for_each(|text| fields.put(text));
                fields.code(code);
                let (for_what, at) = match *awaited {
                    Awaited::Memory(address) => ("memory", address),
                    Awaited::Lds(offset) => ("LDS", offset.into()),
                    Awaited::Grid => ("grid", 0),
                    Awaited::Nothing => ("nothing", 0),
                };
                fields.put(for_what);
                [at, *workgroup, pc.offset].iter().for_each(|number| fields.put(number));
                [wave, waiting].iter().for_each(|number| fields.put(number));
                fields.near(near.as_ref());
            }
            Self::Needless { places, whats, pairs, costs, drawn } => {
                places.iter().chain(whats).for_each(|text| fields.put(text));
                fields.put(pairs);
                let costs = costs.iter().flat_map(|(with, without)| [with, without]);
                let costs: Vec<_> =
                    costs.flat_map(|cost| cost.named()).map(|(_, number)| number.to_string()).collect();
                [&costs, drawn].into_iter().for_each(|texts| fields.list(texts));
            }
            Self::Host { command, how, address, frames, near } => {
                command.iter().for_each(|command| fields.party(command));
                fields.put(word(*how));
                fields.put(address);
                fields.put(frames.len());
                fields.frames(frames);
                fields.near(near.as_ref());
            }
            Self::BadFree { address, again, made } => {
                fields.put(address);
                fields.put(again);
                fields.made(made);
            }
            Self::Leak { what, count, bytes, made } => {
                fields.put(what);
                fields.put(count);
                fields.put(bytes);
                fields.made(made);
            }
        }
        fields.0.join(&SEPARATOR.to_string())
    }

    /// A finding from a line of a [report](crate::check::REPORT_VARIABLE); `None` if it is none.
    pub fn from_line(line: &str) -> Option<Self> {
        let mut fields = Read(line.split(SEPARATOR));
        let rule = fields.0.next()?;
        let finding = match rule {
            "graph/unordered" => {
                let of_one_launch = fields.next()?;
                let parties = [fields.party()?, fields.party()?];
                let (bytes, captured, drawn) = (fields.bytes()?, fields.list()?, fields.list()?);
                Self::Unordered { parties, of_one_launch, bytes, captured, drawn }
            }
            "leak/object" | "leak/memory" => {
                let (what, count, bytes) = (fields.next()?, fields.next()?, fields.next()?);
                Self::Leak { what, count, bytes, made: fields.made()? }
            }
            NEEDLESS => {
                let places = [fields.next()?, fields.next()?];
                let (whats, pairs) = ([fields.next()?, fields.next()?], fields.next()?);
                let costs = fields.costs()?;
                Self::Needless { places, whats, pairs, costs, drawn: fields.list()? }
            }
            DEADLOCK | NOT_RESIDENT => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let (for_what, at): (String, u64) = (fields.next()?, fields.next()?);
                let awaited = match &*for_what {
                    "memory" => Awaited::Memory(at),
                    "LDS" => Awaited::Lds(at.try_into().ok()?),
                    "grid" => Awaited::Grid,
                    "nothing" => Awaited::Nothing,
                    _ => return None,
                };
                let (workgroup, pc) = (fields.next()?, Pc::new(fields.next()?));
                let (wave, waiting, near) = (fields.next()?, fields.next()?, fields.near()?);
                Self::Deadlock { place, what, workgroup, wave, code, pc, awaited, waiting, near }
            }
            ARGUMENT => {
                let (place, what, number) = (fields.next()?, fields.next()?, fields.next()?);
                let (address, is_freed) = (fields.next()?, fields.next()?);
                Self::Argument { place, what, number, address, is_freed, near: fields.near()? }
            }
            HOST_OF_COMMAND | HOST_OF_DEVICE => {
                let command = if rule == HOST_OF_COMMAND { Some(fields.party()?) } else { None };
                let (how, address, count) = (fields.how()?, fields.next()?, fields.next::<usize>()?);
                let frames = (0..count).map(|_| fields.frame()).collect::<Option<_>>()?;
                Self::Host { command, how, address, frames, near: fields.near()? }
            }
            BAD_FREE => {
                Self::BadFree { address: fields.next()?, again: fields.next()?, made: fields.made()? }
            }
            _ if let Some(fault) = ACCESS_FAULTS.into_iter().find(|fault| fault_rule(*fault) == rule) => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let (address, bytes) = (fields.next()?, fields.next()?);
                let (access, near) = (fields.instruction()?, fields.near()?);
                Self::Refused { fault, place, what, address, bytes, code, access, near }
            }
            _ if let Some(kind) = RACE_KINDS.into_iter().find(|kind| race_rule(*kind) == rule) => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let byte = match fields.next::<String>()?.as_str() {
                    "memory" => RaceByte::Memory(fields.next()?),
                    "LDS" => RaceByte::Lds(fields.next()?),
                    _ => RaceByte::Scratch(fields.next()?),
                };
                let (count, access) = (fields.next()?, fields.instruction()?);
                let other = if kind == RaceKind::Outside { None } else { Some(fields.instruction()?) };
                Self::Race { kind, place, what, code, byte, access, other, near: fields.near()?, count }
            }
            _ if let Some(kind) = SYNC_KINDS.into_iter().find(|kind| sync_rule(*kind) == rule) => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let (workgroup, pc, then) = (fields.next()?, fields.pc()?, fields.pc()?);
                let (count, wave) = (fields.next()?, fields.next()?);
                let lane = if matches!(kind, SyncKind::BarrierNotReached | SyncKind::SplitLds) {
                    None
                } else {
                    Some(fields.next()?)
                };
                Self::Sync { kind, place, what, workgroup, wave, lane, code, pc, then, count }
            }
            _ if let Some(kind) = UNINIT_KINDS.into_iter().find(|kind| uninit_rule(*kind) == rule) => {
                let (place, what, code) = (fields.next()?, fields.next()?, fields.code()?);
                let (memory, workgroup) = (fields.next::<String>()?, fields.next()?);
                let byte = match memory.as_str() {
                    "memory" => UninitByte::Memory(fields.next()?),
                    "LDS" => UninitByte::Lds(fields.next()?),
                    _ => UninitByte::Scratch(fields.next()?),
                };
                let (read, pc, count) = (fields.pc()?, fields.pc()?, fields.next()?);
                let (wave, lane) = (fields.next()?, fields.next::<String>()?);
                let lane = if lane == "-" { None } else { Some(lane.parse().ok()?) };
                let near = fields.near()?;
                Self::Uninit { kind, place, what, workgroup, wave, lane, code, read, byte, pc, count, near }
            }
            _ => {
                let misuse = Misuse::ALL.into_iter().find(|misuse| misuse.rule() == rule)?;
                let (party, other, bytes) = (fields.party()?, fields.next()?, fields.bytes()?);
                let (code, access) = match fields.next()? {
                    true => (fields.code()?, Some(fields.instruction()?)),
                    false => (Code::default(), None),
                };
                Self::Memory { misuse, party, other, bytes, made: fields.made()?, code, access }
            }
        };
        fields.0.next().is_none().then_some(finding)
    }
}

struct Fields(Vec<String>);

impl Fields {
    fn put(&mut self, field: impl ToString) {
        // A name may hold anything.
        self.0.push(field.to_string().replace([SEPARATOR, '\n'], " "));
    }

    fn list(&mut self, texts: &[String]) {
        self.put(texts.len());
        texts.iter().for_each(|text| self.put(text));
    }

    fn party(&mut self, Party { place, what, how }: &Party) {
        [place, what, word(*how)].iter().for_each(|text| self.put(text));
    }

    fn instruction(&mut self, Instruction { workgroup, wave, how, pc }: &Instruction) {
        self.put(workgroup);
        self.put(wave);
        self.put(word(*how));
        self.put(pc.offset);
    }

    fn code(&mut self, Code { object, descriptor, entry }: &Code) {
        [object, descriptor].iter().for_each(|text| self.put(text));
        self.put(entry);
    }

    fn made(&mut self, Made { call, frames }: &Made) {
        self.put(call);
        self.frames(frames);
    }

    fn frames(&mut self, frames: &[Frame]) {
        for Frame { object, offset, symbol, .. } in frames {
            self.put(object);
            self.put(offset);
            self.put(symbol);
        }
    }

    /// Ends the line.
    fn near(&mut self, near: Option<&Near>) {
        if let Some(Near { allocation, is_freed, made }) = near {
            [allocation.start, allocation.end].iter().for_each(|number| self.put(number));
            self.put(is_freed);
            self.made(made);
        }
    }

    fn bytes(&mut self, Bytes { first, total, allocation }: &Bytes) {
        [first.start, first.end, *total, allocation.start, allocation.end].iter().for_each(|n| self.put(n));
    }
}

struct Read<'a>(std::str::Split<'a, char>);

impl Read<'_> {
    fn next<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    fn list(&mut self) -> Option<Vec<String>> {
        let count = self.next::<usize>()?;
        (0..count).map(|_| self.next()).collect()
    }

    fn costs(&mut self) -> Option<Option<(PlanCost, PlanCost)>> {
        let numbers = self.list()?.iter().map(|text| text.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let cost = |numbers: &[u64]| match *numbers {
            [ns, barrier_bits, barrier_packets, signals] => {
                Some(PlanCost { ns, barrier_bits, barrier_packets, signals })
            }
            _ => None,
        };
        match numbers.split_at_checked(4) {
            None => Some(None),
            Some((with, without)) => Some(Some((cost(with)?, cost(without)?))),
        }
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let first = self.next()?..self.next()?;
        Some(Bytes { first, total: self.next()?, allocation: self.next()?..self.next()? })
    }

    /// What the line ends with.
    fn made(&mut self) -> Option<Made> {
        let mut made = Made { call: self.next()?, frames: Vec::new() };
        while self.0.clone().next().is_some() {
            made.frames.push(self.frame()?);
        }
        Some(made)
    }

    fn frame(&mut self) -> Option<Frame> {
        let (object, offset, symbol) = (self.next()?, self.next()?, self.next()?);
        Some(Frame { object, offset, symbol, line: None })
    }

    /// What the line ends with, if anything.
    fn near(&mut self) -> Option<Option<Near>> {
        let Some(start) = self.0.next() else { return Some(None) };
        let allocation = start.parse().ok()?..self.next()?;
        Some(Some(Near { allocation, is_freed: self.next()?, made: self.made()? }))
    }

    fn how(&mut self) -> Option<How> {
        let name = self.0.next()?;
        [How::Read, How::Write, How::Atomic].into_iter().find(|how| word(*how) == name)
    }

    fn party(&mut self) -> Option<Party> {
        Some(Party { place: self.next()?, what: self.next()?, how: self.how()? })
    }

    fn instruction(&mut self) -> Option<Instruction> {
        let (workgroup, wave) = (self.next()?, self.next()?);
        Some(Instruction { workgroup, wave, how: self.how()?, pc: self.pc()? })
    }

    fn pc(&mut self) -> Option<Pc> {
        self.next().map(Pc::new)
    }

    fn code(&mut self) -> Option<Code> {
        Some(Code { object: self.next()?, descriptor: self.next()?, entry: self.next()? })
    }
}

#[cfg(test)]
mod tests {
    use emulator::{AccessFault, UninitKind};

    use super::*;

    #[test]
    fn findings_are_read_as_they_were_written() {
        let party = |what: &str, how| Party { place: "stream 1".into(), what: what.into(), how };
        let code = || Code { object: "report-1.co".into(), descriptor: "f.kd".into(), entry: 4096 };
        let frame = Frame { object: "/bin/p".into(), offset: 16, symbol: String::new(), line: None };
        let near = |allocation, is_freed| {
            let made = Made { call: "hipMalloc".into(), frames: vec![frame.clone()] };
            Some(Near { allocation, is_freed, made })
        };
        let memory = |misuse, code, access| Finding::Memory {
            misuse,
            party: party("kernel f()", How::Write),
            other: String::new(),
            bytes: Bytes { first: 16..20, total: 8, allocation: 0..64 },
            made: Made { call: "hipMalloc".into(), frames: vec![frame.clone()] },
            code,
            access,
        };
        let deadlock = |awaited, waiting, near| {
            let (place, what, pc) = ("stream 1".into(), "kernel f()".into(), Pc::new(64));
            Finding::Deadlock { place, what, workgroup: 3, wave: 1, code: code(), pc, awaited, waiting, near }
        };
        let findings = [
            Finding::Unordered {
                parties: [party("memset", How::Write), party("kernel f(int*)", How::Atomic)],
                of_one_launch: true,
                bytes: Bytes { first: 16..20, total: 8, allocation: 0..64 },
                captured: vec!["both were captured on stream 1".into()],
                drawn: vec!["1-2-check-3.dot".into(), "1-2-check-4.dot".into()],
            },
            Finding::Race {
                kind: RaceKind::Waves,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                code: code(),
                byte: RaceByte::Memory(16),
                access: Instruction { workgroup: 3, wave: 1, how: How::Read, pc: Pc::new(64) },
                other: Some(Instruction { workgroup: 3, wave: 0, how: How::Write, pc: Pc::new(16) }),
                near: near(16..64, false),
                count: 128,
            },
            Finding::Host {
                command: Some(party("memcpy", How::Write)),
                how: How::Read,
                address: 32,
                frames: vec![frame.clone(), frame.clone()],
                near: near(16..64, false),
            },
            Finding::Host { command: None, how: How::Write, address: 32, frames: Vec::new(), near: None },
            Finding::Argument {
                place: "stream 1".into(),
                what: "kernel f()".into(),
                number: 2,
                address: 32,
                is_freed: true,
                near: near(16..64, true),
            },
            memory(Misuse::OutOfBounds, Code::default(), None),
            memory(
                Misuse::AfterFree,
                code(),
                Some(Instruction { workgroup: 7, wave: 2, how: How::Write, pc: Pc::new(8) }),
            ),
            Finding::Race {
                kind: RaceKind::Outside,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                code: code(),
                byte: RaceByte::Scratch(208),
                access: Instruction { workgroup: 3, wave: 1, how: How::Write, pc: Pc::new(64) },
                other: None,
                near: None,
                count: 1,
            },
            Finding::Refused {
                fault: AccessFault::NoMemory,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                address: 128,
                bytes: 4,
                code: code(),
                access: Instruction { workgroup: 3, wave: 1, how: How::Read, pc: Pc::new(64) },
                near: near(16..64, true),
            },
            Finding::Refused {
                fault: AccessFault::Misaligned,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                address: 3,
                bytes: 4,
                code: code(),
                access: Instruction { workgroup: 3, wave: 1, how: How::Atomic, pc: Pc::new(64) },
                near: None,
            },
            Finding::Sync {
                kind: SyncKind::DivergentBarrier,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                wave: 1,
                lane: Some(5),
                code: code(),
                pc: Pc::new(64),
                then: Pc::new(96),
                count: 2,
            },
            Finding::Sync {
                kind: SyncKind::BarrierNotReached,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                wave: 1,
                lane: None,
                code: code(),
                pc: Pc::new(64),
                then: Pc::new(96),
                count: 2,
            },
            deadlock(Awaited::Memory(0x1004), 2, near(0x1000..0x2000, false)),
            deadlock(Awaited::Lds(4), 0, None),
            Finding::Uninit {
                kind: UninitKind::Result,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                wave: 1,
                lane: Some(7),
                code: code(),
                read: Pc::new(64),
                byte: UninitByte::Memory(4096),
                pc: Pc::new(96),
                count: 2,
                near: near(4096..4100, false),
            },
            Finding::Uninit {
                kind: UninitKind::Branch,
                place: "stream 1".into(),
                what: "kernel f()".into(),
                workgroup: 3,
                wave: 1,
                lane: None,
                code: code(),
                read: Pc::new(64),
                byte: UninitByte::Lds(8),
                pc: Pc::new(96),
                count: 2,
                near: None,
            },
            Finding::Needless {
                places: ["node 0.1 of executable 1".into(), "node 0.2 of executable 1".into()],
                whats: ["memset".into(), "kernel f()".into()],
                pairs: 3,
                costs: Some(
                    [9, 5].map(|ns| PlanCost { ns, barrier_bits: 1, barrier_packets: 2, signals: 3 }).into(),
                ),
                drawn: Vec::new(),
            },
            Finding::Leak {
                what: "stream".into(),
                count: 2,
                bytes: 0,
                made: Made { call: "hipStreamCreate".into(), frames: vec![frame.clone(), frame.clone()] },
            },
        ];
        for finding in findings {
            let line = finding.line();
            assert_eq!(Finding::from_line(&line), Some(finding), "{line}");
            for end in line.match_indices(SEPARATOR).map(|(end, _)| end) {
                // What lists calls, and what is near or not, may end sooner.
                let near = ["sync/deadlock", "sync/not-resident", "graph/host"];
                let may_end = ["leak", "memory/", "race", "init"]
                    .iter()
                    .chain(&near)
                    .any(|rule| line.starts_with(rule));
                assert!(Finding::from_line(&line[..end]).is_none_or(|_| may_end), "{line}");
            }
            assert_eq!(Finding::from_line(&format!("{line}\tmore")), None);
        }
    }

    #[test]
    fn names_cannot_break_a_line() {
        let made = Made { call: "a\tb\nc".into(), frames: Vec::new() };
        let finding = Finding::Leak { what: "event".into(), count: 1, bytes: 0, made };
        assert_eq!(
            Finding::from_line(&finding.line()).map(|read| read.names()[1].to_owned()),
            Some("a b c".into())
        );
    }
}
