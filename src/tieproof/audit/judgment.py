"""The verdict on one blind system: its scores against those of random embeddings on the same labels.

Trial, on each layout ──► Contest: a first score against many random embeddings; if that is suspicious, more scores,
each beside a random embedding ──► luck.py: whether it gains ──► averages.py: whether it may ──► Finding
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tieproof.audit.averages import may_be_a_threshold, may_be_the_average
from tieproof.audit.cases import Case, Layout
from tieproof.audit.examination import Board, Examination
from tieproof.audit.luck import DRAWS, EXPLOIT, LEVEL, LOOKS, SUSPICIOUS, Luck, differ, is_gain, rounding
from tieproof.audit.outcomes import Outcome
from tieproof.audit.report import BASELINE
from tieproof.audit.verdicts import Finding, Verdict

SHARE = 0.5
"""The part of a gain that must be left where the size of numbers is not what gains."""

ENDLESS = (Verdict.TIMED_OUT, Verdict.TOO_MUCH_OUTPUT)


class Trial(NamedTuple):
    """A blind system, and what it is compared with.

    attack : its name
    case : what it hands in
    score : the outcome of that
    fixed : whether no random number goes into it; it differs from itself only if the evaluator does
    times : how many times as many items and queries as usual
    draws : the random embeddings that the first score is compared with
    looks : after how many further draws they are looked at
    own : whether its boards are its own, none of which the evaluator has seen, each beside a random embedding on a
        board with one item fewer, drawn before
    beside : random rows of another size, where it is random rows of a still more different one
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
    """A blind system's outcome, that of random embeddings on the same labels, and the number of items."""

    blind: Outcome
    random: Outcome
    items: int


class Contest:
    """A trial on one layout: what was drawn, and what more is asked for."""

    def __init__(self, examination: Examination, trial: Trial, layout: Layout) -> None:
        self.examination, self.trial, self.layout = examination, trial, layout
        self.where = f"{layout.name} labels" + (f", {trial.times:g} times as many" if trial.times > 1 else "")
        if trial.own:
            for number in range(1, trial.looks[-1] + 1):
                examination.at_random(self.board(number, own=False))
        self.case = trial.case(self.board(0))
        self.first = trial.score(self.case)
        self.drawn: list[Drawn] = []

    def board(self, number: int, own: bool = True) -> Board:
        """The labels of a draw; `own` where a trial has its own boards."""
        own = own and self.trial.own
        return self.examination.board(self.layout, number, self.trial.times, one_more=own)

    def draw(self, count: int) -> list[Drawn]:
        """So many draws, on other numbers of items and queries."""
        while len(self.drawn) < count:
            number = len(self.drawn) + 1
            board = self.board(number)
            random = self.examination.at_random(self.board(number, own=False))
            blind = self.trial.score(self.trial.case(board))
            self.drawn.append(Drawn(blind, random, len(board.labels)))
        return self.drawn[:count]

    @property
    def is_settled(self) -> bool:
        """Whether the same numbers come again, so that the first ones are as good as any."""
        if not self.trial.fixed or self.layout.redrawn:
            return False
        again = self.trial.score(self.case).values
        return not any(differ(value, again.get(measure, math.nan)) for measure, value in self.first.values.items())


def examine(examination: Examination, trial: Trial, layouts: Iterable[Layout]) -> Iterator[Finding]:
    """Findings on a trial on every layout, for each measure; what hangs or floods once is not asked again.

    Where a layout has shown a gain, another one is looked at again only if it begins with a larger one.
    """
    gains: dict[str, float] = {}
    contests: list[Contest] = []
    for layout in layouts:
        baseline = examination.baseline(layout, trial.times, trial.draws)
        if isinstance(baseline, Outcome):
            yield from examination.failed(BASELINE, baseline, f"{layout.name} labels")
            continue
        contest = Contest(examination, trial, layout)
        if contest.first.problem:
            found = examination.failed(trial.attack, contest.first, contest.where)
            yield from found
            if found[0].verdict in ENDLESS:
                return
            continue
        contests.append(contest)
        for measure, score in contest.first.values.items():
            luck = baseline.get(measure)
            if luck and luck.deviations(score, examination.sign) <= gains.get(measure, -math.inf):
                continue
            finding = on_layout(contest, measure, luck)
            yield finding
            if finding.verdict is Verdict.EXPLOITABLE and finding.deviations is not None:
                gains[measure] = max(finding.deviations, gains.get(measure, -math.inf))
    yield from over_layouts(contests, [measure for measure in examination.measures if measure not in gains])


