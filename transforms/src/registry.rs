//! The transformations known by name, and the enumeration of moves.

use crate::manual::top;
use crate::transformations::*;
use crate::{Arguments, Context, RecipeError, Step, Transform};
use std::borrow::Cow;
use std::sync::Arc;

/// What the enumeration of moves tries. Counts, not times: the same tree gives the same moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoveOptions {
    /// Tile sizes, each for all loops of a band.
    pub tile_sizes: Vec<i64>,
    /// Outer and inner tile size for tiles at two levels.
    pub two_level_tiles: Vec<(i64, i64)>,
    /// Whether tiles are also tried with full ones separated.
    pub full_tiles: bool,
    /// Longest band to tile or permute.
    pub band: usize,
    /// Block sizes of strip-mining.
    pub strip_sizes: Vec<i64>,
    /// Factors of unrolling.
    pub unroll_factors: Vec<i64>,
    /// Loops of at most so many iterations are also unrolled fully.
    pub full_unroll: i64,
    /// Factors of unroll-and-jam.
    pub jam_factors: Vec<i64>,
    /// Copies of a statement in one innermost body, beyond which jamming is not tried: registers run out.
    pub jam_copies: i64,
    /// Shifts of fusion from `-shift` to `shift`, beside those that ranges and subscripts suggest.
    pub shift: i64,
    /// Factors of skewing.
    pub skew_factors: Vec<i64>,
    /// Iterations to peel.
    pub peel: Vec<i64>,
    /// Lanes of vector loops.
    pub lanes: Vec<i64>,
    /// Names of the transformations to enumerate; empty: all.
    pub only: Vec<String>,
}

impl Default for MoveOptions {
    fn default() -> Self {
        MoveOptions {
            tile_sizes: vec![16, 32, 64, 128],
            two_level_tiles: vec![],
            full_tiles: true,
            band: 3,
            strip_sizes: vec![8, 32, 256],
            unroll_factors: vec![2, 4, 8],
            full_unroll: 8,
            jam_factors: vec![2, 4, 8],
            jam_copies: 8,
            shift: 2,
            skew_factors: vec![1, 2],
            peel: vec![1],
            lanes: vec![],
            only: vec![],
        }
    }
}

