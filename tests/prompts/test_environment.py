"""Templates of the user's own: what they may replace, and how their mistakes are shown."""

from __future__ import annotations

import dataclasses
import os
import re

import pytest
from jinja2 import environment

from prompts.actors import ACTOR_TEMPLATES, ActorPrompts, InitiatorView
from prompts.environment import MultilineText, Templates, as_data
from scenarios.errors import UsageError


def own(tmp_path, name, source):
    (tmp_path / name).write_text(source, encoding="utf-8")
    return tmp_path / name


def test_the_shipped_templates_are_all_there():
    assert set(ACTOR_TEMPLATES) <= set(Templates().names)


def test_one_file_replaces_one_template_and_changes_the_fingerprint(
    tmp_path, hipo, view, history, prompts
):
    source = '{% include "scene.j2" %}\n{{ view.fact }}\n{% include "conversation.j2" %}'
    own(tmp_path, "responder_user.j2", source)
    templates = Templates(tmp_path)
    changed = ActorPrompts(templates, hipo)
    user = changed.responder(view, history).messages[1].content
    assert f"\n{view.fact}\n" in user
    assert "# Now" not in user
    assert changed.responder(view, history).messages[0] == prompts.responder(view, ()).messages[0]
    assert templates.fingerprint != Templates().fingerprint
    assert templates.fingerprint == Templates(tmp_path).fingerprint


def test_a_stored_template_that_cannot_be_compiled_is_shown_with_its_place():
    with pytest.raises(UsageError, match=r"repair\.j2:2: unexpected '}'\n.*hipo runs check"):
        Templates(stored={"repair.j2": "one\n{{ reasons }"})
    with pytest.raises(UsageError, match=r"nested too deeply\n.*hipo runs check"):
        Templates(stored={"repair.j2": "{{ " + 5_000 * "(" + "1" + 5_000 * ")" + " }}"})


def test_hidden_files_and_a_readme_are_left_alone(tmp_path):
    own(tmp_path, ".swp", "")
    own(tmp_path, "README.md", "mine")
    own(tmp_path, "repair.j2", "{{ reasons }}")
    assert Templates(tmp_path).render("repair.j2", {"reasons": "x"}) == "x"


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("responder_usr.j2", "", r"replaces no template\n.*did you mean 'responder_user\.j2'"),
        ("repair.j2", "one\n{% if %}", r"repair\.j2:2: "),
        ("repair.j2", "{{ " + 5_000 * "(" + "1" + 5_000 * ")" + " }}", "nested too deeply"),
        ("repair.j2", "one\ntwo\n{{ reasons | nosuch }}", r"repair\.j2:3: .*nosuch"),
        ("repair.j2", "one\n{{ reason }}", r"repair\.j2:2: 'reason' .*\n.*did you mean 'reasons'"),
        ("repair.j2", 'a\n{% include "lables.j2" %}', r"repair\.j2:2: .*\n.*mean 'labels\.j2'"),
    ],
)
def test_a_mistake_is_shown_with_its_place_before_anything_is_rendered(
    tmp_path, name, source, message
):
    own(tmp_path, name, source)
    with pytest.raises(UsageError, match=message):
        Templates(tmp_path)


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("initiator_user.j2", "a\n\n{{ view.fact }}", r"initiator_user\.j2:3: .*'fact'"),
        ("responder_user.j2", "a\n{{ draft }}", r"responder_user\.j2:2: 'draft' is undefined"),
        ("wanted.j2", "{% for d, l in wanted %}\n{{ l.x }}\n{% endfor %}", r"wanted\.j2:2: "),
        ("repair.j2", "{{ reasons.__class__ }}", r"repair\.j2:1: .*unsafe"),
        ("repair.j2", "{{ reasons[0].__init__.__globals__ }}", r"repair\.j2:1: .*unsafe"),
        ("repair.j2", "{% for i in range(10**9) %}{% endfor %}", r"repair\.j2:1: .*[Rr]ange"),
        ("repair.j2", "\n{{ 1 / 0 }}", r"repair\.j2:2: division by zero"),
        ("repair.j2", '{% include "repair.j2" %}', r"repair\.j2:1: .*recursion"),
    ],
)
def test_a_mistake_that_needs_values_shows_when_the_prompts_are_built(
    tmp_path, hipo, name, source, message
):
    own(tmp_path, name, source)
    with pytest.raises(UsageError, match=message):
        ActorPrompts(Templates(tmp_path), hipo)


