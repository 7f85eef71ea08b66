"""What the site shows beside its pages: which page stands under which. `conf.py` adds this as Sphinx's `toctree`."""

SECTIONS = {
    "Begin": ["installation", "ties", "tour"],
    "Use": [
        "guides/index",
        "inputs",
        "command_line",
        "measures",
        "uncertainty",
        "compare",
        "collisions",
        "exports",
        "cluster",
    ],
    "Other libraries": ["migration", "what_they_print"],
    "Evaluators": ["audit", "judge"],
    "Look up": ["reference/index", "exactness", "../studies/README", "cite"],
}
"""The entries that are always visible, by their captions; paths begin at the folder of this file."""

UNDER = {
    "docs/guides/index": [
        "metric_learning",
        "reidentification",
        "knn_classification",
        "hashing",
        "text_retrieval",
        "sparse_and_late_interaction",
        "training_loop",
        "vector_search",
        "reproducible",
        "large_data",
        "leaderboards",
        "competitions",
        "benchmarks",
    ],
    "docs/inputs": ["files"],
    "docs/measures": ["pooled"],
    "docs/uncertainty": ["confidence"],
    "docs/compare": ["similarity"],
    "docs/exports": ["records"],
    "docs/migration": [
        "integrations/scikit_learn",
        "migration/torchmetrics",
        "migration/pytorch_metric_learning",
        "migration/open_metric_learning",
        "migration/trec_eval",
        "migration/ranx",
        "migration/loops",
        "integrations/sentence_transformers",
        "integrations/mteb",
        "integrations/ir_measures",
        "integrations/nearest_neighbor_indexes",
    ],
    "docs/audit": ["recall_harnesses"],
    "docs/exactness": ["costs"],
    "docs/cite": [
        "README <../README>",
        "../CHANGELOG",
        "../CONTRIBUTING",
        "../SECURITY",
        "../benchmarks/README",
        "../src/tieproof/engine/README",
        "../src/tieproof/distances/exact/README",
        "../src/tieproof/data/NOTICE",
    ],
    "studies/README": ["*/report"],
    "studies/can_we_hack_map/report": ["reports/*"],
}
"""For other pages, those that stand under them; paths begin at the folder of the page."""


def toctree(pages: list[str], caption: str = "") -> str:
    """The directive that lists pages."""
    options = (
        [":hidden:"] + [f":caption: {caption}"] * bool(caption) + [":glob:"] * any("*" in page for page in pages)
    )
    return "\n".join(["", "```{toctree}", *options, "", *pages, "```", ""])


def contents_of(page: str) -> str:
    """All lists of a page; none for most."""
    if page == "docs/index":
        return "".join(toctree(pages, caption) for caption, pages in SECTIONS.items())
    return toctree(UNDER[page]) if page in UNDER else ""