def on_layout(contest: Contest, measure: str, luck: Luck | None) -> Finding:
    """The finding on one measure of a contest."""
    attack, score, sign = contest.trial.attack, contest.first.values[measure], contest.examination.sign
    if luck is None or math.isnan(luck.mean):
        detail = f"{contest.where}: {score:.4f}; random embeddings have no such score, or NaN."
        return Finding(attack, measure, Verdict.NOT_A_NUMBER, score, detail=detail)
    found = compared(contest, measure, score, luck)
    if math.isnan(score) or not luck.is_suspicious(score, sign):
        return found
    return drawn_again(contest, measure, luck, found)


def compared(contest: Contest, measure: str, score: float, luck: Luck, detail: str = "") -> Finding:
    """What a score alone says, without a doubt that it may be an exploit."""
    examination, limits = contest.examination, contest.examination.options.limits
    verdict, said = Verdict.HELD, f"{score:.4f}"
    if math.isnan(score):
        verdict, said = Verdict.NOT_A_NUMBER, "the score is NaN"
    elif limits and not limits[0] - 1e-6 <= score <= limits[1] + 1e-6:
        verdict, said = Verdict.OUT_OF_RANGE, f"{said}, outside [{limits[0]:g}, {limits[1]:g}]"
    above = None if math.isnan(score) else luck.deviations(score, examination.sign)
    said = f"{contest.where}: {said}{detail}; random embeddings {luck.mean:.4f} ± {luck.std:.4f}."
    return Finding(contest.trial.attack, measure, verdict, score, luck.mean, luck.std, above, said)


def drawn_again(contest: Contest, measure: str, luck: Luck, found: Finding) -> Finding:
    """The finding on a suspicious score: whether draws on other numbers of items gain, too."""
    examination, trial = contest.examination, contest.trial
    level = LEVEL / (examination.trials * len(examination.measures) * len(LOOKS))
    gains = Luck(0.0, 0.0, 0)
    for look in trial.looks:
        draws = contest.draw(look)
        for each in draws:
            for name, outcome in ((trial.attack, each.blind), (BASELINE, each.random)):
                if outcome.problem:
                    where = f"{contest.where}, {each.items} items"
                    return next(f for f in examination.failed(name, outcome, where) if f.measure == measure)
        gains = Luck.of([difference(each, measure, examination.sign) for each in draws])
        if is_gain(gains, level):
            verdict = judged(contest, measure, luck, gains)
            break
    else:
        verdict = Verdict.HELD
    if not contest.is_settled:
        blind, random = (
            Luck.of([outcome.values.get(measure, math.nan) for outcome in outcomes])
            for outcomes in ([each.blind for each in draws], [each.random for each in draws])
        )
        beside = Luck(random.mean, luck.std, random.size)
        found = compared(contest, measure, blind.mean, beside, f", the mean of {len(draws)} draws")
    if verdict is Verdict.HELD:
        return found
    detail = f"{found.detail} {gain_in_words(draws, gains)}"
    worse = max(verdict, found.verdict, key=list(Verdict).index)
    found = replace(found, verdict=worse, detail=detail)
    return under_other_names(contest, measure, luck, found) if verdict is Verdict.EXPLOITABLE else found


def under_other_names(contest: Contest, measure: str, luck: Luck, found: Finding) -> Finding:
    """The finding on an exploit, and a second verdict where the names of documents are in the order of the items."""
    trial = contest.trial
    if not contest.examination.convention.written or contest.layout.redrawn or contest.case.writing.names:
        return found

    def renamed(board: Board) -> Case:
        case = contest.trial.case(board)
        seed = int(contest.examination.random("names", *board.key).integers(1, 2**31))
        return replace(case, writing=case.writing._replace(names=seed))

    trial = trial._replace(case=renamed, fixed=False)
    again = drawn_again(Contest(contest.examination, trial, contest.layout), measure, luck, found)
    if again.verdict is Verdict.EXPLOITABLE:
        return replace(found, renamed=again.verdict)
    words = "Documents are named in the order of the items; under random names it is"
    return replace(found, renamed=again.verdict, detail=f"{found.detail} {words} {again.verdict}, {again.score:.4f}.")


