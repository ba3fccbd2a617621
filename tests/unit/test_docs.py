#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The documents: every link and every path of this project that they name exists, and so does every document that the sources name."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("bench/results/*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("tests/*/README.md")])
FOLDERS = ("agent", "base", "libc", "bci", "bench", "command", "debian", "docs", "packaging", "pipeline", "tables", "tests", "tools", "writers")

LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"(?:%s)/[\w.*{},/-]+" % "|".join(FOLDERS))
SOURCE = re.compile(r"(?:[\w-]+/)*[\w*-]+\.(?:c|h|py|js)")  # perhaps with the folder next to it
# Sources of other projects.
FOREIGN = {"jvmti.h", "jvmpi.h"}
HISTORY = {"CHANGELOG.md"}  # names files that were


def prose(text):
    """Without blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(text):
    """Of the headings, as GitHub makes them."""
    titles = re.findall(r"^#+ +(.+?) *$", prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", t).lower()).replace(" ", "-") for t in titles}


def variants(path):
    """a/{b,c}.d as a/b.d and a/c.d; a word in capitals stands for any."""
    path = re.sub(r"(?<=[_/])(?!README)[A-Z]+(?=[./]|$)", "*", path)
    found = re.match(r"(.*)\{(.*?)\}(.*)", path)
    return [v for part in found[2].split(",") for v in variants(found[1] + part + found[3])] if found else [path]


class Documents(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.texts = {d: d.read_text(encoding="utf-8") for d in DOCUMENTS}
        cls.sources = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts]

    def test_links_lead_somewhere(self):
        broken = []
        for document, text in self.texts.items():
            for link in LINK.findall(prose(text)):
                file, _, anchor = link.partition("#")
                target = (document.parent / file).resolve() if file else document
                if re.match(r"[a-z]+:", link):
                    continue
                if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
                    broken.append("%s: %s" % (document.relative_to(ROOT), link))
        self.assertEqual(broken, [])

    def test_paths_exist(self):
        broken = []
        for document, text in self.texts.items():
            if document.name in HISTORY:
                continue
            for quoted in QUOTED.findall(prose(text)):
                for path in PATH.findall(quoted) if PATH.match(quoted) else []:
                    if not all(any([*ROOT.glob(v.rstrip("/")), *document.parent.glob(v.rstrip("/"))]) for v in variants(path.rstrip(".,"))):
                        broken.append("%s: %s" % (document.relative_to(ROOT), path))
                if SOURCE.fullmatch(quoted) and quoted not in FOREIGN and not any(p.match(variants(quoted)[0]) for p in self.sources):
                    broken.append("%s: %s" % (document.relative_to(ROOT), quoted))
        self.assertEqual(broken, [])

    def test_documents_that_sources_name_exist(self):
        broken = []
        for source in self.sources:
            if source.suffix in (".c", ".h", ".py", ".js", ".java", ".in", ".build", ".pml") and source.name != pathlib.Path(__file__).name:
                for name in re.findall(r"\bdocs/[\w/-]+\.(?:md|sql|yaml)\b", source.read_text(encoding="utf-8", errors="replace")):
                    if not (ROOT / name).exists():
                        broken.append("%s: %s" % (source.relative_to(ROOT), name))
        self.assertEqual(broken, [])


if __name__ == "__main__":
    unittest.main()
