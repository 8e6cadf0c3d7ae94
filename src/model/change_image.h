/* change_image.h -- which images of an item a change record holds, or a reader asks for. */
#ifndef STATOR_MODEL_CHANGE_IMAGE_H
#define STATOR_MODEL_CHANGE_IMAGE_H
#include "base/bytes.h"

/* Members of a set. Stored: values never change. */
enum change_image { CHANGE_NEW_IMAGE = 1 << 0, CHANGE_OLD_IMAGE = 1 << 1 };
enum { CHANGE_IMAGES_ALL = CHANGE_NEW_IMAGE | CHANGE_OLD_IMAGE };

/* What a StreamViewType shows. KEYS_ONLY, and whatever is no view type, shows none. */
unsigned change_image_of_view_type(struct bytes view_type);

#endif
