"""Every counter of a random workload, computed from its requests and answers, equals what /metrics and
CloudWatch show."""

import collections
import datetime
import http.client
import math
import os
import random
import threading
import time

import metrics_text
from stator_process import Connection, StatorProcess, create_table

CALLS = 600
KEYS = 40
TABLES = ("plain", "indexed", "sorted")
GLOBAL = {"by_group": ([("group", "S", "HASH")], "ALL"), "by_kind": ([("kind", "S", "HASH")], "KEYS_ONLY")}
LOCAL = {"by_group_here": ([("pk", "S", "HASH"), ("group", "S", "RANGE")], "ALL")}


def size_of(item):
    return sum(len(name) + len(next(iter(value.values()))) for name, value in item.items())


class Expected:
    """What the metrics must be."""

    def __init__(self):
        self.requests = collections.Counter()  # (operation, table, code)
        self.units = collections.Counter()  # (table, index, direction), in half units
        self.samples = collections.Counter()  # (table, index, direction): requests with units
        self.read = collections.Counter()  # (table, index, operation)
        self.returned = collections.Counter()
        self.returned_samples = collections.Counter()  # (table, operation)
        self.written = collections.Counter()  # (operation, table)
        self.failed_conditions = collections.Counter()
        self.stream_records = collections.Counter()
        self.put_sizes = collections.Counter()
        self.put_count = collections.Counter()
        self.batches = collections.Counter()  # operation -> items
        self.user_errors = 0

    def end(self, operation, tables, answer, status):
        code = "ok" if status == 200 else answer["__type"].rsplit("#")[-1]
        for table in tables or [""]:
            self.requests[operation, table, code] += 1
        self.user_errors += status == 400 and code != "ConditionalCheckFailedException"
        return code

    def charge(self, table, index, direction, units):
        if units:
            self.units[table, index, direction] += round(2 * units)
            self.samples[table, index, direction] += 1

    def consume(self, capacity, direction):
        """ReturnConsumedCapacity INDEXES: of one table, or a list."""
        for used in capacity if isinstance(capacity, list) else [capacity]:
            table = used["TableName"]
            local = used.get("LocalSecondaryIndexes", {})
            own = used.get("Table", {}).get("CapacityUnits", 0)
            # Local indexes have the table's capacity: its sample in CloudWatch includes theirs.
            if own or local:
                self.samples[table, "", direction] += 1
            self.units[table, "", direction] += round(2 * own)
            for index, units in used.get("GlobalSecondaryIndexes", {}).items():
                self.charge(table, index, direction, units["CapacityUnits"])
            for index, units in local.items():
                self.units[table, index, direction] += round(2 * units["CapacityUnits"])


