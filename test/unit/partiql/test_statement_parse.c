/* test_statement_parse.c -- what statements mean, and in which words they are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "item_fixture.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/value.h"
#include "partiql/statement.h"
#include "expr/operand_rules.h"
#include "statement_text.h"

struct example {
    const char *text, *want;
};

/* What `?` stands for, in this order. */
static const char parameters_json[] = "{'a':{'S':'p1'},'b':{'N':'2'},'c':{'NS':['3']}}";

/* The statement as text, or the message. */
static struct bytes parse(struct arena *arena, struct bytes text)
{
    struct item item = item_fixture_read(arena, parameters_json);
    struct value values[3];
    struct item_iter iter;
    struct bytes name;
    size_t count = 0;
    item_iter_init(&iter, &item);
    while (count < COUNT_OF(values) && item_iter_next(&iter, &name, &values[count]))
        count++;
    struct statement_parameters parameters = { values, count };
    struct statement statement;
    struct error err;
    error_init(&err, arena);
    if (!statement_parse(arena, text, &parameters, &statement, &err))
        return err.message;
    return statement_text_write(arena, &statement, NULL);
}

static void expect(struct bytes text, const char *want)
{
    struct arena *arena = arena_create();
    struct bytes got = parse(arena, text);
    if (!bytes_equal_text(got, want))
        fail_msg("%.*s\n  got:  %.*s\n  want: %s", BYTES_FMT(text), BYTES_FMT(got), want);
    arena_destroy(arena);
}

static void check(const struct example *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(bytes_from_text(table[i].text), table[i].want);
}

/* --- SELECT --- */

static void selects_name_columns_a_source_and_an_order(void **state)
{
    static const struct example table[] = {
        { "SELECT * FROM tab", "SELECT * FROM \"tab\"" },
        { "select * from \"tab\".\"ind\";", "SELECT * FROM \"tab\".\"ind\"" },
        { "SELECT a, m.b, c[0].d, \"key\" FROM tab.ind",
          "SELECT \"a\",\"m\".\"b\",\"c\"[0].\"d\",\"key\" FROM \"tab\".\"ind\"" },
        { "SELECT m['x y'], l[007] FROM tab", "SELECT \"m\".\"x y\",\"l\"[7] FROM \"tab\"" },
        { "SELECT \"a\"\"b\" FROM tab", "SELECT \"a\"\"b\" FROM \"tab\"" },
        { "SELECT * FROM tab WHERE a=1 ORDER BY b",
          "SELECT * FROM \"tab\" WHERE \"a\"={\"N\":\"1\"} ORDER BY \"b\"" },
        { "SELECT * FROM tab WHERE a=1 ORDER BY b ASC, c DESC",
          "SELECT * FROM \"tab\" WHERE \"a\"={\"N\":\"1\"} ORDER BY \"b\",\"c\" DESC" },
        { "SELECT * /* all */ FROM tab -- of it", "SELECT * FROM \"tab\"" },
        { "EXISTS(SELECT * FROM tab WHERE a=1)",
          "EXISTS(SELECT * FROM \"tab\" WHERE \"a\"={\"N\":\"1\"})" },
    };
    (void)state;
    check(table, COUNT_OF(table));
}

static void a_column_is_shown_under_its_last_name_and_indexes(void **state)
{
    static const char *const names[][2] = {
        { "SELECT a FROM tab", "a" },       { "SELECT m.x FROM tab", "x" },
        { "SELECT l[0] FROM tab", "l[0]" }, { "SELECT m.l[1][2] FROM tab", "l[1][2]" },
        { "SELECT l[3].x FROM tab", "x" },
    };
    struct arena *arena = arena_create();
    const struct statement_parameters none = { NULL, 0 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct statement statement;
        struct error err;
        error_init(&err, arena);
        assert_true(statement_parse(arena, bytes_from_text(names[i][0]), &none, &statement, &err));
        assert_int_equal(statement.column_count, 1);
        assert_true(bytes_equal_text(statement.columns[0].name, names[i][1]));
    }
    arena_destroy(arena);
}

