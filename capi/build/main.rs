//! Generates what `entry!` does not: one honest refusal for each export that is not written yet, the table of all, and the
//! table of what profilers are told of.

use std::{env, fmt::Write, fs, path::Path, process};

#[allow(dead_code, reason = "xtask uses the rest")]
mod surface;

mod callbacks;

use callbacks::Function;
use surface::{Export, Returns};

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=exports.tsv");
    println!("cargo::rerun-if-changed=callbacks.tsv");
    if let Err(error) = generate() {
        println!("cargo::error={error}");
        process::exit(1);
    }
}

fn generate() -> Result<(), String> {
    let text = fs::read_to_string("exports.tsv").map_err(|error| format!("exports.tsv: {error}"))?;
    let exports = surface::parse_table(&text)?;
    let written = surface::implemented(Path::new("src"), &exports)?;
    let missing: Vec<_> =
        exports.iter().filter(|export| written.binary_search(&export.symbol).is_err()).collect();

    let text = fs::read_to_string("callbacks.tsv").map_err(|error| format!("callbacks.tsv: {error}"))?;
    let functions = callbacks::parse(&text)?;

    let mut code = String::new();
    for export in &missing {
        let function = callbacks::of(&functions, &export.symbol);
        refusal(&mut code, export, function)?;
    }
    table(&mut code, &exports);

    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    for (name, code) in [("surface.rs", code), ("callbacks.rs", callbacks::table(&functions))] {
        let out = Path::new(&out).join(name);
        fs::write(&out, code).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    Ok(())
}

/// Writes a function that says its name once and returns its type's failure.
fn refusal(code: &mut String, export: &Export, function: Option<&Function>) -> Result<(), String> {
    let symbol = &export.symbol;
    let arguments = function.into_iter().flat_map(|function| &function.arguments);
    let parameters = arguments.map(|argument| Ok(format!("{}: {}", argument.name, argument.word()?)));
    let parameters = parameters.collect::<Result<Vec<_>, String>>()?.join(", ");
    let reason = reason(&export.class);
    let refused = format!("crate::entry::refuse(entry! {{ @observed {symbol:?}, ({parameters}) }})");
    let (arrow, value) = match export.returns {
        Returns::Error => (" -> crate::error::hipError_t", &*refused),
        Returns::Hiprtc => (" -> u32", "crate::entry::HIPRTC_ERROR_INTERNAL_ERROR"),
        Returns::Text => (" -> *const std::ffi::c_char", "c\"\".as_ptr()"),
        Returns::Null => (" -> *mut std::ffi::c_void", "std::ptr::null_mut()"),
        Returns::False => (" -> bool", "false"),
        Returns::Device => (" -> std::ffi::c_int", "-1"),
        Returns::Nothing => ("", ""),
        Returns::Value => return Err(format!("{symbol} has no error to return and must be implemented")),
    };
    write!(
        code,
        "/// Not implemented.\n\
         #[unsafe(no_mangle)]\n\
         pub extern \"C\" fn {symbol}({parameters}){arrow} {{\n    \
             const NAME: &str = {symbol:?};\n    \
             static SAID: std::sync::Once = std::sync::Once::new();\n    \
             SAID.call_once(|| crate::entry::say_unsupported(NAME, {reason:?}));\n    \
             {value}\n\
         }}\n\n"
    )
    .map_err(|error| error.to_string())
}

/// Why functions of a class are not implemented; nothing where they are only not written yet.
fn reason(class: &str) -> &'static str {
    match class {
        "texture/surface" => {
            ": no kernel can fetch texels here, for arrays lie in ordinary memory; copy them to linear memory and load from that"
        }
        "gl" => ": there is no OpenGL to share memory with",
        _ => "",
    }
}

/// Writes `SYMBOLS`, sorted by name.
fn table(code: &mut String, exports: &[Export]) {
    let mut sorted: Vec<_> = exports.iter().collect();
    sorted.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    // Declared rather than named by path: the linker finds each wherever it is written.
    code.push_str("mod linked {\n    unsafe extern \"C\" {\n");
    for export in &sorted {
        code.push_str(&format!("        pub fn {}();\n", export.symbol));
    }
    code.push_str("    }\n}\n\n");
    code.push_str(&format!("pub(super) static SYMBOLS: [super::Symbol; {}] = [\n", sorted.len()));
    for export in &sorted {
        let (major, minor) = export.node["hip_".len()..].split_once('.').unwrap_or(("0", "0"));
        let symbol = &export.symbol;
        let capture = export.capture.replace('-', "_").to_uppercase();
        code.push_str(&format!(
            "    super::Symbol {{ name: {symbol:?}, since: ({major}, {minor}), \
             capture: crate::capture_rules::{capture}, address: linked::{symbol} }},\n"
        ));
    }
    code.push_str("];\n");
}
