//! Graphs nested in others: in child nodes, and in conditional nodes, which run them as a value says.

use super::{Condition, Conditional, ConditionalKind, Error, Graph, Node, NodeId, NodeKind};

/// A step from a graph into one that is nested in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Inside {
    /// The child or conditional node.
    pub node: NodeId,
    /// Which body of a conditional node; 0 for a child node.
    pub body: u32,
}

impl From<NodeId> for Inside {
    fn from(node: NodeId) -> Self {
        Self { node, body: 0 }
    }
}

impl<K, E, S> Graph<K, E, S> {
    /// Lets a conditional node of this graph, or of one nested in it, use a condition.
    pub fn declare(&mut self, condition: Condition) {
        self.conditions.push(condition);
    }

    /// The conditions that were declared for this graph.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Adds a node that runs some of `bodies`, which become its own, behind `dependencies`.
    ///
    /// # Errors
    /// [`Error::BodyCount`], [`Error::ConditionInUse`] if another node of this graph uses the condition; as
    /// [`Graph::add`].
    pub fn add_conditional(
        &mut self,
        condition: Condition,
        kind: ConditionalKind,
        bodies: Vec<Self>,
        dependencies: &[NodeId],
    ) -> Result<NodeId, Error> {
        if !kind.takes(bodies.len()) {
            return Err(Error::BodyCount { kind, bodies: bodies.len() });
        }
        if let Some(node) = self.user_of(&condition) {
            return Err(Error::ConditionInUse(node));
        }
        let id = self.topology.add(dependencies.iter().copied())?;
        self.nodes.push(Some(Node::Conditional(Box::new(Conditional { condition, kind, bodies }))));
        self.conditionals.push(id.index());
        self.nests = true;
        Ok(id)
    }

    /// The conditional node of this graph itself that uses a condition.
    pub fn user_of(&self, condition: &Condition) -> Option<NodeId> {
        let nodes = self.conditionals.iter().map(|&index| NodeId::new(self.id(), index));
        nodes.into_iter().find(|&node| self.conditional(node).is_ok_and(|user| user.condition == *condition))
    }

    /// What a conditional node does.
    ///
    /// # Errors
    /// [`Error::KindMismatch`] when the node is no conditional node, [`Error::UnknownNode`], [`Error::ForeignNode`].
    pub fn conditional(&self, node: NodeId) -> Result<&Conditional<K, E, S>, Error> {
        match self.node(node)? {
            Node::Conditional(conditional) => Ok(conditional),
            other => Err(Error::KindMismatch { node, expected: NodeKind::Conditional, found: other.kind() }),
        }
    }

    /// The graph and all that are nested in it, each behind the one around it.
    pub fn with_nested(&self) -> Vec<&Self> {
        let mut found = vec![self];
        let mut at = 0;
        while let Some(&graph) = found.get(at) {
            if graph.nests {
                found.extend(graph.nodes().flat_map(|(_, node)| node.nested()));
            }
            at += 1;
        }
        found
    }

