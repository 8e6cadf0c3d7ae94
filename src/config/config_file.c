/* config_file.c -- see config_file.h. What a name or a value means is config.c's. */
#include "config/config_file.h"

void config_file_init(struct config_file *file, struct bytes text)
{
    *file = (struct config_file){ .rest = text };
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r'; /* Files may come from Windows. */
}

static struct bytes trimmed(struct bytes text)
{
    while (text.len > 0 && is_blank(text.data[0]))
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 && is_blank(text.data[text.len - 1]))
        text.len--;
    return text;
}

static struct bytes next_line(struct config_file *file)
{
    const uint8_t *start = file->rest.data;
    const uint8_t *end = memchr(start, '\n', file->rest.len);
    size_t size = end == NULL ? file->rest.len : (size_t)(end - start);
    size_t taken = end == NULL ? size : size + 1;
    file->rest = bytes_of(start + taken, file->rest.len - taken);
    file->line_number++;
    return trimmed(bytes_of(start, size));
}

enum config_file_status config_file_next(struct config_file *file, struct bytes *name,
                                         struct bytes *value)
{
    while (file->rest.len > 0) {
        struct bytes line = next_line(file);
        if (line.len == 0 || line.data[0] == '#')
            continue;
        const uint8_t *equals = memchr(line.data, '=', line.len);
        if (equals == NULL || equals == line.data)
            return CONFIG_FILE_MALFORMED;
        size_t name_size = (size_t)(equals - line.data);
        *name = trimmed(bytes_of(line.data, name_size));
        *value = trimmed(bytes_of(equals + 1, line.len - name_size - 1));
        return CONFIG_FILE_SETTING;
    }
    return CONFIG_FILE_END;
}
