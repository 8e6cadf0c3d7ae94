/* rados_fixture.h -- stores in the cluster that test/lib/rados_cluster.py has started. */
#ifndef STATOR_TEST_RADOS_FIXTURE_H
#define STATOR_TEST_RADOS_FIXTURE_H
#include <stdbool.h>
#include "engine/rados/rados_store.h"

enum { RADOS_FIXTURE_SPACE_SIZE = 48 };

/* Whether there is a cluster: the variables of rados_cluster.py are set. */
bool rados_fixture_is_available(void);
/* A name that no test has used: an empty store. */
void rados_fixture_new_space(char space[RADOS_FIXTURE_SPACE_SIZE]);
struct rados_options rados_fixture_options(const char *space);
/* Aborts where it cannot be opened. */
struct partition_store *rados_fixture_open(const char *space, unsigned timeout_s);

/* Runs Ceph's own client on a store, with `input`: `words` for the shell, such as "put format -".
 * Aborts where that fails. */
void rados_fixture_tool(const char *space, const char *words, struct bytes input);

enum { RADOS_FIXTURE_OSDS = 3 };
/* "kill", "start", "pause" or "resume". Aborts where that fails. */
void rados_fixture_osd(const char *action, unsigned osd);
/* Waits until all OSDs are up and all copies are complete. */
void rados_fixture_await_clean(void);

#endif
