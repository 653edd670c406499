# etlheap - one make, no recursion into folders: what builds, checks and installs is here, the lists
# of sources and the goals of fuzzing, measuring and packing lie beside what they serve (*.mk).
#
#   make                      the program, build/etlheap
#   make check                what continuous integration runs
#   make VARIANT=debug        release | debug | check | asan | ubsan | tsan | cov
#   make CC=clang             gcc (default) or clang; objects are kept apart
#   make V=1                  shows the commands
#   make BUILD=/tmp/x         builds somewhere else
#   make windows              build/windows/etlheap.exe, the same for Windows
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
NM ?= nm
OBJCOPY ?= objcopy

ifeq ($(filter $(VARIANT),release debug check asan ubsan tsan cov fuzz fuzzcov),)
$(error VARIANT=$(VARIANT) is none of release, debug, check, asan, ubsan, tsan, cov, fuzz)
endif

# Rules are made of the names of what is built.
$(if $(filter-out 1,$(words $(BUILD))),$(error BUILD='$(BUILD)' contains a space; name a folder without one))

# Which of the files that come in two kinds are built: *_posix.c or *_windows.c. The
# compiler for Windows runs here, with libraries of its own (see `make windows-deps`).
# Build agents have a variable of this name, which means other things.
ifneq ($(origin PLATFORM),command line)
PLATFORM := $(if $(findstring mingw,$(CC)),windows,posix)
endif
WINDOWS_DEPS ?= $(BUILD)/windows/deps
ifeq ($(PLATFORM),windows)
HOST := x86_64-w64-mingw32-
CC := $(HOST)gcc-posix
AR := $(HOST)ar
PKG_CONFIG := PKG_CONFIG_LIBDIR='$(abspath $(WINDOWS_DEPS))/lib/pkgconfig' pkg-config --static
EXE := .exe
endif

COMPILER := $(if $(findstring clang,$(notdir $(CC))),clang,gcc)
OUT := $(BUILD)/$(if $(EXE),windows/)$(VARIANT)$(if $(filter clang,$(COMPILER)),-clang)
Q := $(if $(filter 1,$(V)),,@)
SAY := @$(if $(filter 1,$(V)),:,echo)

# --- sources ------------------------------------------------------------------

# Sources are found, not listed, so that a new file is written and nothing else. What systems do
# differently is in pairs of files, *_posix.c and *_windows.c.
sources_in = $(sort $(wildcard $(1)/*.c $(1)/*/*.c))
POSIX_SRCS := $(filter %_posix.c,$(foreach folder,parser engine formats cli,$(call sources_in,$(folder))))
WINDOWS_SRCS := $(POSIX_SRCS:%_posix.c=%_windows.c) parser/system/wide_windows.c
OTHER_SRCS := $(if $(filter windows,$(PLATFORM)),$(POSIX_SRCS),$(WINDOWS_SRCS))
PARSER_SRCS := $(filter-out $(OTHER_SRCS),$(call sources_in,parser))
ENGINE_SRCS := $(filter-out $(OTHER_SRCS),$(call sources_in,engine))
FORMATS_SRCS := $(filter-out $(OTHER_SRCS),$(call sources_in,formats))
CLI_SRCS := $(filter-out $(OTHER_SRCS),$(call sources_in,cli))

# So are tests: one that is forgotten here would never run. What lies in which folder is in
# tests/README.md.
TEST_SRCS := $(sort $(wildcard tests/unit/*/test_*.c))
TEST_TOOL_SRCS := $(sort $(wildcard tests/build/make_*.c tests/oracles/make_*.c))

# Of two programs, which fork children for faults (see `make faults`).
FAULT_SRCS := $(sort $(wildcard tests/faults/fault_*.c))

# What writes traces needs no test framework: the demo is made with it.
BUILDER_SRCS := $(filter-out $(TEST_TOOL_SRCS),$(sort $(wildcard tests/build/*.c tests/models/workload_*.c)))
# Loaded into other programs, and linked with nothing.
PRELOAD_SRCS := tests/oracles/memory_count.c
TEST_SUPPORT_SRCS := $(filter-out $(TEST_SRCS) $(TEST_TOOL_SRCS) $(BUILDER_SRCS) $(FAULT_SRCS) $(PRELOAD_SRCS),$(sort $(wildcard tests/*/*.c tests/unit/*/*.c)))

# Tests for Windows make the few POSIX calls of posix_calls.h. What needs signals, pipes,
# links, limits, pages that must not be read, a shell, a server of its own, or files that go
# or change while they are open is tested here alone; so is what needs XPath, which the
# libraries for Windows go without.
POSIX_TESTS := $(foreach name,cold_file test_below test_cgroup test_index_ahead test_read_ahead test_export_wpa test_event_list_disk test_map test_memory_count test_memory_limit test_sink test_symbol_cab test_symbol_cache \
	test_symbol_fetch test_symbol_resume test_symbol_partial test_symbol_path test_symbol_server test_symbol_tls test_tag_groups \
	test_text_buffer test_export_perfview test_lifetimes_damage test_pe_real test_unpack_beside test_zip_input \
	http_server symbol_fetcher symbol_finder make_symbolize,$(wildcard tests/*/$(name).c tests/unit/*/$(name).c))
ifeq ($(PLATFORM),windows)
TEST_SRCS := $(filter-out $(POSIX_TESTS),$(TEST_SRCS))
TEST_TOOL_SRCS := $(filter-out $(POSIX_TESTS),$(TEST_TOOL_SRCS))
TEST_SUPPORT_SRCS := $(filter-out $(POSIX_TESTS),$(TEST_SUPPORT_SRCS))
else
TEST_SUPPORT_SRCS := $(filter-out tests/support/posix_calls.c,$(TEST_SUPPORT_SRCS))
endif

# Each of these is a program, the others in bench/ are what they share.
BENCH_PROGRAM_SRCS := bench/make_bench.c bench/make_pdb.c bench/make_small.c bench/heaptrack_file.c bench/make_stream.c bench/rss_anon.c \
	$(sort $(wildcard bench/bench_*.c))
BENCH_SUPPORT_SRCS := $(filter-out $(BENCH_PROGRAM_SRCS),$(sort $(wildcard bench/*.c)))

# One function each, linked with libFuzzer or with replay.c.
FUZZ_SRCS := $(sort $(wildcard fuzz/fuzz_*.c))
FUZZ_TARGETS := $(patsubst fuzz/fuzz_%.c,%,$(filter-out fuzz/fuzz_file.c,$(FUZZ_SRCS)))
WORKLOAD_SRCS := $(patsubst %,fuzz/workload_%.c,world heap memory told true mutate)
FUZZ_SHARED_SRCS := fuzz/replay.c fuzz/trace_check.c fuzz/ehs_mutate.c fuzz/hostile_build.c $(WORKLOAD_SRCS)

LIB_SRCS := $(PARSER_SRCS) $(ENGINE_SRCS) $(FORMATS_SRCS)
ALL_SRCS := $(LIB_SRCS) $(CLI_SRCS) $(BUILDER_SRCS) $(TEST_SUPPORT_SRCS) $(TEST_TOOL_SRCS) $(TEST_SRCS) $(FAULT_SRCS) $(PRELOAD_SRCS) \
	$(BENCH_SUPPORT_SRCS) $(BENCH_PROGRAM_SRCS) $(FUZZ_SRCS) $(FUZZ_SHARED_SRCS)
# In folders of theirs too: what is not listed here no check of the text would see.
ALL_FILES := $(sort $(foreach folder,parser engine formats cli tests fuzz bench examples, \
	$(wildcard $(folder)/*.[ch] $(folder)/*/*.[ch] $(folder)/*/*/*.[ch])))

