"""CloudWatch's operations are the same in JSON, CBOR and the query protocol.

JSON and forms are written and read by botocore, CBOR by a client of ours (protocol_clients.py), so
a wrong type, name or envelope fails here.
"""

import datetime
import gzip
import http.client
import json
import urllib.parse

import botocore.exceptions
import pytest
from protocol_clients import PROTOCOLS, Float, Indefinite, Time, cbor, client, query_code

TARGET = "GraniteServiceVersion20100801"
PATH = f"/service/{TARGET}/operation/"
# A whole minute in the last hour.
MINUTE = datetime.datetime.now(datetime.timezone.utc).replace(
    second=0, microsecond=0
) - datetime.timedelta(minutes=20)
HOST = "a & <b> \"c\" +d%"
HOUR = datetime.timedelta(hours=1)
TRIES = 3


@pytest.fixture(scope="module", name="clients")
def fixture_clients(server_url):
    return {protocol: client("cloudwatch", server_url, protocol) for protocol in PROTOCOLS}



def body_of(answer):
    return {name: value for name, value in answer.items() if name != "ResponseMetadata"}


def refusal(call, **request):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(**request)
    return caught.value.response


def post(url, path, body, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", urllib.parse.urlsplit(url).port)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", path, body, {"Authorization": "none", **names})
    answer = connection.getresponse()
    result = answer.status, answer.headers, answer.read()
    connection.close()
    return result


def post_cbor(url, operation, body, **headers):
    return post(
        url,
        PATH + operation,
        body,
        Content_Type="application/cbor",
        smithy_protocol="rpc-v2-cbor",
        **headers,
    )


def statistics(reader, namespace, name="Load", dimensions=(), **more):
    request = {
        "Statistics": ["SampleCount", "Sum", "Minimum", "Maximum", "Average"],
        **more,
    }
    answer = reader.get_metric_statistics(
        Namespace=namespace,
        MetricName=name,
        Dimensions=[{"Name": key, "Value": value} for key, value in dimensions],
        StartTime=MINUTE - HOUR,
        EndTime=MINUTE + HOUR,
        Period=60,
        **{member: value for member, value in request.items() if value is not None},
    )
    return body_of(answer)


@pytest.mark.parametrize("writing", PROTOCOLS)
def test_what_one_protocol_writes_all_of_them_read(clients, writing):
    namespace = f"Written/{writing}"
    clients[writing].put_metric_data(
        Namespace=namespace,
        MetricData=[
            {
                "MetricName": "Load",
                "Dimensions": [
                    {"Name": "Host", "Value": HOST},
                    {"Name": "Zone", "Value": "eu=1"},
                ],
                "Timestamp": MINUTE,
                "Values": [1.5, 2.25, -3.0],
                "Counts": [1.0, 2.0, 1.0],
                "Unit": "Count",
            },
            {"MetricName": "Plain", "Timestamp": MINUTE, "Value": 0.1},
            {
                "MetricName": "Set",
                "Timestamp": MINUTE,
                "StatisticValues": {"SampleCount": 4, "Sum": 10, "Minimum": 1, "Maximum": 4},
            },
        ],
    )
    dimensions = (("Host", HOST), ("Zone", "eu=1"))
    expected = {
        "Label": "Load",
        "Datapoints": [
            {
                "Timestamp": MINUTE,
                "SampleCount": 4.0,
                "Sum": 3.0,
                "Minimum": -3.0,
                "Maximum": 2.25,
                "Average": 0.75,
                "Unit": "Count",
            }
        ],
    }
    for reader in clients.values():
        assert statistics(reader, namespace, dimensions=dimensions) == expected
        plain = statistics(reader, namespace, "Plain")["Datapoints"]
        assert [point["Sum"] for point in plain] == [0.1]
        whole = statistics(reader, namespace, "Set")["Datapoints"][0]
        assert (whole["SampleCount"], whole["Average"]) == (4.0, 2.5)
        names = reader.list_metrics(Namespace=namespace)["Metrics"]
        assert sorted(metric["MetricName"] for metric in names) == ["Load", "Plain", "Set"]
        load = next(metric for metric in names if metric["MetricName"] == "Load")
        assert {(d["Name"], d["Value"]) for d in load["Dimensions"]} == set(dimensions)
        assert reader.list_metrics(Namespace="Nothing")["Metrics"] == []


