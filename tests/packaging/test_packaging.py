# SPDX-License-Identifier: BSD-2-Clause
"""What gets to other machines: the library's symbols and needs, the installed files, the archives of tools/dist.

python3 -m unittest discover -s tests/packaging. HPX_BUILD=FOLDER: another build than build/. Needs a JDK 17, meson, groff, man, pkg-config, git, xz."""
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HPX_BUILD", ROOT / "build")).resolve()
LIBRARY = BUILD / "agent" / "libhprofx.so"
JVMPI = BUILD / "agent" / "libhprofx-jvmpi.so"
EXPORTED = {"Agent_OnAttach", "Agent_OnLoad", "Agent_OnUnload", "Java_hprofx_ask"}
# The C library, in the files that the oldest one has (libc/README.md; test_libc.py has the rest).
NEEDED = {"libc.so.6", "libpthread.so.0", "librt.so.1", "libdl.so.2", "libm.so.6"}


def run(*command, env=None, cwd=None, seconds=300):
    done = subprocess.run([str(c) for c in command], env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})}, cwd=cwd, capture_output=True,
                          text=True, timeout=seconds * float(os.environ.get("HPX_SLOW") or 1))
    assert done.returncode == 0, "%s: exit %d\n%s%s" % (command[0], done.returncode, done.stdout, done.stderr)
    return done


def exported(library):
    return {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).stdout.splitlines()}


def dynamic(library):
    """The entries of the dynamic section: tag -> values."""
    found = {}
    for tag, value in re.findall(r"\((\w+)\)\s+(.*)", run("readelf", "-W", "-d", library).stdout):
        found.setdefault(tag, []).append(value.strip())
    return found


def needed(library):
    return {re.search(r"\[(.*)\]", value).group(1) for value in dynamic(library).get("NEEDED", [])}


def jdk17():
    home = run("bash", "-c", '. "$1/tools/common.sh"; find_jdk 17', "bash", ROOT).stdout.strip()
    return pathlib.Path(home)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class LibraryTests(unittest.TestCase):
    library, exported = LIBRARY, EXPORTED
    needed = NEEDED

    def test_nothing_but_the_entry_points_is_exported(self):
        self.assertEqual(exported(self.library), self.exported)

    def test_its_name_is_its_file_name(self):
        self.assertEqual(dynamic(self.library)["SONAME"], ["Library soname: [%s]" % self.library.name])

    def test_it_needs_what_is_known_and_no_libjvm(self):
        self.assertLessEqual(needed(self.library), self.needed)

    def test_it_stays_loaded_binds_at_once_and_has_no_path_of_its_build(self):
        tags = dynamic(self.library)
        self.assertIn("NODELETE", " ".join(tags["FLAGS_1"]))
        self.assertIn("NOW", " ".join(tags["FLAGS_1"]))
        for tag in ("RPATH", "RUNPATH", "TEXTREL"):
            self.assertNotIn(tag, tags)

    def test_its_stack_is_not_executable(self):
        stack = re.findall(r"GNU_STACK(?:\s+0x[0-9a-f]+){5}\s+(\S+)", run("readelf", "-W", "-l", self.library).stdout)
        self.assertEqual(stack, ["RW"])


class JvmpiTests(LibraryTests):
    library, exported = JVMPI, {"Agent_OnLoad", "Agent_OnUnload"}
    needed = NEEDED


class InstallTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.dest = pathlib.Path(cls.temporary.name) / "dest"
        run("meson", "install", "-C", BUILD, "--no-rebuild", env={"DESTDIR": str(cls.dest)})
        options = {o["name"]: o["value"] for o in json.loads(run("meson", "introspect", "--buildoptions", BUILD).stdout)}
        cls.prefix = cls.dest / options["prefix"].lstrip("/")
        cls.libdir = cls.prefix / options["libdir"]
        cls.header = cls.prefix / options["includedir"] / "hprofx" / "jvmpi.h"
        cls.page = cls.prefix / options["mandir"] / "man7" / "hprofx.7"
        cls.command = cls.prefix / options["bindir"] / "hprofx"
        cls.completions = {cls.prefix / options["datadir"] / name for name in ("bash-completion/completions/hprofx", "zsh/site-functions/_hprofx",
                                                                             "fish/vendor_completions.d/hprofx.fish")}
        cls.command_page = cls.prefix / options["mandir"] / "man1" / "hprofx.1"
        cls.ship = cls.prefix / options["bindir"] / "hprofx-ship"
        cls.ship_page = cls.prefix / options["mandir"] / "man1" / "hprofx-ship.1"
        cls.units = {cls.prefix / "lib/systemd/system" / name for name in ("hprofx-ship.service", "hprofx-watch.service")}
        cls.jmh = cls.prefix / options["datadir"] / "java" / "hprofx-jmh.jar"
        cls.classes = pathlib.Path(cls.temporary.name) / "classes"
        cls.jdk = jdk17()
        run(cls.jdk / "bin" / "javac", "-g", "-d", cls.classes, ROOT / "tests/golden/programs/HotSplit.java")

    def profile(self, *agent, path=""):
        file = pathlib.Path(self.temporary.name) / (self.id() + ".txt")
        env = {"LD_LIBRARY_PATH": str(path)}
        done = run(self.jdk / "bin" / "java", agent[0] + "cpu=samples,file=%s" % file, *agent[1:], "-cp", self.classes, "HotSplit", env=env)
        self.assertEqual(done.stdout, "done true\n")
        self.assertIn("HotSplit.hotA\n", file.read_text(encoding="utf-8"))

    def test_every_installed_file_is_accounted_for(self):
        found = {str(p.relative_to(self.dest)) for p in self.dest.rglob("*") if p.is_symlink() or not p.is_dir()}
        wanted = {self.libdir / "libhprofx.so", self.libdir / "hprofx" / "libhprof.so", self.libdir / "pkgconfig" / "hprofx.pc", self.page,
                  self.libdir / "libhprofx-jvmpi.so", self.header, self.command, self.command_page, self.jmh, self.ship, self.ship_page} | self.completions | self.units
        self.assertEqual(found, {str(p.relative_to(self.dest)) for p in wanted})

    def test_nobody_but_the_owner_may_write_what_is_installed(self):
        for file in self.dest.rglob("*"):
            if not file.is_symlink():
                self.assertEqual(file.stat().st_mode & 0o022, 0, file)

    def test_the_old_name_is_a_link_that_moves_with_the_tree(self):
        link = self.libdir / "hprofx" / "libhprof.so"
        self.assertEqual(os.readlink(link), "../libhprofx.so")
        self.assertTrue(link.samefile(self.libdir / "libhprofx.so"))

    def test_the_pages_render_without_a_warning(self):
        for page in (self.page, self.command_page, self.ship_page):
            for width in (60, 80, 120):
                done = run("groff", "-man", "-Tutf8", "-ww", "-rLL=%dn" % width, page)
                self.assertEqual(done.stderr, "")
            done = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page, env={"MANWIDTH": "80"})
            self.assertEqual(done.stderr, "")

    def test_man_finds_name_and_purpose_in_the_pages(self):
        self.assertRegex(run("lexgrog", self.page).stdout, r'"hprofx - profiler .*"')
        self.assertRegex(run("lexgrog", self.ship_page).stdout, r'"hprofx-ship - send profiles of many JVMs .*"')
        self.assertRegex(run("lexgrog", self.command_page).stdout, r'"hprofx - profile a Java program that runs"')

    def test_the_installed_programs_run(self):
        version = re.search(r"^  version: '(.*)',$", (ROOT / "meson.build").read_text(encoding="utf-8"), re.M).group(1)
        self.assertEqual(run(self.command, "--version").stdout, "hprofx %s\n" % version)
        self.assertEqual(run(self.ship, "--version").stdout, "hprofx-ship %s\n" % version)
        self.assertIn("usage: hprofx ship ", run(self.command, "ship", "--help").stdout)  # the one beside it

    def test_only_the_shipper_needs_the_libraries_of_http(self):
        heavy = {"libcurl.so.4", "libmicrohttpd.so.12"}
        self.assertLessEqual(heavy, needed(self.ship))
        for file in (self.command, self.libdir / "libhprofx.so"):
            self.assertEqual(needed(file) & heavy, set())

    def test_the_units_run_the_installed_program(self):
        for unit in self.units:
            starts = re.findall(r"^ExecStart=(\S+) (ship|watch) \$", unit.read_text(encoding="utf-8"), re.M)
            self.assertEqual([(self.dest / start.lstrip("/"), verb) for start, verb in starts], [(self.ship, unit.stem.split("-")[1])])

    def test_the_command_names_the_library_where_it_is_installed(self):
        told = run(self.command, "--print-agent-path").stdout.strip()
        self.assertTrue((self.dest / told.lstrip("/")).samefile(self.libdir / "libhprofx.so"), told)

    def test_the_command_names_the_jar_for_jmh_where_it_is_installed(self):
        done = subprocess.run([self.command, "jmh"], capture_output=True, text=True)  # it lies below DESTDIR, where the command does not look
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        jar = re.match(r"hprofx: there is no (/.*/hprofx-jmh\.jar): ", done.stderr).group(1)
        self.assertTrue((self.dest / jar.lstrip("/")).samefile(self.jmh), jar)

    def test_pkg_config_answers_with_paths_that_exist(self):
        version = re.search(r"^  version: '(.*)',$", (ROOT / "meson.build").read_text(encoding="utf-8"), re.M).group(1)

        def ask(*question):
            return run("pkg-config", "--define-variable=prefix=%s" % self.prefix, *question, "hprofx",
                       env={"PKG_CONFIG_LIBDIR": str(self.libdir / "pkgconfig"), "PKG_CONFIG_PATH": ""}).stdout.strip()

        self.assertEqual(ask("--modversion"), version)
        self.assertTrue(pathlib.Path(ask("--variable=agent")).is_file())
        self.assertTrue((pathlib.Path(ask("--variable=compatdir")) / "libhprof.so").is_file())
        self.assertEqual(ask("--cflags", "--libs"), "")

    def test_the_installed_library_profiles(self):
        self.profile("-agentpath:%s=" % (self.libdir / "libhprofx.so"))

    def test_the_old_name_is_found_by_the_library_path(self):
        self.profile("-agentlib:hprof=", path=self.libdir / "hprofx")

    def test_the_oldest_form_of_the_command_line_works(self):
        self.profile("-Xrunhprof:", path=self.libdir / "hprofx")

    def test_its_own_name_is_found_by_the_library_path(self):
        self.profile("-agentlib:hprofx=", path=self.libdir)


