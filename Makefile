# Short names for what CMakePresets.json and tools/ do. Needs only make; the rest is installed when missing (Debian).

JOBS ?= $(shell nproc)

.PHONY: all demo check test bench tidy format abi site install uninstall deb clean packages test-packages test-release test-debug test-asan test-tsan test-sanitizers

all: build/release/build.ninja
	cmake --build build/release -j $(JOBS)

demo: build/release/build.ninja
	cmake --build build/release --target cann -j $(JOBS)
	build/cann/bin/ropeway demo --page build/demo.html

# A build that the tests have configured before stays as it is.
build/release/build.ninja: | packages
	cmake --preset user

# An answer within two minutes of a one-line change: the order of the rooms, every unit, every public call, and the storms, on one schedule.
check: test-packages
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target unit_tests conformance_tests stress_tests hccl_tests
	ctest --preset release -j $$(( $(JOBS) + 3 )) -R '^(layering|unit_tests|conformance_fast|stress|hccl_fast)$$'

# One after the other, also under make -j: each build uses all cores already.
test: test-packages
	$(MAKE) test-release
	$(MAKE) test-asan
	$(MAKE) test-tsan

test-release test-debug test-asan test-tsan: test-%:
	cmake --preset $*
	cmake --build --preset $* -j $(JOBS)
	ctest --preset $* -j $$(( $(JOBS) + 3 ))

# Every suite under both sanitizers, where test-asan and test-tsan run those that show most.
test-sanitizers:
	for sanitizer in asan tsan; do \
	  cmake --preset $$sanitizer && cmake --build --preset whole-$$sanitizer -j $(JOBS) && ctest --preset whole-$$sanitizer -j $$(( $(JOBS) + 3 )) || exit; \
	done

bench: build/release/build.ninja
	tools/packages.sh bench
	cmake --build build/release --target ropeway -j $(JOBS)
	build/release/ropeway bench

tidy: test-asan
	tools/tidy.sh

format:
	tools/format.sh

# The list of exported names and sizes that the test `abi` holds us to, from what is built.
abi: build/release/build.ninja
	cmake --build build/release -j $(JOBS) --target ascendcl hccl cann_hixl llm_datadist ropeway_metadef
	tools/abi_list.py build/release

# docs/ as a web site, its links looked after.
site:
	tools/packages.sh site
	/usr/bin/python3 tools/site.py build/site

# make install [PREFIX=/opt/ropeway]: the drop-in tree. uninstall takes away what the last install wrote, and folders that are empty then.
PREFIX ?= /opt/ropeway
install: all
	cmake --install build/release --prefix $(PREFIX)
	{ realpath -- $(PREFIX); cat build/release/install_manifest.txt; } >build/installed.txt

uninstall:
	tools/uninstall.sh build/installed.txt

deb: all
	rm -rf build/deb
	cd build/release && cpack

clean:
	rm -rf build

packages:
	tools/packages.sh

test-packages:
	tools/packages.sh test
