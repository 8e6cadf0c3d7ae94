/* test_crc32c.c -- published check values, by the instruction and by table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/crc32c.h"
#include "base/random.h"

static void assert_crc(struct bytes value, uint32_t want)
{
    assert_int_equal(crc32c(value), want);
    assert_int_equal(crc32c_extend_portable(0, value), want);
}

static void the_check_value_of_the_algorithm(void **state)
{
    (void)state;
    assert_crc(BYTES("123456789"), 0xE3069283);
    assert_crc(BYTES(""), 0);
}

/* RFC 3720, B.4. */
static void the_vectors_of_iscsi(void **state)
{
    uint8_t bytes[32];
    (void)state;
    memset(bytes, 0x00, sizeof bytes);
    assert_crc(bytes_of(bytes, sizeof bytes), 0x8A9136AA);
    memset(bytes, 0xFF, sizeof bytes);
    assert_crc(bytes_of(bytes, sizeof bytes), 0x62A8AB43);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    assert_crc(bytes_of(bytes, sizeof bytes), 0x46DD794E);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(31 - i);
    assert_crc(bytes_of(bytes, sizeof bytes), 0x113FDB5C);
    static const uint8_t read_command[48] = {
        [0] = 0x01,  [1] = 0xC0,  [16] = 0x14, [22] = 0x04,
        [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02,
    };
    assert_crc(bytes_of(read_command, sizeof read_command), 0xD9963A56);
}

static void both_ways_agree_at_every_size_and_alignment(void **state)
{
    uint8_t bytes[300];
    struct random random;
    (void)state;
    random_init(&random, 3720);
    random_fill(&random, bytes, sizeof bytes);
    for (size_t start = 0; start < 8; start++) {
        for (size_t size = 0; start + size <= sizeof bytes; size++) {
            struct bytes value = bytes_of(bytes + start, size);
            assert_int_equal(crc32c(value), crc32c_extend_portable(0, value));
        }
    }
}

static void a_checksum_goes_on_where_another_ended(void **state)
{
    static const uint8_t digits[] = "123456789";
    (void)state;
    for (size_t first = 0; first < sizeof digits; first++) {
        struct bytes rest = bytes_of(digits + first, sizeof digits - 1 - first);
        uint32_t crc = crc32c(bytes_of(digits, first));
        assert_int_equal(crc32c_extend(crc, rest), 0xE3069283);
        assert_int_equal(crc32c_extend_portable(crc, rest), 0xE3069283);
    }
}

static void every_flipped_bit_is_noticed(void **state)
{
    uint8_t bytes[64];
    struct random random;
    (void)state;
    random_init(&random, 1);
    random_fill(&random, bytes, sizeof bytes);
    uint32_t crc = crc32c(bytes_of(bytes, sizeof bytes));
    for (size_t bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(crc32c(bytes_of(bytes, sizeof bytes)), crc);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_value_of_the_algorithm),
        cmocka_unit_test(the_vectors_of_iscsi),
        cmocka_unit_test(a_checksum_goes_on_where_another_ended),
        cmocka_unit_test(both_ways_agree_at_every_size_and_alignment),
        cmocka_unit_test(every_flipped_bit_is_noticed),
    };
    return cmocka_run_group_tests_name("base/crc32c", tests, NULL, NULL);
}
