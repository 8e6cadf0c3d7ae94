/* setting.h -- one setting: its name, its allowed values, and how they are parsed and formatted. */
#ifndef STATOR_CONFIG_SETTING_H
#define STATOR_CONFIG_SETTING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct buffer;
struct config;
struct config_error;

/* What each kind is stored as in struct config. */
enum setting_kind {
    SETTING_NUMBER,  /* uint64_t: decimal digits. */
    SETTING_SIZE,    /* uint64_t: bytes, with K, M or G behind the digits for powers of 1024. */
    SETTING_FLAG,    /* bool: true, false, 1 or 0; on the command line --name or --no-name. */
    SETTING_CHOICE,  /* unsigned: index into `choices`. */
    SETTING_TEXT,    /* const char * */
    SETTING_PATH,    /* const char * */
    SETTING_ADDRESS, /* const char *: an IPv4 or IPv6 address, or localhost. */
};

struct setting {
    const char *name; /* "data-dir" */
    enum setting_kind kind;
    size_t offset;              /* Within struct config. */
    const char *default_value;  /* As in a file; NULL: stays NULL. */
    uint64_t min, max;          /* The value of numbers and sizes, the length of texts and paths. */
    const char *const *choices; /* NULL at the end. */
    bool (*accepts)(const char *); /* A further rule for a text; NULL: none. */
    const char *expects;           /* `accepts` in words, for the refusal. */
    const char *placeholder;       /* For --help: "PORT"; NULL for flags. */
    const char *help;              /* One line, for --help. */
    const char *detail;            /* More sentences, for the manual; NULL: none. */
    bool outside_file;             /* Not allowed in a file. */
};

extern const struct setting setting_table[];
extern const size_t setting_count;

enum { SETTING_NAME_MAX = 40, SETTING_TEXT_MAX = 1024, SETTING_PATH_MAX = 4000 };

/* NULL if there is none. */
const struct setting *setting_find(struct bytes name);

/* Sets the setting from text. `origin` ("--port", "STATOR_PORT", "file:3: port") begins the
 * refusal. `value` is copied into the arena. */
MUST_CHECK bool setting_parse(struct arena *arena, const struct setting *setting,
                              struct bytes value, const char *origin, struct config *config,
                              struct config_error *err);
/* Appends the value as setting_parse reads it. */
void setting_format(const struct setting *setting, const struct config *config, struct buffer *out);

/* True if only this machine can reach the address. */
bool setting_address_is_loopback(const char *address);
/* "127.0.0.1:9100" or "[::1]:9100" as address and port. False if it is neither. */
enum { SETTING_ADDRESS_SIZE = 46 }; /* The longest IPv6 address and a NUL. */
MUST_CHECK bool setting_split_address(const char *text, char address[SETTING_ADDRESS_SIZE],
                                      uint16_t *port);

#endif
