# SPDX-License-Identifier: BSD-2-Clause
"""Every function that libhprofx.so imports, and every system call that it makes by number: with what native/faults.c lets it fail, or why it does not."""
import errno
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHORT = -1000  # HOW_SHORT of native/faults.c
SOURCES = ('agent', 'base', 'bci', 'libc', 'pipeline', 'tables', 'writers')

# Errors of the manual page that do not need a mistake in the program, or EPERM of a seccomp filter. EAI_* as netdb.h has them.
FAILS = '''
    malloc ENOMEM; calloc ENOMEM; realloc ENOMEM; posix_memalign ENOMEM; mmap ENOMEM; madvise ENOMEM; mprotect ENOMEM; munmap ENOMEM; strdup ENOMEM; tsearch ENOMEM
    register_atfork ENOMEM
    open EMFILE EINTR ENOSPC; write ENOSPC EIO EINTR short; read EIO EINTR short; pread EIO EINTR short; pwrite ENOSPC EIO EINTR short; close EIO EINTR; fclose EIO; fcntl EMFILE
    flock ENOLCK; fstat EIO; lstat EACCES; ftruncate EIO; ioctl EPERM; mkostemp EACCES; rename EACCES; unlink EROFS; pipe2 EMFILE; eventfd EMFILE; poll EINTR ENOMEM; fopen EMFILE
    fgets EIO; opendir EMFILE; readdir EIO; readlinkat EACCES; linkat EXDEV
    socket EMFILE; connect ECONNREFUSED EINTR; send ECONNRESET EINTR EAGAIN short; recv ECONNRESET EINTR EAGAIN; getpeername ENOBUFS; getsockname ENOBUFS; getsockopt ENOBUFS
    accept4 EMFILE ECONNABORTED EINTR; bind EACCES EADDRINUSE; fchmod EPERM; listen EPERM; setsockopt ENOMEM; shutdown ENOTCONN; getaddrinfo EAI_AGAIN EAI_MEMORY; gethostname EPERM
    pthread_attr_init ENOMEM; pthread_condattr_init ENOMEM; pthread_cond_init ENOMEM; pthread_cond_timedwait ETIMEDOUT; pthread_create EAGAIN EPERM; pthread_getattr_np ENOMEM
    pthread_mutex_init ENOMEM; pthread_mutex_trylock EBUSY; pthread_setname_np ERANGE; getrlimit EPERM; getrusage EPERM; prctl EINVAL; process_vm_readv EPERM EFAULT; sched_getaffinity EINVAL
    sched_getcpu ENOSYS; sched_setaffinity EPERM; sem_clockwait EINTR; sigaction EPERM; sysconf EINVAL; waitpid EINTR ECHILD
    clock_gettime EINVAL; clock_getres EPERM; clock_nanosleep EINTR; nanosleep EINTR; timer_create EAGAIN EPERM ENOSYS; timer_settime EPERM; dlopen ENOENT; dlsym ENOENT
'''
FAILING_CALLS = '''
    perf_event_open EMFILE EACCES; clone EAGAIN ENOMEM; openat EMFILE; write EACCES; close EIO; getdents64 EPERM; mremap ENOMEM;
    futex EINTR EAGAIN; membarrier EPERM; rt_tgsigqueueinfo EAGAIN
'''
# Kinds of native/faults.c that are parts of others, or their sum.
PARTS = 'memory ENOMEM; tmpfile EOPNOTSUPP ENOSPC; say EIO EINTR short'
# Of a session that begins while the program runs: of native/faults.c, too.
LATE = {'vm': ('OUT_OF_MEMORY',)}
# These are called only where another call fails: kind, how, at which call, and at every later one.
BEHIND = {'dlopen': ('dlsym', 'ENOENT', 1, True), 'mkostemp': ('tmpfile', 'EOPNOTSUPP', 1, True), 'unlink': ('tmpfile', 'EOPNOTSUPP', 1, True),
          'sysconf': ('sched_getaffinity', 'EINVAL', 1, True), 'ftruncate': ('write', 'ENOSPC', 6, True),
          'clock_nanosleep': ('poll', 'ENOMEM', 1, True), 'opendir': ('process_vm_readv', 'EPERM', 1, True), 'readdir': ('process_vm_readv', 'EPERM', 1, True)}

# Neither the VM nor the C library makes these for every program, so that a seccomp filter may kill who does: base/trial.c tries them in a child.
TRIED = set('perf_event_open timer_create timer_settime timer_delete membarrier process_vm_readv rt_tgsigqueueinfo eventfd2 setpriority'.split())

