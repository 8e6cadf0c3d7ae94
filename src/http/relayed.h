/* relayed.h -- the mark of a request that another server of ours has passed on (relay/).
 *
 * Its address is that of the server which passed it on, and proves nothing about who asked. No
 * client gains anything by adding the mark itself. */
#ifndef STATOR_HTTP_RELAYED_H
#define STATOR_HTTP_RELAYED_H

/* Not signed, so the signature of the request still holds. */
#define HTTP_RELAYED_HEADER "X-Stator-Relayed"

#endif
