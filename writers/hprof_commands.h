/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_commands.h: what a peer sends over the socket of net=, taken apart: bytes in, commands out.
 *
 * A command is u1 tag, u4 serial, u4 length, body; big-endian. FF (EOF) has no header: nothing behind it is read. Pure: no system call, no
 * allocation, no lock; one thread at a time for each struct. At most 19 bytes of a command are kept, whatever its length says. It stands in
 * writers/ and not in base/ because it is the other direction of the protocol that the writers speak, and knows nothing below. */
#ifndef HPX_HPROF_COMMANDS_H
#define HPX_HPROF_COMMANDS_H

#include "compiler.h"

enum hpx_command_tag {
    HPX_COMMAND_FORCE_GC = 0x01,
    HPX_COMMAND_DUMP_HEAP = 0x02,
    HPX_COMMAND_ALLOC_SITES = 0x03,
    HPX_COMMAND_HEAP_SUMMARY = 0x04,
    HPX_COMMAND_EXIT = 0x05,
    HPX_COMMAND_DUMP_TRACES = 0x06,
    HPX_COMMAND_CPU_SAMPLES = 0x07,
    HPX_COMMAND_CONTROL = 0x08,
    HPX_COMMAND_EOF = 0xFF,
};

/* CONTROL: what its sub option and the length of its body ask for together. 6 was the depth in the manual and "clear sites" in the
 * original: with a u2 it is the depth, without it clears. */
enum hpx_control {
    HPX_CONTROL_NONE, /* no CONTROL, or one with a fault */
    HPX_CONTROL_ALLOC_ON,
    HPX_CONTROL_ALLOC_OFF,
    HPX_CONTROL_CPU_ON,
    HPX_CONTROL_CPU_OFF,
    HPX_CONTROL_CLEAR_CPU,
    HPX_CONTROL_CLEAR_SITES,
    HPX_CONTROL_DEPTH,
};

/* A command with a fault was skipped whole: it is not carried out, one line says why. */
enum hpx_command_fault {
    HPX_COMMAND_GOOD,
    HPX_COMMAND_UNKNOWN_TAG,
    HPX_COMMAND_UNKNOWN_SUB, /* CONTROL: no such sub option */
    HPX_COMMAND_SHORT,       /* the body is shorter than the command's */
};

#define HPX_COMMAND_MAX_LENGTH 65536u /* a longer body: the stream is no command stream, or lost its place */
#define HPX_COMMAND_MAX_DEPTH  2048u

struct hpx_command {
    uint8_t tag; /* enum hpx_command_tag, or any byte with UNKNOWN_TAG */
    enum hpx_command_fault fault;
    uint32_t serial, length;
    uint16_t flags;           /* ALLOC SITES: 1 changed sites only, 2 by allocated, 4 collect first. CPU SAMPLES: of no meaning */
    float cutoff;             /* ALLOC SITES, CPU SAMPLES: as sent; nan and < 0 cut nothing off */
    uint16_t sub;             /* CONTROL: as sent */
    enum hpx_control control; /* CONTROL */
    uint64_t thread;          /* CPU_ON, CPU_OFF: object id of the thread; 0: all threads */
    uint16_t depth;           /* DEPTH: at most HPX_COMMAND_MAX_DEPTH */
    bool depth_cut;           /* DEPTH: more was asked for */
};

enum hpx_commands_state { HPX_COMMANDS_OPEN, HPX_COMMANDS_ENDED, HPX_COMMANDS_BROKEN };

struct hpx_commands {
    enum hpx_commands_state state;
    uint8_t id_size;
    uint8_t head[9], body[10];
    uint32_t have;   /* bytes of the head */
    uint32_t length; /* of the body, once the head is whole */
    uint32_t got;    /* bytes of the body so far, kept or skipped */
};

/* id_size: of the identifiers that our header tells the peer, 4 or 8: a thread id of CONTROL 3 and 4 is a u4, as the original read it;
 * where ids have 8 bytes and the body holds as many it is a u8, as the manual has it. */
void hpx_commands_init(struct hpx_commands *p, uint8_t id_size);

/* Takes bytes until one command is whole; returns how many were taken. *found: *c is the command (EOF too). Call again while bytes are
 * left; a stream that has ended or is broken takes all and finds nothing. BROKEN: *c has tag, serial and length of the head that cannot be.
 */
size_t hpx_commands_feed(struct hpx_commands *p, const void *bytes, size_t n, struct hpx_command *c, bool *found);

/* For messages: "CPU SAMPLES", "CONTROL"; "unknown command" where there is none. Constant. */
const char *hpx_command_name(uint8_t tag);
/* For messages: "there is no such command"; "" for GOOD. Constant. */
const char *hpx_command_fault_text(enum hpx_command_fault f);

/* Commands whose answer is a dump: of each tag one may wait while a dump runs. */
bool hpx_command_dumps(uint8_t tag);

#endif
