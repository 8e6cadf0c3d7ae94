/* key_file.c -- see key_file.h. */
#include "auth/key_file.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include "auth/key_ring.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "base/folder.h"

/* The first line, authenticated by the seal, so that a file of one version cannot pass for another.
 * Version 1 had no checksum. */
#define HEAD_1 "stator keys 1\n"
#define HEAD_2 "stator keys 2\n"
enum { HEAD_SIZE = sizeof HEAD_2 - 1, CHECKSUM_SIZE = 4, MASTER_DIGITS = 2 * SEAL_KEY_SIZE };
static_assert(sizeof HEAD_1 == sizeof HEAD_2, "all versions have heads of one size");
#define NOBODY ((uid_t)-1)

/* --- Who may open a file --- */

/* The kernel's form of an ACL (linux/posix_acl_xattr.h): a version, then entries of a tag, the
 * permissions and an id, all little-endian. */
enum {
    ACL_VERSION = 2,
    ACL_HEAD_SIZE = 4,
    ACL_ENTRY_SIZE = 8,
    ACL_OWNER = 0x01,
    ACL_NAMED_USER = 0x02,
    ACL_MASK = 0x10,
    ACL_SIZE_MAX = 4096, /* About 500 entries; a file with more is not private. */
};

static unsigned load_u16_le(const uint8_t *at)
{
    return (unsigned)at[0] | (unsigned)at[1] << 8;
}

/* Ignores the mask: an entry that it disables today counts again after one chmod. */
bool key_access_acl_is_private(struct bytes acl, uid_t user)
{
    if (acl.len < ACL_HEAD_SIZE || (acl.len - ACL_HEAD_SIZE) % ACL_ENTRY_SIZE != 0 ||
        load_u32_le(acl.data) != ACL_VERSION)
        return false;
    for (size_t i = ACL_HEAD_SIZE; i < acl.len; i += ACL_ENTRY_SIZE) {
        unsigned tag = load_u16_le(acl.data + i);
        unsigned permissions = load_u16_le(acl.data + i + 2);
        uid_t id = load_u32_le(acl.data + i + 4);
        bool is_ours = tag == ACL_OWNER || tag == ACL_MASK ||
                       (tag == ACL_NAMED_USER && (id == user || id == 0));
        if (!is_ours && permissions != 0)
            return false;
    }
    return true;
}

enum key_access key_access_of(int descriptor, uid_t other_owner)
{
    struct stat state;
    uint8_t acl[ACL_SIZE_MAX];
    if (fstat(descriptor, &state) != 0)
        return KEY_ACCESS_UNKNOWN;
    if (state.st_uid != 0 && state.st_uid != geteuid() && state.st_uid != other_owner)
        return KEY_ACCESS_FOREIGN;
    if ((state.st_mode & (S_IRWXG | S_IRWXO)) == 0)
        return KEY_ACCESS_OK;
    ssize_t size = fgetxattr(descriptor, "system.posix_acl_access", acl, sizeof acl);
    bool is_private = size > 0 && (state.st_mode & S_IRWXO) == 0 &&
                      key_access_acl_is_private(bytes_of(acl, (size_t)size), geteuid());
    return is_private ? KEY_ACCESS_OK : KEY_ACCESS_OTHERS;
}

static bool refuse(char *message, const char *directory, const char *name, const char *reason)
{
    snprintf(message, KEY_FILE_MESSAGE_MAX, "%.200s%s%.200s: %s", directory,
             directory[0] == '\0' ? "" : "/", name, reason);
    return false;
}

/* True if only its owner may open the file. False with a message that says what to do. */
static bool check_access(int descriptor, uid_t other_owner, const char *path, char *message)
{
    const char *reason = NULL, *todo = NULL;
    switch (key_access_of(descriptor, other_owner)) {
    case KEY_ACCESS_OK:
        return true;
    case KEY_ACCESS_UNKNOWN:
        return refuse(message, "", path, strerror(errno));
    case KEY_ACCESS_OTHERS:
        reason = "users other than its owner can open it";
        todo = "chmod 600";
        break;
    case KEY_ACCESS_FOREIGN:
        reason = "its owner is neither root nor the user who runs stator";
        todo = "chown root";
        break;
    }
    snprintf(message, KEY_FILE_MESSAGE_MAX, "%.160s: %s; run: %s %.160s", path, reason, todo, path);
    return false;
}

