"""The files that deployments upload, by S3's API, and what deployment tools ask before they start."""

import base64
import hashlib
import http.client
import os
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

import boto3
import botocore.config
import botocore.exceptions
import pytest

BUCKET = "cdk-hnb659fds-assets-000000000000-us-east-1"


def client(service, url):
    return boto3.client(service, endpoint_url=url, region_name="us-east-1",
                        aws_access_key_id="test", aws_secret_access_key="test",
                        config=botocore.config.Config(retries={"max_attempts": 1}))


@pytest.fixture
def s3(server_url):
    return client("s3", server_url)


def refusal(call, **arguments):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(**arguments)
    return caught.value.response


def test_a_file_is_stored_listed_read_and_deleted(s3):
    body = os.urandom(100_000)
    s3.put_object(Bucket=BUCKET, Key="dir/a b+c%.zip", Body=body, ContentType="application/zip")
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix="dir/")
    assert [(item["Key"], item["Size"]) for item in found["Contents"]] == [
        ("dir/a b+c%.zip", len(body))]
    assert found["IsTruncated"] is False
    got = s3.get_object(Bucket=BUCKET, Key="dir/a b+c%.zip")
    assert got["Body"].read() == body
    assert got["ContentType"] == "application/zip"
    head = s3.head_object(Bucket=BUCKET, Key="dir/a b+c%.zip")
    assert head["ContentLength"] == len(body) and head["ETag"] == got["ETag"]
    s3.delete_object(Bucket=BUCKET, Key="dir/a b+c%.zip")
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET)
    assert refusal(s3.get_object, Bucket=BUCKET, Key="dir/a b+c%.zip")["Error"]["Code"] == "NoSuchKey"


def test_a_list_has_pages(s3):
    for number in range(5):
        s3.put_object(Bucket=BUCKET, Key=f"page/{number}", Body=b"x")
    s3.put_object(Bucket=BUCKET + "-2", Key="page/other", Body=b"x")
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=BUCKET, Prefix="page/", PaginationConfig={"PageSize": 2})
    keys = [[item["Key"] for item in page["Contents"]] for page in pages]
    assert keys == [["page/0", "page/1"], ["page/2", "page/3"], ["page/4"]]


def test_a_list_is_grouped_by_a_delimiter(s3):
    keys = ["a", "b/1", "b/2", "b/c/3", "d", "e/4"]
    for key in keys:
        s3.put_object(Bucket="cdk-tree", Key=key, Body=b"x")

    def listed(**how):
        """What each page has."""
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket="cdk-tree", **how)
        found = []
        for page in pages:
            names = [item["Key"] for item in page.get("Contents", [])]
            names += [item["Prefix"] for item in page.get("CommonPrefixes", [])]
            assert page["KeyCount"] == len(names)
            found.append(names)
        return found

    assert listed() == listed(Delimiter="") == [keys]
    assert listed(Delimiter="/") == [["a", "d", "b/", "e/"]]
    assert listed(Delimiter="/", Prefix="b/") == [["b/1", "b/2", "b/c/"]]
    assert listed(Delimiter="b/") == [["a", "d", "e/4", "b/"]]
    assert listed(Delimiter="/", Prefix="nothing") == [[]]
    for size, pages in [(1, [["a"], ["b/"], ["d"], ["e/"]]), (2, [["a", "b/"], ["d", "e/"]]),
                        (3, [["a", "d", "b/"], ["e/"]]), (4, [["a", "d", "b/", "e/"]])]:
        assert listed(Delimiter="/", PaginationConfig={"PageSize": size}) == pages
    for key in keys:
        s3.delete_object(Bucket="cdk-tree", Key=key)


