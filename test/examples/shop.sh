#!/bin/sh
# An online shop in one table, with the AWS CLI. $ENDPOINT is the server's address.
#
#   item     pk                       sk            index gsi1: gsi1pk, gsi1sk
#   user     USER#<id>                USER          EMAIL#<mail>, USER
#   session  USER#<id>                SESSION#<id>  -
#   product  PRODUCT#<id>             PRODUCT       CATEGORY#<name>, <zero-padded price>
#   views    VIEWS#<product>#<shard>  VIEWS         -
set -eu
table=shop-cli

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

refused() { # OPERATION
    echo "An error occurred (ConditionalCheckFailedException) when calling the $1 operation:" \
        "The conditional request failed"
}

ddb create-table --table-name $table --billing-mode PAY_PER_REQUEST \
    --attribute-definitions AttributeName=pk,AttributeType=S AttributeName=sk,AttributeType=S \
    AttributeName=gsi1pk,AttributeType=S AttributeName=gsi1sk,AttributeType=S \
    --key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE \
    --global-secondary-indexes '[{"IndexName": "gsi1",
        "KeySchema": [{"AttributeName": "gsi1pk", "KeyType": "HASH"},
                      {"AttributeName": "gsi1sk", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"}}]' >/dev/null
trap 'ddb delete-table --table-name $table >/dev/null' EXIT
ddb wait table-exists --table-name $table

product() { # NAME CENTS
    printf '{"PutRequest": {"Item": {"pk": {"S": "PRODUCT#%s"}, "sk": {"S": "PRODUCT"},
        "gsi1pk": {"S": "CATEGORY#light"}, "gsi1sk": {"S": "%08d"},
        "name": {"S": "%s"}, "cents": {"N": "%d"}, "version": {"N": "1"}}}}' "$1" "$2" "$1" "$2"
}
session() { # NAME EXPIRY
    printf '{"PutRequest": {"Item": {"pk": {"S": "USER#ada"}, "sk": {"S": "SESSION#%s"},
        "expires": {"N": "%d"}}}}' "$1" "$2"
}
now=$(date +%s)
ddb batch-write-item --request-items '{"'$table'": [
    '"$(product candle 95)"', '"$(product bulb 250)"', '"$(product lamp 9900)"',
    '"$(product lantern 12000)"', '"$(product chandelier 125000)"',
    '"$(session phone $((now + 3600)))"', '"$(session laptop $((now - 1)))"']}'

register() { # NAME
    ddb put-item --table-name $table --condition-expression 'attribute_not_exists(pk)' \
        --item '{"pk": {"S": "USER#ada"}, "sk": {"S": "USER"}, "name": {"S": "'"$1"'"},
            "gsi1pk": {"S": "EMAIL#ada@example.com"}, "gsi1sk": {"S": "USER"}}' 2>&1 || true
}
expect 'a new user' "$(register Ada)" ''
expect 'a user of the same id' "$(register Eve)" "$(refused PutItem)"

expect 'products by price' "$(
    ddb query --table-name $table --index-name gsi1 \
        --key-condition-expression 'gsi1pk = :category AND gsi1sk BETWEEN :low AND :high' \
        --expression-attribute-values '{":category": {"S": "CATEGORY#light"},
            ":low": {"S": "00000100"}, ":high": {"S": "00012000"}}' \
        --query 'Items[].name.S'
)" 'bulb lamp lantern'

# The CLI makes one list of all pages. --page-size is what each request asks for, --max-items where
# the CLI stops; the token it then prints starts the next part.
expect 'all products, two by two' "$(
    ddb query --table-name $table --index-name gsi1 --page-size 2 \
        --key-condition-expression 'gsi1pk = :category' \
        --expression-attribute-values '{":category": {"S": "CATEGORY#light"}}' \
        --query 'Items[].name.S'
)" 'candle bulb lamp lantern chandelier'
dearest() {
    ddb query --table-name $table --index-name gsi1 --output json \
        --no-scan-index-forward --page-size 2 --max-items 2 \
        --key-condition-expression 'gsi1pk = :category' \
        --expression-attribute-values '{":category": {"S": "CATEGORY#light"}}' "$@"
}
token=$(dearest --query NextToken | tr -d '"')
expect 'the next two of the dearest' "$(
    dearest --starting-token "$token" --query "join(' ', Items[].name.S)"
)" 'lamp bulb'

expect 'sessions that have not expired' "$(
    ddb query --table-name $table \
        --key-condition-expression 'pk = :user AND begins_with(sk, :session)' \
        --filter-expression 'expires > :now' \
        --expression-attribute-values '{":user": {"S": "USER#ada"}, ":session": {"S": "SESSION#"},
            ":now": {"N": "'"$now"'"}}' \
        --query 'Items[].sk.S'
)" 'SESSION#phone'

change_price() { # CENTS VERSION
    ddb update-item --table-name $table \
        --key '{"pk": {"S": "PRODUCT#lamp"}, "sk": {"S": "PRODUCT"}}' \
        --update-expression 'SET cents = :cents, gsi1sk = :key ADD version :one' \
        --condition-expression 'version = :version' \
        --expression-attribute-values '{":cents": {"N": "'"$1"'"}, ":one": {"N": "1"},
            ":key": {"S": "'"$(printf %08d "$1")"'"}, ":version": {"N": "'"$2"'"}}' \
        --return-values UPDATED_NEW --query 'Attributes.version.N' 2>&1 || true
}
expect 'a price, by who saw the current one' "$(change_price 8900 1)" 2
expect 'a price, by who did not' "$(change_price 7900 1)" "$(refused UpdateItem)"

# A counter that everybody increments is kept in shards, chosen at random.
for _ in 1 2 3; do
    shard=$(shuf -i 0-3 -n 1)
    ddb update-item --table-name $table \
        --key '{"pk": {"S": "VIEWS#lamp#'"$shard"'"}, "sk": {"S": "VIEWS"}}' \
        --update-expression 'ADD seen :one' --expression-attribute-values '{":one": {"N": "1"}}'
done
expect 'views, summed over the shards' "$(
    ddb batch-get-item --request-items '{"'$table'": {"Keys": [
        {"pk": {"S": "VIEWS#lamp#0"}, "sk": {"S": "VIEWS"}},
        {"pk": {"S": "VIEWS#lamp#1"}, "sk": {"S": "VIEWS"}},
        {"pk": {"S": "VIEWS#lamp#2"}, "sk": {"S": "VIEWS"}},
        {"pk": {"S": "VIEWS#lamp#3"}, "sk": {"S": "VIEWS"}}]}}' \
        --query 'sum(Responses."'$table'"[].seen.N.to_number(@))'
)" '3'
