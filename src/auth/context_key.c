/* context_key.c -- see context_key.h. */
#include "auth/context_key.h"
#include <strings.h>
#include "auth/policy.h"
#include "base/compiler.h"

enum key_form {
    KEY_ONE,  /* At most one value. */
    KEY_MANY, /* Any number of values. */
    KEY_TAG,  /* A tag's key follows the name; one value. */
};

static const struct known_key {
    const char *name;
    enum key_form form;
} known_keys[] = {
    { "dynamodb:Attributes", KEY_MANY },
    { "dynamodb:EnclosingOperation", KEY_ONE },
    { "dynamodb:FullTableScan", KEY_ONE },
    { "dynamodb:LeadingKeys", KEY_MANY },
    { "dynamodb:ReturnConsumedCapacity", KEY_ONE },
    { "dynamodb:ReturnValues", KEY_ONE },
    { "dynamodb:Select", KEY_ONE },
    { "aws:CurrentTime", KEY_ONE },
    { "aws:EpochTime", KEY_ONE },
    { "aws:PrincipalAccount", KEY_ONE },
    { "aws:PrincipalArn", KEY_ONE },
    { "aws:PrincipalIsAWSService", KEY_ONE },
    { "aws:PrincipalType", KEY_ONE },
    { "aws:Referer", KEY_ONE },
    { "aws:RequestedRegion", KEY_ONE },
    { "aws:ResourceAccount", KEY_ONE },
    { "aws:ResourceTag/", KEY_TAG },
    { "aws:SecureTransport", KEY_ONE },
    { "aws:SourceIp", KEY_ONE },
    { "aws:TokenIssueTime", KEY_ONE }, /* Of temporary keys. */
    { "aws:UserAgent", KEY_ONE },
    { "aws:username", KEY_ONE },
    { "aws:ViaAWSService", KEY_ONE },
    /* Always absent: */
    { "aws:CalledVia", KEY_MANY },
    { "aws:CalledViaFirst", KEY_ONE },
    { "aws:CalledViaLast", KEY_ONE },
    { "aws:Ec2InstanceSourcePrivateIPv4", KEY_ONE },
    { "aws:Ec2InstanceSourceVpc", KEY_ONE },
    { "aws:FederatedProvider", KEY_ONE },
    { "aws:MultiFactorAuthAge", KEY_ONE },
    { "aws:MultiFactorAuthPresent", KEY_ONE },
    { "aws:PrincipalOrgID", KEY_ONE },
    { "aws:PrincipalOrgPaths", KEY_MANY },
    { "aws:PrincipalServiceName", KEY_ONE },
    { "aws:PrincipalServiceNamesList", KEY_MANY },
    { "aws:PrincipalTag/", KEY_TAG },
    { "aws:ResourceOrgID", KEY_ONE },
    { "aws:ResourceOrgPaths", KEY_MANY },
    { "aws:SourceAccount", KEY_ONE },
    { "aws:SourceArn", KEY_ONE },
    { "aws:SourceIdentity", KEY_ONE },
    { "aws:SourceOrgID", KEY_ONE },
    { "aws:SourceOrgPaths", KEY_MANY },
    { "aws:SourceVpc", KEY_ONE },
    { "aws:SourceVpce", KEY_ONE },
    { "aws:userid", KEY_ONE },
    { "aws:VpcSourceIp", KEY_ONE },
};

bool context_key_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
}

static const struct known_key *find_known(struct bytes name)
{
    for (size_t i = 0; i < COUNT_OF(known_keys); i++) {
        struct bytes known = bytes_from_text(known_keys[i].name);
        struct bytes start = name;
        bool tag = known_keys[i].form == KEY_TAG;
        if (tag && name.len > known.len)
            start.len = known.len;
        if (context_key_equal(start, known))
            return tag && name.len == known.len ? NULL : &known_keys[i];
    }
    return NULL;
}

bool context_key_is_known(struct bytes name)
{
    return find_known(name) != NULL;
}

bool context_key_has_many(struct bytes name)
{
    const struct known_key *known = find_known(name);
    return known != NULL && known->form == KEY_MANY;
}

const struct policy_key *context_key_find(const struct policy_request *request, struct bytes name)
{
    for (size_t i = 0; i < request->key_count; i++)
        if (request->keys[i].count > 0 && context_key_equal(request->keys[i].name, name))
            return &request->keys[i];
    return NULL;
}
