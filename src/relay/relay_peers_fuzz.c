/* relay_peers_fuzz.c -- arbitrary bytes as an Authorization header. */
#include <assert.h>
#include "relay/relay_peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes region = relay_region_of(bytes_of(data, size));
    assert(region.len == 0 ||
           (region.data >= data && region.data + region.len < data + size && region.len <= 32));
    return 0;
}
