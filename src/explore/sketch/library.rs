//! Nests that a library's function does: each loop, outermost first, that is recognised so, marked for it.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::Region;
use crate::explore::variant::Variant;
use loop_tree::{Green, LoopKind, Path, Walk};
use transforms::Mark;

/// Marks the loops of a nest that can be calls.
pub struct Library;

/// Share of the time that calls leave at most, where they are worth a step: clang calls `memcpy` and `memset` by itself where it can.
const WORTH: f64 = 0.97;

impl Sketch for Library {
    fn name(&self) -> &str {
        "library"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let kernel = desk.kernel();
        let calls = |root: &Green, path: &Path| desk.idioms().call_at(&kernel, root, path).is_ok();
        let (mut draft, mut marked) = (Draft::from(start), false);
        for member in region.members(&start.root) {
            let mut found = Vec::new();
            let Some(mut walk) = Walk::at(&start.root, &member) else { continue };
            while walk.next_loop().is_some() {
                if calls(&start.root, &walk.path()) {
                    found.push(walk.path());
                    walk.prune();
                }
            }
            for path in found {
                let mark = Mark { target: path.into(), kind: LoopKind::Library };
                if let Ok(next) = desk.apply(&draft, mark) {
                    (draft, marked) = (next, true);
                }
            }
        }
        if !marked || desk.price(&draft) > WORTH * start.cycles {
            return vec![];
        }
        desk.judge_one(draft).into_iter().collect()
    }
}
