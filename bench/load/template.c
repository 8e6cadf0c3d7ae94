/* template.c -- finds the places of a request that change, and writes them. */
#include "template.h"
#include <assert.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHT_MAX = 1000, FILE_SIZE_MAX = 20 * 1024 * 1024 };

static void read_file(struct template *template, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        err(2, "%s", path);
    template->text = malloc(FILE_SIZE_MAX);
    if (template->text == NULL)
        err(2, "%s", path);
    template->size = fread(template->text, 1, FILE_SIZE_MAX, file);
    if (ferror(file) || template->size == 0 || template->size == FILE_SIZE_MAX)
        errx(2, "%s: cannot be read, or is empty, or too long", path);
    fclose(file);
}

/* Takes the place that begins at `offset`. Returns its size. */
static size_t take_place(struct template *template, size_t offset, const char *path)
{
    const char *at = template->text + offset;
    size_t rest = template->size - offset;
    unsigned key;
    size_t size;
    if (rest >= TEMPLATE_KEY_SIZE && at[1] == 'K' && at[2] >= '0' && at[2] <= '9' && at[3] >= '0' &&
        at[3] <= '9') {
        key = (unsigned)(at[2] - '0') * 10 + (unsigned)(at[3] - '0');
        size = TEMPLATE_KEY_SIZE;
        if (key >= template->key_count)
            template->key_count = key + 1;
    } else if (rest >= TEMPLATE_TOKEN_SIZE && at[1] == 'T') {
        key = TEMPLATE_KEYS_MAX;
        size = TEMPLATE_TOKEN_SIZE;
    } else {
        errx(2, "%s: '~' at byte %zu begins neither a key nor a token", path, offset);
    }
    if (template->place_count == TEMPLATE_PLACES_MAX)
        errx(2, "%s: more than %d keys and tokens", path, TEMPLATE_PLACES_MAX);
    template->places[template->place_count++] = (struct template_place){ offset, key };
    return size;
}

void template_open(struct template *template, const char *argument)
{
    *template = (struct template){ 0 };
    char *end;
    unsigned long weight = strtoul(argument, &end, 10);
    if (end == argument || *end != ':' || weight == 0 || weight > WEIGHT_MAX)
        errx(2, "%s: expected WEIGHT:FILE, with a weight of 1 to %d", argument, WEIGHT_MAX);
    template->weight = (unsigned)weight;
    const char *path = end + 1;
    read_file(template, path);
    const char *found;
    for (size_t offset = 0;
         (found = memchr(template->text + offset, '~', template->size - offset)) != NULL;) {
        offset = (size_t)(found - template->text);
        offset += take_place(template, offset, path);
    }
}

void template_close(struct template *template)
{
    free(template->text);
    *template = (struct template){ 0 };
}

static void write_key(char *out, uint64_t key)
{
    assert(key < TEMPLATE_KEY_LIMIT);
    for (int i = TEMPLATE_KEY_SIZE - 1; i >= 0; i--) {
        out[i] = (char)('0' + key % 10);
        key /= 10;
    }
}

static void write_token(char *out, const struct template_values *values)
{
    char text[TEMPLATE_TOKEN_SIZE + 1];
    int size = snprintf(text, sizeof text, "%018" PRIx64 "%018" PRIx64, values->token_high,
                        values->token_low);
    assert(size == TEMPLATE_TOKEN_SIZE);
    memcpy(out, text, TEMPLATE_TOKEN_SIZE);
}

void template_fill(const struct template *template, const struct template_values *values,
                   char *text)
{
    for (size_t i = 0; i < template->place_count; i++) {
        const struct template_place *place = &template->places[i];
        char *out = text + place->offset;
        if (place->key == TEMPLATE_KEYS_MAX)
            write_token(out, values);
        else
            write_key(out, (values->base + place->key * values->stride) % values->key_range);
    }
}