PROGRAM = """
public class Spinner {
    static long sum;
    static void spin() {
        for (int i = 0; i < 1000000; i++) sum += i ^ sum;
    }
    public static void main(String[] arguments) throws Exception {
        System.out.println("ready");
        while (System.in.available() == 0) spin();
    }
}
"""
ARM64 = pathlib.Path(os.environ.get("JDKS") or "/opt/jdks") / "arm64"


LONG = os.environ.get("HPX_DIST_LONG")


def dist(folder, *arguments, umask="022", tree=ROOT, **variables):
    """The files that tools/dist makes of the last commit. With ccache: the folder of a compilation is no part of what it asks of a hit, but all that
    the compiler reads is, so that a path of the folder that gets there makes a difference."""
    commit = run("git", "rev-parse", "HEAD", cwd=tree).stdout.strip()
    run("bash", "-c", 'umask "$1"; shift; exec "$@"', "bash", umask, tree / "tools/dist", "--commit=" + commit, *arguments, folder,
        env={"HPX_DIST_CCACHE": "1", "CCACHE_BASEDIR": "", **variables}, seconds=1200)
    return {file.name: file for file in folder.iterdir()}


def differing(first, second):
    """The names of files that are not the same in both, or not in both."""
    return {name for name in first.keys() | second.keys() if name not in first or name not in second or first[name].read_bytes() != second[name].read_bytes()}


