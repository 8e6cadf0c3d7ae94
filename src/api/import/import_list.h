/* import_list.h -- a page of the list of imports or of bulk operations, the newest first. */
#ifndef STATOR_API_IMPORT_IMPORT_LIST_H
#define STATOR_API_IMPORT_IMPORT_LIST_H
#include "base/bytes.h"
#include "base/compiler.h"
#include "jobs/job_record.h"
#include "shape/shape.h"

struct api_call;
struct json_writer;

struct import_list {
    const char *operation;  /* "ListImports" */
    const char *member;     /* "ImportSummaryList" */
    enum job_letter letter; /* JOB_IMPORT, JOB_BULK. */
    struct shape_integer page_size;
    struct bytes next_token; /* data NULL: the first page. */
    struct bytes table_name; /* data NULL: of all tables. */
    /* Writes the members of one element. */
    void (*write)(struct json_writer *writer, struct api_call *call,
                  const struct job_record *record);
};

/* Writes the answer. False with the call's error set. */
MUST_CHECK bool import_list_answer(struct api_call *call, const struct import_list *list);

#endif
