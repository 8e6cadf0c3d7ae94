/* cbor_head.h -- the first byte of a data item (RFC 8949, section 3). Private to codec/. */
#ifndef STATOR_CODEC_CBOR_HEAD_H
#define STATOR_CODEC_CBOR_HEAD_H

/* The upper three bits. */
enum {
    CBOR_UNSIGNED,
    CBOR_NEGATIVE, /* -1 minus the argument. */
    CBOR_BYTES,
    CBOR_TEXT,
    CBOR_ARRAY,
    CBOR_MAP,
    CBOR_TAG,
    CBOR_SIMPLE,
};

/* The lower five: the argument itself, or where it stands. */
enum {
    CBOR_ARGUMENT_1 = 24, /* In one byte behind. */
    CBOR_ARGUMENT_2,
    CBOR_ARGUMENT_4,
    CBOR_ARGUMENT_8,
    CBOR_INDEFINITE = 31, /* Of CBOR_SIMPLE: the break. */
};

/* The lower five bits of CBOR_SIMPLE. */
enum {
    CBOR_FALSE = 20,
    CBOR_TRUE,
    CBOR_NULL,
    CBOR_UNDEFINED,
    CBOR_HALF = CBOR_ARGUMENT_2,
    CBOR_SINGLE = CBOR_ARGUMENT_4,
    CBOR_DOUBLE = CBOR_ARGUMENT_8,
};

enum { CBOR_TAG_EPOCH_TIME = 1 };

#endif