# A file that lies too deep to be found is not built, which its author should hear at once.
UNLISTED := $(filter-out $(LIB_SRCS) $(CLI_SRCS) $(OTHER_SRCS),$(filter parser/%.c engine/%.c formats/%.c cli/%.c,$(ALL_FILES)))
# Neither is a test that lies in no folder of tests/.
UNLISTED += $(sort $(wildcard tests/*.[ch] tests/*.py tests/*.sh tests/unit/*.[ch] tests/*/test_*.c))
$(if $(strip $(UNLISTED)),$(warning not found by this Makefile, and so not built: $(strip $(UNLISTED))))

, := ,
objects_of = $(patsubst %.c,$(OUT)/%.o,$(1))

# The page of `etlheap view`, reports, comparisons and trends, in the order in which its files are put together.
VIEW_FILES := $(addprefix formats/html/, \
	view.html \
	view_base.css \
	view_curve.css \
	view_table.css \
	view_flame.css \
	view_parts.css \
	view_code.css \
	view_compared.css \
	view_print.css \
	view_format.js \
	view_source.js \
	view_state.js \
	view_cells.js \
	view_sums.js \
	view_steps.js \
	view_trees.js \
	view_static.js \
	view_copy.js \
	view_filters.js \
	view_search.js \
	view_menu.js \
	view_parts.js \
	view_overview.js \
	view_curve.js \
	view_curve_draw.js \
	view_curve_brush.js \
	view_curve_legend.js \
	view_curve_signs.js \
	view_columns.js \
	view_table_rows.js \
	view_code.js \
	view_lines.js \
	view_table_head.js \
	view_table.js \
	view_blocks.js \
	view_flame.js \
	view_flame_draw.js \
	view_focus.js \
	view_map.js \
	view_lists.js \
	view_suspects.js \
	view_growth.js \
	view_sides.js \
	view_frees.js \
	view_histogram.js \
	view_compare.js \
	view_told.js \
	view_compared.js \
	view_runs.js \
	view_trend.js \
	view_trend_chart.js \
	view_diff.js \
	view_difference.js \
	view_difference_draw.js \
	view_wide.js \
	view_main.js \
	)
VIEW_PAGE := $(OUT)/formats/view_page

# The files of the demo, as C: see cli/demo/demo.c.
DEMO_DATA := $(OUT)/cli/demo/demo_data
DEMO_FILES := $(sort $(wildcard cli/demo/*.zst cli/demo/*/*.zst))

LIBRARY := $(OUT)/libetlheap.a
INSTALLED_LIBRARY := $(OUT)/installed/libetlheap.a
SHARED := $(OUT)/libetlheap.so
CLI_LIBRARY := $(OUT)/libcli.a
BUILDER_LIBRARY := $(OUT)/libbuilder.a
TEST_LIBRARY := $(OUT)/libtestsupport.a
BENCH_LIBRARY := $(OUT)/libbench.a
PROGRAM := $(OUT)/etlheap$(EXE)
# By name alone: a test keeps its name when it moves to another room.
TEST_PROGRAMS := $(patsubst %.c,$(OUT)/tests/%$(EXE),$(notdir $(TEST_SRCS)))
TEST_TOOLS := $(patsubst %.c,$(OUT)/%$(EXE),$(notdir $(TEST_TOOL_SRCS)))
# What measures memory: sanitizers would count as well.
MEMORY_TOOLS := $(if $(filter check,$(VARIANT)),$(OUT)/memory_count.so $(OUT)/bench/make_bench)
FAULT_PROGRAMS := $(OUT)/fault_program $(OUT)/fault_matrix
REPLAY_PROGRAMS := $(patsubst %,$(OUT)/fuzz/replay_%,$(FUZZ_TARGETS))
FUZZ_PROGRAMS := $(patsubst %,$(OUT)/fuzz/fuzz_%,$(FUZZ_TARGETS))
FUZZ_SUPPORT := $(OUT)/fuzz/fuzz_file.o $(OUT)/fuzz/trace_check.o
BENCH_PROGRAMS := $(patsubst bench/%.c,$(OUT)/bench/%,$(BENCH_PROGRAM_SRCS))

