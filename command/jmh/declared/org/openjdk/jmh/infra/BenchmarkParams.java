// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.infra;

public class BenchmarkParams {
    public native String id();

    public native String generatedBenchmark();

    public native String getJvm();

    public native int getWarmupForks();
}
