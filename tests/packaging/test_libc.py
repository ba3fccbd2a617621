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
# hprofx-ship alone is linked with the machine's C library and with two others, which no system has in one version: who runs it has its package
# or builds it.
SHIP = BUILD / "hprofx-ship"
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
NO_MUSL = "Debian's package musl-tools is not here: nothing was tried with musl"


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


# Each of these says what is wrong with a file; PlantedTests show that they see it.
def too_new(file):
    return {(n, v) for n, v, _ in imports(file) if v and (not v.startswith("GLIBC_") or number(v) > OLDEST)}


def without_version(file):
    return {n for n, v, weak in imports(file) if v is None} - MAY_LACK - {"__tls_get_addr"}


def weak_and_unknown(file):
    return {n for n, _, weak in imports(file) if weak} - MAY_LACK


def needed(file):
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", run("readelf", "-W", "-d", file).stdout))


def insists_on_static_tls(file):
    return "STATIC_TLS" in run("readelf", "-W", "-d", file).stdout or "TPOFF" in run("readelf", "-W", "-r", file).stdout


def tls_size(file):
    """Bytes of variables that each thread has."""
    sizes = [int(row.split()[5], 16) for row in run("readelf", "-W", "-l", file).stdout.splitlines() if row.split()[:1] == ["TLS"]]
    return sum(sizes)


def other_in_musl(file):
    return {n for n, _, _ in imports(file) if n in OTHERS or n.endswith("_chk")}


def not_in_musl(file):
    has = {line.split()[-1] for line in run("nm", "-D", "--defined-only", MUSL).stdout.splitlines()}
    return {n for n, _, _ in imports(file)} - has - MAY_LACK


class ImportTests(unittest.TestCase):
    def test_no_symbol_is_newer_than_the_oldest_c_library(self):
        for file in LIBRARIES:
            self.assertGreater(len(imports(file)), 50, file)
            self.assertEqual(too_new(file), set(), file)

    def test_what_has_no_version_is_weak_and_known(self):
        for file in LIBRARIES:
            self.assertEqual(without_version(file), set(), file)
            self.assertEqual(weak_and_unknown(file), set(), file)

    def test_it_needs_the_c_library_alone(self):
        for file in LIBRARIES:
            self.assertEqual(needed(file), NEEDED[file], file)

    def test_musl_could_load_it_at_run_time(self):
        for file in LIBRARIES:
            self.assertFalse(insists_on_static_tls(file), file)

    def test_variables_of_threads_are_few(self):
        for file in LIBRARIES:
            self.assertTrue(0 < tls_size(file) <= TLS_MOST[file], (file, tls_size(file)))

    def test_nothing_is_taken_that_musl_has_otherwise(self):
        for file in LIBRARIES:
            self.assertEqual(other_in_musl(file), set(), file)

    @unittest.skipUnless(MUSL.exists(), NO_MUSL)
    def test_musl_has_what_is_taken(self):
        for file in LIBRARIES:
            self.assertEqual(not_in_musl(file), set(), file)

    def test_the_command_is_static(self):
        self.assertEqual(needed(COMMAND), set())
        self.assertNotIn("INTERP", run("readelf", "-W", "-l", COMMAND).stdout)

    @unittest.skipUnless(SHIP.exists(), "built without hprofx-ship")
    def test_the_shipper_needs_two_libraries_besides(self):
        self.assertLessEqual(needed(SHIP) - {"libc.so.6", "libm.so.6"}, {"libcurl.so.4", "libcurl-gnutls.so.4", "libmicrohttpd.so.12"})
        self.assertIn("libc.so.6", needed(SHIP))


