/* test_keys.c -- access keys: how they change, how they are stored, and who may use them when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "auth/key_file.h"
#include "auth/key_ring.h"
#include "auth/live_keys.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "model/error.h"
#include "scratch.h"

#define NOW INT64_C(1763185204000)
#define POLICY "{\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"}}"
#define MASTER "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

enum { STRANGER = 54321 };

struct fixture {
    struct arena *arena;
    struct key_ring ring;
    struct error err;
};

static int setup(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){ .arena = arena_create() };
    error_init(&fixture.err, fixture.arena);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_destroy(fixture->arena);
    return 0;
}

static struct bytes create(struct fixture *fixture, const char *user)
{
    const struct access_key *key =
        key_edit_create(fixture->arena, &fixture->ring, bytes_from_text(user), NOW, &fixture->err);
    assert_non_null(key);
    return key->id;
}

static void expect_message(struct fixture *fixture, const char *message)
{
    struct bytes got = fixture->err.message;
    if (!bytes_equal_text(got, message))
        fail_msg("'%.*s', not '%s'", BYTES_FMT(got), message);
    error_init(&fixture->err, fixture->arena);
}

/* --- Changes --- */

static void a_new_key_has_an_id_a_secret_and_no_rights(void **state)
{
    struct fixture *fixture = *state;
    struct bytes id = create(fixture, "alice");
    const struct access_key *key = key_ring_find(&fixture->ring, id);
    assert_int_equal(id.len, KEY_ID_SIZE);
    assert_true(bytes_starts_with(id, BYTES("AKIA")));
    assert_int_equal(key->secret.len, KEY_SECRET_SIZE);
    assert_int_equal(key->policy_count, 0);
    assert_ptr_equal(key_ring_grantor(&fixture->ring, key, NOW), key);
    struct bytes other = create(fixture, "alice");
    assert_false(bytes_equal(id, other));
    assert_false(bytes_equal(key_ring_find(&fixture->ring, id)->secret,
                             key_ring_find(&fixture->ring, other)->secret));
}

static void names_of_users_are_those_of_iam(void **state)
{
    struct fixture *fixture = *state;
    char name[KEY_NAME_SIZE_MAX + 2];
    memset(name, 'a', sizeof name);
    for (size_t size = KEY_NAME_SIZE_MAX - 1; size <= KEY_NAME_SIZE_MAX + 1; size++)
        assert_int_equal(key_name_is_valid(bytes_of(name, size)), size <= KEY_NAME_SIZE_MAX);
    assert_false(key_name_is_valid(BYTES("")));
    assert_true(key_name_is_valid(BYTES("Az09+=,.@_-")));
    assert_null(key_edit_create(fixture->arena, &fixture->ring, BYTES("a/b"), NOW, &fixture->err));
    expect_message(fixture,
                   "'a/b' is not a valid user name: 1 to 128 of A-Z a-z 0-9 + = , . @ _ -");
}

static void a_ring_has_at_most_its_number_of_keys(void **state)
{
    struct fixture *fixture = *state;
    struct bytes id = create(fixture, "alice");
    fixture->ring.count = KEY_RING_KEYS_MAX; /* Not looked at before the count. */
    assert_null(key_edit_create(fixture->arena, &fixture->ring, BYTES("bob"), NOW, &fixture->err));
    expect_message(fixture, "there are 10000 access keys already");
    fixture->ring.count = 1;
    assert_non_null(key_ring_find(&fixture->ring, id));
}

static void a_disabled_key_is_of_no_use_until_it_is_enabled(void **state)
{
    struct fixture *fixture = *state;
    struct bytes id = create(fixture, "alice");
    const struct access_key *key = key_ring_find(&fixture->ring, id);
    assert_true(key_edit_disable(&fixture->ring, id, true, &fixture->err));
    assert_null(key_ring_grantor(&fixture->ring, key, NOW));
    assert_true(key_edit_disable(&fixture->ring, id, false, &fixture->err));
    assert_non_null(key_ring_grantor(&fixture->ring, key, NOW));
    assert_false(key_edit_disable(&fixture->ring, BYTES("AKIAX"), true, &fixture->err));
    expect_message(fixture, "there is no access key AKIAX");
}

