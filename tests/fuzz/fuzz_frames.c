/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_frames.c: libFuzzer over the debug information of a compiled method of JDK 25, below which a sound one is. Input: offsets of the
 * places and of the scopes, how much comes before the metadata, a pc (16 bits each), then the immutable data. Whatever it is, the walk
 * ends, its frames are methods of the stack, and no read is outside (AddressSanitizer). */
#include "fuzz.h"
#include "java_stack.h"

/* How the input begins. */
struct head {
    int16_t places, scopes, relocation;
    uint16_t pc;
};

static void begin_once(void)
{
    static bool begun;
    if (!begun) {
        begun = true;
        begin(JDK_25);
        put_entry();
        put_compiled(8, at(methods[1], 100), 0);
        put_compiled(12, call_return, address(50));
    }
}

static void check(const struct hpx_ev_frame *f)
{
    bool known = f->method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED);
    for (int m = 0; m < JAVAS; m++) {
        known = known || f->method == ids[m + 1];
    }
    require(known, "a method that is none");
    require(f->bci >= -1 && f->bci < 65536, "a bytecode that is none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct head head;
    struct hpx_ev_frame frames[DEPTH];
    struct hpx_raw_stack raw;
    if (size < sizeof head) {
        return 0;
    }
    begin_once();
    memcpy(&head, data, sizeof head);
    size -= sizeof head;
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    require(bytes != NULL, "no memory");
    memcpy(bytes, data + sizeof head, size);
    struct blob *b = methods[0];
    b->immutable = (uintptr_t)bytes;
    b->immutable_size = (int32_t)size;
    b->pcs = head.places;
    b->behind_pcs = head.scopes;
    b->relocation = head.relocation;
    struct hpx_raw_thread t = thread_at(at(b, head.pc % 512), 8, 0);
    (void)hpx_raw_walk_take_sig(&t, &raw);
    enum hpx_raw_end end;
    int n = hpx_raw_walk_frames_sig(&t, frames, &end, NULL, NULL);
    require(n >= 0 && n <= (int)DEPTH, "more frames than there is room for");
    for (int i = 0; i < n; i++) {
        check(&frames[i]);
    }
    free(bytes);
    return 0;
}
