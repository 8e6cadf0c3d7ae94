/* engine_ops.h -- what an implementation of engine.h fills in.
 *
 * engine.c checks arguments and dispatches; each implementation embeds these structures first in
 * its own and may rely on what engine.h promises about callers.
 */
#ifndef STATOR_ENGINE_ENGINE_OPS_H
#define STATOR_ENGINE_ENGINE_OPS_H
#include "engine/engine.h"

struct engine_ops {
    unsigned capabilities; /* enum engine_capability */
    void (*close)(struct engine *engine);
    enum engine_health (*health)(const struct engine *engine); /* NULL: always OK. */
    /* `out` is zero. NULL: the engine tells nothing. */
    void (*read_statistics)(struct engine *engine, struct engine_statistics *out);
    /* NULL without ENGINE_CHECKPOINT. */
    enum engine_status (*checkpoint)(struct engine *engine, const char *path);
    enum engine_status (*view_open)(struct engine *engine, enum engine_consistency consistency,
                                    struct engine_view **out);
    struct engine_view *(*view_share)(struct engine_view *view);
    void (*view_close)(struct engine_view *view);
    enum engine_status (*view_get)(struct engine_view *view, const struct engine_address *address,
                                   struct engine_value *out);
    /* `range->reverse` only with ENGINE_REVERSE. */
    enum engine_status (*scan_open)(struct engine_view *view, const struct engine_range *range,
                                    struct engine_scan **out);
    enum engine_status (*scan_next)(struct engine_scan *scan, struct engine_entry *out);
    void (*scan_close)(struct engine_scan *scan);
    enum engine_status (*next_place)(struct engine_view *view, const struct engine_place *after,
                                     struct engine_place *out);
    /* The calls that do not block; engine.c builds the blocking ones on them. */
    enum engine_status (*write_begin)(struct engine *engine, const struct engine_address *addresses,
                                      size_t address_count, struct engine_wait *wait,
                                      struct engine_write **out);
    enum engine_status (*write_try)(struct engine *engine, const struct engine_address *addresses,
                                    size_t address_count, bool *busy, struct engine_write **out);
    enum engine_status (*write_extend)(struct engine_write *write,
                                       const struct engine_address *addresses, size_t address_count,
                                       struct engine_wait *wait);
    enum engine_status (*write_get)(struct engine_write *write,
                                    const struct engine_address *address, struct engine_value *out);
    void (*write_put)(struct engine_write *write, const struct engine_address *address,
                      struct bytes value);
    void (*write_delete)(struct engine_write *write, const struct engine_address *address);
    /* These two are NULL without ENGINE_RANGE_DELETE. */
    void (*write_delete_range)(struct engine_write *write, const struct engine_place *place,
                               struct bytes first, struct bytes last);
    void (*write_delete_owner)(struct engine_write *write, uint64_t owner);
    void (*write_commit)(struct engine_write *write, struct engine_completion *completion);
    void (*write_abandon)(struct engine_write *write);
};

/* A line of the registry (engine_registry.c). */
struct engine_registration {
    const char *name;
    struct engine *(*open)(const struct engine_options *options, char message[ENGINE_MESSAGE_MAX]);
};

struct engine {
    const struct engine_ops *ops;
};
struct engine_view {
    struct engine *engine;
};
struct engine_scan {
    struct engine *engine;
};
struct engine_write {
    struct engine *engine;
    /* ENGINE_OK, or why engine.c refuses to commit it. An engine hands out writes with ENGINE_OK
     * and does not look at this. */
    enum engine_status refusal;
};

#endif
