# The front door. `make` alone says what there is.

CARGO ?= cargo
export CHRONOSCOPE_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/chronoscope

.PHONY: help demo reproduce openapi test quick check bench attack soak fuzz build arm4 java page screenshots instrument dist dist-twice packages-test clean

help:
	@echo 'make demo   build fast and measure one minute of radar traffic, to a verdict and the page'
	@echo 'make reproduce  five documents'\'' tables and pictures, ours beside, in one report; QUICK=1: in minutes'
	@echo 'make test   run every test; installs what they need'
	@echo 'make quick  build and test the crates that changed and those that depend on them'
	@echo 'make check  format, lints, documentation, licences'
	@echo 'make bench  our numbers beside peers'\'' and limits, each measured in the same run'
	@echo 'make attack  what strangers, neighbours and accidents do to the programs, and what it costs'
	@echo 'make dist   the release, into target/dist: tarball, packages of Debian, OCI image, licences, checksums'
	@echo 'make dist-twice  builds the release again in another folder, and compares every file'
	@echo 'make packages-test  installs, upgrades and purges these packages in a bare Debian; image and manifests'
	@echo 'make arm4   libarm4 and its headers, into target/arm4 (programs in C and C++)'
	@echo 'make java   org.opengroup.arm40 for Java, into java/target'
	@echo 'make page   the pages of chronoscope serve and radar-display; prints their size'
	@echo 'make screenshots  a picture of every view of the pages, into docs/pictures'
	@echo 'make instrument  SQLite, httpd, SQL clients and functions as transactions, into target/instrument'
	@echo 'make openapi  the description of the page'\''s API, into page/openapi.json'
	@echo 'make soak   fifty minutes: programs in containers that are killed every 5 s, and in PID namespaces that come and go; restless APRS-IS clients, and its engine in 1,000 random orders; fifty kills of sle-user, two hundred of ClickHouse servers and of the collectors before them'
	@echo 'make fuzz   a minute of fuzzing for every parser, going on where it stopped; SECONDS=, TARGETS="ring wire"'

build:
	$(CARGO) build --release --locked -p chronoscope-cli -p chronoscope-radar --bins
	tools/split-debug $${CARGO_TARGET_DIR:-target}/release/chronoscope

# Tarball, packages, image (docs/install.md).
dist:
	tools/dist

# 3: skipped, loudly, where this user may make neither a root file system nor containers.
packages-test:
	VERDICT_SECONDS=90 tools/test-packages || [ $$? = 3 ]
	tools/test-image || [ $$? = 3 ]
	$(CARGO) build --locked -p chronoscope-cli -p chronoscope-record --bin chronoscope --example counted
	tools/test-kubernetes || [ $$? = 3 ]

# The same bytes in another folder.
dist-twice:
	tools/dist-twice

arm4:
	tools/arm4

java:
	tools/java build

page:
	tools/page build

# Of flights over Germany, for long enough that there is something to see.
screenshots: page
	$(MAKE) build
	BIN=$${CARGO_TARGET_DIR:-target}/release SCENARIO=live DISPLAYS=4 SECONDS_TO_RUN=180 tools/page screenshots
	BIN=$${CARGO_TARGET_DIR:-target}/release tools/page position-picture

# SQLite, httpd, SQL clients and functions of C and C++ as transactions (docs/instrument.md).
instrument: arm4
	tools/setup instrument
	$(MAKE) -C instrument ARM4=$(CURDIR)/target/arm4 OUT=$(CURDIR)/target/instrument

# 3: without npm, which is said, the programs are built without the page.
demo:
	tools/page build || [ $$? = 3 ]
	$(CARGO) build --profile demo --locked -p chronoscope-cli -p chronoscope-radar --bins
	BIN=$${CARGO_TARGET_DIR:-target}/demo tools/demo

# The description of the page's API, out of the server's types.
openapi:
	OPENAPI_WRITE=1 $(CARGO) test --locked -p chronoscope-server --test openapi
	tools/page types

test:
	tools/setup test
	CARGO="$(CARGO)" tools/test

# REVISION: crates that differ from it; without, from the last commit.
quick:
	tools/quick $(REVISION)

check:
	tools/setup check
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked -p chronoscope-record --features off --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --workspace --no-deps --quiet
	tools/page check || [ $$? = 3 ]
	tools/structure --check
	tools/names
	tools/test-sbom
	tools/portable
	tools/deny

bench:
	tools/setup bench
	tools/bench

# The published figures beside ours (docs/papers/); an interrupted run goes on.
reproduce:
	tools/setup reproduce
	QUICK="$(QUICK)" tools/reproduce

# ATTACK: names of attacks, or options (--list, --short); without them the table is kept.
attack:
	$(CARGO) build --release --locked --workspace --bin chronoscope --bin radar-display \
	  --bin aprs-server --bin sle-provider --bin attack
	$${CARGO_TARGET_DIR:-target}/release/attack $(or $(ATTACK),--write docs/reliability.md)

soak:
	tools/test-containers 600 || [ $$? = 3 ]
	CHRONOSCOPE_SOAK_SECONDS=600 $(CARGO) test --locked --workspace --test restarts -- --nocapture
	APRS_HUNT_RUNS=1000 $(CARGO) test --locked --release -p chronoscope-aprs --lib hunt -- --nocapture
	$(CARGO) build --release --locked -p chronoscope-aprs -p chronoscope-bench --bin aprs-server --bin aprs
	$${CARGO_TARGET_DIR:-target}/release/aprs soak
	$(CARGO) test --locked -p chronoscope-sle --test programs -- --ignored --nocapture fifty_kills
	$(CARGO) test --locked -p chronoscope-cli --test cluster_kills -- --ignored --nocapture two_hundred_kills

fuzz:
	tools/fuzz $(or $(SECONDS),60) $(TARGETS)

clean:
	$(CARGO) clean
	rm -rf java/target
