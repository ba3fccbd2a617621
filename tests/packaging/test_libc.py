# SPDX-License-Identifier: BSD-2-Clause
"""The shipped files run with glibc from 2.17 on and with musl (libc/README.md): what they ask of the C library.

python3 -m unittest discover -s tests/packaging. HPX_BUILD=FOLDER: another build than build/. With Debian's musl-tools the libraries are also
loaded into a process of musl."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HPX_BUILD", ROOT / "build")).resolve()
AGENT, JVMPI, COMMAND = BUILD / "agent/libhprofx.so", BUILD / "agent/libhprofx-jvmpi.so", BUILD / "hprofx"
LIBRARIES = [f for f in (AGENT, JVMPI) if f.exists()]
OLDEST = (2, 17)
NEEDED = {AGENT: {"libc.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libm.so.6"}, JVMPI: {"libc.so.6", "libpthread.so.0", "libdl.so.2"}}
# glibc gives 512 bytes to all libraries that only ask for a static block. JVMPI's does not ask.
TLS_MOST = {AGENT: 256, JVMPI: 4096}
# Weak, so that they may be missing.
MAY_LACK = set("_ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __gmon_start__ __cxa_finalize __register_atfork pthread_atfork sem_clockwait gnu_get_libc_version".split())
# Other types or another meaning in musl.
OTHERS = set("strerror_r fcntl64 fopencookie qsort_r basename".split())
MUSL = pathlib.Path("/usr/lib/x86_64-linux-musl/libc.so")


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60, **more)


def imports(file):
    """(name, version or None, weak) of each symbol."""
    found = set()
    for line in run("nm", "-D", "--undefined-only", file).stdout.splitlines():
        kind, symbol = line.split()[-2:]
        name, _, version = symbol.partition("@")
        found.add((name, version.lstrip("@") or None, kind == "w"))
    return found


def number(version):
    return tuple(int(n) for n in version.removeprefix("GLIBC_").split("."))


class ImportTests(unittest.TestCase):
    def test_no_symbol_is_newer_than_the_oldest_c_library(self):
        for file in LIBRARIES:
            names = imports(file)
            self.assertGreater(len(names), 50, file)
            self.assertEqual({(n, v) for n, v, _ in names if v and (not v.startswith("GLIBC_") or number(v) > OLDEST)}, set(), file)

    def test_what_has_no_version_is_weak_and_known(self):
        for file in LIBRARIES:
            self.assertLessEqual({n for n, v, weak in imports(file) if v is None}, MAY_LACK | {"__tls_get_addr"}, file)
            self.assertLessEqual({n for n, v, weak in imports(file) if weak}, MAY_LACK, file)

    def test_it_needs_the_c_library_alone(self):
        for file in LIBRARIES:
            dynamic = run("readelf", "-W", "-d", file).stdout
            self.assertEqual(set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", dynamic)), NEEDED[file], file)
            self.assertNotIn("STATIC_TLS", dynamic, "%s: musl loads no such library" % file)
            self.assertNotIn("TPOFF", run("readelf", "-W", "-r", file).stdout, file)

    def test_variables_of_threads_are_few(self):
        for file in LIBRARIES:
            sizes = [int(row.split()[5], 16) for row in run("readelf", "-W", "-l", file).stdout.splitlines() if row.split()[:1] == ["TLS"]]
            self.assertEqual(len(sizes), 1, file)
            self.assertLessEqual(sizes[0], TLS_MOST[file], file)

    def test_nothing_is_taken_that_musl_has_otherwise(self):
        for file in LIBRARIES:
            self.assertEqual({n for n, _, _ in imports(file) if n in OTHERS or n.endswith("_chk")}, set(), file)

    @unittest.skipUnless(MUSL.exists(), "Debian's package musl is not here")
    def test_musl_has_what_is_taken(self):
        has = {line.split()[-1] for line in run("nm", "-D", "--defined-only", MUSL).stdout.splitlines()}
        for file in LIBRARIES:
            self.assertEqual({n for n, _, _ in imports(file)} - has - MAY_LACK, set(), file)

    def test_the_command_is_static(self):
        self.assertNotIn("NEEDED", run("readelf", "-W", "-d", COMMAND).stdout)
        self.assertNotIn("INTERP", run("readelf", "-W", "-l", COMMAND).stdout)


HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A virtual machine that has no environment for anybody. */
static int no_environment(void *vm, void **env, int version) { (void)vm; (void)version; *env = NULL; return -3; }
static int nothing(void) { return -1; }

int main(int argc, char **argv)
{
    static void *functions[8];
    static void *vm = functions;
    for (int i = 3; i < 8; i++) functions[i] = (void *)nothing;
    functions[6] = (void *)no_environment;
    void *lib = argc == 4 ? dlopen(argv[1], RTLD_LAZY) : NULL;
    int (*load)(void *, char *, void *) = lib == NULL ? NULL : (int (*)(void *, char *, void *))dlsym(lib, argv[2]);
    if (load == NULL) {
        puts(dlerror());
        return 70;
    }
    printf("%d\n", load(&vm, argv[3], NULL));
    return 0;
}
"""


@unittest.skipUnless(shutil.which("musl-gcc") and LIBRARIES, "Debian's package musl-tools is not here")
class MuslTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.host = pathlib.Path(cls.folder.name) / "host"
        made = run("musl-gcc", "-x", "c", "-o", cls.host, "-", input=HOST)
        assert made.returncode == 0, made.stderr

    def call(self, file, function, options):
        return run(self.host, file, function, options, cwd=self.folder.name)

    def test_a_wrong_option_ends_the_process(self):
        done = self.call(AGENT, "Agent_OnLoad", "nonsense=1")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("Unknown option: nonsense", done.stderr)

    def test_help_is_printed(self):
        done = self.call(AGENT, "Agent_OnLoad", "help")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("usage: java -agentpath", done.stdout)

    def test_a_machine_without_its_interface_is_left_alone(self):
        done = self.call(AGENT, "Agent_OnLoad", "cpu=samples,file=profile.txt")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done)
        self.assertIn("does not support JVMTI", done.stderr)

    def test_attaching_is_refused(self):
        done = self.call(AGENT, "Agent_OnAttach", "cpu=samples")
        self.assertEqual((done.returncode, done.stdout), (0, "-3\n"), done)

    def test_the_library_of_jvmpi_loads(self):
        done = self.call(JVMPI, "Agent_OnLoad", "")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("jvmpi: name an agent", done.stderr)


if __name__ == "__main__":
    unittest.main()
