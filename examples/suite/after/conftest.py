import re
from datetime import datetime

import pytest
from invoice import books

pytest_plugins = ["browser_agent.testing.guarded"]  # new: one click sends once in the suite's own browser too

BEGAN = f"{datetime.now():%d%H%M%S}"


@pytest.fixture
def order(request):
    """An order number that is this test's own, the same when pytest runs the test again."""
    return re.sub(r"\W+", "-", f"{BEGAN}-{request.node.name}").strip("-")


@pytest.fixture
def agent_site(base_url):  # new: the site that the tests change
    books.bind(base_url)
    return books
