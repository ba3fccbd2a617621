# SPDX-License-Identifier: BSD-2-Clause
"""The parts that run under Relacy, and the wrong orders that are planted in copies of their sources: one for each order that matters."""
import typing


class Edit(typing.NamedTuple):
    file: str
    function: typing.Optional[str]  # in whose definition `old` stands once; None: in the whole file
    old: str
    new: str


class Part(typing.NamedTuple):
    name: str  # of the test, NAME.c
    sources: typing.Tuple[str, ...]
    smaller: typing.Tuple[Edit, ...] = ()  # constants, so that few accesses are a run
    flags: typing.Tuple[str, ...] = ()


class Plant(typing.NamedTuple):
    part: str
    name: str
    file: str
    function: typing.Optional[str]
    old: str
    new: str


RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = ('memory_order_' + name for name in ('relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'))

PARTS = [
    Part('ring', ('pipeline/ring.c',), (Edit('pipeline/ring.h', None, '#define HPX_RING_MIN   4096u', '#define HPX_RING_MIN   128u'),)),
    Part('gate', ('pipeline/gate.c',), (Edit('pipeline/gate.h', None, '#define HPX_GATE_STRIPES_LOG2 6', '#define HPX_GATE_STRIPES_LOG2 1'),),
         ('-Dpthread_self=relacy_pthread_self', '-Dnanosleep=relacy_nanosleep', '-Dsyscall=relacy_syscall')),
    Part('shared_stacks', ('agent/samples/shared_stacks.c',),
         (Edit('agent/samples/shared_stacks.c', None, '#define WAYS        4u', '#define WAYS        2u'),
          Edit('agent/samples/shared_stacks.c', None, 'places[WAYS]; /* a cache line */', 'places[2 * WAYS];'))),
    Part('calls', ('pipeline/calls.c', 'pipeline/ring.c'),
         (Edit('pipeline/ring.h', None, '#define HPX_RING_MIN   4096u', '#define HPX_RING_MIN   128u'),)),
    Part('known_threads', ('agent/vm/known_threads.c',), (Edit('agent/vm/known_threads.c', None, '#define TID_LISTS   1024u', '#define TID_LISTS   1u'),)),
    Part('lane', ('pipeline/lane.c',), (), ('-D_LGPL_SOURCE',)),
    Part('registry', ('pipeline/thread.c',)),
    Part('site_ids', ('pipeline/site_ids.c',),
         (Edit('pipeline/site_ids.h', None, '#define HPX_SITE_FIRST    (1u << 13)', '#define HPX_SITE_FIRST    (1u << 2)'),
          Edit('pipeline/site_ids.h', None, '#define HPX_SITE_TABLES   6u', '#define HPX_SITE_TABLES   2u'),
          Edit('pipeline/site_ids.h', None, 'mirrors[HPX_SITE_MOST >> 10]', 'mirrors[8]'),
          Edit('pipeline/site_ids.c', None, '#define PROBES    16u', '#define PROBES    2u'),
          Edit('pipeline/site_ids.c', None, '#define PAGE_BITS 10u', '#define PAGE_BITS 2u'),
          Edit('pipeline/site_ids.c', None, 'static_assert(PROBES * sizeof(struct hpx_site_place) == 512', 'static_assert(PROBES == 2'))),
]

RING = 'pipeline/ring.h'
GATE = 'pipeline/gate.c'
CALLS, CALLS_H = 'pipeline/calls.c', 'pipeline/calls.h'
KNOWN = 'agent/vm/known_threads.c'
SITES = 'pipeline/site_ids.c'
SHARED = 'agent/samples/shared_stacks.c'