static void selects_are_refused_in_the_services_words(void **state)
{
    static const struct example table[] = {
        { "SELECT m.x AS y FROM tab", "Aliasing is not supported" },
        { "SELECT * FROM tab t WHERE t.a=1", "Aliasing is not supported" },
        { "SELECT * FROM tab AS t", "Aliasing is not supported" },
        { "SELECT m.x, n.x FROM tab", "Duplicate identifiers in select clause: x" },
        { "SELECT n, n FROM tab", "Duplicate identifiers in select clause: n" },
        { "SELECT m, m.x FROM tab",
          "Two document paths overlap with each other; must remove or rewrite one of these paths; "
          "path one: [m], path two: [m, x]" },
        { "SELECT DISTINCT n FROM tab", "Unsupported token in expression: DISTINCT" },
        { "SELECT VALUE n FROM tab", "Select projection doesn't support value or pivot keywords" },
        { "SELECT COUNT(*) FROM tab", "Unexpected path component at 1:8:5" },
        { "SELECT size(s) FROM tab", "Unexpected path component at 1:8:4" },
        { "SELECT n+1 FROM tab", "Unexpected path component at 1:9:1" },
        { "SELECT 'n' FROM tab", "Unexpected path component at 1:8:3" },
        { "SELECT ? FROM tab", "Unexpected path component at 1:8:1" },
        { "SELECT m.* FROM tab", "Changing item's hierarchy while reading isn't supported" },
        { "SELECT \"\" FROM tab", "Path component cannot be an empty string" },
        { "SELECT l[-1] FROM tab",
          "List index is not within the allowable range; index: [-1] at 1:11:1" },
        { "SELECT l[2147483647] FROM tab", "SELECT \"l\"[2147483647] FROM \"tab\"" },
        { "SELECT l[2147483648] FROM tab",
          "List index is not within the allowable range; index: [2147483648] at 1:10:10" },
        { "SELECT l[?] FROM tab", "Unexpected path component at 1:10:1" },
        { "SELECT l[1.5] FROM tab", "Unexpected path component at 1:10:3" },
        { "SELECT l[*] FROM tab",
          "Wildcard path component like a[*].b are not supported at 1:10:1" },
        { "SELECT n FROM 'tab'", "Unexpected from source" },
        { "SELECT n FROM ?", "Unexpected from source" },
        { "SELECT n FROM a.b.c", "A path may contain at most 2 components in the FROM clause" },
        { "SELECT n FROM tab, other", "Only select from a single table or index is supported." },
        { "SELECT n FROM tab LEFT JOIN other",
          "Only select from a single table or index is supported." },
        { "SELECT n FROM tab LIMIT 1", "Unsupported clause: LIMIT at 1:25:1" },
        { "SELECT n FROM tab GROUP BY n", "Unsupported clause: GROUP BY" },
        { "SELECT n FROM tab WHERE n=1 ORDER BY m.x",
          "Argument to ORDER BY must be of type VariableReference. Type: PATH" },
    };
    (void)state;
    check(table, COUNT_OF(table));
}

