#!/usr/bin/python3
"""A Ceph cluster of one's own for tests: a monitor, a manager and three OSDs on loopback.

    rados_cluster.py run -- COMMAND...   starts a cluster, runs the command, stops the cluster
    rados_cluster.py up DIR | down DIR   for a person who wants to keep one for a while
    rados_cluster.py kill|start|pause|resume DIR OSD
    rados_cluster.py clean DIR           waits until all OSDs are up and all copies are complete

`run` exits with the command's code. Where a package is missing, it prints which one and exits with
0 without running anything: `make rados-deps` installs them. The command finds the cluster by
  STATOR_RADOS_CONF     the file for rados_conf_read_file
  STATOR_RADOS_USER     a user who may read and write in the pool, without "client."
  STATOR_RADOS_POOL     a pool that keeps three copies and takes writes while two of them are there
  STATOR_RADOS_CLUSTER  the folder DIR

Everything is below one folder, which `run` removes. Daemons are stopped by the process ids that are
noted there, after a look at whether the process still is that daemon. They run at a lower priority.
"""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

PROGRAMS = {  # The package that has it.
    "monmaptool": "ceph-common",
    "ceph": "ceph-common",
    "ceph-authtool": "ceph-common",
    "rados": "ceph-common",
    "ceph-mon": "ceph-mon",
    "ceph-mgr": "ceph-mgr",
    "ceph-osd": "ceph-osd",
}
OSDS = 3
POOL = "stator"
PLACEMENT_GROUPS = 32
NICENESS = 5
START_TIMEOUT_S = 240  # On a machine that is busy with other work.
STOP_TIMEOUT_S = 30

# An OSD that does not answer is reported by one other: the usual two would have to be on two hosts.
CONFIGURATION = """[global]
fsid = {fsid}
mon_host = v2:127.0.0.1:{port}
public_addr = 127.0.0.1
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
auth_allow_insecure_global_id_reclaim = true
osd_pool_default_size = {osds}
osd_pool_default_min_size = 2
osd_pool_default_pg_num = {placement_groups}
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_osd_min_down_reporters = 1
mon_osd_reporter_subtree_level = osd
mon_osd_down_out_interval = 3600
mon_data_avail_crit = 1
mon_data_avail_warn = 1
mon_allow_pool_delete = true
osd_heartbeat_interval = 2
osd_heartbeat_grace = 8
osd_objectstore = bluestore
bluestore_block_size = 4294967296
bluestore_block_db_create = false
bluestore_block_wal_create = false
osd_memory_target = 939524096
mgr_initial_modules =
run_dir = {folder}/run
log_file = {folder}/log/$name.log
admin_socket = {folder}/run/$name.asok
pid_file = {folder}/run/$name.pid
crash_dir = {folder}/run
mon_data = {folder}/mon
mgr_data = {folder}/mgr
osd_data = {folder}/osd.$id
keyring = {folder}/$name.keyring
[client]
admin_socket =
"""
# Beside client.admin: who has the rights that doc/scale-out.md names, one that may only read, and
# one of whom the cluster does not know.
USERS = {
    "client.stator": ("mon", "allow r", "osd", f"allow rw pool={POOL}"),
    "client.reader": ("mon", "allow r", "osd", f"allow r pool={POOL}"),
}
STRANGER = "client.stranger"


