"""One module for each converter that is measured in an interpreter of its own, and the program that runs it.

A module here is not imported by the harness: `runner.py` loads it inside the environment in which its library lives,
where neither this package nor Legato exists. It offers

    load(messages)      chat messages as the library's own objects; never timed
    CONVERTERS          by label: (convert, whether it repairs a damaged history); convert(objects) makes the body
    fresh(objects)      optional: a copy for one conversion, not timed, for a converter that changes what it is given
    session(turns)      optional: make the body after every turn; else the whole history is converted each time
    DISTRIBUTION        the name to look the version up by
"""
