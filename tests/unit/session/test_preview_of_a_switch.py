"""What a switch would cost, told before it is made."""

import pytest

from legato.model import HostedTool, Media, MediaKind, Options, Text, ToolSpec
from legato.request import render, resolve
from legato.request.tokens import Estimator
from legato.session import preview_switch
from session_support import CLAUDE, GPT, Library, session

from builders import ai, call, origin, result, talk, thought, user
from cases import PICTURE

READ = ToolSpec("read", "Read.")


def _mixed():
    return talk(
        user("look", PICTURE),
        ai(
            thought("hm", signature="c2ln"),
            HostedTool("web_search", {"q": "x"}, "found"),
            call("toolu_1"),
            origin=origin(CLAUDE),
        ),
        result("toolu_1"),
        user("and now"),
    )


def test_a_preview_counts_what_would_be_dropped_or_converted() -> None:
    preview = preview_switch(_mixed(), resolve("deepseek/deepseek-chat"), estimator=Estimator(), tools=[READ])
    assert preview.route == "deepseek/deepseek-chat"
    assert preview.losses["foreign-thinking"] == 1
    assert sum(preview.losses.values()) >= 3, "the thought, the picture and the hosted tool"
    assert (preview.cold_cache, preview.fits) == (True, True)


def test_where_the_conversation_came_from_nothing_is_lost() -> None:
    preview = preview_switch(_mixed(), resolve(CLAUDE), estimator=Estimator(), tools=[READ])
    assert "foreign-thinking" not in preview.losses


def test_a_preview_says_when_the_conversation_does_not_fit() -> None:
    long = talk(user("x" * 400_000), ai("ok"), user("go on"))
    small, large = resolve(GPT), resolve("gemini/gemini-3-pro-preview")
    estimator = Estimator(count=lambda data: len(data) // 2)
    assert preview_switch(long, small, estimator=estimator).fits is False
    assert preview_switch(long, large, estimator=estimator).fits is True


def test_a_preview_counts_the_system_prompt_and_the_tools() -> None:
    conversation, target = talk(user("Hello")), resolve(GPT)
    bare = preview_switch(conversation, target, estimator=Estimator())
    full = preview_switch(conversation, target, estimator=Estimator(), tools=[READ], system="Be kind. " * 100)
    assert full.tokens > bare.tokens + 200


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_preview_counts_the_options_of_the_session_and_what_the_target_refuses_of_them() -> None:
    async with session(CLAUDE, options=Options(temperature=0.3)) as here:
        await here.send("Hello")
        asked = here.preview_switch("openai/o3")
        here.options = Options()
        bare = here.preview_switch("openai/o3")
    assert asked.losses == bare.losses | {"temperature": 1}


def test_a_preview_leaves_no_trace() -> None:
    conversation = _mixed()
    first = render(conversation, CLAUDE, tools=[READ]).json()
    preview_switch(conversation, resolve(GPT), estimator=Estimator(), tools=[READ])
    again = render(conversation, CLAUDE, tools=[READ])
    assert (again.json(), again.prefix_change) == (first, None)
    assert len(conversation) == 4


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_session_previews_a_switch_without_sending_anything() -> None:
    async with session(tools=[Library().read], system="Be kind.") as one:
        await one.send("think first, use read_file on a.txt")
        before = list(one.talk.log)
        preview = one.preview_switch(GPT)
        assert (preview.route, preview.fits, one.route) == (GPT, True, CLAUDE)
        assert list(one.talk.log) == before


def test_a_picture_weighs_what_pictures_cost_and_not_its_bytes() -> None:
    picture = Media(kind=MediaKind.IMAGE, mime="image/png", data="QUJD" * 100_000)
    conversation = talk(user("look", picture))
    without = preview_switch(talk(user("look")), resolve(CLAUDE), estimator=Estimator()).tokens
    assert 1_600 <= preview_switch(conversation, resolve(CLAUDE), estimator=Estimator()).tokens - without < 1_700


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_answer_to_a_picture_teaches_nothing_wrong_about_text() -> None:
    picture = Media(kind=MediaKind.IMAGE, mime="image/png", data="QUJD" * 5_000)
    async with session() as told:
        await told.send("hello " * 2_000)
        before = told.estimator.of_size(CLAUDE, 100_000)
        await told.send(picture, Text("and this?"))
        await told.send("once more")
    assert told.estimator.of_size(CLAUDE, 100_000) == pytest.approx(before, rel=0.25), "it was half of it"
