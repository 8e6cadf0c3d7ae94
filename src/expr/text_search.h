/* text_search.h -- all texts that a condition looks for by contains(), found in one pass.
 *
 * One search through a text is quick, but a condition may have two hundred of them, and for texts
 * that were made for it each takes milliseconds. This searches for all of a condition's texts at
 * once (Aho and Corasick, 1975): the time is linear in what is searched and in what is searched
 * for, whatever they are. Texts that are too long for that are left to the caller.
 */
#ifndef STATOR_EXPR_TEXT_SEARCH_H
#define STATOR_EXPR_TEXT_SEARCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct text_search;

/* The texts that one pass looks for are so long together: the shortest ones up to this size, equal
 * ones counted once. One less than a power of two, since the tree has a root too: it takes less
 * than TEXT_SEARCH_MEMORY_MAX. */
enum { TEXT_SEARCH_SIZE_MAX = 64 * 1024 - 1, TEXT_SEARCH_MEMORY_MAX = 4 * 1024 * 1024 };

enum text_found { TEXT_MISSING, TEXT_FOUND, TEXT_NOT_SEARCHED };

/* Uses the arena as long as it lives. */
struct text_search *text_search_create(struct arena *arena);
/* Forgets all texts; the room they took is used again. */
void text_search_reset(struct text_search *search);
/* Adds a text that is not empty, borrowed until the next reset. Texts are numbered from 0. Not
 * after the first run. */
void text_search_add(struct text_search *search, struct bytes text);

/* Sets found[i], an enum text_found, for each text i: whether `haystack` contains it, or
 * TEXT_NOT_SEARCHED if it is too long. Returns how many bytes were passed: the haystack's and, in
 * the first run after a reset, those of the texts. */
size_t text_search_run(struct text_search *search, struct bytes haystack, uint8_t *found);
/* The number of the text that stands for all that are equal to this one. After the first run. */
size_t text_search_first(const struct text_search *search, size_t number);

#endif