class PlantedTests(unittest.TestCase):
    """Small libraries, each with one thing that must not be."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def library(self, source, *options, name="libplanted.so"):
        made = run("gcc", "-shared", "-fPIC", "-O1", "-fno-builtin", "-w", "-o", self.folder / name, "-x", "c", "-", "-x", "none", *options,
                   input=source)
        self.assertEqual(made.returncode, 0, made.stderr)
        return self.folder / name

    def test_a_library_without_faults_has_none(self):
        file = self.library('#include <stdio.h>\nint f(void) { return puts("x"); }')
        self.assertIn("puts", {name for name, _, _ in imports(file)})
        self.assertEqual(too_new(file) | without_version(file) | weak_and_unknown(file) | other_in_musl(file), set())
        self.assertEqual((needed(file), tls_size(file), insists_on_static_tls(file)), ({"libc.so.6"}, 0, False))

    def test_a_newer_function_is_seen(self):
        file = self.library("int sem_clockwait(void *, int, void *);\nint f(void) { return sem_clockwait(0, 0, 0); }")
        self.assertEqual({name for name, _ in too_new(file)}, {"sem_clockwait"})

    def test_a_version_of_another_library_is_seen(self):
        (self.folder / "map").write_text("OTHER_1.0 { global: other; };\n")
        self.library("int other(void) { return 1; }", "-Wl,--version-script=%s/map,-soname,libother.so" % self.folder, name="libother.so")
        file = self.library("int other(void);\nint f(void) { return other(); }", self.folder / "libother.so")
        self.assertEqual(too_new(file), {("other", "OTHER_1.0")})

    def test_a_function_that_nobody_has_is_seen(self):
        file = self.library("int nobodys(void);\nint f(void) { return nobodys(); }")
        self.assertEqual(without_version(file), {"nobodys"})

    def test_an_unknown_weak_function_is_seen(self):
        file = self.library("int nobodys(void) __attribute__((weak));\nint f(void) { return nobodys ? nobodys() : 0; }")
        self.assertEqual(weak_and_unknown(file), {"nobodys"})

    def test_another_needed_library_is_seen(self):
        self.library("int other(void) { return 1; }", "-Wl,-soname,libother.so", name="libother.so")
        file = self.library("int other(void);\nint f(void) { return other(); }", self.folder / "libother.so")
        self.assertEqual(needed(file) - NEEDED[AGENT], {"libother.so"})

    def test_too_many_variables_of_threads_are_seen(self):
        for file, most in TLS_MOST.items():
            self.assertGreater(tls_size(self.library("__thread char many[%d];" % (most + 1))), most)

    def test_a_static_block_is_seen(self):
        self.assertTrue(insists_on_static_tls(self.library("static __thread int x;\nint *f(void) { return &x; }", "-ftls-model=initial-exec")))

    def test_functions_that_musl_has_otherwise_are_seen(self):
        file = self.library("#define _GNU_SOURCE\n#include <string.h>\nvoid *__memcpy_chk();\n"
                            "void *f(char *to) { return __memcpy_chk(to, strerror_r(1, to, 9), 9, 9); }")
        self.assertEqual(other_in_musl(file), {"__memcpy_chk", "strerror_r"})

    @unittest.skipUnless(MUSL.exists(), NO_MUSL)
    def test_functions_that_musl_lacks_are_seen(self):
        file = self.library("char *strdup(), *strfry(), *canonicalize_file_name();\nvoid *f(void) { return strfry(strdup(canonicalize_file_name(\"x\"))); }")
        self.assertEqual(not_in_musl(file), {"strfry", "canonicalize_file_name"})


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


class HostTests(unittest.TestCase):
    """With a program that acts as a virtual machine."""
    compiler = "gcc"

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.host = pathlib.Path(cls.folder.name) / "host"
        made = run(cls.compiler, "-x", "c", "-o", cls.host, "-", input=HOST)
        assert made.returncode == 0, made.stderr

    def call(self, file, function, options, **variables):
        return run(self.host, file, function, options, cwd=self.folder.name, env={**os.environ, **variables})


@unittest.skipUnless(AGENT.exists(), "built without the agent")
class GlibcTests(HostTests):
    def test_without_room_for_variables_of_threads_nothing_begins(self):
        done = self.call(AGENT, "Agent_OnLoad", "help", GLIBC_TUNABLES="glibc.rtld.optional_static_tls=0")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done)
        self.assertIn("has no room left for variables of threads; set GLIBC_TUNABLES=", done.stderr)

    def test_with_room_it_does(self):
        done = self.call(AGENT, "Agent_OnLoad", "help")
        self.assertIn("usage: java -agentpath", done.stdout, done)


@unittest.skipUnless(shutil.which("musl-gcc") and LIBRARIES, NO_MUSL)
class MuslTests(HostTests):
    compiler = "musl-gcc"

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
