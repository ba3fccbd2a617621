// SPDX-License-Identifier: BSD-2-Clause
/** Loaded by Large under many names. */
public class LargeTemplate implements Runnable {
    public LargeTemplate() {}
    @Override public void run() { Large.once(); }
}