def test_a_media_type_is_bounded(s3):
    s3.put_object(Bucket=BUCKET, Key="type", Body=b"x", ContentType="t" * 255)
    error = refusal(s3.put_object, Bucket=BUCKET, Key="type", Body=b"y", ContentType="t" * 256)
    assert error["Error"]["Code"] == "InvalidArgument"
    assert error["Error"]["Message"] == "A Content-Type has at most 255 bytes, in UTF-8"
    got = s3.get_object(Bucket=BUCKET, Key="type")
    assert (got["Body"].read(), got["ContentType"]) == (b"x", "t" * 255)
    s3.delete_object(Bucket=BUCKET, Key="type")


def test_only_buckets_of_deployment_tools_exist(s3):
    s3.head_bucket(Bucket=BUCKET)
    s3.create_bucket(Bucket="aws-sam-cli-managed-default-x")
    assert s3.get_bucket_location(Bucket=BUCKET)["LocationConstraint"] == "us-east-1"
    assert refusal(s3.get_bucket_encryption, Bucket=BUCKET)["Error"]["Code"] == (
        "ServerSideEncryptionConfigurationNotFoundError")
    assert refusal(s3.put_object, Bucket="other", Key="a", Body=b"x")["Error"]["Code"] == (
        "NoSuchBucket")
    assert refusal(s3.list_buckets)["Error"]["Code"] == "NotImplemented"


def test_the_bootstrap_version_is_a_parameter_and_others_are_missing(server_url):
    ssm = client("ssm", server_url)
    answer = ssm.get_parameter(Name="/cdk-bootstrap/hnb659fds/version")["Parameter"]
    assert int(answer["Value"]) >= 6
    assert refusal(ssm.get_parameter, Name="/other")["Error"]["Code"] == "ParameterNotFound"


def test_without_auth_a_role_has_credentials(server_url):
    answer = client("sts", server_url).assume_role(
        RoleArn="arn:aws:iam::000000000000:role/cdk-deploy", RoleSessionName="me",
        DurationSeconds=900)
    assert answer["AssumedRoleUser"]["Arn"] == (
        "arn:aws:sts::000000000000:assumed-role/cdk-deploy/me")
    assert {"AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"} <= set(
        answer["Credentials"])


# --- What is not about a file's content ---


