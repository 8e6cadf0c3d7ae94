/* table_manifest_fuzz.c -- any bytes as the manifest of a backup: what is taken over is the record
 * of a complete backup of that id, and of no deleted table. */
#include <assert.h>
#include <stdint.h>
#include "api/table_manifest.h"
#include "base/arena.h"
#include "jobs/job_record.h"
#include "jobs/kept_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena *arena;
    struct bytes key, stored, id = BYTES("01794854399190-ff1460a3");
    if (arena == NULL)
        arena = arena_create();
    if (table_manifest_read(arena, bytes_of(data, size), id, &key, &stored)) {
        struct job_record record;
        bool decoded = job_record_decode(arena, key, stored, &record);
        assert(decoded && record.state == JOB_COMPLETED && !kept_table_is(&record) &&
               bytes_equal_text(id, record.id));
        (void)decoded;
    }
    arena_reset(arena);
    return 0;
}
