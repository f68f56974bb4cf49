"""Reading a page as a browser's parser does: its elements, their attributes and its text."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """What is in a page. `elements` are (tag, attributes) in order, `text` is everything that a person can read."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self._words: list[str] = []
        self._hidden = 0
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """All words, with white space as the page shows it."""
        return " ".join(" ".join(self._words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        """The attributes of every element with this tag."""
        return [attributes for found, attributes in self.elements if found == tag]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._hidden += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._words.append(data)
