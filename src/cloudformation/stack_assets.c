/* stack_assets.c -- the files that clients upload before a deployment: templates, and code that
 * nobody runs. Names, sizes and times are in memory; see stacks.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/memory.h"
#include "base/uuid.h"
#include "cloudformation/stacks_internal.h"

static struct bytes name_of(const struct stacks_asset_note *note)
{
    return bytes_of(note->name, note->name_size);
}

static size_t place_of(const struct stacks_assets *assets, struct bytes name, bool *found)
{
    size_t low = 0, high = assets->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bytes_compare(name_of(&assets->notes[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < assets->count && bytes_equal(name_of(&assets->notes[low]), name);
    return low;
}

static void note(struct stacks_assets *assets, struct bytes name, size_t size, int64_t modified_ms)
{
    bool found;
    size_t place = place_of(assets, name, &found);
    if (!found) {
        if (assets->count == assets->capacity) {
            assets->capacity = assets->capacity == 0 ? 16 : assets->capacity * 2;
            assets->notes =
                memory_checked(realloc(assets->notes, assets->capacity * sizeof assets->notes[0]));
        }
        memmove(&assets->notes[place + 1], &assets->notes[place],
                (assets->count - place) * sizeof assets->notes[0]);
        assets->count++;
        uint8_t *copy = memory_checked(malloc(name.len));
        memcpy(copy, name.data, name.len);
        assets->notes[place] = (struct stacks_asset_note){ .name = copy, .name_size = name.len };
    }
    struct stacks_asset_note *at = &assets->notes[place];
    assets->total_size += size - at->size;
    at->size = size;
    at->modified_ms = modified_ms;
}

static void forget(struct stacks_assets *assets, struct bytes name)
{
    bool found;
    size_t place = place_of(assets, name, &found);
    if (!found)
        return;
    assets->total_size -= assets->notes[place].size;
    free(assets->notes[place].name);
    assets->count--;
    memmove(&assets->notes[place], &assets->notes[place + 1],
            (assets->count - place) * sizeof assets->notes[0]);
}

bool stacks_note_stored_asset(struct stacks *stacks, struct arena *arena,
                              const struct engine_entry *stored)
{
    struct stack_blob blob;
    struct bytes name = bytes_of(stored->key.data + 1, stored->key.len - 1);
    if (name.len == 0 || name.len > STACK_ASSET_NAME_SIZE_MAX ||
        !stack_blob_decode(arena, stored->value, &blob))
        return false;
    note(&stacks->assets, name, blob.bytes.len, blob.modified_ms);
    return true;
}

void stacks_free_assets(struct stacks *stacks)
{
    for (size_t i = 0; i < stacks->assets.count; i++)
        free(stacks->assets.notes[i].name);
    free(stacks->assets.notes);
}

enum engine_status stacks_read_asset(struct stacks *stacks, struct arena *arena, struct bytes name,
                                     struct stack_blob *out)
{
    return stacks_read_blob(stacks, arena, stack_asset_key(arena, name), out);
}

/* The oldest one but `name`; NULL: there is no other. */
static const struct stacks_asset_note *oldest(const struct stacks_assets *assets, struct bytes name)
{
    const struct stacks_asset_note *found = NULL;
    for (size_t i = 0; i < assets->count; i++)
        if ((found == NULL || assets->notes[i].modified_ms < found->modified_ms) &&
            !bytes_equal(name_of(&assets->notes[i]), name))
            found = &assets->notes[i];
    return found;
}

