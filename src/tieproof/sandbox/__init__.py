"""How programs that nobody trusts are run: by the judge, the check of competitions and, without a seal, the audit.

ways.py          each way out of the sandbox, and what closes it; docs/judge.md shows this table
bubblewrap.py    the command that seals a program
files.py         what a sealed program is shown, is given and writes
system_calls.py  the system calls that it lacks
limits.py        the limits of memory, files and processes
launcher.py      the process between tieproof and the program: it sets the limits and ends what the program left
processes.py     a program and all processes that it starts, ended together
"""
