/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: Agent_OnLoad and Agent_OnUnload. A JVM that only writes an archive (archive.h) is left alone. Agent_OnLoad ends the process for
 * `help`, for an option error and for an output that cannot be created; this is before the program's main. */
#include "archive.h"
#include "callbacks.h"
#include "internals.h"
#include "log.h"
#include "modes.h"
#include "options.h"
#include "output.h"
#include "run.h"
#include "steer.h"
#include "threads.h"
#include "tls_block.h"
#include "twin.h"
#include "vm_flags.h"
#include "vm_mode.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_stdout(void *ctx, const char *s)
{
    (void)ctx;
    fputs(s, stdout);
}

static void end_before_main(int status)
{
    fflush(stdout);
    exit(status); /* as the original does; main has not begun */
}

static void refuse(const struct hpx_err *err)
{
    hpx_run_say(err);
    end_before_main(1);
}

/* A wrong option or output ends the process; without memory the program runs unprofiled. */
static void refuse_or_disable(int rc, const struct hpx_err *err)
{
    if (rc != -HPX_E_NOMEM) {
        refuse(err);
    }
    hpx_run_disable(err);
}

/* start=n. If the socket cannot be made, the command attaches to the JVM, as if the library were not loaded. */
static void wait_for_command(JavaVM *vm, struct hpx_err *err)
{
    const char *why;
    if (strchr(hpx_session.opt->given, ',') != NULL) {
        (void)hpx_err_set(err, HPX_E_OPT, "start=n takes no other options; give them when a session begins");
        refuse(err);
    }
    if (hpx_internals_closed() == NULL) {
        (void)hpx_vm_flag_set("DebugNonSafepoints", &why);
    }
    if (hpx_steer_listen(vm, true, err) != 0) {
        hpx_warn("%s", err->msg);
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static atomic_bool loaded;
    static struct hpx_err err;
    (void)reserved;
    if (atomic_exchange_explicit(&loaded, true, memory_order_relaxed) || !hpx_twin_is_first()) {
        hpx_warn("loaded twice; the second load has no effect; check the command line for duplicate options");
        return JNI_OK;
    }
    const char *option;
    if (hpx_archive(&option) == HPX_ARCHIVE_WRITTEN) {
        return JNI_OK; /* no program runs; a file of the one that recorded may have this name */
    }
    hpx_vm.java = vm;
    hpx_session.start = time(NULL);
    int rc = hpx_tls_block_check(&err);
    rc = rc != 0 ? rc : hpx_session_parse(getenv("_JAVA_HPROF_OPTIONS"), getenv("HPROFX_OPTIONS"), options, &err);
    if (rc != 0) {
        refuse_or_disable(rc, &err);
        return JNI_OK;
    }
    if (hpx_session.opt->help) {
        hpx_options_help(print_stdout, NULL);
        end_before_main(0);
    }
    if (!hpx_session.opt->start) {
        wait_for_command(vm, &err);
        return JNI_OK;
    }
    hpx_session_choose(hpx_modes);
    rc = hpx_run_prepare(&err);
    if (rc == -HPX_E_OPT) {
        refuse(&err);
    }
    if (rc != 0) {
        hpx_run_disable(&err);
        return JNI_OK;
    }
    rc = hpx_output_init(&err);
    if (rc != 0) {
        refuse_or_disable(rc, &err);
        return JNI_OK;
    }
    hpx_run_loaded();
    return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
    if (hpx_callbacks_are_over()) {
        hpx_aggregator_stop(&hpx_session.aggregator);
    }
}
