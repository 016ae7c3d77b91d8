"""Where a pid means what it says: the same boot and namespace, or a machine that has been started anew since."""

from __future__ import annotations

import os
import sys

import pytest

from browser_agent.processes import own_pid_namespace, pid_namespace_ended, pid_namespace_visible

FIRST, OTHER = "4026531836", "4026532178"


@pytest.mark.parametrize(
    ("namespace", "own", "visible", "ended"),
    [
        (f"m/boot/{OTHER}", f"m/boot/{OTHER}", True, False),
        (f"n/boot/{FIRST}", f"m/boot/{FIRST}", True, False),  # a container that counts as its machine does
        (f"m/boot/{OTHER}", f"m/boot/{FIRST}", False, False),  # a container, seen from its machine
        (f"m/boot/{FIRST}", f"m/boot/{OTHER}", False, False),
        (f"m/boot/{OTHER}", f"m/boot/{int(OTHER) + 1}", False, False),
        (f"m/one/{FIRST}", f"m/two/{FIRST}", True, True),  # the machine was started anew
        (f"m/one/{OTHER}", f"m/two/{OTHER}", False, False),  # perhaps a container of another machine
        (f"m/one/{FIRST}", f"n/two/{FIRST}", False, False),  # two machines of one name
        (f"/one/{FIRST}", f"/two/{FIRST}", False, False),  # machines that don't tell who they are
        ("", f"m/boot/{FIRST}", True, False),  # an older version wrote it
        (f"m/boot/{FIRST}", "", True, False),
    ],
)
def test_a_pid_namespace_is_judged_only_where_its_processes_are_visible(
    namespace: str, own: str, visible: bool, ended: bool
) -> None:
    assert pid_namespace_visible(namespace, own=own) is visible
    assert pid_namespace_ended(namespace, own=own) is ended


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has pid namespaces")
def test_this_process_sees_its_own_pid_namespace() -> None:
    machine, boot, namespace = own_pid_namespace().split("/")
    assert f"pid:[{namespace}]" == os.readlink("/proc/self/ns/pid")
    assert len(boot) == 36 and len(machine) in {0, 12}
    assert pid_namespace_visible(own_pid_namespace()) and not pid_namespace_ended(own_pid_namespace())
