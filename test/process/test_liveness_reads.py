"""Heavy reads never hold up others. While each attack runs, honest clients (lib/honest.py) read and
write another table and create tables, on a kept connection and on fresh ones: every request is
answered, none is refused, and none waits for longer than honest.WORST_MS."""

import collections
import gzip
import http.client
import json
import random
import time
import zlib

import attack
import pytest
import stator_process
from fast_client import FastClient
from honest import TABLE, Honest, in_time, release_binary

SECONDS = 4

IN_TABLE, IN_ITEMS, IN_VALUES = "many", 8000, 50_000
IN_CLIENTS, NEWCOMERS, TURNS_CLIENTS, CONDITION_CLIENTS = 4, 300, 30, 2


@in_time
def stand(server, kind, count, *paths, status="200"):
    """`status` is what all attackers are answered."""
    with attack.Attack(kind, server.port, count, *paths) as under_way:
        time.sleep(0.5)  # Until the first of them have come.
        with Honest(server) as honest:
            time.sleep(SECONDS)
    # The attackers were served too, and none was refused.
    assert set(under_way.counts) == {status}, under_way.counts
    honest.check(f"{kind}, attackers {under_way.counts}")


@pytest.fixture(scope="module")
def server():
    with stator_process.StatorProcess("--in-memory", program=release_binary()) as started:
        client = FastClient(started.port)
        stator_process.create_table(client, TABLE)
        stator_process.create_table(client, IN_TABLE)
        attack.create_pages(client)
        for first in range(0, IN_ITEMS, 25):
            puts = [
                {"PutRequest": {"Item": {"pk": {"S": f"i{n}"}, "n": {"N": str(n)}}}}
                for n in range(first, first + 25)
            ]
            status, answer = client.call("BatchWriteItem", {"RequestItems": {IN_TABLE: puts}})
            assert (status, answer) == (200, {"UnprocessedItems": {}})
        client.close()
        yield started
        started.stop()


def in_scan():
    values = [{"N": str(1_000_000 + n)} for n in range(IN_VALUES)]
    condition = {"ComparisonOperator": "IN", "AttributeValueList": values}
    return {"TableName": IN_TABLE, "ScanFilter": {"n": condition}, "Select": "COUNT"}


def test_scans_with_a_very_long_in(server, tmp_path):
    scan = attack.write_request(tmp_path / "in.http", "Scan", in_scan())
    stand(server, "turns", IN_CLIENTS, scan)


def test_a_very_long_in_judges_all_items_of_a_page(server):
    client = FastClient(server.port)
    body = in_scan()
    body["ScanFilter"]["n"]["AttributeValueList"] += [{"N": "17.0"}, {"N": "7999"}]
    status, answer = client.call("Scan", body)
    assert (status, answer) == (200, {"Count": 2, "ScannedCount": IN_ITEMS})
    client.close()


def test_new_connections_with_a_scan_each(server, tmp_path):
    stand(server, "newcomers", NEWCOMERS, attack.write_scan(tmp_path / "scan.http"))


def test_connections_with_light_queries_and_heavy_scans_in_turns(server, tmp_path):
    query = attack.write_request(
        tmp_path / "query.http",
        "Query",
        {
            "TableName": attack.PAGE_TABLE,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": "nobody"}},
        },
    )
    scan = attack.write_scan(tmp_path / "scan.http")
    stand(server, "turns", TURNS_CLIENTS, query, scan)


def test_conditions_that_look_for_many_texts(server, tmp_path):
    """215 texts of 300 bytes in one of 390 KB, all of two letters: what takes longest to search."""
    numbers = random.Random(15)

    def text(size):
        return "".join(numbers.choices("ab", k=size))

    client = FastClient(server.port)
    item = {"pk": {"S": "long"}, "t": {"S": text(390 * 1024)}}
    assert client.call("PutItem", {"TableName": IN_TABLE, "Item": item})[0] == 200
    client.close()
    values = {f":{n:x}": {"S": text(300)} for n in range(215)}
    update = {
        "TableName": IN_TABLE,
        "Key": {"pk": {"S": "long"}},
        "UpdateExpression": "REMOVE n",
        "ConditionExpression": " OR ".join(f"contains(t,{name})" for name in values),
        "ExpressionAttributeValues": values,
    }
    path = attack.write_request(tmp_path / "update.http", "UpdateItem", update)
    stand(server, "turns", CONDITION_CLIENTS, path, status="400")


