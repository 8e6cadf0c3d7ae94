/* decisions_partiql.c -- rows of ExecuteStatement, BatchExecuteStatement and ExecuteTransaction.
 *
 * Their actions are PartiQLSelect, PartiQLInsert, PartiQLUpdate and PartiQLDelete; the operations
 * have none of their own.
 */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define S(text) "{'Statement':'" text "'}"
#define S_MORE(text, more) "{'Statement':'" text "'" more "}"
#define SELECT(table, name) "SELECT * FROM " table " WHERE pk=~" name "~ AND sk=1"
#define SELECT_INDEX(table, index, name) "SELECT * FROM " table "." index " WHERE g=~" name "~"
#define INSERT(table, name) "INSERT INTO " table " VALUE {~pk~:~" name "~,~sk~:1}"
#define UPDATE(table, name) "UPDATE " table " SET l=~x~ WHERE pk=~" name "~ AND sk=1"
#define DELETE(table, name) "DELETE FROM " table " WHERE pk=~" name "~ AND sk=1"
/* Conditions that do not hold for the item. */
#define FAILING_UPDATE(more) "UPDATE Tab SET l=~x~ WHERE pk=~alice~ AND sk=1 AND name=~wrong~" more
#define FAILING_DELETE(more) "DELETE FROM Tab WHERE pk=~alice~ AND sk=1 AND name=~wrong~" more
#define NO_SCAN ALLOW_IF("'Bool':{'dynamodb:FullTableScan':'false'}")

/* Explaining asks what running asks. */
#define EXPLAIN_SCAN(table) "{'Scan':{'TableName':'" table "'}}"
#define EXPLAIN_QUERY(table) "{'Query':{'TableName':'" table "','KeyConditionExpression':'pk=:p','ExpressionAttributeValues':{':p':{'S':'alice'}}}}"
const struct decision decisions_explain_statement[] = {
    ASKS(S(SELECT("Tab", "alice")), "PartiQLSelect", "Tab", YES),
    ASKS(S(SELECT_INDEX("Tab", "Ind", "alice")), "PartiQLSelect", "Tab/index/Ind", YES),
    ASKS(S(INSERT("Tab", "new")), "PartiQLInsert", "Tab", YES),
    ASKS(S(UPDATE("Tab", "alice")), "PartiQLUpdate", "Tab", YES),
    ASKS(S(DELETE("Tab", "alice")), "PartiQLDelete", "Tab", YES),
    ASKS(S(SELECT("Absent", "alice")), "PartiQLSelect", "Absent", NOT_FOUND),
    ASKS(EXPLAIN_SCAN("Tab"), "Scan", "Tab", YES),
    ASKS(EXPLAIN_SCAN("Absent"), "Scan", "Absent", NOT_FOUND),
    ASKS(EXPLAIN_QUERY("Tab"), "Query", "Tab", YES),
    ASKS(EXPLAIN_QUERY("Absent"), "Query", "Absent", NOT_FOUND),
    TABLE_POLICY(S(SELECT("Tab", "alice")), "PartiQLSelect", "Tab", YES),
    TABLE_POLICY(EXPLAIN_SCAN("Tab"), "Scan", "Tab", YES),
    STRANGER(S(SELECT("Secret", "alice")), S(SELECT("Absent", "alice")), "PartiQLSelect"),
    STRANGER(S(DELETE("Secret", "alice")), S(DELETE("Absent", "alice")), "PartiQLDelete"),
    STRANGER(EXPLAIN_SCAN("Secret"), EXPLAIN_SCAN("Absent"), "Scan"),
    STRANGER(EXPLAIN_QUERY("Secret"), EXPLAIN_QUERY("Absent"), "Query"),
    { NO_SCAN, NULL, NULL, S("SELECT * FROM Tab"), NO("PartiQLSelect", "Tab") },
    END,
};

