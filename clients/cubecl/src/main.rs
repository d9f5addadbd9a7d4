//! CubeCL's HIP back end, in the release with graph capture: kernels in Rust, which it has compiled by hiprtc.

use std::process::ExitCode;

use cubecl::{hip::HipRuntime, prelude::*, server::Handle};

type Client = ComputeClient<HipRuntime>;

const TILE: usize = 16;

#[cube(launch)]
fn sigmoid(x: &[f32], out: &mut [f32]) {
    if ABSOLUTE_POS < out.len() {
        out[ABSOLUTE_POS] = 1.0f32 / (1.0f32 + (-x[ABSOLUTE_POS]).exp());
    }
}

/// `c = a b` for matrices of `n` rows and columns, a multiple of [`TILE`].
#[cube(launch)]
fn product(a: &[f32], b: &[f32], c: &mut [f32], #[comptime] n: usize) {
    let mut left = Shared::<[f32]>::new_slice(comptime!(TILE * TILE));
    let mut right = Shared::<[f32]>::new_slice(comptime!(TILE * TILE));
    let (x, y) = (UNIT_POS_X as usize, UNIT_POS_Y as usize);
    let row = CUBE_POS_Y as usize * TILE + y;
    let column = CUBE_POS_X as usize * TILE + x;
    let mut sum = 0.0f32;
    for tile in 0..comptime!(n / TILE) {
        left[y * TILE + x] = a[row * n + tile * TILE + x];
        right[y * TILE + x] = b[(tile * TILE + y) * n + column];
        sync_cube();
        for k in 0..TILE {
            sum += left[y * TILE + k] * right[k * TILE + x];
        }
        sync_cube();
    }
    c[row * n + column] = sum;
}

/// The sum of each wavefront's elements, then of the four wavefronts of a workgroup.
#[cube(launch)]
fn sums(x: &[f32], out: &mut [f32]) {
    let mut parts = Shared::<[f32]>::new_slice(4usize);
    let sum = plane_sum(x[ABSOLUTE_POS]);
    if UNIT_POS_PLANE == 0 {
        parts[(UNIT_POS / PLANE_DIM) as usize] = sum;
    }
    sync_cube();
    if UNIT_POS == 0 {
        out[CUBE_POS] = parts[0] + parts[1] + parts[2] + parts[3];
    }
}

#[cube(launch)]
fn histogram(x: &[u32], bins: &[Atomic<u32>]) {
    bins[x[ABSOLUTE_POS] as usize].fetch_add(1);
}

/// A buffer on the device and its number of elements.
struct Buffer(Handle, usize);

impl Buffer {
    fn new<T: CubeElement>(client: &Client, values: &[T]) -> Self {
        Self(client.create_from_slice(T::as_bytes(values)), values.len())
    }

    fn argument(&self) -> BufferArg<HipRuntime> {
        // SAFETY: the buffer holds so many elements.
        unsafe { BufferArg::from_raw_parts(self.0.clone(), self.1) }
    }

    fn read<T: CubeElement>(&self, client: &Client) -> Vec<f64>
    where
        f64: From<T>,
    {
        let bytes = client.read_one(self.0.clone()).expect("a copy");
        T::from_bytes(&bytes).iter().map(|&value| f64::from(value)).collect()
    }
}

struct Checks {
    agreeing: usize,
    all: usize,
}

impl Checks {
    /// Compares with the host's values, relative to the largest of them.
    fn compare(&mut self, name: &str, got: &[f64], expected: &[f64], tolerance: f64) {
        let scale = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let is_near = |(got, expected): (&f64, &f64)| (got - expected).abs() <= tolerance * scale;
        let agrees = got.len() == expected.len() && got.iter().zip(expected).all(is_near);
        println!("{} {name}", if agrees { "agrees " } else { "differs" });
        self.all += 1;
        self.agreeing += usize::from(agrees);
    }

