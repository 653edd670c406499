# packages.mk - what is released: the sources, Debian packages, the program as one file for Linux, the
# image, and the lists of their contents. The Makefile includes it.

# The last commit, dated as it is: the same bytes wherever and whenever it is made.
DIST = $(BUILD)/etlheap-$(VERSION).tar.gz

dist: ## a source tarball of the last commit, build/etlheap-VERSION.tar.gz
	@mkdir -p $(BUILD)
	@test "$$(git rev-parse --show-prefix 2> /dev/null || echo none)" = '' || { \
		echo 'make dist packs the last commit, and this folder is not a git checkout: run it in one,' \
			'or pack the folder itself with tar' >&2; exit 1; }
	git archive --format=tar --prefix=etlheap-$(VERSION)/ --output=$(DIST).tar HEAD
	@gzip -9n < $(DIST).tar > $(DIST).new && rm $(DIST).tar && mv $(DIST).new $(DIST)

DEB := $(BUILD)/deb

deb: ## Debian packages of the program, the library and its headers, in build/deb
	@sh tests/run/check_deps.sh build deb
	rm -rf $(DEB)
	+$(MAKE) --no-print-directory VARIANT=release install DESTDIR='$(abspath $(DEB))/stage' prefix=/usr \
		libdir=/usr/lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH) \
		zshcompletiondir=/usr/share/zsh/vendor-completions pythondir=/usr/lib/python3/dist-packages
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CHANGELOG.md)} sh packaging/make_deb.sh \
		$(DEB)/stage $(DEB) $(VERSION) $(SOVERSION) $(foreach pair,$(LIBRARIES) $(LATE_LIBRARIES),$(lastword $(subst :, ,$(pair))))

check-deb: ## installs the packages in a clean Debian, and uses them there
	@sh tests/run/check_deps.sh build deb lintian
	+@$(PARALLEL_MAKE) check-deb-run

check-deb-run: deb $(PROGRAM) $(OUT)/make_trace
	@BUILD='$(BUILD)' ETLHEAP='$(PROGRAM)' MAKE_TRACE='$(OUT)/make_trace' bash tests/install/check_deb.sh $(DEB)

# Minimal systems of their own, as root: see the script. ONLY=debian12,demo takes a part.
check-bare: ## the README's two commands on bare Debian 12, Debian 13 and Ubuntu 24.04
	@sh tests/run/check_deps.sh bare
	@BUILD='$(BUILD)' bash tests/install/check_bare.sh $(subst $(,), ,$(ONLY))

check-arm: ## the program for arm64, under qemu, beside the one of this machine
	@sh tests/run/check_deps.sh build arm64
	+@$(PARALLEL_MAKE) VARIANT=check check-arm-run

check-arm-run: $(PROGRAM) $(OUT)/make_trace
	@BUILD='$(BUILD)' ETLHEAP='$(PROGRAM)' MAKE_TRACE='$(OUT)/make_trace' bash tests/install/check_arm64.sh

# --- one file for Linux ---------------------------------------------------------

# Built in a Debian 11, whose C library is older than those of the systems in use; LINUX_ROOT=- builds in this
# system. It takes minutes, and root.
LINUX := $(BUILD)/linux
LINUX_ROOT ?= $(LINUX)/root
LINUX_TARGETS ?= linux-x64 linux-arm64
PACKED ?= $(BUILD)
LINUX_ARCHIVES = $(LINUX_TARGETS:%=$(BUILD)/etlheap-$(VERSION)-%.tar.gz)

linux: ## the program for Linux as one file that needs libc only, in build/linux
	@sh tests/run/check_deps.sh linux
	@for target in $(LINUX_TARGETS); do sh packaging/linux_build.sh '$(LINUX)' '$(LINUX_ROOT)' $$target || exit 1; done

dist-linux: linux ## archives of it with documents, build/etlheap-VERSION-linux-*.tar.gz
	+@$(PARALLEL_MAKE) VARIANT=check dist-linux-run

dist-linux-run: pages
	@for target in $(LINUX_TARGETS); do \
		SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
		sh packaging/program_dist.sh $$target '$(LINUX)'/$$target/etlheap $(PAGES) '$(LINUX)'/$$target/deps \
			'$(PACKED)/etlheap-$(VERSION)'-$$target.tar.gz $(ARCHIVED) || exit 1; done

