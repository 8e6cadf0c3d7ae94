/* s3.h -- S3's protocol, for the files that deployments upload: method, path and query name the
 * operation; bodies are the files themselves; lists and errors are XML.
 *
 * Buckets are in the path ("/bucket/key"), which is what SDKs do for an endpoint that is an address
 * or `localhost`. A request is S3's if its signature says so, so that no path collides with others.
 */
#ifndef STATOR_WIRE_S3_H
#define STATOR_WIRE_S3_H
#include <stdbool.h>

struct call_worker;
struct http_exchange;
struct router;

/* Answers a request that was signed for S3; otherwise returns false. On the loop's thread. */
bool s3_handle(const struct router *router, struct call_worker *worker,
               struct http_exchange *exchange);

#endif
