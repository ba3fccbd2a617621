// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.results;

public class ScalarResult extends Result<ScalarResult> {
    public ScalarResult(String label, double n, String unit, AggregationPolicy policy) {
    }
}