const struct decision decisions_execute_statement[] = {
    ASKS(S(SELECT("Tab", "alice")), "PartiQLSelect", "Tab", YES),
    ASKS(S(SELECT_INDEX("Tab", "Ind", "alice")), "PartiQLSelect", "Tab/index/Ind", YES),
    ASKS(S(INSERT("Tab", "new")), "PartiQLInsert", "Tab", YES),
    ASKS(S(UPDATE("Tab", "alice")), "PartiQLUpdate", "Tab", YES),
    ASKS(S(DELETE("Tab", "alice")), "PartiQLDelete", "Tab", YES),
    ASKS(S(SELECT("Absent", "alice")), "PartiQLSelect", "Absent", NOT_FOUND),
    ASKS(S(INSERT("Absent", "alice")), "PartiQLInsert", "Absent", NOT_FOUND),
    ASKS(S(UPDATE("Absent", "alice")), "PartiQLUpdate", "Absent", NOT_FOUND),
    ASKS(S(DELETE("Absent", "alice")), "PartiQLDelete", "Absent", NOT_FOUND),
    TABLE_POLICY(S(SELECT("Tab", "alice")), "PartiQLSelect", "Tab", YES),
    TABLE_POLICY(S(DELETE("Tab", "alice")), "PartiQLDelete", "Tab", YES),
    STRANGER(S(SELECT("Secret", "alice")), S(SELECT("Absent", "alice")), "PartiQLSelect"),
    STRANGER(S(INSERT("Secret", "alice")), S(INSERT("Absent", "alice")), "PartiQLInsert"),
    STRANGER(S(INSERT("Secret", "new")), S(INSERT("Absent", "new")), "PartiQLInsert"),
    STRANGER(S(UPDATE("Secret", "alice")), S(UPDATE("Absent", "alice")), "PartiQLUpdate"),
    STRANGER(S(DELETE("Secret", "alice")), S(DELETE("Absent", "alice")), "PartiQLDelete"),
    /* Statements that do not fit the key or an index are not told so to strangers. */
    STRANGER(S("SELECT * FROM Secret WHERE pk=1"), S("SELECT * FROM Absent WHERE pk=1"), "PartiQLSelect"),
    STRANGER(S("SELECT * FROM Secret"), S("SELECT * FROM Absent"), "PartiQLSelect"),
    STRANGER(S("INSERT INTO Secret VALUE {~wrong~:1}"), S("INSERT INTO Absent VALUE {~wrong~:1}"), "PartiQLInsert"),
    STRANGER(S("UPDATE Secret SET l=~x~ WHERE pk=~alice~"), S("UPDATE Absent SET l=~x~ WHERE pk=~alice~"), "PartiQLUpdate"),
    STRANGER(S("UPDATE Secret SET pk=~x~ WHERE pk=~alice~ AND sk=1"), S("UPDATE Absent SET pk=~x~ WHERE pk=~alice~ AND sk=1"), "PartiQLUpdate"),
    STRANGER(S("DELETE FROM Secret WHERE wrong=1"), S("DELETE FROM Absent WHERE wrong=1"), "PartiQLDelete"),
    { NOTHING, NULL, NULL, S(SELECT_INDEX("Secret", "Ind", "alice")), NO("PartiQLSelect", "Secret/index/Ind") },
    { NOTHING, NULL, NULL, S(SELECT_INDEX("Secret", "Nope", "alice")), NO("PartiQLSelect", "Secret/index/Nope") },
    { NOTHING, NULL, NULL, S(SELECT_INDEX("Absent", "Ind", "alice")), NO("PartiQLSelect", "Absent/index/Ind") },
    { NOT_SECRET, NULL, NULL, S(SELECT_INDEX("Secret", "Ind", "alice")), DENIED("PartiQLSelect", "Secret/index/Ind") },
    { NOT_SECRET, NULL, NULL, S(SELECT_INDEX("Secret", "Nope", "alice")), DENIED("PartiQLSelect", "Secret/index/Nope") },
    { NOTHING, NULL, NULL, S_MORE(SELECT_INDEX("Secret", "Ind", "alice"), ",'ConsistentRead':true"), NO("PartiQLSelect", "Secret/index/Ind") },
    { ALL, NULL, NULL, S(SELECT_INDEX("Tab", "Nope", "alice")), INVALID },
    { ALL, NULL, NULL, S("INSERT INTO Tab VALUE {~wrong~:1}"), INVALID },
    /* Names in quotes, and ARNs in their place. */
    STRANGER(S("SELECT * FROM \\'Secret\\' WHERE pk=~a~"), S("SELECT * FROM \\'Absent\\' WHERE pk=~a~"), "PartiQLSelect"),
    STRANGER(S("SELECT * FROM \\'" ARN("Secret") "\\' WHERE pk=~a~"), S("SELECT * FROM \\'" ARN("Absent") "\\' WHERE pk=~a~"), "PartiQLSelect"),
    STRANGER(S("DELETE FROM \\'" ARN("Secret") "\\' WHERE pk=~a~ AND sk=1"), S("DELETE FROM \\'" ARN("Absent") "\\' WHERE pk=~a~ AND sk=1"), "PartiQLDelete"),
    /* No other action stands for these. */
    { ALLOW_ON("ExecuteStatement", "*"), NULL, NULL, S(SELECT("Tab", "alice")), NO("PartiQLSelect", "Tab") },
    { ALLOW_ON("GetItem", "*"), NULL, NULL, S(SELECT("Tab", "alice")), NO("PartiQLSelect", "Tab") },
    { ALLOW_ON("Query", "*"), NULL, NULL, S(SELECT("Tab", "alice")), NO("PartiQLSelect", "Tab") },
    { ALLOW_ON("PutItem", "*"), NULL, NULL, S(INSERT("Tab", "new")), NO("PartiQLInsert", "Tab") },
    { ALLOW_ON("PartiQLSelect", "*"), NULL, NULL, S(DELETE("Tab", "alice")), NO("PartiQLDelete", "Tab") },
    { ALLOW_ON("PartiQL*", "*"), NULL, NULL, S(DELETE("Tab", "alice")), YES },
    { OWN, NULL, NULL, S(SELECT("Tab", "alice")), YES },
    { OWN, NULL, NULL, S(SELECT("Tab", "bob")), NO("PartiQLSelect", "Tab") },
    { OWN, NULL, NULL, S("SELECT * FROM Tab WHERE pk IN [~alice~,~bob~]"), NO("PartiQLSelect", "Tab") },
    { OWN, NULL, NULL, S("SELECT * FROM Tab WHERE pk=~alice~ OR pk=~bob~"), NO("PartiQLSelect", "Tab") },
    { OWN, NULL, NULL, "{'Statement':'SELECT * FROM Tab WHERE pk=?','Parameters':[{'S':'bob'}]}", NO("PartiQLSelect", "Tab") },
    { OWN, NULL, NULL, "{'Statement':'SELECT * FROM Tab WHERE pk=?','Parameters':[{'S':'alice'}]}", YES },
    { OWN, NULL, NULL, S(SELECT_INDEX("Tab", "Ind", "bob")), NO("PartiQLSelect", "Tab/index/Ind") },
    { OWN, NULL, NULL, S(INSERT("Tab", "bob")), NO("PartiQLInsert", "Tab") },
    { OWN, NULL, NULL, S(UPDATE("Tab", "bob")), NO("PartiQLUpdate", "Tab") },
    { OWN, NULL, NULL, S(DELETE("Tab", "bob")), NO("PartiQLDelete", "Tab") },
    { NAMES, NULL, NULL, S("SELECT pk FROM Tab WHERE pk=~alice~"), YES },
    { NAMES, NULL, NULL, S("SELECT pay FROM Tab WHERE pk=~alice~"), NO("PartiQLSelect", "Tab") },
    { NAMES, NULL, NULL, S(SELECT("Tab", "alice")), NO("PartiQLSelect", "Tab") },
    { NAMES, NULL, NULL, S("SELECT pk FROM Tab WHERE pk=~alice~ AND pay=~x~"), NO("PartiQLSelect", "Tab") },
    { NAMES, NULL, NULL, S("INSERT INTO Tab VALUE {~pk~:~new~,~sk~:1,~pay~:1}"), NO("PartiQLInsert", "Tab") },
    { NAMES, NULL, NULL, S("UPDATE Tab SET pay=1 WHERE pk=~alice~ AND sk=1"), NO("PartiQLUpdate", "Tab") },
    { NAMES, NULL, NULL, S("UPDATE Tab REMOVE pay WHERE pk=~alice~ AND sk=1"), NO("PartiQLUpdate", "Tab") },
    { NAMES, NULL, NULL, S("UPDATE Tab SET l=~x~ WHERE pk=~alice~ AND sk=1 AND pay=~x~"), NO("PartiQLUpdate", "Tab") },
    { NAMES, NULL, NULL, S("UPDATE Tab SET l=~x~ WHERE pk=~alice~ AND sk=1 RETURNING MODIFIED NEW *"), YES },
    { NAMES, NULL, NULL, S("UPDATE Tab SET l=~x~ WHERE pk=~alice~ AND sk=1 RETURNING ALL NEW *"), NO("PartiQLUpdate", "Tab") },
    { NAMES, NULL, NULL, S("UPDATE Tab SET l=~x~ WHERE pk=~alice~ AND sk=1 RETURNING ALL OLD *"), NO("PartiQLUpdate", "Tab") },
    { NAMES, NULL, NULL, S("DELETE FROM Tab WHERE pk=~alice~ AND sk=1 RETURNING ALL OLD *"), NO("PartiQLDelete", "Tab") },
    { NAMED, NULL, NULL, S(SELECT("Tab", "alice")), NO("PartiQLSelect", "Tab") },
    { NAMED, NULL, NULL, S("SELECT l FROM Tab WHERE pk=~alice~"), YES },
    { NAMED, NULL, NULL, S(SELECT_INDEX("Tab", "Ind", "alice")), NO("PartiQLSelect", "Tab/index/Ind") },
    { DENY_PAY, NULL, NULL, S(SELECT("Tab", "alice")), DENIED("PartiQLSelect", "Tab") },
    { NAMED, NULL, NULL, S_MORE(FAILING_UPDATE(""), SHOW_OLD), NO("PartiQLUpdate", "Tab") },
    { NAMED, NULL, NULL, S("DELETE FROM Tab WHERE pk=~alice~ AND sk=1 RETURNING ALL OLD *"), NO("PartiQLDelete", "Tab") },
    { NAMES, NULL, NULL, S("UPDATE Tab SET l=pay WHERE pk=~alice~ AND sk=1"), NO("PartiQLUpdate", "Tab") },
    /* A statement that reads all partitions is not one about the key that it happens to name. */
    { KEYS("['alice']"), NULL, NULL, S("SELECT * FROM Tab WHERE pk=~alice~"), YES },
    { KEYS("['alice']"), NULL, NULL, S("SELECT * FROM Tab WHERE pk=~alice~ OR l=~l~"), NO("PartiQLSelect", "Tab") },
    { KEYS("['alice']"), NULL, NULL, S("SELECT * FROM Tab WHERE NOT pk=~alice~"), NO("PartiQLSelect", "Tab") },
    { KEYS("['alice']"), NULL, NULL, S("SELECT * FROM Tab WHERE pk>~alice~"), NO("PartiQLSelect", "Tab") },
    { KEYS("['alice']"), NULL, NULL, S("SELECT * FROM Tab"), NO("PartiQLSelect", "Tab") },
    { KEYS("['alice']"), NULL, NULL, S("SELECT * FROM Tab WHERE pk=~alice~ AND pk=~bob~"), NO("PartiQLSelect", "Tab") },
    { KEYS("['42']"), NULL, NULL, S("SELECT * FROM Num WHERE pk=42.0"), YES },
    { KEYS("['42']"), NULL, NULL, S("SELECT * FROM Num WHERE pk=41"), NO("PartiQLSelect", "Num") },
    /* What is shown where a condition fails. */
    { NAMES, NULL, NULL, S(FAILING_UPDATE("")), CONDITION_FAILED },
    { NAMES, NULL, NULL, S_MORE(FAILING_UPDATE(""), SHOW_OLD), NO("PartiQLUpdate", "Tab") },
    { NAMES, NULL, NULL, S_MORE(FAILING_DELETE(""), SHOW_OLD), NO("PartiQLDelete", "Tab") },
    { RETURNS("'NONE'"), NULL, NULL, S_MORE(FAILING_UPDATE(""), SHOW_OLD), NO("PartiQLUpdate", "Tab") },
    { RETURNS("'NONE'"), NULL, NULL, S_MORE(FAILING_DELETE(""), SHOW_OLD), NO("PartiQLDelete", "Tab") },
    { RETURNS("'NONE'"), NULL, NULL, S(FAILING_DELETE("")), CONDITION_FAILED },
    { RETURNS("['NONE','ALL_OLD']"), NULL, NULL, S_MORE(FAILING_UPDATE(""), SHOW_OLD), CONDITION_FAILED },
    { RETURNS("['NONE','UPDATED_NEW']"), NULL, NULL, S_MORE(FAILING_UPDATE(" RETURNING MODIFIED NEW *"), SHOW_OLD), NO("PartiQLUpdate", "Tab") },
    { DENY_RETURNS("'ALL_OLD'"), NULL, NULL, S_MORE(FAILING_UPDATE(""), SHOW_OLD), DENIED("PartiQLUpdate", "Tab") },
    { DENY_RETURNS("'ALL_OLD'"), NULL, NULL, S_MORE(FAILING_DELETE(""), SHOW_OLD), DENIED("PartiQLDelete", "Tab") },
    { RETURNS("'NONE'"), NULL, NULL, S("DELETE FROM Tab WHERE pk=~alice~ AND sk=1 RETURNING ALL OLD *"), NO("PartiQLDelete", "Tab") },
    { NO_SCAN, NULL, NULL, S("SELECT * FROM Tab WHERE pay=~x~"), NO("PartiQLSelect", "Tab") },
    { NO_SCAN, NULL, NULL, S("SELECT * FROM Tab"), NO("PartiQLSelect", "Tab") },
    { NO_SCAN, NULL, NULL, S(SELECT("Tab", "alice")), YES },
    { DENY_IF("'Bool':{'dynamodb:FullTableScan':'true'}"), NULL, NULL, S("SELECT * FROM Tab"), DENIED("PartiQLSelect", "Tab") },
    { WITHIN("ExecuteTransaction"), NULL, NULL, S(SELECT("Tab", "alice")), NO("PartiQLSelect", "Tab") },
    { NO_CAPACITY, NULL, NULL, S_MORE(SELECT("Tab", "alice"), ",'ReturnConsumedCapacity':'TOTAL'"), NO("PartiQLSelect", "Tab") },
    { TAGGED("red"), NULL, NULL, S(SELECT("Tab", "alice")), NO("PartiQLSelect", "Tab") },
    END,
};

