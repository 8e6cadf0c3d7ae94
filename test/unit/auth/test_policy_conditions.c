/* test_policy_conditions.c -- the table of decisions for the Condition of a statement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "policy_fixture.h"

/* Whether a permission with this condition, and whether a denial with it, applies to a request with
 * these keys. Mostly both do, or neither. */
#define BOTH(rule, condition, keys)                                                                \
    { rule, ALLOW_IF(condition), NULL, "GetItem", "T", keys, YES },                                \
    {                                                                                              \
        rule ", denied", DENY_IF(condition), NULL, "GetItem", "T", keys, DENIED                    \
    }
#define NEITHER(rule, condition, keys)                                                             \
    { rule, ALLOW_IF(condition), NULL, "GetItem", "T", keys, NO },                                 \
    {                                                                                              \
        rule ", denied", DENY_IF(condition), NULL, "GetItem", "T", keys, YES                       \
    }
#define ONLY_DENIAL(rule, condition, keys)                                                         \
    { rule, ALLOW_IF(condition), NULL, "GetItem", "T", keys, NO },                                 \
    {                                                                                              \
        rule ", denied", DENY_IF(condition), NULL, "GetItem", "T", keys, DENIED                    \
    }

static const struct policy_row string_rows[] = {
    BOTH("equal", "'StringEquals':{'dynamodb:Select':'COUNT'}", "Select=COUNT"),
    NEITHER("unequal", "'StringEquals':{'dynamodb:Select':'COUNT'}", "Select=ALL_ATTRIBUTES"),
    NEITHER("case counts", "'StringEquals':{'dynamodb:Select':'count'}", "Select=COUNT"),
    NEITHER("absent", "'StringEquals':{'dynamodb:Select':'COUNT'}", ""),
    BOTH("one of several", "'StringEquals':{'dynamodb:Select':['A','COUNT']}", "Select=COUNT"),
    NEITHER("no wildcards", "'StringEquals':{'dynamodb:Select':'C*'}", "Select=COUNT"),
    BOTH("a star is a star", "'StringEquals':{'dynamodb:Select':'C*'}", "Select=C*"),
    BOTH("names of keys have no case", "'StringEquals':{'DynamoDB:select':'COUNT'}",
         "Select=COUNT"),
    BOTH("not equal", "'StringNotEquals':{'dynamodb:Select':'A'}", "Select=COUNT"),
    NEITHER("not unequal", "'StringNotEquals':{'dynamodb:Select':'COUNT'}", "Select=COUNT"),
    NEITHER("equal to one is not unequal to all",
            "'StringNotEquals':{'dynamodb:Select':['A','COUNT']}", "Select=COUNT"),
    BOTH("absent is unequal", "'StringNotEquals':{'dynamodb:Select':'A'}", ""),
    BOTH("without case", "'StringEqualsIgnoreCase':{'dynamodb:Select':'count'}", "Select=COUNT"),
    NEITHER("unequal without case", "'StringNotEqualsIgnoreCase':{'dynamodb:Select':'count'}",
            "Select=COUNT"),
    BOTH("like", "'StringLike':{'dynamodb:Select':'C?U*'}", "Select=COUNT"),
    NEITHER("not alike", "'StringLike':{'dynamodb:Select':'C?O*'}", "Select=COUNT"),
    BOTH("many stars", "'StringLike':{'dynamodb:Select':'*C**T*'}", "Select=COUNT"),
    NEITHER("unlike", "'StringNotLike':{'dynamodb:Select':'C*'}", "Select=COUNT"),
    BOTH("unlike another", "'StringNotLike':{'dynamodb:Select':'A*'}", "Select=COUNT"),
    BOTH("a character of two bytes", "'StringLike':{'aws:UserAgent':'a?b'}",
         "aws:UserAgent=a\xC3\xA9"
         "b"),
    BOTH("a variable", "'StringEquals':{'dynamodb:LeadingKeys':'${aws:username}'}",
         "LeadingKeys=alice"),
    NEITHER("a variable of another value",
            "'StringEquals':{'dynamodb:LeadingKeys':'${aws:username}'}", "LeadingKeys=bob"),
    BOTH("a variable in a pattern", "'StringLike':{'dynamodb:LeadingKeys':'${aws:username}#*'}",
         "LeadingKeys=alice#1"),
    ONLY_DENIAL("a variable without a value",
                "'StringEquals':{'dynamodb:LeadingKeys':'${aws:UserAgent}'}", "LeadingKeys=bob"),
    ONLY_DENIAL("unequal to a variable without a value",
                "'StringNotEquals':{'dynamodb:LeadingKeys':'${aws:UserAgent}'}", "LeadingKeys=bob"),
    BOTH("a value beside a variable without one",
         "'StringEquals':{'dynamodb:LeadingKeys':['${aws:UserAgent}','bob']}", "LeadingKeys=bob"),
    BOTH("a number's text", "'StringEquals':{'dynamodb:Select':5}", "Select=5"),
};

