"""The verdict on one blind system, from its scores and those of random embeddings on the same labels.

Trial, on each layout ──► Contest: a first score against many random embeddings; if that score is suspicious, more
scores, each paired with a random embedding ──► luck.py: does it gain? ──► may it gain? ──► Finding

An honest evaluator may give a blind system a gain by fixed thresholds, or by an average that is not a mean. Whether a
number is a mean over queries is tested with two thirds easy queries and one third hard ones. If all queries had the
same score, a median would pass for a mean, too.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tieproof.attacks import Finding, Verdict, rank_of
from tieproof.audit.cases import DIMENSIONS, Case, Layout
from tieproof.audit.examination import BlindSystem, Board, Dice, Examination, filled
from tieproof.audit.luck import DRAWS, EXPLOIT, LEVEL, LOOKS, SUSPICIOUS, Luck, differ, is_gain, rounding
from tieproof.audit.outcomes import Outcome
from tieproof.audit.report import BASELINE

SHARE = 0.5
"""The share of a gain that must remain in comparison with random rows of another size, or size alone explains it."""

ENDLESS = (Verdict.TIMED_OUT, Verdict.TOO_MUCH_OUTPUT)


class Trial(NamedTuple):
    """A blind system, and how it is compared with random embeddings.

    attack : the name of the attack
    case : makes the case that the system hands in on a board
    score : calls the evaluator with a case
    fixed : whether the case contains no random numbers; its score then differs only if the evaluator's answers do
    times : the factor of the usual number of items and queries
    draws : the number of random embeddings that the first score is compared with
    looks : the numbers of further draws after which the differences are tested
    own : whether the trial uses boards of its own that the evaluator has never seen; each draw is then paired with
        random embeddings on a board with one item fewer, which are scored first
    beside : makes random rows of a larger size than usual, for a system that is random rows of a still larger size
    """

    attack: str
    case: Callable[[Board], Case]
    score: Callable[[Case], Outcome]
    fixed: bool
    times: float = 1
    draws: int = DRAWS
    looks: Sequence[int] = LOOKS
    own: bool = False
    beside: Callable[[Board], Case] | None = None


class Drawn(NamedTuple):
    """The outcomes of a blind system and of random embeddings on the same labels, and the number of items."""

    blind: Outcome
    random: Outcome
    items: int


class Contest:
    """A trial on one layout, with its first score and all further draws."""

    def __init__(self, examination: Examination, trial: Trial, layout: Layout) -> None:
        self.examination, self.trial, self.layout = examination, trial, layout
        size = f" with {trial.times:g} times as many items and queries" if trial.times > 1 else ""
        self.where = f"On the layout '{layout.name}'{size}"
        if trial.own:
            for number in range(1, trial.looks[-1] + 1):
                examination.at_random(self.board(number, own=False))
        self.case = trial.case(self.board(0))
        self.first = trial.score(self.case)
        self.drawn: list[Drawn] = []

    def board(self, number: int, own: bool = True) -> Board:
        """The labels of a draw; `own` to use the trial's own boards, if it has some."""
        own = own and self.trial.own
        return self.examination.board(self.layout, number, self.trial.times, one_more=own)

    def draw(self, count: int) -> list[Drawn]:
        """The first `count` draws, each with other numbers of items and queries."""
        while len(self.drawn) < count:
            number = len(self.drawn) + 1
            board = self.board(number)
            random = self.examination.at_random(self.board(number, own=False))
            blind = self.trial.score(self.trial.case(board))
            self.drawn.append(Drawn(blind, random, len(board.labels)))
        return self.drawn[:count]

    @property
    def is_settled(self) -> bool:
        """Whether scoring the same case again gives the same numbers, so that the first ones can be reported."""
        if not self.trial.fixed or self.layout.redrawn:
            return False
        again = self.trial.score(self.case).values
        return not any(differ(value, again.get(measure, math.nan)) for measure, value in self.first.values.items())


def examine(examination: Examination, trial: Trial, layouts: Iterable[Layout]) -> Iterator[Finding]:
    """The findings of a trial on every layout, for each measure.

    A trial that once takes too long or prints too much ends there. After an exploit on one layout, a measure is
    examined on another layout only if its first score deviates more.
    """
    gains: dict[str, float] = {}
    contests: list[Contest] = []
    for layout in layouts:
        baseline = examination.baseline(layout, trial.times, trial.draws)
        if isinstance(baseline, Outcome):
            yield from examination.failed(BASELINE, baseline, f"On the layout '{layout.name}'")
            continue
        contest = Contest(examination, trial, layout)
        if contest.first.problem:
            failures = examination.failed(trial.attack, contest.first, contest.where)
            yield from failures
            if failures[0].verdict in ENDLESS:
                return
            continue
        contests.append(contest)
        for measure, score in contest.first.values.items():
            luck = baseline.get(measure)
            if luck and luck.deviations(score, examination.sign) <= gains.get(measure, -math.inf):
                continue
            finding = _on_layout(contest, measure, luck)
            yield finding
            if finding.verdict is Verdict.EXPLOITABLE and finding.deviations is not None:
                gains[measure] = max(finding.deviations, gains.get(measure, -math.inf))
    yield from _over_layouts(contests, [measure for measure in examination.measures if measure not in gains])


