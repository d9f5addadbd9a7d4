//! The stencil of `halo.hip` through the Rust API and the crate `mpi`: its kernels, its checksum.
//!
//! `mpirun -n 4 halo [cells] [launches]`

use std::{env, error::Error, time::Instant};

use aqlipse::{
    Device, Module, Stream, StreamKind, System,
    typed::{Argument, DeviceBuffer, Graph, HostBuffer, Kernel},
};
use hiprtc::Program;
use mpi::{Threading, point_to_point, topology::SimpleCommunicator, traits::*};
use smallvec::SmallVec;

/// Sweeps of a launch.
const SWEEPS: usize = 4;

/// West, east, north, south: the opposite of a side differs in its last bit.
const SIDES: usize = 4;

/// Cells that a rank computes, as the kernels know it.
#[derive(Clone, Copy)]
struct Part {
    width: usize,
    height: usize,
}

impl Part {
    /// Cells, and those of others around them.
    fn cells(self) -> usize {
        (self.width + 2) * (self.height + 2)
    }

    fn length(self, side: usize) -> usize {
        if side < 2 { self.height } else { self.width }
    }

    /// Where the edge of a side begins in a buffer of all edges; that of `SIDES` is the buffer's length.
    fn offset(self, side: usize) -> usize {
        (0..side).map(|side| self.length(side)).sum()
    }
}

impl Argument for Part {
    fn bytes(&self) -> SmallVec<[u8; 8]> {
        [self.width as i32, self.height as i32].iter().flat_map(|cells| cells.to_le_bytes()).collect()
    }
}

/// The ranks in rows and columns.
struct Grid {
    rows: usize,
    columns: usize,
}

impl Grid {
    /// As square as the number of ranks allows.
    fn of(ranks: usize) -> Self {
        let columns = (1..=ranks).rfind(|n| n * n <= ranks && ranks.is_multiple_of(*n)).unwrap_or(1);
        Self { rows: ranks / columns, columns }
    }

    /// The neighbour of a rank on each side.
    fn neighbours(&self, rank: usize) -> [Option<usize>; SIDES] {
        let (row, column) = (rank / self.columns, rank % self.columns);
        [
            (column > 0).then(|| rank - 1),
            (column + 1 < self.columns).then(|| rank + 1),
            (row > 0).then(|| rank - self.columns),
            (row + 1 < self.rows).then(|| rank + self.columns),
        ]
    }
}

/// Sends the edges to the neighbours and receives theirs. A launch calls it, from a thread of the runtime.
fn exchange(
    part: Part,
    neighbours: [Option<usize>; SIDES],
    send: &HostBuffer<f64>,
    receive: &HostBuffer<f64>,
) {
    let world = SimpleCommunicator::world();
    let (out, mut back) = (send.to_vec(), receive.to_vec());
    // West and east first: every rank takes the sides in one order, so that each meets the one that it waits for.
    for side in 0..SIDES {
        let away = side ^ 1;
        let leaving = &out[part.offset(side)..][..part.length(side)];
        let coming = &mut back[part.offset(away)..][..part.length(away)];
        // A message is named by the side that it leaves from.
        match (neighbours[side], neighbours[away]) {
            (Some(to), Some(from)) => {
                let (to, from) = (world.process_at_rank(to as i32), world.process_at_rank(from as i32));
                point_to_point::send_receive_into_with_tags(
                    leaving,
                    &to,
                    side as i32,
                    coming,
                    &from,
                    side as i32,
                );
            }
            (Some(to), None) => world.process_at_rank(to as i32).send_with_tag(leaving, side as i32),
            (None, Some(from)) => {
                world.process_at_rank(from as i32).receive_into_with_tag(coming, side as i32);
            }
            (None, None) => {}
        }
    }
    receive.write(&back).expect("as many elements");
}

/// The kernels for `device`.
fn kernels(device: &Device) -> Result<[Kernel; 4], Box<dyn Error>> {
    let mut program = Program::new(include_bytes!("stencil.h"), "stencil.h", Vec::new())?;
    program.compile(&["-O3"], || Some(device.properties().arch.clone()))?;
    let module = Module::load(device, program.code()?.to_vec())?;
    // SAFETY: stencil.h: each work-item touches cells of the part, or of the edge, that it is told of.
    let kernel = |name| unsafe { Ok::<_, aqlipse::Error>(Kernel::trusted(module.kernel(name)?)) };
    Ok([kernel("pack")?, kernel("unpack")?, kernel("inner")?, kernel("outer")?])
}

fn main() -> Result<(), Box<dyn Error>> {
    let (_universe, level) =
        mpi::initialize_with_threading(Threading::Multiple).ok_or("MPI was initialized before")?;
    let world = SimpleCommunicator::world();
    // An error of one rank ends them all: none waits for one that is gone.
    run(level, &world).inspect_err(|error| {
        eprintln!("rank {}: {error}", world.rank());
        world.abort(1);
    })
}

