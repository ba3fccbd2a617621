/* SPDX-License-Identifier: BSD-2-Clause */
/* releases.h: facts of the JDK's releases that more than one file goes by. Each is the first release of which it is true. */
#ifndef HPX_RELEASES_H
#define HPX_RELEASES_H

#include <jvmti.h>

#define HPX_RELEASE_THREAD_LISTS 10 /* the VM frees no thread while a call of JVMTI looks at it */
#define HPX_RELEASE_HANDSHAKES   16 /* JVMTI takes one stack by a handshake with that thread alone; before it stops all */
#define HPX_RELEASE_PREVIEW      19 /* virtual threads, if the program asks for what is new */
#define HPX_RELEASE_VIRTUAL      21 /* virtual threads */
#define HPX_RELEASE_WAITS_UNTOLD 22 /* JVMTI does not tell the monitor of Object.wait */
#define HPX_RELEASE_UNMOUNTS     24 /* monitors block virtual threads, not their carriers */

/* The release of what JVMTI's GetVersionNumber says: 8, 11, ... */
static inline jint hpx_release_of(jint version)
{
    jint release = (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR;
    return release > 1 ? release : 8; /* JVMTI 1.2 */
}

#endif