def _on_layout(contest: Contest, measure: str, luck: Luck | None) -> Finding:
    attack, score, sign = contest.trial.attack, contest.first.values[measure], contest.examination.sign
    if luck is None or math.isnan(luck.mean):
        detail = f"{contest.where}, the score is {score:.4f}; random embeddings have no such score, or score NaN."
        return Finding(attack, measure, Verdict.NOT_A_NUMBER, score, detail=detail)
    finding = _compared(contest, measure, score, luck)
    if math.isnan(score) or not luck.is_suspicious(score, sign):
        return finding
    return _drawn_again(contest, measure, luck, finding)


def _compared(contest: Contest, measure: str, score: float, luck: Luck, detail: str = "") -> Finding:
    """The finding on a score by itself, before any test of whether it is an exploit."""
    examination, limits = contest.examination, contest.examination.options.limits
    verdict, said = Verdict.HELD, f"{score:.4f}"
    if math.isnan(score):
        verdict, said = Verdict.NOT_A_NUMBER, "NaN"
    elif limits and not limits[0] - 1e-6 <= score <= limits[1] + 1e-6:
        verdict, said = Verdict.OUT_OF_RANGE, f"{said}, outside [{limits[0]:g}, {limits[1]:g}]"
    above = None if math.isnan(score) else luck.deviations(score, examination.sign)
    beside = f"random embeddings score {luck.mean:.4f} ± {luck.std:.4f}"
    said = f"{contest.where}, the score is {said}{detail}; {beside}."
    return Finding(contest.trial.attack, measure, verdict, score, luck.mean, luck.std, above, said)


def _drawn_again(contest: Contest, measure: str, luck: Luck, finding: Finding) -> Finding:
    """The finding on a suspicious score, from further draws with other numbers of items."""
    examination, trial = contest.examination, contest.trial
    level = LEVEL / (examination.trials * len(examination.measures) * len(LOOKS))
    gains = Luck(0.0, 0.0, 0)
    for look in trial.looks:
        draws = contest.draw(look)
        for each in draws:
            for name, outcome in ((trial.attack, each.blind), (BASELINE, each.random)):
                if outcome.problem:
                    where = f"{contest.where}, with {each.items} items"
                    return next(f for f in examination.failed(name, outcome, where) if f.measure == measure)
        gains = Luck.of([_difference(each, measure, examination.sign) for each in draws])
        if is_gain(gains, level):
            verdict = _judged(contest, measure, luck, gains)
            break
    else:
        verdict = Verdict.HELD
    if not contest.is_settled:
        blind, random = (
            Luck.of([outcome.value(measure) for outcome in outcomes])
            for outcomes in ([each.blind for each in draws], [each.random for each in draws])
        )
        beside = Luck(random.mean, luck.std, random.size)
        finding = _compared(contest, measure, blind.mean, beside, f", the mean of {len(draws)} draws")
    if verdict is Verdict.HELD:
        return finding
    sizes = [each.items for each in draws]
    detail = (
        f"{finding.detail} In {len(draws)} draws of {min(sizes)} to {max(sizes)} items, it gains "
        f"{abs(gains.mean):.4f} over random embeddings on average, with a standard error of {gains.error:.4f}."
    )
    worse = max(verdict, finding.verdict, key=rank_of)
    finding = replace(finding, verdict=worse, detail=detail)
    return _under_other_names(contest, measure, luck, finding) if verdict is Verdict.EXPLOITABLE else finding


def _under_other_names(contest: Contest, measure: str, luck: Luck, finding: Finding) -> Finding:
    """The finding on an exploit, with a second verdict if documents were named in the order of the items."""
    trial = contest.trial
    if not contest.examination.convention.written or contest.layout.redrawn or contest.case.writing.names:
        return finding

    def renamed(board: Board) -> Case:
        case = contest.trial.case(board)
        seed = int(contest.examination.random("names", *board.key).integers(1, 2**31))
        return replace(case, writing=case.writing._replace(names=seed))

    trial = trial._replace(case=renamed, fixed=False)
    again = _drawn_again(Contest(contest.examination, trial, contest.layout), measure, luck, finding)
    if again.verdict is Verdict.EXPLOITABLE:
        return replace(finding, renamed=again.verdict)
    words = "Documents are named in the order of the items; with random names, the verdict is"
    detail = f"{finding.detail} {words} {again.verdict}, and the score {again.score:.4f}."
    return replace(finding, renamed=again.verdict, detail=detail)


