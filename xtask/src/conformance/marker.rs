//! `// DIFFERS`: a comment that announces lines on which we differ from AMD's library on purpose.
//!
//! ```cpp
//! // DIFFERS clone of a clone: 5.2.3 returns hipErrorInvalidValue; HIP 7 documentation of hipGraphClone
//! // DIFFERS(rocr) elapsed time: ROCr has no clock of
//! //     the host's; ADR 16
//! ```
//!
//! What stands before the first `: ` is what the labels of the lines start with, then comes the reason and, behind the
//! last `; `, the reference. A comment that is indented further continues the marker. In brackets stands the
//! configuration that differs, if the other one agrees with AMD's.

use super::configuration::Configuration;

/// An intended difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// What the lines start with.
    pub prefix: String,
    /// The configuration that differs; `None`: both do.
    pub configuration: Option<Configuration>,
    /// Why.
    pub reason: String,
    /// Where that is written.
    pub reference: String,
    /// Line of the source.
    pub line: usize,
}

impl Marker {
    /// Whether it announces differences of this configuration.
    pub fn concerns(&self, configuration: Configuration) -> bool {
        self.configuration.is_none_or(|only| only == configuration)
    }
}

/// The markers of a source.
///
/// # Errors
/// The number of a line that starts a marker and is none.
pub fn parse(source: &str) -> Result<Vec<Marker>, usize> {
    let mut markers = Vec::new();
    let mut lines = source.lines().map(str::trim).enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let Some(rest) = line.strip_prefix("// DIFFERS") else { continue };
        let mut text = rest.to_owned();
        while let Some((_, more)) = lines.next_if(|(_, line)| line.starts_with("//  ")) {
            text.push(' ');
            text.push_str(more.trim_start_matches('/').trim_start());
        }
        markers.push(marker(&text, index + 1).ok_or(index + 1)?);
    }
    Ok(markers)
}

fn marker(text: &str, line: usize) -> Option<Marker> {
    let (configuration, text) = match text.strip_prefix('(') {
        Some(text) => {
            let (name, text) = text.split_once(')')?;
            // AMD's is what the others are compared with.
            let configuration = Configuration::named(name).filter(|named| *named != Configuration::Amd)?;
            (Some(configuration), text)
        }
        None => (None, text),
    };
    let (prefix, text) = text.strip_prefix(' ')?.split_once(": ")?;
    let (reason, reference) = text.rsplit_once("; ")?;
    let [prefix, reason, reference] = [prefix, reason, reference].map(|part| part.trim().to_owned());
    let complete = !prefix.is_empty() && !reason.is_empty() && !reference.is_empty();
    complete.then_some(Marker { prefix, configuration, reason, reference, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_has_a_prefix_a_reason_and_a_reference() {
        let source = "// Topic.\nint main() {\n    // DIFFERS clone of a clone: 5.2.3 refuses; why; hipGraphClone\n}\n";
        let expected = Marker {
            prefix: "clone of a clone".into(),
            configuration: None,
            reason: "5.2.3 refuses; why".into(),
            reference: "hipGraphClone".into(),
            line: 3,
        };
        assert_eq!(parse(source), Ok(vec![expected]));
    }

    #[test]
    fn a_marker_goes_on_in_comments_that_are_indented_further() {
        let source = "// DIFFERS(rocr) time: no\n//     clock; ADR 16\n// Another comment.\n";
        let markers = parse(source).unwrap();
        assert_eq!(markers.len(), 1);
        assert_eq!((markers[0].reason.as_str(), markers[0].reference.as_str()), ("no clock", "ADR 16"));
        assert!(markers[0].concerns(Configuration::Rocr));
        assert!(!markers[0].concerns(Configuration::Ours));
    }

    #[test]
    fn a_marker_without_reason_or_reference_or_for_amd_is_refused() {
        for text in [
            "// DIFFERS",
            "// DIFFERS label",
            "// DIFFERS label: reason",
            "// DIFFERS : reason; reference",
            "// DIFFERS label: ; reference",
            "// DIFFERS(amd) label: reason; reference",
            "// DIFFERS(ours label: reason; reference",
        ] {
            assert_eq!(parse(&format!("int x;\n{text}\n")), Err(2), "{text}");
        }
    }
}
