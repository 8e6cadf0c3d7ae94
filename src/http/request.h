/* request.h -- how what has arrived on a connection becomes a request, inside http/. */
#ifndef STATOR_HTTP_REQUEST_H
#define STATOR_HTTP_REQUEST_H
#include <stdbool.h>

struct http_connection;

/* Takes the connection one state further if what has arrived allows it. False when nothing more
 * can be done until something happens. */
bool http_request_advance(struct http_connection *connection);

/* Answers what never became a request; the connection closes. Not while one is under way. */
void http_request_refuse(struct http_connection *connection, int status);

#endif
