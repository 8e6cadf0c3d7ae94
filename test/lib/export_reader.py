"""Reads exports as tools do: by their manifests, which it verifies, from folders and from S3."""

import base64
import decimal
import gzip
import hashlib
import json
import re

NAME = re.compile(r"[a-z2-7]{26}\.(json|ion)\.gz")
SUMMARY = {
    "2020-06-30": ["version", "exportArn", "startTime", "endTime", "tableArn", "tableId", "exportTime",
                   "s3Bucket", "s3Prefix", "s3SseAlgorithm", "s3SseKmsKeyId", "manifestFilesS3Key",
                   "billedSizeBytes", "itemCount", "outputFormat", "exportType"],
    "2023-08-01": ["version", "exportArn", "startTime", "endTime", "tableArn", "tableId",
                   "exportFromTime", "exportToTime", "s3Bucket", "s3Prefix", "s3SseAlgorithm",
                   "s3SseKmsKeyId", "manifestFilesS3Key", "billedSizeBytes", "itemCount",
                   "outputFormat", "outputView", "exportType"],
}  # fmt: skip


def md5(content):
    return base64.b64encode(hashlib.md5(content).digest())


class Folder:
    """The objects of a bucket that is a folder."""

    def __init__(self, path):
        self.path = path

    def get(self, key):
        return (self.path / key).read_bytes()

    def keys(self):
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.is_file())


class Fake:
    """Those of a bucket of fake_s3.py."""

    def __init__(self, s3, bucket):
        self.objects = s3.objects[bucket]

    def get(self, key):
        return self.objects[key].content

    def keys(self):
        return sorted(self.objects)


def read(bucket, description):
    """The lines of an export, each parsed, once its manifests and checksums were verified."""
    key = description["ExportManifest"]
    folder = key.removesuffix("manifest-summary.json")
    text = bucket.get(key)
    assert bucket.get(folder + "manifest-summary.md5") == md5(text)
    assert bucket.get(folder + "_started") == b""
    assert b"\n" not in text
    summary = json.loads(text)
    assert list(summary) == SUMMARY[summary["version"]]
    assert summary["exportArn"] == description["ExportArn"]
    assert summary["itemCount"] == description["ItemCount"]
    assert summary["billedSizeBytes"] == description["BilledSizeBytes"]
    files = bucket.get(summary["manifestFilesS3Key"])
    assert bucket.get(folder + "manifest-files.md5") == md5(files)
    lines = []
    for line in files.splitlines():
        lines += read_file(bucket, json.loads(line), summary)
    assert len(lines) == summary["itemCount"]
    return lines


def read_file(bucket, entry, summary):
    assert list(entry) == ["itemCount", "md5Checksum", "etag", "dataFileS3Key"]
    data = bucket.get(entry["dataFileS3Key"])
    assert md5(data).decode() == entry["md5Checksum"]
    if len(data) < 8 * 1024 * 1024:
        etag = hashlib.md5(hashlib.md5(data).digest()).hexdigest() + "-1"
        assert entry["etag"] == etag
    assert NAME.fullmatch(entry["dataFileS3Key"].split("/")[-1])
    lines = gzip.decompress(data).decode().splitlines()
    assert len(lines) == entry["itemCount"]
    if summary["outputFormat"] == "ION":
        return [ion_line(line) for line in lines]
    return [json.loads(line) for line in lines]


def key_of(item):
    return json.dumps([item["pk"], item.get("sk")], sort_keys=True)


def state(lines):
    """A full export as {key: item}."""
    items = {key_of(line["Item"]): line["Item"] for line in lines}
    assert len(items) == len(lines)
    return items


def apply(items, changes):
    """The state after the changes of an incremental export, whose old images must fit."""
    items = dict(items)
    for line in changes:
        key = key_of(line["Keys"])
        assert items.get(key) == line.get("OldImage"), line
        assert "OldImage" in line or "NewImage" in line
        if "NewImage" in line:
            items[key] = line["NewImage"]
        else:
            del items[key]
    return items


def join(first, second):
    """Two increments in a row as one."""
    joined = {key_of(line["Keys"]): line for line in first}
    for line in second:
        key = key_of(line["Keys"])
        old = joined.get(key)
        new = dict(line)
        if old is not None:
            new.pop("OldImage", None)
            if "OldImage" in old:
                new["OldImage"] = old["OldImage"]
        joined[key] = new
    return {
        key: line for key, line in joined.items() if "OldImage" in line or "NewImage" in line
    }


# --- Ion, as far as exports use it: to the same structure as DynamoDB JSON ---

TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<symbol>'(?:[^'\\]|\\.)*')|\{\{(?P<blob>[^}]*)\}\}"""
    r"""|(?P<set>\$dynamodb_(?:SS|NS|BS)::)|(?P<number>-?\d[\d.]*(?:d-?\d+)?)|(?P<word>[A-Za-z_$][\w$]*)"""
    r"""|(?P<mark>[\[\]{}:,]))"""
)


class Ion:
    def __init__(self, text):
        self.text, self.at = text, 0

    def next(self):
        match = TOKEN.match(self.text, self.at)
        assert match, self.text[self.at : self.at + 40]
        self.at = match.end()
        return match.lastgroup, match[match.lastgroup]

    def peek(self):
        at = self.at
        token = self.next()
        self.at = at
        return token

    def value(self):
        kind, text = self.next()
        if kind == "set":
            name = text[len("$dynamodb_") : -2]
            return {name: [list(element.values())[0] for element in self.list()]}
        if kind == "string":
            return {"S": json.loads(re.sub(r"\\x(..)", r"\\u00\1", text))}
        if kind == "blob":
            return {"B": text.strip()}
        if kind == "number":
            return {"N": number(text.replace("d", "E"))}
        if text == "[":
            self.at -= 1
            return {"L": self.list()}
        if text == "{":
            self.at -= 1
            return {"M": self.struct()}
        return {"null": {"NULL": True}, "true": {"BOOL": True}, "false": {"BOOL": False}}[text]

    def list(self):
        assert self.next() == ("mark", "[")
        elements = []
        while self.peek() != ("mark", "]"):
            elements.append(self.value())
            if self.peek() == ("mark", ","):
                self.next()
        self.next()
        return elements

    def struct(self, value=None):
        assert self.next() == ("mark", "{")
        members = {}
        while self.peek() != ("mark", "}"):
            kind, name = self.next()
            if kind in ("symbol", "string"):
                name = json.loads('"' + name[1:-1].replace("\\'", "'") + '"')
            assert self.next() == ("mark", ":")
            members[name] = (value or Ion.value)(self)
            if self.peek() == ("mark", ","):
                self.next()
        self.next()
        return members


def number(text):
    value = decimal.Decimal(text).normalize()
    return format(value, "f") if -20 < value.adjusted() < 38 else str(value)


def ion_line(line):
    assert line.startswith("$ion_1_0 ")
    ion = Ion(line[len("$ion_1_0 ") :])
    outer = ion.struct(lambda inner: inner.struct(Ion.value))
    if "Item" in outer:
        return outer
    record = outer["Record"]
    return {name: member["M"] if name != "Metadata" else member["M"] for name, member in record.items()}
