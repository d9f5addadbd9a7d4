//! Nodes that signal external semaphores and wait for them.

use aqlipse::{GraphNode, external::ExternalSemaphore, graph::Node};

use super::{
    node::{node_entries, with_node},
    view,
};
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    object,
    semaphores::{SEMAPHORES, semaphore},
    types::*,
};

/// Semaphores with the value of each.
type Each = Box<[(ExternalSemaphore, u64)]>;

/// Pairs semaphores with the values that `fence` reads of their parameters.
///
/// # Errors
/// `hipErrorInvalidValue` for no semaphores, arrays at null, semaphores that do not exist and flags, which only other
/// kinds of semaphore have.
unsafe fn each<P: Copy>(
    handles: *const hipExternalSemaphore_t,
    params: *const P,
    count: u32,
    fence: impl Fn(&P) -> (u64, u32),
) -> Result<Each, hipError_t> {
    if count == 0 {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: the caller's arrays, null or readable.
    let (handles, params) = unsafe {
        (caller::read_slice(handles, count as usize)?, caller::read_slice(params, count as usize)?)
    };
    let pairs = handles.into_iter().zip(&params).map(|(handle, params)| match fence(params) {
        (value, 0) => Ok((semaphore(handle)?, value)),
        _ => Err(hipErrorInvalidValue),
    });
    pairs.collect()
}

/// The node that signals semaphores.
///
/// # Safety
/// The pointer is null or readable, and so are the arrays behind it.
pub(super) unsafe fn signal_node(
    params: *const hipExternalSemaphoreSignalNodeParams,
) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's promise.
    let each = unsafe {
        let given = caller::read(params)?;
        each(given.extSemArray, given.paramsArray, given.numExtSems, |p| (p.params.fence, p.flags))?
    };
    Ok(Node::SemaphoreSignal(each))
}

/// The node that waits for semaphores.
///
/// # Safety
/// As [`signal_node`].
pub(super) unsafe fn wait_node(
    params: *const hipExternalSemaphoreWaitNodeParams,
) -> Result<GraphNode, hipError_t> {
    // SAFETY: the caller's promise.
    let each = unsafe {
        let given = caller::read(params)?;
        each(given.extSemArray, given.paramsArray, given.numExtSems, |p| (p.params.fence, p.flags))?
    };
    Ok(Node::SemaphoreWait(each))
}

/// Keeps the handles of the semaphores that `find` finds in a node, and the parameters of each, which begin with its value,
/// for callers to look at. Says where they are, and how many.
fn shown<P>(
    node: hipGraphNode_t,
    find: impl FnOnce(&GraphNode) -> Option<&Each>,
) -> Result<(*mut hipExternalSemaphore_t, *const P, u32), hipError_t> {
    let each = with_node(node, |node| find(node).cloned().ok_or(hipErrorInvalidValue))?;
    let (_, id) = object::node(node)?;
    // A semaphore whose handle is gone works on in the node, but cannot be named any more.
    let handle =
        |semaphore: &ExternalSemaphore| SEMAPHORES.find(|known| known == semaphore).unwrap_or(0) as u64;
    let handles = each.iter().map(|(semaphore, _)| handle(semaphore)).collect();
    let words = size_of::<P>() / size_of::<u64>();
    let mut params = vec![0u64; each.len() * words].into_boxed_slice();
    for ((_, value), params) in each.iter().zip(params.chunks_exact_mut(words)) {
        params[0] = *value;
    }
    let kept = view::keep(id, vec![handles, params]);
    // CAST: a node takes a 32-bit number of them.
    Ok((kept[0].cast(), kept[1].cast(), each.len() as u32))
}

node_entries! {
    (params: *const hipExternalSemaphoreSignalNodeParams) => signal_node(params);
    /// Adds a node that signals semaphores when what it depends on has completed.
    add fn hipGraphAddExternalSemaphoresSignalNode;
    /// Lets a node signal other semaphores.
    set fn hipGraphExternalSemaphoresSignalNodeSetParams;
    /// Lets a node of an executable signal other semaphores, as many as before.
    exec fn hipGraphExecExternalSemaphoresSignalNodeSetParams;
}

