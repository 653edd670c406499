# bench.mk - programs that measure: how they are linked, and the goals that run them. The Makefile
# includes it.

# The program as it is, but its crews end in bench_cores.c.
BENCH_CORES := $(OUT)/bench/bench_cores
$(BENCH_CORES): LDFLAGS += $(patsubst %,-Wl$(,)--wrap=%,etlheap_crew_open etlheap_crew_run etlheap_workers_run pair_slice pair_finish machine_processors)
$(BENCH_CORES): $(OUT)/bench/bench_cores.o $(FAULT_MAIN) $(BENCH_LIBRARY) $(LIBRARY)
	$(call link)

$(filter-out $(BENCH_CORES),$(BENCH_PROGRAMS)): $(OUT)/bench/%: $(OUT)/bench/%.o $(BENCH_LIBRARY) $(BUILDER_LIBRARY) $(LIBRARY)
	$(call link)

# The inputs are large: BENCH_DIR= puts them elsewhere, ONLY=heap,size measures a part.
BENCH_DIR ?= $(BUILD)/bench
BENCH_MODULES := $(BUILD)/bench-modules
RUNS ?= 5
BENCH_FOLDERS = --programs '$(OUT)/bench' --inputs '$(BENCH_DIR)'

bench: ## measures the program against its targets and its peers: one table, takes minutes
	+@$(PARALLEL_MAKE) VARIANT=release bench-run

bench-run: all $(BENCH_PROGRAMS)
	@$(PYTHON) -B bench/run_bench.py $(BENCH_FOLDERS) --etlheap '$(PROGRAM)' --traces '$(TRACES)' \
		--modules '$(BENCH_MODULES)' --runs '$(RUNS)' $(if $(ONLY),--only '$(value ONLY)') \
		$(if $(QUESTIONS),--questions '$(QUESTIONS)') $(if $(KEEP),--keep '$(KEEP)') \
		$(if $(VIEW_MINUTES),--view-minutes '$(VIEW_MINUTES)') \
		$(if $(REV),--rev '$(REV)' --work '$(BUILD)/bench-compare')

bench-compare: ## times this tree against REV=, another revision of it
	@test -n '$(REV)' || { echo 'bench-compare needs a revision: make bench-compare REV=HEAD' >&2; exit 2; }
	+@$(PARALLEL_MAKE) VARIANT=release bench-compare-run

bench-compare-run: all $(BENCH_PROGRAMS)
	@$(PYTHON) -B bench/bench_compare.py $(BENCH_FOLDERS) --etlheap '$(PROGRAM)' --rev '$(REV)' \
		--work '$(BUILD)/bench-compare' --runs '$(RUNS)'

bench-deps: ## installs the programs that bench compares with
	@sh bench/bench_deps.sh '$(BENCH_MODULES)'

bench-clean: $(BENCH_PROGRAMS) ## deletes the inputs that bench wrote
	@$(PYTHON) -B bench/run_bench.py $(BENCH_FOLDERS) --clean

.PHONY: bench bench-run bench-compare bench-compare-run bench-deps bench-clean
