"""The packages that people install: each is built twice, is identical, and serves a PutItem from
its artefact, in a root of its own."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tarfile
import threading
import time

import pytest
from stator_process import binary

ROOT = pathlib.Path(__file__).parents[2]
RELEASE_BINARY = pathlib.Path(binary("STATOR_RELEASE_BINARY", "build/stator"))
BUILD = RELEASE_BINARY.parents[1 if RELEASE_BINARY.parent.name == "release" else 0]
LIMIT_S = 300
CHROOT = shutil.which("chroot")


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not on this machine")


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
needs_static = pytest.mark.skipif(
    not pathlib.Path("/usr/lib/x86_64-linux-gnu/librocksdb.a").exists(),
    reason="the static libraries are not on this machine",
)


def run_any(*words, **options):
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        **options,
    )


def run(*words, **options):
    result = run_any(*words, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module", name="built")
def fixture_built(tmp_path_factory):
    """Builds a package twice, once for all tests; returns its files, which are the same."""
    made = {}

    def built(target):
        if target not in made:
            made[target] = build(tmp_path_factory.mktemp(target), target)
        return made[target]

    return built


def build(tmp_path, target):
    found = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        run("make", "-C", ROOT, target, f"BUILD={BUILD}", f"PACKAGES={folder}")
        shutil.rmtree(folder / "root", ignore_errors=True)
        found.append({file.name: file.read_bytes() for file in sorted(folder.iterdir())})
    assert found[0].keys() == found[1].keys()
    differing = [name for name in found[0] if found[0][name] != found[1][name]]
    assert differing == []
    return sorted((tmp_path / "2").iterdir())


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Server:
    """A program that serves on a port, stopped at the end."""

    def __init__(self, *words, **options):
        self.port = free_port()
        words = [str(word).replace("PORT", str(self.port)) for word in words]
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
        )

    def __enter__(self):
        line = ""
        while "listening on" not in line:
            line = self.process.stdout.readline()
            assert line != "", self.process.wait(LIMIT_S)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0

    def call(self, operation, body):
        request = ["curl", "-s", "-f", f"http://127.0.0.1:{self.port}/"]
        request += ["-H", f"X-Amz-Target: DynamoDB_20120810.{operation}"]
        request += ["-H", "Content-Type: application/x-amz-json-1.0", "-d", json.dumps(body)]
        request += ["-H", "Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/dynamodb"
                    "/aws4_request, SignedHeaders=host, Signature=x"]  # fmt: skip
        return json.loads(run(*request))

    def serves_an_item(self):
        key = {"AttributeName": "pk"}
        self.call(
            "CreateTable",
            {
                "TableName": "Packed",
                "KeySchema": [{**key, "KeyType": "HASH"}],
                "AttributeDefinitions": [{**key, "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        item = {"pk": {"S": "a"}, "n": {"N": "1"}}
        self.call("PutItem", {"TableName": "Packed", "Item": item})
        body = {"TableName": "Packed", "Key": {"pk": {"S": "a"}}}
        assert self.call("GetItem", body) == {"Item": item}


def named_in(bill):
    """The source packages that a bill of materials names; each with a version."""
    parts = json.loads(bill.read_text())["components"]
    assert all(re.search(r"^pkg:deb/debian/\S+@\S+", part["purl"]) for part in parts)
    assert len({part["purl"] for part in parts}) == len(parts)
    return {part["name"] for part in parts if part["version"] != ""}


# --- The tarball ---


@pytest.fixture(scope="module", name="static_root")
def fixture_static_root(built, tmp_path_factory):
    """The tarball, unpacked into a root of its own."""
    root = tmp_path_factory.mktemp("static") / "root"
    root.mkdir()
    run("tar", "-x", "-z", "--strip-components=1", "-C", root, "-f", built("tarball")[0])
    return root


@needs_static
@needs_root
def test_the_tarball_serves_in_an_empty_root(built, static_root):
    tarball, checksum = built("tarball")
    run("sha256sum", "-c", checksum.name, cwd=tarball.parent)
    root = static_root
    assert {"rocksdb", "openssl", "libuv1", "curl"} <= named_in(root / "stator.cdx.json")
    assert (root / "licences/librocksdb-dev.txt").stat().st_size > 0
    assert (root / "share/man/man1/stator.1").stat().st_size > 0
    assert str(ROOT).encode() not in (root / "bin/stator").read_bytes()
    flags = ["serve", "--port", "PORT", "--data-dir", "/data"]
    with Server(CHROOT, root, "/bin/stator", *flags) as server:
        server.serves_an_item()
        # It sends requests too.
        url, program = f"http://127.0.0.1:{server.port}", [CHROOT, root, "/bin/stator"]
        assert run(*program, "healthcheck", f"--url={url}/readyz", env={}) == "ready\n"
        assert "Packed" in run(*program, "top", "--once", f"--endpoint={url}", env={})


def answer_name(server, name, address):
    """A name server that knows one name, until it gets an empty datagram."""
    wanted = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"
    while True:
        question, client = server.recvfrom(512)
        if question == b"":
            return
        asked = question[12 : question.index(b"\0", 12) + 5]
        is_known = asked == wanted + b"\0\1\0\1"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address)
        head = question[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_known else b"\0\0") + b"\0" * 4
        server.sendto(head + asked + (answer if is_known else b""), client)


@needs_static
@needs_root
def test_the_static_program_looks_names_up_without_the_systems_libraries(static_root):
    etc = static_root / "etc"
    etc.mkdir(exist_ok=True)
    (etc / "hosts").write_text("127.0.0.1 of-hosts\n")
    (etc / "resolv.conf").write_text("nameserver 127.53.53.53\noptions timeout:1 attempts:2\n")
    # As on many desktops: neither library is in this root.
    (etc / "nsswitch.conf").write_text("hosts: mymachines resolve [!UNAVAIL=return] files dns\n")
    flags = ["serve", "--port", "PORT", "--in-memory"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as names:
        names.bind(("127.53.53.53", 53))
        known = (names, "of-dns.example", "127.0.0.1")
        thread = threading.Thread(target=answer_name, args=known, daemon=True)
        thread.start()
        with Server(CHROOT, static_root, "/bin/stator", *flags) as server:
            for name in ("of-hosts", "of-dns.example"):
                url = f"http://{name}:{server.port}/readyz"
                said = run(CHROOT, static_root, "/bin/stator", "healthcheck", f"--url={url}")
                assert said == "ready\n"
            url = f"http://nobody.example:{server.port}/readyz"
            failed = run_any(CHROOT, static_root, "/bin/stator", "healthcheck", f"--url={url}")
            assert (failed.returncode, failed.stdout) == (1, "")
        names.sendto(b"", names.getsockname())
        thread.join(LIMIT_S)


# Answers that ask a client for protocols and libraries which the static program has not.
FOREIGN_ANSWERS = {
    "HTTP/2": "HTTP/2 200 OK\r\n\r\n",
    "an upgrade": "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    "Kerberos": "HTTP/1.1 401 No\r\nWWW-Authenticate: Negotiate YII=\r\n"
    "WWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n",
    "Brotli": "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
    "a cookie": "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Domain=co.uk\r\nContent-Length: 0\r\n\r\n",
    "LDAP": "HTTP/1.1 302 Go\r\nLocation: ldap://127.0.0.1/\r\nContent-Length: 0\r\n\r\n",
    "SSH": "HTTP/1.1 302 Go\r\nLocation: scp://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n",
    "another name": "HTTP/1.1 302 Go\r\nLocation: http://\u00fc.example/\r\nContent-Length: 0\r\n\r\n",
    "another service": "HTTP/1.1 200 OK\r\nAlt-Svc: h2=\":1\"\r\nContent-Length: 0\r\n\r\n",
}


def answer_one(listener, answer):
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(answer.encode())


@needs_static
@pytest.mark.parametrize("what", FOREIGN_ANSWERS)
def test_no_answer_leads_to_a_library_that_the_static_program_has_not(static_root, what):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answering = (listener, FOREIGN_ANSWERS[what])
        thread = threading.Thread(target=answer_one, args=answering, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        ended = run_any(static_root / "bin/stator", "healthcheck", f"--url={url}")
        thread.join(LIMIT_S)
    assert ended.returncode in (0, 1), ended
    assert "not in the static program" not in ended.stderr


@needs_static
@needs_root
def test_the_static_program_verifies_certificates(static_root):
    program = [CHROOT, static_root, "/bin/stator"]
    run(*program, "cert", "self-signed", "--out-dir", "/pair")
    run(*program, "cert", "self-signed", "--out-dir", "/other")
    trusted = static_root / "etc/ssl/certs/ca-certificates.crt"
    trusted.parent.mkdir(parents=True)
    shutil.copy(static_root / "other/cert.pem", trusted)
    files = ["--tls-cert-file=/pair/cert.pem", "--tls-key-file=/pair/key.pem"]
    with Server(*program, "serve", "--in-memory", "--port", "PORT", *files) as server:
        url = f"https://127.0.0.1:{server.port}/readyz"
        trusting = ["healthcheck", f"--url={url}", "--ca-file=/pair/cert.pem"]
        assert run(*program, *trusting) == "ready\n"
        refused = run_any(*program, "healthcheck", f"--url={url}")
        assert refused.returncode == 1 and refused.stderr.startswith("stator: TLS: ")
        shutil.copy(static_root / "pair/cert.pem", trusted)
        assert run(*program, "healthcheck", f"--url={url}") == "ready\n"


# --- Debian ---


@needs("dpkg-deb", "dpkg-shlibdeps")
@needs_root
def test_the_debian_package_serves_from_its_files(built, tmp_path):
    (package,) = built("deb")
    root = tmp_path / "root"
    run("dpkg-deb", "-x", package, root)
    control = run("dpkg-deb", "-f", package)
    for library in ("librocksdb7.8", "libssl3", "libuv1"):
        assert library in control
    # Its libraries are those of other packages: here, this machine's.
    script = (
        "mount --rbind /usr /mnt/usr && mount --rbind /lib /mnt/lib && mount --rbind /lib64 "
        "/mnt/lib64 && mount --rbind /etc /mnt/etc && exec chroot /mnt /package/usr/bin/stator "
        "serve --port PORT --data-dir /package/data"
    )
    mount = tmp_path / "mnt"
    for name in ("usr", "lib", "lib64", "etc", "package"):
        (mount / name).mkdir(parents=True)
    shutil.move(str(root), str(mount / "package"))
    inner = mount / "package" / "root"
    bill = named_in(inner / "usr/share/doc/stator/stator.cdx.json")
    assert {"rocksdb", "openssl", "libuv1", "curl"} <= bill
    script = script.replace("/mnt", str(mount)).replace("/package/", "/package/root/")
    assert (inner / "usr/bin/stator").exists()
    with Server("unshare", "--mount", "sh", "-c", script) as server:
        server.serves_an_item()


# This machine's root with a layer of its own above it, which nobody sees but the script that follows.
CLEAN_ROOT = """set -e
mount -t tmpfs tmpfs {folder}
mkdir {folder}/upper {folder}/work {folder}/root
mount -t overlay overlay -o lowerdir=/,upperdir={folder}/upper,workdir={folder}/work {folder}/root
mount --rbind /dev {folder}/root/dev
mount --rbind /proc {folder}/root/proc
cp {package} {folder}/root/package.deb
exec chroot {folder}/root sh -e -c '{script}'
"""


def in_clean_root(tmp_path, package, script):
    folder = tmp_path / "layer"
    folder.mkdir()
    return ["unshare", "--mount", "sh", "-c",
            CLEAN_ROOT.format(folder=folder, package=package, script=script)]


def can_overlay():
    """Whether this machine lets a test mount a layer above its root."""
    probe = ("mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/m && "
             "mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/m")
    return os.geteuid() == 0 and subprocess.run(
        ["unshare", "--mount", "sh", "-c", probe], capture_output=True, check=False).returncode == 0


needs_overlay = pytest.mark.skipif(not can_overlay(), reason="no overlay can be mounted here")


@needs("dpkg-deb", "dpkg-shlibdeps")
@needs_overlay
def test_the_debian_package_is_installed_and_serves(built, tmp_path):
    (package,) = built("deb")
    script = ("dpkg -i /package.deb >/dev/null; "
              "exec stator serve --port PORT --data-dir /var/lib/stator")
    with Server(*in_clean_root(tmp_path, package, script)) as server:
        server.serves_an_item()


@needs("dpkg-deb", "dpkg-shlibdeps")
@needs_overlay
def test_data_outlives_the_debian_package(built, tmp_path):
    (package,) = built("deb")
    script = """dpkg -i /package.deb
