# Each target makes .venv where it is missing or where pyproject.toml changed. Small matrices are timed and tested on
# one thread: more threads only wait for each other.
export OMP_NUM_THREADS := 1
PYTHON ?= python3
PY := .venv/bin/python

.PHONY: test test-oldest test-newest sanitize demo lint bench apart robust wild soak web web-if-possible browser docs dist clean

# In so many processes.
WORKERS ?= 2
SHARED = --numprocesses $(WORKERS) --dist worksteal
test: .venv/ready
	$(PY) -m pytest $(SHARED)

# The first of these versions of Python that runs: on the path, or among pyenv's.
runs = $(firstword $(foreach one,$(foreach version,$(1),python$(version) \
  $(wildcard $(HOME)/.pyenv/versions/$(version)*/bin/python$(version))),\
  $(shell $(one) -c 'print("$(one)")' 2>/dev/null)))

# The lowest versions that pyproject.toml allows, on the oldest Python. Pinocchio's packages need a newer numpy than the
# rest: it has an environment of its own, with the lowest versions of what does not depend on numpy's.
NEWER = ^numpy\|^scipy\|^osqp\|^matplotlib
OLDEST ?= $(call runs,3.11)
OLD_TESTS = tests/test_import.py tests/test_gym.py tests/sweeps tests/application/test_sweeping.py tests/geometry \
  tests/simulation/test_log.py tests/control/test_batch.py
test-oldest:
	$(OLDEST) -m venv --clear out/oldest
	out/oldest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(OLDEST) scripts/oldest.py mujoco plot cluster tune gym > out/oldest.txt
	out/oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint out/oldest.txt \
	  --editable ".[mujoco,plot,cluster,tune,gym]" pytest hypothesis example-robot-data clarabel
	out/oldest/bin/python -m pytest $(OLD_TESTS)
	$(OLDEST) -m venv --clear out/oldest-pinocchio
	out/oldest-pinocchio/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(OLDEST) scripts/oldest.py pinocchio mujoco plot cluster tune gym | grep -v "$(NEWER)" > out/oldest.txt
	out/oldest-pinocchio/bin/python -m pip install --quiet --disable-pip-version-check --constraint out/oldest.txt \
	  --editable ".[all]" --group dev
	out/oldest-pinocchio/bin/python -m pytest $(SHARED)

# What pip chooses, pre-releases too, on the newest Python.
NEWEST ?= $(call runs,3.14 3.13 3.12 3.11)
test-newest:
	$(NEWEST) -m venv --clear out/newest
	out/newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	out/newest/bin/python -m pip install --quiet --disable-pip-version-check --pre --editable ".[all]" --group dev
	out/newest/bin/python -m pytest $(SHARED)

# The kernel's memory, watched; and the solver as it is on a processor without AVX2.
sanitize: .venv/ready
	$(PY) scripts/sanitize.py
	WBC_KERNEL=plain $(PY) -m pytest tests/solvers

demo: .venv/ready
	$(PY) -m wbc robots
	$(PY) scripts/draw_robots.py out/robots.png
	$(PY) -m wbc demo

lint: .venv/ready
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports

bench: .venv/ready
	$(PY) -m wbc bench
	$(PY) benchmarks/inverse_kinematics.py
	$(PY) -m benchmarks.readme
	$(PY) -m benchmarks.apart cost

# At which masses, delays, noise and pushes the quadruped stands: half an hour of a core. It goes on where it was stopped,
# and writes its table into the README.
RUNS ?= 1000
robust: .venv/ready
	$(PY) -m benchmarks.robust $(RUNS) runs/robust write

# Whether bodies keep apart in random reaching tasks, with the task and without: two hours of a core. It goes on where it
# was stopped.
apart: .venv/ready
	$(PY) -m benchmarks.apart arm $(RUNS)
	$(PY) -m benchmarks.apart humanoid $(RUNS)

# Every robot of a folder such as MuJoCo Menagerie's, tried: make wild ROBOTS=dir
wild: .venv/ready
	$(PY) scripts/try_robots.py $(ROBOTS)

# Robots, led through singular poses and to their limits and back: the packaged ones, or make strain ROBOTS="file ..."
strain: .venv/ready
	$(PY) -m benchmarks.strain $(ROBOTS)

# The documentation as a site: out/site/index.html, which opens from disk.
docs: .venv/ready
	$(PY) -m pip install --quiet --disable-pip-version-check --group docs
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict

# What a release is, tried in empty environments: out/dist.
dist: .venv/ready
	$(PY) -m pip install --quiet --disable-pip-version-check --group release
	$(PY) scripts/make_dist.py

soak: .venv/ready
	$(PY) -m pytest -m soak
	EXAMPLES=default $(PY) -m pytest -m hypothesis

# A page in a real browser, Debian's chromium, which is installed where it is missing.
BROWSER = command -v chromium > /dev/null && command -v chromedriver > /dev/null
web: browser
	$(PY) -m pytest -m web

browser: .venv/ready
	$(BROWSER) || { apt-get update -qq && apt-get install -y -qq chromium chromium-driver > /dev/null; }
	$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[all,web]" --group web

# The same where there is a browser, or one can be installed. Elsewhere it says that these tests did not run.
web-if-possible: .venv/ready
	@mkdir -p out
	@if timeout 600 $(MAKE) --silent browser > out/browser.txt 2>&1; then \
	  $(MAKE) web; \
	else \
	  tail -n 3 out/browser.txt; \
	  echo "The tests of the page in a browser did not run: it can't be installed here."; \
	fi

.venv/ready: pyproject.toml setup.py $(wildcard kernel/*.[ch] kernel/solver/*.[ch])
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[all]" --group dev
	touch $@

clean:
	rm -rf .venv out .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
