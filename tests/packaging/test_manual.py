# SPDX-License-Identifier: BSD-2-Clause
"""The manual page against the sources: every message of the agent says what to do, or has an entry that does, and every entry is a message that
exists.

A new message without a remedy: an entry in DIAGNOSTICS of docs/man/hprofx.7.in, or a line in NOTHING_TO_DO below if it explains itself. What the
option parser says about values is one entry there."""
import pathlib
import re
import shlex
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALL = re.compile(r'\b(?:hpx|HPX)_(warn|warn_once|err_set|opt_refuse|out_socket_complain|net_complain|SERVICE_TASK)\(\s*([^"]*?)((?:L?"(?:[^"\\]|\\.)*"\s*|PRI\w+\s*)+)')
PLACE = re.compile(r"%[-+ 0#]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")
PREFIX = {"warn": ["hprofx: "], "warn_once": ["hprofx: "], "err_set": ["HPROF ERROR: ", ""], "opt_refuse": ["HPROF ERROR: hprof option error: "],
          "out_socket_complain": ["hprofx: net=PEER: "], "net_complain": ["hprofx: net=PEER: "], "SERVICE_TASK": ["hprofx: "]}
# A part of a message that says what to do, or that hprofx does it.
REMEDY = re.compile(r"[;,:] (?:if [^,;]*, )?(?:raise|set|load|choose|use|add|leave out|give|check|ask|try|shorten|put|recover|rebuild|read|lower|free|install|"
                    r"attach|restart|see|waitlog=-1|retrying)\b")
# Messages that explain themselves: nothing can be done, or they say it in other words.
NOTHING_TO_DO = {
    "hprof option error: %s (%s)%s%.128s%s",
    "this VM does not support JVMTI 1.2",
    "no session is running",
    "the session has ended",
    "no such request: start or hold MS OPTIONS, stop, dump, status",
    "help is for the command line of the JVM",
    "start=n is for the command line of the JVM",
    "sites=sampled is not possible on this VM: it needs JDK 11 or later, and no other agent that samples allocations",
    "file=%.1500s: the environment variable %s is not set; the file name has nothing in its place",
    "gz=y: %s is not a file; the output is not compressed",
    "EXIT THE VM: %s; the program continues",
    "command %s, serial %u: depth 0 stops sampling until a command sets another depth",
    "net=%s: a peer asks for a depth above %u; using %u",
    "jvmpi: loaded twice; the second agent is not loaded, because JVMPI serves one",
    "jvmpi: out of memory; the agent does not learn of some threads",
    "jvmpi: the agent has set no NotifyEvent; it gets no events",
    "jvmpi: the agent broke a rule: %s",
    "jvmpi: the agent broke a rule: %s was called %s",
    "jvmpi: there is no heap dump: the VM refuses, or memory is short",
    "jvmpi: there is no monitor dump: the VM refuses, or memory is short",
    "split=y: %s is not a regular file; all dumps go there",
    "split=y: %s; this dump goes to %s",
    "split=y: no memory for a separate file; this dump goes to %s",
    "net=%s: %llu records (%llu bytes) dropped while disconnected",
    "net=%s: %llu bytes not sent: a connection was lost, or the time limit at exit expired",
    "command %s, serial %u: ignored: another one is pending",
    "tag %u, serial %u: length of %u bytes exceeds %u; no further command is read from this connection; the output continues",
    "file=%.1500s: cannot be removed (error %d); it stays, and others that cannot be removed",
    "file=%s: cannot rename the output to its final name: %s; it keeps this name",
    "format=b: all string ids are used; further names are missing from the file",
    "heap dump: % arrays of 4 GiB or more are cut: a record of the format cannot hold them",
    "heap=sites: %s; live objects are counted in the JVM, and the program stops meanwhile",
    "heap=sites: %s; this dump does not show what is live; %s",
    "heap=sites: samples that have died are found at the next dump: %s",
    "heap=sites: no garbage was collected before a dump: %s",
    "garbage collection failed: %s",
    "monitor dump: %s",
    "%s: fast CPU clock disabled; every probe now makes a system call: %s",
    "cpu=times: this VM does not report when virtual threads change carriers; their calls are counted on the stacks of the carriers",
}
BEHIND = {"SERVICE_TASK": ": %s"}  # what is added to the text of the call


def messages():
    """(kind, text with % conversions) of every call in the sources."""
    found = []
    for folder in ("base", "pipeline", "tables", "writers", "agent"):
        for source in sorted((ROOT / folder).rglob("*.c")):
            for kind, _, literals in CALL.findall(source.read_text(encoding="utf-8")):
                found.append((kind, "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace("%%", "\0") + BEHIND.get(kind, "")))
    return found


def pattern(kind, text):
    """What the message looks like on standard error."""
    parts = [re.escape(part.replace("\0", "%")) for part in PLACE.split(text.split("\\n")[0])]
    return re.compile("(?:%s)%s" % ("|".join(re.escape(p) for p in PREFIX[kind]), ".*".join(parts)))


def says_something(text):
    """A text that is hardly more than conversions is no message of its own."""
    return len(PLACE.sub("", text)) >= 8


def entries():
    """Section of DIAGNOSTICS -> its tags as plain text."""
    page = (ROOT / "docs/man/hprofx.7.in").read_text(encoding="utf-8")
    lines = page.split(".SH DIAGNOSTICS\n")[1].split("\n.SH ")[0].split("\n")
    found, section = {}, ""
    for before, line in zip([""] + lines, lines):
        if line.startswith(".SS "):
            section = line[4:]
        elif before in (".TP", ".TQ"):
            text = "".join(shlex.split(line.split(" ", 1)[1])) if line.startswith(".BI ") else line.split(" ", 1)[1].strip('"')
            found.setdefault(section, []).append(text.replace("\\-", "-").replace("\\(aq", "'"))
    return found


def losses():
    return re.findall(r'X\(\w+, LOSS, "([^"]*)"', (ROOT / "base/counters.h").read_text(encoding="utf-8"))


class ManualTests(unittest.TestCase):
    maxDiff = None

    def test_every_message_without_a_remedy_has_an_entry(self):
        said = [e for section in entries().values() for e in section]
        wanted = [(k, t) for k, t in messages() if k != "opt_refuse" and says_something(t) and not REMEDY.search(t) and t not in NOTHING_TO_DO]
        self.assertGreater(len(wanted), 20)
        self.assertEqual([t for k, t in wanted if not any(pattern(k, t).fullmatch(e) for e in said)], [])

    def test_the_messages_with_nothing_to_do_exist(self):
        self.assertEqual(NOTHING_TO_DO - {t for _, t in messages()}, set())

    def test_every_entry_is_a_message(self):
        patterns = [pattern(k, t) for k, t in messages() if says_something(t)]
        patterns += [re.compile("hprofx: %s: .*" % re.escape(key)) for key in losses()]
        said = [e for section, tags in entries().items() if section != "Losses" for e in tags]
        self.assertEqual([e for e in said if not any(p.fullmatch(e) for p in patterns)], [])

    def test_the_losses_are_those_of_the_report(self):
        self.assertEqual(entries()["Losses"], losses())


if __name__ == "__main__":
    unittest.main()
