# `make demo` and `make test` need only Python 3.11 or later and the package index.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

# Modules on PYTHONPATH would hide those of $(VENV) or of a wheel.
unexport PYTHONPATH

# Targets share $(VENV) and dist, and long ones use all processors by themselves.
.NOTPARALLEL:

.PHONY: demo help kernels wheels test test-trials test-times test-all test-newest test-oldest test-wheel test-heavy test-browser test-sanitized test-arm fuzz coverage lint docs docs-links hooks bench \
	studies clean

demo: $(VENV)/installed  ## set up $(VENV) and run the demo
	$(BIN)/tieproof demo

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {gsub(/[$$][(]VENV[)]/, "$(VENV)"); printf "%-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

kernels:  ## recompile the kernels after a change of their sources
	$(PYTHON) src/tieproof/native/building.py

test: $(VENV)/installed  ## run the tests, in five to eight minutes on two cores; of crossed parameters a sample
	$(BIN)/python -m pytest -n auto -q

test-trials: $(VENV)/installed  ## run the long tests of audits, judges and competitions, which test leaves out
	$(BIN)/python -m pytest -n auto -q --crossings all -m 'trials and not heavy'

test-times: $(VENV)/installed  ## run the same tests in one process, and print what processor time they take
	$(BIN)/python -m pytest -q -p processor_time

CROSSINGS ?= all

test-all: $(VENV)/installed  ## run the tests with all crossings of their parameters, and the long ones; CROSSINGS=rest: those that test leaves out
	$(BIN)/python -m pytest -n auto -q --crossings $(CROSSINGS)

# python3 may be an older Python, for which the newest NumPy has no wheel. pyenv's other commands do not start a Python.
PYENV = $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions
NEWEST_PYTHON ?= $(shell for python in python3.14 $(PYENV)/3.14.*[0-9]/bin/python python3.13 $(PYENV)/3.13.*[0-9]/bin/python; \
	do $$python -c "" 2> /dev/null && echo $$python && break; done)
# The definitions, in fractions, and every way to pass data: these tests show changes in Python or NumPy first.
NEWEST_TESTS = tests/promises/test_exact.py::test_query_and_gallery tests/promises/test_brute_force.py \
	tests/promises/test_spot_values.py tests/native/test_native_calls.py tests/inputs/test_readers.py \
	tests/measures/test_measures.py::test_measure_is_its_definition_over_all_orderings \
	tests/measures/test_measures.py::test_graded_measure_is_its_definition_over_all_orderings tests/measures/test_ties.py \
	tests/calls/test_answers.py tests/calls/test_evaluator.py tests/calls/test_runs.py
NEWEST = $(VENV)/of-newest/bin/python

test-newest:  ## run some tests on the newest Python that is installed, with the newest dependencies, in a minute
	@test -n "$(NEWEST_PYTHON)" || { echo "No Python 3.13 or later was found; NEWEST_PYTHON=… names one." && false; }
	$(NEWEST_PYTHON) -m venv --clear $(VENV)/of-newest
	$(NEWEST) -m pip install --quiet --editable '.[test]'
	$(NEWEST) -c 'import platform, numpy; print("Python", platform.python_version(), "and NumPy", numpy.__version__)'
	$(NEWEST) -m pytest -n auto -q --crossings all $(NEWEST_TESTS)

# The commands, the files and the pictures: these tests show first what an old click, rich, pyarrow or Matplotlib lacks.
OLDEST_TESTS = tests/cli/test_cli.py tests/cli/test_cli_report.py tests/inputs/test_readers.py tests/inputs/test_columns.py \
	tests/inputs/test_shards.py tests/inputs/test_shards_refused.py tests/calls/test_lists.py tests/views/test_plots.py \
	tests/competition/test_galleries.py tests/measures/test_measures.py::test_trapezoid_of_a_large_tie \
	tests/native/test_native_calls.py tests/promises/test_spot_values.py
OLDEST = $(VENV)/of-oldest/bin/python

test-oldest: $(VENV)/installed  ## run some tests with the oldest allowed versions of all dependencies
	$(BIN)/pip install --quiet uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)/of-oldest
	$(BIN)/uv pip install --quiet --python $(OLDEST) --requirement pyproject.toml --extra test --no-build \
		--resolution lowest-direct
	$(BIN)/uv pip install --quiet --python $(OLDEST) --no-deps --editable .
	$(OLDEST) -c 'import platform, numpy; print("Python", platform.python_version(), "and NumPy", numpy.__version__)'
	$(OLDEST) -m pytest -n auto -q --crossings all $(OLDEST_TESTS)

# Heavy tests use one version of torch, so that it is known which version was tested. open-metric-learning is installed
# without its dependencies, an old NumPy and libraries for images, because the tests need neither.
test-heavy: $(VENV)/installed-heavy  ## run the tests that need torch, scikit-learn and other heavy libraries
	$(BIN)/python -m pytest -n auto -q --crossings all -m heavy

# The browser is Debian's package chromium; without it, the tests are skipped with that reason. They open the site that
# the target docs builds.
test-browser: $(VENV)/installed-browser docs  ## test pages of results and the site in Chromium
	TIEPROOF_SITE=$(abspath $(VENV)/site) $(BIN)/python -m pytest -n auto -q -rs --crossings all \
		tests/views/test_pages_browser.py tests/views/test_site_browser.py

# LD_PRELOAD loads the sanitizer's library before Python, as it must be. Leaks are not checked: Python manages the memory.
SANITIZED = $(VENV)/sanitized
RUNTIME = $$($${CC:-cc} -print-file-name=libasan.so)

