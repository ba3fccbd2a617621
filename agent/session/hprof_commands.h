/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_commands.h: parser for the commands of a peer over net=: bytes in, commands out.
 *
 * A command is u1 tag, u4 serial, u4 length, body; big-endian. FF (EOF) has no header; nothing after it is read. Pure: no system call,
 * no allocation, no lock; one thread at a time for each struct. Keeps at most 19 bytes of a command, whatever its length. */
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

/* CONTROL: meaning of its sub option and the length of its body. 6 is the depth in HPROF's manual and "clear sites" in its code: with a
 * u2 it sets the depth, without it clears. */
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

/* A command with a fault is skipped, with one message. */
enum hpx_command_fault {
    HPX_COMMAND_GOOD,
    HPX_COMMAND_UNKNOWN_TAG,
    HPX_COMMAND_UNKNOWN_SUB, /* CONTROL: no such sub option */
    HPX_COMMAND_SHORT,       /* the body is shorter than the command's */
};

#define HPX_COMMAND_MAX_LENGTH 65536u /* a longer body: this is no command stream, or out of step; where the next one begins is unknown */
#define HPX_COMMAND_MAX_DEPTH  2048u

struct hpx_command {
    uint8_t tag; /* enum hpx_command_tag, or any byte with UNKNOWN_TAG */
    enum hpx_command_fault fault;
    uint32_t serial, length;
    uint16_t flags;           /* ALLOC SITES: 1 changed sites only, 2 by allocated, 4 collect first. CPU SAMPLES: of no meaning */
    float cutoff;             /* ALLOC SITES, CPU SAMPLES: as sent; nan and < 0 mean no cutoff */
    uint16_t sub;             /* CONTROL: as sent */
    enum hpx_control control; /* CONTROL */
    uint64_t thread;          /* CPU_ON, CPU_OFF: object id of the thread; 0: all threads */
    uint16_t depth;           /* DEPTH: at most HPX_COMMAND_MAX_DEPTH */
    bool depth_cut;           /* DEPTH: the command had a larger value */
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

/* id_size: size of identifiers in our header, 4 or 8. A thread id of CONTROL 3 and 4 is a u4, as HPROF read it; if ids have 8 bytes and
 * the body is long enough, it is a u8, as in HPROF's manual. */
void hpx_commands_init(struct hpx_commands *p, uint8_t id_size);

/* Consumes bytes until one command is complete; returns their number. *found: *c is the command (also EOF). Call again while bytes are
 * left; a stream that has ended or is broken consumes all and finds nothing. BROKEN: *c has tag, serial and length of the invalid head. */
size_t hpx_commands_feed(struct hpx_commands *p, const void *bytes, size_t n, struct hpx_command *c, bool *found);

/* For messages: "CPU SAMPLES", "CONTROL", ...; "unknown command" for other tags. Constant. */
const char *hpx_command_name(uint8_t tag);
/* For messages: "unknown tag", ...; "" for GOOD. Constant. */
const char *hpx_command_fault_text(enum hpx_command_fault f);

/* true for commands whose answer is a dump; one per tag may wait while a dump runs. */
bool hpx_command_dumps(uint8_t tag);

#endif
