/* policy_fuzz.c -- arbitrary text as a policy of a key and of a resource: either a message says why
 * it is invalid, or it decides about requests. */
#include <assert.h>
#include <stdint.h>
#include "auth/policy.h"
#include "auth/policy_document.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct bytes leading_keys[] = { BYTES("alice"), BYTES("b*") };
static const struct bytes attributes[] = { BYTES("id"), BYTES("secret") };
static const struct bytes username = BYTES("alice");
static const struct bytes address = BYTES("192.0.2.7");
static const struct bytes now = BYTES("2026-11-15T05:40:04Z");
static const struct policy_key keys[] = {
    { BYTES("dynamodb:LeadingKeys"), leading_keys, COUNT_OF(leading_keys) },
    { BYTES("dynamodb:Attributes"), attributes, COUNT_OF(attributes) },
    { BYTES("aws:username"), &username, 1 },
    { BYTES("aws:SourceIp"), &address, 1 },
    { BYTES("aws:CurrentTime"), &now, 1 },
};

/* The form in which a document is shown is that of a policy that decides alike, and is its own
 * form. Whatever the document, the rules come to an end. */
static void check_document(struct arena *arena, struct bytes text, enum policy_decision decision,
                           const struct policy_request *request)
{
    struct error err;
    error_init(&err, arena);
    for (int shown = 0; shown < 2; shown++) {
        struct bytes form = policy_document_canonical(arena, text, shown);
        const struct policy *policy = policy_parse(arena, form, POLICY_OF_RESOURCE, &err);
        if (form.len > POLICY_SIZE_MAX)
            continue; /* Accounts are longer as ARNs. */
        assert(policy != NULL);
        const struct policy_set set = { .resource = policy };
        assert(policy_decide(arena, &set, request) == decision);
        assert(bytes_equal(policy_document_canonical(arena, form, shown), form));
    }
    bool ok = policy_document_check(arena, text, POLICY_SUBJECT_TABLE, &err);
    assert(ok || error_is_set(&err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct policy_request request = {
        .action = BYTES("dynamodb:GetItem"),
        .resource = BYTES("arn:aws:dynamodb:us-east-1:000000000000:table/T"),
        .principal = BYTES("arn:aws:iam::000000000000:user/alice"),
        .account = BYTES("000000000000"),
        .keys = keys,
        .key_count = COUNT_OF(keys),
    };
    struct arena *arena = arena_create();
    for (enum policy_kind kind = POLICY_OF_IDENTITY; kind <= POLICY_OF_RESOURCE; kind++) {
        struct error err;
        error_init(&err, arena);
        const struct policy *policy = policy_parse(arena, bytes_of(data, size), kind, &err);
        assert((policy == NULL) == error_is_set(&err));
        if (policy == NULL)
            continue;
        struct policy_set set = { 0 };
        if (kind == POLICY_OF_IDENTITY)
            set = (struct policy_set){ .identity = &policy, .identity_count = 1 };
        else
            set.resource = policy;
        enum policy_decision decision = policy_decide(arena, &set, &request);
        assert(decision != (kind == POLICY_OF_IDENTITY ? POLICY_DENIED_BY_RESOURCE
                                                       : POLICY_DENIED_BY_IDENTITY));
        if (kind == POLICY_OF_RESOURCE)
            check_document(arena, bytes_of(data, size), decision, &request);
    }
    arena_destroy(arena);
    return 0;
}