static const struct policy_row other_rows[] = {
    BOTH("numbers are equal by value", "'NumericEquals':{'aws:EpochTime':'10'}",
         "aws:EpochTime=10.0"),
    NEITHER("other numbers", "'NumericEquals':{'aws:EpochTime':'10'}", "aws:EpochTime=11"),
    BOTH("JSON's numbers", "'NumericNotEquals':{'aws:EpochTime':10}", "aws:EpochTime=11"),
    BOTH("less", "'NumericLessThan':{'aws:EpochTime':10}", "aws:EpochTime=9"),
    NEITHER("equal is not less", "'NumericLessThan':{'aws:EpochTime':10}", "aws:EpochTime=10"),
    BOTH("less or equal", "'NumericLessThanEquals':{'aws:EpochTime':10}", "aws:EpochTime=10"),
    BOTH("greater", "'NumericGreaterThan':{'aws:EpochTime':10}", "aws:EpochTime=100"),
    NEITHER("equal is not greater", "'NumericGreaterThan':{'aws:EpochTime':10}",
            "aws:EpochTime=10"),
    BOTH("greater or equal", "'NumericGreaterThanEquals':{'aws:EpochTime':10}", "aws:EpochTime=10"),
    NEITHER("not less", "'NumericGreaterThanEquals':{'aws:EpochTime':10}", "aws:EpochTime=-10"),
    NEITHER("text is no number", "'NumericLessThan':{'dynamodb:Select':10}", "Select=COUNT"),
    BOTH("a time before", "'DateLessThan':{'aws:CurrentTime':'2026-11-16T00:00:00Z'}",
         "aws:CurrentTime=2026-11-15T23:59:59Z"),
    NEITHER("that very time", "'DateLessThan':{'aws:CurrentTime':'2026-11-16T00:00:00Z'}",
            "aws:CurrentTime=2026-11-16T00:00:00Z"),
    BOTH("a time behind", "'DateGreaterThan':{'aws:CurrentTime':'2026-11-15'}",
         "aws:CurrentTime=2026-11-15T00:00:01Z"),
    BOTH("a time in another zone", "'DateEquals':{'aws:CurrentTime':'2026-11-15T02:00:00+02:00'}",
         "aws:CurrentTime=2026-11-15T00:00:00Z"),
    BOTH("a time with a fraction", "'DateNotEquals':{'aws:CurrentTime':'2026-11-15T00:00:00.5Z'}",
         "aws:CurrentTime=2026-11-15T00:00:00Z"),
    BOTH("seconds since 1970", "'DateGreaterThanEquals':{'aws:CurrentTime':'1447545600'}",
         "aws:CurrentTime=2015-11-15T00:00:00Z"),
    NEITHER("one second before them", "'DateGreaterThanEquals':{'aws:CurrentTime':'1447545601'}",
            "aws:CurrentTime=2015-11-15T00:00:00Z"),
    BOTH("a boolean", "'Bool':{'aws:SecureTransport':'true'}", "aws:SecureTransport=true"),
    BOTH("JSON's boolean", "'Bool':{'aws:SecureTransport':false}", "aws:SecureTransport=false"),
    NEITHER("another boolean", "'Bool':{'dynamodb:FullTableScan':'false'}", "FullTableScan=true"),
    NEITHER("a boolean that is absent", "'Bool':{'dynamodb:FullTableScan':'false'}", ""),
    BOTH("an address", "'IpAddress':{'aws:SourceIp':'192.0.2.7'}", "aws:SourceIp=192.0.2.7"),
    BOTH("an address in a range", "'IpAddress':{'aws:SourceIp':'192.0.2.0/25'}",
         "aws:SourceIp=192.0.2.127"),
    NEITHER("an address behind it", "'IpAddress':{'aws:SourceIp':'192.0.2.0/25'}",
            "aws:SourceIp=192.0.2.128"),
    BOTH("all addresses", "'IpAddress':{'aws:SourceIp':'0.0.0.0/0'}", "aws:SourceIp=192.0.2.7"),
    NEITHER("but of the other kind", "'IpAddress':{'aws:SourceIp':'0.0.0.0/0'}",
            "aws:SourceIp=2001:db8::1"),
    BOTH("a long address in a range", "'IpAddress':{'aws:SourceIp':'2001:db8::/33'}",
         "aws:SourceIp=2001:db8:7fff::1"),
    NEITHER("a long address behind it", "'IpAddress':{'aws:SourceIp':'2001:db8::/33'}",
            "aws:SourceIp=2001:db8:8000::1"),
    BOTH("not an address", "'NotIpAddress':{'aws:SourceIp':'192.0.2.0/24'}",
         "aws:SourceIp=198.51.100.1"),
    NEITHER("not an address of these", "'NotIpAddress':{'aws:SourceIp':'192.0.2.0/24'}",
            "aws:SourceIp=192.0.2.1"),
    BOTH("an ARN", "'ArnEquals':{'aws:PrincipalArn':'arn:aws:iam::000000000000:user/alice'}", ""),
    BOTH("an ARN's parts", "'ArnLike':{'aws:PrincipalArn':'arn:*:iam::*:user/al*'}", ""),
    NEITHER("a part's * ends with it", "'ArnLike':{'aws:PrincipalArn':'arn:*:*:*:user/alice:x'}",
            ""),
    BOTH("the last part may have colons",
         "'ArnLike':{'aws:UserAgent':'arn:aws:dynamodb:*:*:table/T/stream/*'}",
         "aws:UserAgent=arn:aws:dynamodb:us-east-1:1:table/T/stream/2026-11-15T05:40:04"),
    NEITHER("not another ARN", "'ArnNotEquals':{'aws:PrincipalArn':'arn:aws:iam::*:user/alice'}",
            ""),
    BOTH("another ARN", "'ArnNotLike':{'aws:PrincipalArn':'arn:aws:iam::*:user/b*'}", ""),
    NEITHER("no ARN", "'ArnLike':{'dynamodb:Select':'arn:*:*:*:*:*'}", "Select=COUNT"),
    ONLY_DENIAL("an ARN with a variable without a value",
                "'ArnNotEquals':{'aws:PrincipalArn':'arn:aws:iam::*:user/${aws:UserAgent}'}", ""),
};

