/* text_search.h -- all texts that a condition looks for by contains(), found in one pass.
 *
 * One search is quick, but a condition may have two hundred, and with hostile texts each takes
 * milliseconds. This searches for all texts of a condition at once (Aho and Corasick, 1975), in
 * time linear in the haystack and in the texts, whatever they are. Texts that are too long for that
 * are left to the caller.
 */
#ifndef STATOR_EXPR_TEXT_SEARCH_H
#define STATOR_EXPR_TEXT_SEARCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct text_search;

/* The total length of the texts of one pass: the shortest ones up to this size, equal ones counted
 * once. One less than a power of two, because the tree also has a root: it takes less than
 * TEXT_SEARCH_MEMORY_MAX. */
enum { TEXT_SEARCH_SIZE_MAX = 64 * 1024 - 1, TEXT_SEARCH_MEMORY_MAX = 4 * 1024 * 1024 };

enum text_found { TEXT_MISSING, TEXT_FOUND, TEXT_NOT_SEARCHED };

/* Allocates from the arena, which must live as long. */
struct text_search *text_search_create(struct arena *arena);
/* Removes all texts; their memory is reused. */
void text_search_reset(struct text_search *search);
/* Adds a text that is not empty, borrowed until the next reset. Texts are numbered from 0. Not
 * after the first run. */
void text_search_add(struct text_search *search, struct bytes text);

/* Sets found[i], an enum text_found, for each text i: whether `haystack` contains it, or
 * TEXT_NOT_SEARCHED if it is too long. Returns the number of bytes processed: the haystack's and,
 * in the first run after a reset, those of the texts. */
size_t text_search_run(struct text_search *search, struct bytes haystack, uint8_t *found);
/* The index of the text that represents all that are equal to this one. Only after the first run.
 */
size_t text_search_first(const struct text_search *search, size_t number);

#endif
