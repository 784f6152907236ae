"""What a browser would do with our output: elements, attributes, text."""

from html.parser import HTMLParser

from monge.render.components import joined

VOID = {"meta", "br", "wbr", "img", "link", "input"}


class Page(HTMLParser):
    """Elements and attributes of a page, and whether its elements nest."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def assert_inert(source: str) -> Page:
    """The page runs nothing but what puts buttons beside signatures, and fetches nothing."""
    page = Page(source.replace(f"<script>{joined('copy.js', 'print.js')}</script>", ""))
    names = {name for name, _ in page.elements}
    assert not names & {
        "script",
        "img",
        "iframe",
        "object",
        "embed",
        "link",
        "base",
        "form",
        "foreignobject",
        "use",
    }
    for _, attributes in page.elements:
        assert not any(
            key.startswith("on") or key in {"href", "src", "xlink:href", "srcset"}
            for key in attributes
        )
        assert "url(" not in (attributes.get("style") or "")
    assert "@import" not in source
    source.encode("utf-8")
    return page
