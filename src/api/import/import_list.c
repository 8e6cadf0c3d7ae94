/* import_list.c -- see import_list.h. */
#include "api/import/import_list.h"
#include <string.h>
#include "api/import/import_request.h"
#include "api/operation.h"
#include "json/writer.h"
#include "table/storage_error.h"

struct page {
    struct api_call *call;
    const struct import_list *list;
    struct json_writer writer;
    size_t count;
    size_t count_max;
    char last_id[JOB_ID_SIZE + 1];
    bool more;
};

static bool write_element(void *context, const struct job_record *record)
{
    struct page *page = context;
    struct bytes table_name = page->list->table_name;
    if (table_name.data != NULL && !bytes_equal(table_name, record->table_name))
        return true;
    if (page->count == page->count_max) {
        page->more = true;
        return false;
    }
    page->count++;
    memcpy(page->last_id, record->id, sizeof page->last_id);
    json_open_object(&page->writer);
    page->list->write(&page->writer, page->call, record);
    json_close_object(&page->writer);
    return true;
}

bool import_list_answer(struct api_call *call, const struct import_list *list)
{
    struct page page = { .call = call,
                         .list = list,
                         .count_max = list->page_size.present ? (size_t)list->page_size.value
                                                              : IMPORT_PAGE_SIZE_DEFAULT };
    struct job_record_query query = {
        .letter = list->letter, .newest_first = true, .visit = write_element, .context = &page
    };
    char after[JOB_ID_SIZE + 1];
    if (list->next_token.data != NULL && !import_id_of_token(list->next_token, after))
        return error_validation(&call->error,
                                "Invalid Request: Provided nextToken is invalid: %.*s",
                                BYTES_FMT(list->next_token));
    if (list->next_token.data != NULL)
        query.after = bytes_of(after, JOB_ID_SIZE);
    json_writer_init(&page.writer, &call->response);
    json_open_object(&page.writer);
    json_write_name(&page.writer, list->member);
    json_open_array(&page.writer);
    enum engine_status status = job_record_visit(api_options(call->api)->engine, &query);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, list->operation);
    json_close_array(&page.writer);
    if (page.more) {
        json_write_name(&page.writer, "NextToken");
        json_write_string(&page.writer, import_token_of_id(call->arena, page.last_id));
    }
    json_close_object(&page.writer);
    return true;
}
