"""Saved predictions of MTEB, without the library: reading, refusals, and the intervals due to ties."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof import cli
from tieproof.integrations.mteb_lists import files
from tieproof.integrations.mteb_lists import report as folder_file
from tieproof.integrations.mteb_lists import scores as of_lists
from tieproof.integrations.mteb_lists.files import (
    Conventions,
    FolderOfQrels,
    NoRankingsError,
    Predictions,
    read_printed,
)
from tieproof.integrations.mteb_lists.report import folder_ties
from tieproof.integrations.mteb_lists.scores import SplitTies
from tieproof.measures import parse

MODEL = {"model_name": "toy/one two", "revision": "r1"}
NAMES = ("nDCG@3", "RR@3", "AP@3", "R@3", "P@1", "Success@1")
MEASURES = [*map(parse, NAMES)]
CommandLine = Callable[..., tuple[int, str, str]]


def lists(queries: int = 30, documents: int = 12, seed: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run with many ties, whose first documents have the ids of queries; and grades from -1 to 2."""
    random = np.random.default_rng(seed)
    run, qrels = {}, {}
    for query in range(queries):
        names = [f"q{place}" if place < 3 else f"d{place}" for place in range(documents)]
        run[f"q{query}"] = dict(zip(names, (random.integers(0, 6, documents) / 4).tolist(), strict=True))
        judged = random.choice([*names, "gone"], 5, replace=False).tolist()
        qrels[f"q{query}"] = dict(zip(judged, random.integers(-1, 3, 5).tolist(), strict=True))
    return run, qrels


def write(folder: Path, content: Any, name: str = "Toy", kind: str = "predictions") -> Path:
    path = folder / f"{name}_{kind}.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def saved(folder: Path, conventions: Conventions | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """A folder of predictions and judgments."""
    run, qrels = lists()
    write(folder, {"mteb_model_meta": MODEL, "default": {"test": run}})
    about = {} if conventions is None else {"tieproof_conventions": conventions._asdict()}
    write(folder, about | {"default": {"test": qrels}}, kind="qrels")
    return run, qrels


def the_split(folder: Path, **options: Any) -> SplitTies:
    (found,) = folder_ties(folder, MEASURES, **options).splits
    return found


@pytest.fixture(autouse=True)
def library_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace MTEB, which these tests do not need and which takes seconds to import."""

    def refuse(name: str) -> Any:
        raise tp.MissingExtraError(name, "mteb")

    monkeypatch.setattr(files, "import_module", refuse)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line's status, output and errors."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")

    def call(*args: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            cli.main(["mteb", *map(str, args)])
        captured = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return stopped.value.code, captured.out, captured.err

    return call


@pytest.mark.parametrize("at_a_time", [1, 50, 10**9])
def test_whole_lists_score_as_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_a_time: int) -> None:
    monkeypatch.setattr(of_lists, "_AT_A_TIME", at_a_time)
    run, qrels = saved(tmp_path)
    found, expected = the_split(tmp_path), tp.evaluate_run(qrels, run, measures=NAMES, empty="zero")
    assert found.estimates == dict(expected)
    assert (found.task, found.model, found.subset, found.split) == ("Toy", "toy/one two", "default", "test")
    assert (found.judged, found.ambiguous, found.open_ends) == (30, expected.ties.queries_with_ambiguous_ties, 0)
    assert (found.lists, found.lists_cut_off, found.why) == (30, 0, "")
    assert found.lists_with_ties == sum(len({*scores.values()}) < len(scores) for scores in run.values())


def test_lists_that_were_cut_off_score_as_a_truncated_run(tmp_path: Path) -> None:
    run, qrels = saved(tmp_path)
    found = the_split(tmp_path, longest=12)
    expected = tp.evaluate_run(qrels, run, measures=NAMES, empty="zero", truncated=True)
    assert found.estimates == dict(expected)
    assert (found.lists_cut_off, found.open_ends) == (30, expected.ties.queries_with_open_last_tie)
    last = [sorted(scores.values())[:2] for scores in run.values()]
    assert found.lists_cut_off_in_a_tie == sum(low == high for low, high in last)


