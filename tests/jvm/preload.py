# SPDX-License-Identifier: BSD-2-Clause
"""The libraries of native/: preloaded, or agents; programs as Java agents."""
import pathlib
import subprocess

SYSCALLS = {'x86_64': {'timer_create': 222, 'perf_event_open': 298, 'timer_settime': 223, 'timer_delete': 226, 'membarrier': 324, 'process_vm_readv': 310, 'rt_tgsigqueueinfo': 297, 'eventfd2': 290},
            'aarch64': {'timer_create': 107, 'perf_event_open': 241, 'timer_settime': 110, 'timer_delete': 111, 'membarrier': 283, 'process_vm_readv': 270, 'rt_tgsigqueueinfo': 240, 'eventfd2': 19}}


def lib(t, name):
    return str(t.env.native_dir(t.jdk) / ('lib%s.so' % name))


def preload(t, name, **more):
    """The environment that preloads it."""
    return dict(more, LD_PRELOAD=lib(t, name))


def refusing(t, call, error):
    """The environment in which the kernel refuses a system call with that error; 0: it kills who makes it."""
    if t.jdk.processor not in SYSCALLS:
        t.skip('the number of %s is not known here' % call)
    return preload(t, 'seccomp', HPX_REFUSE='%d:%d' % (SYSCALLS[t.jdk.processor][call], error))


def agent(t, name, options=None):
    return '-agentpath:%s%s' % (lib(t, name), '' if options is None else '=%s' % options)


def java_agent(t, program, *more):
    """The option that runs the program's premain; more: lines of the manifest."""
    jar, manifest = t.dir / 'agent.jar', t.dir / 'manifest'
    manifest.write_text(''.join(line + '\n' for line in ('Premain-Class: ' + program,) + more))
    classes = pathlib.Path(t.env.classpath(t.jdk).split(':')[0])
    cmd = [str(t.jdk.home / 'bin' / 'jar'), 'cfm', str(jar), str(manifest)]
    for f in sorted(classes.glob(program + '*.class')):
        cmd += ['-C', str(classes), f.name]
    subprocess.run(cmd, check=True)
    return '-javaagent:%s' % jar
