/* SPDX-License-Identifier: BSD-2-Clause */
/* idle.c: see idle.h. */
#include "idle.h"
#include <string.h>

/* Methods in which a thread waits for work, whatever JDK methods it waits with. None of them runs what came, except those that are `last`.
 */
static const struct {
    const char *name; /* up to its arguments */
    bool last;        /* only java.lang.Object.wait() stands below it: deeper it runs the program's task */
} waits[] = {{"java.util.concurrent.ThreadPoolExecutor.getTask", false},
             {"java.util.concurrent.ForkJoinPool.awaitWork", false},
             {"java.util.TimerThread.mainLoop", true},
             {"java.lang.ref.Reference.waitForReferencePendingList", false},
             {"java.lang.ref.Reference.tryHandlePending", true},
             {"java.lang.ref.Reference$ReferenceHandler.run", true},
             {"java.lang.ref.ReferenceQueue.remove", false},
             {"jdk.jfr.internal.PlatformRecorder.takeNap", false},
             {"sun.nio.ch.SelectorImpl.lockAndDoSelect", false},
             {"sun.nio.ch.EPollPort$EventHandlerTask.poll", false},
             {"io.netty.channel.epoll.Native.epollWait", false},
             {"java.net.ServerSocket.accept", false},
             {"sun.nio.ch.ServerSocketChannelImpl.accept", false},
             {"sun.nio.fs.AbstractWatchService.take", false},
             {"sun.nio.fs.LinuxWatchService$Poller.run", false},
             {"hprofx.unknown.no_Java_frame", false}};

static const char *const busy[] = {"running", "runnable", "blocked"};

static bool begins(const char *text, const char *with, const char *ends)
{
    size_t n = strlen(with);
    return strncmp(text, with, n) == 0 && (text[n] == '\0' || strchr(ends, text[n]) != NULL);
}

static const struct hpx_tree_frame *frame_of(const struct hpx_tree *t, uint32_t node)
{
    return hpx_tree_frame_at(t, hpx_tree_node_at(t, node)->frame);
}

bool hpx_idle(const struct hpx_tree *t, uint32_t node)
{
    const char *state = node != 0 && frame_of(t, node)->kind == HPX_FRAME_CLASS ? hpx_tree_text(t, frame_of(t, node)->name) : "?";
    bool idle = state[0] != '?' && state[0] != '[', waits_below = true;
    for (size_t i = 0; i < HPX_ARRAY_LEN(busy); i++) {
        idle = idle && !begins(state, busy[i], " ");
    }
    for (node = idle ? hpx_tree_node_at(t, node)->parent : 0; node != 0; node = hpx_tree_node_at(t, node)->parent) {
        const char *name = hpx_tree_text(t, frame_of(t, node)->name);
        for (size_t i = 0; i < HPX_ARRAY_LEN(waits); i++) {
            if (begins(name, waits[i].name, "(") && (waits_below || !waits[i].last)) {
                return true;
            }
        }
        waits_below = waits_below && strncmp(name, "java.lang.Object.wait", strlen("java.lang.Object.wait")) == 0;
    }
    return false;
}

/* Where a stack of an idle thread goes. */
static bool fold(struct hpx_tree *t, uint32_t *node)
{
    if (!hpx_idle(t, *node)) {
        return false;
    }
    uint32_t name = hpx_tree_name(t, HPX_IDLE, sizeof HPX_IDLE - 1), state = hpx_tree_node_at(t, *node)->frame;
    *node = hpx_tree_node(t, hpx_tree_node(t, 0, hpx_tree_frame(t, name, 0, 0, HPX_FRAME_METHOD)), state);
    return true;
}

bool hpx_idle_fold(struct hpx_tree *t)
{
    struct hpx_tree_view *v = &t->views[HPX_VIEW_WALL];
    bool any = false;
    for (size_t i = 0; i < v->samples.len && !t->no_memory; i++) {
        any |= fold(t, &((struct hpx_tree_sample *)v->samples.items + i)->node);
    }
    for (size_t i = 0; i < v->moments.len && any && !t->no_memory; i++) {
        (void)fold(t, &((struct hpx_tree_moment *)v->moments.items + i)->node);
    }
    if (any) {
        hpx_tree_finish(t);
    }
    return any;
}
