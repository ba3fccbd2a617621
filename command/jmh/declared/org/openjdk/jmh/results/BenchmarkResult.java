// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.results;

import org.openjdk.jmh.infra.BenchmarkParams;

public class BenchmarkResult {
    public native BenchmarkParams getParams();

    public native BenchmarkResultMetaData getMetadata();
}
