"""The evaluator's side: attacks on evaluators, judges of systems, competitions, and the sandbox that they share."""
