// SPDX-License-Identifier: BSD-2-Clause
/** References of JNI (native/heap.c). */
final class HeapJni {
    static { System.loadLibrary("heap"); }

    private HeapJni() {}

    /** Keeps the object by a global reference. */
    static native void global(Object o);
    /** Calls HeapGraph.await() with a local reference of its own to o. */
    static native void hold(Object o);
}