# --- flags --------------------------------------------------------------------

# pkg-config name and Debian package, side by side.
LIBRARIES := libxxhash:libxxhash-dev libzstd:libzstd-dev libzip:libzip-dev \
	libmspack:libmspack-dev libxml-2.0:libxml2-dev zlib:zlib1g-dev
# Compiled with, but loaded when they are needed (parser/system/late_library.h), if they are there.
LATE_LIBRARIES := libcurl:libcurl4-openssl-dev libmicrohttpd:libmicrohttpd-dev
DYNAMIC_LINKER := $(if $(filter posix,$(PLATFORM)),-ldl)
# Programs for Windows have them in themselves.
LINKED_LIBRARIES := $(LIBRARIES) $(if $(filter windows,$(PLATFORM)),$(LATE_LIBRARIES))
# A library of packaging/static_deps.sh, which is linked, says so in its flags.
HTTP_LINKED = $(if $(findstring -DVIEW_HTTP_LINKED,$(PKG_CFLAGS)),libmicrohttpd)
TEST_LIBRARIES := cmocka:libcmocka-dev
pkg_names = $(foreach pair,$(1),$(firstword $(subst :, ,$(pair))))

# Asked of pkg-config on first use, not on every `make help`.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(call pkg_names,$(LIBRARIES) $(LATE_LIBRARIES))))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell $(PKG_CONFIG) --libs $(call pkg_names,$(LINKED_LIBRARIES) $(HTTP_LINKED))) $(DYNAMIC_LINKER))$(PKG_LIBS)
TEST_LIBS = $(eval TEST_LIBS := $$(shell $(PKG_CONFIG) --libs $(call pkg_names,$(TEST_LIBRARIES))))$(TEST_LIBS)

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Wcast-align -Wundef \
	-Wvla -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings
# The archive and the shared library are made of the same objects. The linker undoes
# what -fPIC does to a program: it runs the same number of instructions as with -fPIE.
hardening_posix := -fstack-protector-strong -fPIC -fno-semantic-interposition
hardening_windows := -fstack-protector-strong
HARDENING := $(hardening_$(PLATFORM))
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
flags_fuzz := -O1 $(FRAMES) -DFUZZ_SAMPLE=1 -fsanitize=fuzzer-no-link,address,undefined $(NO_RECOVER)
flags_fuzzcov := -O1 $(FRAMES) -fprofile-instr-generate -fcoverage-mapping

# Objects have machine code besides, so that the library can be installed for everybody.
LTO ?= 0
lto_gcc := -flto -ffat-lto-objects
lto_clang := -flto
VARIANT_FLAGS := $(flags_$(VARIANT)) $(if $(filter 1,$(LTO)),$(lto_$(COMPILER)))

# Rooms with code for each record or event: loops that pay to be unrolled and split.
HOT_ROOMS := parser/etl engine/context engine/read engine/pair engine/log engine/fold
$(HOT_ROOMS:%=$(OUT)/%/%.o): private VARIANT_FLAGS := $(patsubst -O2,-O3,$(VARIANT_FLAGS))

# Windows 10 and later, names of files in UTF-16, and printf as C has it.
system_posix := -D_POSIX_C_SOURCE=200809L
system_windows := -D_WIN32_WINNT=0x0A00 -DUNICODE -D_UNICODE -D_FILE_OFFSET_BITS=64 -D__USE_MINGW_ANSI_STDIO=1
CPPFLAGS_ALL := -I. $(system_$(PLATFORM)) $(CPPFLAGS)
# Debug information says where in the tree a file lies, and not where the tree lies or
# what is generated goes: the same sources are the same bytes. The compiler takes its
# own folder from PWD, which may go through links.
export PWD := $(CURDIR)
NO_PLACE := "-ffile-prefix-map=$(CURDIR)=." -ffile-prefix-map=$(OUT)=generated
CFLAGS_ALL = -std=c11 -pthread $(WARNINGS) $(HARDENING) $(VARIANT_FLAGS) $(NO_PLACE) $(CFLAGS)
LDFLAGS_SHARED = -pthread -Wl,-z,relro,-z,now $(VARIANT_FLAGS) $(LDFLAGS)
# Without a time stamp the same sources are the same bytes. Stacks are as large as here.
link_posix = -pie $(LDFLAGS_SHARED)
link_windows = -static -pthread $(HARDENING) -Wl,--dynamicbase,--nxcompat,--high-entropy-va \
	-Wl,--no-insert-timestamp,--stack,8388608,--gc-sections $(VARIANT_FLAGS) $(LDFLAGS)
LDFLAGS_ALL = $(link_$(PLATFORM))

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

library: $(LIBRARY) $(INSTALLED_LIBRARY) $(SHARED) ## the library alone, build/<variant>/libetlheap.{a,so}
tests: $(TEST_PROGRAMS) $(TEST_TOOLS) $(REPLAY_PROGRAMS) $(FAULT_PROGRAMS) ## all test programs and test tools, not run
objects: $(call objects_of,$(ALL_SRCS))

# Warnings alone, without objects: of all sources, or those of some folders.
FOLDERS ?= parser engine formats cli tests bench fuzz
syntax: $(patsubst %.c,%.syntax,$(filter $(FOLDERS:%=%/%),$(ALL_SRCS)))
%.syntax: %.c
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PKG_CFLAGS) -fsyntax-only $<

READY := $(OUT)/.ready
TESTS_READY := $(OUT)/.tests-ready