node_entries! {
    (params: *const hipExternalSemaphoreWaitNodeParams) => wait_node(params);
    /// Adds a node that holds back what depends on it until semaphores have been signalled.
    add fn hipGraphAddExternalSemaphoresWaitNode;
    /// Lets a node wait for other semaphores.
    set fn hipGraphExternalSemaphoresWaitNodeSetParams;
    /// Lets a node of an executable wait for other semaphores, as many as before.
    exec fn hipGraphExecExternalSemaphoresWaitNodeSetParams;
}

entry! {
    /// Stores what a node signals; the arrays stay the node's.
    fn hipGraphExternalSemaphoresSignalNodeGetParams(
        node: hipGraphNode_t,
        params: *mut hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (extSemArray, paramsArray, numExtSems) = shown(node, |node| match node {
            Node::SemaphoreSignal(each) => Some(each),
            _ => None,
        })?;
        let found = hipExternalSemaphoreSignalNodeParams { extSemArray, paramsArray, numExtSems };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(params, found) }
    }
}

entry! {
    /// Stores what a node waits for; the arrays stay the node's.
    fn hipGraphExternalSemaphoresWaitNodeGetParams(
        node: hipGraphNode_t,
        params: *mut hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t {
        if params.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (extSemArray, paramsArray, numExtSems) = shown(node, |node| match node {
            Node::SemaphoreWait(each) => Some(each),
            _ => None,
        })?;
        let found = hipExternalSemaphoreWaitNodeParams { extSemArray, paramsArray, numExtSems };
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(params, found) }
    }
}

#[cfg(test)]
mod tests {
    use std::{mem, ptr};

    use aqlipse::external::SemaphoreKind;

    use super::*;
    use crate::{
        api::{
            exec::instantiate::{hipGraphExecDestroy, hipGraphInstantiateWithFlags, hipGraphLaunch},
            graph::{
                any_node::{hipGraphAddNode, hipGraphExecNodeSetParams},
                template::{hipGraphCreate, hipGraphDestroy, hipGraphNodeGetType},
            },
            stream::work::{hipStreamCreate, hipStreamDestroy, hipStreamQuery, hipStreamSynchronize},
        },
        error::{hipErrorNotReady, hipSuccess},
    };

    /// Calls entries that must succeed.
    macro_rules! ok {
        ($($call:expr),+ $(,)?) => { $({
            // SAFETY: each test passes what the function documents.
            let code = unsafe { $call };
            assert_eq!(code, hipSuccess, "{}", stringify!($call));
        })+ };
    }

    /// Calls an entry that must refuse.
    macro_rules! refused {
        ($call:expr) => {{
            // SAFETY: each test passes what the function documents, or what it must refuse.
            let code = unsafe { $call };
            assert_eq!(code, hipErrorInvalidValue, "{}", stringify!($call));
        }};
    }

    fn new(kind: SemaphoreKind) -> (ExternalSemaphore, hipExternalSemaphore_t) {
        let (_, semaphore) = ExternalSemaphore::create(kind, 0).unwrap();
        let handle = SEMAPHORES.insert(semaphore.clone()).unwrap();
        (semaphore, hipExternalSemaphore_t(handle))
    }

    /// Parameters of signals, with the arrays that they point to.
    struct Signals(Vec<hipExternalSemaphore_t>, Vec<hipExternalSemaphoreSignalParams>);

    impl Signals {
        fn of(each: &[(hipExternalSemaphore_t, u64)]) -> Self {
            let params = |&(_, fence): &(_, u64)| {
                // SAFETY: all fields are plain data, for which zeros are values.
                let mut params: hipExternalSemaphoreSignalParams = unsafe { mem::zeroed() };
                params.params.fence = fence;
                params
            };
            Self(each.iter().map(|one| one.0).collect(), each.iter().map(params).collect())
        }

        fn params(&mut self) -> hipExternalSemaphoreSignalNodeParams {
            hipExternalSemaphoreSignalNodeParams {
                extSemArray: self.0.as_mut_ptr(),
                paramsArray: self.1.as_ptr(),
                numExtSems: self.0.len() as u32,
            }
        }
    }

