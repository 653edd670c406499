# etlheap - one Makefile, no recursion into folders.
#
#   make                      the program, build/etlheap
#   make check                what continuous integration runs
#   make VARIANT=debug        release | debug | check | asan | ubsan | tsan | cov
#   make CC=clang             gcc (default) or clang; objects are kept apart
#   make V=1                  shows the commands
#   make BUILD=/tmp/x         builds somewhere else
#
# Objects lie in build/<variant>/, so switching variants rebuilds nothing.

VARIANT ?= release
BUILD ?= build
TRACES ?= ../shared/traces
V ?= 0

ifeq ($(origin CC),default)
CC := gcc
endif
PKG_CONFIG ?= pkg-config
PYTHON ?= python3
AR ?= ar

ifeq ($(filter $(VARIANT),release debug check asan ubsan tsan cov),)
$(error VARIANT=$(VARIANT) is none of release, debug, check, asan, ubsan, tsan, cov)
endif

COMPILER := $(if $(findstring clang,$(notdir $(CC))),clang,gcc)
OUT := $(BUILD)/$(VARIANT)$(if $(filter clang,$(COMPILER)),-clang)
Q := $(if $(filter 1,$(V)),,@)
SAY := @$(if $(filter 1,$(V)),:,echo)

# --- sources ------------------------------------------------------------------

