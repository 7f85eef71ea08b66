"""How programs that nobody trusts are run: by the judge, the check of competitions and, without a seal, the audit.

SECURITY.md has a table of the ways out of the sandbox, and of what closes each.

bubblewrap.py    the command that seals a program
folders.py       the folders of a program, and what it is shown, is given and writes
limits.py        one run of a program, within limits of memory, files and processes, without some system calls
launcher.py      the process between tieproof and the program: it limits it, seals devices, and ends what it left
processes.py     a program and all processes that it starts, ended together
"""
