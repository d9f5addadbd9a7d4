//! Work of a stream that is captured when it first runs and launched as a graph from then on.

use super::{ExecGraph, Graph};
use crate::{
    error::{Error, Result},
    exec::Refusal,
    stream::Stream,
};

/// Executable work that is captured anew whenever it is run, and keeps its executable graph as long as the shape of the
/// work stays the same.
///
/// ```no_run
/// # use aqlipse::{Result, Stream, typed::{Captured, Launch}};
/// # fn example(stream: &Stream, steps: &[Launch]) -> Result<()> {
/// let mut captured = Captured::default();
/// for step in steps {
///     // The first round instantiates a graph; the others give it their parameters.
///     captured.run(stream, |stream| stream.run(step))?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Captured {
    exec: Option<ExecGraph>,
    instantiations: usize,
}

impl Stream {
    /// Runs `work` once, as a graph, and returns the graph to launch it again.
    ///
    /// Work may do things on its first run that no capture allows, such as allocating memory that it then keeps. If
    /// capture fails for that reason, `work` runs on the stream as it is, and is captured once more; that capture must
    /// succeed. Either way its effects have been put on the stream exactly once.
    ///
    /// # Errors
    /// What `work` returns where nothing is captured; why the second capture failed; as [`Graph::instantiate`] and
    /// [`ExecGraph::launch`].
    pub fn captured(&self, work: impl FnMut(&Stream) -> Result<()>) -> Result<ExecGraph> {
        let (graph, has_run) = capture_or_warm_up(self, work)?;
        let exec = graph.instantiate()?;
        if !has_run {
            exec.launch(self)?;
        }
        Ok(exec)
    }
}

impl Captured {
    /// Runs `work` once, as a graph: the one of the run before with other parameters where that is possible, another
    /// one where not.
    ///
    /// # Errors
    /// As [`Stream::captured`].
    pub fn run(&mut self, stream: &Stream, work: impl FnMut(&Stream) -> Result<()>) -> Result<&ExecGraph> {
        let (graph, has_run) = capture_or_warm_up(stream, work)?;
        let updated = self.exec.take().filter(|exec| exec.update(&graph).is_ok());
        let exec = match updated {
            Some(exec) => exec,
            None => {
                self.instantiations += 1;
                graph.instantiate()?
            }
        };
        if !has_run {
            exec.launch(stream)?;
        }
        Ok(self.exec.insert(exec))
    }

    /// The executable graph of the latest run.
    pub fn exec(&self) -> Option<&ExecGraph> {
        self.exec.as_ref()
    }

    /// How many executable graphs the runs have needed so far.
    pub fn instantiations(&self) -> usize {
        self.instantiations
    }
}

/// The graph of `work`, and whether it had to be executed to be captured.
fn capture_or_warm_up(stream: &Stream, mut work: impl FnMut(&Stream) -> Result<()>) -> Result<(Graph, bool)> {
    if stream.is_capturing() {
        // What would run now would be recorded by the open capture.
        return Err(Error::IllegalState("the stream captures already"));
    }
    match Graph::capture(stream, &mut work) {
        Ok(graph) => Ok((graph, false)),
        Err(Error::Capture(_) | Error::IllegalState(_)) => {
            work(stream)?;
            Ok((Graph::capture(stream, work)?, true))
        }
        Err(error) => Err(error),
    }
}

impl ExecGraph {
    /// Gives every node the parameters of its counterpart in `graph`, which has the same nodes and edges in the same
    /// order. Launches in flight keep theirs.
    ///
    /// # Errors
    /// A [`Refusal`] that names node and reason; the executable is as it was.
    pub fn update(&self, graph: &Graph) -> Result<(), Refusal> {
        self.exec().update(graph.template())
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::UpdateRefused(refusal.to_string())
    }
}
