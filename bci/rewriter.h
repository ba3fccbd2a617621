/* SPDX-License-Identifier: BSD-2-Clause */
/* rewriter.h: shared by the files of bci/: the class being read, the method being rewritten, the buffers being written. Internal.
 *
 * Order for one method: hpx_code_read (finds its parts), hpx_code_scan (instructions, events), hpx_init_ranges (constructors),
 * hpx_code_layout (new positions), hpx_tramps_expand (if there are trampolines), hpx_code_emit and hpx_tables_emit (bytes). Every function
 * returns 0 or an HPX_LEAVE value; on the latter the caller discards what was written. Positions named pc are in the old code, positions
 * named new in the new code. */
#ifndef HPX_BCI_REWRITER_H
#define HPX_BCI_REWRITER_H

#include "compiler.h"
#include "hprofx_bci.h"
#include <string.h>

#define HPX_CODE_MAX 65535u
/* Why a function gave up on a method: a reason plus 1, so that 0 is success. HPX_NO_MEMORY gives up on the whole class. */
#define HPX_LEAVE(reason) ((int)HPROFX_BCI_LEFT_##reason + 1)
#define HPX_NO_MEMORY     (-1)

/* Kinds of instruction; those from HPX_K_RETURN on become events. */
enum hpx_kind {
    HPX_K_UNKNOWN,
    HPX_K_PLAIN,
    HPX_K_POOL, /* its operand is the index of a constant: u1 if the instruction has 2 bytes, else u2 */
    HPX_K_WIDE,
    HPX_K_STOP, /* athrow, ret: control does not reach the next instruction */
    HPX_K_RETURN,
    HPX_K_INVOKE, /* invokevirtual, invokespecial, invokestatic, with SITES or OBJECTS; becomes an ALLOC event if it calls a maker */
    HPX_K_ALLOC,  /* new, newarray, anewarray, multianewarray, with SITES or OBJECTS */
    HPX_K_STORE,  /* putfield, with STORES; becomes an event if it is of that field */
    HPX_K_COND,
    HPX_K_GOTO,
    HPX_K_JSR,
    HPX_K_GOTO_W,
    HPX_K_JSR_W,
    HPX_K_TABLE,
    HPX_K_LOOKUP,
    HPX_K_PLACE, /* no instruction: a point before pc that control does not reach from above, where trampolines may be placed */
};

enum {
    HPX_OP_BIPUSH = 0x10,
    HPX_OP_SIPUSH = 0x11,
    HPX_OP_LDC = 0x12,
    HPX_OP_LDC_W = 0x13,
    HPX_OP_LDC2_W = 0x14,
    HPX_OP_ICONST_0 = 0x03,
    HPX_OP_LLOAD = 0x16,
    HPX_OP_LLOAD_0 = 0x1E,
    HPX_OP_ALOAD_0 = 0x2A,
    HPX_OP_LSTORE = 0x37,
    HPX_OP_LSTORE_0 = 0x3F,
    HPX_OP_DUP = 0x59,
    HPX_OP_IINC = 0x84,
    HPX_OP_RET = 0xA9,
    HPX_OP_RETURN = 0xB1,
    HPX_OP_GETSTATIC = 0xB2,
    HPX_OP_INVOKEVIRTUAL = 0xB6,
    HPX_OP_INVOKESPECIAL = 0xB7,
    HPX_OP_INVOKESTATIC = 0xB8,
    HPX_OP_NEW = 0xBB,
    HPX_OP_NEWARRAY = 0xBC,
    HPX_OP_ANEWARRAY = 0xBD,
    HPX_OP_ARRAYLENGTH = 0xBE,
    HPX_OP_ATHROW = 0xBF,
    HPX_OP_MULTIANEWARRAY = 0xC5,
    HPX_OP_IFNULL = 0xC6,
    HPX_OP_GOTO_W = 0xC8,
    HPX_OP_JSR_W = 0xC9,
};

/* Per opcode: kind << 3 | length; the length of WIDE, TABLE and LOOKUP depends on the code. */
extern const uint8_t hpx_opcodes[256];

/* Flags of a pc: an instruction starts; it has a frame; a trampoline needs its frame; a line begins. */
enum { HPX_F_START = 1, HPX_F_FRAME = 2, HPX_F_TRAMP = 4, HPX_F_LINE = 8 };

enum hpx_width { HPX_W_SHORT, HPX_W_WIDE, HPX_W_INVERT, HPX_W_TRAMP };

struct hpx_event {
    uint16_t pc, target; /* target: of a branch, the pc; of PLACE, the number of trampolines; of ALLOC, the site's position in the method */
    uint16_t tramp;      /* its index, for HPX_W_TRAMP */
    uint8_t kind, width;
};

