# SPDX-License-Identifier: BSD-2-Clause
"""bench/results/SUBJECT.md: the raw figures of the last run that was kept (tools/bench --results), with its command, machine and date.

The file has one part between two marks, which a run replaces. What people write around it stays."""
import os
import time

import machine
from report import figure_of, limit_of, number

BEGIN, END = "<!-- tools/bench -->\n", "<!-- /tools/bench -->\n"


def command_of(name, args):
    """The command that measures this subject so again. Paths of the machine are left out."""
    words = ["tools/bench"] + (["--jdks=" + args.jdks] if args.jdks != "17,25" else [])
    words += ["--minutes=%g" % args.minutes] if args.minutes else []
    words += ["--rounds %d" % args.rounds] if args.rounds else []
    words += ["--vm='%s'" % args.vm] if args.vm else []
    return " ".join(words + [name])


def table(head, lines):
    """A table in Markdown. Every cell is a text; a bar in one is escaped."""
    rows = [head, ["---"] * len(head)] + [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join("| %s |\n" % " | ".join(line) for line in rows)


def figures(rows):
    """The rows of a subject."""
    spread = ["" if r["q1"] is None else "%s..%s" % (number(r["q1"], r["unit"]), number(r["q3"], r["unit"])) for r in rows]
    return table(["figure of", "JDK", "figure", "quartiles", "rounds", "limit", "verdict", "note"],
                 [[r["what"], r["jdk"] or "", figure_of(r), s, str(r["rounds"] or ""), limit_of(r), r["verdict"], r["note"]] for r, s in zip(rows, spread)])


def micro_tables(runs):
    """The tables of a micro-bench, from its JSON."""
    text = ""
    for name, lines in (runs[0].get("tables", {}) if runs and isinstance(runs[0], dict) else {}).items():
        columns = list(dict.fromkeys(key for line in lines for key in line))
        text += "\n%s:\n\n" % name + table(columns, [[str(line.get(c, "")) for c in columns] for line in lines])
    return text


def block(name, result, facts, args, date):
    """The part of the file that a run writes."""
    end = "\nIt did not run to its end: %s.\n" % result["did_not_run"].splitlines()[0] if result["did_not_run"] else ""
    return "%s\n`%s`, %s. %s.\n\n%s%s%s\n%s" % (BEGIN, command_of(name, args), date, machine.line(facts), figures(result["rows"]), micro_tables(result["runs"]), end, END)


def write(folder, titles, results, facts, args, date=None):
    """Writes or replaces the part of every subject that has figures. Returns the files."""
    written = []
    os.makedirs(folder, exist_ok=True)
    for name, result in results.items():
        if not result["rows"] and not micro_tables(result["runs"]):
            continue
        path = os.path.join(folder, name + ".md")
        title = titles[name][0].upper() + titles[name][1:]
        before, after = "# %s\n\n" % title, ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            before, found, rest = text.partition(BEGIN)
            after = rest.partition(END)[2] if found else ""
            before = before if found else before.rstrip("\n") + "\n\n"
        with open(path, "w", encoding="utf-8") as f:
            f.write(before + block(name, result, facts, args, date or time.strftime("%Y-%m-%d")) + after)
        written.append(path)
    return written