static void a_temporary_key_ends_with_its_time_or_its_parent(void **state)
{
    struct fixture *fixture = *state;
    struct bytes id = create(fixture, "alice");
    struct bytes token;
    const struct access_key *session =
        key_edit_create_session(fixture->arena, &fixture->ring, id, 60, NOW, &token, &fixture->err);
    assert_non_null(session);
    assert_true(bytes_starts_with(session->id, BYTES("ASIA")));
    assert_int_equal(token.len, KEY_TOKEN_SIZE);
    assert_int_equal(session->token_hash.len, KEY_TOKEN_HASH_SIZE);
    const struct key_ring *ring = &fixture->ring;
    assert_ptr_equal(key_ring_grantor(ring, session, NOW + 59999), key_ring_find(ring, id));
    assert_null(key_ring_grantor(ring, session, NOW + 60000));
    assert_true(key_edit_disable(&fixture->ring, id, true, &fixture->err));
    assert_null(key_ring_grantor(ring, session, NOW));
    key_edit_drop_expired(&fixture->ring, NOW + 59999);
    assert_int_equal(ring->count, 2);
    key_edit_drop_expired(&fixture->ring, NOW + 60000);
    assert_int_equal(ring->count, 1);
}

static void a_temporary_key_has_bounds_and_no_children(void **state)
{
    static const struct {
        int64_t seconds;
        bool ok;
    } cases[] = { { 0, false },
                  { 1, true },
                  { KEY_SESSION_SECONDS_MAX, true },
                  { KEY_SESSION_SECONDS_MAX + 1, false } };
    struct fixture *fixture = *state;
    struct bytes id = create(fixture, "alice");
    struct bytes token;
    const struct access_key *session = NULL;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct access_key *key = key_edit_create_session(
            fixture->arena, &fixture->ring, id, cases[i].seconds, NOW, &token, &fixture->err);
        assert_int_equal(key != NULL, cases[i].ok);
        if (key == NULL)
            expect_message(fixture, "a temporary key lasts from 1 to 129600 seconds");
        else
            session = key;
    }
    struct bytes session_id = session->id;
    assert_null(key_edit_create_session(fixture->arena, &fixture->ring, session_id, 60, NOW, &token,
                                        &fixture->err));
    assert_non_null(strstr((const char *)fixture->err.message.data, "is a temporary key itself"));
    error_init(&fixture->err, fixture->arena);
    assert_false(key_edit_put_policy(fixture->arena, &fixture->ring, session_id, BYTES("p"),
                                     BYTES(POLICY), &fixture->err));
    error_init(&fixture->err, fixture->arena);
    assert_true(key_edit_delete(&fixture->ring, id, &fixture->err));
    assert_int_equal(fixture->ring.count, 0); /* The temporary ones go with their parent. */
}

static void policies_are_put_replaced_and_deleted_by_name(void **state)
{
    struct fixture *fixture = *state;
    struct key_ring *ring = &fixture->ring;
    struct bytes id = create(fixture, "alice");
    char name[] = "p0";
    for (size_t i = 0; i < KEY_POLICIES_MAX; i++) {
        name[1] = (char)('0' + i);
        struct bytes copy = arena_copy(fixture->arena, bytes_from_text(name));
        assert_true(
            key_edit_put_policy(fixture->arena, ring, id, copy, BYTES(POLICY), &fixture->err));
    }
    assert_false(
        key_edit_put_policy(fixture->arena, ring, id, BYTES("more"), BYTES(POLICY), &fixture->err));
    expect_message(fixture, "an access key has at most 10 policies");
    assert_true(key_edit_put_policy(fixture->arena, ring, id, BYTES("p3"), BYTES(POLICY " "),
                                    &fixture->err));
    assert_true(bytes_equal_text(key_edit_find_policy(ring, id, BYTES("p3"), &fixture->err)->text,
                                 POLICY " "));
    assert_true(key_edit_delete_policy(ring, id, BYTES("p3"), &fixture->err));
    assert_null(key_edit_find_policy(ring, id, BYTES("p3"), &fixture->err));
    error_init(&fixture->err, fixture->arena);
    assert_non_null(key_edit_find_policy(ring, id, BYTES("p9"), &fixture->err));
    assert_false(
        key_edit_put_policy(fixture->arena, ring, id, BYTES("p3"), BYTES("{}"), &fixture->err));
    expect_message(fixture, "Syntax error at position (1,3)");
}

