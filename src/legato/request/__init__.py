"""From a conversation to a request and back: `render`, `parse`, `carry`, and the catalogue of providers and models."""

from __future__ import annotations

from legato.request.carrying import carry
from legato.request.catalogue import Catalogue, default_catalogue, resolve, with_capabilities
from legato.request.parsing import parse
from legato.request.rendering import render
from legato.request.report import Emitted, PrefixChange, RenderReport
from legato.request.request import Request

__all__ = [
    "Catalogue",
    "Emitted",
    "PrefixChange",
    "RenderReport",
    "Request",
    "carry",
    "default_catalogue",
    "parse",
    "render",
    "resolve",
    "with_capabilities",
]
