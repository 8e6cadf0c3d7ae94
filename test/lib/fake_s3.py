"""An S3 server for tests: verifies every signature and payload hash with botocore's signer, keeps
objects in memory, and fails as it is told.

In a Python test: `with FakeS3(buckets=["b"]) as s3`, then `s3.endpoint`, `s3.objects["b"]`,
`s3.fail("slow-down", times=3)`. As a program (for C tests): prints its port and a newline, and
ends with its standard input; POST /_fail with a JSON object of fail()'s arguments, GET /_state.

Kinds of failures:
  slow-down    503 SlowDown, without doing anything
  cut          closes the connection instead of answering, without doing anything
  lost         does what was asked, and closes the connection instead of answering
  error-200    200 with an <Error> (InternalError) in the body, without doing anything
  wrong-etag   does what was asked, and answers with another ETag
  full         507 with QuotaExceeded
  denied       403 with AccessDenied
  no-kms-key   400 with KMS.NotFoundException
  slow         waits for `seconds` before it answers
  garbage      200 with a body that is no XML
"""

import datetime
import hashlib
import http.server
import json
import socket
import sys
import threading
import time
import urllib.parse
import uuid
from xml.sax.saxutils import escape

import botocore.auth
import botocore.awsrequest
import botocore.credentials

ACCESS_KEY = "AKIDFAKES3"
SECRET_KEY = "secret/of+the=fake"
REGION = "us-east-1"
PART_SIZE_MIN = 5 * 1024 * 1024
STATUS = {
    "AccessDenied": 403,
    "EntityTooSmall": 400,
    "InvalidAccessKeyId": 403,
    "InvalidPart": 400,
    "InvalidRange": 416,
    "KMS.NotFoundException": 400,
    "MissingContentLength": 411,
    "NoSuchBucket": 404,
    "NoSuchKey": 404,
    "NoSuchUpload": 404,
    "PreconditionFailed": 412,
    "QuotaExceeded": 507,
    "SignatureDoesNotMatch": 403,
    "SlowDown": 503,
    "XAmzContentSHA256Mismatch": 400,
}
REFUSALS = {
    "slow-down": "SlowDown",
    "full": "QuotaExceeded",
    "denied": "AccessDenied",
    "no-kms-key": "KMS.NotFoundException",
}
MESSAGES = {
    "NoSuchBucket": "The specified bucket does not exist",
    "AccessDenied": "Access Denied",
    "SlowDown": "Please reduce your request rate.",
}


class Refused(Exception):
    pass


class Object:
    def __init__(self, content, etag, encryption=None):
        self.content = content
        self.etag = etag
        self.encryption = encryption


class FakeS3:
    def __init__(self, buckets=("b",), part_size_min=PART_SIZE_MIN, page_size=1000, kms=False):
        self.objects = {name: {} for name in buckets}
        self.uploads = {}  # id -> (bucket, key, {number: (content, etag)})
        self.part_size_min = part_size_min
        self.page_size = page_size
        self.kms = kms  # Encrypts with a key of its own: ETags tell nothing about the content.
        self.failures = []
        self.requests = []  # "METHOD target"
        self.now = time.time  # A test whose server has another clock sets it.
        self.capacity = None  # Bytes of all objects and parts; beyond: QuotaExceeded.
        self.lock = threading.RLock()
        fake = self

        class Handler(_Handler):
            s3 = fake

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def fail(self, kind, times=1, method=None, contains="", seconds=0, skip=0):
        """The next requests whose method and target match fail, after `skip` that do not."""
        with self.lock:
            self.failures.append({
                "kind": kind, "times": times, "method": method, "contains": contains,
                "seconds": seconds, "skip": skip,
            })

    def heal(self):
        with self.lock:
            self.failures = []

    def take_failure(self, method, target):
        with self.lock:
            for failure in self.failures:
                if failure["times"] == 0 or (failure["method"] or method) != method:
                    continue
                if failure["contains"] not in target:
                    continue
                if failure["skip"] > 0:
                    failure["skip"] -= 1
                    continue
                failure["times"] -= 1
                return failure
        return {"kind": "none"}

    def write_key_file(self, path):
        path.write_text(
            f"[default]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n"
        )
        path.chmod(0o600)

    def used(self):
        return sum(len(o.content) for bucket in self.objects.values() for o in bucket.values()) + sum(
            len(content) for upload in self.uploads.values() for content, _ in upload[2].values()
        )