def test_maps_of_doubles_are_the_same_in_all_protocols(clients):
    values = [float(value) for value in range(1, 101)]
    clients["cbor"].put_metric_data(
        Namespace="Percentiles",
        MetricData=[{"MetricName": "Load", "Timestamp": MINUTE, "Values": values}],
    )
    answers = [
        statistics(reader, "Percentiles", Statistics=None, ExtendedStatistics=["p50", "p90"])
        for reader in clients.values()
    ]
    assert set(answers[0]["Datapoints"][0]["ExtendedStatistics"]) == {"p50", "p90"}
    assert answers[0] == answers[1] == answers[2]


def test_lists_of_times_and_values_are_the_same_in_all_protocols(clients):
    clients["query"].put_metric_data(
        Namespace="Lists",
        MetricData=[
            {"MetricName": "Load", "Timestamp": MINUTE, "Value": 3},
            {"MetricName": "Load", "Timestamp": MINUTE + datetime.timedelta(minutes=1), "Value": 4},
        ],
    )
    queries = [
        {
            "Id": "load",
            "MetricStat": {
                "Metric": {"Namespace": "Lists", "MetricName": "Load"},
                "Period": 60,
                "Stat": "Sum",
            },
        },
        {"Id": "half", "Expression": "load / 2", "Label": "half <of> it"},
    ]
    answers = [
        body_of(
            reader.get_metric_data(
                MetricDataQueries=queries,
                StartTime=MINUTE - HOUR,
                EndTime=MINUTE + HOUR,
                ScanBy="TimestampAscending",
            )
        )
        for reader in clients.values()
    ]
    assert answers[0] == answers[1] == answers[2]
    load, half = answers[0]["MetricDataResults"]
    assert load["Timestamps"] == [MINUTE, MINUTE + datetime.timedelta(minutes=1)]
    assert (load["Values"], half["Values"]) == ([3.0, 4.0], [1.5, 2.0])
    assert half["Label"] == "half <of> it"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_requests_may_be_compressed(server_url, clients, protocol):
    """Newer SDKs compress those of 10 KB and more."""
    namespace = f"Large/{protocol}"
    data = [
        {"MetricName": f"{index:04}" + "x" * 100, "Timestamp": MINUTE, "Value": index}
        for index in range(300)
    ]
    writer = client("cloudwatch", server_url, protocol, compresses=True)
    writer.put_metric_data(Namespace=namespace, MetricData=data)
    for reader in clients.values():
        metrics = reader.list_metrics(Namespace=namespace)["Metrics"]
        assert len(metrics) == len(data)


# --- Errors ---

ERRORS = [
    ("put_metric_data", {"Namespace": "AWS/Own", "MetricData": [{"MetricName": "x", "Value": 1}]}),
    (
        "put_metric_data",
        {"Namespace": "E", "MetricData": [{"MetricName": "x", "Value": 1, "Values": [1]}]},
    ),
    ("list_metrics", {"NextToken": "nonsense"}),
    (
        "get_metric_statistics",
        {
            "Namespace": "E",
            "MetricName": "x",
            "StartTime": MINUTE,
            "EndTime": MINUTE - HOUR,
            "Period": 60,
            "Statistics": ["Sum"],
        },
    ),
]


@pytest.mark.parametrize(("method", "request_"), ERRORS)
def test_errors_are_the_same_in_all_protocols(clients, method, request_):
    answers = [refusal(getattr(each, method), **request_) for each in clients.values()]
    for answer in answers[1:]:
        assert query_code(answer) == query_code(answers[0])
        assert answer["Error"]["Message"] == answers[0]["Error"]["Message"]
        status = answers[0]["ResponseMetadata"]["HTTPStatusCode"]
        assert answer["ResponseMetadata"]["HTTPStatusCode"] == status
    assert answers[0]["Error"]["Message"]
    assert query_code(answers[0]) != "InternalServiceError"


