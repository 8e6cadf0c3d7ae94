# Packages that people install. Each target leaves its artefacts in build/packages, and two builds of
# one commit are identical. doc/packages.md tells what is in them.

PACKAGES ?= $(BUILD)/packages
ARCHITECTURE := $(shell uname -m)
# The time of the commit stands for the time of the build.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)
PACKAGE = VERSION=$(VERSION) COMMIT=$(COMMIT) PACKAGES=$(PACKAGES) ARCHITECTURE=$(ARCHITECTURE)

# Every library inside, so that it runs on any Linux. static_program.c stands before the archive,
# whose curl_library.c it replaces; it tells what of libcurl's own libraries is left out.
STATIC_LIBS := -lcurl -lrocksdb -lgflags -lsnappy -lbz2 -llz4 -lzstd -l:libuv_a.a -lxxhash -lyaml -lssl -lcrypto -lz \
	-lstdc++ -lpthread -ldl -lm
# glibc warns of functions that need its libraries at run time: names are looked up for requests only.
$(BUILD)/static/absent.h: packaging/static/make-absent
	@mkdir -p $(@D)
	$(call SAY,gen )CC=$(release_CC) $< > $@ || { rm -f $@; exit 1; }
$(BUILD)/static/static_program.o: packaging/static/static_program.c $(BUILD)/static/absent.h Makefile
	$(call SAY,cc  )$(release_CC) $(CPPFLAGS) $(CFLAGS) $(release_CFLAGS) -I$(@D) -c $< -o $@
$(BUILD)/static/stator: $(BUILD)/release/src/main.o $(BUILD)/static/static_program.o \
		$(BUILD)/release/libstator.a
	@mkdir -p $(@D)
	$(call SAY,link)$(release_CC) $(release_CFLAGS) $(LDFLAGS) -static-pie -Wl,-z,noexecstack -Wl,-w \
		-s $^ $(STATIC_LIBS) -o $@ 2>$@.log || { cat $@.log; exit 1; }

# What is in the package of each kind, below a root of its own.
$(PACKAGES)/root: $(BUILD)/stator man completions
	@rm -rf $@
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$@ >/dev/null
	@strip $@/usr/bin/stator

.PHONY: static tarball deb image npm packages $(PACKAGES)/root
static: $(BUILD)/static/stator
tarball: $(PACKAGES)/root $(BUILD)/static/stator
	@$(PACKAGE) packaging/make-tarball $(BUILD)/static/stator
deb: $(PACKAGES)/root
	@$(PACKAGE) packaging/make-deb
image: $(PACKAGES)/root
	@$(PACKAGE) packaging/make-image
npm: $(BUILD)/static/stator
	@$(PACKAGE) packaging/make-npm $(BUILD)/static/stator
packages:
	@$(MAKE) --no-print-directory tarball
	@$(MAKE) --no-print-directory deb
	@$(MAKE) --no-print-directory npm
	@$(MAKE) --no-print-directory image
