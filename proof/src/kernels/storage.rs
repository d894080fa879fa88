//! Random kernels whose storage is worth changing: temporaries, local sums, products, stencils; with small changes.

use super::{Array, Element, Item, Linear, OFFSET, SMALL, Source, Symbol};
use fastrand::Rng;

/// The kernel of a seed. All subscripts are within the extents, so that it can be executed.
pub fn generate(seed: u64) -> Source {
    let rng = &mut Rng::with_seed(seed ^ 0x5708_a6e5);
    let element = ["f64", "f64", "f32", "i32", "i64"][rng.usize(0..5)];
    let mut g = Shapes { rng, element, arrays: vec![], vars: 0 };
    let body = match g.rng.u32(0..12) {
        0..3 => g.chain(1),
        3 => g.chain(2),
        4..6 => g.rows(),
        6..8 => g.product(),
        8..10 => g.ping_pong(),
        10 => g.in_place(),
        _ => g.predicates(),
    };
    let mut arrays = g.arrays;
    if rng.u32(0..100) < 15 {
        arrays.iter_mut().filter(|a| a.rank > 0 && !a.local).for_each(|a| a.alias = 0);
    }
    let assume = match rng.u32(0..100) {
        0..60 => Some(1),
        60..75 => Some(2),
        75..85 => Some(0),
        _ => None,
    };
    Source { arrays, body, assume, inner: SMALL }
}

struct Shapes<'r> {
    rng: &'r mut Rng,
    element: &'static str,
    arrays: Vec<Array>,
    vars: usize,
}

