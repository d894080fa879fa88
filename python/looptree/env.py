"""Search policies: an environment in the form of Gymnasium.

An episode starts from the original of a region. Action 0 ends it, action `n` does the `n`-th of the moves that apply.
What the oracle refuses is masked (`action_masks`, as sb3-contrib's MaskablePPO asks for it); done all the same, it changes
nothing and costs `penalty`.
"""

from __future__ import annotations

import math
import string
from typing import Any, Literal, Sequence

import gymnasium
import numpy as np
from gymnasium import spaces

from . import Move, Region, Tree

__all__ = ["STEP_KINDS", "LoopEnv"]

#: Kinds of steps that a move's features tell apart; the last one is any other.
STEP_KINDS = (
    "fuse", "distribute", "interchange", "permute", "peel", "strip_mine", "tile", "unroll", "unroll_and_jam", "reverse",
    "skew", "index_set_split", "unswitch", "concatenate", "reorder", "sink", "mark", "vectorize", "pack", "contract",
    "expand", "forward", "replace", "version", "other",
)  # fmt: skip
_TEXT = 16384
_TREE = 8
_MOVE = len(STEP_KINDS) + 2


class LoopEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """One or several regions; each episode takes the next one, or `options={"region": number}`.

    Observation: `tree` (numbers of the variant: its predicted time against that of the original and absolutely, steps left, nodes,
    statements, depth, loops, parallel or vector loops), `moves` (for each action its kind, whether it is legal, and what it is
    predicted to gain), and, with `text=True`, the variant's `text`, which `info` has in any case.

    Reward: with `reward="predicted"`, each step's gain as the logarithm of predicted times; with `"measured"`, at the end that of
    measured times. The sum over an episode is the logarithm of the whole gain.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(
        self,
        regions: Region | Sequence[Region],
        *,
        reward: Literal["predicted", "measured"] = "predicted",
        max_steps: int = 8,
        max_moves: int = 128,
        penalty: float = 0.1,
        samples: int = 5,
        text: bool = False,
        render_mode: str | None = None,
    ) -> None:
        self.regions = [regions] if isinstance(regions, Region) else list(regions)
        if not self.regions:
            raise ValueError("there is no region")
        if reward not in ("predicted", "measured"):
            raise ValueError(f"reward is `predicted` or `measured`, not {reward!r}")
        if max_steps < 1 or max_moves < 1:
            raise ValueError("max_steps and max_moves are at least 1")
        self.reward, self.max_steps, self.max_moves = reward, max_steps, max_moves
        self.penalty, self.samples, self.text, self.render_mode = penalty, samples, text, render_mode
        self.action_space = spaces.Discrete(max_moves + 1)
        parts: dict[str, spaces.Space[Any]] = {
            "tree": spaces.Box(-np.inf, np.inf, (_TREE,), np.float32),
            "moves": spaces.Box(-np.inf, np.inf, (max_moves + 1, _MOVE), np.float32),
        }
        if text:
            parts["text"] = spaces.Text(min_length=0, max_length=_TEXT, charset=string.printable)
        self.observation_space = spaces.Dict(parts)
        self._next = self._steps = 0
        self._start(self.regions[0])

    def _start(self, region: Region) -> None:
        self.region = region
        self._original = region.tree.cost().cycles
        self._enter(region.tree)

    def _enter(self, tree: Tree) -> None:
        self.tree = tree
        self._cycles = tree.cost().cycles
        self._moves: list[Move] = tree.successors(self.max_moves)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._next = 0
        number = self._next if options is None else int(options.get("region", self._next))
        self._next = (number + 1) % len(self.regions)
        self._steps = 0
        self._start(self.regions[number])
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        number, reward, refused = int(action) - 1, 0.0, None
        if not -1 <= number < self.max_moves:
            raise ValueError(f"there is no action {action}")
        self._steps += 1
        terminated = number < 0
        if not terminated:
            move = self._moves[number] if number < len(self._moves) else None
            if move is None:
                refused = "there is no such move"
            elif not move.verdict.legal:
                refused = move.verdict.witness
            else:
                before = self._cycles
                self._enter(move.tree)
                if self.reward == "predicted":
                    reward = _log_ratio(before, self._cycles)
        if refused is not None:
            reward -= self.penalty
        truncated = not terminated and self._steps >= self.max_steps
        info = self._info()
        if refused is not None:
            info["refused"] = refused
        if self.reward == "measured" and (terminated or truncated) and self.tree.steps:
            measured = self.tree.measure(self.samples)
            info["measured"] = measured.ratio
            reward += math.log(measured.ratio)
        return self._observation(), float(reward), terminated, truncated, info

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which actions are legal."""
        mask = np.zeros(self.max_moves + 1, np.bool_)
        mask[0] = True
        for number, move in enumerate(self._moves):
            mask[number + 1] = move.verdict.legal
        return mask

    def render(self) -> str:
        return self.tree.text

    def _observation(self) -> dict[str, Any]:
        loops = [node for node in _walk(self.tree) if node.kind == "loop"]
        tree = [
            _log_ratio(self._original, self._cycles),
            math.log(max(self._cycles, 1.0)),
            self.max_steps - self._steps,
            math.log1p(self.tree.nodes),
            math.log1p(self.tree.leaves),
            self.tree.depth,
            math.log1p(len(loops)),
            sum(loop.loop_kind != "sequential" for loop in loops),
        ]
        moves = np.zeros((self.max_moves + 1, _MOVE), np.float32)
        moves[0, -2] = 1.0
        for row, move in zip(moves[1:], self._moves):
            kind = move.step.split("(", 1)[0]
            row[STEP_KINDS.index(kind if kind in STEP_KINDS else "other")] = 1.0
            row[-2] = move.verdict.legal
            row[-1] = _log_ratio(self._cycles, move.cycles)
        observation: dict[str, Any] = {"tree": np.asarray(tree, np.float32), "moves": moves}
        if self.text:
            known = set(string.printable)
            observation["text"] = "".join(c if c in known else "?" for c in self.tree.text[:_TEXT])
        return observation

    def _info(self) -> dict[str, Any]:
        return {
            "region": self.region.label,
            "text": self.tree.text,
            "recipe": self.tree.recipe,
            "gain": math.exp(_log_ratio(self._original, self._cycles)),
            "moves": [move.step for move in self._moves],
            "action_mask": self.action_masks(),
        }


def _log_ratio(before: float, after: float) -> float:
    """Nothing takes less than a cycle."""
    return math.log(max(before, 1.0) / max(after, 1.0))


def _walk(tree: Tree) -> list[Tree]:
    return [tree, *(node for child in tree.children for node in _walk(child))]
