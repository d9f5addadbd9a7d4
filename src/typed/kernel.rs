//! Kernels that can be launched safely, and their arguments.

use smallvec::SmallVec;

use super::{Alive, DeviceBuffer, DeviceSlice, HostBuffer, Plain};
use crate::{
    device::Device,
    error::{Error, Result},
    graph::{Condition, Kernel as KernelNode, Node},
    module::Function,
    stream::Stream,
};

/// One argument of a kernel: its bytes, and what it keeps alive.
pub trait Argument {
    /// The bytes that the kernel finds.
    fn bytes(&self) -> SmallVec<[u8; 8]>;

    /// What must live until the kernel has run.
    fn alive(&self) -> Option<Alive> {
        None
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(
        impl Argument for $ty {
            fn bytes(&self) -> SmallVec<[u8; 8]> {
                SmallVec::from_slice(&self.to_le_bytes())
            }
        }
    )* };
}
numbers! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }

impl<T: Plain> Argument for DeviceSlice<T> {
    fn bytes(&self) -> SmallVec<[u8; 8]> {
        self.address().to_le_bytes().into()
    }
}

impl<T: Plain> Argument for DeviceBuffer<T> {
    fn bytes(&self) -> SmallVec<[u8; 8]> {
        self.slice().address().to_le_bytes().into()
    }

    fn alive(&self) -> Option<Alive> {
        Some(DeviceBuffer::alive(self))
    }
}

impl<T: Plain> Argument for HostBuffer<T> {
    fn bytes(&self) -> SmallVec<[u8; 8]> {
        self.address().to_le_bytes().into()
    }

    fn alive(&self) -> Option<Alive> {
        Some(HostBuffer::alive(self))
    }
}

/// The kernel finds a structure of three words, of which the first is the address to store the new value to.
impl Argument for Condition {
    fn bytes(&self) -> SmallVec<[u8; 8]> {
        self.words().iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn alive(&self) -> Option<Alive> {
        Some(Condition::alive(self))
    }
}

/// A kernel whose behaviour somebody vouches for.
#[derive(Clone, Debug)]
pub struct Kernel(Function);

/// A kernel with a shape and arguments, to be put on a stream or into a graph.
#[derive(Clone)]
pub struct Launch {
    pub(crate) node: KernelNode<Function>,
    pub(crate) alive: Vec<Alive>,
}

impl Kernel {
    /// Takes a kernel as one that can be launched safely.
    ///
    /// # Safety
    /// Given arguments of the right sizes, the kernel accesses nothing but the memory that its buffer arguments
    /// name, within their lengths for every shape it is launched with.
    pub unsafe fn trusted(function: Function) -> Self {
        Self(function)
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// A launch of `grid` blocks of `block` threads, with `shared_bytes` of dynamic LDS.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless the arguments have the number and sizes that the kernel takes,
    /// [`Error::InvalidConfiguration`] for a shape that it or `device` cannot take.
    pub fn launch(
        &self,
        device: &Device,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        arguments: &[&dyn Argument],
    ) -> Result<Launch> {
        let code = self.0.code(device)?;
        let mut kernargs = vec![0; code.argument_bytes()].into_boxed_slice();
        let mut places = code.arguments();
        for argument in arguments {
            let bytes = argument.bytes();
            match places.next() {
                Some((offset, size)) if size == bytes.len() => {
                    kernargs[offset..offset + size].copy_from_slice(&bytes);
                }
                Some(_) => return Err(Error::InvalidValue("an argument has another size than the kernel's")),
                None => return Err(Error::InvalidValue("more arguments than the kernel takes")),
            }
        }
        if places.next().is_some() {
            return Err(Error::InvalidValue("fewer arguments than the kernel takes"));
        }
        let function = self.0.clone();
        let node =
            KernelNode { function, grid, block, shared_bytes, kernargs, attributes: Default::default() };
        crate::check_kernel(device, &node)?;
        let alive = arguments.iter().filter_map(|a| a.alive()).collect();
        Ok(Launch { node, alive })
    }
}

impl Stream {
    /// Launches a kernel; its buffers live until it has run.
    ///
    /// # Errors
    /// The fault of earlier work; what capture forbids.
    pub fn run(&self, launch: &Launch) -> Result<()> {
        self.keep_alive(&launch.alive)?;
        if self.is_capturing() {
            return self.record(Node::Kernel(launch.node.clone()));
        }
        self.launch(launch.node.clone())
    }
}
