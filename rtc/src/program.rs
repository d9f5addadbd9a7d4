//! Programs: a source with its headers and name expressions, and what became of it.

use std::ffi::{CStr, CString};

use crate::{
    Error,
    cache::Cache,
    compile::{self, Product, Request},
    compiler::Compiler,
    options::Options,
    target::Target,
};

/// The name of a program without one.
const UNNAMED: &str = "default_program";

/// A program that is compiled at run time.
#[derive(Debug)]
pub struct Program {
    source: Vec<u8>,
    name: String,
    headers: Vec<(String, Vec<u8>)>,
    expressions: Vec<String>,
    state: State,
    log: String,
}

#[derive(Debug)]
enum State {
    New,
    Failed,
    Built { is_relocatable: bool, bytes: Vec<u8>, names: Vec<CString> },
}

impl Program {
    /// A program of a source, a name for messages (empty: one of ours), and headers by the names that it includes them by.
    ///
    /// # Errors
    /// [`Error::Header`] for a name that would lead out of the folder of headers.
    pub fn new(source: &[u8], name: &str, headers: Vec<(String, Vec<u8>)>) -> Result<Self, Error> {
        headers.iter().try_for_each(|(name, _)| compile::check_header(name))?;
        let name = if name.is_empty() { UNNAMED } else { name };
        Ok(Self {
            source: source.into(),
            name: name.into(),
            headers,
            expressions: Vec::new(),
            state: State::New,
            log: String::new(),
        })
    }

    /// Has the name of a kernel or a variable, as the language writes it, be instantiated and looked up.
    ///
    /// # Errors
    /// [`Error::Compiled`] after the compilation.
    pub fn add_name_expression(&mut self, expression: &str) -> Result<(), Error> {
        if !matches!(self.state, State::New) {
            return Err(Error::Compiled);
        }
        if !self.expressions.iter().any(|known| known == expression) {
            self.expressions.push(expression.into());
        }
        Ok(())
    }

    /// Compiles with options; `device` names the architecture if they do not. Results of an earlier compilation go.
    ///
    /// # Errors
    /// What [`Program::log`] then says as well.
    pub fn compile(
        &mut self,
        options: &[impl AsRef<str>],
        device: impl FnOnce() -> Option<String>,
    ) -> Result<(), Error> {
        self.state = State::Failed;
        self.log.clear();
        match self.build(options, device) {
            Ok((is_relocatable, product)) => {
                let names = product.names.into_iter().map(CString::new).collect::<Result<_, _>>();
                // PANIC: names end before a NUL in the table that they are from.
                let names = names.expect("a symbol's name has no NUL");
                self.log = product.log;
                self.state = State::Built { is_relocatable, bytes: product.bytes, names };
                Ok(())
            }
            Err(error) => {
                self.log = format!("{}\n", error.to_string().trim_end());
                Err(error)
            }
        }
    }

    fn build(
        &self,
        options: &[impl AsRef<str>],
        device: impl FnOnce() -> Option<String>,
    ) -> Result<(bool, Product), Error> {
        let options = Options::parse(options)?;
        let target = match &options.target {
            Some(target) => target.clone(),
            None => Target::parse(&device().ok_or(Error::NoTarget)?)?,
        };
        let compiler = Compiler::find()?;
        let request = Request {
            source: &self.source,
            name: &self.name,
            headers: &self.headers,
            expressions: &self.expressions,
            options: &options,
            target: &target,
        };
        let product = compile::compile(&request, &compiler, Cache::of_user().as_ref())?;
        Ok((options.is_relocatable, product))
    }

    /// What the last compilation had to say: warnings, or why it failed.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The code object.
    ///
    /// # Errors
    /// [`Error::NotCompiled`] if there is none.
    pub fn code(&self) -> Result<&[u8], Error> {
        self.result(false)
    }

    /// The bitcode of a program that was compiled with `-fgpu-rdc`.
    ///
    /// # Errors
    /// [`Error::NotCompiled`] if there is none.
    pub fn bitcode(&self) -> Result<&[u8], Error> {
        self.result(true)
    }

    fn result(&self, relocatable: bool) -> Result<&[u8], Error> {
        match &self.state {
            State::Built { is_relocatable, bytes, .. } if *is_relocatable == relocatable => Ok(bytes),
            _ => Err(Error::NotCompiled),
        }
    }

    /// The symbol of a name expression. It stays where it is until the program is compiled again or ends.
    ///
    /// # Errors
    /// [`Error::NotCompiled`] before a compilation that succeeded, [`Error::UnknownName`] for an expression that was not
    /// added.
    pub fn lowered_name(&self, expression: &str) -> Result<&CStr, Error> {
        let State::Built { names, .. } = &self.state else { return Err(Error::NotCompiled) };
        let place = self.expressions.iter().position(|known| known == expression);
        let name = place.and_then(|place| names.get(place));
        name.map(CString::as_c_str).ok_or_else(|| Error::UnknownName(expression.into()))
    }
}
