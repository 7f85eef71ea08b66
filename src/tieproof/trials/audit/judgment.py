"""The verdict on one blind system, from its scores and those of random embeddings on the same labels.

Trial, on each layout ──► Contest: a first score against many random embeddings; if that score is suspicious, more
scores, each paired with a random embedding ──► luck.py: does it gain? ──► may it gain? ──► Finding

An honest evaluator may give a blind system a gain by fixed thresholds, or by an average that is not a mean:
explanations.py tests that.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from tieproof.trials.audit.cases import Case, ClassLayout
from tieproof.trials.audit.draws import BlindTrial, Drawn, DrawnTrial
from tieproof.trials.audit.examination import Board, Examination
from tieproof.trials.audit.explanations import may_be_a_threshold, may_be_one_order_of_ties, may_be_the_average
from tieproof.trials.audit.luck import (
    EXPLOIT,
    FAR,
    HOPELESS,
    LEVEL,
    LOOKS,
    SUSPICIOUS,
    Luck,
    in_brief,
    is_gain,
    rounding,
    tail,
)
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.findings import BASELINE, Finding, Verdict, rank_of

OTHER_SIZE = 1.2  # the factor by which sizes must differ, or one order of ties has the same luck in all of them
# The share of a gain that must remain in comparison with random rows of another size, or size alone explains it.
SHARE = 0.5


def examine(examination: Examination, trial: BlindTrial, layouts: Iterable[ClassLayout]) -> Iterator[Finding]:
    """The findings of a trial on every layout, for each measure.

    A trial that once takes too long or prints too much ends there. Each measure is examined on the layouts by its
    first scores, the best first, until it is exploitable on one of them.
    """
    contests: list[DrawnTrial] = []
    for layout in layouts:
        baseline = examination.baseline(layout, trial.times, trial.draws)
        if isinstance(baseline, Outcome):
            yield from examination.failed(BASELINE, baseline, f"On the layout '{layout.name}'")
            continue
        contest = DrawnTrial(examination, trial, layout, baseline)
        if contest.first.problem:
            yield from examination.failed(trial.attack, contest.first, contest.where)
            if contest.first.problem in ("timed out", "too much output"):
                break
            continue
        contests.append(contest)
    gained = set()
    for measure in dict.fromkeys(name for contest in contests for name in contest.first.values):
        for contest in sorted((each for each in contests if measure in each.first.values), key=_by_gain(measure)):
            finding = _on_layout(contest, measure, contest.lucks.get(measure))
            yield finding
            if finding.verdict is Verdict.EXPLOITABLE:
                gained.add(measure)
                break
    yield from _over_layouts(contests, [measure for measure in examination.measures if measure not in gained])


def _by_gain(measure: str) -> Callable[[DrawnTrial], float]:
    """A key that sorts contests by how much their first score is better than random embeddings, the best first."""

    def key(contest: DrawnTrial) -> float:
        luck = contest.lucks.get(measure)
        above = luck.deviations(contest.first.values[measure], contest.examination.sign) if luck else math.nan
        return math.inf if math.isnan(above) else -above

    return key


def _on_layout(contest: DrawnTrial, measure: str, luck: Luck | None) -> Finding:
    examination, score = contest.examination, contest.first.values[measure]
    if luck is None or math.isnan(luck.mean):
        detail = (
            f"{contest.where}, the score is {in_brief(score)}; random embeddings have no such score, or score NaN."
        )
        return Finding(contest.trial.attack, measure, Verdict.NOT_A_NUMBER, score, detail=detail)
    finding, step = _compared(contest, measure, score, luck), examination.step(measure)
    if luck.is_constant and not contest.trial.own:
        return finding  # a number that is the same for all random embeddings measures something else than a ranking
    if math.isnan(score) or not luck.is_suspicious(score, examination.sign, contest.suspicious, step):
        return finding
    return _drawn_again(contest, measure, luck, finding)


def _compared(contest: DrawnTrial, measure: str, score: float, luck: Luck, detail: str = "") -> Finding:
    """The finding on a score by itself, before any test of whether it is an exploit."""
    examination, limits = contest.examination, contest.examination.options.limits
    verdict, said = Verdict.HELD, in_brief(score)
    if math.isnan(score):
        verdict, said = Verdict.NOT_A_NUMBER, "NaN"
    elif limits and not limits[0] - 1e-6 <= score <= limits[1] + 1e-6:
        verdict, said = Verdict.OUT_OF_RANGE, f"{said}, outside [{limits[0]:g}, {limits[1]:g}]"
    above = None if math.isnan(score) else luck.deviations(score, examination.sign)
    beside = f"random embeddings score {in_brief(luck.mean)} ± {in_brief(luck.std)}"
    said = f"{contest.where}, the score is {said}{detail}; {beside}."
    return Finding(contest.trial.attack, measure, verdict, score, luck.mean, luck.std, above, said)


def _drawn_again(contest: DrawnTrial, measure: str, luck: Luck, finding: Finding) -> Finding:
    """The finding on a suspicious score, from further draws: with other numbers of items, then with the same."""
    examination = contest.examination
    gained, verdict = False, Verdict.HELD
    draws: list[Drawn] = []
    gains = Luck(0.0, 0.0, 0)
    for draws in _series(contest, measure, luck):
        if failure := _failure(contest, measure, draws):
            return failure
        gains = _gains(draws, measure, examination)
        # a gain without any spread depends on nothing but the size, unless it is that of one and the same size
        varies = contest.trial.own or not gains.is_constant
        if gained := varies and is_gain(gains, examination.level, examination.step(measure)):
            sizes = [each.items for each in draws]
            alike = examination.takes_other_sizes and max(sizes) < OTHER_SIZE * min(sizes)
            verdict = _judged(contest, measure, luck, gains, alike)
            break
    explained = gained and verdict is Verdict.HELD and contest.trial.own
    if not contest.is_settled:
        blind, random = (_luck_of(outcomes, measure) for outcomes in list(zip(*draws, strict=True))[:2])
        beside = Luck(random.mean, luck.std, random.size)
        finding = _compared(contest, measure, blind.mean, beside, f", the mean of {len(draws)} draws")
    if explained:
        plain = _luck_of(contest.beside(len(draws)), measure)
        said = (
            f"{finding.detail} Without the calls before it, the same system scores as much: {in_brief(plain.mean)}."
        )
        return replace(finding, detail=said)
    if verdict is Verdict.HELD:
        return finding
    sizes = sorted({each.items for each in draws})
    spread = f"{sizes[0]} to {sizes[-1]} items" if len(sizes) > 1 else f"{sizes[0]} items with other labels"
    detail = (
        f"{finding.detail} In {len(draws)} draws of {spread}, it gains {in_brief(abs(gains.mean))} over random "
        f"embeddings on average, with a standard error of {in_brief(gains.error)}."
    )
    if contest.trial.own and contest.besides:
        plain = _luck_of(contest.besides, measure)
        detail += f" Without the calls before it, the same system scores {in_brief(plain.mean)}."
    worse = max(verdict, finding.verdict, key=rank_of)
    finding = replace(finding, verdict=worse, detail=detail)
    return _under_other_names(contest, measure, luck, finding) if verdict is Verdict.EXPLOITABLE else finding


def _luck_of(outcomes: Sequence[Outcome], measure: str) -> Luck:
    """The mean and the standard deviation of a measure."""
    return Luck.of([outcome.value(measure) for outcome in outcomes])


def _series(contest: DrawnTrial, measure: str, luck: Luck) -> Iterator[list[Drawn]]:
    """More and more draws: with other numbers of items and, if the gain may depend on these, then with the same."""
    examination = contest.examination
    others, patient = examination.takes_other_sizes, contest.looks[-1] > LOOKS[-1]
    is_far = not contest.trial.own and luck.deviations(contest.first.values[measure], examination.sign) > FAR
    for same_size in (False, True) if others and is_far else (not others,):
        for look in contest.looks:
            draws = contest.draw(look, same_size)
            yield draws
            if (look >= LOOKS[-1] or not patient) and _is_hopeless(_gains(draws, measure, examination)):
                break


def _gains(draws: Sequence[Drawn], measure: str, examination: Examination) -> Luck:
    """By how much the blind system is better than random embeddings, over the draws."""
    return Luck.of([_difference(each, measure, examination.sign) for each in draws])


def _failure(contest: DrawnTrial, measure: str, draws: Sequence[Drawn]) -> Finding | None:
    """The finding on the first draw that gave no number, if there is one."""
    for each in draws:
        for name, outcome in ((contest.trial.attack, each.blind), (BASELINE, each.random)):
            if outcome.problem:
                failures = contest.examination.failed(name, outcome, f"{contest.where}, with {each.items} items")
                return next(failure for failure in failures if failure.measure == measure)
    return None


def _is_hopeless(gains: Luck) -> bool:
    """Whether more draws are not worth their time."""
    return not gains.mean > 0 or (gains.std > 0 and tail(gains.mean / gains.error, gains.size - 1) > HOPELESS)


def _under_other_names(contest: DrawnTrial, measure: str, luck: Luck, finding: Finding) -> Finding:
    """The finding on an exploit, with a second verdict if documents were named in the order of the items."""
    if not contest.examination.convention.written or contest.layout.redrawn or contest.case.writing.names:
        return finding

    def renamed(board: Board) -> Case:
        case = contest.trial.case(board)
        seed = int(contest.examination.random("names", *board.key).integers(1, 2**31))
        return replace(case, writing=case.writing._replace(names=seed))

    trial = contest.trial._replace(case=renamed, fixed=False)
    again = _drawn_again(
        DrawnTrial(contest.examination, trial, contest.layout, contest.lucks), measure, luck, finding
    )
    if again.verdict is Verdict.EXPLOITABLE:
        return replace(finding, renamed=again.verdict)
    words = "Documents are named in the order of the items; with random names, the verdict is"
    detail = f"{finding.detail} {words} {again.verdict}, and the score {in_brief(again.score)}."
    return replace(finding, renamed=again.verdict, detail=detail)


def _difference(drawn: Drawn, measure: str, sign: int) -> float:
    """By how much the blind system is better than random embeddings."""
    blind, random = (outcome.value(measure) for outcome in (drawn.blind, drawn.random))
    return sign * (blind - random)


def _judged(contest: DrawnTrial, measure: str, luck: Luck, gains: Luck, alike: bool = False) -> Verdict:
    """The verdict on a gain: an exploit, a small gain, or one that size, thresholds, the average or luck explain.

    alike : whether all draws have nearly the same size, though the evaluator takes others
    """
    examination, score = contest.examination, contest.first.values[measure]
    if alike and may_be_one_order_of_ties(examination, measure, contest.case, gains.mean):
        return Verdict.HELD
    if contest.trial.beside is not None and not _gains_more(contest, measure):
        return Verdict.HELD
    if may_be_a_threshold(examination, measure, score, contest.board(0)):
        return Verdict.HELD
    if may_be_the_average(examination, measure, contest.case, luck):
        return Verdict.GAINS_A_LITTLE if examination.options.average is None else Verdict.HELD
    small = gains.mean <= EXPLOIT * luck.std + rounding(luck.mean) + examination.step(measure)
    return Verdict.GAINS_A_LITTLE if small else Verdict.EXPLOITABLE


def _gains_more(contest: DrawnTrial, measure: str) -> bool:
    """Whether a system also gains over what is beside it, such as random rows of a larger size.

    An evaluator that rounds distances and reports the lower bound gives large random embeddings more than usual ones.
    """
    looks = contest.looks
    count = max(look for look in looks if look <= max(len(contest.drawn[False]), looks[0]))
    draws, others = contest.draw(count), contest.beside(count)
    beside = [drawn._replace(random=other) for drawn, other in zip(draws, others, strict=True)]
    usual, gain = (_gains(each, measure, contest.examination) for each in (draws, beside))
    if math.isnan(gain.mean):
        return True
    return is_gain(gain, LEVEL, contest.examination.step(measure)) and gain.mean > SHARE * usual.mean


def _over_layouts(contests: Sequence[DrawnTrial], measures: Iterable[str]) -> Iterator[Finding]:
    """A finding on each measure with consistent gains over all layouts, though not an exploit on any of them."""
    for measure in measures:
        known = ((each, each.lucks.get(measure)) for each in contests if measure in each.first.values)
        lucks = [(contest, luck) for contest, luck in known if luck and not luck.is_constant]
        if len(lucks) > 1 and (finding := _little_on_all(measure, lucks)):
            yield finding


def _little_on_all(measure: str, lucks: Sequence[tuple[DrawnTrial, Luck]]) -> Finding | None:
    """The finding on a consistent gain over all layouts; None if there is no such gain."""
    examination = lucks[0][0].examination
    sign = examination.sign
    first = [luck.deviations(contest.first.values[measure], sign) for contest, luck in lucks]
    if not math.fsum(first) / math.sqrt(len(first)) > SUSPICIOUS:
        return None
    least = examination.step(measure) / min(luck.std for _, luck in lucks)
    for look in lucks[0][0].trial.looks or LOOKS:
        gains = []
        for number in range(look):
            contest, luck = lucks[number % len(lucks)]
            drawn = contest.draw(number // len(lucks) + 1)[-1]
            gains.append(_difference(drawn, measure, sign) / luck.std)
        gain = Luck.of(gains)
        if not math.isnan(gain.mean) and is_gain(gain, examination.level, least):
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