PARSER_SRCS := $(sort $(wildcard parser/*.c))
ENGINE_SRCS := $(sort $(wildcard engine/*.c))
FORMATS_SRCS := $(sort $(wildcard formats/*.c))
CLI_SRCS := $(sort $(wildcard cli/*.c))

# Tests are found, not listed: a test that is forgotten here would never run.
TEST_SRCS := $(sort $(wildcard tests/test_*.c))
TEST_TOOL_SRCS := $(sort $(wildcard tests/make_*.c))

# What writes traces needs no test framework: the demo is made with it.
BUILDER_SRCS := $(sort $(wildcard tests/etl_build*.c tests/lz77_*.c tests/scenario*.c tests/workload*.c))
TEST_SUPPORT_SRCS := $(filter-out $(TEST_SRCS) $(TEST_TOOL_SRCS) $(BUILDER_SRCS),$(sort $(wildcard tests/*.c)))

LIB_SRCS := $(PARSER_SRCS) $(ENGINE_SRCS) $(FORMATS_SRCS)
ALL_SRCS := $(LIB_SRCS) $(CLI_SRCS) $(BUILDER_SRCS) $(TEST_SUPPORT_SRCS) $(TEST_TOOL_SRCS) $(TEST_SRCS)
ALL_FILES := $(sort $(wildcard parser/*.[ch] engine/*.[ch] formats/*.[ch] cli/*.[ch] \
	tests/*.[ch] fuzz/*.[ch] bench/*.[ch]))

objects_of = $(patsubst %.c,$(OUT)/%.o,$(1))

LIBRARY := $(OUT)/libetlheap.a
CLI_LIBRARY := $(OUT)/libcli.a
BUILDER_LIBRARY := $(OUT)/libbuilder.a
TEST_LIBRARY := $(OUT)/libtestsupport.a
PROGRAM := $(OUT)/etlheap
TEST_PROGRAMS := $(patsubst tests/%.c,$(OUT)/tests/%,$(TEST_SRCS))
TEST_TOOLS := $(patsubst tests/%.c,$(OUT)/%,$(TEST_TOOL_SRCS))

# --- flags --------------------------------------------------------------------

# pkg-config name and Debian package, side by side.
LIBRARIES := libxxhash:libxxhash-dev libzip:libzip-dev
TEST_LIBRARIES := cmocka:libcmocka-dev
pkg_names = $(foreach pair,$(1),$(firstword $(subst :, ,$(pair))))

# Asked of pkg-config on first use, not on every `make help`.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(call pkg_names,$(LIBRARIES))))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell $(PKG_CONFIG) --libs $(call pkg_names,$(LIBRARIES))))$(PKG_LIBS)
TEST_LIBS = $(eval TEST_LIBS := $$(shell $(PKG_CONFIG) --libs $(call pkg_names,$(TEST_LIBRARIES))))$(TEST_LIBS)

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Wcast-align -Wundef \
	-Wvla -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings
HARDENING := -fstack-protector-strong -fPIE
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
FRAMES := -g -fno-omit-frame-pointer
NO_RECOVER := -fno-sanitize-recover=all

# `check` is release with assertions, and warnings are errors.
flags_release := -O2 $(FRAMES) -DNDEBUG $(FORTIFY)
flags_debug := -Og -g3 -fno-omit-frame-pointer
flags_check := -O2 $(FRAMES) $(FORTIFY) -Werror
flags_asan := -O1 $(FRAMES) -fsanitize=address,undefined $(NO_RECOVER)
flags_ubsan := -O1 $(FRAMES) -fsanitize=undefined $(NO_RECOVER)
flags_tsan := -O1 $(FRAMES) -fsanitize=thread $(NO_RECOVER)
flags_cov := -O0 -g --coverage

LTO ?= 0
VARIANT_FLAGS := $(flags_$(VARIANT)) $(if $(filter 1,$(LTO)),-flto)
CPPFLAGS_ALL := -I. -D_POSIX_C_SOURCE=200809L $(CPPFLAGS)
CFLAGS_ALL = -std=c11 -pthread $(WARNINGS) $(HARDENING) $(VARIANT_FLAGS) $(CFLAGS)
LDFLAGS_ALL = -pthread -pie -Wl,-z,relro,-z,now $(VARIANT_FLAGS) $(LDFLAGS)

# --- building -----------------------------------------------------------------

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

all: $(BUILD)/etlheap ## the library and the program, build/etlheap (default)

# Only the release variant, built by the default compiler, is "the" program.
ifeq ($(OUT),$(BUILD)/release)
$(BUILD)/etlheap: $(PROGRAM)
	$(Q)cp $< $@.new && mv $@.new $@
else
$(BUILD)/etlheap: $(PROGRAM)
.PHONY: $(BUILD)/etlheap
endif

library: $(LIBRARY) ## the library alone, build/<variant>/libetlheap.a
tests: $(TEST_PROGRAMS) $(TEST_TOOLS) ## all test programs and test tools, not run
objects: $(call objects_of,$(ALL_SRCS))

READY := $(OUT)/.ready
TESTS_READY := $(OUT)/.tests-ready

define archive
	$(SAY) "  AR    $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^
endef

define link
	$(SAY) "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(1) $(PKG_LIBS)
endef

$(LIBRARY): $(call objects_of,$(LIB_SRCS))
	$(archive)

$(CLI_LIBRARY): $(call objects_of,$(filter-out cli/main.c,$(CLI_SRCS)))
	$(archive)

$(BUILDER_LIBRARY): $(call objects_of,$(BUILDER_SRCS))
	$(archive)

$(TEST_LIBRARY): $(call objects_of,$(TEST_SUPPORT_SRCS))
	$(archive)

$(PROGRAM): $(OUT)/cli/main.o $(CLI_LIBRARY) $(LIBRARY)
	$(call link)

$(TEST_PROGRAMS): $(OUT)/tests/%: $(OUT)/tests/%.o $(TEST_LIBRARY) $(BUILDER_LIBRARY) $(CLI_LIBRARY) $(LIBRARY)
	$(call link,$(TEST_LIBS))

$(TEST_TOOLS): $(OUT)/%: $(OUT)/tests/%.o $(BUILDER_LIBRARY) $(LIBRARY)
	$(call link)

$(OUT)/%.o: %.c $(OUT)/.flags | $(READY)
	$(SAY) "  CC    $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

$(call objects_of,$(TEST_SRCS) $(TEST_SUPPORT_SRCS)): | $(TESTS_READY)

-include $(patsubst %.o,%.d,$(call objects_of,$(ALL_SRCS)))

# A change of compiler or flags rebuilds; the file's time changes only then.
$(OUT)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL)' | cmp -s - $@ || \
		echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL)' > $@

# One clear sentence for each thing that is missing, before the first compile.
define need_libraries
	@for pair in $(1); do \
		$(PKG_CONFIG) --exists "$${pair%%:*}" || { \
		echo "etlheap needs $${pair%%:*}, which pkg-config does not find;" \
			"install it with: sudo apt-get install pkg-config $${pair##*:}" >&2; exit 1; }; done
endef

VERSION = $(shell sed -n 's/^.define ETLHEAP_VERSION "\(.*\)"/\1/p' parser/parser.h)
CHANGELOG_VERSION = $(shell sed -n 's/^\#\# \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)

$(READY): parser/parser.h CHANGELOG.md
	@mkdir -p $(@D)
	@command -v $(CC) > /dev/null || { \
		echo "etlheap needs the compiler $(CC); install it with: sudo apt-get install $(COMPILER)" >&2; exit 1; }
	$(call need_libraries,$(LIBRARIES))
	@test "$(VERSION)" = "$(CHANGELOG_VERSION)" || { \
		echo "parser/parser.h says version $(VERSION), but CHANGELOG.md's top entry is" \
			"$(CHANGELOG_VERSION); make them equal" >&2; exit 1; }
	@touch $@

$(TESTS_READY): | $(READY)
	$(call need_libraries,$(TEST_LIBRARIES))
	@touch $@

# As many jobs as there are cores, unless the caller's make already shares out its own.
PARALLEL_MAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# --- checking -----------------------------------------------------------------

check: ## installs what tests need, builds with -Werror, runs every test
	@sh tests/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=check check-run

check-asan: ## the tests under AddressSanitizer and UBSan
	@sh tests/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=asan check-run

check-ubsan: ## the tests under UBSan
	@sh tests/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=ubsan check-run

check-tsan: ## the tests under ThreadSanitizer
	@sh tests/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=tsan check-run

check-run: $(PROGRAM) tests
	@BUILD='$(BUILD)' OUT='$(OUT)' TRACES='$(TRACES)' CC='$(CC)' PYTHON='$(PYTHON)' MAKE='$(MAKE)' \
		bash tests/run_tests.sh

layers: ## checks that includes only go downward
	@awk -f tests/layers.awk $(ALL_FILES)

limits: ## checks file and function lengths
	@awk -f tests/limits.awk $(ALL_FILES)

CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14) clang-format)

format: ## formats all C files in place
	$(Q)$(CLANG_FORMAT) -i $(ALL_FILES)

format-check: ## fails when a C file is not formatted
	$(Q)$(CLANG_FORMAT) --dry-run --Werror $(ALL_FILES)

# --- the rest -----------------------------------------------------------------

demo: ## installs what the build needs, builds, and reports on a sample trace
	@sh tests/check_deps.sh build
	+@$(PARALLEL_MAKE) VARIANT=release demo-run

demo-run: all $(TEST_TOOLS)
	@echo "$$ $(OUT)/make_trace demo $(BUILD)/demo.etl"
	@$(OUT)/make_trace demo $(BUILD)/demo.etl
	@echo "$$ $(BUILD)/etlheap info $(BUILD)/demo.etl"
	@$(BUILD)/etlheap info $(BUILD)/demo.etl
	@echo "$$ $(BUILD)/etlheap report $(BUILD)/demo.etl"
	@$(BUILD)/etlheap report $(BUILD)/demo.etl

cov: ## line coverage of each source file by the tests
	@sh tests/check_deps.sh build test
	@find $(BUILD)/cov -name '*.gcda' -delete 2> /dev/null || true
	+@$(PARALLEL_MAKE) VARIANT=cov check-run
	@sh tests/coverage.sh $(BUILD)/cov $(LIB_SRCS) $(CLI_SRCS)

clean: ## removes everything that was built
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo '  VARIANT=release|debug|check|asan|ubsan|tsan|cov  CC=gcc|clang  V=1  LTO=1  TRACES=FOLDER'

FORCE:
.PHONY: all library tests objects check check-asan check-ubsan check-tsan check-run layers limits \
	format format-check demo demo-run cov clean help FORCE
