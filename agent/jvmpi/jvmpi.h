/* SPDX-License-Identifier: BSD-2-Clause */
/* jvmpi.h: the Java Virtual Machine Profiler Interface of JDK 1.2 to 5, written after its manual, so that the source of an agent of that
 * time compiles and runs on a JVM of today (libhprofx-jvmpi.so). docs/jvmpi.md says what each event and function does there.
 *
 * The manual has no numbers: those here are of this header alone, and agents that were compiled with another one do not run. */
#ifndef _JAVASOFT_JVMPI_H_
#define _JAVASOFT_JVMPI_H_

#include <jni.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- versions: of GetEnv ---- */

#define JVMPI_VERSION_1   ((jint)0x10000001)
#define JVMPI_VERSION_1_1 ((jint)0x10000002)
#define JVMPI_VERSION_1_2 ((jint)0x10000003)

/* ---- entities ---- */

struct _jobjectID;
typedef struct _jobjectID *jobjectID; /* an object, or a class by its class object; here it never changes */

struct _JVMPI_RawMonitor;
typedef struct _JVMPI_RawMonitor *JVMPI_RawMonitor;

typedef struct {
    jint lineno; /* below 0: unknown, native or compiled */
    jmethodID method_id;
} JVMPI_CallFrame;

typedef struct {
    JNIEnv *env_id;
    jint num_frames;
    JVMPI_CallFrame *frames; /* callee before callers */
} JVMPI_CallTrace;

typedef struct {
    char *field_name;
    char *field_signature;
} JVMPI_Field;

typedef struct {
    jint heap_dump_level;
} JVMPI_HeapDumpArg;

typedef struct {
    jint offset; /* from the beginning of the method's code */
    jint lineno;
} JVMPI_Lineno;

typedef struct {
    char *method_name;
    char *method_signature;
    jint start_lineno;
    jint end_lineno;
    jmethodID method_id;
} JVMPI_Method;

/* ---- events ---- */

enum {
    JVMPI_EVENT_METHOD_ENTRY = 1,
    JVMPI_EVENT_METHOD_ENTRY2,
    JVMPI_EVENT_METHOD_EXIT,
    JVMPI_EVENT_OBJECT_ALLOC,
    JVMPI_EVENT_OBJECT_FREE,
    JVMPI_EVENT_OBJECT_MOVE,
    JVMPI_EVENT_COMPILED_METHOD_LOAD,
    JVMPI_EVENT_COMPILED_METHOD_UNLOAD,
    JVMPI_EVENT_INSTRUCTION_START,
    JVMPI_EVENT_THREAD_START,
    JVMPI_EVENT_THREAD_END,
    JVMPI_EVENT_CLASS_LOAD_HOOK,
    JVMPI_EVENT_HEAP_DUMP,
    JVMPI_EVENT_JNI_GLOBALREF_ALLOC,
    JVMPI_EVENT_JNI_GLOBALREF_FREE,
    JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC,
    JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE,
    JVMPI_EVENT_CLASS_LOAD,
    JVMPI_EVENT_CLASS_UNLOAD,
    JVMPI_EVENT_DATA_DUMP_REQUEST,
    JVMPI_EVENT_DATA_RESET_REQUEST,
    JVMPI_EVENT_JVM_INIT_DONE,
    JVMPI_EVENT_JVM_SHUT_DOWN,
    JVMPI_EVENT_ARENA_NEW,
    JVMPI_EVENT_ARENA_DELETE,
    JVMPI_EVENT_OBJECT_DUMP,
    JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER,
    JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED,
    JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT,
    JVMPI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMPI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMPI_EVENT_MONITOR_CONTENDED_EXIT,
    JVMPI_EVENT_MONITOR_WAIT,
    JVMPI_EVENT_MONITOR_WAITED,
    JVMPI_EVENT_MONITOR_DUMP,
    JVMPI_EVENT_GC_START,
    JVMPI_EVENT_GC_FINISH,
    JVMPI_MAX_EVENT_TYPE_VAL = JVMPI_EVENT_GC_FINISH
};

#define JVMPI_REQUESTED_EVENT ((jint)0x10000000) /* a bit of event_type: RequestEvent() asked for it */