def difference(drawn: Drawn, measure: str, sign: int) -> float:
    """How much better the blind system is."""
    blind, random = (outcome.values.get(measure, math.nan) for outcome in (drawn.blind, drawn.random))
    return sign * (blind - random)


def judged(contest: Contest, measure: str, luck: Luck, gains: Luck) -> Verdict:
    """What a gain is: an exploit, or a small one, or one that comes from size, thresholds or the kind of average."""
    examination, score = contest.examination, contest.first.values[measure]
    if contest.trial.beside is not None and not gains_more_than_size(contest, measure, contest.trial.beside):
        return Verdict.HELD
    if may_be_a_threshold(examination, measure, score, contest.board(0)):
        return Verdict.HELD
    if may_be_the_average(examination, measure, contest.case, luck):
        return Verdict.GAINS_A_LITTLE if examination.options.average is None else Verdict.HELD
    small = gains.mean <= EXPLOIT * luck.std + rounding(luck.mean)
    return Verdict.GAINS_A_LITTLE if small else Verdict.EXPLOITABLE


def gains_more_than_size(contest: Contest, measure: str, beside: Callable[[Board], Case]) -> bool:
    """Whether a system also gains over random rows of another size, with which an evaluator may see fewer ties.

    One that rounds, and scores the lower bound, gives large random embeddings more than usual ones.
    """
    looks = contest.trial.looks
    count = max(look for look in looks if look <= max(len(contest.drawn), looks[0]))
    sign, gains, usual = contest.examination.sign, [], []
    for number, drawn in enumerate(contest.draw(count), 1):
        other = contest.trial.score(beside(contest.board(number)))
        gains.append(difference(drawn._replace(random=other), measure, sign))
        usual.append(difference(drawn, measure, sign))
    if any(map(math.isnan, gains)):
        return True
    found = Luck.of(gains)
    return is_gain(found, LEVEL) and found.mean > SHARE * Luck.of(usual).mean


def gain_in_words(draws: Sequence[Drawn], gains: Luck) -> str:
    """How much is gained, with its standard error."""
    sizes = [each.items for each in draws]
    return (
        f"Drawn {len(draws)} times with {min(sizes)} to {max(sizes)} items, beside random embeddings, it gains "
        f"{abs(gains.mean):.4f}, standard error {gains.error:.4f}."
    )


def over_layouts(contests: Sequence[Contest], measures: Iterable[str]) -> Iterator[Finding]:
    """A finding on each measure that gains a little on all layouts together, though on none alone."""
    for measure in measures:
        lucks: list[tuple[Contest, Luck]] = []
        for contest in contests:
            baseline = contest.examination.baseline(contest.layout, contest.trial.times)
            luck = baseline.get(measure) if isinstance(baseline, dict) else None
            if luck and luck.std and measure in contest.first.values:
                lucks.append((contest, luck))
        if len(lucks) > 1 and (found := little_on_all(measure, lucks)):
            yield found


def little_on_all(measure: str, lucks: Sequence[tuple[Contest, Luck]]) -> Finding | None:
    """The finding on a consistent gain, if there is one."""
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
            gains.append(difference(drawn, measure, sign) / luck.std)
        found = Luck.of(gains)
        if not math.isnan(found.mean) and is_gain(found, level):
            break
    else:
        return None
    contest, luck = max(lucks, key=lambda pair: pair[1].deviations(pair[0].first.values[measure], sign))
    if judged(contest, measure, luck, found) is Verdict.HELD:
        return None
    gain = f"it gains {found.mean:.2f} ± {found.error:.2f} standard deviations of a random embedding"
    seen = compared(contest, measure, contest.first.values[measure], luck)
    detail = f"{seen.detail} On {len(lucks)} layouts together {gain}, of which the second is its standard error."
    return replace(seen, verdict=Verdict.GAINS_A_LITTLE, detail=detail)