    /// Parameters of waits, with the arrays that they point to.
    struct Waits(Vec<hipExternalSemaphore_t>, Vec<hipExternalSemaphoreWaitParams>);

    impl Waits {
        fn of(each: &[(hipExternalSemaphore_t, u64)]) -> Self {
            let params = |&(_, fence): &(_, u64)| {
                // SAFETY: all fields are plain data, for which zeros are values.
                let mut params: hipExternalSemaphoreWaitParams = unsafe { mem::zeroed() };
                params.params.fence = fence;
                params
            };
            Self(each.iter().map(|one| one.0).collect(), each.iter().map(params).collect())
        }

        fn params(&mut self) -> hipExternalSemaphoreWaitNodeParams {
            hipExternalSemaphoreWaitNodeParams {
                extSemArray: self.0.as_mut_ptr(),
                paramsArray: self.1.as_ptr(),
                numExtSems: self.0.len() as u32,
            }
        }
    }

    // proves: hipGraphAddExternalSemaphoresSignalNode, hipGraphAddExternalSemaphoresWaitNode
    // proves: hipGraphExecExternalSemaphoresSignalNodeSetParams, hipGraphExecExternalSemaphoresWaitNodeSetParams
    #[test]
    fn a_graph_waits_for_semaphores_and_signals_others() {
        let (timeline, first) = new(SemaphoreKind::Timeline);
        let (binary, second) = new(SemaphoreKind::Binary);
        let (mut stream, mut graph, mut exec) = (hipStream_t::NULL, hipGraph_t::NULL, hipGraphExec_t::NULL);
        let mut nodes = [hipGraphNode_t::NULL; 2];
        let (mut waits, mut signals) = (Waits::of(&[(first, 3)]), Signals::of(&[(second, 0)]));
        let (wait, signal) = (waits.params(), signals.params());
        ok!(
            hipStreamCreate(&mut stream),
            hipGraphCreate(&mut graph, 0),
            hipGraphAddExternalSemaphoresWaitNode(&mut nodes[0], graph, ptr::null(), 0, &wait),
            hipGraphAddExternalSemaphoresSignalNode(&mut nodes[1], graph, &nodes[0], 1, &signal),
            hipGraphInstantiateWithFlags(&mut exec, graph, 0),
            hipGraphLaunch(exec, stream),
        );
        for (node, kind) in
            nodes.into_iter().zip([hipGraphNodeTypeExtSemaphoreWait, hipGraphNodeTypeExtSemaphoreSignal])
        {
            let mut found = hipGraphNodeTypeEmpty;
            ok!(hipGraphNodeGetType(node, &mut found));
            assert_eq!(found, kind);
        }
        timeline.signal(2);
        // SAFETY: the stream lives.
        assert_eq!(unsafe { hipStreamQuery(stream) }, hipErrorNotReady);
        assert_eq!(binary.value(), 0, "the wait before holds it back");
        timeline.signal(3);
        ok!(hipStreamSynchronize(stream));
        assert_eq!(binary.value(), 1);

        // Other semaphores and values, but as many.
        let (mut waits, mut signals) = (Waits::of(&[(second, 0)]), Signals::of(&[(first, 9)]));
        ok!(
            hipGraphExecExternalSemaphoresWaitNodeSetParams(exec, nodes[0], &waits.params()),
            hipGraphExecExternalSemaphoresSignalNodeSetParams(exec, nodes[1], &signals.params()),
            hipGraphLaunch(exec, stream),
            hipStreamSynchronize(stream),
        );
        assert_eq!((timeline.value(), binary.value()), (9, 0), "the wait took the signal");
        let (mut waits, mut signals) = (Waits::of(&[(first, 0); 2]), Signals::of(&[(first, 9); 2]));
        refused!(hipGraphExecExternalSemaphoresWaitNodeSetParams(exec, nodes[0], &waits.params()));
        refused!(hipGraphExecExternalSemaphoresSignalNodeSetParams(exec, nodes[1], &signals.params()));
        refused!(hipGraphExecExternalSemaphoresSignalNodeSetParams(exec, nodes[0], &signals.params()));
        ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
    }