/* --- The master key --- */

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static bool parse_master(const char *text, size_t size, uint8_t out[SEAL_KEY_SIZE])
{
    if (size == MASTER_DIGITS + 1 && text[MASTER_DIGITS] == '\n')
        size--;
    if (size != MASTER_DIGITS)
        return false;
    for (size_t i = 0; i < SEAL_KEY_SIZE; i++) {
        int high = digit_value(text[2 * i]);
        int low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* A key stored beside the data that it seals would protect nothing. */
static bool lies_within(const char *path, const char *directory)
{
    char *file = realpath(path, NULL);
    char *folder = realpath(directory, NULL);
    size_t size = folder == NULL ? 0 : strlen(folder);
    bool within = file != NULL && folder != NULL && strncmp(file, folder, size) == 0 &&
                  (file[size] == '/' || folder[size - 1] == '/');
    free(file);
    free(folder);
    return within;
}

bool key_file_init(struct key_file *file, const char *directory, const char *master_path,
                   char message[KEY_FILE_MESSAGE_MAX])
{
    char text[MASTER_DIGITS + 2];
    *file = (struct key_file){ .directory = directory };
    if (lies_within(master_path, directory))
        return refuse(message, "", master_path, "the master key must not be in the data directory");
    int descriptor = file_open_at(AT_FDCWD, master_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (descriptor < 0)
        return refuse(message, "", master_path, strerror(errno));
    if (!check_access(descriptor, NOBODY, master_path, message)) {
        close(descriptor);
        return false;
    }
    ssize_t size = read(descriptor, text, sizeof text);
    close(descriptor);
    bool ok = size >= 0 && parse_master(text, (size_t)size, file->master);
    explicit_bzero(text, sizeof text);
    return ok || refuse(message, "", master_path,
                        "not a master key, which is 64 hexadecimal digits (openssl rand -hex 32)");
}

/* --- Reading --- */

static void path_of(const char *directory, const char *name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s", directory, name);
}

bool key_file_stat(const struct key_file *file, struct stat *out)
{
    char path[PATH_MAX];
    path_of(file->directory, "KEYS", path);
    return stat(path, out) == 0;
}

static bool read_whole(int descriptor, uint8_t *out, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(descriptor, out + done, size - done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* The bytes of an open file, in the arena. */
static bool load(struct arena *arena, const char *directory, int descriptor, const char *path,
                 struct bytes *out, struct stat *state, char *message)
{
    struct stat above;
    if (fstat(descriptor, state) != 0 || stat(directory, &above) != 0)
        return refuse(message, "", path, strerror(errno));
    if (!S_ISREG(state->st_mode) || state->st_size > KEY_FILE_SIZE_MAX)
        return refuse(message, "", path, "not a key file of this version");
    /* Root may change the keys of a server that runs as another user, who owns the directory. */
    if (!check_access(descriptor, above.st_uid, path, message))
        return false;
    size_t size = (size_t)state->st_size;
    uint8_t *bytes = arena_alloc(arena, size);
    *out = bytes_of(bytes, size);
    errno = 0;
    return read_whole(descriptor, bytes, size) ||
           refuse(message, "", path, errno == 0 ? "cannot be read" : strerror(errno));
}

/* Finds the head and the sealed bytes. Returns NULL, or the problem. */
static const char *find_sealed(struct bytes all, struct bytes *head, struct bytes *sealed)
{
    size_t checksum_size = bytes_starts_with(all, BYTES(HEAD_2)) ? CHECKSUM_SIZE : 0;
    if (checksum_size == 0 && !bytes_starts_with(all, BYTES(HEAD_1)))
        return "not a key file of this version";
    if (all.len < HEAD_SIZE + checksum_size + SEAL_OVERHEAD)
        return "is damaged: it is truncated";
    *head = bytes_of(all.data, HEAD_SIZE);
    *sealed = bytes_of(all.data + HEAD_SIZE + checksum_size, all.len - HEAD_SIZE - checksum_size);
    if (checksum_size > 0 && load_u32_le(all.data + HEAD_SIZE) != crc32c(*sealed))
        return "is damaged: its checksum does not match";
    return NULL;
}

/* Reads the file into the arena; data NULL if there is no file. */
static bool read_sealed(struct arena *arena, const char *directory, struct bytes *head,
                        struct bytes *sealed, struct stat *state, char *message)
{
    char path[PATH_MAX];
    struct bytes all = { 0 };
    path_of(directory, "KEYS", path);
    *head = *sealed = (struct bytes){ 0 };
    *state = (struct stat){ 0 };
    int descriptor = file_open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (descriptor < 0)
        return errno == ENOENT || refuse(message, directory, "KEYS", strerror(errno));
    bool ok = load(arena, directory, descriptor, path, &all, state, message);
    close(descriptor);
    const char *problem = ok ? find_sealed(all, head, sealed) : NULL;
    return ok && (problem == NULL || refuse(message, directory, "KEYS", problem));
}

bool key_file_verify(struct arena *arena, const char *directory, const struct key_file *file,
                     char message[KEY_FILE_MESSAGE_MAX])
{
    struct bytes head, sealed;
    struct stat state;
    struct key_ring ring;
    return file == NULL ? read_sealed(arena, directory, &head, &sealed, &state, message)
                        : key_file_read(arena, file, &ring, &state, message);
}

bool key_file_read(struct arena *arena, const struct key_file *file, struct key_ring *out,
                   struct stat *state, char message[KEY_FILE_MESSAGE_MAX])
{
    struct bytes head, sealed;
    *out = (struct key_ring){ 0 };
    if (!read_sealed(arena, file->directory, &head, &sealed, state, message))
        return false;
    if (head.data == NULL)
        return true;
    uint8_t *json = arena_alloc(arena, sealed.len);
    if (!seal_open(file->master, head, sealed, json))
        return refuse(message, file->directory, "KEYS",
                      "sealed under another master key, or damaged");
    return key_ring_parse(arena, bytes_of(json, sealed.len - SEAL_OVERHEAD), out) ||
           refuse(message, file->directory, "KEYS", "contains keys that this version cannot read");
}

/* --- Writing --- */

/* The data directory may belong to a service's user while root runs the command: that user must be
 * able to read the keys afterwards. */
static bool give_to_owner(const struct key_file *file, int descriptor)
{
    struct stat owner;
    return geteuid() != 0 || (stat(file->directory, &owner) == 0 &&
                              fchown(descriptor, owner.st_uid, owner.st_gid) == 0);
}

/* The file that writers lock, open. */
static int open_lock(const struct key_file *file, char message[KEY_FILE_MESSAGE_MAX])
{
    char path[PATH_MAX];
    path_of(file->directory, "KEYS.lock", path);
    if (!folder_create(file->directory)) {
        refuse(message, "", file->directory, strerror(errno));
        return -1;
    }
    int lock = file_open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock >= 0 && give_to_owner(file, lock))
        return lock;
    refuse(message, file->directory, "KEYS.lock", strerror(errno));
    if (lock >= 0)
        close(lock);
    return -1;
}

int key_file_lock(const struct key_file *file, char message[KEY_FILE_MESSAGE_MAX])
{
    int lock = open_lock(file, message);
    if (lock < 0 || flock(lock, LOCK_EX) == 0)
        return lock;
    refuse(message, file->directory, "KEYS.lock", strerror(errno));
    close(lock);
    return -1;
}

int key_file_lock_within(const struct key_file *file, int64_t wait_ms, bool *is_busy,
                         char message[KEY_FILE_MESSAGE_MAX])
{
    enum { STEP_MS = 5 };
    const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
    int lock = open_lock(file, message);
    *is_busy = false;
    if (lock < 0)
        return -1;
    for (int64_t waited_ms = 0; flock(lock, LOCK_EX | LOCK_NB) != 0; waited_ms += STEP_MS) {
        *is_busy = errno == EWOULDBLOCK;
        if (!*is_busy || waited_ms >= wait_ms) {
            refuse(message, file->directory, "KEYS.lock", strerror(errno));
            close(lock);
            return -1;
        }
        nanosleep(&step, NULL);
    }
    *is_busy = false;
    return lock;
}

void key_file_unlock(int lock)
{
    close(lock);
}

/* Writes a new file and renames it, so that a reader sees either the old keys or the new ones.
 * Follows no link: the directory's owner could place one that makes root overwrite any file. */
static bool replace(const struct key_file *file, struct bytes bytes)
{
    char path[PATH_MAX];
    char new_path[PATH_MAX];
    path_of(file->directory, "KEYS", path);
    path_of(file->directory, "KEYS.new", new_path);
    if (unlink(new_path) != 0 && errno != ENOENT)
        return false;
    int descriptor = file_open_at(AT_FDCWD, new_path,
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return false;
    bool ok =
        give_to_owner(file, descriptor) && file_write(descriptor, bytes) && fsync(descriptor) == 0;
    ok = close(descriptor) == 0 && ok;
    if (!ok || rename(new_path, path) != 0)
        return false;
    int directory = file_open_at(AT_FDCWD, file->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    ok = directory >= 0 && fsync(directory) == 0;
    if (directory >= 0)
        close(directory);
    return ok;
}

bool key_file_write(struct arena *arena, const struct key_file *file, const struct key_ring *ring,
                    char message[KEY_FILE_MESSAGE_MAX])
{
    struct buffer json;
    buffer_init(&json, arena);
    key_ring_write(ring, &json);
    size_t sealed_size = SEAL_OVERHEAD + json.len;
    size_t size = HEAD_SIZE + CHECKSUM_SIZE + sealed_size;
    if (size > KEY_FILE_SIZE_MAX)
        return refuse(message, file->directory, "KEYS", "too many keys and policies");
    uint8_t *all = arena_alloc(arena, size);
    uint8_t *sealed = all + HEAD_SIZE + CHECKSUM_SIZE;
    memcpy(all, HEAD_2, HEAD_SIZE);
    seal_close(file->master, BYTES(HEAD_2), buffer_bytes(&json), sealed);
    store_u32_le(all + HEAD_SIZE, crc32c(bytes_of(sealed, sealed_size)));
    return replace(file, bytes_of(all, size)) ||
           refuse(message, file->directory, "KEYS", strerror(errno));
}
