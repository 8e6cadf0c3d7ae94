/* scan.h -- finds the first byte of a string that needs a closer look. Private to json/.
 *
 * Most bytes of requests and answers are plain text inside strings, so these loops decide the speed
 * of the reader and the writer. Each takes 16 bytes a step with SSE2, 8 without; none reads or
 * writes at or behind the end, but for scan_copy_short. The portable forms are always compiled, so
 * that a test can hold them against the others.
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

#if defined(__SSE2__)
/* All bits of each byte that needs an escape. */
static inline __m128i scan_block_marks(__m128i block)
{
    /* There is no unsigned comparison: at most 0x1F is where the larger of the two is 0x1F. */
    __m128i top = _mm_set1_epi8(0x1F);
    __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(block, top), top);
    __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    return _mm_or_si128(control, _mm_or_si128(quote, backslash));
}

/* One bit for each byte that needs an escape, the first one lowest. */
static inline int scan_block_escapes(__m128i block)
{
    return _mm_movemask_epi8(scan_block_marks(block));
}
#endif

/* --- Copying --- */

/* Copies words of eight, then bytes, up to the first that needs an escape. */
static inline size_t scan_copy_portable(uint8_t *to, const uint8_t *from, size_t size)
{
    size_t at = 0;
    for (uint64_t word; size - at >= 8; at += 8) {
        memcpy(&word, from + at, sizeof word);
        if (scan_word_escapes(word) != 0)
            break;
        memcpy(to + at, &word, sizeof word);
    }
    for (; at < size && !scan_needs_escape(from[at]); at++)
        to[at] = from[at];
    return at;
}

#if defined(__SSE2__)
/* scan_copy_unescaped of at least one block: by two, then by one, of which the last overlaps. */
static inline size_t scan_copy_blocks(uint8_t *to, const uint8_t *from, size_t size)
{
    size_t at = 0;
    for (; size - at >= 32; at += 32) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(from + at));
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(from + at + 16));
        if (_mm_movemask_epi8(_mm_or_si128(scan_block_marks(low), scan_block_marks(high))) != 0)
            break;
        _mm_storeu_si128((__m128i *)(void *)(to + at), low);
        _mm_storeu_si128((__m128i *)(void *)(to + at + 16), high);
    }
    while (at < size) {
        at = size - at < 16 ? size - 16 : at;
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(from + at));
        int found = scan_block_escapes(block);
        _mm_storeu_si128((__m128i *)(void *)(to + at), block);
        if (found != 0)
            return at + (size_t)__builtin_ctz((unsigned)found);
        at += 16;
    }
    return size;
}
#endif

enum { SCAN_BLOCK_SIZE = 16 };

/* scan_copy_unescaped of at most a block, where a whole block can be read and written. */
static inline size_t scan_copy_short(uint8_t *to, const uint8_t *from, size_t size)
{
#if defined(__SSE2__)
    __m128i block = _mm_loadu_si128((const __m128i *)(const void *)from);
    _mm_storeu_si128((__m128i *)(void *)to, block);
    return (size_t)__builtin_ctz((unsigned)scan_block_escapes(block) | 1U << size);
#else
    return scan_copy_portable(to, from, size);
#endif
}

/* Copies up to the first byte that needs an escape; returns how many there are before it. `to` has
 * room for all, and what is behind the copied part there is undefined. The last block overlaps the
 * one before, and so do the halves of a short text, so that hardly any byte is looked at alone. */
static inline __attribute__((always_inline)) size_t
scan_copy_unescaped(uint8_t *to, const uint8_t *from, size_t size)
{
#if defined(__SSE2__)
    if (size >= 16)
        return scan_copy_blocks(to, from, size);
    if (size >= 8) {
        uint64_t low, high;
        memcpy(&low, from, sizeof low);
        memcpy(&high, from + size - sizeof high, sizeof high);
        if (scan_block_escapes(_mm_set_epi64x((int64_t)high, (int64_t)low)) == 0) {
            memcpy(to, &low, sizeof low);
            memcpy(to + size - sizeof high, &high, sizeof high);
            return size;
        }
    } else if (size >= 4) {
        uint32_t low, high;
        memcpy(&low, from, sizeof low);
        memcpy(&high, from + size - sizeof high, sizeof high);
        if (scan_block_escapes(_mm_set1_epi64x((int64_t)((uint64_t)high << 32 | low))) == 0) {
            memcpy(to, &low, sizeof low);
            memcpy(to + size - sizeof high, &high, sizeof high);
            return size;
        }
    }
#endif
    return scan_copy_portable(to, from, size);
}

#endif
