"""Random requests to every operation, built from the shapes that botocore knows.

A shape alone gives requests that nearly all fail. Members with well-known names draw from pools
(tables, keys, ARNs that earlier answers named), and for the operations whose members depend on each
other RECIPES has complete requests. So most calls succeed, on tables that have every feature.
"""

import json
import random
import re
import time
import uuid

import botocore.session

TARGETS = {
    "dynamodb": ("DynamoDB_20120810", "1.0"),
    "dynamodbstreams": ("DynamoDBStreams_20120810", "1.0"),
    "application-autoscaling": ("AnyScaleFrontendService", "1.1"),
    "cloudwatch": ("GraniteServiceVersion20100801", "1.0"),
}
TABLES = ["Tab-0", "Tab-1", "Tab-2", "Tab-3"]
NEW_TABLES = [f"New-{number}" for number in range(20)]
INDEXES = ["gsi-one", "gsi-two", "lsi-one"]
BUCKETS = ["bucket", "no-bucket"]
ATTRIBUTES = ["pk", "sk", "g1", "g2", "l1", "ttl", "n", "m", "s", "b", "list"]
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
POOL_SIZE_MAX = 12
DEPTH_MAX = 6

# How often an operation is drawn; others have 1.
WEIGHTS = {
    "PutItem": 20, "UpdateItem": 20, "DeleteItem": 8, "Query": 10, "Scan": 6, "BatchWriteItem": 8,
    "TransactWriteItems": 10, "ExecuteStatement": 8, "ExecuteTransaction": 5, "BatchExecuteStatement": 5,
    "CreateTable": 8, "UpdateTable": 8, "UpdateContinuousBackups": 8, "UpdateTimeToLive": 2,
    "RestoreTableToPointInTime": 6, "RestoreTableFromBackup": 6, "CreateBackup": 3,
    "ExportTableToPointInTime": 4, "ImportTable": 5, "GetRecords": 6, "GetShardIterator": 3,
    "DescribeStream": 3,
}  # fmt: skip

VALUES = {
    ":a": {"S": "a"}, ":b": {"S": "1"}, ":n": {"N": "5"}, ":s": {"SS": ["a"]}, ":l": {"L": [{"N": "1"}]},
}  # fmt: skip
EXPRESSIONS = {
    "KeyConditionExpression": [
        "pk = :a", "pk = :a AND sk > :b", "g1 = :a", "#p = :a AND begins_with(sk, :b)",
        "pk = :a AND l1 BETWEEN :a AND :b",
    ],
    "FilterExpression": [
        "n > :n", "attribute_exists(m)", "contains(s, :a) OR size(m) < :n", "NOT n IN (:n, :a)",
    ],
    "ConditionExpression": [
        "attribute_not_exists(pk)", "attribute_exists(pk)", "n < :n",
        "#p = :a AND (m.a = :b OR list[0] = :n)",
    ],
    "UpdateExpression": [
        "SET n = if_not_exists(n, :n) + :n", "REMOVE m, list[0]", "ADD n :n", "SET m.a = :a",
        "DELETE s :s", "SET g1 = :a, l1 = :b REMOVE g2",
        "SET list = list_append(if_not_exists(list, :l), :l)",
    ],
    "ProjectionExpression": ["pk, sk", "m.a, list[0]", "#p, n"],
}  # fmt: skip
WRITING_STATEMENTS = [
    "INSERT INTO \"{}\" VALUE {{'pk': 'a', 'sk': '9', 'm': {{'a': 1}}}}",
    "UPDATE \"{}\" SET n = 1 WHERE pk = 'a' AND sk = '1'",
    "DELETE FROM \"{}\" WHERE pk = 'a' AND sk = '2' RETURNING ALL OLD *",
]
STATEMENTS = [
    *WRITING_STATEMENTS,
    'SELECT * FROM "{}"',
    'SELECT * FROM "{}"."gsi-one" WHERE g1 = \'x\'',
    "SELECT pk, n FROM \"{}\" WHERE pk IN ['a', 'b'] ORDER BY pk DESC",
]
STRINGS = ["a", "abc", "name-1", "x" * 300, ARN + "Tab-1/index/gsi-one", "é"]
NUMBERS = ["0", "1", "-1", "1e10", "3.14", "9" * 38, "1e-130"]
MATHEMATICS = [
    "m1+m2", "RATE(m1)", "SUM(METRICS())", "IF(m1>1,m2,0)", "FILL(m1,0)/m2",
    "SEARCH('{AWS/DynamoDB,TableName} Consumed','Sum',60)",
]  # fmt: skip
KEY_SCHEMA = [
    {"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"},
]  # fmt: skip


