//! Perfect nests, and the making of loop headers.
//!
//! Between two loops of a nest there may be bindings and affine guards: a *link*. It can be moved inwards across a
//! loop that neither binds a variable it uses nor one it binds.

use crate::{Context, LoopRef, Refusal, Site};
use loop_tree::{
    Affine, Bounds, Condition, Constraint, Green, GuardCondition, LoopHeader, LoopKind, Node, VarId,
};
use std::sync::Arc;

/// A binding or an affine guard between two loops.
#[derive(Clone, Debug)]
pub enum Link {
    /// `Let`.
    Let(VarId, Affine),
    /// `Guard` with an affine condition.
    Guard(Arc<GuardCondition>),
}

impl Link {
    /// The link of a node, and what is below it.
    pub fn of(node: &Green) -> Option<(Link, &Green)> {
        match node.node() {
            Node::Let(v, e, body) => Some((Link::Let(*v, Affine::clone(e)), body)),
            Node::Guard(c, body) if matches!(**c, GuardCondition::Affine(_)) => {
                Some((Link::Guard(c.clone()), body))
            }
            _ => None,
        }
    }

    /// Whether it uses a variable of the scope around it.
    pub fn uses(&self, var: VarId) -> bool {
        match self {
            Link::Let(_, e) => e.uses(var),
            Link::Guard(c) => match &**c {
                GuardCondition::Affine(c) => c.constraints().any(|c| c.expression.uses(var)),
                GuardCondition::Predicate { .. } => false,
            },
        }
    }

    /// Whether it binds the variable.
    pub fn binds(&self, var: VarId) -> bool {
        matches!(self, Link::Let(v, _) if *v == var)
    }
}

/// The links above a node.
pub fn wrap(links: &[Link], body: Green) -> Green {
    links.iter().rev().fold(body, |body, link| match link {
        Link::Let(v, e) => Green::bind(*v, e.clone(), body),
        Link::Guard(c) => Green::guarded(c.clone(), body),
    })
}

/// An expression below links in terms of the scope above them.
pub fn resolve(links: &[Link], expression: &Affine) -> Affine {
    links.iter().rev().fold(expression.clone(), |e, link| match link {
        Link::Let(v, value) if e.uses(*v) => e.substitute(&|w| (w == *v).then(|| value.clone())),
        _ => e,
    })
}

/// The same of a condition.
pub fn resolve_condition(links: &[Link], condition: &Condition) -> Condition {
    links.iter().rev().fold(condition.clone(), |c, link| match link {
        Link::Let(v, value) => c.substitute(&|w| (w == *v).then(|| value.clone())),
        Link::Guard(_) => c,
    })
}

/// The links at the top of a tree, and what is below them.
pub fn links(mut node: &Green) -> (Vec<Link>, &Green) {
    let mut result = Vec::new();
    while let Some((link, below)) = Link::of(node) {
        result.push(link);
        node = below;
    }
    (result, node)
}

/// The only loop directly inside a loop, with the links between.
pub fn inner<'a>(site: &Site<'a>) -> Result<(Vec<Link>, Site<'a>), Refusal> {
    let (between, below) = links(site.body);
    let mut path = site.path.clone();
    path.0.extend(std::iter::repeat_n(0, between.len() + 1));
    match below.as_loop() {
        Some((header, body)) if matches!(header.bounds, Bounds::Affine { .. }) => {
            Ok((between, Site { path, header, body }))
        }
        Some(_) => Err(Refusal::new("unbounded", &path, "the number of iterations is not known")),
        None if below.summary().loop_depth == 0 => {
            Err(Refusal::new("innermost", &site.path, "there is no loop inside"))
        }
        None => Err(Refusal::new("imperfect", &site.path, "the body is not just one loop")
            .help("distribute it first")),
    }
}

/// A perfect nest of loops: each is the only thing inside the one before, but for links.
pub struct Band<'a> {
    /// The loops, outermost first.
    pub loops: Vec<Site<'a>>,
    /// Links below each loop but the last.
    pub between: Vec<Vec<Link>>,
}