impl Shapes<'_> {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn array(&mut self, rank: usize, local: bool) -> usize {
        let alias = self.arrays.len() + 1;
        self.arrays.push(Array { element: self.element, rank, alias, object: None, local });
        alias - 1
    }

    /// A temporary: mostly of the kernel itself.
    fn temporary(&mut self, rank: usize) -> usize {
        let local = self.chance(75);
        self.array(rank, local)
    }

    /// A subscript near a variable.
    fn near(&mut self, var: usize, odd: u32) -> Linear {
        let mut e = Linear::new(vec![(Symbol::Var(var), 1)], OFFSET);
        if self.chance(odd) {
            e.constant += self.rng.i64(-2..=2);
        }
        if self.chance(2) {
            e.terms[0].1 = -1;
        }
        e
    }

    fn element(&mut self, array: usize, vars: &[usize], odd: u32) -> Element {
        (array, vars.iter().map(|v| self.near(*v, odd)).collect())
    }

    /// A loop with bounds that are mostly simple; `outer`: variables around.
    fn over(&mut self, outer: &[usize], body: impl FnOnce(&mut Self, usize) -> Vec<Item>) -> Vec<Item> {
        let var = self.vars;
        self.vars += 1;
        let constant = |c| Linear::new(vec![], c);
        let mut lower = constant(if self.chance(12) { 1 } else { 0 });
        let param = Symbol::Param(usize::from(self.chance(30)));
        let shift = if self.chance(10) { self.rng.i64(-1..=1) } else { 0 };
        let mut uppers = vec![Linear::new(vec![(param, 1)], shift)];
        if let Some(around) = outer.last()
            && self.chance(8)
        {
            let near = Linear::new(vec![(Symbol::Var(*around), 1)], self.rng.i64(0..=1));
            if self.rng.bool() { lower = near } else { uppers = vec![near] }
        }
        if self.chance(5) {
            uppers.push(Linear::new(vec![(Symbol::Param(1), 1)], 0));
        }
        let step = if self.chance(4) { 2 } else { 1 };
        let mut body = body(self, var);
        if self.chance(5) {
            let left = Linear::new(vec![(Symbol::Var(var), 1)], 0);
            let op = [">=", "<", "=="][self.rng.usize(0..3)];
            let right = constant(self.rng.i64(1..4));
            body = vec![Item::If(vec![(left, op, right)], body)];
        }
        vec![Item::For(var, vec![lower], uppers, step, body)]
    }

    /// Loops over all variables of a nest around statements that are told them.
    fn nest(
        &mut self,
        outer: &[usize],
        depth: usize,
        leaf: &mut dyn FnMut(&mut Self, &[usize]) -> Vec<Item>,
    ) -> Vec<Item> {
        if depth == 0 {
            return leaf(self, outer);
        }
        let outer = outer.to_vec();
        self.over(&outer.clone(), move |g, var| g.nest(&[&outer[..], &[var]].concat(), depth - 1, leaf))
    }

    /// Loops, each of which reads what the one before wrote.
    fn chain(&mut self, rank: usize) -> Vec<Item> {
        let mut from = self.array(rank, false);
        let input = from;
        let length = self.rng.usize(2..=3);
        let mut body = Vec::new();
        for number in 1..=length {
            let last = number == length;
            let to = if last { self.array(rank, false) } else { self.temporary(rank) };
            let mut sources = vec![from];
            if self.chance(30) {
                sources.push(if self.rng.bool() { from } else { input });
            }
            body.extend(self.nest(&[], rank, &mut |g, vars| {
                let reads = sources.iter().map(|a| g.element(*a, vars, 25)).collect();
                let target = g.element(to, vars, 4);
                vec![Item::Stmt(target, reads, false)]
            }));
            from = to;
        }
        body
    }

    /// A sum for each row, in a scalar.
    fn rows(&mut self) -> Vec<Item> {
        let (a, b, sum) = (self.array(2, false), self.array(1, false), self.temporary(0));
        let outer = usize::from(self.chance(20));
        self.nest(&[], 1 + outer, &mut |g, vars| {
            let mut body = vec![Item::Stmt((sum, vec![]), vec![], false)];
            body.extend(g.over(vars, |g, k| {
                let read = g.element(a, &[vars[0], k], 6);
                let reduction = g.element.starts_with('i') && g.chance(40);
                vec![Item::Stmt((sum, vec![]), vec![(sum, vec![]), read], reduction)]
            }));
            let target = g.element(b, &vars[vars.len() - 1..], 4);
            let mut reads = vec![(sum, vec![])];
            if g.chance(25) {
                reads.push(target.clone());
            }
            body.push(Item::Stmt(target, reads, false));
            body
        })
    }

    /// `C[i, j] += A[i, k] + B[k, j]`, sometimes of fewer dimensions.
    fn product(&mut self) -> Vec<Item> {
        let (a, b, c) = (self.array(2, false), self.array(2, false), self.array(2, false));
        let begin = self.chance(25);
        let depth = if begin { 2 } else { 3 };
        let transposed = self.chance(20);
        self.nest(&[], depth, &mut |g, vars| {
            let (i, j) = (vars[0], vars[1]);
            let accumulate = |g: &mut Self, k: usize| {
                let target = g.element(c, &[i, j], 3);
                let from = if transposed { [j, k] } else { [k, j] };
                let reads = vec![target.clone(), g.element(a, &[i, k], 5), g.element(b, &from, 5)];
                Item::Stmt(target, reads, false)
            };
            if !begin {
                return vec![accumulate(g, vars[2])];
            }
            let first = Item::Stmt(g.element(c, &[i, j], 3), vec![], false);
            let rest = g.over(vars, |g, k| vec![accumulate(g, k)]);
            [vec![first], rest].concat()
        })
    }

    /// A step of a stencil into another array, and back.
    fn ping_pong(&mut self) -> Vec<Item> {
        let a = self.array(1, false);
        let b = self.temporary(1);
        let again = self.chance(70);
        let round = |g: &mut Self, outer: &[usize]| {
            let width = g.rng.usize(1..=2);
            let there = g.over(outer, |g, i| {
                let reads = (0..width).map(|_| g.element(a, &[i], 70)).collect();
                vec![Item::Stmt(g.element(b, &[i], 3), reads, false)]
            });
            let back = g.over(outer, |g, i| {
                let reads = vec![g.element(b, &[i], 12)];
                vec![Item::Stmt(g.element(a, &[i], 3), reads, false)]
            });
            [there, back].concat()
        };
        if again { self.over(&[], |g, t| round(g, &[t])) } else { round(self, &[]) }
    }

    /// A recurrence in place.
    fn in_place(&mut self) -> Vec<Item> {
        let rank = self.rng.usize(1..=2);
        let a = self.array(rank, false);
        let depth = rank + usize::from(self.chance(30));
        self.nest(&[], depth, &mut |g, vars| {
            let own = &vars[vars.len() - rank..];
            let reads = (0..2).map(|_| g.element(a, own, 60)).collect();
            vec![Item::Stmt(g.element(a, own, 0), reads, false)]
        })
    }

    /// What happens under a condition on data.
    fn predicates(&mut self) -> Vec<Item> {
        let (a, b) = (self.array(1, false), self.array(1, false));
        let t = self.temporary(0);
        self.nest(&[], 1, &mut |g, vars| {
            let place = g.near(vars[0], 5);
            let set = Item::Stmt((t, vec![]), vec![g.element(a, vars, 5)], false);
            let target = g.element(b, vars, 4);
            let mut reads = vec![(t, vec![])];
            if g.chance(30) {
                reads.push(target.clone());
            }
            let used = Item::Stmt(target, reads, false);
            let other = Item::Stmt(g.element(b, vars, 4), vec![g.element(a, vars, 5)], false);
            let no = if g.chance(30) { vec![other] } else { vec![] };
            match g.rng.u32(0..3) {
                0 => vec![Item::Predicate(place, vec![set, used], no)],
                1 => vec![set, Item::Predicate(place, vec![used], no)],
                _ => vec![set.clone(), Item::Predicate(place, vec![set], no), used],
            }
        })
    }
}