static void malformed_statements_say_what_was_expected(void **state)
{
    static const struct example table[] = {
        { "", STATEMENT_MALFORMED "Expected data manipulation" },
        { "SELEC", STATEMENT_MALFORMED "Expected data manipulation" },
        { "CREATE TABLE x", STATEMENT_MALFORMED "Expected data manipulation" },
        { "UPDATE Payment-x SET a=1", STATEMENT_MALFORMED "Expected data manipulation" },
        { "UPDATE tab WHERE a=1", STATEMENT_MALFORMED "Expected data manipulation" },
        { "INSERT INTO tab (key, x) VALUES (?, ?)", STATEMENT_MALFORMED "Unexpected keyword" },
        { "INSERT INTO tab VALUES {'a':1}", STATEMENT_MALFORMED "Unexpected keyword" },
        { "INSERT tab VALUE {'a':1}", STATEMENT_MALFORMED "Expected INTO" },
        { "INSERT INTO tab VALUE {'a':1}, {'a':2}",
          STATEMENT_MALFORMED "Unexpected token after expression" },
        { "INSERT INTO tab VALUE {'a' 1}", STATEMENT_MALFORMED "Expected :" },
        { "INSERT INTO tab VALUE {'a':1", STATEMENT_MALFORMED "Expected }" },
        { "SELECT FROM tab", STATEMENT_MALFORMED "Unexpected keyword" },
        { "SELECT a FROM", STATEMENT_MALFORMED "Unexpected term" },
        { "SELECT a, FROM tab", STATEMENT_MALFORMED "Unexpected keyword" },
        { "SELECT key FROM tab", STATEMENT_MALFORMED "Unexpected keyword" },
        { "SELECT", STATEMENT_MALFORMED "Unexpected term" },
        { "SELECT *, a FROM tab", STATEMENT_MALFORMED "Expected FROM" },
        { "SELECT a FROM key", STATEMENT_MALFORMED "Unexpected keyword" },
        { "SELECT a FROM my-tab", STATEMENT_MALFORMED "Unexpected token after expression" },
        { "SELECT a FROM tab WHERE", STATEMENT_MALFORMED "Unexpected term" },
        { "SELECT a FROM tab WHERE user=1", STATEMENT_MALFORMED "Unexpected keyword" },
        { "SELECT a FROM tab WHERE a='x", STATEMENT_MALFORMED "" },
        { "SELECT a FROM tab WHERE SELECT #", STATEMENT_MALFORMED "" },
        { "SELECT a FROM tab /* b", STATEMENT_MALFORMED "" },
        { "SELECT a FROM tab WHERE (a=1", STATEMENT_MALFORMED "Expected )" },
        { "SELECT a FROM tab WHERE a==1", STATEMENT_MALFORMED "Unexpected term" },
        { "SELECT a FROM tab WHERE a=1 b",
          STATEMENT_MALFORMED "Unexpected token after expression" },
        { "SELECT a FROM tab WHERE a BETWEEN 1 OR 2", STATEMENT_MALFORMED "Expected AND" },
        { "SELECT a FROM tab WHERE a NOT 1", STATEMENT_MALFORMED "Unexpected term" },
        { "SELECT a FROM tab ORDER a", STATEMENT_MALFORMED "Expected BY" },
        { "SELECT a FROM tab WHERE a=1 ORDER BY", STATEMENT_MALFORMED "Unexpected term" },
        { "SELECT a FROM tab;;", STATEMENT_MALFORMED "Unexpected token after expression" },
        { "UPDATE tab SET a WHERE b=1", STATEMENT_MALFORMED "Expected =" },
        { "UPDATE tab SET 'a'=1 WHERE b=1", STATEMENT_MALFORMED "Unexpected term" },
        { "UPDATE tab REMOVE a,b WHERE c=1",
          STATEMENT_MALFORMED "Unexpected token after expression" },
        { "UPDATE tab SET a=1 WHERE b=1 RETURNING ALL NEW", STATEMENT_MALFORMED "Expected *" },
        { "UPDATE tab SET a=1 WHERE b=1 RETURNING x",
          STATEMENT_MALFORMED "Expected ALL or MODIFIED" },
        { "UPDATE tab SET a=1 WHERE b=1 RETURNING ALL x",
          STATEMENT_MALFORMED "Expected OLD or NEW" },
        { "DELETE tab WHERE a=1", STATEMENT_MALFORMED "Expected FROM" },
    };
    (void)state;
    check(table, COUNT_OF(table));
}

/* --- WHERE --- */

/* `want` is what follows WHERE, or a message. */
static void check_where(const struct example *table, size_t count)
{
    struct arena *arena = arena_create();
    for (size_t i = 0; i < count; i++) {
        struct bytes text = arena_printf(arena, "SELECT * FROM tab WHERE %s", table[i].text);
        struct bytes got = parse(arena, text), head = BYTES("SELECT * FROM \"tab\" WHERE ");
        if (bytes_starts_with(got, head))
            got = bytes_of(got.data + head.len, got.len - head.len);
        if (!bytes_equal_text(got, table[i].want))
            fail_msg("%s\n  got:  %.*s\n  want: %s", table[i].text, BYTES_FMT(got), table[i].want);
    }
    arena_destroy(arena);
}