/* A goto_w to the target, placed within reach of a short branch. */
struct hpx_tramp {
    uint32_t place; /* index of its event */
    uint16_t target, slot;
    uint32_t types, types_len; /* the target's frame, expanded, in the class's scratch */
};

struct hpx_buf {
    uint8_t *p;
    size_t n, cap, limit;
};

/* largest number pushed without a constant; bytes of invokestatic; bytes of aload_0 and invokestatic */
enum { HPX_PUSH_MAX = 32767, HPX_CALL_LEN = 3, HPX_ROOT_LEN = 4 };

enum hpx_injected { HPX_ENTER, HPX_EXIT, HPX_THROWN, HPX_ALLOC, HPX_ARRAY, HPX_MULTI, HPX_OBJECT, HPX_STORED, HPX_SELF, HPX_CALLS };

/* Indices of constants that were added; 0: not added yet. */
struct hpx_added {
    uint16_t tracker, numbered, throwable, stack_map;
    uint16_t ref[HPX_CALLS]; /* Methodrefs */
};

/* A site that will be reported. */
struct hpx_site {
    uint32_t id, method; /* method: index among the reported methods */
    uint32_t at;         /* offset of the instruction in the input */
    uint16_t bci, line;
};

struct hpx_class {
    const struct hprofx_bci_opts *opts;
    struct hprofx_bci_result *result;
    const uint8_t *in;
    size_t n;
    const char *why;
    uint32_t *cp; /* offset of each constant's tag; 0: no such constant */
    uint32_t cp_count;
    size_t cp_end;
    uint32_t pool_count; /* including added constants */
    uint16_t major, this_class, super_class;
    unsigned probes;
    struct hpx_added added;
    uint8_t call_len[HPX_THROWN + 1];   /* bytes of push and call, with aload_0; 0: the current method has none */
    struct hpx_buf pool, body, scratch; /* added constants; everything after the constant pool; expanded frames */
    struct hpx_buf sites;               /* struct hpx_site of finished methods */
    uint32_t next_site;
    uint64_t steps, steps_max;
    /* Of the current method; allocated for the longest code that the input can hold. */
    uint16_t *map; /* pc -> new position of a branch to pc; [len]: the handler */
    uint8_t *flags;
    struct hpx_event *events;
    struct hpx_tramp *tramps; /* 2 * HPX_TRAMPS; NULL until one is needed */
    uint32_t tramp_n;
    void *memory;
};

#define HPX_TRAMPS   4096
#define HPX_NO_PLACE UINT32_MAX /* no trampoline: the frame `target` itself, which lost the frame that it builds on */
#define HPX_RANGES   8

struct hpx_range {
    uint16_t start, end;
};

struct hpx_code {
    struct hprofx_bci_method m;
    bool constructor;  /* of a class other than java.lang.Object */
    uint32_t variable; /* with hprofx_bci_opts.kept: the first of the two local variables */
    bool self;         /* its entry call passes its object */
    uint32_t passed;   /* what its calls pass as its number */
    size_t at;         /* offset of the code in the input */
    uint32_t len, max_stack, max_locals;
    size_t handlers; /* offset of the first entry of the exception table */
    uint32_t handler_n;
    size_t attrs, end; /* offsets of the first attribute and of the end of the Code attribute */
    uint32_t attr_n;
    size_t frames; /* offset of the first frame of the StackMapTable; 0: none */
    size_t frames_end;
    uint16_t frames_name; /* constant with the attribute's name */
    uint32_t frame_n;
    uint32_t event_n;
    bool places;      /* the events include PLACE */
    bool returns;     /* it has a return instruction */
    uint16_t integer; /* constant with the method's number, if no shorter push can hold it */
    uint32_t site_n, first_site, object_n, store_n;
    uint16_t site_integer;     /* constant with the first id that no shorter push can hold; the next ids follow */
    unsigned needs;            /* bits 1 << enum hpx_injected: calls from ALLOC to STORED that it needs */
    bool root;                 /* the constructor of java.lang.Object with OBJECTS: a probe before every return */
    uint32_t new_len, handler; /* handler: new position, 0: none */
    struct hpx_range ranges[HPX_RANGES];
    uint32_t range_n;
    bool whole;                /* the handler also covers the exit calls */
    uint32_t entry_n;          /* entries of the handler in the exception table; 0: no handler */
    enum hprofx_bci_bare bare; /* reason if m.bare; COUNT: no handler was asked for */
    uint32_t widened;
};