/* ---- results ---- */

#define JVMPI_SUCCESS       ((jint)0)
#define JVMPI_NOT_AVAILABLE ((jint)1)
#define JVMPI_FAIL          ((jint)-1)

/* ---- threads ---- */

enum { JVMPI_THREAD_RUNNABLE = 1, JVMPI_THREAD_MONITOR_WAIT, JVMPI_THREAD_CONDVAR_WAIT };
#define JVMPI_THREAD_SUSPENDED   0x8000 /* bits beside these */
#define JVMPI_THREAD_INTERRUPTED 0x4000

#define JVMPI_MINIMUM_PRIORITY 1
#define JVMPI_MAXIMUM_PRIORITY 10
#define JVMPI_NORMAL_PRIORITY  5

/* ---- types: is_array of an allocation, and `ty` of dumps ---- */

#define JVMPI_NORMAL_OBJECT ((jint)0)
#define JVMPI_CLASS         ((jint)2)
#define JVMPI_BOOLEAN       ((jint)4)
#define JVMPI_CHAR          ((jint)5)
#define JVMPI_FLOAT         ((jint)6)
#define JVMPI_DOUBLE        ((jint)7)
#define JVMPI_BYTE          ((jint)8)
#define JVMPI_SHORT         ((jint)9)
#define JVMPI_INT           ((jint)10)
#define JVMPI_LONG          ((jint)11)

/* ---- dumps: numbers in the byte order of the machine, ids as they are in memory ---- */

#define JVMPI_DUMP_LEVEL_0 ((jint)0)
#define JVMPI_DUMP_LEVEL_1 ((jint)1)
#define JVMPI_DUMP_LEVEL_2 ((jint)2)

/* A record type is one byte. */
enum {
    JVMPI_GC_ROOT_UNKNOWN = 0xff,
    JVMPI_GC_ROOT_JNI_GLOBAL = 0x01,
    JVMPI_GC_ROOT_JNI_LOCAL = 0x02,
    JVMPI_GC_ROOT_JAVA_FRAME = 0x03,
    JVMPI_GC_ROOT_NATIVE_STACK = 0x04,
    JVMPI_GC_ROOT_STICKY_CLASS = 0x05,
    JVMPI_GC_ROOT_THREAD_BLOCK = 0x06,
    JVMPI_GC_ROOT_MONITOR_USED = 0x07,
    JVMPI_GC_CLASS_DUMP = 0x20,
    JVMPI_GC_INSTANCE_DUMP = 0x21,
    JVMPI_GC_OBJ_ARRAY_DUMP = 0x22,
    JVMPI_GC_PRIM_ARRAY_DUMP = 0x23
};
enum { JVMPI_MONITOR_JAVA = 0x01, JVMPI_MONITOR_RAW = 0x02 };

/* ---- an event ---- */

