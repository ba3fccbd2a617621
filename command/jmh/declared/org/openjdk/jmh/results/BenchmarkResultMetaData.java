// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.results;

public class BenchmarkResultMetaData {
    public native long getWarmupOps();

    public native long getMeasurementOps();
}