def send(server_url, method, target, body=b"", **headers):
    """A request as no SDK sends it: (status, body)."""
    address = urllib.parse.urlsplit(server_url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    credential = "Credential=test/20260101/us-east-1/s3/aws4_request"
    connection.request(method, f"/{BUCKET}{target}", body, {
        "Authorization": f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=00",
        **{name.replace("_", "-"): value for name, value in headers.items()}})
    answer = connection.getresponse()
    result = answer.status, answer.read()
    connection.close()
    return result


@pytest.mark.parametrize("method, query, headers", [
    ("PUT", "?acl", {}), ("PUT", "?tagging", {}), ("PUT", "?tagging=&x-id=PutObjectTagging", {}),
    ("PUT", "?x-id=PutObject&retention", {}), ("PUT", "?%61cl", {}), ("PUT", "?versionId=1", {}),
    ("PUT", "?uploadId=a", {}), ("PUT", "?partNumber=1&uploadId=a&acl", {}),
    ("PUT", "?uploads", {}), ("DELETE", "?tagging", {}), ("DELETE", "?versionId=1", {}),
    ("DELETE", "?uploadId=a&tagging", {}), ("GET", "?uploadId=a&x-id=ListParts", {}),
    ("GET", "?tagging&x-id=GetObjectTagging", {}), ("GET", "?acl", {}),
    ("POST", "?uploads&tagging", {}), ("POST", "?restore", {}), ("POST", "", {}),
    ("PUT", "", {"x_amz_copy_source": f"/{BUCKET}/other"}),
    ("PUT", "", {"If_None_Match": "*"}), ("PUT", "", {"If_Match": '"a"'}),
    ("DELETE", "", {"If_Match": '"a"'}), ("GET", "", {"If_None_Match": '"a"'}),
])
def test_a_request_about_something_else_is_refused_and_changes_nothing(
        s3, server_url, method, query, headers):
    s3.put_object(Bucket=BUCKET, Key="sub", Body=b"content")
    status, body = send(server_url, method, "/sub" + query, b"<Xml/>", **headers)
    assert status == 501 and b"<Code>NotImplemented</Code>" in body
    assert s3.get_object(Bucket=BUCKET, Key="sub")["Body"].read() == b"content"
    s3.delete_object(Bucket=BUCKET, Key="sub")


@pytest.mark.parametrize("query", ["?start-after=a&list-type=2", "?list-type=2&acl", "?uploads",
                                   "?location&acl", "?versions", "?acl"])
def test_a_request_about_a_bucket_is_known_as_a_whole(server_url, query):
    assert send(server_url, "GET", query)[0] == 501


def test_a_digest_of_the_content_is_verified(s3, server_url):
    right = base64.b64encode(hashlib.md5(b"right").digest()).decode()
    assert send(server_url, "PUT", "/digest", b"right", Content_MD5=right)[0] == 200
    for wrong, code in ((base64.b64encode(bytes(16)).decode(), b"BadDigest"),
                        ("AAAA", b"InvalidDigest"), ("", b"InvalidDigest"),
                        ("*" * 24, b"InvalidDigest")):
        status, body = send(server_url, "PUT", "/digest", b"wrong", Content_MD5=wrong)
        assert status == 400 and b"<Code>" + code + b"</Code>" in body
    assert s3.get_object(Bucket=BUCKET, Key="digest")["Body"].read() == b"right"
    s3.delete_object(Bucket=BUCKET, Key="digest")


def test_a_file_is_read_if_its_tag_is_the_expected_one(s3):
    etag = s3.put_object(Bucket=BUCKET, Key="tag", Body=b"0123456789")["ETag"]
    for wanted in (etag, etag.strip('"'), "*"):
        got = s3.get_object(Bucket=BUCKET, Key="tag", IfMatch=wanted, Range="bytes=0-2")
        assert got["Body"].read() == b"012"
    error = refusal(s3.get_object, Bucket=BUCKET, Key="tag", IfMatch='"other"')
    assert error["Error"]["Code"] == "PreconditionFailed"
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 412
    s3.delete_object(Bucket=BUCKET, Key="tag")


def test_an_empty_media_type_is_none(s3, server_url):
    status, body = send(server_url, "POST", "/untyped?uploads", Content_Type="")
    assert status == 200
    upload = re.search(rb"<UploadId>(.*)</UploadId>", body)[1].decode()
    complete(s3, "untyped", upload, [put_part(s3, "untyped", upload, 1, b"x")])
    assert s3.get_object(Bucket=BUCKET, Key="untyped")["ContentType"] == "binary/octet-stream"
    s3.delete_object(Bucket=BUCKET, Key="untyped")


# --- Uploads in parts ---

MEGABYTE = 1024 * 1024
PART_MIN = 5 * MEGABYTE
FILE_MAX = 64 * MEGABYTE


def begin(s3, key, **more):
    return s3.create_multipart_upload(Bucket=BUCKET, Key=key, **more)["UploadId"]


def put_part(s3, key, upload, number, body):
    answer = s3.upload_part(Bucket=BUCKET, Key=key, UploadId=upload, PartNumber=number, Body=body)
    return {"ETag": answer["ETag"], "PartNumber": number}


def complete(s3, key, upload, parts):
    return s3.complete_multipart_upload(Bucket=BUCKET, Key=key, UploadId=upload,
                                        MultipartUpload={"Parts": parts})


def completion_refusal(s3, key, upload, parts):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        complete(s3, key, upload, parts)
    return caught.value.response["Error"]["Code"]


def test_the_cli_copies_a_file_of_20_megabytes_both_ways(server_url, tmp_path):
    if shutil.which("aws") is None:
        pytest.skip("there is no AWS CLI on this machine")
    source, copy = tmp_path / "code.zip", tmp_path / "copy.zip"
    source.write_bytes(os.urandom(20 * MEGABYTE))
    variables = {**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
                 "AWS_DEFAULT_REGION": "us-east-1"}
    for here, there in ((str(source), f"s3://{BUCKET}/big/code.zip"),
                        (f"s3://{BUCKET}/big/code.zip", str(copy))):
        subprocess.run(["aws", "--endpoint-url", server_url, "s3", "cp", here, there],
                       env=variables, check=True, capture_output=True, timeout=120)
    assert copy.read_bytes() == source.read_bytes()


def test_parts_become_one_file_with_the_media_type_of_the_upload(s3):
    upload = begin(s3, "parts/a", ContentType="application/zip")
    first, last = os.urandom(PART_MIN), os.urandom(100)
    parts = [put_part(s3, "parts/a", upload, 2, first), put_part(s3, "parts/a", upload, 7, b"old")]
    parts[1] = put_part(s3, "parts/a", upload, 7, last)  # Sent again, it replaces the one before.
    put_part(s3, "parts/a", upload, 9, b"not in the list")
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET, Prefix="parts/")
    etag = complete(s3, "parts/a", upload, parts)["ETag"]
    got = s3.get_object(Bucket=BUCKET, Key="parts/a")
    assert got["Body"].read() == first + last
    assert (got["ContentType"], got["ETag"]) == ("application/zip", etag)
    assert completion_refusal(s3, "parts/a", upload, parts) == "NoSuchUpload"
    s3.delete_object(Bucket=BUCKET, Key="parts/a")


