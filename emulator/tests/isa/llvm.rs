//! llvm-mc and llvm-objdump as oracles.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use emulator::isa::{Generation, Target};

/// What LLVM makes of two to four words.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No instruction.
    Invalid,
    /// An instruction of this many bytes.
    Valid { size: usize, text: String },
    /// LLVM itself crashed: no verdict.
    Crashed,
}

/// Follows each sample, so that its output can be told from the next one's. The PADs before it feed a last word that
/// begins an instruction of twenty bytes: llvm-mc reads its lines as one stream.
const MARK: &str =
    " 0x07 0x00 0x80 0xbf 0x07 0x00 0x80 0xbf 0x07 0x00 0x80 0xbf 0x07 0x00 0x80 0xbf\n0xcd 0xab 0x80 0xbf\n";
const MARK_TEXT: &str = "s_nop 0xabcd";
/// The PADs in MARK.
const PADS: usize = 4;
/// Stands behind an instruction that is shorter than its sample: as many come out if LLVM agrees about the size.
pub const PAD: u32 = 0xbf80_0007;
const PAD_TEXT: &str = "s_nop 7";

/// Whether `tool` of Debian's `package` is there; the caller skips its test otherwise.
///
/// # Panics
/// If it is missing and `AQLIPSE_REQUIRE_PACKAGES=1`.
pub fn available(tool: &str, package: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        let required = std::env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|v| v == "1");
        assert!(!required, "{tool} (Debian package {package}) is missing");
        eprintln!("skipped: {tool} (Debian package {package}) is missing");
    }
    found
}

/// Disassembles each sample by itself, in batches that are halved where LLVM crashes.
pub fn disassemble<const N: usize>(target: Target, samples: &[[u32; N]]) -> Vec<Verdict> {
    samples.chunks(20_000).flat_map(|batch| batch_or_halves(target, batch)).collect()
}

fn batch_or_halves<const N: usize>(target: Target, samples: &[[u32; N]]) -> Vec<Verdict> {
    match run(target, samples) {
        Some(verdicts) => verdicts,
        None if samples.len() == 1 => vec![Verdict::Crashed],
        None => {
            let (left, right) = samples.split_at(samples.len() / 2);
            let mut verdicts = batch_or_halves(target, left);
            verdicts.extend(batch_or_halves(target, right));
            verdicts
        }
    }
}

/// LLVM's text of each pair of words in waves of 64 lanes; `None` if they are no instruction.
pub fn disassemble_wide(target: Target, samples: &[[u32; 2]]) -> Vec<Option<String>> {
    let text = |words: &[u32; 2]| {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        let bytes: Vec<_> = bytes.map(|byte| format!("{byte:#04x}")).collect();
        let script =
            format!("echo '{}' | llvm-mc-22 -triple=amdgcn-amd-amdhsa -disassemble", bytes.join(" "));
        let output = Command::new("sh")
            .args(["-c", &format!("{script} -mcpu={} -mattr=+wavefrontsize64 2>/dev/null", target.name())])
            .output()
            .expect("there is a shell");
        let text = String::from_utf8(output.stdout).expect("disassembly is text");
        text.lines().map(without_diagnostics).find(|line| !line.is_empty() && line != ".text")
    };
    samples.iter().map(text).collect()
}

/// The feature with which LLVM names halves of registers; it is the default for RDNA 3 only.
fn halves(target: Target) -> Option<&'static str> {
    (target.generation() > Generation::Gfx10).then_some("+real-true16")
}