static void conditions_become_those_of_expressions(void **state)
{
    static const struct example table[] = {
        { "a=1", "\"a\"={\"N\":\"1\"}" },
        { "a<>1 AND b!=2", "\"a\"<>{\"N\":\"1\"} AND \"b\"<>{\"N\":\"2\"}" },
        { "a<1 OR b<=2 AND c>3 OR d>=4",
          "\"a\"<{\"N\":\"1\"} OR \"b\"<={\"N\":\"2\"} AND \"c\">{\"N\":\"3\"} OR "
          "\"d\">={\"N\":\"4\"}" },
        { "(a=1 OR b=2) AND NOT c=3",
          "(\"a\"={\"N\":\"1\"} OR \"b\"={\"N\":\"2\"}) AND NOT \"c\"={\"N\":\"3\"}" },
        { "((a=(1)))", "\"a\"={\"N\":\"1\"}" },
        { "NOT NOT a=1", "NOT NOT \"a\"={\"N\":\"1\"}" },
        { "'x'=a", "{\"S\":\"x\"}=\"a\"" },
        { "a.b[1]=c", "\"a\".\"b\"[1]=\"c\"" },
        { "a BETWEEN 1 AND 2", "\"a\" BETWEEN {\"N\":\"1\"} AND {\"N\":\"2\"}" },
        { "a NOT BETWEEN 1 AND 2 AND b=1",
          "NOT \"a\" BETWEEN {\"N\":\"1\"} AND {\"N\":\"2\"} AND \"b\"={\"N\":\"1\"}" },
        { "a IN [1,'x',b]", "\"a\" IN [{\"N\":\"1\"},{\"S\":\"x\"},\"b\"]" },
        { "a NOT IN (1)", "NOT \"a\" IN [{\"N\":\"1\"}]" },
        { "a IN <<1,2>>", "\"a\" IN [{\"N\":\"1\"},{\"N\":\"2\"}]" },
        { "a IS MISSING", "\"a\" IS MISSING" },
        { "a IS NOT MISSING", "NOT \"a\" IS MISSING" },
        { "a IS NULL AND b IS NOT NULL", "\"a\" IS NULL AND NOT \"b\" IS NULL" },
        { "a IS STRING OR b IS BOOL OR c IS LIST OR d IS TUPLE OR e IS BLOB OR f IS NUMERIC",
          "\"a\" IS STRING OR \"b\" IS BOOLEAN OR \"c\" IS LIST OR \"d\" IS STRUCT OR \"e\" IS "
          "BLOB OR \"f\" IS NUMERIC" },
        { "'x' IS MISSING", "{\"S\":\"x\"}<>{\"S\":\"x\"}" },
        { "begins_with(a,'x') AND CONTAINS(b,?)",
          "begins_with(\"a\",{\"S\":\"x\"}) AND contains(\"b\",{\"S\":\"p1\"})" },
        { "attribute_type(a,'SS')", "attribute_type(\"a\",{\"S\":\"SS\"})" },
        { "attribute_exists(a) AND attribute_not_exists(b)",
          "attribute_exists(\"a\") AND \"b\" IS MISSING" },
        { "size(a)>1 AND size('abc')=3", "size(\"a\")>{\"N\":\"1\"} AND "
                                         "size({\"S\":\"abc\"})={\"N\":\"3\"}" },
        { "a=? AND b=? AND c=?",
          "\"a\"={\"S\":\"p1\"} AND \"b\"={\"N\":\"2\"} AND \"c\"={\"NS\":[\"3\"]}" },
    };
    (void)state;
    check_where(table, COUNT_OF(table));
}