    /// Edits the graph and all that are nested in it, each before those inside it, until an edit fails.
    ///
    /// # Errors
    /// That of the edit.
    pub fn edit_with_nested<F>(&mut self, mut edit: impl FnMut(&mut Self) -> Result<(), F>) -> Result<(), F> {
        let mut open = vec![self];
        while let Some(graph) = open.pop() {
            edit(graph)?;
            for node in graph.nodes.iter_mut().flatten() {
                match node {
                    Node::Child(child) => open.push(child),
                    Node::Conditional(conditional) => open.extend(&mut conditional.bodies),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Lets the conditional nodes of this graph and of nested ones use `conditions`, and none that were declared before.
    pub fn redeclare(&mut self, conditions: Vec<Condition>) {
        self.conditions = conditions;
    }

    /// The graph that a step leads to.
    ///
    /// # Errors
    /// [`Error::NoBody`], [`Error::KindMismatch`] when no graph is nested in the node, [`Error::UnknownNode`],
    /// [`Error::ForeignNode`].
    pub fn nested(&self, step: Inside) -> Result<&Self, Error> {
        match self.node(step.node)? {
            Node::Conditional(conditional) => {
                conditional.bodies.get(step.body as usize).ok_or(Error::NoBody(step.node))
            }
            _ if step.body > 0 => Err(Error::NoBody(step.node)),
            _ => self.child(step.node),
        }
    }

    /// The graph that a step leads to, for changing it.
    ///
    /// # Errors
    /// As [`Graph::nested`].
    pub fn nested_mut(&mut self, step: Inside) -> Result<&mut Self, Error> {
        self.nested(step)?;
        match self.node_mut(step.node)? {
            Node::Conditional(conditional) => {
                conditional.bodies.get_mut(step.body as usize).ok_or(Error::NoBody(step.node))
            }
            Node::Child(child) => Ok(child),
            other => {
                Err(Error::KindMismatch { node: step.node, expected: NodeKind::Child, found: other.kind() })
            }
        }
    }

    /// Checks that every conditional node, nested ones included, has a condition of its own that was declared for its
    /// graph or for one around it, and that every condition has its node.
    ///
    /// # Errors
    /// [`Error::ForeignCondition`], [`Error::ConditionInUse`], [`Error::ConditionUnused`].
    pub fn check_conditions(&self) -> Result<(), Error> {
        // Every graph, and the place in this list of the one around it.
        let mut open: Vec<(&Self, Option<usize>)> = vec![(self, None)];
        let mut used: Vec<&Condition> = Vec::new();
        let mut at = 0;
        while let Some(&(graph, _)) = open.get(at) {
            for (id, node) in graph.nodes().take(if graph.nests { usize::MAX } else { 0 }) {
                match node {
                    Node::Child(child) => open.push((child, Some(at))),
                    Node::Conditional(conditional) => {
                        let declares =
                            |place: &usize| open[*place].0.conditions.contains(&conditional.condition);
                        let mut around = std::iter::successors(Some(at), |&place| open[place].1);
                        if !around.any(|place| declares(&place)) {
                            return Err(Error::ForeignCondition(id));
                        }
                        used.push(&conditional.condition);
                        open.extend(conditional.bodies.iter().map(|body| (body, Some(at))));
                    }
                    _ => {}
                }
            }
            at += 1;
        }
        let address = |condition: &&Condition| condition.identity();
        used.sort_unstable_by_key(address);
        if let Some(twice) = used.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::ConditionShared(twice[0].address()));
        }
        let unused =
            |condition: &&Condition| used.binary_search_by_key(&address(condition), address).is_err();
        match open.iter().flat_map(|(graph, _)| &graph.conditions).find(unused) {
            Some(condition) => Err(Error::ConditionUnused(condition.address())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Plain = Graph<(), (), ()>;

    fn condition() -> Condition {
        Condition::new(64, 0, ())
    }

    /// A graph with a conditional node of some bodies, whose condition it declares.
    fn around(kind: ConditionalKind, bodies: Vec<Plain>) -> (Plain, NodeId) {
        let mut graph = Plain::new();
        let condition = condition();
        graph.declare(condition.clone());
        let node = graph.add_conditional(condition, kind, bodies, &[]).unwrap();
        (graph, node)
    }

    fn of_size(nodes: usize) -> Plain {
        let mut graph = Plain::new();
        for _ in 0..nodes {
            graph.add(Node::Empty, &[]).unwrap();
        }
        graph
    }

    fn sizes(graph: &Plain, node: NodeId) -> Vec<usize> {
        let bodies = graph.conditional(node).unwrap().bodies();
        bodies.iter().map(|body| body.topology().node_count()).collect()
    }

    #[test]
    fn a_kind_chooses_by_value_and_takes_so_many_bodies() {
        use ConditionalKind::{If, Switch, While};
        let chosen =
            |kind: ConditionalKind, bodies| [0, 1, 2, u64::MAX].map(|value| kind.choose(value, bodies));
        assert_eq!(chosen(If, 1), [None, Some(0), Some(0), Some(0)]);
        assert_eq!(chosen(If, 2), [Some(1), Some(0), Some(0), Some(0)]);
        assert_eq!(chosen(While, 1), [None, Some(0), Some(0), Some(0)]);
        assert_eq!(chosen(Switch, 2), [Some(0), Some(1), None, None]);
        let taken = |kind: ConditionalKind| [0, 1, 2, 3].map(|bodies| kind.takes(bodies));
        assert_eq!(taken(If), [false, true, true, false]);
        assert_eq!(taken(While), [false, true, false, false]);
        assert_eq!(taken(Switch), [false, true, true, true]);
    }

    #[test]
    fn a_clone_has_bodies_of_its_own_in_their_order_and_the_same_condition() {
        let (inner, _) = around(ConditionalKind::Switch, vec![of_size(4), of_size(5), of_size(6)]);
        let (graph, node) = around(ConditionalKind::Switch, vec![of_size(1), inner, of_size(3)]);
        let copy = graph.clone();
        let found = copy.counterpart(node).unwrap();
        assert_eq!(sizes(&copy, found), [1, 1, 3]);
        assert_eq!(copy.conditions(), graph.conditions());
        let step = Inside { node: found, body: 1 };
        let (nested, original) =
            (copy.nested(step).unwrap(), graph.nested(Inside { node, body: 1 }).unwrap());
        assert_ne!(nested.id(), original.id());
        let (inner, _) = original.nodes().next().unwrap();
        assert_eq!(sizes(nested, nested.counterpart(inner).unwrap()), [4, 5, 6]);
        assert_eq!(graph.snapshot().nested(Inside { node, body: 1 }).unwrap().id(), original.id());
        assert_eq!(copy.check_conditions(), Ok(()));
    }

    #[test]
    fn bodies_are_changed_through_their_node() {
        let (mut graph, node) = around(ConditionalKind::If, vec![of_size(0), of_size(0)]);
        let second = Inside { node, body: 1 };
        graph.descendant_mut(&[second]).unwrap().add(Node::Empty, &[]).unwrap();
        assert_eq!(sizes(&graph, node), [0, 1]);
        assert_eq!(graph.nested(Inside { node, body: 2 }).unwrap_err(), Error::NoBody(node));
        let child = graph.add_child(&of_size(2), &[]).unwrap();
        assert_eq!(graph.nested(Inside { node: child, body: 1 }).unwrap_err(), Error::NoBody(child));
        assert_eq!(graph.with_nested().len(), 4);
    }

    #[test]
    fn conditions_are_checked_through_all_nesting() {
        let (graph, node) = around(ConditionalKind::If, vec![of_size(1)]);
        assert_eq!(graph.check_conditions(), Ok(()));
        // One of a graph around serves as well, but none of a graph beside.
        let (mut outer, user) = around(ConditionalKind::If, vec![of_size(0)]);
        let shared = condition();
        outer.declare(shared.clone());
        assert_eq!(outer.check_conditions(), Err(Error::ConditionUnused(64)));
        let body = outer.nested_mut(user.into()).unwrap();
        body.add_conditional(shared, ConditionalKind::If, vec![of_size(0)], &[]).unwrap();
        assert_eq!(outer.check_conditions(), Ok(()));
        let body = outer.nested_mut(user.into()).unwrap();
        let foreign = graph.conditional(node).unwrap().condition().clone();
        let bad = body.add_conditional(foreign.clone(), ConditionalKind::If, vec![of_size(0)], &[]).unwrap();
        assert_eq!(outer.check_conditions(), Err(Error::ForeignCondition(bad)));
        outer.declare(foreign);
        assert_eq!(outer.check_conditions(), Ok(()));
        outer.add_child(&graph, &[]).unwrap();
        assert_eq!(outer.check_conditions(), Err(Error::ConditionShared(64)));
    }

    #[test]
    fn a_condition_is_free_again_when_its_node_is_removed() {
        let (mut graph, node) = around(ConditionalKind::If, vec![of_size(0)]);
        let condition = graph.conditions()[0].clone();
        let again = graph.add_conditional(condition.clone(), ConditionalKind::If, vec![of_size(0)], &[]);
        assert_eq!(again, Err(Error::ConditionInUse(node)));
        graph.remove(node).unwrap();
        assert_eq!(graph.check_conditions(), Err(Error::ConditionUnused(64)));
        graph.add_conditional(condition, ConditionalKind::While, vec![of_size(0)], &[]).unwrap();
    }

    #[test]
    fn nesting_of_any_depth_is_copied_checked_and_dropped() {
        let mut graph = of_size(1);
        for _ in 0..100_000 {
            graph = around(ConditionalKind::If, vec![graph]).0;
        }
        let copy = graph.clone();
        assert_eq!(copy.check_conditions(), Ok(()));
        assert_eq!(copy.with_nested().len(), 100_001);
    }
}
