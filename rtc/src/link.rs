//! Objects, archives and bitcode, linked to a code object.
//!
//! The linker is lld, which clang starts; bitcode is optimised as a whole while it is linked.

use loader::{Limits, bundle::Bundle};
use object::read::archive::ArchiveFile;

use crate::{
    Error,
    child::{self, Ended, Scratch},
    compile,
    compiler::{Compiler, LIBRARIES, shown},
    options::Options,
    target::Target,
};

/// What an input is, as its caller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A relocatable AMDGPU object.
    Object,
    /// An archive of objects, bitcode and bundles.
    Library,
    /// LLVM bitcode, or LLVM's language as text.
    Bitcode,
    /// A bundle that clang made, of bitcode for several targets.
    BundledBitcode,
    /// An archive of bundles.
    BundledArchive,
}

/// Something that lld takes, or that becomes it when the target is known.
#[derive(Debug)]
struct Piece {
    name: String,
    form: Form,
    bytes: Vec<u8>,
}

/// What bytes are, as they show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Bitcode,
    Text,
    Object,
    Bundle,
    Archive,
}

/// Inputs that are linked, and what became of them.
#[derive(Debug, Default)]
pub struct Linker {
    pieces: Vec<Piece>,
    /// Options of all kinds, as a compilation has them.
    options: Vec<String>,
    output: Option<Vec<u8>>,
    log: String,
}

impl Linker {
    /// Adds options for the code generator, as clang takes them.
    pub fn add_options(&mut self, options: impl IntoIterator<Item = String>) {
        self.options.extend(options);
    }

    /// Adds an input; `name` is for messages.
    ///
    /// # Errors
    /// [`Error::Input`] for what is not as the caller says.
    pub fn add(&mut self, kind: Input, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let refuse = |why: &str| Error::Input { name: name.into(), why: why.into() };
        let form = form(&bytes)
            .ok_or_else(|| refuse("neither an AMDGPU object, nor bitcode, nor a bundle or an archive"))?;
        let fits = match kind {
            Input::Object => form == Form::Object,
            Input::Library => form == Form::Archive,
            Input::Bitcode => matches!(form, Form::Bitcode | Form::Text),
            Input::BundledBitcode => form == Form::Bundle,
            Input::BundledArchive => form == Form::Archive,
        };
        if !fits {
            return Err(refuse("not of the type that it is given as"));
        }
        let pieces = if form == Form::Archive {
            members(name, &bytes)?
        } else {
            vec![Piece { name: name.into(), form, bytes }]
        };
        pieces.iter().try_for_each(check)?;
        self.pieces.extend(pieces);
        Ok(())
    }

    /// Links; `device` names the architecture if no option does.
    ///
    /// # Errors
    /// [`Error::Linking`] and what running the compiler can fail with; [`Linker::log`] says the same.
    pub fn complete(&mut self, device: impl FnOnce() -> Option<String>) -> Result<&[u8], Error> {
        match self.link(device) {
            Ok((bytes, log)) => {
                self.log = log;
                Ok(self.output.insert(bytes))
            }
            Err(error) => {
                self.log = format!("{}\n", error.to_string().trim_end());
                Err(error)
            }
        }
    }

    /// What the last call of [`Linker::complete`] had to say.
    pub fn log(&self) -> &str {
        &self.log
    }

