//! What profilers are told of: `callbacks.tsv`, with the numbers and the arguments of functions as `hip_prof_str.h` of HIP
//! 5.2.3 has them (`hip_api_id_t`, `hip_api_data_t`).

/// One row.
pub struct Function {
    id: u32,
    name: String,
    pub arguments: Vec<Argument>,
}

/// An argument: its place in `hip_api_data_t`, in bytes.
pub struct Argument {
    pub name: String,
    offset: u16,
    size: u16,
    is_float: bool,
}

impl Argument {
    /// The type of a parameter that is passed as one of the function's is.
    pub fn word(&self) -> Result<&'static str, String> {
        match (self.size, self.is_float) {
            (4, true) => Ok("f32"),
            (4, false) => Ok("u32"),
            (8, false) => Ok("u64"),
            _ => Err(format!("{} is passed in no register of integers", self.name)),
        }
    }
}

/// Reads the table, whose rows are `id function arguments`, tab-separated and sorted by function, after a header line. Each
/// argument is `name:offset:size`, with an `f` behind if it is a floating-point number.
pub fn parse(text: &str) -> Result<Vec<Function>, String> {
    let mut functions: Vec<Function> = Vec::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let fail = |what: &str| format!("callbacks.tsv:{}: {what}", index + 1);
        let [id, name, arguments] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(fail("expected three columns"));
        };
        let arguments: Option<Vec<_>> = arguments.split_whitespace().map(argument).collect();
        functions.push(Function {
            id: id.parse().map_err(|_| fail("expected a number"))?,
            name: name.into(),
            arguments: arguments.ok_or_else(|| fail("expected name:offset:size"))?,
        });
        if let [.., before, last] = &functions[..]
            && before.name >= last.name
        {
            return Err(fail("not sorted by function"));
        }
    }
    Ok(functions)
}

fn argument(text: &str) -> Option<Argument> {
    let [name, offset, size] = text.split(':').collect::<Vec<_>>()[..] else { return None };
    let number = size.trim_end_matches('f');
    let (offset, is_float) = (offset.parse().ok()?, number != size);
    Some(Argument { name: name.into(), offset, size: number.parse().ok()?, is_float })
}

/// The function that a symbol is, by its name or as C++ mangles it.
pub fn of<'f>(functions: &'f [Function], symbol: &str) -> Option<&'f Function> {
    functions.iter().find(|function| {
        let name = &function.name;
        symbol == name || symbol.starts_with(&format!("_Z{}{name}", name.len()))
    })
}

/// `FUNCTIONS`, sorted by name.
pub fn table(functions: &[Function]) -> String {
    let mut code = String::from("pub(super) const FUNCTIONS: &[super::Function] = &[\n");
    for Function { id, name, arguments } in functions {
        let argument = |Argument { name, offset, size, .. }: &Argument| {
            format!("super::Argument {{ name: {name:?}, offset: {offset}, size: {size} }}")
        };
        let arguments = arguments.iter().map(argument).collect::<Vec<_>>().join(", ");
        code += &format!("    super::Function {{ id: {id}, name: {name:?}, arguments: &[{arguments}] }},\n");
    }
    code + "];\n"
}
