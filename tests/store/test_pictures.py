"""Pictures in each of their places: a folder, and a bucket of a real S3-compatible server that is struck."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from browser_agent.errors import Misuse, StoreUnusable, UnknownName
from browser_agent.store import Store
from browser_agent.store.evidence_bucket import Bucket
from browser_agent.store.evidence_folder import MARK
from tests.fix_s3 import SECRET, Server
from tests.store.building import everything, folder_of, only_sqlite, stored_bytes


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.s3)])
def said(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where pictures are to lie."""
    if request.param == "folder":
        return str(tmp_path / "pictures")
    request.getfixturevalue("s3")
    return f"s3://pictures/{tmp_path.name}/below"


@pytest.fixture
def placed(said: str, where: Path | str) -> Iterator[Store]:
    """A store whose pictures lie there."""
    with Store(where, evidence=said) as opened:
        yield opened


def strike(store: Store, digest: str, content: bytes | None) -> None:
    """Put something else in the place of a picture, or nothing, behind the store's back."""
    place = store.artifacts.location
    if content is not None:
        place.put(digest, content)
    elif isinstance(place, Bucket):
        place._objects.delete(f"{digest[:2]}/{digest}")
    else:
        (folder_of(store) / digest[:2] / digest).unlink()


@only_sqlite
def test_blobs_are_stored_once_and_read_back(placed: Store) -> None:
    first, again = placed.artifacts.save(b"a picture", "image/webp"), placed.artifacts.save(b"a picture", "image/webp")
    assert first == again
    assert placed.artifacts.read(first) == (b"a picture", "image/webp")
    assert len(everything(placed)["blob"]) == 1
    assert placed.artifacts.missing() == []


@only_sqlite
def test_a_blob_that_was_altered_or_lost_is_missing_and_never_shown(placed: Store) -> None:
    altered, lost = placed.artifacts.save(b"one", "image/webp"), placed.artifacts.save(b"two", "image/webp")
    kept = placed.artifacts.save(b"three", "image/webp")
    strike(placed, altered, b"forged")
    strike(placed, lost, None)
    assert set(placed.artifacts.missing()) == {altered, lost}
    with pytest.raises(UnknownName, match="is not what was stored"):
        placed.artifacts.read(altered)
    with pytest.raises(UnknownName, match="is missing"):
        placed.artifacts.read(lost)
    assert placed.artifacts.read(kept)[0] == b"three"
    assert placed.artifacts.save(b"two", "image/webp") == lost and placed.artifacts.missing() == [altered]


@only_sqlite
def test_bytes_without_a_row_as_a_crash_leaves_them_are_no_picture_until_they_are_kept(placed: Store) -> None:
    digest = placed.artifacts.save(b"one", "image/webp")
    orphan = "0" * 64
    placed.artifacts.location.put(orphan, b"what a crash has left")
    with pytest.raises(UnknownName, match="No stored picture"):
        placed.artifacts.read(orphan)
    assert placed.artifacts.missing() == [] and len(everything(placed)["blob"]) == 1
    placed.database.shut()
    with pytest.raises(StoreUnusable, match="was shut"):
        placed.artifacts.save(b"two", "image/webp")
    assert [row[0] for row in everything(placed)["blob"]] == [digest]


def test_whoever_opens_the_store_finds_its_pictures_and_no_other_place_is_taken(
    placed: Store, said: str, where: Path | str, tmp_path: Path
) -> None:
    digest = placed.artifacts.save(b"a picture", "image/webp")
    with Store(where) as again:
        assert again.artifacts.read(digest)[0] == b"a picture"
    with Store(where, evidence=said) as again:
        assert again.artifacts.read(digest)[0] == b"a picture"
    before = everything(placed)
    for other in ("s3://others/elsewhere", tmp_path / "elsewhere"):
        with pytest.raises(Misuse, match=r"are in \S+(/below|/pictures|\.evidence).* already"):
            Store(where, evidence=other)
    assert everything(placed) == before and not (tmp_path / "elsewhere").exists()


def test_before_the_first_picture_the_last_word_counts_and_an_older_opener_keeps_nothing_beside_it(
    where: Path | str, tmp_path: Path
) -> None:
    with Store(where, evidence="s3://mispelled") as older:
        with Store(where, evidence=tmp_path / "pictures") as store:
            digest = store.artifacts.save(b"a picture", "image/webp")
        with Store(where) as again:
            assert again.artifacts.read(digest)[0] == b"a picture"
        older.artifacts.location = store.artifacts.location  # its bucket would be asked for nothing
        with pytest.raises(StoreUnusable, match="have been moved away from"):
            older.artifacts.save(b"another", "image/webp")
    assert [row[0] for row in everything(store)["blob"]] == [digest]


@only_sqlite
def test_pictures_beside_the_store_keep_it_from_a_bucket(where: Path | str) -> None:
    with Store(where) as store:
        store.artifacts.save(b"a picture", "image/webp")
    with pytest.raises(Misuse, match=r"are in \S+\.evidence already, .* only one location for them: s3://b/p was"):
        Store(where, evidence="s3://b/p")