define archive
	$(SAY) "  AR    $@"
	$(Q)rm -f $@ && $(AR) rcsD $@ $^
endef

define link
	$(SAY) "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter-out %.o,$^) $(1) $(PKG_LIBS)
endef

LIBRARY_OBJECTS := $(call objects_of,$(LIB_SRCS)) $(VIEW_PAGE).o

$(LIBRARY): $(LIBRARY_OBJECTS)
	$(archive)

# An archive cannot hide what its members share, so in the one that is installed all that
# is not public and has no prefix of ours gets one: a program may have a function of any
# other name. One relocatable object could hide it, but every program would be linked with
# all of the library.
$(INSTALLED_LIBRARY): $(LIBRARY) $(OUT)/exports.map
	$(SAY) "  NAMES $@"
	@mkdir -p $(@D)
	$(Q)$(NM) --extern-only --defined-only --format=posix $< | \
		awk 'NR == FNR { if (sub(/;$$/, "", $$1)) public[$$1]; next } \
			NF > 2 && $$1 !~ /^etl/ && !($$1 in public) { print $$1, "etlheap_internal_" $$1 }' \
			$(OUT)/exports.map - | LC_ALL=C sort -u > $(@D)/names
	$(Q)$(OBJCOPY) --enable-deterministic-archives --redefine-syms=$(@D)/names \
		--remove-section='.gnu.lto_*' --remove-section='.gnu.debuglto_*' $< $@.new || { \
		echo 'the library cannot be installed of these objects; LTO=1 takes CC=gcc here' >&2; exit 1; }
	$(Q)mv $@.new $@

# Only what public headers declare is exported.
$(SHARED): $(LIBRARY_OBJECTS) $(OUT)/exports.map
	$(SAY) "  LINK  $@"
	$(Q)$(CC) -shared $(LDFLAGS_SHARED) -Wl,-soname,libetlheap.so.$(SOVERSION) \
		$(if $(findstring -fsanitize,$(VARIANT_FLAGS)),,-Wl,-z,defs) \
		-Wl,--version-script=$(OUT)/exports.map -o $@ $(filter %.o,$^) $(PKG_LIBS)

$(OUT)/exports.map: FORCE | $(READY)
	@awk -v node=ETLHEAP_$(SOVERSION) -f packaging/exports.awk $(PUBLIC_HEADERS) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(CLI_LIBRARY): $(call objects_of,$(filter-out cli/main.c,$(CLI_SRCS))) $(DEMO_DATA).o
	$(archive)

$(BUILDER_LIBRARY): $(call objects_of,$(BUILDER_SRCS))
	$(archive)

$(TEST_LIBRARY): $(call objects_of,$(TEST_SUPPORT_SRCS))
	$(archive)

$(BENCH_LIBRARY): $(call objects_of,$(BENCH_SUPPORT_SRCS))
	$(archive)

$(PROGRAM): $(OUT)/cli/main.o $(CLI_LIBRARY) $(LIBRARY) $(if $(EXE),$(OUT)/resources.o)
	$(call link)

$(foreach source,$(TEST_SRCS),$(eval $(OUT)/tests/$(notdir $(source:.c=$(EXE))): $(call objects_of,$(source))))
$(TEST_PROGRAMS): $(TEST_LIBRARY) $(BUILDER_LIBRARY) $(CLI_LIBRARY) $(LIBRARY)
	$(call link,$(TEST_LIBS))

$(foreach source,$(TEST_TOOL_SRCS),$(eval $(OUT)/$(notdir $(source:.c=$(EXE))): $(call objects_of,$(source))))
$(OUT)/make_demo_symbols$(EXE): $(call objects_of,tests/support/pdb_build.c tests/support/pdb_build_file.c)
$(TEST_TOOLS): $(BUILDER_LIBRARY) $(LIBRARY)
	$(call link)

$(OUT)/memory_count.so: $(call objects_of,$(PRELOAD_SRCS))
	$(SAY) "  LINK  $@"
	$(Q)$(CC) -shared -Wl,-z,defs $(LDFLAGS) -o $@ $< -ldl

# The program as it is, but its calls of these end in fault_program.c.
WRAPPED := malloc calloc realloc aligned_alloc strdup realpath open fopen stat fstat read mmap write \
	pwrite close rename mkstemp ftruncate pthread_create
FAULT_MAIN := $(OUT)/cli/main.o $(CLI_LIBRARY)

$(OUT)/fault_program: LDFLAGS += $(patsubst %,-Wl$(,)--wrap=%,$(WRAPPED))
$(OUT)/fault_program: $(OUT)/tests/faults/fault_program.o $(FAULT_MAIN) $(LIBRARY)
	$(call link)

$(OUT)/fault_matrix: $(patsubst %,$(OUT)/tests/faults/fault_%.o,matrix inputs large) $(OUT)/fuzz/trace_check.o $(OUT)/fuzz/fuzz_file.o \
		$(BUILDER_LIBRARY) $(LIBRARY)
	$(call link)

$(VIEW_PAGE).c: formats/html/embed.awk $(VIEW_FILES)
	$(SAY) "  AWK   $@"
	@mkdir -p $(@D)
	$(Q)LC_ALL=C awk -v page=view_page -f formats/html/embed.awk $(VIEW_FILES) > $@

$(DEMO_DATA).c: cli/demo/embed.sh $(DEMO_FILES)
	$(SAY) "  EMBED $@"
	@mkdir -p $(@D)
	$(Q)sh cli/demo/embed.sh cli/demo $(DEMO_FILES) > $@

$(VIEW_PAGE).o $(DEMO_DATA).o: %.o: %.c $(OUT)/.flags | $(READY)
	$(SAY) "  CC    $@"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/%.o: %.c $(OUT)/.flags | $(READY)
	$(SAY) "  CC    $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

