"""What is generated, installed and shipped: manual pages, completions, documents, the tarball."""

import os
import pathlib
import shutil
import subprocess

import pytest

from stator_process import binary

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


def make(*words, folder=ROOT):
    # A make above this test must not pass its flags and its job server on.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
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