def missing():
    """The packages that have to be installed."""
    return sorted({package for name, package in PROGRAMS.items() if shutil.which(name) is None})


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.conf = self.folder / "ceph.conf"

    # --- Daemons ---

    def start_daemon(self, name, *command):
        with open(self.folder / f"{name}.out", "ab") as out:
            process = subprocess.Popen(
                ["nice", "-n", str(NICENESS), *command, "-f", "-c", self.conf],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        (self.folder / f"{name}.pid").write_text(str(process.pid))

    def pid_of(self, name):
        """None if it does not run."""
        try:
            pid = int((self.folder / f"{name}.pid").read_text())
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if str(self.conf).encode() in command else None  # A zombie has no command line.

    def send(self, name, number):
        pid = self.pid_of(name)
        if pid is None:
            raise SystemExit(f"rados_cluster: {name} does not run")
        os.kill(pid, number)
        return pid

    def stop_daemon(self, name, number=signal.SIGTERM):
        if self.pid_of(name) is None:
            return
        os.kill(self.pid_of(name), signal.SIGCONT)
        self.send(name, number)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while self.pid_of(name) is not None:
            if time.monotonic() > deadline:
                self.send(name, signal.SIGKILL)
                deadline += STOP_TIMEOUT_S
            time.sleep(0.02)

    def start_osd(self, number):
        self.start_daemon(f"osd.{number}", "ceph-osd", "-i", str(number))

    # --- The whole ---

    def run(self, *command, timeout_s=60):
        return subprocess.run(
            [*command], check=True, capture_output=True, text=True, timeout=timeout_s
        ).stdout

    def ceph(self, *words):
        return self.run("ceph", "-c", self.conf, "--connect-timeout", "10", *words)

    def all_rights(self):
        return [word for service in ("mon", "osd", "mgr") for word in (service, "allow *")]

    def make_key(self, file, name, *rights):
        """A new key in a file of its own, of which the cluster knows nothing."""
        path = self.folder / f"{file}.keyring"
        caps = [
            word for i in range(0, len(rights), 2) for word in ("--cap", rights[i], rights[i + 1])
        ]
        self.run("ceph-authtool", "--create-keyring", path, "--gen-key", "-n", name, *caps)
        return path

    def add_user(self, name, *rights):
        path = self.folder / f"{name}.keyring"
        self.ceph("auth", "get-or-create", name, *rights, "-o", path)

    def await_true(self, what, condition):
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                if condition():
                    return
                reason = "not yet"
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
                reason = (failure.stderr or failure) if hasattr(failure, "stderr") else failure
            if time.monotonic() > deadline:
                raise SystemExit(f"rados_cluster: no {what} after {START_TIMEOUT_S} s: {reason}")
            time.sleep(0.3)

    def is_up(self):
        return f"{OSDS} up" in self.ceph("osd", "stat")

    def is_clean(self):
        counts = re.match(r"(\d+) pgs: (\d+) active\+clean;", self.ceph("pg", "stat"))
        return counts and counts[1] == counts[2] and int(counts[1]) >= PLACEMENT_GROUPS

    def up(self):
        for name in ("mon", "mgr", "run", "log"):
            (self.folder / name).mkdir(parents=True)
        fsid, port = str(uuid.uuid4()), free_port()
        self.conf.write_text(
            CONFIGURATION.format(
                fsid=fsid, port=port, osds=OSDS, folder=self.folder,
                placement_groups=PLACEMENT_GROUPS,
            )
        )  # fmt: skip
        monmap = self.folder / "monmap"
        address = f"[v2:127.0.0.1:{port}]"
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", address, monmap)
        keys = self.make_key("mon.a", "mon.", "mon", "allow *")
        admin = self.make_key("client.admin", "client.admin", *self.all_rights())
        self.make_key(STRANGER, STRANGER)
        self.run("ceph-authtool", keys, "--import-keyring", admin)
        self.run(
            "ceph-mon", "-c", self.conf, "--mkfs", "-i", "a", "--monmap", monmap, "--keyring", keys
        )
        self.start_daemon("mon", "ceph-mon", "-i", "a")
        self.await_true("monitor", lambda: "quorum" in self.ceph("mon", "stat"))
        self.add_user("mgr.x", "mon", "allow profile mgr", "osd", "allow *")
        self.start_daemon("mgr", "ceph-mgr", "-i", "x")
        for name, rights in USERS.items():
            self.add_user(name, *rights)
        for number in range(OSDS):
            osd = str(uuid.uuid4())
            self.ceph("osd", "new", osd)
            self.add_user(f"osd.{number}", "mon", "allow profile osd", "osd", "allow *")
            (self.folder / f"osd.{number}").mkdir()
            self.run(
                "ceph-osd", "-c", self.conf, "-i", str(number), "--mkfs", "--osd-uuid", osd,
                timeout_s=START_TIMEOUT_S,
            )  # fmt: skip
            self.start_osd(number)
        self.await_true("OSDs", self.is_up)
        self.ceph("osd", "pool", "create", POOL, str(PLACEMENT_GROUPS))
        self.ceph("osd", "pool", "application", "enable", POOL, "stator")
        self.await_clean()

    def await_clean(self):
        self.await_true("OSDs", self.is_up)
        self.await_true("complete copies", self.is_clean)

    def down(self):
        for number in range(OSDS):
            self.stop_daemon(f"osd.{number}", signal.SIGKILL)
        self.stop_daemon("mgr", signal.SIGKILL)
        self.stop_daemon("mon", signal.SIGKILL)

    def variables(self):
        return {
            "STATOR_RADOS_CONF": str(self.conf),
            "STATOR_RADOS_USER": "stator",
            "STATOR_RADOS_POOL": POOL,
            "STATOR_RADOS_CLUSTER": str(self.folder),
        }


def run(command):
    packages = missing()
    if packages:
        print(f"skipped: install {', '.join(packages)} (make rados-deps)")
        return 0
    # The path of a socket may have 107 bytes, which a test's own TMPDIR may use up.
    folder = tempfile.mkdtemp(prefix="rados-", dir="/tmp")
    cluster = Cluster(folder)
    try:
        cluster.up()
        return subprocess.run(
            command, check=False, env={**os.environ, **cluster.variables()}
        ).returncode
    finally:
        cluster.down()
        shutil.rmtree(folder, ignore_errors=True)


def interrupted(*_):
    raise SystemExit(130)


def main(arguments):
    signal.signal(signal.SIGTERM, interrupted)
    match arguments:
        case ["run", "--", *command] if command:
            return run(command)
        case ["up", folder]:
            Cluster(folder).up()
            for name, value in Cluster(folder).variables().items():
                print(f"export {name}={value}")
        case ["down", folder]:
            Cluster(folder).down()
        case ["kill", folder, number]:
            Cluster(folder).stop_daemon(f"osd.{number}", signal.SIGKILL)
        case ["start", folder, number]:
            Cluster(folder).start_osd(number)
        case ["clean", folder]:
            Cluster(folder).await_clean()
        case ["pause", folder, number]:
            Cluster(folder).send(f"osd.{number}", signal.SIGSTOP)
        case ["resume", folder, number]:
            Cluster(folder).send(f"osd.{number}", signal.SIGCONT)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