    // proves: hipGraphExternalSemaphoresSignalNodeGetParams, hipGraphExternalSemaphoresWaitNodeGetParams
    // proves: hipGraphExternalSemaphoresSignalNodeSetParams, hipGraphExternalSemaphoresWaitNodeSetParams
    #[test]
    fn parameters_of_semaphore_nodes_come_back_and_can_be_changed() {
        let (_, first) = new(SemaphoreKind::Timeline);
        let (_, second) = new(SemaphoreKind::Timeline);
        let mut graph = hipGraph_t::NULL;
        let (mut wait_node, mut signal_node) = (hipGraphNode_t::NULL, hipGraphNode_t::NULL);
        let (mut waits, mut signals) = (Waits::of(&[(first, 3), (second, 4)]), Signals::of(&[(second, 5)]));
        ok!(
            hipGraphCreate(&mut graph, 0),
            hipGraphAddExternalSemaphoresWaitNode(&mut wait_node, graph, ptr::null(), 0, &waits.params()),
            hipGraphAddExternalSemaphoresSignalNode(
                &mut signal_node,
                graph,
                ptr::null(),
                0,
                &signals.params()
            ),
        );
        let (mut wait, mut signal) = (Waits::of(&[]).params(), Signals::of(&[]).params());
        ok!(
            hipGraphExternalSemaphoresWaitNodeGetParams(wait_node, &mut wait),
            hipGraphExternalSemaphoresSignalNodeGetParams(signal_node, &mut signal),
        );
        assert_eq!((wait.numExtSems, signal.numExtSems), (2, 1));
        // SAFETY: the nodes' arrays, which have as many entries.
        unsafe {
            assert_eq!([*wait.extSemArray, *wait.extSemArray.add(1)], [first, second]);
            assert_eq!([0, 1].map(|n| (*wait.paramsArray.add(n)).params.fence), [3, 4]);
            assert_eq!((*signal.extSemArray, (*signal.paramsArray).params.fence), (second, 5));
        }
        let mut three = Signals::of(&[(first, 1), (first, 2), (second, 3)]);
        ok!(
            hipGraphExternalSemaphoresWaitNodeSetParams(wait_node, &wait),
            hipGraphExternalSemaphoresSignalNodeSetParams(signal_node, &three.params()),
            hipGraphExternalSemaphoresSignalNodeGetParams(signal_node, &mut signal),
        );
        assert_eq!(signal.numExtSems, 3);
        refused!(hipGraphExternalSemaphoresSignalNodeGetParams(wait_node, &mut signal));
        refused!(hipGraphExternalSemaphoresWaitNodeGetParams(signal_node, &mut wait));
        refused!(hipGraphExternalSemaphoresWaitNodeGetParams(wait_node, ptr::null_mut()));
        refused!(hipGraphExternalSemaphoresWaitNodeSetParams(signal_node, &waits.params()));
        ok!(hipGraphDestroy(graph));
    }

    #[test]
    fn semaphores_that_do_not_exist_and_flags_are_refused() {
        let (_, living) = new(SemaphoreKind::Timeline);
        let (_, gone) = new(SemaphoreKind::Timeline);
        SEMAPHORES.remove(gone.0);
        let (mut graph, mut node) = (hipGraph_t::NULL, hipGraphNode_t::NULL);
        ok!(hipGraphCreate(&mut graph, 0));
        for bad in [hipExternalSemaphore_t::NULL, gone, hipExternalSemaphore_t(usize::MAX)] {
            let (mut signals, mut waits) = (Signals::of(&[(living, 1), (bad, 1)]), Waits::of(&[(bad, 1)]));
            refused!(hipGraphAddExternalSemaphoresSignalNode(
                &mut node,
                graph,
                ptr::null(),
                0,
                &signals.params()
            ));
            refused!(hipGraphAddExternalSemaphoresWaitNode(
                &mut node,
                graph,
                ptr::null(),
                0,
                &waits.params()
            ));
        }
        let mut flagged = Signals::of(&[(living, 1)]);
        flagged.1[0].flags = 1;
        refused!(hipGraphAddExternalSemaphoresSignalNode(
            &mut node,
            graph,
            ptr::null(),
            0,
            &flagged.params()
        ));
        let mut nothing = Signals::of(&[]);
        refused!(hipGraphAddExternalSemaphoresSignalNode(
            &mut node,
            graph,
            ptr::null(),
            0,
            &nothing.params()
        ));
        let null = hipExternalSemaphoreSignalNodeParams { extSemArray: ptr::null_mut(), ..flagged.params() };
        refused!(hipGraphAddExternalSemaphoresSignalNode(&mut node, graph, ptr::null(), 0, &null));
        refused!(hipGraphAddExternalSemaphoresSignalNode(&mut node, graph, ptr::null(), 0, ptr::null()));
        ok!(hipGraphDestroy(graph));
    }

