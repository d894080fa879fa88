//! What is done as it is written, and perhaps not as it is meant.

use loop_tree::{Green, Kernel, LoopKind, SourceLocation, VarId, canonical};
use std::sync::Arc;
use transforms::Recipe;

/// The code of a doubt about threads.
pub const NO_THREADS: &str = "NoThreads";

/// What somebody asks for in the source and perhaps does not mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The function's symbol.
    pub function: Arc<str>,
    /// The region's number in it, where it is about one.
    pub number: Option<usize>,
    /// Where, if the IR says so.
    pub location: Option<SourceLocation>,
    /// What is perhaps not meant.
    pub doubt: Doubt,
}

/// Why a recipe perhaps does not do what it is meant to, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// A stable short name.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

impl Doubt {
    /// Loops that a recipe calls by names that the source may have for others.
    pub fn of_names(kernel: &Kernel, invented: &[VarId], recipe: &Recipe) -> Option<Doubt> {
        let needed = invented.iter().filter(|var| needs_name(kernel, **var, recipe));
        let used: Vec<String> = needed.map(|var| format!("`{}`", kernel.variable_name(*var))).collect();
        (!used.is_empty()).then(|| {
            let names: Vec<&str> = kernel.variables.iter().map(|v| &*v.name).collect();
            let message = format!(
                "{} in the recipe may be another loop than in the source: without its names (-g) loops are called {} from outside to inside; paths such as `@0` mean the same either way",
                used.join(", "),
                names.join(", ")
            );
            Doubt { code: "InventedNames", message }
        })
    }

    /// Loops of a tree that are marked for threads, of which there are none.
    pub fn of_threads(root: &Green, threads: u32) -> Option<Doubt> {
        let mut loops = root.walk().filter_map(|node| node.as_loop());
        let marked = loops.any(|(header, _)| header.kind == LoopKind::Parallel);
        (marked && threads <= 1).then(|| Doubt {
            code: NO_THREADS,
            message: "one thread runs the loop that is marked parallel, as nobody says how many there are: `--threads 4`, in a build LOOPTREE=threads=4".to_string(),
        })
    }
}

/// What the loops of a nest are called, which without debug information is not as in the source.
pub(super) fn names(kernel: &Kernel) -> String {
    let names: Vec<&str> = kernel.variables.iter().map(|v| &*v.name).collect();
    format!(
        "its loops are called {}, from outside to inside: as in the source with -g only",
        names.join(", ")
    )
}

/// Whether the recipe goes by the name of a variable: without it, it does not apply.
fn needs_name(kernel: &Kernel, var: VarId, recipe: &Recipe) -> bool {
    let root = canonical(kernel, &kernel.original);
    let mut nameless = kernel.clone();
    nameless.variables[var.index()].name = "".into();
    recipe.replay(kernel, &root).is_ok() && recipe.replay(&nameless, &root).is_err()
}
