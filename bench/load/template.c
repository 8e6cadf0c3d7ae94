/* template.c -- finds the places of a request that change, and writes them. */
#include "template.h"
#include <assert.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"

enum {
    WEIGHT_MAX = 1000,
    FILE_SIZE_MAX = 20 * 1024 * 1024,
    RANDOM_DIGITS = 6,
    LETTER_BITS = 6,
    LETTERS_PER_NUMBER = 64 / LETTER_BITS,
};

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";
static_assert(sizeof letters - 1 == 1 << LETTER_BITS, "every number is a letter");

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

/* The number that `size` digits at `text` write, or SIZE_MAX. */
static size_t number_at(const char *text, size_t size)
{
    size_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return SIZE_MAX;
        number = number * 10 + (size_t)(text[i] - '0');
    }
    return number;
}

/* What the bytes at `text` stand for; a size of 0 if for nothing. */
static struct template_place read_place(const char *text, size_t size)
{
    struct template_place place = { 0 };
    if (size >= TEMPLATE_KEY_SIZE && text[1] == 'K' && number_at(text + 2, 2) != SIZE_MAX) {
        place.kind = TEMPLATE_KEY;
        place.key = (unsigned)number_at(text + 2, 2);
        place.size = TEMPLATE_KEY_SIZE;
    } else if (size >= TEMPLATE_TOKEN_SIZE && text[1] == 'T') {
        place.kind = TEMPLATE_TOKEN;
        place.size = TEMPLATE_TOKEN_SIZE;
    } else if (size >= TEMPLATE_RANDOM_SIZE_MIN && text[1] == 'R') {
        size_t wanted = number_at(text + 2, RANDOM_DIGITS);
        place.kind = TEMPLATE_RANDOM;
        place.size = wanted >= TEMPLATE_RANDOM_SIZE_MIN && wanted <= size ? wanted : 0;
    }
    return place;
}

/* Takes the place that begins at `offset`. Returns its size. */
static size_t take_place(struct template *template, size_t offset, const char *path)
{
    struct template_place place = read_place(template->text + offset, template->size - offset);
    if (place.size == 0)
        errx(2, "%s: '~' at byte %zu begins neither a key nor a token nor a random text", path,
             offset);
    if (template->place_count == TEMPLATE_PLACES_MAX)
        errx(2, "%s: more than %d places", path, TEMPLATE_PLACES_MAX);
    if (place.kind == TEMPLATE_KEY && place.key >= template->key_count)
        template->key_count = place.key + 1;
    place.offset = offset;
    template->places[template->place_count++] = place;
    return place.size;
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

static void write_random(char *out, size_t size, struct random *random)
{
    for (size_t i = 0; i < size;) {
        uint64_t number = random_next(random);
        for (int j = 0; j < LETTERS_PER_NUMBER && i < size; j++, i++) {
            out[i] = letters[number & ((1 << LETTER_BITS) - 1)];
            number >>= LETTER_BITS;
        }
    }
}

void template_fill(const struct template *template, const struct template_values *values,
                   char *text)
{
    for (size_t i = 0; i < template->place_count; i++) {
        const struct template_place *place = &template->places[i];
        char *out = text + place->offset;
        switch (place->kind) {
        case TEMPLATE_KEY:
            write_key(out, (values->base + place->key * values->stride) % values->key_range);
            break;
        case TEMPLATE_TOKEN:
            write_token(out, values);
            break;
        case TEMPLATE_RANDOM:
            write_random(out, place->size, values->random);
            break;
        }
    }
}
