/* require.h -- aborts if a call of OpenSSL fails that can fail only for lack of memory or of an
 * algorithm. */
#ifndef STATOR_CRYPTO_REQUIRE_H
#define STATOR_CRYPTO_REQUIRE_H
#include <stdbool.h>
#include <stdlib.h>

static inline void require(bool ok)
{
    if (!ok)
        abort();
}

#endif
