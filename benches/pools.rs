//! What does a pair of `hipMallocAsync` and `hipFreeAsync` on a warm pool cost, and do threads stand in each other's way?
//!
//! Through the C ABI, of the library that `cargo xtask dist` has built and, where Debian's HIP 5.2.3 and the thunk are
//! there, of AMD's in the same run, each in processes of its own and in turns. Libraries may be named as arguments
//! instead. A pool is warm that retains what it has: its threshold is the highest.
//!
//! Pairs on one stream that is idle, and on one whose work waits for a callback; then 1, 2, 4 and 8 threads, each with a
//! stream of its own, on the default pool. Throughput depends on how many processors are free, so the same threads call
//! `malloc` and `free` of the C library in turns with that, for sizes that each thread has a cache of: they share nothing,
//! and gain what is there to be gained. The processor time of a pair says the same whatever is free: it grows where
//! threads wait for each other's lines.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString, c_int, c_uint, c_void},
    hint,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    ptr,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use libloading::{Library, os::unix};

const SIZES: [(usize, &str); 3] = [(256, "256 B"), (64 << 10, "64 KiB"), (4 << 20, "4 MiB")];
const THREADS: [usize; 4] = [1, 2, 4, 8];

/// Bytes of an allocation of the threads; and of one of the C library, which keeps such for each thread.
const SHARED: usize = 64 << 10;
const CACHED: usize = 256;
/// Pairs between two looks at the clock.
const BATCH: usize = 200;
/// Samples of a batch.
const SAMPLES: usize = 41;
/// How long threads run, and how often in a process.
const TIME: Duration = Duration::from_millis(60);
const TURNS: usize = 5;
const ROUNDS: usize = 5;
/// A worker that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(20);

/// What the argument of a worker begins with.
const WORKER: &str = "--measure=";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(library) = arguments.first().and_then(|first| first.to_str()?.strip_prefix(WORKER)) {
        return match measure(library) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("pools: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let libraries = if arguments.is_empty() { installed() } else { arguments.iter().map(named).collect() };
    if libraries.is_empty() {
        eprintln!("pools: build the library with `cargo xtask dist`");
        return ExitCode::FAILURE;
    }
    compare(&libraries);
    ExitCode::SUCCESS
}

/// A library, and where it finds others.
struct Contestant {
    name: String,
    library: OsString,
    path: Option<PathBuf>,
}

fn named(library: &OsString) -> Contestant {
    Contestant { name: library.to_string_lossy().into_owned(), library: library.clone(), path: None }
}

fn installed() -> Vec<Contestant> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/dist");
    let dist = env::var_os("AQLIPSE_DIST").map_or(built, PathBuf::from);
    let (ours, thunk) = (dist.join("lib/libamdhip64.so"), dist.join("thunk"));
    let amd = Path::new("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5");
    let mut contestants = Vec::new();
    if ours.exists() {
        contestants.push(Contestant { name: "aqlipse".into(), library: ours.into(), path: None });
    }
    if amd.exists() && thunk.exists() {
        contestants.push(Contestant { name: "AMD 5.2.3".into(), library: amd.into(), path: Some(thunk) });
    }
    contestants
}

type Times = BTreeMap<String, Vec<f64>>;

fn compare(contestants: &[Contestant]) {
    let mut all: Vec<Times> = contestants.iter().map(|_| Times::new()).collect();
    for _ in 0..ROUNDS {
        for (contestant, times) in contestants.iter().zip(&mut all) {
            run(contestant, times);
        }
    }
    let mut shown: Vec<&String> = all.iter().flat_map(Times::keys).collect();
    shown.sort();
    shown.dedup();
    print!("{:<44}", "10th percentile, median, 90th percentile");
    contestants.iter().for_each(|contestant| print!(" {:>26}", contestant.name));
    println!();
    for key in shown {
        // What sorts them comes before the bar.
        print!("{:<44}", key.split_once('|').map_or(key.as_str(), |(_, label)| label));
        for times in &all {
            match times.get(key) {
                Some(times) => {
                    let [low, median, high] = spread(times);
                    let digits = if key.contains(GAIN) { 2 } else { 0 };
                    print!(" {:>26}", format!("{low:.digits$}  {median:.digits$}  {high:.digits$}"));
                }
                None => print!(" {:>26}", "-"),
            }
        }
        println!();
    }
}

