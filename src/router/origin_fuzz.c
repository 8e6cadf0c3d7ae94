/* origin_fuzz.c -- properties of the decision about a web page, for any headers.
 *
 * The input is an Origin and a Host, separated by a line feed.
 */
#include <assert.h>
#include <stdint.h>
#include "router/origin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct origin_rules rules = { "loopback,https://a.example", "db.example" };

/* Whether `text` holds only what can stand in a loopback origin: a scheme, letters of "localhost",
 * hexadecimal digits, and a port. */
static bool looks_local(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (memchr("httpslocaHTTPSLOCA:/.[]0123456789", text.data[i], 33) == NULL)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *border = size == 0 ? NULL : memchr(data, '\n', size);
    if (border == NULL)
        return 0;
    struct bytes origin = bytes_of(data, (size_t)(border - data));
    struct bytes host = bytes_of(border + 1, size - origin.len - 1);
    struct bytes allowed, none = { 0 };

    /* Not a browser. */
    struct origin_headers headers = { .host = host };
    assert(origin_judge(&rules, &headers, &allowed) == ORIGIN_SERVED && allowed.data == NULL);

    /* The verdict on the host does not depend on the mark that made it necessary. */
    headers = (struct origin_headers){ .fetch_site = BYTES("none"), .host = host };
    enum origin_verdict verdict = origin_judge(&rules, &headers, &allowed);
    assert(verdict != ORIGIN_REFUSED && allowed.data == NULL);
    headers = (struct origin_headers){ .origin = BYTES("http://localhost:1"), .host = host };
    assert(origin_judge(&rules, &headers, &allowed) == verdict);

    headers = (struct origin_headers){ .origin = origin, .host = BYTES("localhost") };
    verdict = origin_judge(&rules, &headers, &allowed);
    assert((verdict == ORIGIN_SERVED) == (allowed.data != NULL));
    if (verdict == ORIGIN_SERVED) {
        assert(bytes_equal(allowed, origin));
        assert(looks_local(origin) || origin.len == sizeof "https://a.example" - 1);
    }

    /* Empty lists allow no page. */
    const struct origin_rules nobody = { "", "" };
    headers = (struct origin_headers){ .origin = origin, .fetch_site = none, .host = host };
    assert(origin_judge(&nobody, &headers, &allowed) == ORIGIN_REFUSED && allowed.data == NULL);
    return 0;
}
