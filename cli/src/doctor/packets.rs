//! `aqlipse doctor packets`: the packets of a graph's executable, with the scopes of their fences.

use std::{error::Error, fs, path::Path};

use aqlipse::{
    Device, LaunchImage, Module, Options,
    typed::{Graph, Kernel, Node},
};
use aqlipse_bench::shape::Shape;
use aqlipse_cli::offsets;
use aqlipse_graph::Csr;
use clap::Args;

use super::report::parse;
use crate::objects;

/// Which graph to look at.
#[derive(Args)]
pub struct Request {
    /// A file as `aqlipse doctor memory` reads it, of which nodes and edges count, or a shape of `aqlipse bench` with a
    /// number of nodes, such as `forkjoin8/145`. Each node is a kernel that does nothing.
    graph: String,
    /// Queues at most; 0 leaves it to the scheduler.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=8))]
    lanes: u8,
}

/// Prints the packets.
pub fn run(request: &Request) -> Result<(), Box<dyn Error>> {
    print!("{}", image(request)?);
    Ok(())
}

/// The packets that launches of the graph publish.
fn image(request: &Request) -> Result<LaunchImage, Box<dyn Error>> {
    let preds = dependencies(&request.graph)?;
    let device = Device::get(0)?;
    // SAFETY: the kernel touches no memory.
    let kernel =
        unsafe { Kernel::trusted(Module::first_that_fits(&device, &objects::DEMO)?.kernel("empty")?) };
    let launch = kernel.launch(&device, [1; 3], [64, 1, 1], 0, &[])?;
    let mut graph = Graph::new(&device);
    let mut nodes: Vec<Option<Node>> = vec![None; preds.len()];
    for node in offsets::topological(&preds)? {
        let after: Vec<Node> = preds.row(node).iter().filter_map(|&pred| nodes[pred as usize]).collect();
        nodes[node as usize] = Some(graph.kernel(&launch, &after)?);
    }
    let options = Options { lanes: request.lanes.into(), ..Options::default() };
    Ok(graph.instantiate_with(options)?.launch_image())
}

/// What each node of a graph depends on.
fn dependencies(graph: &str) -> Result<Csr, Box<dyn Error>> {
    if !Path::new(graph).exists()
        && let Some((shape, nodes)) = graph.split_once('/')
        && let Ok(nodes) = nodes.parse::<u16>()
    {
        let shape: Shape = shape.parse()?;
        let mut preds = Csr::default();
        // CAST: 16 bits.
        let row = |node| shape.dependencies(node, nodes.into()).map(|before| before as u32);
        (0..usize::from(nodes)).for_each(|node| preds.push_row(row(node)));
        return Ok(preds);
    }
    let at = |error: &dyn std::fmt::Display| format!("{graph}: {error}");
    let text = fs::read_to_string(graph).map_err(|error| at(&error))?;
    let graph = parse(&text).map_err(|error| at(&error))?;
    let nodes = graph.nodes.len();
    if let Some((number, _)) =
        graph.edges.iter().enumerate().find(|(_, (from, to))| (*from.max(to)) as usize >= nodes)
    {
        return Err(at(&format_args!("edges[{number}]: there are {nodes} nodes")).into());
    }
    Ok(Csr::from_pairs(nodes, graph.edges.iter().map(|&(from, to)| (to, from))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(graph: &str, lanes: u8) -> String {
        image(&Request { graph: graph.into(), lanes }).unwrap().to_string()
    }

    #[test]
    fn a_fork_join_on_one_queue_acquires_once_a_level() {
        let expected = "\
queue 0: 19 packets, of which 5 acquire
      1 x kernel      barrier  acquire system  release agent
      1 x kernel      barrier  acquire agent   release agent
      7 x kernel      -        acquire -       release agent
      2 x kernel      barrier  acquire agent   release agent
      7 x kernel      -        acquire -       release agent
      1 x kernel      barrier  acquire agent   release system  ends the launch
";
        assert_eq!(text("forkjoin8/19", 1), expected);
        // Of a longer one the stages are told once.
        let longer = text("forkjoin8/901", 1);
        assert!(longer.contains("\n  98 times:\n") || longer.contains("\n  99 times:\n"), "{longer}");
        assert!(longer.lines().count() < 12, "{longer}");
    }

    #[test]
    fn a_graph_of_a_file_is_told_by_queue() {
        let file = std::env::temp_dir().join(format!("aqlipse-doctor-packets-{}", std::process::id()));
        let write = |text: &str| fs::write(&file, text).unwrap();
        let name = file.to_str().unwrap();
        write(r#"{"nodes": ["a", "b", "c"], "edges": [[0, 1], [1, 2]], "buffers": []}"#);
        let expected = "\
queue 0: 3 packets, of which 3 acquire
      1 x kernel      barrier  acquire system  release agent
      1 x kernel      barrier  acquire agent   release agent
      1 x kernel      barrier  acquire agent   release system  ends the launch
";
        assert_eq!(text(name, 0), expected);
        for (wrong, why) in [
            (r#"{"nodes": ["a"], "edges": [[0, 1]], "buffers": []}"#, "edges[0]"),
            (r#"{"nodes": ["a", "b"], "edges": [[0, 1], [1, 0]], "buffers": []}"#, ""),
            ("{", "line 1"),
        ] {
            write(wrong);
            let error = image(&Request { graph: name.into(), lanes: 0 }).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        fs::remove_file(&file).unwrap();
        for wrong in [name, "forkjoin9/4", "straight/many"] {
            assert!(image(&Request { graph: wrong.into(), lanes: 0 }).is_err(), "{wrong}");
        }
    }
}
