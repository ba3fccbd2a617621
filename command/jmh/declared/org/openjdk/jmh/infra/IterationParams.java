// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.infra;

import org.openjdk.jmh.runner.IterationType;

public class IterationParams {
    public native IterationType getType();

    public native int getCount();
}
