//! A program as a tree of statements, so that a failing one can be made smaller.

use std::fmt::Write;

/// A statement with its text.
#[derive(Clone, Debug)]
pub enum Statement {
    /// One that can be left out.
    Simple(String),
    /// One that the others rely on: barriers, what separates the phases.
    Fixed(String),
    /// `head { body }` for each arm, in between `open` and `close`.
    Nested { open: String, arms: Vec<Arm>, close: String },
}

/// A body with what stands before and after it.
#[derive(Clone, Debug)]
pub struct Arm {
    pub head: String,
    pub body: Vec<Statement>,
    pub tail: String,
}

impl Arm {
    pub fn new(head: impl Into<String>, body: Vec<Statement>) -> Self {
        Self { head: format!("{} {{", head.into()), body, tail: "}".into() }
    }
}

/// A whole source: declarations, functions, and the kernel's statements.
#[derive(Clone, Debug)]
pub struct Program {
    /// Declarations and functions, each with its own body.
    pub functions: Vec<Arm>,
    pub kernel: Arm,
    /// What each word of a work-item's results is.
    pub results: Vec<String>,
}

impl Program {
    /// The text for the compiler.
    pub fn source(&self) -> String {
        let mut text = String::new();
        for arm in self.functions.iter().chain([&self.kernel]) {
            write_arm(&mut text, arm, 0);
        }
        text
    }

    /// Programs with one statement less, those that lose most first.
    pub fn smaller(&self) -> Vec<Self> {
        let mut found = vec![];
        for (i, function) in self.functions.iter().enumerate() {
            found.extend(shorter(&function.body).into_iter().map(|body| {
                let mut program = self.clone();
                program.functions[i].body = body;
                program
            }));
        }
        found.extend(shorter(&self.kernel.body).into_iter().map(|body| {
            let mut program = self.clone();
            program.kernel.body = body;
            program
        }));
        found.sort_by_key(|program| program.source().len());
        found
    }
}

fn shorter(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut found = vec![];
    for (i, statement) in body.iter().enumerate() {
        let with = |replacement: Vec<Statement>| {
            let mut body = body.to_vec();
            body.splice(i..=i, replacement);
            body
        };
        match statement {
            Statement::Fixed(_) => {}
            Statement::Simple(_) => found.push(with(vec![])),
            Statement::Nested { open, arms, close } => {
                found.push(with(vec![]));
                for (n, arm) in arms.iter().enumerate() {
                    found.extend(shorter(&arm.body).into_iter().map(|body| {
                        let mut arms = arms.clone();
                        arms[n].body = body;
                        with(vec![Statement::Nested { open: open.clone(), arms, close: close.clone() }])
                    }));
                }
            }
        }
    }
    found
}

fn write_arm(text: &mut String, arm: &Arm, indent: usize) {
    let pad = "    ".repeat(indent);
    let _ = writeln!(text, "{pad}{}", arm.head);
    for statement in &arm.body {
        write_statement(text, statement, indent + 1);
    }
    let _ = writeln!(text, "{pad}{}", arm.tail);
}

fn write_statement(text: &mut String, statement: &Statement, indent: usize) {
    let pad = "    ".repeat(indent);
    match statement {
        Statement::Simple(line) | Statement::Fixed(line) => {
            let _ = writeln!(text, "{pad}{line}");
        }
        Statement::Nested { open, arms, close } => {
            if !open.is_empty() {
                let _ = writeln!(text, "{pad}{open}");
            }
            for arm in arms {
                write_arm(text, arm, indent);
            }
            if !close.is_empty() {
                let _ = writeln!(text, "{pad}{close}");
            }
        }
    }
}