class Workload:
    def __init__(self, connection, seed):
        self.connection = connection
        self.random = random.Random(seed)
        self.items = {table: {} for table in TABLES}  # What each table holds, by key.
        self.expected = Expected()

    # --- Pieces ---

    def key(self, table):
        key = {"pk": {"S": f"key{self.random.randrange(KEYS)}"}}
        if table == "sorted":
            key["sk"] = {"N": str(self.random.randrange(1, 5))}
        return key

    def item(self, table):
        item = self.key(table)
        item["text"] = {"S": "x" * self.random.randrange(1, 600)}
        if self.random.random() < 0.7:
            item["group"] = {"S": f"g{self.random.randrange(5)}"}
        if self.random.random() < 0.5:
            item["kind"] = {"S": f"k{self.random.randrange(5)}"}
        return item

    @staticmethod
    def name(item):
        return item["pk"]["S"], item.get("sk", {}).get("N")

    def store(self, operation, table, item):
        before = self.items[table].get(self.name(item))
        self.items[table][self.name(item)] = item
        self.expected.written[operation, table] += 1
        self.expected.put_count[table] += 1
        self.expected.put_sizes[table] += self.size(item)
        self.expected.stream_records[table] += table == "indexed" and before != item

    def remove(self, operation, table, key):
        there = self.items[table].pop(self.name(key), None) is not None
        self.expected.written[operation, table] += there
        self.expected.stream_records[table] += table == "indexed" and there

    @staticmethod
    def size(item):
        """A number of one digit takes two bytes."""
        return size_of(item) + ("sk" in item)

    def call(self, operation, tables, body):
        body["ReturnConsumedCapacity"] = "INDEXES"
        status, answer = self.connection.call(operation, body)
        return self.expected.end(operation, tables, answer, status), answer

    # --- Operations ---

    def put(self, table):
        item, body = self.item(table), {"TableName": table}
        if self.random.random() < 0.4:
            body["ConditionExpression"] = "attribute_not_exists(pk)"
        code, answer = self.call("PutItem", [table], {**body, "Item": item})
        if code == "ok":
            self.store("PutItem", table, item)
            self.expected.consume(answer["ConsumedCapacity"], "write")
        else:
            assert code == "ConditionalCheckFailedException"
            self.expected.failed_conditions[table] += 1
            self.expected.charge(table, "", "write", 1)

    def delete(self, table):
        key = self.key(table)
        code, answer = self.call("DeleteItem", [table], {"TableName": table, "Key": key})
        assert code == "ok"
        self.remove("DeleteItem", table, key)
        self.expected.consume(answer["ConsumedCapacity"], "write")

    def get(self, table):
        key, consistent = self.key(table), self.random.random() < 0.5
        code, answer = self.call("GetItem", [table], {"TableName": table, "Key": key, "ConsistentRead": consistent})
        assert code == "ok"
        self.expected.consume(answer["ConsumedCapacity"], "read")
        self.count_read("GetItem", table, "", "Item" in answer, "Item" in answer)

    def count_read(self, operation, table, index, read, returned):
        self.expected.read[table, index, operation] += int(read)
        self.expected.returned[table, index, operation] += int(returned)

    def query(self, table):
        index = self.random.choice({"plain": [""], "indexed": ["", *GLOBAL], "sorted": ["", *LOCAL]}[table])
        attribute = {"by_group": "group", "by_kind": "kind"}.get(index, "pk")
        value = {"pk": f"key{self.random.randrange(KEYS)}", "group": f"g{self.random.randrange(5)}",
                 "kind": f"k{self.random.randrange(5)}"}[attribute]  # fmt: skip
        body = {"TableName": table, "KeyConditionExpression": "#a = :a", "ExpressionAttributeNames": {"#a": attribute},
                "ExpressionAttributeValues": {":a": {"S": value}}}  # fmt: skip
        if index:
            body["IndexName"] = index
        if self.random.random() < 0.3:
            body["FilterExpression"] = "begins_with(#t, :t)"
            body["ExpressionAttributeNames"]["#t"] = "kind"
            body["ExpressionAttributeValues"][":t"] = {"S": "k1"}
            if attribute == "kind":
                del body["FilterExpression"], body["ExpressionAttributeNames"]["#t"], body["ExpressionAttributeValues"][":t"]
        code, answer = self.call("Query", [table], body)
        assert code == "ok", answer
        self.finish_page("Query", table, index, answer)

    def scan(self, table):
        code, answer = self.call("Scan", [table], {"TableName": table, "Limit": self.random.randrange(1, 50)})
        assert code == "ok"
        self.finish_page("Scan", table, "", answer)

    def finish_page(self, operation, table, index, answer):
        self.expected.consume(answer["ConsumedCapacity"], "read")
        self.count_read(operation, table, index, answer["ScannedCount"], answer["Count"])
        self.expected.returned_samples[table, operation] += answer["Count"]

    def batch_write(self, _):
        tables = self.random.sample(TABLES, self.random.randrange(1, 3))
        requests, count = {}, 0
        for table in tables:
            items = {self.name(item): item for item in (self.item(table) for _ in range(4))}
            requests[table] = [{"PutRequest": {"Item": item}} for item in items.values()]
            count += len(items)
        code, answer = self.call("BatchWriteItem", tables, {"RequestItems": requests})
        assert code == "ok" and not answer["UnprocessedItems"]
        for table in tables:
            for request in requests[table]:
                self.store("BatchWriteItem", table, request["PutRequest"]["Item"])
        self.expected.consume(answer["ConsumedCapacity"], "write")
        self.expected.batches["BatchWriteItem"] += count

    def batch_get(self, _):
        requests, count = {}, 0
        for table in self.random.sample(TABLES, 2):
            keys = {self.name(key): key for key in (self.key(table) for _ in range(5))}
            requests[table] = {"Keys": list(keys.values())}
            count += len(keys)
        code, answer = self.call("BatchGetItem", list(requests), {"RequestItems": requests})
        assert code == "ok" and not answer["UnprocessedKeys"]
        for table in requests:
            found = len(answer["Responses"][table])
            self.count_read("BatchGetItem", table, "", found, found)
        self.expected.consume(answer["ConsumedCapacity"], "read")
        self.expected.batches["BatchGetItem"] += count

    def transact(self, table):
        item, check = self.item(table), self.key(table)
        if self.name(item) == self.name(check):
            return
        actions = [
            {"Put": {"TableName": table, "Item": item}},
            {"ConditionCheck": {"TableName": table, "Key": check, "ConditionExpression": "attribute_exists(pk)"}},
        ]
        code, answer = self.call("TransactWriteItems", [table], {"TransactItems": actions})
        self.expected.batches["TransactWriteItems"] += 2
        if code == "ok":
            self.store("TransactWriteItems", table, item)
            self.expected.consume(answer["ConsumedCapacity"], "write")
        else:  # Cancelled: consumed all the same, which no answer shows; each item is below 1 KB.
            assert code == "TransactionCanceledException"
            self.expected.failed_conditions[table] += 1
            self.expected.charge(table, "", "write", 4)

    def wrong(self, table):
        choice = self.random.randrange(3)
        if choice == 0:
            code, _ = self.call("GetItem", [table], {"TableName": table, "Key": {"none": {"S": "x"}}})
            assert code == "ValidationException"
        elif choice == 1:
            code, _ = self.call("GetItem", [], {"TableName": "nowhere", "Key": {"pk": {"S": "x"}}})
            assert code == "ResourceNotFoundException"
        else:
            code, _ = self.call("PutItem", [], {"TableName": table})
            assert code == "ValidationException"

    def run(self):
        actions = [self.put, self.delete, self.get, self.query, self.scan, self.batch_write, self.batch_get,
                   self.transact, self.wrong]  # fmt: skip
        for _ in range(CALLS):
            self.random.choice(actions)(self.random.choice(TABLES))