def test_only_the_longest_lists_were_cut_off(tmp_path: Path) -> None:
    run, qrels = saved(tmp_path)
    for query in ("q1", "q2", "q3"):
        run[query].popitem()
    write(tmp_path, {"default": {"test": run}})
    found = the_split(tmp_path, longest=12)
    whole = {query: tp.evaluate_run({query: qrels[query]}, run, measures=["R@3"], empty="zero") for query in run}
    cut = {
        query: tp.evaluate_run({query: qrels[query]}, run, measures=["R@3"], empty="zero", truncated=True)
        for query in run
    }
    uppers = [(whole if len(run[query]) < 12 else cut)[query]["R@3"].upper for query in run]
    assert found.lists_cut_off == 27
    assert found.estimates["R@3"].upper == pytest.approx(np.mean(uppers), rel=1e-12)


def test_identical_ids_are_left_out(tmp_path: Path) -> None:
    run, qrels = saved(tmp_path, Conventions(1000, ignore_identical_ids=True))
    without = {query: {name: run[query][name] for name in run[query] if name != query} for query in run}
    assert the_split(tmp_path).estimates == dict(tp.evaluate_run(qrels, without, measures=NAMES, empty="zero"))


def test_a_score_that_is_no_number_is_refused_where_first_results_are_left_out(tmp_path: Path) -> None:
    saved(tmp_path, Conventions(1000, skip_first_result=True))
    write(tmp_path, {"default": {"test": {"q1": {"d1": float("nan"), "d2": 1.0}, "q2": {"d2": 1.0}}}})
    (line,) = folder_ties(tmp_path, MEASURES).damaged
    assert "the number of document 'd1' for query 'q1' is nan" in line


def test_queries_that_nobody_judged(tmp_path: Path) -> None:
    run, qrels = saved(tmp_path)
    write(tmp_path, {"default": {"test": {f"other {query}": qrels[query] for query in run}}}, kind="qrels")
    assert the_split(tmp_path).why == "none of these queries has a judgment"


def test_a_query_without_documents_counts_zero_and_one_without_judgments_not(tmp_path: Path) -> None:
    run, qrels = saved(tmp_path)
    run["q1"], qrels["q2"] = {}, {}
    del qrels["q3"]
    write(tmp_path, {"default": {"test": run}})
    write(tmp_path, {"default": {"test": qrels}}, kind="qrels")
    judged = {query: grades for query, grades in qrels.items() if grades}
    expected = tp.evaluate_run(judged, run, measures=NAMES, missing="zero", empty="zero")
    found = the_split(tmp_path)
    assert (found.lists, found.judged) == (30, 28)
    assert {name: value.lower for name, value in found.estimates.items()} == pytest.approx(
        {name: value.lower for name, value in expected.items()}, rel=1e-12
    )


@pytest.mark.parametrize("skips", [False, True])
def test_any_order_gives_the_same_bits(tmp_path: Path, skips: bool) -> None:
    run, qrels = lists()
    texts = []
    for step in (1, -1):
        folder = tmp_path / str(step)
        folder.mkdir()
        turned = {query: dict([*run[query].items()][::step]) for query in [*run][::step]}
        write(folder, {"default": {"test": turned}})
        about = {"tieproof_conventions": Conventions(1000, False, skips)._asdict()}
        write(folder, about | {"default": {"test": qrels}}, kind="qrels")
        texts.append(folder_ties(folder, MEASURES).to_json())
    assert texts[0] == texts[1]


def test_subsets_and_splits(tmp_path: Path) -> None:
    run, qrels = lists()
    other = {query: dict.fromkeys(scores, 0.5) for query, scores in run.items()}
    write(tmp_path, {"eng": {"dev": run, "test": other}, "fra": {"test": run}})
    write(tmp_path, {"fra": {"test": qrels}, "eng": {"test": qrels}}, kind="qrels")
    found = {(each.subset, each.split): each for each in folder_ties(tmp_path, MEASURES).splits}
    assert [*found] == [("eng", "dev"), ("eng", "test"), ("fra", "test")]
    assert not found["eng", "dev"].estimates
    said = "has neither Toy_qrels.json nor a file such as Toy/test.tsv; mteb could not be imported ("
    assert said in found["eng", "dev"].why
    assert found["eng", "test"].estimates["P@1"].upper > found["fra", "test"].estimates["P@1"].upper


