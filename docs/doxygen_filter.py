#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Doxygen is shown of a public header: a comment holds for all declarations that follow it without a blank line, the
context and the options mean the same everywhere, and the C header's plain comments are documentation."""
import re
import sys

SAME_EVERYWHERE = {"context": "where it runs: its stream, its scratch memory", "options": "what is asked for beyond the operands"}
OPENS_A_SCOPE = re.compile(r"\s*((TINYBLAS_API\s+)?(class|struct|enum|namespace|extern)\b.*\{|(public|private):|#|//|\}|/\*|typedef)")


def with_parameters(comment, declaration):
    """The comment, in Doxygen's spelling, with what it leaves to this file."""
    comment = [re.sub(r"@param (\w+(?:, \w+)+)", lambda found: "@param " + found[1].replace(", ", ","), line) for line in comment]
    comment = [re.sub(r"<(?=\w+>)", r"\\<", line) for line in comment]  # not a tag of HTML
    first = next((i for i, line in enumerate(comment) if "@param" in line), None)
    if first is None:
        return comment
    indent = comment[first][: comment[first].index("///")]
    for name, meaning in reversed(SAME_EVERYWHERE.items()):
        said = any(re.search(rf"@param (\w+,)*{name}\b", line) for line in comment)
        if not said and re.search(rf"[&s] {name}\b", declaration):
            comment = comment[:first] + [f"{indent}/// @param {name}  {meaning}"] + comment[first:]
    return comment


def shared_comments(lines):
    comment, last, at = [], [], 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if re.match(r"\s*///(?!<)", line):
            comment.append(line)
            continue
        declaration = [line]
        if re.match(r"\s*template <.*>$", line):
            declaration.append(lines[at])
            at += 1
        if not line.strip() or OPENS_A_SCOPE.match(declaration[-1]):
            end = "}" if re.search(r"\benum\b", line) else "*/" if line.startswith("/*") else ""
            while end not in declaration[-1]:
                declaration.append(lines[at])
                at += 1
            yield from with_parameters(comment, "")
            yield from declaration
            comment, last = [], []
            continue
        while not is_whole(declaration):
            declaration.append(lines[at])
            at += 1
        last = comment or last
        yield from with_parameters(last, " ".join(declaration))
        yield from declaration
        comment = []


def is_whole(declaration):
    text = "\n".join(re.sub(r"//.*", "", line) for line in declaration)
    depth = sum(text.count(c) for c in "({") - sum(text.count(c) for c in ")}")
    return depth == 0 and text.rstrip().endswith((";", "}"))


def c_comments(text):
    """/* before a declaration becomes ///, so that several can share it; behind an enumerator, /**<."""
    text = re.sub(r"(?m)^(\s*[A-Z_0-9]+ = \d+,?\s*)/\* ", r"\1/**< ", text)

    def as_lines(found):
        body = re.sub(r"\n( \*|  ) ?", "\n", found[1].strip())
        return "".join(f"/// {line.strip()}\n" for line in body.splitlines())

    return re.sub(r"(?ms)^/\* ((?:(?!\*/).)*)\*/\n(?=typedef|TINYBLAS_API)", as_lines, text)


def main():
    with open(sys.argv[1]) as file:
        text = file.read()
    if sys.argv[1].endswith(".h"):
        text = c_comments(text)
    print("\n".join(shared_comments(text.split("\n"))))


main()
