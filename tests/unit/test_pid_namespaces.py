"""Where a pid means what it says: the same boot and namespace, or a machine that has been started anew since."""

from __future__ import annotations

import os
import sys

import pytest

from browser_agent.processes import is_over, own_place, sees

FIRST, OTHER = "4026531836", "4026532178"


@pytest.mark.parametrize(
    ("place", "own", "seen", "over"),
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
def test_a_place_is_judged_only_where_its_processes_can_be_seen(place: str, own: str, seen: bool, over: bool) -> None:
    assert (sees(place, own=own), is_over(place, own=own)) == (seen, over)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a place")
def test_this_process_has_a_place_which_it_sees() -> None:
    machine, boot, namespace = own_place().split("/")
    assert f"pid:[{namespace}]" == os.readlink("/proc/self/ns/pid")
    assert len(boot) == 36 and len(machine) in {0, 12}
    assert sees(own_place()) and not is_over(own_place())
