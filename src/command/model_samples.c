/* model_samples.c -- see model_samples.h. */
#include "command/model_samples.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/compiler.h"

/* X(identifier, name, purpose): examples/models/NAME.json */
#define SAMPLES(X)                                                                                 \
    X(orders, "orders", "customers, their orders and line items in one table")                     \
    X(shop, "shop", "products by category, carts, and sessions that expire")                       \
    X(membership, "membership", "users and groups, many to many, both ways")                       \
    X(devices, "devices", "time series of devices, with sharded keys for alarms")                  \
    X(tenants, "tenants", "tenants of a service, their users, projects and usage")

/* The Makefile lists the files as prerequisites of this object. */
#define EMBED(identifier, name, purpose)                                                           \
    __asm__(".section .rodata\n"                                                                   \
            "model_sample_" #identifier ": .incbin \"examples/models/" name ".json\"\n"            \
            "model_sample_end_" #identifier ":\n"                                                  \
            ".previous\n");                                                                        \
    extern const uint8_t model_sample_##identifier[], model_sample_end_##identifier[];
SAMPLES(EMBED)
#undef EMBED

#define ROW(identifier, sample_name, sample_purpose)                                               \
    { sample_name, sample_purpose, model_sample_##identifier, model_sample_end_##identifier },
static const struct {
    const char *name, *purpose;
    const uint8_t *begin, *end;
} samples[] = { SAMPLES(ROW) };
#undef ROW

size_t model_samples_count(void)
{
    return COUNT_OF(samples);
}

struct model_sample model_samples_at(size_t index)
{
    assert(index < COUNT_OF(samples));
    return (struct model_sample){
        .name = samples[index].name,
        .purpose = samples[index].purpose,
        .text = bytes_of(samples[index].begin, (size_t)(samples[index].end - samples[index].begin)),
    };
}

struct bytes model_samples_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        if (strcmp(samples[i].name, name) == 0)
            return model_samples_at(i).text;
    }
    return (struct bytes){ 0 };
}

void model_samples_list(void)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        printf("%-12s %s\n", samples[i].name, samples[i].purpose);
}