static void literals_are_of_every_type(void **state)
{
    static const struct example table[] = {
        { "a='it''s'", "\"a\"={\"S\":\"it's\"}" },
        { "a=''", "\"a\"={\"S\":\"\"}" },
        { "a=-1.50", "\"a\"={\"N\":\"-1.5\"}" },
        { "a=- 1", "\"a\"={\"N\":\"-1\"}" },
        { "a=+1", "\"a\"={\"N\":\"1\"}" },
        { "a=-(1)", "\"a\"={\"N\":\"-1\"}" },
        { "a=1e3", "\"a\"={\"N\":\"1000\"}" },
        { "a=.5 AND b=5.", "\"a\"={\"N\":\"0.5\"} AND \"b\"={\"N\":\"5\"}" },
        { "a=true AND b=FALSE", "\"a\"={\"BOOL\":true} AND \"b\"={\"BOOL\":false}" },
        { "a=null", "\"a\"={\"NULL\":true}" },
        { "a=[1,'x',[],{}]", "\"a\"={\"L\":[{\"N\":\"1\"},{\"S\":\"x\"},{\"L\":[]},{\"M\":{}}]}" },
        { "a={'y':1,'x':{'z':null}}",
          "\"a\"={\"M\":{\"x\":{\"M\":{\"z\":{\"NULL\":true}}},\"y\":{\"N\":\"1\"}}}" },
        { "a=<<2,-1,10>>", "\"a\"={\"NS\":[\"-1\",\"2\",\"10\"]}" },
        { "a=<<'b','a'>>", "\"a\"={\"SS\":[\"a\",\"b\"]}" },
        { "a=<<>>", "Empty bags are not supported" },
        { "a=<<1,'a'>>", "Unsupported data type in Bag. DynamoDB only supports either numbers or "
                         "strings in bags" },
        { "a=<<true>>", "Unsupported data type in Bag. DynamoDB only supports either numbers or "
                        "strings in bags at 1:29:4" },
        { "a=<<?>>", "Unsupported data type in Bag. DynamoDB only supports either numbers or "
                     "strings in bags at 1:29:1" },
        { "a=<<1,1.0>>", "Input collection contains duplicates" },
        { "a=<<'x','x'>>", "One or more parameter values were invalid: Input collection [x, x] "
                           "contains duplicates." },
        { "a=[1,?]", "Unsupported data type: Parameter under key root.1 at 1:30:1" },
        { "a={'x':[b]}", "Unsupported data type: VariableReference under key root.x.0 at "
                         "1:33:1" },
        { "a={'x':1,'x':2}", "Duplicate keys in tuple. Key: x under root at 1:27:1" },
        { "a={b:1}", "Tuple keys must be of type String. Actual type: VariableReference under root "
                     "at 1:28:1" },
        { "a={1:1}", "Tuple keys must be of type String. Actual type: INT under root at 1:28:1" },
        { "a={'':1}", "Path component cannot be an empty string" },
        { "a=1E200", "Number overflow. Attempting to store a number with magnitude larger than "
                     "supported range under root" },
        { "a=<<1,-1E200>>", "Number overflow. Attempting to store a number with magnitude larger "
                            "than supported range under root[1]" },
    };
    (void)state;
    check_where(table, COUNT_OF(table));
}

