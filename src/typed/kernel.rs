//! Kernels that can be launched safely, and their arguments.

use smallvec::SmallVec;

use super::{Alive, DeviceBuffer, DeviceSlice, HostBuffer, Plain, access::Touch};
use crate::{
    device::Device,
    error::{Error, Result},
    graph::{Condition, Kernargs, Kernel as KernelNode, Node},
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

    /// The memory that it names, which a kernel may read and write, unless the argument is [`ReadOnly`].
    fn touch(&self) -> Option<Touch> {
        None
    }
}

/// An argument whose memory the kernel only reads: work beside it may read it too.
#[derive(Clone, Copy, Debug)]
pub struct ReadOnly<'a, A>(pub &'a A);

impl<A: Argument> Argument for ReadOnly<'_, A> {
    fn bytes(&self) -> SmallVec<[u8; 8]> {
        self.0.bytes()
    }

    fn alive(&self) -> Option<Alive> {
        self.0.alive()
    }

    fn touch(&self) -> Option<Touch> {
        self.0.touch().map(Touch::read_only)
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

    fn touch(&self) -> Option<Touch> {
        Some(DeviceSlice::touch(self))
    }
}

impl<T: Plain> Argument for DeviceBuffer<T> {
    fn bytes(&self) -> SmallVec<[u8; 8]> {
        self.slice().address().to_le_bytes().into()
    }

    fn alive(&self) -> Option<Alive> {
        Some(DeviceBuffer::alive(self))
    }

    fn touch(&self) -> Option<Touch> {
        Some(self.slice().touch())
    }
}

impl<T: Plain> Argument for HostBuffer<T> {
    fn bytes(&self) -> SmallVec<[u8; 8]> {
        self.address().to_le_bytes().into()
    }

    fn alive(&self) -> Option<Alive> {
        Some(HostBuffer::alive(self))
    }

    fn touch(&self) -> Option<Touch> {
        Some(HostBuffer::touch(self))
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
/// Work-items of a workgroup where none were chosen: four waves, which every device has room for.
const WORKGROUP: u32 = 256;

/// A kernel whose behaviour its caller vouches for.
#[derive(Clone, Debug)]
pub struct Kernel(Function);

/// A kernel with a shape and arguments, to be put on a stream or into a graph.
#[derive(Clone)]
pub struct Launch {
    pub(crate) node: KernelNode<Function>,
    pub(crate) device: Device,
    pub(crate) alive: Vec<Alive>,
    pub(super) touches: Vec<Touch>,
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
        let mut kernargs = Kernargs::padded(&[], code.argument_bytes());
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
        crate::module::check_kernel(device, &node)?;
        let alive = arguments.iter().filter_map(|a| a.alive()).collect();
        let touches = arguments.iter().filter_map(|a| a.touch()).collect();
        Ok(Launch { node, device: device.clone(), alive, touches })
    }

    /// A launch of `items` work-items in one dimension, in blocks of at most 256; the last block may be smaller.
    ///
    /// # Errors
    /// As [`Kernel::launch`].
    pub fn over(&self, device: &Device, items: u32, arguments: &[&dyn Argument]) -> Result<Launch> {
        let block = items.clamp(1, WORKGROUP);
        let blocks = items.div_ceil(block);
        let mut launch = self.launch(device, [blocks, 1, 1], [block, 1, 1], 0, arguments)?;
        launch.node.attributes.lacking[0] = (block - items % block) % block;
        Ok(launch)
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