/* --- Storage --- */

static void a_ring_comes_back_from_its_json(void **state)
{
    struct fixture *fixture = *state;
    struct buffer first;
    struct buffer second;
    struct bytes token;
    struct key_ring again;
    struct bytes id = create(fixture, "alice");
    create(fixture, "bob");
    assert_true(key_edit_put_policy(fixture->arena, &fixture->ring, id, BYTES("p"), BYTES(POLICY),
                                    &fixture->err));
    assert_non_null(key_edit_create_session(fixture->arena, &fixture->ring, id, 60, NOW, &token,
                                            &fixture->err));
    buffer_init(&first, fixture->arena);
    key_ring_write(&fixture->ring, &first);
    assert_true(key_ring_parse(fixture->arena, buffer_bytes(&first), &again));
    buffer_init(&second, fixture->arena);
    key_ring_write(&again, &second);
    assert_true(bytes_equal(buffer_bytes(&first), buffer_bytes(&second)));
}

#define KEY_JSON(id, rest)                                                                         \
    "{\"AccessKeyId\":\"" id "\",\"SecretAccessKey\":"                                             \
    "\"0123456789012345678901234567890123456789\",\"UserName\":\"u\"" rest "}"
#define ID "AKIAAAAAAAAAAAAAAAAA"

static void what_is_no_ring_is_refused(void **state)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        { "{\"Version\":1,\"Keys\":[]}", true },
        { "{\"Version\":1,\"Keys\":[" KEY_JSON(ID, "") "]}", true },
        { "{\"Keys\":[]}", false },
        { "{\"Version\":2,\"Keys\":[]}", false },
        { "{\"Version\":1,\"Keys\":[],\"Keys\":[" KEY_JSON(ID, "") "]}", false },
        { "{\"Version\":1,\"Keys\":[],\"More\":1}", false },
        { "{\"Version\":1,\"Keys\":[" KEY_JSON(ID, "") "," KEY_JSON(ID, "") "]}", false },
        { "{\"Version\":1,\"Keys\":[" KEY_JSON("AKIA", "") "]}", false },
        { "{\"Version\":1,\"Keys\":[" KEY_JSON(ID, ",\"Parent\":\"x\"") "]}", false },
        { "{\"Version\":1,\"Keys\":[" KEY_JSON(ID, ",\"Unknown\":1") "]}", false },
        { "{\"Version\":1,\"Keys\":[{}]}", false },
        { "{\"Version\":1,\"Keys\":[]", false },
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct key_ring ring;
        if (key_ring_parse(fixture->arena, bytes_from_text(cases[i].text), &ring) != cases[i].ok)
            fail_msg("%s", cases[i].text);
    }
}

static void a_key_with_a_policy_that_cannot_be_read_may_do_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct key_ring ring;
    assert_true(key_ring_parse(
        fixture->arena,
        BYTES("{\"Version\":1,\"Keys\":[" KEY_JSON(ID, ",\"Policies\":{\"p\":\"{}\"}") "]}"),
        &ring));
    assert_null(key_ring_grantor(&ring, &ring.keys[0], NOW));
}

