//! Symbols of name expressions.
//!
//! Behind the source stands one variable for each expression, with the address of what it names: that instantiates
//! templates, and resolves overloads as the language does. The relocation of the variable in what was compiled says
//! which symbol it is.

use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SymbolKind,
    elf::RelocationType,
    read::elf::{ElfFile64, ElfSymbol64},
};

/// Begins the names of the variables.
const PREFIX: &str = "__aqlipse_rtc_name_";

/// `R_AMDGPU_RELATIVE64`: the load address and the addend (LLVM, User Guide for AMDGPU Backend, Relocation Records).
const RELATIVE64: RelocationType = RelocationType(13);

/// The declarations for some expressions.
///
/// They have internal linkage, so that programs that are linked together may each have theirs.
pub fn declarations(expressions: &[String]) -> String {
    let mut text = String::new();
    for (n, expression) in expressions.iter().enumerate() {
        let expression = expression.trim();
        // A function or a variable by its name, or an expression that is an address already.
        let address = if expression.starts_with(['&', '(']) { "" } else { "&" };
        text += &format!(
            "\n#line 1 \"name expression {n}\"\nstatic __device__ __attribute__((used)) const volatile void* const \
             {PREFIX}{n} = (const volatile void*)({address}{expression}\n);"
        );
    }
    text
}

/// The symbols that the variables of `count` expressions refer to, in a code object or a relocatable object.
///
/// # Errors
/// The number of an expression that has none, or `None` for what is no object.
pub fn symbols(object: &[u8], count: usize) -> Result<Vec<String>, Option<usize>> {
    let file: ElfFile64<'_> = ElfFile64::parse(object).map_err(|_| None)?;
    let variables: Vec<_> =
        file.symbols().filter_map(|symbol| Some((number(symbol.name().ok()?)?, symbol))).collect();
    let find = |n| {
        let (_, variable) = variables.iter().find(|(number, _)| *number == n)?;
        target(&file, variable).map(str::to_owned)
    };
    (0..count).map(|n| find(n).ok_or(Some(n))).collect()
}

/// The number in the mangled name of a variable.
fn number(name: &str) -> Option<usize> {
    let digits = name.split_once(PREFIX)?.1;
    // LLVM's linker may put a dot and a number behind a name that is there twice.
    digits.split('.').next()?.parse().ok()
}

fn target<'d>(file: &ElfFile64<'d>, variable: &ElfSymbol64<'d, '_>) -> Option<&'d str> {
    let place = variable.address();
    let section = variable.section_index().and_then(|index| file.section_by_index(index).ok())?;
    // Relocatable objects count from the section's start, code objects from the load address.
    let relocation = section
        .relocations()
        .chain(file.dynamic_relocations().into_iter().flatten())
        .find(|(offset, _)| *offset == place)?
        .1;
    match relocation.target() {
        RelocationTarget::Symbol(index) => {
            let named = file.symbol_by_index(index).ok().and_then(|symbol| symbol.name().ok());
            named.filter(|name| !name.is_empty() && relocation.addend() == 0)
        }
        RelocationTarget::Absolute if relocation.flags() == (RelocationFlags::Elf { r_type: RELATIVE64 }) => {
            at(file, u64::try_from(relocation.addend()).ok()?)
        }
        _ => None,
    }
}

/// The function or variable at an address.
fn at<'d>(file: &ElfFile64<'d>, address: u64) -> Option<&'d str> {
    let is_there = |symbol: &ElfSymbol64<'d, '_>| {
        symbol.address() == address
            && symbol.is_definition()
            && matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data)
    };
    // What other objects see, before what only this one does.
    let found = file.symbols().filter(is_there).min_by_key(ObjectSymbol::is_local);
    found.and_then(|symbol| symbol.name().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_an_address_or_gets_one() {
        let text = declarations(&["f<int>".into(), " &v ".into(), "(void (*)(int))g".into()]);
        for part in ["(&f<int>\n)", "(&v\n)", "((void (*)(int))g\n)", "__aqlipse_rtc_name_2 ="] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn variables_are_found_by_their_numbers() {
        assert_eq!(number("_ZL20__aqlipse_rtc_name_0"), Some(0));
        assert_eq!(number("_ZL21__aqlipse_rtc_name_12.7"), Some(12));
        assert_eq!(number("_Z1fv"), None);
    }

    #[test]
    fn what_is_no_object_has_no_symbols() {
        assert_eq!(symbols(b"BC\xc0\xde", 1), Err(None));
    }
}
