# SPDX-License-Identifier: BSD-2-Clause
"""A short form of soak/soak: samples each 0.1 ms over all that makes walking a stack hard."""
import re

import preload
from runner import test

FORCED = {'safepoints': '-XX:+SafepointALot', 'handshakes': '-XX:+HandshakeALot'}


def _soak(t, seconds, jvm=(), opts=''):
    run, p = t.profile('Soak', seconds, opts='cpu=samples,interval=0.1,depth=32' + opts, stdout='soak whole\n', jvm=['-Xss2m'] + list(jvm))
    m = re.search(r'^hprofx: samples: (\d+) taken', run.err, re.M)
    # The tick of a kernel without perf events is 4 ms: a fortieth of the samples.
    t.check(int(m.group(1)) > 100 * seconds, 'samples: %s' % m.group(1))
    t.check('hprofx: faults:' not in run.err, 'a fault was caught')
    return p


@test(level='plain', collectors='all', longer=True)
def the_program_ends_whole(t):
    _soak(t, 2 if t.level == 'plain' else 4)


@test(level='plain', collectors='all', needs=('hotspot',))
def with_frames_of_C_too(t):
    _soak(t, 2 if t.level == 'plain' else 4, opts=',native=y')


@test(since=17, params=sorted(FORCED))
def stops_of_the_vm_all_the_time(t, what):
    _soak(t, 4, ['-XX:+UnlockDiagnosticVMOptions', '-XX:GuaranteedSafepointInterval=1', FORCED[what]])


@test(level='plain', needs=('hotspot',))
def signals_by_the_ten_thousand(t):
    run, p = t.profile('Soak', 2, opts='cpu=samples,interval=10,depth=32', stdout='soak whole\n', jvm=['-Xss2m'], env=preload.preload(t, 'storm', HPX_STORM='8'))
    signals = int(p.report['signals'])
    t.check(signals > 4000, 'signals: %d, no more than the timers give' % signals)
    t.check('hprofx: faults:' not in run.err, 'a fault was caught')
