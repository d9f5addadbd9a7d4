//! Kernel nodes: their launches, arguments and attributes.

use std::ffi::{c_int, c_void};

use aqlipse::{
    Device, Function, GraphNode, SameLaunch,
    graph::{Attributes, Kernargs, Kernel, KernelAttributes, Node, NodeId},
};

use super::{
    node::{add_behind, node_entries, set_exec},
    view::KERNELS,
};
use crate::{
    api::{
        launch::{
            arguments::{self, Given},
            kernel::{access_policy, window_of},
        },
        module::register,
    },
    caller, current,
    error::{hipError_t, hipErrorInvalidContext, hipErrorInvalidValue},
    object,
    types::*,
};

/// What a caller's structure says of a kernel node, all of it checked.
struct KernelGiven {
    function: Function,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    arguments: Given,
}

impl KernelGiven {
    /// # Errors
    /// `hipErrorInvalidDeviceFunction` for what is no kernel, `hipErrorInvalidValue` for null, for arguments that lack, and
    /// for a launch that the kernel cannot take.
    // Always: it is most of what adding a node does, and returns a hundred bytes.
    #[inline(always)]
    unsafe fn new(params: *const hipKernelNodeParams, device: &Device) -> Result<Self, hipError_t> {
        // SAFETY: the caller's pointer, null or readable.
        let params = unsafe { caller::read(params) }?;
        // HIP: 6.3 has one code for these (tests/conformance/graph_kernel_errors.hip, graph_kernel_dims.hip).
        if params.func.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let [grid, block] = [params.gridDim, params.blockDim].map(|dim| [dim.x, dim.y, dim.z]);
        let shared_bytes = params.sharedMemBytes;
        let function = register::kernel(params.func)?;
        let code = function.code(device)?;
        // SAFETY: the caller's arguments, as the kernel's metadata describes them.
        let arguments = unsafe { Given::new(code, params.kernelParams, params.extra) }?;
        code.check_size(grid, block, shared_bytes).map_err(|_| hipErrorInvalidValue)?;
        Ok(Self { function, grid, block, shared_bytes, arguments })
    }

    /// The kernel without arguments, which [`fill`] gives it, and these.
    #[inline]
    fn parts(self) -> (Kernel<Function>, Given) {
        let Self { function, grid, block, shared_bytes, arguments } = self;
        let (kernargs, attributes) = (Kernargs::default(), Attributes::default());
        (Kernel { function, grid, block, shared_bytes, kernargs, attributes }, arguments)
    }
}

/// What a caller's structure says of a kernel node.
///
/// # Errors
/// As [`KernelGiven::new`].
pub(crate) unsafe fn kernel_node(
    params: *const hipKernelNodeParams,
    device: &Device,
) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's pointers.
    let (mut kernel, arguments) = unsafe { KernelGiven::new(params, device) }?.parts();
    // SAFETY: the caller's arguments, which were looked at for this kernel.
    unsafe { fill(&mut kernel, arguments, device) };
    Ok(Node::Kernel(kernel))
}

/// Gives a kernel its arguments.
#[inline(always)]
unsafe fn fill(kernel: &mut Kernel<Function>, arguments: Given, device: &Device) {
    match (arguments, kernel.function.code(device)) {
        (Given::Packed(bytes), _) => kernel.kernargs = bytes,
        (Given::Apart(apart), Ok(code)) => {
            kernel.kernargs.grow(code.argument_bytes());
            // SAFETY: they were looked at for this kernel.
            unsafe { apart.gather(code, &mut kernel.kernargs) };
        }
        (Given::Apart(_), Err(_)) => {}
    }
}

entry! {
    /// Adds a node that launches a kernel; the arguments are copied.
    fn hipGraphAddKernelNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipKernelNodeParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointers; its arguments were looked at when they are copied.
        unsafe {
            add_behind(node, graph, after, count, |graph, device, after| {
                let (kernel, arguments) = KernelGiven::new(params, device)?.parts();
                Ok(graph.add_kernel(after, || kernel, |kernel| fill(kernel, arguments, device))?)
            })
        }
    }
}