CANNOT = {
    'makes the child that tries a call (TRIED); if it fails the call is taken as refused': 'clone',
    'if it fails the folder of a spool is taken for one on a disk': 'fstatfs',
    'called for a spool of more than 16 MiB alone; if it fails the disk space comes back when the spool is closed': 'fallocate',
    'called for a compressed output of more than 4 MiB alone; if it fails its thread does nothing': 'setpriority',
    'called where there are virtual threads alone; if it fails MONITOR DUMP has a NOTE instead of them': 'mremap',
    'has no way to fail': '''errno_location ctype_b_loc ctype_tolower_loc libc_current_sigrtmin sched_cpucount sigsetjmp siglongjmp stack_chk_fail sched_yield pthread_self pthread_once getenv geteuid
        getpid getuid getpagesize malloc_usable_size dl_iterate_phdr dlerror strerror strerror_l time qsort twalk tfind ferror''',
    'finds a variable of the thread, whose block is static (agent/tls_block.h): it allocates nothing': 'tls_get_addr',
    'frees': 'free freeaddrinfo tdelete tdestroy closedir dlclose pthread_attr_destroy pthread_condattr_destroy sem_destroy timer_delete',
    'works on text, numbers or memory': '''memcmp memcpy strcasecmp strchr strcmp strcspn strlen strncasecmp strncmp strrchr strspn strstr strtod_l strtok_r strtol strtoul strtoull sscanf snprintf vsnprintf
        erand48 expm1 log sqrt''',
    'fails only by a mistake in the program': '''pthread_attr_setdetachstate pthread_attr_setstacksize pthread_attr_getstack pthread_condattr_setclock pthread_cond_broadcast pthread_join pthread_mutex_lock
        uname pthread_mutex_unlock pthread_sigmask sem_init sem_post sigaddset sigdelset sigemptyset sigfillset sigismember localtime_r''',
    'liburcu has it where it takes a mutex, which the lanes do not': 'assert_fail pthread_mutex_destroy',
    'takes the place of register_atfork where that is missing (musl)': 'pthread_atfork',
    'ends the process before main, or writes its help (test_options)': 'exit fflush fputs stdout',
    'says whether stderr is a terminal': 'isatty',
    'tells musl, which lacks it, from glibc': 'gnu_get_libc_version',
    'sent to a child of our own that nobody has reaped': 'kill',
    'finds the library that an address is in; if it does not the calls of libjvm are not redirected': 'dladdr',
    'of the C locale, which is a part of glibc (base/c_locale.h)': 'newlocale uselocale',
    'takes a semaphore for libjvm, in the child (test_heap_faults.the_log_of_the_vm_is_no_wait)': 'sem_trywait',
}
CANNOT_CALL = {
    'has no way to fail': 'gettid getpid getppid getpriority exit_group',
    'is tried in a child, with arguments that do nothing (TRIED)': 'timer_create timer_settime timer_delete process_vm_readv eventfd2 setpriority',
    'fails only by a mistake in the program': 'sigaltstack rt_sigaction rt_sigprocmask prlimit64',
    'asks whether a thread lives; if it is refused the state of the thread is kept': 'tgkill',
}
TOOLCHAIN = set('_ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __cxa_finalize __gmon_start__'.split())
# The compiler makes these of others, or does not.
MADE = set('memchr memcpy memmove mempcpy memset puts putchar stpcpy strcpy strncpy strlen strnlen strchr strcmp memcmp rawmemchr strchrnul exp log sqrt stack_chk_fail snprintf vsnprintf'.split())


def _rows(text, prefix=''):
    return {prefix + words[0]: tuple(words[1:]) for words in (row.split() for row in re.split('[;\n]', text)) if words}


INJECTED = _rows(FAILS) | _rows(FAILING_CALLS, 'sys_')
KINDS = INJECTED | _rows(PARTS)
REASONS = {name: why for table, prefix in ((CANNOT, ''), (CANNOT_CALL, 'sys_')) for why, names in table.items() for name in (prefix + n for n in names.split())}
NUMBERS = {'short': SHORT, 'OUT_OF_MEMORY': 110, 'EAI_AGAIN': -3, 'EAI_MEMORY': -10}


def number(how):
    return NUMBERS.get(how) or getattr(errno, how)


def plain(symbol):
    """The name in the tables: without version, and without what a build, or a C library, puts around it."""
    name = re.sub(r'^(isoc\d+_|xpg_)', '', symbol.partition('@')[0].lstrip('_'))
    name = {'fxstat': 'fstat', 'lxstat': 'lstat'}.get(name, name)
    return re.sub(r'_chk$', '', re.sub(r'(?<=[a-z_])(?<!dents)64(?=(_chk)?$)', '', name))


def imported(library):
    """Symbols that the library needs from others, or takes if they are there, but for those of the toolchain."""
    r = subprocess.run(['nm', '-D', '--undefined-only', str(library)], capture_output=True, text=True, check=True)
    return {words[1].partition('@')[0] for words in map(str.split, r.stdout.splitlines())} - TOOLCHAIN


def exported(library):
    r = subprocess.run(['nm', '-D', '--defined-only', str(library)], capture_output=True, text=True, check=True)
    return {words[2].partition('@')[0] for words in map(str.split, r.stdout.splitlines())}


def by_number():
    """System calls that the sources make by number."""
    found = set()
    for folder in SOURCES:
        for path, _, names in os.walk(ROOT / folder):
            for name in names:
                if name.endswith(('.c', '.h')):
                    found.update(re.findall(r'\b(?:SYS|__NR)_(\w+)', (pathlib.Path(path) / name).read_text('utf-8')))
    return found


def wrong(agent, faults):
    """What the tables lack, or have too much, for this agent; and what the library `faults` does not replace."""
    symbols = imported(agent)
    names = {plain(s) for s in symbols} | {'sys_' + n for n in by_number()}
    known = set(INJECTED) | set(REASONS) | {'syscall'}
    ours = exported(faults)
    tried = set(re.findall(r'SYS_(\w+), ', (ROOT / 'base/trial.c').read_text('utf-8').partition('trials[')[2].partition('};')[0]))
    lines = ['%s is imported, and is in no table' % n for n in sorted(names - known - MADE)]
    lines += ['%s is in a table, and is not imported' % n for n in sorted(known - names - MADE)]
    lines += ['%s is in both tables' % n for n in sorted(set(INJECTED) & set(REASONS))]
    lines += ['%s is tried in base/trial.c or in TRIED alone' % n for n in sorted(tried ^ TRIED)]
    return lines + ['native/faults.c does not replace %s' % s for s in sorted(symbols - ours) if plain(s) in INJECTED]
