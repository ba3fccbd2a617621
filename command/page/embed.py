#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""embed HTML CSS SCRIPT... OUT.c: the page as two arrays of C, what stands before its data and what stands behind them.

The page has {{style}}, {{script}}, {{policy}} and {{data}} once each. The scripts are one, in their order. The policy allows this style and
this script, by their hashes, and nothing else."""
import base64
import hashlib
import pathlib
import sys

POLICY = ("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'; "
          "require-trusted-types-for 'script'; trusted-types 'none'")


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def array(name, text):
    data = text.encode()
    rows = ["    " + "".join("%d," % b for b in data[i:i + 32]) for i in range(0, len(data), 32)]
    return "const unsigned char hpx_page_%s[] = {\n%s\n};\nconst size_t hpx_page_%s_size = sizeof hpx_page_%s;\n" % (name, "\n".join(rows), name, name)


def main():
    page, style, *scripts = [pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:-1]]
    script = '\n"use strict";\n(() => {\n%s})();\n' % "".join(scripts)
    for text, end in ((style, "</style"), (script, "</script"), (script, "<!--")):
        if end in text:
            sys.exit("embed: %s would end the element" % end)
    for mark, text in (("policy", POLICY % (digest(style), digest(script))), ("style", style), ("script", script)):
        if page.count("{{%s}}" % mark) != 1:
            sys.exit("embed: the page does not have {{%s}} once" % mark)
        page = page.replace("{{%s}}" % mark, text)
    head, tail = page.split("{{data}}")
    pathlib.Path(sys.argv[-1]).write_text('/* SPDX-License-Identifier: BSD-2-Clause */\n/* Made by embed.py. */\n#include "parts.h"\n\n%s\n%s'
                                          % (array("head", head), array("tail", tail)), encoding="utf-8")


if __name__ == "__main__":
    main()
