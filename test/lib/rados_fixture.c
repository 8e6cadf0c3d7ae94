/* rados_fixture.c -- see rados_fixture.h. */
#include "rados_fixture.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/random.h"

bool rados_fixture_is_available(void)
{
    return getenv("STATOR_RADOS_CLUSTER") != NULL;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL) {
        fprintf(stderr, "%s is not set: run make test-rados\n", name);
        abort();
    }
    return value;
}

void rados_fixture_new_space(char space[RADOS_FIXTURE_SPACE_SIZE])
{
    struct random random;
    random_init_from_system(&random);
    snprintf(space, RADOS_FIXTURE_SPACE_SIZE, "test-%016" PRIx64, random_next(&random));
}

struct rados_options rados_fixture_options(const char *space)
{
    return (struct rados_options){
        .conf = variable("STATOR_RADOS_CONF"),
        .user = variable("STATOR_RADOS_USER"),
        .pool = variable("STATOR_RADOS_POOL"),
        .space = space,
    };
}

struct partition_store *rados_fixture_open(const char *space, unsigned timeout_s)
{
    char message[RADOS_MESSAGE_MAX];
    struct rados_options options = rados_fixture_options(space);
    options.timeout_s = timeout_s;
    struct partition_store *store = rados_store_open(&options, message);
    if (store == NULL) {
        fprintf(stderr, "%s\n", message);
        abort();
    }
    return store;
}

static void run(const char *command)
{
    if (system(command) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        abort();
    }
}

void rados_fixture_tool(const char *space, const char *words, struct bytes input)
{
    char command[2048];
    snprintf(command, sizeof command, "rados -c '%s' -n 'client.%s' -p '%s' -N '%s' %s",
             variable("STATOR_RADOS_CONF"), variable("STATOR_RADOS_USER"),
             variable("STATOR_RADOS_POOL"), space, words);
    FILE *tool = popen(command, "w");
    if (tool == NULL || fwrite(input.data, 1, input.len, tool) != input.len || pclose(tool) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        abort();
    }
}

void rados_fixture_osd(const char *action, unsigned osd)
{
    char command[1024];
    snprintf(command, sizeof command, "test/lib/rados_cluster.py %s '%s' %u", action,
             variable("STATOR_RADOS_CLUSTER"), osd);
    run(command);
}

void rados_fixture_await_clean(void)
{
    char command[1024];
    snprintf(command, sizeof command, "test/lib/rados_cluster.py clean '%s'",
             variable("STATOR_RADOS_CLUSTER"));
    run(command);
}
