# windows.mk - the program for Windows: how it is finished, packed and tested. The Makefile includes it.
#
# The program is built here, by a compiler for Windows, with the rules of the Makefile: the goals run
# it again with PLATFORM=windows.

# For Windows it goes without what only debuggers read, and must not need any DLL that is
# not part of Windows.
SYSTEM_DLLS := advapi32 bcrypt crypt32 kernel32 msvcrt psapi shell32 user32 ws2_32

define strip_for_windows
	$(Q)$(HOST)strip $(1) --preserve-dates -o $@.new $<
	@dlls=$$($(HOST)objdump -p $@.new | sed -n 's/^.*DLL Name: \(.*\)\.dll$$/\1/p' | tr A-Z a-z); \
	for dll in $$dlls; do \
		case ' $(SYSTEM_DLLS) ' in *" $$dll "*) ;; *) \
		echo "$(@F) needs $$dll.dll, which is none of $(SYSTEM_DLLS)" >&2; exit 1 ;; esac; done
	@mv $@.new $@
endef

$(BUILD)/windows/etlheap.exe: $(OUT)/etlheap.exe
	$(call strip_for_windows)

# The library exports what the one for Linux does. etlheap.lib is for MinGW and for Microsoft's linker.
WINDOWS_LIBRARY ?= $(BUILD)/windows/library

$(WINDOWS_LIBRARY)/etlheap.dll: $(OUT)/etlheap.dll
	@mkdir -p $(@D)
	$(call strip_for_windows,--strip-unneeded)
	$(Q)$(HOST)dlltool --temp-prefix etlheap -d $(OUT)/etlheap.def -D etlheap.dll -l $(@D)/etlheap.lib
	$(call install_headers,$(@D)/include/etlheap)

$(OUT)/etlheap.dll: $(LIBRARY_OBJECTS) $(OUT)/etlheap.def
	$(SAY) "  LINK  $@"
	$(Q)$(CC) -shared $(filter-out -Wl$(,)--stack$(,)8388608,$(LDFLAGS_ALL)) -o $@ $(filter %.o,$^) $(OUT)/etlheap.def $(PKG_LIBS)

$(OUT)/etlheap.def: $(OUT)/exports.map
	@(echo 'LIBRARY etlheap.dll'; echo EXPORTS; sed -n 's/^    \(etl[a-z0-9_]*\);$$/    \1/p' $<) > $@

# Version and manifest, which Windows looks for in the program itself.
$(OUT)/resources.o: packaging/windows.rc.in packaging/windows.manifest parser/parser.h | $(READY)
	@mkdir -p $(@D)
	@sed -e 's/@version@/$(VERSION)/g' -e 's/@numbers@/$(subst .,$(,),$(VERSION)),0/g' $< > $(OUT)/resources.rc
	$(Q)$(HOST)windres --include-dir packaging -O coff -i $(OUT)/resources.rc -o $@

# Built here, by a compiler for Windows: the same Makefile again, with PLATFORM=windows.
FOR_WINDOWS = $(PARALLEL_MAKE) PLATFORM=windows VARIANT=release

windows-deps: ## builds what the Windows program is linked with, in build/windows/deps
	@sh tests/run/check_deps.sh windows
	@sh packaging/static_deps.sh '$(WINDOWS_DEPS)' windows-x64

windows: windows-deps ## the program for 64-bit Windows, build/windows/etlheap.exe, and the library
	+@$(FOR_WINDOWS) $(BUILD)/windows/etlheap.exe $(BUILD)/windows/library/etlheap.dll

windows-tests: windows-deps
	+@$(FOR_WINDOWS) windows-test-programs

windows-test-programs: $(TEST_PROGRAMS)

# Dated as the last commit, with the licences of all that is linked in. Manual pages are
# written by the program for Linux, of the variant that tests use.
WINDOWS_PROGRAM ?= $(BUILD)/windows/etlheap.exe
WINDOWS_ZIP ?= $(BUILD)/etlheap-$(VERSION)-windows-x64.zip

windows-dist: windows ## a zip of it with documents, build/etlheap-VERSION-windows-x64.zip
	+@$(PARALLEL_MAKE) VARIANT=check windows-zip

windows-zip: pages
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CHANGELOG.md)} LIBRARY='$(WINDOWS_LIBRARY)' \
		sh packaging/program_dist.sh windows-x64 '$(WINDOWS_PROGRAM)' $(PAGES) '$(WINDOWS_DEPS)' '$(WINDOWS_ZIP)' \
		$(ARCHIVED)

# RELEASE_URL is the folder from which the release's files are downloaded, HOME_URL the project's page.
windows-manifests: ## what winget and Scoop install the zip with, in build/manifests; after release-files
	@$(PYTHON) -B packaging/windows_manifests.py '$(WINDOWS_ZIP)' '$(BUILD)/SHA256SUMS' '$(BUILD)/manifests' \
		"$${PUBLISHER:?who publishes: the first part of the identifier}" "$${HOME_URL:?the page of the project, https://...}" \
		"$${RELEASE_URL:?the folder of the downloads, https://...}"

check-windows: ## the tests of the command line, and unit tests, under Wine
	@sh tests/run/check_deps.sh build test windows wine
	+@$(MAKE) --no-print-directory windows-tests
	+@$(MAKE) --no-print-directory windows-dist
	+@$(PARALLEL_MAKE) VARIANT=check check-windows-run

check-windows-run: $(PROGRAM) $(TEST_TOOLS) $(OUT)/bench/make_stream
	@BUILD='$(BUILD)' OUT='$(OUT)' WINDOWS_OUT='$(BUILD)/windows/release' WINDOWS_DEPS='$(WINDOWS_DEPS)' TRACES='$(TRACES)' PYTHON='$(PYTHON)' \
		bash tests/windows/run_windows.sh

.PHONY: windows-deps windows windows-tests windows-test-programs windows-dist windows-zip windows-manifests \
	check-windows check-windows-run
