//! Graph nodes: adding them, asking for and changing their parameters.

use std::{collections::HashMap, ffi::c_void, sync::Mutex};

use aqlipse::{
    Device, Function, GraphNode, Subgraph,
    graph::{Attributes, Kernargs, Kernel, Memcpy, Memset, Node, NodeId},
};

use super::{
    memory,
    template::{Dependencies, dependencies},
};
use crate::{
    api::{
        launch::{arguments::Given, host_function::host_function},
        memory::operand::{box_copy, linear},
        module::register,
        pool::stream_ordered::access_error,
    },
    caller, current,
    error::{hipError_t, hipErrorInvalidPitchValue, hipErrorInvalidValue},
    graph_ref, locks, object,
    types::*,
};

/// Adds one node to a graph and stores its handle.
pub(super) unsafe fn add(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    make: impl FnOnce(&mut Subgraph<'_>, &[NodeId]) -> Result<NodeId, hipError_t>,
) -> Result<(), hipError_t> {
    if node.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let id = object::with_graph(graph, |graph| {
        // SAFETY: the caller's array.
        let after = unsafe { dependencies(graph.graph().topology(), after, count) }?;
        make(graph.on(current::device_ref()?), &after)
    })?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(node, object::node_handle(id)) }
}

/// Adds a node with the parameters that `make` makes, for the calling thread's device.
pub(super) unsafe fn add_made(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    make: impl FnOnce(&Device) -> Result<GraphNode, hipError_t>,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointers.
    unsafe {
        add_behind(node, graph, after, count, |graph, device, after| {
            let made = make(device)?;
            Ok(graph.add_behind(made, after)?)
        })
    }
}

/// As [`add`], with the device that the node is for, and dependencies that stay where they are.
#[inline]
unsafe fn add_behind(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    add: impl FnOnce(&mut Subgraph<'_>, &Device, Dependencies) -> Result<NodeId, hipError_t>,
) -> Result<(), hipError_t> {
    if node.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let id = object::with_graph(graph, |graph| {
        // SAFETY: the caller's array.
        let after = unsafe { Dependencies::new(graph.graph().topology(), after, count) }?;
        let device = current::device_ref()?;
        add(graph.on(device), device, after)
    })?;
    // SAFETY: the caller's pointer, which is not null.
    unsafe { caller::write(node, object::node_handle(id)) }
}

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
        if let Given::Packed(bytes) = &arguments
            && bytes.len() < code.argument_bytes()
        {
            return Err(hipErrorInvalidValue);
        }
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

/// Arguments of kernel nodes as callers may point to them: valid until the node changes or its graph goes.
static VIEWS: Mutex<Option<HashMap<u64, View>>> = Mutex::new(None);

struct View {
    bytes: Box<[u8]>,
    pointers: Box<[usize]>,
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
        let mut views = locks::lock(&VIEWS);
        let views = views.get_or_insert_default();
        let view = views.entry(id.to_bits()).or_insert(View { bytes: Box::default(), pointers: Box::default() });
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

/// Gives a node of a template other parameters of its kind; the attributes of a kernel stay.
pub(super) fn set(node: hipGraphNode_t, mut parameters: GraphNode) -> Result<(), hipError_t> {
    let (graph, id) = object::node(node)?;
    graph.with(|graph| {
        if let (Ok(Node::Kernel(old)), Node::Kernel(new)) = (graph.graph().node(id), &mut parameters) {
            new.attributes = old.attributes.clone();
        }
        Ok(graph.on(&current::device()?).set(id, parameters)?)
    })
}

entry! {
    /// Gives a kernel node other parameters.
    fn hipGraphKernelNodeSetParams(node: hipGraphNode_t, params: *const hipKernelNodeParams) -> hipError_t {
        object::node(node)?;
        // SAFETY: the caller's pointer.
        set(node, unsafe { kernel_node(params, current::device_ref()?) }?)
    }
}

/// A copy node with its operands checked.
///
/// # Errors
/// `hipErrorInvalidPitchValue` for rows that are wider than they are apart, which the same copy on a stream calls an
/// invalid value; what [`aqlipse::memory::check_copy`] refuses.
pub(crate) fn copy_node(copy: Memcpy) -> Result<GraphNode, hipError_t> {
    if let Memcpy::Box(b) = &copy {
        let [width, height, depth] = b.extent;
        let too_wide = width > b.dst.pitch || width > b.src.pitch;
        if too_wide && (height > 1 || depth > 1) {
            return Err(hipErrorInvalidPitchValue);
        }
    }
    aqlipse::memory::check_copy(&copy)?;
    Ok(Node::Memcpy(copy))
}

/// Adds a node that copies.
pub(crate) unsafe fn add_copy(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    copy: impl FnOnce() -> Result<Memcpy, hipError_t>,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointers.
    unsafe { add_made(node, graph, after, count, |_| copy_node(copy()?)) }
}

/// Gives a copy node other operands.
pub(crate) fn set_copy(node: hipGraphNode_t, copy: Memcpy) -> Result<(), hipError_t> {
    set(node, copy_node(copy)?)
}

entry! {
    /// Adds a node that copies a run of bytes.
    fn hipGraphAddMemcpyNode1D(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        dst: *mut c_void,
        src: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t {
        let copy = || {
            let copy = linear(dst, src, bytes, kind)?;
            // HIP: 6.3 adds no node for no bytes (tests/conformance/graph_memcpy1d_errors.cpp).
            if bytes == 0 { Err(hipErrorInvalidValue) } else { Ok(copy) }
        };
        // SAFETY: the caller's pointers.
        unsafe { add_copy(node, graph, after, count, copy) }
    }
}

entry! {
    /// Adds a node that copies a box between arrays and pitched memory.
    fn hipGraphAddMemcpyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemcpy3DParms,
    ) -> hipError_t {
        // SAFETY: the caller's pointer, null or readable.
        let params = unsafe { caller::read(params) };
        // SAFETY: the caller's pointers.
        unsafe { add_copy(node, graph, after, count, || box_copy(&params?)) }
    }
}

pub(crate) unsafe fn memset_node(params: *const hipMemsetParams) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let params = unsafe { caller::read(params) }?;
    // The value has no room for an element of 8 bytes, which a node of this library may have (`fill64`).
    if params.dst.is_null() || params.width == 0 || params.height == 0 || params.elementSize > 4 {
        return Err(hipErrorInvalidValue);
    }
    let set = Memset {
        dst: params.dst as u64,
        pitch: params.pitch as u64,
        value: params.value.into(),
        element_size: params.elementSize,
        width: params.width as u64,
        height: params.height as u64,
    };
    aqlipse::memory::check_fill(set)?;
    Ok(Node::Memset(set))
}

entry! {
    /// Adds a node that fills rows of memory.
    fn hipGraphAddMemsetNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipMemsetParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_made(node, graph, after, count, |_| memset_node(params)) }
    }
}

