/* test_log.c -- what reaches standard error, captured in a file. */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/log.h"

enum { PREFIX_SIZE_MAX = 24 + 1 + 5 + 1 + LOG_AREA_MAX + 2 };

struct capture {
    FILE *file;
    int saved;
    char text[4 * LOG_LINE_MAX];
};

static void capture_begin(struct capture *capture)
{
    capture->file = tmpfile();
    assert_non_null(capture->file);
    fflush(stderr);
    capture->saved = dup(STDERR_FILENO);
    assert_true(capture->saved >= 0);
    assert_true(dup2(fileno(capture->file), STDERR_FILENO) >= 0);
}

static void capture_end(struct capture *capture)
{
    dup2(capture->saved, STDERR_FILENO);
    close(capture->saved);
    rewind(capture->file);
    size_t size = fread(capture->text, 1, sizeof capture->text - 1, capture->file);
    capture->text[size] = '\0';
    fclose(capture->file);
}

/* The message behind "time level area: ", without its line feed; exactly one line was written. */
static const char *message(struct capture *capture)
{
    size_t size = strlen(capture->text);
    assert_true(size > 0 && capture->text[size - 1] == '\n');
    assert_ptr_equal(strchr(capture->text, '\n'), capture->text + size - 1);
    capture->text[size - 1] = '\0';
    char *colon = strstr(capture->text, ": ");
    assert_non_null(colon);
    return colon + 2;
}

static void a_line_has_time_level_area_and_text(void **state)
{
    struct capture capture;
    regex_t pattern;
    (void)state;
    capture_begin(&capture);
    log_write(LOG_WARN, "engine", "%s of %d", "batch", 7);
    capture_end(&capture);
    assert_int_equal(regcomp(&pattern,
                             "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
                             "\\.[0-9]{3}Z warn engine: batch of 7\n$",
                             REG_EXTENDED | REG_NOSUB),
                     0);
    assert_int_equal(regexec(&pattern, capture.text, 0, NULL, 0), 0);
    regfree(&pattern);
}

static void lines_below_the_level_are_not_written(void **state)
{
    static const char *const names[] = { " debug ", " info ", " warn ", " error " };
    (void)state;
    for (int level_min = LOG_DEBUG; level_min <= LOG_ERROR; level_min++) {
        struct capture capture;
        log_set_level((enum log_level)level_min);
        capture_begin(&capture);
        for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
            log_write((enum log_level)level, "test", "text");
        capture_end(&capture);
        for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
            assert_int_equal(strstr(capture.text, names[level]) != NULL, level >= level_min);
    }
    log_set_level(LOG_INFO);
}

static const struct {
    const char *rule, *text, *want;
} controls[] = {
    { "a line feed forges no line", "a\n2026-01-01T00:00:00.000Z error x: y",
      "a?2026-01-01T00:00:00.000Z error x: y" },
    { "carriage return, tab and escape", "a\rb\tc\x1B[31m", "a?b?c?[31m" },
    { "the first and the last control character", "\x01\x1F ", "?? " },
    { "delete", "a\x7F", "a?" },
    { "the first control character above ASCII", "a\xC2\x80z", "a??z" },
    { "the last control character above ASCII", "a\xC2\x9Fz", "a??z" },
    { "the character behind them stays", "a\xC2\xA0z", "a\xC2\xA0z" },
    { "other UTF-8 stays", "\xC3\x9F \xE2\x82\xAC", "\xC3\x9F \xE2\x82\xAC" },
    { "half a character at the end", "a\xC2", "a\xC2" },
};

static void control_characters_are_replaced(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(controls); i++) {
        struct capture capture;
        capture_begin(&capture);
        log_write(LOG_ERROR, "test", "%s", controls[i].text);
        capture_end(&capture);
        assert_string_equal(message(&capture), controls[i].want);
    }
}

static void long_lines_are_cut_to_the_limit(void **state)
{
    static char text[2 * LOG_LINE_MAX];
    struct capture capture;
    (void)state;
    capture_begin(&capture);
    log_write(LOG_ERROR, "test", "%s", "");
    capture_end(&capture);
    size_t room = LOG_LINE_MAX - strlen(capture.text);
    const size_t sizes[] = { room - 1, room, room + 1, sizeof text - 1 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        memset(text, 'x', sizes[i]);
        text[sizes[i]] = '\0';
        capture_begin(&capture);
        log_write(LOG_ERROR, "test", "%s", text);
        capture_end(&capture);
        assert_int_equal(strlen(message(&capture)), sizes[i] < room ? sizes[i] : room);
    }
}

static void long_areas_are_cut_to_the_limit(void **state)
{
    static char area[2 * LOG_LINE_MAX];
    static const size_t sizes[] = { LOG_AREA_MAX - 1, LOG_AREA_MAX, LOG_AREA_MAX + 1,
                                    sizeof area - 1 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct capture capture;
        memset(area, 'a', sizes[i]);
        area[sizes[i]] = '\0';
        capture_begin(&capture);
        log_write(LOG_ERROR, area, "text");
        capture_end(&capture);
        assert_string_equal(message(&capture), "text");
        size_t cut = sizes[i] < LOG_AREA_MAX ? sizes[i] : LOG_AREA_MAX;
        assert_int_equal(strlen(capture.text), PREFIX_SIZE_MAX - LOG_AREA_MAX + cut + 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_time_level_area_and_text),
        cmocka_unit_test(lines_below_the_level_are_not_written),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(long_lines_are_cut_to_the_limit),
        cmocka_unit_test(long_areas_are_cut_to_the_limit),
    };
    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
