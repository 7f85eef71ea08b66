"""What calls the functions of scripts for EvalAI and Kaggle, as the platforms do, in a process of its own."""

EVALAI = """
import importlib, json, sys
truth, submission, codename, packages = sys.argv[1:]
sys.path.insert(0, packages)
evaluate = importlib.import_module("challenge_1").evaluate
found = evaluate(truth, submission, codename, submission_metadata={})
print()
print(json.dumps(list(found["result"][0].values())[0], default=float))
"""
"""evaluate(truth, submission, codename, submission_metadata=…) of the package challenge_1; prints what it returns."""

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
    sys.exit(f"Kaggle reads no table from the submission: {error}")
row_id = solution.columns[0]
if "Usage" in solution.columns:
    others = set(solution[row_id][solution["Usage"] != usage])
    solution = solution[solution["Usage"] == usage].drop(columns="Usage").reset_index(drop=True)
    submission = submission[[each not in others for each in submission[row_id]]].reset_index(drop=True)
found = namespace["score"](solution.copy(), submission.copy(), row_id)
print()
print(json.dumps({"score": float(found)}))
"""
"""score(solution, submission, row_id) of the rows of one part; prints what it returns."""


def last_line(out: str) -> str:
    """What a driver printed last."""
    return out.strip().rpartition("\n")[2]
