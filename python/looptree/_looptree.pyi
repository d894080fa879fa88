from os import PathLike
from typing import Literal, Mapping, Sequence, final

__version__: str

class Error(Exception):
    """What looptree cannot do."""

class InputError(Error):
    """Input that cannot be read, compiled or analysed."""

class RecipeError(Error):
    """A step that is none, or does not apply."""

class IllegalError(Error):
    """A variant that would change what is computed."""

class MeasureError(Error):
    """A function that cannot be called, or a variant that computes something else."""

class InternalError(Error):
    """A bug in looptree."""

@final
class Verdict:
    """Whether a variant computes the same; true where it may be used."""

    @property
    def legal(self) -> bool: ...
    @property
    def conditions(self) -> list[str]:
        """What must hold at run time."""
    @property
    def witness(self) -> str | None:
        """The dependence in the way, with an example."""
    @property
    def category(self) -> str | None:
        """A stable short name of what is in the way."""
    def __bool__(self) -> bool: ...

@final
class Cost:
    """Predicted cycles."""

    @property
    def cycles(self) -> float: ...
    @property
    def terms(self) -> list[tuple[str, float]]:
        """What they are spent on; they add up."""
    @property
    def text(self) -> str:
        """The terms in detail, for people."""
    def __float__(self) -> float: ...

@final
class Measurement:
    """Times of a variant, taken in turns with the original, after both were seen to compute the same, bit for bit."""

    @property
    def seconds(self) -> float: ...
    @property
    def original_seconds(self) -> float: ...
    @property
    def ratio(self) -> float:
        """Time of the original over that of the variant, median: above 1 is faster."""
    @property
    def ratio_low(self) -> float: ...
    @property
    def ratio_high(self) -> float: ...
    @property
    def samples(self) -> list[float]:
        """Seconds of a call, of each sample."""

@final
class Move:
    """A step that applies, and what it leads to."""

    @property
    def step(self) -> str: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def cycles(self) -> float: ...

@final
class Tree:
    """A node of a variant; the root is the variant. Trees are values: moves make new ones."""

    @property
    def text(self) -> str: ...
    @property
    def kind(self) -> Literal["seq", "loop", "let", "guard", "stmt", "alloc", "version"]: ...
    @property
    def name(self) -> str | None:
        """The variable that it binds, or the name of the statement."""
    @property
    def loop_kind(self) -> Literal["sequential", "parallel", "vector", "library"] | None: ...
    @property
    def path(self) -> str:
        """Where it is, as recipes write it: `@0.1`."""
    @property
    def recipe(self) -> str:
        """The steps that lead to this variant."""
    @property
    def steps(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def leaves(self) -> int: ...
    @property
    def depth(self) -> int:
        """Loops on the deepest path."""
    @property
    def children(self) -> list[Tree]: ...
    @property
    def root(self) -> Tree: ...
    def at(self, path: str) -> Tree: ...
    def moves(self) -> list[str]:
        """Steps that could be tried; neither legality nor all of structure is looked at."""
    def apply(self, recipe: str) -> Tree:
        """The variant after a step, or several."""
    def judge(self) -> Verdict: ...
    def cost(self) -> Cost: ...
    def successors(self, limit: int | None = None) -> list[Move]:
        """All moves that apply, each judged and priced, on all cores; at most `limit`, evenly spread."""
    def measure(self, samples: int | None = None) -> Measurement:
        """Runs the variant in this process. Raises `MeasureError`, and `IllegalError` where it may not be used."""
    def emit(self) -> str:
        """LLVM IR of the module with this variant, behind a run-time check."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Region:
    """A loop nest, or several that belong together."""

    @property
    def label(self) -> str: ...
    @property
    def name(self) -> str:
        """The function's name, as its source has it."""
    @property
    def function(self) -> str:
        """The function's symbol."""
    @property
    def number(self) -> int: ...
    @property
    def location(self) -> str | None: ...
    @property
    def params(self) -> dict[str, int]: ...
    @property
    def target(self) -> str: ...
    @property
    def text(self) -> str:
        """What is computed, as `.lt` text that `parse` reads."""
    @property
    def kernel_hash(self) -> str: ...
    @property
    def tree(self) -> Tree:
        """The original order."""
    def apply(self, recipe: str) -> Tree: ...
    def judge(self, trees: Sequence[Tree]) -> list[Verdict]:
        """Verdicts of many variants, on all cores."""
    def measure(self, trees: Sequence[Tree], samples: int | None = None) -> list[Measurement]: ...
    def explore(self, max_variants: int | None = None) -> list[Tree]:
        """What looptree's own search finds: legal variants, the cheapest first, the original among them."""

@final
class Module:
    """A file with its loop nests."""

    @property
    def regions(self) -> list[Region]: ...
    @property
    def name(self) -> str: ...
    @property
    def remarks(self) -> list[str]:
        """What was not understood."""
    def emit(self, *trees: Tree) -> str:
        """LLVM IR with variants in the place of their regions."""
    def __getitem__(self, label: str) -> Region: ...
    def __len__(self) -> int: ...

def lift(
    path: str | PathLike[str],
    *,
    flags: Sequence[str] = ...,
    function: str | None = None,
    params: Mapping[str, int] = ...,
    default_param: int = 1000,
    target: str = "native",
) -> Module:
    """Reads a file: C or C++ (by clang-22, with these flags), LLVM IR (`.ll`, `.bc`), or a loop tree (`.lt`)."""

def parse(
    text: str, *, params: Mapping[str, int] = ..., default_param: int = 1000, target: str = "native"
) -> Module:
    """Reads a loop tree from its text."""

def _read_bitcode(path: str | PathLike[str]) -> None: ...
