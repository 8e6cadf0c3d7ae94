/* asset.h -- the files of the console, as tools/embed-assets put them into the binary.
 *
 * The table is generated from the folder console/ and sorted by path. Files are stored compressed
 * only: browsers take them as they are, and for the rare client that does not accept gzip they are
 * inflated.
 */
#ifndef STATOR_CONSOLE_ASSET_H
#define STATOR_CONSOLE_ASSET_H
#include <stddef.h>
#include <stdint.h>

struct console_asset {
    const char *path; /* Below /console/; index.html has the empty path. */
    const char *type; /* Content-Type. */
    const char *etag; /* With its quotes; from the file's SHA-256. */
    const uint8_t *gzip;
    const uint8_t *gzip_end;
    size_t size; /* Of the file itself. */
};

extern const struct console_asset console_assets[];
extern const size_t console_asset_count;

#endif
