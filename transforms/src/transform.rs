//! One change of a tree, as a value.

use crate::{Context, Forwarding, Refusal};
use loop_tree::{Green, canonical_from};
use std::fmt;
use std::sync::Arc;

/// One change of a tree. Its parameters are those of the recipe step, and its `Display` is the step's text, which the
/// registry parses to an equal transformation.
pub trait Transform: fmt::Display + fmt::Debug + Send + Sync {
    /// The name in recipes.
    fn name(&self) -> &'static str;

    /// Block sizes and factors: numbers that may be others without its being another kind of change, in the order of the text.
    fn sizes(&self) -> Vec<i64> {
        Vec::new()
    }

    /// The same with other [`sizes`](Self::sizes), as many as it has.
    fn with_sizes(&self, _sizes: &[i64]) -> Option<Step> {
        None
    }

    /// The new tree, not necessarily in canonical form. O(depth) new nodes, and those it describes.
    ///
    /// Looks at statements only through the context's kernel: [`forwarding`](Self::forwarding) hands in a kernel in
    /// which every leaf is a statement of its own.
    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal>;

    /// The new tree in canonical form. Work on a tree is that on what the change touches, and on what is around it.
    fn apply(&self, cx: &Context<'_>) -> Result<Rewrite, Refusal> {
        Ok(Rewrite { root: canonical_from(cx.kernel, cx.root, &self.rewrite(cx)?) })
    }

    /// Where the parts of the tree are after [`apply`](Self::apply). Applies the change once more, to a labelled
    /// tree: search needs no forwarding, so it does not pay for it.
    fn forwarding(&self, cx: &Context<'_>) -> Result<Forwarding, Refusal> {
        Forwarding::of(cx, &|cx| self.rewrite(cx))
    }
}

/// The result of a transformation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The new tree, canonical.
    pub root: Green,
}

/// A transformation in a recipe. Cloning is a reference count; equal means equal text.
#[derive(Clone)]
pub struct Step(Arc<dyn Transform>);

impl Step {
    /// The step of a transformation.
    pub fn new(transform: impl Transform + 'static) -> Self {
        Step(Arc::new(transform))
    }

    /// The transformation.
    pub fn transform(&self) -> &dyn Transform {
        &*self.0
    }
}

impl std::ops::Deref for Step {
    type Target = dyn Transform;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl<T: Transform + 'static> From<T> for Step {
    fn from(transform: T) -> Self {
        Step::new(transform)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}
impl Eq for Step {}
