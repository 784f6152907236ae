# make demo   set up, then score the bundled example        make test   set up, then check everything        make docs   the site
PYTHON ?= python3
BIN := .venv/bin
EXAMPLE := src/monge/example
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export TOKENIZERS_PARALLELISM := false

.PHONY: versions demo serve-demo screenshots test lint tests bench scale golden laws generated baselines sensitivity families reproduction results adapters paper-adapters recommend probe docs pages help-screens release-check setup clean

demo: .venv/.demo
	@$(BIN)/monge score -t $(EXAMPLE)/system-a.txt -t $(EXAMPLE)/system-b.txt -r $(EXAMPLE)/reference.txt \
	  -m monge -m bertscore -m moverscore --ci
	@echo
	@$(BIN)/monge explain "The cat slept on the warm mat." "A cat was sleeping on the mat." -m moverscore

serve-demo: .venv/.demo  # the service and its page with the embedded model: prints the address, opens it where that can be done
	$(BIN)/pip install -qq -c constraints.txt -e '.[embedded,lexical,server]'
	@(sleep 12; command -v xdg-open >/dev/null && xdg-open http://127.0.0.1:8000/ >/dev/null 2>&1 || true) & \
	$(BIN)/monge serve

screenshots: .venv/.test  # docs/serve/*.png, made in a browser
	$(BIN)/python tools/make_screenshots.py

test: lint tests

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_names.py

# files spread over the cores, one thread each: laws and parity are many small problems
tests: .venv/.test
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile

bench: .venv/.test
	$(BIN)/pip install -qq -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/runtimes.py
	$(BIN)/python benchmarks/precision.py

scale: .venv/.test  # docs/scale.md: the engine Ray against the plain command, and random kills
	$(BIN)/python benchmarks/scale.py --json results/scale/scale.json
	$(BIN)/python benchmarks/kills.py --json results/scale/kills.json
	$(BIN)/python tools/make_measured_pages.py

golden: .venv/.test  # rewrites the golden numbers, of one metric with ONLY=name; where a number changes: an entry under "Scores changed" in CHANGELOG.md
	$(BIN)/monge selfcheck --update $(EXAMPLE)/golden.json $(addprefix --only ,$(ONLY))

laws: .venv/.test  # the laws of one metric: make laws METRIC=name
	$(if $(METRIC),,$(error make laws METRIC=name))
	OMP_NUM_THREADS=1 $(BIN)/pytest tests/laws --metric $(METRIC)

generated: .venv/.test  # every generated file that needs no data and no model: seconds
	$(BIN)/python tools/make_generated.py

# Studies: MONGE_DATA and MONGE_MODELS name the directories of data and models. Runs that have a kept result are not run again.

baselines: .venv/.test  # src/monge/metrics/packaged_baselines.tsv: what --rescale takes for 0 with the packaged models
	$(BIN)/python tools/make_baselines.py

sensitivity: .venv/.test  # results/sensitivity and docs/sensitivity.md
	$(BIN)/python tools/make_sensitivity.py

families: .venv/.test  # results/families and the table of docs/families.md
	$(BIN)/python tools/make_families.py

reproduction: .venv/.test  # results/reproduction and docs/reproduction.md
	$(BIN)/python tools/make_reproduction.py

adapters: .venv/.test  # trains into build/adapters (not under version control), measures into results/tuning, makes docs/tuning.md
	$(BIN)/python tools/make_adapters.py

paper-adapters: .venv/.test  # the same as the papers tuned, into results/tuning/papers.json and docs/tuning-papers.md: hours
	$(BIN)/python tools/make_paper_adapters.py
	$(BIN)/python tools/make_adapter_figures.py

results: .venv/.test  # results/tables and docs/results/tables.md
	$(BIN)/python tools/make_results.py

recommend: .venv/.test  # src/monge/recommendation/kept/agreement.json and docs/recommend.md
	$(BIN)/python tools/make_recommend.py agreement
	$(BIN)/python tools/make_recommend.py page

probe: .venv/.test  # results/probe/wmt17.json, docs/probe.md and its heat map; minutes. Units of falls anew: tools/make_probe.py --spreads
	$(BIN)/python tools/make_probe.py

docs: .venv/.docs  # the documentation as a site in build/site, strictly and offline
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo build/site/index.html

pages: .venv/.test  # generated files, and those made by runs of the embedded model: JSON, signature, pictures, tutorials
	$(BIN)/python tools/make_reference.py pictures
	$(BIN)/python tools/make_generated.py --model
	$(BIN)/python tools/run_tutorials.py --write
	$(BIN)/monge explain "The bank will open 300 branches." "The bank will close 300 branches." -m bertscore -f svg -o docs/pair.svg

versions: .venv/.test  # docs/versions/seen.md: the fast tests under other versions of transformers, numpy, torch, Python
	$(BIN)/python tools/try_versions.py

help-screens: .venv/.test  # tests/cli/help: what every verb's --help shows at 80 and at 120 columns
	$(BIN)/python tests/cli/help_screens.py

# sdist and wheel into build/dist; the wheel installed alone, README's commands run. LIBRARIES=fresh downloads all dependencies; FINAL=1: RELEASING.md
release-check: .venv/.test
	$(BIN)/python tools/release_check.py --libraries $(or $(LIBRARIES),shared) $(if $(FINAL),--final)

setup: .venv/.test

.venv/.base: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("monge needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install -qq -c constraints.txt torch
	touch $@

.venv/.demo: .venv/.base pyproject.toml
	$(BIN)/pip install -qq -c constraints.txt -e '.[embedded,lexical]'
	touch $@

.venv/.docs: .venv/.base pyproject.toml
	$(BIN)/pip install -qq -c constraints.txt -e '.[docs,embedded,lexical]'  # the sample report is made with the embedded model
	touch $@

.venv/.test: .venv/.base pyproject.toml
	$(BIN)/pip install -qq -c constraints.txt -e '.[all,dev]'
	touch .venv/.demo .venv/.docs $@

clean:
	rm -rf .venv
