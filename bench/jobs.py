"""jobs.py -- restoring, exporting and importing a table while another client reads it.

Each job runs alone; clients read the source table at a fixed rate until it has ended. Their 99th
percentile is compared with that before, and the CPU time that the server took beyond that of the
reads tells what a job would reach on a core of its own.
"""

import statistics
import time

import measuring
import stator_process
import workload
from fast_client import FastClient

ITEMS = 1_000_000
TABLE = "bench-jobs"
BUCKET = "bench"
CONNECTIONS = 32
RATE_PER_S = 2000
TURN_S = 2
IDLE_TURNS = 5
TIMEOUT_S = 900
POLL_S = 0.05
WANTED_PER_S = {"restore": 100_000, "export": 100_000, "import": 50_000}
WANTED_P99 = 3  # Times that without a job.
FAILURES = ("FAILED", "CANCELLED", "CANCELLING")


def call(client, operation, body):
    status, answer = client.call(operation, body)
    if status != 200:
        raise measuring.MeasuringError(f"{operation}: {answer}")
    return answer


# --- The jobs: each starts one and returns a function that says its state ---


def start_restore(client, arn, _export):
    call(
        client,
        "RestoreTableToPointInTime",
        {"SourceTableArn": arn, "TargetTableName": "bench-restored", "UseLatestRestorableTime": True},
    )
    return lambda: call(client, "DescribeTable", {"TableName": "bench-restored"})["Table"]["TableStatus"]


def start_export(client, arn, export):
    body = {"TableArn": arn, "S3Bucket": BUCKET, "ExportFormat": "DYNAMODB_JSON"}
    answer = call(client, "ExportTableToPointInTime", body)
    export["arn"] = answer["ExportDescription"]["ExportArn"]
    body = {"ExportArn": export["arn"]}
    return lambda: call(client, "DescribeExport", body)["ExportDescription"]["ExportStatus"]


def start_import(client, _arn, export):
    keys = {"KeyType": "HASH", "AttributeName": "pk"}
    answer = call(
        client,
        "ImportTable",
        {
            "ClientToken": "bench",
            "InputFormat": "DYNAMODB_JSON",
            "InputCompressionType": "GZIP",
            "S3BucketSource": {
                "S3Bucket": BUCKET,
                "S3KeyPrefix": f"AWSDynamoDB/{export['arn'].rpartition('/')[2]}/data/",
            },
            "TableCreationParameters": {
                "TableName": "bench-imported",
                "KeySchema": [keys],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        },
    )
    body = {"ImportArn": answer["ImportTableDescription"]["ImportArn"]}
    return lambda: call(client, "DescribeImport", body)["ImportTableDescription"]["ImportStatus"]


JOBS = {"restore": start_restore, "export": start_export, "import": start_import}


# --- Measuring ---


def read_turn(server, requests, item_count):
    return measuring.turn(
        server.port, [server.pid], requests, CONNECTIONS, item_count, TURN_S, rate_per_s=RATE_PER_S
    )


def read_while(server, requests, item_count, state):
    """Reads until the job has ended. Returns the turns, and the seconds until the end."""
    begin, turns = time.monotonic(), []
    with measuring.beside(lambda: wait_for_end(state)) as ended:
        while not ended.done() or not turns:
            turns.append(read_turn(server, requests, item_count))
    return turns, ended.result() - begin


def wait_for_end(state):
    """When the job had ended."""
    deadline = time.monotonic() + TIMEOUT_S
    while (now := state()) not in ("ACTIVE", "COMPLETED"):
        if now in FAILURES or time.monotonic() > deadline:
            raise measuring.MeasuringError(f"the job is {now}")
        time.sleep(POLL_S)
    return time.monotonic()


def run_job(server, client, name, setting, idle):
    used = measuring.cpu_seconds([server.pid])
    state = JOBS[name](client, setting["arn"], setting["export"])
    turns, seconds = read_while(server, setting["requests"], setting["items"], state)
    used = measuring.cpu_seconds([server.pid]) - used
    reads = sum(each["answers"] for each in turns) * idle["cpu_us_per_request"] / 1e6
    measuring.wait_until_idle(server.pid)
    return {
        "seconds": seconds,
        "cpu_s": used - reads,
        "p99_us": statistics.median(each["p99_us"] for each in turns),
        "turns": turns,
    }


def load(program, folder, item_count):
    with stator_process.StatorProcess(
        "--data-dir", str(folder / "data"), "--durability", "os", program=program
    ) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, TABLE)
        specification = {"PointInTimeRecoveryEnabled": True}
        body = {"TableName": TABLE, "PointInTimeRecoverySpecification": specification}
        call(client, "UpdateContinuousBackups", body)
        client.close()
        workload.fill_by_batches(server.port, TABLE, item_count)
        server.stop()


def measure(program, scratch, item_count):
    folder = scratch / "jobs"
    (folder / "buckets" / BUCKET).mkdir(parents=True)
    load(program, folder, item_count)
    requests = workload.write_requests(
        scratch / "jobs-requests", [(1, "GetItem", workload.get(workload.key(), TABLE))]
    )
    flags = ["--data-dir", str(folder / "data"), "--buckets", str(folder / "buckets")]
    with stator_process.StatorProcess(*flags, "--recovery-lag-ms", "0", program=program) as server:
        measuring.wait_until_idle(server.pid)
        client = FastClient(server.port)
        arn = call(client, "DescribeTable", {"TableName": TABLE})["Table"]["TableArn"]
        read_turn(server, requests, item_count)  # Fills the cache.
        idle = measuring.median_of([read_turn(server, requests, item_count) for _ in range(IDLE_TURNS)])
        setting = {"arn": arn, "export": {}, "requests": requests, "items": item_count}
        jobs = {name: run_job(server, client, name, setting, idle) for name in JOBS}
        client.close()
        server.stop()
    return {"items": item_count, "idle_p99_us": idle["p99_us"], "jobs": jobs}


def report(result):
    items, quiet = result["items"], result["idle_p99_us"]
    lines = [
        f"- {items:,} items of {workload.ITEM_SIZE} bytes, beside GetItem at {RATE_PER_S:,} requests/s "
        f"(p99 {quiet:,.0f} us without a job; wanted: at most {WANTED_P99} times that):",
        "",
        "| job | seconds | items/s | items per second of CPU | wanted | p99 us meanwhile | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, job in result["jobs"].items():
        lines.append(
            f"| {name} | {job['seconds']:.1f} | {items / job['seconds']:,.0f} "
            f"| {items / job['cpu_s']:,.0f} | {WANTED_PER_S[name]:,} | {job['p99_us']:,.0f} "
            f"| {job['p99_us'] / quiet:.1f} |"
        )
    return lines