test-sanitized: $(VENV)/installed  ## run the tests of kernels and engine under the sanitizers of a C compiler
	$(BIN)/python src/tieproof/native/building.py $(SANITIZED)
	TIEPROOF_KERNELS=$(SANITIZED) LD_PRELOAD=$(RUNTIME) ASAN_OPTIONS=detect_leaks=0 \
		$(BIN)/python -m pytest -q -n auto --crossings all tests/engine tests/native --ignore=tests/native/test_other_machines.py

# qemu is Debian's package qemu-user; without it, the test is skipped with that reason.
test-arm: $(VENV)/installed  ## repeat calls of kernels on ARM, by qemu, and compare every bit
	$(BIN)/pip install --quiet ziglang
	$(BIN)/python -m pytest -q -rs tests/native/test_other_machines.py

# The cases differ in each run. The first failing case is reduced to a small one, and ends the run.
MINUTES ?= 60

fuzz: $(VENV)/installed  ## compare evaluations of random data with fractions, for MINUTES=60
	end=$$(($$(date +%s) + 60 * $(MINUTES))); while [ $$(date +%s) -lt $$end ]; do \
		TIEPROOF_FUZZ_CASES=300 $(BIN)/python -m pytest -n auto -q tests/promises/test_fuzz.py tests/promises/test_noise.py || exit 1; done

# Kernels are not included, because they are not Python; nor are processes that some tests start.
coverage: $(VENV)/installed-coverage  ## run the tests and show which lines of tieproof they miss
	$(BIN)/python -m pytest -n auto -q --crossings all -m 'not heavy' --cov --cov-report=term-missing

# The prose of the project's pages; the studies' reports are left as the studies printed them. .proselintrc.json turns off
# the checks that mistake code, tables and other correct text for faults.
PROSE = $(wildcard *.md) .github benchmarks docs src studies/README.md

lint: $(VENV)/installed-lint  ## check style, types, spelling and prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/proselint check $(PROSE)

# Sphinx's source folder is the root of the repository (docs/conf.py). Pages run the commands of $(VENV).
SPHINX = PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m sphinx -q -j auto -c docs

docs: $(VENV)/installed-docs  ## build the site in $(VENV)/site, run all of its code, check its internal links
	$(SPHINX) -W --keep-going -b html . $(VENV)/site
	@echo "The site is $(VENV)/site/docs/index.html"

docs-links: $(VENV)/installed-docs  ## check the links to other sites, by the network
	$(SPHINX) -D nb_execution_mode=off -b linkcheck . $(VENV)/links

hooks: $(VENV)/installed-lint  ## check style, spelling and prose at every commit from now on
	$(BIN)/pre-commit install

# measuring.py contains code that the benchmarks share.
BENCHMARKS = $(filter-out benchmarks/measuring.py, $(sort $(wildcard benchmarks/*.py)))

bench: $(VENV)/installed-bench  ## run the benchmarks, which print tables and write their figures
	for script in $(BENCHMARKS); do echo; echo "== $$script"; $(BIN)/python $$script || exit 1; done

# zig compiles for all of these platforms on any of them.
PLATFORMS = linux-x86-64 linux-aarch64 macos-x86-64 macos-arm64 windows-x86-64
# Other versions of these build other bytes.
BUILDERS = hatchling==1.33.0 ziglang==0.17.1

wheels: $(VENV)/installed-wheels  ## build the sdist and a wheel for each platform, in dist/
	$(BIN)/python -m hatchling build -t sdist -d dist
	for platform in $(PLATFORMS); do TIEPROOF_TARGET=$$platform $(BIN)/python -m hatchling build -t wheel -d dist || exit 1; done

# The wheel has an environment of its own, in which no test can import src. The installed examples are run, too.
WHEEL = $(VENV)/of-wheel/bin/python

# Set TESTS to run only some of the tests.
TESTS = tests

test-wheel: wheels  ## install the wheel for this machine, and run the tests and examples on it
	$(PYTHON) -m venv --clear $(VENV)/of-wheel
	$(WHEEL) -m pip install --quiet --no-index --find-links dist --no-deps --only-binary tieproof tieproof
	$(WHEEL) -m pip install --quiet 'tieproof[test]'
	$(WHEEL) -m pytest -n auto -q --crossings all -m 'not heavy' $(TESTS)
	$(WHEEL) -m pytest -n auto -q -p conftest --noconftest --rootdir . --pyargs tieproof

include release/release.mk

# Each study rewrites its report and its pictures.
studies: $(VENV)/installed-studies  ## run the studies, which rewrite their reports and pictures
	for script in $(sort $(wildcard studies/*/study.py)); do echo; echo "== $$script"; $(BIN)/python $$script || exit 1; done

$(VENV)/installed: pyproject.toml hatch_build.py src/tieproof/native/building.py $(wildcard src/tieproof/native/kernels/*)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tieproof needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@

$(VENV)/installed-coverage: $(VENV)/installed
	$(BIN)/pip install --quiet --editable '.[coverage]'
	touch $@

$(VENV)/installed-lint: $(VENV)/installed
	$(BIN)/pip install --quiet --editable '.[lint]'
	touch $@

$(VENV)/installed-heavy: $(VENV)/installed
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --editable '.[heavy]'
	$(BIN)/pip install --quiet --no-deps open-metric-learning==4.0.0
	touch $@

$(VENV)/installed-browser: $(VENV)/installed
	$(BIN)/pip install --quiet --editable '.[browser]'
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --editable '.[bench]'
	touch $@

$(VENV)/installed-wheels: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet $(BUILDERS)
	touch $@

$(VENV)/installed-studies: $(VENV)/installed
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --editable '.[studies]'
	touch $@

clean:  ## remove the environment, the libraries of kernels and caches
	rm -f src/tieproof/native/kernels-*
	rm -rf $(VENV) dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