static enum engine_status delete_locked(struct stacks *stacks, struct arena *arena,
                                        struct bytes name)
{
    struct engine_write *write = NULL;
    struct engine_address address = { .place = stack_place, .key = stack_asset_key(arena, name) };
    enum engine_status status = engine_write_begin(stacks->engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_delete(write, &address);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        forget(&stacks->assets, name);
    return status;
}

static enum engine_status make_room_locked(struct stacks *stacks, struct arena *arena,
                                           struct bytes name, size_t size)
{
    struct stacks_assets *assets = &stacks->assets;
    enum engine_status status = ENGINE_OK;
    while (status == ENGINE_OK && (assets->count >= STACK_ASSETS_MAX ||
                                   assets->total_size + size > STACK_ASSETS_SIZE_MAX)) {
        const struct stacks_asset_note *victim = oldest(assets, name);
        if (victim == NULL)
            break;
        status = delete_locked(stacks, arena, arena_copy(arena, name_of(victim)));
    }
    return status;
}

enum engine_status stacks_put_asset(struct stacks *stacks, struct arena *arena, struct bytes name,
                                    const struct stack_blob *blob)
{
    struct engine_write *write = NULL;
    struct engine_address address = { .place = stack_place, .key = stack_asset_key(arena, name) };
    assert(name.len > 0 && name.len <= STACK_ASSET_NAME_SIZE_MAX);
    assert(blob->bytes.len <= STACK_ASSET_SIZE_MAX);
    const struct engine_entry stored = { .key = address.key,
                                         .value = stack_blob_encode(arena, blob) };
    if (!stack_record_is_whole(arena, &stored))
        return ENGINE_CORRUPT; /* Written, it would keep the server from starting again. */
    pthread_mutex_lock(&stacks->assets.mutex);
    enum engine_status status = make_room_locked(stacks, arena, name, blob->bytes.len);
    if (status == ENGINE_OK)
        status = engine_write_begin(stacks->engine, NULL, 0, &write);
    if (status == ENGINE_OK) {
        engine_write_put(write, &address, stored.value);
        status = engine_write_commit_wait(write);
    }
    if (status == ENGINE_OK)
        note(&stacks->assets, name, blob->bytes.len, blob->modified_ms);
    pthread_mutex_unlock(&stacks->assets.mutex);
    return status;
}

enum engine_status stacks_delete_asset(struct stacks *stacks, struct arena *arena,
                                       struct bytes name)
{
    pthread_mutex_lock(&stacks->assets.mutex);
    enum engine_status status = delete_locked(stacks, arena, name);
    pthread_mutex_unlock(&stacks->assets.mutex);
    return status;
}

bool stacks_next_asset(struct stacks *stacks, struct arena *arena, struct bytes prefix,
                       struct bytes after, struct stack_asset *out)
{
    struct stacks_assets *assets = &stacks->assets;
    bool exact = false;
    pthread_mutex_lock(&assets->mutex);
    bool is_behind = after.data != NULL && bytes_compare(after, prefix) >= 0;
    size_t place = place_of(assets, is_behind ? after : prefix, &exact);
    place += exact && is_behind;
    bool found = place < assets->count && bytes_starts_with(name_of(&assets->notes[place]), prefix);
    if (found)
        *out = (struct stack_asset){ .name = arena_copy(arena, name_of(&assets->notes[place])),
                                     .size = assets->notes[place].size,
                                     .modified_ms = assets->notes[place].modified_ms };
    pthread_mutex_unlock(&assets->mutex);
    return found;
}

/* --- Uploads in parts --- */

static struct bytes upload_name(struct arena *arena, struct bytes id)
{
    const struct bytes parts[] = { BYTES("/"), id };
    return arena_join(arena, parts, COUNT_OF(parts));
}

struct bytes stacks_part_name(struct arena *arena, struct bytes id, unsigned number)
{
    assert(number >= 1 && number <= STACK_PARTS_MAX);
    return arena_printf(arena, "/%.*s/%05u", BYTES_FMT(id), number);
}

/* Deletes the upload and its parts in `write`; their notes are forgotten by forget_upload once that
 * is durable. */
static void delete_upload(const struct stacks_assets *assets, struct arena *arena,
                          struct engine_write *write, struct bytes upload)
{
    bool found;
    for (size_t i = place_of(assets, upload, &found);
         i < assets->count && bytes_starts_with(name_of(&assets->notes[i]), upload); i++) {
        struct engine_address address = { .place = stack_place,
                                          .key =
                                              stack_asset_key(arena, name_of(&assets->notes[i])) };
        engine_write_delete(write, &address);
    }
}

static void forget_upload(struct stacks_assets *assets, struct arena *arena, struct bytes upload)
{
    bool found;
    size_t place = place_of(assets, upload, &found);
    while (place < assets->count && bytes_starts_with(name_of(&assets->notes[place]), upload))
        forget(assets, arena_copy(arena, name_of(&assets->notes[place])));
}

static enum engine_status abort_locked(struct stacks *stacks, struct arena *arena,
                                       struct bytes upload)
{
    struct engine_write *write = NULL;
    enum engine_status status = engine_write_begin(stacks->engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    delete_upload(&stacks->assets, arena, write, upload);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        forget_upload(&stacks->assets, arena, upload);
    return status;
}

/* The oldest upload, and how many there are. Its note has no second slash. */
static const struct stacks_asset_note *oldest_upload(const struct stacks_assets *assets,
                                                     size_t *count)
{
    const struct stacks_asset_note *found = NULL;
    *count = 0;
    for (size_t i = 0; i < assets->count && assets->notes[i].name[0] <= '/'; i++) {
        const struct stacks_asset_note *at = &assets->notes[i];
        if (at->name[0] != '/' || memchr(at->name + 1, '/', at->name_size - 1) != NULL)
            continue;
        ++*count;
        if (found == NULL || at->modified_ms < found->modified_ms)
            found = at;
    }
    return found;
}

/* Parts whose upload was forgotten to make room are not found by their upload any more: they are
 * among the oldest files, so they go next. */
static enum engine_status sweep_uploads_locked(struct stacks *stacks, struct arena *arena,
                                               int64_t now_ms)
{
    enum engine_status status = ENGINE_OK;
    while (status == ENGINE_OK) {
        size_t count;
        const struct stacks_asset_note *oldest = oldest_upload(&stacks->assets, &count);
        if (oldest == NULL ||
            (count < STACK_UPLOADS_MAX && now_ms - oldest->modified_ms < STACK_UPLOAD_AGE_MS_MAX))
            break;
        status = abort_locked(stacks, arena, arena_copy(arena, name_of(oldest)));
    }
    return status;
}

enum engine_status stacks_begin_upload(struct stacks *stacks, struct arena *arena, struct bytes id,
                                       struct bytes name, const struct stack_blob *blob)
{
    struct stack_blob stored = *blob;
    stored.bytes = name;
    pthread_mutex_lock(&stacks->assets.mutex);
    enum engine_status status = sweep_uploads_locked(stacks, arena, blob->modified_ms);
    pthread_mutex_unlock(&stacks->assets.mutex);
    return status == ENGINE_OK ? stacks_put_asset(stacks, arena, upload_name(arena, id), &stored)
                               : status;
}

enum engine_status stacks_find_upload(struct stacks *stacks, struct arena *arena, struct bytes id,
                                      struct bytes name, struct stack_blob *out)
{
    /* Anything but an upload's id (a part's name, say) would name another file. */
    if (id.len != UUID_TEXT_SIZE || memchr(id.data, '/', id.len) != NULL)
        return ENGINE_NOT_FOUND;
    enum engine_status status = stacks_read_asset(stacks, arena, upload_name(arena, id), out);
    return status == ENGINE_OK && !bytes_equal(out->bytes, name) ? ENGINE_NOT_FOUND : status;
}

bool stacks_find_parts(struct stacks *stacks, struct arena *arena, struct bytes id,
                       struct stacks_part *parts, size_t count)
{
    const struct stacks_assets *assets = &stacks->assets;
    bool found = true;
    pthread_mutex_lock(&stacks->assets.mutex);
    for (size_t i = 0; found && i < count; i++) {
        parts[i].name = stacks_part_name(arena, id, parts[i].number);
        size_t place = place_of(assets, parts[i].name, &found);
        if (found)
            parts[i].size = assets->notes[place].size;
    }
    pthread_mutex_unlock(&stacks->assets.mutex);
    return found;
}

/* The bytes of all parts. Reads one at a time, so that memory is little more than the file. */
static enum engine_status join_parts(struct stacks *stacks, struct arena *arena,
                                     const struct stacks_part *parts, size_t count,
                                     struct bytes *out)
{
    size_t size = 0, at = 0;
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    assert(size <= STACK_ASSET_SIZE_MAX);
    uint8_t *bytes = arena_alloc(arena, size + 1);
    for (size_t i = 0; status == ENGINE_OK && i < count; i++) {
        struct arena *scratch = arena_create();
        struct stack_blob part;
        status = stacks_read_asset(stacks, scratch, parts[i].name, &part);
        if (status == ENGINE_OK && part.bytes.len != parts[i].size)
            status = ENGINE_NOT_FOUND; /* It was uploaded anew. */
        if (status == ENGINE_OK) {
            memcpy(bytes + at, part.bytes.data, part.bytes.len);
            at += part.bytes.len;
        }
        arena_destroy(scratch);
    }
    *out = bytes_of(bytes, at);
    return status;
}

enum engine_status stacks_end_upload(struct stacks *stacks, struct arena *arena, struct bytes id,
                                     struct bytes name, const struct stacks_part *parts,
                                     size_t count, struct stack_blob *blob)
{
    struct engine_write *write = NULL;
    struct engine_address address = { .place = stack_place, .key = stack_asset_key(arena, name) };
    struct bytes upload = upload_name(arena, id);
    struct bytes value = { 0 };
    /* One at a time, also because of the memory that it takes. */
    pthread_mutex_lock(&stacks->assets.mutex);
    enum engine_status status = join_parts(stacks, arena, parts, count, &blob->bytes);
    if (status == ENGINE_OK) {
        value = stack_blob_encode(arena, blob);
        status = engine_write_begin(stacks->engine, NULL, 0, &write);
    }
    if (status == ENGINE_OK) {
        delete_upload(&stacks->assets, arena, write, upload);
        engine_write_put(write, &address, value);
        status = engine_write_commit_wait(write);
    }
    if (status == ENGINE_OK) {
        forget_upload(&stacks->assets, arena, upload);
        note(&stacks->assets, name, blob->bytes.len, blob->modified_ms);
        status = make_room_locked(stacks, arena, name, 0);
    }
    pthread_mutex_unlock(&stacks->assets.mutex);
    return status;
}

enum engine_status stacks_abort_upload(struct stacks *stacks, struct arena *arena, struct bytes id)
{
    pthread_mutex_lock(&stacks->assets.mutex);
    enum engine_status status = abort_locked(stacks, arena, upload_name(arena, id));
    pthread_mutex_unlock(&stacks->assets.mutex);
    return status;
}
