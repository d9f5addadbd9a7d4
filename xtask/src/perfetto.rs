//! Perfetto's viewer and its trace processor, which open a trace as they are when a user does.
//!
//! The viewer is a page with the trace processor as WebAssembly. Chromium loads both from a server of this process, and
//! nothing from elsewhere.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    Result,
    browser::{Answer, Browser},
    packages,
};

/// A trace is loaded by then, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);
/// Path of the trace on the server.
const TRACE: &str = "/the-trace";

/// Whether the trace is there, or what the viewer says against it.
const LOADED: &str = "(() => {
    const said = document.querySelector('.pf-modal-dialog, #app_load_failure_err')?.innerText;
    if (said) return said;
    return window.app?.trace?.engine ? window.waitForPerfettoIdle().then(() => true) : false;
})()";

/// Runs a query and returns its rows, as objects.
const QUERY: &str = "(async (sql) => {
    const result = await app.trace.engine.query(sql);
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next()) {
        const value = (name) => typeof row.get(name) === 'bigint' ? Number(row.get(name)) : row.get(name);
        rows.push(Object.fromEntries(result.columns().map((name) => [name, value(name)])));
    }
    return rows;
})";

/// What the trace processor could not read, or lost.
const ERRORS: &str = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";

/// A trace in Perfetto's viewer.
pub struct Viewer(Browser);

impl Viewer {
    /// Opens a trace of any format that Perfetto knows; inside, says why the viewer cannot read it whole.
    ///
    /// # Errors
    /// As [`packages::viewer`].
    pub fn open(name: &str, trace: &Path) -> Result<Answer<Self>> {
        let folder = packages::viewer()?;
        Ok(Self::load(name, folder, trace))
    }

    fn load(name: &str, folder: PathBuf, trace: &Path) -> Answer<Self> {
        let port = serve(folder, trace.into()).map_err(|error| format!("no server: {error}"))?;
        let mut viewer = Self(Browser::start(name)?);
        let here = format!("http://127.0.0.1:{port}");
        // Or the viewer looks for news of its files, as on the machines of its developers.
        viewer.0.open(&format!("{here}/?testing=1#!/?url={here}{TRACE}"))?;
        let end = Instant::now() + LIMIT;
        loop {
            match viewer.0.evaluate(LOADED)? {
                Value::Bool(true) => break,
                Value::String(said) => return Err(said),
                _ if Instant::now() > end => {
                    return Err(format!("the viewer has not loaded the trace: {:?}", viewer.0.errors()));
                }
                _ => thread::sleep(Duration::from_millis(100)),
            }
        }
        let errors = viewer.query(ERRORS)?;
        if errors.is_empty() { Ok(viewer) } else { Err(format!("the trace processor counts {errors:?}")) }
    }

    /// Asks the trace processor; the rows are objects with a field for each column.
    ///
    /// # Errors
    /// What is wrong with the query, or what the viewer has reported so far.
    pub fn query(&mut self, sql: &str) -> Answer<Vec<Value>> {
        let rows = self.0.evaluate(&format!("{QUERY}({})", Value::from(sql)))?;
        match (self.0.errors(), rows) {
            ([], Value::Array(rows)) => Ok(rows),
            (errors, _) => Err(format!("the viewer reports {errors:?}")),
        }
    }

    /// The browser, with the viewer in its tab.
    pub fn browser(&mut self) -> &mut Browser {
        &mut self.0
    }
}

/// Serves the files of a folder, and the trace, as long as the process runs; returns the port.
fn serve(folder: PathBuf, trace: PathBuf) -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(io::Result::ok) {
            let (folder, trace) = (folder.clone(), trace.clone());
            // A browser may connect ahead and ask later.
            thread::spawn(move || answer(stream, &folder, &trace));
        }
    });
    Ok(port)
}

/// Answers one request. What goes wrong the browser sees as a failed request.
fn answer(stream: TcpStream, folder: &Path, trace: &Path) -> io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = request.split(['?', ' ']).nth(1).unwrap_or_default();
    let file = match path {
        TRACE => trace.into(),
        "/" => folder.join("index.html"),
        path => folder.join(path.trim_start_matches('/')),
    };
    let (status, content) = match fs::read(&file) {
        Ok(content) => ("200 OK", content),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let kind = match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    };
    let length = content.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let mut stream = &stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(&content)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a viewer says of a file with this content; `None`, after a message, if there is no viewer.
    fn open(name: &str, content: &str) -> Option<Answer<Viewer>> {
        let path = std::env::temp_dir().join(format!("aqlipse-viewer-{name}-{}", std::process::id()));
        fs::write(&path, content).unwrap();
        let opened = Viewer::open(name, &path);
        fs::remove_file(&path).unwrap();
        if packages::required() {
            return Some(opened.unwrap());
        }
        opened.inspect_err(|error| eprintln!("skipped: {error}")).ok()
    }

    #[test]
    fn the_trace_processor_answers_queries_and_says_what_it_cannot_read() {
        let event = r#"{ "ph": "X", "pid": 1, "tid": 2, "ts": 5, "dur": 3, "name": "scan" }"#;
        let Some(viewer) = open("slice", &format!("[{event}]")) else { return };
        let mut viewer = viewer.unwrap();
        let rows = viewer.query("select name, dur, null as lacking from slice").unwrap();
        assert_eq!(rows, [serde_json::json!({ "name": "scan", "dur": 3000, "lacking": null })]);
        let said = viewer.query("select name from no_such_table").unwrap_err();
        assert!(said.contains("no such table"), "{said}");
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let Some(viewer) = open("none", "GET / HTTP/1.1") else { return };
        assert!(viewer.is_err());
        // An event without a time.
        let event = r#"{ "ph": "X", "pid": 1, "tid": 2, "dur": 3, "name": "scan" }"#;
        let said = open("time", &format!("[{event}]")).unwrap().err().unwrap();
        assert!(said.contains("json"), "{said}");
    }
}
