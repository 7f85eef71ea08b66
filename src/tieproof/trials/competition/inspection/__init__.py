"""`check`: what a bundle lets through, tried before a competition opens.

bundle ──► platforms/: its tasks, each with the folders of its platform ──► tasks.py: runs the program in them
           forms.py: the form of a submission, taken from a sample of it ─┐
           attacks.py and its attacks: what is handed in, in that form ───┴──► judging.py: trials and findings
guessing.py: attacks that compare all that is shown for the truth and for a guess
"""
