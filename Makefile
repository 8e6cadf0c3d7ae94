# stator's build. `make run` starts a server, `make test` runs all tests; both install the packages
# that they need. CONTRIBUTING.md lists the targets.
#
# Each flavour has a folder in build/: release (gcc, optimised), asan (gcc, ASan and UBSan, for the
# tests), clang (warnings only), fuzz (clang with libFuzzer), tsan, coverage (gcov), analyzer.

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
# Keep the objects of tests, which make would delete as intermediate files.
.SECONDARY:
.SUFFIXES:
.PHONY: all run install test check check-static warnings format fuzz fuzz-all fuzz-targets bench \
	tsan tsan-programs valgrind crash coverage analyze deps test-deps bench-deps valgrind-deps clean \
	test-rados rados-deps

BUILD ?= build
# In one spelling, because dependency files record the name that the target had.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
# Targets that install packages build in a second make, with one job per core unless -j was given.
CORES := $(shell nproc)
PARALLEL = --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(CORES))

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror
CPPFLAGS := -D_GNU_SOURCE -Isrc
CFLAGS := -std=c17 -g -fno-omit-frame-pointer $(WARNINGS)
LDFLAGS := -Wl,--as-needed -Wl,-z,relro -Wl,-z,now
# libcurl is not among them: outbound/curl_library.c opens it when it is first needed.
LDLIBS := -lrocksdb -luv -lxxhash -lyaml -lz -lzstd -lssl -lcrypto -lpthread -lm

VERSION := 0.1.0
CPPFLAGS += -DSTATOR_VERSION='"$(VERSION)"'
# `make dist` writes the commit into the tarball, which has no repository.
COMMIT := $(shell cat .commit 2>/dev/null || \
	{ git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown; })
# RocksDB's version, from the header beside the one that the compiler finds: C cannot include it.
ROCKSDB_HEADER = $(shell $(release_CC) -include rocksdb/c.h -x c -M /dev/null | \
	tr ' ' '\n' | sed -n 's,/rocksdb/c\.h$$,/rocksdb/version.h,p')
ROCKSDB_VERSION = $(shell sed -n 's/^.define ROCKSDB_M[AI][JN]OR  *\([0-9]*\)$$/\1/p; \
	s/^.define ROCKSDB_PATCH  *\([0-9]*\)$$/\1/p' $(ROCKSDB_HEADER) | paste -s -d .)

FLAVOURS := release asan clang tsan fuzz coverage analyzer
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
release_CC := gcc
# Makes our mistakes harder to exploit; test/process/test_hardening.py verifies it in the binary.
# Without -fcf-protection: Debian's start-up objects are not marked for it, so it would not be
# enforced, and the marks alone cost half a percent of a GetItem.
HARDENING := -fPIE -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=3
# The map: the same program comes out wherever it is built. Debug information has the folder in it, and
# the build id is made of that too.
release_CFLAGS := -O2 -fno-plt $(HARDENING) -ffile-prefix-map=$(CURDIR)=.
release_LDFLAGS := -pie -Wl,-z,noexecstack -Wl,-z,separate-code
asan_CC := gcc
asan_CFLAGS := -O1 $(SANITIZE)
clang_CC := clang
clang_CFLAGS := -O1
tsan_CC := gcc
tsan_CFLAGS := -O1 -fsanitize=thread
# Of the server alone: some tests have an openat of their own.
tsan_SERVER_LDFLAGS := -Wl,--wrap=openat -Wl,--wrap=mremap
tsan_SERVER_OBJECTS = $(BUILD)/tsan/test/lib/tsan/openat.o $(BUILD)/tsan/test/lib/tsan/mremap.o
coverage_CC := gcc
# Without optimisation gcc sees less, and calls values uninitialised that it otherwise knows to be set.
coverage_CFLAGS := -O0 --coverage -fprofile-update=atomic -Wno-maybe-uninitialized
# gcc 12's analyzer knows one file at a time. Three of its warnings are therefore mostly false here, and
# ASan, Valgrind and -Wmaybe-uninitialized find the true ones: values that another file's function set
# through a pointer, memory whose owner is a list in another structure, pointers that buffer_grow set.
analyzer_CC := gcc
analyzer_CFLAGS := -O1 -fanalyzer -Wno-analyzer-use-of-uninitialized-value \
	-Wno-analyzer-malloc-leak -Wno-analyzer-null-argument
