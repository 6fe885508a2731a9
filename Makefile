# Short names for what CMakePresets.json and tools/ do. Needs only make; the rest is installed when missing (Debian).

JOBS ?= $(shell nproc)

.PHONY: all demo test bench format clean packages test-packages test-release test-asan test-tsan

all: build/release/build.ninja
	cmake --build build/release -j $(JOBS)

demo: build/release/build.ninja
	cmake --build build/release --target cann -j $(JOBS)
	build/cann/bin/ropeway demo

# A build that the tests have configured before stays as it is.
build/release/build.ninja: | packages
	cmake --preset user

# One after the other, also under make -j: each build uses all cores already.
test: test-packages
	$(MAKE) test-release
	$(MAKE) test-asan
	$(MAKE) test-tsan

test-release test-asan test-tsan: test-%:
	cmake --preset $*
	cmake --build --preset $* -j $(JOBS)
	ctest --preset $* -j $$(( $(JOBS) + 3 ))

bench:
	tools/packages.sh bench
	cmake --preset release -DROPEWAY_BENCH=ON
	cmake --build --preset release -j $(JOBS)
	tools/bench.sh build/release/bench

format:
	tools/format.sh

clean:
	rm -rf build

packages:
	tools/packages.sh

test-packages:
	tools/packages.sh test