fn run(level: Threading, world: &SimpleCommunicator) -> Result<(), Box<dyn Error>> {
    if level < Threading::Serialized {
        return Err("this MPI has no calls from other threads".into());
    }
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);
    let mut numbers = env::args().skip(1).map(|argument| argument.parse());
    let cells: usize = numbers.next().unwrap_or(Ok(256))?;
    let launches: usize = numbers.next().unwrap_or(Ok(25))?;
    let grid = Grid::of(ranks);
    let part = Part { width: cells / grid.columns, height: cells / grid.rows };
    if part.width * grid.columns != cells
        || part.height * grid.rows != cells
        || part.width.min(part.height) < 2
    {
        return Err(format!("cells are a multiple of {} and of {}", grid.columns, grid.rows).into());
    }
    let (left, top) = (rank % grid.columns * part.width, rank / grid.columns * part.height);
    let neighbours = grid.neighbours(rank);

    // As many ranks of a machine share a device as there are more than devices.
    let devices = System::get()?.devices();
    let device = &devices[world.split_shared(rank as i32).rank() as usize % devices.len()];
    let stream = Stream::new(device, StreamKind::NonBlocking, 0);
    let mut u = DeviceBuffer::<f64>::new(device, part.cells())?;
    let mut v = DeviceBuffer::<f64>::new(device, part.cells())?;
    let edges = DeviceBuffer::<f64>::new(device, part.offset(SIDES))?;
    let send = HostBuffer::new(device, part.offset(SIDES), 0.0)?;
    let receive = HostBuffer::new(device, part.offset(SIDES), 0.0)?;
    // Within the grid a pattern; around it 1, which nobody changes.
    let mut values = vec![1.0; part.cells()];
    for (y, row) in values.chunks_exact_mut(part.width + 2).skip(1).take(part.height).enumerate() {
        for (x, value) in row[1..=part.width].iter_mut().enumerate() {
            *value = (((left + x) * 31 + (top + y) * 17) & 255) as f64 / 3.0;
        }
    }
    u.write(&stream, &values)?;
    v.write(&stream, &values)?;

    let [pack, unpack, inner, outer] = kernels(device)?;
    let longest = part.width.max(part.height) as u32;
    let lines = |sides| [longest.div_ceil(128), sides, 1];
    let blocks = [part.width.div_ceil(16) as u32, part.height.div_ceil(16) as u32, 1];
    let mut graph = Graph::new(device);
    let mut last = Vec::new();
    for _ in 0..SWEEPS {
        let compute = inner.launch(device, blocks, [16, 16, 1], 0, &[&part, &u, &v])?;
        let compute = graph.kernel(&compute, &last)?;
        let packed = pack.launch(device, lines(SIDES as u32), [128, 1, 1], 0, &[&part, &u, &edges])?;
        let packed = graph.kernel(&packed, &last)?;
        let out = graph.download(&send, edges.slice(), &[packed])?;
        let call = {
            let (send, receive) = (send.clone(), receive.clone());
            move || exchange(part, neighbours, &send, &receive)
        };
        let exchanged = graph.host(call, &[out])?;
        let back = graph.upload(edges.slice(), &receive, &[exchanged])?;
        let mut ready = vec![back];
        for (side, _) in neighbours.iter().enumerate().filter(|(_, neighbour)| neighbour.is_some()) {
            let edge = edges.slice().get(part.offset(side)..part.offset(side + 1)).ok_or("an edge")?;
            let unpack =
                unpack.launch(device, lines(1), [128, 1, 1], 0, &[&part, &u, &edge, &(side as i32)])?;
            ready.push(graph.kernel(&unpack, &[back])?);
        }
        let border = outer.launch(device, lines(SIDES as u32), [128, 1, 1], 0, &[&part, &u, &v])?;
        last = vec![graph.kernel(&border, &ready)?, compute];
        std::mem::swap(&mut u, &mut v);
    }
    let exec = graph.instantiate()?;

    let mut calls = Vec::new();
    for _ in 0..launches {
        let start = Instant::now();
        exec.launch(&stream)?;
        calls.push(start.elapsed());
        stream.synchronize()?;
    }
    calls.sort();

    // The whole grid, row by row, on rank 0.
    let result = u.read(&stream)?;
    let rows = result.chunks_exact(part.width + 2).skip(1).take(part.height);
    let own: Vec<f64> = rows.flat_map(|row| &row[1..=part.width]).copied().collect();
    let root = world.process_at_rank(0);
    if rank != 0 {
        root.gather_into(&own[..]);
        return Ok(());
    }
    let mut all = vec![0.0f64; cells * cells];
    root.gather_into_root(&own[..], &mut all[..]);
    let mut hash = 0xcbf2_9ce4_8422_2325u64; // FNV-1a
    for (y, x) in (0..cells).flat_map(|y| (0..cells).map(move |x| (y, x))) {
        let place = y / part.height * grid.columns + x / part.width;
        let value = all[(place * part.height + y % part.height) * part.width + x % part.width];
        for byte in value.to_ne_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    println!("{} sweeps of {cells} x {cells} cells: {hash:016x}", launches * SWEEPS);
    let median = calls.get(launches / 2).ok_or("no launches")?;
    eprintln!(
        "{ranks} ranks, a launch call of rank 0: {:.2} us (median of {launches})",
        median.as_secs_f64() * 1e6
    );
    Ok(())
}