/* A refused statement of a batch is an error of its own; the others are run. */
#define B(statements) "{'Statements':[" statements "]}"

const struct decision decisions_batch_execute_statement[] = {
    ASKS(B(S(SELECT("Tab", "alice"))), "PartiQLSelect", "Tab", YES),
    ASKS(B(S(INSERT("Tab", "new"))), "PartiQLInsert", "Tab", YES),
    ASKS(B(S(UPDATE("Tab", "alice"))), "PartiQLUpdate", "Tab", YES),
    ASKS(B(S(DELETE("Tab", "alice"))), "PartiQLDelete", "Tab", YES),
    ASKS(B(S(SELECT("Absent", "alice"))), "PartiQLSelect", "Absent", SHOWS("'Code':'ResourceNotFound'")),
    ASKS(B(S(DELETE("Absent", "alice"))), "PartiQLDelete", "Absent", SHOWS("'Code':'ResourceNotFound'")),
    TABLE_POLICY(B(S(SELECT("Tab", "alice"))), "PartiQLSelect", "Tab", YES),
    STRANGER(B(S(SELECT("Secret", "alice"))), B(S(SELECT("Absent", "alice"))), "PartiQLSelect"),
    STRANGER(B(S(INSERT("Secret", "alice"))), B(S(INSERT("Absent", "alice"))), "PartiQLInsert"),
    STRANGER(B(S(UPDATE("Secret", "alice"))), B(S(UPDATE("Absent", "alice"))), "PartiQLUpdate"),
    STRANGER(B(S(DELETE("Secret", "alice"))), B(S(DELETE("Absent", "alice"))), "PartiQLDelete"),
    STRANGER(B(S("SELECT * FROM Secret WHERE pk=~a~")), B(S("SELECT * FROM Absent WHERE pk=~a~")), "PartiQLSelect"),
    STRANGER(B(S("UPDATE Secret SET l=~x~ WHERE pk=~alice~")), B(S("UPDATE Absent SET l=~x~ WHERE pk=~alice~")), "PartiQLUpdate"),
    STRANGER(B(S("INSERT INTO Secret VALUE {~wrong~:1}")), B(S("INSERT INTO Absent VALUE {~wrong~:1}")), "PartiQLInsert"),
    { ALLOW_ON("BatchExecuteStatement", "*"), NULL, NULL, B(S(SELECT("Tab", "alice"))), NO("PartiQLSelect", "Tab") },
    { ONLY("*", "Tab"), NULL, NULL, B(S(SELECT("Tab", "alice")) "," S(SELECT("Secret", "alice"))), NO("PartiQLSelect", "Secret") },
    { ONLY("*", "Tab"), NULL, NULL, B(S(SELECT("Tab", "alice")) "," S(SELECT("Secret", "alice"))), HIDES("Secret-alice") },
    { ONLY("*", "Tab"), NULL, NULL, B(S(SELECT("Tab", "alice")) "," S(SELECT("Secret", "alice"))), SHOWS("Tab-alice") },
    { NOT_SECRET, NULL, NULL, B(S(SELECT("Tab", "alice")) "," S(SELECT("Secret", "alice"))), DENIED("PartiQLSelect", "Secret") },
    { OWN, NULL, NULL, B(S(SELECT("Tab", "bob"))), NO("PartiQLSelect", "Tab") },
    { OWN, NULL, NULL, B(S(SELECT("Tab", "alice"))), YES },
    { OWN, NULL, NULL, B(S(INSERT("Tab", "bob"))), NO("PartiQLInsert", "Tab") },
    { OWN, NULL, NULL, B(S(DELETE("Tab", "alice")) "," S(DELETE("Tab", "bob"))), NO("PartiQLDelete", "Tab") },
    { NAMES, NULL, NULL, B(S(SELECT("Tab", "alice"))), NO("PartiQLSelect", "Tab") },
    { NAMES, NULL, NULL, B(S("SELECT pk FROM Tab WHERE pk=~alice~ AND sk=1")), YES },
    { NAMES, NULL, NULL, B(S("UPDATE Tab SET pay=1 WHERE pk=~alice~ AND sk=1")), NO("PartiQLUpdate", "Tab") },
    { NAMES, NULL, NULL, B(S_MORE(FAILING_UPDATE(""), SHOW_OLD)), HIDES("Tab-alice") },
    { RETURNS("'NONE'"), NULL, NULL, B(S_MORE(FAILING_UPDATE(""), SHOW_OLD)), HIDES("Tab-alice") },
    { TAGGED("red"), NULL, NULL, B(S(SELECT("Tab", "alice"))), NO("PartiQLSelect", "Tab") },
    END,
};