fn spread(times: &[f64]) -> [f64; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    [10, 50, 90].map(|percent| sorted[(sorted.len() - 1) * percent / 100])
}

/// Has a process measure a library; what it says before it ends or hangs counts.
fn run(contestant: &Contestant, times: &mut Times) {
    let Ok(program) = env::current_exe() else { return };
    let mut argument = OsString::from(WORKER);
    argument.push(&contestant.library);
    let mut command = Command::new(program);
    command.arg(argument).stdout(Stdio::piped());
    if let Some(path) = &contestant.path {
        command.env("LD_LIBRARY_PATH", path);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return eprintln!("{}: {error}", contestant.name),
    };
    let output = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        // What was read before a failure counts.
        let _ = output.map(|mut output| output.read_to_string(&mut text));
        text
    });
    let deadline = Instant::now() + LIMIT;
    while child.try_wait().is_ok_and(|status| status.is_none()) {
        if Instant::now() > deadline {
            eprintln!("{}: hangs", contestant.name);
            // It may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
        }
        thread::sleep(Duration::from_millis(5));
    }
    for line in reader.join().unwrap_or_default().lines() {
        if let Some((key, value)) = line.rsplit_once('\t')
            && let Ok(value) = value.parse()
        {
            times.entry(key.to_owned()).or_default().push(value);
        }
    }
}

/// Only the library knows what is behind it.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Stream(*mut c_void);

// SAFETY: any thread may use a stream.
unsafe impl Send for Stream {}

type Callback = unsafe extern "C" fn(Stream, c_int, *mut c_void);

/// Functions of a `libamdhip64`.
struct Hip {
    malloc: unsafe extern "C" fn(*mut *mut c_void, usize, Stream) -> c_int,
    free: unsafe extern "C" fn(*mut c_void, Stream) -> c_int,
    create: unsafe extern "C" fn(*mut Stream, c_uint) -> c_int,
    synchronize: unsafe extern "C" fn(Stream) -> c_int,
    callback: unsafe extern "C" fn(Stream, Callback, *mut c_void, c_uint) -> c_int,
    default_pool: unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int,
    set: unsafe extern "C" fn(*mut c_void, c_int, *mut c_void) -> c_int,
}

const NON_BLOCKING: c_uint = 1;
const RELEASE_THRESHOLD: c_int = 4;

fn check(code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("hipError_t {code}")) }
}

