"""The viewer: its server, and the page as a file."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

import cullet


def test_a_page_is_served_until_the_viewer_is_closed(shot):
    """The address answers inside the block and not after it."""
    with cullet.view(shot) as viewer:
        assert viewer.url in repr(viewer)
        assert f'href="{viewer.url}"' in viewer._repr_html_()
        with urllib.request.urlopen(viewer.url) as page:
            assert b"<title>" in page.read()
        with urllib.request.urlopen(f"{viewer.url}api/stores") as answer:
            described = json.load(answer)["stores"]
        assert described[0]["frames"] == shot.frame_numbers
    assert repr(viewer) == "Viewer(closed)"
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(viewer.url)


def test_a_page_is_written(shot, tmp_path):
    """The file has the frames that were asked for."""
    page = cullet.view_page(shot, to=tmp_path / "page.html", frames=range(1, 3))
    text = page.read_text(encoding="utf-8")
    assert '"/api/stores/0/frames/2"' in text
    assert '"/api/stores/0/frames/0"' not in text


def test_what_is_no_store_is_refused(tmp_path):
    """The message is that of the program."""
    with pytest.raises(cullet.BadInput, match="no frame store here"):
        cullet.view(tmp_path)
    with pytest.raises(cullet.BadInput, match="no frame store here"):
        cullet.view_page(tmp_path, to=tmp_path / "page.html")