static const struct policy_row presence_rows[] = {
    NEITHER("an organisation that nobody is in", "'StringEquals':{'aws:PrincipalOrgID':'o-1'}", ""),
    BOTH("not in an organisation", "'StringNotEquals':{'aws:PrincipalOrgID':'o-1'}", ""),
    NEITHER("a network that nobody comes through", "'StringLike':{'aws:sourcevpce':'*'}", ""),
    BOTH("through no network", "'Null':{'aws:SourceVpc':'true'}", ""),
    NEITHER("a tag that nobody has", "'StringLike':{'aws:PrincipalTag/team':'*'}", ""),
    BOTH("absent", "'Null':{'dynamodb:Select':'true'}", ""),
    NEITHER("not absent", "'Null':{'dynamodb:Select':'true'}", "Select=COUNT"),
    BOTH("present", "'Null':{'dynamodb:Select':false}", "Select=COUNT"),
    NEITHER("not present", "'Null':{'dynamodb:Select':false}", ""),
    BOTH("IfExists of what is absent", "'StringEqualsIfExists':{'dynamodb:Select':'COUNT'}", ""),
    BOTH("IfExists of what is equal", "'StringEqualsIfExists':{'dynamodb:Select':'COUNT'}",
         "Select=COUNT"),
    NEITHER("IfExists of what is not", "'StringEqualsIfExists':{'dynamodb:Select':'COUNT'}",
            "Select=ALL"),
    BOTH("BoolIfExists", "'BoolIfExists':{'dynamodb:FullTableScan':'false'}", ""),
    NEITHER("BoolIfExists of another", "'BoolIfExists':{'dynamodb:FullTableScan':'false'}",
            "FullTableScan=true"),
    BOTH("two keys", "'StringEquals':{'dynamodb:Select':'COUNT','aws:username':'alice'}",
         "Select=COUNT"),
    NEITHER("one key of two", "'StringEquals':{'dynamodb:Select':'COUNT','aws:username':'bob'}",
            "Select=COUNT"),
    NEITHER("one operator of two",
            "'StringEquals':{'dynamodb:Select':'COUNT'},'StringLike':{'aws:username':'b*'}",
            "Select=COUNT"),
    BOTH("a tag of the table", "'StringEquals':{'aws:ResourceTag/team':'blue'}",
         "aws:ResourceTag/team=blue"),
    NEITHER("another tag of the table", "'StringEquals':{'aws:ResourceTag/team':'blue'}",
            "aws:ResourceTag/teams=blue"),
};

