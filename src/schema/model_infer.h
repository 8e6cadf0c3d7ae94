/* model_infer.h -- guesses the entities of a table from its items.
 *
 * Items are of one entity if they have the same discriminator and their keys the same form: the
 * parts of a key between '#' that are words in capitals are taken for text, all others for
 * parameters. A guess for people to correct, not a proof.
 */
#ifndef STATOR_SCHEMA_MODEL_INFER_H
#define STATOR_SCHEMA_MODEL_INFER_H
#include <stdbool.h>

struct arena;
struct json_node;
struct model_file;

/* Sets the entities of a file with one table, in its tree; `rows` is an array of items. Also sets
 * the table's sample to the rows if `with_rows`. The typed view of the file is not changed: save
 * and load it. */
void model_infer(struct arena *arena, struct model_file *file, const struct json_node *rows,
                 bool with_rows);

#endif
