# SPDX-License-Identifier: BSD-2-Clause
"""What gets to other machines: the library's symbols and needs, the installed files, the source archive.

python3 -m unittest discover -s tests/packaging. HPX_BUILD=FOLDER: another build than build/. Needs a JDK 17, meson, groff, man, pkg-config, git, xz."""
import json
import os
import pathlib
import re
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


def run(*command, env=None, cwd=None):
    done = subprocess.run([str(c) for c in command], env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})}, cwd=cwd, capture_output=True,
                          text=True, timeout=300 * float(os.environ.get("HPX_SLOW") or 1))
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


@unittest.skipUnless((ROOT / ".git").exists() and shutil.which("git"), "the archive is made from a commit")
class ArchiveTests(Folder):
    def test_two_archives_are_the_same_and_hold_what_the_commit_holds(self):
        made, commit = [], run("git", "rev-parse", "HEAD", cwd=ROOT).stdout.strip()
        for name, env in (("a", {}), ("b", {"XZ_OPT": "-1", "TZ": "Asia/Tokyo"})):
            run("bash", "-c", 'umask "$1"; shift; exec "$@"', "bash", "077" if name == "b" else "022", ROOT / "tools/dist", "--commit=" + commit,
                self.folder / name, env=env)
            made.append(list((self.folder / name).iterdir()))
        self.assertEqual([len(files) for files in made], [1, 1])
        first, second = made[0][0], made[1][0]
        self.assertRegex(first.name, r"^hprofx-[0-9.]+\.tar\.xz$")
        self.assertEqual(first.read_bytes(), second.read_bytes())
        committed = set(run("git", "ls-tree", "-r", "--name-only", commit, cwd=ROOT).stdout.splitlines())
        top = first.name[:-len(".tar.xz")] + "/"
        with tarfile.open(first) as archive:
            members = [m for m in archive.getmembers() if not m.isdir()]
        self.assertEqual({m.name for m in members}, {top + name for name in committed if not name.startswith("debian/")})
        self.assertEqual({(m.uid, m.gid, m.mode & ~0o111) for m in members if m.isfile()}, {(0, 0, 0o644)})


if __name__ == "__main__":
    unittest.main()
