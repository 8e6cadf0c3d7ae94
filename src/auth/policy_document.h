/* policy_document.h -- a resource policy as a document: what a new one must keep besides being a
 * policy, and the form in which the service shows it.
 *
 * Measured in 2026: GetResourcePolicy answers with the document in a form of its own, and documents
 * of equal form are the same policy. The text is stored as it was given; the form is made where it
 * is compared or shown. The rules are for documents that are put, and not part of policy_parse, so
 * that policies stored by earlier versions are still enforced.
 */
#ifndef STATOR_AUTH_POLICY_DOCUMENT_H
#define STATOR_AUTH_POLICY_DOCUMENT_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct error;

enum policy_subject { POLICY_SUBJECT_TABLE, POLICY_SUBJECT_STREAM };

/* False with a ValidationException that names the problem: a Sid twice, a resource of another kind,
 * or an action that does not exist or is not one on such a resource. `text` passed policy_parse. */
MUST_CHECK bool policy_document_check(struct arena *arena, struct bytes text,
                                      enum policy_subject subject, struct error *err);

/* Without white space, with members in the service's order, lists of one element as that element,
 * accounts as ARNs; in the arena. `shown`: a document without Version has the default one, which
 * is no part of the comparison. A text that is no policy is returned as it is. */
struct bytes policy_document_canonical(struct arena *arena, struct bytes text, bool shown);

#endif