def read_page(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return metrics_text.parse(text)


def nonzero(counter):
    return {key: value for key, value in counter.items() if value}


def shown(page, name, *labels):
    return {
        tuple(found[label] for label in labels): value
        for found, value in page.values(name)
        if value and found.get("operation") not in ("CreateTable", "DescribeTable")
    }


def check_page(page, expected):
    assert shown(page, "stator_requests_total", "operation", "table", "code") == nonzero(expected.requests)
    durations = {key[:2]: value for key, value in expected.requests.items() if key[2] == "ok"}
    assert shown(page, "stator_request_duration_seconds_count", "operation", "table") == durations
    for direction in ("read", "write"):
        units = shown(page, f"stator_consumed_{direction}_units_total", "table", "index")
        want = {key[:2]: value / 2 for key, value in nonzero(expected.units).items() if key[2] == direction}
        assert units == want, direction
    assert shown(page, "stator_items_read_total", "table", "index", "operation") == nonzero(expected.read)
    assert shown(page, "stator_items_returned_total", "table", "index", "operation") == nonzero(expected.returned)
    assert shown(page, "stator_items_written_total", "operation", "table") == nonzero(expected.written)
    by_table = {
        "stator_conditional_check_failed_total": expected.failed_conditions,
        "stator_stream_records_total": expected.stream_records,
        "stator_item_size_bytes_count": expected.put_count,
        "stator_item_size_bytes_sum": expected.put_sizes,
    }
    for name, counter in by_table.items():
        assert shown(page, name, "table") == {(key,): value for key, value in nonzero(counter).items()}, name
    assert shown(page, "stator_batch_items_sum", "operation") == {
        (key,): value for key, value in expected.batches.items()
    }
    assert page.value("stator_user_errors_total") == expected.user_errors


def statistics(connection, metric, statistic, began, **dimensions):
    """The sum of a statistic over all minutes since the workload began."""
    body = {
        "Namespace": "AWS/DynamoDB", "MetricName": metric, "Period": 60, "Statistics": [statistic],
        "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
        "StartTime": math.floor(began / 60) * 60, "EndTime": math.floor(time.time() / 60) * 60 + 60,
    }  # fmt: skip
    status, answer = connection.call("cloudwatch:GetMetricStatistics", body)
    assert status == 200, answer
    return sum(point[statistic] for point in answer["Datapoints"])


def check_cloudwatch(connection, expected, began):
    indexes = {("indexed", index) for index in GLOBAL}
    for direction in ("Read", "Write"):
        metric = f"Consumed{direction}CapacityUnits"
        for table in TABLES:
            want = expected.units[table, "", direction.lower()] / 2
            want += sum(expected.units[table, index, direction.lower()] / 2 for index in LOCAL)
            assert statistics(connection, metric, "Sum", began, TableName=table) == want, (metric, table)
        for table, index in indexes:
            want = expected.units[table, index, direction.lower()] / 2
            found = statistics(connection, metric, "Sum", began, TableName=table, GlobalSecondaryIndexName=index)
            assert found == want, (metric, index)
    for table in TABLES:
        found = statistics(connection, "ConditionalCheckFailedRequests", "Sum", began, TableName=table)
        assert found == expected.failed_conditions[table]
        for operation in ("PutItem", "GetItem", "Query", "Scan", "BatchGetItem", "TransactWriteItems"):
            found = statistics(connection, "SuccessfulRequestLatency", "SampleCount", began, TableName=table, Operation=operation)
            assert found == expected.requests[operation, table, "ok"], (table, operation)
        for operation in ("Query", "Scan"):
            found = statistics(connection, "ReturnedItemCount", "Sum", began, TableName=table, Operation=operation)
            assert found == expected.returned_samples[table, operation]
    assert statistics(connection, "UserErrors", "Sum", began) == expected.user_errors


def test_every_counter_of_a_random_workload_is_exact(tmp_path):
    seed = int(os.environ.get("LOAD_SEED", datetime.datetime.now().timestamp()))
    print(f"LOAD_SEED={seed}")
    with StatorProcess("--data-dir", str(tmp_path / "data")) as server:
        connection = Connection(server.port)
        create_table(connection, "plain")
        create_table(connection, "indexed", global_=GLOBAL, stream="NEW_IMAGE")
        create_table(connection, "sorted", sort_key=True, local=LOCAL)
        began = time.time()
        workload = Workload(connection, seed)
        workload.run()
        check_page(read_page(server.port), workload.expected)
        check_cloudwatch(connection, workload.expected, began)


# --- Throttles, conflicts and expired items ---

WRITERS = 6
TRANSACTIONS = 150
EXPIRED = 37
LIMITED = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
STATEMENTS = {  # By the dimension Verb of their throttles.
    "PartiQLSelect": "SELECT * FROM limited WHERE pk = ?",
    "PartiQLInsert": "INSERT INTO limited VALUE {'pk': ?}",
    "PartiQLUpdate": "UPDATE limited SET v = 1 WHERE pk = ?",
    "PartiQLDelete": "DELETE FROM limited WHERE pk = ?",
}


def create_limited(connection):
    body = {
        "TableName": "limited", "ProvisionedThroughput": LIMITED,
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }  # fmt: skip
    assert connection.call("CreateTable", body)[0] == 200


def throttle(connection):
    """Each request costs more than a second admits; the first ones drain the burst. Returns the requests
    that were throttled, by operation and verb."""
    key, big = {"pk": {"S": "big"}}, {"pk": {"S": "big"}, "text": {"S": "x" * 100_000}}
    requests = [
        ("PutItem", "", {"TableName": "limited", "Item": big}),
        ("GetItem", "", {"TableName": "limited", "Key": key, "ConsistentRead": True}),
    ]
    for verb, text in STATEMENTS.items():
        value = {"S": "big" if verb == "PartiQLSelect" else "small"}
        body = {"Statement": text, "Parameters": [value], "ConsistentRead": True}
        requests.append(("ExecuteStatement", verb, body))
    found = collections.Counter()
    for _ in range(40):
        for operation, verb, body in requests:
            status, answer = connection.call(operation, body)
            if status != 200 and "ProvisionedThroughputExceeded" in answer["__type"]:
                found[operation, verb] += 1
            else:
                assert status == 200 or "Duplicate" in answer["__type"] or "Condition" in answer["__type"], answer
    assert len(found) == len(requests)
    return found


def check_throttles(server, connection, found, began):
    directions = collections.Counter()
    for (operation, verb), count in found.items():
        directions["Read" if operation == "GetItem" or verb == "PartiQLSelect" else "Write"] += count
        more = {"Verb": verb} if verb else {}
        shown_ = statistics(
            connection, "ThrottledRequests", "Sum", began, TableName="limited", Operation=operation, **more
        )
        assert shown_ == count, (operation, verb)
    labels = ("table", "index", "direction", "reason")
    assert shown(read_page(server.port), "stator_throttled_total", *labels) == {
        ("limited", "", direction.lower(), "ProvisionedThroughputExceeded"): count
        for direction, count in directions.items()
    }
    for direction, count in directions.items():
        for kind in ("", "ProvisionedThroughput"):
            metric = f"{direction}{kind}ThrottleEvents"
            assert statistics(connection, metric, "Sum", began, TableName="limited") == count, metric


class Conflicts:
    """Transactions and single writes of a few items at the same time, with `txn-conflict = fail`."""

    def __init__(self, port):
        self.port = port
        self.lock = threading.Lock()
        self.items = self.requests = 0

    def note(self, items):
        with self.lock:
            self.items += items
            self.requests += items > 0

    def write(self, seed):
        choices, connection = random.Random(seed), Connection(self.port)
        for _ in range(TRANSACTIONS):
            keys = choices.sample(range(4), 3)
            puts = [{"Put": {"TableName": "busy", "Item": {"pk": {"S": str(key)}}}} for key in keys]
            status, answer = connection.call("TransactWriteItems", {"TransactItems": puts})
            if status != 200:
                self.note(sum(each["Code"] == "TransactionConflict" for each in answer["CancellationReasons"]))
            status, answer = connection.call("PutItem", puts[0]["Put"])
            if status != 200:
                assert answer["__type"].endswith("TransactionConflictException"), answer
                self.note(1)
        connection.close()

    def run(self):
        threads = [threading.Thread(target=self.write, args=(seed,)) for seed in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert self.requests > 0


def expire(connection):
    """Items that time to live has deleted once the table is empty."""
    create_table(connection, "expiring")
    specification = {"AttributeName": "until", "Enabled": True}
    body = {"TableName": "expiring", "TimeToLiveSpecification": specification}
    assert connection.call("UpdateTimeToLive", body)[0] == 200
    past = str(int(time.time()) - 60)
    for number in range(EXPIRED):
        item = {"pk": {"S": str(number)}, "until": {"N": past}}
        assert connection.call("PutItem", {"TableName": "expiring", "Item": item})[0] == 200
    deadline = time.monotonic() + 60
    while connection.call("Scan", {"TableName": "expiring"})[1]["Count"] > 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_throttles_conflicts_and_expired_items_are_exact(tmp_path):
    flags = ("--capacity", "enforce", "--txn-conflict", "fail", "--ttl-interval", "100")
    with StatorProcess("--data-dir", str(tmp_path / "data"), *flags) as server:
        connection = Connection(server.port)
        create_limited(connection)
        create_table(connection, "busy")
        began = time.time()
        throttled = throttle(connection)
        conflicts = Conflicts(server.port)
        conflicts.run()
        expire(connection)
        check_throttles(server, connection, throttled, began)
        page = read_page(server.port)
        assert shown(page, "stator_transaction_conflicts_total", "table") == {("busy",): conflicts.items}
        found = [
            statistics(connection, "TransactionConflict", name, began, TableName="busy")
            for name in ("Sum", "SampleCount")
        ]
        assert found == [conflicts.items, conflicts.requests]
        assert shown(page, "stator_ttl_deleted_items_total", "table") == {("expiring",): EXPIRED}
        assert statistics(connection, "TimeToLiveDeletedItemCount", "Sum", began, TableName="expiring") == EXPIRED