$(call objects_of,$(TEST_SRCS) $(TEST_SUPPORT_SRCS)): | $(TESTS_READY)
ifeq ($(PLATFORM),windows)
$(call objects_of,$(TEST_SRCS) $(TEST_SUPPORT_SRCS)): private CPPFLAGS_ALL += -include tests/support/posix_calls.h
$(TEST_PROGRAMS): private LDFLAGS += -Wl,-u,posix_calls_fclose
endif

-include $(patsubst %.o,%.d,$(call objects_of,$(ALL_SRCS))) $(VIEW_PAGE).d $(DEMO_DATA).d

# A change of compiler or flags rebuilds; the file's time changes only then.
$(OUT)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL)' | cmp -s - $@ || \
		echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL)' > $@

# One sentence for all that is missing, before the first compile: what is not found, and the
# command that installs it.
define need_packages
	@names= packages=; lacks() { names="$$names, $$1" packages="$$packages $$2"; }; \
	$(if $(1),command -v $(1) > /dev/null || lacks 'the compiler $(1)' $(COMPILER);) \
	command -v $(lastword $(filter-out -%,$(PKG_CONFIG))) > /dev/null || lacks pkg-config pkg-config; \
	for pair in $(2); do $(PKG_CONFIG) --exists "$${pair%%:*}" 2> /dev/null || lacks "$${pair%%:*}" "$${pair##*:}"; done; \
	test -z "$$names" || { \
		echo "etlheap cannot be built, because this is missing: $${names#, };" \
			"install it with: sudo apt-get install$$packages" >&2; exit 1; }
endef

