/* text_search.h -- all texts that a condition looks for by contains(), found in one pass.
 *
 * One search through a text is quick, but a condition may have two hundred of them, and for texts
 * that were made for it each takes milliseconds. This searches for all of a condition's texts at
 * once (Aho and Corasick, 1975): the time is linear in what is searched and in what is searched
 * for, whatever they are.
 */
#ifndef STATOR_EXPR_TEXT_SEARCH_H
#define STATOR_EXPR_TEXT_SEARCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct text_search;

/* Uses the arena as long as it lives. */
struct text_search *text_search_create(struct arena *arena);
/* Forgets all texts; the room they took is used again. */
void text_search_reset(struct text_search *search);
/* Adds a text that is not empty, borrowed until the next reset. Texts are numbered from 0. Not
 * after the first run. */
void text_search_add(struct text_search *search, struct bytes text);

/* Sets found[i] for each text i that `haystack` contains, and clears the others. */
void text_search_run(struct text_search *search, struct bytes haystack, bool *found);

#endif