def test_exceptions_have_their_types_codes_and_headers(server_url):
    """The capture of the real service: type in the body, query code in a header."""
    request = {"Namespace": "E", "MetricData": [{"MetricName": "x", "Value": 1, "Values": [1]}]}
    text = (
        "The parameters MetricData.member.1.Value and MetricData.member.1.Values are mutually "
        "exclusive and you have specified both."
    )
    json_headers = {
        "Content_Type": "application/x-amz-json-1.0",
        "X_Amz_Target": f"{TARGET}.PutMetricData",
    }
    status, headers, body = post(
        server_url, "/", json.dumps(request), x_amzn_query_mode="true", **json_headers
    )
    assert status == 400
    assert json.loads(body) == {
        "__type": "com.amazon.coral.service#InvalidParameterCombinationException",
        "message": text,
    }
    assert headers["x-amzn-query-error"] == "InvalidParameterCombination;Sender"
    assert headers["x-amz-crc32"] is None
    _, headers, _ = post(server_url, "/", json.dumps(request), **json_headers)
    assert headers["x-amzn-query-error"] is None
    status, headers, body = post_cbor(server_url, "PutMetricData", cbor(request))
    assert (status, headers["smithy-protocol"]) == (400, "rpc-v2-cbor")
    assert body == cbor(
        {
            "__type": "com.amazon.coral.service#InvalidParameterCombinationException",
            "message": text,
        }
    )
    form = (
        "Action=PutMetricData&Version=2010-08-01&Namespace=E&MetricData.member.1.MetricName=x&"
        "MetricData.member.1.Value=1&MetricData.member.1.Values.member.1=1"
    )
    status, headers, body = post(
        server_url, "/", form, Content_Type="application/x-www-form-urlencoded"
    )
    identifier = headers["x-amzn-RequestId"]
    assert status == 400
    assert body.decode() == (
        '<ErrorResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/"><Error>'
        f"<Type>Sender</Type><Code>InvalidParameterCombination</Code><Message>{text}</Message>"
        f"</Error><RequestId>{identifier}</RequestId></ErrorResponse>"
    )


# --- CBOR that other clients send ---

