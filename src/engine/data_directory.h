/* data_directory.h -- names in a data directory that more than one layer knows. Who writes what,
 * and what it means to a reader: doc/disk-format.md, "Data directory". */
#ifndef STATOR_ENGINE_DATA_DIRECTORY_H
#define STATOR_ENGINE_DATA_DIRECTORY_H

/* The list of a backup's files. A directory with it is a backup, in which nothing may change. */
#define DATA_DIRECTORY_BACKUP "BACKUP"
/* There from before the first file is copied until the last one is on the disk. */
#define DATA_DIRECTORY_INCOMPLETE "INCOMPLETE"
/* The directory was made from a backup, and no server has started on it since. */
#define DATA_DIRECTORY_RESTORED "RESTORED"

#endif
