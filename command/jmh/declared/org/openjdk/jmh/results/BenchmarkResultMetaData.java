// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.results;

public class BenchmarkResultMetaData {
    public native long getMeasurementOps();
}
