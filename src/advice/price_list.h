/* price_list.h -- DynamoDB's list prices, which the adviser computes with.
 *
 * The one place that has them. To update: replace prices, version and date together, and run the
 * tests of advice/. X(identifier, price in USD, text of the unit). The identifiers are our own; the
 * comments have the usage types of the price list. Free bands are left out: they are of an account,
 * not of a table.
 */
#ifndef STATOR_ADVICE_PRICE_LIST_H
#define STATOR_ADVICE_PRICE_LIST_H

#define PRICE_LIST_VERSION "20260831092318"
#define PRICE_LIST_DATE "2026-09-06" /* When it was read. */
#define PRICE_LIST_REGION "us-east-1"
#define PRICE_LIST_CURRENCY "USD"

struct json_writer;

/* Version, date, region and currency, as an object of that name. */
void price_list_write(struct json_writer *json, const char *name);

#define PRICE_LIST(X)                                                                              \
    /* WriteRequestUnits, ReadRequestUnits */                                                      \
    X(WRITE_REQUEST_UNIT, 0.625e-6, "write request unit")                                          \
    X(READ_REQUEST_UNIT, 0.125e-6, "read request unit")                                            \
    /* IA-WriteRequestUnits, IA-ReadRequestUnits */                                                \
    X(IA_WRITE_REQUEST_UNIT, 0.78e-6, "write request unit, Standard-IA")                           \
    X(IA_READ_REQUEST_UNIT, 0.155e-6, "read request unit, Standard-IA")                            \
    /* WriteCapacityUnit-Hrs, ReadCapacityUnit-Hrs */                                              \
    X(WRITE_CAPACITY_HOUR, 0.00065, "write capacity unit and hour")                                \
    X(READ_CAPACITY_HOUR, 0.00013, "read capacity unit and hour")                                  \
    /* IA-WriteCapacityUnit-Hrs, IA-ReadCapacityUnit-Hrs */                                        \
    X(IA_WRITE_CAPACITY_HOUR, 0.00081, "write capacity unit and hour, Standard-IA")                \
    X(IA_READ_CAPACITY_HOUR, 0.00016, "read capacity unit and hour, Standard-IA")                  \
    /* TimedStorage-ByteHrs, IA-TimedStorage-ByteHrs, TimedPITRStorage-ByteHrs */                  \
    X(STORAGE_GB_MONTH, 0.25, "GB and month")                                                      \
    X(IA_STORAGE_GB_MONTH, 0.10, "GB and month, Standard-IA")                                      \
    X(RECOVERY_GB_MONTH, 0.20, "GB and month, point-in-time recovery")

#endif
