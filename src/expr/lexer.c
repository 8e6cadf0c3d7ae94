/* lexer.c -- see lexer.h. One table has each byte's class, so most tokens cost one lookup per byte.
 */
#include "expr/lexer.h"
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include "base/byte_order.h"
#include "base/compiler.h"

enum byte_class {
    CLASS_OTHER,
    CLASS_SPACE,
    CLASS_LETTER,
    CLASS_DIGIT,
    CLASS_UNDERSCORE,
    CLASS_REFERENCE, /* # or : */
    CLASS_COMPARATOR,
    CLASS_SIGN, /* A token of its own. */
};

/* Vertical tab and form feed are not white space to the service. */
static const uint8_t classes[256] = {
    [' '] = CLASS_SPACE,      ['\t'] = CLASS_SPACE,     ['\r'] = CLASS_SPACE,
    ['\n'] = CLASS_SPACE,     ['0'] = CLASS_DIGIT,      ['1'] = CLASS_DIGIT,
    ['2'] = CLASS_DIGIT,      ['3'] = CLASS_DIGIT,      ['4'] = CLASS_DIGIT,
    ['5'] = CLASS_DIGIT,      ['6'] = CLASS_DIGIT,      ['7'] = CLASS_DIGIT,
    ['8'] = CLASS_DIGIT,      ['9'] = CLASS_DIGIT,      ['A'] = CLASS_LETTER,
    ['B'] = CLASS_LETTER,     ['C'] = CLASS_LETTER,     ['D'] = CLASS_LETTER,
    ['E'] = CLASS_LETTER,     ['F'] = CLASS_LETTER,     ['G'] = CLASS_LETTER,
    ['H'] = CLASS_LETTER,     ['I'] = CLASS_LETTER,     ['J'] = CLASS_LETTER,
    ['K'] = CLASS_LETTER,     ['L'] = CLASS_LETTER,     ['M'] = CLASS_LETTER,
    ['N'] = CLASS_LETTER,     ['O'] = CLASS_LETTER,     ['P'] = CLASS_LETTER,
    ['Q'] = CLASS_LETTER,     ['R'] = CLASS_LETTER,     ['S'] = CLASS_LETTER,
    ['T'] = CLASS_LETTER,     ['U'] = CLASS_LETTER,     ['V'] = CLASS_LETTER,
    ['W'] = CLASS_LETTER,     ['X'] = CLASS_LETTER,     ['Y'] = CLASS_LETTER,
    ['Z'] = CLASS_LETTER,     ['a'] = CLASS_LETTER,     ['b'] = CLASS_LETTER,
    ['c'] = CLASS_LETTER,     ['d'] = CLASS_LETTER,     ['e'] = CLASS_LETTER,
    ['f'] = CLASS_LETTER,     ['g'] = CLASS_LETTER,     ['h'] = CLASS_LETTER,
    ['i'] = CLASS_LETTER,     ['j'] = CLASS_LETTER,     ['k'] = CLASS_LETTER,
    ['l'] = CLASS_LETTER,     ['m'] = CLASS_LETTER,     ['n'] = CLASS_LETTER,
    ['o'] = CLASS_LETTER,     ['p'] = CLASS_LETTER,     ['q'] = CLASS_LETTER,
    ['r'] = CLASS_LETTER,     ['s'] = CLASS_LETTER,     ['t'] = CLASS_LETTER,
    ['u'] = CLASS_LETTER,     ['v'] = CLASS_LETTER,     ['w'] = CLASS_LETTER,
    ['x'] = CLASS_LETTER,     ['y'] = CLASS_LETTER,     ['z'] = CLASS_LETTER,
    ['_'] = CLASS_UNDERSCORE, ['#'] = CLASS_REFERENCE,  [':'] = CLASS_REFERENCE,
    ['='] = CLASS_COMPARATOR, ['<'] = CLASS_COMPARATOR, ['>'] = CLASS_COMPARATOR,
    ['('] = CLASS_SIGN,       [')'] = CLASS_SIGN,       ['['] = CLASS_SIGN,
    [']'] = CLASS_SIGN,       ['.'] = CLASS_SIGN,       [','] = CLASS_SIGN,
    ['+'] = CLASS_SIGN,       ['-'] = CLASS_SIGN,
};

