/* change_image.c -- see change_image.h. */
#include "model/change_image.h"

unsigned change_image_of_view_type(struct bytes view_type)
{
    if (bytes_equal_text(view_type, "NEW_IMAGE"))
        return CHANGE_NEW_IMAGE;
    if (bytes_equal_text(view_type, "OLD_IMAGE"))
        return CHANGE_OLD_IMAGE;
    if (bytes_equal_text(view_type, "NEW_AND_OLD_IMAGES"))
        return CHANGE_IMAGES_ALL;
    return 0;
}
