"""The claims of Nicolaou et al. 2018 with numbers and pictures, computed again.

    python studies/nicolaou2018/study.py --data ../shared/data/phocnet.npz

writes report.md, whose rows are "the paper / measured / why", and its pictures. studies/README.md says where the data
comes from.
"""

import sys

import tieproof as tp
from studies import common
from studies.nicolaou2018 import collisions, dynamic_program, e_matrix, exploit, figure1, matrices, phocnet
from studies.nicolaou2018.straightforward import distance_matrix

INTRODUCTION = """# Non-deterministic behavior of ranking-based metrics, computed again

This report recomputes the claims of A. Nicolaou, S. Dey, V. Christlein, A. Maier, D. Karatzas: Non-deterministic
Behavior of Ranking-based Metrics when Evaluating Embeddings, 2018 (arXiv:1806.07171), and of its slides, "Can we hack
mAP?". It also uses the code that the paper's footnote 3 names, https://github.com/anguelos/embedding_map;
`straightforward.py` reimplements its method. Written by `python studies/nicolaou2018/study.py`.
"""


def main() -> None:
    """Compute everything, and write the report."""
    options = common.parse(__file__, __doc__, "phocnet.npz")
    quick, out = options.quick, options.out
    try:
        data = phocnet.load(options.data)
    except tp.InputError as error:
        print(f"study.py: error: {error}", file=sys.stderr)
        sys.exit(2)
    cosine = distance_matrix(data.embeddings, "cosine")
    sections = [INTRODUCTION]
    for what, section in (
        ("Figure 1", figure1.section),
        ("Section 3.1, PHOCNet", lambda: phocnet.section(data, cosine, 2 if quick else phocnet.ORDERS)),
        ("Figures 2 and 3, collisions", lambda: collisions.section(data, cosine, out)),
        ("Figure 4", lambda: matrices.section(cosine, data.labels, out)),
        ("Section 4.1, matrix E", lambda: e_matrix.section(cosine, data.labels, out, quick)),
        ("Section 5.2, all-zero exploit", lambda: exploit.section(out, quick)),
        ("Slides, dynamic program", lambda: dynamic_program.section(quick)),
    ):
        common.progress(what)
        sections.append(section())
    common.write_report(options, "\n".join(sections))


if __name__ == "__main__":
    main()
