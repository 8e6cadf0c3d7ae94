/* bootstrap_version.h -- the version of the CDK's bootstrap resources that stator stands in for. */
#ifndef STATOR_API_PARAMETER_BOOTSTRAP_VERSION_H
#define STATOR_API_PARAMETER_BOOTSTRAP_VERSION_H
#include <stdbool.h>
#include "base/bytes.h"

/* As of `cdk bootstrap` of 2026; tools ask for a minimum. */
#define BOOTSTRAP_VERSION "30"

/* "/cdk-bootstrap/QUALIFIER/version" */
bool bootstrap_version_is_name(struct bytes name);

#endif