def test_a_filter_that_costs_too_much_ends_its_pages(server):
    """It counts the characters of 40 KB of each item 150 times: 6 million units of 100 million that
    a page may cost. All pages together judge every item."""
    client = FastClient(server.port)
    body = {
        "TableName": attack.PAGE_TABLE,
        "FilterExpression": " OR ".join(["size(#p) = :v"] * 150),
        "ExpressionAttributeNames": {"#p": "pad"},
        "ExpressionAttributeValues": {":v": {"N": "1"}},
    }
    scanned = []
    while not scanned or "ExclusiveStartKey" in body:
        status, answer = client.call("Scan", body)
        assert status == 200 and answer["Count"] == 0, answer
        scanned.append(answer["ScannedCount"])
        body.pop("ExclusiveStartKey", None)
        if "LastEvaluatedKey" in answer:
            body["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    assert scanned == [17, attack.PAGE_ITEMS - 17]
    client.close()


LARGE, LARGE_ITEMS, LARGE_ITEM_SIZE = "large", 25, 395_000
LARGE_READ = 10  # What one answer may have: 4 MB.
LARGE_CLIENTS = 4


@pytest.fixture(scope="module")
def large_puts(server):
    """A request that stores all large items."""
    client = FastClient(server.port)
    stator_process.create_table(client, LARGE)
    pad = {"S": "p" * LARGE_ITEM_SIZE}
    puts = [{"PutRequest": {"Item": {"pk": {"S": str(n)}, "pad": pad}}} for n in range(LARGE_ITEMS)]
    request = {"RequestItems": {LARGE: puts}}
    assert client.call("BatchWriteItem", request) == (200, {"UnprocessedItems": {}})
    client.close()
    return request


def test_transactions_that_read_four_megabytes(server, tmp_path, large_puts):
    gets = [
        {"Get": {"TableName": LARGE, "Key": {"pk": {"S": str(n)}}}} for n in range(LARGE_READ)
    ]
    path = attack.write_request(tmp_path / "get.http", "TransactGetItems", {"TransactItems": gets})
    stand(server, "turns", LARGE_CLIENTS, path)


def test_batches_that_delete_large_items(server, tmp_path, large_puts):
    """A small request, about ten megabytes of items. In turns with one that stores them again."""
    keys = [{"DeleteRequest": {"Key": {"pk": {"S": str(n)}}}} for n in range(LARGE_ITEMS)]
    deletes = attack.write_request(
        tmp_path / "delete.http", "BatchWriteItem", {"RequestItems": {LARGE: keys}}
    )
    puts = attack.write_request(tmp_path / "put.http", "BatchWriteItem", large_puts)
    stand(server, "turns", LARGE_CLIENTS, puts, deletes)


METRICS, METRIC_QUERIES, METRIC_MINUTES = 20, 500, 1000


def test_metrics_of_many_queries(server, tmp_path):
    client = FastClient(server.port)
    now = int(time.time()) // 60 * 60
    for minute in range(0, METRIC_MINUTES, 50):
        data = [
            {"MetricName": f"m{n}", "Value": minute + m, "Timestamp": now - 60 * (minute + m + 1)}
            for n in range(METRICS)
            for m in range(50)
        ]
        status, answer = client.call(
            "cloudwatch:PutMetricData", {"Namespace": "Many", "MetricData": data}
        )
        assert status == 200, answer
    client.close()
    metrics = [{"Namespace": "Many", "MetricName": f"m{n}"} for n in range(METRICS)]
    queries = [
        {"Id": f"q{n}", "MetricStat": {"Metric": metrics[n % METRICS], "Period": 60, "Stat": "Sum"}}
        for n in range(METRIC_QUERIES)
    ]
    body = {
        "MetricDataQueries": queries,
        "StartTime": now - 60 * METRIC_MINUTES,
        "EndTime": now,
    }
    path = attack.write_request(tmp_path / "metrics.http", "cloudwatch:GetMetricData", body)
    stand(server, "turns", LARGE_CLIENTS, path)


def test_bodies_that_inflate_to_the_largest_there_may_be(server, tmp_path):
    body = json.dumps({"TableName": IN_TABLE, "Key": {"pk": {"S": "i1"}}}).encode()
    body = gzip.compress(body.ljust(attack.BODY_SIZE))
    path = attack.write_request(
        tmp_path / "inflate.http", "GetItem", body, **{"Content-Encoding": "gzip"}
    )
    stand(server, "turns", LARGE_CLIENTS, path)


GZIP_CLIENTS = 300  # More than may wait in the background pool, where large answers are compressed.


def test_large_answers_are_compressed_if_there_is_room_for_that(server):
    """Each client that takes gzip gets the page, compressed or not, with the checksum of the bytes
    that travel."""
    headers = {**stator_process.operation_headers("Scan"), "Accept-Encoding": "gzip"}
    body = json.dumps({"TableName": attack.PAGE_TABLE})
    connections = [
        http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for _ in range(GZIP_CLIENTS)
    ]
    for connection in connections:
        connection.request("POST", "/", body, headers)
    pages, encodings = set(), collections.Counter()
    for connection in connections:
        answer = connection.getresponse()
        data = answer.read()
        assert answer.status == 200
        assert int(answer.headers["x-amz-crc32"]) == zlib.crc32(data)
        encodings[answer.headers["Content-Encoding"]] += 1
        pages.add(gzip.decompress(data) if answer.headers["Content-Encoding"] == "gzip" else data)
        connection.close()
    assert encodings["gzip"] > 0 and set(encodings) <= {"gzip", None}, encodings
    assert len(pages) == 1
    page = json.loads(pages.pop())
    assert page["Count"] == len(page["Items"]) > 20


def test_a_server_stops_while_long_reads_wait():
    """In the background pool and on its loops, paused: what they hold of the store is let go of."""
    with stator_process.StatorProcess("--in-memory", program=release_binary()) as started:
        clients = [FastClient(started.port) for _ in range(NEWCOMERS)]
        attack.create_pages(clients[0])
        for client in clients:
            client.send("Scan", {"TableName": attack.PAGE_TABLE})
        status, page = clients[0].receive()
        assert status == 200 and page["Count"] > 20
        started.stop()
        for client in clients:
            client.close()
