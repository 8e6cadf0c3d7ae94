/* health.h -- /healthz: the process answers; /readyz: it can read and write. */
#ifndef STATOR_WIRE_HEALTH_H
#define STATOR_WIRE_HEALTH_H

struct router;

/* Set the functions, then call health_init. */
struct health {
    const char *(*not_ready)(void *context); /* See struct wire_options. */
    void *context;
    struct router *router;
};

/* Adds the routes. `health` must outlive the router. */
void health_init(struct health *health, struct router *router);

#endif
