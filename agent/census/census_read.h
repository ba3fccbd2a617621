/* SPDX-License-Identifier: BSD-2-Clause */
/* census_read.h: reads the threads of a census (census.h) in a copy of the process: takes no lock, calls neither malloc() nor the JVM. */
#ifndef HPX_CENSUS_READ_H
#define HPX_CENSUS_READ_H

#include "census_image.h"
#include "oops.h"
#include <string.h>

/* Fields of objects. */
enum hpx_census_field {
    HPX_CENSUS_MAP_OF_SET, /* ConcurrentHashMap.CollectionView.map */
    HPX_CENSUS_TABLE,      /* ConcurrentHashMap */
    HPX_CENSUS_NEXT_TABLE,
    HPX_CENSUS_HASH, /* its nodes */
    HPX_CENSUS_KEY,
    HPX_CENSUS_NEXT,
    HPX_CENSUS_FIRST,       /* of its trees */
    HPX_CENSUS_FORWARDED,   /* of its nodes that lead to the next table */
    HPX_CENSUS_REFERENT,    /* Reference */
    HPX_CENSUS_OF_EXECUTOR, /* the sets of ThreadPerTaskExecutor, SharedThreadContainer, ThreadFlock */
    HPX_CENSUS_OF_SHARED,
    HPX_CENSUS_OF_FLOCK,
    HPX_CENSUS_NAME_OF_SHARED,
    HPX_CENSUS_NAME_OF_FLOCK,
    HPX_CENSUS_FLOCK,    /* ThreadFlock.ThreadContainerImpl */
    HPX_CENSUS_PREVIOUS, /* StackableScope */
    HPX_CENSUS_SCOPES,   /* Thread */
    HPX_CENSUS_TID,
    HPX_CENSUS_EETOP,
    HPX_CENSUS_NAME,
    HPX_CENSUS_BLOCKER,
    HPX_CENSUS_STATE, /* VirtualThread */
    HPX_CENSUS_CARRIER,
    HPX_CENSUS_CONT,
    HPX_CENSUS_TAIL,  /* Continuation */
    HPX_CENSUS_SP,    /* StackChunk */
    HPX_CENSUS_VALUE, /* String */
    HPX_CENSUS_CODER,
    HPX_CENSUS_EXCLUSIVE, /* AbstractOwnableSynchronizer */
    HPX_CENSUS_FIELDS
};

/* Classes whose instances are told apart. */
enum hpx_census_class {
    HPX_CENSUS_VIRTUAL,
    HPX_CENSUS_EXECUTOR,
    HPX_CENSUS_SHARED,
    HPX_CENSUS_OF_SCOPE, /* ThreadFlock.ThreadContainerImpl */
    HPX_CENSUS_CLASSES
};

#define HPX_CENSUS_KNOWN     8
#define HPX_CENSUS_STATES    24
#define HPX_CENSUS_TEXT      "known"
#define HPX_CENSUS_SUSPENDED 0x100 /* a bit of the state */

/* What the field `state` of a virtual thread means. */
struct hpx_census_state {
    int32_t value;
    enum hpx_thread_status status;
    bool changes; /* the frames of a thread without a carrier may still be on one, or be there again */
};

struct hpx_census_plan {
    struct hpx_oops oops;
    bool narrow;    /* references have 4 bytes */
    uint32_t depth; /* frames of a stack */
    uint32_t at[HPX_CENSUS_FIELDS];
    struct hpx_census_state states[HPX_CENSUS_STATES];
    uint32_t nstates;
    /* local references of the thread that takes the census */
    jobject known[HPX_CENSUS_KNOWN], holder; /* an array of these */
    jobject text;                            /* an array of the bytes HPX_CENSUS_TEXT */
    jobject instances[HPX_CENSUS_CLASSES];
    uintptr_t env_from_thread; /* of a JNIEnv, from the VM's thread */
    jobject roots, containers; /* the sets */
    jthread *threads;          /* of the platform */
    uint32_t nthreads;
};

static inline struct hpx_census_state hpx_census_state(const struct hpx_census_plan *plan, int32_t value)
{
    for (uint32_t i = 0; i < plan->nstates; i++) {
        if (plan->states[i].value == (value & ~HPX_CENSUS_SUSPENDED)) {
            return plan->states[i];
        }
    }
    return (struct hpx_census_state){.status = HPX_STATUS_UNKNOWN};
}

enum hpx_census_end { HPX_CENSUS_WHOLE, HPX_CENSUS_NO_MEMORY, HPX_CENSUS_STRANGE };

/* Fills *to, of whose memory it takes the rest behind it. */
enum hpx_census_end hpx_census_read(const struct hpx_census_plan *plan, struct hpx_census *to, _Atomic uint64_t *progress);

/* The JDK gives containers without a name the one of Objects.toIdentityString(), "p.C@1f": the class is what they have in common. Names
 * that programs give, as "tenant@1f", seldom have a dot before. */
static inline void hpx_census_cut_identity(char *name)
{
    char *at = strrchr(name, '@');
    if (at != NULL && memchr(name, '.', (size_t)(at - name)) != NULL && at[1] != '\0' &&
        at[1 + strspn(at + 1, "0123456789abcdef")] == '\0') {
        *at = '\0';
    }
}

/* At load, once: what names methods. NULL, or why they cannot be named; constant. */
const char *hpx_census_read_init(void);
/* After that: why stacks cannot be read in this session; NULL: they can. Constant text. */
const char *hpx_census_read_off(void);

#endif
