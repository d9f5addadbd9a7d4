//! The language of AMD's instruction pseudocode: its tokens and its grammar.

/// A number with a format: an integer of unbounded size, or the bits of a float.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub bits: i128,
    pub width: u32,
    pub float: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Number(Value),
    Name(String),
    /// `x.f32`: the low bits as that type.
    Typed(Box<Expr>, String),
    /// `x[high : low]`, reversed if `high` is below.
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x[low +: width]`.
    Part(Box<Expr>, Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// `32'F(x)`: a conversion.
    Cast(u32, String, Box<Expr>),
    /// `{ high, low }`.
    Concat(Vec<Expr>),
    Unary(String, Box<Expr>),
    Binary(String, Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
pub(super) enum Statement {
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    For(String, Expr, Expr, Vec<Statement>),
    Break,
    Return(Expr),
    Set(Expr, Expr),
    /// A function: its parameters and its body.
    Lambda(String, Vec<String>, Vec<Statement>),
    /// A variable, or an array of them.
    Declare(String, bool),
}

/// Splits a text into tokens; a name keeps the types behind its dots to itself.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    const LONG: [&str; 12] = ["**", "<<", ">>", "<=", ">=", "==", "!=", "<>", "&&", "||", "+=", "+:"];
    let mut tokens = Vec::new();
    for line in text.lines() {
        let mut rest = line.split("//").next().unwrap_or("").trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if first.is_ascii_digit() {
                // Digits, a width, a suffix, a fraction: 32'I, 1'1U, 0xffLL, 16'0.5, 2.0F.
                let inside = |(i, c): (usize, char)| {
                    let fraction = c == '.' && rest[i + 1..].starts_with(|d: char| d.is_ascii_digit());
                    !(c.is_ascii_alphanumeric() || c == '\'' || fraction)
                };
                rest.char_indices().find(|at| inside(*at)).map_or(rest.len(), |(i, _)| i)
            } else if first.is_ascii_alphabetic() || first == '_' {
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
            } else if LONG.iter().any(|token| rest.starts_with(token)) || rest.starts_with("-=") {
                2
            } else if "+-*/&|^~!?:;=<>(){}[],.".contains(first) {
                1
            } else {
                return Err(format!("unknown token at {rest}"));
            };
            tokens.push(rest[..length].to_owned());
            rest = rest[length..].trim_start();
        }
    }
    Ok(tokens)
}

/// Parses the pseudocode of one instruction.
pub(super) fn parse(text: &str) -> Result<Vec<Statement>, String> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    let block = parser.block(&[])?;
    if parser.at < parser.tokens.len() {
        return Err(format!("{:?} is left over", &parser.tokens[parser.at..]));
    }
    Ok(block)
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

type Parsed<T> = Result<T, String>;

/// Binary operators, loosest first.
const OPERATORS: [&[&str]; 11] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!=", "<>"],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/"],
    &["**"],
];