# Not planted, because nothing depends on it alone: the release of BUSY in hpx_calls_begin_push() (who sees it takes nothing), that of a fold from OPEN to
# LEAF (in C11 a store of the same thread goes on with the release before it), and what liburcu orders by dependence (the exchange of the tail has
# ordered all that is spliced). And what Relacy cannot see, because stores to one variable
# have the order in which it executed them: the acquire by which a place of shared_stacks.c begins to be written.
PLANTS = [
    Plant('ring', 'PUBLISH', RING, 'hpx_ring_publish', RELEASE, RELAXED),
    Plant('ring', 'COMMIT', RING, 'hpx_ring_commit_run', RELEASE, RELAXED),
    Plant('ring', 'PEEK', RING, 'hpx_ring_peek', ACQUIRE, RELAXED),
    Plant('ring', 'GIVE_BACK', RING, 'hpx_ring_release', RELEASE, RELAXED),
    Plant('ring', 'REREAD', 'pipeline/ring.c', 'hpx_ring_reserve_slow', ACQUIRE, RELAXED),
    Plant('gate', 'OPEN', GATE, 'hpx_gate_open', SEQ_CST, RELAXED),
    Plant('gate', 'ENTER_ADD', GATE, 'hpx_gate_enter', 'inside, 1, ' + SEQ_CST, 'inside, 1, ' + ACQ_REL),
    Plant('gate', 'ENTER_LOOK', GATE, 'hpx_gate_enter', 'open, ' + SEQ_CST, 'open, ' + ACQUIRE),
    Plant('gate', 'LEAVE', GATE, 'hpx_gate_leave', RELEASE, RELAXED),
    Plant('gate', 'CLOSE', GATE, 'hpx_gate_close', SEQ_CST, RELEASE),
    Plant('gate', 'CLOSE_LOOK', GATE, 'hpx_gate_wait', SEQ_CST, RELAXED),
    Plant('gate', 'OWN_OPEN', GATE, 'hpx_gate_own_open', RELEASE, RELAXED),
    Plant('gate', 'OWN_ENTER', 'pipeline/gate.h', 'hpx_gate_own_enter', ACQUIRE, RELAXED),
    Plant('gate', 'OWN_LEAVE', 'pipeline/gate.h', 'hpx_gate_own_leave', RELEASE, RELAXED),
    Plant('gate', 'OWN_WAIT', GATE, 'hpx_gate_own_wait', ACQUIRE, RELAXED),
    Plant('gate', 'OWN_NO_BARRIER', GATE, 'hpx_gate_own_close_fenced', '        barrier_in_all_threads();\n', ''),
    Plant('gate', 'OWN_STAYS_FENCED', GATE, 'hpx_gate_own_open', '    atomic_store_explicit(&g->fenced, false, memory_order_relaxed);\n', ''),
    Plant('shared_stacks', 'BEGIN', SHARED, 'hpx_shared_stacks_begin', RELEASE, RELAXED),
    Plant('shared_stacks', 'FIND', SHARED, 'hpx_shared_stacks_find_sig', 'shared, ' + ACQUIRE, 'shared, ' + RELAXED),
    Plant('shared_stacks', 'PUT', SHARED, 'hpx_shared_stacks_put_sig', 'shared, ' + ACQUIRE, 'shared, ' + RELAXED),
    Plant('shared_stacks', 'STORE', SHARED, 'store', RELEASE, RELAXED),
    Plant('shared_stacks', 'LOAD', SHARED, 'load', ACQUIRE, RELAXED),
    Plant('shared_stacks', 'TURN', SHARED, 'hpx_shared_stacks_find_sig', 'turn, ' + ACQUIRE, 'turn, ' + RELAXED),
    Plant('shared_stacks', 'WRITTEN', SHARED, 'hpx_shared_stacks_put_sig', 'turn + 2, ' + RELEASE, 'turn + 2, ' + RELAXED),
    Plant('calls', 'PUSH_BEGINS_UNSEEN', CALLS_H, 'hpx_calls_push', '    hpx_calls_begin_push(c); /* before the tail is read: a handler may move it until then */\n', ''),
    Plant('calls', 'AT', CALLS_H, 'hpx_calls_push', 'tail, ' + RELEASE, 'tail, ' + RELAXED),
    Plant('calls', 'AT_OF_COMMIT', CALLS, 'commit', RELAXED + '), ' + RELEASE, RELAXED + '), ' + RELAXED),
    Plant('calls', 'METHOD', CALLS_H, 'hpx_calls_set_pending', 'method, ' + RELEASE, 'method, ' + RELAXED),
    Plant('calls', 'ENTERED', CALLS_H, 'hpx_calls_set_pending', 'now, ' + RELEASE, 'now, ' + RELAXED),
    Plant('calls', 'FOLD', CALLS_H, 'hpx_calls_set_pending', 'HPX_CALLS_OPEN, ' + RELEASE, 'HPX_CALLS_OPEN, ' + RELAXED),
    Plant('calls', 'FOLD_OF_EXIT', CALLS_H, 'hpx_calls_try_leave', 'HPX_CALLS_NONE, ' + RELEASE, 'HPX_CALLS_NONE, ' + RELAXED),
    Plant('calls', 'PUBLISH', CALLS, 'publish', RELEASE, RELAXED),
    Plant('calls', 'READ_AT', CALLS, 'take', 'uint64_t at = atomic_load_explicit(&c->at, ' + ACQUIRE, 'uint64_t at = atomic_load_explicit(&c->at, ' + RELAXED),
    Plant('calls', 'READ_FOLD', CALLS, 'take', 'uint64_t f = atomic_load_explicit(&c->fold, ' + ACQUIRE, 'uint64_t f = atomic_load_explicit(&c->fold, ' + RELAXED),
    Plant('calls', 'READ_METHOD', CALLS, 'take', '&c->method, ' + ACQUIRE, '&c->method, ' + RELAXED),
    Plant('calls', 'READ_ENTERED', CALLS, 'take', '&c->entered, ' + ACQUIRE, '&c->entered, ' + RELAXED),
    Plant('known_threads', 'ENTER', KNOWN, 'hpx_known_threads_enter', RELEASE, RELAXED),
    Plant('known_threads', 'LIST', KNOWN, 'hpx_known_threads_of_tid', 'list_of(tid), ' + ACQUIRE, 'list_of(tid), ' + RELAXED),
    Plant('known_threads', 'STAGE', KNOWN, 'hpx_known_threads_of_tid', 'stage, ' + ACQUIRE, 'stage, ' + RELAXED),
    Plant('known_threads', 'STAGE_WITHOUT_TID', KNOWN, 'hpx_known_threads_without_tid', ACQUIRE, RELAXED),
    Plant('lane', 'POSTS_FIRST', 'pipeline/lane.c', 'hpx_lane_post', '    cds_wfcq_enqueue(&l->head, &l->tail, &m->node);\n',
          '    hpx_wake_post(&l->wake);\n    cds_wfcq_enqueue(&l->head, &l->tail, &m->node);\n    now = false;\n'),
    Plant('lane', 'NOT_RENEWED', 'pipeline/lane.c', 'hpx_lane_post', '    cds_wfcq_node_init(&m->node); /* a message may be sent back, and so be posted again */\n', ''),
    Plant('lane', 'EXCHANGE', 'tests/relacy/library/urcu/uatomic.h', None, 'before_rmw()                   cmm_smp_mb()', 'before_rmw() ((void)0)'),
    Plant('registry', 'RETIRE', 'pipeline/thread.h', 'hpx_registry_retire', RELEASE, RELAXED),
    Plant('registry', 'PUSH', 'tests/relacy/library/ck_pr.h', None, 'ck_pr_fence_store()        __atomic_thread_fence(__ATOMIC_RELEASE)', 'ck_pr_fence_store() ((void)0)'),
    Plant('registry', 'COLLECT', 'tests/relacy/library/ck_pr.h', None, '__ATOMIC_ACQUIRE', '__ATOMIC_RELEASE'),
    Plant('site_ids', 'MADE', SITES, 'table_at', 'made, ' + ACQ_REL + ', ' + ACQUIRE, 'made, ' + ACQUIRE + ', ' + ACQUIRE),
    Plant('site_ids', 'MADE_BY_ANOTHER', SITES, 'table_at', ACQ_REL + ', ' + ACQUIRE, ACQ_REL + ', ' + RELAXED),
    Plant('site_ids', 'TABLE', SITES, 'table_at', '[i], ' + ACQUIRE, '[i], ' + RELAXED),
    Plant('site_ids', 'MIRRORS_MADE', SITES, 'hpx_site_ids_class', 'made, ' + ACQ_REL + ', ' + ACQUIRE, 'made, ' + ACQUIRE + ', ' + ACQUIRE),
    Plant('site_ids', 'MIRRORS_MADE_BY_ANOTHER', SITES, 'hpx_site_ids_class', ACQ_REL + ', ' + ACQUIRE, ACQ_REL + ', ' + RELAXED),
    Plant('site_ids', 'MIRRORS', SITES, 'hpx_site_ids_class', 'slot, ' + ACQUIRE, 'slot, ' + RELAXED),
]
