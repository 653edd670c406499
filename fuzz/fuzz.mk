# fuzz.mk - fuzz targets: how they are linked, and the goals that run them. The Makefile includes it.
#
# In: the lists of fuzz targets and the libraries of the Makefile. Out: build/<variant>/fuzz/. A
# target is linked twice: with libFuzzer (fuzz_NAME), and with replay.c (replay_NAME) for tests.

# A target that changes its inputs itself.
$(OUT)/fuzz/replay_ehs $(OUT)/fuzz/fuzz_ehs: $(OUT)/fuzz/ehs_mutate.o
# Targets over traces with sizes and times of any magnitude.
$(patsubst %,$(OUT)/fuzz/%,replay_export fuzz_export replay_compare fuzz_compare): $(OUT)/fuzz/hostile_build.o
$(OUT)/fuzz/replay_names $(OUT)/fuzz/fuzz_names: $(OUT)/tests/support/hand_result.o
$(OUT)/fuzz/replay_wpaxml $(OUT)/fuzz/fuzz_wpaxml: $(OUT)/tests/support/wpa_xml_read.o
# Its libcurl answers what the bytes say, and its clock is moved by waiting.
$(OUT)/fuzz/replay_http $(OUT)/fuzz/fuzz_http: LDFLAGS += -Wl,--wrap=symbol_curl_load,--wrap=clock_gettime
$(OUT)/fuzz/replay_workload $(OUT)/fuzz/fuzz_workload: $(call objects_of,$(WORKLOAD_SRCS))
$(OUT)/fuzz/replay_workload $(OUT)/fuzz/fuzz_workload: LDFLAGS += -Wl,--wrap=event_list_open

$(REPLAY_PROGRAMS): $(OUT)/fuzz/replay_%: $(OUT)/fuzz/fuzz_%.o $(OUT)/fuzz/replay.o \
		$(FUZZ_SUPPORT) $(BUILDER_LIBRARY) $(CLI_LIBRARY) $(LIBRARY)
	$(call link)

$(FUZZ_PROGRAMS): LDFLAGS += -fsanitize=fuzzer
$(FUZZ_PROGRAMS): $(OUT)/fuzz/fuzz_%: $(OUT)/fuzz/fuzz_%.o $(FUZZ_SUPPORT) $(BUILDER_LIBRARY) \
		$(CLI_LIBRARY) $(LIBRARY)
	$(call link)

# What a run finds new is kept in build/fuzz-corpus; a crash leaves its input there.
TIME ?= 60
FUZZ_CORPUS = $(BUILD)/fuzz-corpus/$(T)

fuzz: ## runs the fuzz target T= (fuzz/fuzz_*.c) for TIME= seconds, with clang
	@test -n '$(filter $(T),$(FUZZ_TARGETS))' || { \
		echo "fuzz needs a target: make fuzz T=... with one of $(FUZZ_TARGETS)" >&2; exit 2; }
	+@$(PARALLEL_MAKE) CC=clang VARIANT=fuzz fuzz-run T='$(T)' TIME='$(TIME)'

fuzz-run: $(OUT)/fuzz/fuzz_$(T)
	@mkdir -p '$(FUZZ_CORPUS)'
	$< -max_total_time=$(TIME) -print_final_stats=1 -artifact_prefix='$(FUZZ_CORPUS)/' \
		'$(FUZZ_CORPUS)' fuzz/corpus/$(T)

fuzz-all: ## every fuzz target for TIME= seconds each
	+@for target in $(FUZZ_TARGETS); do \
		$(MAKE) --no-print-directory fuzz T=$$target TIME='$(TIME)' || exit 1; done

fuzz-programs: $(FUZZ_PROGRAMS)
fuzz-replays: $(REPLAY_PROGRAMS)

# Processor seconds of all targets together; shares and tables are in fuzz_hour.py. What
# was interrupted goes on with RESUME=1.
TOTAL ?= 3600
FUZZ_JOBS ?= $(shell nproc)
FUZZ_HOUR = $(PYTHON) -B fuzz/fuzz_hour.py
FUZZ_FOLDERS = --programs '$(BUILD)/fuzz-clang/fuzz' --work '$(BUILD)/fuzz-corpus'

fuzz-hour: ## fuzzes for an hour of processor time (TOTAL= seconds), and says what was reached
	+@$(PARALLEL_MAKE) CC=clang VARIANT=fuzz fuzz-programs
	+@$(PARALLEL_MAKE) CC=clang VARIANT=fuzzcov fuzz-replays
	@nice -n 10 $(FUZZ_HOUR) run $(FUZZ_FOLDERS) --replays '$(BUILD)/fuzzcov-clang/fuzz' \
		--total '$(TOTAL)' --jobs '$(FUZZ_JOBS)' $(if $(RESUME),--resume)

fuzz-corpus: ## chooses what fuzz/corpus keeps of all that fuzzing has found
	+@$(PARALLEL_MAKE) CC=clang VARIANT=fuzz fuzz-programs
	@nice -n 10 $(FUZZ_HOUR) corpus $(FUZZ_FOLDERS)

.PHONY: fuzz fuzz-run fuzz-all fuzz-hour fuzz-corpus fuzz-programs fuzz-replays
