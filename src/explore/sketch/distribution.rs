//! Every loop of a nest around as few statements as dependences allow, so that each part can have an order of its own: what
//! a product needs whose accumulators are initialised in the nest.

use super::{Desk, Sketch, Stage};
use crate::explore::region::{Region, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::Path;
use transforms::Distribute;

/// Distributes all loops of a nest, inner ones first.
pub struct Distribution;

/// Children of a loop's body up to which single positions are tried.
const POSITIONS: usize = 8;

impl Sketch for Distribution {
    fn name(&self) -> &str {
        "distribution"
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let mut current = start.clone();
        let deepest = |v: &Variant| {
            let members = region.members(&v.root);
            members.iter().filter_map(|p| Some(v.root.at(p)?.summary().loop_depth)).max()
        };
        for depth in 1..=deepest(start).unwrap_or(0) {
            let sites = |v: &Variant| -> Vec<Path> {
                region.members(&v.root).iter().flat_map(|m| loops_of_depth(&v.root, m, depth)).collect()
            };
            // Last first: what a step makes of a loop leaves the paths of those before as they are.
            for path in sites(&current).into_iter().rev() {
                current = distribute(desk, current, &path);
            }
        }
        if current.root == start.root { vec![] } else { vec![current] }
    }
}

fn distribute(desk: &mut Desk<'_, '_, '_>, start: Variant, path: &Path) -> Variant {
    let whole = Distribute { target: path.clone().into(), at: None };
    let Ok(draft) = desk.apply(&(&start).into(), whole) else { return start };
    if let Some(all) = desk.judge_one(draft) {
        return all;
    }
    // Behind first, so that the positions in front stay what they are.
    let mut current = start;
    for at in (1..POSITIONS).rev() {
        let step = Distribute { target: path.clone().into(), at: Some(at) };
        if let Some(next) = desk.try_step(&current, step) {
            current = next;
        }
    }
    current
}
