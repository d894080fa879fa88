"""Trees, verdicts, costs, times, and what happens on bad input."""

import copy
import doctest
import threading
import time

import pytest

import looptree

COLUMNS = """nest @columns[N] {
  array A: f64[N, N]
  array B: f64[N, N]
  for i in 0..N { for j in 0..N { S: A[j, i] = B[j, i] } }
}"""
SKEWED = """nest @skewed[N] {
  array A: f64[N, N]
  for i in 1..N { for j in 0..N - 1 { S: A[i, j] = A[i - 1, j + 1] + 1.0 } }
}"""
SOURCE = """void columns(int n, double a[n][n], double b[n][n]) {
    for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i][j] = 2.0 * b[i][j];
}
"""


def nest(text=COLUMNS, **options):
    return looptree.parse(text, **options).regions[0]


def test_documentation():
    assert doctest.testmod(looptree).failed == 0


def test_trees_are_values():
    tree = nest().tree
    assert tree.kind in ("seq", "loop") and tree.path == "@" and tree.depth == 2 and tree.leaves == 1
    kinds = set()

    def walk(node):
        kinds.add(node.kind)
        assert node.root == tree and node.root.at(node.path) == node
        for child in node.children:
            walk(child)

    walk(tree)
    assert {"loop", "stmt"} <= kinds
    changed = tree.apply("interchange(@)")
    assert changed != tree and changed.recipe == "interchange(@)" and changed.steps == 1
    assert tree.steps == 0 and "interchange" not in tree.recipe
    assert len({tree, changed, tree.root}) == 2
    assert changed == tree.apply("interchange(@)") and changed != nest().tree.apply("interchange(@)")
    assert any(step.startswith("interchange(") for step in tree.moves())
    assert str(changed) == changed.text and "for" in changed.text


def test_the_oracle_says_why():
    region = nest(SKEWED)
    crossed = region.tree.apply("interchange(@)")
    verdict = crossed.judge()
    assert not verdict and not verdict.legal and "flow" in verdict.witness and verdict.category
    straight = region.tree.apply("skew(@, @0; 1); interchange(@)")
    assert straight.judge() and straight.judge().witness is None
    assert [v.legal for v in region.judge([crossed, straight] * 20)] == [False, True] * 20
    with pytest.raises(looptree.IllegalError, match="flow"):
        crossed.measure()
    with pytest.raises(looptree.IllegalError):
        crossed.emit()


def test_costs_add_up():
    tree = nest(params={"N": 2000}).tree
    cost = tree.cost()
    assert cost.cycles == pytest.approx(sum(cycles for _, cycles in cost.terms))
    assert float(cost) == cost.cycles and "cycles" in cost.text
    rows = tree.apply("interchange(@)")
    assert rows.cost().cycles < cost.cycles


def test_successors_are_judged_and_priced():
    tree = nest(SKEWED).tree
    moves = tree.successors()
    assert moves and {True, False} == {m.verdict.legal for m in moves}
    for move in moves[:10]:
        assert move.tree == tree.apply(move.step)
        assert move.verdict.legal == move.tree.judge().legal
        assert move.cycles == pytest.approx(move.tree.cost().cycles)
    assert len(tree.successors(3)) <= 3


def test_measured_and_emitted():
    region = nest(params={"N": 300})
    rows = region.tree.apply("interchange(@)")
    measured = rows.measure(samples=3)
    assert measured.seconds > 0 and measured.ratio > 0 and len(measured.samples) >= 3
    assert "define" in rows.emit()
    best = region.explore(max_variants=40)
    assert best[0].cost().cycles <= region.tree.cost().cycles
    assert any(not tree.recipe for tree in best)