VERSION = $(shell sed -n 's/^.define ETLHEAP_VERSION "\(.*\)"/\1/p' parser/parser.h)
CHANGELOG_VERSION = $(shell sed -n 's/^\#\# \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)

$(READY): parser/parser.h CHANGELOG.md
	@mkdir -p $(@D)
	$(call need_packages,$(CC),$(LIBRARIES) $(LATE_LIBRARIES))
	@test "$(VERSION)" = "$(CHANGELOG_VERSION)" || { \
		echo "parser/parser.h says version $(VERSION), but CHANGELOG.md's top entry is" \
			"$(CHANGELOG_VERSION); make them equal" >&2; exit 1; }
	@touch $@

$(TESTS_READY): | $(READY)
	$(call need_packages,,$(TEST_LIBRARIES))
	@touch $@

# As many jobs as there are cores, unless the caller's make already shares out its own.
PARALLEL_MAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# --- checking -----------------------------------------------------------------

check: ## installs what tests need, builds with -Werror, runs every test
	@sh tests/run/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=check check-run

check-asan: ## the tests under AddressSanitizer and UBSan
	@sh tests/run/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=asan check-run

check-ubsan: ## the tests under UBSan
	@sh tests/run/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=ubsan check-run

check-tsan: ## the tests under ThreadSanitizer
	@sh tests/run/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=tsan check-run

check-run: $(PROGRAM) $(MEMORY_TOOLS) $(OUT)/bench/make_stream $(if $(filter check,$(VARIANT)),$(SHARED)) tests
	@BUILD='$(BUILD)' OUT='$(OUT)' TRACES='$(TRACES)' PYTHON='$(PYTHON)' \
		LONG='$(LONG)' bash tests/run/run_tests.sh

# LONG=1 takes every test in its long form: whole workloads, every fault. ONLY=asan,tsan
# takes some of the parts.
LONG ?= 0

check-nightly: ## all tests in their long form, sanitizers, Windows, packages, fleet, fuzzing: hours
	@BUILD='$(BUILD)' MAKE='$(MAKE)' ONLY='$(ONLY)' bash tests/run/run_nightly.sh

layers: ## checks that includes only go downward, and that every source is built
	@test -z "$(strip $(UNLISTED))"
	@awk -f tests/gates/layers.awk tests/gates/layers_upward.txt $(ALL_FILES)

words: ## checks that no library names an option, that old names stay away, and that scripts of a page share none
	@awk -f tests/gates/words.awk $(filter parser/% engine/% formats/%,$(ALL_FILES)) $(wildcard formats/html/*.js)
	@awk -f tests/gates/old_names.awk $(ALL_FILES)
	@awk -f tests/gates/page_names.awk $(VIEW_FILES)

null-offsets: ## checks that nothing is added to memory that may be NULL
	@awk -f tests/gates/null_offsets.awk $(filter parser/% engine/% formats/% cli/%,$(ALL_FILES))

limits: ## checks file and function lengths
	@awk -f tests/gates/limits.awk $(ALL_FILES)

# Of the objects that the tests are linked of, without compiling for Windows.
WINDOWS_TEST_OBJECTS = $(call objects_of,$(filter-out $(POSIX_TESTS),$(TEST_SRCS) $(TEST_SUPPORT_SRCS) $(BUILDER_SRCS)))
windows-calls: $(WINDOWS_TEST_OBJECTS) ## checks that unit tests call nothing that Windows does not have
	@CC='$(CC)' $(PYTHON) -B tests/gates/windows_calls.py $(WINDOWS_TEST_OBJECTS)

rooms: ## prints the shape of the libraries: loops over columns, circles, lines; fails at its limits
	@$(PYTHON) -B tests/gates/rooms.py $(ALL_FILES)
	@$(PYTHON) -B tests/gates/additions.py

CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14) clang-format)

print-files:
	@echo $(ALL_FILES)

print-archived:
	@echo $(ARCHIVED)

format: ## formats all C files in place
	$(Q)$(CLANG_FORMAT) -i $(ALL_FILES)

format-check: ## fails when a C file is not formatted
	$(Q)$(CLANG_FORMAT) --dry-run --Werror $(ALL_FILES)

# Every answer of another revision beside this tree's: tests/oracles/compare/. ACCEPT= is a file of
# differences that are meant, ONLY= a pattern of command lines, INPUTS= one of inputs' names.
compare: ## lists every output that differs from that of REV=, another revision
	@test -n '$(REV)' || { echo 'compare needs a revision: make compare REV=HEAD' >&2; exit 2; }
	+@$(PARALLEL_MAKE) VARIANT=release compare-run

COMPARE_JOBS ?= $(shell nproc)

compare-run: all $(OUT)/make_trace
	@PYTHONPATH=tests/oracles $(PYTHON) -B -m compare --rev '$(REV)' --etlheap '$(PROGRAM)' --make-trace '$(OUT)/make_trace' \
		--traces '$(TRACES)' --work '$(BUILD)/compare' --jobs '$(COMPARE_JOBS)' \
		$(if $(ACCEPT),--accept '$(ACCEPT)') $(if $(ONLY),--only '$(value ONLY)') $(if $(INPUTS),--inputs '$(value INPUTS)')

# --- installing ----------------------------------------------------------------

# The names and defaults of the GNU coding standards.
prefix ?= /usr/local
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datarootdir ?= $(prefix)/share
datadir ?= $(datarootdir)
docdir ?= $(datarootdir)/doc/etlheap
mandir ?= $(datarootdir)/man
bashcompletiondir ?= $(datadir)/bash-completion/completions
zshcompletiondir ?= $(datadir)/zsh/site-functions
fishcompletiondir ?= $(datadir)/fish/vendor_completions.d
# Debian has modules in /usr/lib/python3/dist-packages.
pythondir ?= $(datadir)/etlheap/python
INSTALL ?= install
LDCONFIG ?= ldconfig
LD_SO_CONF ?= /etc/ld.so.conf /etc/ld.so.conf.d/*.conf

# Raised when a program that was linked with the library would no longer run with it.
SOVERSION := 1

# The front doors and all that they include. Installed, they find each other by
# relative paths, so that nobody's own parser/parser.h gets in between.
FRONT_DOORS := parser/symbols.h formats/formats.h
PUBLIC_HEADERS = $(eval PUBLIC_HEADERS := $$(sort $$(filter %.h,$$(shell \
	$(CC) -I. -D_POSIX_C_SOURCE=200809L -MM -x c $(FRONT_DOORS)))))$(PUBLIC_HEADERS)
DATA_FILES = $(wildcard formats/*.xsd formats/*.sql formats/sql/*.sql)
FLEET_SCRIPTS = $(wildcard cli/fleet/*_*.sh)
RECORDING_KIT = $(wildcard packaging/recording/*)
# What the pages link to is there too, at the same place beside them.
EXAMPLES = $(wildcard examples/*)
DOCUMENTS = README.md CHANGELOG.md LICENSE bench/README.md bench/questions_baseline.md fuzz/README.md \
	$(wildcard docs/*.md docs/*.png docs/format/*.md docs/schema/*.json formats/*.md formats/sql/*.sql packaging/action/*)
# What an archive holds beside the program, its licences and its manual pages.
ARCHIVED = $(DOCUMENTS) $(EXAMPLES) $(RECORDING_KIT)
PAGES := $(OUT)/pages
TO := $(DESTDIR)

# A tree that is moved as a whole is found through ${prefix} (pkg-config --define-prefix).
under_prefix = $(patsubst $(prefix)/%,$${prefix}/%,$(1))
fill_in = sed -e 's|@version@|$(VERSION)|g' -e 's|@prefix@|$(prefix)|g' \
	-e 's|@libdir@|$(call under_prefix,$(libdir))|g' \
	-e 's|@includedir@|$(call under_prefix,$(includedir))|g' \
	-e 's|@static@|$(STATIC_LIBS)|g'
# What programs are linked with if they take the archive. Not as Requires.private: that would bring
# the libraries' include folders into every program, though no public header includes theirs.
# Without the packages that static linking takes, the shared libraries are named alone.
STATIC_LIBS = $(eval STATIC_LIBS := $$(shell $(PKG_CONFIG) --static --libs $(call pkg_names,$(LIBRARIES)) 2> /dev/null || \
	$(PKG_CONFIG) --libs $(call pkg_names,$(LIBRARIES))))$(STATIC_LIBS)

define install_headers
for header in $(PUBLIC_HEADERS); do \
		mkdir -p "$(OUT)/include/$${header%/*}" && $(INSTALL) -d "$(1)/$${header%/*}" && \
		sed 's|^#include "\([a-z]*/\)|#include "../\1|' "$$header" > "$(OUT)/include/$$header" && \
		$(INSTALL) -m 644 "$(OUT)/include/$$header" "$(1)/$$header" || exit 1; done
	$(INSTALL) -m 644 packaging/etlheap.h '$(1)/etlheap.h'
endef

install: install-program install-library ## installs all of it: DESTDIR=, prefix=, libdir=, ...

install-program: $(PROGRAM) pages
	$(INSTALL) -d '$(TO)$(bindir)' '$(TO)$(mandir)/man1' '$(TO)$(bashcompletiondir)' \
		'$(TO)$(zshcompletiondir)' '$(TO)$(fishcompletiondir)' '$(TO)$(datadir)/etlheap/fleet' \
		'$(TO)$(datadir)/etlheap/recording' \
		$(patsubst %,'$(TO)$(docdir)/%',$(sort $(dir $(DOCUMENTS))))
	$(INSTALL) $(PROGRAM) '$(TO)$(bindir)/etlheap'
	$(INSTALL) -m 644 $(PAGES)/*.1 '$(TO)$(mandir)/man1'
	$(INSTALL) -m 644 $(PAGES)/etlheap.bash '$(TO)$(bashcompletiondir)/etlheap'
	$(INSTALL) -m 644 $(PAGES)/etlheap.zsh '$(TO)$(zshcompletiondir)/_etlheap'
	$(INSTALL) -m 644 $(PAGES)/etlheap.fish '$(TO)$(fishcompletiondir)/etlheap.fish'
	for document in $(DOCUMENTS); do \
		$(INSTALL) -m 644 "$$document" "$(TO)$(docdir)/$$document" || exit 1; done
	$(INSTALL) -m 644 $(DATA_FILES) '$(TO)$(datadir)/etlheap'
	$(INSTALL) -m 644 cli/fleet/fleet.sh '$(TO)$(datadir)/etlheap/fleet'
	$(INSTALL) $(FLEET_SCRIPTS) '$(TO)$(datadir)/etlheap/fleet'
	$(INSTALL) -m 644 $(RECORDING_KIT) '$(TO)$(datadir)/etlheap/recording'

install-library: $(INSTALLED_LIBRARY) $(SHARED)
	$(INSTALL) -d '$(TO)$(libdir)/pkgconfig' '$(TO)$(docdir)/examples' '$(TO)$(pythondir)/etlheap'
	$(INSTALL) -m 644 $(INSTALLED_LIBRARY) '$(TO)$(libdir)/libetlheap.a'
	$(INSTALL) -m 644 $(SHARED) '$(TO)$(libdir)/libetlheap.so.$(VERSION)'
	ln -sf libetlheap.so.$(VERSION) '$(TO)$(libdir)/libetlheap.so.$(SOVERSION)'
	ln -sf libetlheap.so.$(SOVERSION) '$(TO)$(libdir)/libetlheap.so'
	$(fill_in) packaging/etlheap.pc.in > $(OUT)/etlheap.pc
	$(INSTALL) -m 644 $(OUT)/etlheap.pc '$(TO)$(libdir)/pkgconfig/etlheap.pc'
	$(INSTALL) -m 644 $(EXAMPLES) '$(TO)$(docdir)/examples'
	$(INSTALL) -m 644 packaging/python/etlheap.py '$(TO)$(pythondir)/etlheap/__init__.py'
	$(INSTALL) -m 644 packaging/python/py.typed '$(TO)$(pythondir)/etlheap/py.typed'
	$(call install_headers,$(TO)$(includedir)/etlheap)
	@test -n '$(DESTDIR)' || $(finds_library)

# Programs find a new library once it is in the loader's cache, if that has the folder.
finds_library = ! grep -qsx '$(libdir)' $(LD_SO_CONF) || $(LDCONFIG) || \
	echo 'the library is installed, but programs do not find it yet: run ldconfig as root' >&2

uninstall: ## removes what install installed, with the same DESTDIR=, prefix=, ...
	rm -f '$(TO)$(bindir)/etlheap' '$(TO)$(mandir)/man1/etlheap.1' '$(TO)$(mandir)'/man1/etlheap-*.1 \
		'$(TO)$(bashcompletiondir)/etlheap' '$(TO)$(zshcompletiondir)/_etlheap' \
		'$(TO)$(fishcompletiondir)/etlheap.fish' '$(TO)$(libdir)'/libetlheap.a '$(TO)$(libdir)'/libetlheap.so* \
		'$(TO)$(libdir)/pkgconfig/etlheap.pc'
	rm -rf '$(TO)$(includedir)/etlheap' '$(TO)$(pythondir)/etlheap' '$(TO)$(datadir)/etlheap'
	rm -f $(foreach file,$(DOCUMENTS) $(EXAMPLES),'$(TO)$(docdir)/$(file)')
	find '$(TO)$(docdir)' -depth -type d -empty -delete 2> /dev/null || true

# What programs were compiled with, and later libraries have to keep: docs/contributing.md.
abi-record: ## writes packaging/libetlheap-SOVERSION.abi, the binary interface of the stable functions
	@sh tests/run/check_deps.sh build test
	@$(call install_headers,$(OUT)/interface/etlheap)
	CC='$(CC)' $(PYTHON) -B packaging/abi.py record $(OUT)/interface/etlheap packaging/libetlheap-$(SOVERSION).abi

include packaging/packages.mk
include packaging/windows.mk

# --- other checks -----------------------------------------------------------------

# Slurm's and other daemons of its own, with ports, keys and folders of their own.
check-fleet: ## stores and merges with Slurm, GNU parallel and DuckDB, as cli/fleet/ does
	@sh tests/run/check_deps.sh build fleet
	+@$(PARALLEL_MAKE) check-fleet-run

check-fleet-run: $(PROGRAM) $(OUT)/make_trace
	@ETLHEAP='$(PROGRAM)' MAKE_TRACE='$(OUT)/make_trace' BUILD='$(BUILD)' OUT='$(OUT)' PYTHON='$(PYTHON)' bash tests/fleet/check_fleet.sh

# Manual pages and completions say what the program's table of options says: the program
# writes them, and the pages take in what cli/man/ adds in words.
pages: $(PROGRAM)
	@sh packaging/make_pages.sh '$(PROGRAM)' '$(PAGES)'

# All that `make check` takes samples of: a hundred thousand inputs, some minutes.
faults: ## every truncation, flipped bit, failing call and refused allocation; takes minutes
	@sh tests/run/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=$(FAULT_VARIANT) faults-run

FAULT_VARIANT := $(if $(filter release,$(VARIANT)),check,$(VARIANT))
FAULT_FOLDER = $(OUT)/faults.tmp
FAULT_ENVIRONMENT = rm -rf '$(FAULT_FOLDER)' && mkdir -p '$(FAULT_FOLDER)' && LONG=1 TEST_TMP='$(FAULT_FOLDER)' OUT='$(OUT)' TRACES='$(TRACES)' ETLHEAP='$(PROGRAM)' MAKE_TRACE='$(OUT)/make_trace'

faults-run: $(PROGRAM) $(TEST_TOOLS) $(FAULT_PROGRAMS)
	@$(FAULT_ENVIRONMENT) bash tests/faults/fault_matrix.sh
	@$(FAULT_ENVIRONMENT) bash tests/faults/fault_calls.sh
	@$(FAULT_ENVIRONMENT) bash tests/faults/fault_files.sh
	@$(FAULT_ENVIRONMENT) $(PYTHON) -B tests/oracles/oracle_batch.py
	@rm -rf '$(FAULT_FOLDER)'

include fuzz/fuzz.mk

# --- other programs ---------------------------------------------------------

# Some of the programs that read what `export` and `check` write are large: tests use those
# that are there, and say which are not. `make check` installs the others itself.
CONSUMERS = $(BUILD)/consumers

consumer-deps: ## installs the large programs that some tests use: 600 MB
	@sh tests/run/check_deps.sh consumers
	$(Q)npm install --silent --no-fund --no-audit --ignore-scripts --prefix '$(CONSUMERS)' \
		speedscope tree-sitter-powershell web-tree-sitter
	$(Q)BUILD='$(BUILD)' $(PYTHON) -B tests/oracles/oracle_sarif.py --install

include bench/bench.mk

# --- the rest -----------------------------------------------------------------

demo: ## installs what the build needs, builds, and reports on a sample trace
	@sh tests/run/check_deps.sh build
	+@$(PARALLEL_MAKE) VARIANT=release demo-run

demo-run: all
	@for words in 'selftest --write-demo $(BUILD)' 'info $(BUILD)/demo.etl' 'report $(BUILD)/demo.etl --symbols $(BUILD)/symbols'; do \
		echo "$$ $(BUILD)/etlheap $$words"; $(BUILD)/etlheap $$words || exit 1; done

# The bytes of the demo come from the tests' writer of traces; a change there is taken over here.
demo-update: $(PROGRAM) $(OUT)/make_trace $(OUT)/make_demo_symbols ## writes what the program keeps of the demo, in cli/demo
	@ETLHEAP='$(PROGRAM)' MAKE_TRACE='$(OUT)/make_trace' $(PYTHON) -B tests/oracles/oracle_demo.py --update

cov: ## line coverage by the tests: by file and folder, against the targets
	@sh tests/run/check_deps.sh build test
	@find $(BUILD)/cov -name '*.gcda' -delete 2> /dev/null || true
	+@$(PARALLEL_MAKE) CC=gcc VARIANT=cov check-run; status=$$?; \
		sh tests/gates/coverage.sh $(BUILD)/cov $(LIB_SRCS) $(CLI_SRCS) && exit $$status

# Changes one operator, number or statement at a time in the files where a wrong answer is
# silent, and runs the tests that must notice. A run goes on where the last one stopped.
FILES ?=
MUTANTS ?= 40
SEED ?= 1

mutate: ## mutation score: FILES= (files or groups), MUTANTS= a file (0: all), SEED=
	@sh tests/run/check_deps.sh build test
	+@$(PARALLEL_MAKE) VARIANT=check mutate-run

mutate-survivors: ## runs what survived `make mutate` again, under AddressSanitizer and UBSan
	+@$(PARALLEL_MAKE) VARIANT=asan MUTATE_FLAGS=--survivors mutate-run

mutate-run: $(PROGRAM) $(TEST_PROGRAMS) $(TEST_TOOLS)
	@nice -n 10 $(PYTHON) -B tests/mutate/mutate.py --files '$(FILES)' --mutants '$(MUTANTS)' --seed '$(SEED)' \
		--folder '$(BUILD)/mutate' --objects '$(OUT)' --compiler '$(CC)' --libraries='$(TEST_LIBS) $(PKG_LIBS)' \
		--cflags='$(PKG_CFLAGS) $(filter -fsanitize=% -fno-sanitize-recover=%,$(VARIANT_FLAGS))' $(MUTATE_FLAGS)

readme-update: all $(TEST_TOOLS) ## writes what the program prints into the examples of README and docs/
	$(Q)ETLHEAP='$(PROGRAM)' MAKE_TRACE='$(OUT)/make_trace' PYTHONDONTWRITEBYTECODE=1 \
		$(PYTHON) tests/oracles/cli_readme.py --update
	$(Q)$(PYTHON) -B tests/oracles/oracle_schemas.py --update
	$(Q)$(PYTHON) -B tests/oracles/oracle_doc_words.py --update

# Needs headless Chromium; pngquant and optipng, if they are there, make the files smaller.
screenshot: all $(TEST_TOOLS) ## writes the pictures of docs/: the HTML report and the view of the demo
	$(Q)ETLHEAP='$(PROGRAM)' MAKE_TRACE='$(OUT)/make_trace' $(PYTHON) -B tests/oracles/make_screenshot.py docs

clean: ## removes everything that was built
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' 'function show() { if (/^[a-z-]+:.*## /) printf "  %-14s %s\n", $$1, $$2 } \
		/^include / { file = $$0; sub("include ", "", file); while ((getline < file) > 0) show(); next } { show() }' \
		$(firstword $(MAKEFILE_LIST))
	@echo '  VARIANT=release|debug|check|asan|ubsan|tsan|cov  CC=gcc|clang  V=1  LTO=1  TRACES=FOLDER  BENCH_DIR=FOLDER'

FORCE:
.PHONY: check-nightly faults faults-run abi-record check-fleet check-fleet-run install install-program \
	install-library uninstall pages all library tests objects syntax check check-asan check-ubsan \
	check-tsan check-run compare compare-run print-files print-archived layers words null-offsets limits \
	rooms windows-calls demo-update format format-check consumer-deps demo demo-run screenshot cov \
	mutate mutate-survivors mutate-run readme-update clean help FORCE
