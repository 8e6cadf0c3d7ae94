/* policy_element.h -- the elements of a policy's statement, in the order in which the service shows
 * them. */
#ifndef STATOR_AUTH_POLICY_ELEMENT_H
#define STATOR_AUTH_POLICY_ELEMENT_H

enum policy_element {
    ELEMENT_SID,
    ELEMENT_EFFECT,
    ELEMENT_PRINCIPAL, /* Each NOT_ follows its own. */
    ELEMENT_NOT_PRINCIPAL,
    ELEMENT_ACTION,
    ELEMENT_NOT_ACTION,
    ELEMENT_RESOURCE,
    ELEMENT_NOT_RESOURCE,
    ELEMENT_CONDITION,
    ELEMENT_COUNT,
};
extern const char *const policy_element_names[ELEMENT_COUNT]; /* "NotAction" */

#endif
