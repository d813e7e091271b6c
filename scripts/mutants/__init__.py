"""Proof by mutation: break the sources in small ways, and see whether the tests of a requirement notice.

A test proves a requirement only if it fails when the requirement is broken. `make mutants` breaks it, one breakage at a
time, in a scratch copy of the sources, and runs the tests that carry the requirement's mark:

    breakages  the table: what to find, what to put there, and which requirement that breaks (`table/*.toml`)
    operators  every small change that can be made to a file without thinking: flipped comparisons, removed statements
    drawing    as many of those as the table has, drawn with a seed where the requirement is kept and its tests run
    proofs     which tests carry which mark, how long they take, which lines they run; collected once
    scratch    a copy of the project, one breakage in it, and the verdict of pytest
    results    what came of all of it: docs/mutants.json for other scripts, docs/mutants.md to read

A breakage of the table that survives is a hole in the proof, and the run fails. A drawn one that survives may be one
too, or change nothing that anybody can see; the page lists them all.
"""
