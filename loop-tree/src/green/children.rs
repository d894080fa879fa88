//! Children of a sequence: one allocation where they are few, a persistent vector where they are many.

use super::Green;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Above this many children a persistent vector costs less per replaced child than copying all pointers.
const WIDE: usize = 64;

/// An immutable list of nodes.
#[derive(Clone, Debug)]
pub struct Children(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Narrow(Arc<[Green]>),
    Wide(Box<rpds::VectorSync<Green>>),
}

impl Children {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Narrow(c) => c.len(),
            Repr::Wide(c) => c.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node at a position.
    pub fn get(&self, index: usize) -> Option<&Green> {
        match &self.0 {
            Repr::Narrow(c) => c.get(index),
            Repr::Wide(c) => c.get(index),
        }
    }

    /// The nodes in order.
    pub fn iter(&self) -> impl Iterator<Item = &Green> {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// The list with one node replaced.
    pub fn with(&self, index: usize, child: Green) -> Option<Children> {
        match &self.0 {
            Repr::Narrow(c) => {
                let mut copy = c.to_vec();
                *copy.get_mut(index)? = child;
                Some(Children(Repr::Narrow(copy.into())))
            }
            Repr::Wide(c) => Some(Children(Repr::Wide(Box::new(c.set(index, child)?)))),
        }
    }
}

impl FromIterator<Green> for Children {
    fn from_iter<I: IntoIterator<Item = Green>>(iter: I) -> Self {
        let list: Vec<Green> = iter.into_iter().collect();
        if list.len() <= WIDE {
            Children(Repr::Narrow(list.into()))
        } else {
            Children(Repr::Wide(Box::new(list.into_iter().collect())))
        }
    }
}

impl PartialEq for Children {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}
impl Eq for Children {}

impl Hash for Children {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.iter().for_each(|c| c.hash(state));
    }
}