def test_an_upload_that_is_aborted_leaves_nothing(s3):
    upload = begin(s3, "parts/b")
    part = put_part(s3, "parts/b", upload, 1, b"x")
    s3.abort_multipart_upload(Bucket=BUCKET, Key="parts/b", UploadId=upload)
    assert completion_refusal(s3, "parts/b", upload, [part]) == "NoSuchUpload"
    assert refusal(s3.abort_multipart_upload, Bucket=BUCKET, Key="parts/b",
                   UploadId=upload)["Error"]["Code"] == "NoSuchUpload"
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET, Prefix="parts/")


def test_a_completion_is_refused_for_s3s_reasons(s3):
    upload = begin(s3, "parts/c")
    small = put_part(s3, "parts/c", upload, 1, os.urandom(PART_MIN - 1))
    last = put_part(s3, "parts/c", upload, 2, b"x")
    assert completion_refusal(s3, "parts/c", upload, [small, last]) == "EntityTooSmall"
    assert completion_refusal(s3, "parts/c", upload, [last, small]) == "InvalidPartOrder"
    assert completion_refusal(s3, "parts/c", upload, [last, last]) == "InvalidPartOrder"
    assert completion_refusal(s3, "parts/c", upload, []) == "MalformedXML"
    other = {"ETag": small["ETag"], "PartNumber": 2}
    assert completion_refusal(s3, "parts/c", upload, [other]) == "InvalidPart"
    missing = {"ETag": last["ETag"], "PartNumber": 3}
    assert completion_refusal(s3, "parts/c", upload, [missing]) == "InvalidPart"
    assert completion_refusal(s3, "parts/other", upload, [last]) == "NoSuchUpload"
    for number in (0, 10001):
        with pytest.raises(botocore.exceptions.ClientError) as caught:
            put_part(s3, "parts/c", upload, number, b"x")
        assert caught.value.response["Error"]["Code"] == "InvalidArgument"
    for wrong in ("", "x", "/" * 36, upload + "/00001", upload.upper() + "x"):
        with pytest.raises((botocore.exceptions.ClientError,
                            botocore.exceptions.ParamValidationError)) as caught:
            put_part(s3, "parts/c", wrong, 1, b"x")
        if isinstance(caught.value, botocore.exceptions.ClientError):
            assert caught.value.response["Error"]["Code"] == "NoSuchUpload"
    s3.abort_multipart_upload(Bucket=BUCKET, Key="parts/c", UploadId=upload)