fuzz_CC := clang
fuzz_CFLAGS := -O1 $(SANITIZE) -fsanitize=fuzzer-no-link

# One short line per step; V=1 shows the commands.
SAY = $(if $(V),,@echo '  $(1) $@';)

# The engine for Ceph clusters is built where librados' header is (`make rados-deps`), unless RADOS is
# set to nothing: make RADOS=. Nothing links the library: engine/rados/rados_library.c opens it.
RADOS ?= $(shell $(release_CC) -include rados/librados.h -x c -fsyntax-only /dev/null 2>/dev/null && \
	echo yes)
override RADOS := $(RADOS)
RADOS_LEFT_OUT := $(addprefix src/engine/rados/,$(if $(RADOS),rados_absent.c, \
	rados_library.c rados_run.c rados_store.c))

# *_fuzz.c are fuzz targets, each a program of its own; main.c is the server's.
FUZZ_SOURCES := $(sort $(shell find src -name '*_fuzz.c'))
SOURCES := $(sort $(filter-out src/main.c $(FUZZ_SOURCES) $(RADOS_LEFT_OUT), \
	$(shell find src -name '*.c')))
TEST_LIB_SOURCES := $(filter-out test/lib/fuzz_replay.c,$(sort $(wildcard test/lib/*.c)))
# Libraries that tests preload into a server: each is a shared object of its own.
PRELOAD_SOURCES := $(sort $(wildcard test/lib/preload/*.c))
# Those that need a Ceph cluster are built and run by test-rados alone.
RADOS_TEST_SOURCES := $(if $(RADOS),$(sort $(wildcard test/rados/test_*.c)))
TEST_SOURCES := $(sort $(shell find test -name node_modules -prune -o -path test/rados -prune -o \
	-name 'test_*.c' -print))
BENCH_SOURCES := $(sort $(wildcard bench/bench_*.c))
LOAD_SOURCES := $(sort $(wildcard bench/load/*.c))
FUZZ_NAMES := $(patsubst %_fuzz.c,%,$(notdir $(FUZZ_SOURCES)))

# The console's files, packed and compressed, and their table: generated once for all flavours.
CONSOLE_FILES := $(sort $(shell find console -type f ! -name '*.md' ! -name package.json))
$(BUILD)/console/assets.c: tools/embed-assets tools/squeeze-script $(CONSOLE_FILES) \
		$(wildcard examples/models/*.json) $(BUILD)/console-files
	$(call SAY,gen )tools/embed-assets console $(@D)

# Touched only when a file has come or gone.
$(BUILD)/console-files: FORCE
	@mkdir -p $(@D)
	@echo '$(CONSOLE_FILES)' | cmp -s - $@ || echo '$(CONSOLE_FILES)' > $@

# $(1): flavour. Objects mirror the source tree, so that files of one name do not clash.
define flavour
$(BUILD)/$(1)/%.o: %.c Makefile
	@mkdir -p $$(@D)
	$$(call SAY,cc  )$$($(1)_CC) $$(CPPFLAGS) $$(CFLAGS) $$($(1)_CFLAGS) -Itest/lib -MMD -MP -c $$< -o $$@

$(BUILD)/$(1)/console-assets.o: $(BUILD)/console/assets.c Makefile
	@mkdir -p $$(@D)
	$$(call SAY,cc  )$$($(1)_CC) $$(CPPFLAGS) $$(CFLAGS) $$($(1)_CFLAGS) -c $$< -o $$@

$(BUILD)/$(1)/libstator.a: $$(SOURCES:%.c=$(BUILD)/$(1)/%.o) $(BUILD)/$(1)/console-assets.o
	@rm -f $$@
	$$(call SAY,ar  )ar rcs $$@ $$^

$(BUILD)/$(1)/libtest.a: $$(TEST_LIB_SOURCES:%.c=$(BUILD)/$(1)/%.o)
	@rm -f $$@
	$$(call SAY,ar  )ar rcs $$@ $$^

$(BUILD)/$(1)/stator: $(BUILD)/$(1)/src/main.o $(BUILD)/$(1)/libstator.a $$($(1)_SERVER_OBJECTS)
	$$(call SAY,link)$$($(1)_CC) $$($(1)_CFLAGS) $$(LDFLAGS) $$($(1)_LDFLAGS) $$($(1)_SERVER_LDFLAGS) $$^ $$(LDLIBS) -o $$@

$(BUILD)/$(1)/test/%: $(BUILD)/$(1)/test/%.o $(BUILD)/$(1)/libtest.a $(BUILD)/$(1)/libstator.a
	$$(call SAY,link)$$($(1)_CC) $$($(1)_CFLAGS) $$(LDFLAGS) $$($(1)_LDFLAGS) $$^ -lcmocka $$(LDLIBS) -o $$@

$(BUILD)/$(1)/bench/%: $(BUILD)/$(1)/bench/%.o $(BUILD)/$(1)/libstator.a
	$$(call SAY,link)$$($(1)_CC) $$($(1)_CFLAGS) $$(LDFLAGS) $$($(1)_LDFLAGS) $$^ $$(LDLIBS) -o $$@

$(BUILD)/$(1)/bench/load/load: $$(LOAD_SOURCES:%.c=$(BUILD)/$(1)/%.o) $(BUILD)/$(1)/libstator.a
	$$(call SAY,link)$$($(1)_CC) $$($(1)_CFLAGS) $$(LDFLAGS) $$($(1)_LDFLAGS) $$^ $$(LDLIBS) -o $$@

-include $$(shell find $(BUILD)/$(1) -name '*.d' 2>/dev/null)
endef
$(foreach name,$(FLAVOURS),$(eval $(call flavour,$(name))))

# The assembler reads them, which -MMD does not see.
$(foreach name,$(FLAVOURS),$(BUILD)/$(name)/src/command/model_samples.o): \
	$(sort $(wildcard examples/models/*.json))
$(foreach name,$(FLAVOURS),$(BUILD)/$(name)/src/codegen/model_code.o): \
	$(sort $(wildcard src/codegen/*.py src/codegen/*.ts))

$(foreach name,$(FLAVOURS),$(BUILD)/$(name)/src/engine/rocksdb/store_ahead.o): \
	CPPFLAGS += -DSTATOR_ROCKSDB_VERSION='"$(ROCKSDB_VERSION)"'
$(foreach name,$(FLAVOURS),$(BUILD)/$(name)/src/command/version.o): $(BUILD)/commit
$(foreach name,$(FLAVOURS),$(BUILD)/$(name)/src/command/version.o): \
	CPPFLAGS += -DSTATOR_ROCKSDB_VERSION='"$(ROCKSDB_VERSION)"' -DSTATOR_COMMIT='"$(COMMIT)"'

# Touched only when the commit is another one, so that nothing else is built again.
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@
FORCE:

all: $(BUILD)/stator

# A new file, so that a server that runs from the old one is not disturbed.
$(BUILD)/stator: $(BUILD)/release/stator
	@cp --remove-destination $< $@

$(BUILD)/preload/%.so: test/lib/preload/%.c Makefile
	@mkdir -p $(@D)
	$(call SAY,link)$(release_CC) $(CPPFLAGS) $(CFLAGS) -O2 -fPIC -shared $< -o $@

# make run ARGS='--port 8001 --in-memory'
run: deps
	@$(MAKE) $(PARALLEL) $(BUILD)/stator
	@exec $(BUILD)/stator serve $(ARGS)

# make install PREFIX=/usr DESTDIR=package; `make uninstall` with the same values removes what that
# installed, and nothing else.
PREFIX ?= /usr/local
UNIT_DIR ?= $(PREFIX)/lib/systemd/system
MAN_DIR ?= $(PREFIX)/share/man
DOC_DIR ?= $(PREFIX)/share/doc/stator
BASH_COMPLETION_DIR ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETION_DIR ?= $(PREFIX)/share/zsh/site-functions
DOCUMENTS := README.md CHANGELOG.md SECURITY.md LICENSE
.PHONY: uninstall dist
install: $(BUILD)/stator man completions
	install -D -m 755 $(BUILD)/stator $(DESTDIR)$(PREFIX)/bin/stator
	install -D -m 644 -t $(DESTDIR)$(DOC_DIR) $(DOCUMENTS)
	install -D -m 644 -t $(DESTDIR)$(DOC_DIR)/doc doc/*.md
	install -D -m 644 $(BUILD)/man/stator.1 $(DESTDIR)$(MAN_DIR)/man1/stator.1
	install -D -m 644 $(BUILD)/man/stator.conf.5 $(DESTDIR)$(MAN_DIR)/man5/stator.conf.5
	install -D -m 644 $(BUILD)/completion/stator.bash $(DESTDIR)$(BASH_COMPLETION_DIR)/stator
	install -D -m 644 $(BUILD)/completion/_stator $(DESTDIR)$(ZSH_COMPLETION_DIR)/_stator
	install -d $(DESTDIR)$(UNIT_DIR)
	sed 's|/usr/local/|$(PREFIX)/|' systemd/stator.service > $(DESTDIR)$(UNIT_DIR)/stator.service
	chmod 644 $(DESTDIR)$(UNIT_DIR)/stator.service
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/stator $(DESTDIR)$(UNIT_DIR)/stator.service \
		$(DESTDIR)$(MAN_DIR)/man1/stator.1 $(DESTDIR)$(MAN_DIR)/man5/stator.conf.5 \
		$(DESTDIR)$(BASH_COMPLETION_DIR)/stator $(DESTDIR)$(ZSH_COMPLETION_DIR)/_stator
	rm -f $(DOCUMENTS:%=$(DESTDIR)$(DOC_DIR)/%) $(patsubst %,$(DESTDIR)$(DOC_DIR)/%,$(wildcard doc/*.md))
	-rmdir $(DESTDIR)$(DOC_DIR)/doc $(DESTDIR)$(DOC_DIR)

# build/stator-VERSION.tar.gz: the committed sources and their commit; it builds, tests and installs
# without a repository.
DIST := stator-$(VERSION)
dist:
	@mkdir -p $(BUILD)
	@rm -rf $(BUILD)/$(DIST)
	git archive --format=tar --prefix=$(DIST)/ HEAD | tar -x -C $(BUILD)
	git rev-parse --short=12 HEAD > $(BUILD)/$(DIST)/.commit
	tar -c -z -C $(BUILD) --owner=0 --group=0 --sort=name -f $(BUILD)/$(DIST).tar.gz $(DIST)
	@rm -rf $(BUILD)/$(DIST)

# What the tables of commands and settings say. doc/configuration.md is kept in the repository, where
# people read it; the test `documents` fails if it is stale.
.PHONY: documents man completions
documents: $(BUILD)/stator
	$(BUILD)/stator help --format markdown > doc/configuration.md
MAN_PAGES := $(BUILD)/man/stator.1 $(BUILD)/man/stator.conf.5
man: $(MAN_PAGES)
$(BUILD)/man/stator.1: $(BUILD)/stator
	@mkdir -p $(@D)
	$(call SAY,man )$< help --format man > $@
$(BUILD)/man/stator.conf.5: $(BUILD)/stator
	@mkdir -p $(@D)
	$(call SAY,man )$< help --format man-conf > $@
completions: $(BUILD)/completion/stator.bash $(BUILD)/completion/_stator
$(BUILD)/completion/stator.bash: $(BUILD)/stator
	@mkdir -p $(@D)
	$(call SAY,gen )$< help --format bash > $@
$(BUILD)/completion/_stator: $(BUILD)/stator
	@mkdir -p $(@D)
	$(call SAY,gen )$< help --format zsh > $@

include packaging/packages.mk

deps:
	@tools/install-packages build
test-deps:
	@tools/install-packages build test
bench-deps:
	@tools/install-packages build test bench
valgrind-deps:
	@tools/install-packages build test valgrind
rados-deps:
	@tools/install-packages build test rados

# --- Tests. T=name runs those whose name contains it. ---

ASAN_TESTS := $(TEST_SOURCES:%.c=$(BUILD)/asan/%)
PRELOADS := $(PRELOAD_SOURCES:test/lib/preload/%.c=$(BUILD)/preload/%.so)
REPLAYS := $(FUZZ_NAMES:%=$(BUILD)/asan/replay/%)

# $(1): path of a fuzz source without its suffix. Each target is built twice: with libFuzzer to
# explore, and with a small main of ours to replay the corpus.
define fuzz_target
$(BUILD)/asan/replay/$(notdir $(1:%_fuzz=%)): $(BUILD)/asan/$(1).o $(BUILD)/asan/test/lib/fuzz_replay.o \
		$(BUILD)/asan/libtest.a $(BUILD)/asan/libstator.a
	@mkdir -p $$(@D)
	$$(call SAY,link)$$(asan_CC) $$(asan_CFLAGS) $$(LDFLAGS) $$^ $$(LDLIBS) -o $$@

$(BUILD)/fuzz/$(notdir $(1:%_fuzz=%)): $(BUILD)/fuzz/$(1).o $(BUILD)/fuzz/libtest.a \
		$(BUILD)/fuzz/libstator.a
	$$(call SAY,link)$$(fuzz_CC) $$(SANITIZE) -fsanitize=fuzzer $$(LDFLAGS) $$^ $$(LDLIBS) -o $$@
endef
$(foreach source,$(FUZZ_SOURCES:.c=),$(eval $(call fuzz_target,$(source))))

# $(1): programs of the C tests. With T, those whose names contain it.
matching = $(if $(T),$(foreach program,$(1),$(if $(findstring $(T),$(program)),$(program))),$(1))

test: test-deps
	@$(MAKE) $(PARALLEL) check-static
	@$(MAKE) $(PARALLEL) $(BUILD)/asan/stator $(BUILD)/stator $(call matching,$(ASAN_TESTS) $(REPLAYS)) \
		$(PRELOADS) $(BUILD)/asan/bench/load/load
	@tools/run-tests --build $(BUILD) $(if $(T),--only '$(T)')

# The tests of the engine for Ceph clusters, and those of every engine on it, one after another on a
# cluster that is started for them: about ten minutes. Skipped where packages are missing.
RADOS_PROGRAMS = $(RADOS_TEST_SOURCES:%.c=$(BUILD)/asan/%) $(patsubst %.c,$(BUILD)/asan/%, \
	$(shell grep -rl --include='test_*.c' engine_fixture_is_chosen test/engine test/unit))
test-rados: test-deps
ifeq ($(RADOS),)
	@echo 'skipped: librados-dev is not installed (make rados-deps)'
else
	@$(MAKE) $(PARALLEL) $(call matching,$(RADOS_PROGRAMS))
	@test/lib/rados_cluster.py run -- tools/run-tests --build $(BUILD) --rados $(if $(T),--only '$(T)')
endif

# The long form of the crash tests, on the release build.
CRASH_TESTS := $(filter $(BUILD)/release/test/crash/%,$(TEST_SOURCES:%.c=$(BUILD)/release/%))
crash: test-deps
	@$(MAKE) $(PARALLEL) $(BUILD)/stator $(CRASH_TESTS) $(PRELOADS)
	@tools/run-tests --build $(BUILD) --flavour release --long --only crash/

# Which lines the unit and API tests run. CONTRIBUTING.md has the number of the last time.
COVERAGE_TESTS := $(filter $(BUILD)/coverage/test/unit/%,$(TEST_SOURCES:%.c=$(BUILD)/coverage/%))
coverage: test-deps
	@$(MAKE) $(PARALLEL) $(BUILD)/coverage/stator $(COVERAGE_TESTS) $(BUILD)/stator $(PRELOADS)
	@find $(BUILD)/coverage -name '*.gcda' -delete
	@tools/run-tests --build $(BUILD) --flavour coverage --kind unit
	@tools/run-tests --build $(BUILD) --flavour coverage --kind api
	@tools/coverage --build $(BUILD)

# --- Checks ---

check: test-deps
	@$(MAKE) $(PARALLEL) check-static warnings analyze
check-static:
	@tools/check-layers
	@tools/check-sizes
	@tools/check-format

# Every source, with both compilers and all warnings as errors.
ALL_SOURCES := $(SOURCES) src/main.c $(TEST_LIB_SOURCES) $(PRELOAD_SOURCES) $(TEST_SOURCES) \
	$(RADOS_TEST_SOURCES) $(FUZZ_SOURCES) $(BENCH_SOURCES) $(LOAD_SOURCES)
warnings: $(ALL_SOURCES:%.c=$(BUILD)/release/%.o) $(ALL_SOURCES:%.c=$(BUILD)/clang/%.o)

# The analyzers, over the sources of the product: about two minutes on two cores.
ANALYZED := $(SOURCES) src/main.c
analyze: $(ANALYZED:%.c=$(BUILD)/analyzer/%.o) $(ANALYZED:%.c=$(BUILD)/tidy/%.ok)
# After the object, so that a change of a header is noticed.
$(BUILD)/tidy/%.ok: $(BUILD)/analyzer/%.o .clang-tidy
	@mkdir -p $(@D)
	$(call SAY,tidy)clang-tidy --quiet $*.c -- $(CPPFLAGS) -std=c17 -DSTATOR_COMMIT='""' \
		-DSTATOR_ROCKSDB_VERSION='""' > $@.log 2>&1 || { cat $@.log; exit 1; }
	@touch $@

format:
	@find $(wildcard src test bench) -name node_modules -prune -o -name '*.[ch]' -print0 | \
		xargs -0 clang-format -i

fuzz-targets: $(FUZZ_NAMES:%=$(BUILD)/fuzz/%)

# make fuzz F=json_reader S=60
S ?= 60
fuzz: test-deps
	@$(MAKE) $(PARALLEL) $(BUILD)/fuzz/$(F)
	@mkdir -p $(BUILD)/fuzz/found/$(F) test/corpus/$(F)
	$(BUILD)/fuzz/$(F) -max_total_time=$(S) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix=$(BUILD)/fuzz/crash-$(F)- $(BUILD)/fuzz/found/$(F) test/corpus/$(F)

# Runs each target for S seconds, two at a time for each core: make fuzz-all S=10
fuzz-all: test-deps
	@$(MAKE) $(PARALLEL) fuzz-targets
	@tools/run-fuzz --build $(BUILD) --seconds $(S)

TSAN_PROGRAMS := $(BUILD)/tsan/stator $(BUILD)/tsan/bench/load/load $(TEST_SOURCES:%.c=$(BUILD)/tsan/%)
tsan-programs: $(TSAN_PROGRAMS)
tsan: test-deps
	@$(MAKE) $(PARALLEL) $(TSAN_PROGRAMS) $(BUILD)/stator $(PRELOADS)
	@tools/run-tests --build $(BUILD) --flavour tsan

# The API tests on the release build under Valgrind's memcheck: about ten minutes.
valgrind: valgrind-deps
	@$(MAKE) $(PARALLEL) $(BUILD)/release/stator
	@tools/valgrind-api --build $(BUILD) $(if $(T),--only '$(T)')

# make bench ARGS=--write-readme
bench: bench-deps
	@$(MAKE) $(PARALLEL) $(BUILD)/stator $(BENCH_SOURCES:%.c=$(BUILD)/release/%) \
		$(BUILD)/release/bench/load/load
	@bench/run --build $(BUILD) $(ARGS)

clean:
	rm -rf $(BUILD)
