"""The environment, by the checker of Gymnasium and by hand."""

import math
import multiprocessing
import pathlib
import runpy

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import looptree  # noqa: E402
from looptree.env import LoopEnv  # noqa: E402

from test_looptree import COLUMNS, SKEWED  # noqa: E402


def nest(text=COLUMNS, n=500):
    return looptree.parse(text, params={"N": n}).regions[0]


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("source", [COLUMNS, SKEWED])
def test_gymnasium_finds_nothing_wrong(source, text):
    check_env(LoopEnv(nest(source), max_moves=24, text=text, render_mode="ansi"))


def test_rewards_add_up_to_the_gain():
    env = LoopEnv(nest(), max_steps=3)
    observation, info = env.reset(seed=3)
    assert observation in env.observation_space
    total, done = 0.0, False
    while not done:
        legal = np.flatnonzero(env.action_masks())
        observation, reward, terminated, truncated, info = env.step(legal[-1])
        total, done = total + reward, terminated or truncated
    assert total == pytest.approx(math.log(info["gain"]))
    assert info["recipe"] and truncated


def test_what_is_illegal_changes_nothing():
    env = LoopEnv(nest(SKEWED), max_moves=64, penalty=0.25)
    env.reset(seed=1)
    before = env.tree
    illegal = [n for n, move in enumerate(env._moves, 1) if not move.verdict.legal]
    assert illegal and not env.action_masks()[illegal[0]]
    _, reward, terminated, truncated, info = env.step(illegal[0])
    assert (reward, terminated, truncated) == (-0.25, False, False)
    assert env.tree == before and "flow" in info["refused"]
    _, reward, terminated, _, _ = env.step(0)
    assert terminated and reward == 0.0
    with pytest.raises(ValueError):
        env.step(1000)


def test_measured_rewards():
    env = LoopEnv(nest(n=200), reward="measured", max_steps=2, samples=3)
    env.reset(seed=1)
    interchange = next(n for n, m in enumerate(env._moves, 1) if m.step.startswith("interchange("))
    _, reward, terminated, _, _ = env.step(interchange)
    assert reward == 0.0 and not terminated
    _, reward, terminated, _, info = env.step(0)
    assert terminated and reward == pytest.approx(math.log(info["measured"]))


def test_regions_take_turns():
    env = LoopEnv([nest(), nest(SKEWED)])
    labels = [env.reset()[1]["region"] for _ in range(3)]
    assert labels == ["columns#0", "skewed#0", "columns#0"]
    assert env.reset(options={"region": 1})[1]["region"] == "skewed#0"


def _in_child(queue):
    queue.put(len(nest(SKEWED).tree.successors()))


def test_forked_children_work():
    """As vectorised environments do."""
    expected = len(nest(SKEWED).tree.successors())
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    child = fork.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join()


def test_the_example():
    runpy.run_path(str(pathlib.Path(__file__).parent.parent / "examples" / "policy.py"))
