"""No command leaves a core dump, which could contain a PIN or a key."""

import os
import resource
import subprocess

import pytest
from conftest import BINARY

# Replaces libc's _exit and prints the core-dump limits at the end of the process.
END = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void _exit(int status) {
    struct rlimit core;
    getrlimit(RLIMIT_CORE, &core);
    dprintf(2, "core %ld %ld dumpable %d\n", (long)core.rlim_cur, (long)core.rlim_max, prctl(PR_GET_DUMPABLE));
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
"""

CONFIGURATION = ["--config", "/nowhere/gateway.yaml"]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("end") / "end.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", path, "-x", "c", "-"], input=END, text=True, check=True)
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["no-such-command"],
        ["check", *CONFIGURATION],
        ["sign", "promotional-offer", *CONFIGURATION, "--app", "com.example.app", "productId=a"],
        ["verify", "--jws", "a.b.c", "--key", "/nowhere/key.pem"],
        ["status", *CONFIGURATION],
        ["reload", *CONFIGURATION],
        ["clients", "mint", "shop"],
        ["policy", "test", *CONFIGURATION],
        ["audit", "tail", *CONFIGURATION],
        ["keys", "list", *CONFIGURATION],
        ["drill", "list", *CONFIGURATION],
        ["compliance", "report", *CONFIGURATION],
        ["serve", *CONFIGURATION],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_every_command_disables_core_dumps_before_anything_else(library, arguments):
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if hard == 0:
        pytest.fail("this test needs a hard limit on core files above 0; raise it: ulimit -Hc unlimited")
    ended = subprocess.run(
        [BINARY, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "LD_PRELOAD": str(library)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)),
        timeout=60,
    )
    assert ended.stderr.splitlines()[-1] == "core 0 0 dumpable 0"
