/* scan.h -- finds the first byte of a string that needs a closer look. Private to json/.
 *
 * Most bytes of a request are plain ASCII inside strings, so these loops decide the speed of the
 * reader and the writer. Each takes 16 bytes a step with SSE2, 8 without, and the rest one by
 * one; none reads at or behind `end`. The portable forms are always compiled, so that a test can
 * hold them against the others.
 */
#ifndef STATOR_JSON_SCAN_H
#define STATOR_JSON_SCAN_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define SCAN_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Must be written as an escape in a JSON string. */
static inline bool scan_needs_escape(uint8_t byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\';
}

/* The top bit of some byte is set if and only if some byte of `word` needs an escape. */
static inline uint64_t scan_word_escapes(uint64_t word)
{
    uint64_t quote = word ^ SCAN_EACH_BYTE('"');
    uint64_t backslash = word ^ SCAN_EACH_BYTE('\\');
    return (((word - SCAN_EACH_BYTE(0x20)) & ~word) | ((quote - SCAN_EACH_BYTE(1)) & ~quote) |
            ((backslash - SCAN_EACH_BYTE(1)) & ~backslash)) &
           SCAN_EACH_BYTE(0x80);
}

static inline const uint8_t *scan_plain_portable(const uint8_t *at, const uint8_t *end)
{
    for (uint64_t word; end - at >= 8; at += 8) {
        memcpy(&word, at, sizeof word);
        if ((scan_word_escapes(word) | (word & SCAN_EACH_BYTE(0x80))) != 0)
            break;
    }
    while (at < end && *at < 0x80 && !scan_needs_escape(*at))
        at++;
    return at;
}

static inline const uint8_t *scan_unescaped_portable(const uint8_t *at, const uint8_t *end)
{
    for (uint64_t word; end - at >= 8; at += 8) {
        memcpy(&word, at, sizeof word);
        if (scan_word_escapes(word) != 0)
            break;
    }
    while (at < end && !scan_needs_escape(*at))
        at++;
    return at;
}

/* The first byte that is not ASCII or needs an escape; `end` if there is none. */
static inline const uint8_t *scan_plain(const uint8_t *at, const uint8_t *end)
{
#if defined(__SSE2__)
    for (; end - at >= 16; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        /* Compared as signed bytes, those from 0x80 up are below 0x20 as well. */
        __m128i low = _mm_cmplt_epi8(block, _mm_set1_epi8(0x20));
        __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
        __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
        int found = _mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, backslash)));
        if (found != 0)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    return scan_plain_portable(at, end);
}

/* The first byte that needs an escape; `end` if there is none. */
static inline const uint8_t *scan_unescaped(const uint8_t *at, const uint8_t *end)
{
#if defined(__SSE2__)
    for (; end - at >= 16; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        /* There is no unsigned comparison: at most 0x1F is where the larger of the two is 0x1F. */
        __m128i top = _mm_set1_epi8(0x1F);
        __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(block, top), top);
        __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
        __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
        int found = _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)));
        if (found != 0)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    return scan_unescaped_portable(at, end);
}

#endif
