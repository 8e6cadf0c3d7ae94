/* shape_write.h -- a structure that shape_read filled in, as JSON again: for requests that are
 * stored, or shown later. */
#ifndef STATOR_SHAPE_SHAPE_WRITE_H
#define STATOR_SHAPE_SHAPE_WRITE_H

struct json_writer;
struct shape;

/* One object with the members that are present, in the order of the shape's fields. Reading it
 * gives an equal structure. */
void shape_write(struct json_writer *writer, const struct shape *shape, const void *structure);

#endif