@pytest.mark.parametrize("place", ["Toy/default/test.tsv", "Toy/test.tsv", "Toy/default/test.txt", "Toy/test.txt"])
def test_judgments_in_lines(tmp_path: Path, place: str) -> None:
    run, qrels = lists()
    write(tmp_path, {"default": {"test": run}})
    path = tmp_path / "of" / place
    path.parent.mkdir(parents=True)
    rows = [(query, name, grade) for query, grades in qrels.items() for name, grade in grades.items()]
    if place.endswith("tsv"):
        lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{name}\t{grade}" for query, name, grade in rows)]
    else:
        lines = [f"{query} 0 {name} {grade}" for query, name, grade in rows]
    path.write_text("\n".join(lines))
    found = the_split(tmp_path, qrels=tmp_path / "of")
    assert found.estimates == dict(tp.evaluate_run(qrels, run, measures=NAMES, empty="zero"))


@pytest.mark.parametrize("place", ["Toy.json", "toy__one_two/r1/Toy.json", "results/toy__one_two/r1/Toy.json"])
def test_what_mteb_printed(tmp_path: Path, place: str) -> None:
    saved(tmp_path)
    path = tmp_path / "printed" / place
    path.parent.mkdir(parents=True)
    scores = {
        "hf_subset": "default",
        "ndcg_at_3": 0.25,
        "map_at_3": "no number",
        "recall_at_12": 1.0,
        "ndcg_at_12": 0,
    }
    path.write_text(json.dumps({"scores": {"test": [scores]}}))
    found = the_split(tmp_path, results=tmp_path / "printed")
    assert found.printed == {"nDCG@3": 0.25}
    assert (found.longest, found.lists_cut_off) == (12, 30)
    (split,) = json.loads(folder_ties(tmp_path, MEASURES, results=tmp_path / "printed").to_json())["splits"]
    assert split["measures"]["nDCG@3"] == {"mteb": 0.25} | vars(found.estimates["nDCG@3"])
    assert split["measures"]["AP@3"]["mteb"] is None


@pytest.mark.parametrize("cut", range(1, 200, 7))
def test_a_file_that_was_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    whole = json.dumps({"mteb_model_meta": MODEL, "default": {"test": lists(3)[0]}})
    path = write(tmp_path, whole[:-cut])
    with pytest.raises(
        tp.InputError, match=r"Toy_predictions.json is not a complete file as MTEB writes .*cut short"
    ):
        list(Predictions(path))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'{' is expected, at its end"),
        ("{} x", "the file should end here, at character 3"),
        ('{"default": {"test": {"q": {"d": 1.0,}}}}', "is not a complete file as MTEB writes it"),
        ('{"default": {"test": {"q": {"d": 1.0}} "x"}}', "',' is expected, at character 39"),
        ('{3: {"test": {}}}', "the name of a member is expected"),
        ('{"default": x}', "'{' is expected, at character 12"),
        ('{"default": {"test": {"q": {"d": 1.0, "d": 2.0}}}}', "'d' occurs twice in one object. Keep one"),
        ("[" * 100_000, None),
        ('{"default": {"test": {"q": {"d": ' + '{"d":' * 100_000, "nested too deeply"),
    ],
    ids=str,
)
def test_other_files_are_refused(tmp_path: Path, text: str, says: str | None) -> None:
    path = write(tmp_path, text)
    with pytest.raises(tp.InputError, match=r"Toy_predictions\.json") as error:
        list(Predictions(path))
    assert (says or "'{' is expected") in str(error.value)


@pytest.mark.parametrize("prediction", [[0, 1], {"cosine": [0.5]}, {"q": {"d": "high"}}, {"q": 3}, None, [[1]]])
def test_tasks_that_rank_nothing(tmp_path: Path, prediction: Any) -> None:
    path = write(tmp_path, {"mteb_model_meta": MODEL, "default": {"test": prediction}})
    with pytest.raises(NoRankingsError, match=r"does not contain \{subset: \{split: .* as predictions of tasks"):
        list(Predictions(path))
    assert folder_ties(tmp_path, MEASURES).no_rankings == [str(path)]


