/* xml.h -- an answer's JSON as the query protocol's XML.
 *
 * A member becomes an element of its name, a list one that has <member> elements, a map one that
 * has <entry> elements with <key> and <value>. Times are ISO 8601. Members that are null are left
 * out.
 */
#ifndef STATOR_CODEC_XML_H
#define STATOR_CODEC_XML_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "codec/names.h"

struct buffer;

/* Appends the element `name` with the content of `json`, an object. False if it is not valid JSON,
 * too deep, or a member's name cannot be that of an element. */
MUST_CHECK bool xml_encode(struct buffer *out, const struct codec_names *names, struct bytes name,
                           struct bytes json);

/* Appends text with its markup escaped. Characters that XML cannot express at all, such as most
 * control characters, become U+FFFD. */
void xml_append_text(struct buffer *out, struct bytes text);

/* Appends <name>text</name>. */
void xml_append_element(struct buffer *out, const char *name, struct bytes text);

#endif