@only_sqlite
def test_two_stores_in_one_bucket_never_mix(s3: Server, where: Path | str, tmp_path: Path) -> None:
    said = f"s3://pictures/{tmp_path.name}"
    shutil.copy(where, tmp_path / "other.db")
    with Store(where, evidence=said) as one, Store(tmp_path / "other.db", evidence=said) as other:
        digest = one.artifacts.save(b"a picture", "image/webp")
        assert other.artifacts.location.get(digest) is None
        other.artifacts.save(b"a picture", "image/webp")
        strike(other, digest, None)
        assert one.artifacts.missing() == [] and other.artifacts.missing() == [digest]


# a folder that machines share


only_postgres = pytest.mark.parametrize("home", ["postgres"])


@only_postgres
def test_a_shared_folder_is_found_by_its_mark_wherever_a_machine_has_it(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "pictures", tmp_path / "mounted-elsewhere"
    with Store(where, evidence=here) as store:
        digest = store.artifacts.save(b"a picture", "image/webp")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another machine"))
    with Store(where) as other:
        assert other.artifacts.read(digest)[0] == b"a picture"
    here.rename(there)
    with Store(where) as other, pytest.raises(StoreUnusable, match=r"is not here .* Mount it there, or set evidence"):
        other.artifacts.save(b"another", "image/webp")
    with Store(where, evidence=there) as other:
        assert other.artifacts.read(digest)[0] == b"a picture"
    assert not here.exists()


@only_postgres
def test_a_folder_of_another_store_is_refused(where: str, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / MARK).write_text("store-another")
    with pytest.raises(StoreUnusable, match="is another store's"):
        Store(where, evidence=tmp_path / "pictures")
    with Store(where) as store:
        assert everything(store)["place"] == []


@only_postgres
def test_a_folder_that_holds_the_stores_pictures_already_becomes_its_own(where: str, tmp_path: Path) -> None:
    with Store(where) as store:
        digest = store.artifacts.save(b"a picture", "image/webp")
        folder_of(store).rename(tmp_path / "pictures")
    with pytest.raises(Misuse, match="of the machines that made them already"):
        Store(where, evidence=tmp_path / "new")
    with Store(where, evidence=tmp_path / "pictures") as store:
        assert store.artifacts.read(digest)[0] == b"a picture"
    with pytest.raises(Misuse, match="are in"):
        Store(where, evidence=tmp_path / "new")


# a bucket that does not answer


@pytest.fixture
def bucket(s3: Server, tmp_path: Path) -> Bucket:
    return Bucket(f"s3://pictures/{tmp_path.name}", "store-x", patience=2)


def test_a_bucket_that_does_not_answer_is_not_waited_for_twice(s3: Server, bucket: Bucket) -> None:
    bucket.put("a" * 64, b"a picture")
    asked: list[tuple[str, Callable[[], object]]] = [
        ("could not be stored in", lambda: bucket.put("b" * 64, b"another")),
        ("could not be read from", lambda: bucket.get("a" * 64)),
        ("could not be stored in", lambda: bucket.holds("a" * 64)),
    ]
    s3.stop()
    try:
        for words, ask in asked:
            with pytest.raises(StoreUnusable, match=rf"{words} s3://pictures/.*/store-x: it did not answer in time"):
                ask()
    finally:
        s3.resume()
    with pytest.raises(StoreUnusable, match="did not answer in time"):
        bucket.get("a" * 64)
    fresh = Bucket(bucket.shown.rpartition("/")[0], "store-x")
    assert fresh.get("a" * 64) == b"a picture"


def test_a_key_that_is_none_and_a_server_that_is_none_are_told_without_the_key(
    s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", f"{SECRET}-wrong")
    with pytest.raises(StoreUnusable, match="the bucket's server says SignatureDoesNotMatch") as refused:
        Bucket("s3://pictures", "store-x").get("a" * 64)
    assert SECRET not in str(refused.value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(StoreUnusable, match="it can't be reached") as away:
        Bucket("s3://pictures", "store-x", patience=1).holds("a" * 64)
    assert SECRET not in str(away.value)
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    with pytest.raises(StoreUnusable, match="AWS_ALLOW_HTTP=true is needed"):
        Bucket("s3://pictures", "store-x").put("a" * 64, b"a picture")


def test_a_bucket_that_is_none_is_no_missing_picture(s3: Server) -> None:
    with pytest.raises(StoreUnusable, match="NoSuchBucket"):
        Bucket("s3://nowhere", "store-x").get("a" * 64)


@only_sqlite
def test_no_key_of_a_bucket_is_in_the_store(placed: Store, said: str) -> None:
    placed.artifacts.save(b"a picture", "image/webp")
    assert SECRET.encode() not in stored_bytes(placed)
    assert said.encode() in stored_bytes(placed) or not said.startswith("s3://")


@pytest.mark.parametrize(
    "said",
    [
        "s3://",
        "s3:///x",
        "s3://ann:key@bucket/x",
        "s3://bucket/x?endpoint=y",
        "s3://bucket/../x",
        "gs://bucket",
        "s3:/bucket",
        "s3//bucket",
    ],
)
def test_what_is_no_place_of_pictures_is_refused(tmp_path: Path, said: str) -> None:
    with pytest.raises(Misuse, match="Pictures go into a folder, or into a bucket as s3://bucket/prefix"):
        Store(tmp_path / "runs.db", evidence=said)
