"""Damaged URDF files: whatever is done to one, a model or a `WbcError` comes back, in no time."""

import random
import re
import time
import warnings

import numpy as np
import pytest

import wbc
import wbc.dynamics.numpy
from wbc.model import packaged_path, packaged_robots, read_urdf

SOURCES = {name: packaged_path(name).read_bytes() for name in packaged_robots()}

VALUES = (
    *("nan", "inf", "-inf", "-1", "0", "1e400", "1e300", "1e-300", "-1e12", "1_0", "", " ", "a b c", "0 0 0", "1 2 3"),
    *("NaN 0 0", "1 2 3 4 5 6 7", "0x1", "١", "${x}", "world", "root_joint", "base", "true", "floating", "fixed"),
    *("planar", "spherical", "revolute", "&lt;", "&#10;", "&#0;", "'"),
    *("x" * 100_000, "1 " * 50_000, "9" * 100_000),
)

DECLARATIONS = (
    b'<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>',
    b"<!DOCTYPE robot>",
    b'<!DOCTYPE robot SYSTEM "http://localhost/robot.dtd">',
    b'<!ENTITY a "b">',
    b'<?xml version="1.0" encoding="utf-16"?>',
    b"<?php ?>",
    b"\xef\xbb\xbf",
    b"\0",
    b"<![CDATA[",
)

ATTRIBUTE = re.compile(rb'([\w:]{1,40})="([^"]*)"')
TAG = re.compile(rb"<(/?)([A-Za-z]\w*+)([^<>]*+)>")
NAME = re.compile(rb'(?:name|link)="([^"]*)"')


def pick(rng, pattern, text):
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def elements(text):
    """Start, end and tag of every element, in one pass."""
    spans, waiting = [], []
    for tag in TAG.finditer(text):
        if tag[3].endswith(b"/"):
            spans.append((tag.start(), tag.end(), tag[2]))
        elif not tag[1]:
            waiting.append(tag)
        elif waiting:
            opened = waiting.pop()
            spans.append((opened.start(), tag.end(), opened[2]))
    return spans


def pick_element(rng, text):
    """An element's start, end and tag; all of the text where there is none."""
    return rng.choice(elements(text) or [(0, len(text), b"robot")])


def flip(rng, text):
    damaged = bytearray(text)
    for _ in range(rng.randint(1, 8)):
        damaged[rng.randrange(len(damaged))] = rng.choice((rng.randrange(256), ord("<"), ord('"'), ord("&"), ord("-")))
    return bytes(damaged)


def replace_value(rng, text):
    found = pick(rng, ATTRIBUTE, text)
    return text if found is None else text[: found.start(2)] + rng.choice(VALUES).encode() + text[found.end(2) :]


def rename_attribute(rng, text):
    found, other = pick(rng, ATTRIBUTE, text), pick(rng, ATTRIBUTE, text)
    return text if found is None else text[: found.start(1)] + other[1] + text[found.end(1) :]


def delete_attribute(rng, text):
    found = pick(rng, ATTRIBUTE, text)
    return text if found is None else text[: found.start()] + text[found.end() :]


def delete_element(rng, text):
    start, end, _ = pick_element(rng, text)
    return text[:start] + text[end:]


def duplicate_element(rng, text):
    start, end, _ = pick_element(rng, text)
    return text[:end] + text[start:end] * rng.choice((1, 1, 50)) + text[end:]


def move_element(rng, text):
    start, end, _ = pick_element(rng, text)
    rest = text[:start] + text[end:]
    first, last, _ = pick_element(rng, rest)
    at = rng.choice((first, last, rest.find(b">", first) + 1))
    return rest[:at] + text[start:end] + rest[at:]


def rename_element(rng, text):
    (start, end, tag), (_, _, other) = pick_element(rng, text), pick_element(rng, text)
    return text[:start] + text[start:end].replace(tag, other) + text[end:]


def swap_names(rng, text):
    first, second = pick(rng, NAME, text), pick(rng, NAME, text)
    if first is None:
        return text
    if rng.random() < 0.5:  # in one place only
        return text[: first.start(1)] + second[1] + text[first.end(1) :]
    a, b = b'"' + first[1] + b'"', b'"' + second[1] + b'"'
    return text.replace(a, b'"\x01"').replace(b, a).replace(b'"\x01"', b)


def nest(rng, text):
    (start, end, own), depth = pick_element(rng, text), rng.choice((1, 3, 500, 5000))
    tag = rng.choice((b"robot", b"link", b"wbc", own))
    wrapped = (b"<" + tag + b">") * depth + text[start:end] + (b"</" + tag + b">") * depth
    return text[:start] + wrapped + text[end:]


def truncate(rng, text):
    return text[: rng.randrange(len(text))]


def declare(rng, text):
    at = rng.choice((0, text.find(b"<robot"), rng.randrange(len(text))))
    entity = replace_value(rng, text).replace(b'"base"', b'"&c;"') if rng.random() < 0.3 else text
    return entity[:at] + rng.choice(DECLARATIONS) + entity[at:]


MUTATIONS = (
    *(flip, truncate, declare, nest),
    *(replace_value, replace_value, replace_value, replace_value, rename_attribute, delete_attribute),
    *(delete_element, duplicate_element, move_element, rename_element, swap_names, swap_names),
)


def mutate(seed):
    """A damaged file, and what was done to it."""
    rng = random.Random(seed)
    name = rng.choice(sorted(SOURCES))
    text, done = SOURCES[name], [name]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        mutation = rng.choice(MUTATIONS)
        text = mutation(rng, text) or b" "
        done.append(mutation.__name__)
    return text, {"floating": rng.choice((None, True, False)), "strict": rng.random() < 0.7}, " ".join(done)


def examine(seed):
    """What came of a damaged file, "model" or "error"; anything but that is an exception."""
    text, options, done = mutate(seed)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = read_urdf(text, **options)
            outcome = "model"
            robot = wbc.dynamics.numpy.NumpyDynamics(model)
            robot.update(model.nominal, np.ones(model.nv))
            for array in (robot.mass_matrix, robot.bias, model.nominal):
                assert np.isfinite(array).all(), f"seed {seed} ({done}): not finite"
            assert model.mass >= 0 and model.nv == len(model.limits.lower), f"seed {seed} ({done})"
        except wbc.WbcError as error:
            outcome = "error"
            assert error.problems and max(map(len, error.problems)) < 5000, f"seed {seed} ({done}): unreadable"
            assert str(error).startswith("URDF: "), f"seed {seed} ({done}): {error}"
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"seed {seed} ({done}): {error!r}") from error
    assert time.process_time() - start < 1.0, f"seed {seed} ({done}): took too long"
    return outcome


def test_the_undamaged_files_are_read():
    for text in SOURCES.values():
        assert read_urdf(text).warnings == ()


def test_mutations_damage():
    for mutation in MUTATIONS:
        for name, text in SOURCES.items():
            assert any(mutation(random.Random(seed), text) != text for seed in range(20)), (mutation, name)


def test_a_damaged_file_gives_a_model_or_a_wbc_error():
    outcomes = [examine(seed) for seed in range(300)]
    assert min(outcomes.count("model"), outcomes.count("error")) > 30


@pytest.mark.soak
@pytest.mark.parametrize("block", range(30))
def test_many_damaged_files_give_a_model_or_a_wbc_error(block):
    for seed in range(1000 * (block + 1), 1000 * (block + 2)):
        examine(seed)
