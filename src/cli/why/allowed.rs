//! What the compiler might be allowed, by flags or by the source, and what is found then.

use super::super::args::InputArguments;
use super::super::error::CliError;
use super::super::input::{self, Input};
use super::super::progress::Progress;
use super::super::regions;
use looptree::driver::{self, Explored, ExploredRegion, Optimizer, Session, Sizes};

/// Flags, and what they say.
const FLAGS: [(&[&str], &str); 3] = [
    (&["-march=native"], "this machine's vectors"),
    (&["-fno-math-errno"], "mathematical functions set no errno"),
    (
        &["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
        "sums in any order, so other last digits",
    ),
];

/// Something that is allowed, and what is found then.
pub struct Allowed {
    pub what: What,
    pub explored: Explored,
}

/// What is allowed.
pub enum What {
    /// Flags of clang, and what they say.
    Flags(String, &'static str),
    /// What the source says.
    Source(Change),
}

/// A change of the source.
pub enum Change {
    /// Constants in the place of arguments.
    Constants(Vec<Sizes>),
    /// Indices that do not wrap.
    WideIndices,
}

impl What {
    /// Behind "with", of a region that there is only then.
    pub fn with(&self, region: &ExploredRegion) -> String {
        match self {
            What::Flags(flags, says) => format!("{flags} ({says})"),
            What::Source(change) => change.of(region),
        }
    }
}

impl Change {
    /// What is changed for a region.
    pub fn of(&self, region: &ExploredRegion) -> String {
        match self {
            Change::Constants(sizes) => {
                let is_its = |s: &&Sizes| s.function == region.function && s.number == region.number;
                let named = sizes.iter().find(is_its).map_or(&[][..], |s| &s.named);
                let values: Vec<String> =
                    named.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                format!("constant extents ({})", values.join(", "))
            }
            Change::WideIndices => "indices of `size_t`, which do not wrap".to_string(),
        }
    }
}

/// Everything that is not allowed yet.
pub fn allowed(
    input: &InputArguments,
    read: &Input,
    session: &Session<'_>,
    progress: &Progress,
) -> Result<Vec<Allowed>, CliError> {
    let Input::Ir(_) = read else { return Ok(Vec::new()) };
    let file = &input.file;
    let failed = |e| input::from_driver(e, file);
    let explore = |text: Vec<u8>, optimizer: &Optimizer| {
        let text = Input::Ir(text);
        regions::explore(&Session { input: text.module().into(), optimizer, ..*session }, &text, file)
    };
    let mut allowed = Vec::new();
    progress.say("as if with constant extents".to_string());
    let sizes = session.sizes().map_err(failed)?;
    if !sizes.is_empty() {
        let text = session.with_constants(&sizes).map_err(failed)?;
        // What is a constant is no parameter, of which a value could be given.
        let mut settings = session.optimizer.settings.clone();
        settings.params.retain(|name, _| !sizes.iter().any(|s| s.named.iter().any(|(n, _)| **n == **name)));
        let optimizer = input::optimizer(settings)?;
        let what = What::Source(Change::Constants(sizes));
        allowed.push(Allowed { what, explored: explore(text, &optimizer)? });
    }
    if let Some(text) = session.with_wide_indices().map_err(failed)? {
        progress.say("as if with indices of `size_t`".to_string());
        allowed.push(Allowed {
            what: What::Source(Change::WideIndices),
            explored: explore(text, session.optimizer)?,
        });
    }
    if driver::is_source(file) {
        let given = &input.clang_flags;
        for (flags, says) in
            FLAGS.iter().filter(|(flags, _)| !flags.iter().all(|f| given.iter().any(|g| g == f)))
        {
            progress.say(format!("as if with {}", flags.join(" ")));
            let clang_flags = given.iter().cloned().chain(flags.iter().map(|f| f.to_string())).collect();
            let other = input::read(&InputArguments { clang_flags, ..input.clone() })?;
            let explored =
                regions::explore(&Session { input: other.module().into(), ..*session }, &other, file)?;
            allowed.push(Allowed { what: What::Flags(flags.join(" "), says), explored });
        }
    }
    Ok(allowed)
}