type Parse = dyn Fn(Arguments) -> Result<Step, RecipeError> + Send + Sync;
type Moves = dyn Fn(&Context<'_>, &MoveOptions) -> Vec<Step> + Send + Sync;

/// One transformation: name, parser of arguments, enumerator of moves.
#[derive(Clone)]
pub struct Registration {
    name: Arc<str>,
    parse: Arc<Parse>,
    moves: Arc<Moves>,
    manual: Manual,
}

#[derive(Clone)]
enum Manual {
    Text(Arc<str>),
    /// What a source file says at its top.
    Top(&'static str),
}

impl Registration {
    /// A transformation called `name`. `parse` reads the text that its `Display` writes; `moves` lists where it could
    /// be tried, in an order that depends on the tree only.
    pub fn new(
        name: &str,
        parse: impl Fn(Arguments) -> Result<Step, RecipeError> + Send + Sync + 'static,
        moves: impl Fn(&Context<'_>, &MoveOptions) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        Registration {
            name: name.into(),
            parse: Arc::new(parse),
            moves: Arc::new(moves),
            manual: Manual::Top(""),
        }
    }

    /// With a text for the manual, in Markdown, the first line of which says what it does.
    pub fn documented(self, manual: &str) -> Self {
        Registration { manual: Manual::Text(manual.into()), ..self }
    }

    fn at_top_of(self, source: &'static str) -> Self {
        Registration { manual: Manual::Top(source), ..self }
    }

    /// Its text in the manual; empty if there is none.
    pub fn manual(&self) -> Cow<'_, str> {
        match &self.manual {
            Manual::Text(text) => Cow::Borrowed(text),
            Manual::Top(source) => Cow::Owned(top(source)),
        }
    }

    /// The name in recipes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads a step.
    pub fn parse(&self, arguments: Arguments) -> Result<Step, RecipeError> {
        (self.parse)(arguments)
    }

    /// Where it could be tried.
    pub fn moves(&self, cx: &Context<'_>, options: &MoveOptions) -> Vec<Step> {
        (self.moves)(cx, options)
    }
}

/// A transformation of this crate, as [`Registration::new`] takes it apart.
pub(crate) trait BuiltIn: Transform + Sized {
    /// Takes what it knows; the rest is refused.
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError>;

    fn moves(_: &Context<'_>, _: &MoveOptions) -> Vec<Self> {
        Vec::new()
    }
}

/// Transformations by name, in a fixed order.
#[derive(Clone, Default)]
pub struct Registry(Vec<Registration>);

macro_rules! register {
    ($registry:ident, $($name:literal: $type:ident in $file:literal),* $(,)?) => {
        $($registry.register(Registration::new(
            $name,
            |mut arguments| {
                let transform = $type::parse(&mut arguments)?;
                arguments.finish()?;
                Ok(Step::new(transform))
            },
            |cx, options| $type::moves(cx, options).into_iter().map(Step::new).collect(),
        ).at_top_of(include_str!(concat!("transformations/", $file, ".rs"))));)*
    };
}

impl Registry {
    /// No transformations.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The transformations of this crate.
    pub fn standard() -> Self {
        let mut registry = Self::empty();
        register!(registry,
            "distribute": Distribute in "distribute",
            "fuse": Fuse in "fuse",
            "interchange": Interchange in "interchange",
            "permute": Permute in "permute",
            "tile": Tile in "tile",
            "morton": Morton in "morton",
            "hilbert": Hilbert in "hilbert",
            "unroll_and_jam": UnrollAndJam in "unroll_and_jam",
            "skew": Skew in "skew",
            "strip_mine": StripMine in "strip_mine",
            "reverse": Reverse in "reverse",
            "peel": Peel in "peel",
            "split": IndexSetSplit in "index_set_split",
            "unroll": Unroll in "unroll",
            "move": Move in "reorder",
            "reorder": Reorder in "reorder",
            "sink": Sink in "sink",
            "unswitch": Unswitch in "unswitch",
            "concatenate": Concatenate in "concatenate",
            "contract": Contract in "contract",
            "forward": Forward in "forward",
            "merge": Merge in "merge",
            "expand": Expand in "expand",
            "pack": Pack in "pack",
            "replace": Replace in "replace",
            "transpose": Transpose in "transpose",
            "mark": Mark in "mark",
            "vectorize": Vectorize in "vectorize",
            "version": Version in "version",
        );
        registry
    }

    /// Adds a transformation; one of the same name is replaced.
    pub fn register(&mut self, registration: Registration) {
        match self.0.iter_mut().find(|r| r.name == registration.name) {
            Some(old) => *old = registration,
            None => self.0.push(registration),
        }
    }

    /// The transformation of that name.
    pub fn get(&self, name: &str) -> Option<&Registration> {
        self.0.iter().find(|r| &*r.name == name)
    }

    /// All transformations, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Registration> {
        self.0.iter()
    }

    pub(crate) fn names(&self) -> String {
        self.0.iter().map(Registration::name).collect::<Vec<_>>().join(", ")
    }
}

/// Where each transformation of the registry could be tried. Structure is tested, as far as that is cheap; the
/// change is not made, so that a few moves refuse when applied.
pub fn moves(cx: &Context<'_>, registry: &Registry, options: &MoveOptions) -> Vec<Step> {
    moves_of(cx, registry, options, &|_| true)
}

/// [`moves`] of the transformations that are wanted, by name.
pub fn moves_of(
    cx: &Context<'_>,
    registry: &Registry,
    options: &MoveOptions,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<Step> {
    let allowed = |name: &str| options.only.is_empty() || options.only.iter().any(|o| **o == *name);
    let of = registry.iter().filter(|r| allowed(r.name()) && wanted(r.name()));
    of.flat_map(|r| r.moves(cx, options)).collect()
}
