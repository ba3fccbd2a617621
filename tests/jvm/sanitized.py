# SPDX-License-Identifier: BSD-2-Clause
"""--sanitized: the agent is built with ASan and UBSan and counts its blocks (BUILD/tests/balance/libhprofx.so). Any report, and any block that is
still held at the end, is a failure. Before any result counts, bugs planted beside the agent (BUILD/tests/planted) must be reported."""
import re
import subprocess
import threading

import balance
import build
import harness

# The JVM handles these signals itself; the allocator refuses as malloc does.
COMMON = 'handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:use_sigaltstack=0:print_stacktrace=1:color=never:halt_on_error=1'
ASAN = 'detect_leaks=0:allocator_may_return_null=1:' + COMMON

# What cannot work, and why.
LEFT_OUT = {
    'ZGC': 'ZGC wants the address space that ASan uses for its shadow',
    'measures': 'tests that measure time or shares of CPU time: a sanitizer changes them',
}


def can_run(case):
    return not case.measures and case.collector not in LEFT_OUT


class Sanitized:
    def __init__(self, agent):
        self.agent = agent
        self.lock = threading.Lock()
        self.balances, self.unfinished = 0, 0
        needed = subprocess.run(['readelf', '-d', str(agent)], capture_output=True, text=True, check=True).stdout
        found = re.search(r'\[(libasan\.so\.\d+)\]', needed)
        if not found:
            raise SystemExit('%s is not built with -fsanitize=address of gcc' % agent)
        self.runtime = found.group(1)  # by its soname: each JDK's own tree has one

    def environment(self, folder):
        return {'LD_PRELOAD': self.runtime, 'ASAN_OPTIONS': '%s:log_path=%s/sanitizer' % (ASAN, folder),
                'UBSAN_OPTIONS': '%s:log_path=%s/sanitizer' % (COMMON, folder), 'HPX_BALANCE': '%s/balance' % folder}

    def reports(self, folder):
        # UBSan's runtime beside ASan's ignores log_path and writes to stderr.
        texts = [p.read_text('utf-8', 'replace') for pattern in ('sanitizer.*', 'err*.log') for p in sorted(folder.glob(pattern))]
        return [t for t in texts if 'Sanitizer' in t or 'runtime error: ' in t]

    def faults(self, folder):
        """What the processes of one test left behind: reports, and blocks still held."""
        out = ['a sanitizer reports:\n%s' % '\n'.join(r.splitlines()[:40]) for r in self.reports(folder)]
        for p in sorted(folder.glob('balance.*')):
            b = balance.Balance(p, self.agent)
            with self.lock:
                self.balances += b.complete
                self.unfinished += not b.complete
            out += b.faults()
        return out

    def closing(self):
        """Says what was left out. True if no balance was seen at all."""
        for what, why in LEFT_OUT.items():
            print('left out: %s: %s' % (what, why))
        print('balances checked: %d; of programs that were killed or gave up before: %d' % (self.balances, self.unfinished))
        return self.balances == 0

    def _planted(self, env, jdk, bug):
        """None if the bug in a callback is reported with the JVM below it on the stack, else what was seen."""
        folder = env.tmp / ('planted-%s-%s' % (bug, jdk.label))
        folder.mkdir()
        e = build.clean_environment()
        e.update(self.environment(folder))
        lib = self.agent.parents[1] / 'planted' / 'libplanted_agent.so'
        with open(folder / 'err0.log', 'wb') as err:
            r = subprocess.run(jdk.java() + ['-agentpath:%s=%s' % (lib, bug), '-version'], stdout=subprocess.DEVNULL, stderr=err, env=e, cwd=folder)
        text = '\n'.join(self.reports(folder))
        want = {'heap_overflow': 'AddressSanitizer: heap-buffer-overflow', 'use_after_free': 'AddressSanitizer: heap-use-after-free',
                'signed_overflow': 'runtime error: signed integer overflow'}[bug]
        if r.returncode != 0 and want in text and 'on_vm_init' in text and 'JvmtiExport::' in text:
            return None
        return 'exit code %d, wanted: not 0 and a report of %r with on_vm_init and JvmtiExport:: on the stack; reports:\n%s' % (r.returncode, want, text)

    def _leak(self, env, jdk, kind):
        """None if a leak of the agent is found in its balance."""
        folder = env.tmp / ('leak-%s-%s' % (kind, jdk.label))
        folder.mkdir()
        e = build.clean_environment()
        e.update(self.environment(folder), HPX_BALANCE_PLANT=kind)
        subprocess.run(jdk.java() + ['-agentpath:%s=cpu=samples' % self.agent, '-cp', env.classpath(jdk), 'Hello'], capture_output=True, env=e, cwd=folder)
        found = self.faults(folder)
        return None if len(found) == 1 and ' of %s are still held: __wrap_hpx_callbacks_init' % kind in found[0] else 'wanted: one held block of %s; found: %r' % (kind, found)

    def prove(self, env, results):
        """Results count only after this: each planted bug is seen on each JDK."""
        good = True
        for jdk in env.jdks:
            for look, names in ((self._planted, ('heap_overflow', 'use_after_free', 'signed_overflow')), (self._leak, ('heap', 'jvmti'))):
                for name in names:
                    wrong = look(env, jdk, name)
                    results.add_check('%s.%s' % (look.__name__[1:], name), jdk, wrong)
                    good &= wrong is None
        return good


def check(test):
    """Fails the test for what the sanitizers or the counting found in any of its processes."""
    if test.env.sanitized:
        found = test.env.sanitized.faults(test.dir)
        if found:
            raise harness.Harm('\n'.join(found))