EPOCH_S = int(MINUTE.timestamp())
DATUM = {"MetricName": "Load", "Timestamp": Time(EPOCH_S), "Value": 2.5}
FORMS = {
    "definite": {"Namespace": "Forms/definite", "MetricData": [DATUM]},
    "indefinite": Indefinite(
        {
            Indefinite("Namespace"): Indefinite("Forms/indefinite"),
            "MetricData": Indefinite([Indefinite(DATUM)]),
        }
    ),
    "half": {"Namespace": "Forms/half", "MetricData": [{**DATUM, "Value": Float(2.5, 16)}]},
    "single": {"Namespace": "Forms/single", "MetricData": [{**DATUM, "Value": Float(2.5, 32)}]},
    "integer": {
        "Namespace": "Forms/integer",
        "MetricData": [{**DATUM, "Values": [2, 3], "Value": None}],
    },
    "fraction": {
        "Namespace": "Forms/fraction",
        "MetricData": [{**DATUM, "Timestamp": Time(EPOCH_S + 0.25)}],
    },
    "unknown": {"Namespace": "Forms/unknown", "Else": {"a": [b"\x00", True]}, "MetricData": [DATUM]},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_cbor_is_read(server_url, clients, form):
    status, headers, body = post_cbor(server_url, "PutMetricData", cbor(FORMS[form]))
    assert (status, body) == (200, b"\xa0")
    assert headers["smithy-protocol"] == "rpc-v2-cbor"
    points = statistics(clients["cbor"], f"Forms/{form}")["Datapoints"]
    assert [point["Average"] for point in points] == [2.5]
    assert points[0]["Timestamp"] == MINUTE


def test_an_empty_body_is_an_empty_request(server_url):
    status, _, body = post_cbor(server_url, "ListMetrics", b"")
    assert status == 200
    assert body.startswith(b"\xa1gMetrics") or body.startswith(b"\xa2gMetrics")


@pytest.mark.parametrize("body", [b"\xff", b"\xa1", b"\xa0\xa0", b"\xa1\x01\x02", b"\x81" * 50])
def test_malformed_cbor_is_refused(server_url, body):
    status, headers, answer = post_cbor(server_url, "ListMetrics", body)
    assert status == 400
    assert b"SerializationException" in answer
    assert headers["Content-Type"] == "application/cbor"


def test_a_compressed_body_that_is_damaged_or_too_large_is_refused(server_url):
    status, _, answer = post_cbor(
        server_url, "ListMetrics", gzip.compress(b"\xa0")[:-4], Content_Encoding="gzip"
    )
    assert (status, b"SerializationException" in answer) == (400, True)
    large = gzip.compress(b"\x7a\x00\x50\x00\x00" + b"a" * 0x500000)
    status, _, answer = post_cbor(server_url, "ListMetrics", large, Content_Encoding="gzip")
    assert (status, b"RequestEntityTooLargeException" in answer) == (413, True)
    form = gzip.compress(b"Action=ListMetrics&Version=2010-08-01&x=" + b"a" * 0x500000)
    status, _, answer = post(
        server_url,
        "/",
        form,
        Content_Type="application/x-www-form-urlencoded",
        Content_Encoding="gzip",
    )
    assert (status, b"<Code>RequestEntityTooLargeException</Code>" in answer) == (413, True)


def test_little_of_a_compressed_form_is_inflated_before_its_operation_is_known(server_url):
    def status_of(body):
        return post(
            server_url,
            "/",
            body,
            Content_Type="application/x-www-form-urlencoded",
            Content_Encoding="gzip",
        )[0]

    form = gzip.compress(b"Action=ListMetrics&Version=2010-08-01")
    nothing = gzip.compress(b"")
    assert status_of(nothing * 10 + form) == 200
    assert status_of(form + nothing * 1000) == 200
    assert status_of(nothing * 1000 + form) == 404


# --- Alarms and dashboards ---


def same_answer(clients, ask):
    """What all protocols answer. The server judges alarms by itself, perhaps between two answers, so
    they are asked again if they differ."""
    for _ in range(TRIES):
        answers = [ask(reader) for reader in clients.values()]
        if answers[0] == answers[1] == answers[2]:
            break
    assert answers[0] == answers[1] == answers[2]
    return answers[0]


def describe_alarm(reader, name):
    (alarm,) = body_of(reader.describe_alarms(AlarmNames=[name], AlarmTypes=["MetricAlarm"]))["MetricAlarms"]
    # Debian's botocore drops members that its model does not know; our CBOR client does not.
    for member in ("StateTransitionedTimestamp", "EvaluationState"):
        alarm.pop(member, None)
    return alarm


@pytest.mark.parametrize("writing", PROTOCOLS)
def test_an_alarm_is_the_same_in_all_protocols(clients, writing):
    name = f"alarm-{writing}"
    clients[writing].put_metric_alarm(
        AlarmName=name,
        AlarmDescription='<&> "quoted" \u00fc',
        Namespace="Alarms",
        MetricName="Load",
        Statistic="Average",
        Dimensions=[{"Name": "Host", "Value": "a"}],
        Period=60,
        EvaluationPeriods=2,
        Threshold=2.5,
        ComparisonOperator="GreaterThanThreshold",
        ActionsEnabled=False,
        Tags=[{"Key": "team", "Value": writing}],
    )
    clients[writing].set_alarm_state(AlarmName=name, StateValue="OK", StateReason="because")
    alarm = same_answer(clients, lambda reader: describe_alarm(reader, name))
    assert alarm["Threshold"] == 2.5
    assert isinstance(alarm["Threshold"], float)
    assert alarm["ActionsEnabled"] is False
    assert alarm["AlarmDescription"] == '<&> "quoted" \u00fc'
    assert isinstance(alarm["StateUpdatedTimestamp"], datetime.datetime)
    history = same_answer(
        clients, lambda reader: body_of(reader.describe_alarm_history(AlarmName=name))
    )
    assert history["AlarmHistoryItems"]
    tags = [
        body_of(reader.list_tags_for_resource(ResourceARN=alarm["AlarmArn"]))
        for reader in clients.values()
    ]
    assert tags[0] == tags[1] == tags[2] == {"Tags": [{"Key": "team", "Value": writing}]}
    clients[writing].delete_alarms(AlarmNames=[name])
    for reader in clients.values():
        assert reader.describe_alarms(AlarmNames=[name])["MetricAlarms"] == []


@pytest.mark.parametrize("writing", PROTOCOLS)
def test_a_dashboard_is_the_same_in_all_protocols(clients, writing):
    name = f"board-{writing}"
    body = json.dumps({"widgets": [{"type": "text", "properties": {"markdown": "a & <b>\n\t%+"}}]})
    clients[writing].put_dashboard(DashboardName=name, DashboardBody=body)
    for reader in clients.values():
        assert json.loads(reader.get_dashboard(DashboardName=name)["DashboardBody"]) == json.loads(
            body
        )
    lists = [
        body_of(reader.list_dashboards(DashboardNamePrefix=name)) for reader in clients.values()
    ]
    assert lists[0] == lists[1] == lists[2]
    assert isinstance(lists[0]["DashboardEntries"][0]["LastModified"], datetime.datetime)
    assert isinstance(lists[0]["DashboardEntries"][0]["Size"], int)
    clients[writing].delete_dashboards(DashboardNames=[name])
    answers = [
        refusal(reader.get_dashboard, DashboardName=name) for reader in clients.values()
    ]
    assert {query_code(answer) for answer in answers} == {"ResourceNotFound"}
    assert {answer["ResponseMetadata"]["HTTPStatusCode"] for answer in answers} == {404}
    answers = [
        refusal(reader.put_dashboard, DashboardName=name, DashboardBody="no json")
        for reader in clients.values()
    ]
    assert {query_code(answer) for answer in answers} == {"InvalidParameterInput"}
    assert len({answer["Error"]["Message"] for answer in answers}) == 1
    messages = answers[PROTOCOLS.index("cbor")]["dashboardValidationMessages"]
    assert [set(message) for message in messages] == [{"DataPath", "Message"}]