/* --- The file --- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, 0600), 0);
}

struct files {
    char folder[SCRATCH_PATH_MAX];
    char directory[SCRATCH_PATH_MAX];
    char master[SCRATCH_PATH_MAX];
    struct key_file file;
};

static void open_files(struct files *files)
{
    char message[KEY_FILE_MESSAGE_MAX];
    scratch_create(files->folder);
    scratch_join(files->directory, files->folder, "data");
    scratch_join(files->master, files->folder, "master");
    write_text(files->master, MASTER "\n");
    assert_true(key_file_init(&files->file, files->directory, files->master, message));
}

static void store(struct fixture *fixture, const struct files *files)
{
    char message[KEY_FILE_MESSAGE_MAX];
    int lock = key_file_lock(&files->file, message);
    assert_true(lock >= 0);
    assert_true(key_file_write(fixture->arena, &files->file, &fixture->ring, message));
    key_file_unlock(lock);
}

static void the_file_shows_no_secret_and_opens_with_its_master_key_only(void **state)
{
    struct fixture *fixture = *state;
    struct files files;
    struct key_ring again;
    struct stat status;
    char message[KEY_FILE_MESSAGE_MAX];
    char path[SCRATCH_PATH_MAX];
    char content[4096];
    open_files(&files);
    assert_true(key_file_read(fixture->arena, &files.file, &again, &status, message));
    assert_int_equal(again.count, 0); /* There is no file yet. */
    struct bytes id = create(fixture, "alice");
    store(fixture, &files);
    assert_true(key_file_read(fixture->arena, &files.file, &again, &status, message));
    assert_non_null(key_ring_find(&again, id));
    assert_int_equal(status.st_mode & 0777, 0600);

    scratch_join(path, files.directory, "KEYS");
    FILE *file = fopen(path, "r");
    size_t size = fread(content, 1, sizeof content, file);
    fclose(file);
    assert_null(memmem(content, size, fixture->ring.keys[0].secret.data, KEY_SECRET_SIZE));
    assert_null(memmem(content, size, "alice", 5));

    files.file.master[0] ^= 1;
    assert_false(key_file_read(fixture->arena, &files.file, &again, &status, message));
    assert_non_null(strstr(message, "sealed under another master key, or damaged"));
    files.file.master[0] ^= 1;
    assert_int_equal(truncate(path, (off_t)size - 1), 0);
    assert_false(key_file_read(fixture->arena, &files.file, &again, &status, message));
    write_text(path, "stator keys 3\n0123456789012345678901234567890123456789");
    assert_false(key_file_read(fixture->arena, &files.file, &again, &status, message));
    assert_non_null(strstr(message, "not a key file of this version"));
    scratch_destroy(files.folder);
}

static void a_master_key_is_64_digits_outside_of_the_data_directory(void **state)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        { MASTER, true },
        { MASTER "\n", true },
        { MASTER "0", false },
        { MASTER "\n\n", false },
        { "0123", false },
        { "", false },
        { "g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", false },
    };
    struct files files;
    char message[KEY_FILE_MESSAGE_MAX];
    char inside[SCRATCH_PATH_MAX];
    (void)state;
    open_files(&files);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_text(files.master, cases[i].text);
        assert_int_equal(key_file_init(&files.file, files.directory, files.master, message),
                         cases[i].ok);
    }
    assert_int_equal(mkdir(files.directory, 0700), 0);
    scratch_join(inside, files.directory, "master");
    write_text(inside, MASTER);
    assert_false(key_file_init(&files.file, files.directory, inside, message));
    assert_non_null(strstr(message, "must not be in the data directory"));
    assert_false(key_file_init(&files.file, files.directory, "/nowhere/at/all", message));
    assert_string_equal(message, "/nowhere/at/all: No such file or directory");
    scratch_destroy(files.folder);
}

static void expect_refused_master(struct files *files, const char *problem)
{
    char message[KEY_FILE_MESSAGE_MAX], want[2 * KEY_FILE_MESSAGE_MAX];
    assert_false(key_file_init(&files->file, files->directory, files->master, message));
    snprintf(want, sizeof want, "%s: %s %s", files->master, problem, files->master);
    assert_string_equal(message, want);
}

