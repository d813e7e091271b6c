"""Hugging Face's router, which passes requests on to the servers of a model."""

from __future__ import annotations

from legato.wire.hosting import Citation, Host

HOST = Host(
    name="huggingface",
    title="Hugging Face",
    endpoint="https://router.huggingface.co/v1",
    keys=("HF_TOKEN", "HUGGINGFACE_HUB_TOKEN"),
    example="openai/gpt-oss-120b",
    sources=(
        Citation(
            "https://tabby.tabbyml.com/docs/references/models-http-api/huggingface/",
            "The base URL, and names of models with their makers before them.",
        ),
        Citation(
            "https://docs.jambonz.org/guides/features/bring-your-own-llm/hugging-face",
            "One token, and many providers behind one endpoint of the chat kind.",
        ),
        Citation(
            "https://openclawlab.com/zh-cn/docs/providers/huggingface/",
            "Its clients look for the token in `HF_TOKEN` or `HUGGINGFACE_HUB_TOKEN`, and `/models` lists the models.",
        ),
    ),
    # Who answers decides what is refused, so nothing is sent but what every compatible server takes.
    capabilities={"router": True},
)
