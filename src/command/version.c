/* version.c -- `stator version`: of the program and of the libraries that it runs with.
 *
 * The one file that includes headers of every library (tools/check-layers has the exception):
 * asking each layer for the version of its library would be five functions for one line of text.
 */
#include <openssl/crypto.h>
#include <stdio.h>
#include <uv.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>
#include <zstd.h>
#include "command/command.h"

const char *version_commit(void)
{
    return STATOR_COMMIT;
}

int version_command(const struct command_call *call)
{
    (void)call;
    unsigned xxhash = XXH_versionNumber();
    printf("stator %s (%s)\n", STATOR_VERSION, STATOR_COMMIT);
    /* RocksDB's is the one that was compiled for: its C interface has no function for it. libcurl
     * is loaded only when it is needed, and not for this. */
    printf("RocksDB %s, libuv %s, OpenSSL %s, zlib %s, zstd %s, libyaml %s, xxHash %u.%u.%u\n",
           STATOR_ROCKSDB_VERSION, uv_version_string(), OpenSSL_version(OPENSSL_VERSION_STRING),
           zlibVersion(), ZSTD_versionString(), yaml_get_version_string(), xxhash / 10000,
           xxhash / 100 % 100, xxhash % 100);
    return command_flush();
}
