// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.profile;

public interface Profiler {
    String getDescription();
}
