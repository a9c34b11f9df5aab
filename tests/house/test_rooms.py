"""The pages of the reference are those of the rooms that there are."""

from docs import rooms


def test_no_page_is_left_of_a_room_that_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(rooms, "ROOMS", ("mtcool.streams",))
    folder = tmp_path / "rooms"
    folder.mkdir()
    (folder / "mtcool.cellar.rst").write_text("Gone.\n")
    rooms.write_pages(folder)
    assert [path.name for path in folder.iterdir()] == ["mtcool.streams.rst"]
