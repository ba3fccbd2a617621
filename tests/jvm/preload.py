# SPDX-License-Identifier: BSD-2-Clause
"""The libraries of native/: preloaded, or agents."""


def lib(t, name):
    return str(t.env.native_dir(t.jdk) / ('lib%s.so' % name))


def preload(t, name, **more):
    """The environment that preloads it."""
    return dict(more, LD_PRELOAD=lib(t, name))


def agent(t, name, options=None):
    return '-agentpath:%s%s' % (lib(t, name), '' if options is None else '=%s' % options)
