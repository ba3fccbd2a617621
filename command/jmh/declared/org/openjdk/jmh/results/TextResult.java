// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.results;

public class TextResult extends Result<TextResult> {
    public TextResult(String output, String label) {
    }
}
