"""Our reader finds what WPILib's reader finds, record for record."""

import pytest
from conftest import ROOT, corpus, ours, same_records, theirs

FIXTURES = sorted((ROOT / "fixtures/wpilog/valid").glob("*.wpilog"))
# Another start is not a log for us; WPILib walks on through whatever follows.
NOT_LOGS = ("bad-magic", "header-missing", "noheader", "version-0", "cut-in-magic", "cut-in-header", "extra-header-too-long")
DAMAGED = sorted((ROOT / "fixtures/wpilog/corrupt").glob("*.wpilog"))


def compare(log):
    header, found, error = ours(log)
    if any(name in log.name for name in NOT_LOGS):
        assert header is None, "we say that it is not a log"
        return
    their_header, expected = theirs(log)
    assert header == their_header
    if error:
        # WPILib repeats the last record of a log that is cut (specification, section 9).
        assert expected[-1:] == expected[-2:-1] or len(expected) == 1
        expected = expected[:-1]
    elif not found:
        # WPILib finds one record, with entry -1, in a log without any.
        assert [r["entry"] for r in expected] == [0xFFFFFFFF]
        expected = []
    same_records(found, expected)


def test_there_are_fixtures():
    assert len(FIXTURES) >= 10 and len(DAMAGED) >= 15


@pytest.mark.parametrize("path", FIXTURES + DAMAGED, ids=lambda path: path.stem)
def test_fixture(path):
    compare(path)


@pytest.mark.parametrize("path", corpus() or [None], ids=lambda path: path.stem if path else "none")
def test_corpus(path):
    if path is None:
        pytest.skip("no corpus: LOGPOSE_CORPUS names its folder, ../shared/corpus is the default")
    compare(path)
