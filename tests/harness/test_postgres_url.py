"""URLs of databases: read as libpq reads them, and never shown with what may be a password."""

import pytest

from sixfold.harness.errors import SixfoldError
from sixfold.harness.postgres_url import is_url, read_url

SECRET = "tops3cret"

READABLE = [
    "postgresql://",
    "postgres://localhost",
    "postgresql://localhost:5433",
    "postgresql://localhost/mydb",
    f"postgresql://user:{SECRET}@localhost",
    f"postgresql://user%40server:{SECRET}%2F%40%3A@localhost:5433/my%20db?sslmode=require&application_name=a+b",
    f"postgresql://u:a:{SECRET}@one:1,two:2/db?target_session_attrs=any",
    f"postgresql://u:{SECRET}@one,two:2/db",
    f"postgresql://u:{SECRET}@[::1]:5432/db",
    f"postgresql://u:{SECRET}@%2Ftmp%2Fsocket/db",
    f"postgresql:///db?host=/tmp/socket&password={SECRET}&user=u",
]

UNREADABLE = [
    f"postgresql://user:{SECRET}/x@localhost/db",
    f"postgresql://user:x/{SECRET}@localhost/db",
    f"postgresql://user:x@{SECRET}@localhost/db",
    f"postgresql://user:x?{SECRET}@localhost/db",
    f"postgresql://user:x#{SECRET}@localhost/db",
    f"postgresql://user:{SECRET}%zz@localhost/db",
    f"postgresql://user:{SECRET}%00@localhost/db",
    f"postgresql://user:{SECRET}",
    f"postgresql://user:{SECRET}[@localhost:port/db",
    f"postgresql://user:x@localhost/db?password={SECRET}@1",
    f"postgresql+psycopg://user:{SECRET}@localhost/db",
    f"mysql://user:{SECRET}@localhost/db",
]


@pytest.mark.parametrize("text", READABLE)
def test_a_url_means_what_libpq_takes_it_for(text: str) -> None:
    conninfo = pytest.importorskip("psycopg.conninfo", reason="the extra `postgres` is not installed")
    expected = {key: str(value) for key, value in conninfo.conninfo_to_dict(text).items()}
    assert read_url(text).parameters == expected


@pytest.mark.parametrize("text", READABLE)
def test_a_url_is_told_without_its_password(text: str) -> None:
    url = read_url(text)
    assert SECRET not in url.place
    assert SECRET not in repr(url)
    assert is_url(text)


def test_what_is_told_names_the_database() -> None:
    url = read_url(f"postgresql://ann:{SECRET}@db.example.org:5433/prod?sslpassword=other-secret")
    assert url.place == "postgresql://ann@db.example.org:5433/prod"
    said = url.without_secrets(f'no such role "{SECRET}", "other-secret" in prod')
    assert said == 'no such role "…", "…" in prod'


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_url_that_cannot_be_read_is_not_shown(text: str) -> None:
    with pytest.raises(SixfoldError) as caught:
        read_url(text)
    assert SECRET not in f"{caught.value} {caught.value.place} {caught.value.remedy}"
    assert "postgresql://USER" in caught.value.remedy


@pytest.mark.parametrize("text", ["dump.json", "./a:b/c.sqlite", "C:/x.sqlite", "/tmp/postgresql"])
def test_paths_are_no_urls(text: str) -> None:
    assert not is_url(text)
