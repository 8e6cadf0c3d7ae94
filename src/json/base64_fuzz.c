/* base64_fuzz.c -- the input once as text to decode, once as bytes to encode.
 *
 * Properties: text that decodes is what its bytes encode to; bytes encoded decode to themselves;
 * both stay within the sizes that base64.h promises.
 */
#include <assert.h>
#include <stdlib.h>
#include "json/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *allocate(size_t size)
{
    void *memory = malloc(size == 0 ? 1 : size);
    if (memory == NULL)
        abort();
    return memory;
}

static void check_text(struct bytes text)
{
    size_t size_max = base64_decoded_max(text.len);
    uint8_t *value = allocate(size_max);
    size_t size = 0;
    if (base64_decode(text, value, &size)) {
        assert(size <= size_max);
        assert(base64_encoded_size(size) == text.len);
        char *again = allocate(text.len);
        base64_encode(bytes_of(value, size), again);
        assert(bytes_equal(bytes_of(again, text.len), text));
        free(again);
    }
    free(value);
}

static void check_value(struct bytes value)
{
    size_t text_size = base64_encoded_size(value.len);
    char *text = allocate(text_size);
    base64_encode(value, text);
    uint8_t *again = allocate(base64_decoded_max(text_size));
    size_t size = 0;
    bool decoded = base64_decode(bytes_of(text, text_size), again, &size);
    assert(decoded);
    assert(bytes_equal(bytes_of(again, size), value));
    free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_text(bytes_of(data, size));
    check_value(bytes_of(data, size));
    return 0;
}