entry! {
    /// Stores a kernel node's parameters; the arguments stay the node's.
    fn hipGraphKernelNodeGetParams(node: hipGraphNode_t, params: *mut hipKernelNodeParams) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (graph, id) = object::node(node)?;
        let (kernel, device) = graph.with(|graph| match graph.graph().node(id) {
            Ok(Node::Kernel(kernel)) => Ok((kernel.clone(), graph.device_of(id)?)),
            _ => Err(hipErrorInvalidValue),
        })?;
        let code = kernel.function.code(&device)?;
        let mut views = KERNELS.lock();
        let view = views.entry(id.to_bits()).or_default();
        if *view.bytes != *kernel.kernargs || view.pointers.is_empty() {
            view.bytes = (*kernel.kernargs).into();
            let start = view.bytes.as_ptr() as usize;
            view.pointers = code.arguments().map(|(offset, _)| start + offset).collect();
        }
        let dim = |[x, y, z]: [u32; 3]| dim3 { x, y, z };
        let found = hipKernelNodeParams {
            blockDim: dim(kernel.block),
            extra: std::ptr::null_mut(),
            func: kernel.function.token() as *mut c_void,
            gridDim: dim(kernel.grid),
            kernelParams: view.pointers.as_mut_ptr().cast(),
            sharedMemBytes: kernel.shared_bytes,
        };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write_padded(params, found, &[12..16, 44..48, 60..64]) }
    }
}

node_entries! {
    (params: *const hipKernelNodeParams) => kernel_node(params, current::device_ref()?);
    /// Gives a kernel node other parameters.
    set fn hipGraphKernelNodeSetParams;
}

entry! {
    /// Gives a kernel node of an executable other parameters.
    fn hipGraphExecKernelNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: *const hipKernelNodeParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointer.
        if unsafe { set_arguments(exec, node, params) }? {
            return Ok(());
        }
        // SAFETY: the caller's pointer.
        let made = unsafe { kernel_node(params, current::device_ref()?) }?;
        set_exec(exec, node, || Ok(made))
    }
}

/// Gives a kernel node of an executable other arguments if that is all that is new; says whether it was.
///
/// # Errors
/// `hipErrorInvalidValue` for an executable that does not exist and for a missing argument.
///
/// # Safety
/// `params` is null or readable, and its arguments are as the kernel's metadata describes them.
unsafe fn set_arguments(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    params: *const hipKernelNodeParams,
) -> Result<bool, hipError_t> {
    let exec = object::look_exec(exec)?;
    let Some(node) = NodeId::from_bits(node.0 as u64).filter(|_| !params.is_null()) else { return Ok(false) };
    // SAFETY: the caller's pointer, which is not null.
    let params = unsafe { caller::read(params) }?;
    if params.kernelParams.is_null() || !params.extra.is_null() || !register::is_kernel(params.func) {
        return Ok(false);
    }
    let launch = SameLaunch {
        token: params.func as usize,
        device: current::ordinal(),
        grid: [params.gridDim.x, params.gridDim.y, params.gridDim.z],
        block: [params.blockDim.x, params.blockDim.y, params.blockDim.z],
        shared_bytes: params.sharedMemBytes,
    };
    // SAFETY: the caller's arguments, as the kernel's metadata describes them.
    exec.set_arguments(node, &launch, |code, bytes| unsafe {
        arguments::pack_into(code, params.kernelParams, bytes)
    })
}

/// A memory synchronisation domain.
///
/// # Errors
/// `hipErrorInvalidValue` for a number that is none.
fn sync_domain(domain: u32) -> Result<u32, hipError_t> {
    if domain <= LAST_SYNC_DOMAIN { Ok(domain) } else { Err(hipErrorInvalidValue) }
}

/// `hipLaunchMemSyncDomainRemote`.
const LAST_SYNC_DOMAIN: u32 = 1;

