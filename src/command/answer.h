/* answer.h -- reads the JSON of a server's answers, for commands.
 *
 * A command looks at a few members of an answer, so each call reads the object or array from its
 * beginning. What is behind damaged JSON reads as absent; a command that must tell damage from
 * absence asks answer_is_object first. Texts live in the arena, or in the answer.
 */
#ifndef STATOR_COMMAND_ANSWER_H
#define STATOR_COMMAND_ANSWER_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

struct arena;

/* The JSON of a member, whatever its type; data NULL: there is none. */
struct bytes answer_json(struct arena *arena, struct bytes object, const char *name);
/* The content of a member that is a string; empty: there is none. */
struct bytes answer_text(struct arena *arena, struct bytes object, const char *name);
/* The value of a member that is a number; 0: there is none. */
double answer_number(struct arena *arena, struct bytes object, const char *name);
/* The same of the JSON itself. */
double answer_number_of(struct bytes json);
bool answer_flag(struct arena *arena, struct bytes object, const char *name);

/* Gets the JSON of an element. */
typedef void answer_visitor(void *context, struct bytes element);
/* Visits every element of an array, and returns how many there are. `visit` NULL: only counts. */
size_t answer_visit(struct arena *arena, struct bytes array, answer_visitor *visit, void *context);

/* Prints text of others, such as keys of items. Control characters become '?', so that whoever
 * wrote them does not control the terminal of whoever reads them. */
void answer_print(struct bytes text);
/* The same as a text. */
struct bytes answer_clean(struct arena *arena, struct bytes text);

/* True if the text is one JSON object, all of which can be read. */
bool answer_is_object(struct arena *arena, struct bytes text);

#endif
