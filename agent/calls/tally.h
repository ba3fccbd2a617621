/* SPDX-License-Identifier: BSD-2-Clause */
/* tally.h: a counter of every method in every thread, for times=counts. No JVM.
 *
 * A thread has a block: counters by the number of the method, which the thread alone writes, with a load, an add and a store. A table leads
 * the probe, Java code that the compilers take into every method (tracker_class.h), to the block of its thread: by the address of the VM's
 * thread, which no other thread has while that one lives. A thread is at one of two places of the table, or at none; then the probe calls
 * C, as it does for the first call of a thread.
 *
 * A block never moves, and stays mapped as long as the process: a thread may stand between two loads of the probe at any time, also when
 * the session has ended. It goes to another thread when its own has ended, with what it has counted. In a later session the thread itself
 * empties its block, at its first call, because no other thread can know that it is not inside the probe. */
#ifndef HPX_TALLY_H
#define HPX_TALLY_H

#include <stdbool.h>
#include <stdint.h>

/* The table for the probe, made by the first call; 0: no memory. Any thread. */
uint64_t hpx_tally_table(void);
/* Every block has counters for the numbers below `end`, at most HPX_CALL_COUNTERS. Before a class with such numbers runs. false: no memory.
 * Any thread. */
bool hpx_tally_reach(uint32_t end);

/* What the probe leaves to C, on the thread that called. thread: of the VM; 0: not known. false: not counted, for lack of memory. */
bool hpx_tally_count(uint32_t number, uint64_t thread);
/* The calling thread ends: its block is another one's. */
void hpx_tally_leave(void);

/* A session begins to count; ends to. Calls that are being counted at this moment may be counted or not. A thread that stays inside the
 * probe from one session into the next may spoil a counter of another one, if that has the same place, or the end of a thread before it at
 * the same address was not told. */
void hpx_tally_open(void);
void hpx_tally_close(void);
/* Numbers from here on have no counters yet. Any thread. */
uint32_t hpx_tally_end(void);
/* The session is over: its pages go. */
void hpx_tally_forget(void);

struct hpx_tally_figures {
    uint64_t blocks, bytes; /* of this session's threads; of their pages that have counts */
    uint64_t apart;         /* threads that had no place in the table: their calls cost a native */
};
/* Adds what this session has counted to sums[number], of n numbers; the counters only grow, so nobody is stopped. Any thread. */
struct hpx_tally_figures hpx_tally_add_up(uint64_t *sums, uint32_t n);

#endif