def test_what_is_damaged_does_not_stop_the_others(tmp_path: Path, run: CommandLine) -> None:
    saved(tmp_path)
    whole = json.dumps({"mteb_model_meta": MODEL, "eng": {"test": lists()[0]}, "fra": {"test": lists()[0]}})
    write(tmp_path, whole[:-30], "Cut")
    (tmp_path / "Latin_predictions.json").write_bytes(b'{"\xe9": {}}')
    write(tmp_path, {"default": {"test": {"q1": {"d1": float("nan")}}}}, "NaN")
    write(tmp_path, {"default": {"test": {"q1": {"d1": 1}}}}, "NaN", "qrels")
    write(tmp_path, {"default": {"test": {"q1": {"d1": 1.0}}}}, "Judged")
    write(tmp_path, "{", "Judged", "qrels")
    write(tmp_path, {"default": {"test": {"q1": {"d1": 1.0}}}}, "Listed")
    write(tmp_path, {"default": {"test": {"q1": ["d1"]}}}, "Listed", "qrels")
    (tmp_path / "Nowhere_predictions.json").symlink_to(tmp_path / "nowhere")
    write(tmp_path, {"default": {"test": [1]}}, "Classes")
    status, out, err = run(tmp_path, "--json", tmp_path / "ties.json")
    assert status == 2
    lines = err.splitlines()
    assert [line.startswith(f"Error: {tmp_path}") for line in lines] == [True] * 6
    assert "Cut_predictions.json is not a complete file" in lines[0]
    assert "Judged_predictions.json: " in lines[1]
    assert "Judged_qrels.json is not a complete file" in lines[1]
    assert "Latin_predictions.json is not written in UTF-8" in lines[2]
    assert "Listed_predictions.json: " in lines[3]
    assert "Listed_qrels.json does not contain {subset: {split: {query: {document: grade}}}}. Write it" in lines[3]
    assert "NaN_predictions.json: the number of document 'd1' for query 'q1' is nan" in lines[4]
    assert "Nowhere_predictions.json cannot be read (No such file or directory)" in lines[5]
    assert "Toy   default  test" in out
    assert "Left out: 1 file without lists of documents, such as files of tasks that rank nothing." in " ".join(
        out.split()
    )
    written = json.loads((tmp_path / "ties.json").read_text())
    assert [each["task"] for each in written["splits"]] == ["Toy"]
    assert len(written["damaged"]) == 6


def test_tables(tmp_path: Path, run: CommandLine) -> None:
    """Two documents tied at the top, of which one is relevant, in lists that were cut off at their third document."""
    write(tmp_path, {"mteb_model_meta": MODEL, "default": {"test": {"q": {"a": 0.5, "b": 0.5, "c": 0.25}}}})
    write(tmp_path, {"default": {"test": {"q": {"a": 1, "d": 1}}}}, kind="qrels")
    scores = {"hf_subset": "default", "mrr_at_3": 0.5}
    (tmp_path / "Toy.json").write_text(json.dumps({"scores": {"test": [scores]}}))
    status, out, err = run(tmp_path, "--longest", "3", "-m", "RR@3,R@3")
    assert (status, err) == (0, "")
    assert out.startswith(
        "task  subset   split  lists  tied  cut off  in a tie  ambiguous\n"
        "---------------------------------------------------------------\n"
        "Toy   default  test       1     1        1         0          1\n"
        "\n"
        "task  subset   split  measure    MTEB   lower  expected   upper\n"
        "---------------------------------------------------------------\n"
        "Toy   default  test   RR@3     0.5000  0.5000    0.7500  1.0000\n"
        "                      R@3              0.5000    0.5000  1.0000\n"
    )
    said = " ".join(out.split())
    assert "A list may hold 3 documents." in said
    assert "A document that was not returned may have the same score as the last document" in said
    assert "The score to report is 'lower'" in said
    assert json.loads(run(tmp_path, "--json", "-")[1])["splits"][0]["measures"]["RR@10"]["upper"] == 1