static void conditions_are_refused_in_the_services_words(void **state)
{
    static const struct example table[] = {
        { "a", "WHERE clause must contain an expression that resolves to a boolean" },
        { "true", "WHERE clause must contain an expression that resolves to a boolean" },
        { "size(a)", "WHERE clause must contain an expression that resolves to a boolean" },
        { "NOT a", "The argument to NOT must be a Type or Expression" },
        { "a AND b=1", "The arguments to AND/OR must be Expressions" },
        { "a=MISSING", "MISSING must be compared using IS operator" },
        { "a=1 IS MISSING", "The left hand side argument to IS must be a Variable Reference, "
                            "Literal, or Path" },
        { "size(a) IS MISSING", "The left hand side argument to IS must be a Variable Reference, "
                                "Literal, or Path" },
        { "a IS INT",
          "Unsupported data type for IS operator: INT. Supported data types are "
          "[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST] at 1:27:2" },
        { "a+1=2", "Unsupported operator in Condition Expression. Operator: +" },
        { "a=1*2", "Unsupported operator in Condition Expression. Operator: *" },
        { "a || 'x'='y'", "Unsupported operator in Condition Expression. Operator: ||" },
        { "a LIKE 'x'", "Unsupported operator in Condition Expression. Operator: like" },
        { "(a=1)=true", "Unsupported operator in Condition Expression. Operator: =" },
        { "a IN 1", "IN operator must have a left hand argument of type Variable Reference and "
                    "right hand argument of type Seq with at least one member" },
        { "a IN []", "IN operator must have a left hand argument of type Variable Reference and "
                     "right hand argument of type Seq with at least one member" },
        { "a IN ?", "IN operator must have a left hand argument of type Variable Reference and "
                    "right hand argument of type Seq with at least one member" },
        { "foo(a)", "Unrecognized function: foo at 1:25:3" },
        { "EXISTS(a)", "Unrecognized function: exists at 1:25:6" },
        { "count(a)=1", "Unsupported token in expression: count at 1:25:5" },
        { "list_append(a,b)=1", "The function is not allowed in a condition expression; function: "
                                "list_append" },
        { "a=begins_with(b,'x')", "The function is not allowed to be used this way in an "
                                  "expression; function: begins_with" },
        { "contains(a)", "Incorrect number of operands for operator or function; operator or "
                         "function: contains, number of operands: 1" },
        { "contains()", "Incorrect number of operands for operator or function; operator or "
                        "function: contains, number of operands: 0" },
        { "begins_with(a,1)", "Incorrect operand type for operator or function; operator or "
                              "function: begins_with, operand type: N" },
        { "a<[1]", "Incorrect operand type for operator or function; operator or function: <, "
                   "operand type: L" },
        { "attribute_exists('a')", "Operator or function requires a document path; operator or "
                                   "function: attribute_exists" },
        { "attribute_type(a,'X')", "Invalid attribute type name found; type: X, valid types: "
                                   "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}" },
        { "a=a", "The first operand must be distinct from the remaining operands for this operator "
                 "or function; operator: =, first operand: [a]" },
        { "a BETWEEN 2 AND 1",
          "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
          "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: "
          "{N:1}" },
        { "a=-b", "Incorrect number of operands for operator or function; operator or function: -, "
                  "number of operands: 1" },
        { "a=? AND b=? AND c=? AND d=?",
          "Number of parameters in request and statement don't match." },
    };
    (void)state;
    check_where(table, COUNT_OF(table));
}

/* --- Writes --- */

static void writes_become_items_and_updates(void **state)
{
    static const struct example table[] = {
        { "INSERT INTO tab VALUE {'b':?,'a':[1]}",
          "INSERT INTO \"tab\" VALUE {'a':{\"L\":[{\"N\":\"1\"}]},'b':{\"S\":\"p1\"}}" },
        { "insert into \"tab\" value {}", "INSERT INTO \"tab\" VALUE {}" },
        { "UPDATE tab SET a=1, b.c=d SET e=e+1-2 REMOVE f[0] REMOVE g WHERE k='x'",
          "UPDATE \"tab\" SET \"a\"={\"N\":\"1\"} SET \"b\".\"c\"=\"d\" SET "
          "\"e\"=\"e\"+{\"N\":\"1\"}-{\"N\":\"2\"} REMOVE \"f\"[0] REMOVE \"g\" WHERE "
          "\"k\"={\"S\":\"x\"}" },
        { "UPDATE tab SET a=a-(b+1)", "UPDATE \"tab\" SET \"a\"=\"a\"-(\"b\"+{\"N\":\"1\"})" },
        { "UPDATE tab SET a=list_append(a,[1]), b=if_not_exists(c,0)+1",
          "UPDATE \"tab\" SET \"a\"=list_append(\"a\",{\"L\":[{\"N\":\"1\"}]}) SET "
          "\"b\"=if_not_exists(\"c\",{\"N\":\"0\"})+{\"N\":\"1\"}" },
        { "UPDATE tab SET a=SET_ADD(a,<<1>>) SET b.c=set_delete(b.c,<<'x'>>)",
          "UPDATE \"tab\" SET \"a\"=set_add(\"a\",{\"NS\":[\"1\"]}) SET "
          "\"b\".\"c\"=set_delete(\"b\".\"c\",{\"SS\":[\"x\"]})" },
        { "UPDATE tab SET a=1 WHERE k=1 RETURNING ALL OLD *",
          "UPDATE \"tab\" SET \"a\"={\"N\":\"1\"} WHERE \"k\"={\"N\":\"1\"} RETURNING ALL OLD *" },
        { "UPDATE tab SET a=1 WHERE k=1 RETURNING MODIFIED NEW *",
          "UPDATE \"tab\" SET \"a\"={\"N\":\"1\"} WHERE \"k\"={\"N\":\"1\"} RETURNING MODIFIED NEW "
          "*" },
        { "DELETE FROM tab WHERE k=1 RETURNING ALL OLD *",
          "DELETE FROM \"tab\" WHERE \"k\"={\"N\":\"1\"} RETURNING ALL OLD *" },
    };
    (void)state;
    check(table, COUNT_OF(table));
}