/// One llvm-mc process; `None` if it crashed.
fn run<const N: usize>(target: Target, samples: &[[u32; N]]) -> Option<Vec<Verdict>> {
    let mut input = String::with_capacity(samples.len() * 64);
    for sample in samples {
        let bytes: Vec<_> =
            sample.iter().flat_map(|word| word.to_le_bytes()).map(|b| format!("{b:#04x}")).collect();
        input.push_str(&bytes.join(" "));
        input.push_str(MARK);
    }
    let mut child = Command::new("llvm-mc-22")
        .args(["-triple=amdgcn-amd-amdhsa", "-disassemble", &format!("-mcpu={}", target.name())])
        .args(halves(target).map(|attributes| format!("-mattr={attributes}")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("llvm-mc-22 was found before");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // llvm-mc reads all of its input before it writes; if it dies first, the write fails and the status tells.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("llvm-mc-22 can be waited for");
    writer.join().expect("the writer does not panic");
    // An exit status without a code is a signal.
    output.status.code()?;
    let stdout = String::from_utf8(output.stdout).expect("disassembly is text");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut invalid_at_start = vec![false; samples.len()];
    let mut invalid_behind = vec![false; samples.len()];
    // <stdin>:LINE:COLUMN: warning: invalid instruction encoding. Older compilers filled ignored fields with something else,
    // of which it says that the encoding is potentially undefined.
    for line in stderr.lines().filter(|line| !line.contains("potentially undefined")) {
        let mut fields = line.split(':').skip(1);
        let position =
            fields.next().zip(fields.next()).map(|(l, c)| (l.parse::<usize>(), c.parse::<usize>()));
        if let Some((Ok(line), Ok(column))) = position {
            let warned = if column == 1 { &mut invalid_at_start } else { &mut invalid_behind };
            warned[(line - 1) / 2] = true;
        }
    }
    let mut verdicts = Vec::with_capacity(samples.len());
    let mut lines = Vec::new();
    for line in stdout.lines().map(without_diagnostics).filter(|line| !line.is_empty() && line != ".text") {
        if line != MARK_TEXT {
            lines.push(line);
            continue;
        }
        let i = verdicts.len();
        verdicts.push(match lines.first() {
            Some(text) if !invalid_at_start[i] => {
                let behind = &lines[1..];
                let known =
                    behind.len() >= PADS && !invalid_behind[i] && behind.iter().all(|l| l == PAD_TEXT);
                // Other words behind it are those of a sample that was said to be longer than this.
                let words = if known { (N + PADS).saturating_sub(behind.len()) } else { N / 4 + 1 };
                Verdict::Valid { size: 4 * words, text: text.clone() }
            }
            _ => Verdict::Invalid,
        });
        lines.clear();
    }
    assert_eq!(verdicts.len(), samples.len(), "a mark is missing in llvm-mc's output");
    Some(verdicts)
}

/// LLVM's text without what it remarks about operands that it would not assemble.
fn without_diagnostics(line: &str) -> String {
    let mut rest = line.split(" ; Warning").next().unwrap_or_default().trim();
    let mut text = String::new();
    while let Some((before, behind)) = rest.split_once("/*Invalid ") {
        // Only these two; `/* Invalid dpp_ctrl value */` is an operand's text.
        text.push_str(before);
        rest = behind.split_once("*/").map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    text.trim_end().replace('\t', " ")
}

/// The instructions of an object file's text section: words and text.
pub fn objdump(object: &Path, target: Target) -> Vec<(Vec<u32>, String)> {
    let output = Command::new("llvm-objdump-22")
        .args(["-d", &format!("--mcpu={}", target.name())])
        .args(halves(target).map(|attributes| format!("--mattr={attributes}")))
        .arg(object)
        .output()
        .expect("llvm-objdump-22 was found before");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listing = String::from_utf8(output.stdout).expect("disassembly is text");
    listing.lines().filter_map(parse_listing).collect()
}

/// `\ts_nop 0   // 000000001000: BF800000 <label>`
fn parse_listing(line: &str) -> Option<(Vec<u32>, String)> {
    let (text, comment) = line.strip_prefix('\t')?.split_once("//")?;
    let (_, words) = comment.split_once(": ")?;
    let words = words.split_whitespace().map_while(|word| u32::from_str_radix(word, 16).ok()).collect();
    Some((words, without_diagnostics(text)))
}