static void a_master_key_that_others_may_open_is_refused(void **state)
{
    static const mode_t private[] = { 0400, 0600, 0700 }, open[] = { 0640, 0604, 0420, 0402, 0610 };
    struct files files;
    char message[KEY_FILE_MESSAGE_MAX];
    (void)state;
    open_files(&files);
    for (size_t i = 0; i < COUNT_OF(private); i++) {
        assert_int_equal(chmod(files.master, private[i]), 0);
        assert_true(key_file_init(&files.file, files.directory, files.master, message));
    }
    for (size_t i = 0; i < COUNT_OF(open); i++) {
        assert_int_equal(chmod(files.master, open[i]), 0);
        expect_refused_master(&files, "users other than its owner can open it; run: chmod 600");
    }
    scratch_destroy(files.folder);
}

static void a_master_key_of_another_user_is_refused(void **state)
{
    struct files files;
    (void)state;
    if (geteuid() != 0)
        skip(); /* Nobody else can give a file away. */
    open_files(&files);
    assert_int_equal(chown(files.master, STRANGER, STRANGER), 0);
    expect_refused_master(&files, "its owner is neither root nor the user who runs stator; "
                                  "run: chown root");
    scratch_destroy(files.folder);
}

static void keys_that_others_may_open_are_refused_and_never_written(void **state)
{
    struct fixture *fixture = *state;
    struct files files;
    struct key_ring again;
    struct stat status;
    char message[KEY_FILE_MESSAGE_MAX], path[SCRATCH_PATH_MAX], new_path[SCRATCH_PATH_MAX];
    open_files(&files);
    scratch_join(path, files.directory, "KEYS");
    scratch_join(new_path, files.directory, "KEYS.new");
    create(fixture, "alice");
    assert_int_equal(mkdir(files.directory, 0700), 0);
    write_text(new_path, "left behind");
    assert_int_equal(chmod(new_path, 0666), 0);
    store(fixture, &files);
    assert_true(key_file_read(fixture->arena, &files.file, &again, &status, message));
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(chmod(path, 0640), 0);
    assert_false(key_file_read(fixture->arena, &files.file, &again, &status, message));
    assert_non_null(strstr(message, "KEYS: users other than its owner can open it; "));
    if (geteuid() == 0) {
        assert_int_equal(chmod(path, 0600), 0);
        assert_int_equal(chown(path, STRANGER, STRANGER), 0);
        assert_false(key_file_read(fixture->arena, &files.file, &again, &status, message));
        /* A server that runs as this user, whose keys root changes. */
        assert_int_equal(chown(files.directory, STRANGER, STRANGER), 0);
        assert_true(key_file_read(fixture->arena, &files.file, &again, &status, message));
    }
    scratch_destroy(files.folder);
}

/* An entry of an ACL in the kernel's form. */
#define ACL_HEAD "\x02\0\0\0"
#define ACL_ENTRY(tag, permissions, id) tag "\0" permissions "\0" id
#define NO_ID "\xFF\xFF\xFF\xFF"
#define OWNER_READS ACL_ENTRY("\x01", "\x04", NO_ID)
#define NOBODY_ELSE                                                                                \
    ACL_ENTRY("\x04", "\0", NO_ID) ACL_ENTRY("\x10", "\x04", NO_ID) ACL_ENTRY("\x20", "\0", NO_ID)

