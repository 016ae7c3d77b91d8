"""A rule that is broken on purpose breaks an invariant of the model: it would be noticed."""

import pytest

from tests.model.mutants import MUTANTS, Mutant
from tests.model.search import search


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.words)
def test_a_broken_rule_breaks_an_invariant(mutant: Mutant, capsys: pytest.CaptureFixture[str]) -> None:
    result = search(mutant.decisions(mutant.scenario))
    with capsys.disabled():
        print(f"\n{mutant.words}: {result.broken or 'NOT CAUGHT'} ({result.states} states)", end=" ")
    assert result.broken == mutant.caught_by, "\n".join(result.trace)
