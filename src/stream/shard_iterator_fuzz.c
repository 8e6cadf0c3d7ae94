/* shard_iterator_fuzz.c -- arbitrary text as an iterator, a shard id, a sequence number, an ARN.
 *
 * What parses formats to the same text.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "stream/shard_iterator.h"
#include "stream/stream_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes text = bytes_of(size == 0 ? (const uint8_t *)"" : data, size);
    struct bytes arn, table_name, label;
    struct shard_iterator iterator, again;
    int64_t created_ms;
    uint64_t number, partition;
    if (shard_iterator_parse(text, &arn, &iterator))
        assert(bytes_equal(shard_iterator_format(arena, arn, &iterator), text));
    if (stream_names_parse_arn(text, &table_name, &label))
        assert(table_name.len + label.len < text.len);
    if (stream_names_parse_sequence(text, &number, &partition)) {
        uint64_t number_again, partition_again;
        struct bytes formatted = stream_names_sequence(arena, number, partition);
        bool parses = stream_names_parse_sequence(formatted, &number_again, &partition_again);
        assert(parses && number_again == number && partition_again == partition);
    }
    (void)stream_names_label_ms(text);
    if (stream_names_parse_shard_id(text, &created_ms, &number)) {
        int64_t created_again_ms;
        uint64_t number_again;
        struct bytes formatted = stream_names_shard_id(arena, created_ms, number);
        bool parses = stream_names_parse_shard_id(formatted, &created_again_ms, &number_again);
        assert(parses && created_again_ms == created_ms && number_again == number);
    }
    /* Any text as the ARN: otherwise the checksum would refuse every input. */
    iterator = (struct shard_iterator){ .at = { .log_id = size, .next = 7 } };
    struct bytes formatted = shard_iterator_format(arena, text, &iterator);
    bool parses = shard_iterator_parse(formatted, &arn, &again);
    assert(parses && bytes_equal(arn, text) && again.at.log_id == size && again.at.next == 7);
    arena_destroy(arena);
    return 0;
}