    fn link(&self, device: impl FnOnce() -> Option<String>) -> Result<(Vec<u8>, String), Error> {
        if self.pieces.is_empty() {
            return Err(Error::Linking("nothing to link".into()));
        }
        let options = Options::parse(&self.options)?;
        let target = match &options.target {
            Some(target) => target.clone(),
            None => Target::parse(&device().ok_or(Error::NoTarget)?)?,
        };
        let compiler = Compiler::find()?;
        let scratch = Scratch::new()?;
        let inputs = self.files(&target, &compiler, &scratch)?;
        let run = |libraries: &[String]| -> Result<Ended, Error> {
            let mut arguments: Vec<String> =
                ["--target=amdgcn-amd-amdhsa", "-nogpulib", "-flto", "-Wno-unused-command-line-argument"]
                    .map(String::from)
                    .into();
            arguments.push(format!("-mcpu={}", target.name));
            if !options.has("-O") {
                arguments.push("-O3".into());
            }
            arguments.extend(options.arguments.iter().cloned());
            arguments.extend(inputs.iter().chain(libraries).cloned());
            arguments.extend(["-o".into(), shown(&scratch.path("result"))]);
            child::run(&compiler.path, &arguments, &scratch)
        };
        let mut ended = run(&[])?;
        let lacks_libraries = ["__ocml_", "__ockl_", "__oclc_"].iter().any(|name| ended.text.contains(name));
        if !ended.success && lacks_libraries && compiler.bitcode.is_some() {
            let controls = target.controls(&options.controls(compiler.code_object()));
            ended = run(&libraries(&compiler, &controls, &scratch)?)?;
        }
        let log = compile::told(&ended, &compiler, &scratch);
        if ended.success { Ok((scratch.read("result")?, log)) } else { Err(Error::Linking(log)) }
    }

    /// Writes the pieces as files, bundles as what they have for the target.
    fn files(&self, target: &Target, compiler: &Compiler, scratch: &Scratch) -> Result<Vec<String>, Error> {
        let mut files = Vec::new();
        for (n, piece) in self.pieces.iter().enumerate() {
            let chosen = match piece.form {
                Form::Bundle => Some(choose(piece, target)?),
                _ => None,
            };
            let bytes = chosen.as_ref().unwrap_or(&piece.bytes);
            let file = match form(bytes) {
                Some(Form::Text) => scratch.write(&format!("{n}.bc"), &compiler.assemble(&text(piece)?)?)?,
                Some(Form::Bitcode) => scratch.write(&format!("{n}.bc"), bytes)?,
                Some(Form::Object) => scratch.write(&format!("{n}.o"), bytes)?,
                _ => {
                    return Err(Error::Input {
                        name: piece.name.clone(),
                        why: "not what can be linked".into(),
                    });
                }
            };
            files.push(shown(&file));
        }
        Ok(files)
    }
}

fn text(piece: &Piece) -> Result<String, Error> {
    let text = String::from_utf8(piece.bytes.clone());
    text.map_err(|_| Error::Input { name: piece.name.clone(), why: "text that is not UTF-8".into() })
}

/// Device libraries of which the linker takes what is missing.
fn libraries(compiler: &Compiler, controls: &str, scratch: &Scratch) -> Result<Vec<String>, Error> {
    let Some(folder) = &compiler.bitcode else { return Ok(Vec::new()) };
    let controls = scratch.write("controls.bc", &compiler.assemble(controls)?)?;
    let mut arguments = vec!["-Wl,--start-lib".into()];
    arguments.extend(LIBRARIES.map(|library| shown(&folder.join(library))));
    arguments.extend([shown(&controls), "-Wl,--end-lib".into()]);
    Ok(arguments)
}

/// `EM_AMDGPU`.
const AMDGPU: [u8; 2] = 224_u16.to_le_bytes();
/// `ET_REL`.
const RELOCATABLE: [u8; 2] = 1_u16.to_le_bytes();

fn form(bytes: &[u8]) -> Option<Form> {
    // The second one wraps bitcode (LLVM Bitcode File Format, Bitcode Wrapper Format).
    let forms: [(&[u8], Form); 6] = [
        (b"BC\xc0\xde", Form::Bitcode),
        (b"\xde\xc0\x17\x0b", Form::Bitcode),
        (b"\x7fELF", Form::Object),
        (b"__CLANG_OFFLOAD_BUNDLE__", Form::Bundle),
        (b"CCOB", Form::Bundle),
        (b"!<arch>\n", Form::Archive),
    ];
    let known = forms.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, form)| *form);
    let is_text = || {
        let text = std::str::from_utf8(bytes).ok()?;
        let begins = |line: &str| {
            ["; ModuleID", "source_filename", "target ", "define ", "@"]
                .iter()
                .any(|word| line.starts_with(word))
        };
        text.lines().any(begins).then_some(Form::Text)
    };
    known.or_else(is_text)
}

