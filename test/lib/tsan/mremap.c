/* mremap.c -- an mremap that ThreadSanitizer sees. Linked into the server of its flavour by
 * --wrap=mremap.
 *
 * TSan intercepts mmap and munmap, and forgets what it knew about their memory, but not mremap. So
 * memory that mremap moved to an address at which another thread had some before still seems to be
 * written by that thread. Moving it by calls that TSan sees costs a copy, and gives no false
 * report.
 */
#include <string.h>
#include <sys/mman.h>

void *__wrap_mremap(void *old, size_t old_size, size_t new_size, int flags);

void *__wrap_mremap(void *old, size_t old_size, size_t new_size, int flags)
{
    (void)flags; /* MREMAP_MAYMOVE is all that the server uses. */
    void *moved = mmap(NULL, new_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (moved == MAP_FAILED)
        return MAP_FAILED;
    memcpy(moved, old, old_size < new_size ? old_size : new_size);
    munmap(old, old_size);
    return moved;
}
