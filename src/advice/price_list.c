/* price_list.c -- see price_list.h. */
#include "advice/price_list.h"
#include "json/writer.h"

void price_list_write(struct json_writer *json, const char *name)
{
    json_write_name(json, name);
    json_open_object(json);
    json_write_name(json, "Version");
    json_write_text(json, PRICE_LIST_VERSION);
    json_write_name(json, "Date");
    json_write_text(json, PRICE_LIST_DATE);
    json_write_name(json, "Region");
    json_write_text(json, PRICE_LIST_REGION);
    json_write_name(json, "Currency");
    json_write_text(json, PRICE_LIST_CURRENCY);
    json_close_object(json);
}
