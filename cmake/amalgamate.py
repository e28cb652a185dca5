#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the library as two files, for programs that copy files: tinyblas_single.h and tinyblas_single.cu.

amalgamate.py cuda|emulated FOLDER SOURCE...: the sources are those that the build compiles; what they include of ours is put in
where it is included first. A name that a source keeps to itself (in an anonymous namespace) gets the source's name
behind it if another file has it, too."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUOTED = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''

HEADER = """\
/* SPDX-License-Identifier: MIT */
/* libtinyblas {version}, all public headers in one: the C interface and, for C++20, namespace tinyblas. Made by
   cmake/amalgamate.py. */
"""
SOURCE = {
    "cuda": """\
// SPDX-License-Identifier: MIT
// libtinyblas {version} in one file, beside tinyblas_single.h. Made by cmake/amalgamate.py. Compile it with nvcc 13:
//   nvcc -std=c++20 --expt-relaxed-constexpr -O3 -Xcompiler=-ffp-contract=off --compress-mode=size -DTINYBLAS_HAS_SM_90A=1
//     -gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90a,code=sm_90a -c tinyblas_single.cu
// Without machine code for 90a leave -DTINYBLAS_HAS_SM_90A=1 out. The library assembles three of its files with -Xptxas -O1, so
// that the multiply-adds of their main loops stay in order: src/gemm_in_order.cu, src/gemm_sliced_in_order.cu and
// src/gemm_pipelined.cu. Here they are assembled as all the rest is: the same bits, some percent slower in float products.
#ifndef TINYBLAS_HAS_SM_90A
#define TINYBLAS_HAS_SM_90A 0
#endif
""",
    "emulated": """\
// SPDX-License-Identifier: MIT
// libtinyblas {version} in one file, beside tinyblas_single.h, for device emulation on the CPU. Made by cmake/amalgamate.py:
//   g++ -x c++ -std=c++20 -O2 -ffp-contract=off -mno-mmx -Wno-unknown-pragmas -c tinyblas_single.cu    # link -lboost_context
""",
}


