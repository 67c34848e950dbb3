# make run     the window            make test    the tests
# make check   everything CI does    make help    all targets
#
# The first call makes a virtual environment in .venv and installs into it; later calls are quick.
# Another Python: make run PYTHON=python3.12      Arguments: make run ARGS="list --json"

PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3.14 python3 python,\
  $(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q install

# Which CuPy a GPU's driver takes: the CUDA release by the driver's version; none without a driver.
DRIVER := $(firstword $(shell nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null \
  | grep -E '^[0-9]+\.') $(shell grep -oE '[0-9]{3}\.[0-9.]+' /proc/driver/nvidia/version 2>/dev/null))
MAJOR := $(firstword $(subst ., ,$(DRIVER)))
GPU := $(if $(MAJOR),$(shell if [ $(MAJOR) -ge 580 ]; then echo cuda13; \
  elif [ $(MAJOR) -ge 525 ]; then echo cuda12; fi))

APP := $(VENV)/.installed-app$(addprefix -,$(GPU))
DEV := $(VENV)/.installed-dev
DOCS := $(VENV)/.installed-docs
PACKAGE := $(VENV)/.installed-package

# Tests start many processes: what they compile is kept for the next one.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run install test lint types size prebuilt prebuild sweeps render docs site bundle package check clean
.DEFAULT_GOAL := help

help:
	@sed -n '/^# make/,/^#$$/s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))
	@echo "Targets: run install test lint types size prebuilt prebuild sweeps render docs site bundle package check clean"

run: $(APP)
	@$(BIN)/python main.py $(ARGS)

install: $(APP)

test: $(DEV)
	$(BIN)/python -m pytest $(if $(ARGS),$(ARGS),-n auto --dist worksteal)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

# Lines and files of each room, beside its budget.
size: $(DEV)
	$(BIN)/python -m tools.size

# The map of all block shapes that is predicted: goes on where it was stopped.
SHAPES := block-shape-sm_90.jsonl
sweeps: $(DEV)
	$(BIN)/python -m gpuviz sweep --scene block-shape --vary x=1..32 --vary y=1..32 -o $(SHAPES)
	gzip -9nc $(SHAPES) > resources/recordings/$(SHAPES).gz
	$(BIN)/python -c 'from gpuviz.base import resources; from gpuviz.files import checksums; checksums.seal(resources.path("recordings"))'

# Is the prebuilt PTX of the lessons up to date? `make prebuild` makes it anew.
prebuilt: $(DEV)
	$(BIN)/python -m tools.prebuild --check

prebuild: $(DEV)
	$(BIN)/python -m tools.prebuild

# One picture of every lesson, without a display.
render: export QT_QPA_PLATFORM = offscreen
render: $(DEV)
	@mkdir -p build/render
	@$(BIN)/gpuviz list --json > build/render/lessons.json
	@ids=$$($(BIN)/python -c 'import json; print(*(lesson["id"] for lesson in \
	json.load(open("build/render/lessons.json", encoding="utf-8"))))') || exit 1; \
	for id in $$ids; do \
	  echo "render $$id"; \
	  $(BIN)/gpuviz render --scene $$id -o build/render/$$id.png || exit 1; \
	  test -s build/render/$$id.png || { echo "$$id: no picture"; exit 1; }; \
	done

# A folder with Python and Qt in it, for machines that have neither: dist/bundle/gpuviz.
bundle: | $(BIN)/python
	$(BIN)/python packaging/bundle/build.py

# Wheel and sdist, checked, and installed from nothing by pip, uv, uvx and pipx.
package: $(PACKAGE)
	$(BIN)/python -m pytest -m package tests/packaging $(ARGS)

# The documentation as pages, below build/site/docs; links are checked. `make site` adds the course.
docs: $(DOCS)
	$(BIN)/python -m mkdocs build --quiet --strict -d build/site/docs
	$(BIN)/python docs/links.py build/site/docs

site: docs
	$(BIN)/python -m gpuviz site -o build/site --documentation docs/index.html
	$(BIN)/python docs/links.py build/site

check: lint types size prebuilt test render

clean:
	rm -rf $(VENV) build dist

$(BIN)/python:
	@test -n "$(PYTHON)" || { \
	  echo "gpuviz needs Python 3.11 or later, which is not on PATH. On Debian and Ubuntu:"; \
	  echo "    sudo apt-get install -y python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is older than Python 3.11: choose another, make run PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "Python's venv module is missing. On Debian and Ubuntu:"; \
	  $(PYTHON) -c 'import sys; print("    sudo apt-get install -y python%d.%d-venv" % sys.version_info[:2])'; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)

$(APP): pyproject.toml | $(BIN)/python
	@echo "Installing gpuviz$(if $(GPU), with CuPy for the driver $(DRIVER)) into $(VENV) ..."
	$(PIP) -e ".$(if $(GPU),[$(GPU)])"
	@touch $@

$(DOCS): pyproject.toml | $(BIN)/python
	@echo "Installing what makes the documentation into $(VENV) ..."
	$(PIP) -e ".[docs]"
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	@echo "Installing gpuviz and its test tools into $(VENV) ..."
	$(PIP) -e ".[dev]"
	@touch $@

$(PACKAGE): pyproject.toml | $(DEV)
	@echo "Installing what builds and checks packages into $(VENV) ..."
	$(PIP) -e ".[package]"
	@touch $@