    /// Launches, compares; then captures the launch, replays it on a cleared buffer, and compares again.
    fn both<T: CubeElement + Default>(
        &mut self,
        client: &Client,
        name: &str,
        out: &Buffer,
        launch: impl Fn(),
        (expected, tolerance): (&[f64], f64),
    ) where
        f64: From<T>,
    {
        client.graph_prepare().expect("nothing is captured");
        launch();
        self.compare(name, &out.read::<T>(client), expected, tolerance);
        client.start_capture().expect("nothing is captured");
        launch();
        let graph = client.stop_capture().expect("a graph");
        let zeros = vec![T::default(); out.1];
        client.write(&out.0, cubecl::bytes::Bytes::from_bytes_vec(T::as_bytes(&zeros).to_vec()));
        // SAFETY: the buffers live.
        unsafe { graph.replay() };
        self.compare(&format!("{name} in a graph"), &out.read::<T>(client), expected, tolerance);
    }
}

fn main() -> ExitCode {
    let client = HipRuntime::client(&Default::default());
    let mut checks = Checks { agreeing: 0, all: 0 };
    let mut state = 1u64;
    let mut number = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();

    let n = 4096;
    let x: Vec<f32> = (0..n).map(|_| number() * 4.0 - 2.0).collect();
    let input = Buffer::new(&client, &x);
    let out = Buffer::new(&client, &vec![0.0f32; n]);
    let expected: Vec<_> = wide(&x).iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect();
    let cube = CubeDim::new_1d(256);
    let grid = CubeCount::Static(n as u32 / 256, 1, 1);
    let launch =
        || sigmoid::launch::<HipRuntime>(&client, grid.clone(), cube, input.argument(), out.argument());
    checks.both::<f32>(&client, "sigmoid", &out, launch, (&expected, 1e-6));

    let parts = Buffer::new(&client, &vec![0.0f32; n / 256]);
    let expected: Vec<_> = wide(&x).chunks(256).map(|chunk| chunk.iter().sum()).collect();
    let launch =
        || sums::launch::<HipRuntime>(&client, grid.clone(), cube, input.argument(), parts.argument());
    checks.both::<f32>(&client, "sums of workgroups", &parts, launch, (&expected, 1e-5));

    let order = 64;
    let [a, b] = [(); 2].map(|()| (0..order * order).map(|_| number()).collect::<Vec<f32>>());
    let (left, right) = (Buffer::new(&client, &a), Buffer::new(&client, &b));
    let out = Buffer::new(&client, &vec![0.0f32; order * order]);
    let (a, b) = (wide(&a), wide(&b));
    let element = |at: usize| (0..order).map(|k| a[at / order * order + k] * b[k * order + at % order]).sum();
    let expected: Vec<f64> = (0..order * order).map(element).collect();
    let tiles = (order / TILE) as u32;
    let launch = || {
        let (grid, cube) = (CubeCount::Static(tiles, tiles, 1), CubeDim::new_2d(TILE as u32, TILE as u32));
        product::launch::<HipRuntime>(
            &client,
            grid,
            cube,
            left.argument(),
            right.argument(),
            out.argument(),
            order,
        );
    };
    checks.both::<f32>(&client, "product of matrices", &out, launch, (&expected, 1e-5));

    let letters: Vec<u32> = (0..n).map(|_| (number() * 64.0) as u32).collect();
    let input = Buffer::new(&client, &letters);
    let bins = Buffer::new(&client, &[0u32; 64]);
    let expected: Vec<_> =
        (0..64).map(|bin| letters.iter().filter(|&&letter| letter == bin).count() as f64).collect();
    let launch =
        || histogram::launch::<HipRuntime>(&client, grid.clone(), cube, input.argument(), bins.argument());
    checks.both::<u32>(&client, "histogram by atomics", &bins, launch, (&expected, 0.0));

    println!("{} of {} checks agree", checks.agreeing, checks.all);
    if checks.agreeing == checks.all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
