"""What other layers keep with a conversation."""

from builders import talk, user


class Derived:
    """Something that takes long to derive."""


class Other:
    """Something else."""


def test_a_cached_value_is_made_once_for_each_kind() -> None:
    conversation = talk(user("Hello"))
    first = conversation.cached(Derived, Derived)
    other = conversation.cached(Other, Other)
    assert conversation.cached(Derived, Derived) is first
    assert conversation.cached(Other, Other) is other
    assert (type(first), type(other)) == (Derived, Other)


def test_a_copy_of_a_conversation_begins_without_cached_values() -> None:
    conversation = talk(user("Hello"))
    first = conversation.cached(Derived, Derived)
    assert conversation.copy().cached(Derived, Derived) is not first
    assert conversation.cached(Derived, Derived) is first
