"""What is generated, installed and shipped: manual pages, completions, documents, the tarball."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from stator_process import StatorProcess, binary

ROOT = pathlib.Path(__file__).parents[2]
RELEASE_BINARY = pathlib.Path(binary("STATOR_RELEASE_BINARY", "build/stator"))
BUILD = RELEASE_BINARY.parents[1 if RELEASE_BINARY.parent.name == "release" else 0]
LIMIT_S = 400  # A build from nothing, on a machine that has other work.


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not on this machine")


def run(*words, **options):
    result = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        **options,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def generated(form):
    return run(RELEASE_BINARY, "help", "--format", form).stdout


# --- Manual pages ---


@needs("groff")
@pytest.mark.parametrize("form, title", [("man", "STATOR(1)"), ("man-conf", "STATOR.CONF(5)")])
def test_a_manual_page_renders_without_warnings(form, title):
    result = run("groff", "-man", "-ww", "-Tutf8", "-P-c", input=generated(form))
    assert result.stderr == ""
    assert title in result.stdout and "stator" in result.stdout


@needs("man")
def test_man_shows_the_page_without_warnings(tmp_path):
    (tmp_path / "stator.1").write_text(generated("man"), "utf-8")
    result = run("man", "--warnings", "-E", "UTF-8", "-l", tmp_path / "stator.1")
    assert result.stderr == ""


def test_every_command_flag_and_setting_is_in_the_pages():
    page, settings = generated("man"), generated("man-conf")
    for command in ("serve", "check", "backup", "restore", "key", "policy", "cert", "trigger"):
        assert f"\n.SS stator {command}\n" in page
    assert ".B \\-\\-batch\\-size N\n" in page
    assert ".B data\\-dir = DIR\n" in settings


# --- Completions ---

COMPLETE = """
source /dev/stdin <<< "$SCRIPT"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_stator
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(*words):
    """What bash offers for the last word."""
    environment = {"PATH": os.environ["PATH"], "SCRIPT": generated("bash")}
    result = run("bash", "-euc", COMPLETE, "bash", *words, env=environment)
    assert result.stderr == ""
    return result.stdout.split()


@needs("bash")
@pytest.mark.parametrize(
    "words, offered",
    [
        (["stator", "che"], ["check"]),
        (["stator", "--data"], ["--data-dir"]),
        (["stator", "serve", "--no-in"], ["--no-in-memory", "--no-insecure"]),
        (["stator", "trigger", ""], ["add", "list", "remove"]),
        (["stator", "trigger", "add", "--batch"], ["--batch-size", "--batch-window"]),
        (["stator", "key", "e"], ["enable"]),
        (["stator", "help", "ver"], ["version"]),
        (["stator", "serve", "--durability", ""], ["sync", "os"]),
        (["stator", "serve", "--port", ""], []),
        (["stator", "help", "--for"], []),  # Hidden.
    ],
)
def test_bash_completes(words, offered):
    assert sorted(completed(*words)) == sorted(offered)


@needs("zsh")
def test_zsh_reads_its_completion(tmp_path):
    (tmp_path / "_stator").write_text(generated("zsh"), "utf-8")
    assert run("zsh", "-n", tmp_path / "_stator").stderr == ""


# --- Documents ---


def test_the_document_of_settings_is_not_stale():
    stored = (ROOT / "doc/configuration.md").read_text("utf-8")
    assert stored == generated("markdown"), "run `make documents`"


# --- Installing ---


def make(*words, folder=ROOT, **variables):
    # A make above this test must not pass its flags and its job server on.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    environment |= variables
    return run("make", "-C", folder, "--no-print-directory", *words, env=environment)


def files_below(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def test_uninstall_removes_what_install_put_there_and_nothing_else(tmp_path):
    where = [f"DESTDIR={tmp_path}", "PREFIX=/usr", f"BUILD={BUILD}"]
    stranger = tmp_path / "usr/share/doc/stator/doc/notes.txt"
    stranger.parent.mkdir(parents=True)
    stranger.touch()
    make("install", *where)
    installed = files_below(tmp_path)
    assert {
        "usr/bin/stator",
        "usr/lib/systemd/system/stator.service",
        "usr/share/man/man1/stator.1",
        "usr/share/man/man5/stator.conf.5",
        "usr/share/bash-completion/completions/stator",
        "usr/share/zsh/site-functions/_stator",
        "usr/share/doc/stator/README.md",
        "usr/share/doc/stator/doc/configuration.md",
    } <= set(installed)
    make("uninstall", *where)
    assert files_below(tmp_path) == [str(stranger.relative_to(tmp_path))]
    stranger.unlink()
    make("install", *where)
    make("uninstall", *where)
    assert files_below(tmp_path) == []
    assert not (tmp_path / "usr/share/doc/stator").exists()


# --- Kubernetes ---


def read_yaml(path):
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((ROOT / "packaging" / path).read_text("utf-8")))


@pytest.fixture(name="manifests")
def fixture_manifests():
    """The manifests by kind, as `kubectl apply -k` finds them."""
    (listed,) = read_yaml("kubernetes/kustomization.yaml")
    found = [each for name in listed["resources"] for each in read_yaml(f"kubernetes/{name}")]
    kinds = {each["kind"]: each for each in found}
    assert len(kinds) == len(found) == 3
    return kinds