def test_c_files(tmp_path):
    source = tmp_path / "x.c"
    source.write_text(SOURCE)
    module = looptree.lift(source, params={"n": 200})
    assert len(module) == 1 and module.regions[0].params == {"n": 200}
    region = module["columns"]
    assert region.label == "columns#0" and module["columns#0"].label == region.label
    rows = region.tree.apply("interchange(@)")
    assert rows.judge() and rows.judge().conditions
    ir = module.emit(rows)
    assert "columns" in ir
    assert len(region.measure([rows, region.tree], samples=3)) == 2
    again = tmp_path / "x.ll"
    again.write_text(ir)
    assert looptree.lift(again).name == str(again)
    assert looptree.parse(region.text).regions[0].kernel_hash == region.kernel_hash
    with pytest.raises(KeyError, match="columns#0"):
        module["rows"]
    with pytest.raises(ValueError, match="another module"):
        module.emit(nest().tree)


def test_bad_input_is_an_error(tmp_path):
    def lifting(name, content, kind, **options):
        file = tmp_path / name
        file.write_bytes(content)
        with pytest.raises(kind) as error:
            looptree.lift(file, **options)
        return str(error.value)

    assert "x.lt:3" in lifting("x.lt", b"nest @f {\n  for\n}", looptree.InputError)
    assert "UTF-8" in lifting("x.lt", b"\xff\xfe", looptree.InputError)
    assert "error" in lifting("x.c", b"int f( {", looptree.InputError)
    assert "opt-22 -passes=verify" in lifting("x.ll", b"nonsense", looptree.InputError)
    unverified = b"define i32 @f() {\n  %a = add i32 %b, 1\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n"
    told = lifting("x.ll", unverified, looptree.InputError)
    assert "x.ll: the module does not verify" in told and "opt-22" in told
    for name, other, words in (
        ("x.o", b"\x7fELF\x02\x01\x01" + bytes(57), "an object file or a program: no LLVM IR"),
        ("x.a", b"!<arch>\n", "an archive: no LLVM IR"),
        ("x.png", b"\x89PNG\r\n\x1a\n" + bytes(8), "neither text nor bitcode: no LLVM IR"),
    ):
        told = lifting(name, other, looptree.InputError)
        assert words in told and "-emit-llvm" in told, told
    # LLVM's reader ends the process on some of these.
    for damaged in (b"BC\xc0\xde", b"BC\xc0\xde" + b"\xff" * 400, b"BC\xc0\xde" + bytes(range(256)) * 4):
        assert "bitcode" in lifting("x.bc", damaged, looptree.InputError)
    assert "there are" in lifting("y.c", SOURCE.encode(), ValueError, params={"m": 3})
    assert "there are" in lifting("y.c", SOURCE.encode(), ValueError, target="pdp11")
    assert "there are" in lifting("y.c", SOURCE.encode(), ValueError, function="g")
    with pytest.raises(looptree.InputError, match="cannot read"):
        looptree.lift(tmp_path / "none.ll")
    tree = nest().tree
    for recipe in ("interchange", "interchange(q)", "fold(@)", "interchange(@7)", "tile(@; 0)", "((", "\0"):
        with pytest.raises(looptree.RecipeError):
            tree.apply(recipe)
    with pytest.raises(ValueError):
        tree.at("0.1")
    with pytest.raises(IndexError):
        tree.at("@9")
    with pytest.raises(TypeError):
        looptree.Tree()
    with pytest.raises((TypeError, copy.Error)):
        copy.deepcopy(tree)


def test_any_thread_may_ask():
    region = nest(SKEWED)
    moves = region.tree.moves()
    answers = []

    def ask():
        answers.append([region.tree.apply(m).judge().legal for m in moves[:20] if _applies(region, m)])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(answers) == 4 and all(a == answers[0] for a in answers)


def _applies(region, step):
    try:
        region.tree.apply(step)
        return True
    except looptree.RecipeError:
        return False


def test_many_are_judged_quickly():
    """A bound that only a broken build misses; a release build judges thousands a second."""
    region = nest(SKEWED)
    trees = [m.tree for m in region.tree.successors()]
    trees = (trees * (1000 // len(trees) + 1))[:1000]
    begin = time.monotonic()
    assert len(region.judge(trees)) == 1000
    assert time.monotonic() - begin < 60