static void an_acl_may_name_only_us(void **state)
{
    enum { US = 0x0102 };
    static const struct {
        const char *rule;
        struct bytes acl;
        bool is_private;
    } cases[] = {
        { "as systemd hands credentials over",
          BYTES(ACL_HEAD OWNER_READS ACL_ENTRY("\x02", "\x04", "\x02\x01\0\0") NOBODY_ELSE), true },
        { "nobody is named", BYTES(ACL_HEAD OWNER_READS NOBODY_ELSE), true },
        { "root is named",
          BYTES(ACL_HEAD OWNER_READS ACL_ENTRY("\x02", "\x04", "\0\0\0\0") NOBODY_ELSE), true },
        { "another user",
          BYTES(ACL_HEAD OWNER_READS ACL_ENTRY("\x02", "\x04", "\x03\x01\0\0") NOBODY_ELSE),
          false },
        { "another user without rights",
          BYTES(ACL_HEAD OWNER_READS ACL_ENTRY("\x02", "\0", "\x03\x01\0\0") NOBODY_ELSE), true },
        { "a group of our number",
          BYTES(ACL_HEAD OWNER_READS ACL_ENTRY("\x08", "\x04", "\x02\x01\0\0") NOBODY_ELSE),
          false },
        { "the file's group", BYTES(ACL_HEAD OWNER_READS ACL_ENTRY("\x04", "\x04", NO_ID)), false },
        { "everybody", BYTES(ACL_HEAD OWNER_READS ACL_ENTRY("\x20", "\x04", NO_ID)), false },
        { "another version", BYTES("\x03\0\0\0" OWNER_READS NOBODY_ELSE), false },
        { "cut", BYTES(ACL_HEAD "\x01\0\x04\0\xFF\xFF\xFF"), false },
        { "nothing", BYTES(""), false },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (key_access_acl_is_private(cases[i].acl, US) != cases[i].is_private)
            fail_msg("%s", cases[i].rule);
}

/* The group's bits of the mode are then the mask of the ACL. */
static void a_credential_of_systemd_is_a_private_file(void **state)
{
    static const uint8_t acl[] =
        ACL_HEAD OWNER_READS ACL_ENTRY("\x02", "\x04", "\0\0\0\0") NOBODY_ELSE;
    struct files files;
    struct stat status;
    char message[KEY_FILE_MESSAGE_MAX];
    (void)state;
    open_files(&files);
    bool has_acl = setxattr(files.master, "system.posix_acl_access", acl, sizeof acl - 1, 0) == 0;
    if (!has_acl && errno != ENOTSUP)
        fail_msg("%s", strerror(errno));
    assert_int_equal(stat(files.master, &status), 0);
    assert_int_equal(status.st_mode & 0777, has_acl ? 0440 : 0600);
    assert_true(key_file_init(&files.file, files.directory, files.master, message));
    scratch_destroy(files.folder);
}

static void a_server_follows_the_file_and_shuts_out_on_damage(void **state)
{
    struct fixture *fixture = *state;
    struct files files;
    char message[KEY_FILE_MESSAGE_MAX];
    char path[SCRATCH_PATH_MAX];
    open_files(&files);
    struct live_keys *keys = live_keys_open(&files.file, message);
    assert_non_null(keys);
    struct live_ring *empty = live_keys_acquire(keys);
    assert_int_equal(empty->ring.count, 0);
    struct bytes id = create(fixture, "alice");
    store(fixture, &files);

    struct live_ring *early = live_keys_acquire(keys);
    assert_ptr_equal(early, empty); /* Whoever needs the keys does not read the file. */
    live_keys_release(early);
    live_keys_check(keys);
    struct live_ring *full = live_keys_acquire(keys);
    assert_non_null(key_ring_find(&full->ring, id));
    assert_int_not_equal(full->generation, empty->generation);
    live_keys_release(empty); /* Held all the while. */

    scratch_join(path, files.directory, "KEYS");
    write_text(path, "nonsense");
    live_keys_check(keys);
    struct live_ring *damaged = live_keys_acquire(keys);
    assert_int_equal(damaged->ring.count, 0);
    live_keys_release(damaged);
    store(fixture, &files);
    live_keys_check(keys);
    struct live_ring *again = live_keys_acquire(keys);
    assert_int_equal(again->ring.count, 1);
    live_keys_release(again);
    unlink(path);
    live_keys_check(keys);
    struct live_ring *gone = live_keys_acquire(keys);
    assert_int_equal(gone->ring.count, 0);
    live_keys_release(gone);
    store(fixture, &files);
    assert_int_equal(chmod(path, 0644), 0);
    live_keys_check(keys);
    struct live_ring *shown = live_keys_acquire(keys);
    assert_int_equal(shown->ring.count, 0);
    live_keys_release(shown);
    assert_int_equal(chmod(path, 0600), 0);
    live_keys_check(keys);
    struct live_ring *hidden = live_keys_acquire(keys);
    assert_int_equal(hidden->ring.count, 1);
    live_keys_release(hidden);
    live_keys_release(full);
    live_keys_close(keys);
    write_text(path, "nonsense");
    assert_null(live_keys_open(&files.file, message)); /* No server starts with it. */
    scratch_destroy(files.folder);
}

/* --- Changes by a running server --- */

struct naming {
    const char *user;
    struct bytes id;
};

static bool create_named(struct arena *arena, struct key_ring *ring, void *context,
                         struct error *err)
{
    struct naming *naming = context;
    const struct access_key *key =
        key_edit_create(arena, ring, bytes_from_text(naming->user), NOW, err);
    if (key != NULL)
        naming->id = key->id;
    return key != NULL;
}

static size_t count_stored(struct fixture *fixture, const struct files *files)
{
    char message[KEY_FILE_MESSAGE_MAX];
    struct key_ring ring;
    struct stat state;
    assert_true(key_file_read(fixture->arena, &files->file, &ring, &state, message));
    return ring.count;
}

static void a_change_is_stored_and_in_force_when_the_edit_returns(void **state)
{
    struct fixture *fixture = *state;
    struct files files;
    char message[KEY_FILE_MESSAGE_MAX];
    struct naming naming = { .user = "bob" };
    open_files(&files);
    create(fixture, "alice");
    store(fixture, &files);
    struct live_keys *keys = live_keys_open(&files.file, message);
    struct live_ring *before = live_keys_acquire(keys);
    /* What a command has written since stays, though the server has not looked yet. */
    create(fixture, "carol");
    store(fixture, &files);
    assert_true(live_keys_edit(keys, fixture->arena, NOW, create_named, &naming, &fixture->err));
    struct live_ring *after = live_keys_acquire(keys); /* In the same second. */
    assert_int_equal(after->ring.count, 3);
    assert_non_null(key_ring_find(&after->ring, naming.id));
    assert_int_not_equal(after->generation, before->generation);
    assert_int_equal(before->ring.count, 1); /* Rings in use do not change. */
    assert_int_equal(count_stored(fixture, &files), 3);
    live_keys_release(before);
    live_keys_release(after);
    live_keys_close(keys);
    scratch_destroy(files.folder);
}

static void a_refused_change_leaves_the_file_as_it_is(void **state)
{
    struct fixture *fixture = *state;
    struct files files;
    char message[KEY_FILE_MESSAGE_MAX], path[SCRATCH_PATH_MAX];
    struct stat before, after;
    open_files(&files);
    create(fixture, "alice");
    store(fixture, &files);
    struct live_keys *keys = live_keys_open(&files.file, message);
    assert_true(key_file_stat(&files.file, &before));
    assert_false(live_keys_edit(keys, fixture->arena, NOW, create_named,
                                &(struct naming){ .user = "no user" }, &fixture->err));
    expect_message(fixture, "'no user' is not a valid user name: 1 to 128 of A-Z a-z 0-9 + = , . @ "
                            "_ -");
    assert_true(key_file_stat(&files.file, &after));
    assert_int_equal(before.st_ino, after.st_ino);

    /* A file that cannot be read is not overwritten. */
    scratch_join(path, files.directory, "KEYS");
    write_text(path, "nonsense");
    assert_false(live_keys_edit(keys, fixture->arena, NOW, create_named,
                                &(struct naming){ .user = "bob" }, &fixture->err));
    assert_int_equal(fixture->err.code, ERROR_INTERNAL);
    expect_message(fixture, "The access keys could not be changed: see the server's log");
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_size, strlen("nonsense"));
    live_keys_close(keys);
    scratch_destroy(files.folder);
}