typedef struct {
    jint event_type;
    JNIEnv *env_id; /* of the thread on which it occurred; NULL: the VM's own */
    union {
        struct {
            char *class_name;
            char *source_name;
            jint num_interfaces;
            jint num_methods;
            JVMPI_Method *methods;
            jint num_static_fields;
            JVMPI_Field *statics;
            jint num_instance_fields;
            JVMPI_Field *instances;
            jobjectID class_id;
        } class_load;
        struct {
            jobjectID class_id;
        } class_unload;
        struct {
            unsigned char *class_data;
            jint class_data_len;
            unsigned char *new_class_data;
            jint new_class_data_len;
            void *(*malloc_f)(unsigned int);
        } class_load_hook;
        struct {
            jmethodID method_id;
            void *code_addr;
            jint code_size;
            jint lineno_table_size;
            JVMPI_Lineno *lineno_table;
        } compiled_method_load;
        struct {
            jmethodID method_id;
        } compiled_method_unload;
        struct {
            char *thread_name;
            char *group_name;
            char *parent_name;
            jobjectID thread_id;
            JNIEnv *thread_env_id;
        } thread_start;
        struct {
            jmethodID method_id;
        } method;
        struct {
            jmethodID method_id;
            jobjectID obj_id;
        } method_entry2;
        struct {
            jint arena_id;
            char *arena_name;
        } new_arena;
        struct {
            jint arena_id;
        } delete_arena;
        struct {
            jint arena_id;
            jobjectID class_id;
            jint is_array;
            jint size;
            jobjectID obj_id;
        } obj_alloc;
        struct {
            jobjectID obj_id;
        } obj_free;
        struct {
            jint arena_id;
            jobjectID obj_id;
            jint new_arena_id;
            jobjectID new_obj_id;
        } obj_move;
        struct {
            jobjectID obj_id;
            jobject ref_id;
        } jni_globalref_alloc;
        struct {
            jobject ref_id;
        } jni_globalref_free;
        struct {
            char *name;
            JVMPI_RawMonitor id;
        } raw_monitor;
        struct {
            jobjectID object;
        } monitor;
        struct {
            jobjectID object;
            jlong timeout;
        } monitor_wait;
        struct {
            char *begin;
            char *end;
            jint num_traces;
            JVMPI_CallTrace *traces;
            jint *threads_status;
        } monitor_dump;
        struct {
            jint dump_level;
            char *begin;
            char *end;
            jint num_traces;
            JVMPI_CallTrace *traces;
        } heap_dump;
        struct {
            jint data_len;
            char *data;
        } object_dump;
        struct {
            jlong used_objects;
            jlong used_object_space;
            jlong total_object_space;
        } gc_info;
        struct {
            jmethodID method_id;
            jint offset;
            union {
                struct {
                    jboolean is_true;
                } if_info;
                struct {
                    jint key;
                    jint low;
                    jint hi;
                } tableswitch_info;
                struct {
                    jint chosen_pair_index;
                    jboolean is_default;
                } lookupswitch_info;
            } u;
        } instruction;
    } u;
} JVMPI_Event;

/* ---- the interface ---- */

typedef struct {
    jint version;

    /* of the agent, which sets it in JVM_OnLoad() */
    void (*NotifyEvent)(JVMPI_Event *event);

    /* of the VM */
    jint (*EnableEvent)(jint event_type, void *arg);
    jint (*DisableEvent)(jint event_type, void *arg);
    jint (*RequestEvent)(jint event_type, void *arg);

    void (*GetCallTrace)(JVMPI_CallTrace *trace, jint depth);

    void (*ProfilerExit)(jint err_code);

    JVMPI_RawMonitor (*RawMonitorCreate)(char *lock_name);
    void (*RawMonitorEnter)(JVMPI_RawMonitor lock_id);
    void (*RawMonitorExit)(JVMPI_RawMonitor lock_id);
    void (*RawMonitorWait)(JVMPI_RawMonitor lock_id, jlong ms);
    void (*RawMonitorNotifyAll)(JVMPI_RawMonitor lock_id);
    void (*RawMonitorDestroy)(JVMPI_RawMonitor lock_id);

    jlong (*GetCurrentThreadCpuTime)(void);
    void (*SuspendThread)(JNIEnv *env);
    void (*ResumeThread)(JNIEnv *env);
    jint (*GetThreadStatus)(JNIEnv *env);
    jboolean (*ThreadHasRun)(JNIEnv *env);

    jint (*CreateSystemThread)(char *name, jint priority, void (*f)(void *));

    void *(*GetThreadLocalStorage)(JNIEnv *env_id);
    void (*SetThreadLocalStorage)(JNIEnv *env_id, void *ptr);

    void (*DisableGC)(void);
    void (*EnableGC)(void);
    void (*RunGC)(void);

    jobjectID (*GetThreadObject)(JNIEnv *env);
    jobjectID (*GetMethodClass)(jmethodID mid);

    jobject (*jobjectID2jobject)(jobjectID jid);
    jobjectID (*jobject2jobjectID)(jobject j);

    void (*SuspendThreadList)(jint reqCount, JNIEnv **reqList, jint *results);
    void (*ResumeThreadList)(jint reqCount, JNIEnv **reqList, jint *results);
} JVMPI_Interface;

/* The agent has this function. options: what stands behind the first ':' of the library's option; reserved: NULL. JNI_OK or JNI_ERR. */
JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *jvm, char *options, void *reserved);

#ifdef __cplusplus
}
#endif

#endif