impl Parser {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        let token = self.peek().to_owned();
        self.at += 1;
        token
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.accept(token) { Ok(()) } else { Err(format!("{token} expected, not {}", self.peek())) }
    }

    fn block(&mut self, ends: &[&str]) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while self.accept(";") {}
            if self.peek().is_empty() || ends.contains(&self.peek()) {
                return Ok(statements);
            }
            statements.push(self.statement()?);
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        match self.peek() {
            "if" => self.choice(),
            "for" => {
                self.next();
                let name = self.next();
                self.expect("in")?;
                let low = self.operation(0)?;
                self.expect(":")?;
                let high = self.operation(0)?;
                self.expect("do")?;
                let body = self.block(&["endfor"])?;
                self.expect("endfor")?;
                Ok(Statement::For(name, low, high, body))
            }
            "break" => {
                self.next();
                Ok(Statement::Break)
            }
            "return" => {
                self.next();
                Ok(Statement::Return(self.expression()?))
            }
            "declare" => {
                self.next();
                let name = self.next();
                let mut array = false;
                while !matches!(self.peek(), ";" | "") {
                    array |= self.next() == "[";
                }
                Ok(Statement::Declare(name, array))
            }
            _ => self.assignment(),
        }
    }

    fn choice(&mut self) -> Parsed<Statement> {
        let mut branches = Vec::new();
        self.next();
        loop {
            let condition = self.expression()?;
            self.expect("then")?;
            branches.push((condition, self.block(&["elsif", "else", "endif"])?));
            match self.next().as_str() {
                "elsif" => {}
                "else" => {
                    let other = self.block(&["endif"])?;
                    self.expect("endif")?;
                    return Ok(Statement::If(branches, other));
                }
                _ => return Ok(Statement::If(branches, Vec::new())),
            }
        }
    }

    fn assignment(&mut self) -> Parsed<Statement> {
        let target = self.postfix()?;
        for operator in ["+", "-"] {
            if self.accept(&format!("{operator}=")) {
                let value = self.expression()?;
                let sum = Expr::Binary(operator.into(), Box::new(target.clone()), Box::new(value));
                return Ok(Statement::Set(target, sum));
            }
        }
        self.expect("=")?;
        if self.accept("lambda") {
            return self.lambda(target);
        }
        let value = self.expression()?;
        if self.accept("=") {
            // `EXEC[i] = D0[i] = x`: both get the value; the second one is what is looked at.
            let value = self.expression()?;
            return Ok(Statement::Set(target, value));
        }
        Ok(Statement::Set(target, value))
    }

    fn lambda(&mut self, target: Expr) -> Parsed<Statement> {
        let Expr::Name(name) = target else { return Err("a function without a name".into()) };
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.accept(")") {
            let parameter = self.next();
            if parameter != "," {
                parameters.push(parameter);
            }
        }
        self.expect("(")?;
        let body = if matches!(self.peek(), "if" | "declare" | "return") {
            self.block(&[")"])?
        } else {
            vec![Statement::Return(self.expression()?)]
        };
        while self.accept(";") {}
        self.expect(")")?;
        Ok(Statement::Lambda(name, parameters, body))
    }

    fn expression(&mut self) -> Parsed<Expr> {
        let condition = self.operation(0)?;
        self.rest_of_choice(condition)
    }

    fn rest_of_choice(&mut self, condition: Expr) -> Parsed<Expr> {
        if !self.accept("?") {
            return Ok(condition);
        }
        let yes = self.expression()?;
        self.expect(":")?;
        let no = self.expression()?;
        Ok(Expr::Choice(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn operation(&mut self, level: usize) -> Parsed<Expr> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.operation(level + 1)?;
        while operators.contains(&self.peek()) {
            let operator = self.next();
            let right = self.operation(level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if matches!(self.peek(), "-" | "~" | "!" | "+") {
            let operator = self.next();
            return Ok(Expr::Unary(operator, Box::new(self.unary()?)));
        }
        self.postfix()
    }

    fn list(&mut self, end: &str) -> Parsed<Vec<Expr>> {
        let mut list = Vec::new();
        while !self.accept(end) {
            list.push(self.expression()?);
            self.accept(",");
        }
        Ok(list)
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let token = self.next();
        let mut expr = match token.as_str() {
            "(" => {
                let inner = self.expression()?;
                self.expect(")")?;
                inner
            }
            "{" => Expr::Concat(self.list("}")?),
            _ if token.starts_with(|c: char| c.is_ascii_digit()) => self.number(&token)?,
            _ if self.peek() == "(" => {
                self.next();
                Expr::Call(token, self.list(")")?)
            }
            _ => Expr::Name(token),
        };
        loop {
            if self.accept("[") {
                let first = self.operation(0)?;
                let first = self.rest_of_choice(first)?;
                expr = if self.accept(":") {
                    Expr::Slice(Box::new(expr), Box::new(first), Box::new(self.operation(0)?))
                } else if self.accept("+:") {
                    Expr::Part(Box::new(expr), Box::new(first), Box::new(self.operation(0)?))
                } else {
                    Expr::Index(Box::new(expr), Box::new(first))
                };
                self.expect("]")?;
            } else if self.accept(".") {
                expr = Expr::Typed(Box::new(expr), self.next());
            } else {
                return Ok(expr);
            }
        }
    }

    fn number(&mut self, token: &str) -> Parsed<Expr> {
        let (width, text) = match token.split_once('\'') {
            Some((width, text)) => (Some(width.parse().map_err(|_| format!("width of {token}"))?), text),
            None => (None, token),
        };
        if let (Some(width), "U" | "I" | "F" | "B" | "BF") = (width, text) {
            self.expect("(")?;
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(Expr::Cast(width, text.into(), Box::new(inner)));
        }
        let bad = || format!("number {token}");
        if text.contains('.') {
            let single = text.ends_with('F');
            let x: f64 = text.trim_end_matches('F').parse().map_err(|_| bad())?;
            let width = width.unwrap_or(if single { 32 } else { 64 });
            return Ok(Expr::Number(super::number::float(x, width)));
        }
        let digits = text.trim_end_matches(['U', 'L']);
        let bits = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        Ok(Expr::Number(Value { bits: bits.map_err(|_| bad())?, width: width.unwrap_or(32), float: false }))
    }
}
