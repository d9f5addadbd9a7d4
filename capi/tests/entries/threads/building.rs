//! Templates of a thread's own, built node by node.

use super::{worker::*, *};

/// A template in which nodes of all kinds depend on each other, and what it makes of a thread's memory.
struct Diamond {
    template: Template,
    fill: hipGraphNode_t,
    doublings: Vec<hipGraphNode_t>,
    word: u32,
    times: u64,
}

impl Diamond {
    /// The first buffer gets threes over a word, the second one the word, the third one ones that were doubled.
    fn new(w: &mut Worker<'_>) -> Self {
        let (template, word, times) = (Template::new(), w.word(), 1 + w.below(4));
        let [threes, words, doubles] = w.device;
        let fill = template.fill(&[], threes, word);
        let ones = template.copy(&[], doubles, w.ones.cast());
        let copied = template.copy(&[fill], words, threes);
        let wrote = template.threes(&[copied], threes);
        let doublings = template.doublings(ones, doubles, times);
        template.host(&[wrote, doublings[times - 1]], w.counting());
        Self { template, fill, doublings, word, times: times as u64 }
    }

    fn check(&self, w: &Worker<'_>, stream: hipStream_t, launches: u64) {
        let [threes, words, doubles] = w.device;
        w.expect_threes(threes, self.word, stream);
        w.expect_words(words, self.word, stream);
        w.expect_doubled(doubles, self.times, stream);
        assert_eq!(w.take_count(), launches, "the host node ran once a launch");
    }
}

/// Launches on several streams: they come one behind the other, whatever the streams.
pub fn launches_what_it_built(w: &mut Worker<'_>) {
    let diamond = Diamond::new(w);
    let (clone, launches) = (w.perhaps(), 1 + w.below(3));
    let exec = if clone { diamond.template.copied().into_exec() } else { diamond.template.instantiate() };
    let mut stream = w.streams[0];
    for _ in 0..launches {
        stream = w.stream();
        ok!(hipGraphLaunch(exec, stream));
    }
    let early = w.perhaps();
    if early {
        // Launches in flight go on.
        ok!(hipGraphExecDestroy(exec));
    }
    diamond.check(w, stream, launches as u64);
    if !early {
        ok!(hipGraphExecDestroy(exec));
    }
    diamond.template.destroy();
}

/// Every launch runs with the parameters that the executable had when it was launched.
pub fn updates_between_launches(w: &mut Worker<'_>) {
    let mut diamond = Diamond::new(w);
    let exec = diamond.template.instantiate();
    let stream = w.stream();
    ok!(hipGraphLaunch(exec, stream));
    diamond.word = w.word();
    let params = fill(w.device[0], diamond.word);
    if w.perhaps() {
        ok!(hipGraphExecMemsetNodeSetParams(exec, diamond.fill, &params));
    } else {
        let (mut node, mut result) = (hipGraphNode_t::NULL, hipGraphExecUpdateSuccess);
        ok!(
            hipGraphMemsetNodeSetParams(diamond.fill, &params),
            hipGraphExecUpdate(exec, diamond.template.0, &mut node, &mut result),
        );
    }
    let disabled = w.below(diamond.doublings.len());
    ok!(hipGraphNodeSetEnabled(exec, diamond.doublings[disabled], 0));
    diamond.times -= 1;
    ok!(hipGraphLaunch(exec, stream));
    diamond.check(w, stream, 2);
    ok!(hipGraphNodeSetEnabled(exec, diamond.doublings[disabled], 1), hipGraphLaunch(exec, stream));
    diamond.times += 1;
    diamond.check(w, stream, 1);
    // A template of another shape is refused, and the executable stays as it was.
    diamond.template.host(&[], w.counting());
    let (mut node, mut result) = (hipGraphNode_t::NULL, hipGraphExecUpdateSuccess);
    fails!(
        hipErrorGraphExecUpdateFailure,
        hipGraphExecUpdate(exec, diamond.template.0, &mut node, &mut result)
    );
    ok!(hipGraphLaunch(exec, stream), hipGraphExecDestroy(exec));
    diamond.check(w, stream, 1);
    diamond.template.destroy();
}

/// A child graph is a copy, of the moment at which it was added.
pub fn nests_a_graph(w: &mut Worker<'_>) {
    let diamond = Diamond::new(w);
    let (outer, mut child) = (Template::new(), hipGraphNode_t::NULL);
    let before = outer.host(&[], w.counting());
    ok!(hipGraphAddChildGraphNode(&mut child, outer.0, &before, 1, diamond.template.0));
    outer.host(&[child], w.counting());
    // Not in the copy.
    diamond.template.host(&[], w.counting());
    assert_eq!(outer.nodes(), 3);
    let (exec, stream) = (outer.into_exec(), w.stream());
    ok!(hipGraphLaunch(exec, stream));
    diamond.check(w, stream, 3);
    ok!(hipGraphExecDestroy(exec));
    diamond.template.destroy();
}

/// Work on another stream waits for the middle of a graph.
pub fn waits_for_an_event_node(w: &mut Worker<'_>) {
    let ([a, b, _], [first, second, _]) = (w.device, w.streams);
    let (template, event, word) = (Template::new(), new_event(), w.word());
    let filled = template.fill(&[], a, word);
    let mut recorded = hipGraphNode_t::NULL;
    ok!(hipGraphAddEventRecordNode(&mut recorded, template.0, &filled, 1, event));
    template.host(&[recorded], w.counting());
    let exec = template.into_exec();
    ok!(hipGraphLaunch(exec, first), hipStreamWaitEvent(second, event, 0));
    copy_async(b, a, second);
    ok!(hipEventDestroy(event), hipGraphExecDestroy(exec));
    w.expect_words(b, word, second);
    ok!(hipStreamSynchronize(first));
    assert_eq!(w.take_count(), 1);
}
