"""A real S3 server for tests: Ceph's gateway over one OSD in memory.

Needs Debian's packages radosgw, ceph-mon, ceph-osd, ceph-base and ceph-common; missing() tells what
is not there. Listens on this machine only, keeps everything in one folder, and is stopped by its
process ids. A test is skipped, with the reason, where the cluster does not come up.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

import pytest

ACCESS_KEY = "AKIASTATORTEST000001"
SECRET_KEY = "stator/secret+key/0123456789abcdefghijkl"
PROGRAMS = ["monmaptool", "ceph-mon", "ceph-osd", "ceph", "ceph-authtool", "radosgw", "radosgw-admin"]
PATIENCE_S = 90

# With auth none, the second version of the messenger never gets past its handshake.
CONFIGURATION = """[global]
fsid = {fsid}
mon host = [v1:127.0.0.1:{monitor}]
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 2
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr1 = true
ms bind msgr2 = false
run dir = {folder}/run
log file = {folder}/$name.log
admin socket = {folder}/run/$name.asok
mon data = {folder}/mon
osd data = {folder}/osd/$id
osd objectstore = memstore
memstore device bytes = 1073741824
mon data avail crit = 1
mon data avail warn = 1
[osd]
ms bind port min = {osd_first}
ms bind port max = {osd_last}
[client.rgw]
rgw data = {folder}/rgw
keyring = {folder}/rgw/keyring
rgw frontends = beast endpoint=127.0.0.1:{port}
"""


def missing():
    return [name for name in PROGRAMS if shutil.which(name) is None]


def free_ports(count):
    """A run of ports that are free now."""
    for first in range(18400, 30000, 16):
        sockets = []
        try:
            for port in range(first, first + count):
                made = socket.socket()
                sockets.append(made)
                made.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for made in sockets:
                made.close()
    raise OSError("no free ports")


class NotYet(Exception):
    """A program of Ceph ended with an error; its words are the text."""


class Gateway:
    def __init__(self):
        # A path of its own: that of a socket may have 107 bytes, which pytest's folders use up.
        self.folder = Path(tempfile.mkdtemp(prefix="rgw-", dir="/tmp"))
        self.processes = []
        self.port = free_ports(8)
        self.endpoint = f"http://127.0.0.1:{self.port}"
        try:
            self.set_up()
        except NotYet as failure:
            self.__exit__()
            pytest.skip(f"Ceph's gateway did not start: {failure}")
        except BaseException:
            self.__exit__()
            raise

    def set_up(self):
        for name in ("mon", "osd/0", "rgw", "run"):
            (self.folder / name).mkdir(parents=True)
        fsid, osd = str(uuid.uuid4()), str(uuid.uuid4())
        (self.folder / "ceph.conf").write_text(
            CONFIGURATION.format(
                fsid=fsid, folder=self.folder, port=self.port, monitor=self.port + 1,
                osd_first=self.port + 3, osd_last=self.port + 6,
            )
        )  # fmt: skip
        address = f"[v1:127.0.0.1:{self.port + 1}]"
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", address, "monmap")
        self.ceph("ceph-mon", "--mkfs", "-i", "a", "--monmap", "monmap")
        root = ("--setuser", "root", "--setgroup", "root") if os.geteuid() == 0 else ()
        self.start("ceph-mon", "-i", "a", "-f", *root)
        self.await_true(lambda: self.ceph("ceph", "osd", "new", osd) is not None)
        self.ceph("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self.start("ceph-osd", "-i", "0", "-f", *root)
        self.await_true(lambda: "1 up" in self.ceph("ceph", "osd", "stat"))
        self.run("ceph-authtool", "-C", "rgw/keyring", "-n", "client.rgw", "--gen-key")
        self.start("radosgw", "-n", "client.rgw", "-f")
        self.await_true(self.listens)
        self.ceph(
            "radosgw-admin", "-n", "client.rgw", "user", "create", "--uid=t", "--display-name=t",
            f"--access-key={ACCESS_KEY}", f"--secret-key={SECRET_KEY}",
        )  # fmt: skip

    def run(self, *command):
        try:
            result = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired as failure:
            raise NotYet(str(failure)) from failure
        if result.returncode != 0:
            raise NotYet(f"{' '.join(command)}: {result.stderr}")
        return result.stdout

    def ceph(self, program, *words):
        return self.run(program, "-c", "ceph.conf", *words)

    def start(self, program, *words):
        with open(self.folder / f"{program}.out", "wb") as out:
            command = [program, "-c", "ceph.conf", *words]
            self.processes.append(subprocess.Popen(command, cwd=self.folder, stdout=out, stderr=out))

    def await_true(self, condition):
        """Waits until it holds; a busy monitor refuses a command now and then (EPERM, at its start)."""
        deadline = time.monotonic() + PATIENCE_S
        failure = "not in time"
        while time.monotonic() < deadline:
            try:
                if condition():
                    return
            except NotYet as refused:
                failure = refused
            time.sleep(0.2)
        raise NotYet(failure)

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def write_key_file(self, path):
        path.write_text(
            f"[default]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n"
        )
        path.chmod(0o600)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
