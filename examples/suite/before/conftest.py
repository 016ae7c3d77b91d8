import re
from datetime import datetime

import pytest

BEGAN = f"{datetime.now():%d%H%M%S}"


@pytest.fixture
def order(request):
    """An order number that is this test's own, the same when pytest runs the test again."""
    return re.sub(r"\W+", "-", f"{BEGAN}-{request.node.name}").strip("-")
