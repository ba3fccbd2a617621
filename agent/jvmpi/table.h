/* SPDX-License-Identifier: BSD-2-Clause */
/* table.h: every event and every function of JVMPI's manual, and what becomes of it here. Return codes of EnableEvent(), DisableEvent()
 * and RequestEvent() follow from these rows (switch.c); docs/jvmpi.md has the same rows, and a test compares them.
 *
 * Columns of an event: name without JVMPI_EVENT_;
 *   class: MAPS as the manual says; PART in part, as the sentence says; NOT never sent: JVMPI_NOT_AVAILABLE;
 *   asked: ENABLE by EnableEvent(); REQUEST by RequestEvent() alone; ENABLE_AND_REQUEST;
 *   mode, of the manual, in which the handler runs: FREE collections may happen; HELD the event has an object's id, so that collections
 *   are disabled; STOP the world is stopped: no lock, no malloc;
 *   sentence. */
#ifndef HPX_JVMPI_TABLE_H
#define HPX_JVMPI_TABLE_H

#define HPX_JVMPI_EVENTS(X)                                                                                                                \
    X(METHOD_ENTRY, PART, ENABLE, FREE,                                                                                                    \
      "Methods with code, from JVM_INIT_DONE on; no native methods, hidden classes, calls that the VM replaces (Math.max).")               \
    X(METHOD_ENTRY2, PART, ENABLE, HELD,                                                                                                   \
      "As METHOD_ENTRY; constructors send it once that of java.lang.Object begins, or the VM tells their object.")                         \
    X(METHOD_EXIT, PART, ENABLE, FREE,                                                                                                     \
      "As METHOD_ENTRY; missing if an exception ends a constructor before super() returns, and sometimes where the stack overflows.")      \
    X(OBJECT_ALLOC, PART, ENABLE_AND_REQUEST, HELD,                                                                                        \
      "From JVM_INIT_DONE on; arena 1, class_id of a primitive array NULL; on JDK 8 only some of chains of StringBuilder.")                \
    X(OBJECT_FREE, PART, ENABLE, STOP,                                                                                                     \
      "Objects that have an id; from JDK 16 on those that got it meanwhile, not by HEAP_DUMP, after GC_FINISH, on a thread of hprofx.")    \
    X(OBJECT_MOVE, NOT, ENABLE, STOP, "Ids do not move here.")                                                                             \
    X(COMPILED_METHOD_LOAD, MAPS, ENABLE, FREE, "Without methods that were inlined.")                                                      \
    X(COMPILED_METHOD_UNLOAD, MAPS, ENABLE, FREE, "The VM sends it some time later.")                                                      \
    X(INSTRUCTION_START, NOT, ENABLE, FREE, "JVMTI has no such event that compiled code could afford.")                                    \
    X(THREAD_START, MAPS, ENABLE_AND_REQUEST, HELD, "Platform threads; a virtual thread is seen as its carrier.")                          \
    X(THREAD_END, MAPS, ENABLE, FREE, "Platform threads.")                                                                                 \
    X(CLASS_LOAD_HOOK, MAPS, ENABLE, FREE, "Memory of other origin than malloc_f is copied too.")                                          \
    X(HEAP_DUMP, MAPS, REQUEST, HELD,                                                                                                      \
      "Levels 0, 1, 2; JVMTI tells no JNI global reference; none with value classes (JDK 28, `--enable-preview`).")                        \
    X(JNI_GLOBALREF_ALLOC, PART, ENABLE, HELD, "References made through JNI, not those made by the VM itself.")                            \
    X(JNI_GLOBALREF_FREE, PART, ENABLE, FREE, "References freed through JNI, not those freed by the VM itself.")                           \
    X(JNI_WEAK_GLOBALREF_ALLOC, PART, ENABLE, HELD, "References made through JNI, not those made by the VM itself.")                       \
    X(JNI_WEAK_GLOBALREF_FREE, PART, ENABLE, FREE, "References freed through JNI, not those freed by the VM itself.")                      \
    X(CLASS_LOAD, MAPS, ENABLE_AND_REQUEST, HELD,                                                                                          \
      "Sent when the class is prepared, for the first classes at JVM_INIT_DONE; names have dots.")                                         \
    X(CLASS_UNLOAD, MAPS, ENABLE, HELD,                                                                                                    \
      "Sent when the class object is freed: up to JDK 15 the world is stopped then, from 16 on it comes on a thread of hprofx.")           \
    X(DATA_DUMP_REQUEST, MAPS, ENABLE, FREE, "SIGQUIT.")                                                                                   \
    X(DATA_RESET_REQUEST, NOT, ENABLE, FREE, "The VM has no such request.")                                                                \
    X(JVM_INIT_DONE, MAPS, ENABLE, FREE, "VMInit of JVMTI.")                                                                               \
    X(JVM_SHUT_DOWN, MAPS, ENABLE, FREE, "VMDeath of JVMTI; no event follows it.")                                                         \
    X(ARENA_NEW, NOT, ENABLE, FREE, "There are no arenas: every id is in arena 1.")                                                        \
    X(ARENA_DELETE, NOT, ENABLE, STOP, "There are no arenas: every id is in arena 1.")                                                     \
    X(OBJECT_DUMP, MAPS, REQUEST, HELD, "One record of a heap dump of level 2.")                                                           \
    X(RAW_MONITOR_CONTENDED_ENTER, MAPS, ENABLE, FREE, "Raw monitors of the agent.")                                                       \
    X(RAW_MONITOR_CONTENDED_ENTERED, MAPS, ENABLE, FREE, "Raw monitors of the agent.")                                                     \
    X(RAW_MONITOR_CONTENDED_EXIT, MAPS, ENABLE, FREE, "Raw monitors of the agent.")                                                        \
    X(MONITOR_CONTENDED_ENTER, MAPS, ENABLE, HELD, "The event of JVMTI.")                                                                  \
    X(MONITOR_CONTENDED_ENTERED, MAPS, ENABLE, HELD, "The event of JVMTI.")                                                                \
    X(MONITOR_CONTENDED_EXIT, NOT, ENABLE, HELD, "JVMTI has no such event.")                                                               \
    X(MONITOR_WAIT, PART, ENABLE, HELD, "Object.wait(); Thread.sleep() is not sent.")                                                      \
    X(MONITOR_WAITED, PART, ENABLE, HELD, "Object.wait(); Thread.sleep() is not sent.")                                                    \
    X(MONITOR_DUMP, MAPS, REQUEST, HELD, "Monitors in use; JDK 9 to 15: if a thread waits for them.")                                      \
    X(GC_START, MAPS, ENABLE, STOP, "Collections that stop the world.")                                                                    \
    X(GC_FINISH, PART, ENABLE, STOP, "The three sizes are 0: the VM answers no question while it collects.")