def _difference(drawn: Drawn, measure: str, sign: int) -> float:
    """By how much the blind system is better than random embeddings."""
    blind, random = (outcome.value(measure) for outcome in (drawn.blind, drawn.random))
    return sign * (blind - random)


def _judged(contest: Contest, measure: str, luck: Luck, gains: Luck) -> Verdict:
    """The verdict on a gain: an exploit, a small gain, or one that size, thresholds or the average explain."""
    examination, score = contest.examination, contest.first.values[measure]
    if contest.trial.beside is not None and not _gains_more_than_size(contest, measure, contest.trial.beside):
        return Verdict.HELD
    if _may_be_a_threshold(examination, measure, score, contest.board(0)):
        return Verdict.HELD
    if _may_be_the_average(examination, measure, contest.case, luck):
        return Verdict.GAINS_A_LITTLE if examination.options.average is None else Verdict.HELD
    small = gains.mean <= EXPLOIT * luck.std + rounding(luck.mean)
    return Verdict.GAINS_A_LITTLE if small else Verdict.EXPLOITABLE


def _gains_more_than_size(contest: Contest, measure: str, beside: Callable[[Board], Case]) -> bool:
    """Whether a system also gains over random rows of a larger size, among which an evaluator may see fewer ties.

    An evaluator that rounds distances and reports the lower bound gives large random embeddings more than usual ones.
    """
    looks = contest.trial.looks
    count = max(look for look in looks if look <= max(len(contest.drawn), looks[0]))
    sign, gains, usual = contest.examination.sign, [], []
    for number, drawn in enumerate(contest.draw(count), 1):
        other = contest.trial.score(beside(contest.board(number)))
        gains.append(_difference(drawn._replace(random=other), measure, sign))
        usual.append(_difference(drawn, measure, sign))
    if any(map(math.isnan, gains)):
        return True
    gain = Luck.of(gains)
    return is_gain(gain, LEVEL) and gain.mean > SHARE * Luck.of(usual).mean


def _over_layouts(contests: Sequence[Contest], measures: Iterable[str]) -> Iterator[Finding]:
    """A finding on each measure with consistent gains over all layouts, though not an exploit on any of them."""
    for measure in measures:
        lucks: list[tuple[Contest, Luck]] = []
        for contest in contests:
            baseline = contest.examination.baseline(contest.layout, contest.trial.times)
            luck = baseline.get(measure) if isinstance(baseline, dict) else None
            if luck and luck.std and measure in contest.first.values:
                lucks.append((contest, luck))
        if len(lucks) > 1 and (finding := _little_on_all(measure, lucks)):
            yield finding


