// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.profile;

import java.util.Collection;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;

public interface InternalProfiler extends Profiler {
    void beforeIteration(BenchmarkParams params, IterationParams iteration);

    @SuppressWarnings("rawtypes")
    Collection<? extends Result> afterIteration(BenchmarkParams params, IterationParams iteration, IterationResult result);
}
