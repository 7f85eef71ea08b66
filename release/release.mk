# What is published, and what is run before. The Makefile beside README.md includes this.

.PHONY: release clean-dist test-sdist test-same-bytes test-versions lint-release

# The list of what tieproof needs is that of an environment in which nothing else is; a wheel is there for this machine.
BARE = $(VENV)/of-release
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

release: clean-dist lint-release test-wheel test-sdist  ## build, check and test a release; all of it is in dist/
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	$(BIN)/python release/check.py dist
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(BARE)
	$(BIN)/uv pip install --quiet --python $(BARE) --find-links dist --only-binary tieproof tieproof==$(VERSION)
	$(BARE)/bin/tieproof demo
	$(BIN)/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml --mc-type library \
		--output-file dist/tieproof-$(VERSION).cdx.json $(BARE)
	sed "s/sha256: .*/sha256: $$(sha256sum dist/*.tar.gz | cut -c 1-64)/" release/recipe.yaml > dist/recipe.yaml
	cd dist && sha256sum *.whl *.tar.gz *.cdx.json recipe.yaml > SHA256SUMS
	ls -l dist

clean-dist:
	rm -rf dist

# Compiled by the compiler of this machine, as whoever installs from sources does.
test-sdist: wheels $(VENV)/installed-release
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(VENV)/of-sdist
	$(BIN)/uv pip install --quiet --python $(VENV)/of-sdist "dist/tieproof-$(VERSION).tar.gz[test]"
	$(VENV)/of-sdist/bin/tieproof demo
	$(VENV)/of-sdist/bin/python -m pytest -q -n auto tests/engine

# In another folder, with a cache of its own: nothing is taken from what was made before. It is of what is committed.
AGAIN = $(VENV)/again

test-same-bytes: wheels  ## build the sdist and the wheels twice, in two folders, and compare them byte by byte
	rm -rf $(AGAIN) && git clone --quiet . $(AGAIN)
	ZIG_GLOBAL_CACHE_DIR=$(abspath $(AGAIN))/cache $(MAKE) -C $(AGAIN) VENV=$(abspath $(VENV)) wheels
	cd $(AGAIN)/dist && sha256sum * > ../SHA256SUMS
	cd dist && sha256sum --check $(abspath $(AGAIN))/SHA256SUMS

PYTHONS = python3.11 python3.12 python3.13

test-versions: $(VENV)/installed-release  ## run TESTS on all of PYTHONS, with the oldest and the newest dependencies
	$(BIN)/python release/versions.py $(addprefix --python , $(PYTHONS)) $(TESTS); \
		ended=$$?; $(BIN)/python release/write_versions.py && exit $$ended

# actionlint is run by the workflow itself: its package fetches a program that not every network has.
lint-release: $(VENV)/installed-release  ## check the workflows, the templates, CITATION.cff and the recipe
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/python release/check_recipe.py release/recipe.yaml

$(VENV)/installed-release: $(VENV)/installed-wheels release/requirements.txt
	$(BIN)/pip install --quiet --requirement release/requirements.txt
	touch $@
