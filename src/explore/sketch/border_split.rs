//! Loops that treat the border of an array apart from its inside, by conditions: split where these change, so that nothing is asked in
//! the inside, which runs as vectors. Filters of images, boundary conditions of grids.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::Region;
use crate::explore::variant::Variant;
use loop_tree::{Affine, Green, Path, Walk};
use transforms::{Expression, IndexSetSplit};

/// Splits loops wherever affine guards inside of them change, outer loops first.
pub struct BorderSplit;

/// Splits at most: both ends of a grid of three dimensions, and as much again.
const MOST: usize = 12;
/// Loops of so few iterations are the border.
const THIN: i64 = 2;

impl Sketch for BorderSplit {
    fn name(&self) -> &str {
        "border split"
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let mut draft: Draft = start.into();
        for _ in 0..MOST {
            let Some((path, point)) = border(&draft.root, region) else { break };
            let split = IndexSetSplit { target: path.into(), point: Expression::of(&desk.kernel(), &point) };
            match desk.apply(&draft, split) {
                Ok(next) if next.root != draft.root => draft = next,
                _ => break,
            }
        }
        if draft.root == start.root { vec![] } else { desk.judge_one(draft).into_iter().collect() }
    }
}

/// The first loop of a region, outer ones first, inside of which a guard changes, and where.
fn border(root: &Green, region: &Region) -> Option<(Path, Affine)> {
    region.members(root).iter().find_map(|member| {
        let mut walk = Walk::at(root, member)?;
        while let Some((header, body)) = walk.next_loop() {
            // The border itself takes no time to speak of.
            if header.constant_trip_count().is_some_and(|count| count <= THIN) {
                walk.prune();
                continue;
            }
            if let Some(point) = IndexSetSplit::borders(header, body).into_iter().next() {
                return Some((walk.path(), point));
            }
        }
        None
    })
}