@unittest.skipUnless((ROOT / ".git").exists() and shutil.which("git"), "the archives are made from a commit")
class ArchiveTests(Folder):
    FILES = set("LICENSE NOTICE compat/libhprof.so completions/_hprofx completions/hprofx completions/hprofx.fish hprofx hprofx-jmh.jar include/hprofx/jvmpi.h "
                "libhprofx-jvmpi.so libhprofx.so man/man1/hprofx.1 man/man7/hprofx.7".split())

    def unpack(self, archive, to):
        """The folder; what is in the archive is what must be there, and belongs to nobody."""
        name = archive.name[:-len(".tar.gz")]
        to.mkdir()
        with tarfile.open(archive) as opened:
            members = opened.getmembers()
            opened.extractall(to)
        self.assertEqual({m.name for m in members if not m.isdir()}, {"%s/%s" % (name, file) for file in self.FILES})
        self.assertEqual({(m.uid, m.gid, m.uname, m.gname, m.mode & ~0o111) for m in members if not m.issym()}, {(0, 0, "", "", 0o644)})
        self.assertEqual([m.linkname for m in members if m.issym()], ["../libhprofx.so"])
        self.assertEqual({m.name.rpartition("/")[2] for m in members if m.isfile() and m.mode & 0o111}, {"hprofx", "libhprofx.so", "libhprofx-jvmpi.so"})
        home = to / name
        notice = (home / "NOTICE").read_text(encoding="utf-8")
        for word in ("glibc", "liburcu", "ck", "xxhash", "zlib", "ncurses"):
            self.assertRegex(notice, r"(?m)^  %s +[0-9]" % word)
            self.assertRegex(notice, r"(?m)^==== %s [0-9]" % word)
        for part in ("three years", "END OF TERMS AND CONDITIONS"):
            self.assertIn(part, notice)
        self.assertEqual(needed(home / "hprofx"), set())
        for program in ("hprofx", "libhprofx.so", "libhprofx-jvmpi.so"):
            self.assertNotRegex(run("readelf", "-W", "-S", home / program).stdout, r"\.(debug_|symtab)")
        return home

    def sums(self, files):
        named = dict(reversed(line.split("  ")) for line in files["SHA256SUMS"].read_text(encoding="utf-8").splitlines())
        self.assertEqual(named, {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items() if name != "SHA256SUMS"})

    def test_two_archives_are_the_same_and_run_from_any_folder(self):
        odd = self.folder / "b c"
        odd.mkdir()
        first = dist(self.folder / "a", "--for=x64")
        second = dist(odd / "out", "--for=x64", umask="077", XZ_OPT="-1", GZIP="-1", TZ="Asia/Tokyo", TMPDIR=str(odd))
        self.assertEqual(len(first), 3)
        self.assertEqual(differing(first, second), set())
        self.sums(first)
        source, binary = (next(file for name, file in first.items() if name.endswith(end)) for end in (".tar.xz", ".tar.gz"))
        self.assertRegex(binary.name, r"^hprofx-[0-9.]+-linux-x64\.tar\.gz$")
        self.source(source)
        self.profiles(self.unpack(binary, self.folder / "un'packed $x \u00fc"))

    def source(self, archive):
        self.assertRegex(archive.name, r"^hprofx-[0-9.]+\.tar\.xz$")
        committed = set(run("git", "ls-tree", "-r", "--name-only", "HEAD", cwd=ROOT).stdout.splitlines())
        top = archive.name[:-len(".tar.xz")] + "/"
        with tarfile.open(archive) as opened:
            members = [m for m in opened.getmembers() if not m.isdir()]
        self.assertEqual({m.name for m in members}, {top + name for name in committed if not name.startswith("debian/")})
        self.assertEqual({(m.uid, m.gid, m.mode & ~0o111) for m in members if m.isfile()}, {(0, 0, 0o644)})

    def profiles(self, home):
        java = jdk17() / "bin"
        (self.folder / "Spinner.java").write_text(PROGRAM, encoding="utf-8")
        run(java / "javac", "-g", "-d", self.folder, self.folder / "Spinner.java", ROOT / "tests/golden/programs/HotSplit.java")
        jvm = subprocess.Popen([java / "java", "-cp", self.folder, "Spinner"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(jvm.stdout.readline(), "ready\n")
            done = run("./hprofx", "-d", "1s", jvm.pid, cwd=home)
            self.assertIn("Spinner.spin", done.stdout)
            self.assertIn(str(home / "libhprofx.so"), pathlib.Path("/proc/%d/maps" % jvm.pid).read_text(encoding="utf-8"))
        finally:
            jvm.kill()
            jvm.communicate()
        profile, page = self.folder / "java.hprof.txt", self.folder / "page.html"
        run(java / "java", "-agentpath:./libhprofx.so=cpu=samples,depth=30,file=%s" % profile, "-cp", self.folder, "HotSplit", cwd=home)
        run("./hprofx", "convert", profile, page, cwd=home)
        self.assertIn("HotSplit.hotA", profile.read_text(encoding="utf-8"))
        self.assertRegex(page.read_text(encoding="utf-8"), "(?s)^<!doctype html>.*</html>")  # its data is compressed
        self.assertIn("%s:benchmarks.jar" % (home / "hprofx-jmh.jar"), shlex.split(run("./hprofx", "jmh", cwd=home).stdout))
        self.assertTrue((home / "compat/libhprof.so").samefile(home / "libhprofx.so"))

    @unittest.skipUnless(LONG, "the comparison of two archives was not seen to fail (tools/test --long)")
    def test_a_time_of_the_build_in_a_program_makes_two_archives_differ(self):
        tree = self.folder / "tree"
        run("git", "clone", "-q", "--shared", ROOT, tree)
        for file, before, after in (("meson.build", "executable('hprofx', command_program,", "executable('hprofx', command_program, c_args: '-DHPX_PLANTED=' + "
                                     "run_command('date', '+%s%N', check: true).stdout().strip(),"),
                                    ("command/hprofx.c", "\nint main(", "\nextern const long hpx_planted;\n__attribute__((used)) const long hpx_planted = HPX_PLANTED;\nint main(")):
            text = (tree / file).read_text(encoding="utf-8")
            self.assertEqual(text.count(before), 1, file)
            (tree / file).write_text(text.replace(before, after), encoding="utf-8")
        run("git", "-c", "user.name=planted", "-c", "user.email=planted@hprofx.invalid", "commit", "-q", "-a", "-m", "planted", cwd=tree)
        first, second = (dist(self.folder / name, "--for=x64", tree=tree) for name in "ab")
        self.assertEqual({"".join(re.findall("SHA256SUMS|linux-x64.tar.gz$", name)) for name in differing(first, second)}, {"SHA256SUMS", "linux-x64.tar.gz"})

    @unittest.skipUnless(LONG and (ARM64 / "cross").exists(), "the archive for 64-bit Arm was not made (tools/test --long, tools/arm64-root)")
    def test_the_archive_for_arm64_profiles_in_the_emulator(self):
        files = dist(self.folder / "a", "--for=arm64")
        self.sums(files)
        home = self.unpack(next(file for name, file in files.items() if name.endswith("-linux-arm64.tar.gz")), self.folder / "un packed")
        for program in ("hprofx", "libhprofx.so", "libhprofx-jvmpi.so"):
            self.assertIn("AArch64", run("readelf", "-h", home / program).stdout)
        self.assertRegex(run("qemu-aarch64-static", home / "hprofx", "--version").stdout, r"^hprofx [0-9.]+\n$")
        run(jdk17() / "bin/javac", "-g", "-d", self.folder, ROOT / "tests/golden/programs/HotSplit.java")
        done = run(ARM64 / "17/bin/java", "-agentpath:%s=cpu=samples,file=p.txt" % (home / "libhprofx.so"), "-cp", self.folder, "HotSplit", cwd=self.folder)
        self.assertEqual(done.stdout, "done true\n")
        self.assertIn("HotSplit.hotA\n", (self.folder / "p.txt").read_text(encoding="utf-8"))
        if not (ARM64 / "root-kernel").exists():
            self.skipTest("the archive for 64-bit Arm did not attach (tools/arm64-root kernel)")
        (self.folder / "Spinner.java").write_text(PROGRAM, encoding="utf-8")
        run(jdk17() / "bin/javac", "-d", home, self.folder / "Spinner.java")
        script = 'mkfifo /tmp/in /tmp/out; java -cp . Spinner </tmp/in >/tmp/out & exec 4>/tmp/in 5</tmp/out; read ready <&5; ./hprofx -d 5s $!; status=$?; kill -9 $!; exit $status'
        shown = run(ROOT / "tools/arm64-machine", "sh", "-c", script, cwd=home, seconds=400).stdout
        self.assertIn("Spinner.spin", shown)


if __name__ == "__main__":
    unittest.main()
