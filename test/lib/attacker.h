/* attacker.h -- random callers, worlds and requests, with what each request asks for.
 *
 * A world has the tables Alpha, Beta and Secret, and no table Gamma. Each attribute of each item
 * holds a marker, "mk-<table>-<partition key>-<attribute>", by which a leak is found in an answer's
 * bytes. In a twin world Secret is missing, or is another table: whoever has no rights to Secret
 * must not be able to tell the two worlds apart.
 *
 * What a request asks for (struct attack_ask) is written down while the request is made, from what
 * the documentation says of the operation, so that naive_policy.h can decide about it.
 */
#ifndef STATOR_TEST_ATTACKER_H
#define STATOR_TEST_ATTACKER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "api_fixture.h"
#include "auth/caller.h"
#include "base/random.h"
#include "naive_policy.h"

struct arena;
struct trigger_outside;

enum { ALPHA, BETA, SECRET, GAMMA, ATTACK_TABLES, ATTACK_NO_TABLE = ATTACK_TABLES };
enum { ATTACK_ASKS_MAX = 8, ATTACK_NAME_SIZE = 400, ATTACK_IDENTITY_MAX = 2 };

#define ATTACK_ACCOUNT "123456789012"
#define ATTACK_ARN "arn:aws:dynamodb:eu-west-1:" ATTACK_ACCOUNT ":table/"
#define ATTACK_LABEL "2023-11-14T22:13:20.000"
#define ATTACK_USER "arn:aws:iam::" ATTACK_ACCOUNT ":user/alice"

struct attack_table {
    const char *name;
    bool exists;
    bool is_rich; /* It has a sort key, indexes, a stream and a trigger. */
    const char *tag;
};
extern const struct attack_table attack_tables[ATTACK_TABLES];

/* --- Chance --- */

struct attacker {
    struct random random;
    struct arena *arena; /* Of one request, */
    struct arena *keep;  /* and of one caller. */
};

size_t attack_below(struct attacker *attacker, size_t bound);
bool attack_chance(struct attacker *attacker, size_t one_in);
/* In the request's arena. */
const char *attack_text(struct attacker *attacker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- Callers --- */

struct attack_rights {
    struct naive_document identity[ATTACK_IDENTITY_MAX];
    size_t identity_count;
    /* Resource policies; those of GAMMA are not there. */
    bool has_policy[ATTACK_TABLES];
    struct naive_document of_table[ATTACK_TABLES];
    bool has_stream_policy[ATTACK_TABLES];
    struct naive_document of_stream[ATTACK_TABLES];
};

void attack_make_rights(struct attacker *attacker, struct attack_rights *out);

/* --- Requests --- */

struct attack_ask {
    const char *action;   /* With its prefix. */
    const char *resource; /* An ARN or "*". */
    size_t table;         /* ATTACK_NO_TABLE: it is about none. */
    bool of_stream;
    bool shows;         /* The answer may have data of items, */
    bool writes;        /* or items may change. */
    bool shows_unnamed; /* Of attributes that the request does not name. */
    const char *shown;  /* The one attribute that is shown beside keys; NULL: any. */
    struct naive_list leading_keys;
    struct naive_list attributes;
    struct naive_list return_values;
    const char *select; /* NULL: not known. The same for those below. */
    const char *capacity;
    const char *full_scan;
    const char *enclosing;
};

enum attack_form {
    ATTACK_WHOLE,      /* All asks must be allowed. */
    ATTACK_STATEMENTS, /* A batch: each ask is a statement of its own. */
    ATTACK_LIST,       /* ListTriggers: the asks say what may be shown. */
    ATTACK_REMOVE,     /* RemoveTrigger: what is refused is answered as what is not there. */
};

struct attack_request {
    const char *operation;
    const char *body; /* With <shard0>, <iterator0>, <trigger0>: 0 is the table. */
    enum attack_form form;
    struct attack_ask asks[ATTACK_ASKS_MAX];
    size_t ask_count;
    bool is_control;
    bool is_broken;             /* It may be refused for its form as well. */
    bool is_skipped_if_allowed; /* It would spoil the world. */
    bool is_listing;            /* Shows names of tables to whom it is allowed. */
};

void attack_make_request(struct attacker *attacker, struct attack_request *out);

/* For the files that make requests: the body so far, what it asks for. */
struct attack_ask *attack_add_ask(struct attacker *attacker, struct attack_request *request,
                                  const char *action, size_t table, const char *behind);
void attack_make_statements(struct attacker *attacker, struct attack_request *out);
void attack_make_table_request(struct attacker *attacker, struct attack_request *out);
/* A random partition key, and the key of the item there as JSON. */
const char *attack_user(struct attacker *attacker);
const char *attack_key(struct attacker *attacker, size_t table, const char *user);
size_t attack_pick_table(struct attacker *attacker);
const char *attack_attribute(struct attacker *attacker);
void attack_add(struct naive_list *list, const char *text);
/* The table's name or ARN; sometimes an ARN of something else, which changes the ask. */
const char *attack_name(struct attacker *attacker, struct attack_request *request,
                        struct attack_ask *ask);
/* Sometimes a token, which other transactions have as well. */
const char *attack_token(struct attacker *attacker);

/* --- Worlds --- */

enum attack_twin { ATTACK_ORIGINAL, ATTACK_WITHOUT_SECRET, ATTACK_OTHER_SECRET, ATTACK_TWINS };

struct attack_world {
    struct api_fixture api;
    enum attack_twin twin;
    char shards[ATTACK_TABLES][ATTACK_NAME_SIZE];
    char iterators[ATTACK_TABLES][ATTACK_NAME_SIZE];
    char triggers[ATTACK_TABLES][ATTACK_NAME_SIZE];
};

/* `original`: of a twin, to which it owes the names of what it lacks; NULL: none. */
void attack_world_open(struct attack_world *world, enum attack_twin twin,
                       const struct attack_world *original, const struct attack_rights *rights,
                       const struct trigger_outside *outside, struct arena *arena);
void attack_world_close(struct attack_world *world);
/* Calls as `caller`; NULL: as an administrator. All that was answered, in the arena. */
struct bytes attack_world_call(struct attack_world *world, const struct caller *caller,
                               const char *operation, const char *body, struct arena *arena);
/* What is stored: a hash of a table's items; of everything else. */
uint64_t attack_world_items(struct attack_world *world, size_t table, struct arena *arena);
uint64_t attack_world_settings(struct attack_world *world, struct arena *arena);

#endif
