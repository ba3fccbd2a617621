// SPDX-License-Identifier: BSD-2-Clause
package org.openjdk.jmh.profile;

@SuppressWarnings("serial")
public class ProfilerException extends Exception {
    public ProfilerException(String message) {
    }

    public ProfilerException(String message, Throwable cause) {
    }
}
