/* statement_keyword.h -- the words that a statement may not use as a name unless it quotes them. */
#ifndef STATOR_PARTIQL_STATEMENT_KEYWORD_H
#define STATOR_PARTIQL_STATEMENT_KEYWORD_H
#include "base/bytes.h"

enum statement_keyword {
    KEYWORD_NONE,  /* A name. */
    KEYWORD_OTHER, /* Reserved, and of no use here. */
    KEYWORD_ALL,
    KEYWORD_AND,
    KEYWORD_AS,
    KEYWORD_ASC,
    KEYWORD_BETWEEN,
    KEYWORD_BLOB,
    KEYWORD_BOOL,
    KEYWORD_BOOLEAN,
    KEYWORD_BY,
    KEYWORD_CROSS,
    KEYWORD_DELETE,
    KEYWORD_DESC,
    KEYWORD_DISTINCT,
    KEYWORD_EXISTS,
    KEYWORD_FALSE,
    KEYWORD_FROM,
    KEYWORD_FULL,
    KEYWORD_GROUP,
    KEYWORD_HAVING,
    KEYWORD_IN,
    KEYWORD_INNER,
    KEYWORD_INSERT,
    KEYWORD_INTO,
    KEYWORD_IS,
    KEYWORD_JOIN,
    KEYWORD_LEFT,
    KEYWORD_LIKE,
    KEYWORD_LIMIT,
    KEYWORD_LIST,
    KEYWORD_MISSING,
    KEYWORD_MODIFIED,
    KEYWORD_NEW,
    KEYWORD_NOT,
    KEYWORD_NULL,
    KEYWORD_OLD,
    KEYWORD_OR,
    KEYWORD_NUMERIC,
    KEYWORD_ORDER,
    KEYWORD_PIVOT,
    KEYWORD_REMOVE,
    KEYWORD_RETURNING,
    KEYWORD_RIGHT,
    KEYWORD_SELECT,
    KEYWORD_SET,
    KEYWORD_SIZE,
    KEYWORD_STRING,
    KEYWORD_STRUCT,
    KEYWORD_TRUE,
    KEYWORD_TUPLE,
    KEYWORD_UPDATE,
    KEYWORD_VALUE,
    KEYWORD_WHERE,
};

/* In any letter case. */
enum statement_keyword statement_keyword_find(struct bytes word);

#endif
