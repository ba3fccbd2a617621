# SPDX-License-Identifier: BSD-2-Clause
"""The libraries of native/: preloaded, or agents; programs as Java agents."""
import pathlib
import subprocess


def lib(t, name):
    return str(t.env.native_dir(t.jdk) / ('lib%s.so' % name))


def preload(t, name, **more):
    """The environment that preloads it."""
    return dict(more, LD_PRELOAD=lib(t, name))


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
