/* key_hash.c -- see key_hash.h.
 *
 * The service's form of a number is an exponent byte and base-100 digits, like our key bytes
 * (doc/disk-format.md, "Numbers"): the first byte is the same; a digit d is d + 1, or 101 - d in a
 * negative number, which ends in 102 if it has fewer than 20 digits; zero is one byte.
 */
#include "table/key_hash.h"
#include <assert.h>
#include <string.h>
#include <xxhash.h>
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/md5.h"
#include "model/key.h"
#include "model/number.h"
#include "model/table_definition.h"

#define PREFIX "Outliers"
enum { PREFIX_SIZE = sizeof PREFIX - 1 };

enum {
    NUMBER_ZERO = 0x80,
    NUMBER_POSITIVE_MIN = 0x80, /* First bytes below are of negative numbers. */
    SERVICE_DIGITS_MAX = 20,
    NEGATIVE_END = 102,
    NUMBER_FORM_SIZE_MAX = 1 + SERVICE_DIGITS_MAX + 1,
    TEXT_END_SIZE = 2, /* Of a string's or binary value's key bytes. */
};

/* Writes the service's form of the number that `key` begins with; returns its size. `*taken` is the
 * size of the number in `key`. */
static size_t number_form(struct bytes key, uint8_t form[NUMBER_FORM_SIZE_MAX], size_t *taken)
{
    size_t size = number_encoded_size(key), out = 0;
    assert(size >= 2 && size <= NUMBER_ENCODED_MAX);
    bool negative = key.data[0] < NUMBER_POSITIVE_MIN;
    bool zero = size == 2 && key.data[0] == NUMBER_ZERO && key.data[1] == 0;
    form[out++] = key.data[0];
    for (size_t i = 1; i < size && !zero; i++) {
        uint8_t byte = negative ? (uint8_t)~key.data[i] : key.data[i];
        uint8_t digit = byte >> 1;
        assert(digit < 100);
        form[out++] = (uint8_t)(negative ? 101 - digit : digit + 1);
    }
    if (negative && out - 1 < SERVICE_DIGITS_MAX)
        form[out++] = NEGATIVE_END;
    *taken = size;
    return out;
}

/* Returns how many bytes of `key` the number takes. */
static size_t add_number(struct md5 *md5, struct bytes key)
{
    uint8_t form[NUMBER_FORM_SIZE_MAX];
    size_t taken, size = number_form(key, form, &taken);
    md5_add(md5, bytes_of(form, size));
    return taken;
}

/* The same for a string or binary value, without the escapes of zero bytes (key.c). */
static size_t add_text(struct md5 *md5, struct bytes key)
{
    size_t at = 0;
    for (;;) {
        const uint8_t *zero = memchr(key.data + at, 0, key.len - at);
        assert(zero != NULL && zero + 1 < key.data + key.len);
        size_t run = (size_t)(zero - (key.data + at));
        bool is_end = zero[1] != 0xFF;
        md5_add(md5, bytes_of(key.data + at, is_end ? run : run + 1));
        at += run + TEXT_END_SIZE;
        if (is_end)
            return at;
    }
}

static void add_part(struct md5 *md5, const struct key_attribute *attribute, struct bytes *key)
{
    size_t size = attribute->type == VALUE_N ? add_number(md5, *key) : add_text(md5, *key);
    *key = bytes_of(key->data + size, key->len - size);
}

static void begin(struct md5 *md5)
{
    md5_init(md5);
    md5_add(md5, BYTES(PREFIX));
}

static uint64_t finish(struct md5 *md5)
{
    uint8_t digest[MD5_DIGEST_SIZE];
    md5_finish(md5, digest);
    return load_u64_be(digest);
}

/* Most keys are one short attribute, and every request about an item hashes its key: then there is
 * one block, and nothing to add up. False if this is another key. */
static bool hash_short(const struct key_attribute *attribute, struct bytes key, uint64_t *out)
{
    uint8_t block[MD5_BLOCK_SIZE] = PREFIX, digest[MD5_DIGEST_SIZE];
    size_t size;
    if (attribute->type == VALUE_N) {
        size_t taken;
        size = number_form(key, block + PREFIX_SIZE, &taken);
        assert(taken == key.len);
    } else {
        size = key.len - TEXT_END_SIZE;
        if (PREFIX_SIZE + size > MD5_SHORT_SIZE_MAX || memchr(key.data, 0, size) != NULL)
            return false;
        memcpy(block + PREFIX_SIZE, key.data, size);
    }
    md5_finish_short(block, PREFIX_SIZE + size, digest);
    *out = load_u64_be(digest);
    return true;
}

uint64_t key_hash_of_partition(const struct table_definition *table,
                               const struct key_attribute *attributes, size_t count,
                               struct bytes key)
{
    struct md5 md5;
    uint64_t hash;
    if (table->hash == TABLE_HASH_XXH3)
        return XXH3_64bits(key.data, key.len);
    if (count == 1 && hash_short(attributes, key, &hash))
        return hash;
    begin(&md5);
    for (size_t i = 0; i < count; i++)
        add_part(&md5, &attributes[i], &key);
    assert(key.len == 0);
    return finish(&md5);
}

uint64_t key_hash_of_item(const struct table_definition *table, struct bytes partition_key,
                          struct bytes sort_key)
{
    struct md5 md5;
    assert(table->hash == TABLE_HASH_MD5 && table->key.has_range == (sort_key.len > 0));
    begin(&md5);
    add_part(&md5, &table->key.hash, &partition_key);
    if (table->key.has_range)
        add_part(&md5, &table->key.range, &sort_key);
    assert(partition_key.len == 0 && sort_key.len == 0);
    return finish(&md5);
}