/// Which domains of the device the two are: it has one, number 0.
///
/// # Errors
/// `hipErrorInvalidValue` for another.
fn sync_domain_map(map: [u8; 2]) -> Result<[u8; 2], hipError_t> {
    if map == [0; 2] { Ok(map) } else { Err(hipErrorInvalidValue) }
}

/// Lets `change` work on the attributes of a kernel node.
fn with_attributes<T>(
    node: hipGraphNode_t,
    change: impl FnOnce(&mut KernelAttributes) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    let (graph, id) = object::node(node)?;
    graph.with(|graph| match graph.graph_mut().node_mut(id) {
        Ok(Node::Kernel(kernel)) => change(&mut kernel.attributes),
        _ => Err(hipErrorInvalidValue),
    })
}

entry! {
    /// Sets an attribute of a kernel node.
    fn hipGraphKernelNodeSetAttribute(
        node: hipGraphNode_t,
        attribute: hipLaunchAttributeID,
        value: *const hipLaunchAttributeValue,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // ABI: a client of libamdhip64.so.6 has 32 bytes there, so only the active member is read.
        // SAFETY: the caller's pointer, which is not null and readable for the member that the attribute names.
        let change = |attributes: &mut KernelAttributes| unsafe {
            match attribute {
                hipLaunchAttributeCooperative => {
                    attributes.cooperative = caller::read(value.cast::<c_int>())?;
                    Ok(())
                }
                hipLaunchAttributePriority => {
                    attributes.priority = caller::read(value.cast::<c_int>())?;
                    Ok(())
                }
                hipLaunchAttributeAccessPolicyWindow => {
                    attributes.access_policy = access_policy(&caller::read(value.cast())?)?;
                    Ok(())
                }
                hipLaunchAttributeMemSyncDomain => {
                    attributes.sync_domain = sync_domain(caller::read(value.cast())?)?;
                    Ok(())
                }
                hipLaunchAttributeMemSyncDomainMap => {
                    attributes.sync_domain_map = sync_domain_map(caller::read(value.cast())?)?;
                    Ok(())
                }
                _ => Err(hipErrorInvalidValue),
            }
        };
        with_attributes(node, change)
    }
}

entry! {
    /// Stores an attribute of a kernel node.
    fn hipGraphKernelNodeGetAttribute(
        node: hipGraphNode_t,
        attribute: hipLaunchAttributeID,
        value: *mut hipLaunchAttributeValue,
    ) -> hipError_t {
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let attributes = with_attributes(node, |attributes| Ok(*attributes))?;
        // ABI: a client of libamdhip64.so.6 has 32 bytes there, so only the active member is written.
        // SAFETY: the caller's pointer, which is not null and writable for the member that the attribute names.
        unsafe {
            match attribute {
                hipLaunchAttributeCooperative => {
                    caller::write(value.cast::<c_int>(), attributes.cooperative)
                }
                hipLaunchAttributePriority => caller::write(value.cast::<c_int>(), attributes.priority),
                hipLaunchAttributeAccessPolicyWindow => {
                    caller::write(value.cast(), window_of(&attributes.access_policy))
                }
                hipLaunchAttributeMemSyncDomain => caller::write(value.cast(), attributes.sync_domain),
                hipLaunchAttributeMemSyncDomainMap => caller::write(value.cast(), attributes.sync_domain_map),
                _ => Err(hipErrorInvalidValue),
            }
        }
    }
}

entry! {
    /// Gives a kernel node the attributes of another.
    fn hipGraphKernelNodeCopyAttributes(source: hipGraphNode_t, destination: hipGraphNode_t) -> hipError_t {
        let copied = with_attributes(source, |attributes| Ok(*attributes))?;
        let device = |node| object::node(node)?.0.with(|graph| Ok(graph.device().clone()));
        // The kernels' contexts are those of their graphs.
        if device(source)? != device(destination)? {
            return Err(hipErrorInvalidContext);
        }
        with_attributes(destination, |attributes| {
            *attributes = copied;
            Ok(())
        })
    }
}
