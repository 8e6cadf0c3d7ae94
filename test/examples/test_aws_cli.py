"""Runs the shell scripts of this folder, which speak through Debian's AWS CLI."""

import pathlib
import subprocess

import pytest

SCRIPT_TIMEOUT_S = 240


@pytest.mark.parametrize("script", ["orders.sh", "shop.sh", "groups.sh"])
def test_script(script, server_url, tmp_path):
    result = subprocess.run(
        ["sh", str(pathlib.Path(__file__).with_name(script))],
        env={
            "PATH": "/usr/bin:/bin",  # Debian's aws, not one that was installed otherwise.
            "HOME": str(tmp_path),  # No configuration of whoever runs the tests.
            "LANG": "C.UTF-8",
            "ENDPOINT": server_url,
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_PAGER": "",
            "AWS_EC2_METADATA_DISABLED": "true",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SCRIPT_TIMEOUT_S,
    )
    assert result.returncode == 0, result.stdout + result.stderr
