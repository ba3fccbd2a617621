# SPDX-License-Identifier: BSD-2-Clause
"""Rows of figures beside their limits, printed as a table a subject; the verdicts of all; both kept for JSON."""
from measure import Figure

LEAST_ROUNDS = 3  # fewer give no verdict
TOO_FEW = "too few rounds"
DID_NOT_RUN = "did not run"
REASON = 60  # characters of it in the table of verdicts: the whole was said when it happened


def row(what, jdk, value, unit, limit=None, note="", at_least=False):
    """One figure: a Figure, or a number that needs no rounds. A limit is an upper one unless at_least."""
    f = value if isinstance(value, Figure) else Figure(None, value, None, None)
    verdict = ""
    if f.rounds is not None and f.rounds < LEAST_ROUNDS:
        verdict = TOO_FEW
    elif limit is not None:
        verdict = "met" if (f.median >= limit if at_least else f.median <= limit) else "missed"
        if f.q1 is not None and f.q1 <= limit <= f.q3:
            note = (note + ", " if note else "") + "limit lies within the quartiles"
    return {"what": what, "jdk": jdk, "value": f.median, "unit": unit, "limit": limit, "at_least": at_least, "q1": f.q1, "q3": f.q3,
            "rounds": f.rounds, "verdict": verdict, "note": note}


def number(value, unit):
    """A figure as text: ratios with three decimals, others with as many as three digits need."""
    if unit == "ratio":
        return "%.3f" % value
    magnitude = abs(value)
    return "%.*f" % (0 if magnitude >= 100 else 1 if magnitude >= 10 else 2, value)


def figure_of(r):
    """The row's figure as text."""
    return number(r["value"], r["unit"]) + ("" if r["unit"] == "ratio" else " " + r["unit"]).rstrip()


def limit_of(r):
    """The row's limit as text."""
    return "" if r["limit"] is None else (">= " if r["at_least"] else "<= ") + number(r["limit"], r["unit"])


def print_lines(title, left, lines):
    """A table whose first `left` columns and whose last are flush left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    print("\n== %s ==" % title)
    for line in lines:
        cells = [cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(line[:-1], widths))]
        print("  ".join(cells + [line[-1]]).rstrip(), flush=True)


def print_table(title, rows):
    """Prints the rows under the title."""
    lines = [("", "JDK", "figure", "quartiles", "rounds", "limit", "", "")]
    for r in rows:
        spread = "" if r["q1"] is None else "%s..%s" % (number(r["q1"], r["unit"]), number(r["q3"], r["unit"]))
        lines.append((r["what"], r["jdk"] or "", figure_of(r), spread, str(r["rounds"] or ""), limit_of(r), r["verdict"], r["note"]))
    print_lines(title, 1, lines)


def verdicts(results):
    """One entry a goal, at least one a subject. results: {subject: {"rows", "did_not_run"}}."""
    table = []
    for name, result in results.items():
        goals = [r for r in result["rows"] if r["limit"] is not None]
        table += [{"subject": name, "goal": r["what"], "jdk": r["jdk"], "figure": figure_of(r), "limit": limit_of(r), "rounds": r["rounds"],
                   "verdict": r["verdict"]} for r in goals]
        if result["did_not_run"] or not goals:
            few = any(r["verdict"] == TOO_FEW for r in result["rows"])
            table.append({"subject": name, "goal": result["did_not_run"].splitlines()[0][:REASON] if result["did_not_run"] else "(no goal)",
                          "jdk": None, "figure": "", "limit": "", "rounds": None,
                          "verdict": DID_NOT_RUN if result["did_not_run"] else TOO_FEW if few else ""})
    return table


def print_verdicts(table):
    """The table of all goals."""
    lines = [("subject", "goal", "JDK", "figure", "limit", "rounds", "verdict")]
    lines += [(v["subject"], v["goal"], v["jdk"] or "", v["figure"], v["limit"], str(v["rounds"] or ""), v["verdict"]) for v in table]
    print_lines("verdicts", 2, lines)


def summary(table):
    """The last line."""
    count = [v["verdict"] for v in table].count
    return "%d goals met, %d missed, %d with too few rounds; %d subjects did not run to their end" % (
        count("met"), count("missed"), count(TOO_FEW), count(DID_NOT_RUN))