static void a_change_waits_for_other_writers_only_so_long(void **state)
{
    struct fixture *fixture = *state;
    struct files files;
    char message[KEY_FILE_MESSAGE_MAX];
    bool is_busy;
    open_files(&files);
    int held = key_file_lock(&files.file, message);
    assert_true(held >= 0);
    assert_int_equal(key_file_lock_within(&files.file, 20, &is_busy, message), -1);
    assert_true(is_busy);
    struct live_keys *keys = live_keys_open(&files.file, message);
    assert_false(live_keys_edit(keys, fixture->arena, NOW, create_named,
                                &(struct naming){ .user = "bob" }, &fixture->err));
    assert_int_equal(fixture->err.code, ERROR_THROTTLING);
    expect_message(fixture, "The access keys are being changed by somebody else: try again");
    key_file_unlock(held);
    int lock = key_file_lock_within(&files.file, 0, &is_busy, message);
    assert_true(lock >= 0 && !is_busy);
    key_file_unlock(lock);
    live_keys_close(keys);
    scratch_destroy(files.folder);
}

static void a_thread_follows_the_file(void **state)
{
    struct fixture *fixture = *state;
    struct files files;
    char message[KEY_FILE_MESSAGE_MAX];
    size_t count = 0;
    open_files(&files);
    struct live_keys *keys = live_keys_open(&files.file, message);
    assert_non_null(keys);
    assert_true(live_keys_follow(keys));
    create(fixture, "alice");
    store(fixture, &files);
    while (count == 0) {
        struct live_ring *ring = live_keys_acquire(keys);
        count = ring->ring.count;
        live_keys_release(ring);
        usleep(1000);
    }
    live_keys_close(keys);
    scratch_destroy(files.folder);
}

