/* SPDX-License-Identifier: BSD-2-Clause */
/* java_vm.h: the JavaVM that the agent gets: GetEnv answers the versions of JVMPI, all else goes to the VM's own. */
#ifndef HPX_JVMPI_JAVA_VM_H
#define HPX_JVMPI_JAVA_VM_H

#include <jni.h>

/* One for the process, valid for ever. At load. */
JavaVM *hpx_jvmpi_java_vm(void);

#endif