/// An object must be one that lld links for AMDGPU: hosts have objects, too, and code objects are linked already.
fn check(piece: &Piece) -> Result<(), Error> {
    if piece.form != Form::Object {
        return Ok(());
    }
    let field = |at: usize| piece.bytes.get(at..at + 2);
    let why = if field(18) != Some(&AMDGPU) {
        "an object, but not of AMDGPU"
    } else if field(16) != Some(&RELOCATABLE) {
        "a code object that is linked already"
    } else {
        return Ok(());
    };
    Err(Error::Input { name: piece.name.clone(), why: why.into() })
}

/// All members of an archive: no member uses kernels, and they must be there all the same.
fn members(archive: &str, bytes: &[u8]) -> Result<Vec<Piece>, Error> {
    let refuse = |name: String, why: String| Error::Input { name, why };
    let damaged = |error: object::Error| refuse(archive.into(), error.to_string());
    let read = ArchiveFile::parse(bytes).map_err(damaged)?;
    let mut pieces = Vec::new();
    for member in read.members() {
        let member = member.map_err(damaged)?;
        let name = format!("{archive}({})", String::from_utf8_lossy(member.name()));
        let bytes = member.data(bytes).map_err(damaged)?.to_vec();
        let form = form(&bytes).filter(|form| *form != Form::Archive);
        let form = form.ok_or_else(|| {
            refuse(name.clone(), "neither an AMDGPU object, nor bitcode, nor a bundle".into())
        })?;
        pieces.push(Piece { name, form, bytes });
    }
    Ok(pieces)
}

/// What a bundle has for a target: of the same processor, with the same features or with any.
fn choose(piece: &Piece, target: &Target) -> Result<Vec<u8>, Error> {
    let refuse = |why: String| Error::Input { name: piece.name.clone(), why };
    let bundle =
        Bundle::parse(&piece.bytes[..], &Limits::default()).map_err(|error| refuse(error.to_string()))?;
    let of = |id: &str| {
        id.rsplit_once("-gfx").filter(|_| !id.starts_with("host")).map(|(_, name)| format!("gfx{name}"))
    };
    let processor = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    let entries = || bundle.entries().iter().filter_map(|entry| Some((of(&entry.id)?, entry)));
    let exact = entries().find(|(name, _)| *name == target.name);
    let chosen = exact.or_else(|| entries().find(|(name, _)| *name == processor(&target.name)));
    match chosen {
        Some((_, entry)) => Ok(entry.bytes.to_vec()),
        None => {
            let has: Vec<_> = bundle.entries().iter().map(|entry| entry.id.to_string()).collect();
            Err(refuse(format!("nothing for {}, but for {}", target.name, has.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(machine: u16, kind: u16) -> Vec<u8> {
        let mut bytes = b"\x7fELF".to_vec();
        bytes.resize(64, 0);
        bytes[16..18].copy_from_slice(&kind.to_le_bytes());
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes
    }

    #[test]
    fn inputs_are_what_their_callers_say() {
        let mut linker = Linker::default();
        for (kind, bytes, fits) in [
            (Input::Bitcode, b"BC\xc0\xde....".to_vec(), true),
            (Input::Bitcode, b"target triple = \"amdgcn\"\n".to_vec(), true),
            (Input::Bitcode, b"nonsense".to_vec(), false),
            (Input::Bitcode, object(224, 1), false),
            (Input::Object, object(224, 1), true),
            (Input::Object, object(224, 3), false),
            (Input::Object, object(62, 1), false),
            (Input::Object, b"\x7fELF".to_vec(), false),
            (Input::BundledBitcode, b"BC\xc0\xde".to_vec(), false),
            (Input::BundledArchive, b"!<arch>\n".to_vec(), true),
            (Input::Library, b"!<arch>\nrubbish".to_vec(), false),
            (Input::Library, Vec::new(), false),
        ] {
            let added = linker.add(kind, "x", bytes.clone());
            assert_eq!(added.is_ok(), fits, "{kind:?} {bytes:?} {added:?}");
        }
        assert_eq!(linker.pieces.len(), 3);
    }

    #[test]
    fn nothing_is_not_linked() {
        let mut linker = Linker::default();
        assert!(matches!(linker.complete(|| Some("gfx90a".into())), Err(Error::Linking(_))));
        assert_eq!(linker.log(), "nothing to link\n");
    }
}