def _quote(text):
    return urllib.parse.quote_plus(text, safe="/")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    s3 = None

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # The client is gone.

    def do(self):
        self.body = b""
        size = self.headers.get("Content-Length")
        if size:
            self.body = self.rfile.read(int(size))
        if self.path.startswith("/_"):
            return self.control()
        failure = self.s3.take_failure(self.command, self.path)
        kind = failure["kind"]
        with self.s3.lock:
            self.s3.requests.append(f"{self.command} {self.path}")
        if kind == "cut":
            return self.cut()
        if kind == "slow":
            time.sleep(failure["seconds"])
        try:
            if kind in REFUSALS:
                raise Refused(REFUSALS[kind])
            if kind == "error-200":
                return self.answer(200, self.error_body("InternalError", "We encountered an internal error."))
            if kind == "garbage":
                return self.answer(200, b"not <xml")
            self.verify()
            with self.s3.lock:
                status, body, headers = self.act()
        except Refused as refused:
            code = str(refused)
            return self.answer(STATUS[code], self.error_body(code, MESSAGES.get(code, code)))
        if kind == "lost":
            return self.cut()
        if kind == "wrong-etag":
            headers = {**headers, "ETag": '"' + "0" * 32 + '"'}
        self.answer(status, body, headers)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do

    def control(self):
        if self.path == "/_fail":
            self.s3.fail(**json.loads(self.body))
            return self.answer(200, b"{}")
        if self.path == "/_heal":
            self.s3.heal()
            return self.answer(200, b"{}")
        state = {
            "uploads": len(self.s3.uploads),
            "requests": self.s3.requests,
            "objects": {
                bucket: {key: [len(o.content), o.etag] for key, o in objects.items()}
                for bucket, objects in self.s3.objects.items()
            },
        }
        self.answer(200, json.dumps(state).encode())

    def cut(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def error_body(self, code, message):
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Error><Code>{code}</Code><Message>{message}</Message><RequestId>FAKE0123456789AB</RequestId>"
            "<HostId>fake+host/id=</HostId></Error>"
        ).encode()

    def answer(self, status, body=b"", headers=None):
        self.send_response(status)
        sent = dict(headers or {})
        sent.setdefault("Content-Length", str(len(body)))
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(body)

    def verify(self):
        fields = {}
        scheme, _, rest = self.headers.get("Authorization", "").partition(" ")
        for part in rest.split(","):
            name, _, value = part.strip().partition("=")
            fields[name] = value
        if scheme != "AWS4-HMAC-SHA256":
            raise Refused("AccessDenied")
        scope = fields["Credential"].split("/")
        if scope[0] != ACCESS_KEY:
            raise Refused("InvalidAccessKeyId")
        if self.command in ("PUT", "POST") and self.headers.get("Content-Length") is None:
            raise Refused("MissingContentLength")
        claimed = self.headers.get("x-amz-content-sha256")
        if claimed != hashlib.sha256(self.body).hexdigest():
            raise Refused("XAmzContentSHA256Mismatch")
        listed = fields["SignedHeaders"].split(";")
        for name in self.headers:
            must = name.lower().startswith("x-amz-") or name.lower() in ("host", "range", "if-match")
            if must and name.lower() not in listed:
                raise Refused("AccessDenied")
        request = botocore.awsrequest.AWSRequest(
            method=self.command,
            url=f"http://{self.headers['Host']}{self.path}",
            headers={name: self.headers[name] for name in listed},
            data=self.body,
        )
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        sent = datetime.datetime.strptime(self.headers["X-Amz-Date"] + "+0000", "%Y%m%dT%H%M%SZ%z")
        if abs(self.s3.now() - sent.timestamp()) > 900:
            raise Refused("AccessDenied")
        signer = botocore.auth.S3SigV4Auth(
            botocore.credentials.Credentials(ACCESS_KEY, SECRET_KEY), "s3", REGION
        )
        text = signer.string_to_sign(request, signer.canonical_request(request))
        if signer.signature(text, request) != fields["Signature"]:
            raise Refused("SignatureDoesNotMatch")

    def act(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        bucket, _, key = urllib.parse.unquote(url.path[1:]).partition("/")
        objects = self.s3.objects.get(bucket)
        if objects is None:
            raise Refused("NoSuchBucket")
        method = self.command
        if not key:
            return self.list_uploads(bucket, query) if "uploads" in query else self.list(objects, query)
        if method == "POST":
            return self.begin(bucket, key) if "uploads" in query else self.complete(objects, query)
        if "uploadId" in query:
            return self.put_part(query) if method == "PUT" else self.abort(query)
        if method == "PUT":
            return self.put(objects, key)
        if method == "DELETE":
            objects.pop(key, None)
            return 204, b"", {}
        return self.get(objects, key)

    def check_capacity(self):
        if self.s3.capacity is not None and self.s3.used() + len(self.body) > self.s3.capacity:
            raise Refused("QuotaExceeded")

    def encryption(self):
        if self.s3.kms:
            return {"x-amz-server-side-encryption": "aws:kms"}
        asked = self.headers.get("x-amz-server-side-encryption")
        return {"x-amz-server-side-encryption": asked} if asked else {}

    def etag_of(self, content):
        return hashlib.md5((b"sealed" if self.s3.kms else b"") + content).hexdigest()

    def put(self, objects, key):
        self.check_capacity()
        objects[key] = Object(self.body, self.etag_of(self.body), self.encryption())
        return 200, b"", {"ETag": f'"{objects[key].etag}"', **self.encryption()}

    def get(self, objects, key):
        found = objects.get(key)
        if found is None:
            raise Refused("NoSuchKey")
        wanted = self.headers.get("If-Match")
        if wanted is not None and wanted.strip('"') != found.etag:
            raise Refused("PreconditionFailed")
        headers = {"ETag": f'"{found.etag}"'}
        if self.command == "HEAD":
            return 200, b"", {**headers, "Content-Length": str(len(found.content))}
        asked = self.headers.get("Range")
        if asked is None:
            return 200, found.content, headers
        first, last = (int(text) for text in asked.removeprefix("bytes=").split("-"))
        if first >= len(found.content):
            raise Refused("InvalidRange")
        piece = found.content[first : last + 1]
        headers["Content-Range"] = f"bytes {first}-{first + len(piece) - 1}/{len(found.content)}"
        return 206, piece, headers

    def begin(self, bucket, key):
        number = uuid.uuid4().hex
        self.s3.uploads[number] = (bucket, key, {})
        body = (
            '<InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Bucket>{bucket}</Bucket><Key>{escape(key)}</Key><UploadId>{number}</UploadId>"
            "</InitiateMultipartUploadResult>"
        )
        return 200, body.encode(), self.encryption()

    def upload(self, query):
        upload = self.s3.uploads.get(query["uploadId"])
        if upload is None:
            raise Refused("NoSuchUpload")
        return upload

    def put_part(self, query):
        self.check_capacity()
        etag = self.etag_of(self.body)
        self.upload(query)[2][int(query["partNumber"])] = (self.body, etag)
        return 200, b"", {"ETag": f'"{etag}"', **self.encryption()}

    def abort(self, query):
        self.upload(query)
        del self.s3.uploads[query["uploadId"]]
        return 204, b"", {}

    def complete(self, objects, query):
        import xml.etree.ElementTree

        _, key, parts = self.upload(query)
        named = [
            (int(part.find("PartNumber").text), part.find("ETag").text.strip('"'))
            for part in xml.etree.ElementTree.fromstring(self.body)
        ]
        if not named or [number for number, _ in named] != sorted(number for number, _ in named):
            raise Refused("InvalidPart")
        contents, digests = [], b""
        for number, etag in named:
            if number not in parts or parts[number][1] != etag:
                raise Refused("InvalidPart")
            contents.append(parts[number][0])
            digests += bytes.fromhex(etag)
        if any(len(content) < self.s3.part_size_min for content in contents[:-1]):
            raise Refused("EntityTooSmall")
        etag = f"{hashlib.md5(digests).hexdigest()}-{len(named)}"
        objects[key] = Object(b"".join(contents), etag)
        del self.s3.uploads[query["uploadId"]]
        body = f"<CompleteMultipartUploadResult><Key>{escape(key)}</Key><ETag>&quot;{etag}&quot;</ETag></CompleteMultipartUploadResult>"
        return 200, body.encode(), {}

    def list(self, objects, query):
        keys = sorted(
            (key for key in objects if key.startswith(query.get("prefix", "")) and key > query.get("start-after", "")),
            key=lambda key: key.encode(),
        )
        page = keys[: min(self.s3.page_size, int(query.get("max-keys", 1000)))]
        quote = _quote if query.get("encoding-type") == "url" else escape
        entries = "".join(
            f"<Contents><Key>{quote(key)}</Key><LastModified>2026-11-16T00:00:00.000Z</LastModified>"
            f"<ETag>&quot;{objects[key].etag}&quot;</ETag><Size>{len(objects[key].content)}</Size></Contents>"
            for key in page
        )
        more = "true" if len(page) < len(keys) else "false"
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Prefix>{quote(query.get('prefix', ''))}</Prefix><KeyCount>{len(page)}</KeyCount>"
            f"<IsTruncated>{more}</IsTruncated>{entries}</ListBucketResult>"
        )
        return 200, body.encode(), {}

    def list_uploads(self, bucket, query):
        entries = "".join(
            f"<Upload><Key>{_quote(key)}</Key><UploadId>{number}</UploadId></Upload>"
            for number, (of, key, _) in self.s3.uploads.items()
            if of == bucket and key.startswith(query.get("prefix", ""))
        )
        return 200, f"<ListMultipartUploadsResult>{entries}</ListMultipartUploadsResult>".encode(), {}


def main():
    options = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    with FakeS3(**options) as s3:
        print(s3.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
