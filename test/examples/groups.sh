#!/bin/sh
# Users and groups as an adjacency list, with the AWS CLI. $ENDPOINT is the server's address.
#
#   item        pk           sk           attributes
#   user        USER#<id>    USER#<id>    name
#   group       GROUP#<id>   GROUP#<id>   title, members
#   membership  GROUP#<id>   USER#<id>    role
#
# A node's two keys are equal, an edge joins two nodes. The index `inverse` swaps the keys.
set -eu
table=groups-cli

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
    --key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE \
    --global-secondary-indexes '[{"IndexName": "inverse",
        "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"},
                      {"AttributeName": "pk", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["role"]}}]' >/dev/null
trap 'ddb delete-table --table-name $table >/dev/null' EXIT
ddb wait table-exists --table-name $table

put() { # PK SK ATTRIBUTES
    printf '{"PutRequest": {"Item": {"pk": {"S": "%s"}, "sk": {"S": "%s"}, %s}}}' "$1" "$2" "$3"
}
user() { # NAME
    put "USER#$1" "USER#$1" '"name": {"S": "'"$1"'"}'
}
group() { # NAME MEMBERS
    put "GROUP#$1" "GROUP#$1" '"title": {"S": "'"$1"' club"}, "members": {"N": "'"$2"'"}'
}
member() { # GROUP USER ROLE
    put "GROUP#$1" "USER#$2" '"role": {"S": "'"$3"'"}'
}
ddb batch-write-item --request-items '{"'$table'": [
    '"$(user ada)"', '"$(user bob)"', '"$(user cem)"',
    '"$(group chess 3)"', '"$(group choir 1)"',
    '"$(member chess ada admin)"', '"$(member chess bob guest)"', '"$(member chess cem guest)"',
    '"$(member choir bob admin)"']}'

expect 'the members of a group' "$(
    ddb query --table-name $table \
        --key-condition-expression 'pk = :group AND begins_with(sk, :user)' \
        --expression-attribute-values '{":group": {"S": "GROUP#chess"}, ":user": {"S": "USER#"}}' \
        --query 'Items[].sk.S'
)" 'USER#ada USER#bob USER#cem'

expect 'its guests, by a filter' "$(
    ddb query --table-name $table --key-condition-expression 'pk = :group' \
        --filter-expression '#role = :guest' --expression-attribute-names '{"#role": "role"}' \
        --expression-attribute-values '{":group": {"S": "GROUP#chess"}, ":guest": {"S": "guest"}}' \
        --query '[Count, ScannedCount]'
)" '2 4'

groups_of() { # USER
    ddb query --table-name $table --index-name inverse \
        --key-condition-expression 'sk = :user AND begins_with(pk, :group)' \
        --expression-attribute-values '{":user": {"S": "USER#'"$1"'"}, ":group": {"S": "GROUP#"}}' \
        --query 'Items[].[pk.S, role.S]'
}
expect 'the groups of a user, and the role in each' "$(groups_of bob)" \
    'GROUP#chess guest GROUP#choir admin'

expect 'the nodes behind two edges' "$(
    ddb batch-get-item --request-items '{"'$table'": {"Keys": [
        {"pk": {"S": "USER#ada"}, "sk": {"S": "USER#ada"}},
        {"pk": {"S": "USER#cem"}, "sk": {"S": "USER#cem"}}]}}' \
        --query 'sort_by(Responses."'$table'", &pk.S)[].name.S'
)" 'ada cem'

# Leaving takes the edge from the table and from the index, and counts if it was there.
expect 'leaving a group' "$(
    ddb delete-item --table-name $table \
        --key '{"pk": {"S": "GROUP#chess"}, "sk": {"S": "USER#bob"}}' \
        --condition-expression 'attribute_exists(pk)' --return-values ALL_OLD \
        --query 'Attributes.role.S'
)" 'guest'
expect 'the counter of members' "$(
    ddb update-item --table-name $table \
        --key '{"pk": {"S": "GROUP#chess"}, "sk": {"S": "GROUP#chess"}}' \
        --update-expression 'ADD members :less' \
        --expression-attribute-values '{":less": {"N": "-1"}}' \
        --return-values UPDATED_NEW --query 'Attributes.members.N'
)" '2'
expect 'the groups that are left' "$(groups_of bob)" 'GROUP#choir admin'
