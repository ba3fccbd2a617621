# SPDX-License-Identifier: BSD-2-Clause
"""Faults planted in the models (`#ifdef NAME`), one for each memory order or state that matters. SPIN knows no weak memory: two accesses that
stand in the wrong order are what a missing release, acquire or barrier would allow."""
import typing


class Plant(typing.NamedTuple):
    model: str
    name: str
    found: str  # by: 'assertion', 'end' (no process can go on), or the claim that it breaks
    fault: str


PLANTS = [
    Plant('gate', 'NO_SECOND_LOOK', 'assertion', 'enter does not look again after it has added'),
    Plant('gate', 'ADD_BEHIND_LOOK', 'assertion', 'enter adds behind its second look: an add that is not seq_cst'),
    Plant('gate', 'CLOSE_BEHIND_LOOK', 'assertion', 'close looks at the counters before its store is seen: a store that is not seq_cst'),
    Plant('gate', 'ONE_STRIPE', 'assertion', 'close waits for one counter only'),
    Plant('gate', 'LEAVE_EARLY', 'assertion', 'leave subtracts before the work is done: a subtraction without release'),
    Plant('gate', 'REFUSED_STAYS', 'closes', 'a refused thread does not subtract'),
    Plant('gate', 'NO_FIRST_LOOK', 'closes', 'threads that come after the close keep the counters from 0'),
    Plant('gate_own', 'NO_BARRIER', 'assertion', 'close executes no barrier in the threads'),
    Plant('gate_own', 'BARRIER_FIRST', 'assertion', 'the barrier comes before the store that closes'),
    Plant('gate_own', 'STAYS_FENCED', 'assertion', 'open does not forget that there was a barrier'),
    Plant('gate_own', 'FLAG_BEHIND_LOOK', 'assertion', 'enter looks before it stores its flag: no signal fence'),
    Plant('gate_own', 'LEAVE_EARLY', 'assertion', 'leave stores before the work is written: a store without release'),
    Plant('gate_own', 'REFUSED_STAYS', 'assertion', 'a refused thread does not leave'),
    Plant('gate_own', 'NO_WAIT', 'assertion', 'the closer does not wait for the flags'),
    Plant('gate_own', 'LATE_IS_LEFT', 'assertion', 'a wait whose time is over counts as the thread having left'),
    Plant('ring', 'HEAD_FIRST', 'assertion', 'the consumer gives the bytes back before it has read them: a head without release'),
    Plant('ring', 'TAIL_FIRST', 'assertion', 'the tail is seen before the bytes: a tail without release'),
    Plant('ring', 'NO_REREAD', 'assertion', 'the slow path does not read the head again: an empty ring has no room'),
    Plant('ring', 'ONE_TOO_MANY', 'assertion', 'the slow path takes one unit more than is free'),
    Plant('ring', 'SPLIT', 'assertion', 'a record that would cross the end gets no pad'),
    Plant('ring', 'PAD_FORGOTTEN', 'assertion', 'the commit of a record at place 0 does not count the pad before it'),
    Plant('ring', 'LOOK_BEYOND', 'assertion', 'look goes beyond what is known to be free'),
    Plant('ring', 'NO_BUSY', 'assertion', 'the owner does not say that it is in a push'),
    Plant('ring', 'IGNORES_BUSY', 'assertion', 'the handler writes although the owner is in a push'),
    Plant('calls', 'NO_BUSY_STATE', 'assertion', 'a push does not say so in fold'),
    Plant('calls', 'AT_BEHIND_FOLD', 'assertion', 'at is stored behind the new fold'),
    Plant('calls', 'FOLD_FIRST', 'assertion', 'fold is stored before the method and the stamp that it covers'),
    Plant('calls', 'AT_NOT_REREAD', 'assertion', 'the peek does not read at again'),
    Plant('calls', 'FOLD_NOT_REREAD', 'assertion', 'the peek does not read fold again'),
    Plant('calls', 'TAIL_BEFORE_BUSY', 'assertion', 'a push reads the tail while a handler may still move it'),
    Plant('calls', 'NO_BUSY', 'assertion', 'a handler is let in while the owner has a reserve'),
    Plant('calls', 'TICK_IN_PUSH', 'assertion', 'the handler does not look whether the owner is in a push'),
    Plant('calls', 'TICK_LEAVES_AT', 'assertion', 'a tick does not move at: a dump has the call without the tick'),
    Plant('calls', 'TICK_AT_FIRST', 'assertion', 'a tick moves at before the tail'),
    Plant('attach', 'ADD_BEHIND_WAIT', 'assertion', 'a thread that attaches announces itself behind its look'),
    Plant('attach', 'LOOK_FIRST', 'assertion', 'who asks looks before it announces itself'),
    Plant('attach', 'NO_WAIT', 'assertion', 'a thread that attaches does not wait for the question'),
    Plant('attach', 'END_EARLY', 'assertion', 'a thread says that it has attached before it has'),
    Plant('attach', 'FLAGS', 'assertion', 'flags instead of counters: the first of two threads clears it for both'),
    Plant('attach', 'SUSPENDED_BEFORE', 'assertion', 'KNOWN, as the code is: who asks is suspended for 2 s between its look and the question'),
    Plant('attach', 'NO_LIMIT', 'attaches', 'a thread that attaches waits for a suspended one'),
    Plant('registry', 'NO_EXCHANGE', 'assertion', 'a push on the stack is a load and a store: a thread is lost'),
    Plant('registry', 'RETIRES_EARLY', 'assertion', 'a thread retires before its last event'),
    Plant('registry', 'POSTED_BEHIND', 'assertion', 'a definition is posted behind the event that uses it'),
    Plant('registry', 'FORGOTTEN', 'assertion', 'a thread for which there is no memory is not put back'),
    Plant('registry', 'NEXT_BEHIND', 'assertion', 'collect reads the link of an entry that it has handed on'),
    Plant('registry', 'TAIL_FIRST', 'assertion', 'the tail is read before the state: a state without acquire'),
    Plant('registry', 'TAILS_BEHIND_LANE', 'assertion', 'the tails are read behind the lane'),
    Plant('registry', 'RETIRED_LATE', 'assertion', 'a thread that retires in a pass is gone in the same one'),
    Plant('registry', 'STOP_READ_LATE', 'assertion', 'the last pass is one that began before the stop'),
    Plant('lane', 'NOT_RENEWED', 'end', 'post does not clear the link of a message that was received before'),
    Plant('lane', 'LINKED_FIRST', 'end', 'a sender links its message before it has the tail'),
    Plant('lane', 'NO_WAIT_FOR_LINK', 'end', 'the receiver takes a link that is not there yet for the end'),
    Plant('lane', 'SEEN_LATE', 'end', 'the value that the sleep compares is read behind the splice'),
    Plant('lane', 'WAKE_FIRST', 'end', 'the wake is posted before the message'),
]
