//! A plan as a picture: time across, address up.

use std::fmt::{self, Write as _};

use super::report::MemoryReport;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
/// Room for the axes.
const MARGIN: f64 = 60.0;
/// Rectangles that are lower or narrower have no text.
const TEXT_HEIGHT: f64 = 12.0;
const TEXT_WIDTH: f64 = 40.0;
/// About what a letter takes.
const LETTER: f64 = 6.0;

impl MemoryReport<'_> {
    /// The plan as an SVG file. A buffer is a rectangle: across from the node that allocates it to the one that frees
    /// it, by how many nodes lie one behind the other before them; up from its offset. Those of the peak are marked. A
    /// buffer with another beside it, which shares its bytes, is over when that begins; one with no such neighbour may
    /// live longer than it looks, for nodes have no fixed times.
    pub fn svg(&self) -> String {
        let mut text = String::new();
        // PANIC: a string takes everything.
        self.draw(&mut text).expect("a picture in memory");
        text
    }

    fn draw(&self, out: &mut String) -> fmt::Result {
        let (width, height) = (WIDTH + 2.0 * MARGIN, HEIGHT + 2.0 * MARGIN);
        writeln!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10">"#
        )?;
        writeln!(out, r#"<rect width="{width}" height="{height}" fill="white"/>"#)?;
        let steps = self.levels.iter().max().map_or(1, |&last| last + 1);
        let across = |level: u32| MARGIN + WIDTH * f64::from(level) / f64::from(steps);
        // CAST: a picture needs no more than 52 bits.
        let up = |bytes: u64| MARGIN + HEIGHT * (1.0 - bytes as f64 / self.plan.height.max(1) as f64);
        let mut peak = vec![false; self.graph.buffers.len()];
        self.explanation.peak.iter().for_each(|&i| peak[i] = true);
        for (i, buffer) in self.graph.buffers.iter().enumerate().filter(|(_, buffer)| buffer.bytes > 0) {
            let offset = self.plan.offsets[i];
            let begin = self.levels[buffer.alloc as usize];
            let end = buffer.free.map_or(steps, |node| self.levels[node as usize] + 1);
            // A free node beside the allocation is as good as none before it.
            let (left, right) = (across(begin), across(end.max(begin + 1)));
            let (top, bottom) = (up(offset + buffer.bytes), up(offset));
            let (wide, high) = (right - left, bottom - top);
            let fill = if peak[i] { "#e8a33d" } else { "#9dc3e6" };
            let name = Escaped(&buffer.name);
            writeln!(
                out,
                r##"<rect x="{left:.2}" y="{top:.2}" width="{wide:.2}" height="{high:.2}" fill="{fill}" stroke="#333" stroke-width="0.5"><title>{name}: {} bytes at {offset}</title></rect>"##,
                buffer.bytes
            )?;
            if high >= TEXT_HEIGHT && wide >= TEXT_WIDTH {
                // CAST: some hundred letters.
                let letters = ((wide - LETTER) / LETTER) as usize;
                let label: String =
                    format!("{} ({})", buffer.name, buffer.bytes).chars().take(letters).collect();
                let (x, y) = (left + LETTER / 2.0, (top + bottom) / 2.0 + 3.0);
                writeln!(out, r#"<text x="{x:.2}" y="{y:.2}">{}</text>"#, Escaped(&label))?;
            }
        }
        let (left, right, bottom) = (MARGIN, MARGIN + WIDTH, MARGIN + HEIGHT);
        writeln!(out, r#"<path d="M{left} {MARGIN}V{bottom}H{right}" fill="none" stroke="black"/>"#)?;
        for (bytes, what) in [(self.plan.height, "planned"), (self.bound.bytes(), "lower bound")] {
            let y = up(bytes);
            let side = if what == "planned" { MARGIN + WIDTH * 0.75 } else { left };
            writeln!(out, r##"<path d="M{left} {y:.2}H{right}" stroke="#c00" stroke-dasharray="4 3"/>"##)?;
            writeln!(
                out,
                r##"<text x="{side:.2}" y="{:.2}" fill="#c00">{what}: {bytes} bytes</text>"##,
                y - 4.0
            )?;
        }
        let below = bottom + 16.0;
        writeln!(out, r#"<text x="{left}" y="{below}">0</text>"#)?;
        writeln!(out, r#"<text x="{right}" y="{below}" text-anchor="end">{steps} nodes in a row</text>"#)?;
        writeln!(
            out,
            r#"<text x="{left}" y="{}">time across, address up; alive at the peak: orange</text>"#,
            bottom + 32.0
        )?;
        writeln!(out, "</svg>")
    }
}

/// Text between tags. What XML 1.0 has no character for becomes the replacement character.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                letter if letter < ' ' && !matches!(letter, '\t' | '\n' | '\r') => {
                    f.write_char('\u{fffd}')?
                }
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use aqlipse_graph::memory::graph::{MemoryBuffer, MemoryGraph};

    use super::MemoryReport;

    /// Whether each tag is closed, in order, attributes are quoted, and ampersands begin entities.
    fn check_xml(text: &str) {
        let mut open: Vec<&str> = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            assert!(!rest[..at].contains('>'), "{}", &rest[..at]);
            let end = at + rest[at..].find('>').expect("an end of a tag");
            let tag = &rest[at + 1..end];
            assert!(!tag.contains('<') && tag.matches('"').count().is_multiple_of(2), "{tag}");
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if tag.ends_with('/') => {}
                None => open.push(tag.split_whitespace().next().unwrap()),
            }
            rest = &rest[end + 1..];
        }
        assert_eq!((open.len(), rest.trim()), (0, ""));
        for (at, _) in text.match_indices('&') {
            let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
            assert!(known.iter().any(|entity| text[at..].starts_with(entity)));
        }
    }

    #[test]
    fn a_picture_is_well_formed_whatever_names_there_are() {
        let name = "<b a=\"1\"> & ]]>\u{1}\u{ffff} é";
        let buffer =
            |bytes, alloc, free| MemoryBuffer { name: name.to_owned(), bytes, align: 256, alloc, free };
        let graph = MemoryGraph {
            nodes: vec![name.to_owned(); 4],
            edges: vec![(0, 1), (1, 2), (2, 3)],
            buffers: vec![
                buffer(4096, 0, Some(1)),
                buffer(64, 0, None),
                buffer(0, 1, None),
                buffer(512, 2, Some(3)),
            ],
        };
        let svg = MemoryReport::of(&graph, Duration::from_secs(20)).unwrap().svg();
        check_xml(&svg);
        // The ground, and a rectangle for each buffer that has bytes.
        assert_eq!(svg.matches("<rect ").count(), 1 + 3);
        assert!(svg.contains("&lt;b a=&quot;1&quot;&gt; &amp;") && svg.contains("4096 bytes at"));
        assert!(!svg.contains('\u{1}') && !svg.contains('\u{ffff}'));
    }

    #[test]
    fn nothing_is_a_picture_too() {
        let graph = MemoryGraph::default();
        let svg = MemoryReport::of(&graph, Duration::ZERO).unwrap().svg();
        check_xml(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