/* Functions of JVMPI_Interface: name; class; when the manual lets an agent call it (rules.c): ANY; HELD with collections disabled; FREE
 * with collections enabled and no thread suspended; BLOCKS not while a thread is suspended, because it may wait; sentence. */
#define HPX_JVMPI_FUNCTIONS(X)                                                                                                             \
    X(EnableEvent, MAPS, ANY, "")                                                                                                          \
    X(DisableEvent, MAPS, ANY, "")                                                                                                         \
    X(RequestEvent, MAPS, ANY, "")                                                                                                         \
    X(GetCallTrace, MAPS, ANY, "Any platform thread; on a carrier the calling virtual thread has its own frames.")                         \
    X(ProfilerExit, MAPS, ANY, "The process ends with this code, without shutdown hooks.")                                                 \
    X(RawMonitorCreate, MAPS, BLOCKS, "")                                                                                                  \
    X(RawMonitorEnter, MAPS, BLOCKS, "")                                                                                                   \
    X(RawMonitorExit, MAPS, ANY, "")                                                                                                       \
    X(RawMonitorWait, MAPS, ANY, "")                                                                                                       \
    X(RawMonitorNotifyAll, MAPS, ANY, "")                                                                                                  \
    X(RawMonitorDestroy, MAPS, BLOCKS, "")                                                                                                 \
    X(GetCurrentThreadCpuTime, MAPS, ANY, "The kernel's clock of the calling thread.")                                                     \
    X(SuspendThread, MAPS, HELD, "")                                                                                                       \
    X(ResumeThread, MAPS, ANY, "")                                                                                                         \
    X(GetThreadStatus, MAPS, ANY, "0: the thread is unknown.")                                                                             \
    X(ThreadHasRun, MAPS, ANY, "CPU time since the last suspension.")                                                                      \
    X(CreateSystemThread, MAPS, FREE, "A daemon thread in the uppermost group.")                                                           \
    X(GetThreadLocalStorage, MAPS, ANY, "NULL once THREAD_END was sent.")                                                                  \
    X(SetThreadLocalStorage, MAPS, ANY, "")                                                                                                \
    X(DisableGC, PART, ANY, "Counts only: ids do not move.")                                                                               \
    X(EnableGC, PART, ANY, "Counts only: ids do not move.")                                                                                \
    X(RunGC, MAPS, FREE, "")                                                                                                               \
    X(GetThreadObject, MAPS, HELD, "")                                                                                                     \
    X(GetMethodClass, MAPS, HELD, "")                                                                                                      \
    X(jobjectID2jobject, MAPS, HELD, "A local reference; NULL: the object was freed.")                                                     \
    X(jobject2jobjectID, MAPS, HELD, "")                                                                                                   \
    X(SuspendThreadList, MAPS, HELD, "")                                                                                                   \
    X(ResumeThreadList, MAPS, ANY, "")

#endif