def version():
    return re.search(r"project\(tinyblas VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def unguarded(text):
    """Without an include guard: each file is put in once."""
    guard = re.search(r"^#ifndef (\w+_H)\n#define \1\n", text, re.M)
    if not guard:
        return text
    return text[: guard.start()] + text[guard.end() : text.rindex("#endif")]


def untraced(lines):
    """Without what only the traced build has."""
    depth, traced = 0, 0  # of conditions; that of TINYBLAS_TRACED
    shown = True
    for line in lines:
        if re.match(r"\s*#\s*if", line):
            depth += 1
            if not traced and "TINYBLAS_TRACED" in line:
                traced, shown = depth, "!" in line or "ifndef" in line
                continue
        if depth == traced and traced:
            if re.match(r"\s*#\s*else", line):
                shown = not shown
                continue
            if re.match(r"\s*#\s*endif", line):
                traced, shown = 0, True
                depth -= 1
                continue
        if re.match(r"\s*#\s*endif", line):
            depth -= 1
        if shown:
            yield line


class Joiner:
    """Puts files one after another, each once."""

    def __init__(self, folders):
        self.folders = folders
        self.seen = set()
        self.system = []  # includes of others, once each, for the head of the file

    def find(self, name, beside):
        for folder in [beside, *self.folders]:
            if (folder / name).is_file():
                return (folder / name).resolve()
        return None

    def text(self, path, rewrite=lambda text: text):
        if path in self.seen:
            return ""
        self.seen.add(path)
        lines, depth = [f"\n// ---- {path.relative_to(ROOT)}"], 0
        for line in untraced(rewrite(unguarded(path.read_text())).split("\n")):
            if re.match(r"\s*#\s*if", line):
                depth += 1
            if re.match(r"\s*#\s*endif", line):
                depth -= 1
            include = re.match(r'\s*#\s*include ([<"])(.*)[>"]', line)
            found = include and self.find(include[2], path.parent)
            if found and depth > 0:
                sys.exit(f"{path}: includes {include[2]} under a condition")
            if found:
                lines.append(self.text(found))
            elif include and depth == 0:
                self.system.append(line)
            elif not re.match(r"#pragma once|(//|/\*) SPDX-License", line):
                lines.append(line)
        return "\n".join(lines).rstrip("\n") + "\n"

    def head(self):
        return "\n".join(dict.fromkeys(self.system)) + "\n"


def blanked(text):
    """Comments and strings become blanks of the same length."""
    return re.sub(QUOTED, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


def own_names(text):
    """What a source declares in its anonymous namespaces."""
    text, names = blanked(text), set()
    for begin in re.finditer(r"^namespace \{", text, re.M):
        declaration, depth = "", 0
        for at in range(begin.end(), len(text)):
            depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(text[at], 0)
            if depth < 0:
                break
            declaration += text[at]
            # A value may go on after a brace: int64_t{1} << 37.
            closes = text[at] == "}" and re.match(r"[ \t]*\n(?!\s*[;,({)])", text[at + 1 :])
            ends = text[at] == ";" or closes
            if depth == 0 and ends:
                names |= declared(declaration)
                declaration = ""
    return names


def declared(declaration):
    declaration = re.sub(r"^\s*#.*$", "", declaration, flags=re.M).strip()
    if declaration.startswith("template"):
        depth = 0
        for at, character in enumerate(declaration):
            depth += {"<": 1, ">": -1}.get(character, 0)
            if character == ">" and depth == 0:
                declaration = declaration[at + 1 :].strip()
                break
    kind = re.match(r"(?:struct|class|enum class|enum|using|concept)\s+(?:alignas\([^)]*\)\s*)?(\w+)", declaration)
    name = kind or re.search(r"\b([a-zA-Z_]\w*)\s*[({=\[;]", declaration)
    return {name[1]} - {"static_assert", "operator", "template", "namespace"} if name else set()


def renamed(text, names, suffix):
    """The text with these names changed, but not those of members and in other namespaces."""
    if not names:
        return text
    word = re.compile(rf"({QUOTED})|(?<![\w.])(?<!->)(?<!::)\b({'|'.join(sorted(names))})\b", re.S)
    return word.sub(lambda found: found[1] or f"{found[2]}_in_{suffix}", text)


def public_header():
    joiner = Joiner([ROOT / "include"])
    c = joiner.text(ROOT / "include/tinyblas/tinyblas.h")
    c_head = joiner.head()
    joiner.system = []
    cpp = joiner.text(ROOT / "include/tinyblas/tinyblas.hpp")
    return (
        HEADER.format(version=version()) + "#ifndef TINYBLAS_SINGLE_H\n#define TINYBLAS_SINGLE_H\n\n" + c_head + c
        + "\n#ifdef __cplusplus\n" + joiner.head() + cpp + "\n#endif\n\n#endif\n"
    ), joiner.seen


def main():
    backend, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    sources = [pathlib.Path(name).resolve() for name in sys.argv[3:]]
    # The C interface says `using namespace tinyblas` for all that follows.
    sources.sort(key=lambda path: "\nusing namespace tinyblas;" in path.read_text())
    device = {"cuda": "cuda", "emulated": "emulation"}[backend]
    header, seen = public_header()
    joiner = Joiner([ROOT / "include", ROOT, ROOT / "src", ROOT / "src/device" / device])
    joiner.seen |= seen

    words = collections.Counter()  # in how many files each is
    for folder_of_ours in ("include/tinyblas", "src", "kernels"):
        for path in (ROOT / folder_of_ours).rglob("*.*"):
            if path in sources or path.suffix in (".h", ".hpp", ".cuh"):
                words.update(set(re.findall(r"\w+", blanked(path.read_text()))))
    body = ""
    for source in sources:
        mine = {name for name in own_names(source.read_text()) if words[name] > 1}
        suffix = re.sub(r"\W", "_", source.stem)
        body += joiner.text(source, lambda text: renamed(text, mine, suffix))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tinyblas_single.h").write_text(header)
    (folder / "tinyblas_single.cu").write_text(
        SOURCE[backend].format(version=version()) + '#include "tinyblas_single.h"\n\n' + joiner.head() + body
    )


main()
