# %% [markdown]
# # A policy for a loop nest
# Cells as in a notebook; `python examples/policy.py` runs them all.

# %% What is computed: columns of a matrix, one after the other.
import numpy as np

import looptree
from looptree.env import LoopEnv

SOURCE = """nest @columns[N] {
  array A: f64[N, N]
  array B: f64[N, N]
  for i in 0..N { for j in 0..N { S: A[j, i] = B[j, i] * 2.0 } }
}"""
nest = looptree.parse(SOURCE, params={"N": 2000}).regions[0]
print(nest.tree.text)
print(nest.tree.cost().text)

# %% What could be done, and what each is predicted to take.
for move in sorted(nest.tree.successors(), key=lambda m: m.cycles)[:5]:
    print(f"{move.cycles:12.0f} cycles  {move.step}  {move.verdict}")

# %% The same as an environment, and two policies: chance among what is legal, and greed.
env = LoopEnv(nest, max_steps=4)
rng = np.random.default_rng(1)


def chance(observation):
    return rng.choice(np.flatnonzero(env.action_masks()))


def greed(observation):
    gain = np.where(env.action_masks(), observation["moves"][:, -1], -np.inf)
    return np.argmax(gain) if gain.max() > 0.0 else 0


def episode(policy):
    observation, info = env.reset(seed=1)
    done, total = False, 0.0
    while not done:
        observation, reward, terminated, truncated, info = env.step(policy(observation))
        total, done = total + reward, terminated or truncated
    return total, info


results = {policy.__name__: episode(policy) for policy in (chance, greed)}
for name, (total, info) in results.items():
    print(f"{name}: {np.exp(total):.2f}x by {info['recipe'] or 'nothing'}")
assert results["greed"][0] > 0.0

# %% What looptree finds by itself.
best = nest.explore(max_variants=100)[0]
print(f"looptree: {nest.tree.cost().cycles / best.cost().cycles:.2f}x by {best.recipe}")
