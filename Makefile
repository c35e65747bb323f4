# The front door. `make` alone says what there is.

CARGO ?= cargo
export CHRONOSCOPE_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/chronoscope

.PHONY: help demo openapi test check bench soak fuzz build arm4 java page instrument clean

help:
	@echo 'make demo   build everything and measure one minute of radar traffic, to a picture and a verdict'
	@echo 'make test   run every test; installs what they need'
	@echo 'make check  format, lints, documentation, licences'
	@echo 'make bench  our numbers beside peers'\'' and limits, each measured in the same run'
	@echo 'make arm4   libarm4 and its headers, into target/arm4 (programs in C and C++)'
	@echo 'make java   org.opengroup.arm40 for Java, into java/target'
	@echo 'make page   the page that chronoscope serve shows, into page/dist; prints its size'
	@echo 'make instrument  SQLite, httpd, SQL clients and functions as transactions, into target/instrument'
	@echo 'make openapi  the description of the page'\''s API, into page/openapi.json'
	@echo 'make soak   half an hour of load with restless clients, reloads and live upgrades'
	@echo 'make fuzz   a minute of fuzzing for every parser (needs cargo-fuzz)'

build:
	$(CARGO) build --release --locked -p chronoscope-cli -p chronoscope-radar --bins

arm4:
	tools/arm4

java:
	tools/java build

page:
	tools/page build

# SQLite, httpd, SQL clients and functions of C and C++ as transactions (docs/instrument.md).
instrument: arm4
	tools/setup instrument
	$(MAKE) -C instrument ARM4=$(CURDIR)/target/arm4 OUT=$(CURDIR)/target/instrument

demo: build
	tools/demo

# The description of the page's API, out of the server's types.
openapi:
	OPENAPI_WRITE=1 $(CARGO) test --locked -p chronoscope-server --test openapi

test:
	tools/setup test
	CARGO="$(CARGO)" tools/test

check:
	tools/setup check
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked -p chronoscope-record --features off --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --workspace --no-deps --quiet
	tools/page check || [ $$? = 3 ]
	tools/portable
	tools/deny

bench:
	tools/setup bench
	tools/bench

soak:
	$(CARGO) build --release --locked -p chronoscope-aprs -p chronoscope-bench --bin aprs-server --bin aprs
	$${CARGO_TARGET_DIR:-target}/release/aprs soak

fuzz:
	tools/fuzz

clean:
	$(CARGO) clean
	rm -rf java/target
