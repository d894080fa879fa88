//! Fusion for memory space: the paper's figures, and random graphs against all subsets.

use analyses::fusion_graph::{Edge, FusionGraph, FusionGraphError, Nest, Temporary};
use proptest::prelude::*;

fn edge((from, to, array, prevents): (usize, usize, usize, bool)) -> Edge {
    Edge { from: Nest(from), to: Nest(to), array: Some(Temporary(array)), prevents }
}

fn graph(nests: usize, sizes: &[u64], edges: &[(usize, usize, usize, bool)]) -> FusionGraph {
    FusionGraph::new(nests, sizes.to_vec(), edges.iter().copied().map(edge).collect()).expect("a graph")
}

/// L1..L5 of the paper's figures 3 to 5 and 8: a2 is read before it is written in a fused loop of L2 and L3; a1 goes from L1 to L2
/// and L4, round that edge.
#[test]
fn the_example_of_the_paper() {
    let edges = [
        (0, 1, 0, false),
        (0, 3, 0, false),
        (1, 2, 1, true),
        (2, 3, 2, false),
        (2, 4, 2, false),
        (3, 4, 3, false),
    ];
    let g = graph(5, &[10, 10, 10, 10], &edges);
    assert_eq!(g.removable(), [Temporary(2), Temporary(3)]);
    let plan = g.plan(100);
    assert_eq!(
        (&plan.removed[..], plan.size, plan.is_optimal()),
        (&[Temporary(2), Temporary(3)][..], 20, true)
    );
    let clusters = [vec![Nest(0)], vec![Nest(1)], vec![Nest(2), Nest(3), Nest(4)]];
    assert_eq!(plan.clusters, clusters);
    let apart: Vec<Vec<Nest>> = (0..5).map(|n| vec![Nest(n)]).collect();
    assert_eq!((g.memory_cost(&apart, &[]), g.memory_cost(&plan.clusters, &plan.removed)), (30, 20));
}

/// Two arrays, each of which can be removed, not both: the nests that they fuse would run before each other.
#[test]
fn of_a_conflict_the_larger_one_goes() {
    let edges = [(0, 2, 0, false), (1, 3, 1, false), (0, 3, 2, true), (1, 2, 3, true)];
    let g = graph(4, &[7, 9, 1, 1], &edges);
    assert_eq!(g.removable(), [Temporary(0), Temporary(1)]);
    assert_eq!(g.plan(100).removed, [Temporary(1)]);
}

#[test]
fn edges_lead_forward_and_name_arrays() {
    let backwards = FusionGraph::new(2, vec![1], vec![edge((1, 0, 0, false))]);
    assert_eq!(
        backwards.expect_err("it leads back"),
        FusionGraphError::Backwards { number: 0, from: 1, to: 0, nests: 2 }
    );
    let unknown = FusionGraph::new(2, vec![1], vec![edge((0, 1, 3, false))]);
    assert_eq!(unknown.expect_err("no size"), FusionGraphError::NoArray { number: 0, array: 3, arrays: 1 });
}

proptest! {
    #[test]
    fn nothing_removes_more(
        sizes in prop::collection::vec(1_u64..100, 8),
        edges in prop::collection::vec((0_usize..9, 0_usize..9, 0_usize..8, 0_u8..3), 0..18),
    ) {
        let edges: Vec<_> = edges
            .into_iter()
            .filter(|(a, b, ..)| a != b)
            .map(|(a, b, array, kind)| (a.min(b), a.max(b), array, kind == 0))
            .collect();
        let g = graph(9, &sizes, &edges);
        let plan = g.plan(usize::MAX);
        let carried: Vec<usize> = (0..8).filter(|a| edges.iter().any(|e| e.2 == *a)).collect();
        let size = |bits: u32| carried.iter().filter(|a| bits >> **a & 1 == 1).map(|a| sizes[*a]).sum::<u64>();
        let best = (0..1_u32 << 8).filter(|bits| g.is_possible(&|t| bits >> t.0 & 1 == 1)).map(size).max();
        prop_assert_eq!(Some(plan.size), best);
        prop_assert_eq!(plan.bound, plan.size);
        // In the order of the clusters nothing is turned round.
        let place = |n: Nest| plan.clusters.iter().position(|c| c.contains(&n)).expect("each nest runs");
        for e in g.edges() {
            let (from, to) = (place(e.from), place(e.to));
            prop_assert!(from < to || from == to && !e.prevents);
            prop_assert!(from == to || !e.array.is_some_and(|t| plan.removed.contains(&t)));
        }
        let hasty = g.plan(0);
        prop_assert!(hasty.size <= plan.size && plan.size <= hasty.bound);
    }
}
