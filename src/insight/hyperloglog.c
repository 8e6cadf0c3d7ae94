/* hyperloglog.c -- see hyperloglog.h. Bytes: doc/disk-format-monitoring.md, "Summaries of keys". */
#include "insight/hyperloglog.h"
#include <math.h>
#include <string.h>

enum {
    FORM_SPARSE = 0, /* A count and pairs of register and rank, in the order of the registers. */
    FORM_DENSE = 1,  /* All registers. */
    PAIR_SIZE = 3,
    COUNT_SIZE = 2,
    /* With more registers than this in use, the dense form is shorter. */
    PAIRS_MAX = (HYPERLOGLOG_REGISTERS - COUNT_SIZE) / PAIR_SIZE,
};

void hyperloglog_merge(struct hyperloglog *sketch, const struct hyperloglog *other)
{
    for (size_t i = 0; i < HYPERLOGLOG_REGISTERS; i++) {
        if (sketch->registers[i] < other->registers[i])
            sketch->registers[i] = other->registers[i];
    }
}

static size_t count_used(const struct hyperloglog *sketch)
{
    size_t used = 0;
    for (size_t i = 0; i < HYPERLOGLOG_REGISTERS; i++)
        used += sketch->registers[i] != 0;
    return used;
}

/* The harmonic mean, or linear counting while many registers are free. A hash of 64 bits needs no
 * correction for large numbers. */
uint64_t hyperloglog_estimate(const struct hyperloglog *sketch)
{
    const double count = HYPERLOGLOG_REGISTERS;
    const double alpha = 0.7213 / (1 + 1.079 / count);
    double sum = 0;
    for (size_t i = 0; i < HYPERLOGLOG_REGISTERS; i++)
        sum += ldexp(1, -sketch->registers[i]);
    double estimate = alpha * count * count / sum;
    size_t free_count = HYPERLOGLOG_REGISTERS - count_used(sketch);
    if (estimate <= 2.5 * count && free_count > 0)
        estimate = count * log(count / (double)free_count);
    return (uint64_t)llround(estimate);
}

void hyperloglog_encode(const struct hyperloglog *sketch, struct buffer *out)
{
    size_t used = count_used(sketch);
    if (used > PAIRS_MAX) {
        buffer_append_byte(out, FORM_DENSE);
        buffer_append(out, sketch->registers, HYPERLOGLOG_REGISTERS);
        return;
    }
    buffer_append_byte(out, FORM_SPARSE);
    buffer_append_byte(out, (uint8_t)(used >> 8));
    buffer_append_byte(out, (uint8_t)used);
    for (size_t i = 0; i < HYPERLOGLOG_REGISTERS; i++) {
        if (sketch->registers[i] == 0)
            continue;
        buffer_append_byte(out, (uint8_t)(i >> 8));
        buffer_append_byte(out, (uint8_t)i);
        buffer_append_byte(out, sketch->registers[i]);
    }
}

static bool decode_dense(struct bytes *in, struct hyperloglog *out)
{
    if (in->len < HYPERLOGLOG_REGISTERS)
        return false;
    memcpy(out->registers, in->data, HYPERLOGLOG_REGISTERS);
    *in = bytes_of(in->data + HYPERLOGLOG_REGISTERS, in->len - HYPERLOGLOG_REGISTERS);
    for (size_t i = 0; i < HYPERLOGLOG_REGISTERS; i++) {
        if (out->registers[i] > HYPERLOGLOG_RANK_MAX)
            return false;
    }
    return count_used(out) > PAIRS_MAX;
}

static bool decode_sparse(struct bytes *in, struct hyperloglog *out)
{
    if (in->len < COUNT_SIZE)
        return false;
    size_t used = (size_t)in->data[0] << 8 | in->data[1];
    size_t size = COUNT_SIZE + used * PAIR_SIZE;
    if (used > PAIRS_MAX || in->len < size)
        return false;
    size_t next = 0; /* The smallest register that may come. */
    for (const uint8_t *pair = in->data + COUNT_SIZE; pair < in->data + size; pair += PAIR_SIZE) {
        size_t at = (size_t)pair[0] << 8 | pair[1];
        if (at < next || at >= HYPERLOGLOG_REGISTERS || pair[2] == 0 ||
            pair[2] > HYPERLOGLOG_RANK_MAX)
            return false;
        out->registers[at] = pair[2];
        next = at + 1;
    }
    *in = bytes_of(in->data + size, in->len - size);
    return true;
}

bool hyperloglog_decode(struct bytes *in, struct hyperloglog *out)
{
    memset(out, 0, sizeof *out);
    if (in->len == 0 || in->data[0] > FORM_DENSE)
        return false;
    bool dense = in->data[0] == FORM_DENSE;
    *in = bytes_of(in->data + 1, in->len - 1);
    return dense ? decode_dense(in, out) : decode_sparse(in, out);
}
