/* credential_file.c -- see credential_file.h. */
#include "outbound/credential_file.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "auth/sigv4.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/file.h"
#include "base/memory.h"
#include "http/grammar.h"
#include "http/server.h"

static_assert((int)CREDENTIAL_SIZE_MAX <= (int)SIGV4_SECRET_SIZE_MAX, "every secret can sign");

static bool store_value(struct bytes value, char *out, size_t size_max)
{
    if (value.len == 0 || value.len > size_max)
        return false;
    for (size_t i = 0; i < value.len; i++)
        if (value.data[i] <= ' ' || value.data[i] > '~')
            return false;
    memcpy(out, value.data, value.len);
    out[value.len] = '\0';
    return true;
}

/* Returns what is wrong, or NULL. Lines that are not known are skipped: AWS's tools have more. */
static const char *parse(struct bytes text, struct credentials *out)
{
    const struct {
        const char *name;
        char *value;
        size_t size_max;
    } fields[] = {
        { "aws_access_key_id", out->access_key, CREDENTIAL_SIZE_MAX },
        { "aws_secret_access_key", out->secret, CREDENTIAL_SIZE_MAX },
        { "aws_session_token", out->token, CREDENTIAL_TOKEN_SIZE_MAX },
    };
    bool in_profile = true; /* Before the first section as well. */
    *out = (struct credentials){ 0 };
    while (text.len > 0) {
        struct bytes value = http_header_trim(http_header_next_part(&text, '\n'));
        while (value.len > 0 && value.data[value.len - 1] == '\r')
            value.len--;
        if (value.len > 0 && value.data[0] == '[')
            in_profile = bytes_equal_text(value, "[default]");
        if (value.len == 0 || !in_profile || strchr("[#;", value.data[0]) != NULL)
            continue;
        struct bytes name = http_header_trim(http_header_next_part(&value, '='));
        for (size_t i = 0; i < COUNT_OF(fields); i++)
            if (bytes_equal_text(name, fields[i].name) &&
                !store_value(http_header_trim(value), fields[i].value, fields[i].size_max))
                return "a key has no value, or one that cannot be used";
    }
    return out->access_key[0] == '\0' || out->secret[0] == '\0'
               ? "the profile [default] needs aws_access_key_id and aws_secret_access_key"
               : NULL;
}

const char *credential_file_read(const char *path, struct credentials *out)
{
    static const char too_large[] = "it is too large for a file with two keys";
    struct stat state;
    const char *problem = NULL;
    int file = file_open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (file < 0)
        return strerror(errno);
    char *text = memory_checked(malloc(CREDENTIAL_FILE_SIZE_MAX));
    ssize_t size = 0;
    if (fstat(file, &state) != 0 || !S_ISREG(state.st_mode))
        problem = "it is not a file";
    else if ((state.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        problem = "others than its owner may open it: chmod 600";
    else if (state.st_size >= CREDENTIAL_FILE_SIZE_MAX)
        problem = too_large;
    else if ((size = read(file, text, CREDENTIAL_FILE_SIZE_MAX)) < 0)
        problem = strerror(errno);
    else
        problem = parse(bytes_of(text, (size_t)size), out);
    explicit_bzero(text, CREDENTIAL_FILE_SIZE_MAX);
    free(text);
    file_close(file);
    return problem;
}