impl Hip {
    fn open(library: &OsStr) -> Result<Self, String> {
        // SAFETY: what the library does when it is loaded is what is measured here.
        let library = unsafe { unix::Library::open(Some(library), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        // It stays: its threads do.
        let library: &'static Library =
            Box::leak(Box::new(library.map_err(|error| error.to_string())?.into()));
        macro_rules! find {
            ($name:literal) => {
                // SAFETY: the type is that of the function in HIP's headers.
                *unsafe { library.get($name) }.map_err(|error| format!("{}: {error}", $name))?
            };
        }
        Ok(Self {
            malloc: find!("hipMallocAsync"),
            free: find!("hipFreeAsync"),
            create: find!("hipStreamCreateWithFlags"),
            synchronize: find!("hipStreamSynchronize"),
            callback: find!("hipStreamAddCallback"),
            default_pool: find!("hipDeviceGetDefaultMemPool"),
            set: find!("hipMemPoolSetAttribute"),
        })
    }

    fn stream(&self) -> Result<Stream, String> {
        let mut stream = Stream(ptr::null_mut());
        // SAFETY: a place for the stream.
        check(unsafe { (self.create)(&mut stream, NON_BLOCKING) })?;
        Ok(stream)
    }

    fn retain(&self) -> Result<(), String> {
        let (mut pool, mut most) = (ptr::null_mut(), u64::MAX);
        // SAFETY: places for a pool and, as the attribute wants it, 64 bits.
        unsafe {
            check((self.default_pool)(&mut pool, 0))?;
            check((self.set)(pool, RELEASE_THRESHOLD, (&raw mut most).cast()))
        }
    }

    fn pairs(&self, stream: Stream, bytes: usize, count: usize) -> Result<(), String> {
        for _ in 0..count {
            let mut memory = ptr::null_mut();
            // SAFETY: a place for the address, and a stream that lives; what is freed was allocated just now.
            unsafe {
                check((self.malloc)(&mut memory, bytes, stream))?;
                check((self.free)(memory, stream))?;
            }
        }
        Ok(())
    }
}

static GATE: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn wait_at_gate(_: Stream, _: c_int, _: *mut c_void) {
    while !GATE.load(Ordering::Acquire) {
        thread::sleep(Duration::from_millis(1));
    }
}

fn measure(library: &str) -> Result<(), String> {
    let hip = &Hip::open(OsStr::new(library))?;
    hip.retain()?;
    let stream = hip.stream()?;
    single(hip, stream, "1", "idle")?;
    let streams = (0..THREADS[THREADS.len() - 1]).map(|_| hip.stream()).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..TURNS {
        compare_threads("3", "pairs", |number| {
            let stream = streams[number];
            move || hip.pairs(stream, SHARED, BATCH)
        })?;
        compare_threads("4", "malloc and free", |_| {
            || {
                floor(BATCH);
                Ok(())
            }
        })?;
    }
    // Last: who waits here for the stream's work never comes back.
    // SAFETY: the function takes no data.
    check(unsafe { (hip.callback)(stream, wait_at_gate, ptr::null_mut(), 0) })?;
    single(hip, stream, "2", "behind work")?;
    GATE.store(true, Ordering::Release);
    // SAFETY: the stream lives.
    check(unsafe { (hip.synchronize)(stream) })
}

fn single(hip: &Hip, stream: Stream, order: &str, state: &str) -> Result<(), String> {
    for (number, (bytes, size)) in SIZES.into_iter().enumerate() {
        hip.pairs(stream, bytes, 10)?;
        for _ in 0..SAMPLES {
            let start = Instant::now();
            hip.pairs(stream, bytes, BATCH)?;
            let time = start.elapsed().as_nanos() as f64 / BATCH as f64;
            println!("{order}{number}|ns a pair, {state}, {size}\t{time}");
        }
    }
    Ok(())
}

/// Processor time of the calling thread in nanoseconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// What a line shows of threads beside one thread.
const GAIN: &str = "times as many";

/// Runs as many threads as are to be compared, each with the work that `work` makes for its number: a batch.
fn compare_threads<W>(order: &str, what: &str, work: impl Fn(usize) -> W) -> Result<(), String>
where
    W: Fn() -> Result<(), String> + Send,
{
    let mut alone = None;
    for threads in THREADS {
        let Together { rate, cost } = together((0..threads).map(&work).collect())?;
        let &mut alone = alone.get_or_insert(rate);
        println!("{order}0{threads}|thousand {what} a second, threads: {threads}\t{}", rate / 1e3);
        if threads > 1 {
            println!("{order}1{threads}|{GAIN} {what}, threads: {threads}\t{}", rate / alone);
        }
        println!("{order}2{threads}|ns of a processor, {what}, threads: {threads}\t{cost}");
    }
    Ok(())
}

/// Pairs a second of all threads, and nanoseconds of a processor that one takes.
struct Together {
    rate: f64,
    cost: f64,
}

fn together<W>(works: Vec<W>) -> Result<Together, String>
where
    W: Fn() -> Result<(), String> + Send,
{
    let (stop, start) = (&AtomicBool::new(false), &Barrier::new(works.len() + 1));
    let run = |work: W| -> Result<(usize, f64), String> {
        let warm = work();
        start.wait();
        warm?;
        let (mut pairs, before) = (0, processor_time());
        while !stop.load(Ordering::Relaxed) {
            work()?;
            pairs += BATCH;
        }
        Ok((pairs, processor_time() - before))
    };
    let done = thread::scope(|scope| {
        let workers: Vec<_> = works.into_iter().map(|work| scope.spawn(move || run(work))).collect();
        start.wait();
        let began = Instant::now();
        thread::sleep(TIME);
        stop.store(true, Ordering::Relaxed);
        let time = began.elapsed().as_secs_f64();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker.join().map_err(|_| "a thread panicked".to_owned())?
        };
        workers.into_iter().map(join).collect::<Result<Vec<_>, String>>().map(|done| (done, time))
    });
    let (done, time) = done?;
    let pairs: usize = done.iter().map(|(pairs, _)| pairs).sum();
    let used: f64 = done.iter().map(|(_, used)| used).sum();
    Ok(Together { rate: pairs as f64 / time, cost: used / pairs as f64 })
}

/// Pairs of the C library.
fn floor(count: usize) {
    for _ in 0..count {
        // SAFETY: what is freed was allocated just now; null is nothing to free.
        unsafe { libc::free(hint::black_box(libc::malloc(CACHED))) };
    }
}