#define OWN_KEYS "'ForAllValues:StringEquals':{'dynamodb:LeadingKeys':['${aws:username}','all']}"

static const struct policy_row set_rows[] = {
    BOTH("all of one", OWN_KEYS, "LeadingKeys=alice"),
    BOTH("all of several", OWN_KEYS, "LeadingKeys=alice,all,alice"),
    NEITHER("not all", OWN_KEYS, "LeadingKeys=alice,bob"),
    NEITHER("not the last", OWN_KEYS, "LeadingKeys=all,all,all,all,alicf"),
    BOTH("all of none", OWN_KEYS, ""),
    NEITHER("all are unequal",
            "'ForAllValues:StringNotEquals':{'dynamodb:Attributes':['secret','salary']}",
            "Attributes=name,salary"),
    BOTH("all are unequal, really",
         "'ForAllValues:StringNotEquals':{'dynamodb:Attributes':['secret','salary']}",
         "Attributes=name,city"),
    BOTH("all alike", "'ForAllValues:StringLike':{'dynamodb:Attributes':'pub_*'}",
         "Attributes=pub_a,pub_b"),
    BOTH("any", "'ForAnyValue:StringEquals':{'dynamodb:Attributes':['secret','salary']}",
         "Attributes=name,salary"),
    NEITHER("not any", "'ForAnyValue:StringEquals':{'dynamodb:Attributes':['secret','salary']}",
            "Attributes=name,city"),
    NEITHER("any of none", "'ForAnyValue:StringEquals':{'dynamodb:Attributes':'secret'}", ""),
    NEITHER("any unequal of none", "'ForAnyValue:StringNotEquals':{'dynamodb:Attributes':'a'}", ""),
    BOTH("any unequal", "'ForAnyValue:StringNotEquals':{'dynamodb:Attributes':'a'}",
         "Attributes=a,b"),
    NEITHER("any unequal of equal ones",
            "'ForAnyValue:StringNotEquals':{'dynamodb:Attributes':'a'}", "Attributes=a,a"),
    BOTH("any of none, if there is one",
         "'ForAnyValue:StringEqualsIfExists':{'dynamodb:Attributes':'secret'}", ""),
    ONLY_DENIAL("several values and an operator for one",
                "'StringEquals':{'dynamodb:LeadingKeys':'alice'}", "LeadingKeys=alice,bob"),
    ONLY_DENIAL("several values and a negated operator for one",
                "'StringNotEquals':{'dynamodb:LeadingKeys':'alice'}", "LeadingKeys=alice,bob"),
    BOTH("several values that all are equal", "'StringEquals':{'dynamodb:LeadingKeys':'alice'}",
         "LeadingKeys=alice,alice"),
    ONLY_DENIAL("all, of which one is a variable without a value",
                "'ForAllValues:StringEquals':{'dynamodb:LeadingKeys':'${aws:UserAgent}'}",
                "LeadingKeys=alice"),
};

static void texts_are_compared_with_case_wildcards_and_variables(void **state)
{
    (void)state;
    policy_fixture_check(string_rows, COUNT_OF(string_rows));
}

static void numbers_times_booleans_addresses_and_arns_are_compared_by_value(void **state)
{
    (void)state;
    policy_fixture_check(other_rows, COUNT_OF(other_rows));
}

static void absence_is_a_mismatch_unless_the_operator_says_otherwise(void **state)
{
    (void)state;
    policy_fixture_check(presence_rows, COUNT_OF(presence_rows));
}

static void quantifiers_judge_each_value_of_a_request(void **state)
{
    (void)state;
    policy_fixture_check(set_rows, COUNT_OF(set_rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_compared_with_case_wildcards_and_variables),
        cmocka_unit_test(numbers_times_booleans_addresses_and_arns_are_compared_by_value),
        cmocka_unit_test(absence_is_a_mismatch_unless_the_operator_says_otherwise),
        cmocka_unit_test(quantifiers_judge_each_value_of_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