pub(crate) unsafe fn host_node(params: *const hipHostNodeParams) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let params = unsafe { caller::read(params) }?;
    Ok(Node::Host(host_function(params.r#fn, params.userData)?))
}

entry! {
    /// Adds a node that calls a function on the host.
    fn hipGraphAddHostNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *const hipHostNodeParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_made(node, graph, after, count, |_| host_node(params)) }
    }
}

entry! {
    /// Adds a node that is only a place in the order.
    fn hipGraphAddEmptyNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_made(node, graph, after, count, |_| Ok(Node::Empty)) }
    }
}

entry! {
    /// Adds a node that allocates memory; its address is stored in `params` and never changes.
    fn hipGraphAddMemAllocNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        params: *mut hipMemAllocNodeParams,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_allocation(node, graph, after, count, params) }
    }
}

/// Adds an allocation node and stores its address in `params`.
pub(super) unsafe fn add_allocation(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    params: *mut hipMemAllocNodeParams,
) -> Result<(), hipError_t> {
    // SAFETY: the caller's pointer, null or readable.
    let mut wanted = unsafe { caller::read(params) }?;
    // SAFETY: the caller's array of access descriptors.
    let (device, bytes, options) = unsafe { memory::wanted(&wanted) }?;
    // SAFETY: the caller's pointers.
    unsafe {
        add(node, graph, after, count, |graph, after| {
            let added = graph.add_allocation_with(&device, bytes, options, after);
            let (id, start) = added.map_err(access_error)?;
            wanted.dptr = start as usize as *mut c_void;
            memory::remember(id, wanted);
            Ok(id)
        })
    }?;
    // SAFETY: the caller's pointer, which was readable.
    unsafe { caller::write(params, wanted) }
}

entry! {
    /// Adds a node that frees what an allocation node of the graph has allocated.
    fn hipGraphAddMemFreeNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        address: *mut c_void,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_free(node, graph, after, count, address) }
    }
}

entry! {
    /// Adds a node that frees what an allocation node of the graph has allocated.
    fn hipDrvGraphAddMemFreeNode(
        node: *mut hipGraphNode_t,
        graph: hipGraph_t,
        after: *const hipGraphNode_t,
        count: usize,
        address: hipDeviceptr_t,
    ) -> hipError_t {
        // SAFETY: the caller's pointers.
        unsafe { add_free(node, graph, after, count, address) }
    }
}

/// Adds a node that frees the graph's allocation at `address`.
pub(super) unsafe fn add_free(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    address: *mut c_void,
) -> Result<(), hipError_t> {
    if address.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's pointers.
    unsafe { add(node, graph, after, count, |graph, after| Ok(graph.add_free(address as u64, after)?)) }
}

entry! {
    /// Stores what an allocation node allocates.
    fn hipGraphMemAllocNodeGetParams(node: hipGraphNode_t, params: *mut hipMemAllocNodeParams) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (graph, id) = object::node(node)?;
        let (alloc, options) = graph.with(|graph| match graph.graph().node(id) {
            Ok(Node::MemAlloc(alloc)) => Ok((*alloc, graph.allocation_options(id).unwrap_or_default())),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(params, memory::found(id, alloc, &options)) }
    }
}

entry! {
    /// Stores the address that a free node frees.
    fn hipGraphMemFreeNodeGetParams(node: hipGraphNode_t, address: *mut c_void) -> hipError_t {
        let (graph, id) = object::node(node)?;
        let free = graph.with(|graph| match graph.graph().node(id) {
            Ok(Node::MemFree(free)) => Ok(*free),
            _ => Err(hipErrorInvalidValue),
        })?;
        // SAFETY: the caller's pointer, null or writable for an address.
        unsafe { caller::write(address.cast::<usize>(), free.address as usize) }
    }
}

/// Forgets the arguments that callers may point to of the nodes of graphs that are gone.
pub(super) fn forget_views() {
    memory::forget_views();
    let mut views = locks::lock(&VIEWS);
    if let Some(views) = views.as_mut() {
        views
            .retain(|bits, _| NodeId::from_bits(*bits).is_some_and(|node| graph_ref::graph_of(node).is_ok()));
    }
}
