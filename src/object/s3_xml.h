/* s3_xml.h -- reads the XML of an S3 server's answers.
 *
 * The server may be wrong or hostile, so this reads the small part of XML that such answers use,
 * and refuses the rest: elements, text, the five entities and numbered characters, CDATA; comments,
 * declarations and attributes are skipped. There are no document types, hence no entities that
 * grow.
 */
#ifndef STATOR_OBJECT_S3_XML_H
#define STATOR_OBJECT_S3_XML_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum {
    S3_XML_SIZE_MAX = 16 * 1024 * 1024, /* A page of 1,000 keys of 1,024 bytes, each as %XX. */
    S3_XML_DEPTH_MAX = 16,
};

struct s3_xml_visitor {
    void *context;
    /* An element without elements in it: its text, decoded, and the name of the element around it,
     * empty if there is none. Names have no namespace prefix. All of it borrows the document or
     * the arena. */
    void (*leaf)(void *context, struct bytes parent, struct bytes name, struct bytes text);
    /* An element with elements in it ends. NULL: nobody asks. */
    void (*end)(void *context, struct bytes name);
};

/* False if the text is not such a document; the visitor may have seen its beginning. */
MUST_CHECK bool s3_xml_read(struct arena *arena, struct bytes text,
                            const struct s3_xml_visitor *visitor);

#endif