def key_schema(*names):
    return [
        {"AttributeName": name, "KeyType": kind}
        for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def with_values(request):
    """Adds the values and names that the request's expressions use."""
    text = " ".join(value for name, value in request.items() if name.endswith("Expression"))
    used = set(re.findall(r":\w", text))
    if used:
        request["ExpressionAttributeValues"] = {name: VALUES[name] for name in used}
    if "#p" in text:
        request["ExpressionAttributeNames"] = {"#p": "pk"}
    return request


class RandomRequests:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.pools = {}
        self.shards = []  # [(stream's ARN, shard's id)]
        session = botocore.session.get_session()
        self.operations = [
            (service, model.operation_model(name))
            for service in TARGETS
            for model in [session.get_service_model(service)]
            for name in model.operation_names
        ]
        self.weights = [WEIGHTS.get(model.name, 1) for _, model in self.operations]
        names = {model.name for _, model in self.operations}
        self.recipes = {name: recipe for name, recipe in self.make_recipes().items() if name in names}

    def next(self):
        """(headers, operation, body)"""
        service, model = self.rng.choices(self.operations, self.weights)[0]
        if model.name in self.recipes and self.rng.random() < 0.85:
            body = self.recipes[model.name]()
        else:
            body = self.of_shape(model.input_shape) if model.input_shape else {}
        return self.headers(service, model.name), model.name, body

    @staticmethod
    def headers(service, operation):
        prefix, version = TARGETS[service]
        return {
            "X-Amz-Target": f"{prefix}.{operation}",
            "Content-Type": f"application/x-amz-json-{version}",
            "Authorization": "AWS4-HMAC-SHA256 Credential=x/20261101/us-east-1/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=0",
            "X-Amz-Date": "20261101T000000Z",
        }

    def learn(self, answer):
        """Remembers ARNs, tokens and iterators, so that later requests can name them."""
        if isinstance(answer, list):
            for element in answer:
                self.learn(element)
        elif isinstance(answer, dict):
            for shard in answer.get("Shards", []):
                self.remember(self.shards, (answer["StreamArn"], shard["ShardId"]))
            for name, value in answer.items():
                if not isinstance(value, str):
                    self.learn(value)
                elif re.search(r"Arn$|Token$|Iterator$|^ShardId$|^SequenceNumber$", name):
                    if name != "TableArn":
                        name = {"NextShardIterator": "ShardIterator", "LatestStreamArn": "StreamArn"}.get(
                            name, name
                        )
                        self.remember(self.pools.setdefault(name, []), value)

    def remember(self, pool, value):
        if value not in pool:
            pool.append(value)
        if len(pool) > POOL_SIZE_MAX:
            pool.pop(self.rng.randrange(len(pool)))

    # Values.

    def some(self, choices):
        return self.rng.choice(choices)

    def often(self, share=0.5):
        return self.rng.random() < share

    def maybe(self, request, share=0.4, **members):
        for name, value in members.items():
            if self.often(share):
                request[name] = value
        return request

    def table(self):
        return self.some(TABLES)

    def table_arn(self):
        return ARN + self.table()

    def value(self, depth=0):
        scalars = [
            {"S": self.some(["a", "b", "", "x" * 3000])}, {"N": self.some(NUMBERS)}, {"B": "AAEC"},
            {"BOOL": self.often()}, {"NULL": True}, {"SS": ["a", "b"]}, {"NS": ["1", "2"]}, {"BS": ["AA=="]},
        ]  # fmt: skip
        if depth > 3 or self.often(0.7):
            return self.some(scalars)
        if self.often():
            return {"L": [self.value(depth + 1) for _ in range(self.some([0, 1, 3]))]}
        return {"M": {self.some(ATTRIBUTES): self.value(depth + 1) for _ in range(self.some([0, 1, 3]))}}

    def key(self):
        return {"pk": {"S": self.some("abc")}, "sk": {"S": self.some("1234567")}}

    def item(self):
        item = self.key()
        for name in ATTRIBUTES[2:]:
            if not self.often(0.4):
                continue
            if name == "ttl":
                item[name] = {"N": str(int(time.time()) + self.some([-10, 5, 9999]))}
            elif name in ("g1", "g2", "l1") and self.often(0.9):
                item[name] = {"S": self.some("axyz")}
            else:
                item[name] = self.value()
        return item

    # A request from its shape.

    def by_name(self, name, kind):
        """What a member of this name has usually, or None."""
        if name in self.pools and self.often(0.85):
            return self.some(self.pools[name])
        if name in EXPRESSIONS and kind == "string":
            return self.some(EXPRESSIONS[name])
        usual = {
            "TableName": self.table, "SourceTableName": self.table, "GlobalTableName": self.table,
            "TargetTableName": lambda: self.some(TABLES + NEW_TABLES), "TableArn": self.table_arn,
            "ResourceArn": self.table_arn, "IndexName": lambda: self.some(INDEXES), "Key": self.key,
            "Item": self.item, "ExclusiveStartKey": self.key,
            "ExpressionAttributeNames": lambda: {"#p": "pk"}, "ExpressionAttributeValues": lambda: VALUES,
            "Statement": lambda: self.some(STATEMENTS).format(self.table()),
            "AttributeName": lambda: self.some(ATTRIBUTES), "S3Bucket": lambda: self.some(BUCKETS),
            "S3Prefix": lambda: self.some(["p", "q/r/"]), "ServiceNamespace": lambda: "dynamodb",
            "ResourceId": lambda: "table/" + self.table(), "Id": lambda: self.some(["m1", "m2"]),
            "Namespace": lambda: self.some(["AWS/DynamoDB", "Own"]),
            "Expression": lambda: self.some(MATHEMATICS), "DashboardBody": lambda: '{"widgets": []}',
        }.get(name)  # fmt: skip
        return usual() if usual and kind != "list" else None

    def of_shape(self, shape, name="", depth=0):
        kind = shape.type_name
        usual = self.by_name(name, kind)
        if usual is not None:
            return usual
        if shape.name == "AttributeValue":
            return self.value()
        if kind == "structure":
            share = 0.25 if depth < 2 else 0.5 if depth < DEPTH_MAX else 0
            return {
                member: self.of_shape(inner, member, depth + 1)
                for member, inner in shape.members.items()
                if member in shape.required_members or self.often(share)
            }
        if kind == "list":
            return [self.of_shape(shape.member, "", depth + 1) for _ in range(self.some([1, 1, 2, 3]))]
        if kind == "map":
            names = TABLES if name == "RequestItems" else ATTRIBUTES
            return {self.some(names): self.of_shape(shape.value, "", depth + 1) for _ in range(2)}
        if kind == "string":
            return self.some(shape.enum or STRINGS)
        return {
            "integer": lambda: self.some([1, 1, 2, 5, 10, 60, 1000, 0, -1, 2**31 - 1]),
            "long": lambda: self.some([1, 1, 2, 5, 10, 1000, 0, -1, 2**31]),
            "double": lambda: self.some([0.5, 1, 70, -1, 1e300]),
            "float": lambda: self.some([0.5, 1, 70, -1]),
            "boolean": self.often,
            "timestamp": lambda: time.time() + self.some([-86400, -60, -1, 0, 60]),
            "blob": lambda: "AAEC",
        }[kind]()

    # Requests whose members depend on each other.

    def throughput(self):
        return {"ReadCapacityUnits": self.some([1, 10, 40]), "WriteCapacityUnits": self.some([1, 10, 40])}

    def create_table(self, name=None):
        request = {
            "TableName": name or self.table(),
            "KeySchema": KEY_SCHEMA,
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g1", "g2")
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "gsi-one",
                    "KeySchema": key_schema("g1"),
                    "Projection": {"ProjectionType": "ALL"},
                },
                {
                    "IndexName": "gsi-two",
                    "KeySchema": key_schema("g2", "sk"),
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["n", "m"]},
                },
            ],
        }
        if self.often():
            request["BillingMode"] = "PAY_PER_REQUEST"
        else:
            request["ProvisionedThroughput"] = self.throughput()
            for index in request["GlobalSecondaryIndexes"]:
                index["ProvisionedThroughput"] = self.throughput()
        return request

    def create_full_table(self, name=None):
        request = self.create_table(name)
        if self.often(0.7):
            request["AttributeDefinitions"].append({"AttributeName": "l1", "AttributeType": "S"})
            request["LocalSecondaryIndexes"] = [
                {
                    "IndexName": "lsi-one",
                    "KeySchema": key_schema("pk", "l1"),
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ]
        views = ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
        return self.maybe(
            request,
            StreamSpecification={"StreamEnabled": True, "StreamViewType": self.some(views)},
            Tags=[{"Key": "stator:capacity", "Value": "enforce"}],
        )

    def update_table(self):
        numbers = [{"AttributeName": "n", "AttributeType": "N"}]
        new_index = {
            "IndexName": "gsi-new",
            "KeySchema": key_schema("n"),
            "Projection": {"ProjectionType": "ALL"},
        }
        changes = [
            {"BillingMode": "PAY_PER_REQUEST"},
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": self.throughput(),
                "GlobalSecondaryIndexUpdates": [
                    {"Update": {"IndexName": name, "ProvisionedThroughput": self.throughput()}}
                    for name in ("gsi-one", "gsi-two")
                ],
            },
            {"AttributeDefinitions": numbers, "GlobalSecondaryIndexUpdates": [{"Create": new_index}]},
            {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": self.some(["gsi-new", "gsi-two"])}}]},
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}},
            {"StreamSpecification": {"StreamEnabled": False}},
            {"ProvisionedThroughput": self.throughput()},
            {"TableClass": self.some(["STANDARD", "STANDARD_INFREQUENT_ACCESS"])},
            {"DeletionProtectionEnabled": self.often(0.2)},
        ]
        return {"TableName": self.table(), **self.some(changes)}

    def action(self):
        """Of TransactWriteItems."""
        table, condition = self.table(), self.some(EXPRESSIONS["ConditionExpression"])
        update = self.some(EXPRESSIONS["UpdateExpression"])
        kind, members = self.some(
            [
                ("Put", {"Item": self.item()}),
                ("Delete", {"Key": self.key()}),
                ("Update", {"Key": self.key(), "UpdateExpression": update}),
                ("ConditionCheck", {"Key": self.key(), "ConditionExpression": condition}),
            ]
        )
        return {kind: with_values({"TableName": table, **members})}

    def query(self):
        conditions = [
            {"KeyConditionExpression": "pk = :a"},
            {"KeyConditionExpression": "g1 = :a", "IndexName": "gsi-one"},
            {"KeyConditionExpression": "pk = :a AND l1 > :b", "IndexName": "lsi-one"},
            {
                "KeyConditionExpression": "pk = :a",
                "FilterExpression": self.some(EXPRESSIONS["FilterExpression"]),
            },
        ]
        request = with_values({"TableName": self.table(), **self.some(conditions)})
        return self.maybe(
            request, Limit=self.some([1, 2, 100]), ScanIndexForward=False, ReturnConsumedCapacity="INDEXES"
        )

    def shard_iterator(self):
        arn, shard = self.some(self.shards or [(self.table_arn() + "/stream/x", "shard")])
        kind = self.some(["TRIM_HORIZON", "LATEST"])
        return {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind}

    def restore_to_time(self):
        when = {"RestoreDateTime": time.time() - self.some([0.5, 1, 3, 100])}
        latest = {"UseLatestRestorableTime": True}
        return {
            "SourceTableName": self.table(),
            "TargetTableName": self.some(NEW_TABLES),
            **self.some([when, latest, latest]),
        }

    def restore_backup(self):
        return self.maybe(
            {
                "BackupArn": self.some(self.pools.get("BackupArn", [ARN + "Tab-0/backup/x"])),
                "TargetTableName": self.some(NEW_TABLES),
            },
            0.2,
            GlobalSecondaryIndexOverride=[],
            LocalSecondaryIndexOverride=[],
            BillingModeOverride="PAY_PER_REQUEST",
        )

    def export(self):
        request = {"TableArn": self.table_arn(), "S3Bucket": "bucket", "ClientToken": str(uuid.uuid4())}
        self.maybe(request, ExportFormat=self.some(["ION", "DYNAMODB_JSON"]), S3Prefix="p")
        if self.often(0.3):
            request["ExportType"] = "INCREMENTAL_EXPORT"
            request["IncrementalExportSpecification"] = {
                "ExportFromTime": time.time() - self.some([1, 1000]),
                "ExportToTime": time.time(),
            }
        return request

    def import_table(self):
        return {
            "ClientToken": str(uuid.uuid4()),
            "S3BucketSource": {
                "S3Bucket": "bucket",
                "S3KeyPrefix": self.some(["AWSDynamoDB/", "p/", "", "none"]),
            },
            "InputFormat": self.some(["DYNAMODB_JSON", "ION", "CSV"]),
            "InputCompressionType": self.some(["GZIP", "NONE", "ZSTD"]),
            "TableCreationParameters": self.create_table(self.some(NEW_TABLES)),
        }

    def target(self):
        """Of Application Auto Scaling."""
        dimension = self.some(
            ["table:ReadCapacityUnits", "table:WriteCapacityUnits", "index:ReadCapacityUnits"]
        )
        index = "/index/gsi-one" if dimension.startswith("index") else ""
        return {
            "ServiceNamespace": "dynamodb",
            "ResourceId": f"table/{self.table()}{index}",
            "ScalableDimension": f"dynamodb:{dimension}",
        }

    def scaling_policy(self):
        target = self.target()
        direction = "Write" if "Write" in target["ScalableDimension"] else "Read"
        metric = {"PredefinedMetricType": f"DynamoDB{direction}CapacityUtilization"}
        return {
            **target,
            "PolicyName": self.some(["p1", "p2"]),
            "PolicyType": "TargetTrackingScaling",
            "TargetTrackingScalingPolicyConfiguration": {
                "TargetValue": 50,
                "PredefinedMetricSpecification": metric,
            },
        }

    def metric(self):
        return {
            "Namespace": "AWS/DynamoDB",
            "MetricName": self.some(["ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"]),
            "Dimensions": [{"Name": "TableName", "Value": self.table()}],
        }

    def metric_data(self):
        stats = ["Sum", "Average", "p90", "SampleCount", "Maximum"]
        return {
            "StartTime": time.time() - self.some([600, 86400]),
            "EndTime": time.time(),
            "MetricDataQueries": [
                *(
                    {
                        "Id": name,
                        "MetricStat": {"Metric": self.metric(), "Period": 60, "Stat": self.some(stats)},
                    }
                    for name in ("m1", "m2")
                ),
                {"Id": "e1", "Expression": self.some(MATHEMATICS)},
            ],
        }

    def make_recipes(self):
        def table(**members):
            return {"TableName": self.table(), **members}

        def statements(texts):
            return [{"Statement": self.some(texts).format(self.table())} for _ in range(self.some([1, 2, 5]))]

        return {
            "CreateTable": self.create_full_table,
            "UpdateTable": self.update_table,
            "PutItem": lambda: table(Item=self.item()),
            "UpdateItem": lambda: with_values(
                table(Key=self.key(), UpdateExpression=self.some(EXPRESSIONS["UpdateExpression"]))
            ),
            "DeleteItem": lambda: table(Key=self.key(), ReturnValues="ALL_OLD"),
            "Query": self.query,
            "Scan": lambda: self.maybe(table(), IndexName=self.some(INDEXES), Limit=2),
            "BatchWriteItem": lambda: {
                "RequestItems": {self.table(): [{"PutRequest": {"Item": self.item()}}]}
            },
            "BatchGetItem": lambda: {"RequestItems": {self.table(): {"Keys": [self.key()]}}},
            "TransactWriteItems": lambda: self.maybe(
                {"TransactItems": [self.action() for _ in range(self.some([1, 2, 5]))]},
                ClientRequestToken=self.some(["t1", "t2"]),
            ),
            "TransactGetItems": lambda: {
                "TransactItems": [{"Get": table(Key=self.key())} for _ in range(3)]
            },
            "ExecuteTransaction": lambda: {"TransactStatements": statements(WRITING_STATEMENTS)},
            "BatchExecuteStatement": lambda: {"Statements": statements(WRITING_STATEMENTS)},
            "UpdateTimeToLive": lambda: table(
                TimeToLiveSpecification={"Enabled": self.often(0.7), "AttributeName": "ttl"}
            ),
            "UpdateContinuousBackups": lambda: table(
                PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": self.often(0.9)}
            ),
            "GetShardIterator": self.shard_iterator,
            "CreateBackup": lambda: table(BackupName="backup"),
            "RestoreTableToPointInTime": self.restore_to_time,
            "RestoreTableFromBackup": self.restore_backup,
            "ExportTableToPointInTime": self.export,
            "ImportTable": self.import_table,
            "TagResource": lambda: {
                "ResourceArn": self.table_arn(),
                "Tags": [{"Key": "stator:capacity", "Value": self.some(["enforce", "account"])}],
            },
            "PutResourcePolicy": self.resource_policy,
            "RegisterScalableTarget": lambda: {**self.target(), "MinCapacity": 1, "MaxCapacity": 20},
            "DeregisterScalableTarget": self.target,
            "PutScalingPolicy": self.scaling_policy,
            "DeleteScalingPolicy": lambda: {**self.target(), "PolicyName": "p1"},
            "PutScheduledAction": lambda: {
                **self.target(),
                "ScheduledActionName": "s1",
                "Schedule": self.some(["rate(1 minute)", "cron(0/5 * * * ? *)"]),
                "ScalableTargetAction": {"MinCapacity": 2, "MaxCapacity": 9},
            },
            "DeleteScheduledAction": lambda: {**self.target(), "ScheduledActionName": "s1"},
            "PutMetricAlarm": lambda: {
                "AlarmName": self.some(["a1", "a2"]), "ComparisonOperator": "GreaterThanThreshold",
                "EvaluationPeriods": 1, "Threshold": 0, "Period": 60, "Statistic": "Sum", **self.metric(),
            },
            "SetAlarmState": lambda: {
                "AlarmName": "a1", "StateValue": self.some(["OK", "ALARM"]), "StateReason": "x",
            },
            "PutMetricData": lambda: {
                "Namespace": "Own", "MetricData": [{"MetricName": "mine", "Value": self.some([1, 2.5])}],
            },
            "GetMetricData": self.metric_data,
            "GetMetricStatistics": lambda: {
                **self.metric(), "StartTime": time.time() - 3600, "EndTime": time.time(), "Period": 60,
                "Statistics": ["Sum", "Maximum"],
            },
        }  # fmt: skip

    def resource_policy(self):
        arn = self.table_arn()
        statement = {
            "Effect": "Allow",
            "Principal": {"AWS": "000000000000"},
            "Action": "dynamodb:GetItem",
            "Resource": arn,
        }
        policy = {"Version": "2012-10-17", "Statement": [statement]}
        return {"ResourceArn": arn, "Policy": json.dumps(policy)}
