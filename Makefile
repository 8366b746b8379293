# `make demo` and `make test` do their own set-up: all they need is Python 3.11 or newer, and make.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
# An environment belongs to a version of Python: `make test PYTHON=python3.13` sets it up anew.
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

.DEFAULT_GOAL := help
.PHONY: help ready demo lint quick test test-long coverage test-failed test-oldest bench test-audit test-browser \
	test-ray test-trainers train-demo docs wheel clean

help:
	@echo "make demo          score small files of completions, show why each got its value, write reports"
	@echo "make train-demo    train tiny models with TRL, on the CPU, and draw what the rewards teach them"
	@echo "make quick         lint, and the tests of the core"
	@echo "make test          lint, types, the order of imports, and the quick tests"
	@echo "make test-long     the tests that make test leaves out: long comparisons, kills, benchmarks"
	@echo "make coverage      every test, and which lines they reach"
	@echo "make test-failed   what failed in the last run, with the machine to itself"
	@echo "make test-oldest   the judge's comparisons with the oldest math-verify that plaudit supports"
	@echo "make test-audit    audits of rewards with known holes, and of sound ones"
	@echo "make test-browser  the report and the server's page in headless Chromium"
	@echo "make test-ray      score on a real Ray of two nodes, one of which dies"
	@echo "make test-trainers train and score with the real TRL, verl, ms-swift, verifiers and more"
	@echo "make docs          the documentation as a site, in build/site"
	@echo "make wheel         build the package, and try it in a clean environment"
	@echo "make lint          the checks that run no test"
	@echo "make bench         the benchmarks; BENCH='--data FILE --write' for real rows, and the tables into bench/results"
	@echo "make clean         remove what the others made"

$(READY): pyproject.toml
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' || { \
		echo "plaudit needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@echo "Setting up $(VENV) (once)"
	@[ -e $@ ] || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --quiet --editable '.[antlr4-13,coco,openai,score,speech,instructions,report,serve,client,structured,dev]'
	@touch $@

ready: $(READY)

# The paths of images are relative to the rollouts, so each is scored from their folder.
RECIPES := math canoe vlm-r1-rec
demo: $(READY)
	@$(BIN)/python examples/demo/run.py
	@cd examples/demo && for recipe in $(RECIPES); do echo && \
		../../$(BIN)/plaudit score $$recipe.jsonl --recipe $$recipe --out scored/$$recipe --overwrite \
		2>/dev/null && ../../$(BIN)/plaudit report scored/$$recipe | sed 's,^,report  examples/demo/,' \
		|| exit 1; done

lint: $(READY)
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --quiet --check
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo

# The inner loop: what breaks most often, in less than a minute.
CORE := tests/test_scores.py tests/test_golden.py tests/test_golds.py tests/test_completions.py \
	tests/test_columns.py tests/test_extract.py tests/test_architecture.py tests/recipes \
	tests/rewards/test_trl.py tests/rewards/test_canoe.py
quick: lint
	@$(BIN)/pytest -m 'not long' --numprocesses 2 --dist worksteal $(CORE)

test: lint
	@$(BIN)/pytest -m 'not long' --numprocesses 3 --dist worksteal

test-long: $(READY)
	@PLAUDIT_LONG_TESTS=1 $(BIN)/pytest -m long --durations=15 --numprocesses 4 --dist worksteal

coverage: $(READY)
	@PLAUDIT_LONG_TESTS=1 $(BIN)/pytest --cov --numprocesses 3 --dist worksteal

# What failed in the last run, once more, with the machine to itself.
test-failed: $(READY)
	@PLAUDIT_LONG_TESTS=1 $(BIN)/pytest --last-failed --last-failed-no-failures none

# The oldest versions that the core takes, and trainers pin: the judge must agree with those, too.
OLDEST := .venv-oldest
$(OLDEST)/.ready: tests/oldest.txt pyproject.toml
	@echo "Setting up $(OLDEST) (once)"
	@$(PYTHON) -m venv --clear $(OLDEST)
	@$(OLDEST)/bin/pip install --quiet --quiet --constraint tests/oldest.txt \
		--editable '.[antlr4-9]' hypothesis pytest pytest-xdist
	@touch $@

