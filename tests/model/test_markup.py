"""XML as plain elements that know their line, and the numbers in their attributes."""

import numpy as np
import pytest

from wbc.errors import WbcError
from wbc.model import markup

TEXT = b"""<?xml version="1.0"?>
<!-- a comment -->
<a one="1">
  <b name="x" size="1 2
    3"/> text <c/>
  <b name="y"><c/></b>
</a>
"""


def test_elements_know_their_children_attributes_and_lines():
    root = markup.parse(TEXT)
    assert (root.tag, root.line, root.attributes) == ("a", 3, {"one": "1"})
    assert [(child.tag, child.line) for child in root.children] == [("b", 4), ("c", 5), ("b", 6)]
    assert [child.get("name") for child in root.all("b")] == ["x", "y"]
    assert root.first("d") is None and root.first("b").get("name") == "x" and root.get("two") is None
    assert root.first("c").children == []


def test_an_element_is_called_by_tag_name_and_line():
    root = markup.parse(TEXT)
    assert str(root) == "<a> (line 3)"
    assert str(root.first("b")) == "<b name='x'> (line 4)"
    assert str(root.children[2].first("c")) == "<c> (line 6) of <b name='y'>"
    nested = markup.parse(b"<a name='root'><b name='x'><c><d/></c><e name='y'/></b><f/></a>")
    assert str(nested.children[0].children[0].first("d")) == "<d> (line 1) of <b name='x'>"
    assert str(nested.children[0].first("e")) == "<e name='y'> (line 1)"
    assert str(nested.first("f")) == "<f> (line 1)"
    assert len(str(markup.Element("b", {"name": "n" * 1_000_000}, 1))) < 120


def test_numbers():
    root = markup.parse(TEXT)
    np.testing.assert_array_equal(markup.numbers(root.first("b"), "size", 3), [1, 2, 3])
    assert markup.number(root, "one") == 1.0
    assert markup.number(root, "two", 5.0) == 5.0
    np.testing.assert_array_equal(markup.numbers(root, "two", 2, (3, 4)), [3, 4])


def element(text):
    return markup.Element("e", {"x": text}, 7)


@pytest.mark.parametrize("text", ["1", " 1 ", "\t1e0\n", "+1", "1.", "0.1e1"])
def test_what_is_a_number(text):
    assert markup.number(element(text), "x") == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no value; it needs a number"),
        ("one", "x='one' is not a number"),
        ("1,5", "x='1,5' is not a number"),
        ("0x10", "is not a number"),
        ("1_0", "is not a number"),
        ("1 2", "has 2 values; it needs a number"),
        ("nan", "is not finite"),
        ("-inf", "is not finite"),
        ("1e400", "is not finite"),
        ("1e13", "beyond any robot's size"),
        ("-1e13", "beyond any robot's size"),
        ("${pi}", "expression of xacro"),
        ("1" * 20_000, "20000 characters long"),
    ],
)
def test_what_is_none(text, words):
    with pytest.raises(WbcError) as caught:
        markup.number(element(text), "x")
    assert words in str(caught.value) and "<e> (line 7)" in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize(("text", "value"), [("2", 2), ("inf", np.inf), ("-1e400", -np.inf), ("-1e16", -np.inf)])
def test_a_limit_may_be_infinite(text, value):
    assert markup.limit(element(text), "x") == value


def test_a_limit_that_is_missing_is_zero_and_one_that_is_no_number_an_error():
    assert markup.limit(element("1"), "y") == 0.0
    with pytest.raises(WbcError, match="not finite"):
        markup.limit(element("nan"), "x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "no element found"),
        (b"<a>", "no element found|unclosed"),
        (b"<a></b>", "mismatched tag: line 1, column 5"),
        (b"<a/><b/>", "junk after document element"),
        (b"<a x='1' x='2'/>", "duplicate attribute"),
        (b"<a>&lol;</a>", "undefined entity"),
        (b"<!DOCTYPE a SYSTEM 'http://localhost/x.dtd'><a/>", "document type declaration"),
        (b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>", "document type declaration"),
        (b"<a>" * 1001, "line 1: elements are nested more than 1000 levels deep"),
        (b"<?xml version='1.0' encoding='no-such'?><a/>", "encoding"),
        (b"<?xml version='1.0' encoding='utf-7'?><a/>", "it is not .*XML: .*encoding"),
    ],
)
def test_what_is_no_xml(text, words):
    with pytest.raises(WbcError, match=words):
        markup.parse(text)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        (TEXT, "a"),
        (TEXT[:60], "a"),
        ("<mujoco/>".encode("utf-16"), "mujoco"),
        (b"<!-- <robot> --><mujoco>", "mujoco"),
        (b"", None),
        (b"text", None),
        (b"<", None),
    ],
)
def test_the_first_element_is_found_in_the_beginning_of_a_file(text, tag):
    assert markup.root_tag(text) == tag
