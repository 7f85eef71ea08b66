"""Programs that call the functions of scripts for EvalAI and Kaggle as the platforms do, in a separate process."""

EVALAI = """
import importlib, json, sys
truth, submission, codename, packages = sys.argv[1:]
sys.path.insert(0, packages)
evaluate = importlib.import_module("challenge_1").evaluate
found = evaluate(truth, submission, codename, submission_metadata={})
print()
print(found.get("submission_result"))
print(json.dumps(list(found["result"][0].values())[0], default=float))
"""
"""Calls evaluate(truth, submission, codename, submission_metadata=…) of challenge_1; prints what participants see of
its answer, the numbers in the last line."""

KAGGLE = """
import json, sys
import pandas as pd
metric, solution, submission, usage = sys.argv[1:]
namespace = {"__name__": "metric"}
exec(compile(open(metric).read(), metric, "exec"), namespace)
solution = pd.read_csv(solution)
try:
    submission = pd.read_csv(submission)
except Exception as error:
    sys.exit(f"Kaggle cannot read the submission as a table: {error}")
row_id = solution.columns[0]
if "Usage" in solution.columns:
    others = set(solution[row_id][solution["Usage"] != usage])
    solution = solution[solution["Usage"] == usage].drop(columns="Usage").reset_index(drop=True)
    submission = submission[[each not in others for each in submission[row_id]]].reset_index(drop=True)
found = namespace["score"](solution.copy(), submission.copy(), row_id)
print()
print(json.dumps({"score": float(found)}))
"""
"""Calls score(solution, submission, row_id) for the rows of one part; prints the answer."""


def last_line(out: str) -> str:
    """The last line that a driver printed."""
    return out.strip().rpartition("\n")[2]
