/* command_line.c -- see command_line.h. */
#include "command/command_line.h"
#include <stdio.h>
#include <string.h>

bool command_line_asks_for_help(const struct command_line *line)
{
    for (int i = 0; i < line->argc; i++) {
        if (strcmp(line->argv[i], "--help") == 0 || strcmp(line->argv[i], "-h") == 0)
            return true;
    }
    return false;
}

bool command_line_is_flag(const char *word, const char *name)
{
    size_t size = strlen(name);
    return strncmp(word, name, size) == 0 && (word[size] == '\0' || word[size] == '=');
}

const char *command_line_take_value(struct command_line *line, const char *word)
{
    const char *equals = strchr(word, '=');
    if (equals != NULL)
        return equals + 1;
    return line->next < line->argc ? line->argv[line->next++] : NULL;
}

int command_line_fail(int code, const char *what, const char *why)
{
    fprintf(stderr, "stator: %s: %s\n", what, why);
    return code;
}
