//! `aqlipse doctor memory`: the memory of a graph that a file describes.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;

use super::report::{MemoryReport, parse};

/// What to look at, and what to make of it.
#[derive(Args)]
pub struct Request {
    /// A graph as `memory_graph` of `aqlipse::Template` writes it; `aqlipse::MemoryGraph` describes the file.
    file: PathBuf,
    /// Draw the plan: time across, address up.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// Milliseconds that planning may take.
    #[arg(
        long,
        value_name = "N",
        env = "AQLIPSE_PLAN_MS",
        default_value_t = 20,
        value_parser = clap::value_parser!(u64).range(..=3_600_000)
    )]
    plan_ms: u64,
}

/// Prints the report, and writes the picture.
pub fn run(request: &Request) -> Result<(), Box<dyn Error>> {
    print!("{}", examine(request)?);
    Ok(())
}

fn examine(request: &Request) -> Result<String, Box<dyn Error>> {
    let at = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(&request.file).map_err(|error| at(&request.file, &error))?;
    let graph = parse(&text).map_err(|error| at(&request.file, &error))?;
    let report = MemoryReport::of(&graph, Duration::from_millis(request.plan_ms))
        .map_err(|error| at(&request.file, &error))?;
    if let Some(path) = &request.svg {
        fs::write(path, report.svg()).map_err(|error| at(path, &error))?;
    }
    Ok(match request.json {
        true => format!("{}\n", report.to_json()),
        false => report.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"nodes": ["alloc", "free"], "edges": [[0, 1]],
        "buffers": [{"name": "weights", "bytes": 65536, "alloc": 0, "free": 1}]}"#;

    /// A folder of its own for each test, gone with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("aqlipse-doctor-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn request(&self, text: &str) -> Request {
            let file = self.0.join("graph.json");
            fs::write(&file, text).unwrap();
            Request { file, svg: None, json: false, plan_ms: 100 }
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_examined_and_drawn() {
        let folder = Folder::new("good");
        let mut request = folder.request(FILE);
        request.svg = Some(folder.0.join("plan.svg"));
        let text = examine(&request).unwrap();
        assert!(text.contains("65536 bytes  weights (allocated by alloc, freed by free)"), "{text}");
        assert!(fs::read_to_string(request.svg.as_ref().unwrap()).unwrap().starts_with("<svg "));
        request.json = true;
        let value: serde_json::Value = serde_json::from_str(&examine(&request).unwrap()).unwrap();
        assert_eq!(value["planned_bytes"], 65536);
    }

    #[test]
    fn faults_name_the_file() {
        let folder = Folder::new("bad");
        let request = folder.request(&FILE.replace("65536", "\"many\""));
        let fault = examine(&request).unwrap_err().to_string();
        assert!(fault.contains("graph.json: ") && fault.contains("line 2"), "{fault}");
        let missing = Request { file: folder.0.join("none.json"), ..request };
        assert!(examine(&missing).unwrap_err().to_string().contains("none.json: "));
    }
}