# With libcurl and certificates of Debian 12.
IMAGE_ROOT ?= $(LINUX)/image-root

image: dist-linux ## an OCI image of it with libcurl and certificates, build/etlheap-VERSION-image.tar
	@. packaging/debian_root.sh && make_debian_root '$(IMAGE_ROOT)' bookworm ca-certificates,libcurl4 '$(LINUX)/image-root.log'
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} $(PYTHON) -B packaging/image.py linux-x64 \
		'$(PACKED)/etlheap-$(VERSION)-linux-x64.tar.gz' '$(IMAGE_ROOT)' $(VERSION) '$(BUILD)/etlheap-$(VERSION)-image.tar' \
		'$(LINUX)/image-packages.txt'

check-image: ## the digests of the image, and the program in it
	+@$(PARALLEL_MAKE) VARIANT=check check-image-run

check-image-run: $(OUT)/make_trace $(OUT)/make_demo_symbols
	@MAKE_TRACE='$(OUT)/make_trace' $(PYTHON) -B tests/install/check_image.py '$(BUILD)/etlheap-$(VERSION)-image.tar'

# Any Python 3 of a system with this C library or a newer one. Python's own tools are Debian's.
wheel: ## the Python module with the portable library, build/etlheap-VERSION-py3-none-*.whl
	@sh tests/run/check_deps.sh wheel
	+@$(PARALLEL_MAKE) wheel-build

wheel-build: linux
	@for target in $(LINUX_TARGETS); do SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} PYTHON='$(PYTHON)' \
		sh packaging/python/build_wheel.sh '$(LINUX)'/$$target/libetlheap.so $(VERSION) '$(BUILD)' '$(LINUX)'/$$target/deps/licenses || exit 1; done

# Whatever of these was made: archives, packages, and the sources.
RELEASE_FILES = $(wildcard $(BUILD)/etlheap-$(VERSION)*.tar.gz $(BUILD)/etlheap-$(VERSION)-image.tar $(BUILD)/etlheap-$(VERSION)*.zip $(BUILD)/etlheap-$(VERSION)*.whl \
	$(DEB)/*.deb)

release-files: ## SHA256SUMS of all archives and packages, and what is in each program (SPDX)
	@export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}; \
	for target in $(LINUX_TARGETS); do test ! -f '$(BUILD)/etlheap-$(VERSION)'-$$target.tar.gz || \
		$(PYTHON) -B packaging/sbom.py etlheap $(VERSION) $$target '$(LINUX)'/$$target/deps/versions.txt \
		'$(BUILD)/etlheap-$(VERSION)'-$$target.tar.gz > '$(BUILD)/etlheap-$(VERSION)'-$$target.spdx.json || exit 1; done; \
	image='$(BUILD)/etlheap-$(VERSION)-image'; test ! -f "$$image.tar" || $(PYTHON) -B packaging/sbom.py etlheap $(VERSION) linux-x64 \
		'$(LINUX)/linux-x64/deps/versions.txt' "$$image.tar" '$(LINUX)/image-packages.txt' > "$$image.spdx.json"
	@test ! -f '$(WINDOWS_ZIP)' || SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} $(PYTHON) -B packaging/sbom.py etlheap $(VERSION) windows-x64 '$(WINDOWS_DEPS)/versions.txt' \
		'$(WINDOWS_ZIP)' > '$(WINDOWS_ZIP:.zip=.spdx.json)'
	@for file in $(RELEASE_FILES) "$(BUILD)"/etlheap-$(VERSION)*.spdx.json; do \
		test ! -f "$$file" || (cd "$${file%/*}" && sha256sum "$${file##*/}"); done | LC_ALL=C sort -k 2 > '$(BUILD)/SHA256SUMS'
	@cat '$(BUILD)/SHA256SUMS'

check-linux: ## what dist-linux made: its libraries, in other systems, under qemu
	@BUILD='$(BUILD)' VERSION='$(VERSION)' TARGETS='$(LINUX_TARGETS)' bash tests/install/check_linux.sh

.PHONY: linux dist-linux dist-linux-run check-linux release-files image check-image check-image-run wheel wheel-build dist deb \
	check-deb check-deb-run check-arm check-arm-run check-bare