def test_the_manifests_select_the_pods_that_they_make(manifests):
    pods = manifests["StatefulSet"]["spec"]["template"]["metadata"]["labels"]
    service, policy = manifests["Service"], manifests["NetworkPolicy"]
    selectors = [
        manifests["StatefulSet"]["spec"]["selector"]["matchLabels"],
        service["spec"]["selector"],
        policy["spec"]["podSelector"]["matchLabels"],
    ]
    assert all(selector and selector.items() <= pods.items() for selector in selectors)
    assert manifests["StatefulSet"]["spec"]["serviceName"] == service["metadata"]["name"]


def container_of(manifests):
    pod = manifests["StatefulSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    return pod, container


def test_what_a_manifest_names_is_there(manifests):
    pod, container = container_of(manifests)
    claims = manifests["StatefulSet"]["spec"]["volumeClaimTemplates"]
    volumes = {claim["metadata"]["name"] for claim in claims}
    volumes |= {volume["name"] for volume in pod["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts.keys() == volumes
    assert mounts["data"] == {each["name"]: each["value"] for each in container["env"]}[
        "STATOR_DATA_DIR"
    ]
    ports = {port["name"] for port in container["ports"]}
    used = [port["targetPort"] for port in manifests["Service"]["spec"]["ports"]]
    for rule in manifests["NetworkPolicy"]["spec"]["ingress"]:
        used += [port["port"] for port in rule["ports"]]
    for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
        used.append(container[probe]["httpGet"]["port"])
    assert set(used) == ports


def test_the_server_takes_what_the_manifest_gives_it(manifests):
    _, container = container_of(manifests)
    variables = {each["name"]: each["value"] for each in container["env"]}
    environment = {"PATH": os.environ["PATH"], **variables}
    said = run(RELEASE_BINARY, *container["args"], "--print-config", env=environment).stdout
    for name, value in variables.items():
        setting = name.removeprefix("STATOR_").lower().replace("_", "-")
        assert f"\n{setting} = {value}\n" in f"\n{said}"
    (port,) = container["ports"]
    assert f"\nport = {port['containerPort']}\n" in f"\n{said}"
    version = run(RELEASE_BINARY, "--version").stdout.split()[1]
    assert container["image"] == f"stator:{version}"


@needs("curl")
def test_the_probes_are_answered(manifests):
    _, container = container_of(manifests)
    with StatorProcess("--in-memory", program=str(RELEASE_BINARY)) as server:
        for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
            path = container[probe]["httpGet"]["path"]
            run("curl", "-s", "-f", f"http://127.0.0.1:{server.port}{path}")
        server.stop()


# --- The GitHub Action ---


def test_the_action_uses_each_of_its_inputs_once():
    (action,) = read_yaml("github-action/action.yml")
    assert action["runs"]["using"] == "composite"
    (step,) = action["runs"]["steps"]
    used = [
        re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)[1] for value in step["env"].values()
    ]
    assert sorted(used) == sorted(action["inputs"])
    for details in action["inputs"].values():
        assert details.get("required") or "default" in details
    start = (ROOT / "packaging/github-action/start").read_text("utf-8")
    assert step["run"].strip("'").strip('"') == "$GITHUB_ACTION_PATH/start"
    for name in step["env"]:
        assert re.search(rf"\$\{{?{name}\b", start), name
    for details in action["outputs"].values():
        output = re.fullmatch(r"\$\{\{ steps\.start\.outputs\.([a-z]+) \}\}", details["value"])[1]
        assert step["id"] == "start" and f"{output}=" in start


# --- Building ---


@pytest.mark.parametrize(
    "name",
    [
        "src/model/number",  # Assertions name their file.
        "src/command/model_samples",  # The assembler reads files into it.
        "src/command/version",
    ],
)
def test_an_object_is_the_same_wherever_it_is_built(tmp_path, name):
    built = []
    for folder in (tmp_path / "one", tmp_path / "another/below"):
        folder.mkdir(parents=True)
        for part in ("src", "packaging", "examples", "tools", "Makefile"):
            (folder / part).symlink_to(ROOT / part)
        for part in ("console", "test", "bench"):
            (folder / part).mkdir()
        # A cache of compilations would answer with what it has from the other folder.
        make(f"build/release/{name}.o", folder=folder, CCACHE_DISABLE="1")
        built.append((folder / f"build/release/{name}.o").read_bytes())
    assert str(tmp_path).encode() not in built[0]
    assert built[0] == built[1]


# --- The tarball ---


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not in a repository")
def test_the_tarball_builds_from_itself(tmp_path):
    build = tmp_path / "build"
    make("dist", f"BUILD={build}")
    (tarball,) = build.glob("stator-*.tar.gz")
    version = tarball.name.removeprefix("stator-").removesuffix(".tar.gz")
    run("tar", "-x", "-z", "-C", tmp_path, "-f", tarball)
    folder = tmp_path / f"stator-{version}"
    assert (folder / "LICENSE").is_file() and not (folder / ".git").exists()
    quick = ["release_CFLAGS=-O0 -g0", "WARNINGS=-w"]
    make(f"-j{os.cpu_count()}", *quick, "build/stator", folder=folder)
    commit = run("git", "-C", ROOT, "rev-parse", "--short=12", "HEAD").stdout.strip()
    said = run(folder / "build/stator", "--version").stdout
    assert said.startswith(f"stator {version} ({commit})\n")