def test_a_directory_that_is_not_there_or_empty_is_named(tmp_path):
    with pytest.raises(UsageError, match="no such directory"):
        Templates(tmp_path / "missing")
    with pytest.raises(UsageError, match="holds no template"):
        Templates(tmp_path)


def test_files_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "repair.j2"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(UsageError, match="not UTF-8"):
        Templates(tmp_path)
    path.write_bytes(b" " * 300_000)
    with pytest.raises(UsageError, match="300,000 bytes"):
        Templates(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="is no file"):
        Templates(tmp_path)


def test_a_template_saved_with_windows_line_ends_works_the_same(tmp_path):
    own(tmp_path, "repair.j2", "# Correction\n{{ reasons }}\nAgain.\n")
    unix = Templates(tmp_path).render("repair.j2", {"reasons": "x"})
    (tmp_path / "repair.j2").write_bytes(b"# Correction\r\n{{ reasons }}\r\nAgain.\r\n")
    assert Templates(tmp_path).render("repair.j2", {"reasons": "x"}) == unix
    assert os.linesep not in unix or os.linesep == "\n"


def test_a_shipped_prompt_is_rendered_at_one_go(monkeypatch, prompts, view, history):
    made, new_context = [], environment.new_context

    def counted(*args, **options):
        made.append(args)
        return new_context(*args, **options)

    monkeypatch.setattr(environment, "new_context", counted)
    prompts.responder(view, history)
    assert len(made) == 1


def test_what_ships_reads_the_same_when_it_is_put_together_piece_by_piece(
    tmp_path, hipo, prompts, view, history, draft, critiques
):
    templates = Templates()
    assert not [name for name in templates.names if "{% include" in templates._as_a_whole(name)]
    own(tmp_path, "repair.j2", templates.sources(["repair.j2"])["repair.j2"])
    pieces = ActorPrompts(Templates(tmp_path), hipo)
    other = dataclasses.replace(view, fact="Another.", manner=("Style: brisk",), claimed=())
    public = InitiatorView("It rains.", "buyer", "B.", "buy", "seller", "S.", "en", angle="Dry?")
    for seen in (view, other, view):
        for of in (lambda one: one.messages, lambda one: one.reframed().messages):
            assert of(prompts.responder(seen, history)) == of(pieces.responder(seen, history))
            assert of(prompts.reflect(seen, (), draft)) == of(pieces.reflect(seen, (), draft))
            revised = (seen, history, draft, critiques, (("veracity", "Manner"),))
            assert of(prompts.revise(*revised)) == of(pieces.revise(*revised))
            assert of(prompts.initiator(public, ())) == of(pieces.initiator(public, ()))


def test_values_stay_on_one_line_and_blocks_do_not():
    assert as_data(" a\n\n# b\t c ") == "a # b c"
    assert as_data("# b") == "\\# b"
    assert as_data("#b is a tag") == "#b is a tag"
    assert as_data(MultilineText("{\n}")) == "{\n}"
    assert as_data(3) == 3


def test_an_error_names_no_line_of_python(tmp_path, hipo):
    path = own(tmp_path, "repair.j2", "{{ reasons.nothing }}")
    with pytest.raises(UsageError) as caught:
        ActorPrompts(Templates(tmp_path), hipo)
    assert str(caught.value).startswith(f"{path}:1: ")
    assert not re.search(r"\.py", str(caught.value).replace(str(tmp_path), ""))