    #[test]
    fn nodes_of_semaphores_are_added_by_their_kind_too() {
        let (timeline, handle) = new(SemaphoreKind::Timeline);
        let (mut stream, mut graph, mut exec) = (hipStream_t::NULL, hipGraph_t::NULL, hipGraphExec_t::NULL);
        let mut nodes = [hipGraphNode_t::NULL; 2];
        // SAFETY: all members are plain data, for which zeros are values.
        let mut params: hipGraphNodeParams = unsafe { mem::zeroed() };
        let (mut waits, mut signals) = (Waits::of(&[(handle, 1)]), Signals::of(&[(handle, 4)]));
        params.r#type = hipGraphNodeTypeExtSemaphoreWait;
        params.params.extSemWait = waits.params();
        ok!(
            hipGraphCreate(&mut graph, 0),
            hipGraphAddNode(&mut nodes[0], graph, ptr::null(), 0, &mut params)
        );
        params.r#type = hipGraphNodeTypeExtSemaphoreSignal;
        params.params.extSemSignal = signals.params();
        timeline.signal(1);
        ok!(
            hipGraphAddNode(&mut nodes[1], graph, &nodes[0], 1, &mut params),
            hipGraphInstantiateWithFlags(&mut exec, graph, 0),
            hipStreamCreate(&mut stream),
            hipGraphLaunch(exec, stream),
            hipStreamSynchronize(stream),
        );
        assert_eq!(timeline.value(), 4);
        let mut others = Signals::of(&[(handle, 6)]);
        params.params.extSemSignal = others.params();
        ok!(
            hipGraphExecNodeSetParams(exec, nodes[1], &mut params),
            hipGraphLaunch(exec, stream),
            hipStreamSynchronize(stream),
        );
        assert_eq!(timeline.value(), 6);
        ok!(hipGraphExecDestroy(exec), hipGraphDestroy(graph), hipStreamDestroy(stream));
    }

    #[test]
    fn captured_semaphores_become_nodes() {
        let (timeline, handle) = new(SemaphoreKind::Timeline);
        let mut stream = hipStream_t::NULL;
        ok!(hipStreamCreate(&mut stream));
        let captured = object::stream(stream).unwrap();
        aqlipse::capture::begin(&captured, aqlipse::capture::Mode::Global, None).unwrap();
        captured.wait_semaphores(vec![(semaphore(handle).unwrap(), 2)]).unwrap();
        captured.signal_semaphores(vec![(semaphore(handle).unwrap(), 7)]).unwrap();
        let template = aqlipse::capture::end(&captured).unwrap();
        assert_eq!(timeline.value(), 0, "nothing ran");
        let exec = {
            let template = template.lock();
            let kinds: Vec<_> = template.graph().nodes().map(|(_, node)| node.kind()).collect();
            assert_eq!(
                kinds,
                [aqlipse::graph::NodeKind::SemaphoreWait, aqlipse::graph::NodeKind::SemaphoreSignal]
            );
            aqlipse::Exec::new(&template, aqlipse::Options::default()).unwrap()
        };
        timeline.signal(2);
        exec.launch(&captured).unwrap();
        ok!(hipStreamSynchronize(stream));
        assert_eq!(timeline.value(), 7);
        ok!(hipStreamDestroy(stream));
    }
}
