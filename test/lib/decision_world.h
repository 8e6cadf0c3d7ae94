/* decision_world.h -- the database that the rows of decisions.h are about, and its one caller. */
#ifndef STATOR_TEST_DECISION_WORLD_H
#define STATOR_TEST_DECISION_WORLD_H
#include "api_fixture.h"
#include "auth/caller.h"

struct arena;

enum { DECISION_NAME_SIZE = 512, DECISION_NAMES = 6 };

struct decision_world {
    struct api_fixture api;
    struct arena *arena; /* Of the caller's policy, bodies and texts; reset by each policy. */
    struct caller caller;
    const struct policy *policy;
    char names[DECISION_NAMES][DECISION_NAME_SIZE]; /* What stands for <shard> and its kin. */
};

void decision_world_open(struct decision_world *world);
void decision_world_close(struct decision_world *world);

/* The caller has just these statements. NULL: there is no caller, and everything is allowed. */
void decision_world_use_policy(struct decision_world *world, const char *statements);
/* The resource policy of `resource` has just these statements; NULL: there is none. */
void decision_world_put_resource_policy(struct decision_world *world, const char *resource,
                                        const char *statements);

/* Replaces <shard> and its kin, and ~ by an escaped single quote. In the world's arena. */
const char *decision_world_fill(struct decision_world *world, const char *text);
/* Calls and waits; true if it succeeded. */
bool decision_world_call(struct decision_world *world, const char *operation, const char *body);
/* All that the last call answered, errors with what they carry included. In the world's arena. */
struct bytes decision_world_answer(struct decision_world *world);
/* What is stored, as far as the caller could have changed it. In the world's arena. */
struct bytes decision_world_state(struct decision_world *world);

#endif