def test_progress_is_told_how_many_letters_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All letters except the names of queries and the text around them are counted."""
    saved(tmp_path)
    done: list[int] = []

    @contextmanager
    def bar(total: int, what: str, unit: float) -> Iterator[Callable[[int], None]]:
        assert (total, what, unit) == ((tmp_path / "Toy_predictions.json").stat().st_size, "megabytes", 1e6)
        yield done.append

    monkeypatch.setattr(folder_file, "progress_bar", bar)
    found = the_split(tmp_path, progress=True)
    assert found == the_split(tmp_path)
    size = (tmp_path / "Toy_predictions.json").stat().st_size
    assert len(done) == 30
    assert 0.8 * size < sum(done) <= size


def test_models_are_named_where_there_are_several(tmp_path: Path, run: CommandLine) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        model = {"mteb_model_meta": {"model_name": name}}
        write(folder, model | {"default": {"test": {"q": {"a": 0.5, "b": 0.5}}}})
        write(folder, {"default": {"test": {"q": {"a": 1}}}}, kind="qrels")
    lines = run(tmp_path)[1].splitlines()
    assert lines[0].split()[:2] == ["model", "task"]
    assert [line.split()[:2] for line in lines[2:4]] == [["one", "Toy"], ["two", "Toy"]]


def test_a_place_without_predictions(tmp_path: Path, run: CommandLine) -> None:
    assert "does not exist. Pass the prediction_folder of mteb.evaluate" in run(tmp_path / "none")[2]
    assert "has no file that ends in _predictions.json" in run(tmp_path)[2]
    saved(tmp_path)
    assert "--qrels: none is not a folder" in run(tmp_path, "--qrels", "none")[2]
    assert "--measure: Unknown measure 'nDGC'" in run(tmp_path, "-m", "nDGC")[2]
    path = tmp_path / "Toy_predictions.json"
    before = path.read_bytes()
    assert "is read in this evaluation" in run(tmp_path, "--json", path)[2]
    assert path.read_bytes() == before
    assert (
        "is not a file of predictions: the names of these files end in _predictions.json"
        in run(tmp_path / "Toy_qrels.json")[2]
    )


@pytest.mark.parametrize("name", ["Toy_qrels.json", "Toy.json"])
def test_files_next_to_predictions_are_not_overwritten(tmp_path: Path, run: CommandLine, name: str) -> None:
    saved(tmp_path)
    (tmp_path / "Toy.json").write_text('{"scores": {}}')
    before = (tmp_path / name).read_bytes()
    for folders in ((), ("--qrels", tmp_path, "--results", tmp_path)):
        status, _, err = run(tmp_path, *folders, "--json", tmp_path / name)
        assert status == 2
        assert "is read in this evaluation" in err
        assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1e999", "9" * 400])
def test_scores_that_are_no_numbers_are_refused_without_judgments_too(tmp_path: Path, number: str) -> None:
    path = write(tmp_path, f'{{"default": {{"test": {{"q1": {{"d1": 1, "d2": {number}}}}}}}}}')
    with pytest.raises(tp.InputError, match=r"Toy_predictions\.json: the number of document 'd2' for query 'q1' is "):
        list(Predictions(path))
    assert len(folder_ties(tmp_path, MEASURES).damaged) == 1


@pytest.mark.parametrize("text", ["{}", '{"default": {}}', '{"default": {"test": {}}}'])
def test_a_file_without_any_query_is_named(tmp_path: Path, run: CommandLine, text: str) -> None:
    path = write(tmp_path, text)
    assert folder_ties(tmp_path, MEASURES).no_rankings == [str(path)]
    assert "Left out: 1 file without lists of documents" in run(tmp_path)[1]


def test_other_results_and_conventions_are_refused(tmp_path: Path) -> None:
    for content in ('{"scores": [1]}', "[" * 100_000 + "]" * 100_000):
        (tmp_path / "Toy.json").write_text(content)
        with pytest.raises(tp.InputError, match=r"Toy.json does not contain results of MTEB .*put it elsewhere"):
            read_printed("Toy", {}, tmp_path)
    write(tmp_path, {"tieproof_conventions": {"longest": "many"}, "default": {"test": {}}}, kind="qrels")
    with pytest.raises(tp.InputError, match=r"Toy_qrels.json: tieproof_conventions must have longest.*write_qrels"):
        FolderOfQrels(tmp_path, "Toy")


def test_memory_is_that_of_the_text_and_not_of_its_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As dictionaries, the lists would take five times as much memory."""
    monkeypatch.setattr(of_lists, "_AT_A_TIME", 2000)
    run, qrels = lists(1000, 200)
    size = write(tmp_path, {"default": {"test": run}}).stat().st_size
    write(tmp_path, {"default": {"test": {"q1": qrels["q1"]}}}, kind="qrels")
    del run, qrels
    the_split(tmp_path)
    tracemalloc.start()
    the_split(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * size
