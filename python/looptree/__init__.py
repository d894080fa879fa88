"""looptree for Python: loop nests as trees, moves, exact legality, predicted and measured times.

>>> import looptree
>>> nest = looptree.parse('''nest @copy[N] {
...   array A: f64[N, N]
...   array B: f64[N, N]
...   for i in 0..N { for j in 0..N { S: A[j, i] = B[j, i] } }
... }''').regions[0]
>>> variant = nest.tree.apply("interchange(@)")
>>> variant.judge().legal
True
>>> variant.cost().cycles < nest.tree.cost().cycles
True

`looptree.env` has an environment for search policies, in the form of Gymnasium.
"""

from ._looptree import (
    Cost,
    Error,
    IllegalError,
    InputError,
    InternalError,
    Measurement,
    MeasureError,
    Module,
    Move,
    RecipeError,
    Region,
    Tree,
    Verdict,
    __version__,
    lift,
    parse,
)

__all__ = [
    "Cost",
    "Error",
    "IllegalError",
    "InputError",
    "InternalError",
    "Measurement",
    "MeasureError",
    "Module",
    "Move",
    "RecipeError",
    "Region",
    "Tree",
    "Verdict",
    "__version__",
    "lift",
    "parse",
]