#define T(statements) "{'TransactStatements':[" statements "]}"
#define EXISTS(table, name) "EXISTS(SELECT * FROM " table " WHERE pk=~" name "~ AND sk=1 AND name=~n~)"

const struct decision decisions_execute_transaction[] = {
    ASKS(T(S(SELECT("Tab", "alice"))), "PartiQLSelect", "Tab", YES),
    ASKS(T(S(INSERT("Tab", "new"))), "PartiQLInsert", "Tab", YES),
    ASKS(T(S(UPDATE("Tab", "alice"))), "PartiQLUpdate", "Tab", YES),
    ASKS(T(S(DELETE("Tab", "alice"))), "PartiQLDelete", "Tab", YES),
    ASKS(T(S(SELECT("Absent", "alice"))), "PartiQLSelect", "Absent", NOT_FOUND),
    ASKS(T(S(DELETE("Absent", "alice"))), "PartiQLDelete", "Absent", NOT_FOUND),
    TABLE_POLICY(T(S(UPDATE("Tab", "alice"))), "PartiQLUpdate", "Tab", YES),
    STRANGER(T(S(SELECT("Secret", "alice"))), T(S(SELECT("Absent", "alice"))), "PartiQLSelect"),
    STRANGER(T(S(INSERT("Secret", "alice"))), T(S(INSERT("Absent", "alice"))), "PartiQLInsert"),
    STRANGER(T(S(UPDATE("Secret", "alice"))), T(S(UPDATE("Absent", "alice"))), "PartiQLUpdate"),
    STRANGER(T(S(DELETE("Secret", "alice"))), T(S(DELETE("Absent", "alice"))), "PartiQLDelete"),
    STRANGER(T(S("SELECT * FROM Secret WHERE pk=~a~")), T(S("SELECT * FROM Absent WHERE pk=~a~")), "PartiQLSelect"),
    STRANGER(T(S("INSERT INTO Secret VALUE {~wrong~:1}")), T(S("INSERT INTO Absent VALUE {~wrong~:1}")), "PartiQLInsert"),
    STRANGER(T(S("DELETE FROM Secret WHERE pk=~a~")), T(S("DELETE FROM Absent WHERE pk=~a~")), "PartiQLDelete"),
    { ALLOW_ON("ExecuteTransaction", "*"), NULL, NULL, T(S(SELECT("Tab", "alice"))), NO("PartiQLSelect", "Tab") },
    { ALLOW_ON("PartiQLUpdate", "*"), NULL, NULL, T(S(UPDATE("Tab", "alice")) "," S(EXISTS("Tab", "bob"))), NO("PartiQLSelect", "Tab") },
    { ALLOW_ON("PartiQL*", "*"), NULL, NULL, T(S(UPDATE("Tab", "alice")) "," S(EXISTS("Tab", "bob"))), YES },
    { ONLY("*", "Tab"), NULL, NULL, T(S(UPDATE("Tab", "alice")) "," S(UPDATE("Secret", "alice"))), NO("PartiQLUpdate", "Secret") },
    { ONLY("*", "Tab"), NULL, NULL, T(S(UPDATE("Tab", "alice")) "," S(UPDATE("Absent", "alice"))), NO("PartiQLUpdate", "Absent") },
    { NOT_SECRET, NULL, NULL, T(S(SELECT("Tab", "alice")) "," S(SELECT("Secret", "alice"))), DENIED("PartiQLSelect", "Secret") },
    { OWN, NULL, NULL, T(S(SELECT("Tab", "bob"))), NO("PartiQLSelect", "Tab") },
    { OWN, NULL, NULL, T(S(DELETE("Tab", "bob"))), NO("PartiQLDelete", "Tab") },
    { OWN, NULL, NULL, T(S(UPDATE("Tab", "alice")) "," S(EXISTS("Tab", "bob"))), NO("PartiQLSelect", "Tab") },
    { NAMES, NULL, NULL, T(S(SELECT("Tab", "alice"))), NO("PartiQLSelect", "Tab") },
    { NAMES, NULL, NULL, T(S("SELECT pay FROM Tab WHERE pk=~alice~ AND sk=1")), NO("PartiQLSelect", "Tab") },
    { NAMES, NULL, NULL, T(S("SELECT pk FROM Tab WHERE pk=~alice~ AND sk=1")), YES },
    { NAMES, NULL, NULL, T(S(FAILING_UPDATE(""))), CANCELED },
    { NAMES, NULL, NULL, T(S_MORE(FAILING_UPDATE(""), SHOW_OLD)), NO("PartiQLUpdate", "Tab") },
    { RETURNS("'NONE'"), NULL, NULL, T(S_MORE(FAILING_DELETE(""), SHOW_OLD)), NO("PartiQLDelete", "Tab") },
    { DENY_RETURNS("'ALL_OLD'"), NULL, NULL, T(S_MORE(FAILING_DELETE(""), SHOW_OLD)), DENIED("PartiQLDelete", "Tab") },
    { RETURNS("['NONE','ALL_OLD']"), NULL, NULL, T(S_MORE(FAILING_DELETE(""), SHOW_OLD)), CANCELED },
    { WITHIN("ExecuteTransaction"), NULL, NULL, T(S(DELETE("Tab", "alice"))), YES },
    { DENY_WITHIN("ExecuteTransaction"), NULL, NULL, T(S(SELECT("Tab", "alice"))), DENIED("PartiQLSelect", "Tab") },
    { TAGGED("red"), NULL, NULL, T(S(SELECT("Tab", "alice"))), NO("PartiQLSelect", "Tab") },
    END,
};
/* clang-format on */