static void writes_are_refused_in_the_services_words(void **state)
{
    static const struct example table[] = {
        { "INSERT INTO tab VALUE ?",
          "Unsupported format in item expression. Please use struct format {...} to express item "
          "values for insert statement. at 1:23:1" },
        { "INSERT INTO tab VALUE {'a':1,'a':2}",
          "Duplicate keys in tuple. Key: a under root at 1:30:3" },
        { "INSERT INTO tab VALUE {'a':b}", "Unsupported data type: b under key root at 1:28:1" },
        { "INSERT INTO tab VALUE {'a':missing}",
          "Unsupported data type: MISSING under key root at 1:28:7" },
        { "INSERT INTO tab VALUE {'a':1} RETURNING ALL OLD *",
          "RETURNING is not supported in INSERT" },
        { "INSERT INTO tab.ind VALUE {'a':1}",
          "FROM clause may only contain a single table name in data manipulation statements at "
          "1:13:3" },
        { "UPDATE tab.ind SET a=1 WHERE b=1", "This operation is not supported on an index" },
        { "DELETE FROM tab.ind WHERE b=1", "This operation is not supported on an index" },
        { "DELETE FROM tab WHERE a=1 RETURNING ALL NEW *",
          "Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in "
          "DELETE statements." },
        { "UPDATE tab SET a=1 WHERE b=1 RETURNING ALL NEW *, ALL OLD *",
          "Invalid syntax with multiple returning elements in RETURNING clause" },
        { "UPDATE tab SET a=1, a=2", "Two document paths overlap with each other; must remove or "
                                     "rewrite one of these paths; path one: [a], path two: [a]" },
        { "UPDATE tab SET a=foo(1)", "Unrecognized function: foo at 1:18:3" },
        { "UPDATE tab SET a=size(b)",
          "The function is not allowed in an update expression; function: size" },
        { "UPDATE tab SET a=b*2", "Unsupported operator in Update Expression. Operator: *" },
        { "UPDATE tab SET a=b=2", "Unsupported operator in Update Expression. Operator: =" },
        { "UPDATE tab SET a=b+'x'", "Incorrect operand type for operator or function; operator or "
                                    "function: +, operand type: S" },
        { "UPDATE tab SET a=list_append(a,1)", "Incorrect operand type for operator or function; "
                                               "operator or function: list_append, operand type: "
                                               "N" },
        { "UPDATE tab SET a=MISSING", "MISSING must be compared using IS operator" },
        { "UPDATE tab SET a=set_add(a)", "SET_ADD must have exactly two arguments at 1:18:7" },
        { "UPDATE tab SET a=set_delete(b,<<1>>)",
          "The first argument to SET_DELETE must equal the assignment value at 1:18:10" },
        { "UPDATE tab SET a=set_add(a,9)",
          "The second argument to SET_ADD must be a value with type SET at 1:26:1" },
        { "EXISTS(DELETE FROM tab WHERE a=1)", "Unsupported operation in transaction." },
    };
    (void)state;
    check(table, COUNT_OF(table));
}

/* --- Bounds --- */

/* `head`, then `unit` so many times, then `tail`. */
static struct bytes repeat(struct arena *arena, const char *head, const char *unit, size_t count,
                           const char *tail)
{
    struct buffer text;
    buffer_init(&text, arena);
    buffer_append_bytes(&text, bytes_from_text(head));
    for (size_t i = 0; i < count; i++)
        buffer_append_bytes(&text, bytes_from_text(unit));
    buffer_append_bytes(&text, bytes_from_text(tail));
    return buffer_bytes(&text);
}

