#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""heap_readers FILE [READER...]: a binary heap dump, opened by the programs that people use.

visualvm: the heap library of VisualVM. jdk: the parser of the JDK's own tests. jhat: that of JDK 8. shark: LeakCanary's library. netbeans: that of NetBeans, as
jvmtool has it. tests/format/heap-readers installs them.
Prints JSON: {reader: {"classes": {class: objects}, "unresolved": references, "complaints": [...]}} or {reader: {"not available": reason}}.
Exit code: 0 no complaint of any reader, 1 complaints, 2 usage, or a reader is not available."""
import collections
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VISUALVM = '/usr/share/visualvm/visualvm'
PRIMITIVES = {'Z': 'boolean', 'C': 'char', 'F': 'float', 'D': 'double', 'B': 'byte', 'S': 'short', 'I': 'int', 'J': 'long'}
READERS = ('visualvm', 'jdk', 'jhat', 'shark', 'netbeans')
OF_MAVEN = {'shark': 'Shark', 'netbeans': 'NetBeans'}

# classes: {class, in Java source form: objects}; None: the reader could not open the file, and says so in complaints
Result = collections.namedtuple('Result', 'classes unresolved complaints')


class NotAvailable(Exception):
    pass


def folder():
    return pathlib.Path(os.environ.get('HEAP_READERS') or pathlib.Path(os.environ.get('JDKS') or '/opt/jdks') / 'heap-readers')


def find_jdk(label):
    done = subprocess.run(['bash', '-c', '. "$0/tools/common.sh"; find_jdk "$1"', str(ROOT), label], capture_output=True, text=True)
    if done.returncode != 0:
        raise NotAvailable('no JDK %s: run tests/format/heap-readers' % label)
    return pathlib.Path(done.stdout.strip())


def there(path):
    if not os.path.exists(path):
        raise NotAvailable('%s is missing: run tests/format/heap-readers' % path)
    return str(path)


def library(reader):
    """(class path, program, package that takes the place of `hat`)"""
    if reader == 'visualvm':
        there(VISUALVM + '/modules/org-graalvm-visualvm-lib-jfluid-heap.jar')
        # the library logs through classes of the platform
        jars = glob.glob(VISUALVM + '/modules/org-graalvm-visualvm-lib-*.jar') + glob.glob('/usr/share/netbeans/platform*/lib/*.jar')
        return ':'.join(sorted(jars)), 'VisualVM', None
    if reader in OF_MAVEN:
        there(folder() / 'maven' / 'versions')
        return str(folder() / 'maven' / '*'), OF_MAVEN[reader], None
    if reader == 'jdk':
        return there(folder() / 'jdk-hprof.jar'), 'Hat', 'jdk.test.lib.hprof'
    return there(find_jdk('8') / 'lib' / 'tools.jar'), 'Hat', 'com.sun.tools.hat.internal'


def source_form(name):
    """char[] of [C, java.lang.Object[] of [Ljava.lang.Object; or java/lang/Object[]"""
    depth = len(name) - len(name.lstrip('['))
    name = name[depth:]
    if depth > 0:
        name = PRIMITIVES.get(name) or name.removeprefix('L').removesuffix(';')
    return name.replace('/', '.') + '[]' * depth


def read(reader, path):
    """What a reader finds in a heap dump: a Result. Raises NotAvailable."""
    class_path, program, package = library(reader)
    java = find_jdk('17') / 'bin' / 'java'
    source = (HERE / 'heap' / (program + '.java')).read_text()
    if package is not None:
        source = source.replace('import hat.', 'import %s.' % package)
    with tempfile.TemporaryDirectory() as work:  # VisualVM puts its index there, too
        file = pathlib.Path(work) / (program + '.java')
        file.write_text(source)
        link = pathlib.Path(work) / 'dump.hprof'
        link.symlink_to(pathlib.Path(path).resolve())
        done = subprocess.run([str(java), '-Djava.io.tmpdir=' + work, '-cp', class_path, str(file), str(link)], capture_output=True, text=True,
                              errors='replace', env=dict(os.environ, LC_ALL='C.UTF-8'))
    classes, complaints, unresolved, ended = collections.Counter(), collections.Counter(), None, False
    for line in done.stdout.splitlines():
        kind, *fields = line.split('\t')
        if kind == 'class':
            classes[source_form(fields[1])] += int(fields[0])
        elif kind == 'unresolved':
            unresolved = int(fields[0])
        elif kind == 'complaint':
            complaints[re.sub(r'0x[0-9a-f]+', '0x#', fields[0])] += 1
        ended |= kind == 'end'
    found = ['%s (%d times)' % (c, n) if n > 1 else c for c, n in complaints.items()]
    for line in done.stderr.splitlines():
        if not line.startswith(('Note: ', '\tat ', 'warning: ')):
            found.append(line.replace(work, ''))
    if done.returncode != 0 or not ended:
        found.append('the reader ended with status %d' % done.returncode)
        return Result(None, None, found)
    return Result(dict(classes), unresolved, found)


def complaints(path, classes=None, readers=READERS):
    """For tests: [(reader, what is wrong)] of a dump of which nobody may complain. classes: {class: objects} that every reader must find.
    Raises NotAvailable unless every reader is there."""
    found = []
    for reader in readers:
        result = read(reader, path)
        found += [(reader, c) for c in result.complaints]
        if result.unresolved:
            found.append((reader, '%d references to what is not in the dump' % result.unresolved))
        if classes is not None and result.classes is not None:
            found += [(reader, '%d objects of %s instead of %d' % (result.classes.get(c, 0), c, classes.get(c, 0)))
                      for c in sorted(set(classes) | set(result.classes)) if result.classes.get(c, 0) != classes.get(c, 0)]
    return found


def main(arguments):
    if not arguments or not set(arguments[1:]) <= set(READERS):
        print(__doc__, file=sys.stderr)
        return 2
    found, status = {}, 0
    for reader in arguments[1:] or READERS:
        try:
            result = read(reader, arguments[0])
            found[reader] = result._asdict()
            status = max(status, 1 if result.complaints or result.unresolved else 0)
        except NotAvailable as e:
            found[reader] = {'not available': str(e)}
            status = 2
    print(json.dumps(found, indent=1, ensure_ascii=False))
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