/* A frame of a StackMapTable, as read. */
struct hpx_frame {
    uint32_t pc;
    size_t at, end;   /* its first byte, and the byte after its last */
    size_t base;      /* of the frame type after an early_larval prefix; else at */
    uint8_t type;     /* of the base */
    uint32_t local_n; /* number of local types, for append and full frames */
    size_t locals;    /* offset of the first */
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
/* Reads the constant pool and checks every tag. Returns 0, or 1 or 2 like hprofx_bci_rewrite() with c->why set. */
int hpx_pool_read(struct hpx_class *c);
/* The Utf8 constant `index`; absent if there is none. */
struct hprofx_bci_name hpx_utf8(const struct hpx_class *c, uint32_t index);
/* The name of the Class constant `index`; absent if there is none. */
struct hprofx_bci_name hpx_class_name(const struct hpx_class *c, uint32_t index);
bool hpx_name_is(struct hprofx_bci_name name, const char *s);
/* Whether constant `index` is a method reference to a constructor. */
bool hpx_is_init(const struct hpx_class *c, uint32_t index);
/* Whether constant `index` is a field reference with this name. */
bool hpx_is_field(const struct hpx_class *c, uint32_t index, const char *name);
/* The names of the method to which constant `index` refers, the descriptor included. false: it refers to none. */
bool hpx_method_names(const struct hpx_class *c, uint32_t index, struct hprofx_bci_name *owner, struct hprofx_bci_name *name,
                      struct hprofx_bci_name *desc);
/* Adds the constants that the method's probes need and that are missing. Returns 0, HPX_LEAVE or HPX_NO_MEMORY. */
int hpx_pool_extend(struct hpx_class *c, const struct hpx_code *m);
/* Upper bound of the bytes of all added constants. */
size_t hpx_pool_extension(const struct hpx_class *c);
/* Adds a constant and sets *index. Returns the n bytes after the tag, which the caller fills in. NULL: no room or no memory; *left has the
 * value to return. */
uint8_t *hpx_pool_add(struct hpx_class *c, uint8_t tag, size_t n, uint16_t *index, int *left);

/* Makes room for k more bytes. Returns 0, HPX_LEAVE(LIMIT) or HPX_NO_MEMORY. */
int hpx_buf_reserve(struct hpx_buf *b, size_t k);

/* scan.c */
/* Decodes all instructions into c->flags and c->events; counts sites, objects and stores. */
int hpx_code_scan(struct hpx_class *c, struct hpx_code *m, bool places);
/* Number of targets of the switch at pc; *word: offset of its first word after the padding. hpx_code_scan() has checked that it fits. */
uint32_t hpx_switch_targets(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc, uint32_t *word);
/* *target: the pc `offset` bytes from pc; false: no instruction starts there. */
static inline bool hpx_target(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc, uint32_t offset, uint32_t *target)
{
    *target = pc + offset;
    return *target < m->len && (c->flags[*target] & HPX_F_START) != 0;
}

/* frames.c */
/* Reads the frame at f->end. Before the first call set f->end = m->frames and f->pc = UINT32_MAX. */
int hpx_frame_next(const struct hpx_class *c, const struct hpx_code *m, struct hpx_frame *f);
/* Reads all frames and sets HPX_F_FRAME at their pcs. */
int hpx_frames_mark(struct hpx_class *c, const struct hpx_code *m);
/* Bytes of the verification type at p; 0: unknown or beyond end. */
size_t hpx_type_len(const struct hpx_class *c, size_t p, size_t end);
/* Appends the StackMapTable: every frame at its new position, plus those of trampolines and of the handler. Appends nothing if it has no
 * frames. */
int hpx_frames_emit(struct hpx_class *c, const struct hpx_code *m);

/* expand.c: fills in the types of every trampoline's frame. */
int hpx_tramps_expand(struct hpx_class *c, const struct hpx_code *m);

/* init.c: sets m->ranges to the code that surely runs with an initialized `this`. */
int hpx_init_ranges(struct hpx_class *c, struct hpx_code *m);
/* Whether a constructor surely runs no other method before super(...) or this(...). hpx_code_scan() has checked its instructions. */
bool hpx_init_is_direct(struct hpx_class *c, const struct hpx_code *m);

/* layout.c: computes new positions and widens branches. */
int hpx_code_layout(struct hpx_class *c, struct hpx_code *m);
/* New position of the trampoline's goto_w. */
uint32_t hpx_tramp_new(const struct hpx_class *c, const struct hpx_tramp *t);

/* emit.c: code and exception table. */
/* Bytes of the shortest push of a number: iconst, bipush, sipush, else ldc or ldc_w of the constant. */
static inline uint32_t hpx_push_len(uint32_t number, uint16_t constant)
{
    return number <= 5 ? 1 : number <= 127 ? 2 : number <= HPX_PUSH_MAX ? 3 : constant <= 255 ? 2 : 3;
}
/* Bytes of lload and lstore of the method's variable. */
enum { HPX_VARIABLE_MAX = 255 };
static inline uint32_t hpx_variable_len(const struct hpx_code *m)
{
    return m->variable <= 3 ? 1 : 2;
}
/* Writes that push to p; returns the end. */
uint8_t *hpx_push_put(uint8_t *p, uint32_t number, uint16_t constant);
/* Writes the entries of the handler to p if p is not NULL. Returns their number. */
uint32_t hpx_entries_put(struct hpx_class *c, const struct hpx_code *m, uint8_t *p);
/* Appends the code and the exception table. */
int hpx_code_emit(struct hpx_class *c, struct hpx_code *m);

/* tables.c */
/* Finds the parts of the Code attribute in [code, end). */
int hpx_code_read(struct hpx_class *c, struct hpx_code *m, size_t code, size_t end);
/* Appends the attributes of Code, preceded by their count. */
int hpx_tables_emit(struct hpx_class *c, struct hpx_code *m);

/* annotations.c */
/* Appends the content [at, end) of a type annotations attribute. */
int hpx_annotations_emit(struct hpx_class *c, const struct hpx_code *m, size_t at, size_t end);
/* Whether the method whose bytes are [at, end) has an annotation that permits HotSpot to run its own code instead. The caller has checked
 * that its attributes end at `end`. */
bool hpx_is_intrinsic(struct hpx_class *c, size_t at, size_t end);

/* makers.c: the methods that make objects without an instruction that has a probe. */
/* MANY: an array whose elements are new arrays, too. CLONED: an object, unless an override of clone() has run. CONSTRUCTED: an object for
 * SITES; for OBJECTS the constructor of java.lang.Object reports it. */
enum hpx_made { HPX_MADE_NONE, HPX_MADE_ONE, HPX_MADE_MANY, HPX_MADE_CLONED, HPX_MADE_CONSTRUCTED };
/* What the instruction at p makes, if it calls a maker. Its operand is in the input. */
enum hpx_made hpx_made_by(const struct hpx_class *c, const uint8_t *p);
/* Whether the method is a maker: its own code has no SITES and OBJECTS, because those of its caller count what it makes. */
bool hpx_makes(const struct hpx_class *c, const struct hprofx_bci_method *m);

/* probes.c: the probes of SITES and OBJECTS; those of STORES, a call alone, are in emit.c. */
/* The call of SITES behind an instruction that has one; that of OBJECTS behind one that has one. */
static inline enum hpx_injected hpx_site_call(uint8_t op)
{
    return op == HPX_OP_NEW ? HPX_ALLOC : op == HPX_OP_NEWARRAY || op == HPX_OP_ANEWARRAY ? HPX_ARRAY : HPX_MULTI;
}
static inline enum hpx_injected hpx_object_call(uint8_t op, enum hpx_made made)
{
    return op == HPX_OP_MULTIANEWARRAY || made == HPX_MADE_MANY ? HPX_MULTI : HPX_OBJECT;
}
/* Numbers the sites (at least one) and adds a constant for every id that needs one. Returns 0, HPX_LEAVE or HPX_NO_MEMORY. */
int hpx_sites_number(struct hpx_class *c, struct hpx_code *m);
/* Bytes of the probes after the event's instruction. */
uint32_t hpx_probe_len(const struct hpx_class *c, const struct hpx_code *m, const struct hpx_event *e);
/* Largest number of stack slots that the method's probes need. */
static inline uint32_t hpx_probe_stack(const struct hpx_code *m)
{
    return m->needs & (1u << HPX_ARRAY | 1u << HPX_MULTI) ? 2 : m->needs & ~(1u << HPX_STORED) ? 1 : 0;
}
/* Writes these probes to p; returns the end. */
uint8_t *hpx_probe_put(const struct hpx_class *c, const struct hpx_code *m, uint8_t *p, const struct hpx_event *e);
/* Writes the probe of the constructor of java.lang.Object to p; returns the end. */
uint8_t *hpx_root_put(const struct hpx_class *c, uint8_t *p);
/* Records the sites of a finished method, the method-th that will be reported. Uses c->flags and c->scratch. */
int hpx_sites_note(struct hpx_class *c, const struct hpx_code *m, uint32_t method);
/* Reports all recorded sites to opts->site. */
void hpx_sites_tell(const struct hpx_class *c, const struct hprofx_bci_method *methods);

/* method.c */
/* Appends the rewritten method, whose bytes are [at, end). On failure returns the reason, and the caller restores c->body and c->pool. */
int hpx_method_rewrite(struct hpx_class *c, struct hpx_code *m, size_t at, size_t end);

#endif