static const uint8_t signs[128] = {
    ['('] = TOKEN_OPEN,          [')'] = TOKEN_CLOSE, ['['] = TOKEN_OPEN_BRACKET,
    [']'] = TOKEN_CLOSE_BRACKET, ['.'] = TOKEN_DOT,   [','] = TOKEN_COMMA,
    ['+'] = TOKEN_PLUS,          ['-'] = TOKEN_MINUS,
};

static const struct {
    const char *word;
    uint8_t len;
    uint8_t type;
} keywords[] = {
    { "AND", 3, TOKEN_AND },         { "OR", 2, TOKEN_OR },   { "NOT", 3, TOKEN_NOT },
    { "BETWEEN", 7, TOKEN_BETWEEN }, { "IN", 2, TOKEN_IN },   { "SET", 3, TOKEN_SET },
    { "REMOVE", 6, TOKEN_REMOVE },   { "ADD", 3, TOKEN_ADD }, { "DELETE", 6, TOKEN_DELETE },
};
enum { KEYWORD_LEN_MAX = 7 };
#define LETTER_BIT(letter) (1u << ((letter) - 'A'))
static const uint32_t keyword_initials = LETTER_BIT('A') | LETTER_BIT('B') | LETTER_BIT('D') |
                                         LETTER_BIT('I') | LETTER_BIT('N') | LETTER_BIT('O') |
                                         LETTER_BIT('R') | LETTER_BIT('S');

static bool is_word_byte(uint8_t byte)
{
    return classes[byte] >= CLASS_LETTER && classes[byte] <= CLASS_UNDERSCORE;
}
static_assert(CLASS_LETTER < CLASS_DIGIT && CLASS_DIGIT < CLASS_UNDERSCORE, "one range of classes");

static uint32_t word_end(struct bytes text, uint32_t at)
{
    while (at < text.len && is_word_byte(text.data[at]))
        at++;
    return at;
}

static enum token_type word_type(struct bytes word)
{
    if (word.len < 2 || word.len > KEYWORD_LEN_MAX ||
        (keyword_initials & LETTER_BIT(word.data[0] & ~0x20)) == 0)
        return TOKEN_NAME;
    for (size_t i = 0; i < COUNT_OF(keywords); i++) {
        if (keywords[i].len != word.len)
            continue;
        size_t same = 0;
        /* Clearing bit 5 makes a letter upper-case, and makes no other byte of a word a letter. */
        while (same < word.len && (word.data[same] & ~0x20) == keywords[i].word[same])
            same++;
        if (same == word.len)
            return (enum token_type)keywords[i].type;
    }
    return TOKEN_NAME;
}

static uint32_t number_end(struct bytes text, uint32_t at)
{
    if (text.data[at] == '0')
        return at + 1;
    while (at < text.len && classes[text.data[at]] == CLASS_DIGIT)
        at++;
    return at;
}