dpkg --verify stator >/changed; test ! -s /changed
mkdir -p /var/lib/private/stator; echo data >/var/lib/private/stator/file
echo STATOR_PORT=1 >>/etc/default/stator
dpkg --force-confold -i /package.deb; grep STATOR_PORT=1 /etc/default/stator
dpkg -L stator >/files; grep -x /usr/bin/stator /files
dpkg -r stator; test ! -e /usr/bin/stator; grep STATOR_PORT=1 /etc/default/stator
dpkg -P stator
while read -r file; do test -d "$file" || test ! -e "$file"; done </files
grep data /var/lib/private/stator/file; echo done"""
    assert run(*in_clean_root(tmp_path, package, script)).endswith("data\ndone\n")


@needs("lintian", "dpkg-deb", "dpkg-shlibdeps")
def test_lintian_finds_nothing(built):
    (package,) = built("deb")
    said = run("lintian", "--allow-root", package)
    assert re.findall(r"^[EW]: .*", said, re.MULTILINE) == []


# --- Images ---


def unpack(image, root):
    """What a container engine does: config and files of an image that `docker save` could have
    written, checked against the digests of its OCI manifest."""
    layout = root.parent / f"{root.name}-layout"
    with tarfile.open(image) as tar:
        tar.extractall(layout)
    (entry,) = json.loads((layout / "manifest.json").read_text())
    (described,) = json.loads((layout / "index.json").read_text())["manifests"]
    manifest = json.loads((layout / "blobs" / described["digest"].replace(":", "/")).read_text())
    assert entry["Config"] == f"blobs/{manifest['config']['digest'].replace(':', '/')}"
    for blob in (layout / "blobs/sha256").iterdir():
        assert run("sha256sum", blob).split()[0] == blob.name
    root.mkdir()
    for layer in entry["Layers"]:
        run("tar", "-x", "-p", "-C", root, "-f", layout / layer)
    return json.loads((layout / entry["Config"]).read_text())["config"]


def environment(config):
    return dict(pair.split("=", 1) for pair in config["Env"])


# Of many people's compose files: DynamoDB Local answers 400 to what is no call.
POPULAR_CHECK = (
    '[ "$(curl -s -o /dev/null -I -w \'%{{http_code}}\' http://localhost:{port})" == "400" ]'
)


@needs("curl", "busybox")
@needs_root
def test_the_images_serve_as_their_configuration_says(built, tmp_path):
    compat, plain = built("image")
    config = unpack(plain, tmp_path / "plain")
    assert config["User"] == "65532:65532"
    inside = named_in(tmp_path / "plain/usr/share/doc/stator/stator.cdx.json")
    assert {"rocksdb", "openssl", "glibc", "curl", "ca-certificates"} <= inside
    assert "busybox" not in inside
    words = [CHROOT, "--userspec", config["User"], tmp_path / "plain"]
    env = environment(config)
    with Server(*words, *config["Entrypoint"], *config["Cmd"], "--port", "PORT", env=env) as server:
        server.serves_an_item()
        check = config["Healthcheck"]["Test"][1:]
        env["STATOR_PORT"] = str(server.port)
        assert run(*words, *check, env=env) == "ready\n"
    config = unpack(compat, tmp_path / "compat")
    inside = named_in(tmp_path / "compat/usr/share/doc/stator/stator.cdx.json")
    assert {"rocksdb", "openssl", "curl", "busybox"} <= inside
    words = [CHROOT, tmp_path / "compat"]
    env = environment(config)
    flags = ["-Xmx1g", "-jar", "DynamoDBLocal.jar", "-sharedDb", "-inMemory", "-port", "PORT"]
    with Server(*words, *config["Entrypoint"], *flags, env=env) as server:
        server.serves_an_item()
        asked = f"curl -s -f http://localhost:{server.port}/healthz >/tmp/said && cat /tmp/said"
        assert run(*words, "sh", "-c", asked, env=env) != ""
        run(*words, "sh", "-c", POPULAR_CHECK.format(port=server.port), env=env)
    # Started by flags of its own, the image still is DynamoDB Local's.
    env["STATOR_IN_MEMORY"] = "true"
    with Server(*words, *config["Entrypoint"], "--port", "PORT", env=env) as server:
        run(*words, "sh", "-c", POPULAR_CHECK.format(port=server.port), env=env)


# --- npm ---

START = """
const { start } = require("@stator/server");
start({ port: Number(process.argv[1]) }).then(async (server) => {
  console.log("listening on", server.endpoint, server.pid);
  process.on("SIGTERM", async () => { await server.stop(); process.exit(0); });
  setInterval(() => {}, 1000);
});
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@needs_static
@needs("npm", "node")
def test_the_npm_package_runs_the_server_and_stops_it_with_its_parent(built, tmp_path):
    platform, server_package = built("npm")
    folder = tmp_path / "user"
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    quiet = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"]
    run("npm", "install", *quiet, platform, server_package, cwd=folder)
    assert run("node_modules/.bin/stator", "--version", cwd=folder).startswith("stator ")
    with Server("node", "-e", START, "PORT", cwd=folder) as server:
        server.serves_an_item()
    parent = subprocess.Popen(
        ["node", "-e", START, "0"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    pid = int(parent.stdout.readline().split()[-1])
    assert is_alive(pid)
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 30
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(pid)


# As the test runners do: jest requires the file and calls what it exports; vitest imports it, and
# refuses a default export that is no function.
SET_UP = {
    "jest": "Promise.resolve(require('@stator/server/jest.js'))",
    "vitest": "import('@stator/server/vitest.js').then((module) => module.default)",
}
ASK = """.then((setUp) => setUp()).then(() => fetch(process.env.AWS_ENDPOINT_URL_DYNAMODB + "/readyz"))
.then(async (answer) => console.log(answer.status, process.env.AWS_REGION, process.env.AWS_ACCESS_KEY_ID))
"""


@needs_static
@needs("npm", "node")
@pytest.mark.parametrize("runner", SET_UP)
def test_the_set_up_of_a_test_runner_starts_a_server(built, tmp_path, runner):
    (tmp_path / "package.json").write_text("{}")
    quiet = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"]
    run("npm", "install", *quiet, *built("npm"), cwd=tmp_path)
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    # That the program ends shows that the server does not keep a test runner alive.
    said = run("node", "-e", SET_UP[runner] + ASK, cwd=tmp_path, env=variables)
    assert said == "200 us-east-1 stator\n"


# --- The action ---


@needs_static
@needs("curl")
def test_the_action_starts_a_server_and_says_where_it_is(built, tmp_path):
    tarball, _ = built("tarball")
    output, env_file = tmp_path / "output", tmp_path / "env"
    port = free_port()
    env = dict(os.environ, RUNNER_TEMP=str(tmp_path), GITHUB_OUTPUT=str(output))
    env |= {"GITHUB_ENV": str(env_file), "TARBALL": str(tarball), "PORT": str(port)}
    env |= {"DATA_DIR": "", "FLAGS": "--log-level error"}
    run(ROOT / "packaging/github-action/start", env=env)
    pid = int((tmp_path / "stator/pid").read_text())
    try:
        assert output.read_text() == f"endpoint=http://127.0.0.1:{port}\n"
        assert f"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:{port}\n" in env_file.read_text()
    finally:
        os.kill(pid, signal.SIGTERM)
