# SPDX-License-Identifier: BSD-2-Clause
"""Agents of JVMPI (tests/jvmpi) and the shim that loads them, of the build that the agent is of."""
import re

FINDING = re.compile('WARNING in native|FATAL ERROR in native|JNI local refs: .*, exceeds|without exception check')
LAUNCHER = 'checking exceptions when required to from CallStaticObjectMethod'  # what the launcher of JDK 8 does by itself


def build(t):
    found = next((f for f in t.env.agent.resolve().parents if (f / 'agent' / 'libhprofx-jvmpi.so').is_file()), None)
    if found is None or not (found / 'tests' / 'jvmpi').is_dir():
        t.skip('this build has no libhprofx-jvmpi.so')
    return found


def library(t, name):
    return build(t) / 'tests' / 'jvmpi' / ('libjvmpi-%s.so' % name)


def shim(t, agent, options=''):
    """The argument that loads the agent, a path or what else the shim takes for one."""
    return '-agentpath:%s=%s%s' % (build(t) / 'agent' / 'libhprofx-jvmpi.so', agent, ':' + options if options else '')


def checked(t):
    """Arguments of the JVM: the agents' calls of JNI are checked."""
    return ['-Xcheck:jni'] + (['--enable-native-access=ALL-UNNAMED'] if t.jdk.version >= 22 else [])


def run(t, name, options, program, *args, jvm=(), code=0, **how):
    """A run with the agent that ends well: no line of ours on stderr, no "BAD" of the agent, nothing that -Xcheck:jni says."""
    r = t.java(program, *args, agent=shim(t, library(t, name), options), jvm=[*checked(t), *jvm], **how)
    t.equal(r.code, code, 'exit code: %s' % r.err[-500:])
    t.equal([x for x in r.out.splitlines() if x.startswith('BAD ')], [], 'checks that failed')
    t.equal([x for x in r.err.splitlines() if x.startswith('hprofx: jvmpi')], [], 'messages of the shim')
    t.equal([x for x in r.out.splitlines() if FINDING.search(x) and not (t.jdk.version == 8 and LAUNCHER in x)], [], 'findings of -Xcheck:jni')
    return r
