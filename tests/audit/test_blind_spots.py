"""What audits said falsely or missed: of writing, rounding, chance and memory, and by which data; see test_shapes."""

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
import zoo
import zoo_guilty
import zoo_honest
from smaller_audits import few_items
from studies.audit_rates import blind_spots
from tieproof.trials.audit import ATTACKS
from tieproof.trials.audit.cases import LAYOUTS, MEMORY, Case, Writing
from tieproof.trials.audit.conventions import CONVENTIONS
from tieproof.trials.audit.driver import examined
from tieproof.trials.audit.examination import Examination, Options
from tieproof.trials.audit.luck import LEVEL, LOOKS, MORE_LOOKS, step_of
from tieproof.trials.audit.outcomes import Outcome, attempt
from tieproof.trials.audit.systems import Dice, equidistant, hubs, opposed

pytestmark = pytest.mark.trials

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"


def found(report: tp.AuditReport) -> dict[str, str]:
    """The verdict on each attack that did not end well."""
    return {each.attack: str(each.verdict) for each in report.findings if not each.verdict.harmless}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits try no size that takes most of their time."""
    few_items(monkeypatch)


# New arrays for each call


def test_a_matrix_is_a_copy_whatever_was_taken_before() -> None:
    """The transpose of items whose queries were taken is contiguous already, so that it was a view."""
    case = Case(np.arange(12.0).reshape(4, 3), np.arange(4), query_labels=np.arange(3))
    for taken in (case, case.take_queries(np.array([2, 0])), case.take_items(np.array([3, 1]))):
        for name in ("distances", "scores", "relevance"):
            for array in CONVENTIONS[name].arguments(taken):
                assert not np.shares_memory(array, taken.items)
                assert not np.shares_memory(array, taken.labels)
                assert taken.query_labels is not None
                assert not np.shares_memory(array, taken.query_labels)


@pytest.mark.usefixtures("few")
def test_an_honest_evaluator_that_writes_into_its_scores_is_told_that_and_nothing_else() -> None:
    report = tp.audit(zoo_honest.masks_its_scores, takes="scores", items=60, queries=60)
    assert found(report) == {"writing into arguments": "writes into its input"}
    assert "it writes into argument 1 of 3" in report.finding("writing into arguments").detail


@pytest.mark.parametrize("takes", [name for name in CONVENTIONS if name != "recall"])  # which takes no data
def test_writing_is_seen_in_every_argument(takes: str) -> None:
    convention = CONVENTIONS[takes]
    random = np.random.default_rng(0)
    labels = np.arange(6) % 3
    case = Case(random.random((6, 4)), labels, writing=Writing(watched=True))
    if convention.kind == "gallery":
        case = Case(case.items, labels, random.random((3, 4)), labels[:3], writing=case.writing)
    elif convention.kind == "scores":
        case = Case(case.items, labels, None, labels[:4], writing=case.writing)
    case = case.with_groups(random) if convention.grouped else case
    count = len(convention.arguments(case))
    for place in range(count):

        def spoils(*arguments: Any, place: int = place) -> float:
            if convention.files:
                Path(arguments[place]).write_text("")
            elif convention.written:
                arguments[place].popitem()
            else:
                arguments[place][:] = 7
            return 0.5

        said = f"it writes into argument {place + 1} of {count}"
        assert attempt(spoils, convention, case, {}, None) == Outcome({}, "writes into its input", said)
    assert attempt(lambda *_: 0.5, convention, case, {}, None) == Outcome({"score": 0.5})


# What is said, and what is not


@pytest.mark.usefixtures("few")
def test_one_step_of_rounded_numbers_is_no_change() -> None:
    for digits in (2, 3, 4):
        report = tp.audit(zoo_honest.rounded_to(digits), takes="gallery", items=60, queries=60)
        assert report.held, report


@pytest.mark.parametrize(
    ("numbers", "step"),
    [
        ([number / 10**4 for number in range(1, 50)], 1e-4),
        ([float(np.float32(number / 10**4)) for number in range(1, 50)], 1e-4),
        ([number * 1.0 for number in range(1, 50)], 1.0),
        ([float(np.float16(number / 77)) for number in range(1, 50)], 2.0**-11),
        ([number / 10**4 for number in range(5)], 0.0),
        ([number / 7 for number in range(1, 50)], 0.0),
        ([number / 60 for number in range(60)], 0.0),
        ([float("nan")] * 50, 0.0),
    ],
)
def test_steps(numbers: list[float], step: float) -> None:
    assert step_of(numbers) == step


@pytest.mark.usefixtures("few")
def test_fresh_ties_are_said_once() -> None:
    assert found(tp.audit(zoo.breaks_ties_by_chance, items=60)) == {"calling again": "changes"}


@pytest.mark.usefixtures("few")
def test_a_change_is_seen_in_spite_of_fresh_ties() -> None:
    def evaluator(embeddings: Any, labels: Any) -> float:
        return zoo.breaks_ties_by_chance(embeddings, labels) / (2 if labels.max() > 9 else 1)

    assert found(tp.audit(evaluator, items=60)) == {"calling again": "changes", "relabelling": "changes"}


def test_a_gain_without_memory_is_not_put_down_to_memory() -> None:
    report = tp.audit(zoo.upper, attacks=["zeros", "zeros after a good system"], items=60)
    assert found(report) == {"zeros": "exploitable"}
    said = report.finding("zeros after a good system").detail
    assert "Without the calls before it, the same system scores as much: 1.0000." in said


@pytest.mark.usefixtures("few")
def test_the_gain_by_memory_is_reported() -> None:
    name = "zeros after a good system"
    detail = tp.audit(zoo_guilty.BestSoFar(), items=60, attacks=[name]).finding(name).detail
    assert "Without the calls before it, the same system scores 0." in detail


@pytest.mark.usefixtures("few")
def test_names_travel_with_items_and_queries() -> None:
    report = tp.audit(zoo_honest.by_hash_of_names, takes="run", items=60, queries=40)
    assert found(report) == {"renaming documents": "changes"}


def test_names_of_permuted_items_are_theirs() -> None:
    case = Case(np.arange(6.0).reshape(3, 2), np.arange(3), query_labels=np.arange(2))
    moved = case.take_items(np.array([2, 0, 1])).take_queries(np.array([1, 0])).take_items(np.array([1, 2, 0]))
    for writing in (Writing(), Writing(names=5)):
        one, other = (
            CONVENTIONS["run"].arguments(Case(**{**vars(each), "writing": writing})) for each in (case, moved)
        )
        assert one == other


class Fault:
    """An evaluator with a fault in some of its calls, by their number."""

    def __init__(self, fault: Callable[[int, Any, Any], float | None]) -> None:
        self.fault, self.calls = fault, 0

    def __call__(self, embeddings: Any, labels: Any) -> float:
        self.calls += 1
        number = self.fault(self.calls, embeddings, labels)
        return zoo.lower(embeddings, labels) if number is None else number


def raises(call: int, embeddings: Any, labels: Any) -> None:
    if call == 100:
        raise IndexError("strange")


FAULTS: dict[str, Callable[[int, Any, Any], float | None]] = {
    "for good": lambda call, vectors, labels: zoo.upper(vectors, labels) if call > 100 else None,
    "once": raises,
    "now and then": lambda call, vectors, labels: 0.9 if call % 37 == 0 else None,
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_after_a_hundred_calls_has_no_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = Fault(FAULTS[name])
    monkeypatch.setattr(zoo_guilty, "strange", evaluator, raising=False)
    monkeypatch.setattr(evaluator, "__module__", "zoo_guilty", raising=False)
    monkeypatch.setattr(evaluator, "__qualname__", "strange", raising=False)
    report = tp.audit("zoo_guilty:strange", takes="embeddings", items=60)
    assert not report.held
    assert {each.reproduce for each in report.findings} == {""}


# What was missed


@pytest.mark.usefixtures("few")
def test_caches_by_address() -> None:
    """The next array may lie where a freed one was; in CPython it does."""
    seen: dict[Hashable, float] = {}

    def evaluator(embeddings: Any, labels: Any) -> float:
        return seen.setdefault((id(embeddings), embeddings.shape), zoo.lower(embeddings, labels))

    assert not tp.audit(evaluator, items=60).held


# Thorough audits


def test_a_thorough_audit_sees_half_a_deviation_and_a_usual_one_does_not() -> None:
    usual, thorough = (
        tp.audit(blind_spots.slightly_above, attacks=["zeros"], items=80, thorough=each) for each in (False, True)
    )
    assert found(usual) == {}
    assert found(thorough) == {"zeros": "gains a little"}


@pytest.mark.parametrize("evaluator", [zoo_honest.SeedPerQuery(1), zoo_honest.OneShuffle(4), zoo.expected])
def test_a_thorough_audit_accuses_no_honest_evaluator(evaluator: Callable[..., float]) -> None:
    report = tp.audit(evaluator, attacks=["zeros", "two vectors", "equidistant vectors"], items=60, thorough=True)
    assert found(report) == {}


@pytest.mark.usefixtures("few")
def test_attacks_of_thorough_audits_can_be_named() -> None:
    thorough = {name for name, attack in ATTACKS.items() if attack.thorough}
    assert thorough == {"three vectors", "six vectors", "bytes"}
    assert tp.audit(zoo.lower, attacks=["three vectors"], items=60).finding("three vectors").verdict == "held"
    named = {each.attack for each in tp.audit(zoo.lower, skip=["zeros"], items=60).findings}
    assert not named & thorough


def test_the_page_has_the_arithmetic_of_the_level() -> None:
    """The level of a test is that of all of them divided by their number: attacks, layouts and all of them, looks."""
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    blind = sum(attack.kind == "blind" for attack in ATTACKS.values())
    for options, looks in ((Options(), LOOKS), (Options(thorough=True), MORE_LOOKS)):
        examination = Examination(CONVENTIONS["embeddings"], options, lambda case, settings: Outcome({}))
        examination.trials = blind * (len(LAYOUTS) + 1)
        tests = blind * 6 * 2 * len(looks)
        assert examination.level == LEVEL / tests
        assert f"{LEVEL} / ({blind} × 6 × {2 * len(looks)}) = {LEVEL / tests:.1e}".replace("e-0", "e-") in page


# The data


@pytest.mark.parametrize("kind", ["leave-one-out", "scores"])
def test_hubs_are_nearest_to_all(kind: Any) -> None:
    for ascending in (False, True):
        rows = hubs(3)(Dice(np.random.default_rng(0), kind, 40, ascending), 40, 50)
        if kind == "scores":
            order = np.argsort(rows if ascending else -rows, axis=0, kind="stable")
            assert (order[:3] == order[:3, :1]).all()
            continue
        order = np.argsort(((rows[:, None] - rows) ** 2).sum(axis=2), axis=1, kind="stable")
        own = np.arange(40)[:, None]
        others = order[order != own].reshape(40, 39)
        norms = np.linalg.norm(rows, axis=1)
        usual = np.flatnonzero((rows > 0).sum(axis=1) == 1)
        assert len(usual) == 37
        assert (others[usual, :3] == others[usual[0], :3]).all()
        cosines = rows @ rows.T / norms / norms[:, None]
        nearest = np.argsort(-np.where(own == np.arange(40), -9, cosines), axis=1, kind="stable")
        assert (nearest[usual, :3] == others[usual[0], :3]).all()


def test_distances_and_similarities_are_as_described() -> None:
    dice = Dice(np.random.default_rng(0), "leave-one-out", 40)
    rows = equidistant(dice, 40, 16)
    assert set(((rows[:, None] - rows) ** 2).sum(axis=2).ravel().tolist()) == {0.0, 2.0}
    rows = opposed(dice, 40, 16)
    assert (rows @ rows.T)[~np.eye(40, dtype=bool)].max() < 0
    assert opposed(Dice(np.random.default_rng(0), "scores", 40), 40, 16).max() < 0


@pytest.mark.parametrize("memory", range(len(MEMORY)))
def test_arrays_have_the_same_values_wherever_they_lie(memory: int) -> None:
    seen: list[Any] = []
    case = Case(np.arange(12.0).reshape(4, 3), np.arange(4), writing=Writing(memory=memory))

    def evaluator(*given: Any) -> float:
        seen.extend(given)
        return 0.5

    attempt(evaluator, CONVENTIONS["embeddings"], case, {}, None)
    assert (seen[0] == case.items).all()
    assert (seen[1] == case.labels).all()
    assert seen[0].flags.c_contiguous == (memory == 0)
    assert seen[0].flags.f_contiguous == (memory == 1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_draws_of_the_same_size_have_other_labels(layout: str) -> None:
    examination = Examination(CONVENTIONS["gallery"], Options(), lambda case, settings: Outcome({}))
    boards = [examination.board(LAYOUTS[layout], number, same_size=True) for number in range(1, 5)]
    for board in boards:
        assert board.asked == len(board.labels) == 240
        usual = examination.board(LAYOUTS[layout]).labels
        assert np.sort(np.bincount(board.labels)).tolist() == np.sort(np.bincount(usual)).tolist()
    assert len({board.labels.tobytes() for board in boards}) == len(boards)


def test_an_evaluator_of_one_size_is_drawn_at_that_size() -> None:
    def of_sixty(embeddings: Any, labels: Any) -> float:
        if len(labels) != 60:
            raise ValueError("There must be 60 items.")
        return zoo.upper(embeddings, labels)

    report = examined(of_sixty, Options(attacks=["zeros", "permuting at other sizes"], items=60), progress=False)
    assert found(report) == {"zeros": "exploitable"}
    assert "In 5 draws of 60 items with other labels" in report.finding("zeros").detail