/* The whole character, so that messages stay valid UTF-8. */
static uint32_t character_end(struct bytes text, uint32_t at)
{
    at++;
    while (at < text.len && (text.data[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static struct token comparator(struct bytes text, uint32_t at)
{
    uint8_t first = text.data[at];
    uint8_t second = at + 1 < text.len ? text.data[at + 1] : 0;
    if (first == '=')
        return (struct token){ TOKEN_EQUAL, at, at + 1 };
    if (first == '<' && second == '>')
        return (struct token){ TOKEN_NOT_EQUAL, at, at + 2 };
    if (second == '=')
        return (struct token){ first == '<' ? TOKEN_LESS_EQUAL : TOKEN_GREATER_EQUAL, at, at + 2 };
    return (struct token){ first == '<' ? TOKEN_LESS : TOKEN_GREATER, at, at + 1 };
}

static struct token token_at(struct bytes text, uint32_t at)
{
    struct token token = { TOKEN_INVALID, at, at };
    uint8_t byte = text.data[at];
    switch ((enum byte_class)classes[byte]) {
    case CLASS_LETTER:
        token.end = word_end(text, at);
        token.type = word_type(bytes_of(text.data + at, token.end - at));
        break;
    case CLASS_REFERENCE:
        token.end = word_end(text, at + 1);
        if (token.end > at + 1) /* Otherwise the sign is alone, which is invalid. */
            token.type = byte == '#' ? TOKEN_NAME_REFERENCE : TOKEN_VALUE_REFERENCE;
        break;
    case CLASS_DIGIT:
        token.type = TOKEN_NUMBER;
        token.end = number_end(text, at);
        break;
    case CLASS_COMPARATOR:
        token = comparator(text, at);
        break;
    case CLASS_SIGN:
        token.type = (enum token_type)signs[byte];
        token.end = at + 1;
        break;
    case CLASS_OTHER:
    case CLASS_UNDERSCORE:
    case CLASS_SPACE:
        token.end = character_end(text, at);
        break;
    }
    return token;
}

struct token lexer_next(struct lexer *lexer)
{
    struct bytes text = lexer->text;
    uint32_t at = lexer->at;
    while (at < text.len && classes[text.data[at]] == CLASS_SPACE)
        at++;
    if (at == text.len) {
        lexer->at = at;
        return (struct token){ TOKEN_END, at, at };
    }
    struct token token = token_at(text, at);
    assert(token.end > token.start);
    lexer->at = token.end;
    return token;
}

/* --- Reserved words ---
 *
 * A hash table of fixed rows of 16 bytes, padded with NUL: a name is folded to upper case into such
 * a row once, and compared as two numbers. The table is filled when it is first needed.
 */

enum { ROW_SIZE = 16 };

static const char words[][ROW_SIZE] = {
    /* clang-format off */
    "ABORT", "ABSOLUTE", "ACTION", "ADD", "AFTER", "AGENT", "AGGREGATE", "ALL", "ALLOCATE", "ALTER",
    "ANALYZE", "AND", "ANY", "ARCHIVE", "ARE", "ARRAY", "AS", "ASC", "ASCII", "ASENSITIVE",
    "ASSERTION", "ASYMMETRIC", "AT", "ATOMIC", "ATTACH", "ATTRIBUTE", "AUTH", "AUTHORIZATION",
    "AUTHORIZE", "AUTO", "AVG", "BACK", "BACKUP", "BASE", "BATCH", "BEFORE", "BEGIN", "BETWEEN",
    "BIGINT", "BINARY", "BIT", "BLOB", "BLOCK", "BOOLEAN", "BOTH", "BREADTH", "BUCKET", "BULK",
    "BY", "BYTE", "CALL", "CALLED", "CALLING", "CAPACITY", "CASCADE", "CASCADED", "CASE", "CAST",
    "CATALOG", "CHAR", "CHARACTER", "CHECK", "CLASS", "CLOB", "CLOSE", "CLUSTER", "CLUSTERED",
    "CLUSTERING", "CLUSTERS", "COALESCE", "COLLATE", "COLLATION", "COLLECTION", "COLUMN", "COLUMNS",
    "COMBINE", "COMMENT", "COMMIT", "COMPACT", "COMPILE", "COMPRESS", "CONDITION", "CONFLICT",
    "CONNECT", "CONNECTION", "CONSISTENCY", "CONSISTENT", "CONSTRAINT", "CONSTRAINTS",
    "CONSTRUCTOR", "CONSUMED", "CONTINUE", "CONVERT", "COPY", "CORRESPONDING", "COUNT", "COUNTER",
    "CREATE", "CROSS", "CUBE", "CURRENT", "CURSOR", "CYCLE", "DATA", "DATABASE", "DATE", "DATETIME",
    "DAY", "DEALLOCATE", "DEC", "DECIMAL", "DECLARE", "DEFAULT", "DEFERRABLE", "DEFERRED", "DEFINE",
    "DEFINED", "DEFINITION", "DELETE", "DELIMITED", "DEPTH", "DEREF", "DESC", "DESCRIBE",
    "DESCRIPTOR", "DETACH", "DETERMINISTIC", "DIAGNOSTICS", "DIRECTORIES", "DISABLE", "DISCONNECT",
    "DISTINCT", "DISTRIBUTE", "DO", "DOMAIN", "DOUBLE", "DROP", "DUMP", "DURATION", "DYNAMIC",
    "EACH", "ELEMENT", "ELSE", "ELSEIF", "EMPTY", "ENABLE", "END", "EQUAL", "EQUALS", "ERROR",
    "ESCAPE", "ESCAPED", "EVAL", "EVALUATE", "EXCEEDED", "EXCEPT", "EXCEPTION", "EXCEPTIONS",
    "EXCLUSIVE", "EXEC", "EXECUTE", "EXISTS", "EXIT", "EXPLAIN", "EXPLODE", "EXPORT", "EXPRESSION",
    "EXTENDED", "EXTERNAL", "EXTRACT", "FAIL", "FALSE", "FAMILY", "FETCH", "FIELDS", "FILE",
    "FILTER", "FILTERING", "FINAL", "FINISH", "FIRST", "FIXED", "FLATTERN", "FLOAT", "FOR", "FORCE",
    "FOREIGN", "FORMAT", "FORWARD", "FOUND", "FREE", "FROM", "FULL", "FUNCTION", "FUNCTIONS",
    "GENERAL", "GENERATE", "GET", "GLOB", "GLOBAL", "GO", "GOTO", "GRANT", "GREATER", "GROUP",
    "GROUPING", "HANDLER", "HASH", "HAVE", "HAVING", "HEAP", "HIDDEN", "HOLD", "HOUR", "IDENTIFIED",
    "IDENTITY", "IF", "IGNORE", "IMMEDIATE", "IMPORT", "IN", "INCLUDING", "INCLUSIVE", "INCREMENT",
    "INCREMENTAL", "INDEX", "INDEXED", "INDEXES", "INDICATOR", "INFINITE", "INITIALLY", "INLINE",
    "INNER", "INNTER", "INOUT", "INPUT", "INSENSITIVE", "INSERT", "INSTEAD", "INT", "INTEGER",
    "INTERSECT", "INTERVAL", "INTO", "INVALIDATE", "IS", "ISOLATION", "ITEM", "ITEMS", "ITERATE",
    "JOIN", "KEY", "KEYS", "LAG", "LANGUAGE", "LARGE", "LAST", "LATERAL", "LEAD", "LEADING",
    "LEAVE", "LEFT", "LENGTH", "LESS", "LEVEL", "LIKE", "LIMIT", "LIMITED", "LINES", "LIST", "LOAD",
    "LOCAL", "LOCALTIME", "LOCALTIMESTAMP", "LOCATION", "LOCATOR", "LOCK", "LOCKS", "LOG", "LOGED",
    "LONG", "LOOP", "LOWER", "MAP", "MATCH", "MATERIALIZED", "MAX", "MAXLEN", "MEMBER", "MERGE",
    "METHOD", "METRICS", "MIN", "MINUS", "MINUTE", "MISSING", "MOD", "MODE", "MODIFIES", "MODIFY",
    "MODULE", "MONTH", "MULTI", "MULTISET", "NAME", "NAMES", "NATIONAL", "NATURAL", "NCHAR",
    "NCLOB", "NEW", "NEXT", "NO", "NONE", "NOT", "NULL", "NULLIF", "NUMBER", "NUMERIC", "OBJECT",
    "OF", "OFFLINE", "OFFSET", "OLD", "ON", "ONLINE", "ONLY", "OPAQUE", "OPEN", "OPERATOR",
    "OPTION", "OR", "ORDER", "ORDINALITY", "OTHER", "OTHERS", "OUT", "OUTER", "OUTPUT", "OVER",
    "OVERLAPS", "OVERRIDE", "OWNER", "PAD", "PARALLEL", "PARAMETER", "PARAMETERS", "PARTIAL",
    "PARTITION", "PARTITIONED", "PARTITIONS", "PATH", "PERCENT", "PERCENTILE", "PERMISSION",
    "PERMISSIONS", "PIPE", "PIPELINED", "PLAN", "POOL", "POSITION", "PRECISION", "PREPARE",
    "PRESERVE", "PRIMARY", "PRIOR", "PRIVATE", "PRIVILEGES", "PROCEDURE", "PROCESSED", "PROJECT",
    "PROJECTION", "PROPERTY", "PROVISIONING", "PUBLIC", "PUT", "QUERY", "QUIT", "QUORUM", "RAISE",
    "RANDOM", "RANGE", "RANK", "RAW", "READ", "READS", "REAL", "REBUILD", "RECORD", "RECURSIVE",
    "REDUCE", "REF", "REFERENCE", "REFERENCES", "REFERENCING", "REGEXP", "REGION", "REINDEX",
    "RELATIVE", "RELEASE", "REMAINDER", "RENAME", "REPEAT", "REPLACE", "REQUEST", "RESET",
    "RESIGNAL", "RESOURCE", "RESPONSE", "RESTORE", "RESTRICT", "RESULT", "RETURN", "RETURNING",
    "RETURNS", "REVERSE", "REVOKE", "RIGHT", "ROLE", "ROLES", "ROLLBACK", "ROLLUP", "ROUTINE",
    "ROW", "ROWS", "RULE", "RULES", "SAMPLE", "SATISFIES", "SAVE", "SAVEPOINT", "SCAN", "SCHEMA",
    "SCOPE", "SCROLL", "SEARCH", "SECOND", "SECTION", "SEGMENT", "SEGMENTS", "SELECT", "SELF",
    "SEMI", "SENSITIVE", "SEPARATE", "SEQUENCE", "SERIALIZABLE", "SESSION", "SET", "SETS", "SHARD",
    "SHARE", "SHARED", "SHORT", "SHOW", "SIGNAL", "SIMILAR", "SIZE", "SKEWED", "SMALLINT",
    "SNAPSHOT", "SOME", "SOURCE", "SPACE", "SPACES", "SPARSE", "SPECIFIC", "SPECIFICTYPE", "SPLIT",
    "SQL", "SQLCODE", "SQLERROR", "SQLEXCEPTION", "SQLSTATE", "SQLWARNING", "START", "STATE",
    "STATIC", "STATUS", "STORAGE", "STORE", "STORED", "STREAM", "STRING", "STRUCT", "STYLE", "SUB",
    "SUBMULTISET", "SUBPARTITION", "SUBSTRING", "SUBTYPE", "SUM", "SUPER", "SYMMETRIC", "SYNONYM",
    "SYSTEM", "TABLE", "TABLESAMPLE", "TEMP", "TEMPORARY", "TERMINATED", "TEXT", "THAN", "THEN",
    "THROUGHPUT", "TIME", "TIMESTAMP", "TIMEZONE", "TINYINT", "TO", "TOKEN", "TOTAL", "TOUCH",
    "TRAILING", "TRANSACTION", "TRANSFORM", "TRANSLATE", "TRANSLATION", "TREAT", "TRIGGER", "TRIM",
    "TRUE", "TRUNCATE", "TTL", "TUPLE", "TYPE", "UNDER", "UNDO", "UNION", "UNIQUE", "UNIT",
    "UNKNOWN", "UNLOGGED", "UNNEST", "UNPROCESSED", "UNSIGNED", "UNTIL", "UPDATE", "UPPER", "URL",
    "USAGE", "USE", "USER", "USERS", "USING", "UUID", "VACUUM", "VALUE", "VALUED", "VALUES",
    "VARCHAR", "VARIABLE", "VARIANCE", "VARINT", "VARYING", "VIEW", "VIEWS", "VIRTUAL", "VOID",
    "WAIT", "WHEN", "WHENEVER", "WHERE", "WHILE", "WINDOW", "WITH", "WITHIN", "WITHOUT", "WORK",
    "WRAPPED", "WRITE", "YEAR", "ZONE",
    /* clang-format on */
};
static_assert(COUNT_OF(words) == LEXER_RESERVED_COUNT, "the guide lists this many");

struct row {
    uint64_t head, tail;
};

enum { PLACES = 2048 };         /* A power of two, several times the number of words. */
static uint16_t places[PLACES]; /* The number of a word plus 1; 0: free. */
static pthread_once_t places_once = PTHREAD_ONCE_INIT;

/* The letters of eight bytes in upper case. */
static uint64_t fold(uint64_t word)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t low_bits = word & (each * 0x7F);
    uint64_t from_a = low_bits + each * (0x80 - 'a');
    uint64_t beyond_z = low_bits + each * (0x7F - 'z');
    uint64_t is_lower = from_a & ~beyond_z & ~word & (each * 0x80);
    return word - is_lower / (0x80 / ('a' - 'A'));
}

static struct row row_of_word(size_t number)
{
    const uint8_t *word = (const uint8_t *)words[number];
    return (struct row){ .head = load_u64_le(word), .tail = load_u64_le(word + ROW_SIZE / 2) };
}

static size_t first_place(struct row row)
{
    uint64_t mixed = (row.head ^ row.tail * 31) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> 32) % PLACES;
}

static void fill_places(void)
{
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        size_t place = first_place(row_of_word(i));
        while (places[place] != 0)
            place = (place + 1) % PLACES;
        places[place] = (uint16_t)(i + 1);
    }
}

bool lexer_is_reserved(struct bytes name)
{
    uint8_t bytes[ROW_SIZE] = { 0 };
    if (name.len < 2 || name.len >= ROW_SIZE)
        return false;
    pthread_once(&places_once, fill_places);
    memcpy(bytes, name.data, name.len);
    struct row row = { .head = fold(load_u64_le(bytes)),
                       .tail = fold(load_u64_le(bytes + ROW_SIZE / 2)) };
    for (size_t at = first_place(row); places[at] != 0; at = (at + 1) % PLACES) {
        struct row word = row_of_word(places[at] - 1U);
        if (word.head == row.head && word.tail == row.tail)
            return true;
    }
    return false;
}