static bool accepts(struct arena *arena, struct bytes text)
{
    return bytes_starts_with(parse(arena, text), BYTES("SELECT"));
}

static void operators_are_counted(void **state)
{
    static const char head[] = "SELECT * FROM tab WHERE a=1";
    struct arena *arena = arena_create();
    (void)state;
    size_t pairs = (OPERAND_RULES_OPERATORS_MAX - 1) / 2; /* Each " OR a=1" is two. */
    assert_true(accepts(arena, repeat(arena, head, " OR a=1", pairs - 1, "")));
    assert_true(accepts(arena, repeat(arena, head, " OR a=1", pairs, "")));
    assert_true(accepts(arena, repeat(arena, "SELECT * FROM tab WHERE ", "NOT ",
                                      OPERAND_RULES_OPERATORS_MAX - 1, "a=1")));
    expect(repeat(arena, head, " OR a=1", pairs + 1, ""),
           "The expression contains too many operators; operator count: 301");
    expect(repeat(arena, "SELECT * FROM tab WHERE ", "NOT ", OPERAND_RULES_OPERATORS_MAX, "a=1"),
           "The expression contains too many operators; operator count: 301");
    arena_destroy(arena);
}

static void nesting_is_bounded(void **state)
{
    static const char want[] = "Nesting Levels have exceeded supported limits";
    struct arena *arena = arena_create();
    (void)state;
    struct {
        size_t count;
        bool ok;
    } groups[] = { { STATEMENT_NESTING_MAX - 1, true },
                   { STATEMENT_NESTING_MAX, true },
                   { STATEMENT_NESTING_MAX + 1, false } };
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        struct bytes closing = repeat(arena, "a=1", ")", groups[i].count, "");
        struct bytes text = repeat(arena, "SELECT * FROM tab WHERE ", "(", groups[i].count, "");
        text = arena_printf(arena, "%.*s%.*s", BYTES_FMT(text), BYTES_FMT(closing));
        if (groups[i].ok)
            assert_true(accepts(arena, text));
        else
            expect(text, want);
    }
    assert_true(accepts(arena, repeat(arena, "SELECT * FROM tab WHERE a=", "[",
                                      NESTING_DEPTH_MAX - 1, "1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]")));
    expect(repeat(arena, "SELECT * FROM tab WHERE a=", "[", NESTING_DEPTH_MAX, "1"), want);
    arena_destroy(arena);
}

static void path_steps_and_operands_of_in_are_counted(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    assert_true(accepts(
        arena, repeat(arena, "SELECT a", ".a", OPERAND_RULES_PATH_STEPS_MAX - 1, " FROM tab")));
    expect(repeat(arena, "SELECT a", ".a", OPERAND_RULES_PATH_STEPS_MAX, " FROM tab"),
           "The document path has too many nesting levels; nesting levels: 33");
    assert_true(accepts(arena, repeat(arena, "SELECT * FROM tab WHERE a IN [1", ",1",
                                      OPERAND_RULES_IN_MAX - 1, "]")));
    expect(repeat(arena, "SELECT * FROM tab WHERE a IN [1", ",1", OPERAND_RULES_IN_MAX, "]"),
           "The IN operator is provided with too many operands; number of operands: 101");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects_name_columns_a_source_and_an_order),
        cmocka_unit_test(a_column_is_shown_under_its_last_name_and_indexes),
        cmocka_unit_test(selects_are_refused_in_the_services_words),
        cmocka_unit_test(malformed_statements_say_what_was_expected),
        cmocka_unit_test(conditions_become_those_of_expressions),
        cmocka_unit_test(literals_are_of_every_type),
        cmocka_unit_test(conditions_are_refused_in_the_services_words),
        cmocka_unit_test(writes_become_items_and_updates),
        cmocka_unit_test(writes_are_refused_in_the_services_words),
        cmocka_unit_test(operators_are_counted),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(path_steps_and_operands_of_in_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