/// The band that recipe text lists, outermost first.
pub fn band<'a>(cx: &Context<'a>, references: &[LoopRef]) -> Result<Band<'a>, Refusal> {
    let Some((first, rest)) = references.split_first() else {
        return Err(Refusal {
            code: "empty-band",
            loops: vec![],
            message: "no loop is named".into(),
            help: None,
        });
    };
    let mut site = cx.site(first)?;
    let mut result = Band { loops: vec![site.clone()], between: vec![] };
    for reference in rest {
        let path = reference.resolve(cx)?;
        let (between, next) = inner(&site).map_err(|r| r.and(&path))?;
        if next.path != path {
            return Err(Refusal::new(
                "not-a-band",
                &site.path,
                "the loops are not nested one directly in the other",
            )
            .and(&path)
            .help("list them outermost first"));
        }
        result.between.push(between);
        result.loops.push(next.clone());
        site = next;
    }
    Ok(result)
}

/// Whether a loop inside runs from a multiple of a loop's variable to no further than the next, so that one iteration stands
/// for a tile. Where it runs further, as skewed ones do, it does not.
pub fn is_over_tiles(site: &Site<'_>) -> bool {
    fn tiled(body: &Green, var: VarId) -> bool {
        let is_tile = |header: &LoopHeader| {
            header.lower().iter().any(|first| {
                let size = first.coefficient(var);
                let short = |end: &Affine| (end - first).as_constant().is_some_and(|extent| extent <= size);
                size > 1 && header.upper().iter().any(short)
            })
        };
        let is_tile = body.as_loop().is_some_and(|(header, _)| is_tile(header));
        body.has_free(var) && (is_tile || body.children().any(|c| tiled(c, var)))
    }
    tiled(site.body, site.header.var)
}

/// The longest band that starts at a loop, of at most `limit` loops.
pub fn longest_band<'a>(start: &Site<'a>, limit: usize) -> Vec<Site<'a>> {
    let mut result = vec![start.clone()];
    while result.len() < limit
        && let Some(last) = result.last()
        && let Ok((_, next)) = inner(last)
    {
        result.push(next);
    }
    result
}

/// A header with bounds that constants make superfluous left out. An empty range stays empty.
pub fn header(var: VarId, lower: Vec<Affine>, upper: Vec<Affine>, step: i64, kind: LoopKind) -> LoopHeader {
    let bounds = Bounds::Affine { lower: Affine::greatest(lower), upper: Affine::least(upper) };
    LoopHeader { var, bounds, step, kind }
}

/// Whether the range is empty whatever the values of variables and parameters.
pub fn is_never(header: &LoopHeader) -> bool {
    header
        .lower()
        .iter()
        .any(|l| header.upper().iter().any(|u| (u - l).as_constant().is_some_and(|extent| extent <= 0)))
}

/// A loop, or nothing where it never runs.
pub fn repeat(header: LoopHeader, body: Green) -> Option<Green> {
    (!is_never(&header)).then(|| Green::for_loop(header, body))
}

/// The body where every lower bound is at most `value` and every upper one above it.
pub fn guard_between(value: &Affine, lower: &[Affine], upper: &[Affine], body: Green) -> Green {
    let at_least = lower.iter().map(|l| Constraint::ge(value.clone(), l.clone()));
    let below = upper.iter().map(|u| Constraint::lt(value.clone(), u.clone()));
    let condition = Condition::all(at_least.chain(below).collect());
    if condition.is_always() { body } else { Green::guard(condition, body) }
}

/// Kinds of the outer and inner loop that one loop becomes: threads outside, lanes inside.
pub fn split_kind(kind: LoopKind) -> (LoopKind, LoopKind) {
    match kind {
        LoopKind::Sequential => (LoopKind::Sequential, LoopKind::Sequential),
        LoopKind::Parallel => (LoopKind::Parallel, LoopKind::Sequential),
        LoopKind::Vector => (LoopKind::Sequential, LoopKind::Vector),
        LoopKind::Library => (LoopKind::Sequential, LoopKind::Library),
    }
}

/// Largest factor or size that a step may ask for; keeps products of bounds in range.
pub const LARGEST_FACTOR: i64 = 1 << 20;

/// Refuses factors outside `least..=LARGEST_FACTOR`.
pub fn check_factor(site: &Site<'_>, factor: i64, least: i64) -> Result<(), Refusal> {
    if (least..=LARGEST_FACTOR).contains(&factor) {
        return Ok(());
    }
    let message = format!("{factor} is not between {least} and {LARGEST_FACTOR}");
    Err(Refusal::new("factor", &site.path, message))
}