def test_a_file_has_64_megabytes_at_most(s3):
    upload = begin(s3, "parts/d")
    body = bytes(8 * MEGABYTE)
    parts = [put_part(s3, "parts/d", upload, n, body) for n in range(1, FILE_MAX // len(body) + 1)]
    extra = put_part(s3, "parts/d", upload, 100, b"x")
    assert completion_refusal(s3, "parts/d", upload, parts + [extra]) == "EntityTooLarge"
    complete(s3, "parts/d", upload, parts)
    assert s3.head_object(Bucket=BUCKET, Key="parts/d")["ContentLength"] == FILE_MAX
    s3.delete_object(Bucket=BUCKET, Key="parts/d")


def test_of_101_uploads_the_oldest_is_forgotten(s3):
    uploads = [begin(s3, f"many/{number}") for number in range(101)]
    first = refusal(s3.upload_part, Bucket=BUCKET, Key="many/0", UploadId=uploads[0],
                    PartNumber=1, Body=b"x")
    assert first["Error"]["Code"] == "NoSuchUpload"
    put_part(s3, "many/1", uploads[1], 1, b"x")
    for number in range(1, 101):
        s3.abort_multipart_upload(Bucket=BUCKET, Key=f"many/{number}", UploadId=uploads[number])


@pytest.mark.parametrize("header, expected", [
    ("bytes=0-2", b"012"), ("bytes=3-", b"3456789"), ("bytes=-4", b"6789"), ("bytes=8-99", b"89"),
    ("bytes=-99", b"0123456789"), ("lines=1-2", None), ("bytes=5-3", None), ("bytes=x", None),
])
def test_a_range_of_a_file_is_read(s3, header, expected):
    s3.put_object(Bucket=BUCKET, Key="range", Body=b"0123456789")
    got = s3.get_object(Bucket=BUCKET, Key="range", Range=header)
    status = got["ResponseMetadata"]["HTTPStatusCode"]
    assert (got["Body"].read(), status) == ((expected, 206) if expected else (b"0123456789", 200))
    for empty in ("bytes=10-", "bytes=-0"):
        error = refusal(s3.get_object, Bucket=BUCKET, Key="range", Range=empty)
        assert error["Error"]["Code"] == "InvalidRange"


def test_a_part_is_no_template(s3, server_url):
    upload = begin(s3, "parts/e")
    put_part(s3, "parts/e", upload, 1, b'{"Resources": {}}')
    url = f"{server_url}//{upload}/00001"
    error = refusal(client("cloudformation", server_url).validate_template, TemplateURL=url)
    assert error["Error"]["Message"] == "TemplateURL must be a supported URL."
    s3.abort_multipart_upload(Bucket=BUCKET, Key="parts/e", UploadId=upload)


def request_memory(server_url):
    with urllib.request.urlopen(server_url + "/metrics", timeout=60) as page:
        text = page.read().decode()
    return float(re.search(r"^stator_request_memory_bytes (\S+)", text, re.MULTILINE)[1])


def test_an_answer_that_waits_for_its_client_holds_the_asked_bytes_once(s3, server_url):
    size, clients = 12 * MEGABYTE, 4
    s3.put_object(Bucket=BUCKET, Key="unread", Body=bytes(size))
    address = urllib.parse.urlsplit(server_url)
    sockets = []
    for _ in range(clients):
        waiting = socket.socket()
        waiting.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        waiting.connect((address.hostname, address.port))
        waiting.sendall(f"GET /{BUCKET}/unread HTTP/1.1\r\nHost: h\r\nAuthorization: "
                        "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, "
                        "SignedHeaders=host, Signature=00\r\n\r\n".encode())
        assert waiting.recv(12) == b"HTTP/1.1 200"
        sockets.append(waiting)
    used = request_memory(server_url)
    for waiting in sockets:
        waiting.close()
    assert clients * size <= used < clients * size * 1.2
    head = s3.head_object(Bucket=BUCKET, Key="unread", Range="bytes=5-14")
    assert head["ContentLength"] == 10
    assert head["ResponseMetadata"]["HTTPHeaders"]["content-range"] == f"bytes 5-14/{size}"
    s3.delete_object(Bucket=BUCKET, Key="unread")
