# Two commands for a stranger: `make demo` and `make test`. Everything they need comes from the locked requirements.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
IDEA ?=

.PHONY: demo dev test endurance chaos bench check format lock clean

# A stamp for each lock: the environment is made anew when its lock changed, and left alone otherwise.
$(VENV)/.runtime: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

demo: $(VENV)/.runtime  ## one film from one idea, in this process, without network or keys
	$(BIN)/comic demo $(if $(IDEA),"$(IDEA)")

PORT ?= 3000

dev: $(VENV)/.runtime  ## the whole embedded deployment; UI on http://127.0.0.1:3000 (PORT=)
	$(BIN)/comic dev --port $(PORT)

test: $(VENV)/.dev  ## the tests that every change must pass
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not endurance"

endurance: $(VENV)/.dev  ## recovery, stop signals and limits of the real processes, one after another: half an hour and more
	$(BIN)/python -m pytest -m endurance

SEED ?= 1
PROJECTS ?= 20

chaos: $(VENV)/.dev  ## projects under faults and SIGKILLs; exits 1 when anything is left over or the books disagree
	$(BIN)/python -m comic_pipeline_tests.acceptance.chaos --projects $(PROJECTS) --seed $(SEED)

bench: $(VENV)/.dev  ## what a whole render costs against one plain ffmpeg pass; exits 1 above 1.3
	$(BIN)/python -m comic_pipeline_tests.bench.render

check: $(VENV)/.dev  ## style, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# pip in hash mode wants extras spelled where another package asks for them; the export leaves them out.
EXPORT = uv export --quiet --format requirements-txt --no-emit-project --no-annotate --no-header
EXTRAS = sed -E 's/^gql==/gql[requests]==/; s/^uvicorn==/uvicorn[standard]==/'

lock:  ## write all lock files anew after a change in pyproject.toml (needs uv)
	$(EXPORT) --no-dev | $(EXTRAS) > requirements.lock
	$(EXPORT) --no-dev --group k8s | $(EXTRAS) > requirements-k8s.lock
	$(EXPORT) --group dev | $(EXTRAS) > requirements-dev.lock

clean:
	rm -rf $(VENV) .comic .mypy_cache .ruff_cache