enum { WRITERS = 4, WRITES = 8 };

struct writer {
    struct live_keys *keys;
    pthread_t thread;
};

/* Each finds its own change as soon as its edit returns. */
static void *write_keys(void *context)
{
    struct writer *writer = context;
    for (size_t i = 0; i < WRITES; i++) {
        struct arena *arena = arena_create();
        struct error err;
        struct naming naming = { .user = "user" };
        error_init(&err, arena);
        live_keys_check(writer->keys);
        bool ok = live_keys_edit(writer->keys, arena, NOW, create_named, &naming, &err);
        struct live_ring *ring = live_keys_acquire(writer->keys);
        ok = ok && key_ring_find(&ring->ring, naming.id) != NULL;
        live_keys_release(ring);
        arena_destroy(arena);
        if (!ok)
            return "lost";
    }
    return NULL;
}

static void changes_of_many_threads_lose_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct files files;
    char message[KEY_FILE_MESSAGE_MAX];
    struct writer writers[WRITERS];
    void *result;
    open_files(&files);
    struct live_keys *keys = live_keys_open(&files.file, message);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i].keys = keys;
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_keys, &writers[i]), 0);
    }
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(writers[i].thread, &result), 0);
        assert_null(result);
    }
    assert_int_equal(count_stored(fixture, &files), WRITERS * WRITES);
    live_keys_close(keys);
    scratch_destroy(files.folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_key_has_an_id_a_secret_and_no_rights),
        TEST(names_of_users_are_those_of_iam),
        TEST(a_ring_has_at_most_its_number_of_keys),
        TEST(a_disabled_key_is_of_no_use_until_it_is_enabled),
        TEST(a_temporary_key_ends_with_its_time_or_its_parent),
        TEST(a_temporary_key_has_bounds_and_no_children),
        TEST(policies_are_put_replaced_and_deleted_by_name),
        TEST(a_ring_comes_back_from_its_json),
        TEST(what_is_no_ring_is_refused),
        TEST(a_key_with_a_policy_that_cannot_be_read_may_do_nothing),
        TEST(the_file_shows_no_secret_and_opens_with_its_master_key_only),
        TEST(a_master_key_is_64_digits_outside_of_the_data_directory),
        TEST(a_master_key_that_others_may_open_is_refused),
        TEST(a_master_key_of_another_user_is_refused),
        TEST(keys_that_others_may_open_are_refused_and_never_written),
        TEST(an_acl_may_name_only_us),
        TEST(a_credential_of_systemd_is_a_private_file),
        TEST(a_server_follows_the_file_and_shuts_out_on_damage),
        TEST(a_thread_follows_the_file),
        TEST(a_change_is_stored_and_in_force_when_the_edit_returns),
        TEST(a_refused_change_leaves_the_file_as_it_is),
        TEST(a_change_waits_for_other_writers_only_so_long),
        TEST(changes_of_many_threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
