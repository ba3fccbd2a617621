/* SPDX-License-Identifier: BSD-2-Clause */
/* rewriter.h: what the files of bci/ share: the class being read, the method being rewritten, the buffers being written. Internal.
 *
 * Order for one method: hpx_code_read (where its parts are), hpx_code_scan (instructions, events), hpx_init_ranges (constructors),
 * hpx_code_layout (where everything goes), hpx_code_emit and hpx_tables_emit (bytes). Each returns 0 or one of HPX_LEAVE; then the caller
 * takes back what was written. Positions named pc are of the old code, positions named new of the new code. */
#ifndef HPX_BCI_REWRITER_H
#define HPX_BCI_REWRITER_H

#include "compiler.h"
#include "hprofx_bci.h"
#include <string.h>

#define HPX_CODE_MAX 65535u
/* Why a function of one method gave up: a reason plus 1, so that 0 is success; HPX_NO_MEMORY ends the whole class. */
#define HPX_LEAVE(reason) ((int)HPROFX_BCI_LEFT_##reason + 1)
#define HPX_NO_MEMORY     (-1)

/* Kinds of instruction; those from HPX_K_RETURN on become events. */
enum hpx_kind {
    HPX_K_UNKNOWN,
    HPX_K_PLAIN,
    HPX_K_POOL, /* its operand is a constant's index: u1 if it is 2 bytes long, else u2 */
    HPX_K_WIDE,
    HPX_K_STOP, /* athrow, ret: the next instruction is not reached from here */
    HPX_K_RETURN,
    HPX_K_COND,
    HPX_K_GOTO,
    HPX_K_JSR,
    HPX_K_GOTO_W,
    HPX_K_JSR_W,
    HPX_K_TABLE,
    HPX_K_LOOKUP,
    HPX_K_PLACE, /* no instruction: a point before pc that is not reached from above, where trampolines may stand */
};

enum {
    HPX_OP_BIPUSH = 0x10,
    HPX_OP_SIPUSH = 0x11,
    HPX_OP_LDC = 0x12,
    HPX_OP_LDC_W = 0x13,
    HPX_OP_ICONST_0 = 0x03,
    HPX_OP_IINC = 0x84,
    HPX_OP_RET = 0xA9,
    HPX_OP_RETURN = 0xB1,
    HPX_OP_INVOKESPECIAL = 0xB7,
    HPX_OP_INVOKESTATIC = 0xB8,
    HPX_OP_NEW = 0xBB,
    HPX_OP_ATHROW = 0xBF,
    HPX_OP_IFNULL = 0xC6,
    HPX_OP_GOTO_W = 0xC8,
    HPX_OP_JSR_W = 0xC9,
};

/* For each opcode: kind << 3 | length; the length of WIDE, TABLE and LOOKUP is in the code. */
extern const uint8_t hpx_opcodes[256];

enum { HPX_F_START = 1, HPX_F_FRAME = 2, HPX_F_TRAMP = 4 }; /* an instruction starts; it has a frame; its frame is wanted by a trampoline */

enum hpx_width { HPX_W_SHORT, HPX_W_WIDE, HPX_W_INVERT, HPX_W_TRAMP };

struct hpx_event {
    uint16_t pc, target; /* target: of a branch; of PLACE the number of trampolines */
    uint16_t tramp;      /* its index, for HPX_W_TRAMP */
    uint8_t kind, width;
};

/* goto_w target, put where a short branch reaches it. */
struct hpx_tramp {
    uint32_t place; /* index of its event */
    uint16_t target, slot;
    uint32_t types, types_len; /* the target's frame, expanded, in the class's scratch */
};

struct hpx_buf {
    uint8_t *p;
    size_t n, cap, limit;
};

/* A call that is injected: index of its Methodref, bytes of push and call. */
struct hpx_call {
    uint16_t ref;
    bool plain;
    uint8_t len;
};

enum hpx_injected { HPX_ENTER, HPX_EXIT, HPX_THROWN, HPX_CALLS };

struct hpx_class {
    const struct hprofx_bci_opts *opts;
    struct hprofx_bci_result *result;
    const uint8_t *in;
    size_t n;
    const char *why;
    uint32_t *cp; /* offset of each constant's tag; 0: no such constant */
    uint32_t cp_count;
    size_t cp_end;
    uint32_t pool_count; /* with what was added */
    uint16_t major, this_class, super_class;
    uint16_t throwable, stack_map; /* added constants */
    struct hpx_call calls[HPX_CALLS];
    struct hpx_buf pool, body, scratch; /* added constants; all behind the constant pool; expanded frames */
    uint64_t steps, steps_max;
    /* For the method at hand, as long as the longest code that the input can hold. */
    uint16_t *map; /* pc -> new: where a branch to pc goes; [len]: the handler */
    uint8_t *flags;
    struct hpx_event *events;
    struct hpx_tramp *tramps; /* 2 * HPX_TRAMPS; NULL until one is needed */
    uint32_t tramp_n;
    void *memory;
};

#define HPX_TRAMPS   4096
#define HPX_NO_PLACE UINT32_MAX /* no trampoline: the frame `target` itself, which has lost the frame that it builds on */
#define HPX_RANGES   8

struct hpx_range {
    uint16_t start, end;
};

