// SPDX-License-Identifier: BSD-2-Clause
/** Allocations by JNI functions, and the size of an object as the VM says it (native/sites.c). */
final class SitesJni {
    static { System.loadLibrary("sites"); }

    private SitesJni() {}

    static native long size(Object o);
    static native Object newObject(Class<?> of);
    static native Object allocObject(Class<?> of);
    static native Object newIntArray(int n);
    static native Object newObjectArray(Class<?> of, int n);
    static native Object newString();
    static native void fail(Class<? extends Throwable> of);
}
