#!/bin/sh
# Order management in one table, with the AWS CLI. $ENDPOINT is the server's address.
#
#   item      pk             sk            index lookup: gsi1pk, gsi1sk  index open: pk, open_since
#   customer  CUSTOMER#<id>  PROFILE       EMAIL#<mail>, PROFILE         -
#   order     CUSTOMER#<id>  ORDER#<date>  STATUS#<status>, <date>       CUSTOMER#<id>, <date>
#
# `lookup` is overloaded: customers by e-mail, orders by status. `open` is sparse: shipping an order
# removes `open_since`, and with it the order from the index.
set -eu
table=orders-cli

ddb() {
    aws dynamodb --endpoint-url "$ENDPOINT" --output text "$@"
}

# What a command printed, on one line, must be what was wanted.
expect() {
    got=$(echo "$2" | xargs)
    if [ "$got" != "$3" ]; then
        echo "$1: got '$got', not '$3'" >&2
        exit 1
    fi
}

ddb create-table --table-name $table --billing-mode PAY_PER_REQUEST \
    --attribute-definitions AttributeName=pk,AttributeType=S AttributeName=sk,AttributeType=S \
    AttributeName=gsi1pk,AttributeType=S AttributeName=gsi1sk,AttributeType=S \
    AttributeName=open_since,AttributeType=S \
    --key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE \
    --global-secondary-indexes '[
        {"IndexName": "lookup",
         "KeySchema": [{"AttributeName": "gsi1pk", "KeyType": "HASH"},
                       {"AttributeName": "gsi1sk", "KeyType": "RANGE"}],
         "Projection": {"ProjectionType": "ALL"}},
        {"IndexName": "open",
         "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                       {"AttributeName": "open_since", "KeyType": "RANGE"}],
         "Projection": {"ProjectionType": "KEYS_ONLY"}}]' >/dev/null
trap 'ddb delete-table --table-name $table >/dev/null' EXIT
ddb wait table-exists --table-name $table

order() { # DATE TOTAL
    echo '{"PutRequest": {"Item": {"pk": {"S": "CUSTOMER#ada"}, "sk": {"S": "ORDER#'"$1"'"},
        "gsi1pk": {"S": "STATUS#PLACED"}, "gsi1sk": {"S": "'"$1"'"},
        "open_since": {"S": "'"$1"'"}, "total": {"N": "'"$2"'"}}}}'
}
ddb batch-write-item --request-items '{"'$table'": [
    {"PutRequest": {"Item": {"pk": {"S": "CUSTOMER#ada"}, "sk": {"S": "PROFILE"},
        "gsi1pk": {"S": "EMAIL#ada@example.com"}, "gsi1sk": {"S": "PROFILE"},
        "name": {"S": "Ada"}}}},
    '"$(order 2026-01-05 4.50)"', '"$(order 2026-01-20 11.75)"', '"$(order 2026-02-01 324.50)"']}'

expect 'the customer of an e-mail address' "$(
    ddb query --table-name $table --index-name lookup --key-condition-expression 'gsi1pk = :email' \
        --expression-attribute-values '{":email": {"S": "EMAIL#ada@example.com"}}' \
        --query 'Items[].name.S'
)" 'Ada'

expect 'the two newest orders, newest first' "$(
    ddb query --table-name $table \
        --key-condition-expression 'pk = :customer AND begins_with(sk, :order)' \
        --expression-attribute-values '{":customer": {"S": "CUSTOMER#ada"},
            ":order": {"S": "ORDER#"}}' \
        --no-scan-index-forward --limit 2 --query 'Items[].total.N'
)" '324.5 11.75'

expect 'orders between two days' "$(
    ddb query --table-name $table \
        --key-condition-expression 'pk = :customer AND sk BETWEEN :first AND :last' \
        --expression-attribute-values '{":customer": {"S": "CUSTOMER#ada"},
            ":first": {"S": "ORDER#2026-01-06"}, ":last": {"S": "ORDER#2026-01-31"}}' \
        --query 'Items[].sk.S'
)" 'ORDER#2026-01-20'

ship() { # DATE
    ddb update-item --table-name $table \
        --key '{"pk": {"S": "CUSTOMER#ada"}, "sk": {"S": "ORDER#'"$1"'"}}' \
        --update-expression 'SET gsi1pk = :shipped REMOVE open_since' \
        --condition-expression 'attribute_exists(open_since)' \
        --expression-attribute-values '{":shipped": {"S": "STATUS#SHIPPED"}}' \
        --return-values ALL_NEW --query 'Attributes.[gsi1pk.S, open_since.S]'
}
expect 'shipping an order' "$(ship 2026-01-20)" 'STATUS#SHIPPED None'
expect 'shipping it again' "$(ship 2026-01-20 2>&1 || true)" "An error occurred \
(ConditionalCheckFailedException) when calling the UpdateItem operation: \
The conditional request failed"

expect 'the orders that are still open' "$(
    ddb scan --table-name $table --index-name open --query 'sort_by(Items, &sk.S)[].open_since.S'
)" '2026-01-05 2026-02-01'

expect 'orders of a status in a month' "$(
    ddb query --table-name $table --index-name lookup \
        --key-condition-expression 'gsi1pk = :status AND begins_with(gsi1sk, :month)' \
        --expression-attribute-values '{":status": {"S": "STATUS#SHIPPED"},
            ":month": {"S": "2026-01"}}' \
        --query 'Items[].sk.S'
)" 'ORDER#2026-01-20'
