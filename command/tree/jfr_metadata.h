/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_metadata.h: the types of the recordings that hprofx writes, as their metadata declare them: with the names and fields of the JDK's,
 * but for hprofx.WallClock, which holds the wall clock, and `timed` of events: false where nothing tells when they were. One thread. */
#ifndef HPX_TREE_JFR_METADATA_H
#define HPX_TREE_JFR_METADATA_H

#include "protobuf.h"

/* Numbers in the file. */
enum hpx_jfr_t {
    HPX_JFR_T_BOOLEAN = 20,
    HPX_JFR_T_BYTE,
    HPX_JFR_T_INT,
    HPX_JFR_T_LONG,
    HPX_JFR_T_STRING,
    HPX_JFR_T_CLASS,
    HPX_JFR_T_THREAD,
    HPX_JFR_T_THREAD_GROUP,
    HPX_JFR_T_LOADER,
    HPX_JFR_T_PACKAGE,
    HPX_JFR_T_SYMBOL,
    HPX_JFR_T_METHOD,
    HPX_JFR_T_FRAME,
    HPX_JFR_T_FRAME_TYPE,
    HPX_JFR_T_STACK,
    HPX_JFR_T_STATE,
    HPX_JFR_T_GC_NAME,
    HPX_JFR_T_GC_CAUSE,
    HPX_JFR_T_TIMESTAMP, /* annotations */
    HPX_JFR_T_TIMESPAN,
    HPX_JFR_T_AMOUNT,
    HPX_JFR_T_LABEL,
    HPX_JFR_T_EXECUTION, /* events */
    HPX_JFR_T_CPU_TIME,
    HPX_JFR_T_ALLOCATION,
    HPX_JFR_T_ENTER,
    HPX_JFR_T_WAIT,
    HPX_JFR_T_PARK,
    HPX_JFR_T_WALL,
    HPX_JFR_T_COLLECTION,
    HPX_JFR_T_PAUSE,
    HPX_JFR_T_SETTING,
    HPX_JFR_T_JVM
};

/* The body of the event that declares them, but for its size. */
void hpx_jfr_put_metadata(struct hpx_pb *event);
/* Strings. Of what is below 2^63, the integers of JFR are those of protocol buffers: hpx_pb_raw(). */
void hpx_jfr_put_text(struct hpx_pb *m, const char *text, size_t n);
void hpx_jfr_put_string(struct hpx_pb *m, const char *text);

#endif
