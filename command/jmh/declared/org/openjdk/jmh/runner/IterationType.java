// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.runner;

public enum IterationType {
    WARMUP,
    MEASUREMENT
}