struct hpx_code {
    struct hprofx_bci_method m;
    bool constructor; /* of a class other than java.lang.Object */
    size_t at;        /* of the code in the input */
    uint32_t len, max_stack, max_locals;
    size_t handlers; /* of the exception table's first entry */
    uint32_t handler_n;
    size_t attrs, end; /* of the attributes' first byte, of the Code attribute's last byte + 1 */
    uint32_t attr_n;
    size_t frames; /* of the StackMapTable's first frame; 0: none */
    size_t frames_end;
    uint32_t frame_n;
    uint32_t event_n;
    bool places;               /* the events hold PLACE */
    bool returns;              /* at least one */
    uint16_t integer;          /* constant of the number, where no shorter push does */
    uint32_t new_len, handler; /* handler: new, 0 if there is none */
    struct hpx_range ranges[HPX_RANGES];
    uint32_t range_n;
    bool whole;                /* the handler's entries are the ranges, exit calls included */
    uint32_t entry_n;          /* of the handler in the exception table; 0: no handler */
    enum hprofx_bci_bare bare; /* if m.bare; COUNT: not asked for */
    uint32_t widened;
};

/* A frame of a StackMapTable as it is read. */
struct hpx_frame {
    uint32_t pc;
    size_t at, end;   /* its bytes */
    size_t base;      /* of the frame type behind an early_larval prefix; else at */
    uint8_t type;     /* of the base */
    uint32_t local_n; /* types that follow, for append and full */
    size_t locals;    /* of the first of them */
    uint32_t stack_n;
    size_t stack;
};

static inline uint16_t hpx_u2(const uint8_t *p)
{
    return (uint16_t)((unsigned)p[0] << 8 | p[1]);
}

static inline uint32_t hpx_u4(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void hpx_put2(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void hpx_put4(uint8_t *p, uint32_t v)
{
    hpx_put2(p, v >> 16);
    hpx_put2(p + 2, v);
}

/* classfile.c */
/* 0, or 1 or 2 as hprofx_bci_rewrite returns it, with c->why. Reads up to the constant pool's end, checks every tag. */
int hpx_pool_read(struct hpx_class *c);
/* The Utf8 constant, absent if there is none of that index. */
struct hprofx_bci_name hpx_utf8(const struct hpx_class *c, uint32_t index);
/* The name of a Class constant, absent likewise. */
struct hprofx_bci_name hpx_class_name(const struct hpx_class *c, uint32_t index);
bool hpx_name_is(struct hprofx_bci_name name, const char *s);
/* Is constant `index` a method reference to a constructor? */
bool hpx_is_init(const struct hpx_class *c, uint32_t index);
/* Appends the constants that every rewritten class needs: 0, HPX_LEAVE, HPX_NO_MEMORY. */
int hpx_pool_extend(struct hpx_class *c);
/* The index of a new constant of n bytes that the caller fills in behind the tag; NULL: no room (*left) or no memory. */
uint8_t *hpx_pool_add(struct hpx_class *c, uint8_t tag, size_t n, uint16_t *index, int *left);

/* Room for k more bytes: 0, HPX_LEAVE(LIMIT), HPX_NO_MEMORY. */
int hpx_buf_reserve(struct hpx_buf *b, size_t k);

/* scan.c */
/* Decodes all instructions into c->flags and c->events. */
int hpx_code_scan(struct hpx_class *c, struct hpx_code *m, bool places);
/* Number of targets of the switch at pc, offset of its first word behind the padding. The scan has checked that it fits. */
uint32_t hpx_switch_targets(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc, uint32_t *word);
/* Old pc of a target `offset` bytes from pc; false: no instruction starts there. */
static inline bool hpx_target(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc, uint32_t offset, uint32_t *target)
{
    *target = pc + offset;
    return *target < m->len && (c->flags[*target] & HPX_F_START) != 0;
}

/* frames.c */
/* Reads the frame at f->end; first: set f->end = m->frames and f->pc = UINT32_MAX. */
int hpx_frame_next(const struct hpx_class *c, const struct hpx_code *m, struct hpx_frame *f);
/* Reads all frames, sets HPX_F_FRAME where they are. */
int hpx_frames_mark(struct hpx_class *c, const struct hpx_code *m);
/* Bytes of the verification type at p; 0: unknown or beyond end. */
size_t hpx_type_len(const struct hpx_class *c, size_t p, size_t end);
/* Appends the StackMapTable with every frame moved, the trampolines' and the handler's added; nothing if there is none to write. */
int hpx_frames_emit(struct hpx_class *c, const struct hpx_code *m);

/* expand.c: fills in the types of every trampoline's frame. */
int hpx_tramps_expand(struct hpx_class *c, const struct hpx_code *m);

/* init.c: m->ranges of what surely runs with an initialised `this`. */
int hpx_init_ranges(struct hpx_class *c, struct hpx_code *m);

/* layout.c */
int hpx_code_layout(struct hpx_class *c, struct hpx_code *m);
/* Where the trampoline's goto_w is. */
uint32_t hpx_tramp_new(const struct hpx_class *c, const struct hpx_tramp *t);

/* emit.c: code and exception table. */
/* Writes the handler's entries to p, if not NULL; returns their number. */
uint32_t hpx_entries_put(struct hpx_class *c, const struct hpx_code *m, uint8_t *p);
int hpx_code_emit(struct hpx_class *c, struct hpx_code *m);

/* tables.c */
/* Where the parts of the Code attribute in [code, end) are. */
int hpx_code_read(struct hpx_class *c, struct hpx_code *m, size_t code, size_t end);
/* Appends the attributes of Code, with their count before them. */
int hpx_tables_emit(struct hpx_class *c, struct hpx_code *m);

/* annotations.c: appends the content [at, end) of a type annotations attribute. */
int hpx_annotations_emit(struct hpx_class *c, const struct hpx_code *m, size_t at, size_t end);

/* method.c */
/* Appends the method rewritten, or says why not (c->body and c->pool are then to be taken back). at, end: its bytes. */
int hpx_method_rewrite(struct hpx_class *c, struct hpx_code *m, size_t at, size_t end);

#endif