def _little_on_all(measure: str, lucks: Sequence[tuple[Contest, Luck]]) -> Finding | None:
    """The finding on a consistent gain over all layouts; None if there is no such gain."""
    examination, trial = lucks[0][0].examination, lucks[0][0].trial
    sign = examination.sign
    first = [luck.deviations(contest.first.values[measure], sign) for contest, luck in lucks]
    if not math.fsum(first) / math.sqrt(len(first)) > SUSPICIOUS:
        return None
    level = LEVEL / (examination.trials * len(examination.measures) * len(LOOKS))
    for look in trial.looks:
        gains = []
        for number in range(look):
            contest, luck = lucks[number % len(lucks)]
            drawn = contest.draw(number // len(lucks) + 1)[-1]
            gains.append(_difference(drawn, measure, sign) / luck.std)
        gain = Luck.of(gains)
        if not math.isnan(gain.mean) and is_gain(gain, level):
            break
    else:
        return None
    contest, luck = max(lucks, key=lambda pair: pair[1].deviations(pair[0].first.values[measure], sign))
    if _judged(contest, measure, luck, gain) is Verdict.HELD:
        return None
    finding = _compared(contest, measure, contest.first.values[measure], luck)
    detail = (
        f"{finding.detail} On {len(lucks)} layouts together, it gains {gain.mean:.2f} standard deviations of a "
        f"random embedding on average, with a standard error of {gain.error:.2f}."
    )
    return replace(finding, verdict=Verdict.GAINS_A_LITTLE, detail=detail)


EXPLAINED = 0.5
"""The largest gain that another average may explain, as a share of a perfect system's gain over random embeddings."""

FAR = 1e6

ONE_SIDED: tuple[BlindSystem, ...] = (
    *map(filled, (0.0, 0.5, FAR, -FAR)),
    lambda dice, count, width: dice.plain(count, width) * FAR,
)
"""Blind systems whose distances or scores are all on one side of any threshold."""


def _may_be_a_threshold(examination: Examination, measure: str, score: float, board: Board) -> bool:
    """Whether a score is only what accepting all items, or no items, by declared thresholds gives."""
    if not examination.options.thresholds:
        return False
    random = examination.random("thresholds")
    outcomes = [examination.score(examination.blind_case(board, system, random)) for system in ONE_SIDED]
    known = [examination.sign * outcome.values.get(measure, -np.inf) for outcome in outcomes]
    return examination.sign * score <= max(known) + rounding(score)


def _may_be_the_average(examination: Examination, measure: str, case: Case, luck: Luck) -> bool:
    """Whether an honest evaluator whose number is not a mean over queries may give this case its score."""
    score = examination.score(case).value(measure)
    average = examination.options.average
    if average in ("mean", "macro") or (average is None and _is_mean(examination, measure)):
        return False
    random = examination.random("averages")
    permuted = case.take_items(random.permutation(len(case.labels)))
    if case.query_labels is not None:
        permuted = permuted.take_queries(random.permutation(len(case.query_labels)))
    if differ(score, examination.score(permuted).value(measure)):
        return False
    perfect = examination.score(examination.perfect_case(case)).value(measure)
    return bool(examination.sign * (score - luck.mean) <= EXPLAINED * examination.sign * (perfect - luck.mean))


def _is_mean(examination: Examination, measure: str) -> bool:
    parts = _two_galleries if examination.convention.kind == "leave-one-out" else _two_parts
    easy, hard, both = (examination.score(case).value(measure) for case in parts(examination))
    return not differ((2 * easy + hard) / 3, both)


EASY, HARD = 6, 3
"""The number of easy classes and of hard ones."""


def _two_parts(examination: Examination) -> tuple[Case, Case, Case]:
    """Three cases on one gallery: queries of the classes that the system knows, of the other classes, and of all."""
    random, options = examination.random("two parts"), examination.options
    classes = EASY + HARD
    labels = random.permutation(np.arange(options.items) % classes)
    query_labels = np.arange(options.queries // classes * classes) % classes
    dice = Dice(random, examination.convention.kind, examination.convention.ascending)
    if dice.kind == "scores":
        blank = Case(dice.plain(len(labels), len(query_labels)), labels, query_labels=query_labels)
    else:
        vectors = dice.plain(len(labels) + len(query_labels), DIMENSIONS)
        blank = Case(vectors[: len(labels)], labels, vectors[len(labels) :], query_labels)
    if examination.convention.grouped:
        blank = blank.with_groups(random)
    known, easy = examination.perfect_case(blank), query_labels < EASY
    if blank.queries is None or known.queries is None:
        both = replace(blank, items=np.where(easy, known.items, blank.items))
    else:
        both = replace(known, queries=np.where(easy[:, None], known.queries, blank.queries))
    return both.take_queries(np.flatnonzero(easy)), both.take_queries(np.flatnonzero(~easy)), both


def _two_galleries(examination: Examination) -> tuple[Case, Case, Case]:
    """Three cases: items of the classes that the system knows, items of the other classes, and both sets together.

    Each item is nearer to every item of its own set than to any of the other: all vectors have length 1, are positive
    in the dimensions of their own set and zero in the dimensions of the other set.
    """
    random = examination.random("two galleries")
    size = examination.options.items // (EASY + HARD)
    parts: list[Case] = []
    for first, classes in ((0, EASY), (EASY, HARD)):
        labels = random.permutation(np.arange(size * classes) % classes)
        vectors = np.zeros((len(labels), 2 * DIMENSIONS))
        own = vectors[:, :DIMENSIONS] if not first else vectors[:, DIMENSIONS:]
        own[:] = np.abs(random.normal(size=own.shape)) + 0.01
        if not first:
            own += 100 * np.eye(DIMENSIONS)[labels]
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        case = Case(vectors.astype(np.float32), labels + first)
        parts.append(case.with_groups(random) if examination.convention.grouped else case)
    easy, hard = parts
    groups = None if easy.groups is None or hard.groups is None else np.concatenate([easy.groups, hard.groups])
    both = Case(np.concatenate([easy.items, hard.items]), np.concatenate([easy.labels, hard.labels]), groups=groups)
    return easy, hard, both
