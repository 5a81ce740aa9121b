"""Pages of HTML as trees, and what stands in them."""

import tinyhtml5.parser

XHTML = "{http://www.w3.org/1999/xhtml}"


def parsed(html):
    """Return the tree of a page that has no parse error."""
    parser = tinyhtml5.parser.HTMLParser()
    tree = parser.parse(html)
    assert parser.errors == []
    return tree


def words_of(element):
    """Return all text of an element, each run of spaces as one."""
    return " ".join("".join(element.itertext()).split())


def section(tree, name):
    """Return the section of a page with an id."""
    return next(e for e in tree.iter(f"{XHTML}section") if e.get("id") == name)
