PYTHON ?= python3
BIN := .venv/bin

# Tests start a hundred processes: where bytecode is not kept, each translates the package again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: venv lock test lint types layers unit browser docs gallery package paper bench bench-learn bench-live fidelity blt fuzz fuzz-databases attack-privacy disasters soak clean

venv: .venv/installed

# One environment for everything, from the lock file and nothing else.
.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	touch $@

# The package knows its version from here.
.venv/installed: .venv/ready src/mtcool/__init__.py
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# Needs uv; the output names no index address.
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --no-header --quiet -o requirements.lock

# The types take one core for half a minute, in which the tests begin on the other.
test: venv
	$(MAKE) --jobs 2 lint types layers unit

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: venv
	$(BIN)/mypy

layers: venv
	$(BIN)/lint-imports

unit: venv
	$(BIN)/pytest -n 2 --dist worksteal

# The page of live networks in Debian's chromium.
browser: venv
	$(BIN)/pytest -n 2 --dist worksteal -m browser tests/live

# The site, in docs/_site: a link that leads nowhere, or a public name without an entry, fails. Then it
# is looked at in a browser, and the commands on its first pages are run.
docs: venv
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_site
	$(BIN)/pytest -n 2 --dist worksteal -m site tests/site
	@echo "the site is in docs/_site/index.html"

# What others get: built, and installed in environments of its own; pip needs a package index.
package: venv
	$(BIN)/pytest -vv -m package tests/package

# Every figure again, by its own command: half an hour.
gallery: venv
	$(BIN)/python docs/gallery/make.py

paper: venv
	$(BIN)/mtcool paper

bench: venv
	$(BIN)/python -m benchmarks

# The learner on real streams, next to Vowpal Wabbit, River and others that run again.
bench-learn: venv
	$(BIN)/python -m benchmarks.learn

# The live network over bare zenoh and bare SQLite, in activations a second, and watched.
bench-live: venv
	$(BIN)/python -m benchmarks.live

# Ten thousand damaged and forged files, and hostile messages to agents of each kind; uncompiled, so that a wrong index is
# an error.
fuzz: venv
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m tests.fuzz_load
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m tests.fuzz_messages

# Ten thousand forged databases of live hosts, uncompiled, and a thousand more compiled.
fuzz-databases: venv
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m tests.fuzz_databases

# A million runs of private pairs in each of two worlds: a lower bound on what is given away, in docs/data.
attack-privacy: venv
	$(BIN)/python -m tests.attack_privacy

# Ten thousand schedules of faults on simulated networks and disks: nothing lost, nothing twice.
disasters: venv
	cd tests && ../$(BIN)/python -m live.disasters

# Half an hour of learning with a link that is cut now and then: memory, outboxes and pace.
soak: venv
	cd tests && ../$(BIN)/python -m live.soak

fidelity: venv
	$(BIN)/python -m fidelity

# Searches for the coefficients of BLT again, and compares them with those of the package.
blt: venv
	$(BIN)/python -m designs

clean:
	rm -rf .venv build dist docs/_site docs/reference/rooms results .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