COMPARISONS := $(addprefix tests/judge/test_,algebra.py candidates.py exact_numbers.py \
	latex_reader.py normalise.py plain_data.py reading.py size_limits.py versions.py) \
	tests/judge/workers/test_symbolic.py tests/test_golden.py src/plaudit/judge src/plaudit/doctor.py
test-oldest: $(OLDEST)/.ready
	@$(OLDEST)/bin/python -m pytest -p no:cacheprovider -m 'not long' --numprocesses 3 \
		--dist worksteal $(COMPARISONS)

bench: $(READY)
	-@$(BIN)/python -m pip install --quiet --quiet --editable '.[bench]'
	@$(BIN)/python bench/all.py $(BENCH)

# Every reward with a known hole, and sound ones: it takes many minutes, alone on the machine.
test-audit: $(READY)
	@PLAUDIT_AUDIT_TESTS=1 $(BIN)/pytest tests/audit

# Beside what pip installs, it needs Debian's chromium and chromium-driver.
test-browser: $(READY)
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
		echo "the browser tests need: apt-get install chromium chromium-driver" >&2; exit 1; }
	@$(BIN)/pytest tests/browser

RAY := $(VENV)/.ray
$(RAY): $(READY)
	@$(BIN)/python -m pip install --quiet --quiet --editable '.[ray]'
	@touch $@

test-ray: $(RAY)
	@$(BIN)/pytest tests/ray

# Trainers want old antlr runtimes, old transformers and a GPU: they live in an environment apart.
TRAINERS := .venv-trainers
WANTED := tests/with_trainers/requirements.txt
$(TRAINERS)/.ready: $(WANTED)
	@echo "Setting up $(TRAINERS) (once)"
	@$(PYTHON) -m venv $(TRAINERS)
	@$(TRAINERS)/bin/pip install --quiet --quiet torch==2.13.0
	@$(TRAINERS)/bin/pip install --quiet --quiet --no-deps --requirement $(WANTED) --editable .
	@$(TRAINERS)/bin/pip install --quiet --quiet --no-deps --upgrade --target $(TRAINERS)/rubric verifiers==0.3.1
	@$(TRAINERS)/bin/pip install --quiet --quiet --no-deps --upgrade --target $(TRAINERS)/trl-1.7.0 trl==1.7.0
	@touch $@

# A demonstration of training has PyTorch and TRL, in an environment of its own.
TRAIN := .venv-train
$(TRAIN)/.ready: pyproject.toml
	@echo "Setting up $(TRAIN) (once)"
	@$(PYTHON) -m venv $(TRAIN)
	@$(TRAIN)/bin/pip install --quiet --quiet torch==2.13.0
	@$(TRAIN)/bin/pip install --quiet --quiet trl==1.16.0 --editable '.[antlr4-13,train,watch]'
	@touch $@

train-demo: $(TRAIN)/.ready
	@$(TRAIN)/bin/python examples/train/run.py $(TRAIN_DEMO)

test-trainers: $(TRAINERS)/.ready
	@$(TRAINERS)/bin/python -m pytest -p no:cacheprovider tests/with_trainers

# The pages of docs/ as a site, in build/site; a broken link is an error.
DOCS := .venv-docs
$(DOCS)/.ready: pyproject.toml
	@echo "Setting up $(DOCS) (once)"
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/pip install --quiet --quiet --editable '.[antlr4-13,score,report,serve,client,docs]'
	@touch $@

docs: $(DOCS)/.ready
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict
	@echo "build/site/index.html"

# The package as it would be published, tried in an environment that has nothing else.
wheel: $(READY)
	@rm -rf build/wheel
	@$(BIN)/python -m pip wheel --quiet --quiet --no-deps --wheel-dir build/wheel .
	@$(PYTHON) -m venv --clear build/wheel/venv
	@build/wheel/venv/bin/pip install --quiet --quiet "$$(echo build/wheel/*.whl)[antlr4-13]"
	@$(BIN)/python tools/check_wheel.py build/wheel/*.whl build/wheel/venv

clean:
	@rm -rf .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage build dist
