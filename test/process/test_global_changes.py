"""What replication does beside the items: streams, triggers and time to live of each region."""

import re
import subprocess
import time
import urllib.request

from function_target import FunctionTarget
from global_tables import Regions, create_table
from stator_process import Connection, binary

HOME, AWAY, THIRD = "eu-west-1", "us-east-1", "us-west-2"
EXPIRES_IN_S = 4


def put(regions, region, key, **more):
    item = {"p": {"S": key}, **more}
    regions.clients[region].put_item(TableName="Tab", Item=item)


def wait_until(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def statuses(regions, region):
    table = regions.clients[region].describe_table(TableName="Tab")["Table"]
    return [replica["ReplicaStatus"] for replica in table.get("Replicas", [])
            if replica["RegionName"] != region]


def remove_replica(regions, region, removed):
    regions.clients[region].update_table(
        TableName="Tab", ReplicaUpdates=[{"Delete": {"RegionName": removed}}]
    )


def make_replicas(regions):
    create_table(regions.clients[HOME])
    regions.add_replica(HOME, AWAY)


def test_the_stream_of_each_region_has_all_changes(tmp_path):
    with Regions(tmp_path, [HOME, AWAY]) as regions:
        make_replicas(regions)
        for number in range(30):
            region = (HOME, AWAY)[number % 2]
            put(regions, region, f"k{number % 7}", v={"S": f"{region} {number}"})
            if number % 5 == 0:
                key = {"p": {"S": f"k{(number + 3) % 7}"}}
                regions.clients[region].delete_item(TableName="Tab", Key=key)
        put(regions, HOME, "last", v={"S": "x"})
        put(regions, AWAY, "end", v={"S": "x"})
        for region, key in ((AWAY, "last"), (HOME, "end")):
            wait_until(lambda: {"S": key} in [i["p"] for i in regions.items(region)], key)
        regions.wait_until_equal()
        for region in (HOME, AWAY):
            found = regions.replay(region)
            assert found.record_count >= 7 and found.expired_count == 0


def test_a_trigger_is_called_with_replicated_changes(tmp_path):
    with Regions(tmp_path, [HOME, AWAY]) as regions, FunctionTarget() as target:
        make_replicas(regions)
        words = ["--table", "Tab", "--url", target.url, "--endpoint", regions.servers[AWAY].url]
        result = subprocess.run(
            [binary(), "trigger", "add", *words],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        put(regions, HOME, "from home", v={"S": "x"})
        wait_until(lambda: target.delivered(), "a call")
        (record,) = target.delivered()
        assert record["dynamodb"]["Keys"] == {"p": {"S": "from home"}}
        assert record["awsRegion"] == AWAY and "userIdentity" not in record


def expires(second):
    return {"N": str(second)}


def test_no_renewal_that_was_made_in_time_is_lost(tmp_path):
    with Regions(tmp_path, [HOME, AWAY], flags=["--ttl-interval", "50"]) as regions:
        create_table(regions.clients[HOME])
        ttl = {"Enabled": True, "AttributeName": "e"}
        regions.clients[HOME].update_time_to_live(TableName="Tab", TimeToLiveSpecification=ttl)
        regions.add_replica(HOME, AWAY)
        second = int(time.time()) + EXPIRES_IN_S
        for key in ("renewed", "gone"):
            put(regions, HOME, key, e=expires(second))
        wait_until(lambda: len(regions.items(AWAY)) == 2, "replication")
        regions.cut(HOME, AWAY)
        put(regions, AWAY, "renewed", e=expires(second + 3600))
        assert time.time() < second, "the machine is too slow for this test"
        wait_until(lambda: time.time() > second + 2, "expiry")
        # By its own clock it is over, but what the other region did meanwhile is unknown.
        assert [item["p"]["S"] for item in regions.items(HOME)] == ["gone", "renewed"]
        regions.cut(HOME, AWAY, False)
        renewed = [{"p": {"S": "renewed"}, "e": expires(second + 3600)}]
        wait_until(lambda: regions.items(HOME) == renewed, "the deletion")
        wait_until(lambda: regions.items(AWAY) == renewed, "its replication")
        # The service is named where the item expired, and nowhere else.
        assert regions.replay(HOME).expired_count == 1
        assert regions.replay(AWAY).expired_count == 0


def test_no_renewal_that_a_lost_region_sent_to_some_only_is_lost(tmp_path):
    with Regions(tmp_path, [HOME, AWAY, THIRD], flags=["--ttl-interval", "50"]) as regions:
        create_table(regions.clients[HOME])
        ttl = {"Enabled": True, "AttributeName": "e"}
        regions.clients[HOME].update_time_to_live(TableName="Tab", TimeToLiveSpecification=ttl)
        regions.add_replica(HOME, AWAY)
        wait_until(lambda: statuses(regions, HOME) == ["ACTIVE"], "the second region")
        regions.add_replica(HOME, THIRD)
        wait_until(lambda: statuses(regions, AWAY) == ["ACTIVE"] * 2, "the third region")
        second = int(time.time()) + EXPIRES_IN_S
        renewed = [{"p": {"S": "renewed"}, "e": expires(second + 3600)}]
        put(regions, HOME, "renewed", e=expires(second))
        wait_until(lambda: len(regions.items(THIRD)) == 1, "replication")
        regions.cut(HOME, THIRD)
        put(regions, THIRD, "renewed", e=expires(second + 3600))
        wait_until(lambda: regions.items(AWAY) == renewed, "the renewal in one region")
        # Nobody passes on what another region wrote, until that one is taken out.
        regions.kill(THIRD)
        remove_replica(regions, AWAY, THIRD)
        wait_until(lambda: "DELETING" in statuses(regions, HOME), "the removal")
        wait_until(lambda: time.time() > second + 2, "expiry")
        remove_replica(regions, AWAY, THIRD)
        wait_until(lambda: regions.items(HOME) == renewed, "the renewal in the other region")
        assert regions.items(AWAY) == renewed


def metrics(regions, region):
    page = urllib.request.urlopen(f"{regions.servers[region].url}/metrics").read().decode()
    return dict(re.findall(r'^stator_replication_(\w+)\{region="us-east-1"\} (\S+)$', page, re.M))


def test_metrics_tell_whether_a_region_is_reached_and_how_far_it_is_behind(tmp_path):
    with Regions(tmp_path, [HOME, AWAY]) as regions:
        assert metrics(regions, HOME) == {}
        make_replicas(regions)
        put(regions, HOME, "a")
        wait_until(lambda: len(regions.items(AWAY)) == 1, "replication")
        wait_until(lambda: "lag_seconds" in metrics(regions, HOME), "the first closed time")
        found = metrics(regions, HOME)
        assert (found["reached"], found["sent_items_total"]) == ("1", "1")
        assert found["refused_tables"] == "0"
        regions.cut(HOME, AWAY)
        wait_until(lambda: metrics(regions, HOME)["reached"] == "0", "the cut")
        wait_until(lambda: float(metrics(regions, HOME)["lag_seconds"]) > 2, "the lag")


def test_the_latency_is_a_metric_of_the_region_that_writes(tmp_path):
    with Regions(tmp_path, [HOME, AWAY], flags=["--metrics-interval", "100"]) as regions:
        make_replicas(regions)
        put(regions, AWAY, "k", v={"S": "x"})
        connection = Connection(regions.servers[AWAY].port)  # It signs for that region.
        request = {
            "Namespace": "AWS/DynamoDB",
            "MetricName": "ReplicationLatency",
            "Dimensions": [
                {"Name": "TableName", "Value": "Tab"},
                {"Name": "ReceivingRegion", "Value": HOME},
            ],
            "StartTime": int(time.time()) - 600,
            "EndTime": int(time.time()) + 600,
            "Period": 3600,
            "Statistics": ["SampleCount", "Minimum", "Maximum"],
        }
        found = []

        def is_there():
            status, answer = connection.call("cloudwatch:GetMetricStatistics", request)
            assert status == 200, answer
            found[:] = answer["Datapoints"]
            return found

        wait_until(is_there, "a sample")
        assert found[0]["SampleCount"] >= 1 and found[0]["Unit"] == "Milliseconds"
        assert 0 <= found[0]["Minimum"] <= found[0]["Maximum"] < 60_000
        connection.close()
